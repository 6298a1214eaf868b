"""Guards: `where(x > 0, sqrt(x), 0)` to `where(x > 0, sqrt(where(x > 0, x, 1)), 0)`.

Both branches are computed, and torch multiplies the slope of the one that is not taken by 0, which is NaN if the slope
is infinite.  So the operation is given a harmless operand wherever the other branch is taken.  That is the same
function only if everything between the operation and the branch works element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sympy

from gradcli.diagnose.occurrences import Branch, Reading, within
from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call, Line

MOST_SITES = 50
"""Operations in branches that are looked at."""

MOST_ROUNDS = 8
"""Readings of a text while its branches are guarded: operations in one another take one each."""


@dataclass(frozen=True, slots=True)
class _Site:
    """An operand to guard: where it stands, what it is, and the branch that it is in."""

    operation: Atom
    operand: Atom
    place: Span
    part: Span
    branch: Branch
    is_first: bool

    def text(self, reading: Reading, harmless: str) -> str:
        """The guarded operand."""
        condition, operand = reading.clean(self.branch.condition), reading.clean(self.part)
        pair = (operand, harmless) if self.is_first else (harmless, operand)
        return f"where({condition}, {', '.join(pair)})"


def guarded(
    reading: Reading, culprit: Line | None, again: Callable[[str], Reading | None]
) -> Iterator[tuple[str, str]]:
    """Texts with guards in branches, and why.

    Args:
        reading: The function.
        culprit: The operation to guard; all that are risky if it is not known.
        again: Reads a text as this one was read.
    """
    if culprit is not None:
        atom = reading.operations.get(culprit.span)
        sites = list(_sites(reading, lambda a: a == atom))[:MOST_SITES]
    else:
        together = _all_guarded(reading, again)
        if together is not None:
            yield together, "what is not taken of each branch is kept from infinities"
        sites = list(_sites(reading, _risky_of(reading)))[:MOST_SITES]
    for operation, branch in dict.fromkeys((site.operation, site.branch) for site in sites):
        own = [site for site in sites if (site.operation, site.branch) == (operation, branch)]
        shown = reading.clean(own[0].place)
        for harmless in _harmless(reading.nodes[operation]):
            text = reading.edited({site.part: site.text(reading, harmless) for site in own})
            yield text, f"{shown} is computed in the branch not taken too, and is given {harmless} there"


def _all_guarded(reading: Reading, again: Callable[[str], Reading | None]) -> str | None:
    """The text with every risky operation of every branch guarded; None if there is none."""
    text = None
    for _ in range(MOST_ROUNDS):
        edits = _inlined(reading)
        if not edits:
            sites = list(_sites(reading, _risky_of(reading)))[:MOST_SITES]
            for site in sites:
                harmless = _harmless(reading.nodes[site.operation])[0]
                edits.setdefault(site.part, site.text(reading, harmless))
        if not edits:
            break
        text = reading.edited(edits)
        following = again(text)
        if following is None:
            return None
        reading = following
    return text


def _inlined(reading: Reading) -> dict[Span, str]:
    """The definitions of names that stand in a branch for something risky, by the ranges of the names."""
    edits: dict[Span, str] = {}
    for branch in reading.branches:
        for _, side, atom in _sides(reading, branch):
            reached = _elementwise(reading, atom)
            for span, value in reading.inside(side, leaves=True):
                if value in reached and len(edits) < MOST_SITES and _is_elementwise(reading, span, side):
                    place = next(iter(reading.places(value)), None)
                    is_risky = any(_is_risky(reading.nodes[a]) for a in _elementwise(reading, value))
                    if is_risky and place is not None and reading.is_same_at(place, span.start):
                        edits[span] = reading.clean(place)
    return edits


def _sites(reading: Reading, is_wanted: Callable[[Atom], bool]) -> Iterator[_Site]:
    """The operands of the wanted operations in the text of branches, unless they are guarded already."""
    for branch in reading.branches:
        for is_first, side, atom in _sides(reading, branch):
            node = reading.nodes[branch.atom]
            condition = _operand(node, *node.op.conditions)
            reached = _elementwise(reading, atom)
            for place, operation in reading.inside(side):
                if operation not in reached or not is_wanted(operation) or not _is_elementwise(reading, place, side):
                    continue
                k = _guarded_operand(reading.nodes[operation])
                parts = reading.parts.get(place, ())
                if k is None or k >= len(parts) or k >= len(reading.nodes[operation].operands):
                    continue
                operand = reading.nodes[operation].operands[k]
                if reading.value_at(parts[k]) == operand and condition not in _guards_of(reading, operand):
                    yield _Site(operation, operand, place, parts[k], branch, is_first)


def _sides(reading: Reading, branch: Branch) -> Iterator[tuple[bool, Span, Atom]]:
    """What holds if the condition does, and what holds else, if it is an operation."""
    node = reading.nodes.get(branch.atom)
    if node is None or node.op.branches is None:
        return
    first, second = (_operand(node, name) for name in (node.op.branches.first, node.op.branches.second))
    for is_first, side, atom in ((True, branch.first, first), (False, branch.second, second)):
        if atom in reading.nodes:
            yield is_first, side, atom


def _operand(node: Call, name: str) -> Atom:
    """The operand that the row of an operation calls so."""
    return node.operands[node.op.operands.index(name)]


def _elementwise(reading: Reading, atom: Atom) -> set[Atom]:
    """The operations that a value is made of element by element, itself included."""
    found: set[Atom] = set()
    waiting = [atom]
    while waiting:
        node = reading.nodes.get(candidate := waiting.pop())
        if node is not None and node.op.kind is Kind.ELEMENTWISE and candidate not in found:
            found.add(candidate)
            waiting += node.operands
    return found


def _is_elementwise(reading: Reading, place: Span, side: Span) -> bool:
    """Whether nothing around a place in a branch mixes elements: a value may stand inside of a sum and beside it."""
    around = (atom for span, atom in reading.inside(side) if within(place, span) and span != place)
    return all(reading.nodes[atom].op.kind is Kind.ELEMENTWISE for atom in around if atom in reading.nodes)


def _guards_of(reading: Reading, atom: Atom) -> set[Atom]:
    """The conditions of the choices that a value is made of, one directly inside another."""
    found: set[Atom] = set()
    waiting = [atom]
    while waiting:
        node = reading.nodes.get(waiting.pop())
        if node is not None and node.op.is_branch and node.operands[0] not in found:
            found.add(node.operands[0])
            waiting += node.operands[1:]
    return found


def _is_risky(node: Call) -> bool:
    """Whether an operation may have an infinite value or slope for some operand."""
    return _guarded_operand(node) is not None and (bool(node.op.domain) or node.op.overflows)


def _risky_of(reading: Reading) -> Callable[[Atom], bool]:
    """Which operations of a function are risky."""
    return lambda atom: _is_risky(reading.nodes[atom])


def _guarded_operand(node: Call) -> int | None:
    """Which operand is to be guarded; None if it is a constant."""
    k = node.op.operands.index(node.op.guarded) if node.op.guarded else int(_is_exponential(node))
    return k if isinstance(node.operands[k], sympy.Symbol) else None


def _harmless(node: Call) -> tuple[str, ...]:
    return ("0", "1") if _is_exponential(node) else node.op.harmless or ("1", "0")


def _is_exponential(node: Call) -> bool:
    """Whether it is a power of a constant."""
    return node.op.name == "pow" and not isinstance(node.operands[0], sympy.Symbol)
