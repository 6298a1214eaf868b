"""The differential of a function of vectors and matrices, line by line, as one would write it on a board.

    y = norm(A@x - b)**2        dy = 2*r@dr, with r = A@x - b        dr = A@dx        so the gradient is 2*A.T@(A@x - b)

A sum inside of something else has a name; so has what a statement names.  Each line says how a small change of what it
depends on changes it: the product of its Jacobian with these changes, as an expression of whole tensors.

Source: J. R. Magnus, H. Neudecker, "Matrix Differential Calculus", 2019, chapters 5 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import sympy

from gradcli.adjoint.gradient import vector_jacobian_product
from gradcli.adjoint.slopes import NoAdjointError
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import moving_lines
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Line, Program, Shape, needed
from gradcli.notation import Notation
from gradcli.parts import is_listed
from gradcli.results import DifferentialLine
from gradcli.symbolic.matrix_algebra.factoring import FormulaWriter
from gradcli.symbolic.matrix_algebra.inverses import MatrixAlgebra
from gradcli.symbolic.matrix_algebra.networks import GaveUpError, NormalForm
from gradcli.symbolic.matrix_algebra.program_forms import FormReader
from gradcli.symbolic.matrix_algebra.spelling import WholeTensors

MOST_NAMED = 3
"""Sums that get a name; a function of more is no matter for a board."""

LONGEST = 100
"""Characters of a line."""

_LETTERS = "rsuwz", "RSUWZ"
"""Names of sums that are vectors, and that are matrices: the first that are free."""

_WEIGHTS, _JOINING = "weights of the value", (Kind.CONTRACTION, Kind.MATRIX, Kind.REDUCTION, Kind.SPECTRAL)


class Differential(NamedTuple):
    """Lines of a differential, and the gradients that follow from them."""

    lines: tuple[DifferentialLine, ...] = ()
    gradients: Mapping[str, Notation] = MappingProxyType({})


def differential(program: Program, shapes: Mapping[Atom, Shape], wrt: Sequence[str]) -> Differential:
    """Write the differential of a function line by line, and the gradients that follow; nothing where it has none.

    Args:
        program: The function, as typed.
        shapes: Of all of its symbols.
        wrt: The variables that move.
    """
    if not any(shapes[symbol] for symbol in program.variables) or not _joins_elements(program):
        return Differential()
    try:
        lines = tuple(_lines(program, shapes, wrt))
    except (GradcliError, GaveUpError, NoAdjointError, RecursionError):
        return Differential()
    if any(len(one.change.text) > LONGEST for one in lines):
        return Differential()
    gradients: dict[str, WholeTensors] = {}
    if is_listed("closed_forms"):
        from gradcli.parts.closed_forms import whole_gradient

        is_of_one = not shapes.get(program.output, ())
        found = ((name, whole_gradient(program, shapes, name)) for name in wrt if is_of_one)
        gradients = {name: _shown(one, program) for name, one in found if one is not None}
    return Differential(lines, gradients)


def _shown(formula: WholeTensors, program: Program) -> WholeTensors:
    """Write a formula as mathematics, where the function is."""
    return formula.mathematics if program.is_of_matrices else formula


def _joins_elements(program: Program) -> bool:
    """Tell whether elements are summed or multiplied; else the chain rule of one element says it all."""
    return any(line.call.op.kind in _JOINING for line in for_formulas(program).lines)


# -- the lines


@dataclass(frozen=True)
class _NamedPart:
    """A part of a function, as a function of the parts before it and of the variables."""

    name: str
    program: Program
    excerpt: str


def _lines(program: Program, shapes: Mapping[Atom, Shape], wrt: Sequence[str]) -> Iterator[DifferentialLine]:
    """Generate a line for y, and one for each sum inside of it.

    Raises:
        GaveUpError: There are too many, or one cannot be written.
    """
    parts = _parts(program, shapes, wrt)
    names = {part.name for part in parts}
    moving = {*names, *wrt}
    of_names = {str(symbol): shapes[symbol] for symbol in program.variables}
    for part in parts:
        of_names[part.name] = _shape(part.program, of_names)
    for part in reversed(parts):
        change = _change(part.program, of_names, [name for name in part.program.names if name in moving])
        formula = _shown(FormulaWriter({}).formula(change), program)
        yield DifferentialLine(name=part.name, of=part.excerpt, change=formula)


def _shape(program: Program, of_names: Mapping[str, Shape]) -> Shape:
    known = {symbol: of_names[str(symbol)] for symbol in program.variables}
    return infer(program, known, bounded=False).get(program.output, ())


def _parts(program: Program, shapes: Mapping[Atom, Shape], wrt: Sequence[str]) -> list[_NamedPart]:
    """Cut a function at what has a name, and at sums of tensors inside of something else."""
    symbols = [symbol for symbol in program.variables if str(symbol) in wrt]
    moves = moving_lines(program, symbols)
    lines = needed(program.lines, program.output)
    users: dict[Atom, list[Line]] = {}
    for line in lines:
        for atom in line.call.operands:
            users.setdefault(atom, []).append(line)
    named = {atom: name for name, atom in program.named.items()}
    taken = {*program.names, *program.assigned, program.output_name}
    letters = {rank: iter([one for one in some if one not in taken]) for rank, some in enumerate(_LETTERS, start=1)}
    cuts: dict[Atom, str] = {}
    for line in lines:
        is_inner = line.symbol != program.output and line.symbol in moves
        is_sum = bool(shapes[line.symbol]) and _adds(line) and not all(map(_adds, users.get(line.symbol, [])))
        if is_inner and line.symbol in named:
            cuts[line.symbol] = named[line.symbol]
        elif is_inner and is_sum:
            cuts[line.symbol] = next(letters.get(len(shapes[line.symbol]), iter(())), "")
    changes = {f"d{name}" for name in (*wrt, *cuts.values())}
    if len(cuts) > MOST_NAMED or "" in cuts.values() or not changes.isdisjoint(taken):
        raise GaveUpError
    known = {atom: sympy.Symbol(name, real=True) for atom, name in cuts.items()}
    found = []
    for atom, name in [*cuts.items(), (program.output, program.output_name)]:
        inner = {other: symbol for other, symbol in known.items() if other != atom}
        kept = [replace(line, call=line.call.renamed(inner)) for line in lines if line.symbol not in inner]
        own = needed(kept, atom)
        used = {atom, *(a for line in own for a in line.call.operands)}
        variables = tuple(symbol for symbol in (*program.variables, *known.values()) if symbol in used)
        part = replace(
            program, lines=tuple(own), output=inner.get(atom, atom), variables=variables, named={}, assigned=()
        )
        is_unnamed = atom != program.output and atom not in named
        excerpt = next((program.excerpt(line) for line in lines if line.symbol == atom), "") if is_unnamed else ""
        found.append(_NamedPart(name, part, excerpt))
    return found


def _adds(line: Line) -> bool:
    """Tell whether a line is a sum or a difference of two."""
    return bool(line.call.op.coefficients) and len(line.call.operands) > 1


# -- one line


def _change(program: Program, of_names: Mapping[str, Shape], names: Sequence[str]) -> NormalForm:
    """Return the change of a value, to first order, as a form in the changes of these names."""
    algebra = MatrixAlgebra({})
    shape = _shape(program, of_names)
    forms = [_change_by(algebra, for_formulas(program), of_names, shape, name) for name in names]
    return algebra.add((1, algebra.constant(0, shape)), *((1, form) for form in forms))


def _change_by(
    algebra: MatrixAlgebra, program: Program, of_names: Mapping[str, Shape], shape: Shape, name: str
) -> NormalForm:
    """Return the part of a change that one variable makes: J @ dx, the derivative of vᵀJ along dx by v."""
    variable = next(symbol for symbol in program.variables if str(symbol) == name)
    weights: Atom = sympy.Symbol(_WEIGHTS, real=True) if shape else sympy.S.One
    inputs: dict[Atom, Shape] = {symbol: of_names[str(symbol)] for symbol in program.variables}
    product, shapes = vector_jacobian_product(program, inputs, variable, weights)
    change = sympy.Symbol(f"d{name}", real=True)
    if not shape:
        form = FormReader(algebra, shapes, has_kinks=True).read(product)
        moved = algebra.variable(str(change), of_names[name])
        axes = range(len(moved.sizes))
        return algebra.contract([(form, axes), (moved, axes)], (), ())
    along, shapes = vector_jacobian_product(product, shapes, weights, change)
    return FormReader(algebra, shapes, has_kinks=True).read(along)
