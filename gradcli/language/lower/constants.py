"""What must be constant in the text itself: numbers, words and shapes given to operations, indices, loops.

Constants may be written as expressions, `x[2*i + 1]` or `linspace(0, 2*pi, 5)`; NumPy evaluates them meanwhile.  A loop
in a list, `[x**i for i in range(6)]`, is written out: its term is lowered again for every value of its name, so what it
may cost is counted.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from gradcli.errors import GradcliError, LanguageError, Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.argument_kinds import GATHERED, NUMBERS, SEVERAL, WORDS, excess
from gradcli.language.lower.scope import Array, Evaluation, Lines, Lower, Operand
from gradcli.language.ops import REQUIRED, Default, Kind, Op
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Line, Program, Shape, number
from gradcli.language.text import nodes
from gradcli.language.text.source import require_sound
from gradcli.language.text.tokens import Token

UNKNOWN_SIZE = 4
"""What stands for a size until the shapes of the variables are known."""

LARGEST = 2**62
"""Whole numbers are below this."""

LARGEST_EXACT = 2**53
"""Beyond this a number is a float, as neither torch nor NumPy takes integers of more than 64 bits."""

MAX_UNROLLED = 10_000
"""Terms of all loops of a text together."""

MAX_REPEATED = 1_000_000
"""Tokens that loops may read again."""

_PLAIN: Mapping[str, Default] = {"True": True, "False": False, "None": None}


class Constants:
    """Reads what must be constant in the text itself, and what is between the brackets of a list."""

    def __init__(self, lines: Lines, lower: Lower, evaluation: Evaluation | None) -> None:
        self.lines, self.lower, self._evaluation = lines, lower, evaluation
        self.source, self.scope = lines.source, lines.scope
        self.unrolled = self.repeated = 0

    @property
    def evaluation(self) -> Evaluation:
        """What evaluates lines."""
        if self._evaluation is None:
            raise LanguageError("a constant argument is not of the kind that is read here")
        return self._evaluation

    # -- arguments

    def static(self, op: Op, parameter: str, arguments: Sequence[nodes.Argument]) -> Default:
        """The constant of a parameter.

        Args:
            op: Whose parameter it is.
            parameter: Its name.
            arguments: What it is given; several, where it takes all that follow.

        Raises:
            LanguageError: it is not of the kind that the parameter takes.
        """
        value = self._static(op, parameter, arguments)
        span = arguments[0].value.span.to(arguments[-1].value.span)
        self.require_bounded(op, parameter, value, span)
        is_flag = isinstance(op.statics[parameter], bool)
        if is_flag and value in (0, 1):
            return bool(value)
        takes = "true or false" if is_flag else "a whole number"
        takes = "a number" if parameter in (*NUMBERS, "ord") else takes
        is_several = parameter in SEVERAL and (parameter != "size" or op.statics[parameter] is not REQUIRED)
        takes = "whole numbers" if is_several else takes
        is_fit = not isinstance(value, bool) or is_flag or parameter in ("correction", "align_corners")
        is_fit &= not isinstance(value, tuple) or is_several
        is_fit &= not is_flag or isinstance(value, bool)
        if (value is None and op.statics[parameter] is not None) or not is_fit:
            raise self.source.error(f"{op.name} takes {takes} for {parameter}", span)
        return value

    def require_bounded(self, op: Op, parameter: str, value: Default, span: Span) -> None:
        """Refuse whole numbers beyond their meaning, before they take memory or time."""
        if op.kind is not Kind.SOURCE and (hint := excess(op.name, parameter, value)):
            raise self.source.error(f"this {parameter} is too large", span, hint=hint, kind=TooLargeError)

    def is_known(self, node: nodes.Node) -> bool:
        """Whether it is the name of a constant of a meaning."""
        return isinstance(node, nodes.Name) and node.arguments is None and node.token.text in self.scope.constants

    def _static(self, op: Op, parameter: str, arguments: Sequence[nodes.Argument]) -> Default:
        argument = arguments[0]
        node, token = argument.value, self.source.tokens[argument.start]
        if self.is_known(node):
            return self.scope.constants[token.text]  # type: ignore[no-any-return]
        if isinstance(node, nodes.Word) and token.kind == "keyword" and token.text in _PLAIN:
            return _PLAIN[token.text]
        if (truth := self.truth(node)) is not None:
            return truth
        if parameter == "ord" or (parameter == "p" and op.name == "cond"):
            return token.text if token.kind == "string" else self.number(node)
        if parameter in WORDS and (token.kind == "string" or parameter not in SEVERAL):
            return self._word(op, parameter, argument)
        if parameter in NUMBERS:
            if token.kind == "string" and f"{op.name}.{parameter}" in WORDS:
                return self._word(op, parameter, argument)
            if parameter == "p" and token.kind == "string" and token.text == "fro":
                return 2
            if parameter in SEVERAL and isinstance(node, nodes.Items):
                several: Any = tuple(self.number(item) for item in node.items)
                return several  # type: ignore[no-any-return]
            return self.number(node)
        if isinstance(node, nodes.Items | nodes.Group) and self._is_list(node):
            return self.integers(node, has_gaps=parameter == "output_size")
        if parameter in GATHERED and op.name not in ("full",):
            return self._joined([one.value for one in arguments])
        return self.several(node) if parameter in SEVERAL else self.integer(node)

    def several(self, node: nodes.Node) -> int | tuple[int, ...]:
        """A whole number, or those that Python holds together: `x.shape`, `torch.Size([2, 3])`."""
        if isinstance(node, nodes.Number):
            return self.integer(node)
        last = node.trailers[-1] if isinstance(node, nodes.Postfix) else node
        if isinstance(last, nodes.Member) and last.name.text == "Size" and last.arguments and last.arguments.items:
            node = last.arguments.items[0].value
        if isinstance(node, nodes.Items):
            return self.integers(node)
        mark = len(self.lines.builder.lines)
        parts = None if isinstance(node, nodes.Group) else self.scope.parts_of(self.lower(node)[0])
        found = None if parts is None else tuple(self.whole(*one) for one in parts)
        self.lines.builder.forget(mark)
        return self.integer(node) if found is None else found

    def _joined(self, found: Sequence[nodes.Node]) -> tuple[int, ...]:
        """The whole numbers of several expressions, one after the other."""
        parts = [self.several(node) for node in found]
        return tuple(n for part in parts for n in (part if isinstance(part, tuple) else (part,)))

    def _is_list(self, node: nodes.Items | nodes.Group) -> bool:
        """Whether brackets hold a list of numbers: they are the whole of an argument, or never closed."""
        behind = self.source.tokens[self.source.position(node.span.stop)]
        is_loop = isinstance(node, nodes.Items) and any(isinstance(item, nodes.Loop) for item in node.items)
        return (behind.text in (",", ")", "]") or (behind.kind == "end" and node.fault is not None)) and not is_loop

    def _word(self, op: Op, parameter: str, argument: nodes.Argument) -> str:
        token = self.source.tokens[argument.start]
        return self._known_word(op, parameter, token.text if token.kind == "string" else "", token)

    def _known_word(self, op: Op, parameter: str, word: str, token: Token) -> str:
        """A word in quotes, or one that a name stands for."""
        known = WORDS.get(f"{op.name}.{parameter}", WORDS.get(parameter, ("",)))
        if not word or (known and word not in known):
            hint = f"it is {' or '.join(map(repr, known))}" if known else "write it in quotes, as 'ij,j->i'"
            raise self.source.error(f"{op.name} does not take this {parameter}", token.span, hint=hint)
        return word

    def truth(self, node: nodes.Node) -> bool | None:
        """True or False, or a name that stands for one; None of anything else."""
        if isinstance(node, nodes.Word) and node.token.text in ("True", "False"):
            return node.token.text == "True"
        if not isinstance(node, nodes.Name) or node.arguments is not None:
            return None
        atom = self.scope.names.get(node.token.text)
        line = self.lines.builder.line_of(atom) if atom in self.lines.conditions else None
        if atom is None or line is None or not all(a.is_number for a in line.call.operands):
            return None
        return bool(self.evaluation.run(Program(self.source.text, (), (line,), atom, self.source.name), {}))

    # -- indices

    def item(self, bound: nodes.Bound) -> int | Slice | str:
        """One item of an index: a whole number, a slice, `...` or `None`."""
        if len(bound.parts) == 1 and (only := bound.parts[0]) is not None:
            if isinstance(only, nodes.Word) and only.token.text in ("...", "None"):
                return "..." if only.token.text == "..." else NEW
            if is_newaxis(only):
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
                raise self.source.error("an index is missing", bound.span, hint="write x[0] or x[1:]")
            return limits[0]
        if colons == 3 or limits[2] == 0:
            raise self.source.error("a slice is start:stop:step with a step that is not 0", bound.span)
        return Slice(limits[0], limits[1], 1 if limits[2] is None else limits[2])

    def place(self, subscript: nodes.Subscript) -> int:
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

    def integer(self, node: nodes.Node) -> int:
        """A whole number, or an expression of constants that is one."""
        if isinstance(node, nodes.Number) and node.text.isdecimal():
            value: float = int(node.text)
            span = node.span
        else:
            value, span = self.constant(node, "an integer constant must stand here")
        return self._whole(value, span)

    def whole(self, atom: Atom, span: Span) -> int:
        """A value as a whole number, which it must be."""
        return self._whole(self.value_of(atom, span, "an integer constant must stand here"), span)

    def _whole(self, value: float, span: Span) -> int:
        if not math.isfinite(value) or value != math.floor(value):
            raise self.source.error("an integer constant must stand here", span)
        if abs(value) >= LARGEST:
            raise self.source.error("this integer is too large for a dimension", span, kind=TooLargeError)
        return int(value)

    def integers(self, node: nodes.Items | nodes.Group, *, has_gaps: bool = False) -> tuple[int, ...]:
        """The whole numbers between brackets; with `has_gaps`, None may stand for one."""
        inside = node.items if isinstance(node, nodes.Items) else (node.inner,)
        if not has_gaps:
            joined = self._joined(inside)
            require_sound(node.fault)
            return joined
        is_gap = [has_gaps and isinstance(item, nodes.Word) and item.token.text == "None" for item in inside]
        found: Any = tuple(None if gap else self.integer(item) for item, gap in zip(inside, is_gap, strict=True))
        require_sound(node.fault)
        return found  # type: ignore[no-any-return]

    def number(self, node: nodes.Node) -> int | float:
        """A number, or an expression of constants; beyond what a float holds exactly, the nearest one."""
        value = self.constant(node, "a constant must stand here")[0]
        is_exact = isinstance(value, float) or abs(value) <= LARGEST_EXACT
        return value if is_exact else number(sympy.Integer(value))

    def constant(self, node: nodes.Node, message: str) -> tuple[int | float, Span]:
        """The number of an expression of constants.

        Raises:
            LanguageError: With this message, it is none.
        """
        mark = len(self.lines.builder.lines)
        atom, span = self.lower(node)
        if isinstance(atom, sympy.Integer):
            return int(atom), span
        value = self.value_of(atom, node.span.to(span), message)
        self.lines.builder.forget(mark)
        return value, span

    def value_of(self, atom: Atom, span: Span, message: str) -> int | float:
        """The number that a value is.

        Raises:
            LanguageError: With this message, it is none.
        """
        atom = self.lines.one(atom, span)
        if isinstance(atom, sympy.Integer):
            return int(atom)
        if atom in (sympy.oo, -sympy.oo):
            return number(atom)
        lines, sizes = self._constant_lines(atom, message, span)
        if sizes is None:
            self.scope.needs_shapes = True
            return UNKNOWN_SIZE
        found = self.evaluation.run(Program(self.source.text, (), lines, atom, self.source.name), sizes)
        if found.shape != ():
            raise self.source.error(message, span, hint="this is a tensor")
        return float(found)

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
            raise self.source.error(message, span, hint=hint)
        if any(isinstance(leaf, sympy.Symbol) for leaf in leaves):  # a tuple, or another value that is no tensor
            raise self.source.error(message, span)
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
        program = self.lines.builder.program(operand, self.scope.variables.values())
        if any(s not in known for s in program.variables):
            return None
        return self.evaluation.infer(program, {s: known[s] for s in program.variables})[operand]

    # -- lists and loops

    def items(self, node: nodes.Items | nodes.Group) -> list[Operand]:
        """The elements of a list or of a loop."""
        if isinstance(node, nodes.Group):
            found = [self.lower(node.inner)]
        elif not node.items and node.fault is None:
            raise self.source.error("an empty list has no value", node.span, hint="write [a, b]")
        elif node.items and isinstance(loop := node.items[0], nodes.Loop):
            found = self.terms(loop, node.opening)
        else:
            found = [self.lower(item) for item in node.items]
        require_sound(node.fault)
        return found

    def terms(self, loop: nodes.Loop, opening: Token) -> list[Operand]:
        """The terms of a loop behind a bracket."""
        found = self.comprehended(loop)
        if not found and self.scope.needs_shapes:
            return [(sympy.Integer(0), opening.span)]
        if not found:
            start, tokens = self.source.position(loop.clauses[0].word.span.start), self.source.tokens
            end = next((tokens[n] for n, depth in self.source.levels(start) if depth < 0), tokens[-1])
            raise self.source.error("this loop has no terms", opening.span.to(end.span))
        return found

    def comprehended(self, loop: nodes.Loop) -> list[Operand]:
        """The terms of a loop, which may be none."""
        return list(self._unrolled(loop, 0))

    def listed(self, arguments: nodes.Arguments, *, has_start: bool) -> list[Operand] | None:
        """The elements of a list, a tuple or the name of a list, if that is the only argument, or before a start.

        A list of lists is a matrix: Python adds up no such thing.
        """
        items = arguments.items
        if not items or items[0].name is not None or items[0].fault is not None or arguments.unclosed is not None:
            return None
        if len(items) > 1 and not (has_start and items[1].name is None):
            return None
        node = items[0].value
        if (known := self.parts(node)) is not None:
            return known
        if not isinstance(node, nodes.Items) or not (node.opening.text == "[" or node.has_comma):
            return None
        if self.source.tokens[items[0].start + 1].text == "[":
            return None
        return self.items(node)

    def parts(self, node: nodes.Node) -> list[Operand] | None:
        """The tensors of a call that gives several, or of a name that stands for them; None of anything else."""
        if (known := self.scope.list_of(node)) is not None:
            return known
        last = node.trailers[-1] if isinstance(node, nodes.Postfix) else node
        if not isinstance(last, nodes.Name | nodes.Member) or last.arguments is None:
            return None
        op = ops.find((last.token if isinstance(last, nodes.Name) else last.name).text, after_dot=True)
        return self.scope.parts_of(self.lower(node)[0]) if op is not None and op.parts else None

    def generator(self, arguments: nodes.Arguments) -> nodes.Argument | None:
        """The argument that is a loop, if one is."""
        return next((one for one in arguments.items if isinstance(one.value, nodes.Loop)), None)

    def generated(self, arguments: nodes.Arguments, loop: nodes.Loop) -> list[Operand]:
        """The terms of a loop that is the only argument."""
        first = arguments.items[0]
        if first.value is not loop:
            self.lower(first.value)
            raise self.source.unexpected(first.stop, " where 'for' was expected", is_inside=True)
        terms = self.terms(loop, arguments.opening)
        behind = first.fault or arguments.unclosed
        if behind is None and len(arguments.items) > 1:
            behind = self.source.unexpected(first.stop, " where ')' was expected", is_inside=True)
        require_sound(behind)
        return terms

    def _unrolled(self, loop: nodes.Loop, level: int) -> Iterator[Operand]:
        """The body for every value of the loops from a level on."""
        clause = loop.clauses[level]
        require_sound(clause.fault)
        name, names = clause.name.text, self.scope.names
        shadowed = names.get(name)
        for value in self._values(clause):
            names[name] = value
            self.require_few(loop.width, clause.word)
            message = "the condition of a loop must be constant"
            if clause.condition is not None and not self.constant(clause.condition, message)[0]:
                continue
            if level + 1 < len(loop.clauses):
                yield from self._unrolled(loop, level + 1)
                continue
            require_sound(loop.fault)
            yield self.lower(loop.body)
            require_sound(loop.body_fault)
        if shadowed is None:
            names.pop(name, None)
        else:
            names[name] = shadowed

    def _values(self, clause: nodes.Clause) -> list[Atom]:
        """What a loop runs over: a range of whole numbers, or a list of constants."""
        node, behind = nodes.leading(clause.values), clause.position
        values: list[Atom] | None = None
        if isinstance(node, nodes.Name) and node.token.text == "range" and node.arguments is not None:
            values = [sympy.Integer(n) for n in self.range(node.arguments, clause.word)]
        elif isinstance(node, nodes.Items | nodes.Group):
            values = [a for a, _ in self.items(node)]
            behind = self.source.position(node.span.stop)
        elif (parts := self.parts(clause.values)) is not None:
            return [a for a, _ in parts]
        if values is None or not all(a.is_number for a in values):
            span = clause.word.span.to(self.source.tokens[behind].span)
            raise self.source.error("a loop runs over range(...) or a list of numbers", span)
        if node is not clause.values:
            position = self.source.position(node.span.stop)
            raise self.source.unexpected(position, " behind a loop", is_inside=True)
        return values

    def range(self, arguments: nodes.Arguments, word: Token) -> Sequence[int]:
        """The whole numbers of a range."""
        bounds: list[int] = []
        for argument in arguments.items[:3]:
            bounds.append(self.integer(argument.value))
            require_sound(argument.fault)
        require_sound(arguments.unclosed)
        if not bounds or len(arguments.items) > 3:
            position = arguments.items[3].start if bounds else arguments.position + 1
            raise self.source.unexpected(position, " where ')' was expected" if bounds else "", is_inside=True)
        if bounds[2:] == [0]:
            raise self.source.error("the step of a range is not 0", arguments.span)
        chosen = builtins.range(*bounds)
        if len(chosen) > MAX_UNROLLED:
            raise self._too_many(word)
        return chosen

    def require_few(self, tokens: int, word: Token) -> None:
        """Refuse loops that take too long.

        Raises:
            TooLargeError: They repeat too many tokens, or have too many terms.
        """
        self.unrolled += 1
        self.repeated += tokens
        if self.unrolled > MAX_UNROLLED or self.repeated > MAX_REPEATED:
            raise self._too_many(word)

    def _too_many(self, word: Token) -> GradcliError:
        message = f"loops make more than {MAX_UNROLLED:,} terms, or repeat too long a text"
        hint = "use arange(n) and an operation on tensors"
        return self.source.error(message, word.span, hint=hint, kind=TooLargeError)


def is_newaxis(node: nodes.Node) -> bool:
    """Whether it is `np.newaxis`."""
    match node:
        case nodes.Postfix(
            operand=nodes.Name(token=module, arguments=None), trailers=(nodes.Member(name=name, arguments=None),)
        ):
            return module.text in ("np", "numpy", "torch") and name.text == "newaxis"
    return False
