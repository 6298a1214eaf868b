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


@dataclass(frozen=True)
class Table:
    """Templates of statements that torch runs as they stand: of {0}, and of a second tensor {1} that fits it.

    Attributes:
        lines: The templates; {dim} is one of its dimensions, {n} its first size, {reduction} a word.
        fits: Tells whether the second may go with the first.
        bends: Tells whether the values of both lie at a kink along a dimension.
    """

    lines: str
    fits: Callable[[Node, Node], bool] = lambda a, b: True
    bends: Callable[[Tensor, Tensor, int], Any] = lambda a, b, dim: False

    @property
    def texts(self) -> list[str]:
        """Its templates."""
        return sorted(re.split(r"; |\n", self.lines.strip()))


def _broadcast(a: Node, b: Node) -> bool:
    return all(n == m or 1 in (n, m) for n, m in zip(a.shape[::-1], b.shape[::-1], strict=False))


def _multiply(a: Node, b: Node) -> bool:
    return len(a.shape) > 0 < len(b.shape) <= 2 and a.shape[-1] == b.shape[-2:][0]


def _has_ties(a: Tensor, _: Tensor, dim: int) -> Any:
    sizes = a.detach().abs().sort(dim).values
    return (sizes.diff(dim=dim) == 0).any() or (sizes == 0).any()


SMOOTH = Table("""
sin({0}); tanh({0}); exp(-{0}**2); sigmoid({0}); softplus({0}); atan({0}); 0.5*{0} - 1; -{0}; {0}**3
1/(1 + {0}*{0}); sqrt({0}**2 + 1); log1p({0}*{0}); gelu({0}); {0}*{0}.detach()
""")
BENT = Table(
    "abs({0}); relu({0}); sign({0})*{0}; elu({0}); where({0} > 0, {0}, {0}**2)", bends=lambda a, b, dim: (a == 0).any()
)
PAIRS = Table("{0} + {1}; {0} - 2*{1}; {0}*{1}; {0}/(1 + {1}**2); lerp({0}, {1}, {0})", _broadcast)
MEETING = Table(
    """
maximum({0}, {1}); minimum({0}, {1}); where({0} > {1}, {0}*{1}, {0} - {1})
where(({0} <= {1}) & ({1} != 0), {0}, {1}**2)
""",
    _broadcast,
    lambda a, b, dim: (a == b).any() or (b == 0).any(),
)
PRODUCT = Table("{0}@{1}", _multiply)
MATRIX = Table("""
{0}.T; diagonal({0}, 1); trace({0}); tril({0}, -1); triu({0}); {0}[:, 0]*2; {0}[-1]; {0}@{0}.T
pad({0}, (1, 0, 0, 1)); roll({0}, (1, -1), (0, 1)); einsum('ij,kj->ik', {0}, {0}); einsum('ij->j', {0})
det({0}@{0}.T + eye({n})); {0}.permute(1, 0)
""")
VECTOR = Table(
    """
diag({0}, -1); outer({0}, {0}); dot({0}, {0}); {0}[1:]*{0}[:-1]; {0}[::2]; [{0}, {0}**2]; cat([{0}, {0}[:1]])
pad({0}, (-1, 2), value=0.5); {0}.expand(2, -1); {0}[:, None]
""",
    lambda a, b: len(a.value) > 1,
)
ANY = Table("""
{0}.flatten(); {0}.unsqueeze(0); {0}.squeeze(); {0}.sum(); mean({0}); prod({0}); {0}.reshape(-1, 1)
{0}/{0}.numel(); logsumexp({0}, dim=0)
""")
ALONG = Table("""
sum({0}, dim={dim}); mean({0}, {dim}, keepdim=True); prod({0}, dim={dim}); var({0}, dim={dim}, correction=0)
softmax({0}, dim={dim}); log_softmax({0}, dim={dim}); cumsum({0}, dim={dim}); cumprod({0}, dim={dim})
flip({0}, ({dim},)); roll({0}, 2, {dim}); cat([{0}, {0}*2], dim={dim}); stack([{0}, sin({0})], dim={dim})
""")
EXTREMES = Table(
    """
amax({0}, dim={dim}); amin({0}, dim={dim}, keepdim=True); max({0}, dim={dim})[0]; norm({0}, p=1, dim={dim})
norm({0}, dim={dim}); norm({0}, p=inf, dim={dim})
""",
    bends=_has_ties,
)
LOSSES = Table(
    """
mse_loss({0}, {1}, reduction='{reduction}'); l1_loss({0}, {1}, reduction='{reduction}')
huber_loss({0}, {1}, reduction='{reduction}'); smooth_l1_loss({0}, {1}, reduction='{reduction}', beta=0.5)
binary_cross_entropy_with_logits({0}, {1}, reduction='{reduction}')
""",
    lambda a, b: a.shape == b.shape,
    lambda a, b, dim: torch.isin((a - b).abs(), torch.tensor([0, 0.5, 1], dtype=a.dtype)).any(),
)


def _grow(draw: Draw, program: Random) -> None:
    """One more statement."""
    a = draw(st.sampled_from(program.nodes[-3:] + program.nodes[:2]))
    one = [SMOOTH, BENT, *{0: [], 1: [VECTOR, VECTOR, ANY], 2: [MATRIX, MATRIX, ANY]}.get(len(a.shape), [ANY])]
    two = [PAIRS, MEETING, LOSSES, PRODUCT]
    along = [ALONG, ALONG, EXTREMES] if a.value.numel() > 1 else []
    table = draw(st.sampled_from(draw(st.sampled_from([one, one, two, along or two]))))
    fitting = [node for node in program.nodes if table.fits(a, node)]
    if fitting:
        b = draw(st.sampled_from(fitting))
        dim = draw(st.integers(-len(a.shape), len(a.shape) - 1)) if table in along else 0
        reduction = draw(st.sampled_from(["none", "mean", "sum"])) if table is LOSSES else ""
        program.is_at_kink |= bool(table.bends(a.value, b.value, dim))
        text = draw(st.sampled_from(table.texts))
        program.add(text.format(a.name, b.name, dim=dim, n=(*a.shape, 0)[0], reduction=reduction))


def require_fair(check: Check, program: Random) -> None:
    """No derivative is denied but at a kink; there, only one that exists, over the number that torch picked for it."""
    for finding in check.findings if program.is_at_kink else ():
        assert finding.verdict != "disagree" or "torch put together what it picked" in finding.note, finding
    allowed = {"agree", "inaccurate", *["cut"] * (".detach()" in program.text)}
    if program.is_at_kink:
        allowed |= {"disagree", "kink", "undefined", "unchecked", "nan-trap"}
    assert check.verdict in allowed, check.findings


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
