"""What a call of torch is to a recording: whether it reads numbers, draws them, changes a tensor or assigns to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.recording.spelling import last
from gradcli.recording.values import Where, tensors_in

READS = frozenset("__float__ __int__ __index__ __complex__ __array__ item tolist numpy allclose equal".split())
"""Methods that give numbers or truth values, which autograd does not follow."""

WHOLE = frozenset("__int__ __index__ allclose equal".split())
"""Those whose result does not move with the least step."""

RANDOM = frozenset(
    "rand_like randn_like randint_like bernoulli multinomial normal poisson uniform exponential cauchy geometric "
    "log_normal random".split()
)
"""Functions of tensors whose result is drawn, and a constant to autograd."""

PASSES = frozenset(["torch.Tensor.backward", "torch.autograd.grad", "torch.autograd.backward"])
"""What goes back through the graph."""

UNFILLED = frozenset("empty empty_like empty_strided new_empty".split())
"""Functions whose result holds what was in the memory before."""

OF_SIZES = frozenset("empty_like new_empty new_zeros new_ones new_full new_tensor".split())
"""Methods that take nothing of a tensor but how it is held."""

SOURCES = frozenset(f"torch.{name}" for name in "zeros ones eye full".split())
"""Functions of sizes that the language has, with the same numbers."""

DROPOUTS = frozenset(
    "dropout alpha_dropout feature_dropout feature_alpha_dropout dropout1d dropout2d dropout3d".split()
)

_IN_PLACE = {"iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "div", "ipow": "pow", "imatmul": "matmul"}


class WrongDtypeError(InputError):
    """A function computes in another dtype than that of its arguments.

    Attributes:
        dtype: The one that it computes in.
    """

    def __init__(self, dtype: str) -> None:
        is_judged = dtype in ("float64", "float32")
        hint = f"add --dtype {dtype}" if is_judged else "float64 and float32 are judged"
        super().__init__(f"the function computes in {dtype}", hint=hint)
        self.dtype = dtype


@dataclass(frozen=True)
class Assignment:
    """A call that is `tensor[key] = given`.

    Attributes:
        tensor: What is assigned to.
        key: The index.
        given: A tensor or a number.
    """

    tensor: Tensor
    key: Any
    given: Any


def assignment(path: str, args: Sequence[Any], kwargs: Mapping[str, Any], found: Any) -> Assignment | None:
    """A call as an assignment of elements, if it is one; a new tensor of `index_put` is assigned to as well."""
    name, raw = last(path), path.rpartition(".")[2]
    if name == "setitem":
        return Assignment(args[0], args[1], args[2])
    if name == "index_put" and len(args) == 3 and not kwargs:
        return Assignment(found, tuple(args[1]), args[2])
    if raw in ("copy_", "fill_") and len(args) == 2:
        return Assignment(args[0], ..., args[1])
    if raw == "zero_":
        return Assignment(args[0], ..., 0.0)
    if raw == "fill_diagonal_" and len(args) == 2 and args[0].ndim == 2 and not kwargs:
        return Assignment(args[0], torch.eye(*args[0].shape, dtype=torch.bool), args[1])
    return None


def changed_by(path: str, args: Sequence[Any], kwargs: Mapping[str, Any], where: Where | None = None) -> Tensor | None:
    """The tensor that a call changes in place.

    Raises:
        InputError: It sets an attribute.
    """
    name = path.rpartition(".")[2]
    is_of_itself = (name.endswith("_") and not name.endswith("__")) or name == "__setitem__"
    if isinstance(kwargs.get("out"), torch.Tensor):
        return kwargs["out"]
    is_in_place = kwargs.get("inplace") is True or is_of_itself or name.strip("_") in _IN_PLACE
    if path.endswith(".__set__"):
        raise InputError(
            f"a tensor's .{path.split('.')[-2]} is set ({where}), which is not recorded", hint="give it another name"
        )
    return args[0] if is_in_place and args and isinstance(args[0], torch.Tensor) else None


def updated_leaves(path: str, args: Sequence[Any]) -> list[Tensor]:
    """Leaves of the graph that a call changes in place, as optimizers do: they are new values from then on."""
    name = path.rpartition(".")[2]
    leaves = [one for one in tensors_in(args[:1]) if one.is_leaf and one.requires_grad]
    is_in_place = (name.endswith("_") and not name.endswith("__")) or path.endswith("data.__set__")
    if not is_in_place or (torch.is_grad_enabled() and not path.endswith("data.__set__")):
        return []
    return leaves


def require_made_before(tensor: Tensor, node: int, where: Where | None) -> None:
    """Refuse a tensor that autograd follows and that was made behind a node of its graph.

    Raises:
        InputError: It is one.
    """
    if tensor.grad_fn is not None and tensor.grad_fn._sequence_nr() >= node:
        at = "" if where is None else f" ({where})"
        raise InputError(
            f"a tensor is used{at} that was made by code which cannot be seen",
            hint="call the function as it was before torch.jit, C++ or another library took it",
        )


def require_outside_of_func(tensor: Tensor, where: Where | None) -> None:
    """Refuse a tensor that a transform of torch.func wraps.

    Raises:
        InputError: It is one.
    """
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise InputError(
            f"a transform of torch.func (vmap, grad, jacrev) is applied ({where}), which is not recorded",
            hint="take the derivative by torch.autograd.grad(..., create_graph=True), or write a loop",
        )


def require_followed(changed: Tensor, where: Where | None) -> None:
    """Refuse a change in place of what autograd follows where it records nothing: numbers and gradient would part.

    Raises:
        InputError: It is one.
    """
    if changed.grad_fn is not None and not torch.is_grad_enabled():
        raise InputError(
            f"a tensor that autograd follows is changed in place where it records nothing ({where})",
            hint="change a .clone() of it, or outside of no_grad",
        )


def is_in_other_dtype(dtype: Any, tensors: Sequence[Tensor], *, is_of_arguments: bool) -> bool:
    """Whether numbers are computed in another dtype than the arguments have: if not from these, they are constants.

    Raises:
        WrongDtypeError: They are computed from the arguments.
    """
    others = [one.dtype for one in tensors if one.is_floating_point() and one.dtype is not dtype]
    if dtype is not None and others and is_of_arguments:
        raise WrongDtypeError(str(others[0]).removeprefix("torch."))
    return dtype is not None and bool(others)


def may_give_tensors(path: str) -> bool:
    """Whether a call gives tensors, as most do but for attributes."""
    name = path.removesuffix(".__get__").rpartition(".")[2]
    return not path.endswith("__get__") or name in ("T", "mT", "H", "mH", "data", "real")


def called(path: str, arguments: Sequence[Any], keywords: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """What a function of torch gives, which is named by its path."""
    return reduce(getattr, path.split(".")[1:], torch)(*arguments, **keywords)  # type: ignore[operator]


def drawn(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], state: Tensor) -> Tensor:
    """What a dropout multiplies by: ones go through it with the random numbers that it drew."""
    x, *rest = args
    after = torch.get_rng_state()
    torch.set_rng_state(state)
    with torch.no_grad():
        found: Tensor = function(torch.ones_like(x), *rest, **{**kwargs, "inplace": False})
    torch.set_rng_state(after)
    return found


def next_node() -> int:
    """The number of a node that autograd makes now; what is made later has larger ones."""
    with torch.inference_mode(False), torch.enable_grad(), torch._C.DisableTorchFunction():
        node = torch.ones((), requires_grad=True).clone().grad_fn
        return 0 if node is None else int(node._sequence_nr())
