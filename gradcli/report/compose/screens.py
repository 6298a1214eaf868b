"""Answers as compact screens: the function, the numbers asked for, the formula beside its verdict, and what is wrong.

All of it is seen at once.  A vector-Jacobian product is drawn as its definition: v as weights beside the rows of the
Jacobian that they weigh, the product below them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.notation import PARTIAL, Form, Name, joined, second
from gradcli.report import document as doc
from gradcli.report.compose import glance
from gradcli.report.compose.cross_check import MOST_FINDINGS, closed_form, cross_check, long_formulas, standing
from gradcli.report.compose.derivatives import points_columns
from gradcli.report.compose.extents import MOST_COLUMNS, MOST_ROWS, elements, in_dtype, is_small
from gradcli.report.compose.improve import improvement
from gradcli.report.compose.marks import MARKS, Index, Place, mark, of_array, of_product, tone
from gradcli.report.compose.marks import wrong as wrong_of
from gradcli.report.compose.parts import all_formulas, code, formula_notes, intermediates, note
from gradcli.report.compose.views import STATUS_TONES, difference
from gradcli.report.document import TONES, line, lines
from gradcli.report.numbers import LONG, ends, in_a_line, rounded
from gradcli.report.numbers import digits as all_digits
from gradcli.report.wording import (
    NO_VARIABLE,
    accumulating,
    claimed,
    conclusion,
    counterexample,
    diagonal,
    entry,
    sampled,
    statement,
)
from gradcli.results import (
    HVP,
    JVP,
    SEVERITY,
    VJP,
    Answer,
    Array,
    BackwardGraph,
    Checking,
    Claim,
    ClosedForm,
    Differentiation,
    Entry,
    Evaluation,
    Explanation,
    Formula,
    Gradient,
    Hessian,
    Improvement,
    Jacobian,
    Judged,
    Products,
    Result,
    Verdict,
)

MOST_BELOW = 2
"""Notes that stand below the answer; more of them stand above."""

MOST_OPINIONS = 6
"""Entries whose readings stand beside each other."""

BY_SEVERAL = Form("d%s/d(%s)", "∂%s/∂(%s)", r"\partial %s / \partial (%s)")


def of(answer: Result, digits: int | None) -> doc.Document | None:
    """The compact screen of an answer; None of what is shown as it is.

    Args:
        answer: The object.
        digits: Significant digits of its numbers; None for all.
    """
    if isinstance(answer, ClosedForm):
        return tuple(closed_form(answer))
    if isinstance(answer, Improvement):
        return tuple(improvement(answer, is_compact=True))
    if not isinstance(answer, Answer) or (isinstance(answer, BackwardGraph) and answer.drawing):
        return None
    return tuple(_Screen(digits).nodes(answer))


@dataclass(frozen=True, slots=True)
class _Screen:
    """What writes numbers with so many digits."""

    digits: int | None

    def nodes(self, answer: Answer) -> Iterator[doc.Node]:
        """From top to bottom."""
        yield doc.Note(line(code(statement(answer))))
        if isinstance(answer, BackwardGraph):
            yield from glance.graph(answer, self._listed)
        elif isinstance(answer, Explanation):
            yield from self._explanation(answer)
            return
        elif (equation := self._equation(answer)) is not None:
            yield equation
        else:
            yield doc.Abreast(tuple(self._given(answer)))
            notes = list(self._notes(answer))
            # The answer and the verdict are read first where a screen ends.
            is_below = len(notes) <= MOST_BELOW or isinstance(answer, Checking)
            yield from () if is_below else notes
            if isinstance(answer, Judged):
                yield from long_formulas(answer)
            yield from self._numbers(answer)
            if isinstance(answer, Differentiation):
                yield from intermediates(answer.answers if isinstance(answer, Products) else [answer])
            if not answer.wrt and not isinstance(answer, Checking | Evaluation):
                yield note(NO_VARIABLE)
            if isinstance(answer, Judged):
                yield cross_check(answer)
            yield from formula_notes(all_formulas(answer))
            yield from notes if is_below else ()
            return
        yield from formula_notes(all_formulas(answer))
        yield from self._notes(answer)

    def _notes(self, answer: Answer) -> Iterator[doc.Node]:
        """What there is to say of what does not agree, and of the answer itself."""
        if isinstance(answer, Judged):
            yield from self._findings(answer)
        yield from map(note, answer.remarks)
        if isinstance(answer, Differentiation) and not is_small(answer) and (words := diagonal(answer)):
            yield note(words)
        if isinstance(answer, Products) and answer.answers[0].accumulated:
            yield note(accumulating(answer))
        if isinstance(answer, Checking):
            yield doc.Note(line(doc.Span(conclusion(answer), "good" if answer.passed else "bad")))

    # -- numbers

    def _number(self, number: Any) -> str:
        return all_digits(number if self.digits is None else rounded(number, self.digits))

    def _listed(self, array: Array) -> str:
        """An array as it can be typed; of a long one, its ends."""
        return in_a_line(array, self._number)

    def _cell(self, number: Any, found: Entry | None = None, role: doc.Role = "strong") -> doc.Line:
        """A number; one that is not the truth stands out, with the truth beside it."""
        if found is None:
            return line(doc.Span(self._number(number), role))
        return line(doc.Span(self._beside(number, found), tone(found.verdict)))

    def _element(self, number: Any, found: Entry | None, role: doc.Role = "strong") -> doc.Line:
        """A number of a matrix, whose zeros are faint."""
        return self._cell(number, found, role if number or found else "aside")

    def _beside(self, number: Any, found: Entry) -> str:
        """A number that is not the truth, and the truth, with as many digits as it takes to tell them apart."""
        shown = self._number(number)
        if found.one_sided is not None:
            return f"{shown} {MARKS['kink']} {self._enclosed(found)}"
        if found.reference is None or found.verdict == "unchecked":
            return f"{shown} {mark(found.verdict)} {found.verdict}"
        if shown == (truth := self._number(found.reference)):
            shown, truth = all_digits(number), all_digits(found.reference)
        return f"{shown} ✗ truth {truth}"

    # -- what is given

    def _given(self, answer: Answer) -> Iterator[doc.Line]:
        arrays: dict[str, Array] = {**answer.inputs, answer.output: answer.value}
        match answer:
            case VJP(v=v) | Explanation(v=v) | Checking(v=v) if v is not None:
                arrays["v"] = v
            case JVP(u=u) | HVP(u=u):
                is_one = len(answer.inputs) == 1 and "u" not in answer.inputs
                arrays |= {"u" if is_one else f"u_{name}": array for name, array in u.items()}
        for name, array in arrays.items():
            shape = "" if array.size <= LONG else f" {array.shape}"
            yield line(f"{name}{shape} = {self._listed(array)}")
        first = answer.answers[0] if isinstance(answer, Products) else answer
        if isinstance(first, VJP | Explanation) and first.loss is not None:
            yield line(
                "loss = ",
                code(first.loss.expression),
                f" = {self._number(first.loss.value[()])}, and v = ∂loss/∂{answer.output}",
            )
        if words := in_dtype(answer):
            yield line(words.strip())

    # -- one number by another

    def _equation(self, answer: Answer) -> doc.Note | None:
        """What it is, its formula, its value and the verdict, in a line; None of more than one number."""
        if len(answer.inputs) != 1 or answer.points is not None or not isinstance(answer, Judged):
            return None
        (name,) = answer.inputs
        if answer.inputs[name].ndim or answer.value.ndim or answer.wrt != (name,):
            return None
        if isinstance(answer, Differentiation) and answer.intermediates:
            return None
        x, y = Name(name), Name(answer.output)
        formula: Formula | None
        place: Place = ("", None, name, (), ())
        match answer:
            case Hessian():
                label, number, place = second(y, x, x), answer.hessian[name][name], ("hessian", name, name, (), ())
                formula = answer.symbolic.get(name, {}).get(name)
            case Gradient():
                label, number, formula = PARTIAL(y, x), answer.grad[name], answer.symbolic.get(name)
            case VJP() if answer.v == 1 and answer.loss is None:
                label, number, formula = PARTIAL(y, x), answer.vjp[name], answer.symbolic.get(name)
                place = ("", None, name, None, ())
            case Jacobian() if answer.jacobian is not None:
                label, number, formula = PARTIAL(y, x), answer.jacobian[name], answer.symbolic.get(name)
            case _:
                return None
        parts: list[str | doc.Inline] = [doc.Symbol(label)]
        if formula is not None and formula.text != self._number(number[()]):
            parts += [" = ", doc.Expression(formula.brief[0].expression)]
        parts += [" = ", *self._cell(number[()], wrong_of(answer).get(place))]
        parts.append(f" at {name} = {self._number(answer.inputs[name][()])}{in_dtype(answer)}")
        if answer.check is not None:
            is_proved = answer.check.verdict == "agree" and answer.check.proven
            proved = doc.Span(f"{mark('agree')} proven", TONES["agree"])  # in a line there is no room for both words
            parts += ["   ", proved if is_proved else standing(answer.check.verdict, proven=answer.check.proven)]
        return doc.Note(line(*parts))

    # -- the numbers asked for

    def _numbers(self, answer: Answer) -> Iterator[doc.Node]:
        match answer:
            case Answer(wrt=()) if not isinstance(answer, Checking):
                return
            case Answer(points=int()):
                yield self._points(answer)
            case Checking():
                if answer.sampling is not None:
                    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in answer.sampling.verdicts.items())
                    yield note(f"{sampled(answer.sampling)}: {verdicts}; the worst:")
                if answer.opinions:
                    yield self._opinions(answer)
                yield from map(self._claim, answer.claims)
            case Products():
                yield self._products(answer)
            case VJP() | Jacobian() if is_small(answer):
                yield self._matrix(answer)
            case VJP():
                yield self._vjp(answer, wrong_of(answer))
            case Gradient():
                yield self._row("gradient", answer.grad, wrong_of(answer), answer.output)
            case JVP():
                yield self._row("Ju", {answer.output: answer.jvp}, wrong_of(answer))
            case HVP():
                yield self._row("Hu", answer.hvp, wrong_of(answer))
            case Hessian():
                yield self._hessian(answer)
            case Jacobian(jacobian=blocks) if blocks is not None:
                labels = {name: PARTIAL(Name(answer.output), Name(name)).pretty for name in answer.wrt}
                doubts = {labels[name]: of_array(wrong_of(answer), "", None, name) for name in answer.wrt}
                yield self._arrays({labels[name]: blocks[name] for name in answer.wrt}, doubts)

    def _matrix(self, answer: VJP | Jacobian) -> doc.Table:
        """The Jacobian; for a product with v beside its rows, and the product below them."""
        blocks, wrong = answer.jacobian or {}, wrong_of(answer)
        rows = elements(answer.output, answer.value.shape)
        columns = [label for name in answer.wrt for label in elements(name, answer.inputs[name].shape)]
        places = [(name, j) for name in answer.wrt for j in np.ndindex(answer.inputs[name].shape)]
        role: doc.Role = "plain" if isinstance(answer, VJP) else "strong"  # the answer is bold, its parts are not
        cells = [
            [self._element(blocks[name][i + j], wrong.get(("", None, name, i, j)), role) for name, j in places]
            for i in np.ndindex(answer.value.shape)
        ]
        head = (PARTIAL if len(answer.wrt) == 1 else BY_SEVERAL)(
            Name(answer.output), joined(list(map(Name, answer.wrt)))
        )
        if not isinstance(answer, VJP):
            body = (lines(label, *row) for label, row in zip(rows, cells, strict=True))
            return doc.Table(lines(doc.Symbol(head), *columns), tuple(body), is_numeric=True, is_pointed=True)
        product = [self._product(answer, name, j, wrong) for name, j in places]
        weights = [f"{self._number(weight)} ×" for weight in answer.v.flat]
        body = (lines(weight, label, *row) for weight, label, row in zip(weights, rows, cells, strict=True))
        what = f"vᵀJ = {answer.wrt[0]}.grad" if len(answer.wrt) == 1 else "vᵀJ = .grad"
        footer = lines("", doc.Span(what, "strong"), *product)
        return doc.Table(
            lines("v", doc.Symbol(head), *columns),
            tuple(body),
            is_numeric=True,
            is_pointed=True,
            labels=2,
            footer=footer,
            instead=self._vjp(answer, wrong),
        )

    def _vjp(self, answer: VJP, wrong: Mapping[Place, Entry]) -> doc.Table:
        """The product alone, a row a variable."""
        labels = {name: f"vᵀJ = {name}.grad" for name in answer.wrt}
        doubts = {label: of_product(wrong, name, answer.v) for name, label in labels.items()}
        return self._arrays({label: answer.vjp[name] for name, label in labels.items()}, doubts)

    def _product(self, answer: VJP, name: str, column: Index, wrong: Mapping[Place, Entry]) -> doc.Line:
        """An element of the product, which is as little to be trusted as what v weighs for it."""
        number, found = answer.vjp[name][column], wrong.get(("", None, name, None, column))
        worst = of_product(wrong, name, answer.v).get(column)
        if found is not None or worst is None:
            return self._cell(number, found)
        return line(doc.Span(f"{self._number(number)} {mark(worst)}", tone(worst)))

    def _row(self, what: str, arrays: Mapping[str, Array], wrong: Mapping[Place, Entry], y: str = "") -> doc.Table:
        """A quantity by its elements, in columns where they are few."""
        of, cells, columns = {"Ju": "jvp", "Hu": "hvp"}.get(what, ""), [], []
        if sum(array.size for array in arrays.values()) > MOST_COLUMNS:
            labels = {name: f"∂{y}/∂{name}" if y else f"{what} {name}" for name in arrays}
            doubts = {labels[name]: of_array(wrong, of, None, None if of == "jvp" else name) for name in arrays}
            return self._arrays({labels[name]: array for name, array in arrays.items()}, doubts)
        for name, array in arrays.items():
            columns += elements(name, array.shape)
            for at in np.ndindex(array.shape):
                place: Place = (of, None, None, at, None) if of == "jvp" else (of, None, name, None if of else (), at)
                cells.append(self._cell(array[at], wrong.get(place)))
        return doc.Table(lines("", *columns), (lines(what, *cells),), is_numeric=True, is_pointed=True)

    def _hessian(self, answer: Hessian) -> doc.Table:
        """All blocks as one matrix; of a larger one, the blocks."""
        y, wrong, shapes = Name(answer.output), wrong_of(answer), {name: answer.grad[name].shape for name in answer.wrt}
        places = [(name, i) for name, shape in shapes.items() for i in np.ndindex(shape)]
        if len(places) > MOST_ROWS:
            pairs = [(a, b) for a in answer.wrt for b in answer.wrt]
            blocks = {second(y, Name(a), Name(b)).pretty: answer.hessian[a][b] for a, b in pairs}
            found = (of_array(wrong, "hessian", a, b) for a, b in pairs)
            return self._arrays(blocks, dict(zip(blocks, found, strict=True)))
        labels = [label for name, shape in shapes.items() for label in elements(name, shape)]
        rows = [
            lines(
                label,
                *(self._element(answer.hessian[a][b][i + j], wrong.get(("hessian", a, b, i, j))) for b, j in places),
            )
            for label, (a, i) in zip(labels, places, strict=True)
        ]
        by = joined(list(map(Name, answer.wrt)))
        head = second(y, by, by) if len(answer.wrt) == 1 else Name("Hessian")
        return doc.Table(lines(doc.Symbol(head), *labels), tuple(rows), is_numeric=True, is_pointed=True)

    def _arrays(self, arrays: Mapping[str, Array], doubts: Mapping[str, Mapping[Index, Verdict]]) -> doc.Table:
        rows = (
            lines(name, str(array.shape), self._marked(array, doubts.get(name, {}))) for name, array in arrays.items()
        )
        return doc.Table(lines("", "shape", ""), tuple(rows))

    def _marked(self, array: Array, doubts: Mapping[Index, Verdict]) -> doc.Line:
        """An array as it is listed, in which elements stand out that are not to be trusted, or how many do."""
        shown = set(np.ndindex(array.shape)) if array.size <= LONG else set()
        parts = list(self._parts(array, doubts)) if shown and doubts else [doc.Span(self._listed(array), "strong")]
        hidden = [verdict for place, verdict in doubts.items() if place not in shown]
        if hidden:
            worst = max(hidden, key=SEVERITY.index)
            parts.append(doc.Span(f" {mark(worst)} {len(hidden)} {worst}", tone(worst)))
        return line(*parts)

    def _parts(self, array: Array, doubts: Mapping[Index, Verdict], at: Index = ()) -> Iterator[doc.Span]:
        if array.ndim == 0:
            shown, verdict = self._number(array[()]), doubts.get(at)
            yield doc.Span(shown, "strong") if verdict is None else doc.Span(f"{shown} {mark(verdict)}", tone(verdict))
            return
        for n, inner in enumerate(array):
            yield doc.Span(", " if n else "[", "strong")
            yield from self._parts(inner, doubts, (*at, n))
        yield doc.Span("]", "strong")

    def _products(self, answer: Products) -> doc.Table:
        """A row a v; a column a variable, and one for what its `.grad` holds."""
        accumulates = answer.answers[0].accumulated is not None
        headers = ["v", *(f"vᵀJ {name}" for name in answer.wrt)]
        headers += [f"{name}.grad after" for name in answer.wrt] * accumulates
        rows = []
        for one in answer.answers:
            wrong = wrong_of(one)
            cells = [self._marked(one.vjp[name], of_product(wrong, name, one.v)) for name in answer.wrt]
            if (held := one.accumulated) is not None:
                found = {name: of_array(wrong, "accumulated", None, name) for name in answer.wrt}
                cells += [self._marked(held[name], found[name]) for name in answer.wrt]
            rows.append(lines(self._listed(one.v), *cells))
        return doc.Table(lines(*headers), tuple(rows))

    def _opinions(self, answer: Checking) -> doc.Table:
        """The readings beside each other, the worst entries first."""
        shown = answer.opinions[:MOST_OPINIONS]
        rows = [
            {
                "entry": line(doc.Symbol(entry(one, answer.output))),
                "torch": self._cell(
                    np.dtype(answer.dtype).type(one.torch),
                    role="strong" if one.verdict == "agree" else tone(one.verdict),
                ),
                "formula": () if one.formula is None else line(self._number(one.formula)),
                "enclosure": line(self._enclosed(one)),
                "difference": difference(one if self.digits is None else rounded(one, self.digits)),
                "": line(standing(one.verdict)),
            }
            for one in shown
        ]
        headers = [header for header in rows[0] if any(row[header] for row in rows)]
        return doc.Table(
            lines(*headers),
            tuple(tuple(row[header] for header in headers) for row in rows),
            heads=(0, len(headers) - 1),
        )

    def _enclosed(self, one: Entry) -> str:
        if one.one_sided is not None:
            left, right = map(self._number, one.one_sided)
            return f"left {left}, right {right}"
        return "none" if one.reference is None else self._number(one.reference)

    def _claim(self, claim: Claim) -> doc.Note:
        """What became of it, and where it is wrong."""
        role = STATUS_TONES[claim.status]
        point = ", ".join(f"{name} = {self._listed(array)}" for name, array in (claim.at or {}).items())
        short = claim if self.digits is None else rounded(claim, self.digits)
        wrong = counterexample(claim if short.truth == short.claimed else short)
        behind = [f"at {point} {wrong}" if point and wrong else wrong, claim.mistake, claim.note]
        more = "; ".join(filter(None, behind))
        words = ("claim ", code(claim.text), ": ", doc.Span(claimed(claim), role), f": {more}" if more else "")
        return doc.Note(line(*words))

    def _points(self, answer: Answer) -> doc.Table:
        """A row for each point, or for those at the ends."""
        columns = points_columns(answer, answer.points or 0)
        asked = len(answer.points_of) + 1
        rows = (
            lines(
                str(n),
                *(
                    doc.Span(self._listed(array[n]), "strong" if k >= asked else "plain")
                    for k, array in enumerate(columns.values())
                ),
            )
            if n >= 0
            else None
            for n in ends(answer.points or 0)
        )
        return doc.Table(lines("point", *columns), tuple(rows), heads=(0,))

    # -- the chain rule

    def _explanation(self, answer: Explanation) -> Iterator[doc.Node]:
        """Of many lines, what they make and the verdict are seen last."""
        wrong = wrong_of(answer)
        yield doc.Abreast(tuple(self._given(answer)))
        yield from long_formulas(answer)
        yield from glance.chain_rule(answer, self._listed)
        yield from formula_notes(all_formulas(answer))
        yield from self._findings(answer)
        yield from map(note, answer.remarks)
        if not answer.wrt:
            yield note(NO_VARIABLE)
        shown = answer if self.digits is None else rounded(answer, self.digits)
        for name in answer.wrt:
            product = self._marked(answer.vjp[name], of_product(wrong, name, answer.v))
            yield doc.Note(glance.product(shown, name, product))
        yield cross_check(answer)

    # -- what does not agree

    def _findings(self, answer: Judged) -> Iterator[doc.Node]:
        check = answer.check
        if check is None:
            return
        for found in check.findings[:MOST_FINDINGS]:
            parts: list[str | doc.Inline] = [doc.Symbol(entry(found, answer.output))]
            if found.point is not None:
                parts.append(f" at point {found.point}")
            parts += [" ", doc.Span(found.verdict, TONES[found.verdict])]
            if found.torch is not None:
                beside = self._beside(found.torch, found).removesuffix(f" {mark(found.verdict)} {found.verdict}")
                parts.append(f": torch {beside}")
            yield doc.Note(line(*parts, f": {found.note}" if found.note else ""))
        more = check.findings_count - min(len(check.findings), MOST_FINDINGS)
        if more > 0:
            yield note(f"and {more:,} more; --full shows them")
        if check.rewrite is not None:
            yield doc.Note(line("better: ", code(check.rewrite.expression), "   ", standing(check.rewrite.verdict)))
        yield from map(note, check.notes)
