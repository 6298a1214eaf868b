"""Torch computes the function as typed: the same numbers as the same code in plain torch, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from gradcli.autodiff import jacobians
from gradcli.autodiff.run import run
from gradcli.language import ops
from gradcli.language.parsing import parse

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
    torch.mul(x, a)
    torch.pow(p, w)
    x/x + (x - x)*w
    2**x - x/3 + 0*w
    torch.exp(x)
    torch.log(p)
    torch.sqrt(p)
    torch.exp2(x)
    torch.expm1(x)
    torch.log1p(p)
    torch.log2(p)
    torch.log10(p)
    torch.square(x)
    torch.rsqrt(p)
    torch.reciprocal(x)
    torch.sin(x)
    torch.cos(x)
    torch.tan(x)
    torch.asin(p)
    torch.acos(p)
    torch.atan(x)
    torch.atan2(x, w)
    torch.sinc(x)
    torch.deg2rad(x)
    torch.rad2deg(x)
    torch.sinh(x)
    torch.cosh(x)
    torch.tanh(x)
    torch.asinh(x)
    torch.acosh(p + 1)
    torch.atanh(p)
    torch.erf(x)
    torch.erfc(x)
    torch.erfinv(p)
    torch.lgamma(x)
    torch.digamma(x)
    torch.polygamma(2, p)
    torch.special.i0(x)
    torch.special.i1(x)
    torch.special.ndtr(x)
    torch.hypot(x, w)
    torch.logaddexp(x, w)
    torch.special.xlogy(x, p)
    torch.logit(p)
    torch.sigmoid(x)
    torch.relu(x)
    F.relu6(3*x)
    F.softplus(x)
    F.logsigmoid(x)
    F.silu(x)
    F.gelu(x)
    F.gelu(x, approximate='tanh')
    F.leaky_relu(x, 0.2)
    F.elu(x, alpha=0.5)
    torch.selu(x)
    F.hardtanh(x, -0.5, 0.75)
    F.hardsigmoid(x)
    F.hardswish(x)
    F.mish(x)
    F.tanhshrink(x)
    F.softsign(x)
    torch.abs(x)*x
    torch.sign(x)*x
    torch.floor(x)*x
    torch.ceil(x)*x
    torch.trunc(x)*x
    torch.round(x)*x
    torch.frac(x)
    torch.maximum(x, w)*torch.minimum(x, w)
    torch.fmod(x, w)
    torch.remainder(x, w)
    torch.clamp(x, 0, 1)
    x.clamp(min=0.5)*x.clamp(max=0.5)
    torch.where(x > w, x**2, x*w)
    torch.where((x >= 0.3) & (x != 2.5), x, w)
    torch.where((x < 0) | (x == 2.5) | ~(w <= 1.5), x, w**2)
    torch.lerp(x, w, a)
    torch.masked_fill(x, x > 1, -2)
    x.masked_fill(x < w, 0.5)*w
    torch.zeros_like(x) + torch.ones_like(w)*x
    x*x.detach()
    x*x - x.clone()
    (x*x*w).sum(1)
    x.sum()*x.mean()
    x.mean((0, 1), keepdim=True)*w[None]
    torch.prod(x)
    x.prod(dim=0)
    torch.amax(z, dim=(0, 2))
    torch.amin(x, 1, keepdim=True)
    x.max()*x.min(1)[0]
    torch.max(x, dim=0).values
    x.var()
    torch.var(z, dim=(0, 1), correction=0)
    x.std(1, keepdim=True)
    torch.linalg.vector_norm(x)
    x.norm(p=1, dim=0)
    torch.linalg.vector_norm(z, ord=3, dim=(0, 2))
    torch.cumsum(x, 1)
    torch.cumprod(x, 0)
    torch.logsumexp(z, dim=(0, 2))
    torch.softmax(x, 1)
    F.softmax(z, dim=0)
    F.log_softmax(x, dim=1)
    x@w + x.T[0, 0]
    torch.matmul(x, z)
    x.mm(y)
    torch.dot(w, w*w)
    torch.outer(w, w)
    F.cosine_similarity(x, 2*x + w)
    F.cosine_similarity(w, w**2, dim=0)
    torch.einsum('ij,j->i', x, w)
    torch.einsum('bi,ij,bij->j', x, y, z)
    F.linear(w, x)
    torch.trace(x@x.T)
    torch.linalg.det(M)
    torch.linalg.matrix_exp(M)
    torch.linalg.eigvalsh(M@M.T)
    torch.logdet(M@M.T)
    torch.linalg.inv(M)
    torch.linalg.solve(M, y)
    torch.linalg.solve(M, w)
    torch.stack([x.sum(), (w**2).mean()])
    torch.stack([x, p], dim=-1)
    torch.cat([x, y.T[:2], x[:1]], dim=0)
    x[:, ::2].reshape(-1)[1:]*w
    z[..., -1, None]*z[1, 0, 2]
    x.transpose(0, 1)[..., 0]
    z.permute(2, 0, 1)
    torch.permute(x, (1, 0))
    x.view(3, 2)
    z.flatten(1)
    torch.squeeze(x[:1])
    z[:, :1].squeeze(1)
    w.unsqueeze(-1)*x[0]
    w.expand(2, 3)
    x.flip(0, 1)
    torch.flip(z, dims=(1,))
    torch.roll(z, (1, -2), (0, 2))
    torch.roll(x, 2)
    F.pad(y, (-1, 2, 0, 1), value=0.5)
    torch.diag(w, 1)
    torch.diag(y)
    torch.diagonal(z, 1, 0, 2)
    torch.tril(y, -1)
    torch.triu(y, diagonal=1)
    x.sum()/x.numel() + x*x.shape[0] + x.size(1)
    torch.arange(3)*x
    x@torch.ones(3) + torch.zeros(2)
    torch.full((3,), 0.5)*x
    torch.eye(2)@x
    F.mse_loss(x, p)
    F.l1_loss(x, p, reduction='sum')
    F.smooth_l1_loss(x, p, beta=0.5)
    F.huber_loss(x, p, reduction='none', delta=0.5)
    F.binary_cross_entropy(p, torch.sigmoid(x))
    F.binary_cross_entropy_with_logits(x, p)
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


def test_every_primitive_is_run() -> None:
    """At least once; the truths of the table run the others."""
    primitives = {name for name, op in ops.TABLE.items() if op.is_primitive}
    assert primitives <= {line.call.op.name for text, _ in PLAIN for line in parse(text).lines}


def test_integers_beyond_64_bits_are_floats() -> None:
    """Torch takes no more."""
    forward = run(parse("x*10**30"), {"x": np.array(2.0)}, ("x",), "float64")
    assert float(jacobians.value(forward)) == 2e30


def test_only_the_variables_asked_for_require_a_gradient() -> None:
    """The others are constants."""
    forward = run(parse("x*w"), {"x": POINT["w"], "w": POINT["w"]}, ("w",), "float64")
    assert [forward.leaves[name].requires_grad for name in ("x", "w")] == [False, True]
