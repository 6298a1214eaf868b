"""Lists, views, indices, shifts, counts and constant tensors: where each element goes."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.language.ops.numpy_truth import Array, Case, Cases, arguments, require


def _padded(x: Array, *pairs: tuple[int, int], value: float = 0) -> Array:
    """NumPy's order of the pairs; negative ones take elements away."""
    for axis, (before, after) in enumerate(pairs):
        x = np.moveaxis(x, axis, 0)
        x = x[max(0, -before) : len(x) - max(0, -after)]
        ends = [np.full((max(0, n), *x.shape[1:]), value) for n in (before, after)]
        x = np.moveaxis(np.concatenate([ends[0], x, ends[1]]), 0, axis)
    return x


CASES: Cases = {
    "stack": [
        ("[u, w**2]", lambda u, w: np.stack([u, w**2])),
        ("stack([x, k], dim=1)", lambda x, k: np.stack([x, k], 1)),
        ("torch.stack((x, k, x*k), -1)", lambda x, k: np.stack([x, k, x * k], -1)),
        ("[a, u, 2]", lambda a, u: np.stack([a * np.ones(3), u, np.full(3, 2.0)])),
        ("[[a, b], [a*b, 1], [0, a]]", lambda a, b: np.array([[a, b], [a * b, 1], [0, a]])),
        ("[u*n for n in range(1, 4)]", lambda u: np.stack([u, 2 * u, 3 * u])),
    ],
    "cat": [
        ("cat([u, v**2, u])", lambda u, v: np.concatenate([u, v**2, u])),
        ("cat([x, row])", lambda x, row: np.concatenate([x, row])),
        ("torch.cat((x, column*k, column), dim=1)", lambda x, column, k: np.concatenate([x, column * k, column], 1)),
        ("cat([z, z[..., :1]], -1)*a", lambda z, a: np.concatenate([z, z[..., :1]], -1) * a),
        ("np.concatenate([x, k], axis=-2)", lambda x, k: np.concatenate([x, k])),
        ("cat([x.view(-1), v])", lambda x, v: np.concatenate([x.ravel(), v])),
    ],
    "index": [
        ("x[1]", lambda x: x[1]),
        ("x[-1, 0]*u", lambda x, u: x[-1, 0] * u),
        ("y[1:, ::2]", lambda y: y[1:, ::2]),
        ("z[..., -3:-1]", lambda z: z[..., -3:-1]),
        ("z[:, None, 1]", lambda z: z[:, None, 1]),
        ("u[None]*v[:, None]", lambda u, v: u[None] * v[:, None]),
        ("z[0][1:]*z[1, :2]", lambda z: z[0][1:] * z[1, :2]),
        ("y[1:3].sum() + y[5:].sum()", lambda y: y[1:3].sum()),
    ],
    "transpose": [
        ("x.T", lambda x: x.T),
        ("x.t()*y[:, :2]", lambda x, y: x.T * y[:, :2]),
        ("z.transpose(0, 2)", lambda z: z.swapaxes(0, 2)),
        ("transpose(z, -1, 1)*a", lambda z, a: z.swapaxes(1, 2) * a),
        ("z.mT", lambda z: z.swapaxes(1, 2)),
        ("torch.swapaxes(z, 0, 1)", lambda z: z.swapaxes(0, 1)),
    ],
    "permute": [
        ("z.permute(2, 0, 1)", lambda z: z.transpose(2, 0, 1)),
        ("permute(z, (1, -1, 0))**2", lambda z: z.transpose(1, 2, 0) ** 2),
        ("torch.permute(x, dims=(1, 0))", lambda x: x.T),
    ],
    "reshape": [
        ("x.view(3, 2)", lambda x: x.reshape(3, 2)),
        ("x.reshape(-1)", lambda x: x.ravel()),
        ("z.view(4, -1)**2", lambda z: z.reshape(4, 6) ** 2),
        ("reshape(y, (2, 1, 6))", lambda y: y.reshape(2, 1, 6)),
        ("x.T.reshape(2, 3)*x", lambda x: x.T.reshape(2, 3) * x),
        ("a.view(1, 1)*x", lambda a, x: a * x),
    ],
    "flatten": [
        ("flatten(x)", lambda x: x.ravel()),
        ("z.flatten(1)", lambda z: z.reshape(2, 12)),
        ("torch.flatten(z, 0, 1)*v", lambda z, v: z.reshape(6, 4) * v),
        ("flatten(z, start_dim=-2, end_dim=-1)", lambda z: z.reshape(2, 12)),
        ("a.flatten()", lambda a: a.reshape(1)),
        ("np.ravel(y)**2", lambda y: y.ravel() ** 2),
    ],
    "squeeze": [
        ("row.squeeze()", lambda row: row[0]),
        ("squeeze(column, 1)*x.T", lambda column, x: column[:, 0] * x.T),
        ("x[:, None].squeeze(dim=-2)", lambda x: x),
        ("x.squeeze(0)*2", lambda x: 2 * x),
        ("one.squeeze()*u", lambda one, u: one * u),
    ],
    "unsqueeze": [
        ("u.unsqueeze(1)*v", lambda u, v: u[:, None] * v),
        ("unsqueeze(x, dim=-1)", lambda x: x[..., None]),
        ("torch.unsqueeze(x, -2)*y[:2, :3]", lambda x, y: x[:, None] * y[:2, :3]),
        ("np.expand_dims(a, 0)", lambda a: a[None]),
    ],
    "expand": [
        ("expand(u, 2, 3)", lambda u: u * np.ones((2, 3))),
        ("column.expand(-1, 3)*x", lambda column, x: column * x),
        ("row.expand(4, -1)", lambda row: row * np.ones((4, 1))),
        ("one.expand(5)", lambda one: one * np.ones(5)),
        ("np.broadcast_to(u, (2, 4, 3))", lambda u: u * np.ones((2, 4, 1))),
        ("a.expand(2, 3)*x", lambda a, x: a * x),
    ],
    "flip": [
        ("flip(u, 0)*u", lambda u: u[::-1] * u),
        ("x.flip(0, 1)", lambda x: x[::-1, ::-1]),
        ("torch.flip(z, dims=(-1,))", lambda z: z[..., ::-1]),
        ("flip(z, (0, 2))**2", lambda z: z[::-1, :, ::-1] ** 2),
    ],
    "roll": [
        ("roll(u, 1)*u", lambda u: np.roll(u, 1) * u),
        ("roll(y, -1, 0)", lambda y: np.roll(y, -1, 0)),
        ("torch.roll(z, (1, -2), (0, 2))*z", lambda z: np.roll(z, (1, -2), (0, 2)) * z),
        ("roll(v, shifts=9, dims=0)", lambda v: np.roll(v, 9)),
        ("roll(x, 2)*x", lambda x: np.roll(x, 2) * x),
        ("y.roll(3, dims=-1)", lambda y: np.roll(y, 3, -1)),
    ],
    "pad": [
        ("pad(u, (1, 2))", lambda u: _padded(u, (1, 2))),
        ("F.pad(x, (0, 1, 2, 0))**2", lambda x: _padded(x, (2, 0), (0, 1)) ** 2),
        ("pad(y, (-1, 2), value=0.5)*a", lambda y, a: _padded(y, (0, 0), (-1, 2), value=0.5) * a),
        ("pad(y, (-2, -1, 1, -1))", lambda y: _padded(y, (1, -1), (-2, -1))),
        ("pad(z, (1, 0), mode='constant', value=-3)", lambda z: _padded(z, (0, 0), (0, 0), (1, 0), value=-3)),
        ("pad(z, (0, 0, 0, 0, 1, 1))", lambda z: _padded(z, (1, 1), (0, 0), (0, 0))),
    ],
    "diag": [
        ("diag(u)", lambda u: np.diag(u)),
        ("diag(u, 1)@v", lambda u, v: np.diag(u, 1) @ v),
        ("u.diag(diagonal=-2)", lambda u: np.diag(u, -2)),
        ("diag(u, 7)", lambda u: np.diag(u, 7)),
        ("diag(y)**2", lambda y: np.diag(y) ** 2),
        ("torch.diag(y, 2)", lambda y: np.diag(y, 2)),
        ("diag(y, -1)", lambda y: np.diag(y, -1)),
        ("np.diag(y, k=1)", lambda y: np.diag(y, 1)),
    ],
    "diagonal": [
        ("diagonal(x)", lambda x: np.diagonal(x)),
        ("y.diagonal(-2)", lambda y: np.diagonal(y, -2)),
        ("diagonal(z, 1, 0, 2)", lambda z: np.diagonal(z, 1, 0, 2)),
        ("torch.diagonal(z, offset=-1, dim1=-1, dim2=1)**2", lambda z: np.diagonal(z, -1, 2, 1) ** 2),
        ("diagonal(z, dim1=1, dim2=2)", lambda z: np.diagonal(z, 0, 1, 2)),
    ],
    "tril": [
        ("tril(x)", lambda x: np.tril(x)),
        ("tril(y, 1)*v", lambda y, v: np.tril(y, 1) * v),
        ("z.tril(-1)", lambda z: np.tril(z, -1)),
    ],
    "triu": [
        ("triu(y)", lambda y: np.triu(y)),
        ("torch.triu(x, diagonal=1)@y", lambda x, y: np.triu(x, 1) @ y),
        ("z.triu(-2)**2", lambda z: np.triu(z, -2) ** 2),
    ],
    "count": [
        ("x.sum()/x.numel()", lambda x: x.sum() / 6),
        ("x*x.size(0) + x.size(-1)", lambda x: x * 2 + 3),
        ("z.sum(2)/z.shape[2]", lambda z: z.sum(2) / 4),
        ("v.sum()/len(v)", lambda v: v.sum() / 4),
        ("numel(z)*a", lambda z, a: 24 * a + 0 * z.sum()),
        ("y.sum(0)/y.shape[0]", lambda y: y.sum(0) / 3),
    ],
    "linspace": [
        ("linspace(-1, 2, 4)*v", lambda v: np.linspace(-1, 2, 4) * v),
        ("y*torch.linspace(0, 1, steps=4)", lambda y: y * np.linspace(0, 1, 4)),
    ],
    "arange": [
        ("arange(3)*x", lambda x: np.arange(3) * x),
        ("x@arange(1, 4)", lambda x: x @ np.arange(1, 4)),
        ("v**torch.arange(0.5, 4.5).floor()", lambda v: v ** np.arange(4)),
        ("arange(6, 0, -2)*u", lambda u: np.array([6, 4, 2]) * u),
        ("arange(6).view(2, 3)*x", lambda x: np.arange(6).reshape(2, 3) * x),
    ],
    "zeros": [
        ("cat([u, zeros(2)])", lambda u: np.append(u, [0, 0])),
        ("u + zeros(2, 3)", lambda u: u + np.zeros((2, 3))),
    ],
    "ones": [("ones(2, 2)@x", lambda x: np.ones((2, 2)) @ x), ("x@torch.ones(3)", lambda x: x.sum(1))],
    "full": [
        ("full((2, 1), 0.5)*u", lambda u: np.full((2, 1), 0.5) * u),
        ("torch.full((3,), pi)@u", lambda u: math.pi * u.sum()),
    ],
    "eye": [
        ("x@eye(3)", lambda x: x),
        ("a*eye(2, 3) + x", lambda a, x: a * np.eye(2, 3) + x),
        ("sum(C*torch.eye(2))", lambda C: C[0, 0] + C[1, 1]),
    ],
    "randn": [
        ("randn(4, 2)@x", lambda x: np.random.default_rng(0).standard_normal((4, 2)) @ x),
        ("randn(3, seed=7)*u", lambda u: np.random.default_rng(7).standard_normal(3) * u),
    ],
    "rand": [("rand((2, 3), seed=3)*x", lambda x: np.random.default_rng(3).random((2, 3)) * x)],
}

OMITTED = {
    "roll(x, 2)*x": "no closed form",
}
"""Texts without a formula, and why."""


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_structure(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, OMITTED)
