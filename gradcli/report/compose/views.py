"""Other views of a function: its readings next to each other, claims, its best form, its passes and backward graph.

In Graphviz's DOT only the quote is escaped in a quoted string; a label reads further escapes of its own, such as \\n
and \\l, so that a backslash is written twice.

Source: Graphviz, "DOT Language", https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradcli.notation import Named
from gradcli.option_words import Words, marked
from gradcli.report import document as doc, wording
from gradcli.report.compose.closed_forms import code, note, standing, standing_of
from gradcli.report.document import line, lines
from gradcli.report.numbers import Writer, cut, digits, elements, in_a_line, tone
from gradcli.results import BackwardGraph, Checking, Claim, Entry, GraphNode, GraphTensor, Improvement, Pass, Strip

MOST_TENSORS, MAX_TENSORS = 8, 200
"""Most tensors of a graph, folded and unfolded."""

MOST_OPINIONS, MAX_OPINIONS = 6, 20
"""Most entries whose readings stand next to each other, folded and unfolded; JSON and plain have all."""

STATUS_TONES: Mapping[str, doc.Role] = {"proved": "good", "agrees": "good", "refuted": "bad"}
"""Roles of the outcomes of claims; the others are open."""


def opinions(answer: Checking, write: Writer) -> Iterator[doc.Node]:
    """Tabulate the readings next to each other, the worst entries first, without empty columns."""
    shown = answer.opinions[: MAX_OPINIONS if write.is_full else MOST_OPINIONS]
    yield _known_columns([_opinion(one, answer, write) for one in shown])
    if (more := answer.opinions_count - len(shown)) > 0:
        yield note(f"and {more:,} more entries")


def _opinion(one: Entry, answer: Checking, write: Writer) -> dict[str, doc.Line]:
    torch, role = np.dtype(answer.dtype).type(one.torch), tone(one.verdict)
    found: dict[str, str | doc.Line] = {
        "entry": line(doc.Symbol(wording.entry(one, answer.output))),
        "torch": write.cell(torch, role="strong" if one.verdict == "agree" else role),
        "formula": "" if one.formula is None else write.number(one.formula),
        "enclosure": write.enclosed(one),
        "difference": _difference(write.rounded(one)),
    }
    if write.is_full:
        found["relative error"] = "" if one.relative_error is None else f"{one.relative_error:.2g}"
        found["ulps"] = "" if one.ulps is None else f"{one.ulps:.2g}"
    found[""] = line(standing(one.verdict, proven=write.is_full and one.proven, is_minor=one.is_minor))
    return {header: cell if isinstance(cell, tuple) else line(cell) for header, cell in found.items()}


def claim_note(claim: Claim, answer: Checking, write: Writer) -> doc.Note:
    """Compose the outcome of a claim, and where it is wrong."""
    numbers = {**(claim.at or {}), **({} if claim.v is None else {"v": claim.v})}
    point = ", ".join(f"{name} = {write.listed(array)}" for name, array in numbers.items())
    short = write.rounded(claim)
    wrong = wording.counterexample(claim if short.truth == short.claimed else short)
    behind = [f"at {point} {wrong}" if point and wrong else wrong, claim.mistake, claim.note]
    more = "; ".join(marked(words) for words in behind if words)
    of = f" for {claim.variable}" if len(answer.wrt) > 1 else ""
    became = doc.Styled(wording.claimed(claim), STATUS_TONES.get(claim.status, "open"))
    return doc.Note(line("claim ", code(claim.text), f"{of}: ", became, Words(f": {more}") if more else ""))


def graph(answer: BackwardGraph, write: Writer) -> Iterator[doc.Node]:
    """Compose the tree, and the contents of each tensor."""
    if answer.drawing != "table":
        yield doc.Graph(answer.nodes, answer.edges)
    if answer.drawing != "tree":
        v = "" if answer.v is None or (answer.v.size == 1 and answer.v.flat[0] == 1) else write.listed(answer.v)
        passed = f" after {wording.clipped(answer.output)}.backward({f'v) with v = {v}' if v else ')'}"
        yield note(f"the tensors{'' if answer.v is None else passed}")
        table = _known_columns([_tensor(tensor, write) for tensor in answer.tensors])
        rows = cut(table.rows, len(table.rows), MAX_TENSORS if write.is_full else MOST_TENSORS)
        yield doc.Table(table.headers, rows, is_folded=not write.is_full)
    if answer.drawing != "tree" or not answer.nodes:
        yield from map(note, answer.notes)


def _tensor(tensor: GraphTensor, write: Writer) -> dict[str, doc.Line]:
    why = "" if tensor.requires_grad or write.is_full else ", requires_grad=False"
    found = {
        "": line(wording.clipped(tensor.name)),
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


# -- the best form of a function

MOST_KEPT = 23 / 53
"""Largest share of its bits that a number may lose and still agree with the truth."""

UNKNOWN = "–"
"""Sign for an unknown number."""


def improvement(answer: Improvement, *, is_full: bool) -> Iterator[doc.Node]:
    """Compose the page from top to bottom.

    Args:
        answer: The object.
        is_full: Whether to give reasons.
    """
    yield doc.Note(line(code(wording.statement(answer))))
    if given := tuple(_given(answer)):
        yield doc.Abreast(given)
    if answer.strips:
        yield note(f"of {answer.bits} bits, value and derivatives lose at most")
    for strip in answer.strips:
        yield _table(strip, answer)
    yield from map(note, answer.notes)
    if answer.outcome == "better":
        yield doc.Note(line("better: ", code(answer.form)))
        for condition in answer.switches:
            yield doc.Note(line("one form serves where ", code(condition), ", another elsewhere"))
        yield from (note(f"why: {reason}") for reason in answer.reasons if is_full)
    yield _conclusion(answer)


def _given(answer: Improvement) -> Iterator[doc.Line]:
    for name, array in answer.inputs.items():
        yield line(doc.Symbol(Named(name)), " = ", doc.ArrayNumbers(array) if array.size > 1 else elements(array))
    for name, bounds in answer.ranges.items():
        yield line(doc.Symbol(Named(name)), f" = {bounds}")
    if words := wording.in_dtype(answer):
        yield line(words.strip())


def _table(strip: Strip, answer: Improvement) -> doc.Table:
    """Tabulate the lost bits, a column a magnitude."""
    places = [place if isinstance(place, str) else _short(place) for place in strip.places]
    rows: dict[str, Sequence[doc.Line]] = {"as typed": [_cell(bits, answer) for bits in strip.before]}
    if strip.after:
        rows["better"] = [_cell(bits, answer) for bits in strip.after]
    flat = (lines(what, *cells) for what, cells in rows.items())
    return doc.Table(lines(strip.variable, *places), tuple(flat), is_numeric=True)


def _short(place: float) -> str:
    """Write a magnitude as it is typed.

    >>> _short(-1e300), _short(2.2250738585072014e-308), _short(0.001), _short(1e6)
    ('-1e300', '2.23e-308', '0.001', '1e6')
    """
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{place:.3g}")


def _cell(bits: int | None, answer: Improvement) -> doc.Line:
    if bits is None:
        return line(doc.Styled(UNKNOWN, "aside"))
    role: doc.Role = "lost" if bits > MOST_KEPT * answer.bits else "plain"
    return line(doc.Styled(str(bits), role))


def _conclusion(answer: Improvement) -> doc.Note:
    before, bits = answer.before, answer.bits
    match answer.outcome:
        case "fine":
            lost = "" if before is None else f": at most {before.worst} of {bits} bits are lost"
            return doc.Note(line(doc.Styled("✓ nothing to mend", "good"), lost))
        case "none":
            return doc.Note(line(doc.Styled("✗ no better form found", "lost")))
    if answer.same == "proved":
        return doc.Note(line(doc.Styled("✓ the same function (proved)", "good"), f" {answer.domain}"))
    return doc.Note(line(doc.Styled("not proved", "open"), f" to be the same function: {answer.domain}"))


# -- a backward pass of a script in a line

MOST_NAMES = 4
"""Most names of leaves in the line, and of modules."""


def pass_line(one: Pass) -> doc.Note:
    """Compose the line of a pass: where, by which leaves, v, the norms of the gradient, the verdict, seconds."""
    parts: list[str | doc.Inline] = [f"pass {one.number}", *([one.where] if one.where else [])]
    if not one.is_judged:
        return _in_a_row([*parts, doc.Styled(f"not judged: {'; '.join(one.noticed)}", "bad")])
    if not one.answers:
        parts.append(doc.Styled(f"not answered: {getattr(one.refusal, 'message', one.refusal)}", "bad"))
    else:
        answer = one.answers[0]
        parts.append(f"by {_first([*dict.fromkeys(name for other in one.answers for name in other.wrt)])}")
        if (count := sum(other.wrt == answer.wrt for other in one.answers)) > 1:
            parts.append(f"{count} v at once")
        elif answer.v.ndim or answer.v != 1:
            parts.append(f"v = {in_a_line(answer.v)}")
        largest = sorted(one.norms, key=lambda name: -one.norms[name])
        by_module = f" ({_first([f'{name} {one.norms[name]:.3g}' for name in largest if name])})"
        parts.append(f"|grad| {one.norm:.4g}{by_module * (len(largest) > 1)}")
        if one.worst is not None:
            parts.append(standing_of(one.worst))
    parts.append(doc.Styled(f"{one.seconds:.2g} s", "aside"))
    parts += [f"\n         {told}" for told in one.nonfinite]
    return _in_a_row(parts)


def _in_a_row(parts: Sequence[str | doc.Inline]) -> doc.Note:
    first, *rest = parts
    return doc.Note(line(first, *(piece for part in rest for piece in ("   ", part))))


def _first(words: Sequence[str]) -> str:
    """Join the first of several, and count the others."""
    more = f" and {len(words) - MOST_NAMES} more" if len(words) > MOST_NAMES else ""
    return f"{', '.join(words[:MOST_NAMES])}{more}"


# -- backward graphs for Graphviz to draw: leaves as boxes, operations round, each with its numbers


def dot(graph: BackwardGraph) -> str:
    """Write the graph as a digraph of `dot`; an empty one where there is none.

    Raises:
        TooLargeError: More nodes than `MAX_NODES`.
    """
    wording.require_few_nodes(graph, "dot")
    return "".join(f"{line}\n" for line in _dot(graph))


def _dot(graph: BackwardGraph) -> Iterator[str]:
    yield "digraph backward {"
    yield "  node [shape=ellipse];"
    for node in graph.nodes:
        label = _label(node)
        shape = ", shape=box" if node.variable else ""
        yield f'  n{node.id} [label="{label}"{shape}];'
    for edge, number in wording.numbered(graph):
        label = f' [label="{number}"]' if number else ""
        yield f"  n{edge.source} -> n{edge.target}{label};"
    yield "}"


def _label(node: GraphNode) -> str:
    """Write the operation, its source text, its value with the adjoint, and the rule by which it hands that on."""
    return "\\n".join(map(_quoted, filter(None, (node.name, wording.node_text(node), _numbers(node), node.rule))))


def _numbers(node: GraphNode) -> str:
    """Write the value forward and the adjoint backward; a variable has no `.grad` before the backward pass."""
    if node.value is None:
        return ""
    value = in_a_line(node.value)
    adjoint = None if node.adjoint is None else in_a_line(node.adjoint)
    if node.variable:
        return f"value {value} | .grad None" + ("" if adjoint is None else f", then {adjoint}")
    return f"value {value}" + ("" if adjoint is None else f" | adjoint {adjoint}")


def _quoted(words: str) -> str:
    return words.replace("\\", "\\\\").replace('"', '\\"')
