"""Code as people write it is recorded, and its gradients are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradcli.errors import GradcliError
from gradcli.running.plain_functions import record
from tests.checks import check_of
from tests.examples import quarter
from tests.recording import pieces_of_losses, pieces_of_science  # noqa: F401 (which add to P)
from tests.recording.pieces import P
from tests.recording.running import run_by_python

ANSWERED = [one for one in P if not one[3]]
REFUSED = [one for one in P if one[3]]


@pytest.mark.parametrize(
    ("function", "args", "verdict", "_"), quarter(ANSWERED, 1), ids=[function.__name__ for function, *_ in ANSWERED]
)
def test_a_piece_has_the_numbers_of_torch_and_its_verdict(
    function: Callable[..., Any], args: tuple[torch.Tensor, ...], verdict: str, _: str
) -> None:
    """As Python runs it, with each argument as a leaf."""
    state = torch.get_rng_state()
    asked = record(function, *args)
    answer = asked.vjp(v="ones")
    torch.set_rng_state(state)
    y, leaves = run_by_python(function, *args)
    grads = torch.autograd.grad(y.sum(), leaves, materialize_grads=True)
    for name, grad in zip(asked.parameters, grads, strict=True):
        torch.testing.assert_close(
            torch.from_numpy(answer.vjp[name]), grad, rtol=1e-12, atol=1e-12, equal_nan=True, msg=name
        )
    assert check_of(answer).verdict == verdict, check_of(answer)
    torch.set_rng_state(state)
    is_right = differs_by(function, leaves, grads) < (1e-5 if leaves[0].dtype is torch.float64 else 0.05)
    if verdict not in ("kink", "undefined", "nan-trap"):
        assert is_right == (verdict not in ("cut", "disagree"))


def differs_by(function: Callable[..., Any], leaves: list[torch.Tensor], grads: tuple[torch.Tensor, ...]) -> float:
    """How far gradients are off the function itself, run by Python on both sides along two directions."""
    generator, state, worst = torch.Generator().manual_seed(1), torch.get_rng_state(), 0.0
    for _ in range(2):
        u = [torch.randn(one.shape, generator=generator, dtype=torch.float64).to(one.dtype) for one in leaves]
        step, sides = 1e-6 if leaves[0].dtype is torch.float64 else 1e-2, []
        for h in (step, -step):
            torch.set_rng_state(state)
            beside = [one.detach() + h * d for one, d in zip(leaves, u, strict=True)]
            sides.append(run_by_python(function, *beside)[0].sum().item())
        moves = (sides[0] - sides[1]) / (2 * step)
        says = sum((grad * d).sum().item() for grad, d in zip(grads, u, strict=True))
        worst = max(worst, abs(moves - says) / (abs(moves) + abs(says) + 1e-3))
    return worst


@pytest.mark.parametrize(
    ("function", "args", "_", "message"), REFUSED, ids=[function.__name__ for function, *_ in REFUSED]
)
def test_a_piece_that_is_refused_says_why(
    function: Callable[..., Any], args: tuple[torch.Tensor, ...], _: str, message: str
) -> None:
    """With the call, or the place."""
    with pytest.raises(GradcliError) as caught:
        record(function, *args).vjp(v="ones")
    assert message in caught.value.message


def test_nearly_all_pieces_are_answered() -> None:
    """At most one in twenty is refused or unchecked, and each has a name of its own."""
    names = Counter(one[0].__name__ for one in P)
    assert max(names.values()) == 1
    open_ones = [function for function, _, verdict, refused in P if refused or verdict == "unchecked"]
    assert len(open_ones) <= 0.05 * len(P)
