"""Lines of a Program to statements: what is used once is put inside what uses it.

The script evaluates in the order of the Program, so that a backward pass adds its contributions up in the same order
and the last digit is the same: an expression is put inside another one only where that keeps the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gradcli.codegen.identifiers import Names
from gradcli.codegen.layout import WIDTH, laid_out
from gradcli.codegen.self_writing import Expression, Number, Written, constant
from gradcli.language.ops import Kind
from gradcli.language.program.shapes import count_of
from gradcli.language.program.wengert import Atom, Call, Line, Shape

MOST_INSIDE = WIDTH - 16
"""Characters of an expression that is put inside another one."""


class Calls(Protocol):
    """How a library is asked for an operation: `TorchCalls` or `NumpyCalls`, with what writes down what they call."""

    def apply(self, call: Call, operands: Sequence[Any]) -> Any:
        """One operation on its operands."""

    def tensor(self, operand: Any) -> Any:
        """An operand as a tensor or an array."""


@dataclass
class Statements:
    """Statements as they are written.

    Attributes:
        module: What the script calls the library.
        calls: How it is asked for an operation.
        source: The expression of a constant tensor.
        names: Where names come from.
        shapes: The shape of every value.
        named: The names of values that have one of the user's.
        values: What stands for each value: an expression, a number, or a nested list of numbers.
        written: The statements so far.
    """

    module: str
    calls: Calls
    source: Callable[[Call], Expression]
    names: Names
    shapes: Mapping[Atom, Shape]
    named: Mapping[Atom, str]
    values: dict[Atom, Any] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    _waiting: list[Atom] = field(default_factory=list)

    def write(self, lines: Sequence[Line]) -> None:
        """Write lines down; at the end some of them may wait to be used."""
        uses = _uses(lines)
        for line in lines:
            self._add(line, is_kept=line.symbol in self.named or uses.get(line.symbol, 0) > 1)

    def operand(self, atom: Atom) -> Any:
        """What stands for a value or a constant."""
        return self.values[atom] if atom in self.values else constant(atom, self.module)

    def tensor(self, atom: Atom) -> Written:
        """The same as a tensor or an array, where it is a bare number."""
        found: Written = self.calls.tensor(self.operand(atom))
        return found

    def assign(self, name: str, value: Written) -> None:
        """Append the statement that gives a value a name, laid out."""
        self.written.append(laid_out(f"{name} = {value}"))

    def _add(self, line: Line, *, is_kept: bool) -> None:
        operands = line.call.operands
        inside = [a for a in operands if a in self._waiting]
        # Put inside only if that keeps the order of evaluation, which is that of the user's text.
        if self._waiting[len(self._waiting) - len(inside) :] != inside:
            self._flush()
        value = self._value(line)
        if self._waiting and len(_text(value)) > MOST_INSIDE:
            self._flush()
            value = self._value(line)
        self._waiting = [a for a in self._waiting if a not in operands]
        self.values[line.symbol] = value
        if is_kept:
            self._flush()
            self._name(line.symbol)
        else:
            self._waiting.append(line.symbol)

    def _value(self, line: Line) -> Any:
        call = line.call
        if call.op.kind is Kind.SOURCE:
            value: Any = self.source(call)
        else:
            value = self.calls.apply(call, [self.operand(a) for a in call.operands])
        if call.op.kind is Kind.COUNT and isinstance(value, Expression):
            size = count_of(self.shapes.get(call.operands[0], ()), call.statics[0])
            return Number(size, value.text, value.level, self.module)
        if isinstance(value, Expression) and value.shape is None:
            value.shape = self.shapes[line.symbol]
        return value

    def _flush(self) -> None:
        """Write what waits to be used, in order."""
        waiting, self._waiting = self._waiting, []
        for symbol in waiting:
            self._name(symbol)

    def _name(self, symbol: Atom) -> None:
        """Give a value a name; a list becomes a tensor, and a size stays a number of Python."""
        value = self.values[symbol]
        name = self.named.get(symbol) or self.names.temporary()
        if isinstance(value, float | int):
            self.values[symbol] = Number(value, name, module=self.module)
        else:
            value = self.calls.tensor(value)
            self.values[symbol] = Expression(name, module=self.module, shape=self.shapes[symbol])
        self.written.append(laid_out(f"{name} = {value}"))


def _text(value: Any) -> str:
    return str(value) if isinstance(value, Written) else str(Expression("").like(value))


def _uses(lines: Iterable[Line]) -> dict[Atom, int]:
    """How often each value is an operand."""
    uses: dict[Atom, int] = {}
    for line in lines:
        for operand in line.call.operands:
            uses[operand] = uses.get(operand, 0) + 1
    return uses
