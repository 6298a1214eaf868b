"""A function of complex tensors as one of their real and imaginary parts.

Its derivatives by both parts say all that torch's gradient says, which by torch's convention is
∂L/∂Re(z) + i·∂L/∂Im(z) of a real L: a wrong backward of a complex function is wrong by one of the parts.

Source: "Autograd for complex numbers" in the notes of PyTorch; W. Wirtinger, Mathematische Annalen 97 (1927).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradcli.autodiff._torch import torch
from gradcli.parts.running.calling import Called, module_of, name_of, signature, with_parameters
from gradcli.recording.aten_calls import Argument


class RealFunction(NamedTuple):
    """A function of real tensors, with its arguments in order and by name."""

    function: Called
    tensors: Sequence[Argument]
    named: Mapping[str, Argument]


def is_complex(value: Argument) -> bool:
    """Tell whether a value is a tensor of complex numbers."""
    return isinstance(value, torch.Tensor) and value.is_complex()


def by_real_parts(function: Called, tensors: Sequence[Argument], named: Mapping[str, Argument]) -> RealFunction:
    """Replace each complex argument `z` of a function by the arguments `z_real` and `z_imag`.

    Raises:
        InputError: The parameters of the function cannot be known.

    >>> made = by_real_parts(lambda z: z.abs(), [torch.tensor([3 + 4j])], {})
    >>> list(signature(made.function, "abs").kinds), made.function(*made.tensors)
    (['z_real', 'z_imag'], tensor([5.]))
    """
    names = list(signature(function, name_of(function), len(tensors)).kinds)
    given = dict(zip(names, tensors, strict=False))
    parts = _in_parts({**given, **named})
    first = _in_parts(given)

    def of_parts(*args: Argument) -> Argument:
        values = dict(zip(parts, args, strict=True))

        def value(name: str) -> Argument:
            return values[name] if name in values else torch.complex(values[f"{name}_real"], values[f"{name}_imag"])

        return function(*map(value, given), **{name: value(name) for name in named})

    made = with_parameters(of_parts, [*parts], name_of(function), module_of(function))
    return RealFunction(made, list(first.values()), {name: parts[name] for name in parts if name not in first})


def _in_parts(values: Mapping[str, Argument]) -> dict[str, Argument]:
    """Give each complex value by its two parts."""
    found: dict[str, Argument] = {}
    for name, value in values.items():
        parts = {f"{name}_real": value.real, f"{name}_imag": value.imag} if is_complex(value) else {name: value}
        found |= {part: one.contiguous() if isinstance(one, torch.Tensor) else one for part, one in parts.items()}
    return found
