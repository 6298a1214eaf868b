"""Torch's own database of functions: each that has a gradient is recorded with torch's samples, and judged."""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch.utils import _pytree

from gradcli.errors import GradcliError
from gradcli.parts.running.calling import one_tensor
from gradcli.parts.running.plain_functions import record
from tests.checks import check_of

MOST_ELEMENTS = 60
"""Of the floating-point tensors of a sample; a larger one is passed over."""

SAMPLES = 2
"""The number of a variant that are asked, the first ones."""


@functools.cache
def database() -> dict[str, Any]:
    """Give the variants that have a gradient in float64, by name; the import takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return {op.formatted_name: op for op in op_db if op.supports_autograd and op.supports_dtype(torch.float64, "cpu")}


def samples(op: Any) -> Iterator[Asked]:
    """List the first samples of a variant that are small and have a gradient, as functions of tensors.

    One that reads the memory around its tensors is passed over: arguments are given by their numbers.
    """
    torch.manual_seed(0)
    asked = (_asked(op, one) for one in op.sample_inputs("cpu", torch.float64, requires_grad=True))
    return itertools.islice(filter(None, asked), SAMPLES)


@dataclass(frozen=True)
class Asked:
    """A function of the tensors of a sample that require a gradient, and these."""

    function: Any
    tensors: Sequence[torch.Tensor]


def _asked(op: Any, sample: Any) -> Asked | None:
    leaves, tree = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [one for one in leaves if isinstance(one, torch.Tensor)]
    size = sum(one.numel() for one in tensors if one.is_floating_point() or one.is_complex())
    if size > MOST_ELEMENTS or any(one.layout is not torch.strided for one in tensors):
        return None
    free = [n for n, one in enumerate(leaves) if isinstance(one, torch.Tensor) and one.requires_grad]
    chosen: list[int] = []

    def outputs(*tensors: torch.Tensor) -> list[torch.Tensor]:
        filled = list(leaves)
        for n, one in zip(free, tensors, strict=True):
            filled[n] = one
        given, args, kwargs = _pytree.tree_unflatten(filled, tree)
        found = sample.output_process_fn_grad(op.gradcheck_wrapper(op.op, given, *args, **kwargs))
        listed = list(found) if isinstance(found, tuple | list) else [found]
        return [torch.view_as_real(one.resolve_conj()) if one.is_complex() else one for one in listed]

    def function(*tensors: torch.Tensor) -> Any:
        found = outputs(*tensors)
        return [found[n] for n in chosen] if len(chosen) > 1 else found[chosen[0]]

    tensors = [leaves[n].detach().clone(memory_format=torch.contiguous_format) for n in free]
    try:
        found = outputs(*(one.clone().requires_grad_() for one in tensors))
    except RuntimeError:  # from the memory around
        return None
    chosen += [n for n, one in enumerate(found) if one.requires_grad and one.numel()]
    kind = inspect.Parameter.POSITIONAL_ONLY
    names = [inspect.Parameter(f"x{n}", kind) for n, _ in enumerate(free)]
    function.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
    function.__qualname__ = op.formatted_name
    return Asked(function, tensors) if chosen and any(one.numel() for one in tensors) else None


REFUSED = {
    "a tolerance cuts the rank of a matrix": "linalg_pinv",
    "it computes in a dtype that is not judged": "bfloat16 chalf half",
    "it gives a sparse tensor": "to_sparse",
}
OTHERS = {
    "a matrix has less than full rank, and rounding hides its slopes": ("unchecked", "linalg_pinv_singular"),
    "kink": (
        "kink",
        "nn_functional_cosine_embedding_loss nn_functional_hinge_embedding_loss linalg_norm_subgradients_at_zero",
    ),
    "there is no derivative: a negative base, or a step at a row of -inf": (
        "undefined",
        "__rpow__ torch_ops_aten__safe_softmax_default",
    ),
    "fault of torch: a gradient counts twice what is written twice": (
        "disagree",
        "as_strided_scatter nn_functional_max_unpool1d nn_functional_max_unpool2d nn_functional_max_unpool3d",
    ),
    "a draw moves with its mean and deviation, and its gradient is 0": ("cut", "normal normal_number_mean"),
    "fault of torch: 1/6 in float32, and a sum that cancels": ("inaccurate", "nn_functional_hardsigmoid special_ndtr"),
}
EXPECTED = {
    **{name: "refused" for names in REFUSED.values() for name in names.split()},
    **{name: verdict for verdict, names in OTHERS.values() for name in names.split()},
}
"""The verdict of each variant that does not agree in all entries."""

VARIANTS = 452
"""With a small sample, in torch 2.13."""

WORST = "crash refused disagree undefined nan-trap removable cut inaccurate kink unchecked agree".split()

of_this_torch = pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the table is of torch 2.13")


def judged(asked: Asked) -> str:
    """Ask for a product with the Jacobian, and hold its numbers to those of the function called without us."""
    leaves = [one.clone().requires_grad_() for one in asked.tensors]
    torch.manual_seed(0)
    y = one_tensor(asked.function(*leaves), "it")
    v = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype).reshape(y.shape)
    own = torch.autograd.grad(y, leaves, v, allow_unused=True)
    torch.manual_seed(0)
    try:
        answer = record(asked.function, *asked.tensors).vjp(v=v, wrt=[f"x{n}" for n in range(len(leaves))])
    except GradcliError as error:
        return "crash" if "raised while" in str(error) else "refused"
    rtol = 1e-12 if y.dtype is torch.float64 else 1e-6
    for n, gradient in enumerate(own):
        expected = torch.zeros(leaves[n].shape) if gradient is None else gradient
        np.testing.assert_allclose(answer.vjp[f"x{n}"], expected.numpy(), rtol=rtol)
    return check_of(answer).verdict


def verdicts(names: Sequence[str]) -> dict[str, str]:
    """Find the worst verdict of the samples of each variant, of those that have samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is deprecated
        found = {name: [judged(one) for one in samples(database()[name])] for name in names}
    return {name: min(some, key=WORST.index) for name, some in found.items() if some}


@of_this_torch
@pytest.mark.thorough
def test_a_sixteenth_of_the_variants_agrees_or_there_is_a_reason() -> None:
    """As `test_every_variant_agrees_or_there_is_a_reason` has it of all, which takes minutes."""
    found = verdicts([*database()][::16])
    assert found == {name: EXPECTED.get(name, "agree") for name in found}


@of_this_torch
@pytest.mark.database
def test_every_variant_agrees_or_there_is_a_reason() -> None:
    """The table is exact: a variant in it that agrees has to leave it."""
    found = verdicts(list(database()))
    assert found == {name: EXPECTED.get(name, "agree") for name in found}
    assert (len(found), EXPECTED.keys() - found.keys()) == (VARIANTS, set())


def modes(name: str) -> dict[str, str]:
    """Find the verdicts on forward mode and on second derivatives, where torch says that a variant has them.

    A verdict is as good as `agree` if the variant is expected to have it in the usual way too.
    """
    op = database()[name]
    found: dict[str, str] = {}
    for one in itertools.islice(samples(op), 1):
        wrt = [f"x{n}" for n in range(len(one.tensors))]
        forward = op.supports_forward_ad
        order: Literal[1, 2] = 2 if op.supports_gradgrad else 1
        try:
            answer = record(one.function, *one.tensors).check(forward=forward, order=order, wrt=wrt)
        except GradcliError:
            return {}
        found = {mode.name: mode.check.verdict for mode in answer.modes}
    return {mode: "agree" if verdict == EXPECTED.get(name) else verdict for mode, verdict in found.items()}


def shares(names: Sequence[str]) -> dict[str, float]:
    """The share of variants that agree, of those that have forward mode or second derivatives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [modes(name) for name in names]
    kinds = ("forward mode", "second order")
    known = {kind: [one[kind] for one in found if kind in one] for kind in kinds}
    assert all(len(one) > 0.5 * len(names) for one in known.values())
    return {kind: one.count("agree") / len(one) for kind, one in known.items()}


@of_this_torch
@pytest.mark.thorough
def test_forward_mode_and_second_order_of_a_sixteenth_of_the_variants() -> None:
    """Nearly all agree."""
    assert min(shares([*database()][::16]).values()) >= 0.9


@of_this_torch
@pytest.mark.database
def test_forward_mode_and_second_order_agree_but_for_faults_of_torch() -> None:
    """In 95 of 100 variants that have them."""
    assert min(shares([*database()]).values()) >= 0.95


class _Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x0: Any) -> Any:
        ctx.save_for_backward(x0)
        return x0.sin()

    @staticmethod
    def backward(ctx: Any, v: Any) -> Any:
        return 1.001 * v * ctx.saved_tensors[0].cos()


def test_a_wrong_gradient_would_be_found() -> None:
    """By the same way as the variants."""
    assert judged(Asked(_Wrong.apply, [torch.tensor([0.5, 1.0], dtype=torch.float64)])) == "disagree"
