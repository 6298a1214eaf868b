"""Answers of a function at a point or at many: the function, its numbers, the formulas and the verdict, what is wrong.

Folded, all of it is seen at once: a scalar derivative in a line, arrays as they can be typed, a few entries.  Unfolded,
arrays are tables, and nothing is left out but the middle of what is long.  A vector-Jacobian product is drawn as its
definition: v as weights beside the rows of the Jacobian that they weigh, the product below them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradcli import results
from gradcli.notation import HU, JU, PARTIAL, Element, Form, Name, Notation, joined, second
from gradcli.report import document as doc, wording
from gradcli.report.compose.chain_rule import chain_rule, product
from gradcli.report.compose.closed_forms import (
    GRADIENT,
    LOSS,
    MOST_FINDINGS,
    code,
    cross_check,
    formula_notes,
    long_formulas,
    loss_of,
    note,
    standing,
)
from gradcli.report.compose.marks import Index, Place, mark, of_array, of_product, tone, wrong as wrong_of
from gradcli.report.compose.views import claim_note, graph, opinions
from gradcli.report.compose.writer import Doubts, Writer
from gradcli.report.document import TONES, line, lines
from gradcli.report.numbers import LONG, ends

MOST_ROWS, MOST_COLUMNS = 8, 12
"""Of a matrix that is shown whole; of a larger one, the products are, or the ends of its rows."""

MOST_BELOW = 2
"""Notes that stand below the answer; more of them stand above."""

BY_SEVERAL = Form("d%s/d(%s)", "∂%s/∂(%s)", r"\partial %s / \partial (%s)")
PRODUCT = Form("vT d%s/d%s", "vᵀ ∂%s/∂%s", r"v^{T} \frac{\partial %s}{\partial %s}")
IN_GRAD = Form("vTJ = %s.grad", "vᵀJ = %s.grad", "(v^{T} J)_{%s}")


def is_small(answer: results.Differentiation) -> bool:
    """Whether all of the Jacobian is shown."""
    columns = sum(answer.inputs[name].size for name in answer.wrt)
    return answer.jacobian is not None and 0 < answer.value.size <= MOST_ROWS and 0 < columns <= MOST_COLUMNS


def elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """What the elements of an array are called."""
    return [Element(name, place).pretty for place in np.ndindex(shape)]


@dataclass(frozen=True, slots=True)
class Composer(Writer):
    """What composes answers."""

    def nodes(self, answer: results.Answer) -> Iterator[doc.Node]:
        """From top to bottom."""
        yield doc.Note(line(code(wording.statement(answer))))
        if isinstance(answer, results.BackwardGraph):
            yield from graph(answer, self)
            yield from map(note, answer.remarks)
            return
        notes = list(self._notes(answer))
        if not self.is_full and (equation := self._equation(answer)) is not None:
            yield equation
            yield from formula_notes(answer)
            yield from notes
            return
        yield from self._given(answer)
        # The answer and the verdict are read first where a screen ends.
        is_below = self.is_full or isinstance(answer, results.Checking)
        is_below |= len(notes) <= MOST_BELOW and not isinstance(answer, results.Explanation)
        yield from () if is_below else notes
        if isinstance(answer, results.Judged) and answer.wrt:
            yield from long_formulas(answer, is_full=self.is_full)
        yield from self._numbers(answer)
        if isinstance(answer, results.Differentiation):
            yield from self._intermediates(answer.answers if isinstance(answer, results.Products) else [answer])
        if not answer.wrt and not isinstance(answer, results.Checking | results.Evaluation):
            yield note(wording.NO_VARIABLE)
        if isinstance(answer, results.Judged):
            yield cross_check(answer, is_full=self.is_full)
        yield from formula_notes(answer)
        yield from notes if is_below else ()

    def _notes(self, answer: results.Answer) -> Iterator[doc.Node]:
        """What there is to say of what does not agree, and of the answer itself."""
        if isinstance(answer, results.Judged):
            yield from self._findings(answer)
        yield from map(note, answer.remarks)
        if (
            isinstance(answer, results.Differentiation)
            and (self.is_full or not is_small(answer))
            and (words := wording.diagonal(answer))
        ):
            yield note(words)
        if isinstance(answer, results.Products) and answer.answers[0].accumulated:
            yield note(wording.accumulating(answer))
        if isinstance(answer, results.Checking):
            yield doc.Note(line(doc.Span(wording.conclusion(answer), "good" if answer.passed else "bad")))

    def _findings(self, answer: results.Judged) -> Iterator[doc.Node]:
        """What does not agree, and how to write the function better."""
        check = answer.check
        if check is None:
            return
        shown = check.findings if self.is_full else check.findings[:MOST_FINDINGS]
        for found in shown:
            parts: list[str | doc.Inline] = [doc.Symbol(wording.entry(found, answer.output))]
            if found.point is not None:
                parts.append(f" at point {found.point}")
            is_proven = self.is_full and found.proven
            parts += [" ", doc.Span(wording.judged(found.verdict, proven=is_proven), TONES[found.verdict])]
            if found.torch is not None:
                beside = self.beside(found.torch, found).removesuffix(f" {mark(found.verdict)} {found.verdict}")
                parts.append(f": torch {beside}")
            yield doc.Note(line(*parts, f": {found.note}" if found.note else ""))
        if (more := check.findings_count - len(shown)) > 0:
            yield note(f"and {more:,} more{'' if self.is_full else '; --full shows them'}")
        if (better := check.rewrite) is not None:
            why = f": {better.reason}" if self.is_full else ""
            yield doc.Note(line("better: ", code(better.expression), "   ", standing(better.verdict), why))
        yield from map(note, check.notes)

    # -- what is given

    def _given(self, answer: results.Answer) -> Iterator[doc.Node]:
        arrays: dict[str, results.Array] = {**answer.inputs, answer.output: answer.value}
        loss = loss_of(answer)
        match answer:
            case results.VJP(v=v) | results.Explanation(v=v) | results.Checking(v=v) if v is not None:
                arrays["v"] = v
            case results.JVP(u=u) | results.HVP(u=u):
                is_one = len(answer.inputs) == 1 and "u" not in answer.inputs
                arrays |= {"u" if is_one else f"u_{name}": array for name, array in u.items()}
        said = []
        if loss is not None:
            arrays |= loss.inputs
            value = self.number(loss.value[()])
            said.append(line("loss = ", code(loss.expression), f" = {value}, and v = ∂loss/∂{answer.output}"))
        if words := wording.in_dtype(answer):
            said.append(line(words.strip()))
        if self.is_full:
            yield self.arrays(((Name(name), array, {}) for name, array in arrays.items()), answer.dtype)
        else:
            shapes = ("" if array.size <= LONG else f" {array.shape}" for array in arrays.values())
            named = zip(arrays, shapes, map(self.listed, arrays.values()), strict=True)
            said = [*(line(f"{name}{shape} = {listed}") for name, shape, listed in named), *said]
        if said:
            yield doc.Abreast(tuple(said))

    # -- one number by another

    def _equation(self, answer: results.Answer) -> doc.Note | None:
        """What it is, its formula, its value and the verdict, in a line; None of more than one number."""
        if len(answer.inputs) != 1 or answer.points is not None or not isinstance(answer, results.Judged):
            return None
        (name,) = answer.inputs
        if answer.inputs[name].ndim or answer.value.ndim or answer.wrt != (name,):
            return None
        if isinstance(answer, results.Differentiation) and answer.intermediates:
            return None
        x, y = Name(name), Name(answer.output)
        formula: results.Formula | None
        place: Place = ("", None, name, (), ())
        match answer:
            case results.Hessian():
                label, number, place = second(y, x, x), answer.hessian[name][name], ("hessian", name, name, (), ())
                formula = answer.symbolic.get(name, {}).get(name)
            case results.Gradient():
                label, number, formula = PARTIAL(y, x), answer.grad[name], answer.symbolic.get(name)
            case results.VJP() if answer.v == 1 and answer.loss is None:
                label, number, formula = PARTIAL(y, x), answer.vjp[name], answer.symbolic.get(name)
                place = ("", None, name, None, ())
            case results.Jacobian() if answer.jacobian is not None:
                label, number, formula = PARTIAL(y, x), answer.jacobian[name], answer.symbolic.get(name)
            case _:
                return None
        parts: list[str | doc.Inline] = [doc.Symbol(label)]
        if formula is not None and formula.text != self.number(number[()]):
            parts += [" = ", doc.Expression(formula.brief[0].expression)]
        parts += [" = ", *self.cell(number[()], wrong_of(answer).get(place))]
        parts.append(f" at {name} = {self.number(answer.inputs[name][()])}{wording.in_dtype(answer)}")
        if answer.check is not None:
            is_proved = answer.check.verdict == "agree" and answer.check.proven
            proved = doc.Span(f"{mark('agree')} proven", TONES["agree"])  # in a line there is no room for both words
            parts += ["   ", proved if is_proved else standing(answer.check.verdict, proven=answer.check.proven)]
        return doc.Note(line(*parts))

    # -- the numbers asked for

    def _numbers(self, answer: results.Answer) -> Iterator[doc.Node]:
        y = Name(answer.output)
        match answer:
            case results.Explanation():
                yield from self._explanation(answer)
            case results.Answer(wrt=()) if not isinstance(answer, results.Checking):
                return
            case results.Answer(points=int()):
                yield self._points(answer)
            case results.Checking():
                if answer.sampling is not None:
                    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in answer.sampling.verdicts.items())
                    yield note(f"{wording.sampled(answer.sampling)}: {verdicts}; the worst:")
                if answer.opinions:
                    yield from opinions(answer, self)
                yield from (claim_note(claim, answer, self) for claim in answer.claims)
            case results.Products():
                yield self._products(answer)
                yield from self._jacobian(answer)
            case results.VJP():
                if self.is_full or not is_small(answer):
                    yield self._vjp(answer)
                yield from self._jacobian(answer)
            case results.Jacobian(jacobian=blocks) if blocks is not None and not self.is_full and not is_small(answer):
                wrong = wrong_of(answer)
                yield self.arrays(
                    (PARTIAL(y, Name(name)), blocks[name], of_array(wrong, "", None, name)) for name in answer.wrt
                )
            case results.Jacobian():
                yield from self._jacobian(answer)
            case results.Gradient():
                yield self._row(answer, "gradient", "", answer.grad, lambda name: PARTIAL(y, Name(name)))
            case results.JVP():
                yield self._row(answer, "Ju", "jvp", {answer.output: answer.jvp}, lambda _: JU())
            case results.HVP() | results.Hessian():
                if self.is_full:
                    yield self._row(answer, "gradient", "gradient", answer.grad, lambda name: PARTIAL(y, Name(name)))
                if isinstance(answer, results.Hessian):
                    yield self._hessian(answer)
                else:
                    yield self._row(answer, "Hu", "hvp", answer.hvp, lambda name: HU(Name(name)))

    def _vjp(self, answer: results.VJP | results.Explanation) -> doc.Table:
        """The product alone, a row a variable; unfolded, with the gradient of the loss of the function in one go."""
        wrong = wrong_of(answer)
        rows: list[tuple[Notation, results.Array, Doubts]] = [
            (IN_GRAD(Name(name)), answer.vjp[name], of_product(wrong, name, answer.v)) for name in answer.wrt
        ]
        if self.is_full and answer.loss is not None:
            rows += ((GRADIENT(Name(name), LOSS), array, {}) for name, array in answer.loss.gradient.items())
        return self.arrays(rows)

    def _jacobian(self, answer: results.Differentiation) -> Iterator[doc.Node]:
        """The blocks as one matrix, with v beside its rows and the product below; folded, none but a small one."""
        if not self.is_full and (isinstance(answer, results.Products) or not is_small(answer)):
            return
        if answer.jacobian is None:
            yield note(f"the Jacobian is left out: {answer.jacobian_omitted}")
        elif not answer.value.size:
            yield note(f"the Jacobian is {wording.NO_ELEMENTS}")
        else:
            yield self._matrix(answer, self.rounded(answer.jacobian))

    def _matrix(self, answer: results.Differentiation, blocks: Mapping[str, results.Array]) -> doc.Blocks:
        y, wrong, names = answer.output, wrong_of(answer), answer.wrt
        shape, rows = answer.value.shape, answer.value.size
        columns = tuple(doc.Axis(name, answer.inputs[name].shape) for name in names)
        marks = {
            (0, _flat(i, shape), names.index(name), _flat(j, answer.inputs[name].shape)): self.cell(
                (answer.jacobian or {})[name][i + j], found
            )
            for (of, _, name, i, j), found in wrong.items()
            if not of and name in names and i is not None and j is not None
        }
        head = (PARTIAL if len(names) == 1 else BY_SEVERAL)(Name(y), joined(list(map(Name, names))))
        block = tuple((PARTIAL(Name(y), Name(name)), blocks[name].reshape(rows, -1)) for name in names)
        if not isinstance(answer, results.VJP | results.Explanation):
            return doc.Blocks(head, (doc.Axis(y, shape),), columns, (block,), marks)
        for n, name in enumerate(names):
            for j, verdict in of_product(wrong, name, answer.v).items():
                number, own = answer.vjp[name][j], wrong.get(("", None, name, None, j))
                worst = line(doc.Span(f"{self.number(number)} {mark(verdict)}", tone(verdict)))
                marks[1, 0, n, _flat(j, answer.inputs[name].shape)] = worst if own is None else self.cell(number, own)
        products = tuple(
            (PRODUCT(Name(y), Name(name)), self.rounded(answer.vjp[name]).reshape(1, -1)) for name in names
        )
        what = doc.Axis(f"vᵀJ = {names[0] if len(names) == 1 else ''}.grad", ())
        instead = self._vjp(answer) if isinstance(answer, results.VJP) and not self.is_full else None
        v = self.rounded(answer.v).reshape(-1)
        return doc.Blocks(head, (doc.Axis(y, shape), what), columns, (block, products), marks, v, instead)

    def _row(
        self,
        answer: results.Judged,
        what: str,
        of: str,
        arrays: Mapping[str, results.Array],
        label: Callable[[str], Notation],
    ) -> doc.Table:
        """A quantity by its elements, in columns where they are few."""
        wrong, cells, columns = wrong_of(answer), [], []
        if self.is_full or sum(array.size for array in arrays.values()) > MOST_COLUMNS:
            return self.arrays(
                (label(name), array, of_array(wrong, of, None, None if of == "jvp" else name))
                for name, array in arrays.items()
            )
        for name, array in arrays.items():
            columns += elements(name, array.shape)
            for at in np.ndindex(array.shape):
                place: Place = (of, None, None, at, None) if of == "jvp" else (of, None, name, None if of else (), at)
                cells.append(self.cell(array[at], wrong.get(place)))
        return doc.Table(lines("", *columns), (lines(what, *cells),), is_numeric=True, is_pointed=True)

    def _hessian(self, answer: results.Hessian) -> doc.Table | doc.Blocks:
        """All blocks as one matrix; folded, the blocks of a larger one."""
        y, wrong, shapes = Name(answer.output), wrong_of(answer), {name: answer.grad[name].shape for name in answer.wrt}
        sizes = {name: math.prod(shape) for name, shape in shapes.items()}
        names = list(map(Name, answer.wrt))
        if not self.is_full and sum(sizes.values()) > MOST_ROWS:
            return self.arrays(
                (second(y, Name(a), Name(b)), answer.hessian[a][b], of_array(wrong, "hessian", a, b))
                for a in answer.wrt
                for b in answer.wrt
            )
        marks = {
            (answer.wrt.index(a), _flat(i, shapes[a]), answer.wrt.index(b), _flat(j, shapes[b])): self.cell(
                answer.hessian[a][b][i + j], found
            )
            for (of, a, b, i, j), found in wrong.items()
            if of == "hessian" and a and b and i is not None and j is not None
        }
        axes = tuple(doc.Axis(name, shape) for name, shape in shapes.items())
        found = self.rounded(answer.hessian)
        blocks = tuple(
            tuple((second(y, Name(a), Name(b)), found[a][b].reshape(sizes[a], sizes[b])) for b in answer.wrt)
            for a in answer.wrt
        )
        head = second(y, names[0], names[0]) if len(names) == 1 else Name("Hessian")
        return doc.Blocks(head, axes, axes, blocks, marks)

    def _products(self, answer: results.Products) -> doc.Table:
        """A row a v; a column a variable, and one for what its `.grad` holds."""
        accumulates = answer.answers[0].accumulated is not None
        headers = ["v", *(f"vᵀJ {name}" for name in answer.wrt)]
        headers += [f"{name}.grad after" for name in answer.wrt] * accumulates
        rows = []
        for one in answer.answers:
            wrong = wrong_of(one)
            cells = [self.marked(one.vjp[name], of_product(wrong, name, one.v)) for name in answer.wrt]
            if (held := one.accumulated) is not None:
                found = {name: of_array(wrong, "accumulated", None, name) for name in answer.wrt}
                cells += [self.marked(held[name], found[name]) for name in answer.wrt]
            rows.append(lines(self.marked(one.v, {}, "plain"), *cells))
        return doc.Table(lines(*headers), tuple(rows), has_rules=self.is_full)

    def _points(self, answer: results.Answer) -> doc.Table:
        """A row for each point, or for those at the ends."""
        columns, count = points_columns(answer), answer.points or 0
        given = len(answer.points_of) + 1
        rows = (
            lines(str(n), *(self._point(array[n], k >= given) for k, array in enumerate(columns.values())))
            if n >= 0
            else None
            for n in ends(count)
        )
        return doc.Table(lines("point", *columns), tuple(rows), has_rules=self.is_full)

    def _point(self, array: results.Array, is_answer: bool) -> doc.Line:
        return self.marked(array, {}, "strong" if is_answer else "plain")

    def _intermediates(self, answers: Sequence[results.Differentiation]) -> Iterator[doc.Node]:
        """Values and adjoints by name, an adjoint for each answer."""
        first, counts, rows = answers[0].intermediates, len(answers) > 1, []
        for name, kept in first.items():
            for n, answer in enumerate(answers):
                grad = answer.intermediates[name].grad
                seen = [(), (), ()] if n else [name, str(kept.value.shape), doc.Numbers(kept.value)]
                rows.append(lines(*seen, *([str(n + 1)] * counts), "None" if grad is None else doc.Numbers(grad)))
        if first:
            yield doc.Title(line("intermediates, whose adjoints retain_grad() adds to .grad"))
            yield doc.Table(lines("", "shape", "value", *(["v"] * counts), "adjoint"), tuple(rows))
        if any(kept.grad is None for kept in first.values()):
            yield note(wording.NO_ADJOINT)

    # -- the chain rule

    def _explanation(self, answer: results.Explanation) -> Iterator[doc.Node]:
        yield from chain_rule(answer, self)
        wrong = wrong_of(answer)
        for name in answer.wrt:
            numbers = self.marked(answer.vjp[name], of_product(wrong, name, answer.v))
            yield doc.Note(product(answer, name, numbers, self))
        if self.is_full and answer.wrt:
            yield from [] if answer.loss is None else [self._vjp(answer)]
            yield from self._jacobian(answer)


def points_columns(answer: results.Answer) -> Mapping[str, results.Array]:
    """What there is to show of each point, by its header."""
    y = answer.output
    found = {name: answer.inputs[name] for name in answer.points_of} | {y: answer.value}
    match answer:
        case results.VJP():
            found |= {"v": answer.v} | {f"vᵀJ {name}": answer.vjp[name] for name in answer.wrt}
        case results.Gradient():
            found |= {f"gradient {name}": answer.grad[name] for name in answer.wrt}
        case results.Jacobian(jacobian=blocks) if blocks is not None:
            found |= {f"∂{y}/∂{name}": blocks[name] for name in answer.wrt}
    return found


def _flat(at: Index, shape: tuple[int, ...]) -> int:
    """The number of an element in row-major order."""
    return int(np.ravel_multi_index(at, shape)) if shape else 0
