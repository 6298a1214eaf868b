"""How the adjoint of a line reaches its operands where the operation is not elementwise: a rule, or plain words.

The rules are those of M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", 2008; z̄ is the adjoint of the line z.  The numbers that stand beside them are torch's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradcli.language.ops import Kind
from gradcli.language.program.movement import axis_of
from gradcli.language.program.wengert import Atom, Call, Shape
from gradcli.notation import Form, Name, Notation, Number, Typed
from gradcli.notation.trees import BRACKETED, MATMUL, MINUS, NEGATIVE, OVER, PLUS, TIMES, TRANSPOSED, call, joined

MOST_SLICES = 3
"""Places in a list of one operand up to which each is written."""

_MOVED: Mapping[str, str] = {
    "index": "the adjoint goes to the elements it was taken from, 0 elsewhere",
    "expand": "summed over the dimensions that were stretched",
    "pad": "the adjoint without the padding",
    "flip": "the adjoint, turned back",
    "roll": "the adjoint, shifted back",
    "tril": "the adjoint, 0 above the diagonal that was cut off",
    "triu": "the adjoint, 0 below the diagonal that was cut off",
    "permute": "the adjoint with its dimensions back in their order",
    "transpose": "the adjoint with its dimensions back in their order",
    "trace": "the adjoint goes to every element of the diagonal, 0 elsewhere",
}

_REDUCED: Mapping[str, str] = {
    "sum": "sum hands its adjoint to every element",
    "mean": "mean hands its adjoint, divided by the count, to every element",
    "amax": "0 but for the largest element, which takes the adjoint",
    "max": "0 but for the largest element, which takes the adjoint",
    "amin": "0 but for the smallest element, which takes the adjoint",
    "min": "0 but for the smallest element, which takes the adjoint",
    "cumsum": "every element gets the sum of the adjoint from its own place on",
    "cumprod": "every element gets the sum, from its own place on, of the adjoint times the product of the others",
}

_OUTER = Form("outer(%s, %s)", "%s %sᵀ", r"%s \, %s^{T}")
_SLICE = Form("%s[%s]", "%s[%s]", "%s{[}%s{]}")


@dataclass(frozen=True)
class Rule:
    """An equation for what one line adds to the adjoint of an operand, or words; both may be missing."""

    equation: Notation | None = None
    words: str = ""


def rule(made: Call, operand: Atom, names: Mapping[Atom, str], shapes: Sequence[Shape], y: str, z: Notation) -> Rule:
    """How the adjoint of a line reaches one of its operands.

    Args:
        made: The operation.
        operand: One of its operands.
        names: What the operands are called.
        shapes: Of the operands, in order.
        y: What the line is called.
        z: The adjoint of the line.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("A @ x")
    >>> A, x = program.variables
    >>> z = Form("adj(z)", "z̄", r"\\bar{z}")()
    >>> rule(program.lines[0].call, x, {A: "A", x: "x"}, [(2, 3), (3,)], "z", z).equation.pretty
    'Aᵀ z̄'
    """
    op = made.op
    places = [n for n, atom in enumerate(made.operands) if atom == operand]
    labels = [names.get(atom, str(atom)) for atom in made.operands]
    operands = [Name(label) for label in labels]
    if op.kind is Kind.CONTRACTION and len(places) == 1:
        return _product(places[0], operands, shapes, z)
    if op.kind is Kind.LIST:
        return _listed(made, places, shapes, z)
    if op.name in ("transpose", "permute") and len(shapes[0]) == 2:
        return Rule(TRANSPOSED(z))
    if op.has_equation:
        return Rule(words=f"the same sum of products, with the adjoint of {y} in the place of {labels[places[0]]}")
    equation = _equation(made, places[0], operands, shapes, Name(y), z) if len(places) == 1 else None
    if equation is not None:
        return Rule(equation)
    if op.name == "mean" and made.statics[0] is None:
        return Rule(OVER(z, Number(str(math.prod(shapes[0])))), "mean hands its share to every element")
    if op.name in _REDUCED:
        return Rule(words=_REDUCED[op.name] + _along(made, shapes[0]))
    if op.name in _MOVED:
        return Rule(words=_MOVED[op.name])
    if op.kind is Kind.MOVEMENT:
        return Rule(words=f"the elements of the adjoint go back to their places in {labels[0]}")
    return Rule()


def _equation(
    made: Call, place: int, operands: Sequence[Notation], shapes: Sequence[Shape], y: Notation, z: Notation
) -> Notation | None:
    """What z = f(a, b), called y here, adds to the adjoint of the operand at a place; None without such a rule."""
    is_along = len(shapes[0]) > 1
    match made.op.name, place, operands:
        case ("dot", 0, [_, b]) | ("dot", 1, [b, _]):
            return TIMES(z, b)
        case "outer", 0, [_, b]:
            return MATMUL(z, b)
        case "outer", 1, [a, _]:
            return MATMUL(TRANSPOSED(z), a)
        case "softmax", _, _:
            return TIMES(y, BRACKETED(MINUS(z, call("sum", TIMES(z, y), *_kept(made, is_along=is_along)))))
        case "log_softmax", _, _:
            return MINUS(z, TIMES(call("exp", y), call("sum", z, *_kept(made, is_along=is_along))))
        case "det", _, [a]:
            return TIMES(TIMES(z, y), _inverse_transposed(a))
        case "logdet", _, [a]:
            return TIMES(z, _inverse_transposed(a))
        case "inv", _, _:
            return NEGATIVE(MATMUL(MATMUL(TRANSPOSED(y), z), TRANSPOSED(y)))
        case "solve", 0, [a, _] if len(shapes[1]) == 1:
            return NEGATIVE(_OUTER(MATMUL(_inverse_transposed(a), z), y))
        case "solve", 0, [a, _]:
            return NEGATIVE(MATMUL(MATMUL(_inverse_transposed(a), z), TRANSPOSED(y)))
        case "solve", 1, [a, _]:
            return MATMUL(_inverse_transposed(a), z)
    return None


def _kept(made: Call, *, is_along: bool) -> list[Notation]:
    """The dimension of a sum that keeps it, where there are several."""
    return [Typed(f"dim={made.statics[0]}"), Typed("keepdim=True")] if is_along else []


def _inverse_transposed(a: Notation) -> Notation:
    return TRANSPOSED(call("inv", a))


def _along(made: Call, shape: Shape) -> str:
    dim = made.statics[0]
    if made.op.is_sum and dim is None:
        return ", as v = ones would"
    return "" if dim is None or len(shape) < 2 else f" along dimension {dim}"


def _product(place: int, operands: Sequence[Notation], shapes: Sequence[Shape], z: Notation) -> Rule:
    """Of a matrix product, by the dimensions of its two operands."""
    a, b = operands
    ranks = min(len(shapes[0]), 3), min(len(shapes[1]), 3)
    stretched = "matrix by matrix, summed over what was stretched"
    match place, ranks:
        case 0, (1, 1):
            return Rule(TIMES(z, b))
        case 1, (1, 1):
            return Rule(TIMES(z, a))
        case 0, (2, 1):
            return Rule(_OUTER(z, b))
        case 0, (1, 2):
            return Rule(MATMUL(b, z))
        case 1, (1, 2):
            return Rule(_OUTER(a, z))
        case 0, _:
            return Rule(MATMUL(z, TRANSPOSED(b)), "" if ranks == (2, 2) else stretched)
    return Rule(MATMUL(TRANSPOSED(a), z), "" if ranks in ((2, 1), (2, 2)) else stretched)


def _listed(made: Call, places: Sequence[int], shapes: Sequence[Shape], z: Notation) -> Rule:
    """Each part of a list takes its own part of the adjoint."""
    full = max(shapes, key=len)
    is_stack = bool(made.op.adds_dimension)
    axis = axis_of(full, made.statics[0], extra=int(is_stack))
    parts: list[Notation] = []
    for place in places:
        start = sum(shape[axis] for shape in shapes[:place]) if not is_stack else place
        key = str(place) if is_stack else f"{start}:{start + shapes[place][axis]}"
        parts.append(_SLICE(z, Typed(f"{':, ' * axis}{key}")))
    if len(parts) > MOST_SLICES:
        return Rule(words="the sum of its parts of the adjoint")
    stretched = is_stack and len(shapes[places[0]]) < len(full)
    return Rule(joined([call("sum", part) for part in parts] if stretched else parts, PLUS))
