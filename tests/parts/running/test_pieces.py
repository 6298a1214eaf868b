"""Code as people write it is recorded, and its gradients are right."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradcli.errors import GradcliError
from gradcli.parts.running.plain_functions import record
from tests.examples import all_but, first_of_each
from tests.parts.running import (  # noqa: F401 (which add to P)
    pieces_of_layers,
    pieces_of_losses,
    pieces_of_physics,
    pieces_of_science,
    pieces_of_training,
)
from tests.parts.running.pieces import P
from tests.parts.running.running import require_as_run, run_by_python

REFUSED = {
    "sparse_adjacency": "a tensor of layout torch.sparse_coo is used",
}
"""Pieces that are not read, with the reason: of all the others the verdict is the right one."""

WITHOUT_SLOPE = ("kink", "undefined", "nan-trap", "unchecked", "inaccurate")
"""Verdicts on pieces that differences cannot tell."""

SLOW = ("res_block",)
"""Pieces that take seconds, and have others of their verdict beside them."""

READ = [piece for piece in P if piece[0].__name__ not in REFUSED]


@pytest.mark.parametrize(
    ("function", "args", "verdict"),
    all_but(
        first_of_each(READ, lambda piece, _, verdict: (piece.__module__, verdict)),
        *(n for n, (function, *_) in enumerate(READ) if function.__name__ in SLOW),
    ),
    ids=[function.__name__ for function, *_ in READ],
)
@pytest.mark.one_in(8)
def test_a_piece_has_the_numbers_of_torch_and_its_verdict(
    function: Callable[..., Any], args: tuple[torch.Tensor, ...], verdict: str
) -> None:
    """As Python runs it, with each argument as a leaf."""
    v, leaves, gradients = require_as_run(function, *args, verdict=verdict, rtol=1e-12)
    is_right = differs_by(function, v, leaves, gradients) < (1e-5 if leaves[0].dtype is torch.float64 else 0.05)
    if verdict not in WITHOUT_SLOPE:
        assert is_right == (verdict not in ("cut", "disagree"))


def test_few_of_many_pieces_are_not_read() -> None:
    """And each says why in one clear error."""
    assert len({function.__name__ for function, *_ in P}) == len(P) >= 200
    assert len(REFUSED) <= 0.05 * len(P)
    for function, args, _ in P:
        if function.__name__ in REFUSED:
            with pytest.raises(GradcliError) as caught:
                record(function, *args).vjp(v="ones")
            assert REFUSED[function.__name__] in caught.value.message


def differs_by(
    function: Callable[..., Any], v: torch.Tensor, leaves: list[torch.Tensor], grads: list[torch.Tensor]
) -> float:
    """The distance of gradients from v times the function itself, run by Python on both sides along two directions."""
    generator, state, worst = torch.Generator().manual_seed(1), torch.get_rng_state(), 0.0
    for _ in range(2):
        u = [torch.randn(one.shape, generator=generator, dtype=torch.float64).to(one.dtype) for one in leaves]
        step, sides = 1e-6 if leaves[0].dtype is torch.float64 else 1e-2, []
        for h in (step, -step):
            torch.set_rng_state(state)
            beside = [one.detach() + h * d for one, d in zip(leaves, u, strict=True)]
            sides.append((v * run_by_python(function, *beside)[0]).sum().item())
        moves = (sides[0] - sides[1]) / (2 * step)
        says = sum((grad * d).sum().item() for grad, d in zip(grads, u, strict=True))
        worst = max(worst, abs(moves - says) / (abs(moves) + abs(says) + 1e-3))
    return worst
