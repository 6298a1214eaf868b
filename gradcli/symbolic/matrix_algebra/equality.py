"""Whether two forms are equal, wherever both have a value."""

from __future__ import annotations

import math
from fractions import Fraction

from gradcli.symbolic.matrix_algebra.inverses import MatrixAlgebra
from gradcli.symbolic.matrix_algebra.networks import Factor, NormalForm

MOST_ROUNDS = 6
"""Most times that a difference is multiplied by what it is divided by."""


def are_equal(one: NormalForm, other: NormalForm, algebra: MatrixAlgebra) -> bool:
    """Tell whether two expanded forms are shown to be equal; that they are not shown to be says nothing."""
    difference = algebra.add((1, one), (-1, other))
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
