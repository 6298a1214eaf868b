"""Formulas at points where their cases meet: the reference refutes what is wrong, and no formula by cases for a tie."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.crosscheck.confirming import ELSEWHERE
from gradcli.crosscheck.formulas import Derived, derive_formulas
from tests.checks import check_of
from tests.examples import part

OUTER = [
    ("{}", "x == 0", "x**3 != 0", "x >= 0", "x**2 <= 0"),
    ("relu({})", "x == 0", "x >= 0"),
    ("abs({})", "x**3 != 0", "x**2 <= 0"),
]
CASES = ("0", "x", "-sin(x)")


@pytest.mark.parametrize(
    ("outer", "condition"), part([(outer, one) for outer, *ones in OUTER for one in ones], 0, of=2)
)
@pytest.mark.one_in(2)
def test_no_formula_is_called_wrong_where_its_cases_meet(outer: str, condition: str) -> None:
    """It takes one of them there; what torch has of a tie is judged on its own."""
    for first, second in itertools.permutations(CASES, 2):
        text = outer.format(f"where({condition}, {first}, {second})")
        for answer in (Function(text).jvp({"x": 0}, {"x": 1}), Function(text).vjp({"x": 0})):
            assert not [finding for finding in check_of(answer).findings if finding.torch is None], text


def test_a_tie_that_torch_has_right_agrees() -> None:
    """The formula would say 1, as the branch that is met has the slope 1."""
    answer = Function("relu(where(x**3 != 0, 0, x))").jvp({"x": 0}, {"x": 1})
    assert (float(answer.jvp), answer.symbolic) == (0.0, None)
    assert check_of(answer).verdict == "agree"


def test_a_formula_that_counts_a_tie_twice_is_not_shown() -> None:
    """The largest of [x, x] has the slope 1; a sum over all places of the largest would say 2."""
    answer = Function("amax([x, x])").grad({"x": 3.0})
    assert (float(answer.grad["x"]), dict(answer.symbolic)) == (1.0, {})


def test_a_formula_of_a_large_batch_is_not_called_wrong() -> None:
    """Bounds on arrays prove the entries there, and do not tell which rows of y an element reaches."""
    batch = np.random.default_rng(0).normal(size=(2, 5, 5)) + 3 * np.eye(5)
    answer = Function("inv(x)").vjp({"x": batch}, v=np.ones((2, 5, 5)))
    assert (check_of(answer).verdict, "x" in answer.symbolic) == ("agree", True)


@pytest.mark.parametrize("text", ["y = x[1:]*x[:-1]; y[0]", "relu(x[1:]*x[:-1])[0]"])
def test_formulas_written_out_for_many_elements_are_confirmed_at_other_points_of_that_size(text: str) -> None:
    """At 0 the derivative is 0, which confirms nothing; arrays of other sizes have other elements."""
    answer = Function(text).vjp({"x": np.zeros(18)})
    assert (check_of(answer).verdict, "x" in answer.symbolic) == ("agree", True)


STRIDED = (
    "pad(x, (1,1))[::2]",
    "pad(x, (1,1))[::3]",
    "cat([x, x])[::2]",
    "cat([2*x, sin(x)])[1::3]",
    "roll(x, 1)[::2]",
    "roll(flip(x, (0,)), -2)[1::2]",
    "stack([roll(x, 1), x**2])[:,::2]",
    "pad(cat([x, x[1:]])[::2], (2,0))[::3]",
)
"""What is padded or joined, taken at a stride: cases end between two places, as at i ≥ 1/2 and at i ≤ n/2 - 1/2."""


@pytest.mark.parametrize("text", STRIDED)
@pytest.mark.parametrize("size", [5, 20])
def test_no_formula_of_what_is_taken_at_a_stride_is_called_wrong(text: str, size: int) -> None:
    """Fractions of an index are exact."""
    answer = Function(text).jacobian({"x": np.linspace(0.3, 2, size)})
    assert (check_of(answer).verdict, "x" in answer.symbolic) == ("agree", True)


def test_no_formula_with_half_of_a_size_is_called_wrong() -> None:
    """Without values, the size is a symbol."""
    answer = Function("cat([x, x])[::2]").jacobian()
    assert (check_of(answer).verdict, "x" in answer.symbolic) == ("agree", True)


DIAGONAL = "the formula has no value at y[0,0] by A[0,0], where the derivative is 0; nor at 3 more"
TIE = "the formula does not hold at y[1] by x[1], where it gives 2 and the derivative is 1"

REMARKS: list[Any] = [
    ("vjp", "maximum(x, 1)*minimum(x, 1)", {"x": [0, 1, 2]}, {"v": "ones"}, (TIE,)),
    ("vjp", "maximum(x, 1)*minimum(x, 1)", {"x": [0, 3, 2]}, {"v": "ones"}, ()),
    ("jacobian", "maximum(x, 1)*minimum(x, 1)", {"x": [0, 1, 2]}, {}, (TIE,)),
    pytest.param(
        "check", "maximum(x, 1)*minimum(x, 1)", {"x": [0, 1, 2]}, {}, (TIE,), marks=pytest.mark.part("claims")
    ),
    pytest.param(
        "check",
        "maximum(x, 1)*minimum(x, 1)",
        {"x": [0, 1, 1]},
        {},
        (f"{TIE}; nor at 1 more",),
        marks=pytest.mark.part("claims"),
    ),
    (
        "grad",
        "maximum(x, 1)*minimum(x, 1)",
        {"x": 1},
        {},
        ("the formula does not hold at y by x, where it gives 2 and the derivative is 1",),
    ),
    (
        "grad",
        "sum(sorted(x)**2)",
        {"x": [1, 1, 2]},
        {},
        ("the formula does not hold at y by x[0], where it gives 4 and the derivative is 2; nor at 1 more",),
    ),
    ("grad", "sum(sorted(x)**2)", {"x": [1, 3, 2]}, {}, ()),
    (
        "jvp",
        "maximum(x, 1)*minimum(x, 1)",
        {"x": [1, 2]},
        {"u": [1, 1]},
        ("the formula does not hold at (Ju)[0], where it gives 2 and the derivative is 1",),
    ),
    ("vjp", "cdist(A, A)", {"A": [[1, 2], [3, 4]]}, {"v": "ones"}, (DIAGONAL,)),
    (
        "grad",
        "norm(x**2) + x[0]",
        {"x": [0, 0]},
        {},
        ("the formula has no value at y by x[0], where the derivative is 1; nor at 1 more",),
    ),
    ("vjp", "relu(x) + x**2", {"x": [0, 1]}, {"v": "ones"}, ()),
    ("vjp", "where(x > 1, x**2, x*2 - 1)", {"x": [0, 1, 2]}, {"v": "ones"}, ()),
    ("vjp", "prod(x)*x", {"x": [0, 1, 2]}, {"v": "ones"}, ()),
    ("vjp", "sin(x)/x", {"x": [0, 1]}, {"v": "ones"}, ()),
]


@pytest.mark.parametrize(("command", "text", "at", "more", "remarks"), REMARKS)
@pytest.mark.one_in(2)
def test_a_formula_that_is_wrong_at_the_point_says_where(
    command: str, text: str, at: Mapping[str, Any], more: Mapping[str, Any], remarks: tuple[str, ...]
) -> None:
    """The remark names an entry with both numbers, and counts the others; a formula that holds has none."""
    answer = getattr(Function(text), command)(at, **more)
    assert tuple(note for note in check_of(answer).notes if "formula" in note) == remarks
    block = answer.symbolic if command == "jvp" else next(iter(answer.symbolic.values()))
    assert block.holds_here == (not remarks)


@pytest.mark.parametrize(
    ("text", "x", "options", "is_elsewhere"),
    [
        ("relu(x)", -1.0, {}, False),
        ("x**2", 0.0, {}, False),
        ("x[0]*x[1]", [0.0, 0.0], {}, False),
        ("norm(x**2)", [0.0, 0.0], {}, True),  # the formula is 0/0
        ("x**2", 0.0, {"check": False}, True),  # nothing was compared
        ("x**2", 3.0, {"check": False}, True),
    ],
)
def test_a_formula_confirmed_elsewhere_says_so_unless_it_is_0_here_as_the_derivative_is(
    text: str, x: Any, options: Any, is_elsewhere: bool
) -> None:
    """A 0 at both sides is right, and confirms little: a probe tells the formula from others that are 0 there."""
    formula = Function(text).grad({"x": x}, **options).symbolic["x"]
    assert formula.note == (ELSEWHERE if is_elsewhere else "")


def test_a_product_over_many_rows_is_compared_too() -> None:
    """Without a Jacobian the entries are of v times J: 1 of x[1], where the sum of the formula has 2."""
    x = np.linspace(2, 3, 3_000)
    x[1] = 1
    answer = Function("maximum(x, 1)*minimum(x, 1)").vjp({"x": x}, "ones")
    note = "the formula does not hold at y by x[1], where it gives 2 and the derivative is 1"
    assert (answer.jacobian, [one for one in check_of(answer).notes if "formula" in one]) == (None, [note])


def test_entries_that_a_formula_is_not_compared_at_are_counted() -> None:
    """Next to a tie the work may not suffice for all of them; at a smooth point a formula is the same everywhere."""
    counted = []
    for x in ([0, 1, 2], [0, 3, 2]):
        with (
            mock.patch("gradcli.crosscheck.formula_values.FORMULA_WORK", 60),
            mock.patch("gradcli.crosscheck.confirming.MOST_WORK", 60),
        ):
            answer = Function("maximum(x, 1)*minimum(x, 1)").jacobian({"x": x})
        counted += [note for note in check_of(answer).notes if "compared" in note]
    assert counted == ["the formula was compared at 2 of 9 entries that were checked"]


def test_a_formula_is_compared_at_each_entry_of_a_smooth_point() -> None:
    """A planted 1 in one of 300 entries is found, and no case of the function explains it."""
    derive = derive_formulas

    def planted(*args: Any) -> Derived:
        derived = derive(*args)
        (block,) = derived.blocks.values()
        assert not isinstance(block, str)
        ((case, expression),) = block.cases
        wrong = expression + sympy.KroneckerDelta(block.columns[0], 151)
        return replace(derived, blocks={("", "x"): replace(block, cases=((case, wrong),))})

    answers = []
    for derived_by in (derive, planted):
        with mock.patch("gradcli.questions.bound_function.derive_formulas", derived_by):
            answers.append(Function("sum(x**2)").grad({"x": np.arange(300.0)}))
    right, wrong = answers
    assert (check_of(right).verdict, check_of(wrong).verdict) == ("agree", "disagree")
    (finding,) = check_of(wrong).findings
    assert finding.note.endswith("at y by x[151], where it gives 303 and the derivative is 302")
    assert ("x" in right.symbolic, "x" in wrong.symbolic) == (True, False)


@pytest.mark.part("closed_forms")
def test_a_shift_is_confirmed_in_the_rows_that_its_columns_reach() -> None:
    """The columns that are probed meet none of the rows that are."""
    found = Function("roll(x, 1, 0)").jacobian()
    assert "KroneckerDelta(j, i - 1)" in found.symbolic["x"].text
    assert found.check is not None
    assert found.check.verdict == "agree"


@pytest.mark.part("closed_forms")
def test_the_exponential_of_a_sum_stays_one() -> None:
    """As a product of exponentials it would have no rule."""
    found = Function("log1p(exp(X.sum(1))).sum()").hessian()
    text = found.symbolic["X"]["X"].text
    assert "exp(Sum(" in text
    assert "Product" not in text


LOSSES = (
    "F.mse_loss(x, torch.tensor({t}))",
    "((x - {t})**2/7).sum() + 0.3*x[0]*x[-1]/11",
    "F.mse_loss(x, torch.tensor({t}), reduction='sum')/3",
    "(0.1*x - 0.1*torch.tensor({t})).square().mean()*1.7",
    "F.binary_cross_entropy_with_logits((x - torch.tensor({t}))/3, torch.full(({n},), 0.5))",
    "F.cross_entropy((x - torch.tensor({t}))/3, torch.softmax(torch.zeros({n}), 0))",
)
"""Losses of which each entry is 0 where what is met is met exactly, through decimals that a quotient rounds."""


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.one_in(2)
def test_a_formula_with_rounded_decimals_holds_where_a_residual_is_0(loss: str) -> None:
    """2*x/3 - 1.6666666666666667 is 0 at 2.5 to the last bit of the decimal alone, and no other number is 0."""
    generator = np.random.default_rng(len(loss))
    for places in range(4):
        met = generator.uniform(-3, 3, size=3).round(places)
        x = np.where(generator.random(3) < 0.6, met, met + 1)
        answer = Function(loss.format(t=met.tolist(), n=3)).grad({"x": x})
        assert not [one.note for one in check_of(answer).findings if one.verdict == "disagree"], (loss, x, met)


def test_decimals_that_cancel_leave_nothing_in_a_formula() -> None:
    """Neither the last places of a quotient nor the point of a whole number."""
    texts = {"(x-2.5)*x/3 + 5*x/6": "2·x/3", "2.0*x**2.0": "4·x", "1e-300*x + x**2": "2·x + 1e-300"}
    for text, formula in texts.items():
        assert Function(text).grad({"x": 1}).symbolic["x"].pretty == formula
