"""Better forms: advice at a point, the search for it, and the best form over a range; each is the same function."""

import re
from typing import Any

import numpy as np
import pytest
from flint import arb

from gradcli import Function
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.language.program.shapes import infer
from gradcli.parts.claims import are_same
from gradcli.parts.improve import advice, improving
from gradcli.parts.improve.advice import is_same, is_same_at
from gradcli.parts.improve.expansions import expansions
from gradcli.parts.improve.exploring import MOST_MEASURED, Measured, better, searched
from gradcli.parts.improve.forms import Form
from gradcli.parts.improve.improving import improved
from gradcli.parts.improve.magnitudes import spread
from gradcli.parts.improve.measuring import ENOUGH, Measure, around
from gradcli.progress import budget
from gradcli.questions import judging
from gradcli.questions.bound_function import BoundFunction
from gradcli.reference.enclosure_plan import Reference
from gradcli.results import Check, Improvement
from tests.checks import check_of
from tests.examples import part
from tests.parsing import parse
from tests.work import counted


def _check(text: str, x: Any, **options: Any) -> Check:
    function = Function(text)
    return check_of(function.vjp(dict.fromkeys(function.variables, x), "ones", **options))


REWRITES = [
    ("log(1+x)", 1e-18, "inaccurate", "the rounding of 1+x", "log1p(x)"),
    ("sqrt(x+1)-sqrt(x)", 1e16, "inaccurate", "sqrt(x+1)-sqrt(x) cancels", "1/(sqrt(x + 1) + sqrt(x))"),
    ("exp(x)/sum(exp(x))", [1000, 0], "nan-trap", "exp(x) is 1.97e+434 here", "softmax(x, dim=0)"),
    ("log(sum(exp(x)))", [1000, 0], "nan-trap", "exp(x) is 1.97e+434 here", "logsumexp(x)"),
    # branches
    ("where(x>0, sqrt(x), 0)", -1, "nan-trap", "the branch not taken, sqrt(x), is nan here",
     "where(x > 0, sqrt(where(x > 0, x, 1)), 0)"),
    ("where(x==0, 1, sin(x)/x)", 0, "nan-trap", "the branch not taken, sin(x)/x, is nan here",
     "where(x == 0, 1, sin(x)/where(x == 0, 1, x))"),
    # removable singularities
    ("sin(x)/x", 0, "removable", "the limit of the derivative exists", "sinc(x/pi)"),
    ("x**2/x", 0, "removable", "the limit of the derivative exists", "x"),
    ("(exp(x)-1)/x", 0, "removable", "the limit of the derivative exists",
     "z = where(abs(x) < 1/1024, 1/1024, x); where(abs(x) < 1/1024, 1 + x/2 + x**2/6 + x**3/24 + x**4/120 + "
     "x**5/720, (exp(z) - 1)/z)"),
    ("-log((exp(x)/sum(exp(x)))[0])", [1000, 0], "nan-trap", "exp(x) is 1.97e+434 here", "-log_softmax(x, dim=0)[0]"),
    ("log(softmax(x))", [0, 1000], "nan-trap", "softmax(x) is 5.08e-435 here", "log_softmax(x)"),
    ("sqrt(x**4)", 0, "nan-trap", "", "x**2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "x", "verdict", "reason", "rewrite"), REWRITES, ids=[f"{t} at {x}" for t, x, *_ in REWRITES]
)
@pytest.mark.one_in(4)
def test_a_finding_names_the_operation_and_a_rewrite_that_works(
    text: str, x: Any, verdict: str, reason: str, rewrite: str
) -> None:
    """The rewrite was judged at the same point, and is judged here once more."""
    check = _check(text, x)
    assert check.verdict == verdict
    assert any(reason in finding.note for finding in check.findings), check.findings
    assert check.rewrite is not None
    assert (check.rewrite.expression, check.rewrite.verdict) == (rewrite, "agree")
    assert _check(rewrite, x).verdict == "agree"


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("exp(x) - exp(1)*x", 1.00000001),
        ("abs(x)", 0),
        ("log(x)", -1),
        ("t = (x - mean(x))/std(x); tanh(t)/t", [0.75, 0.75]),
    ],
)
@pytest.mark.one_in(2)
def test_a_rewrite_that_is_no_better_is_not_offered(text: str, x: Any) -> None:
    """Forms that are searched for and not found are not made up."""
    assert _check(text, x).rewrite is None


def test_a_rewrite_that_mends_the_value_alone_is_not_enough() -> None:
    """2*sin(x/2)**2/x**2 does, and its derivative is as bad as before."""
    rewrite = _check("(1-cos(x))/x**2", 1e-8).rewrite
    assert rewrite is not None
    assert rewrite.verdict == "agree"
    assert "1/2 - x**2/24" in rewrite.expression


def test_a_rewrite_keeps_the_rest_of_the_text() -> None:
    """Statements, names and spaces; what is no longer used goes."""
    check = _check("y = exp(x); z = y/sum(y); z*2", [1000, 1])
    assert check.rewrite is not None
    assert check.rewrite.expression == "z = softmax(x, dim=0); z*2"


def test_float32_has_limits_of_its_own() -> None:
    """exp(90) is a number in float64 alone."""
    text = "exp(x)/(1 + exp(x))**2"
    assert _check(text, 90).verdict == "agree"
    check = _check(text, 90, dtype="float32")
    assert check.verdict == "nan-trap"
    assert "float32 ends at 3.4e+38" in " ".join(finding.note for finding in check.findings)


@pytest.mark.parametrize(
    ("text", "at", "dtype", "said"),
    [
        ("sqrt(x[0]**2 + x[1]**2)", [1e-30, 1e-30], "float32", "x[0]**2 is 1e-60 here, and float32 loses digits below"),
        ("exp(x)", 800, "float64", "exp(x) is 2.73e+347 here, and float64 ends at 1.8e+308"),
    ],
)
def test_second_derivatives_name_what_leaves_the_range(text: str, at: Any, dtype: Any, said: str) -> None:
    """As first ones do, beside which they are."""
    check = Function(text).hessian(x=at, dtype=dtype).check
    assert check is not None
    assert any(said in one.note for one in check.findings if one.kind != "hessian")


def test_what_the_way_back_loses_is_no_disagreement() -> None:
    """Torch's value is right, and its derivative 0 where it is 1."""
    check = _check("x*1e300*1e300*1e-300*1e-300", 1e-300)
    assert check.verdict == "inaccurate"
    assert "1e-600" in check.findings[0].note


@pytest.mark.thorough
def test_rewrites_of_long_expressions_are_tried_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial is a whole check, so that twelve of a sum of hundreds of quotients would take a minute."""
    tried: list[str] = []

    def judged_form(_question: BoundFunction, text: str, *_: object) -> None:
        tried.append(text)

    monkeypatch.setattr(judging, "judged_form", judged_form)
    for terms, most in ((3, 12), (120, 3)):
        tried.clear()
        with budget(3600):  # the limit of time is not what is tested
            _check("+".join(f"(1 - cos({k + 1}*x))/x" for k in range(terms)), 0)
        assert 0 < len(tried) <= most


# -- the search at a point


def _found(text: str, **at: float) -> str:
    check = check_of(Function(text).jacobian(at))
    assert check.verdict in ("inaccurate", "nan-trap")
    if check.rewrite is None:
        return ""
    assert check.rewrite.verdict == "agree"
    return check.rewrite.expression


HAMMING = [
    ("(1 - cos(x))/sin(x)", {"x": 1e-200}, "tan(x/2)"),
    ("atan(N+1) - atan(N)", {"N": 1e90}, "r = hypot(N + 1/2, sqrt(3/4)); atan(1/r/r)"),
    ("1/sqrt(x) - 1/sqrt(x+1)", {"x": 1e100}, "1/(sqrt(x + 1) + sqrt(x))/sqrt(x)/sqrt(x + 1)"),
    ("tan(x+e) - tan(x)", {"x": 1.0, "e": 1e-14}, "sin(e)/cos(x + e)/cos(x)"),
    ("(x+1)**(1/3) - x**(1/3)", {"x": 1e12}, "x**(1/3)*expm1(1/3*log1p(1/x))"),
    ("exp(x) - 2 + exp(-x)", {"x": 1e-9}, "4*sinh(x/2)**2"),
    ("(-b + sqrt(b*b - 4*a*c))/(2*a)", {"a": 1.0, "b": 1e9, "c": 1.0}, "-2*c/(b + sqrt(b*b - 4*a*c))"),
    ("(-b - sqrt(b**2 - a*c))/a", {"a": 1.0, "b": -1e9, "c": 1.0}, "c/(sqrt(b**2 - a*c) - b)"),
    ("(n+1)*log(n+1) - n*log(n) - 1", {"n": 1e20}, "n*log1p(1/n) + log(n + 1) - 1"),
    ("log((1-e)/(1+e))", {"e": 1e-20}, "-2*atanh(e)"),
    ("sqrt((exp(2*x) - 1)/(exp(x) - 1))", {"x": 1e-12}, "sqrt(exp(x) + 1)"),
    ("(x+1)**(1/n) - x**(1/n)", {"x": 1e20, "n": 3.5}, "x**(1/n)*expm1(1/n*log1p(1/x))"),
    ("1/(x+1) - 2/x + 1/(x-1)", {"x": 1e50}, "2/x/(x + 1)/(x - 1)"),
    ("((1 + i)**n - 1)/j", {"i": 1e-12, "n": 3.5, "j": 1e-3}, "expm1(n*log1p(i))/j"),
    ("log(x + sqrt(x**2 - 1))", {"x": 1e200}, "log(x) + log1p(sqrt(1 - 1/x)*sqrt(1 + 1/x))"),
    ("log(1/x + sqrt(1 - x*x)/x)", {"x": 1e-200}, "log(1 + sqrt(1 - x*x)) - log(x)"),
    ("sqrt(x**2 + y**2) - x", {"x": 1e9, "y": 1.0}, "y**2/(sqrt(x**2 + y**2) + x)"),
    ("s = sin(x); (x - s)/x**3", {"x": 1e-5},
     "z = where(abs(x) < 1/128, 1/128, x); where(abs(x) < 1/128, 1/6 - x**2/120 + x**4/5040 - x**6/362880, (z "
     "- sin(z))/z**3)"),
    ("1/x - 1/tan(x)", {"x": 1e-30},
     "z = where(abs(x) < 1/1024, 1/1024, x); where(abs(x) < 1/1024, x/3 + x**3/45 + 2*x**5/945, 1/z - 1/tan(z))"),
    ("(e - sin(e))/(e - tan(e))", {"e": 1e-200},
     "z = where(abs(e) < 1/128, 1/128, e); where(abs(e) < 1/128, -1/2 + 9*e**2/40 - 27*e**4/2800 + "
     "27*e**6/112000, (z - sin(z))/(z - tan(z)))"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "expected"), part(HAMMING, 0, of=2))
@pytest.mark.one_in(8)
def test_cancellations_of_hamming_are_mended(text: str, at: dict[str, float], expected: str) -> None:
    """Hamming's examples and problems, at a point where the typed form has lost its digits."""
    assert _found(text, **at) == expected


def test_one_step_leads_to_another() -> None:
    """The root of squares that overflow, inside of the quadratic formula that cancels."""
    found = _found("(-b + sqrt(b*b - 4*a*c))/(2*a)", a=1e100, b=1e200, c=1e100)
    assert found.startswith("m = detach(maximum(abs(b), sqrt(abs(a))*sqrt(abs(c)))); -2*c/(b + m*sqrt(")


SERIES = ["1/x - 1/tan(x)", "log(1-x)/log(1+x)", "(1-cos(x))/(x*x)", "(x - sin(x))/(x - tan(x))", "(exp(x) - 1)/x"]


@pytest.mark.parametrize("text", SERIES)
@pytest.mark.one_in(2)
def test_what_a_series_leaves_out_is_less_than_a_rounding(text: str) -> None:
    """Of the value and of the derivative, on all of the interval: by balls at its end, where it is most."""
    every = list(expansions(Form(parse(text), {"x": ()})))
    found = [one for one in every if one.program.lines[-1].call.op.is_branch]  # of the whole
    assert found
    for one in found:
        match = re.search(r"abs\(x\) < (\d+)/(\d+)", one.text)
        assert match is not None
        end = int(match[1]) / int(match[2])
        for x in (end * (1 - 2.0**-40), -end * 0.99, end / 3, 1e-5 * end):
            (value, slope), (other, other_slope) = (_truths(t, x) for t in (text, one.text))
            assert abs(other - value) <= 2.0**-54 * abs(value)
            assert abs(other_slope - slope) <= 2.0**-54 * abs(slope)


def _truths(text: str, x: float) -> tuple[arb, arb]:
    program = parse(text)
    point = FunctionAtPoint.from_inputs(
        program, infer(program, dict.fromkeys(program.variables, ())), {"x": np.asarray(x)}
    )
    plan = Reference(point.program, point.shapes, point.inputs).plan([(point.program.variables[0], 0)])
    found = plan.run(400)
    value, slope = found.values[0], found.columns[point.program.variables[0], 0][0]
    assert isinstance(value, arb)
    assert isinstance(slope, arb)
    return value, slope


@pytest.mark.parametrize("text", ["1/x", "log(x)/x", "sin(x)/x**2", "abs(x)/x", "exp(1 + x) - exp(1 - x)"])
def test_what_has_no_series_gets_none(text: str) -> None:
    """Poles, kinks, and coefficients that are not rational."""
    assert list(expansions(Form(parse(text), {"x": ()}))) == []


def test_improve_proves_an_identity_of_the_table() -> None:
    """The search finds it, and the claim that both are one function is proved."""
    found = _found("sin(x)*cos(y) - cos(x)*sin(y)", x=1.0, y=1.0 + 1e-13)
    assert found == "sin(x - y)"
    answer = Function("sin(x)*cos(y) - cos(x)*sin(y)").improve({"x": 1.0, "y": 1.0 + 1e-13})
    assert (answer.form, answer.same) == ("sin(x - y)", "proved")


def test_names_of_definitions_are_new() -> None:
    """Definitions before the text have names that nothing in it has."""
    at: dict[str, Any] = {"r": np.asarray(1e80)}
    program = parse("atan(r+1) - atan(r)")
    best = better(searched(Form(program, {"r": ()}), Measure(program, around(at, "float64"), ("r",), "float64")))[
        0
    ].form
    assert best.text == "r1 = hypot(r + 1/2, sqrt(3/4)); atan(1/r1/r1)"
    assert is_same(program, best.text, at)


def test_a_form_is_found_in_bounded_work() -> None:
    """Long sums of what cancels have many forms."""
    text = " + ".join(f"(tan(x + {n}) - tan(x))*(1/(x + {n}) - 1/x)" for n in range(1, 5))
    at = {"x": np.asarray(1e9)}
    program = parse(text)
    with counted() as work:
        assert (
            len(searched(Form(program, {"x": ()}), Measure(program, around(at, "float64"), ("x",), "float64")))
            <= MOST_MEASURED
        )
    assert work.calls < 20_000_000


def test_nothing_is_searched_where_numbers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where a known cure is enough."""
    asked: list[str] = []

    def nothing(original: Form, _: Measure) -> list[Measured]:
        asked.append(original.text)
        return []

    monkeypatch.setattr(advice, "searched", nothing)
    assert _found("1 - cos(x)", x=1e-8) == "2*sin(x/2)**2"
    check = check_of(Function("tan(x + 1) - tan(x)").vjp({"x": 0.5}))
    assert check.verdict == "agree"
    assert asked == []
    assert _found("tan(x + e) - tan(x)", x=1.0, e=1e-14) == ""
    assert asked == ["tan(x + e) - tan(x)"]


# -- over a range


@pytest.mark.parametrize(
    ("low", "high"), [(1e-300, 1e300), (-1.0, 2.0), (0.0, 1.0), (-5.0, -1.0), (1.0, 1 + 1e-10), (0.0, 1.7e308)]
)
def test_points_of_a_range_are_in_it_by_magnitude(low: float, high: float) -> None:
    """Both ends, what is shown in order, points around each, and as many near 1e-300 as near 1."""
    found = spread(low, high)
    assert found.shown == tuple(sorted(set(found.shown)))
    assert (found.shown[0], found.shown[-1]) == (low, high)
    assert found.values.min() == low
    assert found.values.max() == high
    assert np.isfinite(found.values).all()
    for n, place in enumerate(found.shown):
        own = found.values[found.groups == n]
        assert place in own
        assert len(own) > 1 or place == 0
    assert (0.0 in found.shown) == (low <= 0 <= high)


def test_one_number_is_a_range() -> None:
    """Of one point."""
    assert spread(3.0, 3.0).values.tolist() == [3.0]
    assert spread(0.0, 0.0).values.tolist() == [0.0]


PAIRS = [
    ("1 - cos(x)", "2*sin(x/2)**2", True),
    ("sqrt(x**2 + 1) - x", "1/(sqrt(x**2 + 1) + x)", True),
    ("sqrt(x**2 + 1) - x", "where(x < 0, hypot(x, 1) - x, 1/(hypot(x, 1) + x))", True),
    ("sqrt(x**2 + 1) - x", "where(x < 0, hypot(x, 1) - x, 1/(hypot(x, 1) - x))", False),
    ("abs(x)", "sqrt(x**2)", True),
    ("x", "sqrt(x**2)", False),
    ("x", "where(x == 1, 2, x)", False),
    ("x", "where(x == 1, 1, x)", True),
    ("x**2", "where(x > 1, x*x, x**2)", True),
    ("exp(x)/sum(exp(x))", "softmax(x)", True),
    ("exp(x)/sum(exp(x))", "softmax(-x)", False),
    ("0.1*x + 0.2*x", "0.3*x", True),
    # sums of one have indices of other sizes than those of the other
    ("sum(eye(2, 3)*w) + 0*sum(B)", "3*w + 0*sum(B)", False),
    ("sum(eye(3)*w) + 0*sum(B)", "3*w + 0*sum(B)", True),
]


@pytest.mark.parametrize(("one", "other", "expected"), PAIRS, ids=[f"{a} is {b}" for a, b, _ in PAIRS])
def test_sameness_is_proved_of_what_is_the_same(one: str, other: str, expected: bool) -> None:
    """In every region between branches, and on their boundaries."""
    shapes = {"x": (3,), "w": (), "B": (5, 2)} if "sum" in one else {"x": ()}
    assert are_same(parse(one, shapes=shapes), parse(other, shapes=shapes), shapes) is expected


def _over(text: str, **ranges: str) -> Improvement:
    return Function(text).improve(box=ranges)


@pytest.mark.parametrize(
    ("text", "bounds", "form", "switches"),
    [
        ("1 - cos(x)", "1e-300..1", "2*sin(x/2)**2", ()),
        ("sqrt(x**2 + 9) - x", "1..1e300", "9/(hypot(x, 3) + x)", ()),
        pytest.param(  # which the guide shows
            "sqrt(x**2 + 1) - x",
            "-1e300..1e300",
            "z = where(x < 0, 1, x); where(x < 0, hypot(x, 1) - x, 1/(hypot(z, 1) + z))",
            ("x < 0",),
            marks=pytest.mark.thorough,
        ),
        ("log(1 + exp(x))", "-1e3..1e3", "logaddexp(0, x)", ()),
    ],
)
def test_forms_over_a_range_are_found(text: str, bounds: str, form: str, switches: tuple[str, ...]) -> None:
    """One that serves everywhere, or two with the switch between them; proved where they can be."""
    answer = _over(text, x=bounds)
    assert (answer.outcome, answer.form, answer.switches, answer.same) == ("better", form, switches, "proved")
    assert answer.before is not None
    assert answer.after is not None
    assert answer.before.worst > 40
    assert answer.after.worst <= ENOUGH


def test_the_switch_is_found_by_measuring() -> None:
    """x/(x**2 + 1) overflows for large x, and 1/(x + 1/x) for small x: somewhere between, both serve."""
    answer = _over("x/(x**2 + 1)", x="-1e300..1e300")
    (condition,) = answer.switches
    words = condition.split()
    assert words[:2] == ["abs(x)", "<"]
    assert 1e-100 < float(words[2]) < 1e100
    assert answer.after is not None
    assert answer.after.worst <= ENOUGH
    assert answer.same == "proved"


def test_what_is_not_the_same_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little as it loses."""
    program = parse("1 - cos(x)")
    points = [{"x": np.asarray(x)} for x in (1e-9, 1e-5, 1e-3)]
    measure = Measure(program, points, ("x",), "float64", asked=0, enough=ENOUGH)
    assert improved(program, measure, lambda point: measure) is not None
    monkeypatch.setattr(improving, "is_same_at", lambda *_: False)
    assert improved(program, measure, lambda point: measure) is None


def test_forms_are_compared_where_they_serve() -> None:
    """A form that holds on one side of 0 is the function there, and not on the other."""
    program = parse("sqrt(x**2)")
    assert is_same_at(program, "x", [{"x": np.asarray(2.0)}])
    assert not is_same_at(program, "x", [{"x": np.asarray(-2.0)}])
