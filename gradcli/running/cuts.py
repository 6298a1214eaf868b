"""Check that a gradient is the function's own, and not the function's with something held constant.

    x*x.detach()    x*x.data    x*x.item()    x*torch.from_numpy(x.numpy())    with torch.no_grad(): ...

The recording holds the same values constant as autograd, so that all readings agree on a gradient that is not the
function's.  A detached value stands in the recording: without detaching it, the gradient must be the same.  A number
that leaves torch does not: the function itself is called on both sides of the point, along two random directions, and
must give the same value as the recording there, but for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import Tensor, array_of, evaluate, leaves_of, output_of, prepared, run
from gradcli.crosscheck.boundaries import Boundary
from gradcli.errors import GradcliError
from gradcli.language.program.wengert import Atom, Program
from gradcli.recording.decisions import released
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.running.recorded import Recorded

DIRECTIONS = 2
"""Random directions, each with a call of the function on either side."""

SAME = {"float64": 1e-6, "float32": 1e-3}
"""Largest relative difference of gradients that count as the same."""

MOST_LINES = 20
"""Most values held constant that are tried, to name the first that matters."""

SEED = 0


def cuts(recorded: Recorded, wrt: Sequence[str], slack: float) -> Iterator[Boundary]:
    """Find the reasons why a gradient is not the function's.

    Args:
        recorded: The function at its point.
        wrt: The variables to differentiate by.
        slack: Largest error of the recording, relative to the largest number.
    """
    try:
        yield from [*_detached(recorded, wrt)] or _left(recorded, wrt, slack)
    except GradcliError:  # it has no value next to the point, or no gradient
        return


def _detached(recorded: Recorded, wrt: Sequence[str]) -> Iterator[Boundary]:
    """Report a gradient that changes if nothing is held constant."""
    here = _gradient(recorded, recorded.program, wrt)
    found = _released(recorded, wrt, here, None)
    if found is None:
        return
    places = recorded.recorder.places_of(recorded.program)
    held = [(places[line.span], line.symbol) for line in recorded.program.lines if line.call.op.is_detached]
    tried = (place for place, atom in held[:MOST_LINES] if place.where and _released(recorded, wrt, here, atom))
    value = f"a value{next(tried, '')}"
    entries = [(name, place) for name in wrt for place in np.ndindex(recorded.arrays[name].shape)]
    name, place = entries[found[0]]
    of = "" if recorded.value.size == 1 else " of y weighted at random"
    told = f"by {name}{[*place] or ''} the gradient{of} is {here[found[0]]:.6g}, without that {found[1]:.6g}"
    yield "cut", f"{value} is held constant: {told}"


def _released(recorded: Recorded, wrt: Sequence[str], here: Array, only: Atom | None) -> tuple[int, float] | None:
    """Find the entry of the gradient that changes most if no value, or not `only`, is held constant; None if none."""
    whole, is_changed = released(recorded.program, only)
    if not is_changed or not here.size:
        return None
    other = _gradient(recorded, whole, wrt)
    n = int(np.abs(other - here).argmax())
    scale = np.abs([here, other]).max()
    return (n, float(other[n])) if abs(other[n] - here[n]) > SAME[recorded.call.dtype] * scale else None


def _gradient(recorded: Recorded, program: Program, wrt: Sequence[str]) -> Array:
    """Compute the gradient of y, or of its elements with random weights, as cuts may cancel in their sum: all flat."""
    shape = recorded.value.shape
    v = np.ones(shape) if recorded.value.size == 1 else np.random.default_rng(SEED).normal(size=shape)
    found = vjp(run(program, recorded.arrays, tuple(wrt), recorded.call.dtype), v, tuple(wrt))
    return np.concatenate([np.empty(0), *(found[name].ravel() for name in wrt)])


def _left(recorded: Recorded, wrt: Sequence[str], slack: float) -> Iterator[Boundary]:
    """Report a function that gives other numbers next to the point than its recording, along each direction."""
    generator = np.random.default_rng(SEED)
    step = float(np.finfo(recorded.call.dtype).eps) ** (1 / 3)
    told = ""
    for _ in range(DIRECTIONS):
        here = {name: recorded.arrays[name] for name in wrt}
        u = {name: generator.normal(size=x.shape) * np.where(x == 0, 1.0, np.abs(x)) for name, x in here.items()}
        is_same, moves, says = True, 0.0, 0.0
        for sign in (1.0, -1.0):
            moved = {name: (x + sign * step * u[name]).astype(x.dtype) for name, x in here.items()}
            arrays = {**recorded.arrays, **moved}
            own = array_of(recorded.forward(arrays, ()).output).astype(np.float64)
            replayed, scale = replay(recorded.program, arrays, (), recorded.call.dtype)
            is_same &= is_close(replayed, own, 16 * slack * max(largest(own), scale))
            moves, says = (total + sign * float(y.sum()) / (2 * step) for total, y in ((moves, own), (says, replayed)))
        if is_same:
            return
        told = f"along a random direction the gradient says {says:.6g}, and the function moves by {moves:.6g}"
    if recorded.recorder.decisions.lost:
        yield "cut", f"{recorded.recorder.decisions.lost[0]}; {told}"
    else:
        yield "unchecked", f"{told}: something in it goes around torch"


def replay(program: Program, arrays: Mapping[str, Array], wrt: tuple[str, ...], dtype: str) -> tuple[Array, float]:
    """Run a recording in torch.

    Returns:
        Its value, and the largest number that this is a sum of, which it rounds with.
    """
    ran = prepared(program)
    values = evaluate(ran, leaves_of(ran, arrays, wrt, dtype), dtype)
    return array_of(output_of(ran, values, dtype)), _largest_term(ran, values)


def _largest_term(program: Program, values: Mapping[Atom, Tensor]) -> float:
    """Find the largest number that the output is a sum of, and so rounds with: terms may cancel."""
    terms, found = {program.output}, 0.0
    for line in reversed(program.lines):
        if line.symbol in terms and line.call.op.is_linear:
            terms.update(line.call.operands)
            sizes = [largest(array_of(values[one])) for one in line.call.operands if one in values]
            found = max(found, *sizes, 0.0)
    return found


def largest(array: Array) -> float:
    """Give the largest finite number."""
    return float(np.max(np.abs(array[np.isfinite(array)]), initial=0.0))


def is_close(found: Array, own: Array, room: float) -> bool:
    """Tell whether two arrays are the same, also in NaN and infinities, but for differences up to `room`."""
    with np.errstate(over="ignore"):
        return found.shape == own.shape and np.allclose(found, own, rtol=0.0, atol=room, equal_nan=True)
