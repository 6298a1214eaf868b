"""Defined operations replaced by their meanings: a Program of primitives only.

The symbolic and the reference reading see this Program, torch the one as typed: so a defined operation is checked
against its definition.  A line keeps the range of the text of the call it came from.  Most meanings are text of the
op table; where one depends on a constant argument (the p of a norm, the equation of an einsum), it is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gradcli.errors import LanguageError, ShapeError
from gradcli.language import ops
from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import Meaning
from gradcli.language.ops.row import SHAPES
from gradcli.language.ops.signature import Constants
from gradcli.language.program.wengert import AskedMeaning, Atom, Builder, Call, Line, Program, Shape, show
from gradcli.option_words import option

PADDING = "padding_idx"
"""Constant of an embedding: the row that has no derivative."""

MOST_LETTERS = 12
"""Largest number of distinct letters of one einsum."""


def _is_primitive(call: Call) -> bool:
    return call.op.is_primitive


def expand(program: Program, keep: Callable[[Call], bool] = _is_primitive) -> Program:
    """Rewrite a function in primitives, or in the operations to `keep`.

    >>> from gradcli.language.parsing import parse
    >>> [line.call.op.name for line in expand(parse("relu(x)")).lines]
    ['maximum']
    """
    return program if all(keep(line.call) for line in program.lines) else expansion(program, keep).program


def in_primitives(program: Program) -> Program:
    """Replace every defined operation by its meaning, for the readings other than torch."""
    return program.transformed(expand)


def with_torch_conventions(program: Program) -> Program:
    """Use torch's values where meanings have none, as torch is judged by the result."""
    if not _has_conventions(program):
        return in_primitives(program)
    return expansion(program, define=_by_convention).program


def _has_conventions(program: Program) -> bool:
    """Tell whether torch has values where the meaning of an operation, or of one that it is made of, has none."""
    calls = (line.call for line in program.lines if not line.call.op.is_primitive)
    return any(_is_by_convention(call.op.name, call.statics, len(call.operands)) for call in calls)


@lru_cache(maxsize=512)
def _is_by_convention(name: str, statics: tuple[Hashable, ...], count: int) -> bool:
    return bool(ops.ROWS[name].torch_convention) or _has_conventions(_written(name, statics, count, ""))


@dataclass(frozen=True)
class Expansion:
    """Rewritten Program, and the new lines by the old ones.

    Attributes:
        program: The result.
        renamed: The symbol of each line before, and the symbol or number that holds its value in the result.
        owners: The symbol of each line of the result, and the symbol of the first line before that it is part of.
    """

    program: Program
    renamed: Mapping[Atom, Atom]
    owners: Mapping[Atom, Atom]


def expansion(
    program: Program,
    keep: Callable[[Call], bool] = _is_primitive,
    *,
    shares: bool = True,
    define: Callable[..., Program] | None = None,
) -> Expansion:
    """Rewrite a function in primitives, or in the operations to `keep`, and note the new lines of each old one.

    Args:
        program: The function.
        keep: The operations that stay.
        shares: Whether lines that compute the same become one; else every line belongs to one line before.
        define: Gives the meaning of an operation; by default its `definition`.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("sigmoid(x)")
    >>> {str(program.lines[0].call) for part, line in expansion(program).owners.items() if line == program.output}
    {'sigmoid(x)'}
    """

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call = line.call
        if keep(call):
            return builder.emit(call.op.name, operands, line.span, call.statics)
        builder.part_of = line.part_of or call.op.name
        meant = (define or definition)(call.op.name, call.statics, len(operands))
        return builder.inline(meant, operands, line.span)

    return rewritten(program, write, shares=shares)


def rewritten(program: Program, write: Callable[[Builder, Line, tuple[Atom, ...]], Atom], *, shares: bool) -> Expansion:
    """Rewrite each line of a Program.

    Args:
        program: The function.
        write: Appends the lines that stand for a line, on operands of the result, and returns the symbol of its value.
        shares: Whether lines that compute the same become one.
    """
    builder = Builder(program.text, program.source, shares)
    renamed: dict[Atom, Atom] = {}
    owners: dict[Atom, Atom] = {}
    for line in program.lines:
        mark, builder.part_of = len(builder.lines), line.part_of
        renamed[line.symbol] = write(builder, line, tuple(renamed.get(a, a) for a in line.call.operands))
        owners.update((part.symbol, line.symbol) for part in builder.lines[mark:])
    output = renamed.get(program.output, program.output)
    names = {renamed[line.symbol]: line.name for line in program.lines if line.name}
    lines = tuple(replace(line, name=names[line.symbol]) if line.symbol in names else line for line in builder.lines)
    written = Program(program.text, program.variables, lines, output, program.source)
    return Expansion(written, renamed, owners)


@lru_cache(maxsize=512)
def definition(name: str, statics: tuple[Hashable, ...], count: int) -> Program:
    """Return a defined operation as a Program of primitives whose variables are its operands, in order.

    Args:
        name: Of the operation.
        statics: Its constant arguments.
        count: Of its operands.
    """
    return expand(_written(name, statics, count, ""))


@lru_cache(maxsize=512)
def _by_convention(name: str, statics: tuple[Hashable, ...], count: int) -> Program:
    return with_torch_conventions(_written(name, statics, count, ops.ROWS[name].torch_convention))


@lru_cache(maxsize=512)
def in_floats(name: str, statics: tuple[Hashable, ...], count: int) -> Program:
    """Return a defined operation as it is written for floating-point numbers, in any operations."""
    text = ops.ROWS[name].in_floats or ops.ROWS[name].torch_convention
    if name == "norm" and statics[0] == 2:  # its squares would overflow
        text = "m = amax(abs(x)); m = where((m > 1e150) & (m < inf), m, 1); m*sqrt(sum((x/m)**2, dim, keepdim))"
    return _written(name, statics, count, text)


def _written(name: str, statics: tuple[Hashable, ...], count: int, text: str) -> Program:
    op = ops.ROWS[name]
    if op.defined_by is Meaning.TORCH_CALL:
        if not isinstance(statics[-1], AskedMeaning):
            raise _depends(op)
        return statics[-1].record()
    if op.has_equation:
        letters_of(str(statics[0]), count)
    operands = tuple(f"x{n}" for n in range(count)) if op.has_equation else op.operands
    constants = dict(zip(op.statics, statics, strict=True))
    return parse_meaning(meaning_of(op, constants, text), operands, constants)


def _depends(op: ops.Op) -> ShapeError:
    hint = f"give values, or shapes in numbers, such as {option('shape', 'x=4,3')}"
    return ShapeError(f"what {op.name} computes depends on the shapes of its operands", hint=hint)


def with_shapes(call: Call, shapes: Sequence[Shape]) -> tuple[Hashable, ...]:
    """Return the constants of a call with these shapes of its operands, which it may lack."""
    found = tuple(map(tuple, shapes))
    return call.statics if not call.op.of_shapes or call.shapes == found else (*call.statics[:-1], found)


def meaning_of(op: ops.Op, constants: Constants, text: str = "") -> str:
    """Write the text that defines an operation with these constant arguments; `text` replaces that of the table."""
    if op.written is not None and not text:
        shapes = constants.get(SHAPES) or ()
        try:
            return op.written(constants, shapes) if op.of_shapes else op.written(constants)
        except (IndexError, TypeError, ValueError, ArithmeticError):  # sizes that do not go together, or are not known
            if not shapes:
                raise _depends(op) from None
            raise ShapeError(f"{op.name} does not fit the shapes {' and '.join(map(show, shapes))}") from None
    text = text or op.meaning
    match op.name:
        case "norm" if text == op.meaning:
            norm = _NORMS.get(constants["p"], "sum(abs(x)**p, {})**(1/p)")
            return norm.format("dim=dim, keepdim=keepdim")
        case "gelu" if constants["approximate"] == "tanh":
            return "x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))/2"
        case "einsum":
            return _einsum(constants["equation"])
    if "reduction" in constants and constants["reduction"] != "none":
        return f"{constants['reduction']}({text})"
    return text


def adjoint_meanings(op: ops.Op, constants: Mapping[str, object]) -> Mapping[str, str]:
    """Return the texts of what an operation with these constant arguments adds to the adjoints of its operands."""
    if op.name == "norm" and constants["p"] != 2:
        return {}
    if constants.get("reduction") == "mean":
        return {name: f"grad = grad/count({op.operands[0]}); {text}" for name, text in op.adjoints.items()}
    return op.adjoints


_NORMS: Mapping[float, str] = {
    **{0: "sum(where(x != 0, 1, 0), {})", 1: "sum(abs(x), {})", 2: "sqrt(sum(x**2, {}))"},
    **{float("inf"): "amax(abs(x), {})", float("-inf"): "amin(abs(x), {})"},
}
"""Norms of some orders, over dimensions."""


def _einsum(equation: str) -> str:
    """Write an einsum as the sum of a product of operands that are permuted and padded to one order of letters."""
    inputs, result = letters_of(equation)
    order = [*result, *sorted(set("".join(inputs)) - set(result))]
    factors = []
    for n, letters in enumerate(inputs):
        text, left = f"x{n}", letters
        while repeated := next((c for c in left if left.count(c) > 1), None):
            first, second = (k for k, c in enumerate(left) if c == repeated and left[:k].count(c) < 2)
            text = f"diagonal({text}, 0, {first}, {second})"
            left = "".join(c for k, c in enumerate(left) if k not in (first, second)) + repeated
        held = [c for c in order if c in left]
        if held != list(left):
            text = f"permute({text}, {', '.join(str(left.index(c)) for c in held)})"
        if len(held) < len(order) and held:
            text = f"({text})[{', '.join(':' if c in held else 'None' for c in order)}]"
        factors.append(text)
    product = "*".join(factors)
    summed = range(len(result), len(order))
    return f"sum({product}, dim=({', '.join(map(str, summed))},))" if summed else product


def letters_of(equation: str, count: int | None = None) -> tuple[list[str], str]:
    """Split an equation into the letters of each operand and the result; by default, those that occur once, in order.

    Raises:
        LanguageError: the equation is not of this form.
        ShapeError: it is not of this number of operands, if one is given.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    letters = set("".join(inputs))
    hint = "write it as in einsum('ij,j->i', A, x), one letter for each dimension"
    if not all(c.isascii() and c.isalpha() for c in letters | set(right)):
        raise LanguageError(f"'{equation}' is not an equation of letters", hint=hint)
    if len(letters) > MOST_LETTERS:
        raise LanguageError(f"'{equation}' names {len(letters)} dimensions; at most {MOST_LETTERS} are read")
    if count not in (None, len(inputs)):
        message = f"einsum '{equation}' is of {len(inputs)} operands, and {count} {'is' if count == 1 else 'are'} given"
        raise ShapeError(message, hint="one letter for each dimension, and one word for each operand")
    result = right if arrow else "".join(sorted(c for c in letters if "".join(inputs).count(c) == 1))
    if len(set(result)) < len(result) or not set(result) <= letters:
        raise LanguageError(f"the result '{result}' must name letters of the operands, each once", hint=hint)
    return inputs, result


def is_padded(call: Call) -> bool:
    """Tell whether it is an embedding with a row of padding, by which torch documents no derivative."""
    return call.constants.get(PADDING) is not None


def holds_constant(call: Call) -> bool:
    """Tell whether a call holds its operand, or a part of it, constant."""
    return call.op.is_held or is_padded(call)


def without_detach(program: Program, only: Atom | None = None) -> tuple[Program, Mapping[Atom, Atom]]:
    """Stop holding the values of a Program constant, all or `only` one; give also the replacement of each."""
    renamed: dict[Atom, Atom] = {}
    lines = []
    if not any(holds_constant(line.call) for line in program.lines):
        return program, renamed
    for line in program.lines:
        call = line.call.renamed(renamed) if renamed else line.call
        is_let_go = holds_constant(call) and only in (None, line.symbol)
        if is_let_go and call.op.is_held:
            renamed[line.symbol] = call.operands[0]
            continue
        if is_let_go:
            renamed[line.symbol] = line.symbol
            constants = zip(call.op.statics, call.statics, strict=True)
            statics = tuple(None if name == PADDING else one for name, one in constants)
            call = Call(call.op.name, call.operands, statics)
        lines.append(replace(line, call=call))
    return replace(program, lines=tuple(lines), output=renamed.get(program.output, program.output)), renamed


def moving_lines(program: Program, variables: Iterable[Atom]) -> set[Atom]:
    """List the lines that tangents of some variables reach, and the variables; constants and sizes stop them.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("y = detach(x); z = x*y")
    >>> [line.call.op.name for line in program.lines if line.symbol in moving_lines(program, program.variables)]
    ['mul']
    """
    found = set(variables)
    for line in program.lines:
        op = line.call.op
        if not found.isdisjoint(line.call.operands) and not op.is_detached and op.kind is not ops.Kind.COUNT:
            found.add(line.symbol)
    return found
