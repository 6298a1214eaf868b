"""Rules for calls of ATen whose row has another name or other arguments, or that several rows make up."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.errors import InputError
from gradcli.language.program.movement import Slice
from gradcli.language.program.positions import Positions, added, indexed, is_listed, taken_shape
from gradcli.language.program.wengert import Atom, show
from gradcli.recording.aten_calls import Argument, Overload, name_of
from gradcli.recording.aten_lowering import AtenLowering, Lowered, Rule

_ALL = Slice(None, None)


def _each(names: str, rule: Rule) -> dict[str, Rule]:
    """Read several operations by one rule."""
    return dict.fromkeys(names.split(), rule)


# -- arithmetic


def _div(a: AtenLowering, self: Lowered, other: Lowered, rounding_mode: str | None = None) -> Lowered:
    found = a.row("div", self, other)
    return found if rounding_mode is None else a.row(rounding_mode, found)


def _reflected_difference(a: AtenLowering, self: Lowered, other: Lowered, alpha: Lowered = 1) -> Lowered:
    """Write `1 - x`, which torch calls `rsub(x, 1)`, as it was written."""
    return a.row("sub", other, self) if alpha == 1 else a.row("rsub", self, other, alpha)


def _clamp(a: AtenLowering, *, self: Lowered, **bounds: Lowered) -> Lowered:
    given = {name: value for name, value in bounds.items() if value is not None}
    return a.row("clamp" if len(given) == 2 else f"clamp_{next(iter(given))}", self, **given)


# -- conditions


def _truth(a: AtenLowering, atom: Lowered) -> Lowered:
    return atom if a.is_condition(atom) else a.emit("ne", [atom, 0])


def _logical(row: str, a: AtenLowering, **given: Lowered) -> Lowered:
    return a.row(row, *(_truth(a, one) for one in given.values()))


def _xor(a: AtenLowering, self: Lowered, other: Lowered) -> Lowered:
    return a.emit("ne", [a.number(_truth(a, self)), a.number(_truth(a, other))])


def _joined(row: str, a: AtenLowering, self: Lowered, dim: Argument = None, keepdim: bool = False) -> Atom:
    """Fold conditions over dimensions, one half with the other: where one decides, the others are not asked."""
    shape, found = a.shape(self), _truth(a, self)
    dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    for one in sorted((n % max(len(shape), 1) for n in dims), reverse=True):
        if not a.shape(found)[one]:  # no conditions: all of them hold, and none does
            left = tuple(size for n, size in enumerate(a.shape(found)) if n != one)
            found = _truth(a, a.row("full", left, int(row == "logical_and")))
        else:
            while (size := a.shape(found)[one]) > 1:
                half = (size + 1) // 2  # of an odd number, both halves have the one in the middle
                found = a.row(row, *(_slice(a, found, one, *ends) for ends in ((0, half), (size - half, size))))
            found = _select(a, found, one, 0)
        found = a.row("unsqueeze", found, one) if keepdim else found
    return found


def _heaviside(a: AtenLowering, self: Lowered, values: Lowered) -> Lowered:
    """Write the step as choices, which pass on the derivative by the values at 0."""
    return a.text("where(x == 0, v, where(x < 0, 0, 1))", x=self, v=values)


def _copied(a: AtenLowering, self: Lowered, dtype: object = None, **_: object) -> Lowered:
    """Take a condition as 1 and 0 where the copy is of numbers, and numbers as conditions where it is of truths."""
    if dtype is torch.bool:
        return _truth(a, self)
    return a.number(self) if dtype else self


# -- the same elements, elsewhere


def _select(a: AtenLowering, self: Lowered, dim: int, index: int | Slice) -> Lowered:
    return a.emit("index", [self], ((_ALL,) * (dim % len(a.shape(self))) + (index,),))


def _slice(
    a: AtenLowering,
    self: Lowered,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Lowered:
    size = a.shape(self)[dim]
    first, last, by = slice(start, end, step).indices(size)
    if (first, last, by) == (0, size, 1):
        return self
    return _select(a, self, dim, Slice(first or None, None if last == size else last, by))


def _split(a: AtenLowering, self: Lowered, dim: int = 0, **sizes: Argument) -> Argument:
    """Write pieces as slices."""
    (given,), whole = sizes.values(), a.shape(self)[dim]
    each = [min(given, whole - at) for at in range(0, whole, given)] if isinstance(given, int) else given
    ends = itertools.accumulate(each, initial=0)
    return [_slice(a, self, dim, first, last) for first, last in itertools.pairwise(ends)]


def _padded(a: AtenLowering, self: Lowered, pad: Argument, mode: str = "constant", value: object = 0) -> Argument:
    if mode != "constant" or not any(pad):
        return NotImplemented if any(pad) else self
    return a.row("pad", self, pad, "constant", value or 0)


def _roll(a: AtenLowering, self: Lowered, shifts: object, dims: object = ()) -> Lowered:
    """Shift along dimensions, or without any the elements in their order."""
    if dims:
        return a.row("roll", self, shifts, dims)
    return a.row("reshape", a.row("roll", a.row("reshape", self, (-1,)), shifts, (0,)), a.shape(self))


# -- at positions

INDEXED = frozenset("index _unsafe_index index_put index_put_ _index_put_impl_ _unsafe_index_put".split())
"""Operations whose positions are taken as plain numbers, unless they are arguments of the function."""


def _index(a: AtenLowering, self: Lowered, indices: Sequence[object]) -> Lowered:
    found, operands = _positions(a, indices)
    items = [found.get(n, _ALL) for n in range(len(indices))]
    return a.text(indexed("x", a.shape(self), items), x=self, **operands)


def _positions(a: AtenLowering, indices: Sequence[object]) -> tuple[dict[int, Positions], dict[str, Atom]]:
    """Give the positions by dimension, and the values that their names stand for."""
    found, operands = dict[int, Positions](), dict[str, Atom]()
    for n, one in enumerate(indices):
        if isinstance(one, np.ndarray):
            name = "" if is_listed(one) else f"i{n}"
            found[n] = Positions(name, one.shape, one)
            if name:
                operands[name] = a.constant(one)
        elif one is not None:
            found[n], operands[f"i{n}"] = Positions(f"i{n}", a.shape(one), None), one
    return found, operands


def _index_put(
    a: AtenLowering,
    self: Lowered,
    indices: Sequence[Argument],
    values: Lowered,
    accumulate: bool = False,
    **_: object,
) -> Lowered:
    shape = a.shape(self)
    if accumulate:
        found, operands = _positions(a, indices)
        source = a.expanded(values, taken_shape(shape, found))
        return a.text(added("x", "v", shape, found), x=self, v=source, **operands)
    if not all(one is None or isinstance(one, np.ndarray) for one in indices):
        return NotImplemented
    key = tuple(slice(None) if one is None else one.astype(np.intp) for one in indices)
    taken = np.arange(math.prod(shape)).reshape(shape)[key]
    places = np.full(math.prod(shape), -1)
    places[taken.ravel()] = range(taken.size)
    return a.merged(a.expanded(values, taken.shape), self, places.tolist(), shape) if places.size else self


# -- networks and matrices


def _embedding(a: AtenLowering, weight: Lowered, indices: Lowered, padding_idx: int = -1, **_: Lowered) -> Lowered:
    return a.row("embedding", indices, weight, padding_idx=padding_idx if padding_idx >= 0 else None)


def _bce(
    a: AtenLowering,
    self: Lowered,
    target: Lowered,
    weight: Lowered = None,
    pos_weight: Lowered = None,
    reduction: int = 1,
) -> Lowered:
    """Take the row without or with a weight for each class; those for each target are decomposed."""
    if weight is not None:
        return NotImplemented
    name = "weighted_" * (pos_weight is not None) + "binary_cross_entropy_with_logits"
    return a.row(name, self, target, pos_weight=pos_weight, reduction=reduction)


def _batch_norm(a: AtenLowering, *, training: bool = False, **given: Lowered) -> Lowered:
    kept = {name: one for name, one in given.items() if not (training and name.startswith("running"))}
    return a.row("batch_norm", training=training, **kept)


def _group_norm(
    a: AtenLowering,
    *,
    weight: Lowered,
    bias: Lowered,
    N: int,
    group: int,
    eps: float,
    **given: Lowered,
) -> Lowered:
    """Give the means and the inverse deviations of the groups too."""
    parts = a.row("reshape", given["input"], (N, group, -1))
    rstd = a.text(f"1/sqrt(var(x, -1, correction=0) + {eps})", x=parts)
    return [a.row("group_norm", given["input"], group, weight, bias, eps), a.row("mean", parts, -1), rstd]


def _convolution(a: AtenLowering, *, transposed: bool = False, **given: Lowered) -> Lowered:
    return a.row(f"conv{'_transpose' * transposed}{len(a.shape(given['weight'])) - 2}d", **given)


def _solve(a: AtenLowering, *, A: Lowered, B: Lowered, left: bool = True, **_: Lowered) -> Lowered:
    return a.row("solve", A, B) if left and len(a.shape(A)) == 2 else NotImplemented


def _cholesky(a: AtenLowering, self: Lowered, upper: bool = False, **_: Lowered) -> Lowered:
    return a.row("cholesky", self, upper) if len(a.shape(self)) == 2 else NotImplemented


def _unfold(a: AtenLowering, self: Lowered, **how: int) -> Lowered:
    return a.row("windows", self if a.shape(self) else a.row("reshape", self, (1,)), *how.values())


def _eigh(a: AtenLowering, *, A: Lowered, compute_v: bool = True, **_: Lowered) -> Lowered:
    return [a.row("eigvalsh", A), a.row("eigenvectors", A) if compute_v else None]


def _slogdet(a: AtenLowering, A: Lowered) -> Lowered:
    det = a.row("det", A)
    return [a.row("sign", det), a.row("log", a.row("abs", det))]


def _svd(a: AtenLowering, *, A: Lowered, full_matrices: bool = False, compute_uv: bool = True, **_: Lowered) -> Lowered:
    shape = a.shape(A)
    if compute_uv and full_matrices and shape[-1] != shape[-2]:
        message = f"of a matrix of shape {show(shape)} the vectors beyond its rank are not determined"
        raise InputError(message, hint="write full_matrices=False")
    left, right = (a.row(f"{side}_singular_vectors", A) if compute_uv else None for side in ("left", "right"))
    return [left, a.row("svdvals", A), None if right is None else a.row("transpose", right, -2, -1)]


_NORMS = "native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_impl_index"


RULES: Mapping[str, Rule] = {
    **_each("view.default _unsafe_view", "reshape"),
    "sort": "sorted",
    "linalg_inv_ex": "inv",
    "linalg_cholesky_ex": _cholesky,
    "linalg_pinv": "pinv",
    "embedding": _embedding,
    "binary_cross_entropy_with_logits": _bce,
    "max_pool2d_with_indices": "max_pool2d",
    "max_pool3d_with_indices": "max_pool3d",
    **_each("nll_loss_forward nll_loss2d_forward nll_loss nll_loss2d", "nll_loss"),
    **_each("div.Tensor_mode div.Scalar_mode", _div),
    "clamp": _clamp,
    "rsub": _reflected_difference,
    **_each("bitwise_and logical_and", functools.partial(_logical, "logical_and")),
    **_each("bitwise_or logical_or", functools.partial(_logical, "logical_or")),
    **_each("bitwise_not logical_not", functools.partial(_logical, "logical_not")),
    **_each("bitwise_xor logical_xor", _xor),
    **_each("any _is_any_true", functools.partial(_joined, "logical_or")),
    **_each("all _is_all_true", functools.partial(_joined, "logical_and")),
    "where": lambda a, condition, self, other: a.row("where", _truth(a, condition), self, other),
    **_each("clone contiguous _to_copy positive", _copied),
    "heaviside": _heaviside,
    "expand": lambda a, self, size, **_: a.expanded(self, size),
    "t": lambda a, self: a.row("transpose", self, 0, 1) if len(a.shape(self)) == 2 else self,
    "roll": _roll,
    "select": _select,
    "slice": _slice,
    **_each("split split_with_sizes", _split),
    **_each("constant_pad_nd pad", _padded),
    **_each("index _unsafe_index", _index),
    **_each("index_put _index_put_impl _unsafe_index_put", _index_put),
    **_each(_NORMS, _batch_norm),
    "_batch_norm_with_update": functools.partial(_batch_norm, training=True),
    "native_group_norm": _group_norm,
    "convolution": _convolution,
    "_linalg_solve_ex": _solve,
    **_each("linalg_solve linalg_solve_ex triangular_solve", lambda *_, **__: NotImplemented),  # made of other calls
    "unfold": _unfold,
    "_linalg_eigh": _eigh,
    "_linalg_slogdet": _slogdet,
    "_linalg_svd": _svd,
}
"""Rules by the name of an operation, or by its name and overload."""


# -- complex numbers: their real and imaginary parts are the last dimension


def _fourier(
    a: AtenLowering,
    self: Lowered,
    dim: Sequence[int],
    normalization: int,
    sign: int,
    half: bool = False,
    size: int = 0,
) -> Lowered:
    """Append a discrete Fourier transform.

    Args:
        a: The builder of the lines.
        self: Complex numbers.
        dim: The dimensions to transform.
        normalization: 0 to divide by nothing, 1 by the root of the count of the elements, 2 by the count.
        sign: Sign of the exponent.
        half: Whether only the first half of the last dimension is wanted.
        size: Size of the last dimension if only its first half is given, as the others are conjugates and the sum real.
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
    """Write sin(2*pi*(n/count + quarters/4)) for each number of turns n; at multiples of half a turn, exactly 0."""
    found = [[(4 * n + quarters * count) % (4 * count) for n in row] for row in turns]
    rows = [[f"sin(pi*{n}/{2 * count})" if n % (2 * count) else "0" for n in row] for row in found]
    listed = [f"[{', '.join(row)}]" for row in rows]
    return f"[{', '.join(listed)}]"


def _power(a: AtenLowering, self: Lowered, exponent: Lowered) -> Lowered:
    """Multiply for a whole exponent from 1 on."""
    if not (isinstance(exponent, int | float) and exponent == int(exponent) and 1 <= exponent <= _MOST_FACTORS):
        return NotImplemented
    return functools.reduce(lambda x, y: a.text(_PRODUCT, a=x, b=y), [self] * int(exponent))


def _product(a: AtenLowering, self: Lowered, mat2: Lowered) -> Lowered:
    """Append a product of complex matrices, by their real and imaginary parts."""
    return a.text(
        "r = a[..., 0]; i = a[..., 1]; s = b[..., 0]; j = b[..., 1]; stack([r @ s - i @ j, r @ j + i @ s], -1)",
        a=self,
        b=mat2,
    )


_MOST_FACTORS = 16
"""Largest exponent of a power of complex numbers that is written out."""

_PRODUCT = "stack([a[..., 0]*b[..., 0] - a[..., 1]*b[..., 1], a[..., 0]*b[..., 1] + a[..., 1]*b[..., 0]], -1)"

_QUOTIENT = f"c = b*[1, -1]/sum(b**2, -1, True); {_PRODUCT.replace('b', 'c')}"

COMPLEX: Mapping[str, Rule] = {
    "clone": lambda a, self, **_: self,
    "_to_copy": lambda a, self, **_: self,
    "add": lambda a, self, other, alpha=1: a.text(f"a + {alpha}*b", a=self, b=other),
    "sub": lambda a, self, other, alpha=1: a.text(f"a - {alpha}*b", a=self, b=other),
    "complex": lambda a, real, imag: a.text("stack([a, b], -1)", a=real, b=imag),
    "polar": lambda a, angle, **given: a.text("stack([a*cos(b), a*sin(b)], -1)", a=given["abs"], b=angle),
    "pow": _power,
    **_each("mm bmm", _product),
    "abs": lambda a, self: a.row("norm", self, 2, -1),
    "angle": lambda a, self: a.text("atan2(a[..., 1], a[..., 0])", a=self),
    "log": lambda a, self: a.text("stack([log(norm(a, 2, -1)), atan2(a[..., 1], a[..., 0])], -1)", a=self),
    "sqrt": lambda a, self: a.text(
        "r = sqrt(norm(a, 2, -1)); t = atan2(a[..., 1], a[..., 0])/2; stack([r*cos(t), r*sin(t)], -1)", a=self
    ),
    "exp": lambda a, self: a.text("r = exp(a[..., 0]); stack([r*cos(a[..., 1]), r*sin(a[..., 1])], -1)", a=self),
    "reciprocal": lambda a, self: a.text("a*[1, -1]/sum(a**2, -1, True)", a=self),
    "div": lambda a, self, other: a.text(_QUOTIENT, a=self, b=other),
    "mul": lambda a, self, other: a.text(_PRODUCT, a=self, b=other),
    **_each("conj_physical _conj_physical", lambda a, self: a.text("a*[1, -1]", a=self)),
    "_fft_c2c": lambda a, forward, **given: _fourier(a, **given, sign=-1 if forward else 1),
    "_fft_r2c": lambda a, onesided, **given: _fourier(a, **given, sign=-1, half=onesided),
    "_fft_c2r": lambda a, last_dim_size, **given: _fourier(a, **given, sign=1, size=last_dim_size),
}
"""Rules for complex numbers, by the name of an operation."""


_PARTWISE = frozenset(
    "sum mean cumsum neg where cat index roll index_select constant_pad_nd tril triu repeat diagonal trace flip".split()
)
"""Operations that do to the real parts, and to the imaginary parts, what they do to real numbers."""


def complex_call(
    a: AtenLowering, function: Overload, given: Mapping[str, object], atoms: Mapping[str, Lowered]
) -> Lowered:
    """Append a call on complex numbers.

    Args:
        a: The builder of the lines.
        function: An operation that changes none of its arguments.
        given: Its arguments by name.
        atoms: The same with atoms in place of tensors.

    Returns:
        An atom, or a list of atoms; `NotImplemented` if there is no rule.
    """
    if name_of(function) not in _PARTWISE:
        return a.call(function, _with_parts(a, given, atoms), COMPLEX)
    parts = [{key: _part(a, key, one, atoms[key], n) for key, one in given.items()} for n in range(2)]
    found = [a.call(function, part) for part in parts]
    return found[0] if NotImplemented in found else a.row("stack", found, -1)


def _part(a: AtenLowering, key: str, given: object, atom: Lowered, n: int) -> Lowered:
    """Give the real (0) or imaginary part (1) of an argument."""
    if isinstance(given, list | tuple):
        return [_part(a, key, one, inner, n) for one, inner in zip(given, atom, strict=True)]
    if isinstance(given, torch.Tensor) and given.is_complex():
        return a.text(f"x[..., {n}]", x=atom)
    if isinstance(given, complex):
        return given.imag if n else given.real
    is_real = n and key in ("self", "other", "tensors") and isinstance(given, torch.Tensor | int | float)
    return a.row("mul", 0, atom) if is_real else atom


def _with_parts(a: AtenLowering, given: Mapping[str, Argument], atoms: Mapping[str, Lowered]) -> dict[str, Lowered]:
    """Append the two parts of the operands of a complex operation, also of real ones and of numbers of Python."""
    found = dict(atoms)
    for key in ("self", "other"):
        if key in given and not isinstance(given[key], torch.Tensor):
            found[key] = a.row("stack", [complex(given[key]).real, complex(given[key]).imag], -1)
        elif key in given and not given[key].is_complex():
            found[key] = a.text("stack([x, 0*x], -1)", x=atoms[key])
    return found
