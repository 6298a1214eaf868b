"""Random programs for hypothesis, as text for gradcli, which plain torch runs as they grow.

A program is statements `t0 = ...; t1 = ...`, each one operation on what is there, so that it is well-shaped by
construction.  Each node knows whether its point is at a kink (two values that tie, a root of 0), in floating point.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hypothesis.strategies as st
import numpy as np
import torch

from gradcli.results import Check
from tests.language.ops.agreement import value_by_torch

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

    def add(self, text: str) -> None:
        """One more statement, unless its value is out of hand."""
        value = value_by_torch(text, {node.name: node.value for node in self.nodes})
        value = torch.stack(value) if isinstance(value, list) else value
        if value.numel() and value.numel() <= 24 and bool(torch.all(value.abs() < LARGEST)):
            name = f"t{len(self.statements)}"
            self.statements.append(f"{name} = {text}")
            self.nodes.append(Node(name, value))


Draw = Callable[[st.SearchStrategy[Any]], Any]


def _texts(lines: str) -> list[str]:
    """Templates of statements, which torch runs as they stand."""
    return re.split(r"; |\n", lines.strip())


SMOOTH = _texts("""
sin({0}); tanh({0}); exp(-{0}**2); sigmoid({0}); softplus({0}); atan({0}); 0.5*{0} - 1; -{0}; {0}**3
1/(1 + {0}*{0}); sqrt({0}**2 + 1); log1p({0}*{0}); gelu({0}); {0}*{0}.detach()
""")
BENT = "abs({0}); relu({0}); sign({0})*{0}; elu({0}); where({0} > 0, {0}, {0}**2)".split("; ")
"""With a kink at 0."""

PAIRS = "{0} + {1}; {0} - 2*{1}; {0}*{1}; {0}/(1 + {1}**2); lerp({0}, {1}, {0})".split("; ")
MEETING = _texts("""
maximum({0}, {1}); minimum({0}, {1}); where({0} > {1}, {0}*{1}, {0} - {1})
where(({0} <= {1}) & ({1} != 0), {0}, {1}**2)
""")
"""With a kink where the two are equal, or the second is 0."""

MATRIX = _texts("""
{0}.T; diagonal({0}, 1); trace({0}); tril({0}, -1); triu({0}); {0}[:, 0]*2; {0}[-1]; {0}@{0}.T
pad({0}, (1, 0, 0, 1)); roll({0}, (1, -1), (0, 1)); einsum('ij,kj->ik', {0}, {0}); einsum('ij->j', {0})
det({0}@{0}.T + eye({n})); {0}.permute(1, 0)
""")
VECTOR = _texts("""
diag({0}, -1); outer({0}, {0}); dot({0}, {0}); {0}[1:]*{0}[:-1]; {0}[::2]; [{0}, {0}**2]; cat([{0}, {0}[:1]])
pad({0}, (-1, 2), value=0.5); {0}.expand(2, -1); {0}[:, None]
""")
ANY = _texts("""
{0}.flatten(); {0}.unsqueeze(0); {0}.squeeze(); {0}.sum(); mean({0}); prod({0}); {0}.reshape(-1, 1)
{0}/{0}.numel(); logsumexp({0}, dim=0)
""")
ALONG = _texts("""
sum({0}, dim={1}); mean({0}, {1}, keepdim=True); prod({0}, dim={1}); var({0}, dim={1}, correction=0)
softmax({0}, dim={1}); log_softmax({0}, dim={1}); cumsum({0}, dim={1}); cumprod({0}, dim={1}); flip({0}, ({1},))
roll({0}, 2, {1}); cat([{0}, {0}*2], dim={1}); stack([{0}, sin({0})], dim={1})
""")
EXTREMES = _texts("""
amax({0}, dim={1}); amin({0}, dim={1}, keepdim=True); max({0}, dim={1})[0]; norm({0}, p=1, dim={1})
norm({0}, dim={1}); norm({0}, p=inf, dim={1})
""")
"""With a kink where elements tie in absolute value, or are 0."""

LOSSES = _texts("""
mse_loss({0}, {1}, reduction='{2}'); l1_loss({0}, {1}, reduction='{2}'); huber_loss({0}, {1}, reduction='{2}')
smooth_l1_loss({0}, {1}, reduction='{2}', beta=0.5); binary_cross_entropy_with_logits({0}, {1}, reduction='{2}')
""")


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


def _one(draw: Draw, program: Random, a: Node, tables: list[list[str]]) -> None:
    table = draw(st.sampled_from(tables))
    text = draw(st.sampled_from(sorted(table)))
    if table is not VECTOR or len(a.value) > 1:
        program.is_at_kink |= table is BENT and bool((a.value == 0).any())
        program.add(text.format(a.name, n=(*a.shape, 0)[0]))


def _two(draw: Draw, program: Random, a: Node, _: list[list[str]]) -> None:
    b = draw(st.sampled_from([node for node in program.nodes if _fit(a, node)]))
    table = draw(st.sampled_from([PAIRS, MEETING]))
    text = draw(st.sampled_from(sorted(table)))
    program.is_at_kink |= table is MEETING and bool((a.value == b.value).any() or (b.value == 0).any())
    program.add(text.format(a.name, b.name))


def _loss(draw: Draw, program: Random, a: Node, _: list[list[str]]) -> None:
    b = draw(st.sampled_from([node for node in program.nodes if node.shape == a.shape]))
    reduction = draw(st.sampled_from(["none", "mean", "sum"]))
    text = draw(st.sampled_from(sorted(LOSSES)))
    error = (a.value - b.value).abs()
    program.is_at_kink |= bool(((error == 0) | (error == 1) | (error == 0.5)).any())
    program.add(text.format(a.name, b.name, reduction))


def _along(draw: Draw, program: Random, a: Node, _: list[list[str]]) -> None:
    dim = draw(st.integers(-len(a.shape), len(a.shape) - 1))
    table = draw(st.sampled_from([ALONG, ALONG, EXTREMES]))
    text = draw(st.sampled_from(sorted(table)))
    sizes = a.value.detach().abs().sort(dim).values
    program.is_at_kink |= table is EXTREMES and bool((sizes.diff(dim=dim) == 0).any() or (sizes == 0).any())
    program.add(text.format(a.name, dim))


def _product(draw: Draw, program: Random, a: Node, _: list[list[str]]) -> None:
    fitting = [b for b in program.nodes if b.shape and a.shape and a.shape[-1] == b.shape[-2:][0]]
    fitting = [b for b in fitting if len(b.shape) <= 2]
    if fitting:
        b = draw(st.sampled_from(fitting))
        program.add(f"{a.name}@{b.name}")


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
