"""Claimed derivatives: hand-derived truths are never refuted, mistakes are, and the classic ones get their name."""

import math
import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from gradcli import Function
from gradcli.crosscheck.compare import Tolerance
from gradcli.errors import GradcliError
from gradcli.parts.claims.verdict import claimed
from tests.conftest import Command
from tests.examples import examples, first_of_each, part
from tests.parsing import parse
from tests.parts.claims.asking import claim_of, number_of, subject_at

_A, _S, _P = "[[1, 2, -1], [0.5, -3, 4]]", "[[1, 2], [3, 5]]", "[[2, 1], [0.5, 3]]"

At = dict[str, Any]


PROVED: list[tuple[str, str, At, str]] = [
    # One number
    ("x**2", "2*x", {"x": 3}, "gradient"),
    ("tan(x)", "1/cos(x)**2", {"x": 1}, "gradient"),
    ("sin(2*x)", "4*cos(x)**2 - 2", {"x": 1}, "gradient"),
    ("gelu(x)", "(1 + erf(x/sqrt(2)))/2 + x*exp(-x**2/2)/sqrt(2*pi)", {"x": 1}, "gradient"),
    ("sqrt(x)*sqrt(y)", "sqrt(y/x)/2", {"x": 2, "y": 3}, "gradient"),
    ("i1(x)", "i0(x) - i1(x)/x", {"x": 2.5}, "gradient"),
    ("atan2(y, x)", "-y/(x**2 + y**2)", {"x": 1, "y": 2}, "gradient"),
    ("where(x > 0, sqrt(x), 0)", "where(x > 0, 1/(2*sqrt(x)), 0)", {"x": -1}, "gradient"),
    # Kinks, which no claim has to meet
    ("abs(x)", "sign(x)", {"x": 0}, "gradient"),
    ("where(x > 0, x**2, 0)", "where(x >= 0, 2*x, 0)", {"x": 1}, "gradient"),
    ("hardswish(x)", "where(x > 3, 1, where(x < -3, 0, x/3 + 1/2))", {"x": 1}, "gradient"),
    ("abs(x - 1) + abs(x + 1)", "sign(x - 1) + sign(x + 1)", {"x": 3}, "gradient"),
    ("maximum(x, y) + minimum(x, y)", "1", {"x": 3, "y": 3}, "gradient"),
    # A gradient
    ("sum(x**2)", "2*x", {"x": [1, 2, 3]}, "gradient"),
    ("x@A@x", "(A + A.T)@x", {"x": [3, 4], "A": _S}, "gradient"),
    ("norm(A@x - b)**2", "2*A.T@(A@x - b)", {"A": _A, "x": [1, 2, 3], "b": [1, 2]}, "gradient"),
    ("logsumexp(x)", "exp(x)/sum(exp(x))", {"x": np.linspace(0, 1, 20)}, "gradient"),
    ("prod(x)", "Π[k=0..2, k≠j] x[k]", {"x": [0, 2, 3]}, "gradient"),
    ("prod(x)", "Π[k=0..1, l=0..1, k≠i or l≠j] x[k,l]", {"x": [[0, 2], [3, 4]]}, "gradient"),
    ("prod(x)", "prod(x)/x", {"x": [[1, 2], [3, 4]]}, "gradient"),
    ("amax(x)", "where(x == amax(x), 1, 0)", {"x": np.linspace(0, 1, 20)}, "gradient"),
    ("sum(relu(A@x))", "A.T@where(A@x > 0, 1, 0)", {"A": _A, "x": [1, 2, 3]}, "gradient"),
    ("mean(relu(1 - t*(A@x)))", "-A.T@(t*(t*(A@x) < 1))/2", {"A": _A, "x": [1, 2, 3], "t": [1, -1]}, "gradient"),
    ("huber_loss(x, t)", "clamp(x - t, -1, 1)/3", {"x": [0.3, 2, 3], "t": [1, 1, 1]}, "gradient"),
    ("softmax(x)", "s = exp(x)/sum(exp(x)); diag(s) - outer(s, s)", {"x": [1, 2, 3]}, "Jacobian"),
    ("cumsum(x)", "tril(ones((3, 3)))", {"x": [1, 2, 3]}, "Jacobian"),
    ("x[1:]*x[:-1]", "[[x[1], x[0], 0], [0, x[2], x[1]]]", {"x": [1, 2, 3]}, "Jacobian"),
    ("[x*y, x + y]", "[y, 1]", {"x": 1, "y": 2}, "Jacobian"),
    # The vector-Jacobian product, for every v
    ("A@x", "A.T@v", {"A": _A, "x": [1, 2, 3]}, "vector-Jacobian product"),
    ("softmax(x)", "s = softmax(x); s*(v - sum(s*v))", {"x": [1, 2, 3]}, "vector-Jacobian product"),
]


@pytest.mark.parametrize(("f", "text", "at", "of"), part(PROVED, 2, of=3))
@pytest.mark.one_in(4)
def test_a_true_claim_is_proved(f: str, text: str, at: At, of: str) -> None:
    """Trigonometric and hyperbolic identities, branches, sums and deltas; its shape says what it is of."""
    claim = claim_of(f, text, at)
    assert (claim.status, claim.of) == ("proved", of)
    assert claim.points > 15
    assert claim.mistake == ""
    assert claim.at is None


JUXTAPOSED = [
    ("f(x) = sigmoid(x)", "f(x)(1-f(x))", "proved"),
    ("f(x) = sigmoid(x)", "f(x) (1 - f(x))", "proved"),
    ("f(x) = sigmoid(x)", "(1-f(x))f(x)", "proved"),
    ("f(x) = sigmoid(2x)", "2f(x)(1-f(x))", "proved"),
    ("s(x) = sigmoid(x)", "ds/dx = s(x)(1-s(x))", "proved"),
    ("σ(z) = 1/(1+E^-z)", "σ(z)(1-σ(z))", "proved"),
    ("y = sigmoid(x)", "y(x)(1-y(x))", "proved"),
    ("y = sigmoid(x)", "f(x)(1-f(x))", "proved"),
    ("f(x) = exp(x)", "f(x)(x)", "refuted"),
    ("f(x) = exp(x)", "f(x)(1)", "proved"),
    ("f(x) = exp(x)", "f(x)(2)", "refuted"),
    ("f(x) = exp(x)", "f(x)f(x)", "refuted"),
    ("f(x) = exp(2x)", "2 f(2x/2)", "proved"),
    ("f(x) = exp(x^2)", "2f(x)x", "proved"),
    ("f(x) = exp(x^2)", "2x f(x)", "proved"),
    ("f(x) = tanh(x)", "(1-f(x))(1+f(x))", "proved"),
    ("f(x) = 1/x", "-f(x)^2(1)", "proved"),
    ("f(x) = 1/x", "-f^2(x)(1)", "proved"),
    ("f(x) = 1/x", "-f^2(x)(x)", "refuted"),
    ("f(x) = x*sin(x)", "sin(x)(1) + x cos(x)", "proved"),
    ("f(x) = sigmoid(x); g(x) = f(x)(1-f(x)); g(x)", "f(x)(1-f(x))(1-2f(x))", "proved"),
]


@pytest.mark.parametrize(("f", "text", "status"), JUXTAPOSED)
def test_a_parenthesis_after_a_value_is_a_factor(gradcli: Command, f: str, text: str, status: str) -> None:
    """`f(x)(1 - x)` is the value times 1 - x, and not the function at 1 - x."""
    run = gradcli("check", f, "--claim", text)
    assert (run.code, f"claim {text}: {status}" in run.out) == ("proved" not in status, True)


_LAYER = {"w": [1, -2], "W": _A, "x": [1, 2, 3], "b": [1, 2], "t": 3}
_UNITS = {name: _LAYER[name] for name in ("w", "W", "x", "b")}
_WIDE = {"w": np.ones(32), "W": np.ones((32, 20)), "x": np.ones(20), "b": np.zeros(32)}
_OPEN = "it is proved except where a branch changes"
_TIED = "relu(x + y - 1/7) - relu(x - y - 1/7)"
_STEPPED = "where(x > 1/7, x - 1/7, -floor(x - 1/7)*(x - 1/7))"
_IN_PART = "right at some points, and elsewhere the sign: the claim is the truth times -1"
_V_MISSING = "v is missing: the claim is right for v = ones only"
_VX = {"v": [1, 2], "x": [3, 4]}
_FEW = {"points": 9}

SAID: list[Any] = [
    # by a matrix: Jacobi's formula and its relatives
    ("det(A)", "det(A)*inv(A).T", {"A": _P}, {"wrt": "A"}, "proved", ""),
    ("logdet(A)", "inv(A).T", {"A": "[[2, 1], [1, 3]]"}, {"wrt": "A"}, "proved", ""),
    ("trace(A@A)", "2*A.T", {"A": _P}, {"wrt": "A"}, "proved", ""),
    ("logdet(A@A.T)", "2*inv(A@A.T)@A", {"A": _A}, {"wrt": "A"}, "proved", ""),
    ("logdet(A@A.T)", "2*inv(A).T", {"A": _P}, {"wrt": "A"}, "proved", ""),
    ("det(A@A)", "2*det(A)*det(A)*inv(A).T", {"A": "[[2, 1, 0], [1, 3, 1], [0, 1, 4]]"}, {"wrt": "A"}, "proved", ""),
    ("inv(A)", "-einsum('ij,kl->iljk', inv(A), inv(A))", {"A": _P}, {"wrt": "A"}, "proved", ""),
    # proved in whole tensors, but where a unit is about to fire
    (
        "norm(relu(W@x) - b)**2",
        "2*W.T@((relu(W@x) - b)*(W@x > 0))",
        {"W": _A, "x": [1, 2, 3], "b": [1, 2]},
        {"wrt": "x"},
        "no counterexample",
        f"{_OPEN}: there kinks may cancel, and leave another slope; the proof is for W",
    ),
    # by a hidden layer: where a unit is about to fire there is no derivative, unless nothing comes of it
    ("w@relu(W@x + b)", "outer(w*(W@x + b > 0), x)", _UNITS, {"wrt": "W"}, "proved", "the proof is for "),
    ("w@relu(W@x + b)", "w*(W@x + b > 0)", _UNITS, {"wrt": "b"}, "proved", "the proof is for "),
    ("w@relu(W@x + b)", "relu(W@x + b)", _UNITS, {"wrt": "w"}, "proved", "the proof is for "),
    (
        "(w@relu(W@x + b) - t)**2",
        "2*(w@relu(W@x + b) - t)*w*(W@x + b > 0)",
        _LAYER,
        {"wrt": "b"},
        "proved",
        "the proof is for ",
    ),
    (
        "(w@relu(W@x + b) - t)**2",
        "outer(2*(w@relu(W@x + b) - t)*w*(W@x + b > 0), x)",
        _LAYER,
        {"wrt": "W"},
        "proved",
        "the proof is for ",
    ),
    ("sum(relu(W@x))", "outer(W@x > 0, x)", {"W": _A, "x": [1, 2, 3]}, {"wrt": "W"}, "proved", "the proof is for "),
    ("w@abs(W@x + b)", "outer(w*sign(W@x + b), x)", _UNITS, {"wrt": "W"}, "proved", "the proof is for "),
    ("w@relu(W@x + b)", "W.T@(w*(W@x + b > 0))", _UNITS, {}, "no counterexample", _OPEN),
    ("relu(x - 1/7) - relu(1/7 - x)", "(x > 1/7) | (x < 1/7)", {"x": 1}, {}, "no counterexample", _OPEN),
    # for any size above 16, which is a symbol then
    (
        "w@relu(W@x + b)",
        "outer(w*(W@x + b > 0), x)",
        _WIDE,
        {"wrt": "W", "points": 3},
        "proved",
        "with any size above 16 in place of 20, 32;",
    ),
    ("sum(x**2)", "2*x", {"x": np.ones(20)}, {}, "proved", "with any size in place of 20;"),
    (
        "sum(x**2)",
        "2*x",
        {"x": np.ones(3)},
        {},
        "proved",
        "gradient; ; the proof is for x of shape (3,), and with any size in place of 3;",
    ),
    ("x**2", "2*x", {"x": 3}, {}, "proved", "gradient; ; ;"),
    pytest.param(
        *("huber_loss(x, t)", "clamp(x - t, -1, 1)/20", {"x": [1] * 20, "t": [0] * 20}, _FEW, "proved", "gradient; ;"),
        marks=pytest.mark.thorough,
    ),
    # at ties: the largest of 1, 1 has no derivative by either
    ("max(x)", "x == max(x)", {"x": [1, 1]}, {}, "proved", "it is proved where it is differentiable"),
    ("max(c*x)", "sum(where(c*x == max(c*x), x, 0))", {"c": 2, "x": [1, 2]}, {"wrt": "c"}, "refuted", ""),
    # without a proof; decimals that were cut are held to the tolerance, also where terms cancel
    ("x**3/3", "0.333333333333*3*x**2", {"x": 1.5}, {}, "no counterexample", ""),
    ("x**3/9 - x/3", "0.333333333333*x**2 - 0.333333333333", {"x": 1}, {}, "no counterexample", ""),
    ("x**2/6", "0.3333*x", {"x": 3}, {}, "refuted", "difference is 0.0001; --rtol 0.00011 would accept it"),
    # v is given, named, forgotten, or a variable
    ("x**2", "2*x", {"x": [1, 2]}, {"v": [1, 3]}, "refuted", _V_MISSING),
    ("x**2", "2*x", {"x": [1, 2]}, {}, "proved", "read as vᵀJ with v = ones, the gradient of the sum"),
    ("x**2", "2*x*[1, 3]", {"x": [1, 2]}, {"v": [1, 3]}, "proved", ""),
    ("x**2", "6*x", {"x": [1, 2]}, {"v": [3, 3]}, "proved", ""),
    ("sum(x**2)", "2*x", {"x": [1, 2]}, {"v": 3}, "proved", "gradient; ; read as the gradient of y itself, without v"),
    ("sum(x**2)", "2*x*v", {"x": [1, 2]}, {"v": 3}, "proved", "vector-Jacobian product"),
    ("v*x", "v", _VX, {}, "proved", "vector-Jacobian product"),
    ("v*x", "diag(v)", _VX, {}, "proved", "Jacobian"),
    ("sum(v*x)", "v", _VX, {}, "proved", "gradient"),
    ("E*x", "E", {"x": 1, "E": 2}, {}, "proved", ""),
    ("E*x", "x", {"x": 1, "E": 2}, {"wrt": "E"}, "proved", ""),
    # a comma makes a vector, and statements a formula
    ("[x*y, x + y]", "y, 1", {"x": 1, "y": 2}, {}, "proved", ""),
    ("sin(x)**2", "s = sin(x); c = cos(x); 2*s*c", {"x": 1}, {}, "proved", ""),
    ("x**2", "4, 8", {"x": [2, 4]}, {}, "refuted", "numbers for one point are for --expect"),
    # the neighbours of a place are those of float32
    ("x**2", "where(x == 33.5, 0, 2*x)", {"x": 1}, {"dtype": "float32"}, "refuted", ""),
    # the point itself: a limit, a kink, no value
    ("x**3/x", "2*x", {"x": 0}, {}, "proved", "the truth is a limit"),
    ("relu(x)", "where(x > 0, 1, where(x < 0, 0, 7))", {"x": 0}, {}, "proved", "a kink with slopes 0 and 1 has no"),
    ("log(x)", "1/x", {"x": -1}, {}, "proved", "at the point nothing was compared: log(x) has no value here"),
    ("log(-x**2 - 1)", "2*x/(x**2 + 1)", {"x": 1}, {}, "no counterexample", "nothing was compared: "),
    # wrong at one point that no search finds: neither refuted nor proved
    ("x", "where(x == 1/7, 5, 1)", {"x": 2}, {}, "unproved", ""),
    ("x", "where(x > 1/7, 1, where(x < 1/7, 1, 5))", {"x": 2}, {}, "unproved", ""),
    ("where(y > 1/7, x, 2*x)", "where(y >= 1/7, 1, 2)", {"x": 1, "y": 1}, {}, "unproved", ""),
    ("relu(x - 1/7) - relu(1/7 - x)", "where(x == 1/7, 2, 1)", {"x": 2}, {}, "unproved", ""),
    (_STEPPED, "where(x > 1/7, 1, -floor(x - 1/7))", {"x": 2}, {}, "unproved", ""),  # x - 1/7 on both sides
    ("relu(x - 1/7) - relu(1/7 - x)", "(x >= 1/7)*1 + (x <= 1/7)*1", {"x": 2}, {}, "unproved", ""),
    (_TIED, "where(x + y > 1/7, 1, 0) - where(x - y >= 1/7, 1, 0)", {"x": 1, "y": 1}, {}, "unproved", ""),
    # wrong by less than the tolerance of anything else, and a shape that is the transpose of the right one
    ("x**2", "0.6667*3*x", {"x": 3}, {}, "refuted", "off by the factor 1.00005"),
    ("x**2", "2*x + 1e-30*x**0", {"x": 0}, {}, "refuted", "e-30"),
    (
        "A@x",
        "A.T",
        {"A": _A, "x": [1, 2, 3]},
        {},
        "proved",
        "in denominators' layout, with a row for each element of x",
    ),
    ("A@x", "2*A.T", {"A": _A, "x": [1, 2, 3]}, {}, "refuted", "off by the factor 2"),
    ("A@x", "A.T", {"A": [[1, 2], [3, 4]], "x": [1, 2]}, {}, "refuted", "transposed: a row belongs to an element of y"),
    # the derivative of norm(x) is sign(x) for a number alone, and no formula is given for that of a vector
    ("norm(x)**2", "2*norm(x)", {"x": [3, 4]}, {}, "refuted", "a missing chain factor: the derivative of `norm(x)`; "),
    ("sqrt(sum(x**2))**3", "3*norm(x)**2", {"x": [3, 4]}, {}, "refuted", "the derivative of `sqrt(sum(x**2))`; "),
]


def _said(f: str, text: str, at: At, how: dict[str, Any], status: str, words: str) -> Any:
    return str(how), status, words


@pytest.mark.parametrize(("f", "text", "at", "how", "status", "words"), first_of_each(SAID, _said))
@pytest.mark.one_in(8)
def test_a_claim_has_its_status_and_a_remark(
    f: str, text: str, at: At, how: dict[str, Any], status: str, words: str
) -> None:
    """Kind, mistake and note say what was proved, tried and left out."""
    claim = claim_of(f, text, at, **how)
    assert claim.status == status or (status == "unproved" and claim.status != "proved")
    assert words in f"{claim.of}; {claim.mistake}; {claim.note};"


def test_a_tie_refutes_a_claim_that_counts_it_twice() -> None:
    """Largest and smallest are one there, and move at half the speed each."""
    tied = claim_of("max(x) + min(x)", "where(x == max(x), 1, 0) + where(x == min(x), 1, 0)", {"x": [1, 2]})
    assert (tied.status, tied.claimed, tied.truth) == ("refuted", 2.0, 1.0)


def test_kinks_that_cancel_refute_nothing() -> None:
    """It is wrong where x crosses either, and that is no matter."""
    claim = "where(x + y > 1/7, 1, 0) - where(x - y > 1/7, 1, 0)"
    assert claim_of(_TIED, claim, {"x": 1, "y": 1}).status != "refuted"


REFUTED: list[tuple[str, str, At, str]] = [
    ("x**2", "-2*x", {"x": 3}, "the sign"),
    ("x**2", "4*x", {"x": 3}, "off by the factor 2"),
    ("erf(x)", "exp(-x**2)", {"x": 1}, "off by the factor sqrt(pi)/2"),
    ("mean(x**2)", "2*x", {"x": [1, 2, 3]}, "off by the factor 3: x has 3 elements"),
    ("trace(x@x)", "2*x", {"x": _S}, "transposed: the claim is the transpose of the truth"),
    ("exp(x)", "exp(-x)", {"x": 2}, "upside down: the claim is 1 over the truth"),
    ("A@x", "A@v", {"A": _S, "x": [1, 2]}, "the Jacobian is transposed: the claim is Jv"),
    ("sin(x**2)", "cos(x**2)", {"x": 2}, "a missing chain factor: the derivative of `x**2` is `2*x`"),
    ("w*x**2", "2*x", {"x": 1, "w": 3}, "a missing factor: `w`"),
    ("exp(sum(x**2))", "2*x", {"x": [1, 2]}, "a missing factor: `exp(sum(x**2))`"),
    ("x**2*sin(x)", "2*x*cos(x)", {"x": 2}, "the product rule: it is the product of the derivatives; (f*g)' is f'*g"),
    ("x*exp(x)*sin(x)", "exp(x)*cos(x)", {"x": 2}, "the product rule: it is the product of the derivatives"),
    ("exp(x) - x**2*sin(x)", "exp(x) - 2*x*cos(x)", {"x": 2}, "the product rule: it is the product of the derivatives"),
    ("exp(x*log(x))", "x**x/x", {"x": 2}, "the product rule: it is the product of the derivatives"),
    ("sum(x**2*sin(x))", "2*x*cos(x)", {"x": [1, 2]}, "the product rule: it is the product of the derivatives"),
    ("x**2*sin(x)", "2*x*sin(x)", {"x": 2}, "the product rule: f*g' is missing"),
    ("x**2*sin(x)", "x**2*cos(x)", {"x": 2}, "the product rule: f'*g is missing"),
    ("sin(x)/x**2", "cos(x)/(2*x)", {"x": 2}, "the quotient rule: it is the quotient of the derivatives; (f/g)' is"),
    ("3/(x**2 + 1)", "3/(2*x)", {"x": 2}, "the quotient rule: the derivative of the divisor alone is taken"),
    ("sin(x)*3", "3*cos(x)*cos(x)", {"x": 2}, "a surplus chain factor: the derivative of `sin(x)`"),
    ("norm(x)", "x", {"x": [3, 4]}, "a surplus factor: `norm(x)`"),
    ("x**3", "3*x**3", {"x": 2}, "the power rule: the exponent 3 is not lowered"),
    ("x**3", "x**2", {"x": 2}, "the power rule: the exponent 3 is not brought down"),
    ("sum(w*x**2)", "x**2", {"w": [1, 2, 3], "x": [3, 4, 5]}, "the other variable: the claim is the derivative by w"),
    ("sum(g*x**3)", "2*x**2*g", {"x": [1, 2], "g": [3, 4]}, "off by the factor 2/3"),
    # right in part: on one side of 0 each is the derivative, on the other -1 times it
    *((f, text, {"x": 1}, _IN_PART) for f, text in [("abs(x)", "1"), ("x*abs(x)", "2*x"), ("asin(sin(x))", "1")]),
    # a factor of 0 explains nothing, and what is right by chance is not right at some points
    ("relu(x)", "x > -1", {"x": 1}, ""),
    ("relu(x)", "where(x > 0, 1, 5)", {"x": 1}, ""),
    ("x*y", "x", {"x": 1, "y": 2}, "the other variable: the claim is the derivative by y"),
    ("sum(x*y)", "x + 1", {"x": [1, 2], "y": [2, 3]}, ""),
    ("x**2", "x**3/3", {"x": 1}, ""),
    ("abs(x)", "2*sign(x)", {"x": 1}, "off by the factor 2"),
    ("relu(x)", "2*(x > 0)", {"x": 1}, "off by the factor 2"),
    # right nearly everywhere
    ("sigmoid(x)", "sigmoid(x)*(1 + sigmoid(x))", {"x": 1}, ""),
    ("relu(x)", "where(x > 0, 1, -1)", {"x": 2}, ""),
    ("x", "sign(x)**2", {"x": 2}, ""),
    ("x", "where(x == 0.125, 5, 1)", {"x": 2}, ""),
    ("where(y > 0, x, 2*x)", "where(y >= 0, 1, 2)", {"x": 1, "y": 1}, ""),
    # a term of a sum, also within sums and means
    ("x**3 - x", "3*x**2", {"x": 1}, "the derivative of the term `x` is missing"),
    ("sum(x**2 - 3*x)", "2*x + 3", {"x": [1, 2]}, "the sign: the derivative of the term `3*x` is there times -1"),
    (
        "mean(x**2 + w*x)",
        "2*x/3 + w",
        {"w": [3, 4, 5], "x": [1, 2, 3]},
        "the derivative of the term `w*x` is off by the",
    ),
    (
        "x**2 + sin(x)",
        "v*(2*x + 2*cos(x))",
        {"x": [1, 2]},
        "the derivative of the term `sin(x)` is off by the factor 2",
    ),
    ("(x-1)**2/2 + x/3", "x - 1/3", {"x": 2}, "the derivative of the term `x/3` is off by the factor 2"),
    (
        "sum((A@x - b)**2) + 0.01*x@x",
        "2*A.T@(A@x - b) + 0.01*x",
        {"A": _S, "x": [1, 2], "b": [1, 1]},
        "the derivative of t",
    ),
    ("sin(x) + x**2", "cos(x) + x**3", {"x": 2}, ""),
    ("x*exp(x) + x", "x*exp(x) + 1", {"x": 2}, ""),
    ("prod(x)", "Π[k=0..1, k≠j] x[k]", {"x": [2, 3, 4]}, ""),
    ("prod(x)", "where(x == 0, 17, prod(x)/x)", {"x": [2, 3, 0]}, ""),
    # where branches meet is looked for on both sides, however far away; between, beside and at these places
    ("clamp(x, -1, 1)", "abs(x) < 0.99", {"x": 0.3}, ""),
    ("x**2", "2*x + relu(x - 50)", {"x": 1}, ""),
    ("x**2", "2*x + relu(3*x - 7000)", {"x": 1}, ""),
    ("x**2", "where(exp(x) > 1e40, 2, 2*x)", {"x": 1}, ""),
    ("x**2", "where((x > 33) & (x < 33.5), 0, 2*x)", {"x": 1}, ""),
    ("x**2", "where(3*x == 102, 0, 2*x)", {"x": 1}, ""),
    ("x**2", "2*x + (floor(x/64) > 3)", {"x": 1}, ""),
    ("x**2 + y", "where((x > 40) & (y < -60), 0, 2*x)", {"x": 1, "y": 2}, ""),
    ("sum(x**2)", "2*x + relu(x - 50)", {"x": [1, 2, 3]}, ""),
    ("sum(x**2)", "where(x > 40*mean(abs(x[1:])), 0, 2*x)", {"x": [1, 2, 3]}, ""),
    (
        "sum(relu(W@x + b))",
        "W.T@where(W@x + b > 0, 1, where(W@x + b > -90, 0, 1))",
        {"W": _S, "x": [1, 2], "b": [1, 1]},
        "",
    ),
]


@pytest.mark.parametrize(("f", "text", "at", "mistake"), REFUTED, ids=[f"{f} -> {text}" for f, text, _, _ in REFUTED])
@pytest.mark.one_in(2)
def test_a_false_claim_is_refuted_with_a_counterexample(f: str, text: str, at: At, mistake: str) -> None:
    """A classic mistake gets its name, and explains the claim at every point tried; others get none."""
    claim = claim_of(f, text, at)
    assert claim.status == "refuted"
    assert claim.truth is not None
    assert claim.claimed is not None
    assert abs(claim.claimed - claim.truth) > 1e-3
    assert set(claim.at or {}) == set(at)
    assert claim.mistake.startswith(mistake)
    assert bool(claim.mistake) == bool(mistake)


AT_THE_POINT = [
    ("maximum(x, y) + minimum(x, y)", "where(x == y, 3, 1)", {"x": 1, "y": 1}, 1.0),
    ("relu(x) - relu(-x)", "where(x == 0, 0, 1)", {"x": 0}, 1.0),
    ("sqrt(x**4)", "where(x == 0, 5, 2*x)", {"x": 0}, 0.0),
    ("x*abs(x)", "where(x == 0, 1, 2*abs(x))", {"x": 0}, 0.0),
]


@pytest.mark.parametrize(("f", "text", "at", "truth"), AT_THE_POINT, ids=[text for _, text, *_ in AT_THE_POINT])
def test_the_point_itself_is_compared(f: str, text: str, at: At, truth: float) -> None:
    """The sides, where the parts have a kink and the whole has none, or the check, say what the derivative is."""
    claim = claim_of(f, text, at)
    assert (claim.status, claim.points, claim.truth) == ("refuted", 1, truth)
    assert claim.at is not None
    assert {name: float(array) for name, array in claim.at.items()} == at
    number = number_of(f, claim.claimed, at)
    assert (number.status, number.truth) == ("refuted", truth)
    assert number_of(f, truth, at).status == "agrees"


def test_a_counterexample_differs_visibly() -> None:
    """At 0.6, 0.8 the norm is 1 but for a rounding."""
    claim = claim_of("norm(x)", "x", {"x": [0.6, 0.8]})
    assert (claim.status, claim.mistake) == ("refuted", "a surplus factor: `norm(x)`")
    assert claim.truth is not None
    assert claim.claimed is not None
    assert abs(claim.claimed - claim.truth) > 0.1
    nowhere = claim_of("x", "1 + sin(x)/10**30", {"x": 1})
    assert nowhere.status == "refuted"
    assert re.fullmatch(r"they differ by [0-9.]+e-31", nowhere.note)


def test_the_counterexample_is_the_users_own_point_or_a_simple_one() -> None:
    """x**3 and x**2 have the derivatives 3 and 2 at 1; 3*x**2 = 3*x holds at 0 and 1."""
    own = claim_of("x**3", "3*x**3", {"x": 2})
    assert own.at is not None
    assert (float(own.at["x"]), own.entry, own.claimed, own.truth, own.points) == (2.0, (), 24.0, 12.0, 1)
    other = claim_of("x**3", "3*x", {"x": 1})
    assert other.at is not None
    assert (float(other.at["x"]), other.claimed, other.truth) == (2.0, 6.0, 12.0)
    vector = claim_of("sum(x**3)", "3*x", {"x": [1, 0, 1]})
    assert vector.at is not None
    assert vector.at["x"].tolist() == [2, 2, 2]


def test_a_counterexample_of_every_v_shows_its_v() -> None:
    """V is ones at the point, where 2*x*v**2 is right."""
    claim = claim_of("x**2", "2*x*v**2", {"x": [1, 2]})
    assert claim.v is not None
    assert claim.at is not None
    assert claim.entry is not None
    v, x = claim.v[claim.entry], claim.at["x"][claim.entry]
    assert (claim.claimed, claim.truth) == (2 * x * v**2, 2 * x * v)


def test_large_claims_are_sampled_and_said_so() -> None:
    """A hundred thousand entries of a gradient; a Jacobian of sixty thousand."""
    gradient = claim_of("sum(x**2)", "2*x", {"x": np.linspace(0, 1, 100_000)})
    assert gradient.status == "proved"
    assert "256 of 100,000 entries were compared" in gradient.note
    jacobian = claim_of("A@x", "2*A", {"A": np.ones((300, 200)), "x": np.ones(200)})
    assert jacobian.status == "refuted"


@pytest.mark.parametrize(
    ("f", "text", "x", "points"),
    [
        ("log(x)", "1/x", -1, 22),
        ("log(-x**2 - 1)", "2*x/(x**2 + 1)", 1, 0),
        ("x**3/x", "2*x", 0, 30),
        ("x**3/3", "0.333333333333*3*x**2", 1.5, 101),
    ],
)
@pytest.mark.one_in(2)
def test_a_point_without_a_derivative_does_not_count(f: str, text: str, x: float, points: int) -> None:
    """The claim is tried elsewhere."""
    assert claim_of(f, text, {"x": x}).points == points


ERRORS = [
    ("x**2", "2*xx2", {"x": 1}, "names 'xx2', which is no variable", None),
    ("alpha**2", "2*alhpa", {"alpha": 1}, "names 'alhpa'", "did you mean 'alpha'?"),
    ("A@x", "ones(5)", {"A": _A, "x": [1, 2, 3]}, "has shape (5,); the Jacobian has y.shape + x.shape, (2, 3)", None),
    ("x**2", "diag(v)", {"x": [1, 2]}, "has shape (2, 2); vᵀJ has the shape of x, (2,)", "leave v out"),
    ("x**2", "2*(x", {"x": 1}, "never closed", None),
    ("x**2", "__import__('os')", {"x": 1}, "not allowed", None),
    ("x**2", "x*ones(3)[5]", {"x": 1}, "index", None),
]


@pytest.mark.parametrize(("f", "text", "at", "message", "hint"), ERRORS, ids=[text for _, text, *_ in ERRORS])
def test_a_claim_that_cannot_be_one_is_an_error(f: str, text: str, at: At, message: str, hint: str | None) -> None:
    """With its place in the claim."""
    with pytest.raises(GradcliError, match=re.escape(message)) as caught:
        claim_of(f, text, at, wrt=next(iter(at)) if "x" not in at else "x")
    assert caught.value.place is not None
    assert caught.value.place.source == "--claim"
    assert hint is None or (caught.value.hint or "").startswith(hint)


EXPECTED = [
    ("x**2", "2, 4", {"x": [1, 2]}, "agrees", ""),
    ("x**2", "[[2, 0], [0, 4]]", {"x": [1, 2]}, "agrees", ""),
    ("sin(x)", "0.5403023058681398", {"x": 1}, "agrees", ""),
    ("A@x", [[1, 2, -1], [0.5, -3, 4]], {"A": _A, "x": [1, 2, 3]}, "agrees", ""),
    ("x**2", "-2, -4", {"x": [1, 2]}, "refuted", "the sign"),
    ("x**2", "inf", {"x": 1}, "refuted", ""),
    ("A@x", [[1, 0.5], [2, -3], [-1, 4]], {"A": _A, "x": [1, 2, 3]}, "refuted", "transposed"),
    ("cos(x)", "0.1", {"x": 0}, "refuted", ""),
]


@pytest.mark.parametrize(
    ("f", "value", "at", "status", "mistake"), EXPECTED, ids=[f"{f} -> {v}" for f, v, *_ in EXPECTED]
)
def test_expected_numbers_are_held_to_the_tolerance(f: str, value: Any, at: At, status: str, mistake: str) -> None:
    """At the point alone."""
    claim = number_of(f, value, at)
    assert claim.status == status
    assert claim.mistake.startswith(mistake)
    assert bool(claim.mistake) == bool(mistake)


def test_expected_numbers_say_how_far_they_are_off() -> None:
    """And which tolerance would accept them."""
    wrong = number_of("sum(x**2)", "2, 4.1", {"x": [1, 2]})
    assert (wrong.entry, wrong.claimed, wrong.truth) == ((1,), 4.1, 4.0)
    assert wrong.note == "the relative difference is 0.025; --rtol 0.026 would accept it"
    zero = number_of("cos(x)", "0.1", {"x": 0})
    assert zero.note == "the difference is 0.1, where the truth is 0; --atol 0.11 would accept it"


@pytest.mark.parametrize(
    ("f", "text", "at", "said"),
    [
        ("x**2/6", "0.33*x", 3, "--rtol 0.011"),
        ("x**2/6", "0.3333*x", 3, "--rtol 0.00011"),
        ("log(x)/log(10)", "0.434/x", 3, "--rtol 0.00069"),
        ("pi*x**2", "6.28*x", 2, "--rtol 0.00052"),
        ("exp(0.1*x)/3", "0.0333*exp(0.1*x)", 3, "--rtol 0.0011"),
        # elsewhere it is off by any factor, or the last digits are others
        ("x**2/6 + sin(x)", "0.333*x + cos(x)", 3, "the relative difference is 0.1"),
        ("x**3/3 - x", "0.999*x**2 - 1", 3, "0.0011, more than the rounding of its decimals explains"),
        ("x**3", "2.9*x**2", 2, "0.033, more than the rounding of its decimals explains"),
        ("exp(0.1*x)", "0.11*exp(0.1*x)", 3, "0.1, more than the rounding of its decimals explains"),
        ("x**2 + 0.01*x**2", "2*x + 0.01*x", 3, "0.005, more than the rounding of its decimals explains"),
        ("2*x", "2.0000001", 3, "5e-08, more than the rounding of its decimals explains"),
    ],
)
def test_a_tolerance_is_advised_that_was_tried(f: str, text: str, at: float, said: str) -> None:
    """Where the last digits of decimals explain the difference; with it the claim has no counterexample."""
    claim = claim_of(f, text, {"x": at})
    assert (claim.status, said in claim.note, "would accept it" in claim.note) == ("refuted", True, said[:2] == "--")
    if said.startswith("--rtol"):
        subject, arrays = subject_at(f, {"x": at})
        assert claimed(subject, text, arrays, Tolerance(float(said.split()[1]))).status == "no counterexample"


def test_no_tolerance_is_suggested_that_would_accept_anything() -> None:
    """--rtol 2.1 would accept a wrong sign."""
    wrong = number_of("sum(x**2)", "-2, -4", {"x": [1, 2]})
    assert wrong.note == "the relative difference is 2"


def test_expected_numbers_at_a_kink_are_not_compared() -> None:
    """There is no truth to compare them with."""
    claim = number_of("relu(x)", "0", {"x": 0})
    assert (claim.status, claim.points) == ("no counterexample", 0)
    assert "has a kink here" in claim.note
    mixed = number_of("relu(x)", "0, 1", {"x": [0, 1]})
    assert (mixed.status, mixed.points) == ("no counterexample", 1)
    assert "at [0] nothing was compared" in mixed.note


def test_expected_numbers_have_a_shape() -> None:
    """A shape of no derivative is an error at its place."""
    with pytest.raises(GradcliError, match="shape") as caught:
        number_of("x**2", "1, 2, 3", {"x": [1, 2]})
    assert caught.value.place is not None
    assert caught.value.place.source == "--expect"
    with pytest.raises(GradcliError, match="shape"):
        number_of("x**2", [1, 2, 3], {"x": [1, 2]})


SMOOTH = [row for row in PROVED if "where" not in row[1] and "sign" not in row[1] and ";" not in row[1]]


@settings(deadline=None, max_examples=examples(60))
@given(st.sampled_from(SMOOTH), st.sampled_from(["({})*(1 + 1e-6)", "({}) + 1e-6", "({})*1000001/1000000"]))
def test_a_claim_that_is_a_little_off_is_refuted(row: tuple[str, str, At, str], change: str) -> None:
    """By a millionth, where the tolerance is a billionth."""
    f, text, at, _ = row
    claim = claim_of(f, change.format(text), at)
    assert claim.status == "refuted"
    assert claim.truth is not None
    assert claim.claimed is not None
    assert math.isclose(claim.truth, claim.claimed, rel_tol=2e-6, abs_tol=2e-6)


@settings(deadline=None, max_examples=examples(40))
@given(st.sampled_from(PROVED), st.integers(0, 1000), st.sampled_from(["float64", "float32"]))
def test_a_true_claim_is_true_at_any_seed(row: tuple[str, str, At, str], seed: int, dtype: str) -> None:
    """And at the points of either precision."""
    f, text, at, _ = row
    assert claim_of(f, text, at, seed=seed, points=20, dtype=dtype).status == "proved"


Pair = tuple[str, str]
"""A function of x and its derivative, by the rules that everyone learns."""

_OUTER: list[Pair] = [
    ("sin({u})", "cos({u})"),
    ("cos({u})", "-sin({u})"),
    ("exp(-({u})**2)", "-2*({u})*exp(-({u})**2)"),
    ("tanh({u})", "(1 - tanh({u})**2)"),
    ("sigmoid({u})", "sigmoid({u})*(1 - sigmoid({u}))"),
    ("({u})**3", "3*({u})**2"),
    ("sqrt(({u})**2 + 1)", "({u})/sqrt(({u})**2 + 1)"),
    ("log1p(({u})**2)", "2*({u})/(1 + ({u})**2)"),
    ("abs({u})", "sign({u})"),
    ("relu({u})", "where({u} > 0, 1, 0)"),
    ("where({u} > 1, ({u})**2, 2*({u}) - 1)", "where({u} > 1, 2*({u}), 2)"),
    ("atan({u})", "1/(1 + ({u})**2)"),
]


def _chained(outer: Pair, inner: Pair) -> Pair:
    (f, slope), (u, du) = outer, inner
    return f.format(u=u), f"{slope.format(u=u)}*({du})"


def _multiplied(a: Pair, b: Pair) -> Pair:
    return f"({a[0]})*({b[0]})", f"({a[1]})*({b[0]}) + ({a[0]})*({b[1]})"


def _divided(a: Pair, b: Pair) -> Pair:
    return f"({a[0]})/({b[0]})", f"(({a[1]})*({b[0]}) - ({a[0]})*({b[1]}))/({b[0]})**2"


def _added(a: Pair, b: Pair) -> Pair:
    return f"{a[0]} - ({b[0]})", f"{a[1]} - ({b[1]})"


PAIRS = st.recursive(
    st.sampled_from([("x", "1"), ("2*x - 1", "2"), ("x**2", "2*x"), ("w*x", "w"), ("0.3*x + w", "0.3")]),
    lambda inner: st.one_of(
        st.builds(_chained, st.sampled_from(_OUTER), inner),
        st.builds(_multiplied, inner, inner),
        st.builds(_divided, inner, inner),
        st.builds(_added, inner, inner),
    ),
    max_leaves=3,
)


@settings(deadline=None, max_examples=examples(50))
@given(PAIRS, st.sampled_from([(1.5, 0.5), (0, 0), (1, -1), ([1, -0.5, 0], [2, 1, 0.25])]))
def test_what_the_rules_give_is_never_refuted_and_a_little_more_is(pair: Pair, point: tuple[Any, Any]) -> None:
    """Chain, product and quotient rule, across kinks and poles; nothing that is a little off is proved."""
    f, slope = pair
    at = {"x": point[0], "w": point[1]}
    at = {name: value for name, value in at.items() if name in parse(f).names}
    true = claim_of(f, slope, at, points=20)
    assert true.status != "refuted", (true.at, true.claimed, true.truth)
    assume(true.points)
    assert claim_of(f, f"({slope})*(1 + 1e-6) + 1e-6*pi", at, points=20).status == "refuted"


ANYWHERE = [
    ("x^2", {"": "2x"}, ["proved"]),
    ("A@x", {"x": "A", "A": "x[k]*KroneckerDelta(i, j)"}, ["proved", "proved"]),
    ("sum(x[5:]**2)", {"": "2*x"}, ["refuted"]),
    ("sqrt(x - 10)", {"x": "1/(2*sqrt(x - 10))"}, ["proved"]),
]


@pytest.mark.parametrize(("f", "claims", "found"), ANYWHERE)
def test_a_claim_needs_no_point(f: str, claims: dict[str, str], found: list[str]) -> None:
    """It is tried with random values, which is said, and proved or refuted for shapes that make sense."""
    answer = Function(f).check(claim=claims)
    assert ([claim.status for claim in answer.claims], answer.passed) == (found, "refuted" not in found)
    assert answer.warnings[0].startswith("no values were given; random ones were taken: ")


@pytest.mark.parametrize(
    ("f", "claims", "said"),
    [
        ("x*y", {"dy/dx": "y"}, "which the derivative is not by"),
        ("sqrt(-1 - x**2)", {"": "x"}, "no point was found where the function has a value"),
    ],
)
def test_a_claim_that_cannot_be_tried_anywhere_is_refused(f: str, claims: dict[str, str], said: str) -> None:
    """By no variable of the function, or without a value."""
    with pytest.raises(GradcliError, match=said):
        Function(f).check(claim=claims)


@pytest.mark.parametrize(
    ("f", "text", "status", "is_exact"),
    [
        ("x*sigmoid(1.702*x)", "sigmoid(1.702*x) + 1.702*x*sigmoid(1.702*x)*(1-sigmoid(1.702*x))", "proved", True),
        ("exp(-1.702*x)", "-1.702*exp(-1.702*x)", "proved", True),
        ("exp(1.702*x)", "1.702*exp(1.702*x) + 0*1e-9*x", "proved", False),
        ("exp(1.702*x)", "1.71*exp(1.702*x)", "refuted", False),
        ("exp(1.702*x)", "exp(1.702*x)", "refuted", True),
    ],
)
def test_decimals_of_the_function_are_exact_in_a_claim(f: str, text: str, status: str, *, is_exact: bool) -> None:
    """They are the fractions that are written, in both; any other decimal may be rounded."""
    claim = claim_of(f, text, {"x": 0.7})
    assert (claim.status, "held to the tolerance" not in claim.note) == (status, is_exact)
