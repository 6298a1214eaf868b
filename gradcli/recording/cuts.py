"""Whether a gradient is that of the function, or of the function with something held constant.

    x*x.detach()    x*x.data    x*x.item()    x*torch.from_numpy(x.numpy())    with torch.no_grad(): ...

What autograd holds constant, the recording does too, so that all readings agree on a gradient that is not the
function's.  The function itself is called on both sides of the point, along two random directions: where it moves
otherwise than its gradient says, and by more than the error of the difference, something was cut out of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import array_of, run
from gradcli.crosscheck.boundaries import Boundary
from gradcli.errors import GradcliError
from gradcli.language.program.wengert import Atom, Program
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.recording.recorded import Recorded

DIRECTIONS = 2
"""Random directions, each with a call of the function on either side."""

CURVED, ROUNDED, FLOOR = 4.0, 64.0, 1e-6
"""The error of a difference: so many times what both sides differ by, roundings of y by the step, and of itself."""

SEED = 0


def cuts(recorded: Recorded, wrt: Sequence[str]) -> Iterator[Boundary]:
    """What there is to say of a gradient that is not the function's.

    Args:
        recorded: The function at its point.
        wrt: The variables to differentiate by.
    """
    try:
        found = _moved(recorded, wrt)
    except GradcliError:  # it has no value beside the point
        return
    if found is None:
        return
    v, says, moves = found
    whole = _whole(recorded.program, wrt)
    if whole is not None:
        here, other = (_gradient(recorded, program, wrt, v) for program in (recorded.program, whole))
        name = max(wrt, key=lambda one: float(np.max(np.abs(other[one] - here[one]), initial=0.0)))
        place = tuple(int(n) for n in np.unravel_index(np.argmax(np.abs(other[name] - here[name])), here[name].shape))
        held, true = here[name][place], other[name][place]
        shown = f"{name}{list(place) if place else ''}"
        yield (
            "cut",
            f"{_where(recorded)} is held constant: by {shown} the gradient is {held:.6g}, without that {true:.6g}",
        )
    elif lost := [remark for remark in recorded.remarks if "numbers leave torch" in remark]:
        said = f"along a random direction the gradient says {says:.6g}, and the function moves by {moves:.6g}"
        yield "cut", f"{lost[0].partition(':')[0]}; {said}"
    else:
        said = f"along a random direction its gradient says {says:.6g}, and the function moves by {moves:.6g}"
        yield "unchecked", f"{said}: something in it goes around torch, or is no smooth function"


def _moved(recorded: Recorded, wrt: Sequence[str]) -> tuple[Array, float, float] | None:
    """A gradient vector, what it says of the last direction, and how the function moves; None where both agree."""
    generator = np.random.default_rng(SEED)
    forward = recorded.forward(recorded.arrays, wrt)
    y = array_of(forward.output).astype(np.float64)
    v = generator.normal(size=y.shape)
    gradient = vjp(forward, v, tuple(wrt))
    says = moves = 0.0
    for _ in range(DIRECTIONS):
        u = {name: generator.normal(size=recorded.arrays[name].shape) * _scale(recorded.arrays[name]) for name in wrt}
        says = float(sum((gradient[name] * u[name]).sum() for name in wrt))
        moves, room = _difference(recorded, u, v, y, 1.0)
        if abs(says - moves) > room + FLOOR * max(abs(says), abs(moves)):
            wider, _ = _difference(recorded, u, v, y, 4.0)  # which shows what rounding does inside of the function
            room += CURVED * abs(wider - moves)
        if not abs(says - moves) > room + FLOOR * max(abs(says), abs(moves)):
            return None
    return v, says, moves


def _difference(recorded: Recorded, u: Mapping[str, Array], v: Array, y: Array, times: float) -> tuple[float, float]:
    """How v·y moves along u, by a step so many times the usual one, and how far that may be off."""
    eps = float(np.finfo(recorded.call.dtype).eps)
    step = times * eps ** (1 / 3)
    ahead, back = (float((v * (_value(recorded, u, one) - y)).sum()) / one for one in (step, -step))
    return (ahead + back) / 2, CURVED * abs(ahead - back) + ROUNDED * eps * float(np.abs(v * y).sum()) / step


def _scale(array: Array) -> Array:
    return np.maximum(np.abs(array.astype(np.float64)), 1.0)


def _value(recorded: Recorded, u: Mapping[str, Array], step: float) -> Array:
    arrays = {name: recorded.arrays[name] + step * one for name, one in u.items()}
    return array_of(recorded.forward({**recorded.arrays, **arrays}, ()).output).astype(np.float64)


def _whole(program: Program, wrt: Sequence[str]) -> Program | None:
    """The Program with nothing held constant; None where it holds nothing that follows from the variables."""
    following: set[Atom] = {symbol for symbol in program.variables if str(symbol) in wrt}
    renamed: dict[Atom, Atom] = {}
    lines, is_cut = [], False
    for line in program.lines:
        moved = line.call.renamed(renamed) if renamed else line.call
        if not following.isdisjoint(moved.operands):
            following.add(line.symbol)
            is_cut |= line.call.op.is_detached
        if line.call.op.is_detached:
            renamed[line.symbol] = moved.operands[0]
        else:
            lines.append(replace(line, call=moved))
    return replace(program, lines=tuple(lines), output=renamed.get(program.output, program.output)) if is_cut else None


def _gradient(recorded: Recorded, program: Program, wrt: Sequence[str], v: Array) -> dict[str, Array]:
    return vjp(run(program, recorded.arrays, tuple(wrt), recorded.call.dtype), np.ones_like(v), tuple(wrt))


def _where(recorded: Recorded) -> str:
    """The first place where a value is held constant that follows from another."""
    place = next(filter(None, recorded.recorder.held.values()), None)
    return "a value" if place is None else f"a value ({place})"
