"""Kinks, jumps, removable singularities and what is undefined: hand-derived one-sided derivatives and limits."""

import re
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck.point import Numbers
from tests.checks import check_of
from tests.crosscheck.asking import asked, checked, judged, slope_of
from tests.examples import part


@pytest.mark.thorough
def test_zeros_of_a_thousand_elements_are_looked_at_together() -> None:
    """Elementwise functions share the looks from either side; what is over the budget is said."""
    check = checked("relu(x)", np.zeros(1_000))
    assert (check.verdict, check.checked) == ("kink", 1_000)
    assert all(f.one_sided == (0, 1) for f in check.findings)
    check = checked("sin(x)/x", np.zeros(1_000))
    assert (check.verdict, check.checked) == ("removable", 1_000)
    check = checked("sum(sin(x)/x)", np.zeros(100))  # some looks are within the budget, others not called undefined
    assert check.verdict == "removable"
    assert check.checked < check.entries


def test_an_entry_that_does_not_depend_on_a_missing_value_is_an_exact_zero() -> None:
    """log(x) of [-1, 2]: only the first row and column are undefined, and y[0]."""
    check = asked("jacobian", "log(x)", {"x": [-1, 2]})
    assert [(f.row, f.column) for f in check.findings] == [((0,), (0,))]


def test_one_kink_of_two_variables_is_told_by_variable() -> None:
    """abs(x - y) has one along each."""
    check = checked("abs(x - y)", {"x": 2, "y": 2})
    assert [(f.variable, f.one_sided) for f in check.findings] == [("x", (-1, 1)), ("y", (-1, 1))]


@pytest.mark.parametrize(("command", "options"), [("hessian", {}), ("hvp", {"u": [1.0, 1.0]})])
def test_second_derivatives_where_y_has_no_value_are_undefined(command: str, options: Any) -> None:
    """Also those by elements that have nothing to do with it, as their gradient is."""
    check = check_of(getattr(Function("sum(log(x)**2)"), command)([1.0, -2.0], **options))
    assert [f.verdict for f in check.findings if f.of == command] == ["undefined"] * check.entries


@pytest.mark.parametrize(
    ("text", "verdict"), [("relu(x[0])*x[1] + x[1]**2", "kink"), ("sqrt(x[0])*x[1] + x[1]**2", "undefined")]
)
def test_a_product_of_the_hessian_by_what_has_no_slope_does_not_exist(text: str, verdict: str) -> None:
    """Also where the direction is another."""
    check = check_of(Function(text).hvp([0.0, 1.0], u=[1.0, 1.0]))
    assert {f.column: f.verdict for f in check.findings if f.of == "hvp"}[0,] == verdict


@pytest.mark.parametrize(
    ("text", "x", "truth"),
    [("(1-cos(x))/x**2", 1e-8, 0.5), ("log(1+x)", 1e-18, 1e-18), ("sum(x)", [1e16, 1, -1e16], 1)],
)
def test_a_value_that_lost_its_digits_is_reported(text: str, x: Any, truth: float) -> None:
    """Also where its derivative is right."""
    check = checked(text, x)
    value = next(f for f in check.findings if f.variable is None)
    assert value.verdict == "inaccurate"
    assert value.reference == pytest.approx(truth)
    assert "digits survive" in value.note


def test_rounding_beside_a_kink_that_the_whole_has_not_is_lost_digits() -> None:
    """By hand, lerp(x, x, x) is x and the slope of the whole is 0; torch's terms of size 1 cancel to 2e-16."""
    slope = slope_of(checked("t = x + 1.47; 2*abs(t) - abs(2*t) + lerp(x, x, x) - x", -1.47))
    assert (slope.verdict, slope.reference) == ("inaccurate", 0)
    assert slope.torch is not None
    assert 0 < abs(slope.torch) < 1e-15
    assert "but the whole is smooth here" in slope.note
    assert slope_of(checked("2*abs(x) - abs(2*x) + relu(x) - relu(-x)", 0)).verdict == "disagree"
    singular = asked("jvp", "prod(svdvals(A))", {"A": [[3, 3], [3, 3]]}, "float32", u={"A": [[1, -1], [1, -1]]})
    assert (singular.verdict, singular.findings[0].reference) == ("inaccurate", 0)  # |det| is 0 along u, torch's -1e-6
    assert checked("t = lerp(x, x, x); where(x > t, x*t, x - t)", -1.47).verdict == "agree"  # x > x never holds


def test_a_value_on_one_side_of_a_jump_is_no_disagreement() -> None:
    """Torch heeds the sign of -0.0: atan2(-0.0, -1) is -pi, and atan2(0, -1) is pi."""
    check = asked("eval", "atan2(y, x)", {"y": "-0.0,0", "x": "-1,-1"})
    assert [(f.row, f.verdict, f.proven) for f in check.findings] == [((0,), "kink", False)]
    assert "torch gives -3.141592653589793, the value on one side, by the sign of a 0" in check.findings[0].note


def test_a_planted_angle_disagrees_on_the_cut_too() -> None:
    """It is on neither side."""
    for planted, verdict in ((3.0, "disagree"), (np.pi, "agree"), (-np.pi, "kink")):
        assert judged("atan2(y, -1)", {"y": 0.0}, Numbers("float64", np.array(planted))).verdict == verdict


@pytest.mark.parametrize(
    ("text", "x", "verdicts"),
    [
        ("where(x == 0, 0, x*sin(1/x))", 0.0, ("unchecked", "unchecked")),
        ("where(x >= 1, exp(x), exp(1)*x)", 1.0, ("agree", "disagree")),
        ("min([exp(1)*x, exp(1), exp(2)/exp(1)])", 1.0, ("kink", "kink")),
    ],
)
def test_what_no_series_tells_refutes_nothing(text: str, x: float, verdicts: tuple[str, str]) -> None:
    """And what no bits tell apart is one number: neither a kink nor an order is made of its rounding."""
    value = Function(text).eval({"x": x}).value
    numbers = (Numbers.of_first_order("float64", value, {"x": np.array(planted)}) for planted in (np.e, 1e9))
    assert tuple(judged(text, {"x": x}, one, "x").verdict for one in numbers) == verdicts


def test_a_slope_that_is_too_large_to_divide_by_is_not_known() -> None:
    """Tanh is sinh/cosh in its series, and at 1e200 both are beyond all balls."""
    for x in (1e100, -1e200, 1e300):
        assert checked("abs(tanh(floor(x)) - 1)", x).verdict != "disagree"
        assert checked("tanh(floor_divide(x, 2))", x).verdict != "disagree"


@pytest.mark.parametrize(
    ("text", "at", "by", "jump"),
    [
        ("2**round(x)", {"x": 0.5}, "x", "from 1 on the left over 1 to 2 on the right"),
        ("x**sign(a)", {"x": 2.0, "a": 0.0}, "a", "from 0.5 on the left over 1 to 2 on the right"),
        ("(1 + r)**floor(t)", {"r": 1.0, "t": 2.0}, "t", "from 2 on the left over 4 to 4 on the right"),
        ("lr*0.5**(t//30)", {"lr": 4.0, "t": 60.0}, "t", "from 2 on the left over 1 to 1 on the right"),
        ("ldexp(3, floor(x))", {"x": 1.0}, "x", "from 3 on the left over 6 to 6 on the right"),
        ("0**abs(x)", {"x": 0.0}, "x", "from 0 on the left over 1 to 0 on the right"),
        ("float_power(0, relu(x))", {"x": 0.0}, "x", "from 1 on the left over 1 to 0 on the right"),
        ("logaddexp2(floor(x), 0) - log2(1 + exp2(floor(x))) + floor(x)", {"x": 1.0}, "x", "from 0 on the left over 1"),
    ],
)
@pytest.mark.parametrize(
    "command", ["grad", "jacobian", "hessian", pytest.param("check", marks=pytest.mark.part("claims"))]
)
@pytest.mark.one_in(2)
def test_a_jump_in_an_exponent_is_a_jump(command: str, text: str, at: dict[str, float], by: str, jump: str) -> None:
    """By hand, for every command; torch says 0."""
    check = asked(command, text, at)
    found = next(f for f in check.findings if f.variable == by and f.of in ("", "gradient"))
    assert (check.verdict, found.verdict, found.one_sided) == ("kink", "kink", (0, 0))
    assert jump in found.note


def test_a_special_value_inside_of_a_kink_is_not_that_of_both_sides() -> None:
    """By hand: sinc is 1 - (pi*x)**2/6 + ..., so that of relu(a) has second derivatives 0 and -pi**2/3 at 0."""
    check = asked("hessian", "sinc(relu(a))", {"a": 0.0})
    (found,) = (f for f in check.findings if f.of == "hessian")
    assert found.verdict == "kink"
    assert found.one_sided == pytest.approx((0, -(np.pi**2) / 3))
    assert asked("hessian", "sinc(abs(a))", {"a": 0.0}).findings[0].reference == pytest.approx(-(np.pi**2) / 3)


@pytest.mark.parametrize(("text", "has"), [("relu(x)", "1"), ("maximum(x, 2*x)", "1"), ("where(x > 0, 3*x, x)", "")])
def test_a_formula_that_takes_another_side_than_torch_is_said_to(text: str, has: str) -> None:
    """Of relu it is 1 where x is 0 or more, and torch takes 0."""
    (found,) = asked("grad", text, {"x": 0.0}).findings
    assert found.note.endswith(f", where the formula has {has}") == bool(has)


COSINE = "dot(a, b)/(norm(a)*norm(b))"
ROOTS = "dot(a, b)*rsqrt(dot(a, a))*dot(b, b)**-0.5"

# text, a, b, the slope by each element of a on the right of the kink; by b it is that times norm(a)/norm(b)
ANGLES = [
    (f"acos({COSINE})", [1.0, 2.0], 1, [2 / 5, 1 / 5]),
    (f"acos({COSINE})", [1.0, 2.0], 2, [2 / 5, 1 / 5]),
    (f"-acos({COSINE})", [1.0, 2.0], -1, [2 / 5, 1 / 5]),
    (f"acos({COSINE})", [1.0, 1.0, 2.0], 1, [5**0.5 / 6, 5**0.5 / 6, 2**0.5 / 6]),
    (f"acos({COSINE})", [2.0**-100, 2.0**-99], 1, [0.4 * 2.0**100, 0.2 * 2.0**100]),
    ("acos(cosine_similarity(a, b, dim=0))", [1.0, 2.0], 1, [2 / 5, 1 / 5]),
    ("acos(dot(normalize(a, dim=0), normalize(b, dim=0)))", [1.0, 2.0], 1, [2 / 5, 1 / 5]),
    (f"acos({ROOTS})", [1.0, 2.0], 1, [2 / 5, 1 / 5]),
    (f"sqrt(1 - ({COSINE})**2)", [1.0, 2.0], 1, [2 / 5, 1 / 5]),
    (f"sqrt(1 - ({COSINE})**2)", [2.0**-100, 2.0**-99], 1, [0.4 * 2.0**100, 0.2 * 2.0**100]),
    (f"acosh(1/({COSINE}))", [1.0, 2.0], 1, [2 / 5, 1 / 5]),
    ("norm(a/norm(a) - b/norm(b))", [1.0, 2.0], 2, [2 / 5, 1 / 5]),
]


@pytest.mark.parametrize(("text", "a", "times", "slopes"), part(ANGLES, 0, of=2))
@pytest.mark.one_in(2)
def test_the_angle_between_parallel_vectors_has_a_kink(
    text: str, a: list[float], times: float, slopes: list[float]
) -> None:
    """By hand: a step along e turns a by |e - (e.a)a/(a.a)|/norm(a) of it, to either side."""
    check = asked("grad", text, {"a": a, "b": [times * one for one in a]})
    for name, factor in (("a", 1.0), ("b", abs(1 / times))):
        found = [f for f in check.findings if f.variable == name]
        assert {(f.verdict, f.proven) for f in found} == {("kink", True)}
        sides = sorted((f.column, f.one_sided) for f in found)
        assert [s for _, s in sides] == [pytest.approx((-slope * factor, slope * factor)) for slope in slopes]


@pytest.mark.parametrize("text", [f"acos({COSINE})**2", f"abs(1 - {COSINE})", f"abs(1 - ({ROOTS})**3)"])
def test_the_square_of_an_angle_is_smooth(text: str) -> None:
    """By hand: it is least where the vectors are parallel, so that its slopes are 0."""
    check = asked("grad", text, {"a": [1.0, 2.0], "b": [2.0, 4.0]})
    found = [f for f in check.findings if f.variable is not None]
    assert {f.verdict for f in found} <= {"inaccurate", "nan-trap", "agree"}
    assert all(f.reference == 0 for f in found)
    assert check.checked == check.entries


def test_a_slope_beside_an_edge_that_is_no_exact_zero_is_not_left_out() -> None:
    """By hand: below 1 the root has no value, and above its slope grows without bound, as slowly as 1e-400*(x - 1)."""
    root = f"sqrt(1 - ({COSINE})**2 + 1e-200*(a[0] - 1)*1e-200)"
    (found, *_) = asked("grad", root, {"a": [1.0, 2.0], "b": [1.0, 2.0]}).findings
    assert (found.variable, found.column, found.verdict) == ("a", (0,), "undefined")


NO_LIMITS = [
    ("x**2*y/(x**4 + y**2)", "y moves by t^2"),  # 0 on all lines, 1/2 along y = x²
    ("x**3*y/(x**6 + y**2)", "y moves by t^3"),
    ("x*y**2/(x**2 + y**4)", "x moves by t^2"),
    ("y**2/x", "x moves by t^2"),
    ("x*y/(x**2 + y**2)", "depends on the way"),
    ("sum(where(x == 0, inf*x, x + y))", "an equality holds at this point alone"),
    ("x**4*y/(x**8 + y**2)", "y moves by t^4"),
    ("x**3*y**2/(x**6 + y**4)", "y moves by t^3/2"),
    ("x**2*y**2/(x**2*y**2 + (x - y)**2)", "all inputs move by equal steps"),  # 1 along x = y, and 0 on other lines
    ("x*y/(x + y)", "y by t^2 besides"),
]


@pytest.mark.parametrize(("text", "why"), NO_LIMITS)
def test_what_has_one_limit_on_lines_alone_is_not_removable(text: str, why: str) -> None:
    """By hand: along a curve it is another, or the line leaves the branch that is taken at the point."""
    check = asked("eval", text, {"x": 0.0, "y": 0.0})
    assert check.verdict == "undefined"
    assert why in check.findings[0].note


@pytest.mark.parametrize("text", ["x**2*y/(x**2 + y**2)", "sin(x*y)/x", "(x**3 + y**3)/(x**2 + y**2)"])
def test_what_has_a_limit_on_curves_too_is_removable(text: str) -> None:
    """By hand: each is below |x| + |y|.  That is not proved, and the words say what was done."""
    check = asked("eval", text, {"x": 0.0, "y": 0.0})
    assert check.verdict == "removable"
    assert re.search(r"the same limit along \d lines and 14 curves, which is no proof", check.findings[0].note)


@pytest.mark.parametrize(("text", "x"), [("sin(x)/x", 0.0), ("sin(x)/x", [0.0, 1.0]), ("sin(x)/x + y", 0.0)])
def test_a_limit_by_one_input_exists_as_there_are_two_sides(text: str, x: Any) -> None:
    """Also where other elements are inputs of other elements of y."""
    at = {"x": x, "y": 1.0} if "y" in text else {"x": x}
    note = asked("eval", text, at).findings[0].note
    assert ("the limit of the value exists" in note) is ("y" not in text)


@pytest.mark.parametrize(
    "command", ["grad", "jacobian", pytest.param("check", marks=pytest.mark.part("claims")), "hessian"]
)
@pytest.mark.parametrize(
    ("text", "at", "verdicts"),
    [
        ("(a*b - c)/a", {"a": 0.0, "b": 3.0, "c": 0.0}, ("removable", "undefined")),  # b all around a = 0
        ("x**2*y/(x**2 + y**2) + a/a*0", {"a": 0.0, "x": 0.0, "y": 0.0}, ("undefined", "undefined")),
        ("a + b**2/b", {"a": 1.0, "b": 0.0}, ("undefined", "removable")),  # no number of any a, where b is held at 0
    ],
)
def test_what_no_derivative_is_asked_by_is_held_constant(
    command: str, text: str, at: dict[str, float], verdicts: tuple[str, str]
) -> None:
    """By hand: by a alone as if the others were numbers in the text, and by all with all of them moving."""
    alone = {name: value for name, value in at.items() if name != "a"}
    of_numbers = re.sub(r"\b[a-z]\b", lambda name: f"({alone[name[0]]})" if name[0] in alone else name[0], text)
    checks = [asked(command, text, at, wrt=["a"]), asked(command, of_numbers, {"a": at["a"]}), asked(command, text, at)]
    assert [slope_of(check).verdict for check in checks] == [verdicts[0], verdicts[0], verdicts[1]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x**3*y/(x**4 + y**2)", "another one where y moves by t^2"),  # x/2 along y = x², and 0 on all lines
        ("(x**3 + y**3)/(x**2 + y**2)", "its slope has no limit"),
    ],
)
def test_what_is_differentiable_on_lines_alone_has_no_derivative(text: str, why: str) -> None:
    """By hand."""
    assert why in slope_of(asked("grad", text, {"x": 0.0, "y": 0.0})).note


ONES, ZEROS = {"x": [1.0, 1.0, 1.0], "a": 1.0}, {"x": 0.0, "y": 0.0}
TIED = [
    *((text, ONES) for text in ("sort(x*a).values", "msort(x*a)", "median(x*a)", "kthvalue(x*a, 2).values")),
    *((text, ONES) for text in ("topk(x*a, 2).values", "quantile(x*a, 0.5)", "nanmedian(x*a)", "cummax(x*a, 0)[0]")),
    ("median(x*a)", {"x": [1.0] * 9, "a": 1.0}),
    ("median(x*a + b)", ONES | {"b": 1.0}),
    ("amax(x) + amin(x)", {"x": [1.0, 1.0, 1.0]}),
    ("maximum(x[0] + x[1], 2*x[0])", {"x": [1.0, 1.0]}),
    ("maximum(minimum(x, y - 1000*x), 0)", ZEROS),  # another slope in a cone of a thousandth
    ("maximum(minimum(x, y - 1e9*x), 0)", ZEROS),
    *((text, ZEROS) for text in ("where(y > 0, x, 2*x)", "x*where(y > 0, 1, 2)", "where(y == 0, x, 0)", "x*sign(y)")),
    *((text, ZEROS) for text in ("where((x > 0) & (y > 0), x, 0)", "where(x*y > 0, x + 1, 1)", "sqrt(abs(x*y))")),
    *((text, ZEROS) for text in ("floor(x*y)", "where(x*y > 0, 1, 0)", "where(x*y == 0, 0, x)")),
    ("where((x == 0) & (y == 0), 0, x**3*y/(x**4 + y**2))", ZEROS),
    *((f"sum({text})", {"x": [0.0] * 70, "y": [0.0] * 70}) for text in ("where(y > 0, x, 2*x)", "where(y == 0, x, 0)")),
]
SMOOTH = [
    *((text, ONES) for text in ("sum(sort(x*a).values)", "sum(topk(x*a, 3).values)", "maximum(x*a, a*x)")),
    ("maximum(x + 0, x)", {"x": 2.0}),
    ("maximum(x[0] + x[1], x[1] + x[0])", {"x": [1.0, 2.0]}),
    ("amax(x) + amin(x)", {"x": [1.0, 1.0]}),
    ("maximum(x, y)*minimum(x, y)", {"x": 1.0, "y": 1.0}),
    *((text, ZEROS) for text in ("where(y > 0, x, x + x*y)", "x*(y > 0) + x*(y <= 0)", "x**2*floor(y)", "abs(x*y)")),
    *((text, ZEROS) for text in ("floor(x*y)*x*y", "where((x > 0) & (y > 0), x*y, 0)", "floor((x + y)*0)")),
]


@pytest.mark.parametrize(("text", "at"), TIED, ids=[text for text, _ in TIED])
def test_what_ties_is_never_called_wrong(text: str, at: dict[str, Any]) -> None:
    """A partial derivative may exist where torch has another number: the function has none along all inputs."""
    command = "grad" if text.startswith("sum") else "jacobian"
    assert asked(command, text, at).verdict == "kink"


@pytest.mark.parametrize(("text", "at"), SMOOTH, ids=[text for text, _ in SMOOTH])
def test_a_tie_that_nothing_breaks_is_smooth(text: str, at: dict[str, Any]) -> None:
    """By hand: a sum over all elements, or two ways to write one number."""
    assert asked("jacobian", text, at).verdict == "agree"


def test_positions_do_not_move_into_another_row() -> None:
    """A row that holds NaN has no value, whatever is in the next one."""
    w = [[1.0, 2.0], [np.nan, np.nan], [2.0, 3.0], [4.0, 5.0]]
    check = asked("grad", "mean(sqrt(sum((w[a] - w[b])**2, dim=1)))", {"w": w, "a": [0, 1, 2], "b": [1, 1, 3]})
    assert {f.verdict for f in check.findings} == {"undefined"}
