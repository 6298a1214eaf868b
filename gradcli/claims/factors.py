"""What may be missing from a claim or surplus in it, from the lines of the function: chain factors, powers, terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gradcli.errors import GradcliError
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Line, Program
from gradcli.reference.rules import is_power
from gradcli.symbolic.derivative import differentiate
from gradcli.symbolic.origins import NoFormulaError

if TYPE_CHECKING:
    from gradcli.claims.mistakes import Evidence

Numbers = npt.NDArray[np.float64]

MOST_LINES = 30
"""Lines of a function that are looked at."""

LONGEST = 40
"""Characters of a sub-expression or a formula that is shown."""


@dataclass(frozen=True)
class Factor:
    """Numbers, for each sample and entry, that may be missing from a claim or surplus in it, and what to say then."""

    numbers: list[Numbers]
    if_missing: str
    if_surplus: str


def factors(evidence: Evidence) -> Iterator[Factor]:
    """Chain factors of the lines of the function, from the inner ones, and slips of the power rule."""
    lines = _lines(evidence)
    slopes: dict[Atom, list[Numbers]] = {}
    for line in lines:
        jacobians = evidence.of_program(_until(evidence, line), evidence.subject.variable)
        if jacobians is not None:
            slopes[line.symbol] = jacobians
    program = evidence.typed
    for line in lines:
        yield from _powers(evidence, line)
        if line.symbol not in slopes or line.symbol == program.output:
            continue
        numbers = _by_entry(evidence, slopes[line.symbol])
        if numbers is not None:
            what = f"the derivative of {shown(evidence, line)}{_formula(evidence, line)}"
            yield Factor(numbers, f"a missing chain factor: {what}", f"a surplus chain factor: {what}")
    for line in lines:
        yield from _outer(evidence, line, slopes)


def _outer(evidence: Evidence, line: Line, slopes: dict[Atom, list[Numbers]]) -> Iterator[Factor]:
    """The local derivative of an operation by the one operand that depends on x."""
    inside = [a for a in dict.fromkeys(line.call.operands) if a in slopes and any(map(np.any, slopes[a]))]
    if line.symbol not in slopes or len(inside) != 1 or evidence.subject.variable in line.call.operands:
        return
    of_line, of_operand = slopes[line.symbol], slopes[inside[0]]
    if any(a.shape != b.shape for a, b in zip(of_line, of_operand, strict=True)):
        return
    locals_ = [_quotient(a, b) for a, b in zip(of_line, of_operand, strict=True)]
    known = [x for x in locals_ if x is not None]
    numbers = _by_entry(evidence, known, is_local=True) if len(known) == len(evidence.samples) else None
    if numbers is None:
        return
    if all(np.allclose(n, numbers[0][:1], rtol=1e-10) for n in numbers):
        return  # a plain number says more as itself
    lines = {s.symbol: s for s in _named(evidence)}
    others = [a for a in line.call.operands if a != inside[0]]
    if line.call.op.monoid is Monoid.PRODUCT and others:
        name = shown(evidence, lines[others[0]]) if others[0] in lines else f"`{others[0]}`"
        yield Factor(numbers, f"a missing factor: {name}", f"a surplus factor: {name}")
        return
    what = f"the derivative of {shown(evidence, line)} by {shown(evidence, lines[inside[0]])}"
    yield Factor(numbers, f"a missing chain factor: {what}", f"a surplus chain factor: {what}")


def _powers(evidence: Evidence, line: Line) -> Iterator[Factor]:
    """n*x**n and x**(n-1) in place of n*x**(n-1)."""
    if not is_power(line.call):
        return
    base, exponent = line.call.operands
    if exponent.is_Symbol or not base.is_Symbol or exponent == 0:
        return
    values = evidence.values_of(replace(evidence.typed, output=base))
    name = shown(evidence, line)
    rule = f"the derivative of b**n is n*b**(n-1), here of {name}"
    count = [np.full(len(s.truth), float(exponent)) for s in evidence.samples]
    yield Factor(count, f"the power rule: the exponent {exponent} is not brought down; {rule}", "")
    if exponent.is_Integer and exponent > 2:
        less = [times / (times - 1) for times in count]
        yield Factor(less, f"the power rule: {exponent - 1} is brought down in place of {exponent}; {rule}", "")
    if values is not None and (numbers := _spread(evidence, values)) is not None:
        yield Factor(numbers, "", f"the power rule: the exponent {exponent} is not lowered; {rule}")


def parts(evidence: Evidence) -> Iterator[Factor]:
    """The values of the variables and the lines."""
    program = evidence.typed
    names: dict[Atom, str] = {symbol: f"`{symbol}`" for symbol in program.variables}
    names |= {line.symbol: shown(evidence, line) for line in _named(evidence)[:MOST_LINES]}
    for atom, name in names.items():
        values = evidence.values_of(replace(program, output=atom))
        if values is not None and (numbers := _spread(evidence, values)) is not None:
            yield Factor(numbers, f"a missing factor: {name}", f"a surplus factor: {name}")


def terms(evidence: Evidence) -> Iterator[tuple[Line, int, list[Numbers]]]:
    """The terms that the function is a sum of, each with its sign and its Jacobians."""
    lines = {line.symbol: line for line in evidence.typed.lines}
    waiting: list[tuple[Atom, int]] = [(evidence.typed.output, 1)]
    count = 0
    while waiting and count < MOST_LINES:
        atom, sign = waiting.pop()
        line = lines.get(atom)
        if line is None:
            continue
        if line.call.op.coefficients:
            count += 1
            signs = [sign * factor for factor in line.call.op.coefficients]
            waiting += zip(line.call.operands, signs, strict=True)
        elif count:  # without a sum in it, the function itself is no term
            jacobians = evidence.of_program(_until(evidence, line), evidence.subject.variable)
            if jacobians is not None and all(len(j) == evidence.height for j in jacobians):
                yield line, sign, jacobians


def products(evidence: Evidence) -> Iterator[tuple[Line, list[Numbers]]]:
    """A function that is a product: what the product of the derivatives would be."""
    program = evidence.typed
    line = next((one for one in program.lines if one.symbol == program.output), None)
    if line is None or line.call.op.kind is not Kind.ELEMENTWISE or line.call.op.monoid is not Monoid.PRODUCT:
        return
    sides = [
        evidence.of_program(replace(evidence.typed, output=a), evidence.subject.variable) for a in line.call.operands
    ]
    numbers = [_by_entry(evidence, side) if side is not None else None for side in sides]
    if numbers[0] is not None and numbers[1] is not None:
        yield line, [a * b for a, b in zip(numbers[0], numbers[1], strict=True)]


def shown(evidence: Evidence, line: Line) -> str:
    """The text of a line, in backticks."""
    text = " ".join(evidence.typed.text[line.span.start : line.span.stop].split())
    while text.startswith("(") and text.endswith(")") and "(" not in text[1:-1]:
        text = text[1:-1]
    return f"`{text if len(text) <= LONGEST else text[: LONGEST - 3] + '...'}`"


def _lines(evidence: Evidence) -> list[Line]:
    """The lines that depend on x and that the text names, in order."""
    reached: set[Atom] = {evidence.subject.variable}
    for line in evidence.typed.lines:
        if reached & set(line.call.operands):
            reached.add(line.symbol)
    return [line for line in _named(evidence) if line.symbol in reached][:MOST_LINES]


def _named(evidence: Evidence) -> list[Line]:
    """The lines whose text is their own: of those that one function of the text is made of, the last."""
    last = {line.span: line for line in evidence.typed.lines}
    return [line for line in evidence.typed.lines if last[line.span] is line]


def _until(evidence: Evidence, line: Line) -> Program:
    program = evidence.typed
    return replace(program, lines=program.lines[: program.lines.index(line) + 1], output=line.symbol)


def _by_entry(evidence: Evidence, blocks: list[Numbers], *, is_local: bool = False) -> list[Numbers] | None:
    """Slopes of a line as a number for each entry of the claim: of a number, or element by element.

    Those of an operation by its operand go by the rows of a Jacobian, those of a line by x by its columns.
    """
    if is_local and all(block.ndim == 1 for block in blocks):
        return _spread(evidence, blocks, by_row=True)
    flat = []
    for block in blocks:
        if block.shape == (1, evidence.width):
            flat.append(block[0])
        elif block.shape == (evidence.width, evidence.width) and not np.any(block - np.diag(np.diag(block))):
            flat.append(np.diag(block))
        else:
            return None
    return _spread(evidence, flat)


def _spread(evidence: Evidence, flat: list[Numbers], *, by_row: bool = False) -> list[Numbers] | None:
    """One number for all entries, or one for each element of x or, by row, of y."""
    found = []
    for numbers, sample in zip(flat, evidence.samples, strict=True):
        if len(numbers) == 1:
            found.append(np.full(len(sample.truth), numbers[0]))
        elif by_row and evidence.of == "Jacobian" and len(numbers) == evidence.height:
            found.append(numbers[sample.rows])
        elif len(numbers) == evidence.width:
            found.append(numbers[sample.columns])
        else:
            return None
    return found


def _quotient(a: Numbers, b: Numbers) -> Numbers | None:
    """One number a row that a is b times; None if there is none."""
    keep = b != 0
    if np.any(a[~keep] != 0) or not np.all(np.any(keep, axis=1)):
        return None
    # One column where the divisor is not 0 gives the number of a row; the other columns have to confirm it.
    first = keep.argmax(axis=1)
    rows = np.arange(len(a))
    found = a[rows, first] / b[rows, first]
    return found if np.allclose(a, found[:, None] * b, rtol=1e-10, atol=0) else None


def _formula(evidence: Evidence, line: Line) -> str:
    """` is 2*x`, where the derivative of the line has a short closed form for plain numbers.

    Element by element that is the formula for tensors, too; the norm of a vector has another than that of a number.
    """
    program = in_primitives(_until(evidence, line))
    if not all(inner.call.op.kind is Kind.ELEMENTWISE for inner in program.lines):
        return ""
    try:
        numbers = dict.fromkeys(program.variables, ())
        shapes = infer(program, numbers)
        derivative = differentiate(program, shapes, evidence.subject.variable)
    except (NoFormulaError, GradcliError):
        return ""
    text = str(derivative.cases[0][1])
    is_short = len(derivative.cases) == 1 and len(text) <= LONGEST and "(_" not in text
    return f" is `{text}`" if is_short else ""
