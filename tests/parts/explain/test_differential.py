"""The differential of a function of vectors and matrices: its lines, and that each is one."""

import pytest

from gradcli import Function
from tests.conftest import Command
from tests.examples import part

BOARDS: list[tuple[str, list[str], list[str], dict[str, str]]] = [
    ("norm(A@x-b)**2", ["x"], ["dy = 2*(dr@r)", "dr = A@dx"], {"x": "2*A.T@(A@x - b)"}),
    ("x@A@x", ["x"], ["dy = dx@A@x + x@A@dx"], {"x": "(A + A.T)@x"}),
    ("log(det(X))", ["X"], ["dy = trace(inv(X)@dX)"], {"X": "inv(X).T"}),
    ("trace(A@X@B)", ["X"], ["dy = trace(A@dX@B)"], {"X": "A.T@B.T"}),
    ("trace(inv(X)@A)", ["X"], ["dy = -trace(inv(X)@A@inv(X)@dX)"], {"X": "-(inv(X)@A@inv(X)).T"}),
    ("r = A@x-b; s = r@r; s**2", ["x"], ["dy = 2*ds*s", "ds = 2*(dr@r)", "dr = A@dx"], {"x": ""}),
    ("mean(x**2)", ["x"], ["dy = dx@x/2"], {"x": "x/2"}),
    ("norm(A-U@V)**2", ["U", "V"], ["dy = 2*sum(R⊙dR)", "dR = -U@dV - dU@V"], {"U": "", "V": ""}),
]
"""A function, what moves, the lines and the gradients in whole tensors; empty for one that is not written down here."""


@pytest.mark.parametrize(("f", "wrt", "lines", "gradients"), BOARDS, ids=[f for f, *_ in BOARDS])
@pytest.mark.one_in(2)
def test_the_lines_are_those_of_a_board(f: str, wrt: list[str], lines: list[str], gradients: dict[str, str]) -> None:
    """A sum inside has a name, and what a statement names its own; without values random ones are taken."""
    answer = Function(f).explain(wrt=wrt)
    assert [f"d{one.name} = {one.change.text}" for one in answer.differential] == lines
    assert answer.gradients.keys() == gradients.keys()
    assert all(answer.gradients[name].text == text for name, text in gradients.items() if text)


@pytest.mark.part("claims")
@pytest.mark.parametrize(
    "f",
    part(
        [
            "A@x",
            "A@X@B",
            "inv(X)",
            "softmax(x)",
            "x@x/(x@A@x)",
            "outer(x, y)@w",
            "x*sum(exp(x))",
            "trace(X@X@B)",
            "X@X.T",
        ],
        turn=0,
        of=2,
    ),
)
@pytest.mark.one_in(2)
def test_each_line_is_a_differential(f: str) -> None:
    """Proved as a claim of it, of each variable that moves."""
    function = Function(f)
    answer = function.explain(v="ones")
    (line,) = answer.differential
    claims = function.check(answer.inputs, claim={"": f"dy = {line.change.text}"}).claims
    assert {one.variable: one.status for one in claims} == dict.fromkeys(answer.wrt, "proved")


def test_what_has_no_matrices_has_the_chain_rule_alone() -> None:
    """And so has a function of code, or one that is too long for a board."""
    assert Function("sin(x)*x").explain({"x": [1, 2]}, v="ones").differential == ()
    many = "sum((x-a)**2) + norm(x-b) + norm(x+a) + sum(exp(x-c)*(x+b))"
    at = {name: [1.0, 2.0] for name in "xabc"}
    assert Function(many).explain(at).differential == ()


def test_it_is_shown_as_mathematics_where_the_text_is(gradcli: Command) -> None:
    """In the notation of the input."""
    assert "so ∇x y = 2·Aᵀ(Ax − b)" in gradcli("explain", "‖Ax-b‖²", "--wrt", "x").out
