"""Whether two forms are equal, wherever both have a value."""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.symbolic.matrix_algebra.inverses import MatrixAlgebra
from gradcli.symbolic.matrix_algebra.networks import Atom, Factor, Factors, NormalForm, canonical
from gradcli.symbolic.matrix_algebra.sums import wrapped

MOST_ROUNDS = 6
"""Most times that a difference is multiplied by what it is divided by."""


def are_equal(one: NormalForm, other: NormalForm, algebra: MatrixAlgebra) -> bool:
    """Tell whether two expanded forms are shown to be equal; that they are not shown to be says nothing."""
    difference = _of_absolutes(algebra.add((1, one), (-1, other)))
    for _ in range(MOST_ROUNDS):
        powers: dict[Factor, Fraction] = {}
        for factors in difference.terms:
            for factor in factors:
                if factor.atom.kind == "added" and not factor.at:
                    key = factor._replace(power=Fraction(1))
                    powers[key] = min(powers.get(key, Fraction(0)), factor.power)
        below = [key._replace(power=Fraction(math.ceil(-power))) for key, power in powers.items() if power < 0]
        if not difference.terms or not below:
            break
        raw = [(number, [*factors, *below]) for factors, number in difference.terms.items()]
        difference = algebra.normal(difference.sizes, raw)
    return not difference.terms


def _of_absolutes(form: NormalForm) -> NormalForm:
    """Replace log(x) by log(abs(x)), which are equal where the first has a value."""
    if "function.log." not in form.key:
        return form
    terms: dict[Factors, Fraction] = {}
    for own, number in form.terms.items():
        found = canonical([_of_absolute(one) for one in own])
        terms[found] = terms.get(found, Fraction(0)) + number
    return NormalForm(form.sizes, {own: number for own, number in terms.items() if number})


def _of_absolute(one: Factor) -> Factor:
    """Replace the logarithms in a factor."""
    atom = one.atom
    if "function.log." not in atom.key:
        return one
    inside = tuple(_of_absolutes(form) for form in atom.inside)
    name = "log_abs" if atom.kind == "function" and atom.name == "log" else atom.name
    if atom.kind == "network" or len(inside) != 1:
        return one._replace(atom=Atom(atom.kind, name, atom.sizes, inside, is_symmetric=atom.is_symmetric))
    turned, order = wrapped(atom.kind, name, inside[0])
    if atom.kind == "determinant":
        return one._replace(atom=Atom("determinant", "", (), turned.inside))
    return one._replace(atom=turned, at=tuple(one.at[axis] for axis in order))
