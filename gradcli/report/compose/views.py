"""Numbers next to each other: the readings of a function, claims of its derivative, its backward graph."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradcli.report import document as doc
from gradcli.report.compose.closed_forms import code, note, standing
from gradcli.report.compose.writer import Writer, cut, tone
from gradcli.report.document import line, lines
from gradcli.report.numbers import digits
from gradcli.report.wording import claimed, clipped, counterexample, entry
from gradcli.results import BackwardGraph, Checking, Claim, Entry, GraphTensor

MOST_TENSORS, MAX_TENSORS = 8, 200
"""Most tensors of a graph, folded and unfolded."""

MOST_OPINIONS, MAX_OPINIONS = 6, 20
"""Most entries whose readings stand next to each other, folded and unfolded; JSON and plain have all."""

STATUS_TONES: Mapping[str, doc.Role] = {
    "proved": "good",
    "agrees": "good",
    "no counterexample": "open",
    "refuted": "bad",
}


def opinions(answer: Checking, write: Writer) -> Iterator[doc.Node]:
    """Tabulate the readings next to each other, the worst entries first, without empty columns."""
    shown = answer.opinions[: MAX_OPINIONS if write.is_full else MOST_OPINIONS]
    yield _known_columns([_opinion(one, answer, write) for one in shown])
    if write.is_full and (more := answer.opinions_count - len(shown)) > 0:
        yield note(f"and {more:,} more")


def _opinion(one: Entry, answer: Checking, write: Writer) -> dict[str, doc.Line]:
    torch, role = np.dtype(answer.dtype).type(one.torch), tone(one.verdict)
    found: dict[str, str | doc.Line] = {
        "entry": line(doc.Symbol(entry(one, answer.output))),
        "torch": write.cell(torch, role="strong" if one.verdict == "agree" else role),
        "formula": "" if one.formula is None else write.number(one.formula),
        "enclosure": write.enclosed(one),
        "difference": _difference(write.rounded(one)),
    }
    if write.is_full:
        found["relative error"] = "" if one.relative_error is None else f"{one.relative_error:.2g}"
        found["ulps"] = "" if one.ulps is None else f"{one.ulps:.2g}"
    found[""] = line(standing(one.verdict, proven=write.is_full and one.proven))
    return {header: cell if isinstance(cell, tuple) else line(cell) for header, cell in found.items()}


def claim_note(claim: Claim, answer: Checking, write: Writer) -> doc.Note:
    """Compose the outcome of a claim, and where it is wrong."""
    numbers = {**(claim.at or {}), **({} if claim.v is None else {"v": claim.v})}
    point = ", ".join(f"{name} = {write.listed(array)}" for name, array in numbers.items())
    short = write.rounded(claim)
    wrong = counterexample(claim if short.truth == short.claimed else short)
    behind = [f"at {point} {wrong}" if point and wrong else wrong, claim.mistake, claim.note]
    more = "; ".join(filter(None, behind))
    of = f" for {claim.variable}" if len(answer.wrt) > 1 else ""
    became = doc.Styled(claimed(claim), STATUS_TONES[claim.status])
    return doc.Note(line("claim ", code(claim.text), f"{of}: ", became, f": {more}" if more else ""))


def graph(answer: BackwardGraph, write: Writer) -> Iterator[doc.Node]:
    """Compose the tree, and the contents of each tensor."""
    if answer.drawing != "table":
        yield doc.Graph(answer.nodes, answer.edges)
    if answer.drawing != "tree":
        v = "" if answer.v is None or (answer.v.size == 1 and answer.v.flat[0] == 1) else write.listed(answer.v)
        passed = f" after {clipped(answer.output)}.backward({f'v) with v = {v}' if v else ')'}"
        yield note(f"the tensors{'' if answer.v is None else passed}")
        table = _known_columns([_tensor(tensor, write) for tensor in answer.tensors])
        rows = cut(table.rows, len(table.rows), MAX_TENSORS if write.is_full else MOST_TENSORS)
        yield doc.Table(table.headers, rows, is_folded=not write.is_full)
    if answer.drawing != "tree" or not answer.nodes:
        yield from map(note, answer.notes)


def _tensor(tensor: GraphTensor, write: Writer) -> dict[str, doc.Line]:
    why = "" if tensor.requires_grad or write.is_full else ", requires_grad=False"
    found = {
        "": line(clipped(tensor.name)),
        "data": write.marked(tensor.data, {}, "plain"),
        ".grad": (line("None") if tensor.grad is None else write.marked(tensor.grad, {})) + line(why),
        "grad_fn": line(str(tensor.grad_fn)),
        "is_leaf": line(str(tensor.is_leaf)),
    }
    if write.is_full:
        found["requires_grad"] = line(str(tensor.requires_grad))
        found["retains_grad"] = line("True" * tensor.retains_grad)
    return found


def _known_columns(rows: Sequence[Mapping[str, doc.Line]]) -> doc.Table:
    """Tabulate the columns in which any row has words."""
    headers = [header for header in rows[0] if any(row[header] for row in rows)] if rows else []
    cells = tuple(tuple(row[header] for header in headers) for row in rows)
    return doc.Table(lines(*headers), cells)


def _difference(opinion: Entry) -> str:
    """Write the quotient to the digit where its error begins, and the error."""
    if opinion.difference is None:
        return ""
    quotient, error = opinion.difference, opinion.difference_error or 0.0
    return f"{_to_digits_of(quotient, error)} ± {error:.1g}"


def _to_digits_of(quotient: float, error: float) -> str:
    """Write the digits of a number down to the first of its error.

    >>> _to_digits_of(3.14159, 2e-3)
    '3.142'
    """
    return digits(round(quotient, -math.floor(math.log10(error))) if 0 < error < math.inf else quotient)
