"""Name the repeated parts of formulas: `s[i]·(δ[i,j] - s[j])` where `s[i] = exp(x[i])/Σ[k] exp(x[k])`.

The functions that have a name in every textbook come first: the softmax and the logistic function.  A symbol, or an
element of a base, stands for each: `S[i]` for exp(x[i])/Σ[k] exp(x[k]), so that S[i]·S[j] is seen in
exp(x[i])·exp(x[j])/(Σ[k] exp(x[k]))².  Then come other repeated parts, whatever their indices, first the one whose name
saves most characters.  A name is a letter that stands for nothing else.  With its definitions put back, an abbreviated
formula is proved to be the formula, or it is not shown.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy
from sympy import Expr, Integer, KroneckerDelta
from sympy.core.traversal import bottom_up

from gradcli.language.program.sympy_functions import Aggregate, Chosen, Comparison, InverseElement, Total
from gradcli.symbolic.identity import vanishes
from gradcli.symbolic.linear import tidied
from gradcli.symbolic.printing.arranging import in_heads_of_sympy
from gradcli.symbolic.printing.pretty import PrettyPrinter

MOST_NODES = 600
"""Most nodes of all formulas of an answer together to search for repeated parts."""

MOST_NAMES = 4
"""Most definitions below formulas that a reader still keeps in mind."""

LEAST_SAVED = 12
"""Fewest characters that a name must save."""

SHORTEST, SHORTEST_OF_SCALARS = 10, 24
"""Characters of what is worth a name, with a sum or a product over an index in it and without."""


@dataclass(frozen=True)
class Definition:
    """Name, with the indices of its elements, and its meaning."""

    name: Expr
    meaning: Expr

    @property
    def letter(self) -> Expr:
        """Name without indices."""
        return getattr(self.name, "base", self.name)


Abbreviated = tuple[tuple[Expr, ...], tuple[Definition, ...]]
"""Formulas, and the definitions of the names in them."""

_PRETTY = PrettyPrinter()
_LETTERS = "rsabcghduvwzRSABCGHUVWZ"
_INDICES = "ijklmnpqtuvw"


@lru_cache(maxsize=64)
def abbreviated(formulas: tuple[Expr, ...], taken: frozenset[str]) -> Abbreviated:
    """Name the repeated parts of formulas.

    Args:
        formulas: With the letters that their indices are printed with.
        taken: What no name may be.

    >>> i, j, k = (sympy.Symbol(name, integer=True, nonnegative=True) for name in "ijk")
    >>> x = sympy.IndexedBase("x", real=True)
    >>> norm = sympy.sqrt(Total(x[k]**2, (k, 0, 4)))
    >>> abbreviated((KroneckerDelta(i, j)/norm - x[i]*x[j]/norm**3,), frozenset("x"))[0]
    (KroneckerDelta(i, j)/r - x[i]*x[j]/r**3,)
    """
    nodes = sum(1 for one in formulas for _ in sympy.preorder_traversal(one))
    if nodes > MOST_NODES or not any(one.has(sympy.Sum, Aggregate, sympy.exp, sympy.Add) for one in formulas):
        return formulas, ()
    found = _Naming(formulas, taken).found()
    differences = (vanishes(tidied(one) - tidied(other)) for one, other in zip(formulas, put_back(found), strict=True))
    if not found[1] or not all(differences):
        return formulas, ()
    return found


def put_back(found: Abbreviated) -> list[Expr]:
    """Put the definitions in the place of the names."""
    formulas, definitions = found
    whole = list(formulas)
    for one in definitions * len(definitions):  # each may be explained by any other
        whole = [_defined(formula, one) for formula in whole]
    return whole


def _uses(expression: Expr, element: Expr) -> list[Expr]:
    """Find each use of a symbol, or, for an indexed element, of any element with the same base."""
    base, parts = getattr(element, "base", None), sympy.preorder_traversal(expression)
    return [x for x in parts if x == element or (isinstance(x, sympy.Indexed) and x.base == base)]


def _defined(expression: Expr, definition: Definition) -> Expr:
    name, meaning = definition.name, definition.meaning
    fresh = {k: sympy.Dummy(str(k), integer=True, nonnegative=True) for k in bound_in(meaning)}
    meaning, index = meaning.xreplace(fresh), getattr(name, "indices", ())
    pairs = ((x, zip(index, getattr(x, "indices", ()), strict=True)) for x in _uses(expression, name))
    return expression.xreplace({x: meaning.xreplace(dict(places)) for x, places in pairs})


# -- parts that are the same but for their indices


def placeholders(count: int) -> list[sympy.Symbol]:
    """Return symbols that stand in the places of `count` indices."""
    return [sympy.Symbol(f"index {n}", integer=True, nonnegative=True) for n in range(count)]


def is_index(part: Expr) -> bool:
    """Tell whether a symbol is the letter of an index; sizes are positive."""
    return isinstance(part, sympy.Symbol) and bool(part.is_nonnegative) and not part.is_positive


def free_indices(expression: Expr) -> list[Expr]:
    """List the free indices of an expression, in order of appearance."""
    free = expression.free_symbols
    return list(dict.fromkeys(p for p in sympy.preorder_traversal(expression) if p in free and is_index(p)))


def generic_of(expression: Expr, index: Sequence[Expr]) -> Expr:
    """Put placeholders for these indices, and number the bound ones in order."""
    bound = enumerate(bound_in(expression))
    renamed = {k: sympy.Symbol(f"bound {n}", integer=True, nonnegative=True) for n, k in bound}
    return expression.xreplace({**renamed, **dict(zip(index, placeholders(len(index)), strict=True))})


def rebuilt(expression: Expr, rewrite: Callable[[Expr], Expr]) -> Expr:
    """Rewrite the parts of an expression, except inside indices and limits."""
    if not expression.args or isinstance(expression, sympy.Indexed | KroneckerDelta | Chosen):
        return expression
    args = tuple(a if isinstance(a, sympy.Tuple) else rewrite(a) for a in expression.args)
    return expression if args == expression.args else expression.func(*args)


def bound_in(expression: Expr) -> list[sympy.Symbol]:
    """List the bound indices of all sums and products, in order of appearance."""
    sums = (part for part in sympy.preorder_traversal(expression) if isinstance(part, sympy.Sum | Aggregate))
    return list(dict.fromkeys(k for part in sums for k, *_ in part.limits))


# -- functions that have a name in every textbook


StandIns = dict[Expr, Expr]
"""Substitutes for expressions with placeholders for their indices: an element with such indices, or a symbol."""


def with_wholes(expression: Expr, known: StandIns) -> Expr:
    """Substitute named subexpressions; extend the table of names.

    >>> x = sympy.Symbol("x", real=True)
    >>> with_wholes(1/(1 + sympy.exp(-x)), known := {}) in known.values(), list(known)
    (True, [1/(1 + exp(-x))])
    """
    for total in sorted(expression.atoms(sympy.Sum), key=sympy.default_sort_key):
        if isinstance(total.function, sympy.exp) and len(total.limits) == 1:
            expression = _with_softmaxes(expression, total, known)
    return _with_logistics(expression, known)


def _standing_in(generic: Expr, index: Sequence[Expr], known: StandIns) -> Expr:
    places, symbol = placeholders(len(index)), sympy.Dummy("whole", real=True)
    element = known.setdefault(generic, sympy.IndexedBase(symbol)[tuple(places)] if index else symbol)
    return element.xreplace(dict(zip(places, index, strict=True)))


def _with_softmaxes(expression: Expr, total: Expr, known: StandIns) -> Expr:
    """Write exp(f(i)) as its softmax times the sum of exp(f(k)), if the sum cancels somewhere."""
    whole = sympy.Dummy("total", positive=True)
    before = expression.xreplace({total: whole})
    parts = {one: _times_total(one, total, whole, known) for one in before.atoms(sympy.exp)}

    def taken_out(part: Expr) -> Expr:
        if not isinstance(part, sympy.Sum) or set(part.variables) & total.free_symbols:
            return part
        outside, inside = part.function.as_independent(*part.variables, as_Add=False)
        return outside * Total(inside, *part.limits)

    found = bottom_up(before.xreplace(parts), taken_out)
    return found.xreplace({whole: total}) if found.count(whole) < before.count(whole) else expression


def _times_total(one: Expr, total: Expr, whole: Expr, known: StandIns) -> Expr:
    """Write the exponential of an element, or a power of it, as the softmax times the sum; leave others as they are."""
    (k, *_), (f,), (g,) = total.limits[0], one.args, total.function.args
    met = (a for x in sympy.preorder_traversal(g) if isinstance(x, sympy.Indexed) for a in x.indices)
    index = [a for a in dict.fromkeys(met) if a == k or a in free_indices(g)]
    for t in [*free_indices(f), *(a for x in f.atoms(sympy.Indexed) for a in x.indices if a.is_Integer)]:
        power = f / g.xreplace({k: t})
        if power.is_Integer and power > 0 and k in index:  # not only inside of an index, such as 2*k + i
            others = dict(zip(index, placeholders(len(index)), strict=True))
            place, at = others.pop(k), [t if a == k else a for a in index]
            below = total.xreplace(others)
            generic = generic_of(below.function.xreplace({k: place}) / below, [])
            return (_standing_in(generic, at, known) * whole) ** power
    return one


def _with_logistics(expression: Expr, known: StandIns) -> Expr:
    if isinstance(expression, sympy.Mul | sympy.Pow) and (found := _logistic(expression, known)) is not None:
        return _with_logistics(found, known)
    return rebuilt(expression, lambda part: _with_logistics(part, known))


def _logistic(product: Expr, known: StandIns) -> Expr | None:
    """Write a fraction over 1 + exp(u) by s = 1/(1 + exp(-u)), the other part being 1 - s."""
    for base, exponent in product.as_powers_dict().items():
        above = base - 1
        if not (isinstance(base, sympy.Add) and isinstance(above, sympy.exp) and exponent.is_Integer and exponent < 0):
            continue
        (u,) = above.args
        factors = sympy.Mul.make_args(product)
        times = max((n for n in range(1, -int(exponent) + 1) if sympy.exp(n * u) in factors), default=0)
        is_falling = bool(u.could_extract_minus_sign())
        whole = 1 / (1 + (above if is_falling else sympy.exp(-u)))
        index = free_indices(whole)
        s = _standing_in(generic_of(whole, index), index, known)
        parts = (s, 1 - s) if is_falling else (1 - s, s)
        rest = sympy.Mul(*(f for f in factors if f not in (base**exponent, sympy.exp(times * u))))
        return rest * parts[0] ** (-exponent - times) * parts[1] ** times
    return None


# -- whatever is repeated


@dataclass(frozen=True)
class _Part:
    """Part that may get a name: its form with placeholders, its indices here, and a function that rebuilds it."""

    generic: Expr
    index: tuple[Expr, ...]
    from_name: Callable[[Expr], Expr]


class _Naming:
    """Naming of the repeated parts of one answer."""

    def __init__(self, formulas: Sequence[Expr], taken: frozenset[str]) -> None:
        self.formulas = list(formulas)
        symbols = {s for one in formulas for s in one.atoms(sympy.Symbol)}
        self.taken = {*taken, *map(str, symbols)}
        self.indices = {str(s) for s in symbols if is_index(s)}
        self.definitions: list[Definition] = []

    def found(self) -> Abbreviated:
        """Return the formulas and the definitions."""
        self._name_wholes()
        while len(self.definitions) < MOST_NAMES and self._name_what_saves_most():
            pass
        letters = {one.letter for one in self.definitions}
        return tuple(_factored(one, letters) for one in self.formulas), tuple(self.definitions)

    def _name_wholes(self) -> None:
        known: StandIns = {}
        found = [with_wholes(one, known) for one in self.formulas]
        counts = {generic: sum(len(_uses(one, element)) for one in found) for generic, element in known.items()}
        kept = [generic for generic, count in counts.items() if count > 1][:MOST_NAMES]
        for generic in known.keys() - kept:
            found = [_defined(one, Definition(known[generic], generic)) for one in found]
        pairs = zip(found, self.formulas, strict=True)
        self.formulas = [new if any(_uses(new, known[generic]) for generic in kept) else one for new, one in pairs]
        for generic in kept:
            rank = len(getattr(known[generic], "indices", ()))
            self._define(generic, rank, "spq", stand_in=known[generic])

    def _name_what_saves_most(self) -> bool:
        """Name the part that saves most characters; tell whether one saves enough."""
        every = (*self.formulas, *(d.meaning for d in self.definitions))
        parts = [part for one in every for place in _places(one) if (part := _nameable(place)) is not None]
        counts = Counter((part.generic, len(part.index)) for part in parts)
        saved = {key: self._saved(*key, count) for key, count in counts.items()}
        best = max(saved, key=saved.__getitem__, default=(sympy.S.One, 0))
        if saved.get(best, 0) < LEAST_SAVED:
            return False
        generic, rank = best
        negative = sum(bool(part.from_name(sympy.S.One).is_negative) for part in parts if part.generic == generic)
        letters = next((one for head, one in _LETTERS_FOR.items() if isinstance(generic, head)), "gh")
        return self._define(generic, rank, letters, -1 if generic.is_Add and 2 * negative > counts[best] else 1)

    def _saved(self, generic: Expr, rank: int, count: int) -> int:
        """Count the characters that a name saves."""
        shortly = dict(zip(placeholders(rank), map(sympy.Symbol, _INDICES), strict=False))
        size = _length(generic.xreplace(shortly)) if count > 1 else 0
        shortest = SHORTEST if generic.has(sympy.Sum, Aggregate) else SHORTEST_OF_SCALARS
        return (count - 1) * size - (count + 1) * (1 + 2 * rank + (rank > 0)) if size >= shortest else 0

    def _define(self, generic: Expr, rank: int, letters: str, sign: int = 1, stand_in: Expr | None = None) -> bool:
        """Replace an expression, or its negative, by a new name; tell whether a letter is left for it."""
        letter = next((c for c in itertools.chain(letters, _LETTERS) if c not in self.taken), "")
        bound = bound_in(generic)
        free = [c for c in _INDICES if c in self.indices or c not in self.taken]
        if not letter or len(free) < rank + len(bound):
            return False
        self.taken.add(letter)
        base = sympy.IndexedBase(letter, real=True) if rank else sympy.Symbol(letter, real=True)

        def named(index: Sequence[Expr]) -> Expr:
            return base[tuple(index)] if rank else base

        def replaced(expression: Expr) -> Expr:
            part = _nameable(expression) if _is_place(expression) else None
            if part is not None and part.generic == generic:
                return part.from_name(sign * named(part.index))
            return rebuilt(expression, replaced)

        if stand_in is not None:
            shown_as = Definition(stand_in, named(placeholders(rank)))
            self.formulas = [_defined(one, shown_as) for one in self.formulas]
        self.formulas = [replaced(one) for one in self.formulas]
        self.definitions = [Definition(d.name, replaced(d.meaning)) for d in self.definitions]
        shown = [sympy.Symbol(c, integer=True, nonnegative=True) for c in free]
        index, rest = shown[:rank], sorted(shown[rank:], key=lambda k: str(k) < "k")  # i and j count what is named
        renamed = dict(zip([*placeholders(rank), *bound], [*index, *rest], strict=False))
        self.definitions.append(Definition(named(index), (sign * generic).xreplace(renamed)))
        return True


_LETTERS_FOR = {sympy.Pow: "rh", sympy.Add: "rd", sympy.Mul: "mc", sympy.Sum: "cb"}
"""Letters by meaning: a root of squares is a length, a difference a residual, a sum over a count a mean."""


def _is_place(part: Expr) -> bool:
    """Tell whether a part is more than a name, a number, an element or a condition."""
    plain = sympy.Indexed | KroneckerDelta | InverseElement | Chosen | Comparison
    return isinstance(part, Expr) and bool(part.args) and not isinstance(part, plain)


def _places(expression: Expr) -> Iterator[Expr]:
    """Generate the parts of a formula outside of indices and limits."""
    if _is_place(expression):
        yield expression
    if not isinstance(expression, sympy.Indexed | KroneckerDelta | sympy.Tuple | Chosen):
        for part in expression.args:
            yield from _places(part)


@lru_cache(maxsize=4096)
def _length(expression: Expr) -> int:
    """Count the characters of an expression as it is shown."""
    return len(_PRETTY.doprint(in_heads_of_sympy(expression)))


@lru_cache(maxsize=4096)
def _nameable(place: Expr) -> _Part | None:
    """Return a part without the number before it, or the root of a power of one; None if it gets no name."""
    if place.has(KroneckerDelta) or not place.has(sympy.Sum, Aggregate, sympy.Function):
        return None
    index, times = free_indices(place), place.exp * 2 if isinstance(place, sympy.Pow) else sympy.S.Zero
    if times.is_odd:
        return _Part(generic_of(sympy.sqrt(place.base), index), tuple(index), lambda name: name**times)
    number, rest = place.as_coeff_Mul()
    is_multiple = isinstance(place, sympy.Mul) and not isinstance(rest, sympy.Mul) and number.is_Integer
    if (times.is_Rational and times) or is_multiple:
        return None
    generic = generic_of(place, index)
    before = _number_before(generic)
    return _Part(generic / before, tuple(index), lambda name: before * name)


def _number_before(part: Expr) -> Expr:
    """Return the whole number and the sign that a sum or a product begins with."""
    if isinstance(part, sympy.Add):
        content, rest = part.primitive()
        number = content if content.is_Integer else sympy.S.One
        return -number if rest.could_extract_minus_sign() else number
    return Integer(part.as_coeff_Mul()[0].p) if part.as_coeff_Mul()[0].is_Rational else sympy.S.One


def _factored(expression: Expr, names: set[Expr]) -> Expr:
    """Factor a number, and the named factors of all terms, out of sums: s[i]·(δ[i,j] - s[j])."""
    expression = rebuilt(expression, lambda part: _factored(part, names))
    if isinstance(expression, sympy.Sum):
        number, body = expression.function.as_coeff_Mul()
        return number * Total(body, *expression.limits)
    if not isinstance(expression, sympy.Add):
        return expression
    common = set.intersection(*(set(sympy.Mul.make_args(term)) for term in expression.args))
    named = [f for f in common if (f.base if isinstance(f, sympy.Indexed) else f) in names]
    outside = sympy.Mul(*named, *(f for f in common if isinstance(f, KroneckerDelta)))
    return sympy.Mul(outside, sympy.Add(*(term / outside for term in expression.args))) if named else expression
