"""The dense matrices that sparse ones are compared with."""

from collections.abc import Mapping

import numpy as np

from gradcli import Function
from gradcli.results import Hessian, Jacobian, SparseHessian, SparseJacobian

At = Mapping[str, np.ndarray]


def jacobian(text: str, at: At) -> tuple[np.ndarray, SparseJacobian]:
    """All blocks of torch's dense Jacobian side by side, and the sparse answer."""
    function = Function(text)
    dense = function.jacobian(at, check=False)
    assert type(dense) is Jacobian
    assert dense.jacobian is not None
    blocks = [dense.jacobian[name].reshape(dense.value.size, -1) for name in dense.wrt]
    found = function.jacobian(at, sparse=True)
    assert isinstance(found, SparseJacobian)
    return np.concatenate(blocks, axis=1), found


def hessian(text: str, at: At) -> tuple[np.ndarray, SparseHessian]:
    """Torch's dense Hessian, and the sparse answer."""
    function = Function(text)
    dense = function.hessian(at, check=False)
    assert type(dense) is Hessian
    sizes = {name: dense.inputs[name].size for name in dense.wrt}
    rows = [[dense.hessian[a][b].reshape(sizes[a], sizes[b]) for b in sizes] for a in sizes]
    found = function.hessian(at, sparse=True)
    assert isinstance(found, SparseHessian)
    return np.block(rows), found


def whole(answer: SparseJacobian | SparseHessian) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a sparse answer as one dense array, and the mask of its pattern."""
    if isinstance(answer, SparseHessian):
        rows = [[answer.hessian[a][b] for b in answer.wrt] for a in answer.wrt]
    else:
        rows = [[answer.jacobian[name] for name in answer.wrt]]
    numbers = np.block([[one.toarray() for one in row] for row in rows])
    masks: list[list[np.ndarray]] = []
    for row in rows:
        masks.append([])
        for one in row:
            mask = np.zeros(one.shape, dtype=bool)
            mask[np.repeat(np.arange(one.shape[0]), np.diff(one.indptr)), one.indices] = True
            masks[-1].append(mask)
    return numbers, np.block(masks)


def require_same(dense: np.ndarray, answer: SparseJacobian | SparseHessian) -> None:
    """No nonzero number is missing, and each number is torch's, up to rounding of the largest."""
    numbers, mask = whole(answer)
    assert numbers.shape == dense.shape == answer.sparsity.shape
    assert mask.sum() == answer.sparsity.entries
    assert not (np.isfinite(dense) & (dense != 0) & ~mask).any(), "the pattern misses an entry"
    known = mask & np.isfinite(dense) & np.isfinite(numbers)
    scale = abs(dense[np.isfinite(dense)]).max(initial=1e-300)
    assert (abs(numbers - dense)[known] <= 1e-12 * scale).all()
