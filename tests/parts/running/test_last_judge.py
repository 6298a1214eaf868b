"""The function itself is the last judge of its gradients: no verdict stands against what it does next to its point."""

# mypy: disable-error-code="no-untyped-call,no-any-return"

import functools
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import gradcli
from gradcli import record
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.summary import PartCheck
from gradcli.parts.running.last_judge import LEAST_DIGITS
from gradcli.recording.aten_calls import name_of
from gradcli.recording.recorder import Recorder
from gradcli.results import SEVERITY, Assessment, Entry, Position, Verdict
from tests.checks import check_of
from tests.examples import all_but, seeds
from tests.parts.running.functions_of_parts import build

X = torch.tensor([0.0, 1.0, -0.5], dtype=torch.float64)
TABLE = torch.tensor([0.0, 1.0, 4.0, 9.0], dtype=torch.float64)
HELD = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)

BETWEEN = torch.tensor([0.3, 1.7, 2.3], dtype=torch.float64)
"""Numbers that no interval is halved at."""


def _by_hand(x: torch.Tensor) -> torch.Tensor:
    """Linear interpolation in a table."""
    place = x.detach().floor()
    i = place.long().clamp(0, 2)
    return (TABLE[i] + (x - place) * (TABLE[i + 1] - TABLE[i])).sum()


def _masked_under_no_grad(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        mask = (x > 0).to(x.dtype)
    return (mask * x).sum()


def _huber(x: torch.Tensor) -> torch.Tensor:
    small = x.abs() <= 1
    return (small * x**2 / 2 + (~small) * (x.abs() - 0.5)).sum()


def _huber_by_branch(x: torch.Tensor) -> torch.Tensor:
    return sum((t**2 / 2 if abs(t) <= 1 else abs(t) - 0.5) for t in x)


class Bisection(torch.autograd.Function):
    """A square root by halving an interval, whose backward is right and does not follow the forward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        low, high = torch.zeros_like(x), x + 1
        for _ in range(54):  # until the ends are neighbours
            middle = (low + high) / 2
            low, high = torch.where(middle**2 <= x, middle, low), torch.where(middle**2 <= x, high, middle)
        ctx.save_for_backward(low)
        return low

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        (root,) = ctx.saved_tensors
        return grads[0] / (2 * root)


def _mask_of_numpy(x: torch.Tensor) -> torch.Tensor:
    """The number 1 where x is above 1, by NumPy."""
    return torch.from_numpy((x.detach().numpy() > 1).astype(str(x.dtype).removeprefix("torch.")))


def _nowhere_else(x: torch.Tensor) -> torch.Tensor:
    if x.tolist() != HELD.tolist():
        raise ValueError("other numbers")
    return (x * torch.from_numpy(x.detach().numpy() + 0)).sum()


def _no_larger(x: torch.Tensor) -> torch.Tensor:
    if max(x.tolist()) > 3:
        raise ValueError("too large")
    return (x[:1] * torch.from_numpy(x.detach().numpy() + 0)).sum() + x[2]


def _sine_of_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy()))


def _positive_part(x: torch.Tensor, at: float) -> torch.Tensor:
    """What x is more than a number, by NumPy."""
    return torch.from_numpy(np.maximum(x.detach().numpy() - x.detach().numpy().dtype.type(at), 0))


SMALL = torch.tensor([1.0, 1e-5], dtype=torch.float64)

CASES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor, Verdict]] = {
    "a relu by hand": (lambda x: (x * (x > 0).to(x.dtype)).sum(), X, "kink"),
    "a mask under no_grad": (_masked_under_no_grad, X, "kink"),
    "a table between its places": (_by_hand, X + 0.25, "agree"),
    "a table at a place": (_by_hand, X.abs(), "kink"),
    "a branch by a float": (lambda x: x * 2 if float(x[0]) > 0 else x, X, "kink"),
    "a jump in float32": (lambda x: (x + (x > 0).float()).sum(), X.float(), "kink"),
    "one zero of 2,001": (lambda x: (x * (x > 0)).sum(), torch.arange(-1000.0, 1001, dtype=torch.float64), "kink"),
    "a product that holds a factor": (lambda x: (x * x.detach()).sum(), HELD, "cut"),
    "a number by a loop of Python": (lambda x: x.sum() * sum(x.tolist()), HELD, "cut"),
    "a Huber loss by masks at its knot": (_huber, X, "agree"),
    "a Huber loss by a branch at its knot": (_huber_by_branch, X, "agree"),
    "a square by a mask": (lambda x: (x**2 * (x > 0)).sum(), X, "agree"),
    "a softmax less its largest": (lambda x: (x - x.max().detach()).exp().prod() * 2, HELD, "cut"),
    "a root by bisection": (lambda x: Bisection.apply(x).sum(), HELD, "agree"),
    "a kink that is near": (lambda x: torch.relu(x - 1).sum(), X + 1e-9, "agree"),
    "steep and smooth": (lambda x: torch.sin(1e4 * x).sum(), HELD, "agree"),
    "a jump of a ten-millionth": (lambda x: (1e-7 * _mask_of_numpy(x) + x).sum(), HELD, "kink"),
    "a jump of a ten-millionth and none": (lambda x: (1e-7 * _mask_of_numpy(x) + x).sum(), HELD + 1e-3, "agree"),
    "a jump of a billionth": (lambda x: (1e-9 * _mask_of_numpy(x) + x).sum(), HELD, "kink"),
    "a small jump in float32": (lambda x: (1e-3 * _mask_of_numpy(x) + x).sum(), HELD.float(), "kink"),
    "a jump that is a steep slope": (lambda x: (1e-7 * torch.tanh(1e5 * (x - 1)) + x).sum(), HELD, "agree"),
    "a function that fails next to the point": (_nowhere_else, HELD, "unchecked"),
    "a function that fails on one side": (_no_larger, HELD, "cut"),
    "a tiny element next to a huge one": (
        lambda x: torch.stack([1e16 * x[0], 1e-16 * torch.tensor(x[1].item(), dtype=x.dtype) * x[1]]),
        HELD,
        "cut",
    ),
    "tiny elements next to a huge one": (
        lambda x: torch.cat([1e16 * x[:1], 1e-16 * x * x.max(), x[1:] - 1e8 * x[:2]]),
        HELD,
        "agree",
    ),
    "a held factor that y is too large for": (
        lambda x: x[0] ** 2 + _sine_of_numpy(x)[1] * x[1],
        torch.tensor([1e8, 1e-8], dtype=torch.float64),
        "unchecked",
    ),
    "a held factor of a small element": (lambda x: x[0] ** 2 + _sine_of_numpy(x)[1] * x[1], SMALL, "cut"),
    "a small element by NumPy": (lambda x: x[0] ** 2 + _sine_of_numpy(x)[1] ** 2 + x[1], SMALL, "cut"),
    "a small element by NumPy alone": (lambda x: x[0] ** 2 + _sine_of_numpy(x)[1] ** 2, SMALL, "cut"),
    "a small element and NumPy that moves nothing": (
        lambda x: x[0] ** 2 + 0 * _sine_of_numpy(x)[1] + x[1] ** 2,
        SMALL,
        "agree",
    ),
    "a kink of a small element": (lambda x: x[0] ** 2 + _positive_part(x, 1e-5)[1], SMALL, "kink"),
    "a kink of a small element in float32": (
        lambda x: x[0] ** 2 + _positive_part(x, 1e-3)[1],
        torch.tensor([1.0, 1e-3]),
        "unchecked",
    ),
    "a kink near a small element in float32": (
        lambda x: x[0] ** 2 + torch.relu(x[1] - 1e-3),
        torch.tensor([1.0, 1.001e-3]),
        "agree",
    ),
    "a kink at a small element in float32": (
        lambda x: x[0] ** 2 + torch.relu(x[1] - 2.0**-10),
        torch.tensor([1.0, 2.0**-10]),
        "kink",
    ),
    "a kink a few roundings away": (lambda x: torch.relu(x - 1).sum(), X.abs() + 1 + 2.0**-50, "agree"),
    "cancelling": (lambda x: ((x + 1e8) - 1e8).sum(), HELD, "agree"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.one_in(2)
def test_a_verdict_is_what_the_function_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a kink, at a jump, where a value is held constant, and where it is smooth."""
    monkeypatch.setattr("gradcli.parts.running.blaming.TRIAL_SECONDS", 0.2)  # of a custom function, little is tried
    function, x, verdict = CASES[name]
    check = check_of(record(function, x).check())
    assert check.verdict == verdict, check


def test_words_say_how_near_to_the_point_a_kink_was_seen() -> None:
    """Differences do not tell a kink at the point from one a few roundings away; enclosures of a recording do."""
    x = torch.tensor([1 + 2.0**-50], dtype=torch.float64)
    (found,) = check_of(record(lambda x: (x + _positive_part(x, 1.0)).sum(), x).check()).findings
    assert found.verdict == "kink"
    assert "has the slope 1 before the point and 2 after it, at it or within 5e-14 of it" in found.note
    check = check_of(record(lambda x: torch.relu(x - 1).sum(), x).check())
    assert (check.verdict, check.proven) == ("agree", True)


KEPT = (331, 442)
"""Seeds whose function had a wrong verdict once."""


@pytest.mark.filterwarnings("ignore:Converting a tensor")
@pytest.mark.parametrize(
    "seed", [*seeds(0, 10, KEPT), *(pytest.param(n, marks=pytest.mark.thorough) for n in seeds(10, 290))]
)
@pytest.mark.one_in(4)
def test_random_functions_have_the_verdict_that_they_were_built_for(seed: int) -> None:
    """Masks, casts, indices, branches, changes in place and values held constant; in float32 digits may be lost."""
    built = build(seed)
    check = check_of(record(built.function, built.x).check())
    is_rounded = check.verdict == "inaccurate" and built.verdict == "agree" and built.x.dtype is torch.float32
    assert check.verdict == built.verdict or is_rounded, (built.text, check)


def _bisection(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """The sum of square roots by bisection, whose gradient is multiplied by a factor."""

    class Scaled(Bisection):
        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
            return factor * Bisection.backward(ctx, *grads)

    return lambda x: Scaled.apply(x).sum()


@functools.cache
def _judged(factor: float, dtype: torch.dtype) -> Any:
    """What is said of it, by some rows."""
    return record(_bisection(factor), BETWEEN[:2].to(dtype)).check()


@pytest.mark.parametrize("dtype", all_but([torch.float64, torch.float32], 1), ids=["float64", "float32"])
def test_what_the_function_alone_confirms_is_measured(dtype: torch.dtype) -> None:
    """Its digits are said, and a mistake of a thousandth does not pass in either dtype."""
    answer, wrong = (_judged(factor, dtype) for factor in (1.0, 1.001))
    check = check_of(answer)
    assert (check.verdict, check.proven) == ("agree", False)
    assert check.digits is not None
    assert check.digits >= LEAST_DIGITS
    assert f"agree (measured, to {check.digits} digits)" in str(answer)
    assert {one.digits is None for one in answer.opinions if one.variable} == {False}
    assert not wrong.passed


@pytest.mark.parametrize(("factor", "dtype"), [(1.001, torch.float64), (1.01, torch.float32)])
@pytest.mark.one_in(2)
def test_lost_digits_do_not_excuse_what_the_function_denies(factor: float, dtype: torch.dtype) -> None:
    """The steps of a bisection have other slopes than its root, so that nothing is proven by them."""
    check = check_of(_judged(factor, dtype))
    assert (check.verdict, check.proven) == ("disagree", False)
    assert any("the function moves by" in one.note for one in check.findings)


@pytest.mark.thorough
def test_where_few_digits_are_seen_more_directions_tell() -> None:
    """Two show two digits of so many rows in float32; the sharpest of four show a mistake of a thousandth."""

    class Scaled(Bisection):
        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
            return 1.001 * Bisection.backward(ctx, *grads)

    right, wrong = (check_of(record(one.apply, BETWEEN.float()).check()) for one in (Bisection, Scaled))
    assert (right.verdict, right.proven) == ("agree", False)
    assert wrong.verdict == "disagree"
    assert any("check it in float64" in one.note for one in wrong.findings)


# -- how often the function runs, and what is left of it


def test_a_function_runs_twice_and_at_most_ten_times_next_to_its_point() -> None:
    """Once to be recorded, once for its numbers; where a kink is suspected, it is looked at from nearer."""
    calls = list[torch.Tensor]()

    def f(x: torch.Tensor) -> torch.Tensor:
        calls.append(x.detach().clone())
        return (x * (x > 0)).sum()

    for ask, x in itertools.product(("check", "vjp", "jacobian", "grad"), (X, X + 0.1)):
        calls.clear()
        getattr(record(f, x), ask)()
        here = [one for one in calls if torch.equal(one, x)]
        assert len(here) <= 2, ask
        assert len(calls) <= 12, ask


class Rooted(torch.autograd.Function):
    """A square root by steps that end where it is exact, which they are at few points."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x / x * 2
        while bool((y * y != x).any()):
            y = (y + x / y) / 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        (root,) = ctx.saved_tensors
        return grads[0] / (2 * root)


def test_a_loop_that_does_not_end_next_to_the_point_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends at the point; elsewhere the time of the calls is over, and the answer comes."""
    monkeypatch.setattr("gradcli.parts.running.recorded.CALLING_SECONDS", 0.01)
    monkeypatch.setattr("gradcli.parts.running.blaming.TRIAL_SECONDS", 0.1)
    monkeypatch.setattr("gradcli.parts.running.custom_functions.MORE_SECONDS", 0.1)
    answer = record(lambda x: Rooted.apply(x).sum(), torch.tensor([4.0, 9.0], dtype=torch.float64)).check()
    assert check_of(answer).verdict in ("agree", "unchecked", "inaccurate")


def _slow_in(calls: list[bool]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Make a square that takes long in some of its calls."""
    left = iter(calls)

    def square(x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.06 * next(left))
        return (x**2).sum()

    return square


def test_a_function_that_is_slow_next_to_its_point_is_called_at_some_points_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A remark says so, and nothing is proven; one that is slow at its point alone is called at all points."""
    monkeypatch.setattr("gradcli.parts.running.function_slopes.CALLING_SECONDS", 0.05)

    for is_slow_here in (False, True):
        check = check_of(record(_slow_in([is_slow_here] * 2 + [not is_slow_here] * 10), HELD).check())
        assert any("takes long: it was not called at all points" in note for note in check.notes) != is_slow_here
        assert check.verdict == "agree"
        assert check.proven == is_slow_here


def test_what_a_function_changes_is_left_as_one_call_leaves_it(capfd: pytest.CaptureFixture[str]) -> None:
    """Generators and buffers as before, `.grad` of its own backward pass once, and what it prints is not repeated."""
    weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
    norm = torch.nn.BatchNorm1d(1).double().train()
    before = norm.running_mean.clone()  # type: ignore[union-attr]

    def f(x: torch.Tensor) -> torch.Tensor:
        print("called")
        (x.detach() * weight).sum().backward()
        return (norm(x[:, None]) ** 3).sum() + (x * torch.rand(3, dtype=x.dtype)).sum() + 0 * weight.detach().sum()

    state = torch.get_rng_state()
    assert check_of(record(f, X).check()).verdict == "agree"
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(norm.running_mean, before)  # type: ignore[arg-type]
    assert weight.grad is not None
    assert torch.equal(weight.grad, X)
    assert "".join(capfd.readouterr()).count("called") == 2


def test_weights_that_the_function_finds_elsewhere_move_and_come_back() -> None:
    """They are differentiated by, too."""
    weight = torch.tensor([0.0, 2.0, 3.0], dtype=torch.float64)
    asked = record(lambda x: (x * weight * (weight > 0)).sum(), HELD)
    assert check_of(asked.vjp(wrt=["weight"])).verdict == "kink"
    assert weight.tolist() == [0.0, 2.0, 3.0]


# -- mistakes of the recorder


def _drop(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Record what a call gives as a constant."""
    lowered = Recorder._lowered

    def broken(self: Any, function: Any, given: Any, outputs: Any, place: Any) -> Any:
        found, inputs = lowered(self, function, given, outputs, place)
        if name_of(function) == name and not self._inside:
            return [self.lines.literal(outputs[0])], inputs
        return found, inputs

    monkeypatch.setattr(Recorder, "_lowered", broken)


def _swap(monkeypatch: pytest.MonkeyPatch, name: str, wrong: str, right: str) -> None:
    """Record another operand than the call has, of the same value at the point."""
    lowered = Recorder._lowered

    def broken(self: Any, function: Any, given: Any, outputs: Any, place: Any) -> Any:
        operands = given.get(wrong), given.get(right)
        if (
            name_of(function) == name
            and all(isinstance(one, torch.Tensor) for one in operands)
            and torch.equal(*operands)
        ):
            given = {**given, wrong: given[right]}
        return lowered(self, function, given, outputs, place)

    monkeypatch.setattr(Recorder, "_lowered", broken)


def _plain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (torch.exp(x * y / 4) + torch.sin(y) * torch.tanh(x) - x.pow(3) / y).sum() + torch.log(x).sum()


PLANTED: dict[str, tuple[Any, ...]] = {
    **{f"{name} is dropped": (_drop, name) for name in ("mul", "exp", "sin", "tanh", "pow", "log", "sub", "div")},
    "a wrong factor": (_swap, "mul", "other", "self"),
    "a wrong divisor": (_swap, "div", "self", "other"),
}


@pytest.mark.parametrize("mistake", PLANTED)
@pytest.mark.one_in(4)
def test_mistakes_of_the_recorder_blame_nobody(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recording has the value of the function at the point alone; torch's gradient is right all the same."""
    y = torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64)
    plant, *how = PLANTED[mistake]
    plant(monkeypatch, *how)
    check = check_of(record(_plain, y, y.clone()).check())
    assert check.verdict in ("agree", "unchecked"), check
    assert not check.proven
    assert any("the function itself" in note for note in check.notes), check


# -- one verdict of all


@pytest.mark.parametrize(("one", "other"), [*itertools.product(SEVERITY, SEVERITY)])
def test_the_worst_finding_is_the_verdict_whatever_comes_after_it(one: Verdict, other: Verdict) -> None:
    """Entries that are changed, and remarks that are added, lose nothing that was found before."""
    entry = Entry(Position("jacobian", "x", (0,), (0,)), 1.0, Assessment(one, proven=True))
    judgement = Judgement.summarized([PartCheck("jacobian", 1, [entry], "all")], None)
    found = judgement.joined(
        [Entry(Position("value", row=(0,)), 1.0, Assessment(other, note="of the function"))], is_fully_recorded=False
    )
    worst = max((one, other), key=SEVERITY.index)
    for last in (found, found.changed(lambda e: e), found.joined(notes=["a remark"]).changed(lambda e: e)):
        assert last.check.verdict == worst
        assert not last.check.proven
        assert other == "agree" or any(e.note == "of the function" for e in last.check.findings)


def test_a_cut_is_not_lost_where_another_entry_is_inaccurate() -> None:
    """Nor a branch at its boundary."""

    def cut(a: torch.Tensor) -> torch.Tensor:
        return a[1].detach() * a[1] + 1e-30 * (1 - torch.cos(a[0])) / a[0] ** 2

    def kink(a: torch.Tensor) -> torch.Tensor:
        return (a[1] * 3 if a[1] > 2 else a[1]) + 1e-30 * (1 - torch.cos(a[0])) / a[0] ** 2

    a = torch.tensor([1e-8, 2.0], dtype=torch.float64, requires_grad=True)
    for function, verdict in ((cut, "cut"), (kink, "kink")):
        check = check_of(record(function, a).check())
        assert check.verdict == verdict
        assert {"inaccurate", verdict} == {one.verdict for one in check.findings}
        with pytest.raises(AssertionError, match=verdict):
            gradcli.check(function, a)


def test_second_derivatives_are_held_to_the_gradient_of_the_function() -> None:
    """A gradient that has a kink, and one that is smooth."""
    x = torch.tensor([0.0, 1.0], dtype=torch.float64)
    kinked = record(lambda x: x[1] * (x[0] ** 2 if x[0] > 0 else 0 * x[0]), x)
    assert check_of(kinked.hessian()).verdict == "kink"
    smooth = record(lambda x: x[1] * (x[0] ** 4 if x[0] > 0 else 0 * x[0]), x + 0.0)
    assert check_of(smooth.hessian()).verdict == "agree"
    held = record(lambda x: (x**2 * x.detach()).sum(), x + 1)
    assert check_of(held.hvp(u=[1.0, 1.0])).verdict == "cut"
