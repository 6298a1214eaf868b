"""A question as a NumPy script: y by the lines of the function, and vᵀJ by those of its gradient, without torch.

The lines of the adjoints are those of the gradient as a Program, in torch's form, so that the script prints torch's
numbers at kinks too.  A value that is used once is put inside the expression that uses it; the adjoint of what has a
name has a name as well, `x_bar` for that of x, and the rule of differentiation behind it.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache, reduce

import sympy

from gradcli.adjoint.gradient import GradientProgram
from gradcli.adjoint.tidying import tidied
from gradcli.errors import printable
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expansion, in_floats
from gradcli.language.program.library_calls import LibraryValue, NumpyCalls, is_in_numpy, is_tensor, operand_shape
from gradcli.language.program.numeric import array_of
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, needed
from gradcli.parts.code.script import NUMPY, Identifiers, Task, assembled, tensor, used_imports, written_operands
from gradcli.parts.code.self_writing import WIDTH, PyExpr, PyTree, constant, held, laid_out, node_of, unparsed
from gradcli.results import Array, Index

MOST_CELLS = 6
"""Formulas of one variable that are repeated in comments."""

MOST_INSIDE = WIDTH - 24
"""Characters of an expression that is put inside another one."""

MOST_REPEATED = 10
"""Characters of moved elements, such as `A.T` and `x[0]`, that are repeated where they are used."""

_IN_SCIPY = "erf erfc erfinv digamma polygamma i1 zeta gammaincc erfcx log_ndtr i0e i1e ndtr ndtri entr xlogy xlog1py"
_SPECIAL: Mapping[str, str] = {name: name for name in _IN_SCIPY.split()} | {"lgamma": "gammaln", "logit": "logit"}
"""The names in `scipy.special` of functions that NumPy does not have."""


def _cholesky(is_upper: bool, matrix: PyExpr) -> PyExpr:
    factor = NUMPY.linalg.cholesky(matrix)
    return NUMPY.swapaxes(factor, -1, -2) if is_upper else factor


LACKING: Mapping[str, Callable[..., PyExpr]] = {
    **{name: getattr(PyExpr("special"), path) for name, path in _SPECIAL.items()},
    "matrix_exp": PyExpr("linalg").expm,
    "cholesky": _cholesky,
}
"""Calls of functions that NumPy does not have, or has by other arguments."""

NumbersByIndex = Mapping[Index, float]
"""Numbers of some elements of the gradient by a variable, by their indices."""


def numpy_script(
    task: Task,
    v: Array,
    seed: sympy.Symbol,
    found: GradientProgram,
    comments: Mapping[str, Sequence[str]],
    numbers: Mapping[str, NumbersByIndex],
) -> str:
    """Write the script that prints vᵀJ for each variable of `wrt`.

    Args:
        task: The function at its point.
        v: The numbers of the gradient vector.
        seed: The variable of the gradient that stands for it.
        found: The gradient, in torch's form.
        comments: Formulas of the derivative by each variable.
        numbers: Torch's numbers of the elements at which the gradient gives others, by variable.

    Raises:
        TooLargeError: Values that follow no rule are too many to be written out.
    """
    return NumpyScript(task, v, seed, found).text(comments, numbers)


def _is_written(call: Call) -> bool:
    return is_in_numpy(call) or call.op.name in LACKING


@lru_cache(maxsize=512)
def _in_numpy(name: str, statics: tuple[Hashable, ...], count: int) -> Program:
    return expansion(in_floats(name, statics, count), keep=_is_written, define=_in_numpy).program


def _as_written(found: GradientProgram, inputs: Mapping[Atom, Shape]) -> GradientProgram:
    """Rewrite a gradient in operations that NumPy has."""
    whole = expansion(found.program, keep=_is_written, define=_in_numpy)
    renamed: Mapping[Atom, Atom] = {**{symbol: symbol for symbol in found.program.variables}, **whole.renamed}
    of = {symbol: renamed.get(atom, atom) for symbol, atom in found.of.items()}
    adjoints = {renamed[atom]: renamed.get(bar, bar) for atom, bar in found.adjoints.items()}
    return tidied(GradientProgram(whole.program, infer(whole.program, dict(inputs), bounded=False), of, adjoints))


class NumpyScript:
    """One script while it is written: arrays, the function, v, the adjoints, and vᵀJ of each variable.

    Attributes:
        values: The expression or number that stands for each value.
        written: The statements so far.
    """

    def __init__(self, task: Task, v: Array, seed: sympy.Symbol, found: GradientProgram) -> None:
        self.task, self.v, self.seed = task, v, seed
        self.calls = NumpyCalls(NUMPY, LACKING)
        self.names = Identifiers(["np", "special", "linalg", "print"])
        self.variables = {name: self.names.take(name) for name in task.arrays}
        inputs = {
            symbol: v.shape if symbol == seed else task.arrays[str(symbol)].shape for symbol in found.program.variables
        }
        written = _as_written(found, inputs)
        self.program, self.shapes, self.adjoints = written.program, written.shapes, written.adjoints
        self.of = {str(symbol): atom for symbol, atom in written.of.items()}
        self.values: dict[Atom, LibraryValue] = {
            symbol: PyExpr(self.variables[str(symbol)], shape) for symbol, shape in inputs.items() if symbol != seed
        }
        self.forward = needed(self.program.lines, self.program.output)
        inside = {line.symbol for line in self.forward}
        every = needed(self.program.lines, *self.of.values())
        self.backward = [line for line in every if line.symbol not in inside]
        self.uses = Counter(a for line in (*self.forward, *self.backward) for a in written_operands(line.call))
        self.titles = {line.symbol: self.names.take(line.name) for line in self.forward if line.name}
        if self.program.output not in self.titles:
            self.titles[self.program.output] = self.names.take(task.program.output_name)
        self.gradient = self.names.take("v", "gradient", "cotangent")
        self.rules = {line.span: line.call.op.rule for line in task.program.lines}
        self.conditions: set[Atom] = set()
        self.written: list[str] = []
        self._parts: dict[Atom, tuple[str, ...]] = {}

    def text(self, comments: Mapping[str, Sequence[str]], numbers: Mapping[str, NumbersByIndex]) -> str:
        """Write the whole script."""
        arrays = [self._defined(self.variables[name], array, repr(name)) for name, array in self.task.arrays.items()]
        for line in self.forward:
            self._add(line, is_kept=line.symbol in self.titles or self.uses[line.symbol] > 1)
        y = self.titles[self.program.output]
        name = self.task.program.output_name
        if not self.forward:
            self.written.append(f"{y} = {self._operand(self.program.output)}")
        elif self.forward[-1].name not in ("", name):  # of two statements with one value
            y, before = self.names.take(name), y
            self.written.append(f"{y} = {before}")
        self.values[self.program.output] = PyExpr(y, self.shapes.get(self.program.output, ()))
        self.written.append(self._defined(self.gradient, self.v, "'v'"))
        self.values[self.seed] = PyExpr(self.gradient, self.v.shape)
        x = next((self.variables[name] for name in self.of), "x")
        said = f"# {x}_bar is the adjoint of {x}: the derivative of sum({self.gradient}*{y}) by it"
        function, self.written = self.written, [_comment(said)]
        bars = self._bars()
        for line in self.backward:
            self._add(line, is_kept=line.symbol in bars or self.uses[line.symbol] > 1, bars=bars)
        prints = [self._result(name, numbers.get(name, {})) for name in self.task.wrt]
        formulas = [_comment(f"# {text}") for name in self.task.wrt for text in comments.get(name, ())]
        if not prints:
            return used_imports(assembled(arrays, function[:-1], [f"print({y})"]))
        return used_imports(assembled(arrays, function, self.written, [*formulas, *prints]))

    def _bars(self) -> dict[Atom, str]:
        """Name the adjoints of what has a name; those of the variables keep theirs also while terms are added up."""
        named = {
            atom: str(value) for atom, value in self.values.items() if isinstance(value, PyExpr) and _is_name(value)
        }
        bars: dict[Atom, str] = {}
        known = {line.symbol: line.call for line in self.backward}
        for atom, bar in self.adjoints.items():
            if atom in named and bar in known and bar not in bars:
                name, terms = self.names.take(f"{named[atom]}_bar"), bar
                while terms in known and terms not in bars:
                    bars[terms] = name
                    is_sum = known[terms].op.coefficients == (1, 1)
                    terms = known[terms].operands[0] if is_sum else bar
                    if self.uses[terms] > 1:
                        break
        return bars

    def _result(self, name: str, numbers: NumbersByIndex) -> str:
        """Give what is printed of a variable its name, and torch's numbers where the gradient gives others."""
        word, atom = self.variables[name], self.of[name]
        value = self.values.get(atom)
        bar = (
            str(value) if value is not None and str(value).startswith(f"{word}_bar") else self.names.take(f"{word}_bar")
        )
        if atom == 0:
            self.written.append(f"{bar} = np.zeros_like({word})")
        elif str(value) != bar:
            self.written.append(laid_out(f"{bar} = {value if value is not None else self._operand(atom)}"))
        if numbers:
            places, found = zip(*sorted(numbers.items()), strict=True)
            index = ", ".join(str(list(axis)) for axis in zip(*places, strict=True))
            given = PyExpr(node_of([*found] if index else found[0], NUMPY))
            self.written.append("# torch's numbers, where the gradient of its definition gives others")
            self.written.append(f"{bar} = np.array({bar})")
            self.written.append(laid_out(f"{bar}[{index or ()}] = {given}"))
        return f"print({bar})"

    # -- one line

    def _add(self, line: Line, *, is_kept: bool, bars: Mapping[Atom, str] | None = None) -> None:
        """Write an operation down, or keep its expression for the one place where it is used."""
        value = self._called(line)
        rules = [one for a in line.call.operands for one in self._parts.pop(a, ())]
        if bars is not None and line.span in self.rules:
            rules.append(self.rules[line.span])
        if line.call.op.is_condition or (line.call.op.is_held and line.call.operands[0] in self.conditions):
            self.conditions.add(line.symbol)
        if isinstance(value, PyExpr):
            value.shape = self.shapes[line.symbol]
        length = len(unparsed(node_of(value, NUMPY)))
        is_kept = is_kept and not (line.call.op.kind is Kind.MOVEMENT and length <= MOST_REPEATED)
        is_short = length <= MOST_INSIDE
        name = self.titles.get(line.symbol) or (bars or {}).get(line.symbol)
        is_inner = (not is_kept and is_short) or not isinstance(value, PyExpr) or _is_name(value)
        if is_inner and not name:
            self.values[line.symbol], self._parts[line.symbol] = value, tuple(rules)
            return
        name, value = name or self.names.temporary(), self._from_list(value)
        self._assign(name, value, ", ".join(dict.fromkeys(rules)))
        self.values[line.symbol] = PyExpr(name, self.shapes[line.symbol])

    def _called(self, line: Line) -> LibraryValue:
        call = line.call
        if call.op.kind is Kind.SOURCE:
            return self._array(held(array_of(call), self.task.dtype), f"{call.op.name}(...)")
        operands = [self._operand(a) for a in call.operands]
        is_of_constants = not any(map(is_tensor, operands)) and len(set(map(operand_shape, operands))) == 1
        if call.op.adds_dimension and not call.statics[0] and is_of_constants:
            return [*operands]
        operands = [*map(self._from_list, operands)]
        takes_conditions = call.op.is_condition or call.op.is_held or call.op.kind is not Kind.ELEMENTWISE
        for n, a in enumerate(call.operands):
            is_asked = takes_conditions or (call.op.is_branch and n == 0)
            if a in self.conditions and not is_asked:
                operands[n] = self._as_float(operands[n], self.shapes[a])
        if not any(map(is_tensor, operands)) and call.op.kind is not Kind.COUNT:  # no error of Python's for 1/0
            operands = [self._as_float(a, ()) for a in operands]
        if call.op.conditions and all(a in self.conditions for a in call.operands):
            return _LOGIC[call.op.name](*operands)
        if call.op.name in ("reshape", "unsqueeze") and isinstance(operands[0], PyExpr):
            key = _key_of_ones(self.shapes.get(call.operands[0], ()), self.shapes[line.symbol])
            if key is not None:
                return operands[0][key]
        return self.calls.apply(call, operands)

    def _from_list(self, value: LibraryValue) -> LibraryValue:
        """Write an array of constants, which is kept as a list until it is used."""
        if not isinstance(value, list):
            return value
        found = NUMPY.array(PyExpr(node_of(value, NUMPY)), dtype=getattr(NUMPY, self.task.dtype))
        found.shape = operand_shape(value)
        return found

    def _as_float(self, value: LibraryValue, shape: Shape) -> PyExpr:
        found: PyExpr = getattr(NUMPY, self.task.dtype)(value)
        found.shape = shape
        return found

    def _operand(self, atom: Atom) -> LibraryValue:
        """Return the script's expression for a value or a constant."""
        return self.values[atom] if atom in self.values else constant(atom, "np")

    def _assign(self, name: str, value: PyTree, rule: str) -> None:
        statement = laid_out(f"{name} = {value}")
        remark = f"  # {rule}"
        if rule and "\n" not in statement and len(statement) + len(remark) <= WIDTH:
            statement += remark
        elif rule:
            self.written.append(f"# {rule}")
        self.written.append(statement)

    def _array(self, array: Array, what: str) -> PyExpr:
        return tensor(NUMPY, array, what, self.task.dtype)

    def _defined(self, name: str, array: Array, what: str) -> str:
        return laid_out(f"{name} = {self._array(array, what)}")


_LOGIC: Mapping[str, Callable[..., LibraryValue]] = {
    "logical_and": lambda *a: reduce(operator.and_, a),
    "logical_or": lambda *a: reduce(operator.or_, a),
    "logical_not": operator.invert,
}


def _key_of_ones(before: Shape, after: Shape) -> tuple[LibraryValue, ...] | None:
    """Return the index that adds sizes of 1 to a shape; None where more changes."""
    if len(after) <= len(before) or [n for n in after if n != 1] != [n for n in before if n != 1]:
        return None
    key: list[LibraryValue] = []
    waiting = [*before]
    for size in after:
        if waiting and size == waiting[0] and (size != 1 or len(after) - len(key) <= len(waiting)):
            waiting.pop(0)
            key.append(slice(None))
        elif size == 1:
            key.append(None)
    return None if waiting else tuple(key)


def _is_name(value: PyExpr) -> bool:
    return str(value).isidentifier()


def _comment(text: str) -> str:
    line = printable(text)
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."
