"""Several gradient vectors, what accumulates, what intermediates keep, a loss, and the traps that are remarked on."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings

from gradcli import Function, GradcliError
from gradcli.autodiff import jacobians
from gradcli.questions.commands.vjp import MAX_PRODUCTS
from gradcli.results import Array, Check
from tests.examples import examples
from tests.programs import Random, programs


def _lists(arrays: Any) -> dict[str, Any]:
    return {name: array.tolist() for name, array in arrays.items()}


def _check(answer: Any, verdict: str = "agree") -> Check:
    found: Check = answer.check
    assert found.verdict == verdict, found
    return found


# -- several gradient vectors


def test_each_answer_is_that_of_a_vjp_alone() -> None:
    """All of it, so that a line of JSON does not depend on the others."""
    f = Function("[x*y, x + y]")
    at = {"x": "3", "y": "5"}
    for v, answer in zip(("e0", "2,3"), f.vjps(at, ["e0", "2,3"]).answers, strict=True):
        assert answer.to_json() == f.vjp(at, v).to_json()


def test_every_product_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong second one is found, and the finding says which it is."""
    true = jacobians.vjp

    def wrong(forward: Any, v: Array, wrt: tuple[str, ...]) -> dict[str, Array]:
        return {name: array + 0.001 * (v[0] == 7) for name, array in true(forward, v, wrt).items()}

    monkeypatch.setattr(jacobians, "vjp", wrong)
    found = Function("x**2").vjps({"x": "1,2"}, ["5,7", "7,5"])
    for answer, verdict in zip(found.answers, ("agree", "disagree"), strict=True):
        _check(answer, verdict)
    assert {finding.note.partition(":")[0] for finding in _check(found, "disagree").findings} == {"for v number 2"}


def test_findings_of_the_jacobian_are_listed_once() -> None:
    """The kink at 0, whatever v."""
    check = _check(Function("abs(x)").vjps({"x": "0,1"}, ["1,1", "2,1"]), "kink")
    assert (check.findings_count, len(check.findings)) == (1, 1)


# -- what accumulates


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
            np.testing.assert_array_equal(answer.accumulated["x"], x.grad.numpy(), strict=True)


SNIPPET = (
    "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\n"
    "y.backward(torch.tensor([1., 0.]), retain_graph=True)\ny.backward(torch.tensor([0., 1.]))"
)


PASSES = [
    # torch lets both share memory, adds the second pass to both at once, and leaves 3 in each
    ("sum([a, b], dim=0)", {"a": "1,2", "b": "1,2"}, {}, [{"a": [n, n], "b": [n, n]} for n in (1, 2)]),
    ("x**2 + 0*y", {"x": "1", "y": "2"}, {"wrt": ["y"]}, [{"y": 0}, {"y": 0}]),
    ("y = 3; y + 0*x", {"x": "1"}, {}, [{"x": 0}, {"x": 0}]),
    pytest.param(SNIPPET, None, {"vs": ()}, [{"x": [2, 0]}, {"x": [2, 4]}], marks=pytest.mark.part("paste")),
]


@pytest.mark.parametrize(("text", "at", "options", "held"), PASSES)
def test_grad_holds_the_sum_of_all_passes(text: str, at: Any, options: dict[str, Any], held: list[Any]) -> None:
    """Passes of a snippet come one by one, where the answer to all of them has the sum of their v's."""
    found = Function(text).vjps(at, **{"vs": ["ones", "ones"], "accumulate": True, **options})
    assert [_lists(answer.accumulated) for answer in found.answers] == held
    assert found.warnings == ()


@pytest.mark.part("paste")
def test_nothing_accumulates_unless_asked() -> None:
    assert Function("x**2").vjps({"x": "1"}, ["1", "1"]).answers[1].accumulated is None
    assert Function(SNIPPET).vjp().v.tolist() == [1, 1]


# -- intermediates


ADJOINTS = [
    ("y = x**2; z = y**3", {"x": "1,2"}, "e1", {"y": [0, 48]}),
    ("y = x**2", {"x": "1,2"}, "5,7", {"y": [5, 7]}),
    ("y = x**2; z = x**2 + 3*y", {"x": "1"}, None, {"y": 3}),  # torch computes x**2 twice
    ("a = x**2; y = 3*x", {"x": "1,2"}, "ones", {"a": None}),
    # no variable that is differentiated by enters them
    ("a = w**2; c = x > 0; y = a*x*where(c, 1, 2)", {"w": "3", "x": "2"}, None, {"a": None, "c": None}),
]


@pytest.mark.part("explain")
@pytest.mark.parametrize(("text", "at", "v", "grads"), ADJOINTS)
def test_an_intermediate_has_its_adjoint(text: str, at: dict[str, str], v: Any, grads: dict[str, Any]) -> None:
    """Of the uses by torch."""
    tensors = Function(text).graph(at, v, wrt=["x"], show=list(grads)).tensors
    found = {one.name: None if one.grad is None else one.grad.tolist() for one in tensors if one.name in grads}
    assert found == grads


@pytest.mark.part("explain")
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_random_programs_keep_what_retain_grad_keeps(program: Random) -> None:
    """Values and gradients of all statements, in plain torch."""
    used = Function(program.text).variables
    nodes = {node.name: node.value for node in program.nodes if node.name in program.text}
    for value in nodes.values():
        if value.requires_grad:
            value.retain_grad()
    y = program.nodes[-1].value
    y.backward(torch.ones_like(y))
    at = {name: program.leaves[name].detach().numpy() for name in used}
    names = [name for name in nodes if name.startswith("t")]
    kept = {one.name: one for one in Function(program.text).graph(at, "ones", show=names).tensors}
    for name in names:
        np.testing.assert_array_equal(kept[name].data, nodes[name].detach().numpy())
        expected, found = nodes[name].grad, kept[name].grad
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            size = 1e-12 * np.abs(found).max(initial=1.0)
            np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=size)


# -- a loss

P = np.exp([1, 2, 3]) / np.exp([1, 2, 3]).sum()
LOSSES: list[tuple[str, str, dict[str, Any], Any, Any]] = [
    ("x**2", "sum(y**2)", {"x": "1,2"}, [2, 8], [4, 32]),
    ("z = 2*x", "z.sum(dim=1)", {"x": "[[1,2,3,4]]"}, [[1] * 4], [[2] * 4]),
    ("x**2", "d = y - t; sum(d**2)", {"x": "1,2", "t": "3,3"}, [-4, 2], [-8, 8]),
    ("x**2", "x*y", {"x": "3"}, 3, 18),  # not 3*x**2 = 27: x is held constant
    ("softmax(x)", "-sum(t*log(y))", {"x": "1,2,3", "t": "0,0,1"}, [0, 0, -1 / P[2]], P - [0, 0, 1]),
    ("pi*x", "y*pi", {"x": "2", "pi": "3"}, 3, 9),  # a variable of the function, and held constant in the loss
]


@pytest.mark.parametrize(("text", "loss", "at", "v", "gradient"), LOSSES, ids=[case[1] for case in LOSSES])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_loss_gives_v_and_its_gradient(
    text: str, loss: str, at: dict[str, Any], v: Any, gradient: Any, dtype: Any
) -> None:
    """The vᵀJ is ∇(ℓ∘f), in the precision asked for; what only the loss names is no input of the function."""
    answer = Function(text).vjp(at, loss=loss, dtype=dtype)
    rtol = 1e-15 if dtype == "float64" else 1e-6
    assert answer.loss is not None
    for found, expected in ((answer.v, v), (answer.vjp["x"], gradient), (answer.loss.gradient["x"], gradient)):
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
        assert found.dtype == dtype
    assert "t" not in answer.inputs
    assert _check(answer).notes[-1] == "vᵀJ and the gradient of the loss in one go are equal"
    names = [name for name in ("x", "pi") if name in loss]
    held = [f"the loss names {name}, held constant there: v is its derivative by y alone" for name in names]
    assert [one for one in answer.warnings if "the loss" in one] == held


def test_the_formula_and_the_kink_of_a_loss_are_its_own() -> None:
    """Of abs at y = 0, where v itself is a choice."""
    loss = Function("x**2").vjp({"x": "1,2"}, loss="sum(y**2)").loss
    assert loss is not None
    assert loss.formula is not None
    assert [(c.row, c.column, c.pretty) for c in loss.formula.cells] == [("loss", "y[j]", "2·y[j]")]
    check = _check(Function("x**2 - 1").vjp({"x": "1,2"}, loss="sum(abs(y))"), "kink")
    assert any(finding.note.startswith("of ∂loss/∂y: ") for finding in check.findings)


WRONG_LOSSES = [
    ("y**2", "the loss has shape (2,), and a loss has one element"),
    ("sum(x)", "the loss does not name y, the output"),
    ("sum(y*q)", "the loss names 'q', which has no value"),
    ("sum(y", "is never closed"),
    ("__import__('os')", "is not allowed"),
    ("sum(y*[1,2,3])", "do not broadcast"),
]


@pytest.mark.parametrize(("loss", "message"), WRONG_LOSSES)
def test_a_wrong_loss_is_refused_at_its_place(loss: str, message: str) -> None:
    """With the text it stands in."""
    with pytest.raises(GradcliError) as error:
        Function("x**2").vjp({"x": "1,2"}, loss=loss)
    assert message in error.value.render()
    assert "in --loss" in error.value.render()


# -- traps


REMARKED = [
    *(("x**2", v, {"x": "1,2"}, "2, 8 instead of 2, 4") for v in ("x", "1,2", " x ", "[1,2]")),
    ("x**2", "x", {"x": "3"}, "18 instead of 6"),
    ("x**2", "ones", {"x": "1,2"}, ""),
    ("x**2", "x", {"x": "1,1"}, ""),  # ones are ones, wherever they come from
    ("x**2", "y", {"x": "1,2"}, ""),
    ("x**2", "3", {"x": "3"}, ""),  # a number may be equal by chance
    ("x**2", "1,0", {"x": "1,0"}, ""),  # a one-hot v is a row of J
    ("w*x**2", "w", {"w": "1,2", "x": "3,4"}, ""),  # weighted on purpose
]


@pytest.mark.parametrize(("text", "v", "at", "remark"), REMARKED)
def test_x_itself_as_v_is_remarked_on(text: str, v: str, at: dict[str, str], remark: str) -> None:
    """C4; not what is no trap, and not what may be meant."""
    found = Function(text).vjp(at, v, wrt=["x"]).warnings
    assert len(found) == bool(remark)
    for one in found:
        assert one.startswith(f"v is x itself here, so each row of J is weighted by x's own numbers ({remark})")
        assert "--v ones" in one


TWICE = (
    "x = torch.tensor([1., 2.], requires_grad=True)\ny = {}\ny.backward(torch.ones(2){})\n{}y.backward(torch.ones(2))"
)
PART = (
    "x = torch.tensor(2., requires_grad=True)\nw = torch.tensor(3., requires_grad=True)\na = w**2\ny = a + x\n"
    "g = torch.autograd.grad(y, {})\nx.grad = None\nw.grad = None\ny.backward()"
)

REFUSED: list[tuple[str, bool]] = [
    (TWICE.format("x**2", "", ""), True),
    (TWICE.format("x + 1", "", ""), False),  # nothing was saved that could be missed
    (TWICE.format("x**2", ", create_graph=True", ""), False),
    (TWICE.format("x**2", ", retain_graph=False, create_graph=True", ""), True),
    (TWICE.format("x**2", "", "y = x**2\n"), False),  # a graph of its own
    (TWICE.format("x**2", "", "x.grad = None\n"), True),  # that forgets the gradient, not the loss of the graph
    (
        "x = torch.tensor(2., requires_grad=True)\ny = x**3\ny.backward(retain_graph=True)\ny.backward()\n"
        "x.grad = None\ny.backward()",
        True,
    ),
    (PART.format("x"), False),  # the nodes between y and x alone are run
    (PART.format("w"), True),
]


@pytest.mark.part("paste")
@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize(("text", "raises"), REFUSED, ids=range(len(REFUSED)))
def test_torch_decides_whether_it_raises(text: str, raises: bool) -> None:
    """C7: the snippet run as Python says the same as the remark, which says both ways out."""
    names: dict[str, Any] = {"torch": torch}
    if raises:
        with pytest.raises(RuntimeError, match="second time"):
            exec(text, names)
    else:
        exec(text, names)
    remarks = [warning for warning in Function(text).vjp().warnings if "torch raises" in warning]
    assert len(remarks) == raises
    assert all("retain_graph=True" in one and "compute y anew" in one for one in remarks)


@pytest.mark.part("explain", "paste")
def test_the_pass_that_torch_refuses_is_named() -> None:
    text = TWICE.format("x**2", "", "")
    (remark,) = (warning for warning in Function(text).vjp().warnings if "torch raises" in warning)
    assert 'a second time" at pass 2, y.backward(torch.ones(2)) (line 4)' in remark
    assert remark in Function(text).explain(check=False).warnings


# -- what is refused


UNANSWERED = [
    ({"vs": ["1,1", "1"]}, "v has shape (), and z has shape (2,)"),
    ({"vs": ["1,1"], "loss": "sum(z)"}, "--v and --loss exclude each other"),
    ({"vs": ["1,1"] * (MAX_PRODUCTS + 1)}, "257 gradient vectors are more than 256"),
    ({"at": {"x": "1,2", "t": "1"}, "loss": "sum(z)"}, "'t' is given a value"),
]


@pytest.mark.parametrize(("arguments", "message"), UNANSWERED)
def test_what_cannot_be_answered_is_refused(arguments: dict[str, Any], message: str) -> None:
    """With what to do."""
    asked = {"at": {"x": "1,2"}, "vs": (), **arguments}
    with pytest.raises(GradcliError) as error:
        Function("n = 2; y = x**n; z = y**3").vjps(**asked)
    assert message in error.value.render()
