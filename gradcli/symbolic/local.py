"""The local derivative of one operation: ∂line/∂operand of a one-line Program, in the names of a larger one.

Elementwise operations are read on scalars, so that x**2 gives 2*x; what maps to one number gives a formula in index
notation, ∂y/∂x[j].  Others have rules in words (`gradcli.symbolic.adjoints`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy
from sympy import Expr

from gradcli.errors import Span
from gradcli.language.ops import Branches
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape
from gradcli.notation import Form, Name, Notation
from gradcli.notation.trees import BRACKETED
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.index_maps import NoFormulaError
from gradcli.symbolic.printing import alone as printed
from gradcli.symbolic.printing import as_factor

LONGEST = 80
"""Characters of a formula that still helps beside its numbers."""


@dataclass(frozen=True)
class Slope:
    """The local derivative of an elementwise operation by one operand.

    Attributes:
        expression: In symbols called as the operands are.
        alone: By itself.
        factor: As it stands in a product, with parentheses where it needs them.
        is_branch: Whether it is 1 on the branch taken and 0 elsewhere.
    """

    expression: Expr
    alone: Notation
    factor: Notation
    is_branch: bool = False


def slope(call: Call, names: Mapping[Atom, str], operand: Atom) -> Slope | None:
    """The derivative of an elementwise operation of scalars by one operand; None if it has no short form.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> slope(program.lines[0].call, {program.variables[0]: "t1"}, program.variables[0]).factor.pretty
    '2·t1'
    """
    if call.op.branches is not None:
        return _branch(call, call.op.branches, names, operand)
    symbols = list(dict.fromkeys(a for a in call.operands if isinstance(a, sympy.Symbol)))
    stand_ins = {symbol: sympy.Symbol(f"operand {n}", real=True) for n, symbol in enumerate(symbols)}
    plain = Call(call.op.name, tuple(stand_ins.get(a, a) for a in call.operands), call.statics)
    found = _derivative(plain, stand_ins[operand])
    if found is None:
        return None
    expression = found.xreplace({stand_ins[s]: sympy.Symbol(names[s], real=True) for s in symbols})
    factor = as_factor(expression)
    return Slope(expression, printed(expression), factor) if len(factor.text) <= LONGEST else None


def alone(
    call: Call, names: Mapping[Atom, str], shapes: Sequence[Shape], name: str
) -> tuple[Program, dict[Atom, Shape]]:
    """One operation as a Program of one line, with the shapes of its symbols.

    Args:
        call: The operation.
        names: What its operands are called.
        shapes: Of the operands, in order.
        name: What the line is called.
    """
    renamed = {a: sympy.Symbol(names[a], real=True) for a in call.operands if isinstance(a, sympy.Symbol)}
    known = {renamed[a]: shape for a, shape in zip(call.operands, shapes, strict=True) if a in renamed}
    line = Line(
        sympy.Dummy(name, real=True),
        Call(call.op.name, tuple(renamed.get(a, a) for a in call.operands), call.statics),
        Span(0, 0),
    )
    program = Program("", tuple(known), (line,), line.symbol, assigned=(name,))
    return program, infer(program, known, bounded=False)


def local(program: Program, shapes: Mapping[Atom, Shape], name: str) -> Derivative | None:
    """The formula of a Program of one line by one operand; None if it has none."""
    inside = infer(in_primitives(program), {s: shapes[s] for s in program.variables}, bounded=False)
    try:
        return differentiate(in_primitives(program), inside, sympy.Symbol(name, real=True))
    except NoFormulaError:
        return None


@lru_cache(maxsize=1024)
def _derivative(call: Call, by: sympy.Symbol) -> Expr | None:
    program, shapes = alone(call, {a: str(a) for a in call.operands}, [()] * len(call.operands), "line")
    found = local(program, shapes, str(by))
    return None if found is None else found.cases[0][1]


def _branch(call: Call, branches: Branches, names: Mapping[Atom, str], operand: Atom) -> Slope | None:
    """Of a choice: 1 where the operand is chosen."""
    of = dict(zip(call.op.operands, call.operands, strict=True))
    condition = names.get(of[branches.condition], "")
    inverse = operand == of[branches.second]
    if not condition or call.operands.count(operand) > 1:
        return None
    chosen, other = int(not inverse), int(inverse)
    shown = f"{chosen} where %s, else {other}"
    words = Form(shown, shown, rf"{chosen} \text{{ where }} %s, \text{{ else }} {other}")(Name(condition))
    return Slope(sympy.nan, words, BRACKETED(words), is_branch=True)
