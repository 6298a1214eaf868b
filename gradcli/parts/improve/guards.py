"""Guards: `where(x > 0, sqrt(x), 0)` to `where(x > 0, sqrt(where(x > 0, x, 1)), 0)`.

Both branches are computed, and torch multiplies the slope of the one that is not taken by 0, which is NaN if the slope
is infinite.  So the operation is given a harmless operand wherever the other branch is taken.  That is the same
function only if everything between the operation and the branch works element by element.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import sympy

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call
from gradcli.parts.improve.forms import Edit, Form, FormWriter

MOST_CHOICES = 50
"""Most choices whose branches are guarded together."""

MOST_ROUNDS = 8
"""Most rounds of guarding: branches inside one another take a round each."""

_OVERFLOW = frozenset("exp exp2 expm1 square sinh cosh i0 i1 hypot erfcx".split())
"""Operations that have a value everywhere, and yet may give an infinity, or NaN for a slope."""

_HARMLESS: Mapping[str, str] = {
    **dict.fromkeys("exp exp2 expm1 sinh cosh erfcx asin acos atanh erfinv".split(), "0"),
    **dict.fromkeys(("logit", "ndtri", "norm_ppf"), "0.5"),
    **dict.fromkeys(("acosh", "zeta"), "2"),
    "mvlgamma": "600",
}
"""Operands at which value and slope are finite; for other operations it is 1."""


def guarded(form: Form, culprit: Atom | None) -> Form | None:
    """Put guards in the branches of a form; None where there is nothing to guard.

    Args:
        form: The function.
        culprit: The operation to guard; None for all risky operations.
    """
    together, why = form, "what is not taken of each branch is kept from infinities"
    if culprit is not None:
        harmless = _guard(form.nodes[culprit])[1]
        why = f"{form.text_of(culprit)} is computed in the branch not taken too, and is given {harmless} there"
    for _ in range(MOST_ROUNDS if culprit is None else 1):
        edits = {choice: edit for choice in together.nodes if (edit := _edit(together, choice, culprit)) is not None}
        found = together.rewritten(dict(itertools.islice(edits.items(), MOST_CHOICES)), why) if edits else None
        if found is None:
            break
        together = found
    return None if together is form else together


def _edit(form: Form, choice: Atom, culprit: Atom | None) -> Edit | None:
    """Make the edit that guards operations in the branches of a choice; None if none is both risky and unguarded."""
    node = form.nodes[choice]
    sides = {}
    for is_first, name in zip((True, False), node.op.branches[1:], strict=False):
        atom = node.operands[node.op.operands.index(name)]
        sides[atom] = is_first, _backward_slice(form, atom, lambda call: call.op.kind is Kind.ELEMENTWISE)

    def is_risky(operation: Atom) -> bool:
        call = form.nodes[operation]
        is_wanted = bool(call.op.domain) or call.op.name in _OVERFLOW if culprit is None else operation == culprit
        operand = _guard(call)[0] if is_wanted else None
        known = (
            _backward_slice(form, operand, lambda call: call.op.is_branch)
            if isinstance(operand, sympy.Symbol)
            else None
        )
        return known is not None and _condition(node) not in (_condition(form.nodes[one]) for one in known)

    risky = {operation for _, reached in sides.values() for operation in reached if is_risky(operation)}
    if not risky:
        return None

    def write(writer: FormWriter) -> Atom:
        condition = writer.values.get(_condition(node), _condition(node))
        values = dict(writer.values)
        for atom, (is_first, reached) in sides.items():
            inside = dict(writer.values)
            for operation in (one for one in form.nodes if one in reached):
                call, guards = form.nodes[operation], dict[Atom, Atom]()
                if operation in risky:
                    operand, harmless = _guard(call)
                    pair = inside.get(operand, operand), sympy.Rational(harmless)
                    guards[operand] = writer.emit(Call("where", (condition, *pair[:: 1 if is_first else -1])), {})
                inside[operation] = writer.emit(call, {**inside, **guards})
            values[atom] = inside.get(atom, atom)
        return writer.emit(node, {**values, _condition(node): condition})

    return write


def _condition(node: Call) -> Atom:
    (name,) = node.op.conditions
    return node.operands[node.op.operands.index(name)]


def _backward_slice(form: Form, atom: Atom, is_passed: Callable[[Call], bool]) -> set[Atom]:
    """Collect the operations of a kind that a value is made of, one directly inside another, without conditions."""
    found: set[Atom] = set()
    waiting = [atom]
    while waiting:
        node = form.nodes.get(candidate := waiting.pop())
        if node is not None and is_passed(node) and candidate not in found:
            found.add(candidate)
            waiting += [a for a in node.operands if not node.op.branches or a != _condition(node)]
    return found


def _guard(node: Call) -> tuple[Atom, str]:
    """Return the operand to be guarded and its harmless value: for a power of a constant, the exponent."""
    if node.op.name == "pow" and not isinstance(node.operands[0], sympy.Symbol):
        return node.operands[1], "0"
    place = node.op.operands.index(node.op.guarded) if node.op.guarded else 0
    return node.operands[place], _HARMLESS.get(node.op.name, "1")
