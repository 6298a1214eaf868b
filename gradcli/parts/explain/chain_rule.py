"""The chain rule step by step: the lines forward, the adjoints backward (a row each), and the sum at their end.

Unfolded, an adjoint has the numbers of its product, and its rule in words; long lists are shown by their ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from gradcli import notation
from gradcli.option_words import Words, option
from gradcli.report import document as doc
from gradcli.report.compose.answers import Composer
from gradcli.report.compose.formula_tables import GRADIENT, note, standing
from gradcli.report.document import line, lines
from gradcli.report.numbers import Writer, cut, doubts_of_product
from gradcli.results import Adjoint, Answer, Explanation, Term

MOST_ROWS, MAX_ROWS = 16, 40
"""Most lines and adjoints shown, folded and unfolded; of more, the ends."""

AT_ENDS = 8
"""Lines and adjoints shown of more than that, folded."""

MOST_TERMS = 3
"""Most terms of a sum over uses, folded."""

SMALL = 6
"""Most elements of y for which vᵀJ is written as a sum of rows of J."""

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUMMED = notation.Signs("sum(%s)", "sum(%s)", r"\operatorname{sum}(%s)")
_TIMES = notation.Signs("*", "·", r"\cdot")()
_BY_ELEMENT = notation.Signs("*", "⊙", r"\odot")()


def compose_explanation(answer: Explanation, digits: int | None, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose an explanation."""
    return ExplanationComposer(digits, is_full).nodes(answer)


class ExplanationComposer(Composer):
    """Composer of explanations, which end with the product."""

    most_below = -1

    def numbers(self, answer: Answer) -> Iterator[doc.Node]:
        """Compose the chain rule, the product, and unfolded the matrix that it weighs."""
        if not isinstance(answer, Explanation):
            return
        yield from board(answer)
        yield from chain_rule(answer, self)
        for name in answer.wrt:
            numbers = self.marked(answer.vjp[name], doubts_of_product(answer, name, answer.v))
            yield doc.Note(product(answer, name, numbers, self))
        if self.is_full and answer.wrt:
            yield from [] if answer.loss is None else [self.product(answer, answer.v)]
            yield self.matrix(answer, answer.v)


def board(answer: Explanation) -> Iterator[doc.Node]:
    """Compose the differential line by line, and the gradients that follow from it."""
    for one in answer.differential:
        change = line(doc.Symbol(notation.Named(f"d{one.name}")), " = ", doc.FormulaText(one.change))
        yield doc.Note(line(*change, *([f"   with {one.name} = {one.of}"] if one.of else [])))
    y = notation.Named(answer.output)
    for name, formula in answer.gradients.items():
        yield doc.Note(line("so ", doc.Symbol(GRADIENT(notation.Named(name), y)), " = ", doc.FormulaText(formula)))


def chain_rule(answer: Explanation, write: Writer) -> Iterator[doc.Node]:
    """Compose the lines forward, where there are several, and the adjoints backward."""
    count = max(answer.steps_count, answer.adjoints_count)
    most = MAX_ROWS if write.is_full else MOST_ROWS if count <= MOST_ROWS else AT_ENDS
    if answer.steps_count > 1:
        steps = [
            line(doc.Symbol(notation.Named(step.name)), " = ", doc.FormulaText(step.operation), " = ")
            + write.marked(step.value, {}, "plain")
            for step in answer.steps
        ]
        ends = cut(steps, answer.steps_count, most)
        yield doc.Abreast((line("forward:"), *(line("…") if step is None else step for step in ends)))
    if answer.wrt:
        notations = {adjoint.name: adjoint.notation for adjoint in answer.adjoints}
        rows = cut([_adjoint(one, answer, notations, write) for one in answer.adjoints], answer.adjoints_count, most)
        headers = ["backward", *["in numbers"] * write.is_full, "adjoint", "rule"]
        if write.is_full:
            yield note(f"the adjoint of a line is the derivative of sum(v·{answer.output}) by it")
        yield doc.Table(lines(*headers), rows, is_folded=not write.is_full, has_rules=write.is_full)
    if count > most and not write.is_full:
        yield note(Words(f"{count - most:,} lines are left out above; {option('full')} shows more"))


def product(answer: Explanation, name: str, numbers: doc.Line, write: Writer) -> doc.Line:
    """Compose the `.grad` of a variable after the backward pass, as a sum of rows of J and in numbers."""
    words = _weighted_sum(answer, name, write)
    between: list[str | doc.Inline] = [] if words is None else [doc.Symbol(words), " = "]
    return line(f"{name}.grad = vᵀJ = ", *between, *numbers)


# -- an adjoint


def _adjoint(
    adjoint: Adjoint, answer: Explanation, notations: Mapping[str, notation.Notation], write: Writer
) -> tuple[doc.Line, ...]:
    """Compose the row of an adjoint: its sum in names and in numbers, its value, and the rule."""
    parts: list[str | doc.Inline] = [doc.Symbol(adjoint.notation)]
    rule: list[str | doc.Inline] = [adjoint.rule]
    if adjoint.name == answer.output and not adjoint.terms:
        parts.append(" = v")
    elif not adjoint.terms:
        rule = [f"{answer.output} does not depend on it"]
    terms = adjoint.terms if write.is_full else adjoint.terms[:MOST_TERMS]
    for n, term in enumerate(terms):
        parts += [" + " if n else " = ", *_term(term, adjoint, notations, write, is_first=not n)]
    if adjoint.terms_count > len(terms):
        parts.append(" + …")
    if adjoint.verdict not in (None, "agree"):
        rule += [" " if adjoint.rule else "", standing(adjoint.verdict)]
    role: doc.Role = "strong" if adjoint.name in answer.wrt else "plain"
    if not write.is_full:
        return lines(line(*parts), write.marked(adjoint.value, {}, role), line(*rule))
    factors = [part for n, term in enumerate(terms) for part in (" + " * bool(n), *_factors(term))]
    rule += [part for term in terms for part in _words(term)]
    return lines(line(*parts), line(*factors), doc.ArrayNumbers(adjoint.value), line(*rule))


def _term(
    term: Term, adjoint: Adjoint, notations: Mapping[str, notation.Notation], write: Writer, *, is_first: bool
) -> Iterator[doc.FormulaText | doc.Styled]:
    """Compose a term: the adjoint of the line that uses it, times the local derivative by name or as a formula."""
    above = notations.get(term.source)
    sign = notation.POINTWISE if _is_by_element(term) else notation.TIMES
    named = above and sign(above, notation.PARTIAL(notation.Named(term.source), notation.Named(adjoint.name)))
    is_chain = bool(term.factors) and term.is_elementwise and adjoint.terms_count == 1 and write.is_full
    shown = [one for one in ([named, term.equation] if is_chain else [term.equation or named]) if one is not None]
    for n, found in enumerate(shown):
        yield from [doc.Styled(" = ")] * bool(n)
        is_bracketed = found.text.startswith("-") and not (is_first or term.summed)
        whole = notation.BRACKETED(found) if is_bracketed else found
        yield doc.FormulaText(_SUMMED(whole) if term.summed else whole)
    if not shown:
        yield doc.Styled(f"what {term.source} gives", "aside")


def _factors(term: Term) -> Iterator[str | doc.Inline]:
    """Compose the numbers of the product."""
    yield "sum(" * term.summed
    for n, factor in enumerate(term.factors):
        if n:
            yield from (" ", doc.Symbol(_BY_ELEMENT if _is_by_element(term) else _TIMES), " ")
        yield doc.ArrayNumbers(np.asarray(factor))
    yield ")" * term.summed


def _words(term: Term) -> Iterator[str | doc.Inline]:
    """Compose the rule in words, and the local derivative where the formula has only its name."""
    if term.words:
        yield f" ({term.words})"
    if all(term.entry) and term.derivative is not None:
        label = notation.PARTIAL(*map(notation.Named, term.entry))
        yield from ("; ", doc.Symbol(label), " = ", doc.FormulaText(term.derivative))


def _is_by_element(term: Term) -> bool:
    return term.is_elementwise and term.local is not None and term.local.ndim > 0


# -- vᵀJ


def _weighted_sum(answer: Explanation, name: str, write: Writer) -> notation.Notation | None:
    """Write a product as rows of J weighted by the elements of v; None unless they are 2 to `SMALL`."""
    if not 1 < answer.v.size <= SMALL:
        return None
    rows = [
        notation.TIMES(
            _weight(write.number(answer.v[at])), notation.PARTIAL(_subscripted(answer.output, at), notation.Named(name))
        )
        for at in np.ndindex(*answer.v.shape)
    ]
    return notation.joined(rows, notation.PLUS)


def _weight(digits: str) -> notation.Notation:
    shown = notation.Digits(digits)
    return notation.BRACKETED(shown) if shown.text.startswith("-") else shown


def _subscripted(name: str, index: tuple[int, ...]) -> notation.Notation:
    """Write an element of y with its index below, as textbooks write the rows of J."""
    plain = notation.Element(name, index)
    return notation.Signs(plain.text, name + "".join(map(str, index)).translate(_SUBSCRIPTS), plain.latex)()
