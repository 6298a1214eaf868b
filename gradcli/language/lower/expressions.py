"""The tree of an expression to the lines that compute it: one rule a node, and what the rules share.

Chains are lowered step by step, so that only nesting recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import sympy

from gradcli.errors import LanguageError
from gradcli.language.lower.calls import Calls
from gradcli.language.lower.constants import Constants
from gradcli.language.lower.evaluators import Evaluation
from gradcli.language.lower.hooks import Operand
from gradcli.language.lower.lines import Lines
from gradcli.language.lower.loops import Loops
from gradcli.language.lower.matlab import Matlab
from gradcli.language.lower.names import Names
from gradcli.language.lower.scope import Scope
from gradcli.language.operators import FUNCTIONS
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.text.nodes import (
    Broken,
    Chain,
    Choice,
    Function,
    Group,
    Items,
    Loop,
    Member,
    Name,
    Node,
    Number,
    Postfix,
    Power,
    Subscript,
    Trailer,
    Transposed,
    Unary,
    Word,
)
from gradcli.language.text.precedence import COMPARISON
from gradcli.language.text.source import require_sound


class Expressions:
    """Lowers expressions.

    Attributes:
        last_list: The last list that was read, and its elements: a name may be given to it.
    """

    def __init__(
        self,
        lines: Lines,
        scope: Scope,
        evaluation: Evaluation | None,
        meaning: Callable[[str, Sequence[str]], Program],
    ) -> None:
        self.lines, self.scope, self.hooks = lines, scope, lines.hooks
        self.source = lines.source
        self.constants = Constants(lines, scope, self.lower, evaluation)
        self.loops = Loops(lines, scope, self.lower, self.constants)
        self.matlab = Matlab(lines, scope, self.constants)
        self.calls = Calls(lines, scope, self.hooks, self.lower, self.constants, self.loops, meaning)
        self.names = Names(self.source, scope, self.hooks, self.calls)
        self.last_list: tuple[Node, list[Operand]] | None = None

    def lower(self, node: Node) -> Operand:
        """The value of an expression.

        Raises:
            GradcliError: It, or a part of it, is not in the language.
        """
        return self._RULES[type(node)](self, node)

    # -- operators

    def _chain(self, node: Chain) -> Operand:
        """Operands joined from the left; comparisons hold all together.

        Chains inside of chains are one level of nesting: the rules are called at once, which saves Python's frames.
        """
        left = self._RULES[type(node.first)](self, node.first)
        compared: Operand | None = None
        for step in node.steps:
            right = self._RULES[type(step.operand)](self, step.operand)
            op = "mul" if step.is_implicit else FUNCTIONS[step.sign.text]
            if step.level == COMPARISON and compared is not None:
                left = self.lines.joined("logical_and", left, self.matlab.binary(step.sign, op, compared, right))
            else:
                left = self.matlab.binary(step.sign, op, left, right)
            compared = right if step.level == COMPARISON else None
        return left

    def _choice(self, node: Choice) -> Operand:
        """`a if condition else b`."""
        chosen = self.lower(node.chosen)
        condition = self.lower(node.condition)
        other = self.lower(node.other)
        operand = self.lines.emit("where", [condition[0], chosen[0], other[0]], chosen[1].to(other[1]))
        self.hooks.chosen(node, operand)
        return operand

    def _unary(self, node: Unary) -> Operand:
        operand, span = self.lower(node.operand)
        span = node.sign.span.to(span)
        match node.sign.text:
            case "+":
                return operand, span
            case "~" | "not":
                return self.lines.emit("logical_not", [operand], span)
        if (isinstance(operand, sympy.Float) and not operand.is_zero) or operand == sympy.oo:
            return -operand, span  # SymPy's 0.0 has no sign
        return self.lines.emit("neg", [operand], span)

    def _power(self, node: Power) -> Operand:
        base = self.lower(node.base)
        operand = self.matlab.binary(node.sign, "pow", base, self.lower(node.exponent))
        self.hooks.raised(node.sign)
        return operand

    # -- operands

    def _number(self, node: Number) -> Operand:
        self.calls.is_pair = False
        operand = exact(node.text), node.span
        self.hooks.was_leaf(operand)
        return operand

    def _name(self, node: Name) -> Operand:
        self.calls.is_pair = False
        operand, _ = self.names.named(node)
        if node.arguments is None:
            self.hooks.was_leaf(operand)
        if node.arguments is None and node.token.text in self.scope.lists:
            self.last_list = node, self.scope.lists[node.token.text]
        return operand

    def _word(self, node: Word) -> Operand:
        """`True` and `False`; no other word is an operand."""
        if not node.is_operand:
            raise self.source.unexpected(node.position)
        self.calls.is_pair = False
        one = sympy.Integer(1)
        return self.lines.emit("eq" if node.token.text == "True" else "ne", [one, one], node.span)

    def _function(self, node: Function) -> Operand:
        raise self.source.unexpected(node.position)

    def _broken(self, node: Broken) -> Operand:
        raise node.error

    def _loop(self, node: Loop) -> Operand:
        """A loop where none may stand: the term is read, and then what follows it."""
        self.lower(node.body)
        position = self.source.position(node.clauses[0].word.span.start)
        raise self.source.unexpected(position, " where ')' was expected", is_inside=True)

    def _group(self, node: Group) -> Operand:
        """An expression in parentheses."""
        operand = self.lower(node.inner)[0]
        require_sound(node.fault)
        return operand, node.span

    def _items(self, node: Items) -> Operand:
        """A list, or a tuple, which is a list where a tensor is wanted."""
        if node.opening.text == "(":
            return self._tuple(node)
        if not node.items and node.fault is None:
            return self.lines.emit("zeros", [], node.span, ((0,),))
        items = self.loops.items(node)
        operand = self.lines.emit("stack", [a for a, _ in items], node.span, (0,))
        is_nested = self.source.tokens[self.source.position(node.opening.span.stop)].text == "["
        self.last_list = None if is_nested else (node, items)
        return operand

    def _tuple(self, node: Items) -> Operand:
        if not node.items and node.fault is None:
            raise self.source.unexpected(self.source.position(node.opening.span.stop), is_inside=True)
        atoms = [self.lower(item)[0] for item in node.items]
        require_sound(node.fault)
        return self.lines.emit("stack", atoms, node.span, (0,))

    def _postfix(self, node: Postfix) -> Operand:
        """An operand with its indices and members."""
        trailers, used = node.trailers, 0
        self.calls.is_pair = False
        if isinstance(node.operand, Name):
            operand, used = self.names.named(node.operand, trailers)
            is_plain = used == 0 or (isinstance(last := trailers[used - 1], Member) and last.arguments is None)
            if is_plain and (used or node.operand.arguments is None):
                self.hooks.was_leaf(operand)
        else:
            operand = self.lower(node.operand)
        while used < len(trailers):
            operand, used = self._behind(operand, trailers, used)
        return operand

    def _behind(self, operand: Operand, trailers: Sequence[Trailer], n: int) -> tuple[Operand, int]:
        """An operand with the next of what stands behind it, and how much of that is read then."""
        trailer = trailers[n]
        match trailer:
            case Subscript():
                return self._indexed(operand, trailer), n + 1
            case Transposed():
                return self.matlab.transposed(operand, trailer), n + 1
            case Member():
                found = self.hooks.member(operand, trailer)
                if found is None and trailer.name.text == "shape" and trailer.arguments is None:
                    size = trailers[n + 1] if n + 1 < len(trailers) else None
                    if isinstance(size, Subscript):
                        return self._size(operand, size), n + 2
                found = self.calls.member(operand, trailer) if found is None else found
                self.hooks.was_member(trailer)
                return found, n + 1
        raise self.source.unexpected(trailer.position, trailer.expected, is_inside=True)

    # -- indices

    def _indexed(self, operand: Operand, subscript: Subscript) -> Operand:
        """`x[key]`; `[0]` takes the values of torch's pair of values and positions."""
        if (found := self.hooks.indexed(operand, subscript)) is not None:
            return found
        is_pair, self.calls.is_pair = self.calls.is_pair, False
        items: list[Any] = [self.constants.item(bound) for bound in subscript.items]
        require_sound(subscript.fault)
        span = operand[1].to(subscript.span)
        if is_pair and items == [0]:
            return operand[0], span
        if is_pair and items == [1]:
            message = "the positions of a maximum have no derivative and are not read"
            raise self.source.error(LanguageError, message, span)
        key: Any = tuple(items)
        return self.lines.emit("index", [operand[0]], span, (key,))

    def _size(self, operand: Operand, subscript: Subscript) -> Operand:
        """`x.shape[0]`."""
        axis = self.constants.place(subscript)
        return self.lines.emit("count", [operand[0]], operand[1].to(subscript.span), (axis,))

    _RULES: ClassVar[Mapping[type, Callable[[Expressions, Any], Operand]]] = {
        Chain: _chain,
        Unary: _unary,
        Power: _power,
        Choice: _choice,
        Postfix: _postfix,
        Number: _number,
        Name: _name,
        Group: _group,
        Items: _items,
        Word: _word,
        Function: _function,
        Broken: _broken,
        Loop: _loop,
    }
    """The rule of each node."""


def exact(word: str) -> Atom:
    """The exact number typed, if an integer; else the float64 nearest to it, as Python reads it."""
    plain = word.replace("_", "")
    return sympy.Integer(plain) if plain.isdecimal() else sympy.Float(float(plain), precision=53)
