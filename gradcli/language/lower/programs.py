"""The tree of a text to a Program: one rule a node, and the statements with the remarks on them.

Chains are lowered step by step, so that only nesting recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import sympy

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.calls import Calls
from gradcli.language.lower.constants import NEW_AXES
from gradcli.language.lower.scope import Operand, Scope, Several
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.language.text import nodes
from gradcli.language.text.grammar import parse
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import COMPARISON, LEVELS

_FUNCTIONS: Mapping[str, str] = {**ops.SIGNS, "or": "logical_or", "and": "logical_and"}
"""Names of the functions by their operators."""


def parse_meaning(text: str, operands: Sequence[str], constants: Mapping[str, Any] = MappingProxyType({})) -> Program:
    """Parse a meaning of the op table to its Program, with its operands as the variables in this order.

    Args:
        text: Of the table; conditions among the operands are numbers, 1 or 0.
        operands: Names of the variables.
        constants: Values of the other names, for constant arguments and, if numbers, for arithmetic.
    """
    source = SourceText(text, f"a meaning, {text}")
    scope = Scope(given=frozenset(operands), constants=constants)
    scope.variables = {name: sympy.Symbol(name, real=True) for name in operands}
    for name, value in constants.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            scope.names[name] = sympy.Integer(value) if isinstance(value, int) else sympy.Float(value, precision=53)
    lowering = Lowering(source, scope, is_meaning=True)
    return lowering.program(parse(source))


@dataclass(frozen=True)
class EntryFormulas:
    """Formula of some entries of a tensor.

    Attributes:
        letters: The name of the index of each dimension; empty where the formula has none.
        fixed: The position in each dimension that the formula is for; None where it is for all.
        value: The formula.
    """

    letters: tuple[str, ...]
    fixed: tuple[int | None, ...]
    value: nodes.Node


Rules = Mapping[type, Callable[..., Operand]]
"""Rule of lowering for each node."""


class Lowering(Calls):
    """Lowering of a text to a Program.

    Attributes:
        unused_value: That of the last statement, if it was an expression without a name.
    """

    unused_value: Operand | None = None

    # -- statements

    def program(self, statements: Sequence[nodes.Statement]) -> Program:
        """Lower the statements of a text to a Program."""
        output: Operand | None = None
        for statement in statements:
            output = self.statement(statement)
            self.require_used()
            self.unused_value = None if statement.targets else output
        if output is None:
            message, end = "there is no expression", self.source.tokens[-1].span
            raise self.source.error(message, end, hint='write one, such as "x**2"')
        return self.finish(output)

    def statement(self, statement: nodes.Statement) -> Operand:
        """Lower an assignment or an expression."""
        if not statement.targets:
            name = nodes.name_alone(statement.value) if self.scope.names else ""
            self.scope.last_name = name if name in self.scope.names else ""
            return self.lower(statement.value)
        (target,) = statement.targets
        value, span = self.lower(statement.value)
        self.assign(target.text, value, statement.value)
        return value, target.span.to(span)

    def assign(self, name: str, value: Atom, node: nodes.Node) -> None:
        """Give a name to a value, which is written as this node."""
        scope = self.scope
        scope.names[name] = value
        scope.unused[name] = None
        scope.last_name = name
        found, line = scope.parts_of(value) or scope.list_of(node), self.builder.line_of(value)
        is_list = isinstance(node, nodes.Items) and not any(isinstance(one, nodes.Items) for one in node.items[:1])
        if is_list and line is not None and line.call.op.name == "stack":
            found = [(atom, line.span) for atom in line.call.operands]
        scope.lists.pop(name, None)
        if found is not None:
            scope.lists[name] = found

    def require_used(self) -> None:
        """Refuse an expression that other statements follow.

        Raises:
            LanguageError: The last statement was one.
        """
        if self.unused_value is not None:
            hint = "the last statement is the output; write NAME = ... to use a value there, or [a, b] for both"
            raise self.source.error("this expression is computed and thrown away", self.unused_value[1], hint=hint)

    def meaning(self, text: str, operands: Sequence[str], constants: Mapping[str, Any]) -> Program:
        """Parse a text of the language as a meaning of the table."""
        return parse_meaning(text, operands, constants)

    # -- results

    def value(self, value: nodes.Value) -> Program:
        """Lower one value to a Program; a comma at the top makes a vector."""
        operands = [self.lower(item) for item in value.items]
        if not value.is_vector:
            return self.finish(operands[0])
        span = operands[0][1].to(operands[-1][1])
        return self.finish(self.emit("stack", [a for a, _ in operands], span, (0,)))

    def entries(self, cases: Sequence[EntryFormulas], shape: Shape) -> Program:
        """Make the Program of the tensor of this shape whose entries the cases give; of several, the first fit."""
        result: Atom | None = None
        for case in reversed(cases):
            self.declare(case.letters, shape)
            value, span = self.lower(case.value)
            atom = self.whole_tensor(value, shape, span)
            result = atom if result is None else self.chosen(case.fixed, atom, result, shape, span)
        span = Span(0, len(self.source.text))
        return self.finish((sympy.Integer(0) if result is None else result, span))

    def finish(self, output: Operand) -> Program:
        """Make the Program of the lines so far; conditions come out as 1 and 0."""
        scope = self.scope
        atom, span = self._one_output(output)
        name = scope.last_name
        if name in scope.variables and self.builder.made_of(atom)[1].isdisjoint(scope.variables.values()):
            value = self.source.single_line(span).partition("=")[2].strip()
            hint = f"give the value by --at {name}={value}, or in a statement before"
            raise self.source.error(f"'{name}' is given a value after it is used", span, hint=hint)
        atom = self.as_number(atom, span)
        kept = {n: value for n, value in scope.names.items() if n not in scope.variables}
        values = {n: scope.first_part(value) for n, value in kept.items() if value not in scope.objects}
        names = {value: name for name, value in values.items()}
        written = self._lines(atom)
        lines = tuple(replace(line, name=names[line.symbol]) if line.symbol in names else line for line in written)
        unused = (f"the name '{name}' is assigned but never used" for name in scope.unused if name != scope.last_name)
        warnings = tuple(dict.fromkeys((*scope.warnings, *unused)))
        assigned = (*(name for name in values if name != scope.last_name), scope.last_name)
        assigned = tuple(name for name in assigned if name not in scope.variables)
        variables = tuple(scope.variables.values())
        named = {name: values[name] for name in assigned if name in values}
        origin = self.source.text, variables, lines, atom, self.source.name, assigned, named, warnings
        needs_shapes, needs_values = scope.needs_shapes, scope.needs_values
        guards = self.guards() if scope.guards else None
        return Program(*origin, needs_shapes=needs_shapes, needs_values=needs_values, guards=guards)

    def _one_output(self, output: Operand) -> Operand:
        """Return the output as one tensor: several of one shape are put in a list."""
        atom, span = output
        parts = self.scope.parts_of(atom)
        if parts is None or self.scope.several[atom].names or len({self.shape_of(a) for a, _ in parts}) != 1:
            return self.require_tensor(atom, span), span
        return self.emit("stack", [a for a, _ in parts], span, (0,))

    def _lines(self, output: Atom) -> list[Line]:
        """Return the lines so far, less those that served a constant or a part that nothing took."""
        written, spent = self.builder.lines, self.scope.spent
        if not spent:
            return written
        wanted, kept = {output, *self.scope.names.values()}, list[Line]()
        for line in reversed(written):
            if line.symbol not in spent or line.symbol in wanted:
                wanted.update(line.call.operands)
                kept.append(line)
        return kept[::-1]

    # -- expressions

    def lower(self, node: nodes.Node) -> Operand:
        """Lower an expression by the rule of its node."""
        return self._RULES[type(node)](self, node)

    # -- operators

    def _chain(self, node: nodes.Chain) -> Operand:
        """Lower operands joined from the left; comparisons hold all together.

        Chains inside of chains are one level of nesting: the rules are called at once, which saves Python's frames.
        """
        left = self._RULES[type(node.first)](self, node.first)
        compared: Operand | None = None
        for step in node.steps:
            right = self._RULES[type(step.operand)](self, step.operand)
            op, is_comparison = _FUNCTIONS[step.sign], LEVELS[step.sign] == COMPARISON
            if is_comparison and compared is not None:
                left = self.joined("logical_and", left, self.joined(op, compared, right))
            else:
                left = self.joined(op, left, right)
            compared = right if is_comparison else None
        return left

    def _choice(self, node: nodes.Choice) -> Operand:
        """Lower `a if condition else b`."""
        parts = self.guarded(lambda: [self.lower(n)[0] for n in (node.chosen, node.condition, node.other)])
        return self.emit("where", [parts[1], parts[0], parts[2]], node.span)

    def _unary(self, node: nodes.Unary) -> Operand:
        operand, span = self.lower(node.operand)
        span = node.sign.span.to(span)
        match node.sign.text:
            case "+":
                return operand, span
            case "~" | "not":
                return self.emit("logical_not", [operand], span)
        if (isinstance(operand, sympy.Float) and not operand.is_zero) or operand == sympy.oo:
            return -operand, span  # SymPy's 0.0 has no sign
        return self.emit("neg", [operand], span)

    def _power(self, node: nodes.Power) -> Operand:
        return self.joined("pow", self.lower(node.base), self.lower(node.exponent))

    # -- operands

    def _number(self, node: nodes.NumberNode) -> Operand:
        return exact(node.text), node.span

    def _name(self, node: nodes.NameNode) -> Operand:
        if node.arguments is None and node.token.text in self.scope.indices:
            return self.index_number(node.token)
        return self.named(node)[0]

    def _word(self, node: nodes.Word) -> Operand:
        """Lower `True` and `False`; no other word is an operand."""
        if not node.is_operand:
            unexpected = self.source.unexpected(self.source.position(node.span.start))
            raise self.source.code(f"{node.token.text!r} as a value", node.span) if self.is_code else unexpected
        one = sympy.Integer(1)
        return self.emit("eq" if node.token.text == "True" else "ne", [one, one], node.span)

    def _broken(self, node: nodes.Broken) -> Operand:
        """Raise the error of an unreadable text, or of a function before it that lacks parentheses, as in `sin x`."""
        position = self.source.position(node.error.place.span.start) if node.error.place is not None else 0
        before, token = self.source.tokens[max(position - 1, 0)], self.source.tokens[position]
        if before.kind == "name" and token.text != "(" and before.text not in self.scope.names:
            self.require_variable(before, before.span)
        raise node.error

    def _loop(self, node: nodes.Loop) -> Operand:
        """Refuse a loop where none may stand."""
        raise self.source.unexpected(self.source.position(node.clauses[0].word.span.start), is_inside=True)

    def _group(self, node: nodes.GroupNode) -> Operand:
        """Lower an expression in parentheses."""
        return self.lower(node.inner)[0], node.span

    def _items(self, node: nodes.Items) -> Operand:
        """Lower a list, or a tuple, which is a list where a tensor is wanted."""
        if not node.items and node.opening.text == "(":
            raise self.source.unexpected(self.source.position(node.opening.span.stop), is_inside=True)
        if not node.items:
            return self.emit("zeros", [], node.span, ((0,),))
        return self.emit("stack", [a for a, _ in self.items(node)], node.span, (0,))

    def _postfix(self, node: nodes.Postfix) -> Operand:
        """Lower an operand with its indices and members."""
        trailers, used = node.trailers, 0
        if (delta := self.delta(node.operand, trailers[0])) is not None:
            operand, used = delta, 1
        elif isinstance(node.operand, nodes.NameNode):
            operand, used = self.named(node.operand, trailers)
        else:
            operand = self.lower(node.operand)
        while used < len(trailers):
            trailer, after = trailers[used], trailers[used + 1 : used + 2]
            used += 1
            if isinstance(trailer, nodes.Subscript):
                operand = self._indexed(operand, trailer)
            elif not _is_shape(trailer):
                operand = self.member(operand, trailer)
            elif trailer.arguments is None and after and isinstance(after[0], nodes.Subscript):
                axis, used = self.place(after[0]), used + 1
                operand = self.emit("count", [operand[0]], operand[1].to(after[0].span), (axis,))
            else:
                operand = self._shape(operand, trailer)
        return operand

    def _shape(self, operand: Operand, member: nodes.Member) -> Operand:
        """Lower all sizes of a tensor: `x.shape`."""
        span = operand[1].to(member.span)
        shape = self.needed_shape(self.require_tensor(*operand))
        axes = range(1 if shape is None else len(shape))
        counts = tuple(self.emit("count", [operand[0]], span, (axis,)) for axis in axes)
        shown = self.source.single_line(span)
        return self.scope.pack(Several(shown, counts, is_provisional=shape is None)), span

    # -- indices

    def _indexed(self, operand: Operand, subscript: nodes.Subscript) -> Operand:
        """Lower `x[key]`; `[0]` takes the values of torch's pair of values and positions."""
        if (several := self.scope.several.get(operand[0])) is not None:
            return self._part(several, operand[1].to(subscript.span), subscript)
        if self.mentions(subscript.span):
            return self.element(operand, subscript)
        items = [self._positions(bound) or self.item(bound) for bound in subscript.items]
        span = operand[1].to(subscript.span)
        if any(isinstance(item, tuple) and isinstance(item[0], sympy.Expr) for item in items):
            return self.index_with_tensors(operand, items, span)
        key: Any = tuple(items)
        return self.emit("index", [operand[0]], span, (key,))

    def _positions(self, bound: nodes.SliceNode) -> Operand | tuple[int, ...] | None:
        """Lower a tensor or a list in an index; None for any other item."""
        node = bound.only
        if node is None or isinstance(node, nodes.Word) or self.source.single_line(node.span) in NEW_AXES:
            return None
        if self.is_meaning:
            if isinstance(node, nodes.Items):
                return self.several(node)  # type: ignore[return-value]
            return self.scope.constants.get(nodes.name_alone(node))
        mark = len(self.builder.lines)
        atom, span = self.lower(node)
        operand = self.require_tensor(atom, span), span
        shape = self.shape_of(operand[0])
        _, leaves = self.builder.made_of(operand[0], stop=lambda call: call.op.kind is Kind.COUNT)
        is_unknown = shape is None and not leaves.isdisjoint(self.scope.variables.values())
        if shape or is_unknown or operand[0] in self.conditions:
            return operand
        self.builder.forget(mark)  # one number, which is read again as a constant
        return None

    def _part(self, several: Several, span: Span, subscript: nodes.Subscript) -> Operand:
        """Take one of several tensors, `x.chunk(3)[1]`."""
        place, count = self.place(subscript), len(several.parts)
        if several.is_provisional:
            return several.parts[0][0], span
        if not -count <= place < count:
            gives = f"{several.call} gives {count} tensor{'s' * (count > 1)}"
            raise self.source.error(f"{gives}, counted from 0", subscript.span)
        return several.parts[place][0], span

    _RULES: ClassVar[Rules] = {
        nodes.Chain: _chain,
        nodes.Unary: _unary,
        nodes.Power: _power,
        nodes.Choice: _choice,
        nodes.Postfix: _postfix,
        nodes.NumberNode: _number,
        nodes.NameNode: _name,
        nodes.GroupNode: _group,
        nodes.Items: _items,
        nodes.Word: _word,
        nodes.Broken: _broken,
        nodes.Loop: _loop,
        nodes.Ranged: lambda self, node: self.ranged(node),
    }
    """Rule of each node."""


def _is_shape(member: nodes.Member) -> bool:
    """Tell whether a member is `.shape` or `.size()`."""
    arguments = member.arguments
    if arguments is None:
        return member.name.text == "shape"
    return member.name.text == "size" and not arguments.items


def exact(word: str) -> Atom:
    """Return the exact number typed, if an integer; else the float64 nearest to it, as Python reads it."""
    plain = word.replace("_", "")
    return sympy.Integer(plain) if plain.isdecimal() else sympy.Float(float(plain), precision=53)
