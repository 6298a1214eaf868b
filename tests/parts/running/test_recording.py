"""Functions of Python: their numbers are torch's own, their formulas and enclosures those of what was recorded."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.parts.running.plain_functions import check, record
from tests.checks import check_of
from tests.parts.running import model
from tests.parts.running.right_backwards import Power

X = torch.tensor([0.7, 1.3, 2.1], dtype=torch.float64)


@pytest.mark.parametrize("name", ["net", "net64", "sequential"])
def test_the_numbers_of_modules_are_those_of_torch(name: str) -> None:
    """In the dtype of the module, and by its parameters too."""
    module = getattr(model, name)
    parameters = dict(module.named_parameters())
    kind = next(module.parameters()).dtype
    x = X.clone().to(kind).requires_grad_()
    y = module(x)
    own = torch.autograd.grad(y.sum(), [x, *parameters.values()])
    asked = record(module, X.to(kind))
    inputs = asked.vjp(v="ones").inputs
    names = [name for name in inputs if name.endswith(("weight", "bias"))]
    assert len(names) == len(parameters)
    answer = asked.vjp(v="ones", wrt=["x" if "x" in inputs else "input", *names])
    found = list(answer.vjp.values())
    assert all(np.array_equal(ours, theirs.numpy()) for ours, theirs in zip(found, own, strict=True))
    assert answer.dtype == str(kind).removeprefix("torch.")
    assert check_of(answer).verdict == "agree"


def test_parameters_have_the_names_that_torch_gives_them() -> None:
    """Names of the module alone, and after the name of the module where a function calls it."""
    assert {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "scale"} < set(record(model.net, X).jacobian().inputs)
    inputs = record(model.mean_squares, X, torch.tensor([1.0, 2.0])).vjp().inputs
    assert {"x", "target", "net.fc1.weight", "net.scale"} < set(inputs)
    assert {"layer_0.weight", "layer_2.bias"} < set(record(model.sequential, X).vjp().inputs)
    assert {"self.w"} < set(record(model.model.loss, X).vjp().inputs)


def test_a_constant_tensor_is_written_with_its_numbers() -> None:
    """Fractions too, of which whole numbers would be other ones."""
    text = Function("interpolate(x, scale_factor=2, mode='linear')").jacobian({"x": [[[1, 3]]]}).symbolic["x"].text
    assert "[0.0, 0.25, 0.75, 0.25][1]" in text


def test_class_indices_stay_whole_numbers() -> None:
    """They are asked for by torch's error, and have no gradient."""
    answer = record(model.entropy, X, torch.tensor([1])).vjp()
    assert set(answer.vjp) == {"x"}


def test_branches_are_said_and_taken_anew_at_another_point() -> None:
    """The answer is of the branch that was taken."""
    f = record(model.branched, X)
    assert any("the branch x.sum() > 0 was taken" in warning for warning in f.vjp(v="ones").warnings)
    assert f.vjp({"x": [-1.0, 0.5]}, v="ones").vjp["x"].tolist() == [3.0, 3.0]


def test_a_condition_at_its_boundary_is_a_kink() -> None:
    """Beside the point the other branch is taken, in whichever direction."""
    answer = record(model.branched, torch.tensor([1.0, -1.0])).vjp(v="ones")
    assert check_of(answer).verdict == "kink"
    assert "x.sum() > 0" in check_of(answer).findings[0].note  # as it is written in the code
    assert "∧ kink" in str(answer)
    assert "✓ agree" not in str(answer)


def test_rows_of_a_stream_are_run_one_by_one() -> None:
    """As of any function, with a verdict."""
    found = record(model.branched).map({"x": [[1.0, 2.0], [-1.0, 0.0]]})
    assert found["dy_dx"].tolist() == [[[2.0, 0.0], [0.0, 2.0]], [[3.0, 0.0], [0.0, 3.0]]]


def test_numbers_of_python_stay_what_they_are_at_another_point() -> None:
    """A check records the function again where it looks at points."""
    assert check(Power.apply, X, 3, "cube").passed


def test_a_wrong_backward_disagrees_entry_by_entry() -> None:
    """With its name in the note, inside of a larger function."""
    answer = record(model.uses_half, X).vjp()
    assert check_of(answer).verdict == "disagree"
    assert len(check_of(answer).findings) == 3
    assert "Half.backward (model.py, line" in check_of(answer).findings[0].note


def test_what_is_wrong_elsewhere_only_is_no_verdict_of_this_point() -> None:
    """The numbers here are right; the check does not pass, and says where it is wrong."""
    f = record(model.uses_large, X)
    assert check_of(f.vjp()).verdict == "agree"
    answer = f.check()
    assert not answer.passed
    assert "from 100 on" in answer.elsewhere[0]


def test_gradcheck_passes_what_check_does_not() -> None:
    """A derivative that is wrong far away, and one that does not exist."""
    for function in (model.Large.apply, torch.abs):
        x = torch.tensor([0.0, 2.0], dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(function, x)
        with pytest.raises(AssertionError):
            check(function, x)


def test_weights_of_classes_and_padding_have_rows() -> None:
    """Their derivatives are proved, at 0 too; the row of the padding is constant, as torch says."""
    target, weights = torch.tensor([0.0, 1.0, 1.0]), torch.tensor([1.0, 2.0, 3.0])
    loss = record(lambda x: F.binary_cross_entropy_with_logits(x, target, pos_weight=weights), X * 0)
    found = check_of(loss.hessian())
    assert (found.verdict, found.checked) == ("agree", 9)
    padded = record(lambda x: torch.embedding(x[:, None], torch.tensor([1, 0]), 0).sum(), X)
    assert padded.grad().grad["x"].tolist() == [0, 1, 0]
    assert check_of(padded.grad()).verdict == "cut"  # as the function itself moves with that row


def test_second_derivatives_go_through_a_custom_backward_too() -> None:
    """The purpose of gradgradcheck."""
    assert check_of(record(model.uses_square, X).hessian()).verdict == "agree"
    assert check_of(record(model.uses_half, X).hessian()).verdict == "disagree"


def test_the_graph_is_that_of_the_function_itself() -> None:
    """With the node of a custom function, and the gradient that it leaves."""
    answer = record(model.uses_half, torch.tensor([1.0, 2.0])).graph()
    assert "HalfBackward" in [node.name for node in answer.nodes]
    (x,) = [tensor for tensor in answer.tensors if tensor.name == "x"]
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 6.0]


def test_what_is_not_differentiated_by_takes_no_part_in_the_graph() -> None:
    """As in a script, where it requires no gradient."""

    def f(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x * w).sum()

    answer = record(f, X, X + 1).graph(wrt=["x"])
    (w,) = [tensor for tensor in answer.tensors if tensor.name == "w"]
    assert w.grad is None
    assert len([node for node in answer.nodes if node.name == "AccumulateGrad"]) == 1


def test_a_function_that_takes_a_gradient_itself_is_differentiated_by_its_parameters() -> None:
    """By those of the module, and by x alone within it."""

    def residual(x: torch.Tensor) -> Any:
        u = model.net64(x)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        return ((slope - u.sum()) ** 2).mean()

    answer = record(residual, X).vjp(wrt=["net64.fc1.weight"])
    assert check_of(answer).verdict == "agree"


def test_what_a_call_makes_anew_is_nothing_to_differentiate_by() -> None:
    """Its derivative would be 0, as the next call has another one."""
    with pytest.raises(GradcliError, match="scale is made anew by each call of new_constants"):
        record(model.new_constants, X).vjp(v="ones", wrt=["scale"])


def test_intermediates_have_the_names_of_the_code() -> None:
    """A local variable can be shown, with its adjoint."""
    tensors = {one.name: one for one in record(model.solved, X).graph(show=["matrix"]).tensors}
    assert tensors["matrix"].data.shape == (3, 3)


def test_a_copy_that_requires_a_gradient_itself_is_a_leaf() -> None:
    """Nothing goes back through it to what it was copied from, whose value is held constant."""

    def f(x: torch.Tensor) -> torch.Tensor:
        z = x.detach().clone().requires_grad_()
        return (x * z).sum()

    answer = record(f, X).vjp()
    assert answer.vjp["x"].tolist() == X.tolist()
    assert check_of(answer).verdict == "cut"
    assert "a value (test_recording.py, line" in check_of(answer).findings[0].note


def test_a_change_that_autograd_does_not_see_makes_its_gradient_wrong() -> None:
    """`y[0] = 0` under no_grad: torch gives 2 for an element that is 0 whatever x is."""
    answer = record(model.without_record, X).vjp(v="ones")
    assert answer.vjp["x"].tolist() == [2.0, 2.0, 2.0]
    finding, *entries = check_of(answer).findings
    assert (finding.verdict, "by x[0] the gradient of y[0] is 2, without that 0" in finding.note) == ("cut", True)
    assert [(one.verdict, one.torch, one.reference) for one in entries] == [("cut", 2, 0)]
    assert any("where it records nothing (model.py, line" in warning for warning in answer.warnings)


def test_running_leaves_parameters_and_buffers_as_they_are() -> None:
    """A module in training updates its running means, once a run; here none of them stays."""
    norm = torch.nn.BatchNorm1d(3)
    before = norm.running_mean.clone()  # type: ignore[union-attr]
    record(norm, torch.stack([X, X * 2, X**2]).float()).vjp(v="ones")
    assert torch.equal(norm.running_mean, before)  # type: ignore[arg-type]


def test_a_value_of_a_parameter_can_be_given() -> None:
    """In place of the one that the module has."""
    answer = record(model.net64, X).vjp({"fc2.bias": [5.0, 6.0]}, v="ones", wrt=["fc2.bias"])
    assert answer.inputs["fc2.bias"].tolist() == [5.0, 6.0]
    assert answer.vjp["fc2.bias"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("claim", "status"), [("2*(sum(x) > 0) + 3*(sum(x) <= 0) + 0*x", "no counterexample"), ("2 + 0*x", "refuted")]
)
def test_a_claim_is_held_to_the_branch_of_each_point(claim: str, status: str) -> None:
    """The function is recorded anew wherever it is tried."""
    found = record(model.branched, X).check(v="ones", claim={"x": claim}).claims
    assert [one.status for one in found] == [status], found


def test_terms_that_cancel_are_the_function_up_to_their_rounding() -> None:
    """The sum of a normalized row is 0, and torch gives some 1e-15 each time in another order."""
    x = torch.arange(30, dtype=torch.float64).reshape(3, 10).sin()
    answer = check(lambda x: torch.nn.functional.layer_norm(x, (10,)).sum(), x, allow=["inaccurate"])
    assert answer.check is not None
    assert answer.check.verdict in ("agree", "inaccurate")


def test_all_entries_of_a_transformer_layer_are_checked() -> None:
    """Its attention asks whether a score is -inf."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).double().eval()
    x, v = (torch.randn(2, 5, 16, dtype=torch.float64) for _ in range(2))
    found = check_of(record(layer, x).vjp(v=v.numpy()))
    assert (found.verdict, found.checked) == ("agree", 160)
