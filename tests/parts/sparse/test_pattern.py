"""Patterns against brute force: they have what torch's dense Jacobian has, and no more than they must."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradcli import Function
from gradcli.errors import GradcliError
from tests.examples import examples, part
from tests.language.ops.agreement import POINT
from tests.language.ops.cases import CASES
from tests.parts.sparse.dense import hessian, jacobian, require_same, whole
from tests.programs import Random, programs

EXACT = """
x[1:] - x[:-1]
x[::2] * x[1::2][:1]
x[-1] * x
flip(x, 0)
roll(x, 2)
x * roll(x, -1, 0)
pad(x, (1, 2))[1:]
diff(x)
cumsum(x, 0)
cumprod(x + 2, 0)
diag(x)
diag(x, 1).sum(0)
X.T
X.T.reshape(-1)
X.view(-1)[3:]
X.flatten()
X[1:, :-1]
X[:, None] * x
X.sum(0)
X.sum(1, keepdim=True) * X[:, :1]
X.mean(1)
X.amax(1)
softmax(X, 1)
logsumexp(X, 0)
tril(X)
triu(X, 1).T
diagonal(X)
X @ x
x @ X
X @ X.T
einsum('ij,kj->ik', X, X)
outer(x, x)
stack([x, x**2], 1)
cat([x, X[0], x[:1]])
X[[0, 0, 1]]
x[[2, 0, 1, 0]]
X.permute(1, 0)[0]
expand(x, 2, len(x))
repeat_interleave(x, 2)
x.repeat(2)
where(x > 0.5, x, roll(x, 1))
maximum(x, flip(x, 0))
x / x.sum()
kron(x[:2], x)
conv1d(x[None, None], x[None, None, :3], padding=1)[0, 0]
max_pool1d(x[None], 2)[0]
avg_pool1d(x[None], 3, 1)[0]
det(X[:2, :2]) * x
inv(X[:2, :2])
X.sum() * x + X[0]
cat([x, X.sum()[None], x * X.mean()])
cat([x, x]).repeat(2).sum() * flip(x, 0)
gather(pad(stack([x, x], 0), (1, 0, 0, 2)), 0, tensor([[0, 2, 1, 0, 0], [0, 3, 1, 3, 0]]))
""".strip().splitlines()
"""Texts in a vector and a matrix of any size."""


@pytest.mark.parametrize(("text", "size"), part(((text, size) for text in EXACT for size in (4, 7)), 1, of=5))
@pytest.mark.one_in(2)
def test_a_pattern_has_each_nonzero_entry(text: str, size: int) -> None:
    """Structural operations at two sizes; nothing is left out."""
    draw = np.random.default_rng(size)
    at = {"x": draw.uniform(0.1, 1, size), "X": draw.uniform(0.1, 1, (size, size)) + np.eye(size)}
    dense, found = jacobian(text, {name: at[name] for name in Function(text).variables})
    require_same(dense, found)
    assert found.check is not None
    assert found.check.verdict == "agree", found.check.findings


TIGHT = {
    "x[1:] - x[:-1]": 6,
    "x * roll(x, 1, 0)": 8,
    "cumsum(x, 0)": 10,
    "flip(x, 0)": 4,
    "x[-1] * x": 7,
    "tril(X)": 10,
    "X.sum(0)": 16,
    "X[[0, 0, 1]]": 12,
    "X.T.reshape(-1)[4:]": 12,
    "softmax(X, 1)": 64,
    "stack([x, x**2], 1)": 8,
    "x.detach() * x": 4,
    "len(x) * x[0]": 1,
    "x[:2] * X[0, 0]": 4,
    "3 * ones(4) + 0 * x[0]": 4,
    "x[:3] * flip(x[:3], 0)": 5,
}
"""The number of entries at size 4, counted by hand."""


@pytest.mark.parametrize("text", TIGHT)
def test_a_pattern_has_no_more_than_it_must(text: str) -> None:
    """No dependency is added that the operations do not have."""
    at = {"x": np.linspace(0.2, 1, 4), "X": np.linspace(0.1, 2, 16).reshape(4, 4)}
    function = Function(text)
    found = function.jacobian({name: at[name] for name in function.variables}, pattern=True)
    assert found.sparsity.entries == TIGHT[text]


_TEXTS = [text.split(" as ")[0] for texts in CASES.values() for text in texts]


def _require_in_pattern(text: str) -> None:
    try:
        function = Function(text)
        at = {name: POINT[name] for name in function.variables if name in POINT}
        dense = function.jacobian(at, check=False)
    except GradcliError:
        return  # of several tensors, or of whole numbers
    if not dense.wrt or not dense.value.size or dense.jacobian is None:
        return
    _, mask = whole(function.jacobian(at, pattern=True))
    numbers = np.concatenate([dense.jacobian[name].reshape(dense.value.size, -1) for name in dense.wrt], axis=1)
    if (np.isfinite(numbers) & (numbers != 0) & ~mask).any():
        raise AssertionError(text)


@pytest.mark.parametrize("text", part(_TEXTS, 3, of=10))
@pytest.mark.one_in(4)
def test_a_pattern_follows_each_operation(text: str) -> None:
    """All rows of the table, at the point that their values are compared at."""
    _require_in_pattern(text)


def _require_as_dense(program: Random, *, is_second: bool) -> None:
    known = Function(program.text).variables
    at = {name: leaf.detach().numpy() for name, leaf in program.leaves.items() if name in known}
    if not at:
        return
    text = f"sum(({program.text.rpartition(';')[2].strip()}))" if is_second else ""
    whole_text = program.text if not is_second else f"{program.text.rpartition(';')[0]}; {text}".lstrip("; ")
    try:
        dense, found = (hessian if is_second else jacobian)(whole_text, at)
    except GradcliError as error:
        if any(words in str(error) for words in ("twice", "not known")):
            return
        raise
    require_same(dense, found)
    assert found.check is not None
    allowed = {"agree", "inaccurate", *["cut"] * (".detach()" in program.text)}
    if program.is_at_kink:
        allowed |= {"kink", "undefined", "unchecked", "nan-trap", "disagree"}
    assert found.check.verdict in allowed, (found.check.verdict, found.check.findings)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs())
def test_random_programs_have_the_matrix_of_torch(program: Random) -> None:
    """Never a missing nonzero, and values of the dense Jacobian; 100 of them in the thorough run."""
    _require_as_dense(program, is_second=False)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs(4))
def test_random_programs_have_the_hessian_of_torch(program: Random) -> None:
    """The same at second order."""
    _require_as_dense(program, is_second=True)


@pytest.mark.thorough
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs())
def test_five_hundred_random_programs_have_the_matrix_of_torch(program: Random) -> None:
    """By hand, and every night."""
    _require_as_dense(program, is_second=False)
