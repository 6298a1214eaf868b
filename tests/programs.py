"""Random programs for hypothesis, written twice: as text for gradcli, and run by plain torch as they grow.

A program is statements `t0 = ...; t1 = ...`, each one operation on what is there, so that it is well-shaped by
construction.  Each node knows whether its point is at a kink (two values that tie, a root of 0), in floating point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hypothesis.strategies as st
import numpy as np
import torch
from torch.nn import functional

from gradcli.results import Check

Tensor = Any
LARGEST = 1e4
"""Values beyond this end a branch of growth: towers of exponentials are another test's business."""


@dataclass(frozen=True)
class Node:
    """A name in the program, its value in plain torch, and whether it is at a kink."""

    name: str
    value: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value."""
        return tuple(self.value.shape)


@dataclass
class Random:
    """A program as it grows."""

    leaves: dict[str, Tensor]
    nodes: list[Node]
    statements: list[str] = field(default_factory=list)
    is_at_kink: bool = False

    @property
    def text(self) -> str:
        """All statements, the last node being the output."""
        return "; ".join([*self.statements, self.nodes[-1].name])

    def add(self, text: str, value: Tensor) -> None:
        """One more statement, unless its value is out of hand."""
        if value.numel() and value.numel() <= 24 and bool(torch.all(value.abs() < LARGEST)):
            name = f"t{len(self.statements)}"
            self.statements.append(f"{name} = {text}")
            self.nodes.append(Node(name, value))


Draw = Callable[[st.SearchStrategy[Any]], Any]

SMOOTH: dict[str, Callable[[Tensor], Tensor]] = {
    "sin({0})": torch.sin,
    "tanh({0})": torch.tanh,
    "exp(-{0}**2)": lambda a: torch.exp(-(a**2)),
    "sigmoid({0})": torch.sigmoid,
    "softplus({0})": functional.softplus,
    "atan({0})": torch.atan,
    "0.5*{0} - 1": lambda a: 0.5 * a - 1,
    "-{0}": lambda a: -a,
    "{0}**3": lambda a: a**3,
    "1/(1 + {0}*{0})": lambda a: 1 / (1 + a * a),
    "sqrt({0}**2 + 1)": lambda a: torch.sqrt(a**2 + 1),
    "log1p({0}*{0})": lambda a: torch.log1p(a * a),
    "gelu({0})": functional.gelu,
    "{0}*{0}.detach()": lambda a: a * a.detach(),
}
BENT: dict[str, Callable[[Tensor], Tensor]] = {
    "abs({0})": torch.abs,
    "relu({0})": torch.relu,
    "sign({0})*{0}": lambda a: torch.sign(a) * a,
    "elu({0})": functional.elu,
    "where({0} > 0, {0}, {0}**2)": lambda a: torch.where(a > 0, a, a**2),
}
"""With a kink at 0."""

PAIRS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "{0} + {1}": lambda a, b: a + b,
    "{0} - 2*{1}": lambda a, b: a - 2 * b,
    "{0}*{1}": lambda a, b: a * b,
    "{0}/(1 + {1}**2)": lambda a, b: a / (1 + b**2),
    "lerp({0}, {1}, {0})": lambda a, b: torch.lerp(a, b, a),
}
MEETING: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "maximum({0}, {1})": torch.maximum,
    "minimum({0}, {1})": torch.minimum,
    "where({0} > {1}, {0}*{1}, {0} - {1})": lambda a, b: torch.where(a > b, a * b, a - b),
    "where(({0} <= {1}) & ({1} != 0), {0}, {1}**2)": lambda a, b: torch.where((a <= b) & (b != 0), a, b**2),
}
"""With a kink where the two are equal, or the second is 0."""

MATRIX: dict[str, Callable[[Tensor], Tensor]] = {
    "{0}.T": lambda a: a.T,
    "diagonal({0}, 1)": lambda a: torch.diagonal(a, 1),
    "trace({0})": torch.trace,
    "tril({0}, -1)": lambda a: torch.tril(a, -1),
    "triu({0})": torch.triu,
    "{0}[:, 0]*2": lambda a: a[:, 0] * 2,
    "{0}[-1]": lambda a: a[-1],
    "{0}@{0}.T": lambda a: a @ a.T,
    "pad({0}, (1, 0, 0, 1))": lambda a: functional.pad(a, (1, 0, 0, 1)),
    "roll({0}, (1, -1), (0, 1))": lambda a: torch.roll(a, (1, -1), (0, 1)),
    "einsum('ij,kj->ik', {0}, {0})": lambda a: torch.einsum("ij,kj->ik", a, a),
    "einsum('ij->j', {0})": lambda a: torch.einsum("ij->j", a),
    "det({0}@{0}.T + eye({n}))": lambda a: torch.linalg.det(a @ a.T + torch.eye(len(a), dtype=a.dtype)),
    "{0}.permute(1, 0)": lambda a: a.permute(1, 0),
}
VECTOR: dict[str, Callable[[Tensor], Tensor]] = {
    "diag({0}, -1)": lambda a: torch.diag(a, -1),
    "outer({0}, {0})": lambda a: torch.outer(a, a),
    "dot({0}, {0})": lambda a: torch.dot(a, a),
    "{0}[1:]*{0}[:-1]": lambda a: a[1:] * a[:-1],
    "{0}[::2]": lambda a: a[::2],
    "[{0}, {0}**2]": lambda a: torch.stack([a, a**2]),
    "cat([{0}, {0}[:1]])": lambda a: torch.cat([a, a[:1]]),
    "pad({0}, (-1, 2), value=0.5)": lambda a: functional.pad(a, (-1, 2), value=0.5),
    "{0}.expand(2, -1)": lambda a: a.expand(2, -1),
    "{0}[:, None]": lambda a: a[:, None],
}
ANY: dict[str, Callable[[Tensor], Tensor]] = {
    "{0}.flatten()": lambda a: a.flatten(),
    "{0}.unsqueeze(0)": lambda a: a.unsqueeze(0),
    "{0}.squeeze()": lambda a: a.squeeze(),
    "{0}.sum()": lambda a: a.sum(),
    "mean({0})": lambda a: a.mean(),
    "prod({0})": torch.prod,
    "{0}.reshape(-1, 1)": lambda a: a.reshape(-1, 1),
    "{0}/{0}.numel()": lambda a: a / a.numel(),
    "logsumexp({0}, dim=0)": lambda a: torch.logsumexp(a, 0),
}
ALONG: dict[str, Callable[[Tensor, int], Tensor]] = {
    "sum({0}, dim={1})": lambda a, d: a.sum(d),
    "mean({0}, {1}, keepdim=True)": lambda a, d: a.mean(d, keepdim=True),
    "prod({0}, dim={1})": lambda a, d: a.prod(d),
    "var({0}, dim={1}, correction=0)": lambda a, d: torch.var(a, d, correction=0),
    "softmax({0}, dim={1})": torch.softmax,
    "log_softmax({0}, dim={1})": torch.log_softmax,
    "cumsum({0}, dim={1})": torch.cumsum,
    "cumprod({0}, dim={1})": torch.cumprod,
    "flip({0}, {1})": lambda a, d: torch.flip(a, (d,)),
    "roll({0}, 2, {1})": lambda a, d: torch.roll(a, 2, d),
    "cat([{0}, {0}*2], dim={1})": lambda a, d: torch.cat([a, a * 2], d),
    "stack([{0}, sin({0})], dim={1})": lambda a, d: torch.stack([a, torch.sin(a)], d),
}
EXTREMES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "amax({0}, dim={1})": lambda a, d: a.amax(d),
    "amin({0}, dim={1}, keepdim=True)": lambda a, d: a.amin(d, keepdim=True),
    "max({0}, dim={1})[0]": lambda a, d: a.max(d)[0],
    "norm({0}, p=1, dim={1})": lambda a, d: torch.linalg.vector_norm(a, 1, d),
    "norm({0}, dim={1})": lambda a, d: torch.linalg.vector_norm(a, 2, d),
    "norm({0}, p=inf, dim={1})": lambda a, d: torch.linalg.vector_norm(a, float("inf"), d),
}
"""With a kink where elements tie in absolute value, or are 0."""

LOSSES: dict[str, Callable[[Tensor, Tensor, str], Tensor]] = {
    "mse_loss({0}, {1}, reduction='{2}')": lambda a, b, r: functional.mse_loss(a, b, reduction=r),
    "l1_loss({0}, {1}, reduction='{2}')": lambda a, b, r: functional.l1_loss(a, b, reduction=r),
    "huber_loss({0}, {1}, reduction='{2}')": lambda a, b, r: functional.huber_loss(a, b, reduction=r),
    "smooth_l1_loss({0}, {1}, reduction='{2}', beta=0.5)": lambda a, b, r: functional.smooth_l1_loss(
        a, b, reduction=r, beta=0.5
    ),
    "binary_cross_entropy_with_logits({0}, {1}, reduction='{2}')": lambda a, b, r: (
        functional.binary_cross_entropy_with_logits(a, b, reduction=r)
    ),
}


def _fit(a: Node, b: Node) -> bool:
    return all(n == m or 1 in (n, m) for n, m in zip(a.shape[::-1], b.shape[::-1], strict=False))


def _grow(draw: Draw, program: Random) -> None:
    """One more statement."""
    a = draw(st.sampled_from(program.nodes[-3:] + program.nodes[:2]))
    kinds = [_one, _two, _loss, _product]
    match len(a.shape):
        case 0:
            tables = [SMOOTH, BENT]
        case 1:
            tables, kinds = (
                [SMOOTH, BENT, VECTOR, VECTOR, ANY],
                [*kinds, _along, _along, _along] if len(a.value) > 1 else kinds,
            )
        case 2:
            tables, kinds = [SMOOTH, BENT, MATRIX, MATRIX, ANY], [*kinds, _along, _along, _along]
        case _:
            tables, kinds = [SMOOTH, ANY], [*kinds, _along, _along, _along]
    if draw(st.booleans()):
        _one(draw, program, a, tables)
    else:
        draw(st.sampled_from(kinds))(draw, program, a, tables)


def require_fair(check: Check, program: Random) -> None:
    """No derivative is denied but at a kink; there, only one that exists, over the number that torch picked for it."""
    for finding in check.findings if program.is_at_kink else ():
        assert finding.verdict != "disagree" or "torch put together what it picked" in finding.note, finding
    allowed = {"agree", "inaccurate"}
    if program.is_at_kink:
        allowed |= {"disagree", "kink", "undefined", "unchecked", "nan-trap"}
    assert check.verdict in allowed, check.findings


def _one(draw: Draw, program: Random, a: Node, tables: list[Any]) -> None:
    table = draw(st.sampled_from(tables))
    text, of = draw(st.sampled_from(sorted(table.items())))
    if table is not VECTOR or len(a.value) > 1:
        program.is_at_kink |= table is BENT and bool((a.value == 0).any())
        program.add(text.format(a.name, n=(*a.shape, 0)[0]), of(a.value))


def _two(draw: Draw, program: Random, a: Node, _: list[Any]) -> None:
    b = draw(st.sampled_from([node for node in program.nodes if _fit(a, node)]))
    table = draw(st.sampled_from([PAIRS, MEETING]))
    text, of = draw(st.sampled_from(sorted(table.items())))
    program.is_at_kink |= table is MEETING and bool((a.value == b.value).any() or (b.value == 0).any())
    program.add(text.format(a.name, b.name), of(a.value, b.value))


def _loss(draw: Draw, program: Random, a: Node, _: list[Any]) -> None:
    b = draw(st.sampled_from([node for node in program.nodes if node.shape == a.shape]))
    reduction = draw(st.sampled_from(["none", "mean", "sum"]))
    text, of = draw(st.sampled_from(sorted(LOSSES.items())))
    error = (a.value - b.value).abs()
    program.is_at_kink |= bool(((error == 0) | (error == 1) | (error == 0.5)).any())
    program.add(text.format(a.name, b.name, reduction), of(a.value, b.value, reduction))


def _along(draw: Draw, program: Random, a: Node, _: list[Any]) -> None:
    dim = draw(st.integers(-len(a.shape), len(a.shape) - 1))
    table = draw(st.sampled_from([ALONG, ALONG, EXTREMES]))
    text, of = draw(st.sampled_from(sorted(table.items())))
    sizes = a.value.detach().abs().sort(dim).values
    program.is_at_kink |= table is EXTREMES and bool((sizes.diff(dim=dim) == 0).any() or (sizes == 0).any())
    program.add(text.format(a.name, dim), of(a.value, dim))


def _product(draw: Draw, program: Random, a: Node, _: list[Any]) -> None:
    fitting = [b for b in program.nodes if b.shape and a.shape and a.shape[-1] == b.shape[-2:][0]]
    fitting = [b for b in fitting if len(b.shape) <= 2]
    if fitting:
        b = draw(st.sampled_from(fitting))
        program.add(f"{a.name}@{b.name}", a.value @ b.value)


@st.composite
def programs(draw: Draw, most: int = 7) -> Random:
    """A program of a scalar, a vector, two matrices or fewer, and up to `most` statements."""
    n, m = draw(st.sampled_from([(2, 3), (3, 2), (1, 3), (4, 2), (2, 1)]))
    shapes = {"s": (), "u": (n,), "w": (m,), "A": (m, n), "B": (n, m)}
    names = draw(st.lists(st.sampled_from(sorted(shapes)), min_size=1, max_size=3, unique=True))
    generator = np.random.default_rng(draw(st.integers(0, 2**16)))
    leaves = {
        name: torch.tensor(generator.uniform(-1.6, 1.6, shapes[name]).round(2), dtype=torch.float64, requires_grad=True)
        for name in names
    }
    program = Random(leaves, [Node(name, value) for name, value in leaves.items()])
    for _ in range(draw(st.integers(1, most))):
        _grow(draw, program)
    return program
