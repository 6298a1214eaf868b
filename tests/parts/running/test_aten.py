"""Operations of the core of ATen that are read, and notes of schemas."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gradcli.recording.aten_calls import functional, name_of
from gradcli.recording.aten_lowering import row_of
from gradcli.recording.aten_rules import RULES
from gradcli.recording.decompositions import DECOMPOSITIONS

WITHOUT = {
    "_fft_c2r": "complex numbers",
    "_fft_r2c": "complex numbers",
    "_local_scalar_dense": "a number that Python takes: a condition, or a remark",
    "argmax": "positions, which values decide",
    "argmin": "positions, which values decide",
    "nonzero": "positions, which values decide",
    "copy": "an assignment",
    "full_like": "takes the shape alone",
    "scalar_tensor": "is made of no tensor",
    "randperm": "is made of no tensor",
    "resize_": "leaves numbers that nobody has written",
}
"""Operations without a row or a rule, which torch does not decompose either."""


def _core() -> Iterator[Any]:
    """Yield the overloads of the core of aten, whichever of them this process has used before."""
    names = {name.removeprefix("aten::").partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    for name in sorted(names):
        packet: Any = getattr(torch.ops.aten, name, None)
        for overload in packet.overloads() if packet is not None else ():
            if torch.Tag.core in (found := getattr(packet, overload)).tags:
                yield found


def test_all_of_the_core_of_aten_is_read_or_there_is_a_reason() -> None:
    """By a row, a rule, or torch's own decomposition."""
    found = set()
    for function in _core():
        name = name_of(function)
        is_read = (
            name in {**RULES, **DECOMPOSITIONS}
            or f"{name}.{function._overloadname}" in RULES
            or row_of(name) is not None
        )
        if not (is_read or function in torch._decomp.decomposition_table or function._can_decompose()):
            found.add(name)
    assert found == set(WITHOUT)


@pytest.mark.parametrize(
    ("function", "plain"),
    [
        (torch.ops.aten.add_.Tensor, torch.ops.aten.add.Tensor),
        (torch.ops.aten.mul.out, torch.ops.aten.mul.Tensor),
        (torch.ops.aten.sum.IntList_out, torch.ops.aten.sum.dim_IntList),
        (torch.ops.aten.sin.default, torch.ops.aten.sin.default),
        (torch.ops.aten.set_.source_Tensor, torch.ops.aten.set.source_Tensor),
        (torch.ops.aten._foreach_zero_.default, torch.ops.aten._foreach_zero.default),
    ],
)
def test_what_writes_has_a_form_that_does_not(function: Any, plain: Any) -> None:
    """By the names and types of the arguments, not by the name of the overload."""
    assert functional(function) is plain
