"""Dimensions and elements put elsewhere, and what is put at positions: where NumPy has each."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.language.ops.numpy_truth import Array, Case, Cases, arguments, require


def _put(x: Array, key: Any, values: Array, *, adds: bool = False) -> Array:
    """A copy of x with values at an index, or with them added there."""
    found = np.array(x, dtype=np.result_type(x, values))
    if adds:
        np.add.at(found, key, values)
    else:
        found[key] = values
    return found


def _along(x: Array, index: Any, values: Array, *, adds: bool) -> Array:
    """Along dimension 0."""
    places = np.array(index)
    found = np.array(x, dtype=np.result_type(x, values))
    for at in np.ndindex(places.shape):
        key = (places[at], *at[1:])
        found[key] = values[at] + (found[key] if adds else 0)
    return found


def _largest(values: list[Array]) -> Array:
    return max(values, key=lambda value: value.real)


def _reduced(x: Array, index: Any, src: Array, fold: Callable[[Array, list[Array]], Array]) -> Array:
    """Column by column what is put at each row, with what is there."""
    found, places = (1 * x).astype(np.result_type(x, src)), np.asarray(index)
    for i, j in np.ndindex(x.shape):
        put = [src[n, j] for n in range(len(places)) if places[n, j] == i]
        found[i, j] = fold(x[i, j], put) if put else x[i, j]
    return found


CASES: Cases = {
    "movedim": [
        ("movedim(z, 0, 2)", lambda z: np.moveaxis(z, 0, 2)),
        ("torch.moveaxis(z, (0, 1), (-1, 0))**2", lambda z: np.moveaxis(z, (0, 1), (-1, 0)) ** 2),
    ],
    "narrow": [("narrow(y, 1, 1, 2)", lambda y: y[:, 1:3]), ("x.narrow(-1, -2, 2)", lambda x: x[:, 1:])],
    "select": [("select(z, 1, 2)", lambda z: z[:, 2]), ("x.select(0, -1)*u", lambda x, u: x[-1] * u)],
    "expand_as": [("expand_as(row, x)*x", lambda row, x: row * x), ("u.expand_as(x)", lambda u, x: u + 0 * x)],
    "reshape_as": [("x.view_as(k.T)*k.T", lambda x, k: x.reshape(3, 2) * k.T)],
    "sum_to_size": [
        ("x.sum_to_size(1, 3)", lambda x: x.sum(0, keepdims=True)),
        ("x.sum_to_size(3)", lambda x: x.sum(0)),
        ("x.sum_to_size((2, 3))", lambda x: x),
    ],
    "permute_axes": [
        ("permute_axes(z)", lambda z: z.T),
        ("np.transpose(z, (2, 0, 1))*2", lambda z: 2 * z.transpose(2, 0, 1)),
    ],
    "flip_axes": [("flip_axes(y)*y", lambda y: np.flip(y) * y), ("np.flip(z, (0, 2))", lambda z: np.flip(z, (0, 2)))],
    "pad_with_elements": [
        ("F.pad(x, (1, 2), mode='reflect')", lambda x: np.pad(x, ((0, 0), (1, 2)), mode="reflect")),
        ("F.pad(z, (1, 0, 2, 1), 'replicate')", lambda z: np.pad(z, ((0, 0), (2, 1), (1, 0)), mode="edge")),
        ("F.pad(x, (3, 2), mode='circular')*2", lambda x: 2 * np.pad(x, ((0, 0), (3, 2)), mode="wrap")),
    ],
    "fliplr": [("fliplr(x)*x", lambda x: x[:, ::-1] * x)],
    "flipud": [("torch.flipud(y)", lambda y: y[::-1])],
    "rot90": [
        ("rot90(x)", lambda x: np.rot90(x)),
        ("torch.rot90(z, 3, [0, 2])", lambda z: np.rot90(z, 3, (0, 2))),
        ("rot90(x, -2)", lambda x: np.rot90(x, -2)),
    ],
    "diag_embed": [
        ("diag_embed(x)", lambda x: np.stack([np.diag(r) for r in x])),
        ("torch.diag_embed(u, offset=-1)", lambda u: np.diag(u, -1)),
        ("diag_embed(x, 1, 0, 2)", lambda x: np.stack([np.diag(r, 1) for r in x], 1)),
    ],
    "diagflat": [("diagflat(x)", lambda x: np.diagflat(x)), ("diagflat(u, 2)", lambda u: np.diagflat(u, 2))],
    "unflatten": [
        ("unflatten(y, 1, (2, -1))", lambda y: y.reshape(3, 2, 2)),
        ("v.unflatten(0, (2, 2))", lambda v: v.reshape(2, 2)),
    ],
    "as_strided": [
        ("torch.as_strided(y, (2, 2), (4, 1), 1)", lambda y: y[:2, 1:3]),
        ("v.as_strided((2, 3), (1, 1))", lambda v: np.stack([v[:3], v[1:]])),
    ],
    "index_add": [
        ("index_add(x, 1, [2, 0, 2], k)", lambda x, k: _put(x.T, [2, 0, 2], k.T, adds=True).T),
        ("u.index_add(0, [1, 1], w[:2], alpha=2)", lambda u, w: _put(u, [1, 1], 2 * w[:2], adds=True)),
    ],
    "index_copy": [("index_copy(x, 1, [2, 0], C)", lambda x, C: _put(x.T, [2, 0], C.T).T)],
    "index_fill": [("index_fill(x, 1, [2, 0], a)", lambda x, a: _put(x.T, [2, 0], a + 0 * x.T[:2]).T)],
    "scatter_add": [
        ("scatter_add(u, 0, [2, 0, 2], w)", lambda u, w: _put(u, [2, 0, 2], w, adds=True)),
        ("x.scatter_add(0, [[1, 0, 1]], k)", lambda x, k: _along(x, [[1, 0, 1]], k, adds=True)),
        ("y.scatter_add(0, [[2, 0]], y**2)", lambda y: _along(y, [[2, 0]], y**2, adds=True)),
    ],
    "scatter": [
        ("scatter(x, 0, [[1, 0, 1]], k)", lambda x, k: _along(x, [[1, 0, 1]], k, adds=False)),
    ],
    "put": [("x.put([4, 0], w[:2])", lambda x, w: _put(x.ravel(), [4, 0], w[:2]).reshape(2, 3))],
    "scatter_reduce": [
        ("scatter_reduce(u, 0, [2, 0, 2], w, 'sum')", lambda u, w: np.stack([u[0] + w[1], u[1], u[2] + w[0] + w[2]])),
        (
            "x.scatter_reduce(0, [[1, 0, 1]], k, 'mean', include_self=False)",
            lambda x, k: _reduced(x, [[1, 0, 1]], k, lambda _, put: sum(put) / len(put)),
        ),
        (
            "torch.scatter_reduce(x, 1, [[1, 0, 1], [2, 2, 0]], k, reduce='amax')",
            lambda x, k: (
                _reduced(x.T, np.array([[1, 0, 1], [2, 2, 0]]).T, k.T, lambda own, put: _largest([own, *put])).T
            ),
        ),
        (
            "scatter_reduce(x, 0, [[1, 0, 1]], k, 'prod', include_self=False)",
            lambda x, k: _reduced(x, [[1, 0, 1]], k, lambda _, put: np.prod(put)),
        ),
    ],
    "masked_scatter": [
        (
            "x.masked_scatter([[True, False, True], [False, True, False]], w)",
            lambda x, w: _put(x, ([0, 0, 1], [0, 2, 1]), w),
        ),
    ],
    "slice_scatter": [
        ("slice_scatter(y, M[:, :2], 1, 0, 4, 2)", lambda y, M: _put(y, (slice(None), slice(0, 4, 2)), M[:, :2]))
    ],
    "select_scatter": [("select_scatter(x, w, 0, -1)", lambda x, w: _put(x, -1, w))],
    "diagonal_scatter": [("diagonal_scatter(M, w[:2], 1)", lambda M, w: _put(M, ([0, 1], [1, 2]), w[:2]))],
}


OMITTED: dict[str, str] = {}
"""Texts without a formula, and why."""


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_rearranged(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula, but where more than sixteen places are listed."""
    require(op, case, OMITTED)
