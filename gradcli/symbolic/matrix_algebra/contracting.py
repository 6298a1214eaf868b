"""A term as a number, scalars, and a word of matrices and vectors, by summing over one index after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gradcli.symbolic.matrix_algebra import spelling
from gradcli.symbolic.matrix_algebra.networks import Atom, Factor, Factors, GaveUpError, NormalForm
from gradcli.symbolic.matrix_algebra.spelling import Written
from gradcli.symbolic.matrix_algebra.sums import negative_of, renamed_axes


@dataclass(frozen=True)
class WordPart:
    """Part of a word.

    Attributes:
        written: The matrix, or a vector as a column.
        kind: A matrix, a column, or a row, which is written as the column.
        negative: Its negative, of a sum with both signs.
        elements: The tensors that it is the product of by element, with their powers.
        diagonal: The vector that it is the diagonal matrix of.
    """

    written: Written
    kind: str = "matrix"
    negative: Written | None = None
    elements: tuple[tuple[Written, Fraction], ...] = ()
    diagonal: tuple[WordPart, ...] = ()

    @property
    def key(self) -> str:
        """By which letters are compared."""
        return f"{self.kind}:{self.written.text}"

    @property
    def transposed(self) -> WordPart:
        """The transpose."""
        if self.kind != "matrix":
            return replace(self, kind="row" if self.kind == "column" else "column")
        elements = tuple((one.transposed, power) for one, power in self.elements)
        negative = self.negative and self.negative.transposed
        return replace(self, written=self.written.transposed, negative=negative, elements=elements)


Word = tuple[WordPart, ...]


def kind_of(word: Word) -> str:
    """Tell what a word is: a matrix, a column or a row."""
    has_column = any(part.kind == "column" for part in word)
    has_row = any(part.kind == "row" for part in word)
    return "matrix" if has_column == has_row else "column" if has_column else "row"


def transposed(word: Word) -> Word:
    """Transpose a word."""
    return tuple(letter.transposed for letter in reversed(word))


def spelled(word: Sequence[WordPart]) -> Written:
    """Write a word."""
    place = next((n for n, letter in enumerate(word) if letter.kind == "row"), len(word))
    left, right = list(word[:place]), list(word[place:])
    if left and right and left[-1].kind == "column":
        row = [letter.transposed for letter in reversed(right)]
        return spelling.outer(spelled(left), spelled(row))
    if right and not left:  # a row alone is a vector, too
        return spelling.chain([letter.transposed.written for letter in reversed(right)])
    whole = spelling.chain([letter.written for letter in word])
    if len(word) > 1 and word[-1].written.text.startswith("ones("):
        inside = spelling.chain([letter.written for letter in word[:-1]])
        is_turned = inside.level == spelling.ONE and inside.text.endswith(".T")
        axis, turned = (0, inside.transposed) if is_turned else (1, inside)
        return replace(whole, text=f"sum({turned.text}, {axis})", level=spelling.ONE)
    return whole


@dataclass(frozen=True)
class WordTerm:
    """Term of a sum.

    Attributes:
        number: The rational number.
        scalars: The numbers that it is multiplied by, with their powers.
        word: The tensor, as a word; empty for numbers alone, or a tensor of them.
    """

    number: Fraction
    scalars: Mapping[Written, Fraction]
    word: Word


@dataclass(frozen=True)
class _Tensor:
    axes: tuple[int, ...]
    word: Word


class Contraction:
    """Writer of terms as words.

    Args:
        write: Writes a form.
        size: Writes a size.
    """

    def __init__(self, write: Callable[[NormalForm], Written], size: Callable[[int], Written]) -> None:
        self.write, self.size = write, size

    def term(self, number: Fraction, factors: Factors, sizes: Sequence[int]) -> WordTerm:
        """Write a term.

        Raises:
            GaveUpError: It is none of numbers, vectors and matrices.
        """
        scalars: dict[Written, Fraction] = {}
        for one in factors:
            if not one.at:
                written, power = self.scalar(one)
                scalars[written] = scalars.get(written, Fraction(0)) + power
        tensors = self._contracted([one for one in factors if one.at])
        axes = [axis for axis, size in enumerate(sizes) if size != 1]
        return WordTerm(number, scalars, self._whole(tensors, axes, sizes))

    def scalar(self, one: Factor) -> tuple[Written, Fraction]:
        """Write a number, and its power."""
        atom = one.atom
        if atom.kind == "network":
            inside = next(iter(atom.inside[0].terms))
            own = inside[0]
            if len(inside) == 1 and len(own.at) == 2 and own.at[0] == own.at[1] and own.power == 1:
                return spelling.trace(self.atom(own.atom)), one.power
            if len(inside) == 1 and own.power == 2 and len(set(inside[0].at)) == len(inside[0].at) <= 2:
                axes = tuple(range(len(own.at)))
                base = self.atom(own.atom)
                if one.power.denominator == 2 or len(axes) == 2 or base.level == spelling.SUM:
                    return spelling.norm(base, is_matrix=len(axes) == 2), one.power * 2
            return self._closed(inside), one.power
        return self.atom(atom), one.power

    def atom(self, atom: Atom) -> Written:
        """Write a tensor, with its own axes."""
        found = self._tensor(atom)
        return replace(found, is_symmetric=True) if atom.is_symmetric else found

    def _tensor(self, atom: Atom) -> Written:
        match atom.kind:
            case "size":
                return self.size(int(atom.name))
            case "variable" | "number":
                return spelling.named(atom.name)
            case "function" if len(atom.sizes) == 2 and len(atom.inside) == 1:
                other = renamed_axes(atom.inside[0], {0: 1, 1: 0}, atom.sizes[::-1])
                inside, turned = self._elementwise(atom.name, atom.inside[0]), self._elementwise(atom.name, other, 1)
                return turned.transposed if len(turned.text) < len(inside.text) else inside
            case "function" if len(atom.inside) == 1:
                return self._elementwise(atom.name, atom.inside[0])
            case "function":
                return spelling.called(atom.name, *map(self.write, atom.inside))
            case "added":
                return self.write(atom.inside[0])
            case "inverse":
                inside = self.write(atom.inside[0])
                turned = self.write(renamed_axes(atom.inside[0], {0: 1, 1: 0}, atom.sizes))
                is_shorter = len(turned.text) < len(inside.text)
                return spelling.inverse(turned).transposed if is_shorter else spelling.inverse(inside)
            case "determinant":
                inside = self.write(atom.inside[0])
                turned = self.write(renamed_axes(atom.inside[0], {0: 1, 1: 0}, atom.inside[0].sizes))
                return spelling.called("det", min(inside, turned, key=lambda one: len(one.text)))
            case "eigenvalues":
                return spelling.called("eigvalsh", self.write(atom.inside[0]))
        raise GaveUpError

    def _elementwise(self, name: str, inside: NormalForm, turns: int = 0) -> Written:
        """Write a function of a matrix; that of whole rows or columns has the axis behind its name."""
        if name == "log_abs":
            return spelling.called("log", spelling.called("abs", self.write(inside)))
        if name == "above zero":
            return spelling.greater(*self._sides(inside))
        function, _, axis = name.partition(" along ")
        along = [spelling.integer(abs(int(axis) - turns))] if axis else []
        return spelling.called(function, self.write(inside), *along)

    def _sides(self, difference: NormalForm) -> tuple[Written, Written]:
        """Write the terms that are added, and those that are subtracted, of which one may be none or a number."""
        found = []
        for sign in (1, -1):
            terms = {own: sign * number for own, number in difference.terms.items() if sign * number > 0}
            is_number = all(not own for own in terms)
            found.append(self.write(NormalForm(() if is_number else difference.sizes, terms)))
        return found[0], found[1]

    def _factors_at(self, factors: Sequence[Factor], axes: tuple[int, ...]) -> _Tensor:
        """Write factors at the same indices as one tensor."""
        kind = "matrix" if len(axes) == 2 else "column"
        elements = [(self._turned_to(one.atom, one.at, axes), one.power) for one in factors]
        part = of_elements(elements, kind)
        for n, one in enumerate(factors):
            if one.power == 1 and _has_both_signs(one.atom):
                opposite = self._turned_to(negative_of(one.atom), one.at, axes)
                others = [*elements[:n], (opposite, one.power), *elements[n + 1 :]]
                part = replace(part, negative=of_elements(others, kind).written)
                break
        return _Tensor(axes, (part,))

    def _turned_to(self, atom: Atom, at: tuple[int, ...], axes: tuple[int, ...]) -> Written:
        """Write a tensor with its axes in some order."""
        if at == axes or atom.is_symmetric:
            return self.atom(atom)
        if len(axes) != 2 or at != axes[::-1]:
            raise GaveUpError
        return self.atom(atom).transposed

    def _along(self, one: _Tensor, axes: tuple[int, ...]) -> _Tensor:
        return one if one.axes == axes else _Tensor(axes, transposed(one.word))

    def _joined(self, tensors: Sequence[_Tensor], axes: tuple[int, ...]) -> _Tensor:
        """Multiply tensors with the same axes by element."""
        if len(tensors) == 1:
            return self._along(tensors[0], axes)
        kind = "matrix" if len(axes) == 2 else "column"
        words = [self._along(one, axes).word for one in tensors]
        each = [
            word[0].elements if len(word) == 1 and word[0].elements else ((spelled(word), Fraction(1)),)
            for word in words
        ]
        whole = of_elements([pair for own in each for pair in own], kind)
        for n, word in enumerate(words):
            if len(word) == 1 and word[0].negative is not None:
                others = [pair for m, own in enumerate(each) for pair in own if m != n]
                negative = of_elements([*others, (word[0].negative, Fraction(1))], kind).written
                return _Tensor(axes, (replace(whole, negative=negative),))
        return _Tensor(axes, (whole,))

    def _contracted(self, factors: Sequence[Factor]) -> list[_Tensor]:
        """Sum over the indices below 0, one after the other."""
        groups: dict[tuple[int, ...], list[Factor]] = {}
        tensors: list[_Tensor] = []
        for one in factors:
            if len(one.at) > 2:
                raise GaveUpError
            if one.atom.kind == "unit":
                tensors.append(_Tensor(one.at, (WordPart(self._unit(one.atom.sizes[0])),)))
            elif len(set(one.at)) < len(one.at):
                diagonal = spelling.called("diag", self._factors_at([one], one.at).word[0].written)
                tensors.append(_Tensor(one.at[:1], (WordPart(diagonal, "column"),)))
            else:
                groups.setdefault(tuple(sorted(one.at, reverse=True)), []).append(one)
        tensors += [self._factors_at(own, _most_common_axes(own)) for own in groups.values()]
        sizes = {i: n for one in factors for i, n in zip(one.at, one.atom.sizes, strict=True)}
        while bound := {i for one in tensors for i in one.axes if i < 0}:
            tensors = self._without_one(tensors, bound, sizes)
        return tensors

    def _without_one(self, tensors: list[_Tensor], bound: set[int], sizes: Mapping[int, int]) -> list[_Tensor]:
        """Sum over one index."""

        def cost(k: int) -> tuple[int, int, int]:
            mine = [one for one in tensors if k in one.axes]
            matrices = sum(len(one.axes) == 2 for one in mine)
            return (0 if matrices == 1 and len(mine) > 1 else 1), matrices, k

        for k in sorted(bound, key=cost):
            mine = [one for one in tensors if k in one.axes]
            rest = [one for one in tensors if k not in one.axes]
            vectors = [one for one in mine if len(one.axes) == 1]
            by_ends: dict[int, list[_Tensor]] = {}
            for one in mine:
                if len(one.axes) == 2:
                    by_ends.setdefault(next(i for i in one.axes if i != k), []).append(one)
            matrices = [self._joined(own, (end, k)) for end, own in by_ends.items()]
            if len(matrices) > 2 or not mine:
                continue
            diagonal = self._joined(vectors, (k,)) if vectors else None
            if len(matrices) == 2:
                left, right = matrices
                middle = () if diagonal is None else (diagonal_of(diagonal.word),)
                axes = left.axes[0], right.axes[0]
                return [*rest, _Tensor(axes, (*left.word, *middle, *transposed(right.word)))]
            if len(matrices) == 1:
                (left,) = matrices
                column = diagonal.word if diagonal is not None else (WordPart(self._ones(sizes[k]), "column"),)
                return [*rest, _Tensor(left.axes[:1], (*left.word, *column))]
        raise GaveUpError

    def _closed(self, factors: Factors) -> Written:
        """Write what is joined to no axis: a sum, a product of vectors, or a trace."""
        tensors = [_Tensor(one.at, ()) for one in factors]
        if {len(one.axes) for one in tensors} == {1}:
            if len(factors) == 1 and factors[0].power == 2:
                base = WordPart(self.atom(factors[0].atom), "column")
                return spelled_product((base,), (base,))
            return self._dot([self._factors_at([one], one.at) for one in factors])
        is_of_matrices = all(one.power == 1 and len(set(one.at)) == 2 for one in factors)
        if is_of_matrices and len(factors) == 2 and set(factors[0].at) == set(factors[1].at):
            return self._product_of_two(*factors)
        counts: dict[int, int] = {}
        for one in factors:
            for index in set(one.at):
                counts[index] = counts.get(index, 0) + 1
        if is_of_matrices and len(factors) > 2 and set(counts.values()) == {2}:
            return self._cycle(factors)
        # All but one index are summed over; the last one closes the word.
        last = self._last_index(factors, counts)
        opened = [one.moved({last: 0}) for one in factors]
        left = self._contracted(opened)
        matrices = [one for one in left if one.axes == (0, 0)]
        if matrices:
            if len(left) > 1:
                raise GaveUpError
            return spelling.trace(spelled(matrices[0].word))
        return self._dot(left)

    def _product_of_two(self, left: Factor, right: Factor) -> Written:
        """Write the sum of the products of the elements of two matrices."""
        one, other = self.atom(left.atom), self.atom(right.atom)
        if left.at == right.at and not (left.atom.is_symmetric or right.atom.is_symmetric):
            return spelling.called("sum", spelling.by_element([one, other], []))
        return spelling.trace(spelling.chain([one, other]))

    def _cycle(self, factors: Factors) -> Written:
        """Write the trace of a product of matrices that are joined in a circle, with the fewest transposes.

        Raises:
            GaveUpError: They are several circles.
        """
        found: list[tuple[int, Written]] = []
        for first in factors:
            for start in first.at:
                rest, place, parts, turns = [*factors], start, list[Written](), 0
                while (one := next((one for one in rest if place in one.at), None)) is not None:
                    rest.remove(one)
                    is_turned = one.at[0] != place and not one.atom.is_symmetric
                    written = self.atom(one.atom)
                    parts.append(written.transposed if is_turned else written)
                    place, turns = next(i for i in one.at if i != place), turns + is_turned
                if rest:
                    raise GaveUpError
                found.append((turns, spelling.trace(spelling.chain(parts))))
        return min(found, key=lambda pair: (pair[0], len(pair[1].text), pair[1].text))[1]

    def _last_index(self, factors: Factors, counts: Mapping[int, int]) -> int:
        vectors = {one.at[0] for one in factors if len(one.at) == 1}
        return max(counts, key=lambda index: (index in vectors, counts[index] > 1, index))

    def _dot(self, vectors: Sequence[_Tensor]) -> Written:
        if len(vectors) == 1:
            written = spelled(vectors[0].word)
            if len(vectors[0].word) > 1 and vectors[0].word[-1].written.text.startswith("ones("):
                return spelling.called("sum", spelled(vectors[0].word[:-1]))
            return spelling.called("sum", written)
        short, *others = sorted(vectors, key=lambda one: len(one.word))
        if len(others) == 1:
            return spelled_product(short.word, others[0].word)
        return spelling.called("sum", self._joined(vectors, vectors[0].axes).word[0].written)

    def _whole(self, tensors: list[_Tensor], axes: list[int], sizes: Sequence[int]) -> Word:
        """Join what is left to a word from the first axis to the last."""
        if not tensors:
            return ()
        if len(axes) == 1:
            return self._joined(tensors, (axes[0],)).word
        if len(axes) != 2:
            raise GaveUpError
        first, second = axes
        rows = [one for one in tensors if one.axes == (first,)]
        columns = [one for one in tensors if one.axes == (second,)]
        matrices = [one for one in tensors if len(one.axes) == 2]
        units = [one for one in matrices if one.word[0].written.text.startswith("eye(")]
        if units:
            if len(matrices) > 1 or columns:
                raise GaveUpError
            return (diagonal_of(self._joined(rows, (first,)).word),) if rows else units[0].word
        sides = [self._joined(own, own[0].axes).word if own else None for own in (rows, columns)]
        if not matrices:
            ones = [
                side if side is not None else (WordPart(self._ones(sizes[axis]), "column"),)
                for side, axis in zip(sides, axes, strict=True)
            ]
            return (*ones[0], *transposed(ones[1]))
        left, right = ((diagonal_of(side),) if side else () for side in sides)
        return (*left, *self._joined(matrices, (first, second)).word, *right)

    def _ones(self, size: int) -> Written:
        text = self.size(size)
        return Written(f"ones({text.text})", "𝟏", r"\mathbf{1}", is_long=False)

    def _unit(self, size: int) -> Written:
        return Written(f"eye({self.size(size).text})", "I", "I", is_symmetric=True)


def diagonal_of(vector: Word) -> WordPart:
    """Write the diagonal matrix of a vector."""
    return WordPart(replace(spelling.called("diag", spelled(vector)), is_symmetric=True), diagonal=vector)


def of_elements(elements: Sequence[tuple[Written, Fraction]], kind: str) -> WordPart:
    """Write a product by element.

    Raises:
        GaveUpError: Nothing is left of it.
    """
    powers: dict[Written, Fraction] = {}
    for one, power in elements:
        powers[one] = powers.get(one, Fraction(0)) + power
    elements = [(one, power) for one, power in powers.items() if power]
    if not elements:
        raise GaveUpError
    above = sorted(
        (spelling.raised(one, power) for one, power in elements if power > 0), key=lambda w: (-w.level, len(w.text))
    )
    below = [spelling.raised(one, -power) for one, power in elements if power < 0]
    return WordPart(spelling.by_element(above, below), kind, elements=tuple(elements))


def _most_common_axes(factors: Sequence[Factor]) -> tuple[int, ...]:
    """Return the order of axes that most factors have."""
    orders = [one.at for one in factors if not one.atom.is_symmetric] or [factors[0].at]
    return max(sorted(set(orders), reverse=orders[0][0] < 0), key=orders.count)


def _has_both_signs(atom: Atom) -> bool:
    """Tell whether a tensor is a sum in which something is subtracted."""
    return atom.kind == "added" and len({number > 0 for number in atom.inside[0].terms.values()}) > 1


def spelled_product(left: Word, right: Word) -> Written:
    """Write the product of two vectors, the left one as a row."""
    row = transposed(left)
    pretty = [letter.written if letter.kind == "matrix" else letter.written.transposed for letter in row]
    shown = spelling.chain([*pretty, *(letter.written for letter in right)])
    if len(left) == 1:
        text = spelling.chain([left[0].written, *(letter.written for letter in right)]).text
    else:
        text = spelling.chain([*(letter.written for letter in row), *(letter.written for letter in right)]).text
    return Written(text, shown.pretty, shown.latex, spelling.CHAIN, spelling.CHAIN)
