"""Costs of shapes: how unlikely it is that they are meant, where a text makes sense with several."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from gradcli.language.lower.juxtaposed_names import GREEK
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call, Shape

MOST_UNLIKELY = 1.5
"""Cost beyond that of the likeliest reading from which nobody means another one.

Nobody means a capital for a vector, a lower-case letter for a matrix, or a broadcast, where there is another reading.
"""

BROADCAST = 2.0
"""Cost of tensors of other shapes that are multiplied element by element."""

OUT_OF_SQUARE = 5.0
"""Cost of the trace of a matrix that is not square."""

UNLIKE_TERMS = 2.0
"""Cost of a variable that is a number and added to a tensor."""

MISSING, MISSING_CAPITAL, MISSING_GREEK = 3.5, 6.0, 0.5
"""Cost of each dimension less than operations pass on to a variable, as `sum(w*x)` has one for w."""

DOUBTFUL_NUMBER = 2.0
"""Cost of a number that is transposed, or asked for its length: somebody means a vector."""

CAPITAL_NUMBER = 2.5
"""Cost of a number that has a capital letter in mathematics."""

UNWANTED = 3.0
"""Cost of a claim, or another text, that has another shape than is expected of it."""

EQUAL, SQUARE = 0.1, 1.0
"""Costs of two sizes that have to be the same, and of all sizes the same where they need not be."""

_GREEK = frozenset({*GREEK, "lmbda", "eps", *map(chr, range(0x3B1, 0x3CA))})


def costs_of_ranks(name: str, fewest: int, passed: int, *, is_mathematics: bool = False) -> list[tuple[float, int]]:
    """List the dimensions that a variable may have with their costs, the cheapest first.

    In mathematics a capital is a matrix, and seldom a number.

    >>> costs_of_ranks("x", 0, 0), costs_of_ranks("A", 1, 1), costs_of_ranks("lam", 0, 0)
    ([(0.0, 0), (1.0, 1), (6.0, 2)], [(2.0, 2), (6.0, 1)], [(0.0, 0), (1.2, 1), (6.0, 2)])
    """
    first = name.rstrip("0123456789_")
    number = CAPITAL_NUMBER if is_mathematics else 0.0
    known = (
        (number, 6.0, 2.0) if name[:1].isupper() else (0.0, 1.2, 6.0) if first.lower() in _GREEK else (0.0, 1.0, 6.0)
    )
    missing = MISSING_CAPITAL if name[:1].isupper() else MISSING
    missing = MISSING_GREEK if first.lower() in _GREEK and first[:1].islower() else missing
    ranks = range(fewest, max(2, fewest, passed) + 1)
    costs = ((known[rank] if rank < len(known) else 2.0 * rank, rank) for rank in ranks)
    return sorted((cost + missing * max(0, passed - rank), rank) for cost, rank in costs)


def cheapest(options: Sequence[Sequence[tuple[float, int]]]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Generate choices of one option of each list, with their costs, the cheapest first.

    >>> [ranks for _, ranks in cheapest([[(0.0, 0), (1.0, 1)], [(0.0, 0), (4.0, 2)]])]
    [(0, 0), (1, 0), (0, 2), (1, 2)]
    """
    first = (0,) * len(options)

    def cost(chosen: tuple[int, ...]) -> float:
        return sum(own[n][0] for own, n in zip(options, chosen, strict=True))

    waiting, seen = [(cost(first), first)], {first}
    while waiting:
        total, chosen = heapq.heappop(waiting)
        yield total, tuple(own[n][1] for own, n in zip(options, chosen, strict=True))
        for place, own in enumerate(options):
            if chosen[place] + 1 < len(own):
                after = (*chosen[:place], chosen[place] + 1, *chosen[place + 1 :])
                if after not in seen:
                    seen.add(after)
                    heapq.heappush(waiting, (cost(after), after))


def is_out_of_square(call: Call, operands: Sequence[Shape]) -> bool:
    """Tell whether an operation that is meant of square matrices has another one."""
    return call.op.of_square and len(set(operands[0])) > 1


def cost_of_line(call: Call, operands: Sequence[Shape], variables: set[Atom]) -> float:
    """Say how unlikely it is that an operation is meant for operands of these shapes."""
    if is_out_of_square(call, operands):
        return OUT_OF_SQUARE
    if call.op.of_shapes and operands and not any(operands):
        return DOUBTFUL_NUMBER
    if call.op.kind is not Kind.ELEMENTWISE:
        return 0.0
    if len({shape for shape in operands if shape}) > 1:
        return BROADCAST
    most = max(map(len, operands), default=0)
    is_sum = call.op.coefficients and len(operands) > 1
    alike = (len(shape) == most or atom not in variables for atom, shape in zip(call.operands, operands, strict=True))
    return UNLIKE_TERMS if is_sum and not all(alike) else 0.0


def divisor_of(call: Call) -> Atom | None:
    """Return the operand that divides in a quotient, which is no matrix; None of any other operation."""
    return call.operands[1] if call.op.name == "div" else None
