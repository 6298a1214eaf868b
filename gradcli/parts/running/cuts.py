"""Compare gradients by torch with and without values held constant, where the reference cannot decide it.

    x*x.detach()    x*x.data    with torch.no_grad(): ...

The recording holds the same values constant as autograd, so that all readings agree on a gradient that is not the
function's.  A detached value stands in the recording: without detaching it, the gradient must be the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradcli.arrays import told_apart
from gradcli.autodiff.devices import CPU
from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import Tensor, apply, array_of, calls_in, evaluate, leaves_of, output_of, run
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.ops.structure import OPAQUE
from gradcli.language.program.expansion import holds_constant, without_detach
from gradcli.language.program.passes import for_torch
from gradcli.language.program.wengert import Atom, Line, Program
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.results import Array

SAME = {"float64": 1e-6, "float32": 1e-3}
"""Largest relative difference of gradients that count as the same."""

SLACK = {"float64": 2.0**-44, "float32": 2.0**-16}
"""Largest error of a replay, relative to its largest number, where an operation is run by its meaning."""

LOW_SLACK = 2.0**-4
"""Largest error where some of it is in bfloat16 or float16, which is replayed in the dtype of the value."""

MOST_LINES = 20
"""Most values held constant that are tried, to name the first that matters."""

SUM_ROUNDINGS = 64
"""Roundings of the sum of all terms, relative to x, that are no difference of two gradients."""

SEED = 0


@dataclass(frozen=True)
class HeldConstant:
    """Gradient that is not the function's, as a value is held constant.

    Attributes:
        note: The value, with its line, and both gradients at one element.
        weights: The weights of the elements of y in the sum that the gradients are of.
        missing: The part of the gradient that is missing, by variable.
    """

    note: str
    weights: Array
    missing: Mapping[str, Array]


def cut_of(recorded: RecordedFunction, wrt: Sequence[str]) -> HeldConstant | None:
    """Find out whether the gradient of a recording changes if nothing is held constant.

    Args:
        recorded: The function at its point.
        wrt: The variables to differentiate by.
    """
    try:
        return _cut_of(recorded, wrt)
    except GradcliError:  # it has no gradient
        return None


def _cut_of(recorded: RecordedFunction, wrt: Sequence[str]) -> HeldConstant | None:
    if not any(holds_constant(line.call) for line in recorded.program.lines):
        return None
    here = _gradient(recorded, recorded.program, wrt)
    found = _change_without_detach(recorded, wrt, here, None)
    if found is None:
        return None
    names = recorded.held_values
    tried = (names[atom] for atom in [*names][:MOST_LINES] if _change_without_detach(recorded, wrt, here, atom))
    value = next(tried, next(iter(names.values()), "a value"))  # where no value alone matters the first
    n, other = found
    entries = [(name, place) for name in wrt for place in np.ndindex(recorded.arrays[name].shape)]
    name, position = entries[n]
    of = "" if recorded.value.size == 1 else " of y weighted at random"
    held, free = told_apart(here[n], other[n])
    said = f"by {name}{[*position] or ''} the gradient{of} is {held}, without that {free}"
    ends = np.cumsum([recorded.arrays[name].size for name in wrt])[:-1]
    missing = dict(zip(wrt, np.split(other - here, ends), strict=True))
    return HeldConstant(f"{value} is held constant: {said}", _weights(recorded), missing)


def _change_without_detach(
    recorded: RecordedFunction, wrt: Sequence[str], here: Array, only: Atom | None
) -> tuple[int, Array] | None:
    """Find the entry of the gradient that changes most if no value, or not `only`, is held constant.

    Returns:
        Its position, and the gradient then; None if it stays the same.
    """
    whole, is_changed = without_detach(recorded.program, only)
    if not is_changed or not here.size:
        return None
    other = _gradient(recorded, whole, wrt)
    n = int(np.abs(other - here).argmax())
    # Where terms cancel, as in the gradient of the sum of a softmax, both are what rounding leaves of them.
    left = SUM_ROUNDINGS * np.finfo(recorded.call.dtype).eps * float(np.abs(_weights(recorded) * recorded.value).sum())
    sizes = np.concatenate([np.abs(recorded.arrays[name]).ravel() for name in wrt])
    room = SAME[recorded.call.dtype] * np.abs([here, other]).max() + left / max(1.0, float(sizes[n]))
    return (n, other) if abs(other[n] - here[n]) > room else None


def _weights(recorded: RecordedFunction) -> Array:
    """Return the weights of the elements of y: random ones if they are several, as cuts may cancel in their sum."""
    shape = recorded.value.shape
    return np.ones(shape) if recorded.value.size == 1 else np.random.default_rng(SEED).normal(size=shape)


def _gradient(recorded: RecordedFunction, program: Program, wrt: Sequence[str]) -> Array:
    """Compute the gradient of the weighted sum of y, all flat."""
    ran = run(program, recorded.arrays, tuple(wrt), recorded.call.dtype)
    found = vjp(ran, _weights(recorded), tuple(wrt))
    return np.concatenate([np.empty(0), *(found[name].ravel() for name in wrt)])


class ReplayedValue(NamedTuple):
    """Value of a recording, and for each number of it the largest one that it is a sum of, which it rounds with."""

    value: Array
    terms: Array


def replay(
    program: Program, arrays: Mapping[str, Array], wrt: tuple[str, ...], dtype: str, device: str = CPU
) -> ReplayedValue:
    """Run a recording in torch."""
    ran = for_torch(program)
    values = evaluate(ran, leaves_of(ran, arrays, wrt, dtype, device), dtype, device=device)
    terms = _largest_terms(ran, values, dtype) if device == CPU else np.zeros(())
    return ReplayedValue(array_of(output_of(ran, values, dtype, device)), terms)


def _largest_terms(program: Program, values: Mapping[Atom, Tensor], dtype: str) -> Array:
    """Find the largest number that each one of the output is a sum of, and so rounds with: terms may cancel."""
    lines, terms = list[Line](), {program.output}
    for line in reversed(program.lines):
        is_opaque = line.call.op.name == OPAQUE
        if line.symbol in terms and (line.call.op.is_linear or is_opaque) and _is_tensor(values[line.symbol]):
            terms.update(() if is_opaque else line.call.operands)
            lines.append(line)
    sizes = dict(values)
    for line in reversed(lines):
        operands = [_sizes(sizes[a]) for a in line.call.operands if _is_tensor(sizes.get(a))]
        sizes[line.symbol] = _sizes_of_sum(line, operands, sizes, dtype)
    return array_of(sizes[program.output]) if lines else np.zeros(())


def _sizes_of_sum(line: Line, operands: Sequence[Tensor], values: Mapping[Atom, Tensor], dtype: str) -> Tensor:
    """Find the largest term of each number of a linear operation, whose operands have their largest terms as values."""
    size = _sizes(values[line.symbol])
    if line.call.op.name == OPAQUE:  # whose terms nobody sees
        return size.clamp(min=float(size.max()) if size.numel() else 0.0)
    try:
        if line.call.op.kind in (Kind.LIST, Kind.MOVEMENT):
            found = apply(line.call, values, calls_in(dtype))
            return size.maximum(_sizes(found)) if _is_tensor(found) else size  # a list of constants has no terms
        if line.call.op.kind is Kind.ELEMENTWISE:
            for one in operands:
                size = size.maximum(one.expand_as(size))
            return size
    except (RuntimeError, ValueError, TypeError, IndexError):  # a position was no size
        pass
    return size.clamp(min=max((float(one.max()) for one in operands if one.numel()), default=0.0))


def _is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor, and no size or list of them."""
    return hasattr(value, "nan_to_num")


def _sizes(value: Tensor) -> Tensor:
    """Give the magnitudes of numbers, 0 for one that is not finite."""
    return (value.detach() * 1.0).abs().nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)


def largest(array: Array) -> float:
    """Give the largest finite number."""
    found = float(np.abs(array).max(initial=0.0))
    return found if math.isfinite(found) else float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0))


def is_close(found: Array, own: Array, room: float) -> bool:
    """Tell whether two arrays are the same, also in NaN and infinities, but for differences up to `room`."""
    with np.errstate(over="ignore", invalid="ignore"):
        if found.shape != own.shape:
            return False
        if math.isfinite(room) and (np.abs(found - own) <= room).all():  # as most are, in a fifth of the time
            return True
        return np.allclose(found, own, rtol=0.0, atol=room, equal_nan=True)


def in_short(array: Array) -> str:
    """Write an array for a message, a large one in part."""
    return np.array2string(array, threshold=4, precision=17)
