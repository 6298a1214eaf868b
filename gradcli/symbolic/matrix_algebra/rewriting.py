"""The rules by which terms are rewritten, one after the other, until none is left to apply.

    x[0]**a * x[0]**b              x[0]**(a + b)
    A[0,-1]*eye[-1,1]              A[0,1]
    A[0,-1]*inv(A)[-1,1]           eye[0,1]
    A[0,-1]*inv(A + B)[-1,1]       eye[0,1] - B[0,-1]*inv(A + B)[-1,1]
    a*(a + b)**-1                  1 - b*(a + b)**-1
    a**-1*(a + 1)**-1              a**-1 - (a + 1)**-1

Each is applied at the same indices, and an equation holds wherever both of its sides have a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from gradcli.symbolic.matrix_algebra.networks import (
    Atom,
    Factor,
    Factors,
    GaveUpError,
    NormalForm,
    canonical,
    components,
    merged,
    summed,
)
from gradcli.symbolic.matrix_algebra.sums import bounded
from gradcli.symbolic.matrix_algebra.words import match, word_between

MOST_STEPS = 4_000
"""Most rewritings of one sum."""

MOST_FACTORS = 40
"""Most factors of one term."""

LARGEST_POWER = 12
"""Largest power of a sum that is written out."""

Raw = tuple[Fraction, list[Factor]]
"""Term that is not in its normal form."""


@dataclass
class Rewriting:
    """Rules for the terms of sums.

    Attributes:
        sizes: The names of sizes that stand for any number.
        expands: Whether products of sums are written out.
        splits: Whether logarithms, exponentials and quotients are split up, too.
        linear: The name of a variable whose sums are written out in any case.
    """

    sizes: Mapping[int, str] = field(default_factory=dict)
    expands: bool = True
    splits: bool = True
    linear: str = ""

    def size(self, size: int) -> Raw:
        """Return a size as a term: a number, or its name."""
        name = self.sizes.get(size)
        return (Fraction(size), []) if name is None else (Fraction(1), [Factor(Atom("size", name))])

    def normal(self, sizes: tuple[int, ...], raw: Iterable[Raw]) -> NormalForm:
        """Apply the rules to the terms of a sum until none is left to apply, and add them up.

        Raises:
            GaveUpError: They are too many.
        """
        terms: dict[Factors, Fraction] = {}
        waiting = list(raw)
        steps = 0
        while waiting:
            steps += 1
            if steps > MOST_STEPS or len(waiting) > MOST_STEPS:
                raise GaveUpError
            coefficient, factors = waiting.pop()
            if not coefficient:
                continue
            if len(factors) > MOST_FACTORS:
                raise GaveUpError
            coefficient, factors = self._with_sizes(factors, coefficient, merged(factors))
            found = self._step(coefficient, factors)
            if found is not None:
                waiting += found
                continue
            key = canonical(_with_numbers_of_networks(factors))
            terms[key] = terms.get(key, Fraction(0)) + coefficient
        return bounded(NormalForm(sizes, {factors: number for factors, number in terms.items() if number}))

    def _with_sizes(self, before: Iterable[Factor], coefficient: Fraction, after: list[Factor]) -> Raw:
        """Multiply by the sizes of summed indices that are in no factor any more."""
        left = summed(after)
        for index, size in summed(before).items():
            if index not in left:
                number, more = self.size(size)
                coefficient, after = coefficient * number, after + more
        return coefficient, after

    def _step(self, coefficient: Fraction, factors: list[Factor]) -> list[Raw] | None:
        """Apply one rule to a term; None if there is none to apply."""
        for one in factors:
            found: list[Raw] | None = None
            match one.atom.kind:
                case "unit":
                    found = self._without_unit(coefficient, factors, one)
                case "number" if one.atom.name.isdecimal() and not 0 < one.power < 1:
                    whole = math.floor(one.power)
                    rest = [other for other in factors if other is not one]
                    found = [
                        (
                            coefficient * Fraction(int(one.atom.name)) ** whole,
                            [*rest, one._replace(power=one.power - whole)],
                        )
                    ]
                case "inverse" if one.power == 1:
                    found = self._next_to_inverse(coefficient, factors, one)
                case "added" if self.expands and one.power >= 1:
                    found = self._written_out(coefficient, factors, one)
                case "added" if one.power < 0 and len(one.atom.inside[0].terms) == 1:
                    found = self._without_divisor(coefficient, factors, one)
                case "added" if self.splits and one.power < 0 and one.at:
                    found = self._divided(coefficient, factors, one)
            if found is not None:
                return found
        return None

    def _without_unit(self, coefficient: Fraction, factors: list[Factor], unit: Factor) -> list[Raw] | None:
        """Replace one index of the unit matrix by the other."""
        i, j = unit.at
        rest = [one for one in factors if one is not unit]
        if i == j:
            return [self._with_sizes([unit], coefficient, rest)] if i < 0 else [(coefficient, rest)]
        old, new = (i, j) if i < 0 else (j, i) if j < 0 else (max(i, j), min(i, j))
        moved = [one.moved({old: new}) for one in rest]
        if old < 0:
            if new < 0 and not any(new in one.at for one in moved):
                number, more = self.size(unit.atom.sizes[0])
                return [(coefficient * number, moved + more)]
            return [(coefficient, moved)]
        return None if moved == rest else [(coefficient, [*moved, unit])]

    def _written_out(self, coefficient: Fraction, factors: list[Factor], one: Factor) -> list[Raw]:
        """Replace a sum by its terms."""
        if one.power > LARGEST_POWER:
            raise GaveUpError
        rest = [other for other in factors if other is not one]
        if one.power > 1:
            rest.append(one._replace(power=one.power - 1))
        return self._terms_at(one, rest, coefficient)

    def _terms_at(
        self, one: Factor, rest: list[Factor], coefficient: Fraction, without: Factors | None = None
    ) -> list[Raw]:
        """Multiply factors by the terms of a sum at its indices, but for one of them."""
        least = min([0, *summed(rest)])
        found: list[Raw] = []
        for own, number in one.atom.inside[0].terms.items():
            if own != without:
                to = dict(enumerate(one.at)) | {i: i + least for i in summed(own)}
                found.append((coefficient * number, [*rest, *(other.moved(to) for other in own)]))
        return found

    def _without_divisor(self, coefficient: Fraction, factors: list[Factor], one: Factor) -> list[Raw] | None:
        """Divide a product by a word that it has at the same index: (A @ x)*(A @ x)**-1 is 1."""
        rest = [other for other in factors if other is not one]
        names = {index: axis for axis, index in enumerate(one.at)}
        ((wanted, number),) = one.atom.inside[0].terms.items()
        for part in _hanging(rest, one.at):
            if canonical([other.moved(names) for other in part]) == wanted:
                left = [other for other in rest if all(other is not own for own in part)]
                raised = one._replace(power=one.power + 1)
                return [self._with_sizes([one], coefficient / number, merged([*left, raised]))]
        return None

    def _divided(self, coefficient: Fraction, factors: list[Factor], one: Factor) -> list[Raw] | None:
        """Replace a*(a + b)**-1 by 1 - b*(a + b)**-1, for the leading term a of a sum at the same indices."""
        if one.power.denominator != 1:
            return None
        if (found := self._split_fraction(coefficient, factors, one)) is not None:
            return found
        inside = one.atom.inside[0]
        lead = _leading(inside)
        if lead is None:
            return None
        own = {(other.atom, other.at): other.power for other in factors}
        at = dict(enumerate(one.at))

        def power_of(other: Factor) -> Fraction:
            return own.get((other.atom, other.moved(at).at), Fraction(0))

        terms = [lead]
        if any(power_of(other) < 0 for other in lead):  # a**-1 is there, and is to be multiplied by a
            terms += [term for term in inside.ordered if term and _is_local(term)]
        for term in terms:
            if all(power_of(other) >= other.power for other in term):
                number = inside.terms[term]
                left = merged([*factors, *(other.moved(at).raised(Fraction(-1)) for other in term)])
                whole = self._with_sizes(factors, coefficient / number, merged([*left, Factor(one.atom, one.at)]))
                return [whole, *self._terms_at(one, left, -coefficient / number, term)]
        return None

    def _split_fraction(self, coefficient: Fraction, factors: list[Factor], one: Factor) -> list[Raw] | None:
        """Replace a**-1*(c + b*a)**-1 by a**-1/c - b*(c + b*a)**-1/c, for a number c."""
        terms = one.atom.inside[0].terms
        number = terms.get(())
        if number is None:
            return None
        for below in factors:
            if below.power >= 0 or below is one:
                continue
            powers = [
                sum(o.power for o in own if o.atom == below.atom and o.moved(dict(enumerate(one.at))).at == below.at)
                for own in terms
                if own
            ]
            if min(powers) > 0:
                left = self._with_sizes(factors, coefficient / number, merged([*factors, Factor(one.atom, one.at)]))
                return [left, *self._terms_at(one, factors, -coefficient / number, ())]
        return None

    def _next_to_inverse(self, coefficient: Fraction, factors: list[Factor], inverse: Factor) -> list[Raw] | None:
        """Replace A @ inv(A + B) by eye - B @ inv(A + B), for the leading word A of a sum; B may be nothing."""
        inside = inverse.atom.inside[0]
        found = _leading_word(inside) if self.expands or len(inside.terms) == 1 else None
        if found is None or inverse.at[0] == inverse.at[1]:  # its diagonal is no factor of a product
            return None
        lead, pattern = found
        forward = [(letter, is_turned) for letter, is_turned in pattern]
        backward = [(letter, not is_turned) for letter, is_turned in reversed(pattern)]
        for other, end, word in ((1, 0, forward if inverse.atom.is_symmetric else backward), (0, 1, forward)):
            far, near = inverse.at[other], inverse.at[end]
            place = match(factors, inverse, near, word)
            if place is None:
                continue
            used, last = place
            if last == near:
                continue
            number = inside.terms[lead]
            rest = [one for one in factors if one is not inverse and not any(one is other for other in used)]
            unit = Factor(Atom("unit", "", inverse.atom.sizes, is_symmetric=True), (far, last))
            result: list[Raw] = [(coefficient / number, [*rest, unit])]
            kept = [*rest, inverse]
            least = min([0, *summed(factors)])
            # In the order of the inverse, its own axes are 0 and 1 of what is inside.
            start, stop = (near, last) if word is forward else (last, near)
            for own, weight in inside.terms.items():
                if own != lead:
                    to = {0: start, 1: stop} | {i: i + least for i in summed(own)}
                    result.append((-coefficient * weight / number, [*kept, *(one.moved(to) for one in own)]))
            return result
        return None


def _with_numbers_of_networks(factors: list[Factor]) -> list[Factor]:
    """Make one number of each part of a product that is joined to no axis."""
    found: list[Factor] = []
    for part in components(factors):
        if not part[0].at or any(index >= 0 for one in part for index in one.at):
            found += part
        else:
            inside = NormalForm((), {canonical(part): Fraction(1)})
            found.append(Factor(Atom("network", "", (), (inside,))))
    return merged(found)


def _is_local(own: Factors) -> bool:
    """Tell whether a term of a sum is a product of positive powers at the indices of the sum."""
    return all(one.power > 0 and all(index >= 0 for index in one.at) for one in own)


def _leading(form: NormalForm) -> Factors | None:
    """Return the term of a sum that others are replaced for: of the highest degree, at its own indices alone."""
    ranked = [
        (sum(one.power for one in own), "".join(one.atom.key for one in own), own)
        for own in form.terms
        if own and _is_local(own)
    ]
    if not ranked or any(one.atom.kind == "unit" for *_, own in ranked for one in own):
        return None
    degree, _, lead = max(ranked, key=lambda rank: rank[:2])
    return lead if degree > 0 else None


def _leading_word(form: NormalForm) -> tuple[Factors, list[tuple[Atom, bool]]] | None:
    """Return the term of a sum of matrices that is the longest word, with the word."""
    best: tuple[tuple[int, str], Factors, list[tuple[Atom, bool]]] | None = None
    for own in form.terms:
        word = word_between(own, 0, 1)
        if not word or any(letter.matrix is None for letter in word) or any(not one.at for one in own):
            continue
        matrices = [(letter.matrix, letter) for letter in word]
        pattern = [(one.atom, letter.is_turned(one)) for one, letter in matrices if one is not None]
        if any(atom.kind == "unit" for atom, _ in pattern):
            continue
        rank = len(word), "".join(f"{atom.key}{is_turned}" for atom, is_turned in pattern)
        if best is None or rank > best[0]:
            best = rank, own, pattern
    return best and best[1:]


def _hanging(factors: list[Factor], at: tuple[int, ...]) -> list[list[Factor]]:
    """Split off the parts of a product that are joined to the rest at some indices alone."""
    inner = [Factor(one.atom, tuple(i for i in one.at if i not in at), one.power) for one in factors]
    groups: list[tuple[set[int], list[Factor]]] = []
    for place, one in zip(inner, factors, strict=True):
        own, rest = (set(place.at), [one]), []
        for group in groups:
            if group[0] & own[0]:
                own = (own[0] | group[0], own[1] + group[1])
            else:
                rest.append(group)
        groups = [*rest, own]
    return [part for indices, part in groups if indices and all(index < 0 for index in indices)]
