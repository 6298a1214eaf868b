"""Equal recordings share one Program and what is found of it; no number of one is taken for another's."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from gradcli.language.program.wengert import Program
from gradcli.parts.running import recorded
from gradcli.parts.running.plain_functions import record
from tests.examples import examples, seeds

Step = Callable[[torch.Tensor, float], torch.Tensor]
Function = Callable[[torch.Tensor], torch.Tensor]

X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)

STEPS: Sequence[Step] = (
    lambda t, c: t * c,
    lambda t, c: t + c,
    lambda t, c: torch.sin(t) + c,
    lambda t, c: torch.relu(t - c),
    lambda t, c: torch.exp(-t * t) * c,
    lambda t, c: torch.cumsum(t, -1) / (2 + c),
    lambda t, c: torch.softmax(c * t, -1),
    lambda t, c: torch.where(t > c, t * t, c * t),
)


def function_of(steps: Sequence[tuple[int, float]]) -> Function:
    """A function of its own of these steps, each with its constant."""

    def f(x: torch.Tensor) -> torch.Tensor:
        for step, constant in steps:
            x = STEPS[step](x, constant)
        return x

    return f


def program(function: Function, x: torch.Tensor) -> Program:
    return record(function, x).recorded().program


FIRST = [(0, 2.0), (2, 0.5)]

OTHERS = {
    "equal": (FIRST, X, True),
    "another point": (FIRST, X + 1, True),
    "another dtype": (FIRST, X.float(), True),
    "another shape": (FIRST, torch.ones(2, 2, dtype=torch.float64), True),
    "another constant": ([(0, 3.0), (2, 0.5)], X, False),
    "nearly the constant": ([(0, float(np.nextafter(2.0, 3.0))), (2, 0.5)], X, False),
    "another order": (FIRST[::-1], X, False),
    "another operation": ([(0, 2.0), (1, 0.5)], X, False),
}
"""Steps, the tensor, and whether it is the Program of `FIRST`, which has neither values nor shapes nor a dtype."""


@pytest.mark.parametrize(("steps", "x", "is_shared"), OTHERS.values(), ids=OTHERS)
def test_equal_recordings_alone_are_one_program(
    steps: Sequence[tuple[int, float]], x: torch.Tensor, *, is_shared: bool
) -> None:
    """Whichever function they are of."""
    assert (program(function_of(steps), x) is program(function_of(FIRST), X)) == is_shared


def answers(function: Function, x: torch.Tensor) -> list[str]:
    """What is asked of it, with its numbers, formulas and verdicts, as text."""
    asked = record(function, x)
    v = np.linspace(0.5, 1.5, x.numel()).reshape(x.shape)
    return [asked.vjp(v=v).to_json(), asked.jacobian().to_json()]


def variants(generator: np.random.Generator) -> list[tuple[Function, torch.Tensor]]:
    """A random function, and those next to it: equal, in another dtype, of another shape, with one change each."""
    steps = [(int(generator.integers(len(STEPS))), float(generator.integers(1, 9)) / 4) for _ in range(3)]
    changed, x = [*steps[:-1], (steps[-1][0], steps[-1][1] + 1)], torch.tensor(generator.normal(size=3))
    asked = [(steps, x), (steps, x + 1), (steps, x.float()), (steps, x[:2]), (changed, x), (steps[::-1], x), (steps, x)]
    return [(function_of(one), at) for one, at in asked]


@pytest.mark.parametrize("seed", seeds(0, examples(20)))
def test_what_is_found_of_shared_recordings_is_that_of_others(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked one after the other, each gives to the letter what it gives where nothing is shared."""
    cases = variants(np.random.default_rng(seed))
    shared = [answers(*case) for case in cases]
    assert shared[0] == shared[-1]
    monkeypatch.setattr(recorded, "shared", lambda program: program)
    assert [answers(*case) for case in cases] == shared
    assert program(*cases[0]) is not program(*cases[0])  # so that the comparison is one
