"""Tensors that are cut, joined and repeated: each piece is where NumPy, or a list of Python, has it."""

# ruff: noqa: PLW0108 -- the parameters of a lambda name the variables

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.language.ops.numpy_truth import POINT, Case, Cases, arguments, require


def _block_diag(*blocks: np.ndarray) -> np.ndarray:
    whole = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)), dtype=np.result_type(*blocks))
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole


CASES: Cases = {
    "chunk": [
        ("v.chunk(3)[1]**2", lambda v: v[2:4] ** 2),
        ("torch.chunk(z, 2, dim=-1)[0]*z[..., 2:]", lambda z: z[..., :2] * z[..., 2:]),
        ("sum(x.chunk(2))", lambda x: x[:1] + x[1:]),
        ("y.chunk(2)[-1]", lambda y: y[2:]),
    ],
    "split": [
        ("split(v, 3)[1]", lambda v: v[3:]),
        ("y.split([1, 3], dim=1)[1]**2", lambda y: y[:, 1:] ** 2),
        ("np.split(v, 2)[1]", lambda v: v[2:]),
        ("parts = y.split(1); parts[0]*parts[2]", lambda y: y[:1] * y[2:]),
    ],
    "tensor_split": [
        ("tensor_split(v, 3)[0]", lambda v: v[:2]),
        ("torch.tensor_split(y, (1, 3), dim=1)[1]", lambda y: y[:, 1:3]),
        ("np.array_split(u, 2)[1]", lambda u: u[2:]),
    ],
    "unbind": [
        ("x.unbind()[1]*w", lambda x, w: x[1] * w),
        ("torch.stack(x.unbind(1))", lambda x: x.T),
        ("sum(row.sum()**2 for row in x.unbind(0))", lambda x: (x.sum(1) ** 2).sum()),
        ("[column.prod() for column in torch.unbind(x, dim=1)]", lambda x: x.prod(0)),
    ],
    "hsplit": [("hsplit(v, 2)[1]", lambda v: v[2:]), ("y.hsplit((1,))[1]**2", lambda y: y[:, 1:] ** 2)],
    "vsplit": [("vsplit(y, 3)[2]", lambda y: y[2:])],
    "dsplit": [("torch.dsplit(z, 2)[0]", lambda z: z[..., :2])],
    "hstack": [
        ("hstack([u, w**2])", lambda u, w: np.hstack([u, w**2])),
        ("torch.hstack((x, column))", lambda x, column: np.hstack([x, column])),
        ("hstack([a, u])", lambda a, u: np.hstack([a, u])),
    ],
    "vstack": [
        ("vstack([u, w**2, x])", lambda u, w, x: np.vstack([u, w**2, x])),
        ("torch.vstack((a, b))", lambda a, b: np.vstack([a, b])),
    ],
    "dstack": [
        ("dstack([u, w])", lambda u, w: np.dstack([u, w])),
        ("dstack([x, k**2])", lambda x, k: np.dstack([x, k**2])),
    ],
    "column_stack": [
        ("column_stack([u, w])", lambda u, w: np.column_stack([u, w])),
        ("torch.column_stack((x.T, u))", lambda x, u: np.column_stack([x.T, u])),
    ],
    "block_diag": [
        ("block_diag([x, C**2])", lambda x, C: _block_diag(x, C**2)),
        ("torch.block_diag(u, C)", lambda u, C: _block_diag(u[None], C)),
    ],
    "meshgrid": [
        ("meshgrid([u, v])[0]*a", lambda u, v, a: np.meshgrid(u, v, indexing="ij")[0] * a),
        ("np.meshgrid([u, v])[1]", lambda u, v: np.meshgrid(u, v)[1]),
        ("torch.meshgrid(u, v, indexing='xy')[0]**2", lambda u, v: np.meshgrid(u, v)[0] ** 2),
    ],
    "broadcast_tensors": [
        ("broadcast_tensors([u, column])[1]*x", lambda u, column, x: np.broadcast_to(column, (2, 3)) * x + 0 * u),
        ("torch.broadcast_tensors(u, column)[0]**2", lambda u, column: np.broadcast_to(u, (2, 3)) ** 2 + 0 * column),
    ],
    "cartesian_prod": [
        ("cartesian_prod([u, v])", lambda u, v: np.array([*itertools.product(u, v)])),
        ("torch.cartesian_prod(u, w)[4].prod()", lambda u, w: u[1] * w[1]),
    ],
    "repeat": [
        ("u.repeat(2, 2)", lambda u: np.tile(u, (2, 2))),
        ("x.repeat((1, 3))", lambda x: np.tile(x, (1, 3))),
    ],
    "tile": [
        ("tile(x, 2)", lambda x: np.tile(x, 2)),
        ("np.tile(u, (3, 1))**2", lambda u: np.tile(u, (3, 1)) ** 2),
        ("x.tile(2, 1, 1)", lambda x: np.tile(x, (2, 1, 1))),
    ],
    "repeat_interleave": [
        ("repeat_interleave(u, 2)", lambda u: np.repeat(u, 2)),
        ("x.repeat_interleave(3, dim=0)", lambda x: np.repeat(x, 3, 0)),
        ("np.repeat(x, 2)", lambda x: np.repeat(x, 2)),
    ],
    "atleast_1d": [("atleast_1d(a)**2", lambda a: np.atleast_1d(a) ** 2), ("atleast_1d(x)", lambda x: x)],
    "atleast_2d": [("atleast_2d(u)", lambda u: u[None]), ("torch.atleast_2d(a)", lambda a: np.atleast_2d(a))],
    "atleast_3d": [
        ("atleast_3d(u)", lambda u: np.atleast_3d(u)),
        ("atleast_3d(x)*a", lambda x, a: np.atleast_3d(x) * a),
    ],
}


@pytest.mark.parametrize(("op", "case"), arguments(CASES))
def test_parts(op: str, case: Case) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x.chunk(2) + 1", "chunk gives 2 tensors"),
        ("x.chunk(2)[2]", "chunk gives 2 tensors, counted from 0"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, said: str) -> None:
    """With the sizes in question."""
    f = Function(text)
    with pytest.raises(GradcliError, match=said):
        f.eval({name: POINT[name] for name in f.variables})


def test_several_tensors_of_one_shape_are_a_list() -> None:
    """As [a, b] is; of different shapes they are not."""
    assert Function("x.chunk(2)").eval({"x": POINT["v"]}).value.shape == (2, 2)
    with pytest.raises(GradcliError, match="chunk gives 2 tensors"):
        Function("x.chunk(2)").eval({"x": POINT["u"]})


def test_a_part_that_nobody_takes_is_no_line() -> None:
    """The Program holds what the value is made of."""
    from gradcli.questions.texts import read

    program = read("v.chunk(4)[2]", shapes={"v": (4,)}).program
    assert [line.call.op.name for line in program.lines] == ["index"]
