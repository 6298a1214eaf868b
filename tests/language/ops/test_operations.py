"""Operations against torch, called by the same text; ties, which are kinks; and what does not fit."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language import ops
from gradcli.language.ops.reductions import exchanges
from gradcli.questions.text_reading import read
from tests.checks import check_of
from tests.examples import all_but, first_of_each
from tests.language.ops.agreement import POINT, require, require_same, value_at_point
from tests.language.ops.cases import CASES


def _marks(case: str) -> tuple[pytest.MarkDecorator, ...]:
    """Names for several values are statements, which a part reads."""
    return (pytest.mark.part("paste"),) if re.match(r"\w+, \w+", case) else ()


ROWS = [pytest.param(op, case, marks=_marks(case)) for op, cases in CASES.items() for case in cases]
DERIVED = [name for name in CASES if not (ops.TABLE[name].is_primitive or ops.TABLE[name].adjoints)]
RARELY = {*DERIVED} - {*DERIVED[::3]}
"""Rows without a rule of their own, but for each third: all that they are made of is tried."""

ONE = all_but(first_of_each(ROWS, lambda op, case: op), *(n for n, row in enumerate(ROWS) if row.values[0] in RARELY))
"""A case of each row that has a rule, and of some others; the rest are for `pytest -m thorough`."""


@pytest.mark.parametrize(("op", "case"), ONE)
@pytest.mark.one_in(2)
def test_operations_are_those_of_torch(op: str, case: str) -> None:
    """Value, Jacobian, verdict and formula."""
    require(op, case)


INDICES = """
v[[3, 0]]
v[[3, 0, 0, 1]]**2
v[::-1]*v as v.flip(0)*v
y[::-1, ::-2] as y.flip(0, 1)[:, ::2]
y[-1:0:-1, None, 1] as y[1:].flip(0)[:, None, 1]
z[:, [2, 0], 1]
z[[0, 1], :, [1, 3]]
z[:, [0, 1], [1, 3]]
z[..., [[0, 1], [3, 3]]]
y[[[0], [2]], [1, 3]]
v[torch.tensor([True, False, True, True])]
x[torch.tensor([[True, False, True], [False, True, False]])]
y[:, arange(4) != 2]
idx = arange(0, 4, 2); v[idx.long()].prod()
""".strip().split("\n")


@pytest.mark.parametrize("case", INDICES)
@pytest.mark.one_in(2)
def test_tensors_in_an_index(case: str) -> None:
    """By torch's rules of several of them, slices, None and masks next to them."""
    text, _, truth = case.partition(" as ")
    require_same(text, {name: POINT[name] for name in Function(text).variables}, truth=truth)


GIVEN: list[tuple[str, Any]] = [
    ("v[i]", [2, 0]),
    ("y[i]**2", [[2, 0], [1, 1]]),
    ("y[:, i]", [3, 3, 0]),
    ("y[i, [0, 3]]", [2, 1]),
    ("y.gather(1, i)", [[2, 0], [1, 1], [3, 0]]),
    ("y.index_select(0, i)", [2, 2, 0]),
    ("y.take(i)", [[2, 7]]),
    ("one_hot(i, 3)*M[0]", [2, 0]),
    ("y[i]*y[i]", [-1, 2, 0]),
    ("z[i, :, [1, 3]]**2", [1, 0]),
    ("z[:, i, i]", [[0, 1], [2, 0]]),
    ("y.gather(0, i)**2", [[2, 0, 1, 1]]),
    ("x.index_add(1, i, x)", [2, 0, 2]),
    ("x.index_add(0, i, x, alpha=-2)**2", [1, 1]),
    ("x.scatter_add(1, i, x)**2", [[0, 0, 2], [1, 2, 2]]),
    ("F.embedding(i, M)**2", [[2, 0], [2, 2]]),
]


@pytest.mark.parametrize(("text", "i"), GIVEN)
@pytest.mark.one_in(2)
def test_positions_that_are_given(text: str, i: Any) -> None:
    """A variable that no derivative is asked for: the Jacobian is by the other one alone."""
    (name,) = (name for name in Function(text).variables if name != "i")
    answer = require_same(text, {name: POINT[name], "i": np.array(i)})
    assert list(answer.jacobian or {}) == [name]
    assert set(answer.symbolic) == {name} or "," in text.partition("[")[2]


UNFIT = """
conv1d(ones(2, 3, 4), ones(2, 2, 3))
conv2d(ones(2, 3, 4), ones(2, 2, 1, 1), stride=(1, 2, 3))
fold(ones(3, 2), 2, 2)
y.gather(1, [0])
group_norm(ones(2, 3), 2)
glu(ones(3))
pixel_shuffle(ones(3, 2, 2), 2)
gru_cell(ones(1, 2), ones(1, 3), ones(9, 3), ones(9, 3))
tensordot(x, k, 1)
matrix_norm(x, 1, dim=1)
narrow(x, 0, 1, 2)
u.index_add(0, [0], w)
x.split([1, 3])
x.repeat(2)
quantile(u, 2)
""".strip().split("\n")
"""Sizes that torch itself refuses, one call a line."""


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("x.chunk(2) + 1", {}, "chunk gives 2 tensors"),
        ("u.chunk(2)", {}, "chunk gives 2 tensors"),  # of different shapes, which are no list
        ("quantile(u, a)", {}, "constant for q"),
        ("cholesky(x)", {}, "a square matrix"),
        ("norm(x, 'nucc')", {}, "does not take this p"),
        ("linalg.svd(x).U", {}, "the vectors beyond its rank are not determined"),
        ("a*inv(A)", {"A": [[1, 2], [2, 4]]}, "no inverse"),
        ("v[i]", {"i": [0, 4]}, "an index is from 0 to 3, and there is 4"),
        ("v[i]", {"i": [0.5, 1]}, "an index is a whole number"),
        ("v[[0, 4]]", {}, "the index 4 is outside"),
        ("v[i]", {"i": [-5, 1]}, "an index is from -4 to 3, and there is -5"),
        ("v[i]", {"i": [-4, 4]}, "an index is from -4 to 3, and there is 4"),
        ("y[i, [0, 1]]", {"i": [3, 1]}, "an index is from 0 to 2, and there is 3"),
        ("u.index_add(0, i, w)", {"i": [0, 1, 3]}, "an index is from 0 to 2, and there is 3"),
        ("u.index_select(0, i)", {"i": [0, -1]}, "an index is from 0 to 2, and there is -1"),
        ("elements_at(u, [0], 0, 2)", {}, "takes positions in 2 dimensions from 0 on"),
        ("elements_at(x, [0, 1, 1], 0, 2)", {}, "needs positions in 2 dimensions"),
        ("sums_at(u, [0, 1], 0, 3)", {}, "for positions of the shape"),
        ("u[:0][i]", {"i": [0, 1]}, "no element to take"),
        ("v[i]", {"i": 1}, "an integer constant must stand here"),
        ("conv1d(ones(2, 3, 4), ones(2, 3, 3), 2)*a", {}, "takes a tensor for bias"),
        ("max_pool1d(ones(2, 4), 2, padding=2)*a", {}, "at most half"),
        ("embedding([3], ones(2, 3))*a", {}, "from 0 to 1"),
        ("interpolate(ones(1, 1, 2), 3, mode='cubic')*a", {}, "refuses interpolate"),
        *((text, {}, "random") for text in ("dropout(x)", "rrelu(x, training=True)", "alpha_dropout(x, 0.3, True)")),
        *((text, {}, "^torch refuses ") for text in UNFIT),
    ],
)
def test_what_does_not_fit_is_refused(text: str, given: dict[str, Any], said: str) -> None:
    """With the sizes in question; in torch's words, with their place."""
    with pytest.raises(GradcliError, match=said) as caught:
        value_at_point(text, **given)
    assert caught.value.place is not None or "torch" not in said


def test_several_tensors_of_one_shape_are_a_list() -> None:
    """As [a, b] is; one that nobody takes is no line of the Program."""
    assert value_at_point("v.chunk(2)").shape == (2, 2)
    program = read("v.chunk(4)[2]", shapes={"v": (4,)}).program
    assert [line.call.op.name for line in program.lines] == ["index"]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9])
def test_the_exchanges_sort_everything(count: int) -> None:
    """Every order of zeros and ones, by the zero-one principle; no stage meets an element twice."""
    stages = exchanges(count)
    assert all(len({*itertools.chain(*stage)}) == 2 * len(stage) for stage in stages)
    for numbers in itertools.product([0, 1], repeat=count):
        found = [*numbers]
        for i, j in itertools.chain(*stages):
            found[i], found[j] = min(found[i], found[j]), max(found[i], found[j])
        assert found == sorted(numbers)


@pytest.mark.parametrize(
    "text", ["cholesky(A)", "cholesky_ex(A).L", "cholesky(A + eye(2))*2", "eigvalsh(A)", "eigh(A)[1]"]
)
@pytest.mark.one_in(2)
def test_a_matrix_of_which_torch_reads_one_triangle_is_judged_only_if_it_is_symmetric(text: str) -> None:
    """Torch derives by both, which is the derivative of what it computed nowhere else."""
    for off, verdict in ((0.5, "agree"), (0.6, "unchecked")):
        check = check_of(Function(text).jacobian({"A": [[2, 0.5], [off, 3]]}))
        assert check.verdict == verdict
        assert ("symmetric" in "".join(f.note for f in check.findings)) == (verdict == "unchecked")


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]])
def test_the_derivative_of_a_singular_determinant_is_the_cofactors(rows: list[list[float]]) -> None:
    """Torch gives 0, which is a fault of torch's; Jacobi's cofactors are computed here from the minors."""
    A = np.array(rows)
    n = len(A)
    minors = [[np.linalg.det(np.delete(np.delete(A, i, 0), j, 1)) for j in range(n)] for i in range(n)]
    cofactors = np.array([[(-1) ** (i + j) * minors[i][j] for j in range(n)] for i in range(n)])
    answer = Function("det(A)").grad({"A": A})
    assert check_of(answer).verdict == "disagree"
    assert "a fault of torch's" in check_of(answer).findings[0].note
    for finding in check_of(answer).findings:
        assert finding.reference == pytest.approx(cofactors[finding.column])
