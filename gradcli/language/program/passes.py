"""Forms of a Program, one for each reading: which rewrites each gets, said here, and made once for a Program.

    reader                       form                what is written by other operations
    torch                        `for_torch`         what torch lacks
    torch, differentiated again  `for_torch_twice`   and what has no second derivative in torch
    formulas, and claims         `for_formulas`      all but primitives, by their meanings
    enclosures                   `for_enclosures`    the same, with torch's values where a meaning has none
    bounds of whole arrays       `for_arrays`        all but primitives and Cholesky factors, whose own rule is better

Code that is recorded again gives an equal Program, which is one with the first, so that its forms are there.

What depends on shapes is done by a reader on its form: balls write products of matrices out, arrays join a product with
the sum of it, and scripts keep what a library has.
"""

from __future__ import annotations

from functools import lru_cache

import sympy

from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops.structure import MEASURED, OPAQUE
from gradcli.language.program.constant_tensors import DrawnNumbers
from gradcli.language.program.expansion import expand, in_primitives, rewritten, with_torch_conventions
from gradcli.language.program.library_calls import is_in_torch, is_in_torch_twice
from gradcli.language.program.wengert import AskedMeaning, Atom, Builder, Line, Program

MOST_SHARED_LINES = 200
"""Most lines of a Program that is kept."""

MOST_SHARED_BYTES = 2**13
"""Most bytes of a constant tensor in such a Program."""


def shared(program: Program) -> Program:
    """Return the first Program that is equal to one, with all that was found of it: as of code that is recorded again.

    >>> from dataclasses import replace
    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> shared(program) is shared(replace(program))
    True
    """
    is_kept = len(program.lines) <= MOST_SHARED_LINES and all(map(_is_plain, program.lines))
    return _shared(program) if is_kept else program


def _is_plain(line: Line) -> bool:
    """Tell whether the constants of a call are few numbers, and nothing that runs."""
    if line.call.op.name in (OPAQUE, MEASURED):
        return False
    for one in line.call.statics:
        if isinstance(one, AskedMeaning) or (isinstance(one, DrawnNumbers) and len(one.data) > MOST_SHARED_BYTES):
            return False
    return True


@lru_cache(maxsize=256)
def _shared(program: Program) -> Program:
    object.__setattr__(program, "is_shared", True)
    return program


@lru_cache(maxsize=4096)
def symbol_of(number: int) -> sympy.Symbol:
    """Return the symbol of the line of this number in recordings, so that equal ones have the same symbols."""
    return sympy.Dummy(f"t{number}", real=True)


def for_torch(program: Program) -> Program:
    """Return a Program in operations that torch has.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("log(expm1(x))")
    >>> for_torch(program) is program
    True
    """
    return program.transformed(_in_torch)


def for_torch_twice(program: Program) -> Program:
    """Return a Program in operations whose gradients torch differentiates again."""
    return program.transformed(_in_torch_twice)


def for_formulas(program: Program) -> Program:
    """Return a Program of primitives, from which formulas are derived, and by which claims are judged.

    A claim is compared with the function as mathematics has it, and not with the values of torch where it has none.
    """
    return in_primitives(program)


def for_enclosures(program: Program) -> Program:
    """Return a Program of primitives that has torch's values where meanings have none, as torch is judged by it."""
    return program.transformed(with_torch_conventions)


def for_arrays(program: Program) -> Program:
    """Return a Program of primitives and Cholesky factors, whose rule on arrays is better than that of their meaning.

    A solution by a factor becomes one by its matrix, whose digits are not lost on the way through the factor; it is
    unknown where the factor is unknown.
    """
    return program.transformed(_with_factors)


def _in_torch(program: Program) -> Program:
    return expand(program, keep=is_in_torch)


def _in_torch_twice(program: Program) -> Program:
    return expand(program, keep=is_in_torch_twice)


def _with_factors(program: Program) -> Program:
    matrices: dict[Atom, Atom] = {}

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call = line.call
        if call.op.name == "cholesky_solve" and operands[1] in matrices:
            solving = parse_meaning("(2*inv(m + transpose(m, -2, -1)) + 0*f) @ b", ("m", "f", "b"))
            return builder.inline(solving, (matrices[operands[1]], operands[1], operands[0]), line.span)
        found = builder.emit(call.op.name, operands, line.span, call.statics)
        if call.op.name == "cholesky" and not call.statics[0]:
            matrices[found] = operands[0]
        return found

    has_factors = any(line.call.op.name == "cholesky_solve" for line in program.lines)
    found = rewritten(program, write, shares=True).program if has_factors else program
    return expand(found, lambda call: call.op.is_primitive or call.op.name == "cholesky")
