"""Code in a box: proved where its own backward pass is the derivative, found where it is not, else refused in words."""

import functools
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd import Function as Custom

import gradcli
from gradcli.parts.everywhere.pass_differences import PassDifferences
from gradcli.results import BoxChecking, BoxRange

pytestmark = [pytest.mark.part("claims"), pytest.mark.part("running")]

Function = Callable[..., Any]


def _custom(forward: Function, backward: Function, *, keeps_value: bool = False) -> Function:
    """Make a custom function whose backward is given the arguments, or the value, and the gradient."""

    def of_forward(ctx: Any, *given: Any) -> Any:
        found = forward(*given)
        ctx.save_for_backward(*([found] if keeps_value else given))
        return found

    parts = {"forward": of_forward, "backward": lambda ctx, g: backward(*ctx.saved_tensors, g)}
    made: Any = type("Own", (Custom,), {name: staticmethod(part) for name, part in parts.items()})

    def of_one(x: Any) -> Any:
        return made.apply(x)

    def of_two(x: Any, y: Any) -> Any:
        return made.apply(x, y)

    return of_one if forward.__code__.co_argcount == 1 else of_two


def _square(backward: Function) -> Function:
    own = _custom(lambda x: x**2, backward)
    return lambda x: own(x) + x


def _regions(function: Function, **ranges: str) -> dict[str, Any]:
    answer = gradcli.check(function, box=ranges, raise_exception=False)
    assert isinstance(answer, BoxChecking)
    return {str(one.verdict): one for one in answer.regions}


def _by_sides(x: Any) -> Any:
    return x**2 if x > 0 else -(x**2)


def _kinked(x: Any) -> Any:
    if x >= 0:
        return x * 1
    return 2 * x


def _guarded(x: Any) -> Any:
    if x < -100:
        raise ValueError("too small")
    return torch.exp(x)


def _cube(x: Any) -> Any:
    return x**3


def _in_place(x: Any) -> Any:
    y = x.clone()
    y.mul_(x)
    y += 1
    return y


def _hooked(factor: float) -> Function:
    def function(x: Any) -> Any:
        y = x**2
        y.register_hook(lambda g: factor * g)
        return y

    return function


def _hooked_by_c(x: Any) -> Any:
    y = x * 1
    y.register_hook(functools.partial(torch.clamp, max=5.9999))
    return y**2


def _unpacked_by_c(x: Any) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(torch.Tensor.detach, functools.partial(torch.clamp, max=2.9999)):
        return x**3


WEIGHT = torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64)

RIGHT: dict[str, tuple[Function, dict[str, str]]] = {
    "torch's own operations": (lambda x: torch.tanh(0.8 * (x + 0.04 * x**3)), {"x": "-3..3"}),
    "weights": (lambda x: torch.tanh(x * WEIGHT).sum(), {"x": "0.5..2"}),
    "a number of weights": (lambda x: x**2 * WEIGHT.sum().item(), {"x": "1..2"}),
    "an exception that is not raised": (_guarded, {"x": "-3..3"}),
    "a tensor changed in place": (_in_place, {"x": "1..2"}),
    "a custom square": (_square(lambda x, g: 2 * x * g), {"x": "-3..3"}),
    "a custom sigmoid, by its value": (
        _custom(lambda x: 1 / (1 + torch.exp(-x)), lambda y, g: g * y * (1 - y), keeps_value=True),
        {"x": "-3..3"},
    ),
    "a custom function of two numbers": (
        _custom(
            lambda x, y: torch.exp(x) * torch.sin(y),
            lambda x, y, g: (g * torch.exp(x) * torch.sin(y), torch.cos(y) * g * torch.exp(x)),
        ),
        {"x": "-1..1", "y": "0.5..1"},
    ),
    "a power whose exponent is a long fraction": (
        _custom(
            lambda x: torch.sqrt(x) ** 0.7, lambda x, g: g * 0.7 * torch.sqrt(x) ** (0.7 - 1) * 0.5 / torch.sqrt(x)
        ),
        {"x": "1..2"},
    ),
    "a softplus of a number": (lambda x: x + torch.nn.functional.softplus(torch.ones_like(x)), {"x": "1..2"}),
    "a backward pass with a branch": (
        _square(lambda x, g: 2 * x * g if x > 0.7 else g * (x + x)),
        {"x": "-3..3"},
    ),
    "a hook that changes nothing": (_hooked(1.0), {"x": "1..2"}),
    "one side of a branch": (_by_sides, {"x": "0.5..3"}),
    "a second derivative inside": (lambda x: torch.func.grad(_cube)(x) + x, {"x": "1..2"}),
}
"""Code whose numbers are proved at every point, with ranges."""


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.one_in(6)
def test_code_that_is_right_is_proved_at_every_point(name: str) -> None:
    """But near zeros."""
    function, ranges = RIGHT[name]
    found = _regions(function, **ranges)
    assert found.keys() <= {"proved", "near-zero"}
    assert found["proved"].share > 0.99


WRONG: dict[str, tuple[Function, str]] = {
    "on a side, by where": (_square(lambda x, g: g * torch.where(x > 0.7, 2.001 * x, 2 * x)), "disagree"),
    "on a side, by a branch": (_square(lambda x, g: 2.001 * x * g if x > 0.7 else 2 * x * g), "disagree"),
    "in a stretch of 1e-4": (
        _square(lambda x, g: g * torch.where((x > 0.7) & (x < 0.7001), 2.001 * x, 2 * x)),
        "disagree",
    ),
    "in a smooth bump": (
        _square(lambda x, g: g * (2 * x + 1e-3 * torch.exp(-(((x - 0.7123) / 1e-4) ** 2)))),
        "disagree",
    ),
    "clipped": (_square(lambda x, g: g * (2 * x).clamp(max=5.0)), "disagree"),
    "of the other sign": (_square(lambda x, g: -2 * x * g), "disagree"),
    "left out": (_square(lambda x, g: None), "disagree"),
    "without the gradient": (lambda x: 3 * _square(lambda x, g: 2 * x)(x), "disagree"),
    "by a hook": (_hooked(1.5), "disagree"),
    "by a hook of C, near an end": (_hooked_by_c, "disagree"),
    "by C code that unpacks what is kept, near an end": (_unpacked_by_c, "disagree"),
    "a value held constant": (lambda x: x * x.detach(), "cut"),
}
"""Code whose derivative is wrong somewhere in -3..3, with the verdict on a witness."""


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.one_in(5)
def test_a_wrong_backward_pass_is_found_and_has_a_witness(name: str) -> None:
    """By the check of a point."""
    function, verdict = WRONG[name]
    found = _regions(function, x="-3..3")
    assert found[verdict].found == verdict
    assert found[verdict].at is not None


def _proved_in_stretch(seed: int) -> bool:
    """Tell whether a box is called proved that meets a stretch in which the backward pass is off by 1e-6."""
    draw = random.Random(seed)
    low, width = draw.uniform(-2, 2), 10 ** draw.uniform(-6, -1)
    high, factor = low + width, 1 + 1e-6 * draw.choice([-1, 1])
    is_smooth = draw.random() < 0.5

    def backward(x: Any, g: Any) -> Any:
        slope = torch.cos(x) * torch.exp(torch.sin(x))
        if is_smooth:
            middle = (low + high) / 2
            return g * slope * (1 + (factor - 1) * torch.exp(-(((x - middle) / width) ** 2)))
        return g * torch.where((x > low) & (x < high), factor * slope, slope)

    own = _custom(lambda x: torch.exp(torch.sin(x)), backward)
    answer = gradcli.check(own, box={"x": "-3..3"}, raise_exception=False)
    assert isinstance(answer, BoxChecking)
    assert answer.map is not None
    meets = (answer.map.low[0] < high) & (answer.map.high[0] > low) & (np.array(answer.map.verdicts) == "proved")
    return bool(meets.any())


@pytest.mark.parametrize("seed", range(1, 40))
@pytest.mark.one_in(39)
def test_no_proved_box_meets_a_stretch_where_the_backward_pass_is_wrong(seed: int) -> None:
    """However short the stretch is."""
    assert not _proved_in_stretch(seed)


@pytest.mark.thorough
def test_an_edge_is_no_larger_than_where_the_function_ends() -> None:
    """Left of it the function is constant, and the backward pass of its own divides by 0."""
    own = _custom(lambda x: x.clamp(min=0).sqrt(), lambda y, g: g / (2 * y), keeps_value=True)
    found = _regions(own, x="-1..1")
    assert abs(found["nan-trap"].share - 0.5) < 1e-3
    assert found["nan-trap"].found == "nan-trap"
    assert "edge" not in found or found["edge"].share < 1e-3


def test_a_backward_pass_that_is_taken_for_the_derivative_would_be_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the tests above can fail."""
    monkeypatch.setattr(PassDifferences, "bounds", lambda self, boxes: [np.zeros(len(boxes))] * self.count)
    assert any(_proved_in_stretch(seed) for seed in range(5))


COUNT = [0]


def _counting(x: Any) -> Any:
    COUNT[0] += 1
    return x * COUNT[0]


def _drawing(x: Any) -> Any:
    return x * torch.rand(())


def _drawing_by_python(x: Any) -> Any:
    return x * random.random()


def _reading(x: Any) -> Any:
    return x * x.item()


def _reading_memory(x: Any) -> Any:
    return x * (1 + x.untyped_storage()[0] % 7)


def _going_on(x: Any) -> Any:
    y = x
    while (y * y - x).abs() > 1e-9:
        y = (y + x / y) / 2
    return y


def _choosing(x: Any) -> Any:
    return x[x.argmax()]


class _DrawsBack(Custom):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x**2

    @staticmethod
    def backward(ctx: Any, *g: Any) -> Any:
        return g[0] * torch.rand(())


REFUSED: list[tuple[Function, str, str]] = [
    (_by_sides, "-3..3", r"x > 0 \(test_code_in_a_box.py, line \d+\) may change in the box, near x = 0"),
    (_going_on, "0.5..2", r"abs.* > 1e-09 \(test_code_in_a_box.py, line \d+\) may change in the box"),
    (_choosing, "[1,2]..[3,3]", r"what argmax\(\) gives \(test_code_in_a_box.py, line \d+\) may change in the box"),
    (_reading, "1..2", r"the number that item\(\) reads \(test_code_in_a_box.py, line \d+\) may change"),
    (_drawing, "1..2", r"random numbers are drawn \(test_code_in_a_box.py, line \d+\)"),
    (_drawing_by_python, "1..2", "random numbers are drawn by Python or NumPy"),
    (_DrawsBack.apply, "1..2", r"random numbers are drawn \(test_code_in_a_box.py, line \d+\)"),
    (_counting, "1..2", "gives another value when it is called again"),
    (_reading_memory, "1..2", "does something else at x = .*, by nothing that could be seen"),
    (lambda x: torch.histc(x.reshape(1), 3, -3, 3).sum() * x, "1..2", "cannot be read"),
    (lambda x: torch.prod(torch.stack([x, x + 1])), "1..2", "torch's prod goes back in another way"),
    (lambda x: x.half().double() * x, "1..2", "computed in float16"),
]
"""Code with ranges in which its recording may not be the function, and what is said of that."""


@pytest.mark.parametrize("place", range(len(REFUSED)))
@pytest.mark.one_in(4)
def test_what_may_be_another_function_elsewhere_is_refused_with_its_place(place: int) -> None:
    """And with what works instead."""
    function, ends, words = REFUSED[place]
    with pytest.raises(gradcli.GradcliError, match=words) as error:
        gradcli.check(function, box={"x": ends})
    assert "random" in str(error.value) or "draw" in str(error.value)


def test_ranges_and_statements_are_refused_alike() -> None:
    """As the formula is that of one side alone."""
    for ask in (
        lambda: gradcli.range(_by_sides, box={"x": "-3..3"}),
        lambda: gradcli.check(_by_sides, box={"x": "-3..3"}, prove="y >= -9"),
    ):
        with pytest.raises(gradcli.GradcliError, match="x > 0"):
            ask()


def test_an_end_where_code_decides_otherwise_next_to_it_is_no_proved_point() -> None:
    """The slopes on its sides differ, and the point is judged by itself."""
    found = _regions(_kinked, x="0..3")
    assert (found["kink"].at, found["kink"].found, found["kink"].share) == ({"x": 0.0}, "kink", 0)
    assert found["proved"].low["x"] > 0
    assert gradcli.check(_kinked, box={"x": "0..3"}, allow=["kink"]).passed


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.one_in(2)
def test_the_dtype_is_that_of_the_question(dtype: str) -> None:
    """With its own tolerance."""
    answer = gradcli.check(RIGHT["a custom sigmoid, by its value"][0], box={"x": "-3..2"}, dtype=dtype)
    assert answer.passed
    assert answer.dtype == dtype


@pytest.mark.thorough
def test_a_check_in_a_test_suite_raises_what_is_not_proved() -> None:
    """With the table."""
    with pytest.raises(AssertionError, match=r"not all that is asked of .* is proved[\s\S]*disagree"):
        gradcli.check(WRONG["by a hook"][0], box={"x": "1..2"})


@pytest.mark.thorough
def test_a_module_is_checked_in_a_box_of_its_input() -> None:
    """Its parameters stay."""
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(1, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).double()
    answer = gradcli.check(layers, box={"input": "[-3]..[3]"}, raise_exception=False)
    assert isinstance(answer, BoxChecking)
    assert {one.verdict for one in answer.regions} <= {"proved", "near-zero"}


def test_bounds_are_of_the_derivative_and_say_where_the_backward_pass_is_another() -> None:
    """y = x**2 + x is least at -1/2, its slope 2*x + 1 is in -5..7."""
    function = WRONG["on a side, by where"][0]
    answer = gradcli.range(function, box={"x": "-3..3"})
    assert isinstance(answer, BoxRange)
    y, slope = answer.bounds
    assert -0.25 - 1e-6 <= y.low <= -0.25
    assert (slope.low, slope.high) == pytest.approx((-5, 7))
    assert any(re.search("at x = 3 .* does not give the derivative: torch 7.003, truth 7", one) for one in answer.notes)


@pytest.mark.parametrize(
    ("name", "asked", "is_proved"),
    [
        ("a custom square", {"prove": "dy/dx <= 7"}, True),
        ("a custom square", {"claim": "2*x + 1"}, True),
        ("on a side, by where", {"prove": "y >= -0.25001"}, True),
        ("on a side, by where", {"prove": "dy/dx <= 8"}, False),
        ("on a side, by where", {"claim": "2*x + 1"}, False),
    ],
)
@pytest.mark.one_in(3)
def test_nothing_is_proved_of_derivatives_where_the_backward_pass_is_seen_to_be_wrong(
    name: str, asked: dict[str, Any], is_proved: bool
) -> None:
    """Statements on y are proved all the same."""
    function = RIGHT[name][0] if name in RIGHT else WRONG[name][0]
    asked = {key: {"x": one} if key == "claim" else one for key, one in asked.items()}
    answer = gradcli.check(function, box={"x": "-3..3"}, raise_exception=False, **asked)
    assert answer.passed == is_proved


def _slanted(x: Any) -> Any:
    return _square(lambda x, g: torch.where(x > 2, 2.001 * x, 2 * x) * g)(x).sum()


ALONG: dict[str, tuple[Any, str, dict[str, Any], set[str]]] = {
    "smooth": (lambda x: (x**2 - torch.sin(x)).sum(), "-0.5..2", {}, {"proved"}),
    "many numbers": (lambda x: torch.nn.functional.softplus(x).mean(), "-1..1", {"at": np.ones(700)}, {"proved"}),
    "a kink": (lambda x: torch.relu(x).sum() + x[0], "-1.5..1", {}, {"proved", "kink", "near-zero"}),
    "digits that are lost": (
        lambda x: ((1 - torch.cos(x)) / x**2).sum(),
        "-0.9999..0",
        {},
        {"proved", "inaccurate", "open"},
    ),
    "a wrong backward pass": (_slanted, "-0.5..2", {}, {"proved", "disagree"}),
    "a branch that is not taken": (lambda x: x.sum() if x[0] < -3 else (x**2).sum(), "0..2", {}, {"proved"}),
}
"""Functions of a vector, with a range of t, values, and the verdicts there are along (1, 1, …) from there."""


@pytest.mark.parametrize("name", ALONG)
def test_every_point_of_a_line_is_judged(name: str) -> None:
    """As of a number: what its own backward pass computes of t is recorded."""
    function, ends, options, verdicts = ALONG[name]
    at = options.get("at", [1.0, 2.0])
    answer = gradcli.check(function, at, along="ones", box={"t": ends}, raise_exception=False)
    assert isinstance(answer, BoxChecking)
    assert {str(one.verdict) for one in answer.regions} == verdicts
    assert answer.wrt == ("t",)
    assert answer.u is not None
    assert list(answer.u) == ["x"]
    assert gradcli.check(function, at, along="ones", box={"t": ends}, prove="y >= -9").passed


def test_a_branch_that_changes_along_a_line_is_told() -> None:
    """With the place where it does."""
    with pytest.raises(gradcli.GradcliError, match=r"may change in the box, near t = -1"):
        gradcli.check(lambda x: x.sum() if x[0] > 0 else (x**2).sum(), [1.0, 2.0], along="ones", box={"t": "-2..1"})


def test_a_line_moves_arguments_alone() -> None:
    """Others keep their values; a weight is no argument."""
    layer = torch.nn.Linear(2, 1, dtype=torch.float64)
    with pytest.raises(gradcli.GradcliError, match="its arguments alone move along a line"):
        gradcli.check(layer, [1.0, 2.0], along={"weight": [[1.0, 1.0]]}, wrt=["weight"], box={"t": "0..1"})
    answer = gradcli.check(lambda x, w: (w * x**2).sum(), [1.0, 2.0], [3.0, 4.0], along={"x": [1.0, 0.0]})
    assert answer.passed
    assert [*answer.inputs] == ["x", "w"]


class Scaled(torch.nn.Module):
    """A layer with two numbers, one of which is no parameter."""

    c: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(0.5, dtype=torch.float64))
        self.register_buffer("c", torch.tensor(2.0, dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply it."""
        return self.c * torch.sigmoid(self.w * x)


@pytest.mark.parametrize("box", [{"w": (0, 1)}, {"c": (1, 2)}, {"w": (0, 1), "c": (1, 2)}, {"w": (0, 1), "x": (1, 2)}])
def test_a_number_of_a_module_may_move(box: dict[str, tuple[float, float]]) -> None:
    """It is a constant of the code only where it does not move."""
    given: dict[str, Any] = {} if "x" in box else {"x": torch.tensor(2.0, dtype=torch.float64)}
    answer = gradcli.check(Scaled(), box=box, **given)
    assert answer.passed
