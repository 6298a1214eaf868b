"""Answers of improve: outcomes, points and ranges, how sameness is known, and mistakes before torch is imported."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.arrays import Array
from gradcli.errors import InputError
from gradcli.language.parsing import parse
from gradcli.parts.batch.asking import answer
from gradcli.parts.batch.request_lines import read
from gradcli.parts.improve import improve as module
from gradcli.parts.improve.improving import improved
from gradcli.parts.improve.measuring import Measure


def test_each_outcome() -> None:
    """A better form; none needed; none found."""
    better = Function("1 - cos(x)").improve({"x": 1e-8})
    assert (better.outcome, better.form, better.same, better.passed) == ("better", "2*sin(x/2)**2", "proved", True)
    fine = Function("x**2").improve({"x": 3})
    assert (fine.outcome, fine.form, fine.same, fine.passed) == ("fine", "x**2", "", True)
    assert fine.after is None
    none = Function("x*exp(y) - y*exp(x)").improve({"x": 1, "y": 1 + 1e-8})
    assert (none.outcome, none.form, none.passed) == ("none", "x*exp(y) - y*exp(x)", False)


CLASSICS: list[Any] = [
    ("1/sqrt(1-v^2/c^2)-1", {"v": 1e-5, "c": 3}, "v**2/c/c/(1 + sqrt(1 - v**2/c/c))/sqrt(1 - v**2/c/c)"),
    ("(1-v^2/c^2)^(-1/2)-1", {"v": 1e-5, "c": 3}, "expm1(-1/2*log1p(-v**2/c**2))"),
    ("1/cos(x) - 1", {"x": 1e-5}, "2*sin(x/2)**2/cos(x)"),
    ("sqrt(p^2*c^2+m^2*c^4)-m*c^2", {"p": 1e-6, "c": 3, "m": 2}, "p**2/(hypot(p/c, m) + m)"),
    ("sqrt(4*x**2+1)-2*x", {"x": 1e9}, "1/(sqrt(4*x**2 + 1) + 2*x)"),
    ("acos(c)", {"c": 0.9999999999}, "2*atan2(sqrt(1 - c), sqrt(1 + c))"),
    ("asin(c)", {"c": 0.9999999999}, "atan2(c, sqrt(1 - c)*sqrt(1 + c))"),
    ("acos(1-x)", {"x": 1e-10}, "2*atan2(sqrt(x), sqrt(1 + (1 - x)))"),
    ("acosh(1+x)", {"x": 1e-10}, "log1p(x + sqrt(x*(x + 2)))"),
    ("mean(x**2)-mean(x)**2", {"x": [1e8, 1e8 + 1, 1e8 + 3]}, "mean((x - mean(x))**2)"),
    ("mean(x*y)-mean(x)*mean(y)", {"x": [1e8, 1e8 + 1], "y": [1e8, 1e8 + 2]}, "mean((x - mean(x))*(y - mean(y)))"),
    ("1/(1+exp(-x))-1/2", {"x": 1e-9}, "tanh(x/2)/2"),
    ("2*sigmoid(x)-1", {"x": 1e-9}, "tanh(x/2)"),
    ("binary_cross_entropy(sigmoid(x), y)", {"x": 40, "y": 0}, "binary_cross_entropy_with_logits(x, y)"),
    ("exp(x)-exp(-x)", {"x": 1e-9}, "2*sinh(x)"),
    ("1-tanh(x)", {"x": 20}, "2*sigmoid(-2*x)"),
    ("tanh(x)-tanh(y)", {"x": 1, "y": 1.0000000001}, "sinh(x - y)/cosh(x)/cosh(y)"),
    ("x**3-y**3", {"x": 1, "y": 1.0000000001}, "(x - y)*(x**2 + x*y + y**2)"),
    ("log(cosh(x))", {"x": 1000}, "logaddexp(x, -x) - log(2)"),
    ("log(cosh(x))", {"x": 1e-9}, "log1p(2*sinh(x/2)**2)"),
    ("log(2*cosh(x))", {"x": 1000}, "logaddexp(x, -x)"),
    ("log(sinh(x))", {"x": 1000}, "x + log1p(-exp(-2*x)) - log(2)"),
    ("log(exp(x)-1)", {"x": 1000}, "x + log1p(-exp(-x))"),
    ("log(exp(x)+1)-x", {"x": 50}, "logaddexp(0, -x)"),
    ("1-(1-p)**n", {"p": 1e-12, "n": 5}, "-expm1(n*log1p(-p))"),
    ("(exp(a*x)-1)/x", {"a": 2, "x": 1e-9}, "t = a*x; z = where(abs(t) < 1/1024, 1/1024, t); a*where("),
    ("(1+1/n)**n", {"n": 1e12}, "t = 1/n; z = where(abs(t) < 1/1024, 1/1024, t); exp(where("),
    ("(1-1/n)**n", {"n": 1e12}, "t = -1/n; z = where(abs(t) < 1/1024, 1/1024, t); exp(-where("),
    ("(1+r/n)**n", {"r": 0.05, "n": 1e9}, "t = r/n; z = where(abs(t) < 1/1024, 1/1024, t); exp(r*where("),
    ("(1+x)**(1/x)", {"x": 1e-9}, "z = where(abs(x) < 1/1024, 1/1024, x); exp(where("),
    ("x*log(1+1/x)", {"x": 1e9}, "t = 1/x; z = where(abs(t) < 1/1024, 1/1024, t); where("),
]


@pytest.mark.parametrize(("text", "at", "form"), CLASSICS, ids=[f"{text} at {at}" for text, at, _ in CLASSICS])
@pytest.mark.one_in(6)
def test_what_textbooks_mend_is_mended(text: str, at: Any, form: str) -> None:
    """It loses next to nothing, at the point and around it."""
    answer = Function(text).improve(at)
    assert answer.outcome == "better"
    assert answer.form == form or (form.endswith("where(") and answer.form.startswith(form))
    assert answer.before is not None
    assert answer.after is not None
    assert answer.before.worst >= 15
    assert answer.after.worst <= 3


LOGARITHMS = [
    ("-log(1 - tanh(x)**2)", "0..50", "float32"),
    ("-log(1 - tanh(x)**2)", "0..1000", "float64"),
    ("log(1 - tanh(x)**2)", "-1000..1000", "float64"),
    ("log(sech(x)**2)", "-1000..1000", "float64"),
    ("log(sech(x))", "-1000..1000", "float64"),
    ("log(cosh(x))", "-1000..1000", "float64"),
    ("log(1 - sigmoid(x)**2)", "-100..1000", "float64"),
    ("log(sigmoid(x)*(1 - sigmoid(x)))", "-1000..1000", "float64"),
    ("log(sigmoid(x)/(1 - sigmoid(x)))", "-1000..1000", "float64"),
    ("log(1 - tanh(x))", "-100..1000", "float64"),
    ("log((1 - tanh(x))/(1 + tanh(x)))", "-1000..1000", "float64"),
    ("log(exp(x)*sigmoid(x))", "-1000..1000", "float64"),
]
"""Logarithms of numbers that round to 0 or 1: of both signs, and far out."""


@pytest.mark.parametrize(("text", "ends", "dtype"), LOGARITHMS)
@pytest.mark.one_in(4)
def test_logarithms_of_what_rounds_to_0_are_mended_in_the_whole_range(text: str, ends: str, dtype: Any) -> None:
    """Nothing stays lost, so that it passes."""
    answer = Function(text).improve(box={"x": ends}, dtype=dtype)
    assert (answer.outcome, answer.still_lost, answer.passed) == ("better", "", True)
    assert answer.before is not None
    assert answer.after is not None
    assert answer.before.worst == answer.bits
    assert answer.after.worst <= 3


STAY_LOST = [
    ("log(1 - tanh(x)**4)", "0..1000", "all digits from x ≈ "),
    ("log(1 - tanh(x)**4)", "-1000..1000", "all digits up to x ≈ -"),
    ("log(1 - erf(x)**2)", "0..1000", "all digits from x ≈ "),
]
"""Functions with a form that is better in a part of the range alone, and where digits stay lost."""


@pytest.mark.parametrize(("text", "ends", "where"), STAY_LOST)
def test_what_stays_lost_is_said_and_does_not_pass(text: str, ends: str, where: str) -> None:
    """From where on, in words; the number there loses its digits, and one before it does not."""
    answer = Function(text).improve(box={"x": ends})
    assert answer.outcome == "better"
    assert answer.still_lost.startswith(where)
    assert not answer.passed
    assert f"still loses {answer.still_lost}" in str(answer)
    edge = float(answer.still_lost.split("≈ ")[1].split()[0].rstrip(","))
    lost = [Function(answer.form).improve(x).before for x in (1.5 * edge, 0.2 * edge)]
    assert [one is not None and one.worst > 23 for one in lost] == [True, False]


@pytest.mark.parametrize(("asked", "is_better"), [(0, True), (1, False)])
def test_a_form_is_better_at_a_point_only_where_it_loses_less_there(
    asked: int, is_better: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where it gains at points around it alone, as log(1/cosh(x)**2) does, which overflows at the first one."""
    monkeypatch.setattr("gradcli.parts.improve.exploring.RULES", ())
    points = [{"x": np.array(x)} for x in (50.0, 20.0, 18.0, 16.0)]

    def measured(points: Sequence[Mapping[str, Array]], asked: int) -> Measure:
        return Measure(program, points, ("x",), "float32", asked=asked)

    program = parse("-log(1 - tanh(x)**2)")
    found = improved(program, measured(points, asked), lambda point: measured([point], 0))
    assert (found is not None) == is_better


WITHOUT_VALUE = [
    ("p*log(p)", {"at": 0}, "-entr(p)"),
    ("p*log(p)", {"box": {"p": "0..1"}}, "-entr(p)"),
    ("p*log2(p)", {"box": {"p": "0..1"}}, "-entr(p)/log(2)"),
    ("p**(1/3)", {"at": -8}, "cbrt(p)"),
    ("p**(2/3)", {"at": -8}, "cbrt(p)**2"),
    ("p**(1/5)", {"at": -32}, "sign(p)*abs(p)**(1/5)"),
]
"""Functions that have no value at a point, and the form that has one there."""


@pytest.mark.parametrize(("text", "where", "form"), WITHOUT_VALUE)
def test_improve_names_the_form_that_a_check_names(text: str, where: dict[str, Any], form: str) -> None:
    """At the point, and over a range that it is in."""
    answer = Function(text).improve(where.get("at"), box=where.get("box"))
    assert (answer.outcome, answer.form, answer.passed) == ("better", form, True)
    check = Function(text).grad(where.get("at", 0)).check
    assert check is not None
    assert check.rewrite is not None
    assert check.rewrite.expression == form
    assert f"{text} is also defined" not in check.rewrite.reason


PROVED: list[Any] = [
    ("log(sigmoid(x))", {"x": -1000}, "logsigmoid(x)"),
    ("log(softmax(x))", {"x": [0, 1000]}, "log_softmax(x)"),
    ("-log(softmax(x)[0])", {"x": [0, 1000]}, "-log_softmax(x)[0]"),
    ("log(cosh(x))", {"x": 1000}, "logaddexp(x, -x) - log(2)"),
    ("tanh(x)", {"x": 20}, "sign(x)*(1 - 2*sigmoid(-2*abs(x)))"),
    ("sigmoid(x)", {"x": 50}, "1 - sigmoid(-x)"),
    ("x/(1 + abs(x))", {"x": -1e10}, "sign(x)*(1 - 1/(1 + abs(x)))"),
    ("log(mean(exp(x), dim=1))", {"x": [[1000, 1001], [1, 2]]}, "logsumexp(x, dim=1) - log(2)"),
]


@pytest.mark.parametrize(("text", "at", "form"), PROVED, ids=[text for text, *_ in PROVED])
def test_forms_with_logarithms_are_proved(text: str, at: dict[str, Any], form: str) -> None:
    """By what they are the logarithms of."""
    found = Function(text).improve(at)
    assert (found.form, found.same) == (form, "proved")


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("log(sum(exp(x)))", {"x": [1000, 1001]}, "logsumexp(x), which loses at most 9 of 53 bits"),
        ("log(mean(exp(x)))", {"x": [1000, 1001]}, "logsumexp(x) - log(2), which loses at most 9 of 53 bits"),
        ("(exp(x) - 1)/x", {"x": 1e-10}, "expm1(x)/x, which loses at most 20 of 53 bits"),
    ],
)
def test_a_simpler_form_is_named_too(text: str, at: dict[str, Any], said: str) -> None:
    """Where a check lets it pass, and it is much shorter than the form that loses least."""
    found = Function(text).improve(at)
    assert found.notes == (f"simpler, and good enough for a check: {said}",)
    assert Function(said.partition(", which")[0]).check(at).passed


def test_a_snippet_has_a_better_form_too() -> None:
    """Of its function."""
    answer = Function("x = torch.tensor(1e-4, requires_grad=True)\ny = 1 - torch.cos(x)\ny.backward()").improve()
    assert (answer.outcome, answer.form, answer.same) == ("better", "2*sin(x/2)**2", "proved")


def test_elements_are_points_of_an_elementwise_function_alone() -> None:
    """Of a sum there is one point; and more elements than are shown are one, too."""
    (strip,) = Function("1 - cos(x)").improve({"x": [1e-8, 1e-3, 1]}).strips
    assert (strip.variable, strip.places) == ("x", (1e-8, 1e-3, 1.0))
    assert strip.before[0] == 53
    assert strip.before[2] is not None
    assert strip.before[2] < 5
    (strip,) = Function("sum(1 - cos(x))").improve({"x": [1e-8, 1e-3, 1]}).strips
    assert strip.places == ("here", "around it")


def test_ranges_of_several_variables_have_a_strip_each() -> None:
    """And a value may stand beside a range."""
    answer = Function("(-b + sqrt(b*b - 4*a*c))/(2*a)").improve({"c": 1}, box={"a": "1..10", "b": "10..1e9"})
    assert [strip.variable for strip in answer.strips] == ["a", "b"]
    assert list(answer.inputs) == ["c"]
    assert answer.outcome == "better"


def test_what_has_no_value_here_is_mended_by_its_series() -> None:
    """As a check does it; the rest of the form is the function itself."""
    answer = Function("(exp(x) - 1)/x").improve({"x": 0})
    assert (answer.outcome, answer.same) == ("better", "proved")
    assert answer.form.startswith("z = where(abs(x) < 1/1024, 1/1024, x); where(")
    assert "series leave out less than half a rounding" in answer.domain
    assert answer.before is None


def test_single_precision_has_a_range_of_its_own() -> None:
    """Of 24 bits."""
    answer = Function("1 - cos(x)").improve(box={"x": "1e-3..1"}, dtype="float32")
    assert (answer.outcome, answer.bits) == ("better", 24)
    with pytest.raises(InputError, match="beyond float32"):
        Function("x").improve(box={"x": "1..1e300"}, dtype="float32")


def test_what_is_not_proved_is_said_to_be_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the points that it stands on."""
    monkeypatch.setattr(module, "_is_proved", lambda *_: False)
    answer = Function("1 - cos(x)").improve(box={"x": "1e-300..1"})
    assert (answer.same, answer.domain) == ("enclosed", "enclosures of both at 8 points of the range overlap")


def test_a_better_form_does_lose_less() -> None:
    """By the bits that are shown, and by torch's own numbers."""
    x = np.geomspace(1e-12, 1e12, 25)
    found = Function("sqrt(x + 1) - sqrt(x)").improve(box={"x": "1e-12..1e12"})
    (strip,) = found.strips
    assert found.after is not None
    assert found.after.worst <= 4
    for before, after in zip(strip.before, strip.after, strict=True):
        assert before is not None
        assert after is not None
        assert after <= before + 2
    y = Function(found.form).eval({"x": x}, check=False).value
    np.testing.assert_allclose(y, 1 / (np.sqrt(x + 1) + np.sqrt(x)), rtol=1e-14)


MISTAKES = [
    ({}, "needs a point, or a range"),
    ({"box": {"q": "0..1"}}, "no such variable"),
    ({"box": {"x": "1..0"}}, "above the upper one"),
    ({"box": {"x": "1"}}, "no '..'"),
]


@pytest.mark.parametrize(("given", "message"), MISTAKES)
def test_mistakes_are_found_first(given: dict[str, dict[str, str]], message: str) -> None:
    """Each with a message that names it."""
    with pytest.raises(InputError, match=message):
        Function("1 - cos(x)").improve(**given)  # type: ignore[arg-type]


def test_a_request_asks_the_same() -> None:
    """With the range under its key."""
    line = b'{"command": "improve", "expression": "1 - cos(x)", "in": "1e-300..1"}'
    found = answer(read(line))
    assert str(found) == str(Function("1 - cos(x)").improve(box={"x": "1e-300..1"}))


@pytest.mark.part("everywhere", "claims")
@pytest.mark.parametrize(
    ("text", "ends", "form"),
    [
        ("1 - cos(x)", "1e-300..1", "2*sin(x/2)**2"),
        pytest.param(
            "sqrt(x**2 + 1) - x",
            "-1e300..1e300",
            "where(x < 0, hypot(x, 1) - x, 1/(hypot(z, 1) + z))",
            marks=pytest.mark.thorough,
        ),
        ("x*exp(x)", "1..10", "x*exp(x)"),
        pytest.param("1/(1+exp(-x))-1/2", "1e-300..1", "tanh(x/2)/2", marks=pytest.mark.thorough),
        pytest.param("1/cos(x)-1", "1e-100..1", "2*sin(x/2)**2/cos(x)", marks=pytest.mark.thorough),
    ],
)
def test_a_form_is_proved_in_the_whole_range(text: str, ends: str, form: str) -> None:
    """With a value everywhere, and a bound of its lost bits; what needs no mending has one, too."""
    answer = Function(text).improve(box={"x": ends})
    assert answer.form.endswith(form)
    assert answer.domain == ("at every point of the range" if answer.outcome == "better" else "")
    assert answer.proved_bits is not None
    lost = answer.after or answer.before
    assert lost is not None
    assert lost.worst <= answer.proved_bits <= 12
    assert f"at most {answer.proved_bits} of 53 bits at every point of the range" in str(answer)
