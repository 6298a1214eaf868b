"""Torch's own passes through a Program, forward and back, as lines of another Program, in the order of rounding.

A backward pass is recorded below autograd like any call, and so is one back through it.  Calls that torch's tables
decompose are decomposed, as its kernels compute so; the others are the row of their name.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import bisect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import gradients
from gradcli.autodiff.run import Operation, Tensor, apply, differentiated_by, evaluate, leaves_of, output_of
from gradcli.errors import GradcliError, Span
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expand, expansion
from gradcli.language.program.library_calls import TorchCalls, plain
from gradcli.language.program.movement import axes_of
from gradcli.language.program.passes import for_torch, for_torch_twice
from gradcli.language.program.torch_passes import OF_Y, TorchPasses, Way
from gradcli.language.program.wengert import Atom, Call, Program
from gradcli.recording.aten_calls import Argument, Overload, can_be_recorded, name_of, numbers_of, tensors_in
from gradcli.recording.aten_lowering import row_of
from gradcli.recording.decisions import ORDERED
from gradcli.recording.decompositions import decomposed, is_unread
from gradcli.recording.pass_decisions import UNSEEN, PassDecisions
from gradcli.recording.places import CallPlace, TensorNames
from gradcli.recording.recorder import Recorder
from gradcli.results import Array

AS_ROWS = frozenset(
    "var std mean dot vdot linalg_vector_norm norm embedding im2col copysign special_i0e special_i1e mse_loss "
    "binary_cross_entropy smooth_l1_loss huber_loss soft_margin_loss "
    "reciprocal rsqrt exp2 expm1 log1p log2 log10 hypot remainder fmod".split()
)
"""Composites whose kernel is described by its row, and not by torch's table."""


def _hardsigmoid_backward(grad: Tensor, x: Tensor) -> Tensor:
    return torch.where((x > -3) & (x < 3), grad * float(np.float32(1 / 6)), 0.0)


def _cross_entropy_backward(grad: Tensor, x: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    found = grad * (x - target) / ((1 - x) * x).clamp(min=float(np.float32(1e-12)))
    found = found if weight is None else found * weight
    return found / x.numel() if reduction == 1 else found


FAULTY: Mapping[str, tuple[Callable[..., Tensor], str]] = {
    "hardsigmoid_backward": (_hardsigmoid_backward, "torch's constant 1/6 is a float32"),
    "binary_cross_entropy_backward": (_cross_entropy_backward, ""),
}
"""Computation of each faulty kernel whose entry in torch's table is right, with a remark, by operation."""

AS_MEANT = frozenset(["rrelu"])
"""Functions whose call writes to a tensor of random numbers: their meaning is run."""

FAULTS: Mapping[str, tuple[Callable[..., Any], str]] = {
    "softplus": (lambda x, *_: x > 20, "torch takes x itself above 20"),
    "scaled_softplus": (
        lambda x, beta=1, threshold=20: beta * x > threshold,
        "torch takes x itself where beta*x is above the threshold",
    ),
    "cosine_similarity": (lambda a, b: a.norm() * b.norm() < 1e-7, "torch takes lengths to be no less than 1e-8"),
    "binary_cross_entropy": (
        lambda p, *_: p * (1 - p) < 2e-3,
        "torch divides by input*(1 - input), and by no less than 1e-12 in float32",
    ),
}
"""Condition under which torch's function has another derivative than its meaning, with the reason, by row."""


VECTORS: Mapping[str, tuple[int, ...]] = {"_linalg_svd": (0, 2), "_linalg_eigh": (1,)}
"""Indices of the results of a call that are matrices of unit vectors."""


SINGULAR = "torch gives 0 as the gradient of a determinant that comes out as 0"
"""Remark on the backward of det where a pivot is 0: it multiplies by the determinant, and divides by a matrix made
regular.  A determinant that only underflows is rounded."""


class PassRecorder(Recorder):
    """Recorder of forward and backward passes, which follows each tensor whether or not autograd does.

    Args:
        is_sound: Whether to record kernels known to be wrong as they should be.

    Attributes:
        faults: Remarks on the wrong kernels that were met.
        wrong: Remarks on formulas of torch's that are wrong here, and that no rounding explains.
    """

    decisions: PassDecisions

    def __init__(self, names: TensorNames, dtype: torch.dtype, *, is_sound: bool) -> None:
        super().__init__(names, dtype, "torch")
        self.lines.context.builder.dtype = str(dtype).removeprefix("torch.")  # as each result of a kernel is rounded
        self.is_sound, self.faults, self.wrong = is_sound, dict[str, None](), dict[str, None]()
        self.decisions = PassDecisions(self)
        self._has_zero_pivot = False
        self._ends, self._spans = list[int](), list[Span]()

    def by(self, spans: Mapping[Call, Span]) -> Operation:
        """Make a function that runs an operation of a text, and notes its place for all lines recorded of it.

        Args:
            spans: The places of the operations.
        """

        def run(call: Call, values: Mapping[Atom, Argument], calls: TorchCalls) -> Argument:
            self.lines.span = spans[call]
            found = _run(call, values, calls)
            self._spans.append(spans[call])
            self._ends.append(torch_internals.next_number())
            return found

        return run

    def dispatch(self, function: Overload, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Argument:
        """Run a call and record it; on the way back, as part of the operation that autograd goes back through."""
        node = torch_internals.current_node()
        place = len(self._ends) if node is None else bisect.bisect_right(self._ends, torch_internals.number_of(node))
        if place < len(self._ends):
            self.lines.span = self._spans[place]
        return super().dispatch(function, args, kwargs)

    def operand(self, tensor: Tensor, place: CallPlace) -> Atom:
        """Give the value that a tensor holds."""
        return self._value(tensor, place)

    def run_backward(
        self, path: str, function: Callable[..., Any], args: Sequence[Argument], kwargs: Mapping[str, Argument]
    ) -> Argument:
        """Run a backward pass like any call."""
        return function(*args, **kwargs)

    def _needs_decomposition(self, function: Overload, given: Mapping[str, Argument]) -> bool:
        name, is_listed = name_of(function), function in torch_internals.decompositions()
        row = row_of(name)
        is_composite = (row is not None and not row.is_primitive and name not in AS_ROWS) or name == "sinc"
        if is_listed and ((is_composite and name not in self.lines.rules) or name.startswith("native_")):
            return True
        return is_unread(function, given)

    def _lowered(
        self, function: Overload, given: dict[str, Argument], outputs: Sequence[Argument], place: CallPlace
    ) -> tuple[list[Atom | None], list[Atom]]:
        """Round each element of unit vectors as if it were near 1: LAPACK's error is one of the whole vector."""
        name = name_of(function)
        have_no_line = any(isinstance(one, torch.Tensor) and not can_be_recorded(one) for one in outputs)
        if name in UNSEEN or (len(outputs) > 1 and name not in ORDERED and have_no_line):
            self.decisions.hold(tensors_in(given))
        if name == "_linalg_det":  # which gives the determinant, its factors and pivots
            self._has_zero_pivot |= not outputs[1].diagonal(dim1=-2, dim2=-1).all()
        results, inputs = super()._lowered(function, given, outputs, place)
        for n in VECTORS.get(name, ()):
            if results[n] is not None:
                results[n] = self.lines.row("sub", self.lines.row("add", results[n], 1), 1)
        return results, inputs

    def _decompose(self, function: Overload, given: Mapping[str, Argument]) -> Argument:
        if name_of(function) == "linalg_lu_solve" and self._has_zero_pivot and not given["B"].any():
            self.wrong[SINGULAR] = None
            return given["B"] + 0  # whatever the matrix is
        kernel, fault = FAULTY.get(name_of(function), (None, ""))
        if kernel is None or self.is_sound:
            return decomposed(function, given)
        self.faults.update({fault: None} if fault else {})
        return kernel(*given.values())


class _Product(torch.autograd.Function):
    """Product whose backward divides by each factor, as torch does if no factor is 0, except under a mode."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, run: Callable[[Tensor], Tensor], kept: Sequence[int]) -> Tensor:
        """Multiply over the dimensions of size 1 in the shape `kept`."""
        found, ctx.kept = run(x), kept
        ctx.save_for_backward(x, found)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Divide the product by each factor."""
        x, found = ctx.saved_tensors
        return grad.reshape(ctx.kept) * (found.reshape(ctx.kept) / x), None, None


def _run(call: Call, values: Mapping[Atom, Argument], calls: TorchCalls) -> Argument:
    """Run an operation as torch does without a mode."""
    x = values.get(call.operands[0]) if call.op.name == "prod" else None
    if x is None or not x.ndim or bool((x == 0).any()):
        return apply(call, values, calls)
    axes = axes_of(tuple(x.shape), call.statics[0])
    kept = [1 if n in axes else size for n, size in enumerate(x.shape)]
    return _Product.apply(x, lambda x: apply(call, {**values, call.operands[0]: x}, calls), kept)


def record(
    way: Way,
    program: Program,
    inputs: Mapping[str, Array],
    wrt: Sequence[str],
    dtype: str,
    *,
    is_sound: bool = False,
    has_conditions: bool = False,
) -> TorchPasses | None:
    """Run a Program in torch, forward and back, and record all of it.

    Args:
        way: How to go back.
        program: The function.
        inputs: An array per variable.
        wrt: The variables to go back to.
        dtype: `float64` or `float32`.
        is_sound: Whether to record functions and kernels known to be wrong as they should be.
        has_conditions: Whether to give the conditions under which torch runs the same operations.

    Returns:
        The recorded passes; None if a call has no meaning here.
    """
    try:
        return _recorded(way, program, inputs, tuple(wrt), dtype, is_sound, has_conditions)
    except (GradcliError, RuntimeError, ValueError, TypeError, ArithmeticError):
        return None


def _recorded(
    way: Way,
    program: Program,
    inputs: Mapping[str, Array],
    wrt: tuple[str, ...],
    dtype: str,
    is_sound: bool,
    has_conditions: bool,
) -> TorchPasses:
    ran, kind = (for_torch(program) if way == "back" else for_torch_twice(program)), getattr(torch, dtype)
    leaves = leaves_of(ran, inputs, (*wrt, *differentiated_by(ran)), dtype)
    wrong = _faults(ran, leaves, dtype)
    left_out = {call for call in wrong if is_sound}
    ran = expand(ran, keep=lambda call: call not in left_out and call.op.name not in AS_MEANT)
    recorder = PassRecorder(TensorNames(record, leaves), kind, is_sound=is_sound)
    recorder.give(leaves)
    seeds: dict[str, str] = {}

    def seed(name: str, shaped: Tensor) -> Tensor:
        with recorder.paused():
            found = torch.zeros_like(shaped)
        seeds[name] = f"cotangent {name}"
        recorder.give({seeds[name]: found})
        return found

    with warnings.catch_warnings(), recorder:
        warnings.simplefilter("ignore")
        by = recorder.by({line.call: line.span for line in ran.lines})
        y = output_of(ran, evaluate(ran, leaves, dtype, by=by), dtype)
        found = dict(zip(wrt, _passes(way, y, [leaves[name] for name in wrt], wrt, seed), strict=True))
    return _found(recorder, {**found, OF_Y: y}, seeds, ran, wrong=tuple(wrong.values()), has_conditions=has_conditions)


def passes_of_code(recorder: PassRecorder, y: Tensor, leaves: Mapping[str, Tensor], called: str) -> TorchPasses:
    """Go back from a value that code computed under a recorder, with all that decides what is computed.

    Args:
        recorder: The recorder, which has seen the value computed, and sees the way back.
        y: The value.
        leaves: The tensors to go back to, by name.
        called: The name of the code.

    Raises:
        InputError: A call has no meaning here, or torch refuses the way back.
        UserCodeError: Code of the user's that runs on it fails.
    """
    seed, seeds = torch.ones_like(y), {OF_Y: f"cotangent {OF_Y}"}
    recorder.give({seeds[OF_Y]: seed})
    value = recorder.number(y)
    words = recorder.decisions.in_words(recorder.program(value))
    with recorder:
        found = dict(zip(leaves, gradients(y, [*leaves.values()], seed), strict=True))
    program = replace(recorder.lines.program([value]), called=called)
    passes = _found(recorder, {**found, OF_Y: y}, seeds, program, has_conditions=True)
    return replace(passes, decided={one: words[guard] for guard, one in zip(words, passes.conditions, strict=False)})


def _found(
    recorder: PassRecorder,
    ends: Mapping[str, Tensor | None],
    seeds: Mapping[str, str],
    ran: Program,
    *,
    wrong: tuple[str, ...] = (),
    has_conditions: bool = False,
) -> TorchPasses:
    """Give all that was recorded of passes that end with some tensors."""
    atoms = {
        name: None if tensor is None or torch_internals.is_zero_tensor(tensor) else recorder.number(tensor)
        for name, tensor in ends.items()
    }
    guards = dict.fromkeys(guard.condition for guard in recorder.decisions.guards if has_conditions)
    whole = expansion(
        replace(recorder.lines.program([*guards, *(one for one in atoms.values() if one is not None)]), text=ran.text),
        keep=lambda call: call.op.is_primitive or call.op.kind is Kind.ELEMENTWISE,
    )
    results = {name: None if atom is None else whole.renamed.get(atom, atom) for name, atom in atoms.items()}
    value = results.pop(OF_Y)
    assert value is not None, "y is a tensor"  # noqa: S101
    told = tuple(dict.fromkeys((*recorder.faults, *wrong)))
    known = {name: numbers_of(leaf.value).astype(np.float64) for name, leaf in recorder.leaves.items()}
    conditions = tuple(whole.renamed.get(one, one) for one in guards)
    return TorchPasses(whole.program, known, seeds, results, value, told, tuple(recorder.wrong), conditions)


def _faults(program: Program, leaves: Mapping[str, Tensor], dtype: str) -> dict[Call, str]:
    """Find the calls whose derivative in torch is known to differ from their meaning's here, with the reason."""
    lines = [line for line in program.lines if line.call.op.name in FAULTS]
    values = evaluate(program, leaves, dtype) if lines else {}
    found = {}
    for line in lines:
        is_here, said = FAULTS[line.call.op.name]
        operands = (values[a] if a in values else torch.tensor(plain(a)) for a in line.call.operands)
        if bool(is_here(*operands).any()):
            found[line.call] = said
    return found


# -- ways back


def _passes(
    way: Way, y: Tensor, leaves: Sequence[Tensor], wrt: Sequence[str], seed: Callable[[str, Tensor], Tensor]
) -> list[Tensor | None]:
    """Go back from y, once or twice: the second time to the leaves, or to the first pass's seed, in which it is linear.

    Args:
        way: Once (`back`), or twice to the leaves (`twice`) or to the seed (`columns`).
        y: The output.
        leaves: The variables.
        wrt: Their names.
        seed: Makes the seed of a pass by the name of a tensor, in that tensor's shape.
    """
    if way == "back":
        return _grad([y], leaves, [seed(OF_Y, y)])
    weights = torch.ones_like(y, requires_grad=way == "columns")
    firsts = _grad([y], leaves, [weights], create_graph=True)
    seeds = [None if one is None else seed(name, one) for name, one in zip(wrt, firsts, strict=True)]
    if way == "twice":
        return _grad(firsts, leaves, seeds)
    return [_grad([one], [weights], [u], retain_graph=True)[0] for one, u in zip(firsts, seeds, strict=True)]


def _grad(
    ys: Sequence[Tensor | None], leaves: Sequence[Tensor], vs: Sequence[Tensor | None], **how: bool
) -> list[Tensor | None]:
    moving = [(y, v) for y, v in zip(ys, vs, strict=True) if y is not None and y.requires_grad]
    if not moving:
        return [None] * len(leaves)
    return list(torch.autograd.grad([y for y, _ in moving], leaves, [v for _, v in moving], allow_unused=True, **how))
