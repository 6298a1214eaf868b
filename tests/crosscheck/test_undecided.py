"""Decided is all that passes: of the entries of a gradient that were tried, at most one in a hundred is left open."""

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck.summary import PartCheck, summarize
from gradcli.reference import deadline
from gradcli.report.wording import standing
from gradcli.results import Assessment, Entry, Position
from tests.checks import check_of

OPEN = "where(x == 0, 0, x*sin(1/x))"
"""At 0 of x, no series tells that there is no slope."""


def _entries(decided: int, undecided: int, variable: str | None = "x") -> list[Entry]:
    return [
        Entry(
            Position("value" if variable is None else "jacobian", variable, (0,), (n,)),
            1.0,
            Assessment("agree" if n < decided else "unchecked", relative_error=0.0),
        )
        for n in range(decided + undecided)
    ]


@pytest.mark.parametrize(
    ("part", "others", "verdict", "checked", "undecided"),
    [
        (PartCheck("jacobian", 200, _entries(198, 2), "all"), 0, "agree", 198, 2),
        (PartCheck("jacobian", 200, _entries(197, 3), "all"), 0, "unchecked", 197, 3),
        (PartCheck("jacobian", 100, (), "none", undecided=100), 4, "unchecked", 0, 100),
        (PartCheck("jacobian", 100, _entries(4, 0), "some", is_whole=False), 0, "agree", 4, 0),
        (
            PartCheck("jacobian", 9_999, _entries(4, 0), "some", bounded=9_895, undecided=100),
            0, "unchecked", 9_899, 100,
        ),
        (PartCheck("jacobian", 9_999, _entries(4, 0), "some", bounded=9_896, undecided=99), 0, "agree", 9_900, 99),
        (PartCheck("jacobian", 10_000, _entries(0, 100), "all", zeros=9_900), 4, "unchecked", 9_900, 100),
        (PartCheck("value", 4, _entries(4, 0, None), "all"), 0, "agree", 4, 0),
        (PartCheck("jacobian", 0, (), "all"), 4, "agree", 0, 0),
    ],
    ids=["two_in_200", "three_in_200", "y_alone", "a_sample", "bounds_leave_101", "bounds_leave_99", "beside_zeros",
         "a_value", "no_variables"],
)  # fmt: skip
def test_agree_says_that_entries_of_the_gradient_were_decided(
    part: PartCheck, others: int, verdict: str, checked: int, undecided: int
) -> None:
    """Elements of y and zeros by structure count for nothing; what a sample leaves out was not tried."""
    check, _ = summarize([part, PartCheck("value", others, _entries(others, 0, None), "all")])
    assert (check.verdict, check.checked, check.undecided) == (verdict, checked, undecided)


@pytest.mark.part("claims")
def test_an_answer_of_which_only_y_was_decided_is_unchecked() -> None:
    """The likelihood of a Gaussian process, with the count; and a check of it fails."""
    text = "sum(log(diagonal(cholesky(exp(-(x.view(-1,1) - x.view(1,-1))**2/2) + 1e-5*eye(40)))))"
    found = Function(text).check({"x": "randn(40)"})
    assert (check_of(found).verdict, found.passed, found.failing) == ("unchecked", False, ("unchecked",))
    assert check_of(found).undecided == check_of(found).entries - check_of(found).checked > 0


@pytest.mark.part("claims")
@pytest.mark.parametrize(("size", "passes"), [(90, False), (150, True)])
def test_one_open_entry_of_many_is_counted_beside_the_verdict(size: int, passes: bool) -> None:
    """And refused by `require_all`."""
    x = np.linspace(1, 2, size)
    x[7] = 0
    found = Function(OPEN).check({"x": x}, "ones")
    assert (found.passed, check_of(found).verdict) == (passes, "agree" if passes else "unchecked")
    assert check_of(found).findings[0].verdict == "unchecked"
    assert ("1 of 150 undecided" in standing(check_of(found))) == passes
    assert not Function(OPEN).check({"x": x}, "ones", require_all=True).passed


@pytest.mark.part("claims")
@pytest.mark.parametrize(
    ("factor", "options", "passes"),
    [
        (1e-13, {}, True),
        (1e-13, {"strict": True}, False),
        (1e-9, {}, False),
        (1e-13, {"rtol": 2.0**-30}, False),
        (1e-13, {"allow": ["inaccurate"], "strict": True}, True),
    ],
)
@pytest.mark.one_in(2)
def test_lost_digits_pass_beside_a_larger_entry_of_the_gradient(
    factor: float, options: dict[str, Any], passes: bool
) -> None:
    """By x[0] the slope is 2e6, by x[1] torch is off by `factor`*1e8: 2**-30 of the first is 2e-3."""
    text = f"x[0]**2 + {factor}*(1 - cos(x[1]))/x[1]**2"
    found = Function(text).check({"x": [1e6, 1e-8]}, wrt=["x"], **options)
    (finding,) = (one for one in found.opinions if one.verdict == "inaccurate" and one.variable)
    assert found.passed == passes
    assert finding.is_minor == ("rtol" not in options and factor < 1e-12)
    assert ("minor beside the largest entry, 2e+06" in finding.note) == finding.is_minor


@pytest.mark.part("claims")
def test_differences_are_taken_where_they_are_asked_for() -> None:
    """They decide nothing, and cost more than all else."""
    for asked in (False, True):
        (opinion, _) = Function("x**3").check({"x": 2.0}, differences=asked).opinions
        assert (opinion.difference is not None) == asked


@pytest.mark.thorough
@pytest.mark.part("claims")
def test_each_of_a_thousand_ties_is_decided_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clipped objective of PPO at a ratio of 1, where both operands of each minimum are one function."""
    monkeypatch.setattr(deadline, "EXTRA", 60.0)  # other processes make this one slow, and the work is what is tested
    monkeypatch.setattr(deadline, "SECONDS", 60.0)
    text = "r = exp(x - 0.5); a = linspace(1, 2, 1024); mean(minimum(r*a, clamp(r, 0.8, 1.2)*a))"
    check = check_of(Function(text).check({"x": np.full(1_024, 0.5)}))
    assert (check.verdict, check.checked, check.entries) == ("agree", 1_024, 1_024)
