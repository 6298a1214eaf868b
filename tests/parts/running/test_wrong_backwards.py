"""Custom functions tried by themselves: where mistakes hide they are found, and what is right is not blamed."""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest
import torch

from gradcli.parts.running.blaming import trials
from gradcli.parts.running.plain_functions import check, record
from gradcli.parts.running.recorded import FunctionCall
from tests.checks import check_of
from tests.examples import part
from tests.parts.running.right_backwards import MORE_RIGHT, RIGHT, ByBisection, CubeRoot, Entmax, Sigmoid
from tests.parts.running.wrong_backwards import MORE_WRONG, NOT_FOUND, WRONG, Product, W, X, custom as make_custom

NAMED = {custom.__name__: custom for custom, _ in (*WRONG, *MORE_WRONG)}

FOUND: dict[str, str] = {
    "NegativeX": "its result has the other sign, only where x is negative",
    "AtZero": "is wrong, only where x is 0",
    "AtNegativeZero": "its result is 0, only where x is -0",
    "TinyX": "its result is 0, only where x is near 0: up to 1e-05",
    "HugeX": "is wrong, only where x is far from 0: from 1e+06 on",
    "Large": "its result is 2 times the gradient, only where x is large: from 100 on",
    "OnePiece": "its result is 0.666667 times the gradient, only where x is large: from 3 on",
    "Overflows": "only where x is small: from -35",
    "EqualElements": "where elements are equal",
    "Ignored": "it does not multiply by the gradient it is given",
    "NoNegative": "it is not linear in the gradient it is given",
    "ClippedToHundred": "only where v is large",
    "StridesOfV": "where v is one number, stretched",
    "OverwritesV": "changes the gradient vector that it is given",
    "Half": "its result is 0.5 times the gradient",
    "Unchained": "its result lacks the factor x",
    "Swapped": "is wrong for x: its result is the gradient of w",
    "Missing": "is wrong for w: its result is 0",
    "Transposed": "its result is the transpose of the gradient",
    "Summed": "is wrong for b: its result is 0.5 times the gradient",
    "CachedSlope": "is wrong, at ",
    "Shifted": "is wrong for w: its result is 0, only with requires_grad of w alone",
    "AllOrNone": "is wrong for x: its result is 0, only with requires_grad of x alone",
    "WithTheFirst": "is wrong for w: its result is 0, with requires_grad of w alone",
}
"""Words on each where they are more than that it is wrong."""

MORE_FOUND: dict[str, str] = {
    "MemoryOfX": "only where its inputs are not contiguous",
    "MemoryOfV": "only where v is not contiguous",
    "FlatV": "where v is not contiguous",
    "FirstBlock": "only where its inputs have the shape (300,)",
    "OneElement": "only where its inputs have the shape (1,)",
    "ZeroDimensions": "only where its inputs have the shape ()",
    "TwoDimensions": "is the gradient in reverse along axis 0, only where its inputs have the shape (2, 3)",
    "AllPositive": "is 1.5 times the gradient, where all elements are positive",
    "AllNegative": "is 1.5 times the gradient, only where all elements are negative",
    "WholeNumbers": "its result is 0, only where elements are whole numbers",
    "AtTwo": "only where x is 2",
    "LargeInMagnitude": "its result is 0, only where x is far from 0: from 4 on, up to where the gradient is 0",
    "BetweenFourAndSix": "its result is 0, at ",
    "NegativeWholeNumbers": "is 0, only where elements are whole numbers, at ",
    "NearSevenTenths": "its result is 0, at ",
    "TinyV": "its result is 0, only where v is tiny",
    "DividesByTheSumOfV": "its result is 0, only where v sums to 0",
    "SignOfV": "it gives the same for twice the gradient it is given",
    "NormalizedV": "it gives the same for twice the gradient it is given",
    "SizeOfV": "it is not linear in the gradient it is given",
    "SquareOfV": "it is not linear in the gradient it is given",
    "MeanOfV": "its result is that of the mean of the gradient it is given",
    "OtherSign": "its result has the other sign",
    "Summed": "its result is summed over all elements",
    "Averaged": "its result is averaged over all elements",
    "Reversed": "its result is the gradient in reverse along axis 0",
    "FactorOfX": "its result has the factor x once too often",
    "MeanOfStretched": "only where x is stretched",
    "OfANumber": "is wrong for w, only where w is stretched",
    "BothOfX": "is wrong for x: its result is the gradient of w",
    "Period": "its result is 0.159155 times the gradient",
    "Absolute": "its result has the other sign, only where x is negative",
    "Gauss": "its result lacks the factor y",
    "Huber": "only where x is far from 0: from 1 on",
    "Outer": "is wrong for a: its result is the transpose of the gradient",
    "UnusedOutput": "only where output 0 alone is used",
    "NoneOfUnused": "fails: TypeError: unsupported operand",
    "OfTheLastCall": "only after another call",
    "OnlyOnce": "its result is 0, only after another call",
    "OffByOne": "is wrong for x: its result is 0, only with requires_grad of x alone",
    "InGroups": "only where its inputs have the shape (2, 3, 2)",
    "DividesByV": "only where v has zeros",
    "SortedElements": "its result is 0.5 times the gradient, only where elements are sorted",
    "NearlyRight": "its result is 1.000001 times the gradient",
    "ThreeFlags": "is wrong for b: its result is the gradient of a, with requires_grad of a and b alone",
}
"""The same of those that are tried, but not checked."""


RARELY = "Swapped Missing OnePiece Unchained TinyX OtherSign Averaged ByADifference Leaky".split()
"""Mistakes that take long to find, and whose like is found in the same run."""


def _kind(said: str) -> str:
    """The kind of a mistake: where it is, or what is said of it, whatever the numbers and the names of arguments."""
    return " ".join(re.findall(r"[a-z]{2,}|\bv\b|-0\b", said.partition("only ")[2] or said.rpartition(": ")[2]))


def _chosen(cases: Sequence[tuple[Any, Any]], words: Mapping[str, str], before: Iterable[str] = ()) -> list[Any]:
    """Leave all but the first of each kind, if it is soon found, and one of 24 without words to the thorough run."""
    seen, params = {*map(_kind, before)}, []
    for n, (custom, given) in enumerate(cases):
        kind = _kind(words.get(custom.__name__, ""))
        is_plain = (kind not in seen if kind else n % 24 == 0) and custom.__name__ not in RARELY
        seen |= {kind}
        params.append(pytest.param(custom, given, id=custom.__name__, marks=() if is_plain else pytest.mark.thorough))
    return params


@pytest.fixture
def _without_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a slow machine try as many variants as another."""
    monkeypatch.setattr("gradcli.parts.running.blaming.TRIAL_SECONDS", 60.0)


@pytest.fixture
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try fewer variants, where what is wrong or right shows at once."""
    monkeypatch.setattr("gradcli.parts.running.blaming.TRIAL_SECONDS", 0.2)


@pytest.mark.usefixtures("_without_haste")
@pytest.mark.parametrize(("custom", "given"), _chosen(WRONG, FOUND))
@pytest.mark.one_in(4)
def test_every_wrong_backward_is_found(custom: Any, given: tuple[Any, ...]) -> None:
    """By name, with the line of its backward and where it is wrong; and no test passes with it."""
    with pytest.raises(AssertionError, match="are not right") as raised:
        check(custom.apply, *given)
    said = " ".join(str(raised.value).split())
    _, called, fault = said.partition(f"{custom.__name__}.backward (wrong_backwards.py, line ")
    assert called
    assert FOUND.get(custom.__name__, "is wrong") in fault
    assert said.partition("did not pass: ")[2].startswith(("disagree", f"elsewhere {called}"))


@pytest.mark.usefixtures("_without_haste")
@pytest.mark.parametrize(
    ("custom", "given"), _chosen(MORE_WRONG, MORE_FOUND | dict.fromkeys(NOT_FOUND, "not found"), FOUND.values())
)
@pytest.mark.one_in(8)
def test_a_wrong_backward_is_found_in_one_of_the_variants(custom: Any, given: tuple[Any, ...]) -> None:
    """In each that hides in a layout, a shape, values, vectors, inputs or outputs; but for three that hide too well."""
    (trial,) = trials(record(custom.apply, *given).recorded())
    assert bool(trial.fault) == (custom.__name__ not in NOT_FOUND)
    assert MORE_FOUND.get(custom.__name__, "") in trial.fault


def test_few_of_the_wrong_backwards_are_not_found() -> None:
    """The tables have enough of each kind."""
    assert len(WRONG) + len(MORE_WRONG) >= 90
    assert len(NOT_FOUND) <= 3
    assert len(RIGHT) + len(MORE_RIGHT) >= 60


def test_what_is_wrong_far_away_is_found_in_float32_too() -> None:
    """The rounding that is allowed for is relative to y/x."""
    with pytest.raises(AssertionError, match="elsewhere HugeX"):
        check(NAMED["HugeX"].apply, X.float())


@pytest.mark.parametrize(("custom", "given"), part(RIGHT, 0, of=4), ids=[custom.__name__ for custom, _ in RIGHT])
@pytest.mark.one_in(2)
def test_no_right_backward_is_blamed(custom: Any, given: tuple[Any, ...]) -> None:
    """Neither conventions at kinks, nor digits that forward or backward lose."""
    answer = check(lambda x: custom.apply(x * 1, *given[1:]), *given[:1])  # a leaf cannot be changed in place
    assert answer.passed
    assert f"{custom.__name__}.backward (wrong_backwards.py, line" in answer.remarks[0].replace("right_", "wrong_")


IN_DTYPES = [
    pytest.param(
        *case,
        dtype,
        id=f"{case[0].__name__}-{dtype}",
        marks=pytest.mark.thorough if (n + 4 * m) % 8 or case[0] is CubeRoot else (),
    )
    for n, case in enumerate(MORE_RIGHT)
    for m, dtype in enumerate((torch.float64, torch.float32))
]
"""Each fourth one in one dtype, and all in both, with a root by steps, for `pytest -m thorough`."""


@pytest.mark.parametrize(("custom", "given", "dtype"), IN_DTYPES)
@pytest.mark.one_in(8)
def test_no_right_backward_is_blamed_in_any_variant(custom: Any, given: tuple[Any, ...], dtype: Any) -> None:
    """Whatever layout, shape, values, vectors, inputs or outputs are tried."""
    tried = trials(record(custom.apply, *(one.to(dtype) for one in given)).recorded())
    assert [one.fault for one in tried if one.fault] == []
    assert len(tried) == (custom.__name__ != "Constant")  # which nothing follows from


def test_what_was_tried_is_said() -> None:
    """In one remark a class, with what fits the function alone."""
    (said,) = check(Product.apply, X, X + 1).remarks
    assert "was tried at 74 other points of sizes " in said
    assert "v of each sign, large v, tiny v, v that sums to 0, v with zeros, v as sum() gives it" in said
    assert said.endswith("2-d inputs, 3-d inputs, values of many sizes, other sizes, each input stretched")


def test_a_function_without_custom_functions_has_no_such_remark() -> None:
    """There is nothing to try."""
    assert check(torch.sin, X).remarks == ()


def test_digits_that_a_backward_loses_are_not_blamed() -> None:
    """Of `y*(1 - y)` none is left where y is almost 1: that is rounding, relative to y."""
    (trial,) = trials(record(Sigmoid.apply, torch.tensor([25.0, 30.0, 36.0])).recorded())
    assert not trial.fault


@pytest.mark.thorough
def test_each_of_several_functions_has_its_part_of_the_time() -> None:
    """One that takes long leaves time for those after it, and all together take little more than a second."""

    def f(x: torch.Tensor) -> Any:
        return NAMED["Ignored"].apply(NAMED["Power"].apply(NAMED["HugeX"].apply(x)))

    recorded = record(f, X).recorded()
    began = time.thread_time()
    faults = [one.fault.partition(".")[0] for one in trials(recorded)]
    assert faults == ["HugeX", "Power", "Ignored"]
    assert time.thread_time() - began < 6


def test_the_words_for_a_fault_do_not_depend_on_the_speed_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many variants are tried for them, however long each takes."""
    monkeypatch.setattr("gradcli.parts.running.blaming.TRIAL_SECONDS", 60.0)

    def slow(x: torch.Tensor) -> torch.Tensor:
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            pass
        return x.clone()

    make: Any = make_custom
    late = make("Late", slow, lambda x, g: torch.where(x > 100, 2 * g, g))
    (trial,) = trials(record(late.apply, X).recorded())
    assert trial.fault.endswith("its result is 2 times the gradient, only where x is large: from 100 on")


# -- the function itself is the last judge


class Doubled(torch.autograd.Function):
    """The gradient of one of two equal arguments, doubled, as a symmetric cost of `x` and `x.detach()` has it."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return 2 * g


def cost(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((x[:, None] - y[None]) ** 2).exp().sum() / 2


def symmetric(x: torch.Tensor) -> torch.Tensor:
    return cost(Doubled.apply(x), x.detach())  # type: ignore[no-untyped-call]


def counted_twice(x: torch.Tensor) -> torch.Tensor:
    return cost(Doubled.apply(x), x)  # type: ignore[no-untyped-call]


@pytest.mark.usefixtures("_hasty")
def test_a_backward_is_not_blamed_where_the_code_that_applies_it_has_its_slope() -> None:
    """By itself it is no derivative of its forward, which is said; next to another path it is blamed as ever."""
    (trial,) = trials(record(symmetric, X).recorded())
    assert (trial.fault, trial.is_here) == ("", False)
    assert (
        "2 times the gradient, but symmetric as a whole, moved a little, has the slope that torch gives" in trial.tried
    )
    (trial,) = trials(record(counted_twice, X).recorded())
    assert trial.is_here
    assert "its result is 2 times the gradient" in trial.fault
    (trial,) = trials(record(Doubled.apply, X).recorded())
    assert trial.is_here


def halved(x: torch.Tensor, high: torch.Tensor, kind: str) -> torch.Tensor:
    """Find a square root between 0 and `high` by 50 bisections, which choose a half by `where`, a mask or a branch."""
    low = torch.zeros_like(x)
    for _ in range(50):
        middle = (low + high) / 2
        if kind == "where":
            low, high = (torch.where(middle**2 < x, *pair) for pair in ((middle, low), (high, middle)))
        elif kind == "mask":
            is_large = (middle * middle > x).to(x.dtype)
            low, high = low * is_large + middle * (1 - is_large), middle * is_large + high * (1 - is_large)
        elif middle * middle < x:
            low = middle
        else:
            high = middle
    return low


def wrong_root(kind: str, high: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Make a square root by bisection, whose backward forgets a 2."""
    make: Any = make_custom
    forward, backward = (lambda x: halved(x, high(x), kind)), (lambda y, g: g / y)
    return make("WrongRoot", forward, backward, keeps_value=True)


HIGH: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "4": lambda x: torch.full_like(x, 4.0),
    "x + 1": lambda x: x + 1,
    "max(x, 1)": lambda x: x.clamp(min=1),
}
"""Ends of the interval; with the last, the recording has twice the gradient of the root, as the wrong backward."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "high", "dtype"),
    [
        pytest.param("where", "4", torch.float64, marks=pytest.mark.thorough),
        pytest.param("where", "x + 1", torch.float32, marks=pytest.mark.thorough),
        pytest.param("where", "max(x, 1)", torch.float64, marks=pytest.mark.thorough),
        pytest.param("mask", "x + 1", torch.float32, marks=pytest.mark.thorough),
        pytest.param("mask", "max(x, 1)", torch.float64, marks=pytest.mark.thorough),
        pytest.param("branch", "4", torch.float32, marks=pytest.mark.thorough),
        ("branch", "max(x, 1)", torch.float64),
    ],
)
def test_a_forward_that_no_line_follows_is_judged_by_its_own_slope(kind: str, high: str, dtype: torch.dtype) -> None:
    """Whatever its recording says, it is blamed for what the forward contradicts, by its factor; nothing is proven."""
    x = torch.tensor([2.0, 3.0], dtype=dtype)
    x = x[0] if kind == "branch" else x
    answer = record(wrong_root(kind, HIGH[high]).apply, x).check()
    check = check_of(answer)
    assert check.verdict == "disagree"
    assert not check.proven
    fault = "is wrong: its result is 2 times the slope that its forward has, moved a little"
    assert any(fault in finding.note for finding in check.findings)


@pytest.mark.usefixtures("_hasty")
@pytest.mark.parametrize(
    ("function", "x"),
    [
        pytest.param(ByBisection.apply, W, marks=pytest.mark.thorough),
        pytest.param(Entmax.apply, X, marks=pytest.mark.thorough),
        (CubeRoot.apply, W),
        (symmetric, X),
    ],
    ids=["root by bisection", "entmax by bisection", "root by steps", "doubled next to detach"],
)
@pytest.mark.one_in(2)
def test_a_gradient_that_the_function_bears_out_passes(function: Any, x: torch.Tensor) -> None:
    """Where no line moves, or the backward is meant with what applies it, the function itself is the last judge."""
    assert check(function, x).passed


@pytest.mark.thorough
@pytest.mark.usefixtures("_hasty")
def test_of_many_points_one_alone_is_tried_with_other_numbers() -> None:
    """The backward pass is wrong at each of 5 points, and is run some hundred times, for one of them."""
    calls = []

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            calls.append(g)
            (x,) = ctx.saved_tensors
            found: torch.Tensor = 6 * g * x**2
            return found

    def function(x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = Doubled.apply(x)  # type: ignore[no-untyped-call]
        return y.sum()

    x = torch.tensor([0.5, 1.5], dtype=torch.float64)
    once = record(function, x).check()
    count = len(calls)
    many = record(function, x).check(random=5, box={"x": "1..2"})
    assert (check_of(once).verdict, check_of(many).verdict) == ("disagree", "disagree")
    assert len(calls) - count < 3 * count


class Halved(torch.autograd.Function):
    """x/2."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x / 2

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g / 2


class DividedBySize(torch.autograd.Function):
    """x over the number of its elements."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x / x.numel()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g / g.numel()


@pytest.mark.usefixtures("_without_haste")
@pytest.mark.parametrize(("custom", "least", "most"), [(Halved, 1, 1), (DividedBySize, 5, 20)])
def test_a_variant_is_recorded_where_its_forward_is_another_one(
    custom: Any, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In other shapes the recording of the application serves, if the forward has its value there."""
    made, states = record(custom.apply, torch.tensor([0.5, 2.0], dtype=torch.float64)).recorded(), torch.get_rng_state()
    recorded, once = list[FunctionCall](), FunctionCall.recorded

    def counted(call: FunctionCall) -> Any:
        recorded.append(call)
        return once(call)

    monkeypatch.setattr(FunctionCall, "recorded", counted)
    (trial,) = trials(made)
    assert (trial.fault, least <= len(recorded) <= most) == ("", True)
    assert "other numbers of elements" in trial.tried
    assert torch.equal(torch.get_rng_state(), states)


class Sorted(torch.autograd.Function):
    """The elements in order, whose text depends on how many they are."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        found, ctx.places = x.sort()
        return found

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(g).index_put((ctx.places,), g)


class SortedTheOtherWay(Sorted):
    """The inverse of the order that is meant."""

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g[ctx.places]


@pytest.mark.parametrize(("custom", "verdict"), [(Sorted, "agree"), (SortedTheOtherWay, "disagree")])
def test_a_text_that_depends_on_shapes_is_recorded_in_each(custom: Any, verdict: str) -> None:
    """A recording of three elements says nothing of seven."""
    x = torch.tensor([3.0, 1.0, 2.0], dtype=torch.float64)
    assert check_of(check(custom.apply, x, raise_exception=False)).verdict == verdict


class RoundedAsIs(torch.autograd.Function):
    """A straight-through estimator: the backward pass of the identity."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """Round."""
        return torch.round(x)

    @staticmethod
    def backward(ctx: Any, *v: torch.Tensor) -> torch.Tensor:
        """Pass the gradient on."""
        return v[0]


def test_a_straight_through_estimator_is_called_what_it_is() -> None:
    """With what checks it, which passes as it is named."""
    answer = check(RoundedAsIs.apply, X, raise_exception=False)
    assert "its result is the gradient that it is given" in str(answer)
    assert answer.remarks[-1].endswith(
        "that of the identity, from Python: gradcli.check(f, x, backward_of=lambda x: x)"
    )
    assert check(RoundedAsIs.apply, X, backward_of=lambda x: x).passed
    inside = check(lambda x: RoundedAsIs.apply(x).sum(), X, raise_exception=False)  # type: ignore[no-untyped-call]
    assert inside.remarks[-1].endswith("another function g, from Python: gradcli.check(f, x, backward_of=g)")


def test_a_mistake_is_not_taken_for_a_straight_through_estimator() -> None:
    """Where it is explained, nothing else is meant."""
    answer = check(NAMED["Half"].apply, X, raise_exception=False)
    assert not any("backward_of" in remark for remark in answer.remarks)
