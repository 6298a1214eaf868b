"""What scripts of all languages share: the task, names, the statements of the function, v as an expression.

What is used once is put inside what uses it.  The script evaluates in the order of the Program, so that a backward pass
adds its contributions up in the same order and the last digit is the same: an expression is put inside another one only
where that keeps the order.
"""

from __future__ import annotations

import keyword
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, count
from typing import Any, ClassVar

import numpy as np

from gradcli.codegen.self_writing import (
    WIDTH,
    PyExpr,
    PyNumber,
    PyTree,
    constant,
    held,
    laid_out,
    node_of,
    rule_of,
    unparsed,
)
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expansion
from gradcli.language.program.library_calls import NumpyCalls, TorchCalls
from gradcli.language.program.numeric import array_of
from gradcli.language.program.shapes import count_of, infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, needed
from gradcli.results import Array


@dataclass(frozen=True)
class Task:
    """A function at a point with a gradient vector.

    Attributes:
        program: The function.
        arrays: The value of every variable, in the dtype of the computation.
        wrt: The variables to differentiate by.
        dtype: Of the computation.
        v: The gradient vector, of y's shape; a Program in y and the variables; None for the implicit 1.
        named: Values that only v names.
    """

    program: Program
    arrays: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: str
    v: Array | Program | None
    named: Mapping[str, Array]


class Identifiers:
    """Hands out identifiers.

    >>> names = Identifiers(["torch", "print"])
    >>> [names.take(word) for word in ("x", "x", "torch", "lambda", "__debug__")]
    ['x', 'x_2', 'torch_2', 'lambda_2', 'debug__']
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = set(reserved)
        self._temporaries = (f"t{number}" for number in count(1))

    def take(self, *wanted: str) -> str:
        """The first of these names that is free, or else the first with a number behind it."""
        words = list(map(_identifier, wanted))
        free = next(filter(self.is_free, chain(words, (f"{words[0]}_{number}" for number in count(2)))))
        self._taken.add(free)
        return free

    def temporary(self) -> str:
        """The next free name of t1, t2, ..."""
        return self.take(next(filter(self.is_free, self._temporaries)))

    def is_free(self, word: str) -> bool:
        """Whether nothing is called so yet."""
        return word not in self._taken and not keyword.iskeyword(word)


def _identifier(word: str) -> str:
    """The identifier as Python reads it (it takes `ｘ` for `x`), without the underscores that mean something to it.

    >>> _identifier("fc1.weight")
    'fc1_weight'
    """
    read = unicodedata.normalize("NFKC", word).lstrip("_").replace(".", "_")
    return read if read.isidentifier() else "t"


NUMPY = PyExpr("np")
"""What writes the calls of NumPy down."""

MOST_INSIDE = WIDTH - 16
"""Characters of an expression that is put inside another one."""


@dataclass
class PythonStatements:
    """Statements as they are written.

    Attributes:
        script: What they are part of.
        values: What stands for each value: an expression, a number, or a nested list of numbers.
        written: The statements so far.
    """

    script: ScriptBuilder
    values: dict[Atom, Any]
    written: list[str] = field(default_factory=list)
    _waiting: list[Atom] = field(default_factory=list)

    def write(self, lines: Sequence[Line]) -> None:
        """Write lines down; at the end some of them may wait to be used."""
        uses = _uses(lines)
        for line in lines:
            self._add(line, is_kept=line.symbol in self.script.titles or uses.get(line.symbol, 0) > 1)

    def operand(self, atom: Atom) -> Any:
        """What stands for a value or a constant."""
        return self.values[atom] if atom in self.values else constant(atom, self.script.module)

    def tensor(self, atom: Atom) -> PyTree:
        """The same as a tensor or an array, where it is a bare number."""
        found: PyTree = self.script.calls.tensor(self.operand(atom))
        return found

    def assign(self, name: str, value: PyTree) -> None:
        """Append the statement that gives a value a name, laid out."""
        self.written.append(laid_out(f"{name} = {value}"))

    def _add(self, line: Line, *, is_kept: bool) -> None:
        operands = line.call.operands
        inside = [a for a in operands if a in self._waiting]
        # Put inside only if that keeps the order of evaluation, which is that of the user's text.
        if self._waiting[len(self._waiting) - len(inside) :] != inside:
            self._flush()
        value = self._value(line)
        if self._waiting and len(unparsed(node_of(value, self.script.module))) > MOST_INSIDE:
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
            value: Any = self.script.source(call)
        else:
            value = self.script.calls.apply(call, [self.operand(a) for a in call.operands])
        if call.op.kind is Kind.COUNT and isinstance(value, PyExpr):
            size = count_of(self.script.shapes.get(call.operands[0], ()), call.statics[0])
            return PyNumber(size, value.node, self.script.module)
        if isinstance(value, PyExpr) and value.shape is None:
            value.shape = self.script.shapes[line.symbol]
        return value

    def _flush(self) -> None:
        """Write what waits to be used, in order."""
        waiting, self._waiting = self._waiting, []
        for symbol in waiting:
            self._name(symbol)

    def _name(self, symbol: Atom) -> None:
        """Give a value a name; a list becomes a tensor, and a size stays a number of Python."""
        value = self.values[symbol]
        name = self.script.titles.get(symbol) or self.script.names.temporary()
        if isinstance(value, float | int):
            self.values[symbol] = PyNumber(value, name, self.script.module)
        else:
            value = self.script.calls.tensor(value)
            self.values[symbol] = PyExpr(name, module=self.script.module, shape=self.script.shapes[symbol])
        self.written.append(laid_out(f"{name} = {value}"))


def _uses(lines: Iterable[Line]) -> dict[Atom, int]:
    """How often each value is an operand."""
    uses: dict[Atom, int] = {}
    for line in lines:
        for operand in line.call.operands:
            uses[operand] = uses.get(operand, 0) + 1
    return uses


class ScriptBuilder:
    """One script while it is written, with the arrays of NumPy.

    Args:
        task: What it is to compute.
        calls: How the library is asked for an operation.
        keep: The operations that it has; others are written as their meaning.
    """

    module: ClassVar[str]
    """What the script calls the library."""

    reserved: ClassVar[tuple[str, ...]]
    """Names that it uses itself."""

    def __init__(self, task: Task, calls: TorchCalls | NumpyCalls, keep: Callable[[Call], bool]) -> None:
        self.task, self.calls = task, calls
        self.names = Identifiers(self.reserved)
        self.arrays = {**task.arrays, **_named_by(task)}
        self.variables = {name: self.names.take(name) for name in self.arrays}
        both, v = _with_v(task, self.arrays)
        self.whole = expansion(both, keep=keep)
        self.program = self.whole.program
        self.v = self.whole.renamed.get(v, v)
        inputs = {symbol: self.arrays[str(symbol)].shape for symbol in self.program.variables}
        self.shapes = infer(self.program, inputs, bounded=False)
        self.lines = needed(self.program.lines, self.program.output)
        self.titles = self._titles()
        self.output = self.titles[self.program.output]
        self.gradient = self.names.take("v", "gradient", "cotangent")
        self.reached = reached(self.program, task.wrt)

    @property
    def options(self) -> dict[str, Any]:
        """The dtype of every array, where it is not NumPy's own."""
        return {} if self.task.dtype == "float64" else {"dtype": getattr(NUMPY, self.task.dtype)}

    def listed(self, numbers: Any, options: Mapping[str, Any]) -> PyExpr:
        """An array of numbers that are written out; one number is a scalar of NumPy."""
        is_array = isinstance(numbers, list)
        return NUMPY.array(numbers, **options) if is_array else getattr(NUMPY, self.task.dtype)(numbers)

    def spaced(self, *numbers: float) -> PyExpr:
        """Evenly spaced numbers."""
        return NUMPY.linspace(*numbers, **self.options)

    def array(self, array: Array, name: str, *, requires_grad: bool = False) -> PyExpr:
        """The expression of an array of these numbers, which is a leaf.

        Raises:
            TooLargeError: They are many and follow no rule.
        """
        kind, numbers = rule_of(array, name)
        options = {**self.options, **({"requires_grad": True} if requires_grad else {})}
        maker = getattr(PyExpr(self.module, module=self.module), kind)
        match kind:
            case "list":
                return self.listed(numbers[0], options)
            case "zeros" | "ones" | "full":
                shape = array.size if array.ndim == 1 and not numbers else array.shape
                return maker(shape, *numbers, **options)  # type: ignore[no-any-return]
        made = self.spaced(*numbers) if kind == "linspace" else maker(*numbers, **self.options)
        made = made.reshape(*array.shape) if array.ndim > 1 else made
        return made.requires_grad_() if requires_grad else made

    @property
    def shape(self) -> Shape:
        """The shape of y."""
        return self.shapes.get(self.program.output, ())

    def define(self, name: str, array: Array, variable: str) -> str:
        """The statement that gives a variable its value."""
        is_leaf = self.module == "torch" and variable in self.task.wrt
        value = self.array(array, f"'{variable}'", requires_grad=is_leaf)
        return laid_out(f"{name} = {value}")

    def definitions(self) -> list[str]:
        """The statements that give the variables their values."""
        return [self.define(self.variables[name], array, name) for name, array in self.arrays.items()]

    def _titles(self) -> dict[Atom, str]:
        """The names of the values that have one of the user's, and of y."""
        renamed = self.whole.renamed
        typed = {renamed[line.symbol]: line.name for line in self.task.program.lines if line.name}
        titles = {line.symbol: self.names.take(typed[line.symbol]) for line in self.lines if line.symbol in typed}
        if self.program.output not in titles:
            titles[self.program.output] = self.names.take(self.task.program.output_name)
        return titles

    def source(self, call: Call) -> PyExpr:
        """The expression of a constant tensor."""
        return self.array(held(array_of(call), self.task.dtype), f"{call.op.name}(...)")

    def function(self) -> PythonStatements:
        """The statements of the function, and what stands for each of its values."""
        output, lines = self.program.output, self.lines
        called = {symbol: self.variables[str(symbol)] for symbol in self.program.variables}
        statements = PythonStatements(self, {symbol: self._value(symbol, name) for symbol, name in called.items()})
        statements.write(lines)
        if not lines or lines[-1].call.op.kind is Kind.COUNT:
            statements.assign(self.output, statements.tensor(output))
        statements.values[output] = self._value(output, self.output)
        return statements

    def _value(self, symbol: Atom, name: str) -> PyExpr:
        return PyExpr(name, module=self.module, shape=self.shapes.get(symbol, ()))

    def write_v(self, statements: PythonStatements) -> None:
        """The statements that define v, where it is given."""
        v = self.task.v
        if isinstance(v, np.ndarray):
            statements.assign(self.gradient, self.array(v, "'v'"))
        elif v is not None:
            statements.write([line for line in needed(self.program.lines, self.v) if line not in self.lines])
            value = statements.tensor(self.v)
            # Without its graph, where a variable that is differentiated by is behind it.
            is_moving = self.module == "torch" and self.reached.get(self.v)
            statements.assign(self.gradient, value.detach() if is_moving else value)


def _named_by(task: Task) -> dict[str, Array]:
    """The values that only v names, as far as it does."""
    names = [] if task.v is None or isinstance(task.v, np.ndarray) else task.v.names
    known = {*task.arrays, task.program.output_name}
    return {name: task.named[name] for name in names if name not in known}


def _with_v(task: Task, arrays: Mapping[str, Array]) -> tuple[Program, Atom]:
    """The function, behind it the lines of v where that is an expression, and the value of v; y if it is none."""
    program, v = task.program, task.v
    if v is None or isinstance(v, np.ndarray):
        return program, program.output
    y = {symbol: program.output for symbol in v.variables if str(symbol) not in arrays}
    lines = list(program.lines)
    for line in v.lines:
        if line not in program.lines:
            lines.append(replace(line, call=line.call.renamed(y)))
    variables = dict.fromkeys([*program.variables, *(symbol for symbol in v.variables if symbol not in y)])
    return replace(program, variables=tuple(variables), lines=tuple(lines)), y.get(v.output, v.output)


def reached(program: Program, wrt: Sequence[str]) -> dict[Atom, int]:
    """The variables that each value has a derivative by in torch, as the bits of their places in `wrt`."""
    whole = expansion(program)
    found = {symbol: 1 << wrt.index(str(symbol)) for symbol in program.variables if str(symbol) in wrt}
    for line in whole.program.lines:
        op = line.call.op
        is_cut = op.is_condition or op.is_detached or op.kind is Kind.COUNT
        masks = [found.get(operand, 0) for operand in line.call.operands]
        found[line.symbol] = 0 if is_cut else reduce(operator.or_, masks, 0)
    return found | {symbol: found.get(after, 0) for symbol, after in whole.renamed.items()}


def assembled(*blocks: Sequence[str], imports: Mapping[str, str]) -> str:
    """Blocks of lines with an empty line between them, below the imports of the modules that they name.

    Args:
        blocks: The lines.
        imports: The statement that imports each module, by what a script calls it.
    """
    code = "\n".join(line for block in blocks for line in block if not line.startswith("#"))
    needed = [text for module, text in imports.items() if re.search(rf"\b{module}\.", code)]
    return "\n\n".join("\n".join(block) for block in (needed, *blocks) if block) + "\n"
