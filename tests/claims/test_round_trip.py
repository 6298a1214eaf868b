"""What is printed as a formula is read as a claim, and is the derivative that it was printed for."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from gradcli.claims import Subject, claimed, read
from gradcli.claims.evaluation import Comparison
from gradcli.claims.subject import Reading
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.errors import GradcliError
from gradcli.language.inputs import read_value
from gradcli.language.ops import TABLE
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program
from gradcli.progress import budget
from gradcli.results import Formula
from gradcli.symbolic.derivative import differentiate
from gradcli.symbolic.origins import NoFormulaError
from gradcli.symbolic.printing import formula
from tests.parsing import parse

GOLDENS = Path(__file__).parent.parent / "goldens"
POINTS = 5
"""At which a claim is tried; most are proved."""

SECONDS = 0.2
"""That a proof may take; most take a hundredth of it."""

LONG = 1_000
"""Characters from which a formula is compared at its point alone, in one notation, and only read in the other."""

_COMMANDS = ("vjp", "grad", "jacobian", "check", "explain", "derivative", "hessian", "code", "graph")


def _asked() -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """The functions of the goldens with their values."""
    for path in sorted(GOLDENS.rglob("*.txt")):
        if path.parent.name == "errors":
            continue
        for line in re.findall(r"^\$ gradcli (.*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            command, _, _ = line.partition("  # exit ")
            words = shlex.split(command)
            if len(words) < 2 or words[0] not in _COMMANDS or words[1].startswith(("@", "-")):
                continue
            given = [word for option, word in itertools.pairwise(words) if option == "--at"]
            if not given or any("@" in word for word in given):
                continue
            yield words[1], tuple(_named(word, words[1]) for word in given)


def _named(value: str, text: str) -> tuple[str, str]:
    name, equals, rest = value.partition("=")
    if equals and name.isidentifier():
        return name, rest
    return parse(text).names[0] if parse(text).names else "x", value


def _functions() -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    found = []
    for text, values in dict.fromkeys(_asked()):
        try:
            parse(text, given=frozenset(name for name, _ in values))
        except GradcliError:
            continue  # a snippet, which has its values in its text
        found.append((text, values))
    return found


def _formulas(
    text: str, values: tuple[tuple[str, str], ...]
) -> Iterator[tuple[Subject, Formula, dict[str, np.ndarray]]]:
    arrays = {name: read_value(value, "--at") for name, value in values}
    known = {name: array.shape for name, array in arrays.items()}
    program = parse(text, given=frozenset(known), shapes=known)
    if set(program.names) - set(known):
        return
    shapes = {symbol: known[str(symbol)] for symbol in program.variables}
    for symbol in program.variables:
        try:
            primitive = in_primitives(program)
            derivative = differentiate(primitive, infer(primitive, shapes), symbol)
        except NoFormulaError:
            continue
        yield Subject.of(program, shapes, str(symbol), None), formula(derivative, program), arrays


def _is_same(one: Reading, other: Reading) -> bool:
    """Whether two claims are of the same shape and the same operations; a number alone stretches to it."""
    assert one.program is not None
    assert other.program is not None
    if not other.own:
        return other.shape == one.shape or not one.program.variables
    return [(line.call.op.name, line.call.statics) for line in one.program.lines] == [
        (line.call.op.name, line.call.statics) for line in other.program.lines
    ]


def _numbered(program: Program) -> list[object]:
    """Its operations, each line and what it is made of by its number."""
    numbers = {line.symbol: n for n, line in enumerate(program.lines)}
    calls: list[object] = [
        (line.call.op.name, line.call.statics, [numbers.get(a, a) for a in line.call.operands])
        for line in program.lines
    ]
    return [*calls, numbers.get(program.output, program.output)]


def _says_what(one: Reading, other: Reading) -> bool:
    """Whether two claims are the same operations on the same operands, so that one needs to be tried."""
    if one.program is None or other.program is None or one.shape != other.shape:
        return False
    return _numbered(one.program) == _numbered(other.program)


WRITTEN = [
    (text, tuple((name, value) for name, value in values.items()))
    for text, values in (
        ("x*lgamma(x)", {"x": "2.5"}),
        ("x*i0(x)**2", {"x": "1,2"}),
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
        ("einsum('ij,jk->ik', A, B)", {"A": "[[1,2],[3,4]]", "B": "[[1,2,3],[3,4,5]]"}),
    )
]
"""More of what formulas have: roots, powers, inverses, scans, pieces, names that are letters of indices."""

EXAMPLES = [(function, tuple(at.items())) for function, at in (op.worked_example for op in TABLE.values())]
"""An example of each operation."""


def _is_where_branches_meet(subject: Subject, said: str, point: Mapping[str, np.ndarray]) -> bool:
    """Whether a formula, which is of one branch, fails at a point only because others meet there."""
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


@pytest.mark.parametrize(("text", "values"), [*_functions(), *EXAMPLES, *WRITTEN])
def test_a_printed_formula_is_a_claim(text: str, values: tuple[tuple[str, str], ...]) -> None:
    """With its left-hand side, in both notations: proved, or no point speaks against it but where branches meet."""
    for subject, printed, arrays in _formulas(text, values):
        tried: list[Reading] = []
        for spelling in ("pretty", "text"):
            said = "; ".join(
                f"{getattr(cell.label, spelling)} = {getattr(cell.expression, spelling)}" for cell in printed.cells
            )
            reading = read(subject, said)
            if not tried or (len(said) < LONG and not any(_says_what(reading, other) for other in tried)):
                tried.append(reading)
                if len(said) >= LONG:
                    look = Comparison(subject, reading, TOLERANCE["float64"]).look(arrays, subject.weights)
                    assert look.seen, said
                    assert look.worst is None, (said, look)
                else:
                    _try(subject, said, arrays)
            # Without its left-hand side, where an index may be left out and the shapes tell what it is of.
            if len(printed.cells) == 1 and 1 not in (*subject.y, *subject.x):
                alone = getattr(printed.cells[0].expression, spelling)
                assert _is_same(reading, read(subject, alone)), alone


def test_there_are_many() -> None:
    """The goldens hold formulas of many kinds."""
    assert len(_functions()) > 60
