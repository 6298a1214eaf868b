"""Printed formulas are read as claims, and are the derivatives that they were printed for."""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from gradcli.crosscheck.compare import TOLERANCE
from gradcli.language.inputs import read_value
from gradcli.language.ops import TABLE
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.parts.claims.claim_readings import read
from gradcli.parts.claims.evaluation import ClaimComparison
from gradcli.parts.claims.subject import Subject
from gradcli.parts.claims.verdict import claimed
from gradcli.progress import budget
from gradcli.results import Formula
from gradcli.symbolic.derivative import differentiate
from gradcli.symbolic.origins import NoFormulaError
from gradcli.symbolic.printing import formula
from tests.examples import part
from tests.parsing import parse

POINTS = 5
"""At which a claim is tried; most are proved."""

SECONDS = 0.2
"""Time that a proof may take; most take a hundredth of it."""

LONG = 1_000
"""Characters from which a formula is compared at its point alone, in one notation, and only read in the other."""


def _formulas(text: str, values: Mapping[str, str]) -> Iterator[tuple[Subject, Formula, dict[str, np.ndarray]]]:
    arrays = {name: read_value(value, "--at") for name, value in values.items()}
    known = {name: array.shape for name, array in arrays.items()}
    program = parse(text, given=frozenset(known), shapes=known)
    shapes = {symbol: known[str(symbol)] for symbol in program.variables}
    for symbol in (one for one in program.variables if str(one) in program.differentiable):
        try:
            primitive = in_primitives(program)
            derivative = differentiate(primitive, infer(primitive, shapes), symbol)
        except NoFormulaError:
            continue
        yield Subject.from_program(program, shapes, str(symbol), None), formula(derivative, program), arrays


WRITTEN: list[tuple[str, Mapping[str, str]]] = [
    ("x*lgamma(x)", {"x": "2.5"}),
    ("x*i0(x)**2", {"x": "1,2"}),
    ("x*i1(x)", {"x": "1,2"}),
    ("E*x**2", {"x": "3"}),
    ("sum(sinc(x)*x)", {"x": "0,1.5"}),
    ("sum(abs(x)*x)", {"x": "-1,2"}),
    ("log(sum(exp(A @ x)))", {"A": "[[1,2],[3,4],[5,6]]", "x": "1,2"}),
    ("x[1:] * x[:-1]", {"x": "1,2,3"}),
    ("cumsum(x, 0)**2", {"x": "1,2,3"}),
    ("inv(A + 2*eye(2)) @ x", {"A": "[[1,2],[3,4]]", "x": "1,2"}),
    ("det(A*A)", {"A": "[[1,2],[3,4]]"}),
    ("prod(max(x, y))", {"x": "1,2,3", "y": "2,1,4"}),
    ("x.max()*k", {"x": "1,5,3", "k": "2"}),
    ("amin(A, 1)**2", {"A": "[[1,2],[0,-1]]"}),
    ("norm(x)*i", {"x": "3,4", "i": "2"}),
    ("floor(x)*x + ceil(x)", {"x": "1.5,2.5"}),
    ("where((x > 0) & (x < 2) | (x == 5), x**2, -x)", {"x": "1,3,-1"}),
    ("tril(A) @ x", {"A": "[[1,2],[3,4]]", "x": "1,2"}),
    ("flip(x, 0)*x", {"x": "1,2,3"}),
    ("A.reshape(4)**2", {"A": "[[1,2],[3,4]]"}),
    ("std(x)", {"x": "1,2,4"}),
    ("sum(elements_at(x, i)**2)", {"x": "1,2,3", "i": "2,0"}),
    ("elements_at(x, i)*j", {"x": "1,2,3", "i": "2,0,2", "j": "4,5,6"}),
    ("sums_at(x**2, i, 0, 4)", {"x": "1,2,3", "i": "2,0,2"}),
    ("elements_at(A, stack([arange(2), i]), 0, 2)**2", {"A": "[[1,2,3],[4,5,6]]", "i": "2,0"}),
    ("sum(v*elements_at(x, c), 1)", {"v": "[[1,2],[3,4]]", "x": "1,2,3", "c": "[[0,2],[1,2]]"}),
    ("einsum('ij,jk->ik', A, B)", {"A": "[[1,2],[3,4]]", "B": "[[1,2,3],[3,4,5]]"}),
]
"""More of what formulas have: roots, powers, inverses, scans, pieces, names that are letters of indices."""


def _is_where_branches_meet(subject: Subject, said: str, point: Mapping[str, np.ndarray]) -> bool:
    """Tell whether a formula, which is of one branch, fails at a point only because others meet there."""
    primitive = in_primitives(subject.program)
    branches = [op for op in (line.call.op for line in primitive.lines) if op.is_branch or op.is_extreme]
    generator = np.random.default_rng(0)
    near = {name: array + 1e-3 * generator.uniform(-1, 1, array.shape) for name, array in point.items()}
    beside = claimed(subject, said, near, TOLERANCE["float64"], points=0)
    return bool(branches) and beside.status in ("proved", "agrees", "no counterexample")


def _try(subject: Subject, said: str, arrays: Mapping[str, np.ndarray]) -> None:
    """A claim is proved, or no point speaks against it but where branches meet."""
    with budget(SECONDS):
        claim = claimed(subject, said, arrays, TOLERANCE["float64"], points=POINTS)
    if claim.status not in ("proved", "no counterexample"):
        assert _is_where_branches_meet(subject, said, {**arrays, **(claim.at or {})}), (said, claim)


TRIED = [*part((op.worked_example for op in TABLE.values()), 8, of=96), *part(WRITTEN, 0, of=8)]


@pytest.mark.parametrize(("text", "values"), TRIED)
@pytest.mark.one_in(2)
def test_a_printed_formula_is_a_claim(text: str, values: Mapping[str, str]) -> None:
    """With its left-hand side, in both notations: proved, or no point speaks against it but where branches meet."""
    for subject, printed, arrays in _formulas(text, values):
        for spelling in ("pretty", "text"):
            sides = [(getattr(cell.label, spelling), getattr(cell.expression, spelling)) for cell in printed.cells]
            said = "; ".join(f"{label} = {expression}" for label, expression in sides)
            if len(said) < LONG:
                _try(subject, said, arrays)
                continue
            reading = read(subject, said)
            assert reading.program is not None
            if spelling == "pretty":
                look = ClaimComparison(subject, reading, TOLERANCE["float64"]).look(arrays, subject.weights)
                assert look.seen, said
                assert look.worst is None, (said, look)
