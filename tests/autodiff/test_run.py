"""Torch computes the function as typed: the same numbers as the same code in plain torch, bit by bit."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from gradcli import Function
from gradcli.autodiff import jacobians
from gradcli.autodiff.run import run
from gradcli.language import ops
from tests.parsing import parse

POINT: Mapping[str, Any] = {
    "x": np.array([[0.3, -1.2, 2.5], [0.7, 1.1, -0.4]]),
    "w": np.array([1.5, -0.5, 2.0]),
    "p": np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.9]]),
    "y": np.array([[2.0, 1.1, -0.3, 3.0], [1.0, -1.4, 2.1, 0.5], [0.1, 4.0, 1.3, -2.0]]),
    "z": np.round(np.sin(1.7 * np.arange(1, 25)).reshape(2, 3, 4), 2),
    "M": np.array([[2.0, 0.3, -0.5], [0.4, 1.7, 0.2], [-0.6, 0.1, 2.4]]),
    "a": np.array(0.7),
}

AS_TYPED = """
    -x + x**2 - 1/w
    torch.neg(x)*torch.add(x, w)
    torch.sub(x, w)/torch.div(x, w)
    torch.pow(p, w)
    x/x + (x - x)*w
    2**x - x/3 + 0*w
    F.gelu(x, approximate='tanh')
    torch.maximum(x, w)*torch.minimum(x, w)
    x.clamp(min=0.5)*x.clamp(max=0.5)
    torch.where((x >= 0.3) & (x != 2.5), x, w)
    torch.where((x < 0) | (x == 2.5) | ~(w <= 1.5), x, w**2)
    x.masked_fill(x < w, 0.5)*w
    torch.zeros_like(x) + torch.ones_like(w)*x
    x*x.detach() - x.clone()
    (x*x*w).sum(1)
    x.sum()*x.mean()
    x.mean((0, 1), keepdim=True)*w[None]
    x.prod(dim=0)
    torch.amax(z, dim=(0, 2))
    torch.amin(x, 1, keepdim=True)
    x.max()*x.min(1)[0]
    torch.max(x, dim=0).values
    torch.var(z, dim=(0, 1), correction=0)
    x.std(1, keepdim=True)
    x.norm(p=1, dim=0)
    torch.linalg.vector_norm(z, ord=3, dim=(0, 2))
    torch.logsumexp(z, dim=(0, 2))
    F.softmax(z, dim=0)
    x@w + x.T[0, 0]
    torch.matmul(x, z)
    x.mm(y)
    F.cosine_similarity(w, w**2, dim=0)
    torch.einsum('bi,ij,bij->j', x, y, z)
    F.linear(w, x)
    torch.linalg.solve(M, w)
    torch.stack([x, p], dim=-1)
    torch.cat([x, y.T[:2], x[:1]], dim=0)
    x[:, ::2].reshape(-1)[1:]*w
    z[..., -1, None]*z[1, 0, 2]
    x.transpose(0, 1)[..., 0]
    z.permute(2, 0, 1)
    x.view(3, 2)
    z.flatten(1)
    z[:, :1].squeeze(1)
    w.unsqueeze(-1)*x[0]
    w.expand(2, 3)
    x.flip(0, 1)
    torch.roll(z, (1, -2), (0, 2))
    F.pad(y, (-1, 2, 0, 1), value=0.5)
    torch.diag(w, 1)
    torch.diagonal(z, 1, 0, 2)
    torch.triu(y, diagonal=1)
    x.sum()/x.numel() + x*x.shape[0] + x.size(1)
    torch.arange(3)*x
    x@torch.ones(3) + torch.zeros(2)
    torch.full((3,), 0.5)*x
    torch.eye(2)@x
    F.l1_loss(x, p, reduction='sum')
    F.huber_loss(x, p, reduction='none', delta=0.5)
    F.binary_cross_entropy(p, torch.sigmoid(x))
    F.cross_entropy(x, p)
"""
"""Valid in Python, which evaluates the same text."""

PAIRS: list[tuple[str, Callable[..., Any]]] = [
    ("sec(x)", lambda x: 1 / torch.cos(x)),
    ("csc(x)", lambda x: 1 / torch.sin(x)),
    ("cot(x)", lambda x: 1 / torch.tan(x)),
    ("x // w", lambda x, w: torch.floor(x / w)),  # torch has no derivative of its floor_divide
    ("linear(x, y.T, y[0])", lambda x, y: x @ y + y[0]),
    ("maximum(x, w)*sigmoid(x) + relu(w)", lambda x, w: torch.maximum(x, w) * torch.sigmoid(x) + torch.relu(w)),
    ("transpose(x, 0, 1)[..., 0] + hypot(w, 2)[:2, None]", lambda x, w: x.T[..., 0] + _hypot2(w)[:2, None]),
    ("r = x@w - p[:, 0]; (r*r).sum()", lambda x, w, p: ((x @ w - p[:, 0]) * (x @ w - p[:, 0])).sum()),
    ("[x.sum(), a, 2]", lambda x, a: torch.stack([x.sum(), a, torch.tensor(2.0, dtype=x.dtype)])),
    ("x.max(0)*2", lambda x: x.max(0).values * 2),
    ("prod(z, dim=(0, 2))", lambda z: z.prod(2).prod(0)),
    ("windows(z, 2, 2, 1, 2)", lambda z: z.unfold(2, 3, 1)[..., ::2]),
    ("cummax(w, 0)*w", lambda w: w.cummax(0).values * w),
    ("cummin(w, 0)*w", lambda w: w.cummin(0).values * w),
    ("amax(x)*w", lambda x, w: x.amax() * w),
    ("sum(a)", lambda a: a.sum()),
    ("linspace(0, 1, 3)*x", lambda x: torch.tensor(np.linspace(0, 1, 3), dtype=x.dtype) * x),
    ("randn(3, seed=1)*x", lambda x: torch.tensor(np.random.default_rng(1).standard_normal(3), dtype=x.dtype) * x),
    ("rand(3, seed=1)*x", lambda x: torch.tensor(np.random.default_rng(1).random(3), dtype=x.dtype) * x),
    ("leaky_relu(x, a)", lambda x, a: torch.where(x > 0, x, a * x)),
    ("sum(x**n for n in range(3))", lambda x: x**0 + x**1 + x**2),
    ("x if a > 0 else w", lambda x, a, w: torch.where(a > 0, x, w)),
]


def _hypot2(w: Any) -> Any:
    return torch.hypot(w, torch.tensor(2.0, dtype=w.dtype))


def _typed() -> Iterator[tuple[str, Callable[..., Any]]]:
    for line in AS_TYPED.strip().splitlines():
        code = compile(line.strip(), "<text>", "eval")
        yield line.strip(), lambda code=code, **at: eval(code, {"torch": torch, "F": functional, **at})


PLAIN = [*_typed(), *PAIRS]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("text", "plain"), PLAIN, ids=[text for text, _ in PLAIN])
def test_value_and_gradient_are_bitwise_those_of_plain_torch(
    text: str, plain: Callable[..., Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not close: equal."""
    program = parse(text)
    names = program.names
    kind = getattr(torch, dtype)
    forward = run(program, {name: POINT[name] for name in names}, names, dtype)
    leaves = {name: torch.tensor(POINT[name], dtype=kind, requires_grad=True) for name in names}
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        y = plain(**leaves)
    finally:
        torch.set_default_dtype(before)
    np.testing.assert_array_equal(jacobians.value(forward), y.detach().numpy(), strict=True)
    v = np.arange(1.0, y.numel() + 1).reshape(tuple(y.shape))
    gradients = torch.autograd.grad(y, list(leaves.values()), torch.tensor(v, dtype=kind), allow_unused=True)
    found = jacobians.vjp(forward, v.astype(dtype), names)
    for name, expected in zip(names, gradients, strict=True):
        np.testing.assert_array_equal(found[name], 0 if expected is None else expected.numpy())


OTHERWISE = {"renorm", "eigh", "linalg_svd", "svd", "lstsq", "slogdet", "householder_product", "qr"}
"""Operations that are made of others here, or of which Python takes one part of several."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_worked_examples_are_bitwise_those_of_plain_torch(dtype: Any) -> None:
    """Of every operation whose example Python evaluates as it stands, torch's functions having its names."""
    functions: dict[str, Any] = {}
    for name, op in ops.TABLE.items():
        with suppress(AttributeError):
            functions[name] = operator.attrgetter(op.torch or "none")(torch)
    found, others = set[str](), set[str]()
    for name, op in ops.TABLE.items():
        text, at = op.worked_example
        answer = Function(text).vjp(at, "ones", dtype=dtype, check=False)
        leaves = {one: torch.tensor(array, requires_grad=True) for one, array in answer.inputs.items()}
        with suppress(NameError, TypeError, RuntimeError, AttributeError):
            y = eval(text, functions, leaves)
            y.backward(torch.ones_like(y))
            gradients = [
                torch.zeros_like(leaves[one]) if leaves[one].grad is None else leaves[one].grad for one in answer.wrt
            ]
            same = map(np.array_equal, [answer.value, *answer.vjp.values()], [one.detach() for one in (y, *gradients)])
            (found if all(same) else others).add(name)
    assert others <= OTHERWISE
    assert len(found) > 0.75 * len(ops.TABLE)
    primitives = {name for name, op in ops.TABLE.items() if op.is_primitive}
    assert primitives <= found | {line.call.op.name for text, _ in PLAIN for line in parse(text).lines}


def test_integers_beyond_64_bits_are_floats() -> None:
    """Torch takes no more."""
    forward = run(parse("x*10**30"), {"x": np.array(2.0)}, ("x",), "float64")
    assert float(jacobians.value(forward)) == 2e30
