"""Constant arguments: the numbers, words and shapes given to operations, and the items of an index.

They may be written as expressions, `x[2*i + 1]` or `linspace(0, 2*pi, 5)`; NumPy evaluates them meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import sympy

from gradcli.errors import LanguageError, Span, TooLargeError
from gradcli.language.lower.evaluators import Array, Evaluation
from gradcli.language.lower.hooks import Lower
from gradcli.language.lower.lines import Lines
from gradcli.language.lower.scope import Scope
from gradcli.language.ops import Default, Kind, Op
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Line, Program, Shape, number
from gradcli.language.text.nodes import (
    Argument,
    Bound,
    Group,
    Items,
    Loop,
    Member,
    Name,
    Node,
    Number,
    Postfix,
    Subscript,
    Word,
)
from gradcli.language.text.source import Source, require_sound

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

_PLAIN: Mapping[str, Default] = {"True": True, "False": False, "None": None}


class Constants:
    """Reads what must be constant in the text itself."""

    def __init__(self, lines: Lines, scope: Scope, lower: Lower, evaluation: Evaluation | None) -> None:
        self.lines, self.scope, self.lower = lines, scope, lower
        self._evaluation = evaluation
        self.source: Source = lines.source

    @property
    def evaluation(self) -> Evaluation:
        """What evaluates lines."""
        if self._evaluation is None:
            raise AssertionError("a meaning of the op table needs no evaluation")
        return self._evaluation

    # -- arguments

    def static(self, op: Op, parameter: str, arguments: Sequence[Argument]) -> Default:
        """The constant of a parameter.

        Args:
            op: Whose parameter it is.
            parameter: Its name.
            arguments: What it is given; several, where it takes all that follow.

        Raises:
            LanguageError: it is not of the kind that the parameter takes.
        """
        value = self._static(op, parameter, arguments)
        if parameter == "keepdim" and value in (0, 1):
            return bool(value)
        takes = "true or false" if parameter == "keepdim" else "a whole number"
        takes = "a number" if parameter in NUMBERS else takes
        takes = "whole numbers" if parameter in SEVERAL else takes
        is_fit = not isinstance(value, bool) or parameter in ("keepdim", "correction")
        is_fit &= not isinstance(value, tuple) or parameter in SEVERAL
        is_fit &= parameter != "keepdim" or isinstance(value, bool)
        if (value is None and op.statics[parameter] is not None) or not is_fit:
            span = arguments[0].value.span.to(arguments[-1].value.span)
            raise self.source.error(LanguageError, f"{op.name} takes {takes} for {parameter}", span)
        return value

    def is_known(self, node: Node) -> bool:
        """Whether it is the name of a constant of a meaning."""
        return isinstance(node, Name) and node.arguments is None and node.token.text in self.scope.constants

    def _static(self, op: Op, parameter: str, arguments: Sequence[Argument]) -> Default:
        argument = arguments[0]
        node, token = argument.value, self.source.tokens[argument.start]
        if self.is_known(node):
            return self.scope.constants[token.text]  # type: ignore[no-any-return]
        if isinstance(node, Word) and token.kind == "keyword" and token.text in _PLAIN:
            return _PLAIN[token.text]
        if parameter in WORDS:
            return self._word(op, parameter, argument)
        if parameter in NUMBERS:
            if parameter == "p" and token.kind == "string" and token.text == "fro":
                return 2
            return self.number(node)
        if isinstance(node, Items | Group) and self._is_list(node):
            inside = node.items if isinstance(node, Items) else (node.inner,)
            found = tuple(self.integer(item) for item in inside)
            require_sound(node.fault)
            return found
        if parameter in GATHERED and op.name not in ("full",):
            return tuple(self.integer(one.value) for one in arguments)
        return self.integer(node)

    def _is_list(self, node: Items | Group) -> bool:
        """Whether brackets hold a list of numbers: they are the whole of an argument, or never closed."""
        behind = self.source.tokens[self.source.position(node.span.stop)]
        is_loop = isinstance(node, Items) and any(isinstance(item, Loop) for item in node.items)
        return (behind.text in (",", ")", "]") or (behind.kind == "end" and node.fault is not None)) and not is_loop

    def _word(self, op: Op, parameter: str, argument: Argument) -> str:
        token = self.source.tokens[argument.start]
        known = WORDS[parameter]
        if token.kind != "string" or (known and token.text not in known):
            hint = f"it is {' or '.join(map(repr, known))}" if known else "write it in quotes, as 'ij,j->i'"
            message = f"{op.name} does not take this {parameter}"
            raise self.source.error(LanguageError, message, token.span, hint=hint)
        return token.text

    # -- indices

    def item(self, bound: Bound) -> int | Slice | str:
        """One item of an index: a whole number, a slice, `...` or `None`."""
        if len(bound.parts) == 1 and (only := bound.parts[0]) is not None:
            if isinstance(only, Word) and only.token.text in ("...", "None"):
                return "..." if only.token.text == "..." else NEW
            if _is_newaxis(only):
                return NEW
        limits: list[int | None] = [None, None, None]
        colons = 0
        for part in bound.parts:
            if part is None:
                colons += 1
            else:
                limits[min(colons, 2)] = self.integer(part)
        require_sound(bound.fault)
        if colons == 0:
            if limits[0] is None:
                hint = "write x[0] or x[1:]"
                raise self.source.error(LanguageError, "an index is missing", bound.span, hint=hint)
            return limits[0]
        if colons == 3 or (limits[2] is not None and limits[2] < 1):
            reverses = "flip(x, 0) reverses" if limits[2] is not None else None
            message = "a slice is start:stop:step with a positive step"
            raise self.source.error(LanguageError, message, bound.span, hint=reverses)
        return Slice(limits[0], limits[1], limits[2] or 1)

    def place(self, subscript: Subscript) -> int:
        """The whole number that is all of an index."""
        bound = subscript.items[0]
        part = bound.parts[0] if bound.parts else None
        if part is None:
            position = self.source.position(bound.span.start)
            raise self.source.unexpected(position, is_inside=True)
        found = self.integer(part)
        require_sound(subscript.fault)
        if len(bound.parts) > 1 or len(subscript.items) > 1 or bound.fault is not None:
            position = self.source.position(part.span.stop)
            raise self.source.unexpected(position, " where ']' was expected", is_inside=True)
        return found

    # -- numbers

    def integer(self, node: Node) -> int:
        """A whole number, or an expression of constants that is one."""
        if isinstance(node, Number) and node.text.isdecimal():
            value: float = int(node.text)
            span = node.span
        else:
            value, span = self.constant(node, "an integer constant must stand here")
        if not math.isfinite(value) or value != math.floor(value):
            raise self.source.error(LanguageError, "an integer constant must stand here", span)
        if abs(value) >= LARGEST:
            raise self.source.error(TooLargeError, "this integer is too large for a dimension", span)
        return int(value)

    def number(self, node: Node) -> int | float:
        """A number, or an expression of constants; beyond what a float holds exactly, the nearest one."""
        value = self.constant(node, "a constant must stand here")[0]
        is_exact = isinstance(value, float) or abs(value) <= LARGEST_EXACT
        return value if is_exact else number(sympy.Integer(value))

    def constant(self, node: Node, message: str) -> tuple[int | float, Span]:
        """The number of an expression of constants.

        Raises:
            LanguageError: With this message, it is none.
        """
        mark = len(self.lines.builder.lines)
        value, span = self.lower(node)
        if isinstance(value, sympy.Integer):
            return int(value), span
        lines, sizes = self._constant_lines(value, message, node.span.to(span))
        if sizes is None:
            self.scope.needs_shapes = True
            self.lines.builder.forget(mark)
            return UNKNOWN_SIZE, span
        found = self.evaluation.run(Program(self.source.text, (), lines, value, self.source.name), sizes)
        self.lines.builder.forget(mark)
        if found.shape != ():
            raise self.source.error(LanguageError, message, node.span.to(span), hint="this is a tensor")
        return float(found), span

    def _constant_lines(
        self, value: Atom, message: str, span: Span
    ) -> tuple[tuple[Line, ...], dict[Atom, Array] | None]:
        """The lines of a constant, and the sizes of tensors in it; None if the shape of a variable is not known yet.

        Raises:
            LanguageError: It depends on the values of variables.
        """
        lines, leaves = self.lines.builder.made_of(value, stop=lambda call: call.op.kind is Kind.COUNT)
        if not leaves.isdisjoint(self.scope.variables.values()):
            hint = "the values of variables are not known here; write a number, or x.shape[0] for a size"
            hint = "where(x > 0, x, 0) chooses by a condition" if value in self.lines.conditions else hint
            raise self.source.error(LanguageError, message, span, hint=hint)
        known = self.scope.known_shapes
        sizes: dict[Atom, Array] = {}
        for line in (line for line in lines if line.call.op.kind is Kind.COUNT):
            shape = self.shape_in(line.call.operands[0], known)
            if shape is None:
                return (), None
            sizes[line.symbol] = np.asarray(float(self.evaluation.count_of(shape, line.call.statics[0])))
        return tuple(line for line in lines if line.symbol not in sizes), sizes

    def shape_in(self, operand: Atom, known: Mapping[Atom, Shape]) -> Shape | None:
        """The shape of a tensor whose size is asked for, from those of the variables."""
        lines, leaves = self.lines.builder.made_of(operand)
        variables = tuple(s for s in self.scope.variables.values() if s in leaves)
        if any(s not in known for s in variables):
            return None
        program = Program(self.source.text, variables, tuple(lines), operand, self.source.name)
        return self.evaluation.infer(program, {s: known[s] for s in variables})[operand]


def _is_newaxis(node: Node) -> bool:
    """Whether it is `np.newaxis`."""
    match node:
        case Postfix(operand=Name(token=module, arguments=None), trailers=(Member(name=name, arguments=None),)):
            return module.text in ("np", "numpy", "torch") and name.text == "newaxis"
    return False
