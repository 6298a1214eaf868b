"""Sums: their shapes, what their terms share, and a sum as one tensor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from gradcli.symbolic.matrix_algebra.networks import (
    Atom,
    AtomKind,
    Factor,
    GaveUpError,
    NormalForm,
    canonical,
    merged,
)

MOST_TERMS = 400
"""Most terms of one form."""

MOST_AXES = 4
"""Most axes of what is taken as one tensor."""


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common shape of forms aligned at their last axes."""
    count = max(map(len, shapes), default=0)
    padded = [(1,) * (count - len(shape)) + shape for shape in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded, strict=True))


def bounded(form: NormalForm) -> NormalForm:
    """Return a form, unless it has too many terms.

    Raises:
        GaveUpError: It has.
    """
    if len(form.terms) > MOST_TERMS:
        raise GaveUpError
    return form


def renamed_axes(form: NormalForm, to: Mapping[int, int], sizes: tuple[int, ...]) -> NormalForm:
    """Replace the axes of a form by others, of these sizes."""
    return NormalForm(sizes, {canonical(merged([one.moved(to) for one in own])): n for own, n in form.terms.items()})


def content(
    form: NormalForm, *, only_positive: bool = False, only_common: bool = False
) -> tuple[Fraction, list[Factor], NormalForm]:
    """Split a form into a number, the factors that all terms share, and what is left.

    Args:
        form: The form.
        only_positive: Whether the number and the factors must be positive.
        only_common: Whether what some terms are divided by stays in them.
    """
    numbers = form.terms.values()
    number = Fraction(math.gcd(*(n.numerator for n in numbers)), math.lcm(*(n.denominator for n in numbers)))
    powers = [{(one.atom, one.at): one.power for one in own} for own in form.terms]
    shared: list[Factor] = []
    for atom, at in dict.fromkeys(place for own in powers for place in own):
        least = min(own.get((atom, at), Fraction(0)) for own in powers)
        if only_common and least < 0:
            largest = max(own.get((atom, at), Fraction(0)) for own in powers)
            least = min(largest, Fraction(0))
        one = Factor(atom, at, least)
        if least and atom.kind != "unit" and all(i >= 0 for i in at) and (has_positive_base(one) or not only_positive):
            shared.append(one)
    inverted = [one.raised(Fraction(-1)) for one in shared]
    terms = {canonical(merged([*own, *inverted])): n / number for own, n in form.terms.items()}
    rest = NormalForm(form.sizes, terms)
    if not only_positive and rest.terms[rest.ordered[0]] < 0:
        number, rest = -number, NormalForm(form.sizes, {own: -n for own, n in terms.items()})
    return number, shared, rest


def has_positive_base(one: Factor) -> bool:
    """Tell whether what a factor is a power of is not negative wherever the factor has a value."""
    atom = one.atom
    if atom.kind == "network":
        return all(o.power % 2 == 0 or has_positive_base(o) for o in next(iter(atom.inside[0].terms)))
    is_positive = atom.kind in ("size", "number") or (atom.kind == "function" and atom.name in ("exp", "cosh"))
    return is_positive or one.power.denominator % 2 == 0


def wrapped(kind: AtomKind, name: str, form: NormalForm) -> tuple[Atom, tuple[int, ...]]:
    """Make one tensor of a form, with its axes in the order that gives it the first key; give also their order."""
    used = [axis for axis in range(len(form.sizes)) if any(axis in one.at for own in form.terms for one in own)]
    if kind in ("inverse", "determinant"):
        used = [0, 1]
    if len(used) > MOST_AXES:
        raise GaveUpError
    best: tuple[str, NormalForm, tuple[int, ...]] | None = None
    keys: list[str] = []
    for order in itertools.permutations(used):
        to = {axis: place for place, axis in enumerate(order)}
        turned = renamed_axes(form, to, tuple(form.sizes[axis] for axis in order))
        keys.append(turned.key)
        if best is None or turned.key < best[0]:
            best = turned.key, turned, order
    assert best is not None  # noqa: S101
    is_symmetric = len(used) == 2 and keys[0] == keys[1] and best[1].sizes[0] == best[1].sizes[1]
    return Atom(kind, name, best[1].sizes, (best[1],), is_symmetric=is_symmetric), best[2]


def names_variable(form: NormalForm, name: str) -> bool:
    """Tell whether a form is made of a variable, among others."""
    atoms = {one.atom for own in form.terms for one in own}
    return any(
        (atom.kind == "variable" and atom.name == name) or any(names_variable(inside, name) for inside in atom.inside)
        for atom in atoms
    )


def negative_of(atom: Atom) -> Atom:
    """Return the negative of a sum as one tensor."""
    inside = atom.inside[0]
    opposite = NormalForm(inside.sizes, {own: -number for own, number in inside.terms.items()})
    return Atom(atom.kind, atom.name, atom.sizes, (opposite,), is_symmetric=atom.is_symmetric)
