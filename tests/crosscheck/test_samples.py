"""Elements that a sample must not leave out: kinks, jumps, poles and edges of a domain; and zeros that need no ball."""

import functools
import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from gradcli import Function
from gradcli.crosscheck.point import Numbers
from gradcli.crosscheck.sample import MOST_ODD
from gradcli.language import ops
from gradcli.results import Check
from tests.checks import check_of, check_of_rows, without_haste
from tests.crosscheck.asking import asked, checked, judged
from tests.examples import examples, part

ALIKE = [
    ("reciprocal entr sqrt rsqrt log log2 log10 cbrt digamma cot csc", "{0}(x)", 0, (1, 2)),
    ("asin acos atanh erfinv hardtanh", "{0}(x)", 1, (-0.9, 0.9)),
    ("logit ndtri norm_ppf", "{0}(x)", 1, (0.2, 0.8)),
    ("norm_logpdf norm_cdf norm_logcdf norm_sf", "{0}(1, 0, x)", 0, (1, 2)),
    ("gt ge lt le", "where({0}(x, 1), x, x**2)", 1, (2, 3)),
]
SINGULAR: Mapping[str, tuple[str, float, tuple[float, float]]] = {
    **{name: (text.format(name), place, ends) for names, text, place, ends in ALIKE for name in names.split()},
    "abs": ("abs(x)", 0, (0.1, 3)),
    "sign": ("x*sign(x)", 0, (0.1, 3)),
    "floor": ("x*floor(x)", 2, (2.1, 2.9)),
    "ceil": ("x*ceil(x)", -1, (2.1, 2.9)),
    "trunc": ("x*trunc(x)", -3, (0.1, 0.9)),
    "round": ("x*round(x)", 2.5, (2.6, 3.4)),
    "frac": ("frac(x)", 7, (2.1, 2.9)),
    "maximum": ("maximum(x, x**2)", 1, (2, 3)),
    "minimum": ("minimum(3*x, x + 1)", 0.5, (2, 3)),
    "relu": ("relu(x)", 0, (0.1, 3)),
    "relu6": ("relu6(x)", 6, (0.1, 3)),
    "leaky_relu": ("leaky_relu(x)", 0, (-3, -0.1)),
    "elu": ("elu(x, 2)", 0, (0.1, 3)),
    "selu": ("selu(x)", 0, (-3, -0.1)),
    "hardsigmoid": ("hardsigmoid(x)", 3, (4, 9)),
    "hardswish": ("hardswish(x)", -3, (-9, -4)),
    "clamp": ("clamp(x, -1, 2)", 2, (-0.9, 1.9)),
    "clamp_min": ("clamp_min(x, 1)", 1, (2, 3)),
    "clamp_max": ("clamp_max(x, 1)", 1, (-2, 0)),
    "eq": ("where(x == 1, 5, x)", 1, (2, 3)),
    "ne": ("where(x != 1, 5, x)", 1, (2, 3)),
    "logical_and": ("where((x > 1) & (x < 9), x, x**2)", 1, (2, 3)),
    "logical_or": ("where((x < 1) | (x > 9), x, x**2)", 1, (2, 3)),
    "masked_fill": ("masked_fill(x, x < 0, 3)", 0, (1, 2)),
    "div": ("1/x", 0, (1, 2)),
    "addcdiv": ("addcdiv(1, 2, x)", 0, (1, 2)),
    "xlog1py": ("xlog1py(2, x)", -1, (1, 2)),
    "mvlgamma": ("mvlgamma(x, 2)", 0.5, (1, 2)),
    "norm_pdf": ("norm_pdf(0, 0, x)", 0, (1, 2)),
    "fmod": ("fmod(x, 2)", 4, (0.1, 1.9)),
    "remainder": ("remainder(x, 2)", -4, (0.1, 1.9)),
    "floor_divide": ("x*floor_divide(x, 2)", 4, (2.1, 3.9)),
    "pow": ("x**0.5", 0, (1, 2)),
    "log1p": ("log1p(x)", -1, (1, 2)),
    "xlogy": ("xlogy(2, x)", 0, (1, 2)),
    "csch": ("csch(x)", 0, (1, 2)),
    "coth": ("coth(x)", 0, (1, 2)),
    "acosh": ("acosh(x)", 1, (2, 3)),
    "lgamma": ("lgamma(x)", -2, (1, 2)),
    "polygamma": ("polygamma(1, x)", -3, (1, 2)),
    "zeta": ("zeta(2, x)", 0, (1, 2)),
    "gammaincc": ("gammaincc(2, x)", -1, (1, 2)),
    "atan2": ("atan2(x, -1)", 0, (1, 2)),
    "hypot": ("hypot(x, x)", 0, (1, 2)),
    "norm": ("sqrt(sum(stack([x, 2*x])**2, dim=0))", 0, (1, 2)),
    "amax": ("amax(stack([x, 2*x]), dim=0)", 0, (1, 2)),
    "amin": ("amin(stack([x, 2*x]), dim=0)", 0, (1, 2)),
}
"""By operation: a function, where it has no derivative or jumps, and a range where it is smooth."""

BEYOND = {"tan", "sec", "logaddexp", "logaddexp2"}
"""No float is at a pole of these; of the last two only infinities have no derivative."""


def test_every_operation_that_may_have_no_derivative_is_tried() -> None:
    """By the table: whoever adds a row adds a line above."""
    rows = [op for op in ops.TABLE.values() if op.kind is ops.Kind.ELEMENTWISE and (op.kinks or op.domain)]
    assert not {op.name for op in rows} - SINGULAR.keys() - BEYOND


@functools.cache
def _alone(text: str, x: float) -> Check:
    return asked("grad", text, {"x": x})


@pytest.mark.parametrize("name", part(SINGULAR, 0, of=2))
@pytest.mark.one_in(8)
def test_no_singular_element_is_missed(name: str) -> None:
    """One element among 33 to 400 is where the operation has no derivative: as it is judged alone."""
    _require_found(name, seed=61)


@pytest.mark.parametrize("name", part(SINGULAR, 7, of=16))
@settings(max_examples=examples(4), deadline=None)
@example(seed=417)  # above what balls are taken of one by one
@given(seed=st.integers(0, 2**32))
@pytest.mark.one_in(2)
def test_no_singular_element_is_missed_among_many(name: str, seed: int) -> None:
    """One element among up to 100,000."""
    _require_found(name, seed)


def _require_found(name: str, seed: int) -> None:
    """Require that the verdict on the element is that on it alone.

    Beside that, J may have what is worse in its column: NaN in the rows of the other elements, where the truth is 0.
    """
    text, at, (low, high) = SINGULAR[name]
    generator = np.random.default_rng([seed, len(name)])
    size = int(33 * (3000 if seed % 8 == 1 else 12) ** generator.random())
    x = generator.uniform(low, high, size)
    place = int(generator.integers(size))
    x[place] = at
    alone = _alone(text, at).verdict
    assert alone != "agree"
    with without_haste():  # as an element that there is no time for is not found
        check = asked("vjp", text, {"x": x}, v="ones")
    worse = [finding for finding in check.findings if finding.verdict != alone]
    if worse:
        assert all((f.verdict, f.column) == ("nan-trap", (place,)) and f.row != (place,) for f in worse)
        assert check.findings_count >= min(size - 1, MOST_ODD) + 1, "the element itself is among them"
    else:
        assert (check.findings[0].verdict, check.findings[0].column) == (alone, (place,))


@pytest.mark.parametrize("name", part(["relu", "floor", "amax", "log", "clamp"], 0, of=3))
def test_no_singular_entry_of_a_jacobian_is_missed(name: str) -> None:
    """Among few that balls look at, and among more that bounds prove."""
    text, at, (low, high) = SINGULAR[name]
    for size in (33, 300):
        x = np.random.default_rng(size).uniform(low, high, size)
        x[size // 3] = at
        check = asked("jacobian", text, {"x": x})
        assert check.verdict == _alone(text, at).verdict
        assert check.findings[0].column == (size // 3,)
        assert check.checked == check.entries or name == "log"  # whose row has no value


def test_what_is_left_of_many_is_said() -> None:
    """Some of each operation, and how many more there are."""
    x = np.where(np.arange(2_000) % 2, 0.0, 1.0)
    check = asked("grad", "sum(relu(x) + abs(x - 1))", {"x": x})
    assert check.verdict == "kink"
    note = next(note for note in check.notes if note.startswith("more elements at or next to a kink"))
    assert "of abs" in note
    assert "of maximum" in note


@pytest.mark.parametrize(
    ("command", "text", "ends", "size", "place"),
    [
        ("grad", "sum(relu(x))", (-1, 1), 5_001, 2_500),
        ("grad", "sum(relu(cos(arange(200)).view(-1, 1)@x.view(1, -1)))", (-1, 2), 31, 10),
        ("hessian", "sum(relu(x)**2)", (-1, 1), 61, 30),
    ],
)
@pytest.mark.one_in(2)
def test_a_kink_among_many_elements_is_found(
    command: str, text: str, ends: tuple[float, float], size: int, place: int
) -> None:
    """In the middle, in a layer, and of a second derivative: the rows of critical elements come first."""
    check = asked(command, text, {"x": np.linspace(*ends, size)})
    assert (check.verdict, check.findings[0].column) == ("kink", (place,))
    assert check.proven


def test_a_number_where_structure_proves_0_is_wrong() -> None:
    """The zeros are counted without balls, and only where torch has them: a planted mistake is found among many."""
    x = np.linspace(1, 2, 500)
    jacobian = np.diag(2 * x)
    torch = Numbers.of_first_order("float64", x**2, {"x": jacobian})
    check = judged("x**2", {"x": x}, torch, "x")
    assert (check.verdict, check.zeros) == ("agree", 249_500)
    jacobian[123, 456] = 1e-30
    check = judged("x**2", {"x": x}, torch, "x")
    assert (check.verdict, check.findings[0].row, check.findings[0].column) == ("disagree", (123,), (456,))
    jacobian[123, 456] = math.nan
    check = judged("x**2", {"x": x}, torch, "x")
    assert (check.verdict, check.checked, check.entries) == ("nan-trap", 250_000, 250_000)


@pytest.mark.parametrize(("left", "verdict"), [(1e-18, "agree"), (1e-12, "disagree")])
def test_what_a_product_of_matrices_leaves_in_the_place_of_a_0_agrees(left: float, verdict: str) -> None:
    """It is a rounding of the largest entry: the diagonal of L depends on no later row."""
    at = {"A": np.array([[2.0, 1.0], [1.0, 3.0]])}
    jacobian = {name: np.array(block) for name, block in (Function("cholesky(A)").jacobian(at).jacobian or {}).items()}
    jacobian["A"][0, 0, 1, 1] = left
    torch = Numbers.of_first_order("float64", np.linalg.cholesky(at["A"]), jacobian)
    assert judged("cholesky(A)", at, torch, "A").verdict == verdict


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_small_among_many_entries_is_no_rounding(dtype: str) -> None:
    """The room for a 0 grows with the terms that cancel, and not with the entries of the gradient."""
    m = np.arange(20_000.0).reshape(100, 200) % 2
    planted = np.where(m == 0, 0.002, m).astype(dtype)
    torch = Numbers.of_first_order(dtype, np.array(m.sum() * 2, dtype), None, np.ones(()), {"w": planted})
    assert judged("sum((w*m) @ x)", {"w": m + 1, "m": m, "x": np.ones(200)}, torch, "w").verdict == "disagree"


def test_too_many_numbers_where_structure_proves_0_are_no_whole() -> None:
    """Some are judged, the others are not called checked."""
    x = np.linspace(1, 2, 100)
    check = judged("x**2", {"x": x}, Numbers.of_first_order("float64", x**2, {"x": np.full((100, 100), math.nan)}), "x")
    assert (check.verdict, check.sampled) == ("nan-trap", True)
    assert check.checked < check.entries


@pytest.mark.part("tables")
@pytest.mark.parametrize("text", ["relu(x)", "where(x > 0, x, 2*x)*w", "amax(stack([x, w*x]), dim=0)"])
def test_a_kink_at_one_of_many_points_is_found(text: str) -> None:
    """At any place."""
    for place in (1, 437, 998):
        x = np.random.default_rng(place).normal(size=1_000)
        x[place] = 0
        at = {"x": x, "w": np.array(3.0)} if "w" in text else {"x": x}
        check = check_of_rows(text, x, {name: value for name, value in at.items() if name != "x"})
        assert (check.verdict, check.findings[0].point) == ("kink", place)


@pytest.mark.parametrize(
    ("text", "shapes", "kinks"),
    [
        ("relu(A@x)", {"A": (3, 0), "x": (0,)}, {}),
        ("relu(A@x)", {"A": (0, 3), "x": (3,)}, {}),
        ("cat([x, abs(y)])", {"x": (0,), "y": (2,)}, {"y": 2}),
        ("abs(pad(x, (1, 1)))", {"x": (0,)}, {}),
        ("inv(A)", {"A": (0, 0)}, {}),
        ("abs(x@B + x[0])", {"x": (4,), "B": (2, 4, 5)}, {"x": 10}),
        ("abs(A@B)", {"A": (2, 3, 4), "B": (4, 5)}, {}),
        ("stack([x, y])*0 + relu(1.0*z)", {"x": (), "y": (), "z": (2,)}, {"z": 2}),
    ],
)
def test_kinks_of_all_shapes_are_found(
    text: str, shapes: Mapping[str, tuple[int, ...]], kinks: Mapping[str, int]
) -> None:
    """Of empty ones, batches of matrices, and what is stretched; all zeros, so that every kink is met."""
    check = checked(text, {name: np.zeros(shape) for name, shape in shapes.items()})
    assert Counter(f.variable for f in check.findings if f.verdict == "kink") == kinks


def test_a_zero_by_structure_is_counted_once() -> None:
    """Though it is in the sample too: of the last element of u, nothing is made."""
    u = np.random.default_rng(0).normal(size=(200, 200))
    text = "sum((u[1:, :-1] - u[:-1, :-1])**2 + (u[:-1, 1:] - u[:-1, :-1])**2)"
    check = check_of(Function(text).grad({"u": u}))
    assert (check.verdict, check.checked, check.entries, check.zeros) == ("agree", 40_000, 40_000, 1)
