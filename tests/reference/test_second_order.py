"""Products of Hessians with directions, on balls, against torch's; and what is met where it is not smooth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck.point import Point
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.second_order import HessianProducts
from tests.parsing import parse


def _products(text: str, at: Mapping[str, Any]) -> HessianProducts:
    program = parse(text)
    point = Point.from_inputs(program, {s: at[str(s)].shape for s in program.variables}, at)
    return HessianProducts(Reference(point.program, point.shapes, point.inputs), 128)


@pytest.mark.parametrize("op", sorted({op.name for op in ops.TABLE.values() if op.kind is Kind.ELEMENTWISE}))
def test_every_elementwise_operation_bends_as_torch_has_it(op: str) -> None:
    """At its worked example, moved a little off round numbers."""
    text, values = ops.TABLE[op].worked_example
    text = f"sum({text})"
    function = Function(text)
    at = {name: read_value(value, "--at") + 0.01 for name, value in values.items()}
    held = ops.TABLE[op].buffers  # such as what torch has no derivative by
    u = {name: np.full(at[name].shape, 1.5) for name in function.variables if name not in held}
    truth = function.hvp(at, u, check=False).hvp
    products = _products(text, at)
    moving = [s for s in products.reference.program.variables if str(s) in u]
    found = products.along({(s, j): 1.5 for s in moving for j in range(at[str(s)].size)})
    for x in moving:
        own = [float(found.get((x, j), 0)) for j in range(at[str(x)].size)]
        assert own == pytest.approx(np.ravel(truth[str(x)]).tolist(), rel=1e-7, abs=1e-9)
