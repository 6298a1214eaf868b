"""The arguments of `torch.autograd.gradcheck` and `gradgradcheck`, as `check` understands them.

Whoever has a test that calls gradcheck changes its name and keeps the rest: the tensors may come as one tuple, and
each option is taken where it has a meaning here, else the answer says what stands in its place.

Source: `torch.autograd.gradcheck` of PyTorch 2.13 and its documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from gradcli.autodiff._torch import torch
from gradcli.errors import UsageError, did_you_mean
from gradcli.parts.running.calling import name_of, signature
from gradcli.questions.call_arguments import ArgumentError
from gradcli.questions.other_keywords import MEANT
from gradcli.recording.aten_calls import Argument

SECOND = ("gradgradcheck", "check_gradgrad", "gradgrad", "check_second_order", "second_order")
"""Names by which callers ask for second derivatives, as the function `gradgradcheck` does."""

TAKEN = {
    **{"check_forward_ad": "forward", "check_batched_grad": "batched", "grad_outputs": "v"},
    **dict.fromkeys(SECOND, "order"),
}
"""Options of gradcheck, and of tests that call it, that `check` has under another name."""

DEFAULTS: Mapping[str, Argument] = {
    "eps": 1e-6,
    "raise_exception": True,
    "nondet_tol": 0.0,
    "check_undefined_grad": True,
    "check_grad_dtypes": False,
    "check_batched_grad": False,
    "check_batched_forward_grad": False,
    "check_forward_ad": False,
    "check_fwd_over_rev": False,
    "check_rev_over_rev": True,
    "check_backward_ad": True,
    "check_grad": True,
    **dict.fromkeys(SECOND, False),
    "fast_mode": False,
    "masked": None,
    "grad_outputs": None,
    "gen_non_contig_grad_outputs": False,
}
"""Options of gradcheck, of gradgradcheck and of tests that call both, with their defaults, which ask for nothing."""

INSTEAD = {
    "eps": "the truth is an enclosure, and no difference with a step eps",
    "nondet_tol": "a function that gives other numbers when it is called again is refused",
    "check_undefined_grad": "each custom function is tried with gradients of 0 for its outputs in any case",
    "check_grad_dtypes": "torch itself refuses a gradient of another dtype, or converts it",
    "check_batched_forward_grad": "directions are tried one after the other",
    "check_fwd_over_rev": "second derivatives are taken by a second backward pass",
    "check_rev_over_rev": "second derivatives are taken by a second backward pass",
    "check_backward_ad": "the backward pass is checked in any case",
    "check_grad": "the backward pass is checked in any case",
    "masked": "sparse tensors are refused, so that no entry is left out",
    "gen_non_contig_grad_outputs": "each custom function is tried with a v that is not contiguous in any case",
}
"""What stands in the place of an option that has no meaning here."""


FURTHER = tuple("wrt dtype device random box along prove seed require_all differences claim expect".split())
"""Options that the method `check` has besides."""

OPTIONS = tuple("v rtol atol allow strict budget gradient assume backward_of versus forward order batched".split())
"""Options of `gradcli.check`, but for `k`, which is a name of arguments."""


class GradcheckOptions(NamedTuple):
    """Options of gradcheck, understood.

    Attributes:
        named: Arguments by name that are left for the function.
        options: Options of `check` that were given by their names in gradcheck.
        raises: Whether a check that does not pass raises an error.
        is_fast: Whether one random gradient vector is to stand for all rows of the Jacobian.
        remarks: What stands in the place of options that have no meaning here.
    """

    named: Mapping[str, Argument]
    options: Mapping[str, Argument]
    raises: bool
    is_fast: bool
    remarks: tuple[str, ...]


def understood(named: Mapping[str, Argument], function: Callable[..., object], count: int) -> GradcheckOptions:
    """Read the options of gradcheck among arguments by name; a parameter of the function with that name wins.

    Args:
        named: The arguments by name.
        function: The function.
        count: How many arguments it is given in order.

    >>> understood({"eps": 1e-5, "scale": 2.0}, lambda x, scale: scale * x, 1).remarks
    ('eps=1e-05 is not used: the truth is an enclosure, and no difference with a step eps',)
    """
    known = named.keys() & DEFAULTS.keys()
    return understood_of(named, signature(function, name_of(function), count).kinds if known else {})


def understood_of(named: Mapping[str, Argument], parameters: Collection[str]) -> GradcheckOptions:
    """Read the options of gradcheck among arguments by name, where the names of the function's own are known.

    >>> understood_of({"gradgradcheck": True, "second_order": 1.0}, ["second_order"])[:2]
    ({'second_order': 1.0}, {'order': 2})
    """
    known = named.keys() & DEFAULTS.keys()
    own = {name: one for name, one in named.items() if name in known and name not in parameters}
    asked = {name: one for name, one in own.items() if name in TAKEN or one != DEFAULTS[name]}
    return GradcheckOptions(
        named={name: one for name, one in named.items() if name not in own},
        options={
            TAKEN[name]: (2 if one else 1) if name in SECOND else one
            for name, one in asked.items()
            if name in TAKEN and one is not DEFAULTS[name]
        },
        raises=bool(own.get("raise_exception", True)),
        is_fast=bool(own.get("fast_mode", False)),
        remarks=tuple(
            f"{name}={one} is not used: {INSTEAD[name]}" for name, one in asked.items() if name in INSTEAD
        ),
    )  # fmt: skip


def of_method(
    wanted: GradcheckOptions, function: Callable[..., object], count: int
) -> tuple[GradcheckOptions, Mapping[str, Argument]]:
    """Take the options of the method `check` out of arguments by name; a parameter of the function wins.

    Raises:
        ArgumentError: A name is close to an option, and no parameter.
    """
    parameters = signature(function, name_of(function), count).kinds if wanted.named else {}
    further = {name: one for name, one in wanted.named.items() if name in FURTHER and name not in parameters}
    left = {name: one for name, one in wanted.named.items() if name not in further}
    for name in left:
        meant, known = MEANT.get(name, ""), (*OPTIONS, *FURTHER)
        hint = f"write {meant}=" if meant in known else did_you_mean(name, known)
        if name not in parameters and hint is not None:
            message = f"check has no option '{name}', and {name_of(function)} no parameter of this name"
            raise ArgumentError(message, hint=hint)
    return wanted._replace(named=left), further


def as_arguments(function: Callable[..., object], tensors: Sequence[Argument]) -> Sequence[Argument]:
    """Return the arguments of a function that are given one by one, or as gradcheck has them: as one tuple.

    A tuple or list of plain numbers is a vector where the function takes a single argument.

    Raises:
        InputError: The parameters of the function cannot be known.
    """
    if len(tensors) != 1 or not isinstance(tensors[0], tuple | list) or not tensors[0]:
        return tensors
    [several] = tensors
    if any(isinstance(one, torch.Tensor) for one in several):
        return tuple(several)
    is_tuple = isinstance(several, tuple)
    needed = signature(function, name_of(function), len(several)) if is_tuple else None
    return tuple(several) if needed is not None and len(needed.kinds) - len(needed.optional) > 1 else tensors


def require_function(function: Argument, command: str = "check") -> None:
    """Refuse what is no function of tensors: a text, a class, a tensor.

    Raises:
        UsageError: It is one of these; the hint says what to write.
    """
    if isinstance(function, str):
        hint = f"a text is asked about by gradcli.{command}({function!r}, ...)"
        raise UsageError("a function of Python is wanted here, and this is a text", hint=hint)
    if isinstance(function, type) and issubclass(function, torch.autograd.Function):
        name = function.__qualname__.rpartition("<locals>.")[2]
        raise UsageError(f"{name} is a class, which does not compute by itself", hint=f"write {name}.apply")
    if isinstance(function, type) and issubclass(function, torch.nn.Module):
        name = function.__qualname__.rpartition("<locals>.")[2]
        raise UsageError(f"{name} is a class of modules, and no module", hint=f"make one: {name}(...)")
    if not callable(function):
        kind = type(function).__name__
        raise UsageError(
            f"{command} takes a function, and this is a value of type {kind}", hint="the function comes first"
        )
