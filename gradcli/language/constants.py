"""Constant arguments: the numbers, words and shapes given to operations, and the items of an index.

They may be written as expressions, `x[2*i + 1]` or `linspace(0, 2*pi, 5)`; NumPy evaluates them while the text is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.errors import LanguageError, Span, TooLargeError
from gradcli.language.lines import Lines, Operand
from gradcli.language.ops import Default, Kind, Op
from gradcli.language.program.indexing import NEW, Shape, Slice
from gradcli.language.program.shapes import count_of, infer
from gradcli.language.program.wengert import Atom, Line, Program, number

NUMBERS = frozenset(["p", "value", "correction", "start", "end", "step", "fill_value"])
"""Parameters whose constants need not be whole."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "equation": (),
    "reduction": ("mean", "sum", "none"),
    "mode": ("constant",),
    "approximate": ("none", "tanh"),
}
"""Parameters that take a word in quotes, with the words they take."""

SEVERAL = frozenset(["dim", "dims", "shape", "pad", "shifts"])
"""Parameters that may take several numbers in parentheses."""

GATHERED = frozenset(["shape", "dims"])
"""Parameters that take all the numbers that follow: `view(2, 3)` is `view((2, 3))`."""

UNKNOWN_SIZE = 4
"""What stands for a size until the shapes of the variables are known."""

LARGEST = 2**62
"""Whole numbers are below this."""

LARGEST_EXACT = 2**53
"""Beyond this a number is a float, as neither torch nor NumPy takes integers of more than 64 bits."""


class Constants(Lines):
    """Reads what must be constant in the text itself."""

    variables: dict[str, sympy.Symbol]
    constants: Mapping[str, Any]
    shapes: dict[str, Shape]
    needs_shapes = False  # whether a size stands in a constant, and the shape of a variable in it is not known

    def expression(self, minimum: int = 0) -> Operand:
        """An expression; the grammar has it."""
        raise NotImplementedError

    def static(self, op: Op, parameter: str) -> Default:
        """The constant of a parameter.

        Raises:
            LanguageError: it is not of the kind that the parameter takes.
        """
        start = self.token
        value = self._static(op, parameter)
        span = start.span.to(self.tokens[self.position - 1].span)
        if parameter == "keepdim" and value in (0, 1):
            return bool(value)
        takes = "true or false" if parameter == "keepdim" else "a whole number"
        takes = "a number" if parameter in NUMBERS else takes
        takes = "whole numbers" if parameter in SEVERAL else takes
        is_fit = not isinstance(value, bool) or parameter in ("keepdim", "correction")
        is_fit &= not isinstance(value, tuple) or parameter in SEVERAL
        is_fit &= parameter != "keepdim" or isinstance(value, bool)
        if (value is None and op.statics[parameter] is not None) or not is_fit:
            raise self.error(LanguageError, f"{op.name} takes {takes} for {parameter}", span)
        return value

    def _static(self, op: Op, parameter: str) -> Default:
        token = self.token
        if token.text in self.constants and token.kind == "name":
            self.position += 1
            return self.constants[token.text]  # type: ignore[no-any-return]
        words: dict[str, Default] = {"True": True, "False": False, "None": None}
        if token.text in words:
            self.position += 1
            return words[token.text]
        if parameter in WORDS:
            return self._word(op, parameter)
        if parameter in NUMBERS:
            if parameter == "p" and token.kind == "string" and token.text == "fro":
                self.position += 1
                return 2
            return self.number()
        gathers = parameter in GATHERED and op.name not in ("full",)
        closing = {"(": ")", "[": "]"}.get(token.text) if self._holds_list() else None
        if closing is None and not gathers:
            return self.integer()
        if closing is not None:
            self.position += 1
        items: list[int] = []
        while self.token.text != (closing or ")") and not (closing is None and self.at_keyword):
            items.append(self.integer())
            if not self.accept(","):
                break
        if closing is not None:
            self.expect(closing, token)
        elif self.at_keyword:
            self.position -= 1  # the comma before the keyword
        return tuple(items)

    def _holds_list(self) -> bool:
        """Whether a bracket here holds a list of numbers, and not the first part of one: `(1, 2)`, not `(1 + 2)*3`."""
        end = next((n for n, depth in self.levels(self.position) if depth == 0), len(self.tokens) - 1)
        if end == len(self.tokens) - 1:
            return self.token.text in ("(", "[")
        return self.tokens[end].text in (")", "]") and self.tokens[end + 1].text in (",", ")", "]")

    def _word(self, op: Op, parameter: str) -> str:
        token = self.advance()
        known = WORDS[parameter]
        if token.kind != "string" or (known and token.text not in known):
            hint = f"it is {' or '.join(map(repr, known))}" if known else "write it in quotes, as 'ij,j->i'"
            raise self.error(LanguageError, f"{op.name} does not take this {parameter}", token.span, hint=hint)
        return token.text

    def item(self) -> int | Slice | str:
        """One item of an index: a whole number, a slice, `...` or `None`."""
        token = self.token
        if token.text in ("np", "numpy", "torch") and self.tokens[self.position + 2].text == "newaxis":
            self.position += 3
            return NEW
        if token.text in ("...", "None"):
            self.position += 1
            return "..." if token.text == "..." else NEW
        bounds: list[int | None] = [None, None, None]
        colons = 0
        while self.token.text not in (",", "]") and colons < 3 and not self.at_end:
            if self.accept(":"):
                colons += 1
            elif bounds[min(colons, 2)] is None:
                bounds[min(colons, 2)] = self.integer()
            else:
                raise self.unexpected()
        if colons == 0:
            if bounds[0] is None:
                raise self.error(LanguageError, "an index is missing", token.span, hint="write x[0] or x[1:]")
            return bounds[0]
        if colons == 3 or (bounds[2] is not None and bounds[2] < 1):
            span = token.span.to(self.tokens[self.position - 1].span)
            hint = "flip(x, 0) reverses" if bounds[2] is not None else None
            raise self.error(LanguageError, "a slice is start:stop:step with a positive step", span, hint=hint)
        return Slice(bounds[0], bounds[1], bounds[2] or 1)

    def integer(self) -> int:
        """A whole number, or an expression of constants that is one."""
        token, after = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        if token.kind == "number" and token.text.isdecimal() and after.text in (",", ")", "]", ":"):
            self.position += 1
            value: float = int(token.text)
            span = token.span
        else:
            value, span = self.constant("an integer constant must stand here")
        if not math.isfinite(value) or value != math.floor(value):
            raise self.error(LanguageError, "an integer constant must stand here", span)
        if abs(value) >= LARGEST:
            raise self.error(TooLargeError, "this integer is too large for a dimension", span)
        return int(value)

    def number(self) -> int | float:
        """A number, or an expression of constants; beyond what a float holds exactly, the nearest one."""
        value = self.constant("a constant must stand here")[0]
        is_exact = isinstance(value, float) or abs(value) <= LARGEST_EXACT
        return value if is_exact else number(sympy.Integer(value))

    def constant(self, message: str, *, minimum: int = 0) -> tuple[int | float, Span]:
        """The number of an expression of constants, of operators that bind at least this tightly.

        Raises:
            LanguageError: With this message, it is none.
        """
        mark, start = len(self.builder.lines), self.token
        value, span = self.expression(minimum)
        if isinstance(value, sympy.Integer):
            return int(value), span
        lines, sizes = self._constant_lines(value, message, start.span.to(span))
        if sizes is None:
            self.needs_shapes = True
            self.builder.forget(mark)
            return UNKNOWN_SIZE, span
        from gradcli.language.program.numeric import run

        found = run(Program(self.text, (), lines, value, self.source), sizes)
        self.builder.forget(mark)
        if found.shape != ():
            raise self.error(LanguageError, message, start.span.to(span), hint="this is a tensor")
        return float(found), span

    def _constant_lines(
        self, value: Atom, message: str, span: Span
    ) -> tuple[tuple[Line, ...], dict[Atom, npt.NDArray[np.float64]] | None]:
        """The lines of a constant, and the sizes of tensors in it; None if the shape of a variable is not known yet.

        Raises:
            LanguageError: It depends on the values of variables.
        """
        lines, leaves = self.builder.made_of(value, stop=lambda call: call.op.kind is Kind.COUNT)
        if not leaves.isdisjoint(self.variables.values()):
            hint = "the values of variables are not known here; write a number, or x.shape[0] for a size"
            hint = "where(x > 0, x, 0) chooses by a condition" if value in self.conditions else hint
            raise self.error(LanguageError, message, span, hint=hint)
        known = {s: self.shapes[name] for name, s in self.variables.items() if name in self.shapes}
        sizes: dict[Atom, npt.NDArray[np.float64]] = {}
        for line in (line for line in lines if line.call.op.kind is Kind.COUNT):
            shape = self.shape_in(line.call.operands[0], known)
            if shape is None:
                return (), None
            sizes[line.symbol] = np.asarray(float(count_of(shape, line.call.statics[0])))
        return tuple(line for line in lines if line.symbol not in sizes), sizes

    def shape_in(self, operand: Atom, known: Mapping[Atom, Shape]) -> Shape | None:
        """The shape of a tensor whose size is asked for, from those of the variables."""
        lines, leaves = self.builder.made_of(operand)
        variables = tuple(s for s in self.variables.values() if s in leaves)
        if any(s not in known for s in variables):
            return None
        program = Program(self.text, variables, tuple(lines), operand, self.source)
        return infer(program, {s: known[s] for s in variables})[operand]
