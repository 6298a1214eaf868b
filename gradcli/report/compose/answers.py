"""Answers of a function at a point or at many: the function, its numbers, the formulas and the verdict, the findings.

Folded, all of it is seen at once: a scalar derivative in a line, arrays as they can be typed, a few entries.  Unfolded,
arrays are tables, and nothing is left out but the middle of long ones.  A vector-Jacobian product is drawn as its
definition: v as weights next to the rows of the Jacobian that they weigh, the product below them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pkgutil import resolve_name
from typing import Any, ClassVar, Protocol

import numpy as np

from gradcli import registry, results
from gradcli.notation import PARTIAL, Element, Named, Notation, Signs, joined
from gradcli.option_words import Words, marked, option
from gradcli.report import document as doc, wording
from gradcli.report.compose.formula_tables import (
    GRADIENT,
    LOSS,
    MOST_FINDINGS,
    code,
    cross_check,
    formula_blocks,
    formula_notes,
    formulas,
    long_formulas,
    loss_of,
    note,
    of_asked,
    standing,
    standing_of,
)
from gradcli.report.compose.functions import functions
from gradcli.report.document import TONES, line, lines
from gradcli.report.heat_maps import heat_map
from gradcli.report.numbers import LONG, Doubts, Writer, doubts, doubts_of_product, entries_of, mark, printable

MOST_ROWS, MOST_COLUMNS = 8, 12
"""Rows and columns of the largest matrix shown whole; of a larger one, the products or the blocks are listed."""

_OF_TORCH = re.compile(r"const_\d+$")
"""A constant without a name; one that is nan is of torch's own code, such as that of logdet, and says nothing."""

MOST_BELOW = 2
"""Most notes below the answer; more of them stand above it."""

BY_SEVERAL = Signs("d%s/d(%s)", "∂%s/∂(%s)", r"\partial %s / \partial (%s)")
PRODUCT = Signs("vT d%s/d%s", "vᵀ ∂%s/∂%s", r"v^{T} \frac{\partial %s}{\partial %s}")
ROWS = {"hvp": "Hu", "jvp": "Ju"}
"""Names of rows of elements; all others are gradients."""


def is_small(answer: results.Differentiation | results.Hessian) -> bool:
    """Tell whether the whole Jacobian or Hessian is shown."""
    columns = sum(answer.inputs[name].size for name in answer.wrt)
    if isinstance(answer, results.Hessian):
        return columns <= MOST_ROWS
    return answer.jacobian is not None and 0 < answer.value.size <= MOST_ROWS and 0 < columns <= MOST_COLUMNS


class Composer(Writer):
    """Composer of answers; parts have others, which override what is said of answers of their own."""

    most_below: ClassVar[float] = MOST_BELOW
    """Most notes below the answer where it is folded."""

    needs_variables: ClassVar[bool] = True
    """Whether an answer without a variable has nothing to say."""

    def nodes(self, answer: results.Answer) -> Iterator[doc.Node]:
        """Compose an answer from top to bottom."""
        yield doc.Note(line(code(wording.statement(answer))))
        notes = list(self.notes(answer))
        is_picture = isinstance(answer, results.Jacobian | results.Hessian) and answer.is_picture
        if not self.is_full and not is_picture and (equation := self._equation(answer)) is not None:
            yield equation
            yield from formula_notes(answer)
            yield from notes
            return
        yield from self._given(answer)
        # The answer and the verdict are read first where a screen ends.
        is_below = self.is_full or len(notes) <= self.most_below
        yield from () if is_below else notes
        if isinstance(answer, results.Judged) and answer.wrt:
            yield from long_formulas([*formula_blocks(answer)], formulas(answer) if self.is_full else None)
        yield from self.numbers(answer)
        if self.needs_variables and not answer.wrt and not isinstance(answer, results.Evaluation):
            yield note(Words(wording.no_variable(answer.expression)))
        if isinstance(answer, results.Judged):
            check = answer.check
            asked = of_asked(check, answer) if check is not None and check.findings else check
            yield cross_check(asked, formula_blocks(answer), is_full=self.is_full)
        yield from formula_notes(answer)
        yield from notes if is_below else ()

    def notes(self, answer: results.Answer) -> Iterator[doc.Node]:
        """Compose the findings of the check, and the remarks."""
        if isinstance(answer, results.Judged) and answer.check is not None:
            yield from self.findings(answer.check, answer.output)
        yield from map(note, answer.remarks)
        if isinstance(answer, results.Differentiation) and (self.is_full or not is_small(answer)):
            yield from map(note, filter(None, [wording.diagonal(answer)]))
        if isinstance(answer, results.Products) and answer.answers[0].accumulated and not answer.is_written:
            yield note(wording.accumulating(answer))

    def findings(self, check: results.Check, output: str, *, is_weighted: bool = False) -> Iterator[doc.Node]:
        """Compose the disagreements found by a check, the better form of the function, and the remarks."""
        shown = check.findings if self.is_full else check.findings[:MOST_FINDINGS]
        for found in shown:
            parts: list[str | doc.Inline] = [doc.Symbol(wording.entry(found, output, is_weighted=is_weighted))]
            is_proven = self.is_full and found.proven
            parts += [" ", doc.Styled(wording.judged(found.verdict, proven=is_proven), TONES[found.verdict])]
            if found.torch is not None:
                sign = mark(found.verdict, is_slight=found.is_slight)
                parts.append(f": torch {self.beside(found.torch, found).removesuffix(f' {sign} {found.verdict}')}")
            yield doc.Note(line(*parts, f": {found.note}" if found.note else ""))
        if (more := check.findings_count - len(shown)) > 0:
            shown_all = "" if self.is_full else f"; {option('full')} shows them"
            yield note(Words(f"and {more:,} more{shown_all}"))
        if (better := check.rewrite) is not None:
            why = f": {better.reason}" if self.is_full or check.verdict in ("kink", "undefined") else ""
            yield doc.Note(line("better: ", code(better.expression), "   ", standing(better.verdict), why))
        yield from map(note, check.notes)

    # -- the inputs

    def _given(self, answer: results.Answer) -> Iterator[doc.Node]:
        inputs = {name: x for name, x in answer.inputs.items() if not (_OF_TORCH.match(name) and np.isnan(x).all())}
        arrays: dict[str, results.Array] = {**inputs, answer.output: answer.value}
        loss = loss_of(answer)
        if (v := getattr(answer, "v", None)) is not None:
            arrays["v" if "v" not in arrays else f"v_{answer.output}"] = v
        if isinstance(answer, results.JVP | results.HVP):
            is_one = len(answer.inputs) == 1 and "u" not in answer.inputs
            arrays |= {"u" if is_one else f"u_{name}": array for name, array in answer.u.items()}
        said = []
        if loss is not None:
            arrays |= loss.inputs
            known = f" = {self.number(loss.value[()])}, and v = ∂loss/∂{answer.output}"
            said.append(line("loss = ", code(loss.expression), known))
        said += [line(words.strip())] if (words := wording.in_dtype(answer)) else []
        if self.is_full:
            yield self.arrays(((Named(name), array, {}) for name, array in arrays.items()), answer.dtype)
        else:
            shapes = {name: f" {array.shape}" * (array.size > LONG) for name, array in arrays.items()}
            said = [*(line(f"{name}{shapes[name]} = {self.listed(arrays[name])}") for name in arrays), *said]
        yield from [doc.Abreast(tuple(said))] if said else []

    # -- one number by another

    def _equation(self, answer: results.Answer) -> doc.Note | None:
        """Compose derivative, formula, value and verdict in a line; None unless it is one number by one number."""
        if len(answer.inputs) != 1 or not isinstance(answer, results.Judged):
            return None
        (name,) = answer.inputs
        if answer.inputs[name].ndim or answer.value.ndim or answer.wrt != (name,):
            return None
        match answer:
            case results.Hessian():
                formula = answer.symbolic.get(name, {}).get(name)
            case results.VJP() if answer.v != 1 or answer.loss is not None:
                return None
            case results.VJP() | results.Gradient() | results.Jacobian():
                formula = answer.symbolic.get(name)
            case _:
                return None
        if formula is not None and not formula.holds_here:
            return None  # it does not equal the number
        (part,) = answer.asked
        label, number = PARTIAL(Named(answer.output), Named(name)) if part.kind == "vjp" else part.label, part.numbers
        parts: list[str | doc.Inline] = [doc.Symbol(label)]
        if formula is not None and formula.text != self.number(number[()]):
            parts += [" = ", doc.FormulaText(formula.brief[0].expression)]
        parts += [" = ", *self.cell(number[()], entries_of(answer, part).get(()))]
        parts.append(f" at {name} = {self.number(answer.inputs[name][()])}{wording.in_dtype(answer)}")
        if answer.check is not None:
            is_proved = (asked := of_asked(answer.check, answer)).verdict == "agree" and asked.proven
            proved = doc.Styled(f"{mark('agree')} proven", TONES["agree"])  # in a line there is no room for both words
            parts += ["   ", proved if is_proved else standing_of(asked)]
        return doc.Note(line(*parts))

    # -- the numbers asked for

    def numbers(self, answer: results.Answer) -> Iterator[doc.Node]:
        """Compose the numbers that were asked for."""
        match answer:
            case results.Answer(wrt=()):
                return
            case results.Products() | results.VJP():
                if isinstance(answer, results.Products):
                    yield self._products(answer)
                elif self.is_full or not is_small(answer):
                    yield self.product(answer, answer.v)
                if self.is_full or (is_small(answer) and isinstance(answer, results.VJP)):
                    yield self.matrix(answer, answer.v if isinstance(answer, results.VJP) else None)
            case results.Jacobian(is_picture=True) | results.Hessian(is_picture=True):
                yield doc.Chart(answer, partial(heat_map, answer))
            case results.Jacobian():
                yield self.matrix(answer)
            case results.Hessian():
                yield from [self._row(answer, answer.of_kind("gradient"))] if self.is_full else []
                yield self.matrix(answer)
            case results.HVP() | results.Gradient() | results.JVP():
                if self.is_full and isinstance(answer, results.HVP):
                    yield self._row(answer, answer.of_kind("gradient"))
                yield self._row(answer, answer.asked)

    def product(self, answer: results.Differentiation, v: results.Array) -> doc.Table:
        """Tabulate the product alone, a row a variable; unfolded, with the gradient of the loss taken in one go."""
        rows: list[tuple[Notation, results.Array, Doubts]] = [
            (one.label, one.numbers, doubts_of_product(answer, one.axes[-1], v)) for one in answer.asked
        ]
        if self.is_full and (loss := loss_of(answer)) is not None:
            rows += ((GRADIENT(Named(name), LOSS), array, {}) for name, array in loss.gradient.items())
        return self.arrays(rows)

    def _row(self, answer: results.Judged, parts: Sequence[results.Quantity]) -> doc.Table:
        """Tabulate a quantity by its elements, in columns where they are few."""
        if self.is_full or sum(part.numbers.size for part in parts) > MOST_COLUMNS:
            return self._arrays(answer, parts)
        columns, cells = [], []
        for part in parts:
            found = entries_of(answer, part)
            for at in np.ndindex(part.numbers.shape):
                columns.append(Element(part.variable or answer.output, at).pretty)
                cells.append(self.cell(part.numbers[at], found.get(at)))
        what = ROWS.get(parts[0].kind, "gradient")
        return doc.Table(lines("", *columns), (lines(what, *cells),), is_numeric=True, is_pointed=True)

    def _arrays(self, answer: results.Judged, parts: Sequence[results.Quantity]) -> doc.Table:
        return self.arrays((part.label, part.numbers, doubts(entries_of(answer, part))) for part in parts)

    def matrix(self, answer: results.Differentiation | results.Hessian, v: results.Array | None = None) -> doc.Node:
        """Compose all blocks as one matrix, with v next to its rows for a product; folded, list large ones."""
        known = answer.of_kind("hessian" if isinstance(answer, results.Hessian) else "jacobian")
        parts = [one for one in known if one.array is not None]
        if not parts and isinstance(answer, results.Differentiation):
            return note(Words(f"the Jacobian is left out: {marked(answer.jacobian_omitted)}"))
        if not answer.value.size:
            return note(f"the Jacobian is {wording.NO_ELEMENTS}")
        if not self.is_full and not is_small(answer):
            return self._arrays(answer, parts)
        found = self._blocks(answer, parts)
        if v is None or not isinstance(answer, results.Differentiation):
            return found
        return self._weighted(answer, v, found)

    def _blocks(self, answer: results.Judged, parts: Sequence[results.Quantity]) -> doc.Blocks:
        """Put the blocks side by side, those of a Hessian below each other too."""
        y, names = answer.output, answer.wrt
        columns = tuple(doc.MatrixAxis(name, answer.inputs[name].shape) for name in names)
        by = list(dict.fromkeys(part.by for part in parts))
        rows = (doc.MatrixAxis(y, answer.value.shape),) if by == [None] else columns
        several = BY_SEVERAL(Named(y), joined(list(map(Named, names)))) if by == [None] else Named("Hessian")
        blocks: list[list[tuple[Notation, results.Array]]] = [[] for _ in by]
        marks = {}
        for part in parts:
            a, b = by.index(part.by), names.index(part.variable)
            size = math.prod(columns[b].shape)
            blocks[a].append((part.label, self.rounded(part.numbers).reshape(math.prod(rows[a].shape), size)))
            for at, found in entries_of(answer, part).items():
                i, j = divmod(_flat(at, part.numbers.shape), size)
                marks[a, i, b, j] = self.cell(part.numbers[at], found)
        label = parts[0].label if len(parts) == 1 else several
        return doc.Blocks(label, rows, columns, tuple(map(tuple, blocks)), marks)

    def _weighted(self, answer: results.Differentiation, v: results.Array, found: doc.Blocks) -> doc.Blocks:
        """Put v next to the rows of the Jacobian, and the product below them."""
        names, marks, vjp = answer.wrt, dict(found.marks), answer.arrays("vjp")
        for n, (name, part) in enumerate(zip(names, answer.asked, strict=True)):
            of_its_own = entries_of(answer, part)
            for j, doubt in doubts_of_product(answer, name, v).items():
                number, own = part.numbers[j], of_its_own.get(j)
                worst = line(doc.Styled(f"{self.number(number)} {doubt.mark}", doubt.tone))
                marks[1, 0, n, _flat(j, answer.inputs[name].shape)] = worst if own is None else self.cell(number, own)
        y, numbers = Named(answer.output), {name: self.rounded(vjp[name]).reshape(1, -1) for name in names}
        products = tuple((PRODUCT(y, Named(name)), array) for name, array in numbers.items())
        to = ", added to" if answer.of_kind("accumulated") else " ="
        rows = (*found.rows, doc.MatrixAxis(f"vᵀJ{to} {names[0] if len(names) == 1 else ''}.grad", ()))
        too_wide = note(Words(f"the Jacobian is too wide for this screen; {option('full')} shows it"))
        instead = (self.product(answer, v), too_wide) if isinstance(answer, results.VJP) and not self.is_full else ()
        return replace(
            found,
            rows=rows,
            blocks=(*found.blocks, products),
            marks=marks,
            weights=self.rounded(v).reshape(-1),
            instead=instead,
        )

    def _products(self, answer: results.Products) -> doc.Table:
        """Tabulate a row for each v, a column for each variable, and one for the contents of its `.grad`."""
        accumulates = answer.answers[0].accumulated is not None
        headers = ["v", *(f"vᵀJ {name}" for name in answer.wrt)]
        headers += [f"{name}.grad after" for name in answer.wrt] * accumulates
        rows = []
        for one in answer.answers:
            cells = [self.marked(one.vjp[name], doubts_of_product(one, name, one.v)) for name in answer.wrt]
            for part in one.of_kind("accumulated"):
                cells.append(self.marked(part.numbers, doubts(entries_of(one, part))))
            rows.append(lines(self.marked(one.v, {}, "plain"), *cells))
        return doc.Table(lines(*headers), tuple(rows), has_rules=self.is_full)


def _flat(at: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Compute the number of an element in row-major order."""
    return int(np.ravel_multi_index(at, shape)) if shape else 0


class ComposeAnswer(Protocol):
    """Composer of answers of a class, which a part supplies."""

    def __call__(self, answer: Any, digits: int | None, /, *, is_full: bool) -> Iterable[doc.Node]:
        """Compose an answer from top to bottom, as `compose` does."""


def compose(answer: results.Result | results.Pass, digits: int | None = None, *, is_full: bool = True) -> doc.Document:
    """Compose tables, formulas and remarks, from top to bottom.

    Args:
        answer: The object.
        digits: Significant digits of its numbers; None for all.
        is_full: Whether to unfold everything, which no screen has room for.
    """
    answer = printable(answer)
    composers = registry.composers()
    own = next((composers[kind.__name__] for kind in type(answer).__mro__ if kind.__name__ in composers), None)
    if own is not None:
        compose_own: ComposeAnswer = resolve_name(own)
        return tuple(compose_own(answer, digits, is_full=is_full))
    match answer:
        case results.Functions():
            return tuple(functions(answer, Composer(digits, is_full=False).nodes))
        case results.Answer():
            return tuple(Composer(digits, is_full).nodes(answer))
    raise TypeError(f"no part composes a {type(answer).__name__}")
