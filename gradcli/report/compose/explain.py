"""The chain rule step by step, as on a board: forward, backward, vᵀJ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gradcli.notation import BRACKETED, PARTIAL, PLUS, TIMES, Element, Form, Name, Notation, Number, joined
from gradcli.report import document as doc
from gradcli.report.compose.closed_forms import note
from gradcli.report.compose.writer import cut
from gradcli.report.document import line
from gradcli.report.numbers import digits
from gradcli.results import Adjoint, Array, Explanation, Term

SHOWN = 40
"""Lines of the forward pass and adjoints that are shown; of more, the ends."""

SMALL = 6
"""Elements of y up to which vᵀJ is written as a sum of rows of J."""

_VJP = Form("vT J", "vᵀJ", "v^{T} J")()
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_WEIGHTED = Form("sum(v*%s)", "sum(v·%s)", r"\operatorname{sum}(v \cdot %s)")


def board(answer: Explanation) -> Iterator[doc.Node]:
    """The lines forward, their adjoints backward, and what the last of them are the sum of."""
    yield from _titled("forward: each line from those before it")
    for step in cut(answer.steps, answer.steps_count, SHOWN):
        yield note("…") if step is None else _chain(Name(step.name), step.operation, step.value)
    if not answer.wrt:
        return
    yield from _titled("backward: the adjoint of a line, times the local derivative")
    yield from _backward(answer)
    for name in answer.wrt:
        if (words := weighted_sum(answer, name, digits)) is not None:
            yield _chain(_VJP, words, answer.vjp[name])
    yield doc.Gap()


def _titled(words: str) -> Iterator[doc.Node]:
    """A title with a blank line above, as equations have no frame."""
    yield doc.Gap()
    yield doc.Title(line(words))


def _aside(words: str, indent: str = "") -> doc.Note:
    """Words beside the equations, in brackets."""
    return _remark(f"({words})", indent=indent)


def _remark(*parts: str | doc.Symbol, indent: str = "") -> doc.Note:
    return doc.Note(tuple(doc.Span(part, "aside") if isinstance(part, str) else part for part in parts), indent)


def _chain(*sides: doc.Side | Notation | Array, before: str = "", after: str = "") -> doc.Chain:
    """Equal things, each of them one part or several."""
    shown = tuple(side if isinstance(side, doc.Side) else doc.Side((side,)) for side in sides)
    return doc.Chain(shown, before, after)


# -- backward


def _backward(answer: Explanation) -> Iterator[doc.Node]:
    """The adjoint of each line and variable, from the output down."""
    x = answer.wrt[0]
    if answer.adjoints:
        yield _chain(answer.adjoints[0].notation, Name("v"), answer.v)
    bar = next((adjoint.notation for adjoint in answer.adjoints if adjoint.name == x), None)
    if bar is not None:
        weighted = doc.Symbol(_WEIGHTED(Name(answer.output)))
        yield _remark("(", doc.Symbol(bar), f", the adjoint of {x}, is the derivative of ", weighted, f" by {x})")
    notations = {adjoint.name: adjoint.notation for adjoint in answer.adjoints}
    for adjoint in cut(answer.adjoints[1:], answer.adjoints_count - 1, SHOWN):
        yield from [note("…")] if adjoint is None else _adjoint(adjoint, answer.output, notations)


def _adjoint(adjoint: Adjoint, y: str, notations: Mapping[str, Notation]) -> Iterator[doc.Node]:
    bar = adjoint.notation
    if not adjoint.terms:
        yield _chain(bar, adjoint.value)
        yield _aside(f"{y} does not depend on {adjoint.name}", indent="  ")
        return
    if adjoint.terms_count == 1:
        yield from _term(adjoint.terms[0], adjoint, notations, [bar])
        return
    uses = f" is a {adjoint.rule}, as {adjoint.name} is used {adjoint.terms_count:,} times:"
    yield doc.Note(line(doc.Symbol(bar), uses))
    for term in adjoint.terms:
        yield from _term(term, adjoint, notations, [], f"  from {term.source}: ")
    more = adjoint.terms_count - len(adjoint.terms)
    if more:
        yield note(f"  … and {more:,} more terms")
    added = adjoint.terms[:2] if more else adjoint.terms
    total = doc.Side(tuple(term.value for term in added), "+", has_more=bool(more))
    yield _chain(bar, total, adjoint.value, before="  ", after=", ".join(_doubt(adjoint)))


def _doubt(adjoint: Adjoint) -> tuple[str, ...]:
    """The verdict on a line, where it is not that all is well."""
    return () if adjoint.verdict in (None, "agree") else (f"the check says {adjoint.verdict}",)


def _term(
    term: Term, adjoint: Adjoint, notations: Mapping[str, Notation], left: Sequence[Notation], before: str = ""
) -> Iterator[doc.Node]:
    """The product of the chain rule: in names, as a formula, in numbers."""
    sides: list[doc.Side | Notation | Array] = [*left]
    above = notations.get(term.source)
    sign: Literal["·", "⊙"] = "⊙" if term.is_elementwise and term.local is not None and term.local.ndim else "·"
    is_chain = bool(term.factors) and (term.is_elementwise or term.local is not None)
    if is_chain and above is not None and (not term.equation or term.is_elementwise):
        partial = PARTIAL(Name(term.source), Name(adjoint.name))
        sides.append(doc.Side((above, partial), sign, is_summed=term.summed))
    if term.equation is not None:
        sides.append(doc.Side((term.equation,), is_summed=term.summed))
    if term.factors and not (term.formula == "1" and not term.summed):
        sides.append(doc.Side(term.factors, sign, is_summed=term.summed))
    said = (term.rule, *_doubt(adjoint) * (adjoint.terms_count == 1))
    yield _chain(*sides, term.value, before=before, after=", ".join(said))
    indent = " " * (len(before) or 2)
    if all(term.entry) and term.derivative is not None:
        y, x = term.entry
        yield _chain(PARTIAL(Name(y), Name(x)), term.derivative, before=indent)
    if term.words:
        yield _aside(term.words, indent=indent)


# -- vᵀJ


def weighted_sum(answer: Explanation, name: str, number: Callable[[Any], str]) -> Notation | None:
    """What a product is: the rows of J, each weighted by its element of v; None where they are not few."""
    if not 1 < answer.v.size <= SMALL:
        return None
    rows = [
        TIMES(_weight(number(answer.v[at])), PARTIAL(_subscripted(answer.output, at), Name(name)))
        for at in np.ndindex(*answer.v.shape)
    ]
    return joined(rows, PLUS)


def _weight(digits: str) -> Notation:
    shown = Number(digits)
    return BRACKETED(shown) if shown.text.startswith("-") else shown


def _subscripted(name: str, index: tuple[int, ...]) -> Notation:
    """An element of y with its index below, as textbooks have the rows of J."""
    plain = Element(name, index)
    return Form(plain.text, name + "".join(map(str, index)).translate(_SUBSCRIPTS), plain.latex)()
