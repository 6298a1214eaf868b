"""Shapes whose sizes have names, (m, n): as given, or inferred for variables without one.

A name stands for a number while shapes are inferred; other sizes are written in names by inferring again with numbers
next to it.  The numbers are primes beyond all sizes that mean something by themselves, so that a formula knows them as
symbols; two sizes that happen to be one number and are not the same in names get other numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
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
from gradcli.language.program.shapes import infer, shape_of
from gradcli.language.program.wengert import MAX_DIMENSIONS, Atom, Call, Program, Shape
from gradcli.option_words import option

Size = int | str
NamedShape = tuple[Size, ...]

MOST_DIMENSIONS = 6
"""Largest number of unknown sizes for which all ways are tried in which some of them may be the same."""

MOST_INDEXED = 2**24
"""Largest number of elements that a formula is tried with where an index needs so many."""

_NUMBERS = ((211, 307, 401, 503, 607, 701, 809, 907), (223, 337, 443, 557, 661, 773, 881, 991))
"""Numbers that stand for the names, and a second list for the case that two sizes happened to be one number."""

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

    def small(self) -> Mapping[Atom, Shape]:
        """Return the shapes where the names stand for small numbers, if nothing is empty then.

        >>> from gradcli.language.parsing import parse
        >>> [named_shapes(parse(text), {}).small()[parse("x").output] for text in ("sum(x)", "sum(x[5:])")]
        [(4,), (17,)]
        """
        for least in (4, 17):
            with suppress(ShapeError):
                found = _inferred(self.program, self.given, {name: least + n for n, name in enumerate(self.numbers)})
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
    primitive = for_formulas(program)
    if set(program.names) <= given.keys():
        return _numbered(primitive, given)
    error: GradcliError | None = None
    for shapes in _candidates(primitive, program, given):
        try:
            found = _numbered(primitive, shapes)
        except ShapeError as refused:
            error = error or refused
            continue
        return _with_terms_alike(found, given)
    missing = [name for name in program.names if name not in given]
    hint = f"give {option('shape', *(f'{name}=n' for name in missing[:4]))}, with numbers or names for sizes"
    said = "no shapes are known with which the expression makes sense"
    raise InputError(f"{said}: {error}" if error else said, hint=hint)


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


def _candidates(program: Program, typed: Program, given: Mapping[str, NamedShape]) -> Iterator[dict[str, NamedShape]]:
    """Generate shapes for the other variables: the fewest dimensions that do, the most different sizes first."""
    dimensions, elements = _needs(program, typed)
    fixed = {size for shape in given.values() for size in shape if isinstance(size, str)}
    names = {*program.names, *program.assigned, *fixed}
    unknown = [name for name in program.names if name not in given]
    if max(elements.values(), default=0) > MOST_INDEXED:
        raise TooLargeError(f"an index needs a vector of more than {MOST_INDEXED:,} elements", hint="use smaller ones")
    exact = {name: elements[name] for name in unknown if name in elements}
    places = [(name, axis) for name in unknown if name not in exact for axis in range(dimensions.get(name, 0))]
    numbers = {size for shape in given.values() for size in shape if isinstance(size, int)}
    numbers |= {size for size in _sizes_of_constants(program) if size > 1}
    for classes in _partitions(len(places)):
        called = _called(places, classes, names)
        for substitutes in _substitutes(list(dict.fromkeys(called)), [*sorted(fixed), *sorted(numbers)]):
            sizes = [substitutes.get(name, name) for name in called]
            found: dict[str, NamedShape] = {}
            for name in program.names:
                own = tuple(size for (whose, _), size in zip(places, sizes, strict=True) if whose == name)
                found[name] = given[name] if name in given else (exact[name],) if name in exact else own
            yield found


def _with_terms_alike(found: NamedShapes, given: Mapping[str, NamedShape]) -> NamedShapes:
    """Turn a number that is added to a vector into a vector too, as the b of W@x + b."""
    shapes = dict(found.given)
    named = {number: name for name, number in found.numbers.items()}
    for line in found.program.lines:
        if not line.call.op.adds_terms:
            continue
        longest = max((found.shapes.get(operand, ()) for operand in line.call.operands), key=len)
        for operand in line.call.operands:
            name = str(operand)
            if shapes.get(name) == () and name not in given and longest and operand in found.program.variables:
                shapes[name] = tuple(named.get(size, size) for size in longest[-1:])
    try:
        return found if shapes == found.given else _numbered(found.program, shapes)
    except GradcliError:
        return found


def _partitions(count: int) -> Iterator[tuple[int, ...]]:
    """Generate all partitions of `count` items, as the class of each one: first all differ, last all are the same.

    >>> list(_partitions(2))
    [(0, 1), (0, 0)]
    """
    if count > MOST_DIMENSIONS:
        return iter([tuple(range(count)), (0,) * count])
    found: list[tuple[int, ...]] = [()]
    for _ in range(count):
        found = [(*classes, one) for classes in found for one in range(max(classes, default=-1) + 2)]
    return iter(sorted(found, key=lambda classes: (-len(set(classes)), classes)))


def _called(places: Sequence[tuple[str, int]], classes: Sequence[int], taken: set[str]) -> list[str]:
    """Name the size of each place, one name for a class: n where its first place is a last dimension, else m.

    A square matrix has n rows.
    """
    last = dict(places)
    members = {(name, one) for (name, axis), one in zip(places, classes, strict=True) if axis == last[name]}
    free = {letters: _untaken(letters, taken) for letters in (_OF_COLUMNS, _OF_ROWS)}
    names: dict[int, str] = {}
    for (name, _), one in zip(places, classes, strict=True):
        if one not in names:
            names[one] = next(free[_OF_COLUMNS if (name, one) in members else _OF_ROWS])
    return [names[one] for one in classes]


def _untaken(letters: str, taken: set[str]) -> Iterator[str]:
    """Generate letters that are not taken, and then the first of them with numbers."""
    numbered = (f"{letters[0]}{number}" for number in itertools.count(1))
    return (name for name in itertools.chain(letters, numbered) if name not in taken)


def _substitutes(names: Sequence[str], others: Sequence[Size]) -> Iterator[dict[str, Size]]:
    """Generate substitutes for names: first none; then each name as one of the sizes in the text or given."""
    yield {}
    for name, size in itertools.product(names, others):
        yield {name: size}
    if len(names) > 1:
        for size in others:
            yield dict.fromkeys(names, size)


def _sizes_of_constants(program: Program) -> set[int]:
    """List the sizes of constant tensors and of shapes that are written, and the lengths of lists."""
    found: set[int] = set()
    for call in (line.call for line in program.lines):
        if call.op.kind is Kind.LIST:
            found.add(len(call.operands))
        if call.op.kind is Kind.SOURCE:
            found.update(shape_of(call, []))
        sizes = call.constants.get("shape")
        if isinstance(sizes, tuple) and -1 not in sizes:
            found.update(sizes, [math.prod(sizes)])
    return found


def _needs(program: Program, typed: Program) -> tuple[dict[str, int], dict[str, int]]:
    """Infer the dimensions that the operations of a Program need of its variables.

    Goes from the last line to the first: the needs of a line are passed on to its operands.

    Returns:
        How many dimensions each variable needs; and how many elements, of those that only have single ones taken by
        constant indices.
    """
    needed: dict[Atom, int] = {}
    matrices: set[Atom] = {symbol for symbol in program.variables if str(symbol)[:1].isupper()}
    for line in program.lines:
        if line.call.op.kind is Kind.MOVEMENT and matrices.intersection(line.call.operands):
            matrices.add(line.symbol)
    indices: dict[Atom, list[int]] = {}
    uses: dict[Atom, int] = {}
    for line in reversed(program.lines):
        call, own = line.call, needed.get(line.symbol, 0)
        for operand in call.operands:
            needed[operand] = max(needed.get(operand, 0), _needed(call, own, is_matrix=operand in matrices))
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
            needed |= {operand: len(term.strip()) for operand, term in zip(line.call.operands, terms, strict=False)}
    return {name: needed.get(symbol, 0) for symbol, name in variables.items()}, elements


def _single(call: Call) -> int | None:
    """Return the one whole number of an index."""
    key = call.constants.get("key")
    key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    return key if isinstance(key, int) and not isinstance(key, bool) else None


def _needed(call: Call, own: int, *, is_matrix: bool) -> int:
    """Count the dimensions that an operation needs of an operand, `own` of itself being needed."""
    if call.op.adds_dimension:
        return max(own - 1, 0)
    needs = {Kind.LIST: max(own, 1), Kind.CONTRACTION: 1 + is_matrix, Kind.MATRIX: 2, Kind.SPECTRAL: 2}
    named = _dimensions(call) if len(call.operands) == 1 else 0
    needs |= dict.fromkeys((Kind.REDUCTION, Kind.SCAN, Kind.COUNT), max(1, named))
    needs[Kind.MOVEMENT] = max(own, 2 * is_matrix, int("key" not in call.op.statics), named)
    return needs.get(call.op.kind, own)


def _dimensions(call: Call) -> int:
    """Count the dimensions that an operand must have by the constants of an operation: the fewest that fit."""
    for rank in range(MAX_DIMENSIONS + 1):
        with suppress(GradcliError):
            shape_of(call, [(2 ** (48 // max(rank, 1)),) * rank])
            return rank
    return 0
