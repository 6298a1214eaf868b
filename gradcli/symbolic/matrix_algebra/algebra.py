"""The rules of the algebra: sums, products, powers, elementwise functions, inverses and determinants of forms.

    A @ inv(A)                      eye
    inv(A @ B)                      inv(B) @ inv(A), of square factors
    det(A @ B)                      det(A)*det(B), of square factors
    exp(a + b), exp(a*log(b))       exp(a)*exp(b), b**a
    log(a*b)                        log(a) + log(b), where both sides have a value
    a*(a + b)**-1                   1 - b*(a + b)**-1
    A @ inv(A + B)                  eye - B @ inv(A + B)

An equation holds wherever both of its sides have a value, so that what is equal by these rules is equal there.  Two
kinds of forms are made: in expanded ones products of sums are written out, so that equal tensors have, as far as these
rules tell, equal forms; in others a sum stays one factor, as it was typed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gradcli.symbolic.matrix_algebra.networks import Atom, Factor, Factors, GaveUpError, NormalForm, canonical, summed
from gradcli.symbolic.matrix_algebra.rewriting import Raw, Rewriting
from gradcli.symbolic.matrix_algebra.sums import MOST_TERMS, bounded, broadcast, content, names_variable, wrapped


@dataclass
class TensorAlgebra(Rewriting):
    """Algebra of forms: sums and products."""

    # -- what forms are made of

    def constant(self, value: Fraction | int, sizes: tuple[int, ...] = ()) -> NormalForm:
        """Return the form whose elements all are a number."""
        return NormalForm(sizes, {(): Fraction(value)} if value else {})

    def of_atom(self, atom: Atom) -> NormalForm:
        """Return the form of one tensor without sizes of 1."""
        return self.normal(atom.sizes, [(Fraction(1), [Factor(atom, tuple(range(len(atom.sizes))))])])

    def variable(self, name: str, shape: tuple[int, ...]) -> NormalForm:
        """Return the form of a variable."""
        axes = tuple(axis for axis, size in enumerate(shape) if size != 1)
        atom = Atom("variable", name, tuple(shape[axis] for axis in axes))
        return self.normal(shape, [(Fraction(1), [Factor(atom, axes)])])

    def unit(self, n: int) -> NormalForm:
        """Return the unit matrix."""
        if n == 1:
            return self.constant(1, (1, 1))
        return NormalForm((n, n), {(Factor(Atom("unit", "", (n, n), is_symmetric=True), (0, 1)),): Fraction(1)})

    def count(self, size: int) -> NormalForm:
        """Return a size as a number."""
        coefficient, factors = self.size(size)
        return self.normal((), [(coefficient, factors)])

    # -- sums and products

    def add(self, *forms: tuple[Fraction | int, NormalForm]) -> NormalForm:
        """Add multiples of forms, broadcast to one shape."""
        sizes = broadcast([form.sizes for _, form in forms])
        terms: dict[Factors, Fraction] = {}
        for number, form in forms:
            lead = len(sizes) - len(form.sizes)
            moved = {axis: axis + lead for axis in range(len(form.sizes))}
            for factors, coefficient in self.flattened(form).terms.items():
                new = canonical([one.moved(moved) for one in factors]) if lead else factors
                terms[new] = terms.get(new, Fraction(0)) + number * coefficient
        return bounded(NormalForm(sizes, {factors: number for factors, number in terms.items() if number}))

    def multiply(self, *forms: NormalForm) -> NormalForm:
        """Multiply forms by element, broadcast to one shape."""
        sizes = broadcast([form.sizes for form in forms])
        parts = [(form, range(len(sizes) - len(form.sizes), len(sizes))) for form in forms]
        return self.contract(parts, range(len(sizes)), sizes)

    def matmul(self, a: NormalForm, b: NormalForm) -> NormalForm:
        """Multiply matrices, or batches of them, or vectors."""
        batch = broadcast([a.sizes[:-2], b.sizes[:-2]])
        count = len(batch)
        left = [*range(count - len(a.sizes[:-2]), count), count, -1] if len(a.sizes) > 1 else [-1]
        right = [*range(count - len(b.sizes[:-2]), count), -1, count + 1] if len(b.sizes) > 1 else [-1]
        kept = [*range(count), *[count] * (len(a.sizes) > 1), *[count + 1] * (len(b.sizes) > 1)]
        sizes = [*batch, *(a.sizes[-2:-1]), *(b.sizes[-1:] if len(b.sizes) > 1 else ())]
        return self.contract([(a, left), (b, right)], kept, tuple(sizes))

    def contract(
        self, parts: Sequence[tuple[NormalForm, Sequence[int]]], kept: Sequence[int], sizes: tuple[int, ...]
    ) -> NormalForm:
        """Multiply forms whose axes have labels, and sum over the labels that are not kept.

        Args:
            parts: Forms, with a label for each axis.
            kept: The labels of the axes of the result, in order.
            sizes: Of the axes of the result.
        """
        is_product = sum(form.number is None for form, _ in parts) > 1
        forms = [(self.as_factor(form) if is_product else form, labels) for form, labels in parts]
        if math.prod(len(form.terms) for form, _ in forms) > MOST_TERMS:
            raise GaveUpError
        place = {label: axis for axis, label in enumerate(kept)}
        folded: dict[int, int] = {}
        for form, labels in forms:
            for label, size in zip(labels, form.sizes, strict=True):
                if label not in place:
                    folded[label] = max(size, folded.get(label, 1))
        names = {label: -1 - n for n, label in enumerate(folded)}
        raw: list[Raw] = []
        for chosen in itertools.product(*(form.terms.items() for form, _ in forms)):
            coefficient, factors, fresh = Fraction(1), list[Factor](), len(names)
            for (own, number), (_, labels) in zip(chosen, forms, strict=True):
                to = {axis: place[label] if label in place else names[label] for axis, label in enumerate(labels)}
                to |= {index: index - fresh for index in summed(own)}
                fresh += len(summed(own))
                coefficient *= number
                factors += [one.moved(to) for one in own]
            used = {index for one in factors for index in one.at}
            for label, size in folded.items():
                if size != 1 and names[label] not in used:
                    number, more = self.size(size)
                    coefficient, factors = coefficient * number, factors + more
            raw.append((coefficient, factors))
        return self.normal(sizes, raw)

    def as_factor(self, form: NormalForm) -> NormalForm:
        """Return a sum as one factor, unless products of sums are written out."""
        if self.expands or len(form.terms) < 2 or (self.linear and names_variable(form, self.linear)):
            return form
        coefficient, shared, rest = content(form, only_common=True)
        if len(rest.terms) < 2:
            return form
        atom, at = wrapped("added", "", rest)
        return NormalForm(form.sizes, {canonical([*shared, Factor(atom, at)]): coefficient})

    def flattened(self, form: NormalForm) -> NormalForm:
        """Return a form with the terms of its sums, where these are not multiplied by anything."""
        if not any(one.atom.kind == "added" and one.power >= 1 for own in form.terms for one in own):
            return form
        if self.expands:
            return self.normal(form.sizes, [(number, list(own)) for own, number in form.terms.items()])
        terms: dict[Factors, Fraction] = {}
        for own, number in form.terms.items():
            for factors, coefficient in self.opened(NormalForm(form.sizes, {own: number})).terms.items():
                terms[factors] = terms.get(factors, Fraction(0)) + coefficient
        return NormalForm(form.sizes, {own: number for own, number in terms.items() if number})

    def opened(self, form: NormalForm) -> NormalForm:
        """Return a form whose one factor is a sum as this sum."""
        if len(form.terms) != 1:
            return form
        ((factors, coefficient),) = form.terms.items()
        if len(factors) != 1 or factors[0].atom.kind != "added" or factors[0].power != 1:
            return form
        inside = factors[0].atom.inside[0]
        moved = dict(enumerate(factors[0].at))
        terms = {canonical([one.moved(moved) for one in own]): n * coefficient for own, n in inside.terms.items()}
        return NormalForm(form.sizes, terms)
