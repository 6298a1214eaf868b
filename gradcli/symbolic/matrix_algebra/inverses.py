"""Transposes, inverses and determinants of forms.

inv(A @ B)        inv(B) @ inv(A), of square factors
inv(diag(x))      diag(1/x)
det(A @ B)        det(A)*det(B), of square factors
"""

from __future__ import annotations

from fractions import Fraction

from gradcli.symbolic.matrix_algebra.elementwise import ElementwiseAlgebra
from gradcli.symbolic.matrix_algebra.networks import Atom, Factor, NormalForm, canonical, merged
from gradcli.symbolic.matrix_algebra.sums import content, renamed_axes, wrapped
from gradcli.symbolic.matrix_algebra.words import Segment, word_between


class MatrixAlgebra(ElementwiseAlgebra):
    """Algebra of forms with functions of matrices."""

    def transpose(self, form: NormalForm) -> NormalForm:
        """Exchange the axes of a matrix."""
        return renamed_axes(form, {0: 1, 1: 0}, form.sizes[::-1])

    def inverse(self, form: NormalForm) -> NormalForm:
        """Invert a square matrix."""
        form = self.opened(form)
        self._require_square(form)
        if form.sizes[0] == 1:
            return self.power(form, Fraction(-1))
        number, shared, rest = self._scalar_content(form)
        scale = self.normal((), [(1 / number, [one.raised(Fraction(-1)) for one in shared])])
        letters = self._square_word(rest)
        if letters is None:
            atom, at = wrapped("inverse", "", rest)
            found = self.normal(form.sizes, [(Fraction(1), [Factor(atom, at)])])
        else:
            found = self.unit(form.sizes[0])
            for letter in reversed(letters):
                found = self.matmul(found, self._inverse_of(letter))
        return self.multiply(scale, found)

    def _inverse_of(self, letter: Segment) -> NormalForm:
        matrix = self._of_letter(letter)
        if letter.is_diagonal:
            diagonal = self.normal(
                matrix.sizes[:1],
                [(Fraction(1), [one.moved({letter.start: 0}).raised(Fraction(-1)) for one in letter.factors])],
            )
            return self.contract([(diagonal, [0]), (self.unit(matrix.sizes[0]), [0, 1])], [0, 1], matrix.sizes)
        one = letter.matrix
        if one is not None and one.atom.kind == "inverse":
            inside = one.atom.inside[0]
            return self.transpose(inside) if letter.is_turned(one) else inside
        atom, at = wrapped("inverse", "", self.opened(matrix))
        return self.normal(matrix.sizes, [(Fraction(1), [Factor(atom, at)])])

    def determinant(self, form: NormalForm) -> NormalForm:
        """Return the determinant of a square matrix."""
        form = self.opened(form)
        self._require_square(form)
        if form.sizes[0] == 1:
            return NormalForm((), form.terms)
        number, shared, rest = self._scalar_content(form)
        letters = self._square_word(rest)
        if (number == 1 and not shared) or form.sizes[0] not in self.sizes:
            raised = self.normal((), [(number, shared)])
            scale = self.power(raised, Fraction(form.sizes[0])) if raised.number != 1 else self.constant(1)
        else:
            scale, rest, letters = self.constant(1), form, None
        if letters is None or not self.splits:
            return self.multiply(scale, self._determinant_of(rest))
        for letter in letters:
            one = letter.matrix
            if one is not None and one.atom.kind == "inverse":
                own = self.power(self.determinant(one.atom.inside[0]), Fraction(-1))
            else:
                own = self._determinant_of(self._of_letter(letter))
            scale = self.multiply(scale, own)
        return scale

    def _determinant_of(self, form: NormalForm) -> NormalForm:
        atom, _ = wrapped("determinant", "", self.opened(form))
        whole = Atom("determinant", "", (), atom.inside)
        return NormalForm((), {(Factor(whole),): Fraction(1)})

    def _of_letter(self, letter: Segment) -> NormalForm:
        """Return a letter of a word as a matrix."""
        size = next(
            n for i, n in zip(letter.factors[0].at, letter.factors[0].atom.sizes, strict=True) if i == letter.start
        )
        if letter.is_diagonal:
            unit = Factor(Atom("unit", "", (size, size), is_symmetric=True), (0, 1))
            return self.normal(
                (size, size), [(Fraction(1), [*(one.moved({letter.start: 0}) for one in letter.factors), unit])]
            )
        to = {letter.start: 0, letter.end: 1}
        return self.normal((size, size), [(Fraction(1), [one.moved(to) for one in letter.factors])])

    def _square_word(self, form: NormalForm) -> list[Segment] | None:
        """Read a matrix as a product of square ones; None if it is none."""
        if len(form.terms) != 1:
            return None
        ((factors, coefficient),) = form.terms.items()
        word = word_between(factors, 0, 1)
        if word is None or coefficient != 1 or any(not one.at for one in factors):
            return None
        n = form.sizes[0]
        return word if all(set(one.atom.sizes) == {n} for one in factors) else None

    def _scalar_content(self, form: NormalForm) -> tuple[Fraction, list[Factor], NormalForm]:
        """Split a matrix into a number, the scalars that all terms share, and what is left."""
        if not form.terms:
            self._give_up()
        number, shared, rest = content(form)
        scalars = [one for one in shared if not one.at]
        others = [one for one in shared if one.at]
        terms = {canonical(merged([*own, *others])): n for own, n in rest.terms.items()} if others else rest.terms
        return number, scalars, NormalForm(form.sizes, terms)

    def _require_square(self, form: NormalForm) -> None:
        if len(form.sizes) != 2 or form.sizes[0] != form.sizes[1]:
            self._give_up()
