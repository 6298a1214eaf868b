"""Calls of ATen on complex numbers, as lines of their real and imaginary parts, which are the last dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.recording.aten_lowering import AtenLowering, Rule, Value


def _fourier(
    a: AtenLowering, self: Value, dim: Sequence[int], normalization: int, sign: int, half: bool = False, size: int = 0
) -> Value:
    """Append a discrete Fourier transform.

    Args:
        a: What appends.
        self: Complex numbers.
        dim: The dimensions.
        normalization: By no number, by the root of the count of the elements, or by the count.
        sign: Of the exponent.
        half: Whether the first half of the last dimension is wanted.
        size: Of the last dimension, where its first half is given and the others are conjugates: the sum is real.
    """
    for one in dim:
        given, is_last = a.shape(self)[one], one == dim[-1]
        count = size if size and is_last else given
        turns = [[k * n for n in range(count // 2 + 1 if half and is_last else count)] for k in range(given)]
        weights = [[1 + (given < count and 0 < 2 * k < count)] for k in range(given)]
        real = f"transpose(r @ c - i @ s, {one}, -1)"
        self = a.text(
            f"w = {weights}/{count}**({normalization}/2); c = w*{_sines(turns, 1, count)}; "
            f"s = {sign}*w*{_sines(turns, 0, count)}; "
            f"r = transpose(x[..., 0], {one}, -1); i = transpose(x[..., 1], {one}, -1); "
            + (real if size and is_last else f"stack([{real}, transpose(r @ s + i @ c, {one}, -1)], -1)"),
            x=self,
        )
    return self


def _sines(turns: Sequence[Sequence[int]], quarters: int, count: int) -> str:
    """The sines of some of `count` parts of a turn, and some quarters more; of half a turn it is 0 in floats too."""
    found = [[(4 * n + quarters * count) % (4 * count) for n in row] for row in turns]
    rows = [[f"sin(pi*{n}/{2 * count})" if n % (2 * count) else "0" for n in row] for row in found]
    listed = [f"[{', '.join(row)}]" for row in rows]
    return f"[{', '.join(listed)}]"


_PRODUCT = "stack([a[..., 0]*b[..., 0] - a[..., 1]*b[..., 1], a[..., 0]*b[..., 1] + a[..., 1]*b[..., 0]], -1)"

_QUOTIENT = f"c = b*[1, -1]/sum(b**2, -1, True); {_PRODUCT.replace('b', 'c')}"

COMPLEX: Mapping[str, Rule] = {
    "clone": lambda a, self, **_: self,
    "_to_copy": lambda a, self, **_: self,
    "add": lambda a, self, other, alpha=1: a.text(f"a + {alpha}*b", a=self, b=other),
    "sub": lambda a, self, other, alpha=1: a.text(f"a - {alpha}*b", a=self, b=other),
    "complex": lambda a, real, imag: a.text("stack([a, b], -1)", a=real, b=imag),
    "polar": lambda a, angle, **given: a.text("stack([a*cos(b), a*sin(b)], -1)", a=given["abs"], b=angle),
    "abs": lambda a, self: a.row("norm", self, 2, -1),
    "angle": lambda a, self: a.text("atan2(a[..., 1], a[..., 0])", a=self),
    "exp": lambda a, self: a.text("r = exp(a[..., 0]); stack([r*cos(a[..., 1]), r*sin(a[..., 1])], -1)", a=self),
    "reciprocal": lambda a, self: a.text("a*[1, -1]/sum(a**2, -1, True)", a=self),
    "div": lambda a, self, other: a.text(_QUOTIENT, a=self, b=other),
    "mul": lambda a, self, other: a.text(_PRODUCT, a=self, b=other),
    "_conj_physical": lambda a, self: a.text("a*[1, -1]", a=self),
    "_fft_c2c": lambda a, forward, **given: _fourier(a, **given, sign=-1 if forward else 1),
    "_fft_r2c": lambda a, onesided, **given: _fourier(a, **given, sign=-1, half=onesided),
    "_fft_c2r": lambda a, last_dim_size, **given: _fourier(a, **given, sign=1, size=last_dim_size),
}
"""By the name of an operation."""


def with_parts(a: AtenLowering, given: Mapping[str, Any], atoms: Mapping[str, Value]) -> dict[str, Value]:
    """Append the two parts of the operands of an operation on complex numbers, which may be numbers of Python."""
    found = dict(atoms)
    for key in ("self", "other"):
        if key in given and not isinstance(given[key], torch.Tensor):
            found[key] = a.row("stack", [complex(given[key]).real, complex(given[key]).imag], -1)
        elif key in given and not given[key].is_complex():
            found[key] = a.text("stack([x, 0*x], -1)", x=atoms[key])
    return found
