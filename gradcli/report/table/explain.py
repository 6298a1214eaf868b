"""The chain rule step by step, from top to bottom as on a board: forward, v, backward, vᵀJ, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from gradcli.report.board import Block, beside, chain, matrix, numbers, words
from gradcli.report.drawing import STYLES, Code, Screen, add_row, drawing, elements, formula, new_table, text, title
from gradcli.report.numbers import digits
from gradcli.report.table.parts import findings, heading, quantities
from gradcli.report.wording import NO_VARIABLE, chosen, standing
from gradcli.results import Adjoint, Array, Check, Explanation, Loss, Notation, Step, Term

SHOWN = 40
"""Lines of the forward pass and adjoints that are shown; of more, the ends."""

SMALL = 6
"""Elements of y, and of x, up to which v, J and vᵀJ are drawn as one product."""

MOST_CELLS = 6
"""Formulas of v that are written one by one."""


def parts(answer: Explanation, screen: Screen) -> Iterator[Table | Text]:
    """Titles, tables and equations."""
    board = _Board(answer, screen)
    yield from heading(answer, answer.output, screen)
    yield from _titled("forward: each line from those before it", screen)
    yield from board.forward()
    if answer.loss is not None:
        yield from _titled("the loss, which is where v comes from", screen)
        yield from board.loss(answer.loss)
    yield from _titled("v at the output", screen)
    yield from board.start()
    if not answer.wrt:
        yield text(NO_VARIABLE, screen)
        return
    yield from _titled("backward: the adjoint of a line, times the local derivative", screen)
    yield from board.backward()
    yield from _titled(f"vᵀJ: what {answer.output}.backward(gradient=v) leaves in .grad", screen)
    yield from board.product()
    if answer.loss is not None:
        yield from board.in_one_go(answer.loss)
    if answer.check is not None:
        yield Text()
        yield _verdict_line(answer.check, screen)
        yield from findings(answer.check, answer.output, screen)


def _titled(words: str, screen: Screen) -> Iterator[Text]:
    """A title with a blank line above, as equations have no frame."""
    yield Text()
    yield title(words, screen)


def _verdict_line(check: Check, screen: Screen) -> Text:
    """The verdict and what it covers, on one line."""
    line = title("cross-check: ", screen)
    line.append(standing(check), style=STYLES[check.verdict])
    error = "" if check.max_relative_error is None else f", largest relative error {check.max_relative_error:.2g}"
    how = f", {chosen(check)}" if chosen(check) else ""
    line.append_text(text(how + error, screen))
    for note in check.notes:
        line.append_text(text(f"\n{note}", screen))
    return line


@dataclass(frozen=True)
class _Board:
    """One answer on one screen."""

    answer: Explanation
    screen: Screen
    notations: Mapping[str, Notation] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        held = {adjoint.name: adjoint.notation for adjoint in self.answer.adjoints}
        object.__setattr__(self, "notations", held)

    # -- pieces

    def _of(self, notation: Notation) -> Block:
        """In the characters that the screen has."""
        return words(notation.text if self.screen.ascii else notation.pretty)

    def _bar(self, adjoint: Adjoint) -> Block:
        return self._of(adjoint.notation)

    def _partial(self, line: str, by: str) -> str:
        return f"d{line}/d{by}" if self.screen.ascii else f"∂{line}/∂{by}"

    @property
    def _times(self) -> Block:
        return words(" * " if self.screen.ascii else " · ")

    def _numbers(self, array: Array) -> Block:
        return numbers(array, self.screen)

    def _lines(self, lines: Sequence[str]) -> Text:
        return drawing("\n".join(lines), self.screen)

    def _remark(self, words: str, indent: str = "") -> Text:
        return text(f"{indent}({words})", self.screen, "dim")

    # -- forward

    def forward(self) -> Iterator[Table | Text]:
        """A row for each line, the values at the right."""
        head, tail, more = _ends(self.answer.steps, self.answer.steps_count)
        table = new_table(["", "", ""], self.screen)
        for step in head:
            self._row(table, step)
        if more:
            add_row(table, self.screen, "…", f"{more:,} more lines", "")
        for step in tail:
            self._row(table, step)
        yield table

    def _row(self, table: Table, step: Step) -> None:
        value = step.value
        shown = elements(value) if value.dtype != np.bool_ else numbers(value, self.screen).inline.strip("[]")
        operation = step.operation.text if self.screen.ascii else step.operation.pretty
        add_row(table, self.screen, step.name, Code(f"= {operation}"), shown)

    # -- v

    def loss(self, loss: Loss) -> Iterator[Text]:
        """The loss, its value, and v as its derivative."""
        name, y = ("loss" if self.screen.ascii else "ℓ"), self.answer.output
        yield self._lines(chain([[words(name)], [words(loss.expression)], [self._numbers(loss.value)]], self.screen))
        for given, array in loss.inputs.items():
            if given not in self.answer.inputs:
                yield self._lines(chain([[words(given)], [self._numbers(array)]], self.screen))
        whole = [[words("v")], [words(self._partial(name, y))]]
        cells = loss.formula.cells if loss.formula is not None else ()
        if [cell.column for cell in cells] == [y]:
            whole.append([words(formula(cells[0], self.screen))])
            cells = ()
        for cell in cells[:MOST_CELLS]:
            entry = f"v{cell.column.removeprefix(y)}"
            yield drawing(f"{entry} = {self._partial(name, cell.column)} = {formula(cell, self.screen)}", self.screen)
        if len(cells) > MOST_CELLS:
            yield text(f"… and {len(cells) - MOST_CELLS} more", self.screen)
        yield self._lines(chain([*whole, [self._numbers(loss.v)]], self.screen))
        if loss.check is not None and loss.check.verdict != "agree":
            yield self._remark(f"the verdict on v itself is {loss.check.verdict}")

    def start(self) -> Iterator[Text]:
        """The adjoint of the output is v."""
        y = self.answer.output
        yield text(f"v weights the elements of {y}; the adjoint of {y} is v", self.screen)
        if self.answer.adjoints:
            lines = chain(
                [[self._bar(self.answer.adjoints[0])], [words("v")], [self._numbers(self.answer.v)]], self.screen
            )
            yield self._lines(lines)
        for remark in self.answer.remarks:
            yield self._remark(remark)

    # -- backward

    def backward(self) -> Iterator[Text]:
        """The adjoint of each line and variable, from the output down."""
        y, x = self.answer.output, self.answer.wrt[0]
        bar = next((self._bar(a).inline for a in self.answer.adjoints if a.name == x), "")
        weighted = f"sum(v*{y})" if self.screen.ascii else f"sum(v·{y})"
        if bar:
            yield self._remark(f"{bar}, the adjoint of {x}, is the derivative of {weighted} by {x}")
        rest = self.answer.adjoints[1:]
        head, tail, more = _ends(rest, self.answer.adjoints_count - 1)
        for adjoint in head:
            yield from self._adjoint(adjoint)
        if more:
            yield text(f"… and {more:,} more lines", self.screen)
        for adjoint in tail:
            yield from self._adjoint(adjoint)

    def _adjoint(self, adjoint: Adjoint) -> Iterator[Text]:
        bar = self._bar(adjoint)
        if not adjoint.terms:
            yield self._lines(chain([[bar], [self._numbers(adjoint.value)]], self.screen))
            yield self._remark(f"{self.answer.output} does not depend on {adjoint.name}", "  ")
            return
        if adjoint.terms_count == 1:
            yield from self._term(adjoint.terms[0], adjoint, [bar])
            return
        uses = f"{adjoint.name} is used {adjoint.terms_count:,} times"
        yield drawing(f"{bar.inline} is a sum, as {uses}:", self.screen)
        for term in adjoint.terms:
            yield from self._term(term, adjoint, [], f"  from {term.source}: ")
        more = adjoint.terms_count - len(adjoint.terms)
        if more:
            yield text(f"  … and {more:,} more terms", self.screen)
        added: list[Block] = []
        for n, term in enumerate(adjoint.terms if not more else adjoint.terms[:2]):
            added += [words(" + ")] * bool(n) + [self._numbers(term.value)]
        added += [words(" + …")] * bool(more)
        yield self._lines(chain([[words("  "), bar], added, [self._numbers(adjoint.value)]], self.screen))

    def _term(self, term: Term, adjoint: Adjoint, left: list[Block], before: str = "") -> Iterator[Text]:
        """The product of the chain rule: in names, as a formula, in numbers."""
        groups: list[list[Block]] = [left] if left else []
        wrap = self._summed if term.summed else list
        above = self.notations.get(term.source)
        is_chain = bool(term.factors) and (term.is_elementwise or term.local is not None)
        if is_chain and above is not None and (not term.equation or term.is_elementwise):
            partial = self._partial(term.source, adjoint.name)
            groups.append(wrap([self._of(above), self._times, words(partial)]))
        if term.equation is not None:
            groups.append(wrap([self._of(term.equation)]))
        if term.factors and not (term.formula == "1" and not term.summed):
            shown: list[Block] = []
            for n, factor in enumerate(term.factors):
                is_negative = bool(n) and factor.ndim == 0 and factor < 0
                number = self._numbers(factor)
                shown += [self._times] * bool(n) + [words(f"({number.inline})") if is_negative else number]
            groups.append(wrap(shown))
        groups.append([self._numbers(term.value)])
        yield self._lines(chain(groups, self.screen, before=before))
        indent = " " * (len(before) or 2)
        if all(term.entry):
            shown_formula = term.formula if self.screen.ascii or term.derivative is None else term.derivative.pretty
            yield drawing(f"{indent}{self._partial(*term.entry)} = {shown_formula}", self.screen)
        if term.words:
            yield self._remark(term.words, indent)

    def _summed(self, blocks: list[Block]) -> list[Block]:
        return [words("sum("), *blocks, words(")")]

    # -- vᵀJ

    def product(self) -> Iterator[Table | Text]:
        """V, J and vᵀJ as one product where they are small, J above vᵀJ where that is too wide; else vᵀJ alone."""
        answer = self.answer
        rest, drawn_of = [], []
        for name in answer.wrt:
            block = self._block(name)
            drawn = None if block is None else self._drawn(name, block)
            if block is not None:
                drawn_of.append(answer.inputs[name])
            if drawn is not None:
                yield self._lines(drawn)
                continue
            rest.append(name)
            if block is not None:
                partial = words(self._partial(answer.output, name))
                yield self._lines(chain([[partial], [self._numbers(block)]], self.screen))
        if rest:
            yield quantities("vᵀJ", answer.vjp, rest, self.screen)
        if any(max(answer.value.ndim, array.ndim) > 1 for array in drawn_of):
            order = f"J has a row for each element of {answer.output} and a column for each element of the variable"
            yield self._remark(f"{order}, in row-major order")

    def _block(self, name: str) -> Array | None:
        """J by a variable as a matrix, if it is small."""
        found = (self.answer.jacobian or {}).get(name)
        rows, columns = self.answer.value.size, self.answer.vjp[name].size
        is_small = found is not None and 0 < rows <= SMALL and 0 < columns <= SMALL
        return found.reshape(rows, columns) if found is not None and is_small else None

    def _drawn(self, name: str, jacobian: Array) -> list[str] | None:
        """A row, a matrix and a row, with what they are below; None if that is too wide."""
        v, product = (array.reshape(1, -1) for array in (self.answer.v, self.answer.vjp[name]))
        rows = len(jacobian)
        transposed = "vT" if self.screen.ascii else "vᵀ"
        labels = (transposed, self._partial(self.answer.output, name), f"{transposed}J, for {name}")
        shown = []
        for array, label in zip((v, jacobian, product), labels, strict=True):
            lines = matrix([[digits(n) for n in row] for row in array], self.screen)
            shown.append(self._labelled(lines, label, rows, is_last=array is product))
        found = beside([shown[0], words(" * " if self.screen.ascii else " · "), shown[1], words(" = "), shown[2]])
        wide = max(map(len, found))
        return found if wide <= (self.screen.width or 10 * wide) else None

    def _labelled(self, lines: tuple[str, ...], label: str, height: int, *, is_last: bool) -> Block:
        """A matrix in the middle of so many lines, with a label below that does not move the middle."""
        above = (height - len(lines)) // 2
        full = ["", *[""] * above, *lines, *[""] * (height - len(lines) - above), label]
        width = max(map(len, full))
        return Block(tuple(line.ljust(width) if is_last else line.center(width) for line in full), "")

    def in_one_go(self, loss: Loss) -> Iterator[Text]:
        """The gradient of the composite beside vᵀJ."""
        of = "the gradient of the loss of the function," if self.screen.ascii else "∇(ℓ∘f), the gradient of the loss,"
        yield from _titled(f"{of} by torch in one go", self.screen)
        for name in self.answer.wrt:
            left = f"dloss/d{name}" if self.screen.ascii else f"∂ℓ/∂{name}"
            yield self._lines(chain([[words(left)], [self._numbers(loss.gradient[name])]], self.screen))
        same = "the same as vᵀJ" if self.answer.loss_agrees else "not the same as vᵀJ"
        yield text(same, self.screen, "bold green" if self.answer.loss_agrees else "bold red")


def _ends(items: Sequence[Any], count: int) -> tuple[Sequence[Any], Sequence[Any], int]:
    """The first and the last of many items, and how many there are between."""
    if count <= SHOWN and len(items) == count:
        return items, [], 0
    half = SHOWN // 2
    return items[:half], items[-half:], count - 2 * half
