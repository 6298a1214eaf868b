"""Torch's passes as recorded are torch's passes: on balls that round, they contain the numbers that torch gives."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli.autodiff.jacobians import hvp, jvp, vjp
from gradcli.crosscheck.compare import FLOAT_FORMATS
from gradcli.language import ops
from gradcli.language.program.shapes import infer
from gradcli.language.program.torch_passes import OF_Y, TorchPasses
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues
from gradcli.questions.text_reading import read
from gradcli.recording.pass_recorder import record
from gradcli.reference.balls import precision
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rounded import RoundedPass
from gradcli.reference.rules import Undefined
from gradcli.results import Array
from tests.examples import in_turn, own_rules

SLACK = 8
"""Radii, as the check has it: kernels are right to a few roundings."""


def _question(text: str, at: Any, dtype: Any) -> BoundFunction:
    return FunctionWithValues(text, read(text), at, dtype=dtype).bind()


def _outside(passes: TorchPasses, seeds: dict[str, Array], numbers: dict[str, Array], dtype: str) -> list[Any]:
    """The numbers of torch that are not inside of their balls."""
    given = {passes.seeds[name]: one.astype(np.float64) for name, one in seeds.items() if name in passes.seeds}
    inputs = {**passes.inputs, **given}
    shapes = {symbol: inputs[str(symbol)].shape for symbol in passes.program.variables}
    reference = Reference(passes.program, infer(passes.program, shapes, bounded=False), inputs)
    atoms = {name: passes.results[name] or sympy.S.Zero for name in numbers}
    start = {reference.renamed.get(a, a): np.arange(numbers[n].size) for n, a in atoms.items() if a.is_Symbol}
    found: list[Any] = []
    with precision(FLOAT_FORMATS[dtype].bits):
        run = RoundedPass(reference, reference.backward_closure(start), FLOAT_FORMATS[dtype])
        for name, array in numbers.items():
            for e, number in enumerate(array.ravel().tolist()):
                outcome = run.outcome(atoms[name], e)
                if isinstance(outcome, Undefined) or not abs(outcome.mid() - number) <= SLACK * outcome.rad():
                    found.append((name, e, number, outcome))
    return found


@pytest.mark.parametrize(
    ("op", "dtype"),
    in_turn(own_rules(ops.TABLE.values(), 0, of=3), "float64", "float32"),
    ids=[f"{name}-{dtype}" for name in ops.TABLE for dtype in ("float64", "float32")],
)
@pytest.mark.one_in(2)
def test_a_backward_pass_of_each_operation_is_that_of_torch(op: ops.Op, dtype: Any) -> None:
    """Kernels that torch's tables do not decompose among them."""
    if (op.name, dtype) == ("float_power", "float32"):
        pytest.skip("it computes in float64")
    bound = _question(*op.worked_example, dtype)
    v = np.linspace(0.5, 1.5, bound.value.size).reshape(bound.shape)
    numbers = vjp(bound.forward, v, bound.wrt)
    passes = record("back", bound.program, bound.arrays, bound.wrt, dtype)
    assert passes is not None
    assert not _outside(passes, {OF_Y: v.astype(dtype)}, numbers, dtype)


TWICE = "x**3 exp(sin(x)) softmax(x)[0] prod(x) tanh(x)*x sqrt(x) x/(1+x) atan2(x,1+x**2) var(x) norm(x) x@x".split()


@pytest.mark.parametrize("text", TWICE)
def test_passes_through_passes_are_those_of_torch(text: str) -> None:
    """Back from the gradient, and back to what a pass begins with."""
    at = {"x": np.array([0.3, 1.7])}
    bound = _question(f"sum({text})", at, "float64")
    u = np.array([1.0, -0.5])
    _, _, product = hvp(replace(bound, twice=True).forward, {"x": u}, ("x",))
    passes = record("twice", bound.program, bound.arrays, ("x",), "float64")
    assert passes is not None
    assert not _outside(passes, {"x": u}, product, "float64")
    bound = _question(text, at, "float64")
    passes = record("columns", bound.program, bound.arrays, ("x",), "float64")
    assert passes is not None
    assert not _outside(passes, {"x": u}, {"x": jvp(replace(bound, twice=True).forward, {"x": u})}, "float64")


def test_what_cannot_be_recorded_is_not_known() -> None:
    """It is neither right nor wrong: torch computes here in a dtype of its own."""
    bound = _question("float_power(x, 0.5)", {"x": "0.5"}, "float32")
    assert record("back", bound.program, bound.arrays, ("x",), "float32") is None
