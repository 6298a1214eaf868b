"""Calls that no recorder reads: their slopes are measured, and what is wrong is told from what is right."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from gradcli.errors import GradcliError
from gradcli.parts.running.plain_functions import check, record
from gradcli.recording.slope_measurement import Floats, measure
from tests.checks import check_of
from tests.parts.running import opaque_functions as own
from tests.parts.running.running import require_as_run

Make = Callable[[float], Callable[..., torch.Tensor]]
Draw = Callable[[torch.dtype], list[torch.Tensor]]

RIGHT, WRONG = 1.0, 1.001

CASES: list[Any] = [
    *(pytest.param(one.made, one.arguments, one.is_single, id=one.name) for one in own.KERNELS),
    pytest.param(own.ctc, own.of_ctc, False, id="ctc_loss"),
    *(
        pytest.param(own.writing(one), own.KERNELS[0].arguments, False, id=f"writes {n}")
        for n, one in own.WRITERS.items()
    ),
    *(
        pytest.param(
            make,
            own.of_compiled(shapes),
            False,
            id=f"cpp {name}",
            marks=[pytest.mark.thorough, pytest.mark.skipif(not own.HAS_COMPILER, reason="there is no compiler")],
        )
        for name, (make, shapes) in own.COMPILED.items()
    ),
]


def inside(opaque: Callable[..., torch.Tensor], count: int) -> Callable[..., torch.Tensor]:
    """Put a call between operations that are read."""
    if count == 1:
        return lambda x: torch.sqrt(1 + opaque(1.5 * x) ** 2)
    return lambda x, w: torch.sqrt(1 + opaque(1.5 * x, w) ** 2)


def test_there_are_forty() -> None:
    """Twenty right ones, and the same with an error of a thousandth; some are of C++."""
    assert len(CASES) >= 20 + 4


def _in_dtypes() -> list[Any]:
    """Each case in both dtypes, of which one in turn is for `pytest -m thorough`."""
    params = []
    for n, case in enumerate(CASES):
        *_, is_single = case.values
        for dtype in (torch.float64, torch.float32):
            is_left = (dtype is torch.float64) == (n % 2 == 1 or is_single)
            marks = (*case.marks, pytest.mark.thorough) if is_left else case.marks
            params.append(pytest.param(*case.values, dtype, id=f"{str(dtype)[6:]}-{case.id}", marks=marks))
    return params


@pytest.mark.parametrize(("make", "draw", "is_single", "dtype"), _in_dtypes())
@pytest.mark.one_in(8)
def test_right_and_wrong_ones_are_told_apart(make: Make, draw: Draw, is_single: bool, dtype: torch.dtype) -> None:
    """By a thousandth, in either dtype; none is called proven, and the digits are said."""
    if is_single and dtype is torch.float64:
        pytest.skip("it takes float32 alone")
    given = draw(dtype)
    for factor, verdict in ((RIGHT, "agree"), (WRONG, "disagree")):
        answer = record(inside(make(factor), len(given)), *given).check()
        found = check_of(answer)
        assert (found.verdict, found.proven) == (verdict, False)
        assert answer.passed == (verdict == "agree")
        if verdict == "agree":
            assert found.digits is not None
            assert found.digits >= (3 if is_single else 6)
            assert f"agree (measured, to {found.digits} digits" in str(answer)


MEASURED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "complex": lambda x: torch.fft.fft(x).tan().real,
    "eigenvalues": lambda x: torch.linalg.eigvals(x.diag()).abs(),
    "packed": own.packed,
    "several results": lambda x: torch.linalg.eig(x.diag() + 0.1)[0].real * x,
    "twice": lambda x: own.SINE(own.SINE(x) * x) + own.SINE(x),
    "a part of the arguments": lambda x: own.SINE(x[:2]).sum() * x[2],
    "next to constants": lambda x: own.GATED(x, torch.tensor([1.0, 2.0, 3.0], dtype=x.dtype)),
}


def test_a_number_that_is_zero_but_for_rounding_agrees() -> None:
    """The imaginary part of a real eigenvalue does not move, and torch's gradient of them is the rounding of others."""
    a = torch.tensor([[1.54, -0.29, -2.18], [0.57, -1.08, -1.4], [0.4, 0.84, -0.72]], dtype=torch.float64)
    answer = record(lambda x: torch.view_as_real(torch.linalg.eigvals(x)), a).check()
    assert check_of(answer).verdict == "agree"
    assert not check_of(answer).proven


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.one_in(4)
def test_the_numbers_are_those_of_torch(name: str) -> None:
    """And everything around the call is enclosed as ever."""
    require_as_run(MEASURED[name], own.X, verdict="agree")
    assert check_of(record(MEASURED[name], own.X).vjp(v="ones")).digits is not None


def test_entries_that_do_not_go_through_the_call_are_proven() -> None:
    """And the others are not."""
    answer = record(lambda x, w: own.SINE(x).sum() * w**2, own.X, torch.tensor(2.0, dtype=torch.float64)).check()
    proven = {one.variable: one.proven for one in answer.opinions if one.variable}
    assert proven == {"x": False, "w": True}
    assert [one.digits is None for one in answer.opinions if one.variable == "w"] == [True]


@pytest.mark.parametrize("count", [100, 5_000])
@pytest.mark.parametrize(("factor", "verdict"), [(RIGHT, "agree"), (WRONG, "disagree")])
@pytest.mark.one_in(2)
def test_a_large_call_is_moved_along_random_directions(count: int, factor: float, verdict: str) -> None:
    """Of all entries at once."""
    sine = own.KERNELS[0].made(factor)
    x = torch.linspace(0.3, 1.7, count, dtype=torch.float64)
    found = check_of(record(lambda x: (sine(x) * x).sum(), x).check())
    assert (found.verdict, found.proven) == (verdict, False)
    if verdict == "agree":
        assert found.checked == found.entries == count
        assert found.digits is not None
        assert any("random directions" in note for note in found.notes)


def test_one_wrong_entry_of_a_large_call_is_found() -> None:
    """As it shows in each direction."""

    class OneOff(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return torch.from_numpy(np.sin(x.detach().numpy()))

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            found = grad * torch.cos(x)
            found[7] *= 1.01
            return found

    x = torch.linspace(0.3, 1.2, 2000, dtype=torch.float64)
    found = check_of(record(lambda x: OneOff.apply(x).sum(), x).check())  # type: ignore[no-untyped-call]
    assert found.verdict == "disagree"


@pytest.mark.parametrize(("factor", "verdict"), [(RIGHT, "agree"), (WRONG, "disagree")])
def test_a_large_gradient_does_not_hide_the_error_of_a_small_one(factor: float, verdict: str) -> None:
    """As each variable is moved alone."""
    right, sine = own.KERNELS[0].made(RIGHT), own.KERNELS[0].made(factor)
    given = [torch.linspace(0.3, 1.2, count, dtype=torch.float64) for count in (50, 60)]
    found = check_of(record(lambda x, b: 1e5 * right(x).sum() + sine(b).sum(), *given).check())
    assert found.verdict == verdict


# -- memory that is written to


def test_a_table_that_is_written_to_is_held_constant_with_its_line() -> None:
    """Outside of a Function, as autograd does not follow what is written there."""
    found = check_of(record(lambda x: own.WRITERS["empty"](x.contiguous()) * x, own.X).check())
    assert found.verdict == "cut"
    assert (
        "code that is not torch's writes to memory that is used (test_opaque_calls.py, line" in found.findings[0].note
    )


def test_a_table_of_numbers_is_a_constant() -> None:
    """Which NumPy writes to an array of its memory: the function does not move it."""

    def function(x: torch.Tensor) -> torch.Tensor:
        table = torch.zeros(3, dtype=x.dtype)
        table.numpy()[:] = [1, 2, 3]
        return (table * x**2).sum()

    assert check_of(record(function, own.X).check()).verdict == "agree"


def test_a_buffer_is_known_by_its_number_until_it_is_written_to() -> None:
    """By a constant first, or at once by what moves: then no constant with numbers of the point is left."""

    def rows(x: torch.Tensor) -> torch.Tensor:
        found = torch.zeros(3, 3, dtype=x.dtype)
        found[0] = torch.arange(3.0, dtype=x.dtype)
        found[1] = x**2
        return (found**2).sum()

    def padded(x: torch.Tensor) -> torch.Tensor:
        found = torch.full((4,), 7.0, dtype=x.dtype)
        found[1:] = x
        return (found**3).sum()

    for function in (rows, padded):
        answer = record(function, own.X).check()
        assert (check_of(answer).verdict, check_of(answer).proven) == ("agree", True)
    assert [*answer.inputs] == ["x"]


@pytest.mark.parametrize("make", [torch.zeros_like, torch.ones_like, lambda x: torch.full_like(x, 3)])
def test_a_function_that_gives_back_a_constant_is_read(make: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Nothing has written to it, so it is proven to have no slope."""
    function = own.with_slope(make, torch.zeros_like)
    found = check_of(record(lambda x: function(x) + x, own.X).check())
    assert (found.verdict, found.proven, found.digits) == ("agree", True, None)


@pytest.mark.parametrize(("factor", "verdict"), [(RIGHT, "agree"), (WRONG, "disagree")])
def test_zeros_that_are_written_are_no_constant(factor: float, verdict: str) -> None:
    """Although the buffer holds nothing else after that than before."""
    function = own.with_slope(own.written_sine, lambda x: factor * x.cos())
    found = check_of(record(function, torch.zeros(3, dtype=torch.float64)).check())
    assert (found.verdict, found.proven) == (verdict, False)


def test_one_function_that_writes_to_memory_leaves_the_others_read() -> None:
    """Only what goes through it is measured."""

    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return torch.sin(x)

        @staticmethod
        def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
            return v * torch.cos(ctx.saved_tensors[0])

    writes = own.writing(own.WRITERS["empty"])(RIGHT)

    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return writes(x).sum() + Sine.apply(w).sum()  # type: ignore[no-untyped-call, no-any-return]

    answer = record(function, own.X, own.X).check()
    proven = {one.variable: one.proven for one in answer.opinions if one.variable}
    assert proven == {"x": False, "w": True}


# -- what hides a slope


def _rounded(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.round(np.sin(x.detach().numpy()), 4))


def _noisy(x: torch.Tensor) -> torch.Tensor:
    found = x.detach().numpy()
    return torch.from_numpy(np.sin(found) + 1e-4 * np.sin(1e9 * found))


def _bent(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.abs(x.detach().numpy() - 0.7))


HIDDEN: dict[str, tuple[Callable[..., torch.Tensor], str]] = {
    "coarse": (_rounded, "hides their slopes: compute in float64 inside of it, or compare it with another"),
    "noisy": (_noisy, "hides their slopes"),
    "kink": (_bent, "has a kink here: along argument 1[0] its slope is -1 before the point and 1 after it"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_hides_a_slope_is_unchecked_with_the_reason(name: str) -> None:
    """And with the way out."""
    forward, reason = HIDDEN[name]
    function = own.with_slope(forward, torch.cos)
    found = check_of(record(function, own.X[:1]).check())
    assert found.verdict in ("unchecked", "kink")
    assert any(reason in one.note for one in found.findings)


def test_random_ones_are_refused_or_unchecked() -> None:
    """A call that gives other numbers each time has no slope."""
    function = own.with_slope(lambda x: x.detach() + np.random.default_rng().normal(), torch.ones_like)
    with pytest.raises(GradcliError):
        record(function, own.X).check()


def test_measuring_disturbs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """What a call prints or draws next to its point is dropped: it prints where the function is run, and no more."""
    counted = list[int]()

    def forward(x: torch.Tensor) -> torch.Tensor:
        counted.append(1)
        print("called")
        torch.rand(3), np.random.rand()
        return torch.from_numpy(np.sin(x.detach().numpy()))

    states = torch.get_rng_state(), str(np.random.get_state())
    function = own.with_slope(forward, torch.cos)
    assert check_of(record(function, own.X).check()).verdict == "agree"
    assert len(counted) > 12
    assert capsys.readouterr().out.count("called") <= 6
    assert torch.equal(torch.get_rng_state(), states[0])
    assert str(np.random.get_state()) == states[1]


def test_a_function_that_changes_its_argument_is_a_fault() -> None:
    """Which no mark_dirty says."""

    def forward(x: torch.Tensor) -> torch.Tensor:
        found = torch.from_numpy(np.sin(x.detach().numpy()))
        x.detach().numpy()[:] *= 2
        return found

    function = own.with_slope(forward, torch.cos)
    with pytest.raises(GradcliError, match="changes its arguments"):
        record(lambda x: function(2 * x), own.X).check()


def test_second_derivatives_are_not_measured() -> None:
    """Nor are they called right."""
    answer = record(lambda x: own.SINE(x).sum(), own.X).hvp(u=[1.0, 0.0, 0.0])
    assert check_of(answer).verdict == "unchecked"
    assert any("second derivatives are not" in note for note in check_of(answer).notes)


def test_without_scipy_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to install."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    for x in (own.X, torch.linspace(0.3, 1.7, 100, dtype=torch.float64)):
        found = check_of(record(lambda x: own.SINE(x).sum(), x).check())
        assert found.verdict == "unchecked"
        assert any("pip install 'gradcli[scipy]'" in one.note for one in found.findings)


def test_no_formula_is_shown() -> None:
    """It says why."""
    answer = record(lambda x: own.SINE(x).sum(), own.X).grad()
    assert "cannot be read: its slopes are measured" in answer.symbolic_omitted["x"]


def test_a_class_that_each_run_makes_anew_is_one_function() -> None:
    """So that it is known where the run is repeated."""
    made = own.KERNELS[9].made
    given = own.KERNELS[9].arguments(torch.float64)
    assert check_of(record(lambda x, w: made(RIGHT)(x, w).sum(), *given).check()).verdict == "agree"


def test_a_gradient_of_zeros_agrees() -> None:
    """By an argument that the call does not follow: its slopes are measured as 0."""
    function = own.with_slope(lambda x: torch.from_numpy(np.ones(3)), torch.zeros_like)
    found = check_of(record(lambda x: function(x) + 2, own.X).check())
    assert (found.verdict, found.checked) == ("agree", 9)


def test_numbers_are_rounded_to_what_is_known() -> None:
    """The truth of an entry has no more digits than it was measured to, and one."""
    answer = record(lambda x: own.SINE(x).sum(), own.X).check()
    for one in answer.opinions:
        if one.variable is not None:
            assert one.reference == round(one.reference or 0.0, 13)
            assert abs((one.reference or 0.0) - (one.torch or 0.0)) <= (one.radius or 0.0)


def test_json_has_the_digits() -> None:
    """Of the check, and of each entry that is listed."""
    answer = record(lambda x: own.SINE(x).sum(), own.X).check()
    assert answer.to_dict()["check"]["measured_digits"] == check_of(answer).digits
    assert {"measured_digits"} <= {key for one in answer.to_dict()["opinions"] for key in one}


# -- rules of operations besides their derivatives


def _sine(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy()))


def _changing(x: torch.Tensor) -> torch.Tensor:
    found = _sine(x)
    x.mul_(2)
    return found


def test_an_operation_that_changes_its_argument_is_a_fault() -> None:
    """Which its schema does not say."""
    operation = own.operation(_changing, torch.empty_like)
    with pytest.raises(GradcliError, match="changes its argument x, and its schema does not say so"):
        check(lambda x: operation(2 * x), own.X)


@pytest.mark.parametrize(
    ("fake", "said"),
    [
        (lambda x: x.new_empty((2,)), "Shapes"),
        (lambda x: x.new_empty(x.shape, dtype=torch.float32), "Dtypes"),
        (torch.empty_like, ""),
        (None, ""),
    ],
    ids=["shape", "dtype", "right", "none"],
)
def test_a_wrong_register_fake_is_a_fault(fake: Callable[..., torch.Tensor] | None, said: str) -> None:
    """It gives the shapes and dtypes that the call gives; without one nothing is wrong."""
    operation = own.operation(_sine, fake)
    answer = record(lambda x: operation(2 * x), own.X).check()
    assert check_of(answer).verdict == "agree"
    assert [said in one and "register_fake" in one for one in answer.elsewhere] == [True] * bool(said)
    assert answer.passed == (not said)


@pytest.mark.parametrize(("fake", "is_asked"), [(torch.empty_like, False), (lambda x: x.new_empty((2,)), True)])
def test_torch_is_asked_only_where_two_calls_leave_it_open(
    fake: Callable[..., torch.Tensor], is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As what it asks with takes seconds to import."""
    asked, operation = list[object](), own.operation(_sine, fake)
    opcheck = torch.library.opcheck

    def seen(*given: Any, **named: Any) -> Any:
        asked.append(given)
        return opcheck(*given, **named)

    monkeypatch.setattr(torch.library, "opcheck", seen)
    assert record(lambda x: operation(2 * x), own.X).check().passed != is_asked
    assert bool(asked) == is_asked


class _Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sin(x.detach().numpy()))

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
        return v * torch.cos(ctx.saved_tensors[0])


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (lambda x: x.view_as(x), "what its schema says is not what it does"),
        (_Sine.apply, "its backward is not registered as autograd needs it"),
    ],
    ids=["a view", "a backward in the wrong place"],
)
def test_an_operation_of_a_library_that_breaks_a_rule_is_a_fault(kernel: Any, said: str) -> None:
    """Torch says which one."""
    with torch.library._scoped_library("opaque_tests", "DEF") as library:
        library.define("own(Tensor x) -> Tensor")
        library.impl("own", kernel, "CPU")
        answer = record(lambda x: torch.ops.opaque_tests.own(2 * x).detach() + x, own.X).check()
    assert any(said in one for one in answer.elsewhere), answer.elsewhere
    assert not answer.passed


# -- kernels


def test_a_kernel_of_float32_alone_is_compared_with_another() -> None:
    """As ever: the truth is the enclosure of the other."""
    kernel = next(one for one in own.KERNELS if one.name == "single")
    given = [torch.tensor([0.5, 1.0, 1.5], requires_grad=True)]
    assert check(kernel.made(RIGHT), *given, versus=lambda x: x**3).passed
    with pytest.raises(AssertionError):
        check(kernel.made(WRONG), *given, versus=lambda x: x**3)


class _Softplus(torch.autograd.Function):
    """Kernel that takes float32 alone, whose backward is off by a factor."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        assert x.dtype is torch.float32, "float32 alone"
        ctx.save_for_backward(x)
        ctx.factor = factor
        return torch.from_numpy(np.log1p(np.exp(x.detach().numpy())))

    @staticmethod
    def backward(ctx: Any, v: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.factor * v * torch.sigmoid(ctx.saved_tensors[0]), None


@pytest.mark.parametrize("count", [3, 30, 100, pytest.param(20_000, marks=pytest.mark.thorough)])
def test_a_kernel_of_float32_alone_is_measured_in_it(count: int) -> None:
    """Bluntly: large ones along random directions, the sum of many numbers too."""
    x = torch.randn(count, generator=torch.Generator().manual_seed(0))
    for factor, verdict in ((RIGHT, "agree"), (WRONG, "disagree")):
        found = check_of(check(lambda z, by=factor: _Softplus.apply(z, by), x, raise_exception=False))  # type: ignore[no-untyped-call]
        assert (found.verdict, found.proven) == (verdict, False)


@pytest.mark.parametrize("count", [60, 400])
def test_a_noisy_kernel_of_float32_is_not_called_wrong(count: int) -> None:
    """Digits that cancel inside of it hide its slopes."""

    class Cancelling(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return torch.from_numpy((x.detach().numpy() + 1000) ** 2 - 1000**2)

        @staticmethod
        def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
            return 2 * (ctx.saved_tensors[0] + 1000) * v  # type: ignore[no-any-return]

    for seed in range(3):
        x = torch.randn(count, generator=torch.Generator().manual_seed(seed))
        assert check_of(record(Cancelling.apply, x).check()).verdict != "disagree"


HALVED = [torch.sin, torch.tanh, torch.sigmoid, lambda a: a * a, lambda a: 3 * a + 1, lambda a: a**3 - a]


@pytest.mark.parametrize("inside", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("outside", [torch.float32, torch.float64])
def test_a_kernel_of_half_precision_is_neither_wrong_nor_bent(inside: torch.dtype, outside: torch.dtype) -> None:
    """Its values move in steps, some of them wider than the steps by which its noise is measured: errors say so."""
    drawn = torch.randn(8, 1, generator=torch.Generator().manual_seed(0)).to(outside)
    for function in HALVED:

        def stepping(x: Floats, function: Any = function) -> Floats:
            found: Floats = function(torch.tensor(x, dtype=outside).to(inside)).double().numpy()
            return found

        for x in drawn:
            slope = torch.autograd.functional.jacobian(function, x.double()).item()  # type: ignore[no-untyped-call]
            at = x.double().numpy()
            found = measure(stepping, at, stepping(at), float(torch.finfo(outside).eps))
            assert abs(found.slopes[0, 0] - slope) <= found.errors[0, 0]
            assert found.kink is None


@pytest.mark.parametrize("inside", [torch.float16, torch.bfloat16, torch.float32])
def test_a_kink_in_low_precision_is_no_slope(inside: torch.dtype) -> None:
    """The error holds the slopes of both sides."""

    def bent(x: Floats) -> Floats:
        found: Floats = torch.relu(torch.tensor(x, dtype=torch.float64).to(inside)).double().numpy()
        return found

    found = measure(bent, np.zeros(2), np.zeros(2), 2.0**-52)
    assert (abs(found.slopes[0, 0] - np.array([0, 1])) <= found.errors[0, 0]).all()
    assert (found.kink is not None) is (inside is torch.float32)


def test_digits_are_those_of_the_library_s_error() -> None:
    """Each error contains the truth: planted functions with known slopes."""
    x = np.array([0.4, -1.3, 2.2])
    for function, slopes in (
        (np.sin, np.diag(np.cos(x))),
        (lambda z: np.atleast_1d(np.exp(z).sum()), np.exp(x)[None]),
        (lambda z: np.sin(50 * z), np.diag(50 * np.cos(50 * x))),
        (lambda z: np.sin(z.astype(np.float32)).astype(float), np.diag(np.cos(x))),
    ):
        found = measure(function, x, function(x), 2.0**-52)
        assert (np.abs(found.slopes - slopes) <= found.errors).all()


def test_roundings_that_repeat_are_seen() -> None:
    """In steps of a power of 2 from a number of few bits a difference of squares seems to have no noise."""

    def cancelling(x: Floats) -> Floats:
        return ((x.astype(np.float32) + np.float32(1000)) ** 2 - np.float32(1000**2)).astype(np.float64)

    for x in np.random.default_rng(0).normal(size=(50, 1)).astype(np.float32).astype(np.float64):
        found = measure(cancelling, x, cancelling(x), 2.0**-23)
        assert abs(found.slopes[0, 0] - 2 * (x[0] + 1000)) <= found.errors[0, 0]


@pytest.mark.parametrize("command", ["explain", "graph", "code"])
def test_what_shows_each_call_says_that_one_cannot_be_read(command: str) -> None:
    """And which commands measure it."""
    function = own.KERNELS[0].made(RIGHT)
    with pytest.raises(GradcliError, match="cannot be read, and ") as error:
        getattr(record(function, *own.KERNELS[0].arguments(torch.float64)), command)()
    assert "measures its slopes" in str(error.value)


def test_a_small_entry_that_is_off_does_not_agree() -> None:
    """In float32 too, where rounding in larger entries might explain the difference."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return torch.from_numpy(x.detach().numpy() ** 3)

        @staticmethod
        def backward(ctx: Any, v: torch.Tensor) -> torch.Tensor:
            scale = torch.tensor([2.99, 3.0])
            return torch.mul(scale, ctx.saved_tensors[0] ** 2 * v)

    answer = record(Cube.apply, torch.tensor([0.3, 2.2])).check()
    assert {one.verdict for one in answer.opinions if one.row == (0,) and one.column == (0,)} == {"unchecked"}
    assert check_of(answer).verdict != "agree"
