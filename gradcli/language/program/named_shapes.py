"""Shapes whose sizes have names, (m, n): as given, or inferred for variables without one.

A name stands for a number while shapes are inferred; other sizes are written in names by inferring again with numbers
next to it.  The numbers are primes beyond all sizes that mean something by themselves, so that a formula knows them as
symbols; two sizes that happen to be one number and are not the same in names get other numbers.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from sympy import Expr

from gradcli.errors import GradcliError, InputError, ShapeError, TooLargeError
from gradcli.language.ops import Kind
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shape_costs import divisor_of
from gradcli.language.program.shape_readings import NamedShape, Read, ShapeConstraint, Size, Sizes, shape_readings
from gradcli.language.program.shapes import infer, shape_of
from gradcli.language.program.wengert import MAX_DIMENSIONS, Atom, Call, Program, Shape
from gradcli.option_words import option

MOST_INDEXED = 2**24
"""Largest number of elements that a formula is tried with where an index needs so many."""

_NUMBERS = ((211, 307, 401, 503, 607, 701, 809, 907), (223, 337, 443, 557, 661, 773, 881, 991))
"""Numbers that stand for the names, and a second list for the case that two sizes happened to be one number."""

_STANDS_FOR_SIZE = re.compile(r"\d{3}")
"""A number in a message that may stand for a size."""

_OF_COLUMNS, _OF_ROWS = "npqrstk", "mlhdbc"
"""Names of sizes: of last dimensions, and of the others."""


@dataclass(frozen=True)
class NamedShapes:
    """Shapes of a Program, in sizes with names.

    Attributes:
        program: In primitives.
        given: Of each variable, by its name.
        numbers: The number that stands for each name.
        shapes: Of every symbol, in numbers.
    """

    program: Program
    given: Mapping[str, NamedShape]
    numbers: Mapping[str, int]
    shapes: Mapping[Atom, Shape]

    def in_names(self, shape: Shape) -> tuple[str, ...]:
        """Write a shape in names.

        >>> from gradcli.language.parsing import parse
        >>> found = named_shapes(parse("cat([x, x])"), {})
        >>> found.in_names(found.shapes[found.program.output])
        ('2*n',)
        """
        return tuple(str(self.sizes.get(size, size)) for size in shape)

    def small(self, *, is_descending: bool = False) -> Mapping[Atom, Shape]:
        """Return the shapes where the names stand for small numbers, if nothing is empty then.

        >>> from gradcli.language.parsing import parse
        >>> [named_shapes(parse(text), {}).small()[parse("x").output] for text in ("sum(x)", "sum(x[5:])")]
        [(4,), (17,)]
        """
        names = [*self.numbers][:: -1 if is_descending else 1]
        for least in (4, 17):
            with suppress(ShapeError):
                found = _inferred(self.program, self.given, {name: least + n for n, name in enumerate(names)})
                if all(map(math.prod, found.values())):
                    return found
        return self.shapes

    @cached_property
    def sizes(self) -> dict[int, Expr]:
        """Numbers that are made of names, with their expressions; the sizes of all lines are covered."""
        names = [name for name in self.numbers if any(name in shape for shape in self.given.values())]

        def sizes_at(*steps: str) -> Any:
            """List all sizes where a name stands for one more, for each time that it is among the steps."""
            numbers = {name: number + steps.count(name) for name, number in self.numbers.items()}
            shapes = _inferred(self.program, self.given, numbers) if steps else self.shapes
            return np.array([size for shape in shapes.values() for size in shape], dtype=object)

        here = sizes_at()
        slopes = {name: sizes_at(name) - here for name in names}
        if any((sizes_at(name, name) - here != 2 * slope).any() for name, slope in slopes.items()):
            raise _NotInNamesError
        offsets = {name: sympy.Symbol(name, integer=True, positive=True) - self.numbers[name] for name in names}
        whole = sum((slopes[name] * offsets[name] for name in names), here)
        for a, b in itertools.combinations(names, 2):
            whole = whole + (sizes_at(a, b) - here - slopes[a] - slopes[b]) * offsets[a] * offsets[b]
        found: dict[int, Expr] = {}
        for size, expression in zip(here, map(sympy.expand, whole), strict=True):
            if found.setdefault(size, expression) != expression:
                raise _CoincidenceError
        return {size: expression for size, expression in found.items() if not expression.is_Integer}


class _CoincidenceError(Exception):
    """Coincidence: two sizes are one number, and are not the same in names."""


class _NotInNamesError(Exception):
    """Failure to write a size in names: it is not affine in one."""


def shape_text(shape: Sequence[object]) -> str:
    """Write a shape in names and numbers.

    >>> shape_text(("m", 2)), shape_text(("n",)), shape_text(())
    ('(m, 2)', '(n,)', '()')
    """
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def shape_in_words(shape: NamedShape) -> str:
    """Write a shape as one would say it.

    >>> shape_in_words(()), shape_in_words((3,)), shape_in_words(("n", "n")), shape_in_words((2, "m", 4))
    ('a number', 'a vector of 3', 'an n × n matrix', 'of shape (2, m, 4)')
    """
    match shape:
        case ():
            return "a number"
        case (size,):
            return f"a vector of {size}"
        case (rows, columns):
            return f"{'an' if str(rows)[0] in '8aefhilmnorsx' else 'a'} {rows} × {columns} matrix"
    return f"of shape {shape_text(shape)}"


def named_shapes(program: Program, given: Mapping[str, NamedShape]) -> NamedShapes:
    """Find the shapes of a Program: a variable without one is a number, or has the shape that its operations need.

    An index of whole numbers needs so many elements, a reduction or a slice a vector, a product with @ vectors, or a
    matrix of a variable with a capital letter.  As many sizes are different as can be.

    Args:
        program: The function.
        given: Shapes of some variables.

    Raises:
        GradcliError: The shapes given do not fit, or none is found for the others.

    >>> from gradcli.language.parsing import parse
    >>> [named_shapes(parse(text), {}).given for text in ("sin(x)*x", "sum(w*x**2)", "A@x + b", "x[0]*x[1]")]
    [{'x': ()}, {'w': ('n',), 'x': ('n',)}, {'A': ('m', 'n'), 'x': ('n',), 'b': ('m',)}, {'x': (2,)}]
    """
    if set(program.names) <= given.keys():
        return _numbered(for_formulas(program), given)
    for found in named_readings(program, given):
        return found.named
    raise InputError("no shapes are known with which the expression makes sense", hint=_hint(program, given))


@dataclass(frozen=True)
class NamedReading:
    """Shapes with which a text makes sense.

    Attributes:
        program: The text, as read for variables of these dimensions.
        named: Its shapes.
        cost: How unlikely it is that they are meant.
    """

    program: Program
    named: NamedShapes
    cost: float

    @property
    def words(self) -> str:
        """The shapes as one would say them: "x a vector of n, A an n × n matrix"."""
        return ", ".join(f"{name} {shape_in_words(shape)}" for name, shape in self.named.given.items())


def named_readings(
    program: Program,
    given: Mapping[str, NamedShape],
    read: Read | None = None,
    constraints: Sequence[ShapeConstraint] = (),
    cost_of: Callable[[Shape], float | None] = lambda shape: 0.0,
    square: Collection[str] = (),
) -> Iterator[NamedReading]:
    """Generate the shapes with which a text makes sense, the likeliest first.

    Args:
        program: The function, read without shapes.
        given: Shapes of some variables.
        read: Reads the text for shapes, where they decide how it is read.
        constraints: Of other texts, whose shapes have to fit too.
        cost_of: The cost of a shape of y; None where the question does not allow it.
        square: Variables that are square matrices.

    Raises:
        GradcliError: No shapes fit.
    """
    wanted, exact = ({}, {}) if set(program.names) <= given.keys() else _needs(for_formulas(program), program, given)
    exact = {name: size for name, size in exact.items() if name not in given}
    if max(exact.values(), default=0) > MOST_INDEXED:
        raise TooLargeError(f"an index needs a vector of more than {MOST_INDEXED:,} elements", hint="use smaller ones")
    refused: GradcliError | None = None
    is_any = False
    try:
        for one in shape_readings(program, given, wanted, exact, read, constraints, cost_of, square):
            named = _called(one.shapes, given, {*program.names, *program.assigned})
            of_names = [name for name, shape in named.items() if any(isinstance(size, str) for size in shape)]
            try:
                if one.needs_numbers:
                    raise ShapeError("a constant is a size")
                found = _numbered(for_formulas(one.program), named)
            except ShapeError as error:
                if read is not None and program.needs_shapes and not is_any and of_names:
                    raise size_needed(of_names) from error
                refused = refused or error
                continue
            is_any = True
            yield NamedReading(one.program, found, one.cost)
    except ShapeError as error:
        if set(program.names) <= given.keys():
            raise
        refused = error
    if not is_any and refused is not None:
        # Its numbers stand for sizes, and say nothing to anybody else.
        why = re.split(r",? (?:and )?(?:the shapes?|for) ", refused.text.message)[0]
        why = "" if _STANDS_FOR_SIZE.search(why) else f": {why}"
        said = f"no shapes are known with which the expression makes sense{why}"
        own = refused.text.hint or ""
        is_clear = own and not _STANDS_FOR_SIZE.search(own)
        raise InputError(said, place=refused.place, hint=own if is_clear else _hint(program, given))


def size_needed(names: Sequence[str]) -> InputError:
    """Make the error that sizes are needed as numbers."""
    hint = f"give values, or sizes: {option('shape', *(f'{name}=3' for name in names[:4]))}"
    return InputError(f"the expression needs the sizes of {', '.join(names)} as numbers", hint=hint)


def _hint(program: Program, given: Mapping[str, NamedShape]) -> str:
    missing = [name for name in program.names if name not in given]
    if given:
        with suppress(GradcliError):
            for found in named_readings(program, {}):
                return f"without those given, it makes sense with {found.words}"
    shown = option("shape", *(f"{name}=SIZES" for name in missing[:4]))
    return f"give {shown}: n is a vector, m,n a matrix, k,m,n has three dimensions"


def renamed_size(program: Program, given: Mapping[str, NamedShape], size: str) -> str:
    """Advise another name for a size that a variable has; the variable is a number, where that makes sense.

    Raises:
        GradcliError: The shapes make no sense under another name either; it says why.
    """
    sizes = {str(one) for shape in given.values() for one in shape}
    name = next(_untaken(_OF_COLUMNS, {*program.names, *program.assigned, *sizes}))
    renamed = {
        whose: tuple(name if one == size else one for one in shape) for whose, shape in given.items() if size in shape
    }
    refused: GradcliError | None = None
    for number in ({}, {size: ()}) if size in given else ({size: ()}, {}):
        try:
            _ = next(named_readings(program, {**given, **number, **renamed}))
        except GradcliError as error:
            refused = refused or error
        else:
            shown = [f"{whose}={','.join(map(str, shape))}" for whose, shape in renamed.items()]
            return option("shape", *shown, *[f'"{size}=()"'] * bool(number))
    assert refused is not None, "there is one reading, or a reason for none"  # noqa: S101
    raise refused


def _numbered(program: Program, given: Mapping[str, NamedShape]) -> NamedShapes:
    """Infer the shapes in numbers of which no two coincide by chance."""
    names = list(dict.fromkeys(size for shape in given.values() for size in shape if isinstance(size, str)))
    taken = {size for shape in given.values() for size in shape if isinstance(size, int)}
    for numbers in _NUMBERS:
        every = itertools.chain(numbers, itertools.count(numbers[-1] + 100, 97))
        chosen = dict(zip(names, (number for number in every if number not in taken), strict=False))
        found = NamedShapes(program, given, chosen, _inferred(program, given, chosen))
        try:
            found.sizes  # noqa: B018 - so that its error is raised here
        except _CoincidenceError:
            continue
        except _NotInNamesError:
            break
        return found
    hint = f"give the sizes as numbers, such as {option('shape', 'x=4')}"
    raise InputError(f"a size of the expression is not to be written in {' and '.join(names)}", hint=hint)


def _inferred(program: Program, given: Mapping[str, NamedShape], numbers: Mapping[str, int]) -> Mapping[Atom, Shape]:
    variables = {
        symbol: tuple(numbers[size] if isinstance(size, str) else size for size in given[str(symbol)])
        for symbol in program.variables
    }
    return infer(program, variables, bounded=False)


# -- shapes that were not given


def _called(shapes: Sizes, given: Mapping[str, NamedShape], taken: set[str]) -> dict[str, NamedShape]:
    """Name the sizes that nobody gave: n where the first place of a size is a last dimension, else m.

    A square matrix has n rows.
    """
    known = {size for shape in given.values() for size in shape}
    free = {letters: _untaken(letters, {*taken, *map(str, known)}) for letters in (_OF_COLUMNS, _OF_ROWS)}
    names: dict[Size, Size] = {}
    for name, shape in shapes.items():
        for size in shape:
            if isinstance(size, str) and size not in known and size not in names and name not in given:
                names[size] = next(free[_OF_COLUMNS if size == shape[-1] else _OF_ROWS])
    return {name: tuple(names.get(size, size) for size in shape) for name, shape in shapes.items()}


def _untaken(letters: str, taken: set[str]) -> Iterator[str]:
    """Generate letters that are not taken, and then the first of them with numbers."""
    numbered = (f"{letters[0]}{number}" for number in itertools.count(1))
    return (name for name in itertools.chain(letters, numbered) if name not in taken)


def _needs(
    program: Program, typed: Program, given: Collection[str]
) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Infer the dimensions that the operations of a Program need of its variables.

    Goes from the last line to the first: the needs of a line are passed on to its operands.  Those of a product of
    matrices are not passed on to the factors of `(a*x)@B`, of which one may be a number, nor to what a product of
    matrices, or what is given, is divided by: `softmax(A@x/d)`.

    Returns:
        How many dimensions each variable must have, and how many are passed on to it; and how many elements, of those
        that only have single ones taken by constant indices.
    """
    needed: dict[Atom, int] = {}
    fewest: dict[Atom, int] = {}
    indices: dict[Atom, list[int]] = {}
    uses: dict[Atom, int] = {}
    elementwise = {line.symbol for line in program.lines if line.call.op.kind is Kind.ELEMENTWISE}
    settled = {symbol for symbol in program.variables if str(symbol) in given}
    for line in program.lines:
        atoms = line.call.operands
        if line.call.op.kind is Kind.CONTRACTION or (atoms and all(one in settled or one.is_number for one in atoms)):
            settled.add(line.symbol)
    for line in reversed(program.lines):
        call, own = line.call, needed.get(line.symbol, 0)
        pair = call.operands  # of x**2, one has the shape of the result
        is_of_one = len(pair) == 1 or (len(pair) == 2 and (pair[0].is_number or pair[1].is_number))
        for operand in call.operands:
            passed = fewest.get(line.symbol, 0) if line.symbol in elementwise and is_of_one and not line.part_of else 0
            fewest[operand] = max(fewest.get(operand, 0), _needed(call, passed))
            is_divisor = operand is divisor_of(call) and pair[0] in settled
            if not is_divisor and (call.op.kind is not Kind.CONTRACTION or operand not in elementwise):
                needed[operand] = max(needed.get(operand, 0), _needed(call, own))
            uses[operand] = uses.get(operand, 0) + 1
            if (at := _single(call)) is not None:
                indices.setdefault(operand, []).append(at)
    variables = {symbol: str(symbol) for symbol in program.variables}
    elements = {
        name: 1 + max(at if at >= 0 else -at - 1 for at in indices[symbol])
        for symbol, name in variables.items()
        if symbol in indices and len(indices[symbol]) == uses[symbol]
    }
    for line in typed.lines:
        if line.call.op.has_equation:
            terms = str(line.call.statics[0]).partition("->")[0].split(",")
            for operand, term in zip(line.call.operands, terms, strict=False):
                fewest[operand] = needed[operand] = len(term.strip())
    return {name: (fewest.get(s, 0), needed.get(s, 0)) for s, name in variables.items()}, elements


def _single(call: Call) -> int | None:
    """Return the one whole number of an index."""
    key = call.constants.get("key")
    key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    return key if isinstance(key, int) and not isinstance(key, bool) else None


def _needed(call: Call, own: int) -> int:
    """Count the dimensions that an operation needs of an operand, `own` of itself being needed."""
    if call.op.adds_dimension:
        return max(own - 1, 0)
    if call.op.kind is Kind.MOVEMENT and call.statics == (None, None):
        return own  # `x.T`, which of a vector is x
    needs = {Kind.LIST: max(own, 1), Kind.CONTRACTION: 1, Kind.MATRIX: 2, Kind.SPECTRAL: 2}
    named = _dimensions(call) if len(call.operands) == 1 else 0
    needs |= dict.fromkeys((Kind.REDUCTION, Kind.SCAN, Kind.COUNT), max(1, named))
    needs[Kind.MOVEMENT] = max(own, int("key" not in call.op.statics), named)
    return needs.get(call.op.kind, own)


def _dimensions(call: Call) -> int:
    """Count the dimensions that an operand must have by the constants of an operation: the fewest that fit."""
    for rank in range(MAX_DIMENSIONS + 1):
        with suppress(GradcliError):
            shape_of(call, [(2 ** (48 // max(rank, 1)),) * rank])
            return rank
    return 0
