"""The chain rule step by step: hand-derived adjoints, where they come from, and what is said of v."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradcli import Function
from gradcli.errors import GradcliError, TooLargeError
from gradcli.language import ops
from gradcli.questions.explain import MOST_JUDGED, MOST_LINES, MOST_TERMS
from gradcli.questions.loss import agrees
from gradcli.results import Adjoint, Explanation, Term
from tests.examples import examples
from tests.programs import Random, programs

ABC = {"a": "1,2,3", "b": "3,4,5", "c": "6,7,8"}


def _explain(text: str, v: Any = None, *, loss: str | None = None, **at: Any) -> Explanation:
    return Function(text).explain(at, v, loss=loss, check=False)


def _adjoint(answer: Explanation, name: str) -> Adjoint:
    return next(adjoint for adjoint in answer.adjoints if adjoint.name == name)


def _only(answer: Explanation, name: str) -> Term:
    (term,) = _adjoint(answer, name).terms
    return term


def test_named_statements_keep_their_names() -> None:
    """Of y = x**2, z = y**3 at 1, 2: z' by y is 3*y**2 = 3, 48, y' by x is 2*x = 2, 4, and the product 6, 192."""
    answer = _explain("y = x**2; z = y**3", "1,1", x="1,2")
    assert [(s.name, s.operation.pretty, s.value.tolist()) for s in answer.steps] == [
        ("y", "x²", [1, 4]),
        ("z", "y³", [1, 64]),
    ]
    assert [(a.name, a.value.tolist()) for a in answer.adjoints] == [("z", [1, 1]), ("y", [3, 48]), ("x", [6, 192])]
    y, x = _only(answer, "y"), _only(answer, "x")
    assert y.local is not None
    assert x.local is not None
    assert (y.source, y.formula, y.local.tolist(), y.value.tolist()) == ("z", "3*y**2", [3, 48], [3, 48])
    assert (x.source, x.formula, x.local.tolist(), x.value.tolist()) == ("y", "2*x", [2, 4], [6, 192])
    assert y.equation is not None
    assert (y.equation.text, y.equation.pretty) == ("adj(z)*3*y**2", "z̄ ⊙ 3·y²")


def test_other_lines_are_called_by_what_is_free() -> None:
    """The output is y unless the text says otherwise, and t2 is the user's here."""
    assert [s.name for s in _explain("3*t2 + log(t2)", t2="2").steps] == ["t1", "t3", "y"]
    assert [s.name for s in _explain("y*y + 1", y="2").steps] == ["t1", "f"]
    assert [s.name for s in _explain("t1 = x + 1; t1*x", x="2").steps] == ["t1", "y"]


def test_a_variable_used_twice_has_the_sum_of_its_terms() -> None:
    """Of 2*b*b = t2*b: from t2 = 2*b comes v*b*2, from the product v*t2 = v*2*b; 4*b*v in all."""
    answer = _explain("3*a + 2*b*b + log(c)", "0.1,1,0.0001", **ABC)
    b = _adjoint(answer, "b")
    assert [(term.source, term.formula) for term in b.terms] == [("t2", "2"), ("t3", "t2")]
    np.testing.assert_allclose([term.value for term in b.terms], [[0.6, 8, 0.001]] * 2, rtol=1e-15)
    np.testing.assert_allclose(b.value, [1.2, 16, 0.002], rtol=1e-15)
    assert (_only(answer, "a").formula, _only(answer, "c").formula) == ("3", "1/c")


def test_a_line_that_torch_gives_back_has_an_adjoint_of_its_own() -> None:
    """A vector is its own flatten(): by hand, z = c*b with c = b = x has dz/dc = b, and dz/db = c beside it."""
    answer = _explain("b = -x; c = b.flatten(); c*b", "1,1", x="1,2")
    assert [(term.source, term.value.tolist()) for term in _adjoint(answer, "b").terms] == [
        ("c", [-1, -2]),
        ("y", [-1, -2]),
    ]
    assert (_adjoint(answer, "b").value.tolist(), _adjoint(answer, "x").value.tolist()) == ([-2, -4], [2, 4])


def test_the_chain_rule_sums_over_all_that_depends_on_x() -> None:
    """dz/dx = Σ dz/dy_i·dy_i/dx: z = p*q with p = x**2, q = sin(x) at 2: q*2x + p*cos(x)."""
    answer = _explain("p = x**2; q = sin(x); z = p*q", x="2")
    x = _adjoint(answer, "x")
    assert [(t.source, t.value.item()) for t in x.terms] == [("p", 4 * np.sin(2)), ("q", 4 * np.cos(2))]
    assert x.value.item() == 4 * np.sin(2) + 4 * np.cos(2)
    assert _adjoint(answer, "p").value.item() == np.sin(2)


def test_a_shared_subexpression_is_one_line() -> None:
    """exp(x) stands twice and is one line, whose adjoint is a sum."""
    answer = _explain("exp(x)*sin(exp(x))", x="0")
    assert [s.operation.text for s in answer.steps] == ["exp(x)", "sin(t1)", "t1*t2"]
    assert _adjoint(answer, "t1").terms_count == 2


def test_a_matrix_product_has_its_rules() -> None:
    """For z = A@x: Ā = z̄ xᵀ and x̄ = Aᵀ z̄."""
    answer = _explain("z = A@x", "1,10", A="[[1,2,3],[4,5,6]]", x="1,0,2")
    A, x = _only(answer, "A"), _only(answer, "x")
    assert A.equation is not None
    assert x.equation is not None
    assert (A.equation.pretty, A.value.tolist()) == ("z̄ · xᵀ", [[1, 0, 2], [10, 0, 20]])
    assert (x.equation.pretty, x.value.tolist()) == ("Aᵀ · z̄", [41, 52, 63])
    for term in (A, x):
        assert (term.factors[0] @ term.factors[1]).tolist() == term.value.tolist()


def test_the_solution_of_a_vector_has_an_outer_product() -> None:
    """In plain characters, where 1-D y.T is y itself: -outer(inv(A).T @ adj(y), y), at y = 3/5, -1/5."""
    term = _only(_explain("solve(A, b)", "1,2", A="[[2,1],[1,3]]", b="1,0"), "A")
    assert term.equation is not None
    assert term.equation.text == "-outer(inv(A).T @ adj(y), y)"
    np.testing.assert_allclose(term.value, -np.outer([0.2, 0.6], [0.6, -0.2]), rtol=1e-14)
    term = _only(_explain("solve(A, B)", "[[1],[2]]", A="[[2,1],[1,3]]", B="[[1],[0]]"), "A")
    assert term.equation is not None
    assert term.equation.text == "-inv(A).T @ adj(y) @ y.T"


@pytest.mark.parametrize("text", ["A@x", "x@A.T", "A@B", "x@B", "B.T@B", "x@x", "dot(x, x*2)", "outer(x, x + 1)"])
def test_the_numbers_of_a_product_give_its_value(text: str) -> None:
    """Whatever the dimensions."""
    at = {"A": "[[1,2,3],[4,5,7]]", "x": "1,-2,3", "B": "[[1,2],[0,4],[5,5]]"}
    names = Function(text).variables
    answer = Function(text).explain({name: at[name] for name in names}, "ones" if "dot" not in text else None)
    terms = [
        t for adjoint in answer.adjoints for t in adjoint.terms if t.factors and t.equation and not t.is_elementwise
    ]
    for term in terms:
        first, second = term.factors
        product = first @ second if first.ndim and second.ndim else first * second
        assert product.tolist() == term.value.tolist()


def test_softmax_and_its_cross_entropy() -> None:
    """Softmax is one line; the adjoint of its input is p - t, by y·(ȳ − sum(ȳ·y))."""
    answer = _explain("p = softmax(x); -sum(t*log(p))", x="1,2,3", t="0,0,1")
    p = np.exp([1, 2, 3]) / np.exp([1, 2, 3]).sum()
    np.testing.assert_allclose(_adjoint(answer, "x").value, p - [0, 0, 1], rtol=1e-15)
    term = _only(answer, "x")
    assert term.equation is not None
    assert term.equation.text == "p*(adj(p) - sum(adj(p)*p))"
    assert term.local is not None
    np.testing.assert_allclose(term.local, np.diag(p) - np.outer(p, p), rtol=1e-15)


def test_a_choice_hands_its_adjoint_to_the_branch_taken() -> None:
    """And 0 to the other, element by element."""
    answer = _explain("where(x > 0, x**2, -x)", "ones", x="3,-1")
    assert (answer.steps[0].operation.text, answer.steps[0].value.tolist()) == ("x > 0", [True, False])
    assert _only(answer, "t2").formula == "1 where t1, else 0"
    assert _adjoint(answer, "t2").value.tolist() == [1, 0]
    assert _adjoint(answer, "t3").value.tolist() == [0, 1]
    assert _adjoint(answer, "x").value.tolist() == [6, -1]


def test_at_a_kink_it_is_said_what_torch_takes() -> None:
    """The formula has 1 at 0, torch 0."""
    term = _only(_explain("relu(x)", "ones", x="0,1"), "x")
    assert term.formula == "Piecewise((1, x >= 0), (0, True))"
    assert term.words == "torch takes 0 at [0], where the slope jumps"


def test_what_broadcasts_is_summed() -> None:
    """B is one number in three places, w a row in two: 1 + 10 + 100, and sums over dimension 0."""
    term = _only(_explain("x*b", "1,10,100", x="1,2,3", b="2"), "b")
    assert (term.summed, term.value.item()) == (True, 1 + 20 + 300)
    assert term.words == "b is one number and is used for all of y, of shape (3,): summed over what was stretched"
    row = _only(_explain("x*w", "ones", x="[[1,2],[3,4]]", w="5,6"), "w")
    assert (row.summed, row.value.tolist()) == (True, [4, 6])


def test_sums_means_indices_and_lists_say_where_the_adjoint_goes() -> None:
    """In words, with the numbers."""
    assert "every element, as v = ones would" in _only(_explain("sum(x)", x="1,2"), "x").words
    assert _only(_explain("mean(x)", x="1,2,3,4"), "x").formula == "adj(y)/4"
    assert _only(_explain("x[1:]", "5,7", x="1,2,3"), "x").value.tolist() == [0, 5, 7]
    assert "taken from" in _only(_explain("x[1:]", "5,7", x="1,2,3"), "x").words
    stack = _explain("[x, 2*z, x]", "1,10,100", x="1", z="2")
    assert _only(stack, "x").formula == "adj(y)[0] + adj(y)[2]"
    assert _adjoint(stack, "x").value.item() == 101
    assert _only(_explain("cat([x, z])", "1,10,100", x="1,2", z="[3]"), "z").formula == "adj(y)[2:3]"
    assert _only(_explain("stack([x, z], dim=1)", "[[1,2],[3,4]]", x="1,2", z="3,4"), "z").formula == "adj(y)[:, 1]"
    assert _only(_explain("amax(x)", x="2,2,1"), "x").words == "the elements that tie share the adjoint, 0 elsewhere"


def test_a_loss_shows_where_v_comes_from() -> None:
    """V = ∂ℓ/∂y, and vᵀJ is the gradient of both in one go."""
    answer = _explain("x**2", loss="sum((y - t)**2)", x="1,2", t="0,1")
    assert answer.loss is not None
    assert (answer.v.tolist(), answer.loss.v.tolist()) == ([2, 6], [2, 6])
    assert answer.vjp["x"].tolist() == answer.loss.gradient["x"].tolist() == [4, 24]
    assert answer.loss_agrees is True
    assert list(answer.inputs) == ["x"]


def test_gradients_that_differ_are_not_called_the_same() -> None:
    """By more than rounding, in one element; NaN is the same as NaN."""
    answer = _explain("x**2", loss="sum(y)", x="1,2")
    assert answer.loss is not None
    assert agrees(answer.loss, {"x": np.array([2, 4 + 1e-14])}, "float64")
    assert not agrees(answer.loss, {"x": np.array([2, 4.0001])}, "float64")
    assert not agrees(answer.loss, {"x": np.array([2, np.nan])}, "float64")
    poisoned = _explain("where(x > 0, sqrt(x), 0)", loss="sum(y)", x="-1,4")
    assert poisoned.loss_agrees is True


@pytest.mark.parametrize(
    ("text", "v", "at", "words"),
    [
        ("x**2", None, "3", ["y has one element, so v = 1 is understood"]),
        ("x**2", "ones", "1,2", ["ones add the rows of J up", "y[i] depends on x[i] alone"]),
        ("A@A", "ones", "[[1,2],[3,4]]", ["ones add the rows of J up"]),
        ("x/x.numel()", "ones", "1,2", ["ones add the rows of J up", "y[i] depends on x[i] alone"]),
        ("x*detach(sum(x))", "ones", "1,2", ["ones add the rows of J up"]),
        ("where(sum(x) > 0, x, -x)", "ones", "1,2", ["ones add the rows of J up"]),
        ("x**2", "e1", "1,2", ["v picks one row of J, the one of y[1]"]),
        (
            "x**2",
            "x",
            "1,2",
            ["v is x itself here, so each row of J is weighted by x's own numbers (2, 8 instead of 2, 4)"],
        ),
        ("sum(x**2)", None, "1,2", ["y has one element", "sum() passes 1 to each element of t"]),
        (
            "sum(cumsum(x))",
            None,
            "1,2",
            ["y has one element", "sum() passes 1 to each element of t1: the same as v = ones at t1"],
        ),
        ("x**2", "2,3", "1,2", []),
    ],
)
def test_what_is_to_know_of_v(text: str, v: Any, at: str, words: list[str]) -> None:
    """In few words."""
    answer = Function(text).explain({Function(text).variables[0]: at}, v, check=False)
    assert len(answer.remarks) == len(words)
    for said, expected in zip(answer.remarks, words, strict=True):
        assert said.startswith(expected)


def test_what_y_depends_on_beside_x_is_not_denied() -> None:
    """Where there are other variables, they move y too."""
    answer = Function("x*w").explain({"x": "1,2", "w": "3,4"}, "ones", wrt=["x"], check=False)
    assert "of x, y[i] depends on x[i] alone, so that ones give the derivative at every point" in answer.remarks


def test_several_backward_passes_are_one_with_the_sum_of_their_v() -> None:
    """1,1 and 1,10 make 2,11."""
    text = (
        "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\n"
        "y.backward(torch.tensor([1., 1.]), retain_graph=True)\ny.backward(torch.tensor([1., 10.]))"
    )
    answer = Function(text).explain(check=False)
    assert (answer.v.tolist(), answer.vjp["x"].tolist()) == ([2, 11], [4, 44])
    assert any("v is their sum" in warning for warning in answer.warnings)


def test_what_is_no_line_is_explained_too() -> None:
    """A variable alone, a number, a variable that y does not depend on, one that is not asked for."""
    assert [(s.name, s.operation.text) for s in _explain("x", "1,2", x="3,4").steps] == [("y", "x")]
    assert _adjoint(_explain("x", "1,2", x="3,4"), "x").value.tolist() == [1, 2]
    assert [(s.name, s.operation.text) for s in _explain("7").steps] == [("y", "7")]
    assert _adjoint(_explain("zeros_like(x)", "ones", x="1,2"), "x").terms == ()
    assert [a.name for a in Function("x*z").explain({"x": "1", "z": "2"}, wrt=["z"]).adjoints] == ["y", "z"]
    assert [s.name for s in _explain("a = exp(x); x**2", x="2").steps] == ["y"]


def test_operations_that_torch_lacks_are_shown_as_it_runs_them() -> None:
    """Sec is 1/cos; the names of statements stay."""
    answer = _explain("u = sec(x); u**2", x="0.5")
    assert [(s.name, s.operation.text) for s in answer.steps] == [("t1", "cos(x)"), ("u", "1/t1"), ("y", "u**2")]


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_every_operation_is_explained(op: ops.Op) -> None:
    """By its worked example: the terms add up to torch's adjoints, and local derivatives give the terms."""
    text, at = op.worked_example
    _require_consistent(Function(text).explain(at, "ones", check=False))


def _require_consistent(answer: Explanation) -> None:
    values = {adjoint.name: adjoint.value for adjoint in answer.adjoints}
    for adjoint in answer.adjoints[1:]:
        if adjoint.terms:
            total = sum(term.value for term in adjoint.terms)
            np.testing.assert_allclose(total, adjoint.value, rtol=1e-10, atol=1e-12)
        for term in adjoint.terms:
            if term.is_elementwise:
                assert term.local is not None
                product = values[term.source] * term.local
                extra = product.ndim - term.value.ndim
                product = product.sum(axis=tuple(range(extra)))
                axes = tuple(n for n, size in enumerate(term.value.shape) if size == 1 and product.shape[n] != 1)
                np.testing.assert_allclose(product.sum(axis=axes, keepdims=True), term.value, rtol=1e-10, atol=1e-12)
            elif term.local is not None and term.local.ndim == values[term.source].ndim + term.value.ndim:
                product = np.tensordot(values[term.source], term.local, values[term.source].ndim)
                np.testing.assert_allclose(product, term.value, rtol=1e-10, atol=1e-12)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_random_programs_are_explained(program: Random) -> None:
    """Terms add up, local derivatives give them, and the adjoints of the variables are vᵀJ."""
    at = {name: leaf.detach().numpy() for name, leaf in program.leaves.items()}
    function = Function(program.text)
    answer = function.explain({name: at[name] for name in function.variables}, "ones", check=False)
    _require_consistent(answer)
    for name in answer.wrt:
        np.testing.assert_array_equal(_adjoint(answer, name).value, answer.vjp[name])


def test_long_programs_are_explained_by_their_ends() -> None:
    """In bounded size: 10,000 terms of one variable, and a thousand statements."""
    answer = _explain("+".join(f"{n}*x" for n in range(1, 2001)), x="1")
    assert (len(answer.steps), answer.steps_count) == (MOST_LINES, 3999)
    assert (answer.steps[0].operation.text, answer.steps[-1].name) == ("1*x", "y")
    x = answer.adjoints[-1]
    assert (x.name, len(x.terms), x.terms_count, x.value.item()) == ("x", MOST_TERMS, 2000, 2001000)


def test_large_tensors_are_explained_and_larger_ones_refused() -> None:
    """100,000 elements here; beyond the bound it is said what to do."""
    assert _explain("x**2", "ones", x="linspace(0,1,100000)").vjp["x"][-1] == 2
    with pytest.raises(TooLargeError, match="numbers in all"):
        _explain("x**2 + 1", "ones", x=np.zeros(2**23))


def test_float32_stays_float32() -> None:
    """Values, adjoints and local derivatives."""
    answer = Function("sin(x)**2").explain({"x": "0.1,2"}, "ones", dtype="float32", check=False)
    arrays = [s.value for s in answer.steps] + [a.value for a in answer.adjoints]
    arrays += [t.local for a in answer.adjoints for t in a.terms if t.local is not None]
    assert {array.dtype for array in arrays} == {np.dtype("float32")}


def test_the_check_is_that_of_vjp() -> None:
    """A NaN trap is one here too."""
    answer = Function("where(x > 0, sqrt(x), 0)").explain({"x": "-1,4"}, "ones")
    assert answer.check is not None
    assert answer.check.verdict == "nan-trap"


def test_a_value_that_neither_has_is_refused() -> None:
    """With the loss given, too."""
    with pytest.raises(GradcliError, match="no such variable"):
        _explain("x**2", loss="sum(y)", x="1,2", t="3")


@pytest.mark.parametrize(
    ("text", "x", "words"),
    [
        ("relu(x)", "0", "torch takes 0, where the slope jumps"),
        ("tanh(x)", "20", "torch takes 0, where the formula gives 1.7e-17: digits were lost"),
    ],
)
def test_a_slope_that_is_not_the_formula_jumps_or_has_lost_digits(text: str, x: str, words: str) -> None:
    """At 20 the slope of tanh is smooth, and torch's 1 - 1 is 0 by rounding alone."""
    assert _only(_explain(text, x=x), "x").words == words


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("b = x; z = b**2", ["b = x", "z = x**2"]),
        ("b = x**2; c = b; c*b", ["b = x**2", "c = b", "y = b*b"]),
        ("b = x**2; c = b; d = c; d", ["b = x**2", "c = b", "d = b"]),
        ("z = x", ["z = x"]),
    ],
)
def test_a_name_that_repeats_another_is_a_step(text: str, steps: list[str]) -> None:
    """Each line that was typed is there, also where torch has one tensor for two of them."""
    answer = _explain(text, x="3")
    assert [f"{step.name} = {step.operation.text}" for step in answer.steps] == steps
    assert answer.steps_count == len(steps)


@pytest.mark.parametrize(
    ("text", "at", "rules"),
    [
        ("y = x**2; z = exp(y)", {"x": "1,2"}, ["", "chain rule", "power rule"]),
        ("y = x/2; z = y*x", {"x": "1"}, ["", "product rule", "sum over uses"]),
        ("y = 3/x; sum(y)", {"x": "1,2"}, ["", "sum rule", "quotient rule"]),
        ("y = A@x; z = y - 1", {"A": "[[1,2],[3,4]]", "x": "5,6"}, ["", "sum rule", "product rule", "product rule"]),
        ("y = x.T; z = y[0]", {"x": "[[1,2],[3,4]]"}, ["", "rule of moved elements", "rule of moved elements"]),
        ("y = max(x); z = [y, 2]", {"x": "1,2"}, ["", "rule of parts", "rule of the element taken"]),
        ("where(x > 0, x, -1)", {"x": "1,2"}, ["", "rule of the branch taken"]),
    ],
)
def test_every_line_names_its_rule(text: str, at: dict[str, str], rules: list[str]) -> None:
    """That of its operation, or that it is used more than once."""
    answer = Function(text).explain(at, "ones", check=False)
    assert [adjoint.rule for adjoint in answer.adjoints] == rules


def test_every_operation_has_a_rule() -> None:
    """By its row or its kind; the rows know no other words for the same."""
    assert {op.rule for op in ops.TABLE.values()} == {
        *("chain rule", "power rule", "product rule", "quotient rule", "sum rule"),
        *("rule of moved elements", "rule of parts", "rule of the branch taken", "rule of the element taken"),
    }


def test_every_line_has_a_verdict_of_its_own() -> None:
    """The denominator's adjoint has lost its digits, as 1 - cos(x) is 0 in floats; the numerator's has not."""
    function, at = Function("y = (1-cos(x))/x**2; y*3"), {"x": 1e-8}
    found = {adjoint.name: adjoint.verdict for adjoint in function.explain(at).adjoints}
    assert found == {"f": "agree", "y": "agree", "t3": "inaccurate", "t2": "agree", "t1": "agree", "x": "inaccurate"}
    assert {adjoint.verdict for adjoint in function.explain(at, check=False).adjoints} == {None}


def test_lines_beyond_the_budget_are_unchecked() -> None:
    """Each takes a check of its own."""
    answer = Function("+".join(f"sin({n}*x)" for n in range(1, 40))).explain({"x": 1})
    verdicts = [adjoint.verdict for adjoint in answer.adjoints]
    assert set(verdicts[: MOST_JUDGED + 1]) == {"agree"}
    assert set(verdicts[MOST_JUDGED + 1 :]) == {"unchecked"}
