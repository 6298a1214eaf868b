"""Constants of the text itself: numbers, words and shapes given to operations, indices, loops, sizes.

Constants may be written as expressions, `x[2*i + 1]` or `linspace(0, 2*pi, 5)`; NumPy evaluates them meanwhile.  A loop
in a list, `[x**i for i in range(6)]`, is written out: its term is lowered again for each value of its name, so its cost
is counted.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import GradcliError, LanguageError, Place, Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.argument_kinds import GATHERED, NUMBERS, SEVERAL, WORDS, excess
from gradcli.language.lower.scope import ConstantEvaluation, Lines, Operand
from gradcli.language.ops import Default, Kind, Meaning, Op
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.wengert import Atom, Call, Program, Shape, number
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token

LARGEST = 2**62
"""Bound below which whole numbers are."""

LARGEST_EXACT = 2**53
"""Bound beyond which a number is a float, as neither torch nor NumPy takes integers of more than 64 bits."""

MAX_UNROLLED = 10_000
"""Largest number of terms of all loops of a text together."""

MAX_REPEATED = 1_000_000
"""Largest number of tokens that loops may read again."""

NEW_AXES = ("np.newaxis", "numpy.newaxis", "torch.newaxis")
"""Names of None in an index."""

_PLAIN: Mapping[str, Default] = {"True": True, "False": False, "None": None}


UNKNOWN_SIZE = 4
"""Provisional size until the shapes of the variables are known."""


class ShapeInference(Lines):
    """Lowering that infers the shape of each line once."""

    @property
    def evaluation(self) -> ConstantEvaluation:
        """Evaluation of lines; a meaning of the table has none."""
        raise LanguageError("a constant argument is not of the kind that is read here")

    def shape_of(self, atom: Atom) -> Shape | None:
        """Infer the shape of a value; None while that of a variable is not known.

        Raises:
            GradcliError: Shapes do not fit.
        """
        for line in self.builder.made_of(atom, known=self._known)[0]:
            shapes = [self._found(a) for a in line.call.operands]
            known = [shape for shape in shapes if shape is not None]
            is_known = len(known) == len(shapes)
            try:
                self._known[line.symbol] = self.evaluation.shape_of(line.call, known) if is_known else None
            except GradcliError as error:
                error.place = Place(self.source.text, line.span, self.source.name)
                raise
        return self._found(atom)

    def needed_shape(self, atom: Atom) -> Shape | None:
        """Infer the shape of a value, and have the text read again where it is not known."""
        shape = self.shape_of(atom)
        self.scope.needs_shapes |= shape is None
        return shape

    def needed_shapes(self, atoms: Sequence[Atom]) -> tuple[Shape, ...] | None:
        """Infer the shapes of values, and have the text read again where one is not known."""
        found = [self.needed_shape(atom) for atom in atoms]
        return None if None in found else tuple(shape for shape in found if shape is not None)

    def fitted(self, call: Call) -> Call:
        """Give a call whose meaning depends on shapes those of its operands, or torch's meaning for them."""
        if not call.op.of_shapes:
            return call
        shapes = None if self.is_meaning else self.needed_shapes(call.operands)
        blank = Call(call.op.name, call.operands, (*call.typed, None))
        is_asked = shapes is not None and call.op.defined_by is Meaning.TORCH_CALL and self.scope.ask is not None
        last = self.scope.ask(blank, shapes, ())[0] if is_asked else shapes  # type: ignore[misc, arg-type]
        return Call(call.op.name, call.operands, (*call.typed, last))

    def _found(self, atom: Atom) -> Shape | None:
        if not isinstance(atom := self.scope.first_part(atom), sympy.Symbol):
            return ()
        is_variable = self.scope.variables.get(atom.name) == atom
        return self.scope.shapes.get(atom.name) if is_variable else self._known.get(atom)


class Constants(ShapeInference):
    """Lowering of constants of the text itself, and of the elements of a list."""

    unrolled = repeated = 0

    # -- arguments

    def static(self, op: Op, parameter: str, arguments: Sequence[nodes.Argument]) -> Default:
        """Read the constant of a parameter.

        Args:
            op: The operation that has the parameter.
            parameter: Its name.
            arguments: Its arguments; several, where it takes all after the first.

        Raises:
            LanguageError: it is not of the kind that the parameter takes.
        """
        value: Default = self._static(op, parameter, arguments)
        span = arguments[0].value.span.to(arguments[-1].value.span)
        self.require_bounded(op, parameter, value, span)
        default = op.statics[parameter]
        is_flag, is_several = isinstance(default, bool), parameter in SEVERAL
        if is_flag and value in (0, 1):
            return bool(value)
        is_fit = not is_flag and (value is not None or default is None)
        is_fit &= not isinstance(value, tuple) or (is_several and None not in value)
        is_fit &= not isinstance(value, bool) or parameter == "correction"
        if not (is_fit or op.is_defined_by_torch):  # else torch refuses them
            kind = "true or false" if is_flag else "a number" if parameter in NUMBERS else "a whole number"
            takes = "whole numbers" if is_several else kind
            raise self.source.error(f"{op.name} takes {takes} for {parameter}", span)
        return value

    def require_bounded(self, op: Op, parameter: str, value: Default, span: Span) -> None:
        """Refuse whole numbers beyond their meaning, before they take memory or time."""
        if op.kind is not Kind.SOURCE and (hint := excess(op.name, parameter, value)):
            raise self.source.error(f"this {parameter} is too large", span, hint=hint, kind=TooLargeError)

    def is_meaning_constant(self, node: nodes.Node) -> bool:
        """Tell whether a node is the name of a constant of a meaning."""
        return nodes.name_alone(node) in self.scope.constants

    def _static(self, op: Op, parameter: str, arguments: Sequence[nodes.Argument]) -> Any:
        node = arguments[0].value
        if self.is_meaning_constant(node):
            return self.scope.constants[nodes.name_alone(node)]
        if isinstance(node, nodes.Word) and node.token.kind == "keyword":
            return _PLAIN[node.token.text]
        if parameter in GATHERED and op.name != "full":
            return self._joined([one.value for one in arguments])
        if op.is_defined_by_torch:
            return self._literal(node)
        words = WORDS.get(f"{op.name}.{parameter}", WORDS.get(parameter))
        if words is not None and (isinstance(node, nodes.Word) or parameter not in NUMBERS):
            word = node.token.text if isinstance(node, nodes.Word) else ""
            if not word or (words and word not in words):
                hint = f"it is {' or '.join(map(repr, words))}" if words else "write it in quotes, as 'ij,j->i'"
                raise self.source.error(f"{op.name} does not take this {parameter}", node.span, hint=hint)
            return word
        if parameter in NUMBERS:
            return self.number(node)
        return self.several(node) if parameter in SEVERAL or isinstance(node, nodes.Items) else self.integer(node)

    def _literal(self, node: nodes.Node) -> Any:
        """Read a word, a number, or several of them."""
        if isinstance(node, nodes.Items):
            return tuple(map(self._literal, node.items))
        if isinstance(node, nodes.Word):
            return _PLAIN[node.token.text] if node.token.kind == "keyword" else node.token.text
        if (parts := self._sizes(node)) is not None:
            return parts
        value = self.number(node)
        return int(value) if math.isfinite(value) and value == int(value) else value

    def several(self, node: nodes.Node) -> int | tuple[int, ...]:
        """Read a whole number, or several: between brackets, or in one value such as `x.shape`."""
        if isinstance(node, nodes.Items):
            return self._joined(node.items)
        found = self._sizes(node)
        return self.integer(node) if found is None else found

    def _sizes(self, node: nodes.Node) -> tuple[int, ...] | None:
        """Read the whole numbers of a call that gives several."""
        if not isinstance(node, nodes.NameNode | nodes.Postfix):
            return None
        mark = len(self.builder.lines)
        parts = self.scope.parts_of(self.lower(node)[0])
        found = None if parts is None else tuple(self.whole(*one) for one in parts)
        self.builder.forget(mark)
        return found

    def _joined(self, found: Sequence[nodes.Node]) -> tuple[int, ...]:
        """Read the whole numbers of several expressions, one after the other."""
        parts = [self.several(node) for node in found]
        return tuple(n for part in parts for n in (part if isinstance(part, tuple) else (part,)))

    # -- indices

    def item(self, bound: nodes.SliceNode) -> int | Slice | str:
        """Read one item of an index: a whole number, a slice, `...` or `None`."""
        only = bound.only
        if isinstance(only, nodes.Word) and only.token.text in ("...", "None"):
            return "..." if only.token.text == "..." else NEW
        if only is not None and self.source.single_line(only.span) in NEW_AXES:
            return NEW
        if only is not None:
            return self.integer(only)
        if len(bound.parts) == 1:
            raise self.source.error("an index is missing", bound.span, hint="write x[0] or x[1:]")
        start, stop, step, *others = (None if part is None else self.integer(part) for part in (*bound.parts, None))
        if others[1:] or step == 0:
            raise self.source.error("a slice is start:stop:step with a step that is not 0", bound.span)
        return Slice(start, stop, 1 if step is None else step)

    def place(self, subscript: nodes.Subscript) -> int:
        """Read the whole number that is all of an index."""
        found = self.item(subscript.items[0])
        if not isinstance(found, int) or len(subscript.items) > 1:
            raise self.source.error("one whole number must stand here", subscript.span, hint="write [0]")
        return found

    # -- numbers

    def integer(self, node: nodes.Node) -> int:
        """Read a whole number, or an expression of constants that is one."""
        return self._whole(*self.constant(node, "an integer constant must stand here"))

    def whole(self, atom: Atom, span: Span) -> int:
        """Return a value as a whole number, which it must be."""
        return self._whole(self.value_of(atom, span, "an integer constant must stand here"), span)

    def _whole(self, value: float, span: Span) -> int:
        if not math.isfinite(value) or value != math.floor(value):
            raise self.source.error("an integer constant must stand here", span)
        if abs(value) >= LARGEST:
            raise self.source.error("this integer is too large for a dimension", span, kind=TooLargeError)
        return int(value)

    def number(self, node: nodes.Node) -> int | float:
        """Read a number, or an expression of constants; beyond the exact range of a float, the nearest one."""
        value = self.constant(node, "a constant must stand here")[0]
        is_exact = isinstance(value, float) or abs(value) <= LARGEST_EXACT
        return value if is_exact else number(sympy.Integer(value))

    def constant(self, node: nodes.Node, message: str) -> tuple[int | float, Span]:
        """Evaluate an expression of constants.

        Raises:
            LanguageError: With this message, it is none.
        """
        if isinstance(node, nodes.NumberNode) and node.text.isdecimal():
            return int(node.text), node.span
        mark = len(self.builder.lines)
        atom, span = self.lower(node)
        value = self.value_of(atom, node.span.to(span), message)
        self.builder.forget(mark)
        return value, span

    def value_of(self, atom: Atom, span: Span, message: str) -> int | float:
        """Evaluate a value made of constants and sizes.

        Raises:
            LanguageError: With this message, it is none, or depends on the values of variables.
        """
        atom = self.require_tensor(atom, span)
        if isinstance(atom, sympy.Integer):
            return int(atom)
        if atom in (sympy.oo, -sympy.oo):
            return number(atom)
        lines, leaves = self.builder.made_of(atom, stop=lambda call: call.op.kind is Kind.COUNT)
        if not leaves.isdisjoint(self.scope.variables.values()):
            hint = "the values of variables are not known here; write a number, or x.shape[0] for a size"
            hint = "where(x > 0, x, 0) chooses by a condition" if atom in self.conditions else hint
            raise self.source.error(message, span, hint=hint)
        if any(isinstance(leaf, sympy.Symbol) for leaf in leaves):  # a tuple, or another value that is no tensor
            raise self.source.error(message, span)
        evaluation, counts = self.evaluation, dict[Atom, Array]()
        for line in (line for line in lines if line.call.op.kind is Kind.COUNT):
            if (shape := self.shape_of(line.call.operands[0])) is None:
                self.scope.needs_shapes = True
                return UNKNOWN_SIZE
            counts[line.symbol] = np.asarray(float(evaluation.count_of(shape, line.call.statics[0])))
        rest = tuple(line for line in lines if line.symbol not in counts)
        found = evaluation.run(Program(self.source.text, (), rest, atom, self.source.name), counts)
        if found.shape != ():
            raise self.source.error(message, span, hint="this is a tensor")
        return float(found)

    def numbers(self, atom: Atom) -> Array | None:
        """Evaluate a value that is made of constants and sizes alone; its lines are needed no more."""
        program = self.builder.program(atom, self.scope.variables.values())
        if program.variables:
            return None
        self.scope.spent.update(line.symbol for line in program.lines)
        return np.asarray(self.evaluation.run(program, {}))

    def meaning(self, text: str, operands: Sequence[str], constants: Mapping[str, Any]) -> Program:
        """Parse a text of the language as a Program in operands of these names, with constants by name."""
        raise NotImplementedError

    def inlined(self, text: str, operands: Mapping[str, Atom], span: Span, **held: Any) -> Atom:
        """Inline a text of the language in operands of these names, and constants of others."""
        return self.builder.inline(self.meaning(text, tuple(operands), held), operands.values(), span, self.fitted)

    # -- lists and loops

    def items(self, node: nodes.Items | nodes.GroupNode) -> list[Operand]:
        """Lower the elements of a list or of a loop."""
        if isinstance(node, nodes.GroupNode):
            return [self.lower(node.inner)]
        if not node.items:
            raise self.source.error("an empty list has no value", node.span, hint="write [a, b]")
        if isinstance(loop := node.items[0], nodes.Loop):
            return self.terms(loop)
        return [self.lower(item) for item in node.items]

    def terms(self, loop: nodes.Loop) -> list[Operand]:
        """Lower the terms of a loop."""
        found = list(self._unrolled(loop, 0))
        if not found and self.scope.needs_shapes:
            return [(sympy.Integer(0), loop.span)]
        if not found:
            raise self.source.error("this loop has no terms", loop.span)
        return found

    def parts(self, node: nodes.Node) -> list[Operand] | None:
        """List the tensors of a call that gives several, or of a name that stands for them; None of anything else."""
        if (known := self.scope.list_of(node)) is not None:
            return known
        last = node.trailers[-1] if isinstance(node, nodes.Postfix) else node
        if not isinstance(last, nodes.NameNode | nodes.Member) or last.arguments is None:
            return None
        op = ops.find((last.token if isinstance(last, nodes.NameNode) else last.name).text, after_dot=True)
        return self.scope.parts_of(self.lower(node)[0]) if op is not None and op.parts else None

    def _unrolled(self, loop: nodes.Loop, level: int) -> Iterator[Operand]:
        """Lower the body for every value of the loops from a level on."""
        clause, outer = loop.clauses[level], self.scope.names
        for value in self._values(clause):
            self.scope.names = ChainMap({clause.name.text: value}, outer)
            self.require_few(len(self.source.positions(loop.body.span)), clause.word)
            message = "the condition of a loop must be constant"
            if clause.condition is not None and not self.constant(clause.condition, message)[0]:
                continue
            if level + 1 < len(loop.clauses):
                yield from self._unrolled(loop, level + 1)
            else:
                yield self.lower(loop.body)
        self.scope.names = outer

    def _values(self, clause: nodes.Clause) -> Iterable[Atom]:
        """List the values of a loop: a range of whole numbers, a list of constants, or several tensors."""
        node = clause.values
        if isinstance(node, nodes.NameNode) and node.token.text == "range" and node.arguments is not None:
            bounds = [self.integer(argument.value) for argument in node.arguments.items[:4]]
            if len(bounds) in (1, 2, 3) and bounds[2:] != [0]:
                if len(steps := range(*bounds)) > MAX_UNROLLED:
                    self.unrolled = MAX_UNROLLED  # before the first of too many is read
                return map(sympy.Integer, steps)
            hint = "write range(start, stop, step), with a step that is not 0"
            raise self.source.error("this is no range", node.arguments.span, hint=hint)
        if (parts := self.parts(node)) is not None:
            return [a for a, _ in parts]
        values = [a for a, _ in self.items(node)] if isinstance(node, nodes.Items | nodes.GroupNode) else []
        if not values or not all(a.is_number for a in values):
            span = clause.word.span.to(node.span)
            raise self.source.error("a loop runs over range(...) or a list of numbers", span)
        return values

    def require_few(self, tokens: int, word: Token) -> None:
        """Refuse loops that take too long.

        Raises:
            TooLargeError: They repeat too many tokens, or have too many terms.
        """
        self.unrolled += 1
        self.repeated += tokens
        if self.unrolled > MAX_UNROLLED or self.repeated > MAX_REPEATED:
            message = f"loops make more than {MAX_UNROLLED:,} terms, or repeat too long a text"
            hint = "use arange(n) and an operation on tensors"
            raise self.source.error(message, word.span, hint=hint, kind=TooLargeError)
