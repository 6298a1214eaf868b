"""Answers that look at a function otherwise: check, graph, and the functions of the language.

A check is the opinions side by side, why some differ, claims, random points, the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from gradcli.notation import Form, Name
from gradcli.report import document as doc
from gradcli.report.compose.parts import (
    GRADIENT,
    PRODUCT,
    Row,
    closed_form,
    code,
    coverage,
    definitions,
    formulas,
    heading,
    judgement,
    label,
    lying,
    named,
    note,
    number,
    quantities,
    quantity,
    safe_form,
    sides,
    symbol,
    title,
)
from gradcli.report.document import TONES, line, lines
from gradcli.report.numbers import digits, elements
from gradcli.report.wording import (
    RATIO,
    claimed,
    clipped,
    conclusion,
    counterexample,
    entry,
    facts,
    judged,
    readings,
    sampled,
    statement,
)
from gradcli.results import (
    VJP,
    BackwardGraph,
    Checking,
    Claim,
    Entry,
    FunctionPage,
    Functions,
    Gradient,
    GraphTensor,
    Listing,
    Sampling,
)

SHOWN = 20
"""Opinions that are shown; JSON and plain have all."""

MAX_ROWS = 200
"""Rows of the table of tensors."""

MOST_NAMED = 3
"""Entries that are named beside a reason that they share."""

STATUS_TONES: Mapping[str, doc.Role] = {
    "proved": "good",
    "agrees": "good",
    "no counterexample": "open",
    "refuted": "bad",
}

_PRODUCT = Form("vTJ %s", "vᵀJ %s", "v^{T} J_{%s}")


def check(answer: Checking) -> Iterator[doc.Node]:
    """Opinions, claims, random points, formulas and the verdict, from top to bottom."""
    yield from heading(answer)
    if answer.sampling is not None:
        yield note("the worst of the random points")
    if answer.opinions:
        yield from _opinions(answer)
    for claim in answer.claims:
        yield from _claim(claim, answer.output)
    if answer.sampling is not None:
        yield from _sampling(answer.sampling)
    if answer.wrt:
        yield from closed_form(answer)
    if answer.check is not None:
        yield from coverage(answer.check, readings(answer))
        yield from safe_form(answer.check.rewrite)
    yield doc.Note(line(doc.Span(conclusion(answer), "good" if answer.passed else "bad")))


# -- opinions


def _opinions(answer: Checking) -> Iterator[doc.Node]:
    shown = answer.opinions[:SHOWN]
    more = answer.opinions_count - len(shown)
    yield title("the opinions, worst first" + (f": {len(shown)}, and {more:,} more" if more else ""))
    rows = [_cells(opinion, answer) for opinion in shown]
    headers = [header for header in rows[0] if any(row[header] for row in rows)]
    cells = tuple(tuple(row[header] for header in headers) for row in rows)
    yield doc.Table(lines(*headers), cells, heads=(0, len(headers) - 1))
    yield from _reasons(answer.opinions, answer.output)


def _cells(opinion: Entry, answer: Checking) -> dict[str, doc.Line]:
    """A cell for each reading, empty where it says nothing; the verdict comes last."""
    error, ulps = opinion.relative_error, opinion.ulps
    return {
        "entry": label(opinion, answer.output),
        "torch": line(number(digits(np.dtype(answer.dtype).type(opinion.torch)))),
        "formula": () if opinion.formula is None else line(number(digits(opinion.formula))),
        "enclosure": _enclosure(opinion),
        "finite difference": difference(opinion),
        "relative error": () if error is None else line(number(f"{error:.2g}")),
        "ulps": () if ulps is None else line(number(f"{ulps:.2g}")),
        "verdict": line(doc.Span(judged(opinion.verdict, proven=opinion.proven), TONES[opinion.verdict])),
    }


def _enclosure(opinion: Entry) -> doc.Line:
    """The digits that are proven: those of a float, or the middle and the radius where they are fewer."""
    if opinion.one_sided is not None:
        return sides(opinion.one_sided)
    if opinion.reference is None:
        return line("none")
    radius = opinion.radius or 0.0
    is_wide = radius > math.ulp(opinion.reference)
    middle = number(digits(opinion.reference))
    return line(middle, " ± ", number(f"{radius:.2g}")) if is_wide else line(middle)


def difference(opinion: Entry) -> doc.Line:
    """The quotient to the digit where its error begins, and the error."""
    if opinion.difference is None:
        return ()
    quotient, error = opinion.difference, opinion.difference_error or 0.0
    return line(number(_to_digits_of(quotient, error)), " ± ", number(f"{error:.1g}"))


def _to_digits_of(quotient: float, error: float) -> str:
    """The digits of a number down to the first of its error.

    >>> _to_digits_of(3.14159, 2e-3)
    '3.142'
    """
    return digits(round(quotient, -math.floor(math.log10(error))) if 0 < error < math.inf else quotient)


def _reasons(opinions: Sequence[Entry], y: str) -> Iterator[doc.Note]:
    """Why entries do not agree: each reason once, behind its entries."""
    found: dict[str, list[Entry]] = {}
    for opinion in opinions:
        if opinion.verdict != "agree" and opinion.note:
            found.setdefault(opinion.note, []).append(opinion)
    for reason, alike in found.items():
        named: list[str | doc.Symbol] = []
        for one in alike[:MOST_NAMED]:
            named += [", ", doc.Symbol(entry(one, y))]
        more = f" and {len(alike) - MOST_NAMED:,} more" if len(alike) > MOST_NAMED else ""
        yield doc.Note(line(*named[1:], f"{more}: {reason}"))


# -- claims and random points


def _claim(claim: Claim, y: str) -> Iterator[doc.Node]:
    is_product = claim.of == "vector-Jacobian product"
    what = _PRODUCT(Name(claim.variable)) if is_product else RATIO(Name(y), Name(claim.variable))
    yield title("the claim ", doc.Symbol(what), " = ", code(claim.text), f", as a {claim.of}")
    yield doc.Note(line(doc.Span(claimed(claim), STATUS_TONES[claim.status])))
    if claim.at:
        numbers = {**claim.at, **({} if claim.v is None else {"v": claim.v})}
        point = [part for name, array in numbers.items() for part in (", ", symbol(name), " = ", doc.Numbers(array))]
        yield doc.Note(line("a counterexample is ", *point[1:]))
    yield from (note(words) for words in (counterexample(claim), claim.mistake, claim.note) if words)


def _sampling(sampling: Sampling) -> Iterator[doc.Node]:
    yield title(sampled(sampling))
    rows = (lines(doc.Span(verdict, TONES[verdict]), f"{count:,}") for verdict, count in sampling.verdicts.items())
    yield doc.Table(lines("verdict", "points"), tuple(rows), is_numeric=True)


# -- the backward graph, and the tensors as torch holds them


def graph(answer: BackwardGraph) -> Iterator[doc.Node]:
    """The function, its graph, its tensors, and remarks."""
    yield title(code(statement(answer)))
    if answer.drawing != "table":
        yield title("the backward graph")
        yield doc.Graph(answer.nodes, answer.edges)
    if answer.drawing != "tree":
        yield title(occasion(answer))
        yield _tensors(answer.tensors)
    for words in answer.notes if answer.drawing != "tree" or not answer.nodes else ():
        yield note(words)


def occasion(answer: BackwardGraph) -> str:
    """When the tensors are looked at."""
    if answer.v is None:
        return "the tensors"
    v = "" if answer.v.size == 1 and answer.v.flat[0] == 1 else elements(answer.v).replace("\n", "; ")
    return f"the tensors after {clipped(answer.output)}.backward({'v) with v = ' + v if v else ')'}"


def _tensors(tensors: Sequence[GraphTensor]) -> doc.Table:
    """A row each; of very many, the first and the last."""
    has_shapes = any(tensor.data.ndim for tensor in tensors)
    is_retained = any(tensor.retains_grad for tensor in tensors)
    headers = ["", *["shape"] * has_shapes, "data", "requires_grad", "grad", "grad_fn", "is_leaf"]
    headers += ["retains_grad"] * is_retained
    left_out = max(0, len(tensors) - MAX_ROWS)
    shown = [*tensors[: MAX_ROWS - 1], tensors[-1]] if left_out else tensors
    rows = [_row(tensor, has_shapes=has_shapes, is_retained=is_retained) for tensor in shown]
    if left_out:
        rows.insert(-1, lines("…", f"{left_out:,} more", *[()] * (len(headers) - 2)))
    return doc.Table(lines(*headers), tuple(rows), heads=(0,))


def _row(tensor: GraphTensor, *, has_shapes: bool, is_retained: bool) -> tuple[doc.Line, ...]:
    return lines(
        clipped(tensor.name),
        *[str(tensor.data.shape)] * has_shapes,
        doc.Numbers(tensor.data),
        str(tensor.requires_grad),
        "None" if tensor.grad is None else doc.Numbers(tensor.grad),
        str(tensor.grad_fn),
        str(tensor.is_leaf),
        *[str(tensor.retains_grad)] * is_retained,
    )


# -- the functions of the language


def functions(answer: Functions) -> Iterator[doc.Node]:
    """Lists and pages, in the order asked for."""
    for n, part in enumerate(answer.parts):
        if n:
            yield doc.Gap()
        match part:
            case FunctionPage():
                yield from _page(part)
            case Listing(is_brief=True):
                rows = tuple((group, line(doc.Names(tuple(names)))) for group, names in part.groups)
                yield doc.Facts(rows, ("group", "functions"))
            case _:
                yield from _listing(part)


def _listing(listing: Listing) -> Iterator[doc.Node]:
    if listing.word:
        yield title(f"functions with '{listing.word}' in their name, group or description")
    groups = groupby(listing.entries, key=lambda entry: entry.group)
    yield doc.Glossary(
        ("function", "other names", "what it computes"),
        tuple((group, tuple(doc.Entry(row.usage, row.aliases, row.doc) for row in rows)) for group, rows in groups),
    )


def _page(page: FunctionPage) -> Iterator[doc.Node]:
    yield title(code(page.entry.usage))
    yield doc.Facts(tuple((label, line(words)) for label, words in facts(page) if words))
    answer = page.derivative
    yield title(f"the derivative of {answer.output} = {answer.expression}")
    yield formulas(answer, may_be_matrix=False)
    yield from definitions(answer.symbolic.values())
    if page.derivative_note:
        yield note(page.derivative_note)
    yield title("an example")
    yield doc.Note(line(code(page.example_command)))
    yield from _example(page.example)


def _example(answer: VJP | Gradient) -> Iterator[doc.Node]:
    y = answer.output
    rows = [*named(answer.inputs), *named({y: answer.value}), *_quantities(answer)]
    yield quantities(answer.dtype, rows, lead=f"in {answer.dtype}")
    check = answer.check
    if check is not None:
        covered = f", {check.checked:,} of {check.entries:,} entries checked"
        yield doc.Note(judgement("verdict: ", check.verdict, check.verdict, covered))
        yield from (note(finding.note) for finding in check.findings)


def _quantities(answer: VJP | Gradient) -> Iterator[Row]:
    y = Name(answer.output)
    if isinstance(answer, Gradient):
        for name, array in answer.grad.items():
            yield quantity(f"gradient for {name}", GRADIENT(Name(name), y), array)
        return
    yield quantity("v", Name("v"), answer.v)
    for name, array in answer.vjp.items():
        product = doc.Equation(PRODUCT(y, Name(name)), doc.Numbers(lying(array)))
        yield lines(f"vᵀJ for {name}", str(array.shape), product)
