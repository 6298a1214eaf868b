"""The truth of an operation: torch itself, called by the same text, has the value and the Jacobian.

Where torch has no such spelling, a case says the same in other words; of NumPy's there is the value alone, and the
Jacobian is what the readings agree on.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from gradcli import Function
from gradcli.language import ops
from gradcli.language.ops import Kind
from gradcli.results import Jacobian
from tests.checks import check_of
from tests.parsing import parse

POINT: Mapping[str, np.ndarray] = {
    "a": np.array(0.7),
    "b": np.array(-1.3),
    "u": np.array([0.5, -1.5, 2.0]),
    "w": np.array([1.25, 0.75, -0.6]),
    "v": np.array([0.4, -0.9, 1.6, 2.2]),
    "one": np.array([1.7]),
    "x": np.array([[0.3, -1.2, 2.5], [0.7, 1.1, -0.4]]),
    "k": np.array([[0.9, -0.8, 0.6], [-1.7, 1.4, 0.2]]),
    "p": np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.9]]),
    "y": np.array([[2.0, 1.1, -0.3, 3.0], [1.0, -1.4, 2.1, 0.5], [0.1, 4.0, 1.3, -2.0]]),
    "z": np.round(np.sin(1.7 * np.arange(1, 25)).reshape(2, 3, 4), 2),
    "row": np.array([[0.8, -1.1, 1.9]]),
    "column": np.array([[0.6], [-2.2]]),
    "C": np.array([[2.0, 0.5], [-1.0, 1.5]]),
    "M": np.array([[2.0, 0.3, -0.5], [0.4, 1.7, 0.2], [-0.6, 0.1, 2.4]]),
    "G": np.array(
        [[[1.5, 0.2, 0.1], [-0.3, 2.0, 0.4], [0.6, -0.1, 1.8]], [[2.2, -0.4, 0.3], [0.5, 1.2, -0.6], [0.1, 0.7, 1.6]]]
    ),
}
"""Values with both signs, without ties, and where it can be without equal sizes; C, M and G are invertible."""


def _signed(vectors: torch.Tensor) -> torch.Tensor:
    """Columns with the sign that gradcli gives them: a weighted sum of each is positive."""
    weights = torch.exp(-torch.arange(vectors.shape[-2], dtype=vectors.dtype))
    return vectors * torch.sign(weights @ vectors).unsqueeze(-2)


NAMES: Mapping[str, Any] = {
    **vars(torch.linalg),
    **vars(torch),
    **vars(functional),
    **{"torch": torch, "F": functional, "linalg": torch.linalg, "np": np, "pi": np.pi, "inf": np.inf},
    **{"solve": torch.linalg.solve, "cond": torch.linalg.cond, "float": float, "signed": _signed},
}
"""Names that a text may call."""


def value_at_point(text: str, **given: Any) -> np.ndarray:
    """The value of a text at the point."""
    f = Function(text)
    return f.eval({name: {**POINT, **given}[name] for name in f.variables}).value


def value_by_torch(text: str, at: Mapping[str, Any]) -> Any:
    """The value of a text, where Python runs it."""
    *before, last = text.split("; ")
    space = {**NAMES, **at}
    exec("\n".join(before), space)
    return eval(last, space)


ROUNDED = frozenset(
    "linspace index_add index_reduce var_mean lstsq solve_triangular triangular_solve qr matrix_norm eigvalsh svdvals "
    "cond right_singular_vectors left_singular_vectors svd weighted_binary_cross_entropy_with_logits".split()
)
"""Operations that are made of others here, so that their values are rounded otherwise; all others are torch's bits."""

BY_LAPACK = frozenset(
    "cholesky cholesky_ex cholesky_inverse cholesky_solve det householder_product inv inv_ex logdet pinv slogdet "
    "solve solve_ex tensorinv tensorsolve".split()
)
"""But of these the last bits depend on how the numbers lie in memory: linear algebra takes them in blocks."""


def require_same(
    text: str, at: Mapping[str, Any], wrt: Sequence[str] | None = None, truth: str = "", rtol: float = 1e-13
) -> Jacobian:
    """Value, Jacobian and verdict of a text.

    Args:
        text: What is asked.
        at: The values of its variables.
        wrt: By which the Jacobian is; by default, by those that gradcli takes.
        truth: The same in other words.
        rtol: Of the value, which torch computes; 0 is to the last bit.
    """
    answer = Function(text).jacobian(at, wrt=wrt)
    assert answer.jacobian is not None
    verdict = "cut" if "detach" in text else "agree"  # the numbers are torch's, of which a part is held constant
    assert check_of(answer).verdict == verdict, check_of(answer).findings
    truth = truth or text
    if "np." in truth:
        np.testing.assert_allclose(answer.value, value_by_torch(truth, at), rtol=1e-13, atol=1e-15, strict=True)
        return answer
    tensors = {name: torch.tensor(array) for name, array in at.items()}
    names = [*answer.jacobian]

    def plain(*given: torch.Tensor) -> Any:
        return value_by_torch(truth, {**tensors, **dict(zip(names, given, strict=True))})

    leaves = tuple(tensors[name] for name in names)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own, of what it gives up
            value, jacobians = plain(*leaves), torch.autograd.functional.jacobian(plain, leaves)  # type: ignore[no-untyped-call]
    finally:
        torch.set_default_dtype(before)
    np.testing.assert_allclose(answer.value, value, rtol=rtol, atol=rtol / 100, strict=True)
    for name, expected in zip(names, jacobians, strict=True):
        np.testing.assert_allclose(answer.jacobian[name], expected, rtol=1e-11, atol=1e-14, strict=True)
    return answer


WITHOUT_FORMULA = frozenset(
    "cholesky cholesky_ex qr matrix_norm eigvalsh matrix_exp svdvals eigenvectors eigh with_eigenvalues "
    "right_singular_vectors left_singular_vectors svd linalg_svd cond median nanmedian quantile roll".split()
)
"""Operations of which some formulas are too long, or there is none."""


def require(op: str, case: str) -> None:
    """Value, Jacobian, verdict and formula of a case, in whose Program its row is, unless it is written in others."""
    text, _, truth = case.partition(" as ")
    if ops.TABLE[op].kind is not Kind.INLINED:
        assert op in {line.call.op.name for line in parse(text).lines}
    at = {name: POINT[name] for name in Function(text).variables}
    answer = require_same(text, at, truth=truth, rtol=1e-13 if op in ROUNDED | BY_LAPACK else 0)
    assert set(answer.symbolic) | (set(answer.symbolic_omitted) if op in WITHOUT_FORMULA else set()) == set(at)
