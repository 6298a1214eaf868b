"""Every point of a box: what is proved of torch's numbers, and what the rest holds, with a witness."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.parts.everywhere.box_check import searched_regions
from gradcli.progress import budget
from gradcli.questions.bound_function import Dtype
from gradcli.results import BoxChecking, BoxRegion
from tests.parts.everywhere.truths_on_boxes import composed

pytestmark = pytest.mark.part("claims")


def _regions(text: str, allow: tuple[str, ...] = (), rtol: float | None = None, **ranges: str) -> dict[str, BoxRegion]:
    answer = Function(text).check(box=ranges, allow=allow, rtol=rtol)  # type: ignore[arg-type]
    assert isinstance(answer, BoxChecking)
    found = {one.verdict: one for one in answer.regions}
    assert abs(sum(one.share for one in answer.regions) - 1) < 1e-9
    assert answer.passed == all(name in ("proved", "near-zero", *allow) for name in found)
    assert len(found) == len(answer.regions)
    assert not any(one.found in ("nan-trap", "cut", "disagree") and one.verdict != one.found for one in found.values())
    return {str(name): one for name, one in found.items()}


@pytest.mark.parametrize(
    ("text", "ends"),
    [("x**3 + x", "1..2"), ("sin(x)", "-3..3"), ("tanh(x)", "-3..3"), ("x*sin(x)", "0..20"), ("2*x", "-1..1")],
)
@pytest.mark.one_in(2)
def test_all_of_a_harmless_function_is_proved(text: str, ends: str) -> None:
    """But near zeros, where the largest number of the box is what errors are relative to."""
    found = _regions(text, x=ends)
    assert found.keys() <= {"proved", "near-zero"}
    assert found["proved"].share > 0.999


@pytest.mark.parametrize(
    ("text", "ends", "verdict", "witness"),
    [
        ("relu(x)", "-1..1", "kink", "kink"),
        ("abs(x - 0.5)", "-1..1", "kink", "kink"),
        ("floor(x)", "0.5..1.5", "jump", "kink"),
        ("where(x > 0, 1, 2)*x + 1", "-1..1", "jump", "kink"),
        ("1/x", "-1..1", "pole", "undefined"),
        ("sqrt(x)", "0..1", "edge", "undefined"),
    ],
)
@pytest.mark.one_in(2)
def test_what_a_box_may_hold_has_a_witness(text: str, ends: str, verdict: str, witness: str) -> None:
    """A region around it, no larger than a millionth of the box."""
    found = _regions(text, x=ends)
    assert verdict in found
    assert found[verdict].share < 1e-6
    assert found[verdict].found == witness


@pytest.mark.parametrize(
    ("text", "ends", "has_pole"),
    [
        ("exp(x)/exp(x)", "-800..-740", False),
        ("exp(x)**-2", "-800..-740", False),
        ("exp(x)/(x*exp(x))", "-800..-740", False),
        ("exp(x)/(exp(x)*(x+770))", "-800..-740", True),
        ("exp(x)/exp(x) + 1/(x+770)", "-800..-740", True),
        ("1/x", "0..1", True),
    ],
)
def test_a_divisor_below_the_smallest_float_is_no_pole(text: str, ends: str, has_pole: bool) -> None:
    """It is not 0; where a factor of it is, there is one."""
    answer = Function(text).check(box={"x": ends})
    assert isinstance(answer, BoxChecking)
    assert ("pole" in {one.verdict for one in answer.regions}) == has_pole


def test_kinks_may_be_allowed() -> None:
    """As of a point."""
    assert Function("relu(x)").check(box={"x": "-1..1"}, allow=["kink"]).passed
    assert not Function("relu(x)").check(box={"x": "-1..1"}).passed
    assert Function("1/x").check(box={"x": "0..1"}, allow=["undefined"]).passed
    with pytest.raises(GradcliError, match="no verdict on a region"):
        Function("relu(x)").check(box={"x": "-1..1"}, allow=["kinks"])  # type: ignore[list-item]


@pytest.mark.thorough
def test_lost_digits_are_called_so_by_a_witness() -> None:
    """Where 1 - cos(x) cancels; the proved part is where torch is right at every point that is tried."""
    found = _regions("(1 - cos(x))/x**2", rtol=1e-12, x="-1..1")
    assert found["inaccurate"].found == "inaccurate"
    assert 0.3 < found["proved"].share < 0.9
    edge = -found["open"].low["x"]
    assert -edge < found["inaccurate"].low["x"]
    assert 0.1 < edge < 0.8
    x = np.linspace(edge * 1.001, 1, 200)
    torch_slope = Function("(1 - cos(x))/x**2").vjp({"x": x}, "ones", check=False).vjp["x"]
    exact = np.array([_slope(one) for one in x])
    assert (abs(torch_slope - exact) <= 1e-12 * abs(exact)).all()


def _slope(x: float) -> float:
    with mp.workdps(40):
        at = mp.mpf(float(x))
        return float(mp.sin(at) / at**2 - 2 * (1 - mp.cos(at)) / at**3)


CANCELLING = [
    ("sqrt(1 + x**2) - 1", "1e-12..1", "float32"),
    ("1 - cos(x)", "1e-12..1", "float32"),
    ("exp(x) - 1 - x", "1e-9..1", "float64"),
]


@pytest.mark.parametrize(("text", "ends", "dtype"), CANCELLING)
def test_a_region_is_called_inaccurate_up_to_where_witnesses_fail(text: str, ends: str, dtype: Any) -> None:
    """What is beside it is open, and the words claim no more than that."""
    answer = Function(text).check(box={"x": ends}, dtype=dtype)
    assert isinstance(answer, BoxChecking)
    found = {one.verdict: one for one in answer.regions}
    assert found["inaccurate"].high["x"] <= found["open"].low["x"] + 1e-12
    assert found["open"].found in ("", "agree")
    assert "at every point of the proved region" in str(answer)
    assert "inaccurate: so it is at the witness; of the rest of its region nothing is proved" in str(answer)


def test_a_trap_is_found_where_the_branch_is_not_taken() -> None:
    """Half of the box, with torch's nan as its witness."""
    found = _regions("where(x > 0, sqrt(x), 0)", x="-1..1")
    assert abs(found["nan-trap"].share - 0.5) < 1e-6
    assert found["nan-trap"].found == "nan-trap"
    assert abs(found["proved"].share - 0.5) < 1e-6


def test_no_witness_stands_for_points_where_others_differ() -> None:
    """Torch's nan begins where exp overflows, and digits are lost long before."""
    found = _regions("1/(1 + exp(-x))", x="-800..0")
    assert abs(found["nan-trap"].high["x"] + 709.78) < 0.2
    assert abs(found["nan-trap"].share - 90.22 / 800) < 1e-3
    assert found["inaccurate"].low["x"] == found["nan-trap"].high["x"]


@pytest.mark.parametrize(
    ("text", "ends", "share"),
    [
        ("log(1/(1+exp(-x)))", "-1000..1000", 0.1451),
        ("log(exp(x)/(1+exp(x)))", "-1000..1000", 0.2902),
        ("where(x > 0, sqrt(x), 0)", "-1..1", 0.5),
    ],
)
def test_no_edge_of_the_domain_contradicts_its_witness(text: str, ends: str, share: float) -> None:
    """The function has a derivative where torch rounds it out of the domain, or trips in the branch not taken."""
    found = _regions(text, x=ends)
    assert abs(found["nan-trap"].share - share) < 1e-3
    assert "edge" not in found or found["edge"].share < 1e-6


@pytest.mark.parametrize(
    ("text", "ends", "proved"), [("exp(-x)", "700..800", 0.2), ("x**2", "0..5e-324", 0), ("x**2", "-1e-200..1e-200", 0)]
)
def test_what_underflows_is_said_so(text: str, ends: str, proved: float) -> None:
    """With torch's number at a point of it, which is as near to the truth as a float can be."""
    found = _regions(text, ("underflow",), x=ends)
    assert found.keys() <= {"proved", "underflow"}
    assert found["underflow"].share <= 1 - proved
    assert "torch" in found["underflow"].note
    assert "digits are lost" in format(Function(text).check(box={"x": ends}))


def test_float32_keeps_fewer_digits() -> None:
    """The same function and the same tolerance: what float64 proves everywhere, float32 does not."""
    wide = Function("x*exp(x) + 1").check(box={"x": "0..3"}, rtol=1e-9)
    narrow = Function("x*exp(x) + 1").check(box={"x": "0..3"}, rtol=1e-9, dtype="float32")
    assert (wide.passed, narrow.passed) == (True, False)


def test_a_short_time_shows_what_is_proved_so_far() -> None:
    """Torch is loaded before it begins, and the answer names the option that gives more."""
    with budget(0.4):
        answer = Function("x**3/(x**2 + y**2)").check(box={"x": "-1..1", "y": "-1..1"})
    assert isinstance(answer, BoxChecking)
    assert sum(one.share for one in answer.regions if one.verdict == "proved") > 0.5
    assert "more time may settle what is left" in format(answer)


def test_two_numbers_move() -> None:
    """A kink at a point of the plane."""
    found = _regions("sqrt(x**2 + y**2)", x="-1..1", y="-1..1")
    assert found["proved"].share > 0.98
    assert found["kink"].share < 1e-9
    assert found["kink"].at == {"x": 0.0, "y": 0.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("zeta(x + 1, 2)", "rounding is not known"),
        ("prod([x, x**2, x**3])", "more than two numbers"),
        ("[x, x]", "one element"),
    ],
)
def test_what_has_no_bound_of_its_rounding_is_refused(text: str, words: str) -> None:
    """And points of it can be checked."""
    with pytest.raises(GradcliError, match=words):
        Function(text).check(box={"x": "1..2"})


def _counterexamples(draw: random.Random, dtype: Dtype, points: int) -> Iterator[str | None]:
    """Draw a function of x, and points of what is proved of it: yield None for each that holds, else what fails."""
    case, y, rtol = composed(draw, draw.randint(1, 3)), 0.7, {"float64": 1e-9, "float32": 1e-4}[dtype]
    asked = Function(case.text)._asked({"y": y}, dtype=dtype)
    try:
        regions = searched_regions(asked, {"x": "-3..3"}, rtol)
    except GradcliError:
        return
    places = [n for n, verdict in enumerate(regions.verdicts) if verdict == "proved"]
    kind = np.dtype(dtype).type
    exact_y = mp.mpf(float(kind(y)))

    def truth(at: Any) -> Any:
        return case.truth(at, exact_y)

    for n in draw.sample(places, min(points, len(places))):
        low, high = float(regions.boxes.low[0, n]), float(regions.boxes.high[0, n])
        x = kind(draw.uniform(low, high))
        if not low <= float(x) <= high or abs(float(x)) < 1e-20:  # where a difference needs more digits
            continue
        answer = Function(case.text).vjp({"x": x, "y": kind(y)}, 1, wrt=["x"], dtype=dtype, check=False)
        step = mp.mpf(10) ** -40 * abs(mp.mpf(float(x)))  # what is proved has no kink there
        slope = (truth(float(x) + step) - truth(float(x) - step)) / (2 * step)
        found = (float(answer.value), truth(mp.mpf(float(x)))), (float(answer.vjp["x"]), slope)
        for number, own in found:
            is_right = abs(mp.mpf(number) - own) <= rtol * abs(own) * (1 + 1e-9)
            yield None if is_right else f"{case.text} in {dtype} at {x!r}: torch {number}, truth {mp.nstr(own, 17)}"


def _sampled(seed: int, count: int, points: int) -> list[str | None]:
    draw = random.Random(seed)
    dtypes: tuple[Dtype, ...] = ("float64", "float32")
    with mp.workdps(120):
        return [one for n in range(count) for one in _counterexamples(draw, dtypes[n % 2], points)]


def test_nothing_is_proved_of_torch_that_a_point_refutes() -> None:
    """Of random functions; many in the thorough run."""
    found = _sampled(7, 4, 8)
    assert len(found) > 20
    assert set(found) == {None}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_nothing_is_proved_of_torch_that_a_point_refutes_of_many_functions(seed: int) -> None:
    """Twenty functions each, in both formats."""
    found = _sampled(100 + seed, 20, 20)
    assert len(found) > 100
    assert set(found) == {None}


@pytest.mark.parametrize(("prove", "said"), [("y >= -60", "of which that is proved"), (None, "of which 99")])
def test_a_form_of_which_more_is_proved_is_named(prove: str | None, said: str) -> None:
    answer = Function("log(1 - tanh(x)**2)").check(box={"x": "-30..30"}, prove=prove)
    assert isinstance(answer, BoxChecking)
    assert f"better: log(1/cosh(x)**2), {said}" in "; ".join(answer.notes)


def test_the_part_in_which_digits_are_lost_is_narrowed_in_two_numbers() -> None:
    """By halves of the boxes whose witnesses differ: digits of 1 - cos(x) are lost next to x = 0 alone."""
    found = _regions("(1 - cos(x))/x**2*y", rtol=1e-9, x="-1..1", y="0.1..1")
    wrong = found["inaccurate"]
    assert wrong.found == "inaccurate"
    assert wrong.share < 0.15
    assert max(-wrong.low["x"], wrong.high["x"]) < 0.3
    assert found["open"].share > wrong.share


def test_a_witness_is_looked_for_next_to_the_ends_of_what_is_not_proved() -> None:
    """Digits of gelu are lost in float32 where it is small, and not where it is 0 in float32."""
    answer = Function("gelu(x)").check(box={"x": "-100..100"}, dtype="float32")
    assert isinstance(answer, BoxChecking)
    (wrong,) = (one for one in answer.regions if one.verdict == "inaccurate")
    assert wrong.at is not None
    assert -15 < wrong.at["x"] < -3
