"""A question as a PyTorch script and as a LaTeX document.

PyTorch: tensors, statements, `y.backward(gradient=v)`, `print(x.grad)`.  The operations are asked for by the code that
`gradcli.autodiff.run` runs, in the same order, so that the numbers are the same bit for bit; operations that torch
lacks are written out by their definitions.

A value that is used once is put inside the expression that uses it.  The script evaluates in the order of the Program,
so that a backward pass adds its contributions up in the same order and the last digit is the same: an expression is put
inside another one only where that keeps the order.
"""

from __future__ import annotations

import keyword
import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, count

import numpy as np

from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expansion
from gradcli.language.program.library_calls import LibraryValue, TorchCalls, is_in_torch, undifferentiated
from gradcli.language.program.numeric import array_of
from gradcli.language.program.shapes import count_of, infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, needed
from gradcli.parts.code.self_writing import (
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
from gradcli.report import Screen, rendered
from gradcli.results import VJP, Array, ClosedForm


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
        """Take the first free name of these, else the first with a number after it."""
        words = list(map(_identifier, wanted))
        free = next(filter(self.is_free, chain(words, (f"{words[0]}_{number}" for number in count(2)))))
        self._taken.add(free)
        return free

    def temporary(self) -> str:
        """Take the next free name of t1, t2, ..."""
        return self.take(next(filter(self.is_free, self._temporaries)))

    def is_free(self, word: str) -> bool:
        """Tell whether nothing is called so yet."""
        return word not in self._taken and not keyword.iskeyword(word)


def _identifier(word: str) -> str:
    """Normalize an identifier as Python does (`ｘ` is `x`), without leading underscores that have a meaning.

    >>> _identifier("fc1.weight")
    'fc1_weight'
    """
    read = unicodedata.normalize("NFKC", word).lstrip("_").replace(".", "_")
    return read if read.isidentifier() else "t"


NUMPY, TORCH = PyExpr("np"), PyExpr("torch")
"""What writes the calls of the libraries down."""

IMPORTS = {"np": "import numpy as np", "torch": "import torch", "F": "import torch.nn.functional as F"}
IMPORTS |= {"special": "from scipy import special  # for functions that NumPy does not have"}
IMPORTS |= {"linalg": "from scipy import linalg  # for functions that NumPy does not have"}
"""The statement that imports each module, by what a script calls it."""

MOST_INSIDE = WIDTH - 16
"""Characters of an expression that is put inside another one."""


def tensor(library: PyExpr, array: Array, name: str, dtype: str, *, requires_grad: bool = False) -> PyExpr:
    """Write the expression of a tensor of torch's, or an array of NumPy's, with these numbers.

    Raises:
        TooLargeError: They are many and follow no rule.
    """
    kind, numbers = rule_of(array, name)
    with_dtype = {"requires_grad": True} if requires_grad else {}
    if library is TORCH or dtype != "float64":  # which is NumPy's own
        with_dtype = {"dtype": getattr(library, dtype), **with_dtype}
    if kind == "tensor":
        return (library.tensor if library is TORCH else library.array)(PyExpr(node_of(numbers, library)), **with_dtype)
    if kind != "linspace":
        sizes = {"eye": array.shape, "full": (array.shape, PyExpr(node_of(numbers[0], library)))}
        shape = sizes.get(kind, (array.size if array.ndim == 1 else array.shape,))
        return getattr(library, kind)(*shape, **with_dtype)  # type: ignore[no-any-return]
    if library is NUMPY:
        made = NUMPY.linspace(*numbers, **with_dtype)
    else:  # by NumPy too, as torch rounds differently
        made = TORCH.from_numpy(NUMPY.linspace(*numbers))
        made = made.float() if dtype == "float32" else made
    made = made.reshape(*array.shape) if array.ndim > 1 else made
    return made.requires_grad_() if requires_grad else made


class TorchScript:
    """One script while it is written: leaves, function, backward pass, and the `.grad` of each variable.

    Args:
        task: What it is to compute.
        keep: The operations that torch is asked for; others are written as their meaning.

    Attributes:
        values: The expression, number, or nested list of numbers that stands for each value.
        written: The statements so far.
    """

    def __init__(self, task: Task, keep: Callable[[Call], bool]) -> None:
        self.task, self.calls = task, TorchCalls(TORCH, getattr(TORCH, task.dtype))
        self.names = Identifiers(["np", "torch", "F", "print"])
        self.arrays = {**task.arrays, **_named_by(task)}
        self.variables = {name: self.names.take(name) for name in self.arrays}
        both, v = _with_v(task, self.arrays)
        whole = expansion(both, keep=keep)
        self.program = whole.program
        self.v = whole.renamed.get(v, v)
        inputs = {symbol: self.arrays[str(symbol)].shape for symbol in self.program.variables}
        self.shapes = infer(self.program, inputs, bounded=False)
        self.lines = needed(self.program.lines, self.program.output)
        typed = {whole.renamed[line.symbol]: line.name for line in task.program.lines if line.name}
        self.titles = {line.symbol: self.names.take(typed[line.symbol]) for line in self.lines if line.symbol in typed}
        if self.program.output not in self.titles:
            self.titles[self.program.output] = self.names.take(task.program.output_name)
        self.gradient = self.names.take("v", "gradient", "cotangent")
        self.reached = reached(self.program, task.wrt)
        self.values: dict[Atom, LibraryValue] = {
            s: PyExpr(self.variables[str(s)], inputs[s]) for s in self.program.variables
        }
        self.written: list[str] = []
        self._waiting: list[Atom] = []

    def text(self) -> str:
        """Write the whole script: leaves, function, `backward()` if y depends on a variable, and prints."""
        self.function()
        y, mask, prints = self.titles[self.program.output], self.reached.get(self.program.output, 0), []
        for n, variable in enumerate(map(self.variables.__getitem__, self.task.wrt)):
            missing = f"print(torch.zeros_like({variable}))  # {y} does not depend on it: torch leaves .grad empty"
            prints.append(f"print({variable}.grad)" if mask >> n & 1 else missing)
        return used_imports(self.assembled(y, prints or [f"print({y})"]))

    def function(self) -> None:
        """Write the statements of the function down."""
        output, lines = self.program.output, self.lines
        self.write(lines)
        if not lines or lines[-1].call.op.kind is Kind.COUNT:
            self.assign(self.titles[output], self.calls.tensor(self.operand(output)))
        self.values[output] = PyExpr(self.titles[output], self.shapes.get(output, ()))

    def assembled(self, y: str, prints: Sequence[str]) -> str:
        """Join the leaves, the statements, the backward pass if y depends on a variable, and these prints."""
        if self.reached.get(self.program.output, 0):
            self.write_v()
            self.written.append(f"{y}.backward({'' if self.task.v is None else f'gradient={self.gradient}'})")
        leaves = []
        for name, array in self.arrays.items():
            leaf = tensor(TORCH, array, repr(name), self.task.dtype, requires_grad=name in self.task.wrt)
            leaves.append(laid_out(f"{self.variables[name]} = {leaf}"))
        return assembled(leaves, self.written, prints)

    def write(self, lines: Sequence[Line]) -> None:
        """Write lines down; at the end some of them may wait to be used."""
        uses = Counter(a for line in lines for a in written_operands(line.call))
        for line in lines:
            self._add(line, is_kept=line.symbol in self.titles or uses[line.symbol] > 1)

    def operand(self, atom: Atom) -> LibraryValue:
        """Return the script's expression for a value or a constant."""
        return self.values[atom] if atom in self.values else constant(atom)

    def assign(self, name: str, value: PyTree) -> None:
        """Append the statement that gives a value a name, laid out."""
        self.written.append(laid_out(f"{name} = {value}"))

    def _add(self, line: Line, *, is_kept: bool) -> None:
        operands = line.call.operands
        inside = [a for a in operands if a in self._waiting]
        # Put inside only if that keeps the order of evaluation, which is that of the user's text.
        if self._waiting[len(self._waiting) - len(inside) :] != inside:
            self._flush()
        value = self._called(line)
        if self._waiting and len(unparsed(node_of(value))) > MOST_INSIDE:
            self._flush()
            value = self._called(line)
        self._waiting = [a for a in self._waiting if a not in operands]
        self.values[line.symbol] = value
        if is_kept:
            self._flush()
            self._name(line.symbol)
        else:
            self._waiting.append(line.symbol)

    def _called(self, line: Line) -> LibraryValue:
        call = line.call
        if call.op.kind is Kind.SOURCE:
            numbers = held(array_of(call), self.task.dtype)
            value: LibraryValue = tensor(TORCH, numbers, f"{call.op.name}(...)", self.task.dtype)
        else:
            value = self.calls.apply(call, [self.operand(a) for a in call.operands])
        if call.op.kind is Kind.COUNT and isinstance(value, PyExpr):
            size = count_of(self.shapes.get(call.operands[0], ()), call.statics[0])
            return PyNumber(size, value.node)
        if isinstance(value, PyExpr) and value.shape is None:
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
        name = self.titles.get(symbol) or self.names.temporary()
        if isinstance(value, float | int):
            self.values[symbol] = PyNumber(value, name)
        else:
            value = self.calls.tensor(value)
            self.values[symbol] = PyExpr(name, self.shapes[symbol])
        self.assign(name, value)

    def write_v(self) -> None:
        """Write the statements that define v, where it is given."""
        v = self.task.v
        if isinstance(v, np.ndarray):
            self.assign(self.gradient, tensor(TORCH, v, "'v'", self.task.dtype))
        elif v is not None:
            self.write([line for line in needed(self.program.lines, self.v) if line not in self.lines])
            value = self.calls.tensor(self.operand(self.v))
            # Without its graph, where a variable that is differentiated by is behind it.
            self.assign(self.gradient, value.detach() if self.reached.get(self.v) else value)


def written_operands(call: Call) -> tuple[Atom, ...]:
    """List the operands of a call as often as it writes them: a stack of positions once for each dimension."""
    if not call.op.is_at_positions:
        return call.operands
    given = call.statics[1]
    return (call.operands[0], *[call.operands[1]] * (len(given) if isinstance(given, tuple) else given))


def torch_script(task: Task) -> str:
    """Write the script that prints `x.grad` for each variable of `wrt`.

    Raises:
        TooLargeError: Values that follow no rule are too many to be written out.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> x = np.array([1.0, 2.0])
    >>> print(torch_script(Task(parse("x**2"), {"x": x}, ("x",), "float64", x, {})))
    import torch
    <BLANKLINE>
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    <BLANKLINE>
    y = x**2
    v = torch.tensor([1.0, 2.0], dtype=torch.float64)
    y.backward(gradient=v)
    <BLANKLINE>
    print(x.grad)
    <BLANKLINE>
    """
    moving = reached(task.program, task.wrt)

    def keep(call: Call) -> bool:
        return call.op.is_primitive or (is_in_torch(call) and not any(moving.get(a) for a in undifferentiated(call)))

    return TorchScript(task, keep).text()


def latex_document(answer: VJP | ClosedForm) -> str:
    r"""Write the answer of `vjp`, or formulas alone, as a whole document, which needs amsmath and nothing else.

    >>> from gradcli import Function
    >>> latex_document(Function("x**2").vjp({"x": 3}, check=False)).splitlines()[:3]
    ['\\documentclass{article}', '\\usepackage{amsmath}', '\\begin{document}']
    """
    fragment = rendered(answer, "latex", Screen()).partition("\n")[2]  # without the remark on what it needs
    head = ["\\documentclass{article}", "\\usepackage{amsmath}", "\\begin{document}"]
    return "\n".join([*head, fragment.rstrip(), "\\end{document}"]) + "\n"


def _named_by(task: Task) -> dict[str, Array]:
    """Select the values that v alone names."""
    names = [] if task.v is None or isinstance(task.v, np.ndarray) else task.v.names
    known = {*task.arrays, task.program.output_name}
    return {name: task.named[name] for name in names if name not in known}


def _with_v(task: Task, arrays: Mapping[str, Array]) -> tuple[Program, Atom]:
    """Append the lines of v to the function, where v is an expression; give the value of v, or y if it is none."""
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
    """Map each value to the variables that torch differentiates it by, as bits of their places in `wrt`."""
    whole = expansion(program)
    found = {symbol: 1 << wrt.index(str(symbol)) for symbol in program.variables if str(symbol) in wrt}
    for line in whole.program.lines:
        op = line.call.op
        is_cut = op.is_condition or op.is_detached or op.kind is Kind.COUNT
        masks = [found.get(operand, 0) for operand in line.call.operands]
        found[line.symbol] = 0 if is_cut else reduce(operator.or_, masks, 0)
    return found | {symbol: found.get(after, 0) for symbol, after in whole.renamed.items()}


def assembled(*blocks: Sequence[str]) -> str:
    """Blocks of lines with an empty line between them."""
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def used_imports(script: str) -> str:
    """Put the imports of the modules that a script names before it."""
    code = "\n".join(line for line in script.splitlines() if not line.startswith("#"))
    used = [text for module, text in IMPORTS.items() if re.search(rf"(?<![\w.]){module}\.", code)]
    return assembled(used, [script.rstrip()])
