"""Elements at positions that are values: who depends on whom, what is proved, and what the formulas say."""

import math
import random
from typing import Any

import numpy as np
import pytest
import sympy
import torch

from gradcli import Function
from gradcli.arrays import order_of
from gradcli.errors import Span
from gradcli.language.program.positions import block_of, flat_places
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Call, Line
from gradcli.reference.array_values import Values, known_places
from gradcli.reference.bounds import NoRuleError, bounded, exact
from gradcli.reference.dependencies import Dependencies, OverBudgetError
from tests.checks import check_of
from tests.examples import seeds
from tests.parsing import parse

KEPT: tuple[int, ...] = ()
"""Seeds of shapes or texts that failed once."""


def _line(kind: str, draw: random.Random) -> tuple[Line, dict[Any, tuple[int, ...]], np.ndarray, np.ndarray]:
    """A gather or its transpose of random shapes, with the shapes, the index and the dense matrix of the map."""
    before, after, batch = (tuple(draw.choices([1, 2, 3], k=draw.randint(0, 2))) for _ in range(3))
    sizes = tuple(draw.choices([2, 3, 4], k=draw.randint(1, 2)))
    shape = (len(sizes), *batch) if len(sizes) > 1 else batch
    parts = [np.array([draw.randrange(size) for _ in range(math.prod(batch))]).reshape(batch) for size in sizes]
    index = np.stack(parts) if len(sizes) > 1 else parts[0].reshape(shape)
    whole, taken = (*before, *sizes, *after), (*before, *batch, *after)
    key: tuple[Any, ...] = (*[slice(None)] * len(before), *parts)
    positions = np.arange(math.prod(whole)).reshape(whole)[key].ravel()
    dense = np.zeros((len(positions), math.prod(whole)), dtype=int)
    dense[np.arange(len(positions)), positions] = 1
    x, i, y = sympy.symbols("x i y")
    is_gather = kind == "elements_at"
    statics = (len(before), len(sizes)) if is_gather else (len(before), sizes)
    shapes = {x: whole if is_gather else taken, i: shape, y: taken if is_gather else whole}
    return Line(y, Call(kind, (x, i), statics), Span(0, 0)), shapes, index, dense if is_gather else dense.T


@pytest.mark.parametrize("kind", ["elements_at", "sums_at"])
@pytest.mark.parametrize("seed", seeds(30, 25, KEPT))
def test_dependencies_are_those_of_the_dense_matrix(kind: str, seed: int) -> None:
    """Sources, users, and users among some elements; and of the positions, the elements that each leads to."""
    line, shapes, index, dense = _line(kind, random.Random(seed))
    block = block_of(line.call, *(shapes[a] for a in line.call.operands))
    places = flat_places(index, block.sizes)
    found = Dependencies(shapes, 10**6, {line.symbol: places})
    every, inside = np.arange(dense.shape[0]), np.arange(dense.shape[1])
    for pairs, expected in ((found.sources(line, 0, every), dense), (found.users(line, 0, inside), dense.T)):
        got = np.zeros_like(expected)
        got[pairs] += 1
        np.testing.assert_array_equal(got, expected)
    some = every[::2]
    source, out = found.users_among(line, 0, inside, some)
    assert {*zip(source.tolist(), out.tolist(), strict=True)} == {
        (c, r) for r, c in np.argwhere(dense).tolist() if r in some
    }
    held, position = found.sources(line, 1, every)
    element, user = found.users(line, 1, np.arange(index.size))
    assert {*zip(held.tolist(), position.tolist(), strict=True)} == {*zip(user.tolist(), element.tolist(), strict=True)}
    assert set(held.tolist()) == {r for r in every.tolist() if dense[r].any()}


@pytest.mark.parametrize("name", ["elements_at", "flip"])
def test_users_of_few_elements_among_many(name: str) -> None:
    """Each with all of its users, in the order of these."""
    x, i, y = sympy.symbols("x i y")
    size = 1000
    places = np.random.default_rng(0).integers(0, size // 10, size) if name == "elements_at" else np.arange(size)[::-1]
    call = Call(name, (x, i), (0, 1)) if name == "elements_at" else Call(name, (x,), ((0,),))
    line = Line(y, call, Span(0, 0))
    found = Dependencies({x: (size,), i: (size,), y: (size,)}, 10**6, {y: places})
    few = np.array([7, 3, 999])
    element, user = found.users_among(line, 0, few, np.arange(size))
    pairs = {(n, int(at)) for n, one in enumerate(few) for at in np.flatnonzero(places == one)}
    assert {*zip(element.tolist(), user.tolist(), strict=True)} == pairs
    assert pairs
    assert (np.diff(user) > 0).all()
    element, user = found.users_among(line, 0, np.array([], int), np.arange(size))
    assert len(element) == len(user) == 0


def test_positions_that_are_not_known_are_not_followed() -> None:
    """No structure is made up for them."""
    x, i, y = sympy.symbols("x i y")
    line = Line(y, Call("elements_at", (x, i), (0, 1)), Span(0, 0))
    with pytest.raises(OverBudgetError):
        Dependencies({x: (3,), i: (2,), y: (2,)}, 10**6).sources(line, 0, np.arange(2))


def test_a_position_is_known_where_its_bound_holds_one_whole_number() -> None:
    """Not where it is no whole number, outside, or where rounding leaves two."""
    middle = np.array([[2.0, 1.0, 0.0]])
    assert known_places(bounded(middle, np.full((1, 3), 1e-9)), (3,)).tolist() == [[2, 1, 0]]
    for wrong in (bounded(middle + 0.1, np.zeros((1, 3))), bounded(middle, np.full((1, 3), 0.3)), exact(middle + 1)):
        with pytest.raises(NoRuleError):
            known_places(wrong, (3,))


HAND: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]] = [
    ("x[i]", {"x": [1, 2, 3], "i": [2, 0]}, {"x": [[0, 0, 1], [1, 0, 0]]}, {"x": "KroneckerDelta(k, i[j])"}),
    (
        "(x[i]**2).sum()",
        {"x": [1, 2, 3], "i": [0, 2, 2]},
        {"x": [2, 0, 12]},
        {"x": "2*Sum(x[i[l]]*KroneckerDelta(k, i[l]), (l, 0, 2))"},
    ),
    (
        "zeros(3).index_add(0, i, y)",
        {"i": [2, 2], "y": [4, 5]},
        {"y": [[0, 0], [0, 0], [1, 1]]},
        {"y": "KroneckerDelta(j, i[k])"},
    ),
    (
        "(A.gather(1, i)**2).sum()",
        {"A": [[1, 2, 3], [4, 5, 6]], "i": [[2], [0]]},
        {"A": [[0, 0, 6], [8, 0, 0]]},
        {"A": "2*A[k, i[k, 0]]*KroneckerDelta(l, i[k, 0])"},
    ),
    (
        "x[i]",
        {"x": [1, 2, 3], "i": [-1, 0]},
        {"x": [[0, 0, 1], [1, 0, 0]]},
        {"x": "KroneckerDelta(k, Piecewise((i[j] + 3, i[j] < 0), (i[j], True)))"},
    ),
    (
        "(v*x[c]).sum(1)",
        {"v": [[2, 3]], "x": [5, 7], "c": [[1, 1]]},
        {"v": [[[7, 7]]], "x": [[0, 5]]},
        {"v": "x[c[i, k]]*KroneckerDelta(i, j)", "x": "Sum(v[i, k]*KroneckerDelta(j, c[i, k]), (k, 0, 1))"},
    ),
]
"""Functions with positions: values, Jacobians and formulas by hand."""


@pytest.mark.parametrize(("text", "at", "expected", "formulas"), HAND)
def test_jacobians_and_formulas_by_hand(
    text: str, at: dict[str, Any], expected: dict[str, Any], formulas: dict[str, str]
) -> None:
    """All entries proved; a formula names the position by the tensor that has it."""
    answer = Function(text).jacobian(at)
    assert (check_of(answer).verdict, check_of(answer).proven) == ("agree", True)
    assert answer.jacobian is not None
    for name, block in expected.items():
        np.testing.assert_array_equal(answer.jacobian[name], block)
    assert {name: formula.text for name, formula in answer.symbolic.items()} == formulas


PIECES = [
    "x[i]",
    "x[j]*y",
    "zeros(4).index_add(0, i, y)[j]",
    "(y*x[i]).sum()*y",
    "y[i - i[0]*0]",
    "x.index_select(0, j)",
    "stack([x, sin(x)])[:, i][1]",
]
"""Functions of x and y, of 4 elements each, with 4 elements at positions i and j."""


@pytest.mark.parametrize("seed", seeds(6, 12, KEPT))
@pytest.mark.one_in(4)
def test_random_functions_have_torch_s_gradients(seed: int) -> None:
    """Sums of products of pieces, with repeated positions: all entries are proved."""
    draw, generator = random.Random(seed), np.random.default_rng(seed)
    text = " + ".join("*".join(draw.choices(PIECES, k=2)) for _ in range(2))
    at = {"x": generator.normal(size=4), "y": generator.normal(size=4)}
    at |= {name: generator.integers(0, 4, size=4).astype(float) for name in "ij"}
    used = {name: at[name] for name in Function(text).variables}
    answer = Function(text).jacobian(used)
    tensors = {
        name: torch.tensor(array) if name in "xy" else torch.tensor(array).long() for name, array in used.items()
    }
    names = [name for name in used if name in "xy"]

    def plain(*given: torch.Tensor) -> Any:
        space = {**vars(torch), **tensors, **dict(zip(names, given, strict=True))}
        space["zeros"] = lambda n: torch.zeros(n, dtype=torch.float64)
        return eval(text, space)

    expected = torch.autograd.functional.jacobian(plain, tuple(tensors[name] for name in names))  # type: ignore[no-untyped-call]
    assert (check_of(answer).verdict, check_of(answer).proven) == ("agree", True)
    for name, block in zip(names, expected, strict=True):
        np.testing.assert_allclose((answer.jacobian or {})[name], block, rtol=1e-12, atol=1e-13)


JUMPS: list[tuple[str, dict[str, Any], list[str], str]] = [
    ("x[i]", {"x": [1.0, 2, 3], "i": [2.0, 0]}, ["i"], "kink"),
    ("(x[floor(y)]**2).sum()", {"x": [1.0, 2, 3], "y": [1.5, 0.2]}, ["x", "y"], "agree"),
    ("(x[floor(y)]**2).sum()", {"x": [1.0, 2, 3], "y": [1.0, 0.2]}, ["x", "y"], "kink"),
    ("(sin(x)[floor(y)]**2).sum()", {"x": [1.0, 2, 3], "y": [2.0, 0.2]}, ["y"], "kink"),
    ("(x[floor(y)]**2).sum()", {"x": [2.0, 2, 3], "y": [1.0, 0.2]}, ["y"], "agree"),
]
"""Positions that a variable moves, and the verdict on the derivative by it."""


@pytest.mark.parametrize(("text", "at", "wrt", "verdict"), JUMPS)
def test_a_position_that_jumps_is_a_discontinuity(text: str, at: dict[str, Any], wrt: list[str], verdict: str) -> None:
    """Unless it stays, or the element that it jumps to is the same."""
    assert check_of(Function(text).jacobian(at, wrt=wrt)).verdict == verdict


def test_positions_of_each_point_are_its_own() -> None:
    """Where the first axis counts points: of the elements, of the positions, or of both."""
    generator = np.random.default_rng(1)
    x, i = generator.normal(size=(5, 4, 3)), generator.integers(0, 4, size=(5, 6)).astype(float)
    w = generator.normal(size=(5, 6, 3))

    def taken(n: int, m: int) -> Any:
        return x[n][i[m].astype(int)]

    def added(n: int, m: int) -> Any:
        return np.eye(4)[i[m].astype(int)].T @ w[n]

    for text, elements, expected in (("elements_at(x, i)", x, taken), ("sums_at(x, i, 0, 4)", w, added)):
        program = parse(text)
        for mapped in (("x", "i"), ("x",), ("i",)):
            at = {"x": elements if "x" in mapped else elements[0], "i": i if "i" in mapped else i[0]}
            shapes = infer(program, {s: {"x": elements, "i": i}[str(s)].shape[1:] for s in program.variables})
            value = Values(program, shapes, at, program.variables, mapped=mapped).value
            for n in range(5):
                truth = expected(n if "x" in mapped else 0, n if "i" in mapped else 0)
                assert (abs(value.middle[n] - truth) <= value.radius[n] + 1e-15).all()
                assert (value.radius[n] < 1e-14).all()


def test_a_formula_is_confirmed_where_columns_meet_rows() -> None:
    """Of a matrix with one entry in each row, eight rows and eight columns that are evenly spaced meet in none."""
    answer = Function("roll(x, 1, 0)").jacobian({"x": np.linspace(0, 1, 500)})
    assert answer.symbolic["x"].text.startswith("Piecewise")


def test_a_sparse_product_is_proved_entry_by_entry() -> None:
    """Rows of three elements each, at random positions: vᵀJ by the elements and by the vector."""
    generator, n = np.random.default_rng(0), 20_000
    at = {"v": generator.normal(size=(n, 3)), "x": generator.normal(size=n), "c": generator.integers(0, n, (n, 3))}
    weights = generator.normal(size=n)
    answer = Function("(v*x[c]).sum(1)").vjp(at, v=weights)
    assert (check_of(answer).verdict, check_of(answer).checked, check_of(answer).proven) == ("agree", 4 * n, True)
    expected = np.zeros(n)
    np.add.at(expected, at["c"].astype(int), at["v"] * weights[:, None])
    np.testing.assert_allclose(answer.vjp["x"], expected, rtol=1e-9, atol=1e-12)
    assert set(answer.symbolic) == {"v", "x"}


@pytest.mark.parametrize("most", [10, 2**16, 2**40])
def test_many_places_are_ordered_as_they_come(most: int) -> None:
    """By digits, as many as there are; places that are the same stay in order."""
    places = np.random.default_rng(0).integers(0, most, 2**15)
    np.testing.assert_array_equal(order_of(places), np.argsort(places, kind="stable"))
