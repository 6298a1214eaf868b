"""Torch computes the function as typed: the same numbers as the same code in plain torch, bit by bit."""

import operator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.autodiff.run import run
from gradcli.language import ops
from tests.language.ops.agreement import ROUNDED
from tests.language.ops.cases import CASES
from tests.parsing import parse

OTHERWISE = {"renorm", "eigh", "linalg_svd", "svd", "lstsq", "slogdet", "householder_product", "qr"}
"""Operations that are made of others here, or of which Python takes one part of several."""


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_worked_examples_are_bitwise_those_of_plain_torch() -> None:
    """Of every operation whose example Python evaluates as it stands, torch's functions having its names.

    In single precision: the operations of the table are compared in double precision by their texts.
    """
    functions: dict[str, Any] = {}
    for name, op in ops.TABLE.items():
        with suppress(AttributeError):
            functions[name] = operator.attrgetter(op.torch or "none")(torch)
    found, others = set[str](), set[str]()
    for name, op in ops.TABLE.items():
        text, at = op.worked_example
        answer = Function(text).vjp(at, "ones", dtype="float32", check=False)
        leaves = {one: torch.tensor(a, requires_grad=one in answer.wrt) for one, a in answer.inputs.items()}
        with suppress(NameError, TypeError, RuntimeError, AttributeError):
            y = eval(text, functions, leaves)
            y.backward(torch.ones_like(y))
            gradients = [
                torch.zeros_like(leaves[one]) if leaves[one].grad is None else leaves[one].grad for one in answer.wrt
            ]
            same = map(np.array_equal, [answer.value, *answer.vjp.values()], [one.detach() for one in (y, *gradients)])
            (found if all(same) else others).add(name)
    assert others <= OTHERWISE
    assert len(found) > 0.75 * len(ops.TABLE)
    primitives = {name for name, op in ops.TABLE.items() if op.is_primitive}
    proved = found | set(CASES) - ROUNDED
    assert primitives <= proved | {"linspace", "gammaincc"}  # which is NumPy's, and has an example with a number


def test_integers_beyond_64_bits_are_floats() -> None:
    """Torch takes no more."""
    forward = run(parse("x*10**30"), {"x": np.array(2.0)}, ("x",), "float64")
    assert float(forward.output.detach()) == 2e30
