"""The chain rule step by step: hand-derived adjoints, where they come from, and what is said of v."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradcli import Function
from gradcli.errors import GradcliError, TooLargeError
from gradcli.language import ops
from gradcli.parts.explain.explain import MOST_CHAIN_TERMS, MOST_JUDGED, MOST_LINES
from gradcli.results import Adjoint, Explanation
from tests.checks import check_of
from tests.examples import examples, part
from tests.programs import Random, programs


def _explain(text: str, v: Any = None, *, loss: str | None = None, **at: Any) -> Explanation:
    return Function(text).explain(at, v, loss=loss, check=False)


def _adjoint(answer: Explanation, name: str) -> Adjoint:
    return next(adjoint for adjoint in answer.adjoints if adjoint.name == name)


STEPS = [
    ("3*x + log(x)", 2, ["t1 = 3*x", "t2 = log(x)", "y = t1 + t2"]),
    ("t1 = x + 1; t1*x", 2, ["t1 = x + 1", "y = t1*x"]),
    ("exp(x)*sin(exp(x))", 0, ["t1 = exp(x)", "t2 = sin(t1)", "y = t1*t2"]),  # a shared one is one line
    ("u = sec(x); u**2", 0.5, ["t1 = cos(x)", "u = 1/t1", "y = u**2"]),  # as torch runs it
    # a name that repeats another, also where torch has one tensor for two of them
    ("b = x; z = b**2", 3, ["b = x", "z = x**2"]),
    ("b = x**2; c = b; c*b", 3, ["b = x**2", "c = b", "y = b*b"]),
    ("b = x**2; c = b; d = c; d", 3, ["b = x**2", "c = b", "d = b"]),
    ("x", 3, ["y = x"]),
]


@pytest.mark.parametrize(("text", "x", "steps"), STEPS)
def test_each_line_that_was_typed_is_a_step(text: str, x: float, steps: list[str]) -> None:
    """Under its own name, or one that is free."""
    answer = _explain(text, x=x)
    assert [f"{step.name} = {step.operation.text}" for step in answer.steps] == steps
    assert answer.steps_count == len(steps)


def test_names_of_the_user_are_not_taken() -> None:
    assert [s.name for s in _explain("3*t2 + log(t2)", t2="2").steps] == ["t1", "t3", "y"]
    assert [s.name for s in _explain("y*y + 1", y="2").steps] == ["t1", "f"]
    assert [(s.name, s.operation.text) for s in _explain("7").steps] == [("y", "7")]
    assert [a.name for a in Function("x*z").explain({"x": "1", "z": "2"}, wrt=["z"]).adjoints] == ["y", "z"]


ABC = {"a": "1,2,3", "b": "3,4,5", "c": "6,7,8"}
MATRIX = {"A": "[[1,2,3],[4,5,6]]", "x": "1,0,2"}
SOFTMAX = {"x": "1,2,3", "t": "0,0,1"}
P = np.exp([1, 2, 3]) / np.exp([1, 2, 3]).sum()
STRETCHED = "b is one number and is used for all of y, of shape (3,): summed over what was stretched"

TERMS: list[tuple[str, Any, dict[str, Any], str, list[dict[str, Any]]]] = [
    (
        "y = x**2; z = y**3",
        "1,1",
        {"x": "1,2"},
        "y",
        [{"source": "z", "formula": "3*y**2", "local": [3, 48], "value": [3, 48], "equation": "adj(z)*3*y**2"}],
    ),
    # 2*b*b = t2*b: from t2 = 2*b comes v*b*2, from the product v*t2 = v*2*b
    (
        "3*a + 2*b*b + log(c)",
        "0.1,1,0.0001",
        ABC,
        "b",
        [
            {"source": "t2", "formula": "2", "value": [0.6, 8, 0.001]},
            {"source": "t3", "formula": "t2", "value": [0.6, 8, 0.001]},
        ],
    ),
    # a vector is its own flatten(): z = c*b with c = b = x has dz/dc = b, and dz/db = c beside it
    (
        "b = -x; c = b.flatten(); c*b",
        "1,1",
        {"x": "1,2"},
        "b",
        [{"source": "c", "value": [-1, -2]}, {"source": "y", "value": [-1, -2]}],
    ),
    # Σ dz/dy_i·dy_i/dx
    (
        "p = x**2; q = sin(x); z = p*q",
        None,
        {"x": 2},
        "x",
        [{"source": "p", "value": 4 * np.sin(2)}, {"source": "q", "value": 4 * np.cos(2)}],
    ),
    ("z = A@x", "1,10", MATRIX, "A", [{"equation": "outer(adj(z), x)", "value": [[1, 0, 2], [10, 0, 20]]}]),
    ("z = A@x", "1,10", MATRIX, "x", [{"equation": "A.T @ adj(z)", "value": [41, 52, 63]}]),
    (
        "solve(A, b)",
        "1,2",
        {"A": "[[2,1],[1,3]]", "b": "1,0"},
        "A",
        [{"equation": "-inv(A).T @ outer(adj(y), b) @ inv(A).T", "value": -np.outer([0.2, 0.6], [0.6, -0.2])}],
    ),
    (
        "p = softmax(x); -sum(t*log(p))",
        None,
        SOFTMAX,
        "x",
        [{"equation": "p*(adj(p) - sum(adj(p)*p))", "value": P - [0, 0, 1], "local": np.diag(P) - np.outer(P, P)}],
    ),
    ("where(x > 0, x**2, -x)", "ones", {"x": "3,-1"}, "t2", [{"formula": "where(t1, 1, 0)", "value": [1, 0]}]),
    (
        "relu(x)",
        "ones",
        {"x": "0,1"},
        "x",
        [{"formula": "where(x <= 0, 0, 1)", "value": [0, 1], "words": ""}],
    ),
    ("tanh(x)", None, {"x": "20"}, "x", [{"formula": "1 - y**2", "value": 0, "words": ""}]),
    ("x*b", "1,10,100", {"x": "1,2,3", "b": "2"}, "b", [{"summed": True, "value": 321, "words": STRETCHED}]),
    ("[x, 2*z, x]", "1,10,100", {"x": 1, "z": 2}, "x", [{"formula": "adj(y)[0] + adj(y)[2]", "value": 101}]),
    ("amax(x)", None, {"x": "2,2,1"}, "x", [{"words": "the elements that tie share the adjoint, 0 elsewhere"}]),
    ("zeros_like(x)", "ones", {"x": "1,2"}, "x", []),
]


@pytest.mark.parametrize(("text", "v", "at", "name", "terms"), TERMS)
@pytest.mark.one_in(2)
def test_adjoints_add_up_terms(text: str, v: Any, at: dict[str, Any], name: str, terms: list[dict[str, Any]]) -> None:
    """Hand-derived, with the line that each comes from, its rule, and its numbers."""
    found = _adjoint(_explain(text, v, **at), name)
    assert found.terms_count == len(terms)
    for term, expected in zip(found.terms, terms, strict=True):
        for key, wanted in expected.items():
            fact = getattr(term, key)
            if key in ("value", "local"):
                np.testing.assert_allclose(fact, wanted, rtol=1e-14)
            else:
                assert (fact.text if key == "equation" else fact) == wanted


OPERATIONS = [
    ("x**-12", "x**(-12)", "x⁻¹²"),
    ("x**(1/3)", "x**(1/3)", "x^(1/3)"),
    ("(-2)**x", "(-2)**x", "(-2)^x"),
    ("x.T", "x.T", "xᵀ"),
    ("x[0, 1:, None, ...]", "x[0, 1:, None, ...]", "x[0, 1:, None, ...]"),
    ("sum(x, dim=1, keepdim=True)", "sum(x, dim=1, keepdim=True)", "sum(x, dim=1, keepdim=True)"),
    ("x.view(1, -1)", "reshape(x, shape=(1, -1))", "reshape(x, shape=(1, -1))"),
    ("einsum('ij,ij->', x, z)", "einsum('ij,ij->', x, z)", "einsum('ij,ij->', x, z)"),
    ("x*pi", "x*pi", "x·π"),
    ("where(x >= z, x, 0)", "where(t1, x, 0)", "where(t1, x, 0)"),
    ("polygamma(1, x)", "polygamma(1, x)", "polygamma(1, x)"),
]


@pytest.mark.parametrize(("text", "plain", "pretty"), OPERATIONS)
def test_an_operation_is_written_in_the_names_of_its_operands(text: str, plain: str, pretty: str) -> None:
    """In plain characters, and for people."""
    at = dict.fromkeys(Function(text).variables, "[[1,2],[3,4]]")
    operation = _explain(text, "ones", **at).steps[-1].operation
    assert (operation.text, operation.pretty) == (plain, pretty)


SQUARE = "[[2,1],[1,3]]"
RULES: list[tuple[str, dict[str, Any], str, str]] = [
    ("x/z", {"x": 1, "z": 2}, "z", "adj(y)*(-x/z**2)"),
    ("x - z", {"x": 1, "z": 2}, "z", "-adj(y)"),
    ("2**x", {"x": 1}, "x", "adj(y)*y*log(2)"),
    ("masked_fill(x, x < 0, 0)", {"x": 1}, "x", "where(t1, 0, adj(y))"),
    ("relu(x)", {"x": "1,-1"}, "x", "where(x <= 0, 0, adj(y))"),
    ("elu(x)", {"x": "1,-1"}, "x", "where(x > 0, adj(y), adj(y)*exp(x))"),
    ("sin(x)", {"x": 1}, "x", "adj(y)*cos(x)"),
    ("sigmoid(x)", {"x": 1}, "x", "adj(y)*y*(1 - y)"),
    ("x**z", {"x": 1, "z": 2}, "x", "where(z == 0, 0, adj(y)*z*x**(z - 1))"),
    ("a @ b", {"a": "1,2", "b": "3,4"}, "a", "adj(y)*b"),
    ("softmax(A, dim=1)", {"A": SQUARE}, "A", "y*(adj(y) - sum(adj(y)*y, dim=1, keepdim=True))"),
    ("inv(A)", {"A": SQUARE}, "A", "-y.T @ adj(y) @ y.T"),
    ("det(A)", {"A": SQUARE}, "A", "adj(y)*y*inv(A).T"),
    ("solve(A, b)", {"A": SQUARE, "b": "1,2"}, "b", "inv(A).T @ adj(y)"),
    ("solve(A, B)", {"A": SQUARE, "B": "[[1],[0]]"}, "A", "-inv(A).T @ adj(y) @ B.T @ inv(A).T"),
    ("mean(x)", {"x": "1,2,3,4"}, "x", "expand(adj(y)/4, shape=(4,))"),
    ("stack([x, z], dim=1)", {"x": "1,2", "z": "3,4"}, "z", "adj(y)[:, 1]"),
    ("sum(x)", {"x": "1,2"}, "x", "expand(adj(y), shape=(2,))"),
    ("[a, b]", {"a": 1, "b": "1,2,3"}, "a", "sum(adj(y)[0])"),
    ("cat([a, b], dim=1)", {"a": SQUARE, "b": "[[1,2,3],[4,5,6]]"}, "b", "adj(y)[:, 2:]"),
    ("x[0]", {"x": "1,2"}, "x", "pad(adj(y)[None], pad=(0, 1))"),
    ("sum(A, dim=1)", {"A": SQUARE}, "A", "expand(adj(y)[:, None], shape=(2, 2))"),
    ("cumsum(x)", {"x": "1,2"}, "x", "flip(cumsum(flip(adj(y), dims=0), dim=0), dims=0)"),
    ("trace(A)", {"A": SQUARE}, "A", "where(eye(2) != 0, adj(y), 0)"),
]


@pytest.mark.parametrize(("text", "at", "name", "said"), RULES)
@pytest.mark.one_in(2)
def test_an_adjoint_has_the_line_of_the_gradient_that_makes_it(
    text: str, at: dict[str, Any], name: str, said: str
) -> None:
    """As one would write it."""
    (term,) = _adjoint(_explain(text, "ones", **at), name).terms
    assert term.equation is not None
    assert term.equation.text == said


WORDS: list[tuple[str, dict[str, Any], str, str]] = [
    ("sum(x)", {"x": "1,2"}, "x", "sum hands its adjoint to every element, as v = ones would"),
    ("x[0]", {"x": "1,2"}, "x", "the elements of the adjoint go back to their places in x, and add up there"),
    ("sum(A, dim=1)", {"A": SQUARE}, "A", "sum hands its adjoint to every element along dimension 1"),
    ("cumsum(x)", {"x": "1,2"}, "x", "every element gets the sum of the adjoint from its own place on"),
    ("trace(A)", {"A": SQUARE}, "A", "the adjoint goes to every element of the diagonal, 0 elsewhere"),
    ("mean(x)", {"x": "1,2"}, "x", "mean hands its share to every element"),
    ("einsum('ij,j->i', A, x)", {"A": SQUARE, "x": "1,2"}, "A", "the same sum of products, with the adjoint of y in"),
    ("x.T", {"x": SQUARE}, "x", ""),
]


@pytest.mark.parametrize(("text", "at", "name", "said"), WORDS)
def test_an_adjoint_has_words_where_they_say_more(text: str, at: dict[str, Any], name: str, said: str) -> None:
    """Beside the line of the gradient."""
    (term,) = _adjoint(_explain(text, "ones", **at), name).terms
    assert term.words.startswith(said) if said else term.words == ""


def test_a_loss_shows_where_v_comes_from() -> None:
    """V = ∂ℓ/∂y, and vᵀJ is the gradient of both in one go; NaN is the same as NaN."""
    answer = _explain("x**2", loss="sum((y - t)**2)", x="1,2", t="0,1")
    assert answer.loss is not None
    assert (answer.v.tolist(), answer.loss.v.tolist()) == ([2, 6], [2, 6])
    assert answer.vjp["x"].tolist() == answer.loss.gradient["x"].tolist() == [4, 24]
    assert answer.loss_agrees
    assert _explain("where(x > 0, sqrt(x), 0)", loss="sum(y)", x="-1,4").loss_agrees


def test_a_gradient_that_differs_from_that_of_the_loss_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """By more than rounding, in one element."""
    monkeypatch.setattr("gradcli.questions.commands.vjp._composed", lambda *_: {"x": np.array([2, 4.0001])})
    answer = Function("x**2").explain({"x": "1,2"}, loss="sum(y)")
    assert not answer.loss_agrees
    assert "vᵀJ and the gradient of the loss in one go differ" in check_of(answer).notes


REMARKS = [
    ("x**2", None, "3", ["y has one element, so v = 1 is understood"]),
    ("x**2", "ones", "1,2", ["ones add the rows of J up", "∂y/∂x is diagonal"]),
    ("A@A", "ones", "[[1,2],[3,4]]", ["ones add the rows of J up"]),
    ("x*detach(sum(x))", "ones", "1,2", ["ones add the rows of J up", "∂y/∂x is diagonal"]),
    ("where(sum(x) > 0, x, -x)", "ones", "1,2", ["ones add the rows of J up", "∂y/∂x is diagonal"]),
    ("x**2", "e1", "1,2", ["v picks one row of J, the one of y[1]"]),
    (
        "x**2",
        "x",
        "1,2",
        ["v is x itself here, so each row of J is weighted by x's own numbers (2, 8 instead of 2, 4)"],
    ),
    (
        "sum(cumsum(x))",
        None,
        "1,2",
        ["y has one element", "sum() passes 1 to each element of t1: the same as v = ones at t1"],
    ),
]


@pytest.mark.parametrize(("text", "v", "at", "words"), REMARKS)
def test_what_is_to_know_of_v(text: str, v: Any, at: str, words: list[str]) -> None:
    """In few words."""
    answer = Function(text).explain({Function(text).variables[0]: at}, v, check=False)
    assert len(answer.remarks) == len(words)
    for said, expected in zip(answer.remarks, words, strict=True):
        assert said.startswith(expected)


@pytest.mark.parametrize("text", ["A@x", "x@A.T", "A@B", "x@B", "B.T@B", "x@x", "dot(x, x*2)", "outer(x, x + 1)"])
def test_the_numbers_of_a_product_give_its_value(text: str) -> None:
    """Whatever the dimensions."""
    at = {"A": "[[1,2,3],[4,5,7]]", "x": "1,-2,3", "B": "[[1,2],[0,4],[5,5]]"}
    names = Function(text).variables
    _require_consistent(Function(text).explain({name: at[name] for name in names}, None if "dot" in text else "ones"))


@pytest.mark.parametrize("op", part(ops.TABLE.values(), 0, of=20), ids=lambda op: op.name)
@pytest.mark.one_in(4)
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
            elif term.factors and term.equation:
                first, second = term.factors
                product = first @ second if first.ndim and second.ndim else first * second
                np.testing.assert_allclose(product, term.value, rtol=1e-15, atol=1e-15)
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
    assert (x.name, len(x.terms), x.terms_count, x.value.item()) == ("x", MOST_CHAIN_TERMS, 2000, 2001000)


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


RULE_NAMES = [
    ("y = x**2; z = exp(y)", {"x": "1,2"}, ["", "chain rule", "power rule"]),
    ("y = x/2; z = y*x", {"x": "1"}, ["", "product rule", "sum over uses"]),
    ("y = 3/x; sum(y)", {"x": "1,2"}, ["", "sum rule", "quotient rule"]),
    ("y = A@x; z = y - 1", {"A": "[[1,2],[3,4]]", "x": "5,6"}, ["", "sum rule", "product rule", "product rule"]),
    ("y = x.T; z = y[0]", {"x": "[[1,2],[3,4]]"}, ["", "rule of moved elements", "rule of moved elements"]),
    ("y = max(x); z = [y, 2]", {"x": "1,2"}, ["", "rule of parts", "rule of the element taken"]),
    ("where(x > 0, x, -1)", {"x": "1,2"}, ["", "rule of the branch taken"]),
]


@pytest.mark.parametrize(("text", "at", "rules"), RULE_NAMES)
def test_every_line_names_its_rule(text: str, at: dict[str, str], rules: list[str]) -> None:
    """The rule of its operation, or of sums over uses where there are several."""
    answer = Function(text).explain(at, "ones", check=False)
    assert [adjoint.rule for adjoint in answer.adjoints] == rules


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


NOTHING = [
    ("pad(x, ())", 1.5, (), 1),
    ("pad(x, [])", [1.5, 2.5], (2,), [1, 1]),
    ("pad(x, ())*x", 1.5, (), 3),
    ("repeat(x, 0)", [1.5, 2.5], (0,), [0, 0]),
    ("sum(repeat(x, 0)) + sum(x)", [1.5, 2.5], (), [1, 1]),
    ("tile(x, 0)", 1.5, (0,), 0),
    ("tile(x, (0, 2))", [1.5, 2.5], (0, 4), [0, 0]),
    ("flip(x, ())", [1.5, 2.5], (2,), [1, 1]),
    ("permute(x, ())", 1.5, (), 1),
]


@pytest.mark.parametrize(("text", "x", "shape", "grad"), NOTHING)
def test_sizes_that_are_empty_or_0_are_sizes(text: str, x: Any, shape: tuple[int, ...], grad: Any) -> None:
    """A number is padded on no side, and repeated no times; what does not reach y has the derivative 0."""
    answer = Function(text).explain({"x": x}, "ones")
    assert answer.value.shape == shape
    np.testing.assert_array_equal(answer.vjp["x"], grad)
    np.testing.assert_array_equal(Function(text).eval({"x": x}, check=False).value, answer.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("group_norm(x, 0)", "torch refuses group_norm"),
        ("adaptive_avg_pool1d(x, 0)", "torch's backward pass fails"),
        ("adaptive_max_pool1d(x, 0)", "torch's backward pass fails"),
    ],
)
def test_what_torch_refuses_of_a_size_of_0_is_an_error_of_the_question(text: str, message: str) -> None:
    """And no bug of ours, whatever torch raises."""
    with pytest.raises(GradcliError, match=message):
        Function(text).explain({"x": [[1.5, 2.5]]}, "ones")
