"""Guards: `where(x > 0, sqrt(x), 0)` to `where(x > 0, sqrt(where(x > 0, x, 1)), 0)`.

Both branches are computed, and torch multiplies the slope of the one that is not taken by 0, which is NaN if the slope
is infinite.  So the operation is given a harmless operand wherever the other branch is taken.  That is the same
function only if everything between the operation and the branch works element by element.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import sympy

from gradcli.diagnose.forms import Edit, Form, Writer
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call

MOST_CHOICES = 50
"""Choices whose branches are guarded together."""

MOST_ROUNDS = 8
"""How often branches are guarded: those in one another take one each."""

_OVERFLOW = frozenset("exp exp2 expm1 square sinh cosh i0 i1 hypot erfcx".split())
"""Operations that exist everywhere, and yet give infinities, or NaN for a slope."""

_HARMLESS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh", "erfcx"), ("0", "1")),
    **dict.fromkeys(("asin", "acos", "atanh", "erfinv"), ("0",)),
    **dict.fromkeys(("logit", "ndtri", "norm_ppf"), ("0.5",)),
    **dict.fromkeys(("lgamma", "digamma", "polygamma", "hypot", "gammaincc"), ("1",)),
    "acosh": ("2",),
    "zeta": ("2", "1"),
    "mvlgamma": ("600",),
}
"""Operands at which value and slope are finite, the first ones to be tried first; of others they are 1 and 0."""


def guarded(form: Form, culprit: Atom | None) -> Iterator[tuple[Form, str]]:
    """Forms with guards in branches, and why.

    Args:
        form: The function.
        culprit: The operation to guard; all that are risky if it is not known.
    """
    if culprit is not None:
        for n, harmless in enumerate(_harmless(form.nodes[culprit])):
            found = _with_guards(form, culprit, n)
            if found is not None:
                shown = form.shown(culprit)
                yield found, f"{shown} is computed in the branch not taken too, and is given {harmless} there"
        return
    together = form
    for _ in range(MOST_ROUNDS):
        found = _with_guards(together, None)
        if found is None:
            break
        together = found
    if together is not form:
        yield together, "what is not taken of each branch is kept from infinities"


def _with_guards(form: Form, culprit: Atom | None, harmless: int = 0) -> Form | None:
    """The form with the culprit guarded in all branches, or all that is risky; None if nothing is to be."""
    edits = {choice: edit for choice in form.nodes if (edit := _edit(form, choice, culprit, harmless)) is not None}
    return form.rewritten(dict(itertools.islice(edits.items(), MOST_CHOICES))) if edits else None


def _edit(form: Form, choice: Atom, culprit: Atom | None, harmless: int) -> Edit | None:
    """A choice with operations of its branches guarded, unless they are guarded already; None without any."""
    node = form.nodes[choice]
    sides = [(is_first, atom, _elementwise(form, atom)) for is_first, atom in _sides(form, node)]

    def is_guarded(operation: Atom) -> bool:
        call = form.nodes[operation]
        is_wanted = bool(call.op.domain) or call.op.name in _OVERFLOW if culprit is None else operation == culprit
        operand = _guarded_operand(call) if is_wanted else None
        return operand is not None and _condition(node) not in _conditions_of(form, operand)

    risky = {operation for *_, reached in sides for operation in reached if is_guarded(operation)}
    if not risky:
        return None

    def write(writer: Writer) -> Atom:
        condition = writer.values.get(_condition(node), _condition(node))
        values = dict(writer.values)
        for is_first, atom, reached in sides:
            inside = dict(writer.values)
            for operation, call in form.nodes.items():
                operand = _guarded_operand(call) if operation in risky & reached else None
                if operand is not None:
                    pair = inside.get(operand, operand), sympy.Rational(_harmless(call)[harmless])
                    guard = writer.emit(Call("where", (condition, *(pair if is_first else pair[::-1]))), {})
                    inside[operation] = writer.emit(call, {**inside, operand: guard})
                elif operation in reached:
                    inside[operation] = writer.emit(call, inside)
            values[atom] = inside[atom]
        return writer.emit(node, {**values, _condition(node): condition})

    return write


def _sides(form: Form, node: Call) -> Iterator[tuple[bool, Atom]]:
    """What holds if the condition of a choice does, and what holds else, if it is an operation."""
    for is_first, name in zip((True, False), node.op.branches[1:], strict=False):
        atom = node.operands[node.op.operands.index(name)]
        if atom in form.nodes:
            yield is_first, atom


def _condition(node: Call) -> Atom:
    (name,) = node.op.conditions
    return node.operands[node.op.operands.index(name)]


def _elementwise(form: Form, atom: Atom) -> set[Atom]:
    """The operations that a value is made of element by element, itself included, but for those of conditions."""
    found: set[Atom] = set()
    waiting = [atom]
    while waiting:
        node = form.nodes.get(candidate := waiting.pop())
        if node is not None and node.op.kind is Kind.ELEMENTWISE and candidate not in found:
            found.add(candidate)
            waiting += [a for a in node.operands if not node.op.branches or a != _condition(node)]
    return found


def _conditions_of(form: Form, atom: Atom) -> set[Atom]:
    """The conditions of the choices that a value is made of, one directly inside another."""
    found: set[Atom] = set()
    waiting = [atom]
    while waiting:
        node = form.nodes.get(waiting.pop())
        if node is not None and node.op.is_branch and _condition(node) not in found:
            found.add(_condition(node))
            waiting += node.operands
    return found


def _guarded_operand(node: Call) -> Atom | None:
    """The operand that is to be guarded; None if it is a constant."""
    operand = node.operands[node.op.operands.index(node.op.guarded) if node.op.guarded else int(_is_exponential(node))]
    return operand if isinstance(operand, sympy.Symbol) else None


def _harmless(node: Call) -> tuple[str, ...]:
    return ("0", "1") if _is_exponential(node) else _HARMLESS.get(node.op.name, ("1", "0"))


def _is_exponential(node: Call) -> bool:
    """Whether it is a power of a constant."""
    return node.op.name == "pow" and not isinstance(node.operands[0], sympy.Symbol)
