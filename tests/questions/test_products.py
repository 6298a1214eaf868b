"""Several gradient vectors, what accumulates, what intermediates keep, and the traps that are remarked on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings

from gradcli import Function
from gradcli.autodiff import backward_passes, jacobians
from gradcli.errors import GradcliError
from gradcli.questions.judging import of_v
from gradcli.questions.products import MAX_PRODUCTS, MAX_SHOWN
from gradcli.questions.question import Inquiry, prepare
from gradcli.results import Array
from tests.examples import examples
from tests.programs import Random, programs, require_fair


def _lists(arrays: Any) -> dict[str, Any]:
    return {name: array.tolist() for name, array in arrays.items()}


# -- several gradient vectors

SEVERAL: list[tuple[str, str, dict[str, str], list[str], list[Any]]] = [
    ("D6", "[-x**3, 5*x]", {"x": "1"}, ["1,0", "0,1"], [-3, 5]),
    ("D7", "[-x**3, 5*x]", {"x": "0,1,2"}, ["e0", "e1"], [[0, -3, -12], [5, 5, 5]]),
    ("D8", "[x.sum(), (x**2).sum()]", {"x": "arange(4)"}, ["e0", "e1"], [[1, 1, 1, 1], [0, 2, 4, 6]]),
    (
        "D9",
        "[x.sum(1), (x**2).sum(1)]",
        {"x": "arange(12).view(3,4)"},
        ["e0", "e1"],
        [np.ones((3, 4)).tolist(), (2 * np.arange(12).reshape(3, 4)).tolist()],
    ),
    ("A6 to A8", "2*x", {"x": "[[1,2,3,4]]"}, ["[[1,0,0,0]]", "ones"], [[[2, 0, 0, 0]], [[2, 2, 2, 2]]]),
]


@pytest.mark.parametrize(("name", "text", "at", "vs", "expected"), SEVERAL, ids=[seed[0] for seed in SEVERAL])
def test_each_v_has_a_product_of_its_own(
    name: str, text: str, at: dict[str, str], vs: list[str], expected: list[Any]
) -> None:
    """In the order given, with one Jacobian and a verdict on all of them."""
    found = Function(text).vjps(at, vs)
    assert [answer.vjp["x"].tolist() for answer in found.answers] == expected
    assert found.check is not None
    assert found.check.verdict == "agree"
    assert found.jacobian is found.answers[0].jacobian is found.answers[1].jacobian


def test_each_answer_is_that_of_a_vjp_alone() -> None:
    """All of it, so that a line of JSON does not depend on the others."""
    f = Function("[x*y, x + y]")
    at = {"x": "3", "y": "5"}
    for v, answer in zip(("e0", "2,3"), f.vjps(at, ["e0", "2,3"]).answers, strict=True):
        alone = f.vjp(at, v)
        assert (_lists(answer.vjp), answer.v.tolist()) == (_lists(alone.vjp), alone.v.tolist())
        assert (answer.check, answer.symbolic, answer.warnings) == (alone.check, alone.symbolic, alone.warnings)


def test_every_product_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong second one is found, and the finding says which it is."""
    true, calls = jacobians.vjp, []

    def wrong(forward: Any, v: Array, wrt: tuple[str, ...]) -> dict[str, Array]:
        calls.append(v)
        return {name: array + 0.001 * (len(calls) == 2) for name, array in true(forward, v, wrt).items()}

    monkeypatch.setattr(jacobians, "vjp", wrong)
    found = Function("x**2").vjps({"x": "1,2"}, ["5,7", "7,5"])
    first, second = (answer.check for answer in found.answers)
    assert first is not None
    assert second is not None
    assert (first.verdict, second.verdict) == ("agree", "disagree")
    assert found.check is not None
    assert found.check.verdict == "disagree"
    assert {finding.note.partition(":")[0] for finding in found.check.findings} == {"for v number 2"}


def test_findings_of_the_jacobian_are_listed_once() -> None:
    """The kink at 0, whatever v."""
    check = Function("abs(x)").vjps({"x": "0,1"}, ["1,1", "2,1"]).check
    assert check is not None
    assert (check.verdict, check.findings_count, len(check.findings)) == ("kink", 1, 1)


# -- what accumulates


@pytest.mark.parametrize(
    ("text", "at", "v", "passes", "expected"),
    [
        ("3*a + 2*b*b + log(c)", {"a": "1", "b": "1", "c": "1"}, "1", 2, {"a": [3, 6], "b": [4, 8], "c": [1, 2]}),
        ("y = x**2; z = y**3", {"x": "1,2"}, "1,1", 2, {"x": [[6, 192], [12, 384]]}),
        (
            "x**2 + z**3",
            {"x": "2,2", "z": "4,4"},
            "ones",
            3,
            {"x": [[4, 4], [8, 8], [12, 12]], "z": [[48, 48], [96, 96], [144, 144]]},
        ),
    ],
    ids=["A5", "C5", "C6"],
)
def test_grad_holds_the_sum_of_all_passes(
    text: str, at: dict[str, str], v: str, passes: int, expected: dict[str, list[Any]]
) -> None:
    """As in the thread and in the notebook; each product stays that of its own pass."""
    answers = Function(text).vjps(at, [v] * passes, accumulate=True).answers
    for name, held in expected.items():
        assert [answer.accumulated[name].tolist() for answer in answers if answer.accumulated] == held
        assert [answer.vjp[name].tolist() for answer in answers] == [held[0]] * passes


def test_it_is_what_torch_holds() -> None:
    """The same passes written by hand, in either precision, to the last bit."""
    vs = [[0.1, 0.7], [1 / 3, -5.0], [1e-9, 3.0]]
    for dtype in ("float64", "float32"):
        kind = getattr(torch, dtype)
        x = torch.tensor([0.3, 1.7], dtype=kind, requires_grad=True)
        y = torch.exp(x) * x.sum()
        answers = Function("exp(x)*x.sum()").vjps({"x": [0.3, 1.7]}, vs, accumulate=True, dtype=dtype).answers
        for v, answer in zip(vs, answers, strict=True):
            torch.autograd.backward(y, torch.tensor(v, dtype=kind), retain_graph=True)
            assert x.grad is not None
            assert answer.accumulated is not None
            assert answer.accumulated["x"].dtype == dtype
            np.testing.assert_array_equal(answer.accumulated["x"], x.grad.numpy())


def test_passes_add_up_where_gradients_share_memory() -> None:
    """Torch adds the second to both at once, and leaves 3 in each; the sums are given, with a warning."""
    for text, is_shared in (("sum([a, b], dim=0)", True), ("a + b", False)):
        answers = Function(text).vjps({"a": "1,2", "b": "1,2"}, ["ones", "ones"], accumulate=True).answers
        assert [_lists(answer.accumulated or {}) for answer in answers] == [
            {"a": [n, n], "b": [n, n]} for n in (1.0, 2.0)
        ]
        assert any("a.grad, b.grad share memory" in warning for warning in answers[0].warnings) == is_shared


def test_nothing_accumulates_unless_asked() -> None:
    """And what y does not depend on holds zeros."""
    assert Function("x**2").vjps({"x": "1"}, ["1", "1"]).answers[1].accumulated is None
    answers = Function("x**2 + 0*y").vjps({"x": "1", "y": "2"}, ["1", "1"], accumulate=True, wrt=["y"]).answers
    assert [_lists(answer.accumulated) for answer in answers] == [{"y": 0}, {"y": 0}]
    number = Function("y = 3; y + 0*x").vjps({"x": "1"}, ["2"], accumulate=True).answers
    assert _lists(number[0].accumulated) == {"x": 0}


def test_the_passes_of_a_snippet_accumulate_one_by_one() -> None:
    """Where the answer to all of them has the sum of their v's."""
    text = (
        "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\n"
        "y.backward(torch.tensor([1., 0.]), retain_graph=True)\ny.backward(torch.tensor([0., 1.]))"
    )
    found = Function(text).vjps(accumulate=True)
    assert [_lists(answer.vjp) for answer in found.answers] == [{"x": [2, 0]}, {"x": [0, 4]}]
    assert [_lists(answer.accumulated) for answer in found.answers] == [{"x": [2, 0]}, {"x": [2, 4]}]
    assert found.warnings == ()
    assert Function(text).vjp().v.tolist() == [1, 1]


# -- intermediates


def test_an_intermediate_has_its_value_and_its_adjoint() -> None:
    """C5: dz/dy = 3*y**2 = 3, 48 at y = 1, 4, which torch leaves None without retain_grad()."""
    answer = Function("y = x**2; z = y**3").vjp({"x": "1,2"}, "1,1", show=["y"])
    assert (answer.intermediates["y"].value.tolist(), _grad(answer, "y")) == ([1, 4], [3, 48])
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    assert "of the adjoint of y, 2 of 2 entries were checked" in answer.check.notes
    gradient = Function("y = x**2; z = sum(y**3)").grad({"x": "1,2"}, show=["y", "z"])
    assert (_grad(gradient, "y"), _grad(gradient, "z")) == ([3, 48], 1)


def _grad(answer: Any, name: str) -> Any:
    return answer.intermediates[name].grad.tolist()


def test_each_v_has_adjoints_of_its_own() -> None:
    """Only the row that v picks flows back."""
    answers = Function("y = x**2; z = y**3").vjps({"x": "1,2"}, ["e0", "e1"], show=["y"]).answers
    assert [_grad(answer, "y") for answer in answers] == [[3, 0], [0, 48]]


def test_a_variable_and_the_output_may_be_shown() -> None:
    """The variable's adjoint is vᵀJ, the output's is v; both are checked."""
    answer = Function("y = x**2").vjp({"x": "1,2"}, "5,7", show=["x", "y"])
    assert (_grad(answer, "x"), _grad(answer, "y")) == ([10, 28], [5, 7])
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    assert len(answer.check.notes) == 2


def test_two_statements_of_one_text_have_gradients_apart() -> None:
    """Torch computes x**2 twice: only y's own use counts for y."""
    answer = Function("y = x**2; z = x**2 + 3*y").vjp({"x": "1"}, show=["y"])
    assert _grad(answer, "y") == 3
    assert answer.vjp["x"].item() == 8


def test_a_value_that_no_variable_enters_has_no_gradient() -> None:
    """As torch, which refuses to retain one."""
    answer = Function("a = w**2; c = x > 0; y = a*x*where(c, 1, 2)").vjp(
        {"w": "3", "x": "2"}, wrt=["x"], show=["a", "w", "c"]
    )
    assert [(i.value.item(), i.grad) for i in answer.intermediates.values()] == [(9, None), (3, None), (1, None)]
    assert answer.check is not None
    assert answer.check.verdict == "agree"


def test_a_value_that_y_does_not_use_has_a_gradient_of_zeros() -> None:
    """Nothing flows back to it."""
    answer = Function("a = x**2; y = 3*x").vjp({"x": "1,2"}, "ones", show=["a"])
    assert _grad(answer, "a") == [0, 0]
    assert answer.check is not None
    assert answer.check.verdict == "agree"


def test_a_wrong_adjoint_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the name of the intermediate; the numbers of the function itself agree."""
    true = backward_passes.retained

    def wrong(*arguments: Any) -> Any:
        values, adjoints = true(*arguments)
        return values, [{name: array * 1.001 for name, array in of_v.items()} for of_v in adjoints]

    monkeypatch.setattr(backward_passes, "retained", wrong)
    check = Function("y = x**2; z = y**3").vjp({"x": "1,2"}, "1,1", show=["y"]).check
    assert check is not None
    assert check.verdict == "disagree"
    assert {(finding.variable, finding.column) for finding in check.findings} == {("y", (0,)), ("y", (1,))}
    assert (check.checked, check.entries) == (4, 4)


@pytest.mark.parametrize("text", ["b = -x; c = b.flatten(); d = -b; d", "b = x.flatten(); c = b.flatten(0); d = -x; d"])
def test_a_tensor_of_two_names_has_one_gradient(text: str) -> None:
    """A vector is its own flatten(), so that what torch keeps under one name is under the other too."""
    answer = Function(text).vjp({"x": "1,2"}, "3,4", show=["b", "c"])
    kept = answer.intermediates
    assert [None if one.grad is None else one.grad.tolist() for one in (kept["b"], kept["c"])] == [[-3, -4], [-3, -4]]
    assert answer.check is not None
    assert answer.check.verdict == "agree"


def test_a_kink_behind_an_intermediate_is_its_own() -> None:
    """Relu at y = 0: torch picks 0 of the one-sided derivatives 0 and 1."""
    check = Function("y = x**2 - 1; z = relu(y)").vjp({"x": "1"}, show=["y"]).check
    assert check is not None
    kinks = [finding for finding in check.findings if finding.variable == "y"]
    assert [(finding.verdict, finding.one_sided) for finding in kinks] == [("kink", (0.0, 1.0))]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_random_programs_keep_what_retain_grad_keeps(program: Random) -> None:
    """Values and gradients of all statements, in plain torch, and no adjoint is denied but at a kink."""
    used = Function(program.text).variables
    nodes = {node.name: node.value for node in program.nodes if node.name in program.text}
    for value in nodes.values():
        if value.requires_grad:
            value.retain_grad()
    y = program.nodes[-1].value
    y.backward(torch.ones_like(y))
    at = {name: program.leaves[name].detach().numpy() for name in used}
    names = [name for name in nodes if name.startswith("t")]
    answer = Function(program.text).vjp(at, "ones", show=names)
    for name in names:
        np.testing.assert_array_equal(answer.intermediates[name].value, nodes[name].detach().numpy())
        expected, found = nodes[name].grad, answer.intermediates[name].grad
        assert found is not None
        size = 1e-12 * np.abs(found).max(initial=1.0)
        np.testing.assert_allclose(found, 0 if expected is None else expected.numpy(), rtol=0, atol=size)
    assert answer.check is not None
    require_fair(answer.check, program)


# -- a loss


def test_a_loss_gives_v_and_the_gradient_of_both() -> None:
    """D14: of sum(y**2), v = 2*y = 2, 8, and vᵀJ = ∇(ℓ∘f) = 4*x**3 = 4, 32."""
    answer = Function("x**2").vjp({"x": "1,2"}, loss="sum(y**2)")
    assert answer.loss is not None
    assert (answer.v.tolist(), answer.vjp["x"].tolist()) == ([2, 8], [4, 32])
    np.testing.assert_array_equal(answer.loss.gradient["x"], answer.vjp["x"])
    assert answer.check is not None
    assert answer.check.notes == (
        "of v = ∂loss/∂y, 2 of 2 entries were checked",
        "vᵀJ and the gradient of the loss in one go are equal",
    )


def test_a_loss_has_values_of_its_own() -> None:
    """A target t; and shown intermediates beside it."""
    answer = Function("a = x**2; b = 3*a").vjp({"x": "1,2", "t": "1,1"}, loss="sum((b - t)**2)", show=["a"])
    assert (answer.v.tolist(), _grad(answer, "a")) == ([4, 22], [12, 66])
    assert list(answer.inputs) == ["x"]


def test_the_kink_of_a_loss_is_found() -> None:
    """Of abs at y = 0, where v itself is a choice."""
    check = Function("x**2 - 1").vjp({"x": "1,2"}, loss="sum(abs(y))").check
    assert check is not None
    assert check.verdict == "kink"
    assert any(finding.note.startswith("of ∂loss/∂y: ") for finding in check.findings)


# -- traps


def _remarks(text: str, v: str, **at: Any) -> tuple[str, ...]:
    question = prepare(Inquiry(text, Function(text)._snippet, at, None, "float64"))
    return tuple(of_v(question, question.cotangent(v, None)))


@pytest.mark.parametrize("v", ["x", "1,2", " x ", "[1,2]"])
def test_x_itself_as_v_is_remarked_on(v: str) -> None:
    """C4: 2, 8 instead of 2, 4."""
    (remark,) = Function("x**2").vjp({"x": "1,2"}, v).warnings
    assert remark.startswith("v is x itself here")
    assert "(2, 8 instead of 2, 4)" in remark
    assert "--v ones" in remark
    assert Function("x**2").vjp({"x": "1,2"}, v).vjp["x"].tolist() == [2, 8]


@pytest.mark.parametrize(
    ("text", "v", "at"),
    [
        ("x**2", "ones", {"x": "1,2"}),
        ("x**2", "x", {"x": "1,1"}),  # ones are ones, wherever they come from
        ("x**2", "2*x", {"x": "1,2"}),
        ("x**2", "y", {"x": "1,2"}),
        ("x**2", "3", {"x": "3"}),  # a number may be equal by chance
        ("x**2", "1,0", {"x": "1,0"}),  # a one-hot v is a row of J
        ("x**2", "0,0", {"x": "0,0"}),
        ("x**2", "1,3", {"x": "1,2"}),
        ("x[:2]", "1,2", {"x": "1,2,3"}),
    ],
)
def test_another_v_is_not(text: str, v: str, at: dict[str, str]) -> None:
    """Not what is no trap, and not what may be meant."""
    assert _remarks(text, v, **at) == ()


def test_a_weight_that_is_not_differentiated_by_is_no_trap() -> None:
    """With --v w, the rows are weighted on purpose."""
    assert Function("w*x**2").vjp({"w": "1,2", "x": "3,4"}, "w", wrt=["x"]).warnings == ()


def test_one_number_is_a_trap_only_by_name() -> None:
    """--v x is x."""
    assert "(18 instead of 6)" in _remarks("x**2", "x", x="3")[0]


TWICE = (
    "x = torch.tensor([1., 2.], requires_grad=True)\ny = {}\ny.backward(torch.ones(2){})\n{}y.backward(torch.ones(2))"
)


def test_a_second_pass_through_a_freed_graph_is_explained() -> None:
    """C7: where torch raises, why, both ways out, and what the numbers are."""
    answer = Function(TWICE.format("x**2", "", "")).vjp()
    (remark,) = (warning for warning in answer.warnings if "torch raises" in warning)
    assert 'a second time" at pass 2, y.backward(torch.ones(2)) (line 4)' in remark
    assert "retain_graph=True" in remark
    assert "compute y anew" in remark
    assert answer.vjp["x"].tolist() == [4, 8]
    assert remark in Function(TWICE.format("x**2", "", "")).explain(check=False).warnings


REFUSED: list[tuple[str, bool]] = [
    (TWICE.format("x**2", "", ""), True),
    (TWICE.format("2*x", "", ""), True),
    (TWICE.format("x + 1", "", ""), False),  # nothing was saved that could be missed
    (TWICE.format("-x", "", ""), False),
    (TWICE.format("x**2", ", retain_graph=True", ""), False),
    (TWICE.format("x**2", ", create_graph=True", ""), False),
    (TWICE.format("x**2", ", retain_graph=False, create_graph=True", ""), True),
    (TWICE.format("x**2", ", True", ""), False),
    (TWICE.format("x**2", ", None, True", ""), False),
    (TWICE.format("x**2", "", "y = x**2\n"), False),  # a graph of its own
    (TWICE.format("x**2", "", "x.grad = None\n"), True),  # that forgets the gradient, not the loss of the graph
    (TWICE.format("x**2", "", "z = x**2\n"), True),
    ("x = torch.tensor(2., requires_grad=True)\na = x**2\ny = 3*a\ny.backward()\ny = 3*a\ny.backward()", True),
    ("x = torch.tensor(2., requires_grad=True)\ny = x**2\ny.backward(); (x**2).backward()", False),
    (
        "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\ng = torch.autograd.grad(y, x, torch.ones(2))\n"
        "y.backward(torch.ones(2))",
        True,
    ),
    (
        "x = torch.tensor(2., requires_grad=True)\ny = x**3\ny.backward(retain_graph=True)\ny.backward()\n"
        "x.grad = None\ny.backward()",
        True,
    ),
    ("x = torch.tensor(2., requires_grad=True)\ny = x**2\ny.backward()", False),
]


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize(("text", "raises"), REFUSED, ids=range(len(REFUSED)))
def test_torch_decides_whether_it_raises(text: str, raises: bool) -> None:
    """The snippet run as Python says the same as the remark."""
    names: dict[str, Any] = {"torch": torch}
    if raises:
        with pytest.raises(RuntimeError, match="second time"):
            exec(text, names)
    else:
        exec(text, names)
    warnings = Function(text).vjp().warnings
    assert any("torch raises" in warning for warning in warnings) == raises


def test_gradients_by_some_variables_free_only_their_part() -> None:
    """torch.autograd.grad(y, x) runs the nodes between y and x alone."""
    text = (
        "x = torch.tensor(2., requires_grad=True)\nw = torch.tensor(3., requires_grad=True)\na = w**2\ny = a + x\n"
        "g = torch.autograd.grad(y, {})\nx.grad = None\nw.grad = None\ny.backward()"
    )
    for name, raises in (("x", False), ("w", True)):
        warnings = Function(text.format(name)).vjp().warnings
        assert any("torch raises" in warning for warning in warnings) == raises


# -- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"show": ["q"]}, "--show names 'q', and no statement has that name"),
        ({"show": ["yy"]}, "the names are: n, y, z"),
        ({"show": ["n"]}, "which stands for the number 2"),
        ({"vs": ["1,1", "1"]}, "v has shape (), and z has shape (2,)"),
        ({"vs": ["1,1"], "loss": "sum(z)"}, "--v and --loss exclude each other"),
        ({"loss": "z"}, "the loss has shape (2,)"),
        ({"vs": ["1,1"] * (MAX_PRODUCTS + 1)}, "257 gradient vectors are more than 256"),
        ({"vs": ["1,1"], "show": [f"a{n}" for n in range(MAX_SHOWN + 1)]}, "--show names 31 values, more than 30"),
        ({"at": {"x": "1,2", "t": "1"}, "vs": ["1,1"]}, "'t' is given a value"),
        ({"at": {"x": "1,2", "t": "1"}, "loss": "sum(z)"}, "'t' is given a value"),
    ],
)
def test_what_cannot_be_answered_is_refused(arguments: dict[str, Any], message: str) -> None:
    """With what to do."""
    asked = {"at": {"x": "1,2"}, "vs": ["1,1"] if "show" in arguments else (), **arguments}
    with pytest.raises(GradcliError) as error:
        Function("n = 2; y = x**n; z = y**3").vjps(**asked)
    assert message in error.value.render()
