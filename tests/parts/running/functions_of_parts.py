"""Random functions of code with a known verdict: sums of parts that are smooth, kinked or cut at a point."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Part = Callable[[torch.Tensor, float], torch.Tensor]
"""Part of a function: of a tensor x and a number c, with its kink, jump or cut where an element of x is c."""


def _mask_without_grad(x: torch.Tensor, c: float) -> torch.Tensor:
    with torch.no_grad():
        mask = (x > c).to(x.dtype)
    return mask * (x - c)


def _in_place(x: torch.Tensor, c: float) -> torch.Tensor:
    y = (x - c).clone()
    y[y < 0] = 0.0
    return y


def _multiplied_in_place(x: torch.Tensor, c: float) -> torch.Tensor:
    y = 2 * x
    return y.mul_(x > c)


def _branch(x: torch.Tensor, c: float) -> torch.Tensor:
    total = x * 0
    for n in range(x.numel()):
        total = total + (3 * x[n] if x[n] > c else x[n] + 2 * c)
    return total


def _largest_two(x: torch.Tensor, c: float) -> torch.Tensor:
    both = torch.cat([x, x.new_full((1,), c)])
    return both * (both >= both.topk(2).values[-1])


def _through_numpy(x: torch.Tensor, c: float) -> torch.Tensor:
    return x * torch.from_numpy(np.cos(x.detach().numpy() + c)).to(x.dtype)


def _without_grad(x: torch.Tensor, c: float) -> torch.Tensor:
    with torch.no_grad():
        weight = torch.exp(x - c)
    return x * weight


KINKED: dict[str, Part] = {
    "a cast mask": lambda x, c: (x > c).to(x.dtype) * (x - c),
    "float of a mask": lambda x, c: ((x > c).float() if x.dtype is torch.float32 else (x > c).double()) * x,
    "type_as of a mask": lambda x, c: (x >= c).type_as(x) * (2 * x - c),
    "a mask under no_grad": _mask_without_grad,
    "a sign that is held": lambda x, c: (x - c).sign().detach() * (x - c),
    "floor that is held": lambda x, c: (x - (x - c).detach().floor()) ** 2,
    "where of what is held": lambda x, c: torch.where(x.detach() > c, 2 * x, x + c / 3),
    "a pruned weight": lambda x, c: x * (x.abs() > c),
    "a masked mean": lambda x, c: (x * (x > c)).sum() / ((x > c).sum() + 1),
    "heaviside": lambda x, c: torch.heaviside((x - c).detach(), x.new_tensor(0.5)) * (x + 1),
    "written in place": _in_place,
    "multiplied in place": _multiplied_in_place,
    "a product with a mask": lambda x, c: torch.einsum("i,i->", (x > c).to(x.dtype), x + 1) + 0 * x,
    "a branch": _branch,
    "a table": lambda x, c: torch.tensor([0.0, 1.0, 4.0, 9.0], dtype=x.dtype)[(x - c > 0).long()] + x,
    "relu": lambda x, c: torch.relu(x - c),
    "abs": lambda x, c: (x - c).abs(),
    "clamp": lambda x, c: x.clamp(min=c),
    "all of a comparison": lambda x, c: x * (x != c).all(),
}
"""Parts with a kink or a jump where an element of x is c."""

SMOOTH: dict[str, Part] = {
    "a square by a mask": lambda x, c: (x - c) ** 2 * (x > c),
    "Huber by masks": lambda x, c: ((x.abs() <= c) * x**2 / 2) + (x.abs() > c) * (c * x.abs() - c * c / 2),
    "a cube by a branch": lambda x, c: sum(((t - c) ** 3 if t > c else 0 * t) for t in x) + 0 * x,
    "sin": lambda x, c: torch.sin(x + c),
    "a quotient": lambda x, c: x / (1 + (x - c) ** 2),
    "a shifted softmax": lambda x, c: ((e := (x - x.max().detach()).exp()) / e.sum()) * (1 + c),
    "a product": lambda x, c: x * x.flip(0) - c,
    "exp": lambda x, c: torch.exp(-x * c),
    "tanh of a matrix": lambda x, c: torch.tanh(torch.outer(x, x) / 10).sum(0) * c,
}
"""Parts that are smooth where an element of x is c."""

CUT: dict[str, Part] = {
    "a factor that is held": lambda x, c: x * (x + c).detach(),
    "a number": lambda x, c: x * x.sum().item() + c,
    "NumPy": _through_numpy,
    "a weight under no_grad": _without_grad,
    "straight through": lambda x, c: x * 2 + (torch.sin(x) - x).detach() * c,
}
"""Parts of which something is held constant, so that torch's gradient is not the function's."""

OUTER: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda y: y.sum(),
    "weighted": lambda y: (y * torch.arange(1, y.numel() + 1, dtype=y.dtype)).sum(),
    "squares": lambda y: ((y + 3) ** 2).sum(),
    "sin": lambda y: torch.sin(y.sum() / 10),
    "itself": lambda y: y,
}


@dataclass(frozen=True)
class Built:
    """A function, its point, and its verdict.

    Attributes:
        text: What it is made of.
        function: The function of x.
        x: The point.
        verdict: The verdict that is right.
    """

    text: str
    function: Callable[..., Any]
    x: torch.Tensor
    verdict: str


def build(seed: int) -> Built:
    """Draw a function of one to three parts, and a point at its boundaries or away from them."""
    draw = random.Random(seed)
    kind = draw.choice(["kink", "kink", "cut", "agree", "agree", "agree"])
    dtype = draw.choice([torch.float64, torch.float64, torch.float32])
    c = draw.choice([0.5, 1.0, 1.25, 2.0])
    numbers = [draw.choice([-1, 1]) * round(draw.uniform(0.1, 3), 2) + 0.003 for _ in range(draw.randint(1, 5))]
    parts = [draw.choice(list(SMOOTH.items()))]
    if kind == "kink" or (kind == "agree" and draw.random() < 0.5):
        parts.append(draw.choice(list(KINKED.items())))
    if kind == "cut":
        parts.append(draw.choice(list(CUT.items())))
    if draw.random() < 0.3:
        parts.append(draw.choice(list(SMOOTH.items())))
    is_at = kind == "kink" or not {name for name, _ in parts} & set(KINKED)
    if is_at:
        numbers[draw.randrange(len(numbers))] = c
    draw.shuffle(parts)
    outer = draw.choice(list(OUTER))

    def function(x: torch.Tensor) -> torch.Tensor:
        return OUTER[outer](sum(((n + 1) * part(x, c) for n, (_, part) in enumerate(parts)), start=0 * x))

    text = f"{outer} of {' + '.join(name for name, _ in parts)} at {numbers}, c = {c}, {dtype}"
    return Built(text, function, torch.tensor(numbers, dtype=dtype), kind)
