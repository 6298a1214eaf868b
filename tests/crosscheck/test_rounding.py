"""Digits that torch's own passes lose by rounding are `inaccurate`; their mistakes `disagree`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff import run as torch_reading
from gradcli.crosscheck import rounding
from gradcli.language import ops
from gradcli.progress import budget
from gradcli.recording import pass_recorder
from tests.checks import check_of
from tests.crosscheck import extremes
from tests.crosscheck.asking import asked, plant
from tests.examples import examples, in_turn, part, seeds
from tests.parsing import parse

# -- lost digits

LOST = [
    ("vjp", "std(x+a)", {"x": "1,2,4", "a": 1000.1}),
    ("vjp", "tanhshrink(x)", {"x": 1e-5}),
    ("vjp", "atan2(y,x)", {"x": 9e-29, "y": -5.4e250}),
    ("vjp", "asinh(x)", {"x": 1e200}),
    ("vjp", "logsumexp(x,0)", {"x": "100000000.5,100000001.7"}),
    ("vjp", "polygamma(2,x)", {"x": 4e144}),
    ("hessian", "log(cosh(x))", {"x": 400}),
    ("hessian", "tanhshrink(x)", {"x": 1e-9}),
    # torch's own products underflow: (g*det(A))*inv(A), and inv(A)*(g*inv(A)), both transposed
    ("grad", "det(sin(A))**2", {"A": "[[1e-12, 2e-12], [-3e-12, 1.5e-12]]", "dtype": "float32"}),
    ("grad", "det(A)**2", {"A": "[[3e-12, 1e-12], [2e-12, -1e-12]]", "dtype": "float32"}),
    ("grad", "sum(inv(A)*c)", {"A": "[[1e-12, 0], [0, 1e12]]", "c": 1e-34, "dtype": "float32"}),
    # the error of elimination is one of the largest number of a row, whose others may have no digit left
    ("grad", "det(A)", {"A": "[[-2.45e-16, 7.1e-24], [-2.98e-24, 3.07e-21]]", "dtype": "float32"}),
    ("grad", "det(A)", {"A": "[[2.694e-160, -1.308e-107], [-1.433e-160, -4.952e-107]]"}),
]


@pytest.mark.parametrize(("command", "text", "at"), LOST, ids=[f"{c} {t}" for c, t, _ in LOST])
@pytest.mark.one_in(8)
def test_what_torch_loses_on_its_way_back_is_lost_digits(command: str, text: str, at: dict[str, Any]) -> None:
    """Its adjoints cancel, overflow or underflow where derivatives carried forward do not."""
    more = {"u": 1} if command in ("jvp", "hvp") else {}
    point = {name: value for name, value in at.items() if name != "dtype"}
    check = asked(command, text, point, at.get("dtype", "float64"), **more)
    assert (check.verdict, check.proven) == ("inaccurate", True), check.findings


CONSTANTS = [
    ("1e16+1-1e16", "float64", "inaccurate"),
    ("[2, 1e16+1-1e16]", "float64", "inaccurate"),
    ("sum([1e16, 1, -1e16])", "float64", "inaccurate"),
    ("3*1e16+1-3e16", "float64", "inaccurate"),
    ("1e8*1e8+1-1e16", "float64", "inaccurate"),
    ("pow(1e8, 2)+1-1e16", "float64", "inaccurate"),
    ("(1e16+1)%2", "float64", "inaccurate"),
    ("2**53+1.0-2**53", "float64", "inaccurate"),
    ("16777216.0+1-16777216", "float32", "inaccurate"),
    ("16777216.0+1-16777216", "float64", "agree"),
    ("2**53+1-2**53", "float64", "agree"),
    ("1e15+1-1e15", "float64", "agree"),
    ("sum([1e15, 1, -1e15])", "float64", "agree"),
]


@pytest.mark.parametrize(("text", "dtype", "verdict"), CONSTANTS)
@pytest.mark.one_in(2)
def test_what_constants_lose_among_themselves_is_lost_digits(text: str, dtype: Any, verdict: str) -> None:
    """Torch rounds each sum of constants, in a factor of a variable too; whole numbers of Python are exact."""
    assert check_of(Function(text).eval(dtype=dtype)).verdict == verdict
    answer = Function(f"sum({text})*x").grad({"x": 2.0}, dtype=dtype)
    assert check_of(answer).verdict == verdict


def test_a_constant_that_no_rounding_gives_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """If torch's difference were 1000 too large, that is no rounding of 1e16 + 1 and of what is left of it."""
    right: Callable[..., Any] = torch_reading.apply

    def wrong(call: Any, values: Any, kind: Any) -> Any:
        return right(call, values, kind) + 1000 * (call.op.name == "sub")

    monkeypatch.setattr(torch_reading, "apply", wrong)
    monkeypatch.setattr(pass_recorder, "apply", right)
    assert check_of(Function("1e16+1-1e16").eval()).verdict == "disagree"


KEPT: tuple[int, ...] = ()
"""Seeds of questions at which torch was called wrong once."""


@pytest.mark.parametrize(("turn", "seed"), [*((0, one) for one in KEPT), *part(enumerate(seeds(100, 8)), 0, of=8)])
def test_torch_is_never_called_wrong_where_it_rounds(turn: int, seed: int) -> None:
    """Every operation, shifted, scaled and saturated, in either dtype; of ten thousand, run by hand, none disagrees."""
    count = len(ops.TABLE) // 8 + 1
    for one in extremes.cases(np.random.default_rng(seed), count, first=turn * count):
        with budget(1.0):  # of time no more is unchecked, and never wrong
            assert one.verdict != "disagree", one


# -- what torch's kernels are known to do

KNOWN = [
    ("grad", "sum(hardsigmoid(x))", [0.5, 0.6, 0.7], "7 of 16 digits survive: torch's constant 1/6 is a float32"),
    ("hessian", "softplus(x)", 25.0, "0 of 16 digits survive: torch takes x itself above 20"),
    ("vjp", "binary_cross_entropy(x, 0)", 3e-15, "torch divides by input*(1 - input), and by no less than 1e-12"),
]


@pytest.mark.parametrize(("command", "text", "x", "note"), KNOWN, ids=[t for _, t, _, _ in KNOWN])
def test_a_known_fault_of_torch_is_called_by_its_name(command: str, text: str, x: Any, note: str) -> None:
    """It is no lost digit of the user's formula, and nobody has to look for it."""
    check = asked(command, text, {"x": x})
    assert check.verdict == "inaccurate"
    assert [n for n, finding in enumerate(check.findings) if note in finding.note] == [0], "it is said once"


def test_a_number_that_is_masked_is_not_beyond_the_range() -> None:
    """What a mask puts in place of a score is far from it, and is not what the other scores are rounded by."""
    text = "sum(((softmax(where(m > 0, q @ k.T / 2, -1e9), 1) * m) @ v)**2)"
    point = {
        "q": [[-0.7192576, -0.40334353, -0.59663534, 0.18203649]],
        "k": [
            [-0.8566746, 1.1006042, -1.0711874, 0.12270124],
            [-0.5663175, 0.37311465, -0.8919953, -1.5091077],
            [0.37039354, 1.4565026, 0.9398099, 0.7748488],
        ],
        "v": [
            [0.19186942, 1.2637948, -1.2904351, -0.7911027],
            [-0.020879474, -0.71848005, 0.51863676, -1.3125219],
            [0.19199507, 0.54277134, -2.2187793, 0.25898454],
        ],
        "m": [[1.0, 0.0, 1.0]],
    }
    check = asked("grad", text, point, "float32", wrt="q")
    notes = [one.note for one in check.findings if one.verdict == "inaccurate"]
    assert any("digits survive the rounding of float32" in note for note in notes), check.findings
    assert not any("beyond the range" in note for note in notes), check.findings


SINGULAR = [
    ("det(A)", [[1.0, 2.0], [2.0, 4.0]], [[4.0, -2.0], [-2.0, 1.0]]),
    ("det(A)", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 2.0]], [[1, -2, 1], [-1, 2, -1], [0, 0, 0]]),
    ("exp(det(A))*3", [[1.0, 1.0], [1.0, 1.0]], [[3.0, -3.0], [-3.0, 3.0]]),
    ("det(A - B)", [[2.0, 1.0], [1.0, 2.0]], [[1.0, -1.0], [-1.0, 1.0]]),
]
"""Determinants of singular matrices, with the cofactors by hand; those in float32 have pivots of 1 alone, as on some
processors an elimination multiplies by reciprocals, which are rounded."""


@pytest.mark.parametrize(("text", "A", "truth", "dtype"), in_turn(SINGULAR, "float64", "float32"))
def test_the_gradient_of_a_determinant_that_is_0_is_a_fault_of_torch(
    text: str, A: list[list[float]], truth: Any, dtype: str
) -> None:
    """Torch says 0 and the derivative is the cofactor: wrong, and nobody has to look for the fault in the function."""
    at = {"A": A} | ({"B": np.eye(2)} if "B" in text else {})
    check = asked("jacobian", text, at, dtype, wrt=["A"])
    assert check.verdict == "disagree"
    wrong = {finding.column: finding for finding in check.findings if finding.variable == "A"}
    assert {place for place, one in np.ndenumerate(np.array(truth)) if one} == set(wrong)
    for place, finding in wrong.items():
        assert place is not None
        assert (finding.torch, finding.reference) == (0, truth[place[0]][place[1]])
        assert finding.note.endswith("which is a fault of torch's")


def test_a_determinant_of_rank_two_less_agrees() -> None:
    """All cofactors are 0 there, and so are torch's numbers."""
    assert asked("grad", "det(A)", {"A": np.zeros((2, 2))}).verdict == "agree"
    assert asked("grad", "det(A)", {"A": np.ones((3, 3))}).verdict == "agree"


def test_bounds_of_the_cross_entropy_are_known_in_all_its_passes() -> None:
    """Torch has one formula for the gradient, one along a direction, and two for the second derivatives."""
    generator = np.random.default_rng(11)
    function = Function("binary_cross_entropy(p, t)")
    for least in (1e-12, 1e-4, 1e-14)[: max(2, examples(3))]:
        p = least * generator.uniform(0.5, 2)
        at = {"p": float(generator.choice([p, 1 - p])), "t": generator.uniform()}
        u = {name: generator.uniform(-1, 1) for name in at}
        of_u = (function.jvp(at, u), function.hvp(at, u), function.hvp(at, {"p": u["p"]}), function.hvp(at, {"t": 1}))
        for answer in (function.hessian(at), function.grad(at), *of_u):
            assert check_of(answer).verdict in ("agree", "inaccurate"), (at, check_of(answer).findings)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.one_in(2)
def test_a_fault_is_not_named_where_it_is_not_to_blame(dtype: str) -> None:
    """1 - cos(x) lost the digits, in front of a softplus that is far from its threshold."""
    check = asked("vjp", "softplus((1-cos(x))/x**2)", {"x": 1e-8 if dtype == "float64" else 2.0**-13}, dtype)
    assert check.verdict == "inaccurate"
    assert "above 20" not in check.findings[-1].note


# -- terms that cancel to 0

INVARIANT = [
    ("softmax(x)", "ones"),
    ("softmax(x, dim=-1)", "3*ones(n)"),
    ("logsumexp(x + a, 0) - a", None),
    ("log_softmax(x + a)", "x"),
    ("(x - mean(x))/std(x)", "ones"),
    ("x/norm(x)", "x"),
    ("sum((x/norm(x))**2)", None),
    ("cosine_similarity(a*x, x + 1, 0)", None),
    ("norm(a*x)/a", None),
    ("(a*x)/sum(a*x)", "x"),
]
"""Functions that do not change along some direction, by shift, by scale, or at all; n is the size of x."""


@pytest.mark.parametrize(("text", "v", "dtype"), in_turn(INVARIANT, "float64", "float32"))
@pytest.mark.one_in(4)
def test_what_is_left_of_terms_that_cancel_to_0_agrees(text: str, v: str | None, dtype: Any) -> None:
    """Backward stable is no fault: the residue is a few roundings of the terms."""
    generator = np.random.default_rng(11)
    for _ in range(examples(8)):
        size = int(generator.integers(2, 7))
        at = {"x": 0.5 + generator.random(size), "a": 0.5 + generator.random()}
        of = {name: at[name] for name in Function(text).variables}
        check = asked("vjp", text, of, dtype, v=v and v.replace("(n)", f"({size})"))
        assert check.verdict in ("agree", "inaccurate"), (of, check.findings)
        assert all(finding.reference != 0 for finding in check.findings), (of, check.findings)


def test_the_residue_is_said_with_the_size_of_the_terms() -> None:
    """A remark, where everything agrees, says which numbers are 0 in truth."""
    check = asked("vjp", "softmax(x)", {"x": "1,2,3"}, v="ones")
    assert check.verdict == "agree"
    assert check.proven
    assert check.notes == ("0 up to rounding of terms of size 0.09, and 2 more such entries",)


@pytest.mark.thorough
def test_what_cancels_in_a_large_matrix_agrees() -> None:
    """As in a small one: the passes are taken apart by what their elements are made of."""
    check = asked("vjp", "softmax(x, 1)", {"x": "sin(arange(10_000.)).reshape(100, 100)"}, v="ones")
    assert (check.verdict, check.findings) == ("agree", ())
    assert "such entries" in check.notes[-1]


def test_whether_a_residue_is_one_may_be_over_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is no digit that was lost: nothing is known of it."""
    monkeypatch.setattr(rounding, "MOST_PASS_ELEMENTS", 10)
    check = asked("vjp", "softmax(x)", {"x": "1,2,3"}, v="ones")
    assert check.verdict == "unchecked"
    assert {(finding.verdict, finding.note) for finding in check.findings} == {("unchecked", rounding.UNKNOWN_RESIDUE)}


@pytest.mark.part("claims")
@pytest.mark.parametrize(("rtol", "atol"), [(1e-9, None), (None, 1e-30)])
def test_a_tolerance_of_the_user_is_strict(rtol: float | None, atol: float | None) -> None:
    """It is relative to the truth, which is 0."""
    usual = Function("softmax(x)").check({"x": "1,2,3"}, v="ones")
    strict = Function("softmax(x)").check({"x": "1,2,3"}, v="ones", rtol=rtol, atol=atol)
    assert (usual.passed, strict.passed) == (True, False)
    assert (check_of(usual).verdict, check_of(strict).verdict) == ("agree", "inaccurate")


# -- the checker is tested to fail


def _without_first(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Torch's derivative of one operation by its first operand is left out."""
    right: Callable[..., Any] = torch_reading.apply

    def wrong(call: Any, values: Any, kind: Any) -> Any:
        if call.op.name == name and call.operands[0] in values:
            values = {**values, call.operands[0]: values[call.operands[0]].detach()}
        return right(call, values, kind)

    monkeypatch.setattr(torch_reading, "apply", wrong)


TWO = [
    *("x*x", "x + x**2", "x - x**2", "x/(1 + x)", "x**x", "atan2(x, 1 + x)", "hypot(x, 2*x)", "logaddexp(x, 2*x)"),
    *("xlogy(x, x)", "lerp(x, x**2, 0.3)", "maximum(x, x**2)", "where(x > 0, x, x**2) + x", "[x, x**2]", "cat([x, x])"),
    *("x @ x", "dot(x, x**2)", "outer(x, x)", "cosine_similarity(x, x**2, dim=0)", "einsum('i,i->', x, x**2)"),
    *("mse_loss(x, x**2)", "huber_loss(x, 3*x)", "binary_cross_entropy_with_logits(x, x**2)", "fmod(x, x**2)"),
]
"""One operation each, the last of the text, both of whose operands move; and sums of ways in front of it."""


@pytest.mark.parametrize(("text", "dtype"), in_turn(TWO, "float64", "float32"))
@pytest.mark.one_in(4)
def test_a_term_that_is_left_out_is_caught(text: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At an ordinary point, in either precision."""
    at = {"x": np.array([0.3, 1.7])}
    assert asked("jacobian", text, at, dtype).verdict == "agree"
    last = [line.call for line in parse(text).lines if line.call.operands][-1]
    _without_first(monkeypatch, last.op.name)
    assert asked("jacobian", text, at, dtype).verdict == "disagree"


FACTORS = [
    *("exp(x)", "sin(x)", "tanh(x)", "sigmoid(x)", "softplus(x)", "silu(x)", "gelu(x)", "lgamma(x)", "digamma(x)"),
    *(
        "softmax(x)[0]",
        "log_softmax(x)[0]",
        "logsumexp(x, 0)",
        "norm(x)",
        "var(x**2)",
        "std(x)",
        "prod(x)",
        "x[0]*x[1]",
    ),
    *("atan2(x, 1 + x**2)", "1/x", "x**2.5", "sqrt(x)", "acosh(2 + x)"),
    *("mish(x)", "sinc(x)", "i0(x)", "erf(x)"),
]


@pytest.mark.parametrize(("text", "command"), in_turn(part(FACTORS, 0, of=2), "hessian", "hvp"))
@pytest.mark.one_in(4)
def test_a_second_derivative_that_is_wrong_by_a_hundredth_is_caught(
    text: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one operation's backward pass, of which torch takes the derivative again."""
    at = {"x": np.array([0.3, 0.7])}
    more = {"u": "1,0.5"} if command == "hvp" else {}
    assert asked(command, f"sum({text})", at, **more).verdict == "agree"
    name = text.partition("(")[0] if "(" in text else parse(text).lines[-1].call.op.name
    plant(monkeypatch, name, 1.01)
    assert asked(command, f"sum({text})", at, **more).verdict == "disagree"


def test_what_is_not_recorded_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that rounding may explain are then no finding against torch, and no agreement."""
    monkeypatch.setattr(pass_recorder, "_recorded", lambda *_, **__: 1 / 0)
    check = asked("vjp", "(1-cos(x))/x**2", {"x": 1e-8})
    assert {finding.verdict for finding in check.findings} == {"unchecked"}


DETERMINANTS = ("det(A@A.T)", "logdet(A@A.T)", "log(det(A@A.T))", "det(A@A.T) - 1")
PRODUCTS = ("prod(x)", "cumprod(x, 0)", "prod(x)**2", "prod(exp(x))")


@pytest.mark.parametrize(("text", "dtype"), in_turn(DETERMINANTS, "float64", "float32"))
@pytest.mark.one_in(2)
def test_elimination_loses_digits_of_whole_numbers_too(text: str, dtype: str) -> None:
    """Products and sums of them are exact, the multipliers of Gaussian elimination are not."""
    draw = np.random.default_rng(9)
    drawn = draw.integers(-9, 10, (examples(12), 3, 3)).astype(float)
    regular = [A for A in [np.array([[1.0, 2.0], [3.0, 5.0]]), *drawn] if abs(np.linalg.det(A)) > 0.5]
    assert len(regular) >= len(drawn)
    for A in regular:
        assert asked("grad", text, {"A": A}, dtype).verdict in ("agree", "inaccurate"), (text, A.tolist())


def test_elimination_that_underflows_is_named() -> None:
    """As the cause of a number that is wrong without it."""
    A = [[2.2e36, -1.65e37, -1.63e36], [3.6e35, -4.1e35, 2.04e35], [-4.93e-23, -5.84e-23, 3.98e-23]]
    check = asked("grad", "sum(solve(A, b))", {"A": A, "b": [-4.85e-06, -4.4e8, -4.4e-11]}, "float32")
    named = [finding.verdict for finding in check.findings if "elimination may underflow" in finding.note]
    assert named
    assert set(named) == {"inaccurate"}


@pytest.mark.parametrize(
    ("text", "dtype", "span"),
    in_turn(["det(A)", "inv(A)", "solve(A, b)", *PRODUCTS], ("float32", 38), ("float64", 300)),
)
@pytest.mark.one_in(4)
def test_numbers_that_are_far_apart_are_never_called_wrong(text: str, dtype: Any, span: int) -> None:
    """Factors of elimination and of products leave the range of the format in torch's order, the whole does not."""
    draw = np.random.default_rng(len(text))
    for n in range(examples(14)):
        x = np.sort(draw.uniform(-span, span, 4))  # the small ones first, as torch begins with them
        size = 2 + n % 2
        rows = 10 ** draw.uniform(-span, span, (size, 1))
        at = {"A": draw.uniform(-1, 1, (size, size)) * rows, "b": draw.uniform(-1, 1, size)}
        at["x"] = x if "exp" in text else 10**x
        of = {name: at[name] for name in Function(text).variables}
        for command, of_text, more in (("vjp", text, {"v": "ones"}), ("grad", f"sum({text})", {})):
            assert asked(command, of_text, of, dtype, **more).verdict != "disagree", (command, of)
