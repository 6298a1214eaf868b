"""Products of Hessians with directions, on balls, against torch's."""

import numpy as np
import pytest

from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from tests.crosscheck.asking import asked
from tests.examples import own_rules

ELEMENTWISE = [op for op in ops.TABLE.values() if op.kind is Kind.ELEMENTWISE]


@pytest.mark.parametrize("op", own_rules(ELEMENTWISE, 3), ids=lambda op: op.name)
@pytest.mark.one_in(4)
def test_every_elementwise_operation_bends_as_torch_has_it(op: ops.Op) -> None:
    """At its worked example, moved a little off round numbers."""
    text, values = op.worked_example
    at = {name: read_value(value, "--at") + 0.01 for name, value in values.items()}
    u = {name: np.full(at[name].shape, 1.5) for name in at if name not in op.buffers}
    check = asked("hvp", f"sum({text})", at, u=u)
    verdict = "cut" if op.is_held else "agree"
    assert (check.verdict, check.checked) == (verdict, check.entries), check.findings
