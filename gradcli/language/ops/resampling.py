"""A tensor at other places: resized, sampled along a grid, and channels that become space.

Resizing along a dimension is a product with a matrix of constants, one row for each new element: ones where an old
element is the nearest, hats 1 - |s - j| where two are weighed, cubics where four are, at the place s of the new element
among the old.  Sampling along a grid weighs by the same hats of the grid's numbers (M. Jaderberg et al., "Spatial
Transformer Networks", 2015).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.convolutions import Constants, shaped, sizes_of
from gradcli.language.ops.pooling import regions
from gradcli.language.ops.row import Kind, Op, Shapes, row


def _op(signature: str, doc: str, meaning: str, example: str, **facts: Any) -> Op:
    name = signature.partition("(")[0].partition("|")[0]
    return row(
        signature,
        doc,
        meaning,
        **{"torch": f"nn.functional.{name}", "kind": Kind.DEFINED, "of_shapes": True, "example": example, **facts},
    )


# -- channels and space


def _require(name: str, x: tuple[int, ...], least: int, *, divides: tuple[int, int] = (1, 1)) -> None:
    if len(x) < least:
        raise ShapeError(f"{name} takes {least} dimensions or more, and the shape is {x}")
    if divides[0] < 1 or divides[1] % divides[0]:
        raise ShapeError(f"{name} parts {divides[1]} by {divides[0]}, and the shape is {x}")


def _shuffled(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x, r = shapes[0], constants["upscale_factor"]
    _require("pixel_shuffle", x, 3, divides=(r * r, x[-3] if len(x) > 2 else 1))
    *lead, channels, height, width = x
    n = len(lead)
    parted = shaped("input", (*lead, channels // r**2, r, r, height, width))
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return shaped(f"permute({parted}, {order})", (*lead, channels // r**2, height * r, width * r))


def _unshuffled(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x, r = shapes[0], constants["downscale_factor"]
    _require("pixel_unshuffle", x, 3, divides=(r, x[-2] if len(x) > 2 else 1))
    _require("pixel_unshuffle", x, 3, divides=(r, x[-1]))
    *lead, channels, height, width = x
    n = len(lead)
    parted = shaped("input", (*lead, channels, height // r, r, width // r, r))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return shaped(f"permute({parted}, {order})", (*lead, channels * r**2, height // r, width // r))


def _dealt(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x, groups = shapes[0], constants["groups"]
    _require("channel_shuffle", x, 3, divides=(groups, x[1] if len(x) > 1 else 1))
    parted = shaped("input", (x[0], groups, x[1] // groups, *x[2:]))
    return shaped(f"transpose({parted}, 1, 2)", x)


# -- resizing

_MODES = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
_CUBIC = ("(-3*{x}**3 + 15*{x}**2 - 24*{x} + 12)/4", "(5*{x}**3 - 9*{x}**2 + 4)/4")
"""The cubic of torch, of slope -3/4 at 1, from 1 to 2 and from 0 to 1."""


def _interpolated(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x, mode = shapes[0], constants["mode"]
    count = len(x) - 2
    if count not in (1, 2, 3) or _MODES.get(mode, count) != count:
        raise ShapeError(f"interpolate takes (samples, channels, ...) that fits mode='{mode}', and the shape is {x}")
    is_aligned = bool(constants["align_corners"])
    if constants["align_corners"] is not None and mode not in _MODES:
        raise InputError(f"interpolate takes align_corners with {', '.join(_MODES)} only, and mode is '{mode}'")
    if (constants["size"] is None) == (constants["scale_factor"] is None):
        raise InputError("interpolate takes either a size or a scale_factor")
    steps = ["a = input"]
    for n, (old, new, ratio) in enumerate(_scales(constants, x[2:])):
        axis = n - count
        if mode == "area":
            steps.append(f"a = {regions('a', axis + len(x), old, new, 'mean')}")
        elif mode.startswith("nearest"):
            steps.append(f"a = {_nearest(len(x), axis, old, new, ratio, is_exact=mode != 'nearest')}")
        else:
            steps += _weights(mode, old, new, ratio, is_aligned=is_aligned)
            steps.append(f"a = {_along(axis)}")
    return "; ".join([*steps, "a"])


def _scales(constants: Constants, space: tuple[int, ...]) -> list[tuple[int, int, Fraction]]:
    """Of each dimension the old and the new size, and how far apart new elements lie among the old."""
    if constants["size"] is not None:
        sizes = sizes_of("interpolate", "size", constants["size"], len(space))
        if min(sizes) < 1:
            raise ShapeError("interpolate takes a size from 1 on")
        return [(old, new, Fraction(old, new)) for old, new in zip(space, sizes, strict=True)]
    factors = sizes_of("interpolate", "scale_factor", constants["scale_factor"], len(space))
    if any(int(old * factor) < 1 for old, factor in zip(space, factors, strict=True)):
        raise ShapeError("interpolate takes a scale_factor that leaves an element")
    exact = [Fraction(factor).limit_denominator(10**6) for factor in factors]
    return [(old, int(old * f), 1 / e) for old, f, e in zip(space, factors, exact, strict=True)]


def _nearest(rank: int, axis: int, old: int, new: int, ratio: Fraction, *, is_exact: bool) -> str:
    half = Fraction(1, 2) if is_exact else Fraction(0)
    places = [min(int((n + half) * ratio), old - 1) for n in range(new)]
    at = rank + axis
    if new % old == 0 and places == [n // (new // old) for n in range(new)]:  # each element several times in a row
        key = ", ".join([*[":"] * (at + 1), "None", *[":"] * (rank - at - 1)])
        sizes = ", ".join([*["-1"] * (at + 1), str(new // old), *["-1"] * (rank - at - 1)])
        return f"flatten(expand(a[{key}], {sizes}), {at}, {at + 1})"
    parts = [f"a[{':, ' * at}{place}]" for place in places]
    return f"stack([{', '.join(parts)}], {at})"


def _weights(mode: str, old: int, new: int, ratio: Fraction, *, is_aligned: bool) -> list[str]:
    """The statements that make the matrix w of one dimension."""
    if is_aligned:
        place = f"arange({new})*{Fraction(old - 1, max(new - 1, 1))}"
    else:
        place = f"(arange({new}) + 1/2)*{ratio} - 1/2"
    if mode != "bicubic":
        return [f"w = maximum(1 - abs(clamp({place}, 0, {old - 1})[:, None] - arange({old})), 0)"]
    steps = [f"s = {place}", "f = floor(s)"]
    terms = []
    for at in (-1, 0, 1, 2):
        cubic = _CUBIC[at in (0, 1)].replace("{x}", f"abs(s - f - {at})" if at >= 0 else "(s - f + 1)")
        terms.append(f"({cubic})[:, None]*where(clamp(f + {at}, 0, {old - 1})[:, None] == arange({old}), 1, 0)")
    return [*steps, f"w = {' + '.join(terms)}"]


def _along(axis: int) -> str:
    """The product of the matrix w with one of the last dimensions of a."""
    if axis == -1:
        return "a @ transpose(w)"
    return "w @ a" if axis == -2 else "transpose(w @ transpose(a, -3, -2), -3, -2)"


# -- sampling along a grid


def _sampled(constants: Constants, shapes: Shapes) -> str:
    if not shapes:
        return ""
    x, grid = shapes
    count = len(x) - 2
    if count not in (2, 3) or len(grid) != len(x) or grid[-1] != count or grid[0] != x[0]:
        raise ShapeError(
            f"grid_sample takes (samples, channels, height, width) and a grid (samples, height, width, 2), "
            f"and the shapes are {x} and {grid}"
        )
    steps = []
    letters, places = "hwd"[:count], "pqr"[:count]
    for n, (letter, size) in enumerate(zip(letters, x[2:], strict=True)):
        # the grid names the last dimension first
        place = _place(f"grid[..., {count - 1 - n}]", size, constants, is_aligned=bool(constants["align_corners"]))
        steps += [f"s = {place}", f"{letter} = {_hat(size, constants['mode'])}"]
    words = ",".join(f"n{places}{letter}" for letter in letters)
    equation = f"nc{letters},{words}->nc{places}"
    return "; ".join([*steps, f"einsum('{equation}', input, {', '.join(letters)})"])


def _place(at: str, size: int, constants: Constants, *, is_aligned: bool) -> str:
    """Where -1 to 1 is among the elements: from the first to the last, or from edge to edge."""
    found = f"({at} + 1)*{size - 1}/2" if is_aligned else f"(({at} + 1)*{size} - 1)/2"
    low, span = (0, size - 1) if is_aligned else (Fraction(-1, 2), size)
    if constants["padding_mode"] == "reflection":
        off = f"abs({found} - ({low}))"
        turned = f"remainder({off}, {span})"
        found = f"where(remainder(floor({off}/{span}), 2) == 0, {turned} + ({low}), {span} - {turned} + ({low}))"
        found = found if span else "0*" + at
    return found if constants["padding_mode"] == "zeros" else f"clamp({found}, 0, {size - 1})"


def _hat(size: int, mode: str) -> str:
    if mode == "nearest":
        return f"where(round(s)[..., None] == arange({size}), 1, 0)"
    return f"maximum(1 - abs(s[..., None] - arange({size})), 0)"


RESAMPLING = (
    _op(
        "pixel_shuffle(input, upscale_factor=)",
        "channels as space: each of r*r channels one element of a square of r by r",
        "reshape(permute(reshape(input)))",
        "pixel_shuffle(x, 2) at x=[[[1]],[[2]],[[3]],[[4]]]",
        written=_shuffled,
    ),
    _op(
        "pixel_unshuffle(input, downscale_factor=)",
        "space as channels: each element of a square of r by r in a channel of its own",
        "reshape(permute(reshape(input)))",
        "pixel_unshuffle(x, 2) at x=[[[1,2],[3,4]]]",
        written=_unshuffled,
    ),
    _op(
        "channel_shuffle(input, groups=)",
        "the channels of groups dealt in turn",
        "reshape(transpose(reshape(input)))",
        "channel_shuffle(x, 2) at x=[[[1],[2],[3],[4]]]",
        written=_dealt,
        torch="channel_shuffle",
    ),
    _op(
        "interpolate|upsample(input, size=None, scale_factor=None, mode=nearest, align_corners=None)",
        "resized along the dimensions behind the first two",
        "the product with the weights of each dimension",
        "interpolate(x, scale_factor=2, mode='linear') at x=[[[1,3]]]",
        written=_interpolated,
    ),
    _op(
        "upsample_nearest(input, size=None, scale_factor=None)",
        "interpolate of mode='nearest'",
        "interpolate(input, mode='nearest')",
        "upsample_nearest(x, 4) at x=[[[1,3]]]",
        written=lambda constants, shapes: _interpolated(
            {**constants, "mode": "nearest", "align_corners": None}, shapes
        ),
    ),
    _op(
        "upsample_bilinear(input, size=None, scale_factor=None)",
        "interpolate of mode='bilinear' with align_corners=True",
        "interpolate(input, mode='bilinear', align_corners=True)",
        "upsample_bilinear(x, 3) at x=[[[[1,3],[2,5]]]]",
        written=lambda constants, shapes: _interpolated(
            {**constants, "mode": "bilinear", "align_corners": True}, shapes
        ),
    ),
    _op(
        "grid_sample(input, grid, mode=bilinear, padding_mode=zeros, align_corners=None)",
        "the input at the places of a grid, from -1 to 1 in each direction",
        "sum over i, j of input[i, j]*maximum(0, 1 - |y - i|)*maximum(0, 1 - |x - j|)",
        "grid_sample(x, g) at x=[[[[1,3],[2,5]]]] g=[[[[0.1,0.3]]]]",
        written=_sampled,
        caveat="a kink where a place is exactly on a row or a column",
    ),
)
