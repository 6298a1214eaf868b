"""The chain rule step by step, from top to bottom as on a board: forward, v, backward, vᵀJ, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gradcli.notation import BRACKETED, PARTIAL, PLUS, TIMES, Element, Form, Name, Notation, Number, Typed, joined
from gradcli.report import document as doc
from gradcli.report.compose.parts import findings, heading, judgement, note, title
from gradcli.report.document import line, lines
from gradcli.report.numbers import digits
from gradcli.report.wording import NO_VARIABLE, chosen, standing
from gradcli.results import Adjoint, Array, Check, Explanation, Loss, Step, Term

SHOWN = 40
"""Lines of the forward pass and adjoints that are shown; of more, the ends."""

SMALL = 6
"""Elements of y, and of x, up to which v, J and vᵀJ are drawn as one product."""

MOST_CELLS = 6
"""Formulas of v that are written one by one."""

_VJP = Form("vT J", "vᵀJ", "v^{T} J")()
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LOSS = Form("loss", "ℓ", r"\ell")()
_OF_LOSS = Form("the gradient of the loss of the function", "∇(ℓ∘f), the gradient of the loss", r"\nabla \ell(f)")()
_EQUALS = Form("= %s", "= %s", "= %s")
_WEIGHTED = Form("sum(v*%s)", "sum(v·%s)", r"\operatorname{sum}(v \cdot %s)")


def explanation(answer: Explanation) -> Iterator[doc.Node]:
    """Titles, tables and equations."""
    yield from heading(answer)
    yield from _titled("forward: each line from those before it")
    yield _forward(answer)
    if answer.loss is not None:
        yield from _titled("the loss, which is where v comes from")
        yield from _loss(answer, answer.loss)
    yield from _titled("v at the output")
    yield from _start(answer)
    if not answer.wrt:
        yield note(NO_VARIABLE)
        return
    yield from _titled("backward: the adjoint of a line, times the local derivative")
    yield from _backward(answer)
    yield from _titled(f"vᵀJ: what {answer.output}.backward(gradient=v) leaves in .grad")
    yield from _product(answer)
    if answer.loss is not None:
        yield from _in_one_go(answer, answer.loss)
    if answer.check is not None:
        yield doc.Gap()
        yield _verdict(answer.check)
        yield from findings(answer.check, answer.output)


def _titled(*words: str | doc.Symbol) -> Iterator[doc.Node]:
    """A title with a blank line above, as equations have no frame."""
    yield doc.Gap()
    yield title(*words)


def _aside(words: str, indent: str = "") -> doc.Note:
    """Words beside the equations, in brackets."""
    return _remark(f"({words})", indent=indent)


def _remark(*parts: str | doc.Symbol, indent: str = "") -> doc.Note:
    return doc.Note(tuple(doc.Span(part, "aside") if isinstance(part, str) else part for part in parts), indent)


def _chain(*sides: doc.Side | Notation | Array, before: str = "", after: str = "") -> doc.Chain:
    """Equal things, each of them one part or several."""
    shown = tuple(side if isinstance(side, doc.Side) else doc.Side((side,)) for side in sides)
    return doc.Chain(shown, before, after)


# -- forward, and v


def _forward(answer: Explanation) -> doc.Table:
    """A row for each line, the values at the right."""
    head, tail, more = _ends(answer.steps, answer.steps_count)
    left_out = [lines("…", f"{more:,} more lines", ())] if more else []
    return doc.Table(lines("", "", ""), (*map(_step, head), *left_out, *map(_step, tail)))


def _step(step: Step) -> tuple[doc.Line, ...]:
    value = doc.Equation(Name(step.name), doc.Numbers(step.value), (doc.Expression(step.operation),))
    return lines(step.name, doc.Expression(_EQUALS(step.operation)), value)


def _loss(answer: Explanation, loss: Loss) -> Iterator[doc.Node]:
    yield _chain(_LOSS, Typed(loss.expression), loss.value)
    for given, array in loss.inputs.items():
        if given not in answer.inputs:
            yield _chain(Name(given), array)
    v, partial = Name("v"), PARTIAL(_LOSS, Name(answer.output))
    cells = loss.formula.cells if loss.formula is not None else ()
    if len(cells) == 1 and not cells[0].below.index:
        yield _chain(v, partial, cells[0].expression, loss.v)
    else:
        for cell in cells[:MOST_CELLS]:
            yield _chain(Element("v", cell.below.index), PARTIAL(_LOSS, cell.below), cell.expression)
        if len(cells) > MOST_CELLS:
            yield note(f"… and {len(cells) - MOST_CELLS} more")
        yield _chain(v, partial, loss.v)
    if loss.check is not None and loss.check.verdict != "agree":
        yield _aside(f"the verdict on v itself is {loss.check.verdict}")


def _start(answer: Explanation) -> Iterator[doc.Node]:
    """The adjoint of the output is v."""
    y = answer.output
    yield note(f"v weights the elements of {y}; the adjoint of {y} is v")
    if answer.adjoints:
        yield _chain(answer.adjoints[0].notation, Name("v"), answer.v)
    yield from (_aside(remark) for remark in answer.remarks)


# -- backward


def _backward(answer: Explanation) -> Iterator[doc.Node]:
    """The adjoint of each line and variable, from the output down."""
    x = answer.wrt[0]
    bar = next((adjoint.notation for adjoint in answer.adjoints if adjoint.name == x), None)
    if bar is not None:
        weighted = doc.Symbol(_WEIGHTED(Name(answer.output)))
        yield _remark("(", doc.Symbol(bar), f", the adjoint of {x}, is the derivative of ", weighted, f" by {x})")
    head, tail, more = _ends(answer.adjoints[1:], answer.adjoints_count - 1)
    notations = {adjoint.name: adjoint.notation for adjoint in answer.adjoints}
    for adjoint in head:
        yield from _adjoint(adjoint, answer.output, notations)
    if more:
        yield note(f"… and {more:,} more lines")
    for adjoint in tail:
        yield from _adjoint(adjoint, answer.output, notations)


def _adjoint(adjoint: Adjoint, y: str, notations: Mapping[str, Notation]) -> Iterator[doc.Node]:
    bar = adjoint.notation
    if not adjoint.terms:
        yield _chain(bar, adjoint.value)
        yield _aside(f"{y} does not depend on {adjoint.name}", indent="  ")
        return
    if adjoint.terms_count == 1:
        yield from _term(adjoint.terms[0], adjoint, notations, [bar])
        return
    yield doc.BoardLine(
        (doc.Symbol(bar), doc.Span(f" is a {adjoint.rule}, as {adjoint.name} is used {adjoint.terms_count:,} times:"))
    )
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


def _product(answer: Explanation) -> Iterator[doc.Node]:
    y = Name(answer.output)
    yield from _weighted_sums(answer)
    products = [
        doc.Product(name, PARTIAL(y, Name(name)), answer.v, _block(answer, name), answer.vjp[name])
        for name in answer.wrt
    ]
    yield doc.Products(tuple(products))
    drawn = [answer.inputs[product.variable] for product in products if product.jacobian is not None]
    if any(max(answer.value.ndim, array.ndim) > 1 for array in drawn):
        order = f"J has a row for each element of {answer.output} and a column for each element of the variable"
        yield _aside(f"{order}, in row-major order")


def _weighted_sums(answer: Explanation) -> Iterator[doc.Chain]:
    for name in answer.wrt:
        words = weighted_sum(answer, name)
        if words is not None:
            yield _chain(_VJP, words, answer.vjp[name])


def weighted_sum(answer: Explanation, name: str) -> Notation | None:
    """What a product is: the rows of J, each weighted by its element of v; None where they are not few."""
    if not 1 < answer.v.size <= SMALL:
        return None
    rows = [
        TIMES(_weight(answer.v[at]), PARTIAL(_subscripted(answer.output, at), Name(name)))
        for at in np.ndindex(*answer.v.shape)
    ]
    return joined(rows, PLUS)


def _weight(number: Any) -> Notation:
    shown = Number(digits(number))
    return BRACKETED(shown) if shown.text.startswith("-") else shown


def _subscripted(name: str, index: tuple[int, ...]) -> Notation:
    """An element of y with its index below, as textbooks have the rows of J."""
    plain = Element(name, index)
    return Form(plain.text, name + "".join(map(str, index)).translate(_SUBSCRIPTS), plain.latex)()


def _block(answer: Explanation, name: str) -> Array | None:
    found = (answer.jacobian or {}).get(name)
    rows, columns = answer.value.size, answer.vjp[name].size
    is_small = found is not None and 0 < rows <= SMALL and 0 < columns <= SMALL
    return found.reshape(rows, columns) if found is not None and is_small else None


def _in_one_go(answer: Explanation, loss: Loss) -> Iterator[doc.Node]:
    """The gradient of the composite beside vᵀJ."""
    yield from _titled(doc.Symbol(_OF_LOSS), ", by torch in one go")
    for name in answer.wrt:
        yield _chain(PARTIAL(_LOSS, Name(name)), loss.gradient[name])
    is_same = answer.loss_agrees
    yield doc.Note(
        line(doc.Span("the same as vᵀJ" if is_same else "not the same as vᵀJ", "good" if is_same else "bad"))
    )


def _verdict(check: Check) -> doc.Note:
    error = "" if check.max_relative_error is None else f", largest relative error {check.max_relative_error:.2g}"
    how = f", {chosen(check)}" if chosen(check) else ""
    rest = "".join([how + error, *(f"\n{words}" for words in check.notes)])
    return doc.Note(judgement("cross-check: ", standing(check), check.verdict, rest))


def _ends(items: Sequence[Any], count: int) -> tuple[Sequence[Any], Sequence[Any], int]:
    """The first and the last of many items, and how many there are between."""
    if count <= SHOWN and len(items) == count:
        return items, [], 0
    half = SHOWN // 2
    return items[:half], items[-half:], count - 2 * half
