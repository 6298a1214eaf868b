"""Program: a Wengert list of symbols and calls, each one operation deep, as typed; and parts of it.

The form is the one that `sympy.cse` returns, (symbol, expression) pairs in order, shared subexpressions once.  SymPy's
own heads rewrite themselves (`x - x` to 0, `x/x` to 1, `Max(x, x)` to x), so a line's expression is a `Call`, which
keeps its operands as they were typed.  Every reader walks the list forward or backward; none recurses.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import sympy

from gradcli.errors import Place, ShapeError, Span, TooLargeError
from gradcli.language import ops

MAX_LINES = 200_000
"""Largest number of operations of one Program."""

MAX_ELEMENTS = 2**26
"""Largest number of elements of one tensor: 512 MiB in float64."""

MAX_DIMENSIONS = 16
"""Largest number of dimensions of a tensor, so that a Jacobian has at most 32, NumPy's limit before version 2."""

MAX_BITS = 1_024
"""Largest number of bits of an exact constant, as many as float64 reaches."""

CONSTANTS: Mapping[str, sympy.Expr] = {"pi": sympy.pi, "E": sympy.E, "inf": sympy.oo, "nan": sympy.nan}
"""Names that are constants unless the user gives them a value."""

Atom: TypeAlias = sympy.Expr
"""Operand: a Symbol (a variable or an earlier line) or a number."""

Shape: TypeAlias = tuple[int, ...]


def show(shape: Sequence[int]) -> str:
    """Write a shape as Python does: `()`, `(2,)`, `(2, 3)`."""
    return str(tuple(shape))


def broadcast(operands: list[Shape]) -> Shape:
    """Return the common shape of operands aligned at their last dimensions, where sizes of 1 stretch."""
    if operands.count(operands[0]) == len(operands):  # most are, and a count makes no calls
        return operands[0]
    try:
        return np.broadcast_shapes(*operands)
    except ValueError:
        shown = " and ".join(show(shape) for shape in operands)
        hint = "sizes must be equal or 1, counted from the last dimension"
        raise ShapeError(f"the shapes {shown} do not broadcast", hint=hint) from None


Statics = tuple[Any, ...]
"""Constant arguments of a call, each of the kind that its parameter takes."""


class Call:
    """Operation of the table on atoms; never evaluates or reorders.

    Args:
        op: The name of a row of the op table.
        operands: Symbols and numbers, in the order typed.
        statics: Values of the op's static parameters, in the order of its signature.

    Attributes:
        op: The row.

    >>> x = sympy.Symbol("x")
    >>> Call("sub", (x, x))
    sub(x, x)
    """

    __slots__ = ("op", "operands", "statics")

    def __init__(self, op: str, operands: tuple[Atom, ...], statics: Statics = ()) -> None:
        self.op, self.operands, self.statics = ops.ROWS[op], operands, statics

    @property
    def key(self) -> tuple[str, tuple[Atom, ...], Statics]:
        """Parts by which two calls are the same."""
        return self.op.name, self.operands, self.statics

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"{self.op.name}({', '.join(str(a) for a in (*self.operands, *self.statics))})"

    @property
    def constants(self) -> dict[str, Any]:
        """Constants by name."""
        return dict(zip(self.op.statics, self.statics, strict=True))

    @property
    def typed(self) -> Statics:
        """Constants without the shapes at their end."""
        return self.statics[:-1] if self.op.of_shapes else self.statics

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes after the constants; none where they are not known, or needless."""
        known = self.statics[-1] if self.op.of_shapes else None
        return known.shapes if isinstance(known, AskedMeaning) else known or ()

    def renamed(self, names: Mapping[Atom, Atom]) -> Call:
        """Replace some operands by others."""
        return Call(self.op.name, tuple(names.get(a, a) for a in self.operands), self.statics)


@dataclass(frozen=True, slots=True)
class Line:
    """Line `symbol = call`, with the range of the text it came from and the name the user gave it, if any.

    `part_of` is the defined operation whose meaning it is part of, if any.
    """

    symbol: sympy.Symbol
    call: Call
    span: Span
    name: str = ""
    part_of: str = ""


@dataclass(frozen=True)
class Guard:
    """Condition that values decided while a text was read.

    Attributes:
        condition: The value that is 1 where it holds and 0 where it does not.
        shown: The condition as text.
        changes: The difference that the other decision makes, such as `another branch is taken`.
    """

    condition: Atom
    shown: str
    changes: str


@dataclass(frozen=True)
class Guards:
    """Conditions that values decided, with the lines that compute them, in the variables of the text."""

    program: Program
    conditions: tuple[Guard, ...]


@dataclass(frozen=True)
class AskedMeaning:
    """Meaning that torch gives a call: its last constant, in place of the shapes of its operands.

    Attributes:
        shapes: One of each operand.
        numbers: The operands that are plain numbers; None of one that is a tensor.
        shape: Of the result of the call.
        record: Makes the Program of the call in other operations, its operands being the variables.
    """

    shapes: tuple[Shape, ...]
    numbers: tuple[float | None, ...]
    shape: Shape
    record: Callable[[], Program] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """Parsed function: lines in order of evaluation, the last value being the output.

    Attributes:
        text: The text as typed.
        variables: Free names in order of appearance.
        lines: The Wengert list.
        output: The Symbol or number whose value is y.
        source: The input that the text is, for messages: EXPR, or an option.
        assigned: The names of the statements, in order.
        named: The value of each of these names at the end: a line, a variable, or a number.
        warnings: Remarks for the user, such as an unused name.
        needs_shapes: Whether a size in a constant stood for an unknown one: the text is to be read again with shapes.
        needs_values: Whether values decide which lines there are, as of `x[x > 0]`: it is to be read with values.
        guards: The conditions that values decided when it was read so.
        joined: Names that were cut into several though nothing names these, each with its reading, `A x`.
        doubtful_numbers: How many numbers are transposed, or asked for their length, as one does with vectors.
        is_of_matrices: Whether its text is in the notation of matrices, in which `*` is of matrices.
        shown: The statements of the function alone, where the text is a whole snippet.
        called: The name of the function, where the text is a recording of it.
        is_shared: Whether it may be asked about again, so that what is found of it is kept: see `passes.shared`.
    """

    text: str
    variables: tuple[sympy.Symbol, ...]
    lines: tuple[Line, ...]
    output: Atom
    source: str = "EXPR"
    assigned: tuple[str, ...] = ()
    named: Mapping[str, Atom] = field(default_factory=dict, hash=False)
    warnings: tuple[str, ...] = ()
    shown: str = ""
    called: str = ""
    needs_shapes: bool = False
    needs_values: bool = False
    guards: Guards | None = None
    joined: tuple[tuple[str, str], ...] = ()
    doubtful_numbers: int = 0
    is_of_matrices: bool = False
    is_shared: bool = field(default=False, init=False, repr=False, compare=False)
    _made: dict[Callable[[Program], Program], Program] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Hash, computed once, as caches ask for it."""
        return hash((self.text, self.variables, self.lines, self.output, self.called))

    @property
    def expression(self) -> str:
        """Function as text."""
        return self.called or self.shown or self.text

    @property
    def output_name(self) -> str:
        """Name of the output: that of the last statement, or the first of y, f, g, out that is free."""
        last = self.assigned[-1] if self.assigned else ""
        taken = {*self.names, *self.assigned}
        return last or next((name for name in ("y", "f", "g", "out") if name not in taken), "output")

    def place(self, line: Line) -> Place:
        """Return the place in the text that this line came from."""
        return Place(self.text, line.span, self.source)

    def excerpt(self, line: Line) -> str:
        """Return the sub-expression of a line, for messages."""
        start, stop = line.span.start, line.span.stop
        text = " ".join(self.text[start : min(stop, start + 100)].split())
        return text if len(text) <= 40 and stop <= start + 100 else f"{text[:37]}..."

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in order of appearance."""
        return tuple(symbol.name for symbol in self.variables)

    @cached_property
    def masks(self) -> frozenset[Atom]:
        """Variables that are only compared with 0, as values that are true or false."""
        zero = sympy.S.Zero
        asked = {line.symbol for line in self.lines if line.call.op.name == "ne" and line.call.operands[1] == zero}
        others = {a for line in self.lines if line.symbol not in asked for a in line.call.operands}
        return frozenset(self.variables) - others - {self.output}

    @cached_property
    def differentiable(self) -> tuple[str, ...]:
        """Names of the variables, without those that are only positions, such as class indices, or running averages.

        >>> from gradcli.language.parsing import parse
        >>> parse("nll_loss(x, t)", shapes={"x": (2, 3), "t": (2,)}).differentiable
        ('x',)
        """
        positions: set[Atom] = set()
        others: set[Atom] = {self.output}
        for line in reversed(self.lines):
            op, held = line.call.op, line.call.operands
            whole = op.positions([len(shape) for shape in line.call.shapes]) if op.whole else ()
            is_position = line.symbol in positions and line.symbol not in others
            for parameter, operand in zip(op.operands, held, strict=False):
                is_other = not (is_position or parameter in whole or parameter in op.buffers)
                (others if is_other else positions).add(operand)
            (positions if is_position else others).update(held[len(op.operands) :])
        return tuple(s.name for s in self.variables if s not in positions - others) or self.names

    @cached_property
    def fitting(self) -> set[Hashable]:
        """Cache of pairs (line, shapes of its operands) that were found to fit."""
        return set()

    def transformed(self, make: Callable[[Program], Program]) -> Program:
        """Apply a function to this Program, once for each function."""
        if make not in self._made:
            self._made[make] = found = make(self)
            object.__setattr__(found, "is_shared", found.is_shared or self.is_shared)
        return self._made[make]


@dataclass
class Builder:
    """Builder of lines: each distinct call once, unless lines are not shared.

    Attributes:
        text: The text that the places of lines are in.
        source: The name of the text.
        shares: Whether equal calls are one line.
        dtype: The dtype that holds the result of each operation on constants, such as `float32`; empty if results are
            exact.  An operation whose exact result this dtype does not hold is a line, which rounds.
        part_of: The defined operation whose meaning is being written, if any.
        symbol: Gives a line its symbol by its number, dropped lines counted, where it is to have none of its own.
    """

    text: str
    source: str = "EXPR"
    shares: bool = True
    dtype: str = ""
    part_of: str = ""
    symbol: Callable[[int], sympy.Symbol] | None = None
    lines: list[Line] = field(default_factory=list)
    _known: dict[Hashable, sympy.Symbol] = field(default_factory=dict)
    _places: dict[Atom, int] = field(default_factory=dict)
    _made: int = 0

    def emit(self, op: str, operands: tuple[Atom, ...], span: Span, statics: tuple[Hashable, ...] = ()) -> Atom:
        """Append an operation and return the symbol (or exact constant) that holds its result.

        Raises:
            TooLargeError: more than `MAX_LINES` operations, or a constant of more than `MAX_BITS` bits.
        """
        constant = self._exact(op, operands, span)
        if constant is not None and (not self.dtype or _is_held(constant, self.dtype)):
            return constant
        if constant is not None:  # numbers of floating point are not folded, in no later Program either
            operands = tuple(sympy.Float(operand, precision=MAX_BITS) for operand in operands)
        key = op, operands, statics
        symbol = self._known.get(key) if self.shares else None
        if symbol is None:
            if len(self.lines) >= MAX_LINES:
                raise TooLargeError(f"more than {MAX_LINES:,} operations", place=Place(self.text, span, self.source))
            place = len(self.lines)
            symbol = self.symbol(self._made) if self.symbol else sympy.Dummy(f"t{place}", real=True)
            self._made += 1
            self._known[key] = symbol
            self._places[symbol] = place
            self.lines.append(Line(symbol, Call(op, operands, statics), span, part_of=self.part_of))
        return symbol

    def backward_slice(
        self, *atoms: Atom, stop: Callable[[Call], bool] = lambda call: False, known: Container[Atom] = ()
    ) -> tuple[list[Line], set[Atom]]:
        """Return the backward slice of values: its lines in order, and its leaves, which are no lines.

        Args:
            atoms: The values.
            stop: Tells the operations to look no further than.
            known: Values whose lines are left out.
        """
        found: dict[int, Line] = {}
        leaves: set[Atom] = set()
        waiting = list(atoms)
        while waiting:
            atom = waiting.pop()
            place = None if atom in known else self._places.get(atom)
            if place is None:
                leaves.add(atom)
            elif place not in found:
                found[place] = line = self.lines[place]
                waiting += () if stop(line.call) else line.call.operands
        return [found[place] for place in sorted(found)], leaves

    def inline(
        self, program: Program, operands: Iterable[Atom], span: Span, fitted: Callable[[Call], Call] = lambda call: call
    ) -> Atom:
        """Append the lines of a Program, and return the symbol of its value.

        Args:
            program: The function.
            operands: They stand for its variables.
            span: Of the new lines.
            fitted: Changes the constants of a call on the new operands.
        """
        inside: dict[Atom, Atom] = dict(zip(program.variables, operands, strict=True))
        for line in program.lines:
            call = fitted(line.call.renamed(inside))
            inside[line.symbol] = self.emit(call.op.name, call.operands, span, call.statics)
        return inside.get(program.output, program.output)

    def program(self, value: Atom, variables: Iterable[sympy.Symbol] = (), *others: Atom) -> Program:
        """Make the Program of `value`, with only the variables that it or `others` use."""
        lines, leaves = self.backward_slice(value, *others)
        return Program(self.text, tuple(s for s in variables if s in leaves), tuple(lines), value, self.source)

    def line_of(self, atom: Atom) -> Line | None:
        """Return the line whose value this is."""
        place = self._places.get(atom)
        return None if place is None else self.lines[place]

    def forget(self, mark: int) -> None:
        """Drop the lines from `mark` on, which served a constant."""
        for line in self.lines[mark:]:
            self._known.pop(line.call.key, None)
            del self._places[line.symbol]
        del self.lines[mark:]

    def retain(self, lines: Sequence[Line]) -> None:
        """Keep exactly these lines (closed under operands)."""
        self.lines[:] = lines
        self._known = {one.call.key: one.symbol for one in lines}
        self._places = {one.symbol: place for place, one in enumerate(lines)}

    def _exact(self, op: str, operands: tuple[Atom, ...], span: Span) -> Atom | None:
        """Fold arithmetic on integers and fractions exactly: `x**(1/3)` has the exponent 1/3."""
        if op not in _EXACT:
            return None
        for a in operands:  # a loop, which makes no calls as `all` does
            if not isinstance(a, sympy.Rational):
                return None
        a, b, is_large = operands[0], operands[-1], False
        if op == "pow":
            if not isinstance(b, sympy.Integer) or (a == 0 and b < 0):
                return None
            bits = max(abs(int(a.p)).bit_length(), int(a.q).bit_length()) * abs(int(b))
            is_large = abs(int(a.p)) != a.q and bits > 2 * MAX_BITS
        elif b == 0 and op in ("div", "floor_divide", "remainder"):
            return None
        value = None if is_large else _EXACT[op](*operands)
        if value is None and self.dtype:
            return None  # beyond the range of the dtype
        if value is None or max(abs(int(value.p)), int(value.q)).bit_length() > MAX_BITS:
            message, hint = "this constant is beyond the range of float64", "write a smaller number, or inf"
            raise TooLargeError(message, place=Place(self.text, span, self.source), hint=hint)
        return value


def _is_held(value: sympy.Rational, dtype: str) -> bool:
    """True if a dtype holds a whole number exactly; True for a fraction, which is rounded where it is used."""
    if not value.is_Integer:
        return True
    with np.errstate(over="ignore"):
        held = float(np.dtype(dtype).type(int(value))) if abs(int(value)) < 2**MAX_BITS else math.inf
    return math.isfinite(held) and int(held) == int(value)


_EXACT: Mapping[str, Callable[..., sympy.Rational]] = {
    **{name: getattr(operator, name) for name in ("neg", "add", "sub", "mul", "pow")},
    **{"div": operator.truediv, "remainder": operator.mod, "floor_divide": lambda a, b: sympy.floor(a / b)},
}
"""Operations that are folded on rational numbers."""


def number(value: Atom) -> float:
    """Return the float64 nearest to a constant operand.

    >>> number(sympy.Rational(1, 3))
    0.3333333333333333
    """
    if not isinstance(value, sympy.Rational):
        return float(value)
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return -math.inf if value.p < 0 else math.inf


def needed(lines: Sequence[Line], *outputs: Atom) -> list[Line]:
    """List the lines of the backward slice of some values, in order.

    >>> from gradcli.language.parsing import parse
    >>> whole = parse("y = x**2; z = exp(x); y + 1")
    >>> [line.call.op.name for line in needed(whole.lines, whole.output)]
    ['pow', 'add']
    """
    wanted, found = set(outputs), []
    for line in reversed(lines):
        if line.symbol in wanted:
            found.append(line)
            wanted.update(line.call.operands)
    return found[::-1]


def cut(program: Program, atom: Atom, name: str) -> Program:
    """Cut a Program at a line: the function of its value that the later lines compute, in the earlier variables too.

    Args:
        program: The whole.
        atom: A line, which becomes a variable, the last; or a variable, which stays one.
        name: A name for the new variable, which no other has.

    >>> from gradcli.language.parsing import parse
    >>> whole = parse("y = x**2; z = w*y**3")
    >>> rest = cut(whole, whole.lines[0].symbol, "y")
    >>> rest.names, [str(line.call.op.name) for line in rest.lines]
    (('w', 'y'), ['pow', 'mul'])
    """
    if atom in program.variables:
        return program
    new = sympy.Symbol(name, real=True)
    lines = needed([line for line in program.lines if line.symbol != atom], program.output)
    used = {program.output, *(operand for line in lines for operand in line.call.operands)}
    kept = tuple(replace(line, call=line.call.renamed({atom: new})) for line in lines)
    variables = (*(symbol for symbol in program.variables if symbol in used), new)
    output = new if program.output == atom else program.output
    return replace(program, variables=variables, lines=kept, output=output, warnings=())
