"""Calls of ATen whose row has another name or other arguments, and those that a few rows make up."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.errors import InputError
from gradcli.language.lower.at_positions import Positions, indexed, put, sizes
from gradcli.language.program.movement import Slice
from gradcli.language.program.wengert import Atom, show
from gradcli.recording.aten_lowering import AtenLowering, Rule, Value

RULES: dict[str, Rule] = {}
"""By the name of an operation, or with that of its overload."""

_ALL = Slice(None, None)

_REDUCTIONS = ("none", "mean", "sum")
"""Of a loss, by torch's number."""


def _rule(names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names.split(), rule))
        return rule

    return register


def _is_row(names: str, row: str, parameters: str, *, parts: int = 1) -> None:
    """Read operations as a row.

    Args:
        names: Of the operations.
        row: Its name.
        parameters: Their arguments in the order of the row's.
        parts: How many tensors they give, of which the row is the first.
    """

    def rule(a: AtenLowering, **given: Value) -> Any:
        found = a.row(row, *(given[one] for one in parameters.split()))
        return found if parts == 1 else [found, *[None] * (parts - 1)]

    RULES.update(dict.fromkeys(names.split(), rule))


_is_row("view.default _unsafe_view _reshape_alias view_copy", "reshape", "self size")
_is_row("max.dim", "amax", "self dim keepdim", parts=2)
_is_row("min.dim", "amin", "self dim keepdim", parts=2)
_is_row("max.default", "amax", "self")
_is_row("min.default", "amin", "self")
_is_row("sort", "sorted", "self dim descending", parts=2)
_is_row("linalg_inv_ex", "inv", "A", parts=2)
_is_row("_linalg_det", "det", "A", parts=3)
_is_row("linalg_cholesky_ex", "cholesky", "self upper", parts=2)
_is_row("linalg_pinv", "pinv", "self")
_is_row("embedding", "embedding", "indices weight")
_is_row("native_layer_norm", "layer_norm", "input normalized_shape weight bias eps", parts=3)
_is_row("native_group_norm", "group_norm", "input group weight bias eps", parts=3)
_is_row("max_pool2d_with_indices", "max_pool2d", "self kernel_size stride padding dilation ceil_mode", parts=2)
_is_row("max_pool3d_with_indices", "max_pool3d", "self kernel_size stride padding dilation ceil_mode", parts=2)
_is_row("_cdist_forward", "cdist", "x1 x2 p")
_is_row("_pdist_forward", "pdist", "self p")

for _name in ("mse_loss", "binary_cross_entropy", "smooth_l1_loss", "huber_loss", "soft_margin_loss"):

    @_rule(_name)
    def _loss(a: AtenLowering, *, reduction: int, row: str = _name, self: Value, **given: Value) -> Any:
        return a.row(row, self, **given, reduction=_REDUCTIONS[reduction])


@_rule("binary_cross_entropy_with_logits")
def _bce(
    a: AtenLowering, self: Value, target: Value, weight: Value = None, pos_weight: Value = None, reduction: int = 1
) -> Any:
    given = {"weight": weight, "pos_weight": pos_weight, "reduction": _REDUCTIONS[reduction]}
    name = "binary_cross_entropy_with_logits"
    return a.row(name if pos_weight is None else f"weighted_{name}", self, target, **given)


@_rule("nll_loss_forward nll_loss2d_forward")
def _nll_loss(a: AtenLowering, self: Value, target: Value, weight: Value, reduction: int, ignore_index: int) -> Any:
    return [a.row("nll_loss", self, target, weight, ignore_index, _REDUCTIONS[reduction]), None]


RULES |= dict.fromkeys(("nll_loss", "nll_loss2d"), lambda a, **given: _nll_loss(a, **given)[0])


# -- arithmetic


@_rule("div.Tensor_mode div.Scalar_mode")
def _div(a: AtenLowering, self: Value, other: Value, rounding_mode: str | None = None) -> Any:
    found = a.row("div", self, other)
    return found if rounding_mode is None else a.row(rounding_mode, found)


@_rule("addmm addmv addbmm baddbmm")
def _added(a: AtenLowering, self: Value, beta: Value = 1, alpha: Value = 1, **given: Value) -> Any:
    product = a.row("matmul", *given.values())
    product = product if alpha == 1 else a.row("mul", alpha, product)
    return product if beta == 0 else a.row("add", self if beta == 1 else a.row("mul", beta, self), product)


@_rule("var std")
def _spread(
    a: AtenLowering, *, row: str = "var", self: Value, dim: Any = None, keepdim: bool = False, **how: Any
) -> Any:
    correction = how.get("correction", int(how.get("unbiased", True)))
    return a.row(row, self, dim, 1 if correction is None else correction, keepdim)


RULES["std"] = functools.partial(_spread, row="std")


@_rule("clamp")
def _clamp(a: AtenLowering, *, self: Value, **bounds: Value) -> Any:
    given = {name: value for name, value in bounds.items() if value is not None}
    return a.row("clamp" if len(given) == 2 else f"clamp_{next(iter(given))}", self, **given)


# -- conditions


def _truth(a: AtenLowering, atom: Value) -> Value:
    return atom if a.is_condition(atom) else a.emit("ne", [atom, 0])


for _name in ("and", "or", "not"):

    @_rule(f"bitwise_{_name} logical_{_name}")
    def _logical(a: AtenLowering, *, row: str = f"logical_{_name}", **given: Value) -> Any:
        return a.row(row, *(_truth(a, one) for one in given.values()))


@_rule("bitwise_xor logical_xor")
def _xor(a: AtenLowering, self: Value, other: Value) -> Any:
    return a.emit("ne", [a.number(_truth(a, self)), a.number(_truth(a, other))])


@_rule("any _is_any_true")
def _any(a: AtenLowering, self: Value, dim: Any = None, keepdim: bool = False) -> Any:
    return _joined(a, "logical_or", self, dim, keepdim)


@_rule("all _is_all_true")
def _all(a: AtenLowering, self: Value, dim: Any = None, keepdim: bool = False) -> Any:
    return _joined(a, "logical_and", self, dim, keepdim)


def _joined(a: AtenLowering, row: str, atom: Value, dim: Any, keepdim: bool) -> Atom:
    """Join conditions over dimensions, two at a time: where one decides, the others are not asked."""
    shape, found = a.shape(atom), _truth(a, atom)
    dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    for one in sorted((n % max(len(shape), 1) for n in dims), reverse=True):
        parts = [_select(a, found, one, n) for n in range(a.shape(found)[one])]
        found = functools.reduce(functools.partial(a.row, row), parts)
        found = a.row("unsqueeze", found, one) if keepdim else found
    return found


@_rule("where")
def _where(a: AtenLowering, condition: Value, self: Value, other: Value) -> Any:
    return a.row("where", _truth(a, condition), self, other)


# -- the same elements, elsewhere


@_rule("clone contiguous _to_copy positive")
def _same(a: AtenLowering, self: Value, dtype: Any = None, **_: Any) -> Any:
    return self if dtype is None else a.number(self)


@_rule("expand")
def _expand(a: AtenLowering, self: Value, size: Sequence[int], **_: Any) -> Any:
    return a.expanded(self, size)


@_rule("t")
def _transposed(a: AtenLowering, self: Value) -> Any:
    return a.row("transpose", self, 0, 1) if len(a.shape(self)) == 2 else self


@_rule("select")
def _select(a: AtenLowering, self: Value, dim: int, index: int) -> Any:
    return a.emit("index", [self], ((_ALL,) * (dim % len(a.shape(self))) + (index,),))


@_rule("slice")
def _slice(a: AtenLowering, self: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    shape = a.shape(self)
    size = shape[dim]
    first, last, by = slice(start, end, step).indices(size)
    if (first, last, by) == (0, size, 1):
        return self
    one = Slice(first or None, None if last == size else last, by)
    return a.emit("index", [self], ((_ALL,) * (dim % len(shape)) + (one,),))


@_rule("roll")
def _roll(a: AtenLowering, self: Value, shifts: Sequence[int], dims: Sequence[int] = ()) -> Any:
    return a.row("roll", self, shifts, dims) if dims else NotImplemented


@_rule("cat")
def _cat(a: AtenLowering, tensors: Sequence[Value], dim: int = 0) -> Any:
    return tensors[0] if len(tensors) == 1 else a.row("cat", tensors, dim)


@_rule("constant_pad_nd pad")
def _padded(a: AtenLowering, self: Value, pad: Any, mode: str = "constant", value: Any = 0) -> Any:
    if mode != "constant" or not any(pad):
        return NotImplemented if any(pad) else self
    return a.row("pad", self, pad, "constant", value or 0)


# -- at positions

INDEXED = frozenset("index _unsafe_index index_put index_put_ _index_put_impl_ _unsafe_index_put".split())
"""Operations whose positions are given by their numbers, but for those of arguments."""


@_rule("index _unsafe_index")
def _index(a: AtenLowering, self: Value, indices: Sequence[Any]) -> Any:
    items: list[Any] = []
    operands = {"x": self}
    for n, one in enumerate(indices):
        if one is None:
            items.append(_ALL)
        elif isinstance(one, np.ndarray):
            items.append(Positions("", one.shape, one))
        else:
            operands[f"i{n}"] = one
            items.append(Positions(f"i{n}", a.shape(one), None))
    return a.text(indexed("x", a.shape(self), items), **operands)


@_rule("index_put _index_put_impl _unsafe_index_put")
def _index_put(
    a: AtenLowering, self: Value, indices: Sequence[Any], values: Value, accumulate: bool = False, **_: Any
) -> Any:
    shape = a.shape(self)
    if not all(one is None or isinstance(one, np.ndarray) for one in indices):
        return NotImplemented
    key = tuple(slice(None) if one is None else one.astype(np.intp) for one in indices)
    found = np.arange(math.prod(shape)).reshape(shape)[key]
    source = f"expand(v, {sizes(found.shape)})"
    if not accumulate:
        return a.text(put("x", shape, source, found), x=self, v=values)
    hits = f"reshape(one_hot({found.ravel().tolist()}, {math.prod(shape)}), (-1, {math.prod(shape)}))"
    return a.text(f"x + reshape(transpose({hits}, 0, 1) @ reshape({source}, -1), {sizes(shape)})", x=self, v=values)


# -- networks and matrices


@_rule("native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_impl_index")
def _batch_norm(a: AtenLowering, *, momentum: Any, eps: Any, training: bool = False, **given: Value) -> Any:
    average = [None if training else given.get(name) for name in ("running_mean", "running_var")]
    whole = (given["input"], *average, given["weight"], given["bias"], training, momentum, eps)
    return [a.row("batch_norm", *whole), None, None, None]


RULES["_batch_norm_with_update"] = functools.partial(_batch_norm, training=True)


@_rule("convolution _convolution mkldnn_convolution")
def _convolution(
    a: AtenLowering, *, padding: Any, stride: Any, dilation: Any, groups: int, transposed: bool = False, **given: Value
) -> Any:
    operands = given["input"], given["weight"], given["bias"]
    kind = f"{len(a.shape(given['weight'])) - 2}d"
    if not transposed:
        return a.row(f"conv{kind}", *operands, stride, padding, dilation, groups)
    return a.row(f"conv_transpose{kind}", *operands, stride, padding, given["output_padding"], groups, dilation)


@_rule("_linalg_solve_ex linalg_solve_ex")
def _solve(a: AtenLowering, *, left: bool = True, **given: Value) -> Any:
    return [a.row("solve", given["A"], given["B"]), None, None, None] if left else NotImplemented


@_rule("_linalg_eigh")
def _eigh(a: AtenLowering, *, compute_v: bool = True, **given: Value) -> Any:
    matrix = given["A"]
    return [a.row("eigvalsh", matrix), a.row("eigenvectors", matrix) if compute_v else None]


@_rule("_linalg_slogdet")
def _slogdet(a: AtenLowering, **given: Mapping[str, Value]) -> Any:
    det = a.row("det", given["A"])
    return [a.row("sign", det), a.row("log", a.row("abs", det)), None, None]


@_rule("_linalg_svd")
def _svd(a: AtenLowering, *, A: Value, full_matrices: bool = False, compute_uv: bool = True, **_: Value) -> Any:
    shape = a.shape(A)
    if compute_uv and full_matrices and shape[-1] != shape[-2]:
        message = f"of a matrix of shape {show(shape)} the vectors beyond its rank are not determined"
        raise InputError(message, hint="write full_matrices=False")
    left, right = (a.row(f"{side}_singular_vectors", A) if compute_uv else None for side in ("left", "right"))
    return [left, a.row("svdvals", A), None if right is None else a.row("transpose", right, -2, -1)]


for _name in ("var", "std"):

    @_rule(f"{_name}_mean")
    def _with_mean(
        a: AtenLowering, *, row: str = _name, self: Value, dim: Any = None, keepdim: bool = False, **how: Any
    ) -> Any:
        spread = _spread(a, row=row, self=self, dim=dim, keepdim=keepdim, **how)
        return [spread, a.row("mean", self, dim, keepdim)]


# -- pieces


@_rule("split split_with_sizes")
def _split(a: AtenLowering, self: Value, dim: int = 0, **sizes: Any) -> Any:
    (given,), whole = sizes.values(), a.shape(self)[dim]
    each = [min(given, whole - at) for at in range(0, whole, given)] if isinstance(given, int) else given
    ends = itertools.accumulate(each, initial=0)
    return [_slice(a, self, dim, first, last) for first, last in itertools.pairwise(ends)]
