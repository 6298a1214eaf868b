"""Terms of tensors as networks, in one canonical order.

A tensor is a sum of terms, a term a rational number times factors, a factor a tensor with an index for each axis, to
some power.  An index that is no axis of the whole is summed over:

    (A @ x)[0]     A[0,-1]*x[-1]              trace(A @ B)     A[-1,-2]*B[-2,-1]
    X.T            X[1,0]                     outer(x, y)      x[0]*y[1]
    x*y            x[0]*y[0]                  diag(x)          x[0]*eye[0,1]

So transposes, the cyclic order in a trace, the order of numbers and of what is multiplied by element, and outer
products are no rules: two terms are the same where their networks are, up to the numbers of the summed indices.  What
is joined to no axis is a number, and stands as one factor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple

AtomKind = Literal[
    "variable", "number", "size", "unit", "function", "added", "network", "inverse", "determinant", "eigenvalues"
]

MOST_LABELLINGS = 2_000
"""Most orders of the summed indices of one network that are compared."""


class GaveUpError(Exception):
    """Error of a tensor that this algebra does not know, or that has too many terms."""


@dataclass(frozen=True, eq=False)
class Atom:
    """Tensor that is not taken apart.  Axes of one element are no axes of it.

    Attributes:
        kind: What it is: a variable; pi; a size; the unit matrix; an elementwise function, a sum, a network without
            axes, an inverse, a determinant, or eigenvalues, of what is inside.
        name: Of the variable, the size, the number or the function.
        sizes: Of its axes.
        inside: What it is made of.
        is_symmetric: Whether its two axes may be exchanged.
    """

    kind: AtomKind
    name: str = ""
    sizes: tuple[int, ...] = ()
    inside: tuple[NormalForm, ...] = ()
    is_symmetric: bool = False
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        inside = "|".join(form.key for form in self.inside)
        object.__setattr__(self, "key", f"{self.kind}.{self.name}.{self.sizes}<{inside}>")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Factor(NamedTuple):
    """Tensor with an index for each axis, to a power.  Indices below 0 are summed over."""

    atom: Atom
    at: tuple[int, ...] = ()
    power: Fraction = Fraction(1)

    @property
    def key(self) -> tuple[str, Fraction, tuple[int, ...]]:
        """By which factors are sorted."""
        return self.atom.key, self.power, self.at

    def moved(self, to: Mapping[int, int]) -> Factor:
        """Replace indices by others."""
        return Factor(self.atom, tuple(to.get(index, index) for index in self.at), self.power)

    def raised(self, power: Fraction) -> Factor:
        """Raise to a power."""
        return Factor(self.atom, self.at, self.power * power)


Factors = tuple[Factor, ...]


@dataclass(frozen=True, eq=False)
class NormalForm:
    """Sum of terms, with axes of these sizes.

    Attributes:
        sizes: Of the axes; one of size 1 has no index.
        terms: The rational number of each product of factors.
    """

    sizes: tuple[int, ...]
    terms: Mapping[Factors, Fraction]

    @cached_property
    def key(self) -> str:
        """By which forms are compared."""
        return "+".join(f"{self.terms[factors]}{_factors_key(factors)}" for factors in self.ordered)

    @cached_property
    def ordered(self) -> tuple[Factors, ...]:
        """Products of the terms, in an order."""
        return tuple(sorted(self.terms, key=_factors_key))

    @property
    def number(self) -> Fraction | None:
        """The rational number that all elements are; None if they are no such."""
        if not self.terms:
            return Fraction(0)
        return self.terms.get((), None) if len(self.terms) == 1 else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NormalForm) and (self.sizes, self.terms) == (other.sizes, other.terms)

    def __hash__(self) -> int:
        return hash(self.key)


def _factors_key(factors: Factors) -> str:
    return "*".join(f"{one.atom.key}{one.at}^{one.power}" for one in factors)


def summed(factors: Iterable[Factor]) -> dict[int, int]:
    """Return the indices that are summed over, with their sizes."""
    return {i: size for one in factors for i, size in zip(one.at, one.atom.sizes, strict=True) if i < 0}


def merged(factors: Iterable[Factor]) -> list[Factor]:
    """Add the powers of equal tensors at equal indices."""
    powers: dict[tuple[Atom, tuple[int, ...]], Fraction] = {}
    for one in factors:
        at = tuple(sorted(one.at)) if one.atom.is_symmetric else one.at
        power = Fraction(1) if one.atom.kind == "unit" else one.power
        powers[one.atom, at] = power + (powers.get((one.atom, at), Fraction(0)) if one.atom.kind != "unit" else 0)
    return [Factor(atom, at, power) for (atom, at), power in powers.items() if power]


def components(factors: Sequence[Factor]) -> list[list[Factor]]:
    """Split a product into parts that share no index."""
    parts: list[tuple[set[int], list[Factor]]] = []
    for one in factors:
        own, rest = (set(one.at), [one]), []
        for part in parts:
            if part[0] & own[0]:
                own = (own[0] | part[0], part[1] + own[1])
            else:
                rest.append(part)
        parts = [*rest, own]
    return [part for _, part in parts]


def canonical(factors: Sequence[Factor]) -> Factors:
    """Number the summed indices of a product in one way, and sort its factors.

    >>> A, x = Atom("variable", "A", (3, 3)), Atom("variable", "x", (3,))
    >>> one = canonical([Factor(A, (0, -7)), Factor(x, (-7,))])
    >>> one == canonical([Factor(x, (-2,)), Factor(A, (0, -2))]), [factor.at for factor in one]
    (True, [(0, -1), (-1,)])
    """
    labelled = sorted(map(_labelled, components(factors)), key=_factors_key)
    found: list[Factor] = []
    count = 0
    for part in labelled:
        own = {i for one in part for i in one.at if i < 0}
        found += [one.moved({i: i - count for i in own}) for one in part]
        count += len(own)
    return tuple(sorted(found, key=lambda one: one.key))


def _labelled(part: Sequence[Factor]) -> Factors:
    """Number the summed indices of one connected product."""
    indices = sorted({i for one in part for i in one.at if i < 0})
    if len(indices) < 2:
        return _renamed(part, indices)
    ranks = {key: n for n, key in enumerate(sorted({(one.atom.key, one.power) for one in part}))}
    kinds = [ranks[one.atom.key, one.power] for one in part]
    best: tuple[list[tuple[str, Fraction, tuple[int, ...]]], Factors] | None = None
    for order in itertools.islice(_orders(part, kinds, dict.fromkeys(indices, 0)), MOST_LABELLINGS + 1):
        found = _renamed(part, order)
        key = [one.key for one in found]
        if best is None or key < best[0]:
            best = key, found
    assert best is not None  # noqa: S101
    return best[1]


def _renamed(part: Sequence[Factor], order: Sequence[int]) -> Factors:
    names = {index: -n for n, index in enumerate(order, 1)}
    moved = (one.moved(names) for one in part)
    sorted_ends = (Factor(m.atom, tuple(sorted(m.at)), m.power) if m.atom.is_symmetric else m for m in moved)
    return tuple(sorted(sorted_ends, key=lambda one: one.key))


def _orders(part: Sequence[Factor], kinds: Sequence[int], colours: dict[int, int]) -> Iterator[list[int]]:
    """Generate orders of the summed indices by their places in the network; several where places are alike."""
    while True:
        seen: dict[int, list[tuple[int, int, tuple[int, ...]]]] = {index: [] for index in colours}
        for one, kind in zip(part, kinds, strict=True):
            ends = tuple(colours.get(i, -1 - i) for i in one.at)
            if one.atom.is_symmetric:
                ends = tuple(sorted(ends))
            for place, index in enumerate(one.at):
                if index in seen:
                    seen[index].append((kind, 0 if one.atom.is_symmetric else place, ends))
        views = {index: (colours[index], tuple(sorted(seen[index]))) for index in colours}
        ranks = sorted(set(views.values()))
        finer = {index: ranks.index(view) for index, view in views.items()}
        if len(set(finer.values())) == len(set(colours.values())):
            break
        colours = finer
    classes: dict[int, list[int]] = {}
    for index, colour in colours.items():
        classes.setdefault(colour, []).append(index)
    alike = next((classes[colour] for colour in sorted(classes) if len(classes[colour]) > 1), None)
    if alike is None:
        yield [classes[colour][0] for colour in sorted(classes)]
        return
    for index in alike:
        yield from _orders(part, kinds, {**{i: 2 * c + 1 for i, c in colours.items()}, index: 2 * colours[index]})
