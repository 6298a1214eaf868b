"""The gradient that a Program takes itself as lines of the language: its value and its derivative are torch's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from gradcli.autodiff.jacobians import jacobian, value
from gradcli.autodiff.run import run
from gradcli.errors import GradcliError, Span
from gradcli.language.parsing import parse
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Builder, Line, Program
from gradcli.reference.adjoint import MOST_ROWS, written_out

Shape = tuple[int, ...]
NOWHERE = Span(0, 1)

FUNCTIONS: list[tuple[str, dict[str, Shape]]] = [
    ("x**3", {"x": ()}),
    ("x**3", {"x": (3,)}),
    ("x*y", {"x": (3,), "y": (2, 1)}),
    ("x/y - 2*x", {"x": (3,), "y": ()}),
    ("x**y", {"x": (3,), "y": (3,)}),
    ("atan2(x, y)", {"x": (3,), "y": ()}),
    ("softmax(x)", {"x": (4,)}),
    ("logsumexp(x, 0)", {"x": (3, 2)}),
    ("relu(x - 1)*x", {"x": (4,)}),
    ("clamp(x, 0.5, 1)", {"x": (6,)}),
    ("maximum(x, y)", {"x": (3,), "y": ()}),
    ("maximum(x, x)", {"x": (3,)}),
    ("where(x > 0.7, x**2, y)", {"x": (4,), "y": ()}),
    ("detach(x)*x", {"x": (3,)}),
    # lists and movements
    ("[x, y]", {"x": (), "y": ()}),
    ("stack([x, y])", {"x": (3,), "y": ()}),
    ("stack([x, 2*x], 1)", {"x": (3,)}),
    ("cat([x, x**2, y])", {"x": (3,), "y": (2,)}),
    ("x[1:]*x[:-1]", {"x": (5,)}),
    ("x[::2]", {"x": (5,)}),
    ("x[1::3]", {"x": (8,)}),
    ("x[1]", {"x": (3, 2)}),
    ("x[:, None, 1]", {"x": (3, 2)}),
    ("x[..., 0]", {"x": (3, 2)}),
    ("x.T", {"x": (3, 2)}),
    ("permute(x, 2, 0, 1)", {"x": (3, 2, 4)}),
    ("x.view(2, 3).unsqueeze(1).squeeze()", {"x": (6,)}),
    ("expand(x, 2, 3)", {"x": (3,)}),
    ("flip(x, 0)", {"x": (3, 2)}),
    ("roll(x, 1)", {"x": (3, 2)}),
    ("roll(x, (1, 2), (0, 1))", {"x": (3, 4)}),
    ("pad(x, (1, 2))", {"x": (5,)}),
    ("pad(x, (-1, 2))", {"x": (5,)}),
    ("diag(x, 1)", {"x": (3,)}),
    ("diag(x, -1)", {"x": (4, 3)}),
    ("diagonal(x)", {"x": (4, 3)}),
    ("tril(x)", {"x": (3, 3)}),
    # reductions, scans, products
    ("sum(x, 1)", {"x": (3, 2)}),
    ("sum(x, (0, 2), keepdim=True)", {"x": (3, 2, 4)}),
    ("mean(x)", {"x": (3, 2)}),
    ("var(x)", {"x": (3,)}),
    ("norm(x)", {"x": (3,)}),
    ("prod(x, 1)", {"x": (2, 3)}),
    ("amax(x)", {"x": (5,)}),
    ("amin(x, 0)", {"x": (3, 2)}),
    ("cumsum(x, 0)", {"x": (3, 2)}),
    ("cumprod(x, 0)", {"x": (3, 2)}),
    ("cumprod(x, 1)", {"x": (2, 5)}),
    ("A @ x", {"A": (2, 3), "x": (3,)}),
    ("x @ A", {"A": (3, 2), "x": (3,)}),
    ("x @ y", {"x": (3,), "y": (3,)}),
    ("A @ B", {"A": (2, 3), "B": (3, 4)}),
    ("A @ B", {"A": (5, 2, 3), "B": (3, 4)}),
    ("x @ B", {"x": (3,), "B": (2, 3, 4)}),
    ("outer(x, y)", {"x": (3,), "y": (2,)}),
    ("einsum('ij,jk->ik', A, B)", {"A": (2, 3), "B": (3, 2)}),
    ("inv(A)", {"A": (3, 3)}),
    ("det(A)", {"A": (3, 3)}),
    ("det(A)", {"A": (5, 5)}),
    ("logdet(A @ A.T)", {"A": (3, 3)}),
    ("solve(A, x)", {"A": (3, 3), "x": (3,)}),
]
FUNCTIONS += [(f"{name}(x)", {"x": (3,)}) for name in "exp log sqrt sin tanh erf lgamma i0 i1 sinc gelu abs".split()]


def _taking(text: str, op: str, name: str) -> Program:
    """A function whose value is the gradient of sum(sin(y)) by a variable, or the Jacobian of y."""
    program = parse(text)

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        y = builder.emit(line.call.op.name, operands, line.span, line.call.statics)
        if line.symbol != program.output:
            return y
        if op == "gradient":
            y = builder.emit("sum", (builder.emit("sin", (y,), NOWHERE),), NOWHERE, (None, False))
        return builder.emit(op, (y, sympy.Symbol(name, real=True)), NOWHERE)

    found = rewritten(program, write, shares=True).program
    return replace(found, variables=program.variables)


@pytest.mark.parametrize(("text", "shapes"), FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_the_lines_give_what_torch_gives(text: str, shapes: dict[str, Shape]) -> None:
    """The gradient by each variable in turn, and its Jacobian by all: the second derivatives."""
    generator = np.random.default_rng(7)
    inputs = {name: np.asarray(generator.uniform(0.2, 1.5, size=shape)) for name, shape in shapes.items()}
    names = tuple(inputs)
    for name in names:
        program = _taking(text, "gradient", name)
        plain = written_out(program, {s: inputs[str(s)].shape for s in program.variables})
        assert not plain.takes_derivatives
        infer(plain, {s: inputs[str(s)].shape for s in plain.variables})
        by_torch, by_lines = (run(one, inputs, names, "float64") for one in (program, plain))
        np.testing.assert_allclose(value(by_lines), value(by_torch), rtol=1e-9, atol=1e-12)
        first, second = (jacobian(one, names) for one in (by_torch, by_lines))
        for other in names:
            np.testing.assert_allclose(second[other], first[other], rtol=1e-8, atol=1e-11)


def test_a_jacobian_is_a_row_for_each_element() -> None:
    """And of a bounded number of them."""
    x = np.array([0.5, 1.5])
    program = _taking("[x*x.sum(), x**3]", "jacobian", "x")
    symbol = program.variables[0]
    plain = written_out(program, {symbol: (2,)})
    by_torch, by_lines = (value(run(one, {"x": x}, ("x",), "float64")) for one in (program, plain))
    assert by_torch.shape == (2, 2, 2)
    np.testing.assert_allclose(by_lines, by_torch, rtol=1e-14)
    with pytest.raises(GradcliError, match=f"from 1 to {MOST_ROWS}"):
        written_out(_taking("x**2", "jacobian", "x"), {symbol: (MOST_ROWS + 1,)})


def test_a_maximum_has_no_derivative_where_its_operands_tie() -> None:
    """The line is no number there, rather than one of several."""
    program = _taking("maximum(x, 1)", "gradient", "x")
    plain = written_out(program, {program.variables[0]: ()})
    slopes = [value(run(plain, {"x": np.array(x)}, (), "float64")).item() for x in (0.0, 1.0, 2.0)]
    np.testing.assert_allclose(slopes, [0, np.nan, np.cos(2)])
