"""Structures of the arguments of code: it is called at members alone, and judged along the directions of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gradcli.errors import GradcliError, WrongGradientsError
from gradcli.parts.running.plain_functions import check
from tests.conftest import Command

_S = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
_P = torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
_X = torch.tensor([1.0, 2.0], dtype=torch.float64)


class Folded(torch.autograd.Function):
    """The Cholesky factor of a symmetric matrix, whose backward gives all of the gradient to the lower triangle."""

    @staticmethod
    def forward(ctx: Any, A: Any) -> Any:
        """Take both triangles."""
        factor = torch.linalg.cholesky((A + A.mT) / 2)
        ctx.save_for_backward(factor)
        return factor

    @staticmethod
    def backward(ctx: Any, v: Any) -> Any:
        """Fold the upper triangle onto the lower one; along symmetric directions that is the same."""
        (factor,) = ctx.saved_tensors
        phi = (factor.mT @ v).tril() - torch.diag_embed(torch.diagonal(factor.mT @ v)) / 2
        inverse = torch.linalg.inv(factor)
        whole = inverse.mT @ phi @ inverse
        return whole.tril() + whole.triu(1).mT


class Doubled(Folded):
    """The same, with twice the gradient."""

    @staticmethod
    def backward(ctx: Any, v: Any) -> Any:
        """Double it."""
        return 2 * Folded.backward(ctx, v)


def folded(A: Tensor) -> Tensor:
    """Apply a function that is right along symmetric directions."""
    found: Tensor = Folded.apply(A)  # type: ignore[no-untyped-call]
    return found


def doubled(A: Tensor) -> Tensor:
    """Apply a function that is wrong."""
    found: Tensor = Doubled.apply(A)  # type: ignore[no-untyped-call]
    return found


def test_a_backward_that_is_right_along_the_directions_passes() -> None:
    """And is refuted without them; it is tried in variants that are members, too."""
    answer = check(folded, _S, assume={"A": "spd"})
    assert answer.passed
    assert answer.assumed == {"A": "spd"}
    assert any("Folded.backward" in remark and " other points" in remark for remark in answer.remarks)
    with pytest.raises(WrongGradientsError, match="are not right"):
        check(folded, _S)


def test_a_wrong_backward_is_found_along_the_directions() -> None:
    """By name, with the mistake."""
    with pytest.raises(WrongGradientsError, match=r"its\s+result\s+is\s+2\s+times\s+the\s+gradient"):
        check(doubled, _S, assume={"A": "spd"})


_OfTensor = Callable[[Tensor], Tensor]


def _of_members(is_member: Callable[[Tensor], bool], function: _OfTensor) -> _OfTensor:
    def strict(A: Tensor) -> Tensor:
        if not is_member(A.detach()):
            raise ValueError("this is no member")
        return function(A)

    return strict


MEMBERS: list[tuple[str, Tensor, Callable[[Tensor], bool], _OfTensor]] = [
    ("symmetric", _S, lambda A: torch.equal(A, A.mT), lambda A: (A @ A).sin().sum()),
    ("spd", _S, lambda A: bool((torch.linalg.eigvalsh(A) > 0).all()), torch.logdet),
    ("diagonal", torch.diag(_X), lambda A: torch.equal(A, A * torch.eye(2)), lambda A: A.exp().sum()),
    ("triangular", _S.tril(), lambda A: torch.equal(A, A.tril()), torch.linalg.inv),
    ("simplex", _P, lambda x: abs(x.sum().item() - 1) < 1e-14, lambda x: -(x * x.log()).sum()),
    ("positive", _P, lambda x: bool((x > 0).all()), lambda x: x.log().sum()),
    (
        "orthogonal",
        torch.tensor([[0.6, -0.8], [0.8, 0.6]], dtype=torch.float64),
        lambda A: bool(((A.mT @ A - torch.eye(2)).abs() < 1e-12).all()),
        lambda A: (A**3).sum(),
    ),
]


@pytest.mark.parametrize(("name", "value", "is_member", "function"), MEMBERS, ids=[name for name, *_ in MEMBERS])
@pytest.mark.one_in(4)
def test_the_function_is_called_at_members_alone(
    name: str, value: Tensor, is_member: Callable[[Tensor], bool], function: _OfTensor
) -> None:
    """At the point, and next to it, where the function itself has the last word."""
    answer = check(_of_members(is_member, function), value, assume={"A": name})
    assert answer.check is not None
    assert (answer.passed, answer.check.verdict) == (True, "agree")


def test_the_function_next_to_its_point_stays_inside() -> None:
    """Off the structure it is another function, which no gradient knows."""

    def otherwise(A: Tensor) -> Tensor:
        is_symmetric = torch.equal(A.detach(), A.detach().mT)
        return (A**2).sum() * (1.0 if is_symmetric else 7.0)

    assert check(otherwise, _S, assume={"A": "symmetric"}).passed
    with pytest.raises(WrongGradientsError):
        check(otherwise, _S)


def _quadratic(A: Tensor, x: Tensor) -> Tensor:
    return x @ A @ x


def _logdet(A: Any) -> Any:
    return 2 * torch.linalg.cholesky(A).diagonal().log().sum()


CLAIMS: list[tuple[Callable[..., Tensor], tuple[Any, ...], dict[str, str], Any, list[tuple[str, str]]]] = [
    (
        _quadratic,
        (_S, _X),
        {"A": "symmetric"},
        lambda A, x: (torch.outer(x, x), 2 * A @ x),
        [("proved", "proved"), ("proved", "refuted")],
    ),
    (_logdet, (_S,), {"A": "spd"}, torch.linalg.inv, [("proved", "refuted")]),
    (_logdet, (_S,), {"A": "spd"}, "inv(A)", [("proved", "refuted")]),
    (_logdet, (_S,), {"A": "spd"}, lambda A: 2 * torch.linalg.inv(A), [("refuted", "")]),
    (
        lambda x: -(x * x.log()).sum(),
        (_P,),
        {"x": "simplex"},
        lambda x: torch.as_tensor(-np.log(x.detach().numpy())),
        [("agrees", "refuted")],
    ),
]


@pytest.mark.parametrize(("function", "given", "assume", "gradient", "became"), CLAIMS, ids=range(len(CLAIMS)))
@pytest.mark.one_in(3)
def test_a_stated_gradient_is_judged_under_the_structure(
    function: Callable[..., Tensor], given: tuple[Any, ...], assume: dict[str, str], gradient: Any, became: Any
) -> None:
    """A function, read or called, and a formula."""
    answer = check(function, *given, gradient=gradient, assume=assume, raise_exception=False)
    assert [(one.status, one.in_general) for one in answer.claims] == became


def test_numpy_functions_are_given_members_too() -> None:
    """As arrays."""

    def strict(A: Any) -> Any:
        sines = np.sin(A)
        if not np.array_equal(A, A.T):
            raise ValueError("this is not symmetric")
        return np.sum(sines)

    assert check(strict, _S, assume={"A": "symmetric"}).passed


ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"assume": {"A": "symetric"}}, "did you mean 'symmetric'"),
    ({"assume": {"B": "symmetric"}}, "there is no such variable"),
    ({"assume": {"A": "diagonal"}}, "A is not diagonal: A\\[0,1\\] = 1"),
    ({"assume": {"A": "spd"}, "versus": torch.logdet}, "versus= and assume= exclude each other"),
]


@pytest.mark.parametrize(("options", "message"), ERRORS, ids=[message for _, message in ERRORS])
def test_what_cannot_be_assumed_is_an_error(options: dict[str, Any], message: str) -> None:
    """Before the function is called."""
    with pytest.raises(GradcliError, match=message):
        check(_logdet, _S, **options)


def test_a_file_of_code_takes_them_in_the_shell(gradcli: Command, tmp_path: Any) -> None:
    """At a point, and at random members."""
    file = tmp_path / "code.py"
    file.write_text("import torch\ndef f(A):\n    return 2*torch.linalg.cholesky(A).diagonal().log().sum()\n")
    target = f"{file}::f"
    found = gradcli("check", target, "--at", "[[2,1],[1,3]]", "--assume", "spd", "--claim", "inv(A)")
    assert (found.code, "in general it is refuted" in " ".join(found.out.split())) == (0, True)
    assert gradcli("check", target, "--at", "[[2,1],[0,3]]", "--assume", "A=spd").code == 2
    drawn = gradcli("check", target, "--in", "A=[[-1,-1],[-1,-1]]..[[1,1],[1,1]]", "--random", "3", "--assume", "A=spd")
    assert (drawn.code, "3 random points" in drawn.out) == (0, True)
