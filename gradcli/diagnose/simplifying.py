"""Parts of a function as SymPy simplifies them: over one denominator, without roots in it or above, with fewer sines.

SymPy only proposes.  What it writes is measured as any other form is, and held to the function's enclosures, or proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import sympy
from sympy import Expr
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from gradcli.diagnose.forms import Form, Writer
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom
from gradcli.reference.rules import rule_of

MOST_OPERATIONS = 16
"""Of a part that is simplified: SymPy takes milliseconds for such, and cannot be stopped."""

MOST_UNKNOWNS = 3
"""Values that such a part is made of."""

MOST_PARTS = 4
"""Parts of one function, the outermost first."""


def simplified(form: Form) -> Iterator[tuple[Form, str]]:
    """The forms with one part as SymPy simplifies it, and why; the outermost part first.

    Args:
        form: The function.

    >>> from gradcli.language.parsing import parse
    >>> next(simplified(Form(parse("sin(x)*cos(y) - cos(x)*sin(y)"))))[0].text
    'sin(x - y)'
    """
    parts = [atom for atom, call in reversed(form.nodes.items()) if call.op.adds_terms or call.op.guarded]
    for atom in parts[:MOST_PARTS]:
        unknowns: dict[Atom, sympy.Symbol] = {}
        whole = _expression(form, atom, unknowns)
        if len(unknowns) > MOST_UNKNOWNS or not _is_small(whole):
            continue
        for template, reason in _proposed(whole):
            names = {symbol.name: one for one, symbol in unknowns.items()}
            found = form.rewritten({atom: partial(Writer.fill, template=template, names=names)})
            if found is not None:
                yield found, reason


def _is_small(whole: Expr) -> bool:
    is_low = all(abs(power.exp) <= MOST_OPERATIONS for power in whole.atoms(sympy.Pow) if power.exp.is_Rational)
    is_exact = not whole.has(sympy.Float, sympy.zoo, sympy.nan, sympy.oo)
    return is_exact and is_low and whole.count_ops() <= MOST_OPERATIONS


def _expression(form: Form, atom: Atom, unknowns: dict[Atom, sympy.Symbol]) -> Expr:
    """A value in SymPy's terms, as far as these are sums, products, powers and functions of angles."""
    if not isinstance(atom, sympy.Symbol):
        return atom
    call = form.nodes.get(atom)
    is_known = call is not None and call.op.kind is Kind.ELEMENTWISE and not call.op.branches
    if call is None or not is_known or call.op.sense or call.op.is_detached or not _is_plain(rule_of(call).expression):
        return unknowns.setdefault(atom, sympy.Symbol(f"u{len(unknowns)}", real=True))
    pairs = zip(rule_of(call).parameters, call.operands, strict=True)
    return rule_of(call).expression.xreplace({p: _expression(form, a, unknowns) for p, a in pairs if p is not None})


def _is_plain(meaning: Expr) -> bool:
    heads = sympy.Symbol | sympy.Rational | sympy.Add | sympy.Mul | TrigonometricFunction | HyperbolicFunction
    parts = list(sympy.preorder_traversal(meaning))
    return all(isinstance(p, heads) or (isinstance(p, sympy.Pow) and p.exp.is_Rational) for p in parts)


@lru_cache(maxsize=256)
def _proposed(whole: Expr) -> tuple[tuple[str, str], ...]:
    """What SymPy makes of an expression, as text, and why."""
    seen, texts = {whole}, []
    for change, reason in _CHANGES:
        found = change(whole)
        if found is not None and found not in seen and found.free_symbols == whole.free_symbols and _is_small(found):
            seen.add(found)
            texts.append((_text(found), reason))
    return tuple(texts)


def _text(whole: Expr) -> str:
    """An expression divided by one factor after the other, as their product may overflow."""
    above, below = sympy.fraction(whole)
    return "/".join([f"({above})", *(f"({factor})" for factor in sympy.Mul.make_args(below) if factor != 1)])


def _one_fraction(whole: Expr) -> Expr | None:
    return sympy.factor(whole) if whole.is_Add and sympy.fraction(sympy.together(whole))[1].free_symbols else None


def _roots_above(whole: Expr) -> Expr | None:
    return sympy.radsimp(whole) if _has_root(sympy.fraction(sympy.together(whole))[1]) else None


def _roots_below(whole: Expr) -> Expr | None:
    return 1 / sympy.radsimp(1 / whole) if whole != 0 and _has_root(sympy.fraction(sympy.together(whole))[0]) else None


def _angles(whole: Expr) -> Expr | None:
    return sympy.trigsimp(whole) if whole.has(TrigonometricFunction, HyperbolicFunction) else None


def _has_root(part: Expr) -> bool:
    return any(power.exp == sympy.S.Half and power.base.free_symbols for power in part.atoms(sympy.Pow))


_CHANGES: tuple[tuple[Callable[[Expr], Expr | None], str], ...] = (
    (_one_fraction, "the fractions nearly cancel, and over one denominator they cancel exactly"),
    (_roots_above, "the roots in the denominator nearly cancel, and above it they do not"),
    (_roots_below, "the roots above the denominator nearly cancel, and in it they do not"),
    (_angles, "by identities of its functions, this is a shorter form in which less cancels"),
)
