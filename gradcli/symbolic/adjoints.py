"""How the adjoint of a line reaches its operands where the operation is not elementwise: a rule, or plain words.

The rules are those of M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", 2008; z̄ is the adjoint of the line z.  The numbers that stand beside them are torch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gradcli.language.ops import Kind
from gradcli.language.program.indexing import Shape
from gradcli.language.program.movement import axis_of
from gradcli.language.program.wengert import Atom, Call
from gradcli.results import Notation

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

_EQUATIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "dot": (("{z}*{1}", "{z}·{1}"), ("{z}*{0}", "{z}·{0}")),
    "outer": (("{z} @ {1}", "{z} {1}"), ("{z}.T @ {0}", "{z}ᵀ {0}")),
    "softmax": (("{y}*({z} - sum({z}*{y}{dim}))", "{y}·({z} - sum({z}·{y}{dim}))"),),
    "log_softmax": (("{z} - exp({y})*sum({z}{dim})", "{z} - exp({y})·sum({z}{dim})"),),
    "det": (("{z}*{y}*inv({0}).T", "{z}·{y}·inv({0})ᵀ"),),
    "logdet": (("{z}*inv({0}).T", "{z}·inv({0})ᵀ"),),
    "inv": (("-{y}.T @ {z} @ {y}.T", "-{y}ᵀ {z} {y}ᵀ"),),
    "solve": (("-inv({0}).T @ {z} @ {y}.T", "-inv({0})ᵀ {z} {y}ᵀ"), ("inv({0}).T @ {z}", "inv({0})ᵀ {z}")),
}
"""The adjoint of each operand: {0}, {1} are the operands, {y} is the line, {z} its adjoint."""


@dataclass(frozen=True)
class Rule:
    """An equation for what one line adds to the adjoint of an operand, or words; both may be missing."""

    equation: Notation | None = None
    words: str = ""


def rule(call: Call, operand: Atom, names: Mapping[Atom, str], shapes: Sequence[Shape], y: str, z: Notation) -> Rule:
    """How the adjoint of a line reaches one of its operands.

    Args:
        call: The operation.
        operand: One of its operands.
        names: What the operands are called.
        shapes: Of the operands, in order.
        y: What the line is called.
        z: The adjoint of the line.

    >>> from gradcli.language.grammar import parse
    >>> program = parse("A @ x")
    >>> A, x = program.variables
    >>> z = Notation("adj(z)", "z̄")
    >>> rule(program.lines[0].call, x, {A: "A", x: "x"}, [(2, 3), (3,)], "z", z).equation.pretty
    'Aᵀ z̄'
    """
    op = call.op
    places = [n for n, atom in enumerate(call.operands) if atom == operand]
    labels = [names.get(atom, str(atom)) for atom in call.operands]
    if op.kind is Kind.CONTRACTION and len(places) == 1:
        return _product(places[0], labels, shapes, z)
    if op.kind is Kind.LIST:
        return _listed(call, places, shapes, z)
    if op.name in ("transpose", "permute") and len(shapes[0]) == 2:
        return Rule(Notation(f"{z.text}.T", f"{z.pretty}ᵀ"))
    if op.has_equation:
        return Rule(words=f"the same sum of products, with the adjoint of {y} in the place of {labels[places[0]]}")
    if op.name in _EQUATIONS and len(places) == 1:
        is_along = op.along is not None and len(shapes[0]) > 1
        dim = f", dim={call.statics[0]}, keepdim=True" if is_along else ""
        named = dict(enumerate(labels))
        plain, pretty = _EQUATIONS[op.name][places[0]]
        if op.name == "solve" and places[0] == 0 and len(shapes[1]) == 1:
            plain = "-outer(inv({0}).T @ {z}, {y})"
        return Rule(Notation(_filled(plain, named, y, z.text, dim), _filled(pretty, named, y, z.pretty, dim)))
    if op.name == "mean" and call.statics[0] is None:
        count = math.prod(shapes[0])
        return Rule(Notation(f"{z.text}/{count}", f"{z.pretty}/{count}"), "mean hands its share to every element")
    if op.name in _REDUCED:
        return Rule(words=_REDUCED[op.name] + _along(call, shapes[0]))
    if op.name in _MOVED:
        return Rule(words=_MOVED[op.name])
    if op.kind is Kind.MOVEMENT:
        return Rule(words=f"the elements of the adjoint go back to their places in {labels[0]}")
    return Rule()


def _filled(template: str, labels: Mapping[int, str], y: str, z: str, dim: str) -> str:
    text = template.replace("{y}", y).replace("{z}", z).replace("{dim}", dim)
    for n, label in labels.items():
        text = text.replace(f"{{{n}}}", label)
    return text


def _along(call: Call, shape: Shape) -> str:
    dim = call.statics[0]
    if call.op.is_sum and dim is None:
        return ", as v = ones would"
    return "" if dim is None or len(shape) < 2 else f" along dimension {dim}"


def _product(place: int, labels: Sequence[str], shapes: Sequence[Shape], z: Notation) -> Rule:
    """Of a matrix product, by the dimensions of its two operands."""
    a, b = labels
    ranks = min(len(shapes[0]), 3), min(len(shapes[1]), 3)

    def both(form: Callable[[str, str, str], str]) -> Notation:
        return Notation(form(z.text, ".T", " @ "), form(z.pretty, "ᵀ", " "))

    match place, ranks:
        case 0, (1, 1):
            return Rule(Notation(f"{z.text}*{b}", f"{z.pretty}·{b}"))
        case 1, (1, 1):
            return Rule(Notation(f"{z.text}*{a}", f"{z.pretty}·{a}"))
        case 0, (2, 1):
            return Rule(Notation(f"outer({z.text}, {b})", f"{z.pretty} {b}ᵀ"))
        case 0, (1, 2):
            return Rule(both(lambda z, t, at: f"{b}{at}{z}"))
        case 1, (1, 2):
            return Rule(Notation(f"outer({a}, {z.text})", f"{a} {z.pretty}ᵀ"))
        case 0, (2, 2):
            return Rule(both(lambda z, t, at: f"{z}{at}{b}{t}"))
        case 1, (2, 1 | 2):
            return Rule(both(lambda z, t, at: f"{a}{t}{at}{z}"))
        case 0, _:
            return Rule(both(lambda z, t, at: f"{z}{at}{b}{t}"), "matrix by matrix, summed over what was stretched")
    return Rule(both(lambda z, t, at: f"{a}{t}{at}{z}"), "matrix by matrix, summed over what was stretched")


def _listed(call: Call, places: Sequence[int], shapes: Sequence[Shape], z: Notation) -> Rule:
    """Each part of a list takes its own part of the adjoint."""
    full = max(shapes, key=len)
    is_stack = bool(call.op.adds_dimension)
    axis = axis_of(full, call.statics[0], extra=int(is_stack))
    keys = []
    for place in places:
        start = sum(shape[axis] for shape in shapes[:place]) if not is_stack else place
        key = str(place) if is_stack else f"{start}:{start + shapes[place][axis]}"
        keys.append(f"[{':, ' * axis}{key}]")
    if len(keys) > MOST_SLICES:
        return Rule(words="the sum of its parts of the adjoint")
    stretched = is_stack and len(shapes[places[0]]) < len(full)

    def joined(z: str) -> str:
        return " + ".join(f"sum({z}{key})" if stretched else f"{z}{key}" for key in keys)

    return Rule(Notation(joined(z.text), joined(z.pretty)))
