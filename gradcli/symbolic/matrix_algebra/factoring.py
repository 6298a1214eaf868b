"""Forms as formulas: common factors out, transposes in or out, the shortest of a few orders.

2*A[-1,0]*A[-1,-2]*x[-2] - 2*A[-1,0]*b[-1]        2*A.T@(A@x - b)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

from gradcli.symbolic.matrix_algebra import spelling
from gradcli.symbolic.matrix_algebra.contracting import (
    Contraction,
    WordPart,
    WordTerm,
    diagonal_of,
    kind_of,
    of_elements,
    spelled,
    transposed,
)
from gradcli.symbolic.matrix_algebra.known_functions import (
    with_known_functions,
    with_positive_arguments,
    with_variables_added,
)
from gradcli.symbolic.matrix_algebra.networks import Atom, GaveUpError, NormalForm
from gradcli.symbolic.matrix_algebra.spelling import WholeTensors, Written

LONGEST_FORMULA = 240
"""Most characters of a formula that is worth showing."""

MOST_FACTORED = 16
"""Most terms of a sum in which common factors are looked for."""

MOST_ORDERED = 4
"""Most terms of a sum for which common factors are taken out in both orders, first on the left or on the right."""


class FormulaWriter:
    """Writer of forms.

    Args:
        sizes: What sizes are called; others are numbers.
        names: Of variables: of `x - a` and `a - x` that one is written in which the first of them is not subtracted.
    """

    def __init__(self, sizes: Mapping[int, str], names: Sequence[str] = ()) -> None:
        self.sizes, self.names = sizes, names
        self.contraction = Contraction(self.write, self._size)
        self._known: dict[str, Written] = {}

    def formula(self, form: NormalForm) -> WholeTensors:
        """Write a form, with the conditions under which it has a value.

        Raises:
            GaveUpError: It has no formula in whole tensors, or a long one.
        """
        return WholeTensors(self.write(form), conditions=self.conditions(form))

    def conditions(self, form: NormalForm) -> tuple[str, ...]:
        """Write what must be so that a form has a value: `X is invertible`.

        Raises:
            GaveUpError: What is inverted has no formula.
        """
        return tuple(dict.fromkeys(f"{self.write(atom.inside[0]).text} is invertible" for atom in _inverses(form)))

    def write(self, form: NormalForm) -> Written:
        """Write a form.

        Raises:
            GaveUpError: It has no formula in whole tensors, or a long one.
        """
        if form.key not in self._known:
            named = with_variables_added(with_known_functions(form), self.names)
            ways = (self._sum(named), self._sum(with_positive_arguments(named)))
            self._known[form.key] = min(ways, key=lambda one: len(one.text))
        found = self._known[form.key]
        if len(found.text) > LONGEST_FORMULA:
            raise GaveUpError
        return found

    def _sum(self, form: NormalForm) -> Written:
        return sum_of([self.contraction.term(form.terms[own], own, form.sizes) for own in form.ordered])

    def _size(self, size: int) -> Written:
        name = self.sizes.get(size)
        return spelling.integer(size) if name is None else spelling.named(name)


def _inverses(form: NormalForm) -> Iterator[Atom]:
    """Generate the inverses in a form, inner ones first."""
    for own in form.ordered:
        for one in own:
            for inside in one.atom.inside:
                yield from _inverses(inside)
            if one.atom.kind == "inverse":
                yield one.atom


def sum_of(terms: Sequence[WordTerm]) -> Written:
    """Write a sum of terms, factored.

    Raises:
        GaveUpError: There are too many.
    """
    if not terms:
        return spelling.integer(0)
    if len(terms) > MOST_FACTORED:
        raise GaveUpError
    number, scalars, rest = _shared(terms)
    options = [_written(number, scalars, rest)]
    if all(kind_of(term.word) == "matrix" and term.word for term in rest):
        turned = [replace(term, word=transposed(term.word)) for term in rest]
        sign, body = _body(turned)
        if not body.is_symmetric:
            options.append(_signed(WordTerm(number * sign, scalars, (WordPart(body.transposed),))))
    return min(options, key=lambda one: len(one.text))


def _written(number: Fraction, scalars: Mapping[Written, Fraction], rest: Sequence[WordTerm]) -> Written:
    """Write a sum times a number and scalars."""
    found = factored(rest)
    if len(found) == 1:
        (one,) = found
        return _signed(WordTerm(number * one.number, _product(scalars, one.scalars), one.word))
    if (whole := _joined_by_element(found)) is not None:
        return _signed(WordTerm(number * whole.number, _product(scalars, whole.scalars), whole.word))
    if abs(number) == 1 and not scalars:
        return _plain_sum([replace(one, number=one.number * number) for one in found])
    sign, body = _body(found)
    if number * sign < 0 and (flipped := _flipped(found, sign)) is not None:
        sign, body = -sign, flipped
    kinds = {kind_of(one.word) for one in found if one.word}
    if not kinds:
        return _signed(WordTerm(number * sign, _product(scalars, {body: Fraction(1)}), ()))
    return _signed(WordTerm(number * sign, scalars, (WordPart(body, kinds.pop()),)))


def _body(terms: Sequence[WordTerm]) -> tuple[int, Written]:
    """Write a sum, with a sign in front of it if all of its terms are negative."""
    found = factored(terms)
    sign = -1 if all(one.number < 0 for one in found) else 1
    return sign, _plain_sum([replace(one, number=one.number * sign) for one in found])


def _flipped(terms: Sequence[WordTerm], sign: int) -> Written | None:
    """Write the negative of a sum that has both signs."""
    if len({one.number > 0 for one in terms}) < 2:
        return None
    return _plain_sum([replace(one, number=-one.number * sign) for one in terms])


def _plain_sum(terms: Sequence[WordTerm]) -> Written:
    """Write a sum: first what is added, then products of matrices, then what is short."""

    def place(one: WordTerm) -> tuple[bool, int, int]:
        return one.number < 0, -len(one.word), len(spelled(one.word).text) if one.word else 0

    has_others = not all(_is_of_ones(one) for one in terms)
    ordered = sorted((replace(one, word=()) if has_others and _is_of_ones(one) else one for one in terms), key=place)
    return spelling.added([(one.number < 0, _signed(replace(one, number=abs(one.number)))) for one in ordered])


def _is_of_ones(term: WordTerm) -> bool:
    """Tell whether a term is a vector of ones, to which a number stretches next to other vectors."""
    return len(term.word) == 1 and term.word[0].written.text.startswith("ones(")


def _signed(term: WordTerm) -> Written:
    """Write one term."""
    number, word = term.number, list(term.word)
    for n, part in enumerate(word):
        if number < 0 and part.negative is not None and sum(one.written == part.written for one in word) == 1:
            number, word[n] = -number, WordPart(part.negative, part.kind)
    p, q = abs(number).numerator, abs(number).denominator
    above = [spelling.raised(one, power) for one, power in term.scalars.items() if power > 0]
    below = [spelling.raised(one, -power) for one, power in term.scalars.items() if power < 0]
    above.sort(key=lambda one: (one.level, len(one.text)), reverse=True)
    below.sort(key=lambda one: len(one.text))
    if p != 1 or not (above or word):
        above.insert(0, spelling.integer(p))
    if q != 1:
        below.insert(0, spelling.integer(q))
    found = spelling.times(above, spelled(word) if word else None, below)
    return spelling.negative(found) if number < 0 else found


def _product(one: Mapping[Written, Fraction], other: Mapping[Written, Fraction]) -> dict[Written, Fraction]:
    """Multiply scalars."""
    keys = dict.fromkeys((*one, *other))
    powers = {key: one.get(key, Fraction(0)) + other.get(key, Fraction(0)) for key in keys}
    return {key: power for key, power in powers.items() if power}


def _shared(terms: Sequence[WordTerm]) -> tuple[Fraction, dict[Written, Fraction], list[WordTerm]]:
    """Split terms into a number and scalars that all share, and what is left."""
    numbers = [term.number for term in terms]
    number = Fraction(gcd(*(n.numerator for n in numbers)), lcm(*(n.denominator for n in numbers)))
    if all(n < 0 for n in numbers):
        number = -number
    shared: dict[Written, Fraction] = {}
    for one in dict.fromkeys(key for term in terms for key in term.scalars):
        powers = [term.scalars.get(one, Fraction(0)) for term in terms]
        if all(p > 0 for p in powers) or all(p < 0 for p in powers):
            shared[one] = min(powers, key=abs)
    inverted = {one: -power for one, power in shared.items()}
    rest = [WordTerm(term.number / number, _product(term.scalars, inverted), term.word) for term in terms]
    return number, shared, rest


# -- common parts of words


def factored(terms: Sequence[WordTerm]) -> list[WordTerm]:
    """Add up terms that begin or end alike, until no two do: A@x + B@x is (A + B)@x.

    >>> A, B, x = (WordPart(spelling.named(name), "column" if name == "x" else "matrix") for name in "ABx")
    >>> (one,) = factored([WordTerm(Fraction(1), {}, (A, x)), WordTerm(Fraction(1), {}, (B, x))])
    >>> spelled(one.word).text
    '(A + B)@x'
    """
    orders = ((-1, 0), (0, -1)) if len(terms) <= MOST_ORDERED else ((-1, 0),)
    options = [_by_scalars(_joined_at(_joined_at(list(terms), one), other)) for one, other in orders]
    return min(options, key=lambda option: len(_plain_sum(option).text))


def _joined_at(terms: list[WordTerm], place: int) -> list[WordTerm]:
    """Add up terms with the same first or last part, and what that makes possible at the other end."""
    while True:
        groups: dict[str, list[WordTerm]] = {}
        for term in terms:
            key = term.word[place].key if len(term.word) > 1 else f"{id(term)}"
            groups.setdefault(key, []).append(term)
        found = [one for own in groups.values() for one in _joined_group(own, place)]
        if len(found) == len(terms):
            return found
        terms = found


def _by_scalars(terms: list[WordTerm]) -> list[WordTerm]:
    """Add up terms that are multiplied by the same numbers: s*B + s*C is s*(B + C)."""
    groups: dict[str, list[WordTerm]] = {}
    for term in terms:
        key = "*".join(sorted(f"{one.text}^{power}" for one, power in term.scalars.items()))
        groups.setdefault(f"{key}{kind_of(term.word)}" if key and term.word else f"{id(term)}", []).append(term)
    if len(groups) == 1:
        return terms
    return [_sum_as_term(own) if len(own) > 1 else own[0] for own in groups.values()]


def _sum_as_term(own: Sequence[WordTerm]) -> WordTerm:
    """Add up terms to one, whose word is the sum."""
    if (whole := _joined_by_element(own)) is not None:
        return whole
    number, scalars, inner = _shared(own)
    # Two equal sums must look alike, whatever their sign is.
    first = min(inner, key=lambda one: spelled(one.word).text)
    if first.number < 0:
        number, inner = -number, [replace(one, number=-one.number) for one in inner]
    is_mixed = len({one.number > 0 for one in inner}) > 1
    negative = _plain_sum([replace(one, number=-one.number) for one in inner]) if is_mixed else None
    written = replace(_plain_sum(inner), is_symmetric=_is_symmetric(inner))
    return WordTerm(number, scalars, (WordPart(written, kind_of(inner[0].word), negative),))


def _is_symmetric(terms: Sequence[WordTerm]) -> bool:
    """Tell whether a sum of matrices is its own transpose, as A + A.T."""
    if not all(kind_of(one.word) == "matrix" for one in terms):
        return False
    straight, turned = (
        sorted(f"{one.number}{one.scalars}{[part.key for part in turn(one.word)]}" for one in terms)
        for turn in (tuple, transposed)
    )
    return straight == turned


def _joined_by_element(own: Sequence[WordTerm]) -> WordTerm | None:
    """Add up diagonal matrices, or products by element that share a factor: s*a - s*b is s*(a - b)."""
    if len(own) < 2 or any(len(one.word) != 1 for one in own):
        return None
    parts = [one.word[0] for one in own]
    if all(part.diagonal for part in parts):
        number, scalars, inner = _shared([replace(one, word=one.word[0].diagonal) for one in own])
        whole = factored(inner)
        vector = whole[0] if len(whole) == 1 else _sum_as_term(whole)
        scalars = _product(scalars, vector.scalars)
        return WordTerm(number * vector.number, scalars, (diagonal_of(vector.word),))
    powers = [dict(part.elements) for part in parts]
    shared: dict[Written, Fraction] = {}
    for one in powers[0]:
        every = [own_powers.get(one, Fraction(0)) for own_powers in powers]
        if all(p > 0 for p in every) or all(p < 0 for p in every):
            shared[one] = min(every, key=abs)
    if not shared or len({part.kind for part in parts}) > 1:
        return None
    kind, inverted = parts[0].kind, {one: -power for one, power in shared.items()}
    rest = []
    for term, own_powers in zip(own, powers, strict=True):
        left = tuple(_product(own_powers, inverted).items())
        rest.append(replace(term, word=(of_elements(left, kind),) if left else ()))
    number, scalars, inner = _shared(rest)
    if sum(one.number < 0 for one in inner) * 2 > len(inner):
        number, inner = -number, [replace(one, number=-one.number) for one in inner]
    elements = [*shared.items(), (_plain_sum(inner), Fraction(1))]
    part = of_elements(elements, kind)
    if len({one.number > 0 for one in inner}) > 1:
        opposite = _plain_sum([replace(one, number=-one.number) for one in inner])
        part = replace(part, negative=of_elements([*shared.items(), (opposite, Fraction(1))], kind).written)
    return WordTerm(number, scalars, (part,))


def _joined_group(own: list[WordTerm], place: int) -> list[WordTerm]:
    """Add up terms with the same first or last part to one, if their other parts can be added."""
    alike = _alike([term.word if place == 0 else term.word[::-1] for term in own])
    rest = [replace(term, word=term.word[alike:] if place == 0 else term.word[:-alike]) for term in own]
    if len(own) == 1 or len({kind_of(one.word) for one in rest}) > 1:
        return own
    number, scalars, inner = _shared(rest)
    whole = factored(inner)
    one = whole[0] if len(whole) == 1 else _sum_as_term(whole)
    first = own[0].word
    word = (*first[:alike], *one.word) if place == 0 else (*one.word, *first[-alike:])
    return [WordTerm(number * one.number, _product(scalars, one.scalars), word)]


def _alike(words: Sequence[Sequence[WordPart]]) -> int:
    """Count the parts with which all of some words begin, so that of each at least one is left."""
    most = min(map(len, words)) - 1
    return next((n for n in range(most) if len({word[n].key for word in words}) > 1), max(most, 1))
