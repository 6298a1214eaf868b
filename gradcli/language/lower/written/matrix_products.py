"""Products, powers, factors and norms of matrices, by their shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.language.lower.written.given import Given, Text, sizes
from gradcli.language.program.movement import axis_of
from gradcli.language.program.wengert import Shape, show

MOST_COLUMNS = 16
"""Columns of a matrix that is factored."""


def _tensordot(g: Given) -> Text:
    a, b = g.shape("a"), g.shape("b")
    dims = g.constant("dims", "dimensions")
    if dims.shape == ():
        count = min(int(dims), len(a) + len(b))
        first, second = [*range(len(a) - count, len(a))], [*range(count)]
    else:
        first, second = ([axis_of(s, int(n)) for n in np.ravel(one)] for s, one in ((a, dims[0]), (b, dims[1])))
    if [a[n] for n in first] != [b[n] for n in second]:
        raise g.refuse(f"{g.op.name} over these dimensions does not fit {show(a)} and {show(b)}", None)
    return _contracted(a, b, first, second)


def _contracted(a: Shape, b: Shape, first: Sequence[int], second: Sequence[int]) -> Text:
    """The sums of products over dimensions of a and of b, the others in their order."""
    left, right = [n for n in range(len(a)) if n not in first], [n for n in range(len(b)) if n not in second]
    inner = math.prod(a[n] for n in first)
    rows, columns = [a[n] for n in left], [b[n] for n in right]
    one = f"reshape({_permuted('a', [*left, *first])}, {sizes([math.prod(rows), inner])})"
    other = f"reshape({_permuted('b', [*second, *right])}, {sizes([inner, math.prod(columns)])})"
    return f"reshape({one} @ {other}, {sizes([*rows, *columns])})"


def _array_dot(g: Given) -> Text:
    a, b = g.shape("a"), g.shape("b")
    if not a or not b:
        return "a*b"
    if len(a) == len(b) == 1 and a == b:
        return "sum(a*b)"
    if len(b) <= 2:
        return "a @ b"
    if a[-1] != b[-2]:
        raise g.refuse(f"dot does not fit {show(a)} and {show(b)}", None)
    return _contracted(a, b, [len(a) - 1], [len(b) - 2])


def _inner(g: Given) -> Text:
    a, b = g.shape("a"), g.shape("b")
    if not a or not b:
        return "a*b"
    if a[-1] != b[-1]:
        raise g.refuse(f"inner does not fit {show(a)} and {show(b)}", "the last dimensions have one size")
    if len(a) == len(b) == 1:
        return "sum(a*b)"
    return "a @ transpose(b)" if len(b) == 2 else _contracted(a, b, [len(a) - 1], [len(b) - 1])


def _permuted(x: str, order: Sequence[int]) -> str:
    return x if [*order] == sorted(order) else f"permute({x}, {sizes(order)})"


def _kron(g: Given) -> Text:
    rank = max(g.rank("a"), g.rank("b"))
    a, b = ((1,) * (rank - g.rank(name)) + g.shape(name) for name in ("a", "b"))
    one = [size for n in a for size in (n, 1)]
    other = [size for n in b for size in (1, n)]
    whole = [m * n for m, n in zip(a, b, strict=True)]
    return f"reshape(reshape(a, {sizes(one)})*reshape(b, {sizes(other)}), {sizes(whole)})"


def _multi_dot(g: Given) -> Text:
    if len(g.names) < 2:
        raise g.refuse("multi_dot takes two matrices or more", None)
    return " @ ".join(g.names)


def _matrix_power(g: Given) -> Text:
    shape, n = g.shape("A"), g["n"]
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise g.refuse(f"matrix_power takes a square matrix, and A is {show(shape)}", None)
    if n == 0:
        return f"expand(eye({shape[-1]}), {sizes(shape)})"
    return " @ ".join(["A" if n > 0 else "inv(A)"] * abs(n))


def _vander(g: Given) -> Text:
    count = g.shape("x")[0] if g["N"] is None else g["N"]
    columns = [f"x**{n}" if n > 1 else ["ones_like(x)", "x"][n] for n in range(count)]
    return f"stack([{', '.join(columns if g['increasing'] else columns[::-1])}], -1)"


def _slogdet(_: Given) -> Text:
    return {"sign": "sign(det(A))", "logabsdet": "log(abs(det(A)))"}


def _with_info(name: str, text: str) -> Callable[[Given], Text]:
    return lambda _: {name: text, "info": "0"}


def _tensorinv(g: Given) -> Text:
    shape, ind = g.shape("A"), g["ind"]
    rows, columns = shape[:ind], shape[ind:]
    if not 0 < ind < len(shape) or math.prod(rows) != math.prod(columns):
        raise g.refuse(f"tensorinv with ind={ind} does not fit {show(shape)}", None)
    return f"reshape(inv(reshape(A, {sizes([math.prod(rows)] * 2)})), {sizes([*columns, *rows])})"


def _tensorsolve(g: Given) -> Text:
    shape, wanted = g.shape("A"), g.shape("b")
    rest = shape[len(wanted) :]
    count = math.prod(wanted)
    if shape[: len(wanted)] != wanted or math.prod(rest) != count:
        raise g.refuse(f"tensorsolve does not fit {show(shape)} and {show(wanted)}", None)
    return f"reshape(inv(reshape(A, {sizes([count, count])})) @ reshape(b, {sizes([count])}), {sizes(rest)})"


def _householder_product(g: Given) -> Text:
    rows, columns = _of_matrix(g)
    (count,) = g.shape("tau")
    text = [f"q{count} = eye({rows}, {columns})"]
    for k in reversed(range(count)):
        v = f"v{k} = cat([ones({k + 1})*{[0] * k + [1]}, A[{k + 1}:, {k}]])"
        text += [v, f"q{k} = q{k + 1} - tau[{k}]*unsqueeze(v{k}, 1)*unsqueeze(v{k} @ q{k + 1}, 0)"]
    return "; ".join([*text, "1*q0"])


def _of_matrix(g: Given) -> tuple[int, ...]:
    shape = g.shape("A")
    if len(shape) != 2 or shape[1] > MOST_COLUMNS:
        raise g.refuse(f"{g.op.name} takes a matrix of up to {MOST_COLUMNS} columns, and A is {show(shape)}", None)
    return shape


def _qr(g: Given) -> Text:
    """By reflections: each takes what is below the diagonal of a column to 0, with the sign that LAPACK has."""
    rows, columns = _of_matrix(g)
    text = ["r0 = A", f"q0 = eye({rows})"]
    count = min(rows, columns)
    last = max(0, count - (rows <= columns))
    for k in range(last):
        below = f"r{k}[{k}:, {k}]"
        length = f"b{k} = where({below}[0] < 0, norm({below}), -norm({below}))"
        vector = f"v{k} = pad({below}, ({k}, 0)) - b{k}*eye({rows})[{k}]"
        scale = f"w{k} = v{k}/sum(v{k}*v{k})"
        text += [length, vector, scale]
        text += [f"r{k + 1} = r{k} - 2*unsqueeze(w{k}, 1)*unsqueeze(v{k} @ r{k}, 0)"]
        text += [f"q{k + 1} = q{k} - 2*unsqueeze(q{k} @ v{k}, 1)*unsqueeze(w{k}, 0)"]
    start = "; ".join(text)
    return {"Q": f"{start}; q{last}[:, :{count}]", "R": f"{start}; triu(r{last}[:{count}])"}


_OF_SINGULAR_VALUES: Mapping[object, str] = {"nuc": "sum", 2: "amax", -2: "amin"}
"""How a norm takes them together."""


def _norm_of(g: Given, matrix: str, order: Any) -> str:
    if order in ("fro", None):
        return f"norm({matrix}, dim=(-2, -1))"
    if order in _OF_SINGULAR_VALUES:
        return f"{_OF_SINGULAR_VALUES[order]}(svdvals({matrix}), dim=-1)"
    if order not in (1, -1, math.inf, -math.inf):
        raise g.refuse(f"{g.op.name} is read for 'fro', 'nuc', 1, -1, 2, -2, inf and -inf", None)
    extreme = "amax" if order > 0 else "amin"
    sums = f"sum(abs({matrix}), dim={-2 if abs(order) == 1 else -1}, keepdim=True)"
    return f"{extreme}({sums}, dim=(-2, -1))"


def _matrix_norm(g: Given) -> Text:
    rank, dim = g.rank("A"), g["dim"]
    if rank == 1 and isinstance(g["ord"], int | float) and dim is None:  # linalg.norm of a vector
        return f"norm(A, p={g['ord']}, keepdim={g['keepdim']})"
    dims = [axis_of(g.shape("A"), n) for n in (dim if isinstance(dim, tuple) else (-2, -1))]
    if isinstance(dim, int) or len(set(dims)) != 2:
        raise g.refuse(f"{g.op.name} is over two dimensions, and dim is {dim}", "leave dim out for the last two")
    others = [n for n in range(rank) if n not in dims]
    text = _norm_of(g, _permuted("A", [*others, *dims]), g["ord"])
    for n in sorted(dims) if g["keepdim"] else ():
        text = f"unsqueeze({text}, {n})"
    return text


def _cond(g: Given) -> Text:
    if g["p"] in (None, 2, -2):
        first, last = (-1, 0) if g["p"] == -2 else (0, -1)
        return f"s = svdvals(A); s[..., {first}]/s[..., {last}]"
    return f"{_norm_of(g, 'A', g['p'])}*{_norm_of(g, 'inv(A)', g['p'])}"


def _svd(g: Given) -> Text:
    shape = g.shape("A")
    is_square = len(shape) < 2 or shape[-1] == shape[-2]
    if not is_square and (g.statics.get("full_matrices") or not g.statics.get("some", True)):
        hint = f"write {'some=True' if 'some' in g.statics else 'full_matrices=False'}"
        raise g.refuse(f"of a matrix of shape {show(shape)} the vectors beyond its rank are not determined", hint)
    right = "right_singular_vectors(A)"
    rest = {"V": right} if "some" in g.statics else {"Vh": f"transpose({right}, -2, -1)"}
    return {"U": "left_singular_vectors(A)", "S": "svdvals(A)", **rest}


RULES: Mapping[str, Callable[[Given], Text]] = {
    "tensordot": _tensordot,
    "array_dot": _array_dot,
    "inner": _inner,
    "kron": _kron,
    "multi_dot": _multi_dot,
    "matrix_power": _matrix_power,
    "vander": _vander,
    "slogdet": _slogdet,
    "inv_ex": _with_info("inverse", "inv(A)"),
    "cholesky_ex": _with_info("L", "cholesky(A)"),
    "lstsq": lambda _: {"solution": "pinv(A) @ b"},
    "solve_ex": _with_info("result", "inv(A) @ b"),
    "tensorinv": _tensorinv,
    "tensorsolve": _tensorsolve,
    "householder_product": _householder_product,
    "qr": _qr,
    "eigh": lambda _: {"eigenvalues": "eigvalsh(A)", "eigenvectors": "eigenvectors(A)"},
    "svd": _svd,
    "linalg_svd": _svd,
    "matrix_norm": _matrix_norm,
    "cond": _cond,
}
