"""Structures of arguments: values stay inside, and derivatives and claims are those along the directions of them."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff.run import array_of, run
from gradcli.errors import InputError
from gradcli.parts.claims.structures import STRUCTURES
from tests.conftest import Command
from tests.examples import first_of_each

At = Mapping[str, Any]

_S, _D, _L, _T = [[2, 1], [1, 3]], [[2, 0], [0, 3]], [[2, 0], [1, 3]], [[0, -1], [1, 0]]
_B, _X, _P = [[1, 2], [3, 5]], [1, 2], [0.2, 0.3, 0.5]

# f, the structures, the variable, the claim, the point, its outcome, and that without the structures
CLAIMS: list[tuple[str, dict[str, str], str, str, At, str, str]] = [
    ("x@A@x", {"A": "symmetric"}, "x", "2*A@x", {"x": _X, "A": _S}, "proved", "refuted"),
    ("x@A@x", {"A": "symmetric"}, "A", "outer(x, x)", {"x": _X, "A": _S}, "proved", "proved"),
    ("x@A@y", {"A": "symmetric"}, "A", "outer(y, x)", {"x": _X, "y": [3, 5], "A": _S}, "proved", "refuted"),
    ("A@x", {"A": "symmetric"}, "x", "A.T@v", {"x": _X, "A": _S}, "proved", "proved"),
    ("A@x", {"A": "symmetric"}, "x", "A@v", {"x": _X, "A": _S}, "proved", "refuted"),
    ("logdet(A)", {"A": "spd"}, "A", "inv(A)", {"A": _S}, "proved", "refuted"),
    ("logdet(A)", {"A": "spd"}, "A", "inv(A).T", {"A": _S}, "proved", "proved"),
    ("trace(A@B)", {"A": "diagonal"}, "A", "B", {"A": _D, "B": _B}, "proved", "refuted"),
    ("trace(A@B)", {"A": "diagonal"}, "A", "B*eye(2)", {"A": _D, "B": _B}, "proved", "refuted"),
    ("trace(A@B)", {"A": "triangular"}, "A", "tril(B.T)", {"A": _L, "B": _B}, "proved", "refuted"),
    ("tril(A)@x", {"A": "triangular"}, "x", "A", {"A": _L, "x": _X}, "proved", "refuted"),
    ("-sum(x*log(x))", {"x": "simplex"}, "x", "-log(x)", {"x": _P}, "proved", "refuted"),
    ("-sum(x*log(x))", {"x": "simplex"}, "x", "-log(x) - 1", {"x": _P}, "proved", "proved"),
    ("logsumexp(log(x))", {"x": "simplex"}, "x", "0", {"x": _P}, "proved", "refuted"),
    ("sum(abs(x))", {"x": "positive"}, "x", "1", {"x": _X}, "proved", "refuted"),
    ("sum(sqrt(x**2))", {"x": "positive"}, "x", "1", {"x": _X}, "proved", "refuted"),
    ("trace(A@B)", {"A": "orthogonal"}, "A", "(B.T - A@B@A)/2", {"A": _T, "B": _B}, "no counterexample", "refuted"),
    ("trace(A.T@A)", {"A": "orthogonal"}, "A", "0", {"A": _T}, "no counterexample", "refuted"),
    ("trace(A@B)", {"A": "orthogonal"}, "A", "B.T", {"A": _T, "B": _B}, "proved", "proved"),
    ("y = x@A@x", {"A": "symmetric"}, "x", "2*y*A@x/(x@A@x)", {"x": _X, "A": _S}, "proved", "refuted"),
    ("y = x@A@x", {"A": "symmetric"}, "x", "y*x", {"x": _X, "A": _S}, "refuted", ""),
    # wrong ones, along directions of the structure too
    ("x@A@x", {"A": "symmetric"}, "x", "A@x", {"x": _X, "A": _S}, "refuted", ""),
    ("x@A@x", {"A": "symmetric"}, "A", "2*outer(x, x)", {"x": _X, "A": _S}, "refuted", ""),
    ("logdet(A)", {"A": "spd"}, "A", "2*inv(A)", {"A": _S}, "refuted", ""),
    ("trace(A@B)", {"A": "diagonal"}, "A", "B + eye(2)", {"A": _D, "B": _B}, "refuted", ""),
    ("trace(A@B)", {"A": "triangular"}, "A", "tril(B)", {"A": _L, "B": _B}, "refuted", ""),
    ("-sum(x*log(x))", {"x": "simplex"}, "x", "-x", {"x": _P}, "refuted", ""),
    ("sum(abs(x))", {"x": "positive"}, "x", "-1", {"x": _X}, "refuted", ""),
    ("trace(A@B)", {"A": "orthogonal"}, "A", "B", {"A": [[0.6, -0.8], [0.8, 0.6]], "B": _B}, "refuted", ""),
]


@pytest.mark.parametrize(
    ("f", "assume", "wrt", "claim", "at", "status", "in_general"),
    first_of_each(CLAIMS, lambda *one: (*one[1].values(), *one[5:])),
    ids=[f"{f}: {c}" for f, _, _, c, *_ in CLAIMS],
)
@pytest.mark.one_in(8)
def test_a_claim_is_judged_under_the_structure_and_in_general(
    f: str, assume: dict[str, str], wrt: str, claim: str, at: At, status: str, in_general: str
) -> None:
    """Both are said, and the one under the structure decides whether it passes."""
    answer = Function(f).check(at, wrt=[wrt], claim={wrt: claim}, assume=assume)
    (found,) = answer.claims
    assert answer.check is not None
    assert (found.status, found.in_general, answer.check.verdict) == (status, in_general, "agree")
    assert answer.passed == (status == "proved")
    if in_general == "refuted":
        assert "; in general it is refuted: at " in found.note
    if found.at is not None:
        for name, structure in assume.items():
            STRUCTURES[structure].require(name, found.at[name])


def test_what_is_not_proved_says_why() -> None:
    """Matrices of floats are orthogonal to within their rounding, and no entry of one is free."""
    answer = Function("trace(A@B)").check(
        {"A": _T, "B": _B}, wrt=["A"], claim={"A": "(B.T - A@B@A)/2"}, assume={"A": "orthogonal"}
    )
    assert "no floats are orthogonal A exactly, so it is held to the tolerance" in answer.claims[0].note
    assert "nothing is proved of orthogonal A" in answer.claims[0].note


# The gradient of trace(A@B) is B.T = [[1, 3], [2, 5]], that of sum(c*x) is c = [1, 2, 6]; each projected by hand.
_C = [1, 2, 6]
ALONG: dict[str, tuple[str, At, Any]] = {
    "symmetric": ("trace(A@B)", {"A": _S, "B": _B}, [[1, 2.5], [2.5, 5]]),
    "spd": ("trace(A@B)", {"A": _S, "B": _B}, [[1, 2.5], [2.5, 5]]),
    "diagonal": ("trace(A@B)", {"A": _D, "B": _B}, [[1, 0], [0, 5]]),
    "triangular": ("trace(A@B)", {"A": _L, "B": _B}, [[1, 0], [2, 5]]),
    "orthogonal": ("trace(A@B)", {"A": _T, "B": _B}, [[3, 0], [0, 3]]),
    "simplex": ("sum(c*A)", {"A": _P, "c": _C}, [-2, -1, 3]),
    "positive": ("sum(c*A)", {"A": _P, "c": _C}, _C),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_derivatives_are_those_along_the_directions(name: str) -> None:
    """Torch, formula and enclosure, and the numbers of somebody."""
    f, at, truth = ALONG[name]
    answer = Function(f).check(at, wrt=["A"], assume={"A": name}, expect={"A": truth})
    assert answer.jacobian is not None
    np.testing.assert_allclose(answer.jacobian["A"], truth, atol=1e-15)
    assert (answer.passed, answer.check and answer.check.verdict) == (True, "agree")
    assert answer.assumed == {"A": name}
    one = STRUCTURES[name]
    assert answer.remarks == (f"A is assumed to be {one.called}: derivatives by it are those along {one.directions}",)
    wrong = Function(f).check(at, wrt=["A"], assume={"A": name}, expect={"A": np.asarray(truth) + ALONG[name][2]})
    assert [claim.status for claim in wrong.claims] == ["refuted"]


@pytest.mark.parametrize("name", STRUCTURES)
def test_members_are_drawn_and_stay_inside(name: str) -> None:
    """Of any numbers; the nearest member of one is itself, and next to it others are made members."""
    one, generator = STRUCTURES[name], np.random.default_rng(0)
    shape = (3, 3) if one.is_of_matrices else (3,)
    for numbers in (np.zeros(shape), np.ones(shape), *generator.normal(scale=10, size=(5, *shape))):
        member = one.member(numbers)
        one.require("A", member)
        np.testing.assert_allclose(one.nearest_of(member), member, atol=1e-14)
        near = one.nearest_of(member + 1e-8 * member * generator.uniform(-1, 1, size=shape))
        one.require("A", np.asarray(near))
        program = one.nearest(shape)
        found = array_of(run(program, {"A": numbers}, (), "float64").output)
        np.testing.assert_allclose(found, one.nearest_of(numbers), rtol=1e-13, atol=1e-13)


def test_random_points_are_members() -> None:
    """Of log det, which most symmetric matrices have not."""
    asked = {"at": {"A": _S}, "random": 8, "box": {"A": "-1..1"}}
    answer = Function("logdet(A)").check(**asked, assume={"A": "spd"})  # type: ignore[arg-type]
    assert answer.passed
    assert answer.sampling is not None
    assert answer.sampling.points == 8
    STRUCTURES["spd"].require("A", answer.sampling.worst["A"])
    assert not Function("logdet(A)").check(**asked).passed  # type: ignore[arg-type]


FORMULAS = [
    ("x@A@x", {"A": "symmetric"}, {"x": _X, "A": _S}, "x", "2*Sum(A[j, k]*x[k], (k, 0, 1))"),
    ("x@A@x", {"A": "diagonal"}, {"x": _X, "A": _D}, "x", "2*A[j, j]*x[j]"),
    ("-sum(x*log(x))", {"x": "simplex"}, {"x": _P}, "x", "-log(x[j]) + Sum(log(x[k]), (k, 0, 2))/3"),
]


@pytest.mark.parametrize(("f", "assume", "at", "wrt", "formula"), FORMULAS, ids=[f for f, *_ in FORMULAS])
def test_formulas_are_written_by_the_structure(f: str, assume: dict[str, str], at: At, wrt: str, formula: str) -> None:
    """A[j,k] and A[k,j] are one number, and so is the sum of probabilities."""
    answer = Function(f).check(at, wrt=[wrt], assume=assume)
    assert answer.symbolic[wrt].text == formula


def test_formulas_of_orthogonal_matrices_are_left_out() -> None:
    """That of the nearest one would be shown in their place."""
    answer = Function("trace(A@B)").check({"A": _T, "B": _B}, wrt=["A"], assume={"A": "orthogonal"})
    assert "which is orthogonal" in answer.symbolic_omitted["A"]


ERRORS: list[tuple[str, At, dict[str, str], str, str]] = [
    ("trace(A)", {"A": _S}, {"A": "symetric"}, "names 'symetric', which is no structure", "did you mean 'symmetric'?"),
    ("trace(A)", {"A": _S}, {"A": "unitary"}, "names 'unitary', which is no structure", "the structures are: symm"),
    ("trace(A)", {"A": _S}, {"B": "spd"}, "names 'B', and there is no such variable", "the variables are: A"),
    (
        "x@A",
        {"A": _S, "x": _X},
        {"": "spd"},
        'assume="spd" does not say of which variable',
        'write assume={"A": "spd"}',
    ),
    ("x@A", {"A": _S, "x": _X}, {"": "simplex"}, "does not say of which variable", 'write assume={"x": "simplex"}'),
    ("x*y", {"x": 1, "y": 2}, {"": "spd"}, "does not say of which variable", "; the variables are: x, y"),
    ("A@B@x", {"A": _S, "B": _S, "x": _X}, {"": "symmetric"}, "does not say of", '"symmetric"} or assume={"B": '),
    ("trace(A)", {"A": _B}, {"A": "symmetric"}, "A is not symmetric: A[0,1] = 2 and A[1,0] = 3", "(A + A.T)/2"),
    ("trace(A)", {"A": [[1, 2], [2, 1]]}, {"A": "spd"}, "its smallest eigenvalue is -1", "eigenvalues are above 0"),
    ("trace(A)", {"A": _B}, {"A": "diagonal"}, "A is not diagonal: A[0,1] = 2", "zeros off the diagonal"),
    ("trace(A)", {"A": _B}, {"A": "triangular"}, "A is not lower triangular: A[0,1] = 2", "the function of A.T"),
    ("trace(A)", {"A": _S}, {"A": "orthogonal"}, "A is not orthogonal: (A.T@A)[0,0] = 5", "orthonormal columns"),
    ("sum(x)", {"x": _X}, {"x": "simplex"}, "x is not on the simplex: the sum is 3", "whose sum is 1"),
    ("sum(x)", {"x": [0, 1]}, {"x": "simplex"}, "x is on the edge: x[0] = 0, from where", "leave x out of wrt"),
    ("sum(x)", {"x": [-1, 2]}, {"x": "simplex"}, "x is not on the simplex: x[0] = -1", "numbers above 0"),
    ("sum(x)", {"x": [1, -2]}, {"x": "positive"}, "x is not positive: x[1] = -2", "numbers above 0"),
    ("sum(x)", {"x": _X}, {"x": "symmetric"}, "has shape (2,), not that of a square matrix", ""),
    ("x**2", {"x": 2}, {"x": "diagonal"}, "is a number and no square matrix", ""),
    ("sum(x[x > 0])", {"x": _X}, {"x": "positive"}, "values decide which operations", "where(x > 0, x, 0)"),
]


@pytest.mark.parametrize(("f", "at", "assume", "message", "hint"), ERRORS, ids=[message for *_, message, _ in ERRORS])
def test_a_value_or_a_name_that_does_not_fit_is_an_error(
    f: str, at: At, assume: dict[str, str], message: str, hint: str
) -> None:
    """With what is wrong, and how to write it."""
    with pytest.raises(InputError) as raised:
        Function(f).check(at, assume=assume)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")


_CROSS_ENTROPY, _ONE_HOT, _Z = "-sum(t*log_softmax(z))", [0, 1, 0], [1, 2, 0.5]


def claim_at(text: str, at: At) -> Any:
    """Evaluate a claim at a point."""
    return Function(text).eval({name: one for name, one in at.items() if name in Function(text).variables}).value


# f, the point, the variables to differentiate by, the claim, what it is said to hold for, and the assumption for that
HINTS: list[tuple[str, At, list[str], str, str, dict[str, str]]] = [
    (_CROSS_ENTROPY, {"z": _Z, "t": _ONE_HOT}, ["z"], "softmax(z) - t", "t on the simplex", {"t": "simplex"}),
    (_CROSS_ENTROPY, {"z": _Z, "t": _P}, ["z"], "softmax(z) - t", "t on the simplex", {"t": "simplex"}),
    ("logsumexp(z) - t@z", {"z": _Z, "t": _ONE_HOT}, ["z"], "sum(t)*softmax(z) - t", "t on", {"t": "simplex"}),
    ("sum(p*log(p/q))", {"p": _P, "q": _P}, ["q"], "-p/q + sum(p) - 1", "p on the simplex", {"p": "simplex"}),
    ("sum(abs(x)*y)", {"x": _X, "y": [0, 3]}, ["x"], "y", "positive x", {"x": "positive"}),
    ("sum(A@x)", {"x": _X, "A": _D}, ["x"], "diag(A)", "diagonal A", {"A": "diagonal"}),
    ("sum(A@x)", {"x": _X, "A": _L}, ["x"], "[A[0,0] + A[1,0], A[1,1]]", "lower", {"A": "triangular"}),
    ("x@A@x", {"x": _X, "A": _S}, ["x"], "2*A@x", "symmetric A", {"A": "symmetric"}),
    (_CROSS_ENTROPY, {"z": _Z, "t": _ONE_HOT}, ["z"], "2*softmax(z) - t", "", {}),
    (_CROSS_ENTROPY, {"z": _Z, "t": [0.2, 0.5, 0.4]}, ["z"], "softmax(z) - t", "", {}),
    ("-log(t@softmax(z))", {"z": _Z, "t": _P}, ["z"], "softmax(z) - t", "", {}),
]


@pytest.mark.parametrize(
    ("f", "at", "wrt", "claim", "said", "assume"), HINTS, ids=[f"{f}: {c}" for f, _, _, c, *_ in HINTS]
)
def test_what_a_refuted_claim_holds_for_is_named_after_it_was_tried(
    f: str, at: At, wrt: list[str], claim: str, said: str, assume: dict[str, str]
) -> None:
    """And the claim is proved, where the hint is followed; that it holds at the values given is said, too."""
    [found] = Function(f).check(at, wrt=wrt, claim={wrt[0]: claim}).claims
    assert (found.status, f"it holds for {said}" in found.note) == ("refuted", bool(said)), found.note
    [refuted] = Function(f).check(at, wrt=wrt, expect={wrt[0]: claim_at(claim, at)}).claims
    assert ("at the point that is checked it holds" in found.note) == refuted.passes(()), found.note
    if assume:
        [(name, structure)] = assume.items()
        assert f"--assume {name}={structure}" in found.note
        assert Function(f).check(at, wrt=wrt, claim={wrt[0]: claim}, assume=assume).claims[0].status == "proved"


@pytest.mark.parametrize("wrt", [["z", "t"], None])
def test_only_what_is_differentiated_by_must_lie_inside_the_simplex(wrt: list[str] | None) -> None:
    """A one-hot target is a constant; the hint says to leave it out of the variables."""
    function, claim = Function(_CROSS_ENTROPY), {"z": "softmax(z) - t"}
    at: dict[str, Any] = {"z": _Z, "t": _ONE_HOT}
    assert function.check(at, wrt=["z"], assume={"t": "simplex"}, claim=claim).passed
    with pytest.raises(InputError, match="on the edge"):
        function.check(at, wrt=wrt, assume={"t": "simplex"}, claim=claim)
    [found] = function.check(at, wrt=wrt, claim=claim).claims
    assert "--assume t=simplex and --wrt z" in found.note


def test_the_shell_says_both(gradcli: Command) -> None:
    """The claim holds under the assumption, and is refuted in general; a wrong name exits with 2."""
    words = ["check", "x@A@x", "--at", "x=1,2", "--at", "A=[[2,1],[1,3]]", "--claim", "x=2*A@x"]
    found = gradcli(*words, "--assume", "A=symmetric")
    said = " ".join(found.out.split())
    assert found.code == 0
    assert "claim 2*A@x for x: proved: the claim holds for symmetric A; in general it is refuted: at " in said
    assert "A is assumed to be symmetric: derivatives by it are those along symmetric directions" in said
    answer = json.loads(gradcli(*words, "--assume", "A=symmetric", "--json").out)
    assert answer["assumed"] == {"A": "symmetric"}
    assert (answer["claims"][0]["assumed"], answer["claims"][0]["in_general"]) == ("symmetric A", "refuted")
    assert gradcli(*words).code == 1
    wrong = gradcli(*words, "--assume", "A=symmetrical")
    assert wrong.code == 2
    assert wrong.err.endswith(" --assume A=symmetric\n")
