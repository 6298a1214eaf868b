"""Random numbers that a call draws by the values of tensors: what they are in terms of these.

What is drawn is a constant.  Torch gives it the gradient 0, but for a gamma and a Dirichlet distribution, whose draws
have an implicit gradient: by it the distribution moves as it should, and a single draw does not.

    dz/da  =  -(∂F/∂a)(z; a) / (∂F/∂z)(z; a),  where F is the cumulative distribution function

Source: M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", 2018.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.language.program.wengert import Atom
from gradcli.recording.aten_calls import Argument, can_be_recorded, copied
from gradcli.recording.call_recorder import CallRecorder

_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "normal": ("mean", "std"),
    **dict.fromkeys("bernoulli poisson _standard_gamma _sample_dirichlet native_dropout".split(), ("self", "input")),
    "rrelu_with_noise": ("self",),
    "binomial": ("count", "prob"),
}
"""Arguments of an operation, by whose values it draws or which it mixes with random numbers."""

FOLLOWED = ("native_dropout", "rrelu_with_noise")
"""Operations whose result autograd follows as a function of their arguments, with the random numbers as constants."""

_IMPLICIT = ("_standard_gamma", "_sample_dirichlet")
"""Operations whose draws have an implicit gradient in torch."""


def recorded(
    recorder: CallRecorder, name: str, given: Mapping[str, object], changed: Sequence[Tensor]
) -> Generator[None, Any, None]:
    """Record a call that draws random numbers, which are constants, or follow from the values that they are drawn by.

    Torch's gradient by these is 0: a draw that is known in terms of them is held constant, others get a term of 0.

    Args:
        recorder: The recorder, which sends the result of the call.
        name: Name of the operation.
        given: Its arguments by name.
        changed: The tensors that it writes to.
    """
    place, lines = recorder.places.find(), recorder.lines
    by = [recorder.operand(one, place) for one in _parameters(name, given) if recorder.is_known(one)]
    found = yield
    recorder._note_constants(found, *changed)
    output = found[0] if isinstance(found, tuple) else found
    if not by or recorder._is_untracked(place) or not can_be_recorded(output):
        return
    with recorder.paused():
        numbers = _numbers(name, given, found)
    recorder._note_constants(numbers)
    with recorder.recording_nested():
        mixed = _mixed(name, given, numbers)
    result = recorder._value(numbers if mixed is None else mixed, place)

    def with_no_slope(atom: Atom, parameter: Atom) -> Atom:
        zero: Atom = lines.row("mul", 0, lines.row("sum", parameter))
        return lines.row("add", atom, zero)

    if name not in FOLLOWED:
        result = functools.reduce(
            with_no_slope, by, result if mixed is None else recorder._hold_constant(result, place)
        )
    if name in _IMPLICIT:
        recorder.decisions.implicit[result] = f"{name} draws{place}"
    recorder._note_result(output, result, by, place)


def _parameters(name: str, given: Mapping[str, object]) -> list[Tensor]:
    """List the tensors by whose values a call draws.

    >>> _parameters("normal", {"mean": torch.zeros(2), "std": 1.0})
    [tensor([0., 0.])]
    """
    found = [given.get(one) for one in _PARAMETERS.get(name, ())]
    return [one for one in found if isinstance(one, torch.Tensor)]


def _numbers(name: str, given: Mapping[str, Argument], found: Argument) -> Tensor:
    """Give the random numbers of a call apart from its arguments, or its result where that is all that is known.

    Args:
        name: Name of the operation.
        given: Its arguments by name, after the call.
        found: What the call gave.
    """
    drawn: Tensor
    match name:
        case "normal":
            drawn = (found - given["mean"]) / given["std"]
        case "native_dropout":
            share = 1 - given["p"] if given["train"] is not False else 1.0
            drawn = found[1].to(found[0].dtype) / (share or 1.0)
        case "rrelu_with_noise":
            slopes = given["noise"] if given["training"] else (given["lower"] + given["upper"]) / 2
            drawn = torch.where(given["self"] <= 0, slopes, 1.0)
        case _:
            drawn = copied(found)
    return drawn


def _mixed(name: str, given: Mapping[str, Argument], numbers: Tensor) -> Tensor | None:
    """Compute the result of a call again, of its arguments and its random numbers; None where it is these alone."""
    mixed: Tensor | None = None
    match name:
        case "normal":
            mixed = given["mean"] + given["std"] * numbers
        case "native_dropout":
            mixed = given["input"] * numbers
        case "rrelu_with_noise":
            mixed = torch.where(given["self"] <= 0, given["self"] * numbers, given["self"])
    return mixed
