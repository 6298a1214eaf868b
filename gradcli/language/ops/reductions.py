"""Operations over a dimension: reductions, scans, order and statistics.

A row with a meaning is written in the language itself; `count(x, dim)` is the number of elements that a reduction
takes in.  The elements of a dimension are sorted by exchanges of two at a time, each a minimum and a maximum, so that
all readings follow, and elements that tie are kinks.  Sources: the torch reference of each function; K. E. Batcher,
"Sorting networks and their applications", 1968.
"""

from __future__ import annotations

import math

from gradcli.errors import ShapeError, TooLargeError
from gradcli.language.ops.row import Kind, Monoid, Op
from gradcli.language.ops.signature import Constant, Constants, Operand, Shapes


def _average(constants: Constants, shapes: Shapes) -> str:
    """Write NumPy's average, whose vector of weights lies along the axis."""
    (x, weights), axis, text = shapes, constants["axis"], "weights"
    if len(weights) == 1 < len(x) and axis is not None:
        text = f"reshape(weights, {tuple(-1 if n == axis % len(x) else 1 for n in range(len(x)))})"
    elif weights not in ((), x):
        raise ShapeError(f"average takes weights of the shape {x}, or a vector along axis, and not {weights}")
    over = "" if axis is None else f", {axis}"
    return f"sum(x*{text}{over})/sum({text}*ones_like(x){over})"


MOST_SORTED = 512
"""Largest number of elements of a dimension that is sorted."""


def exchanges(count: int) -> list[list[tuple[int, int]]]:
    """List the exchanges that sort so many elements, in stages of which none meets an element twice.

    >>> exchanges(3)
    [[(0, 1)], [(0, 2)], [(1, 2)]]
    """
    stages = []
    for m in range((count - 1).bit_length()):
        p = 1 << m
        for k in (p >> n for n in range(m + 1)):
            stage = [
                (i + j, i + j + k)
                for j in range(k % p, count - k, 2 * k)
                for i in range(min(k, count - j - k))
                if (i + j) // (2 * p) == (i + j + k) // (2 * p)
            ]
            stages += [stage] if stage else []
    return stages


def _sorted(constants: Constants, shapes: Shapes) -> str:
    """Write a sorted dimension: each stage takes the smaller and the larger of its pairs."""
    (shape,) = shapes
    if not shape or shape[constants["dim"]] <= 1:
        return "1*x"
    count, dim = shape[constants["dim"]], constants["dim"]
    text = [f"s = transpose(x, {dim}, -1)", *_exchanged(count, descending=constants["descending"])]
    return "; ".join([*text, f"transpose(s, {dim}, -1)"])


def _exchanged(count: int, *, descending: bool = False) -> list[str]:
    """Write the stages that sort s along its last dimension of so many elements."""
    if count > MOST_SORTED:
        raise TooLargeError(f"a dimension of {count:,} elements is not sorted", hint=f"at most {MOST_SORTED} are")
    text: list[str] = []
    low, high = ("maximum", "minimum") if descending else ("minimum", "maximum")
    for stage in exchanges(count):
        first, second = [i for i, _ in stage], [j for _, j in stage]
        rest = [n for n in range(count) if n not in {*first, *second}]
        place = {n: at for at, n in enumerate([*first, *second, *rest])}
        parts = [f"{low}(a, b)", f"{high}(a, b)", *([f"s[..., {rest}]"] if rest else [])]
        text += [f"a = s[..., {first}]", f"b = s[..., {second}]"]
        text += [f"s = cat([{', '.join(parts)}], -1)[..., {[place[n] for n in range(count)]}]"]
    return text


def _nanmedian(constants: Constants, shapes: Shapes) -> str:
    """Write the element in the middle of those that are not nan, which are sorted before what is."""
    (shape,), dim, keepdim = shapes, constants["dim"], constants["keepdim"]
    if dim is None or not shape:
        line, back = "flatten(x)", f"reshape(m, {(1,) * len(shape)})" if keepdim else "1*m"
        count = math.prod(shape)
    else:
        dim %= len(shape)
        order = (*(d for d in range(len(shape)) if d != dim), dim)
        line, back = f"permute(x, {order})", f"unsqueeze(m, {dim})" if keepdim else "1*m"
        count = shape[dim]
    if not count:
        raise ShapeError("nanmedian needs an element")
    text = [f"z = {line}", "n = sum(where(z != z, 0, 1), -1, keepdim=True)", "s = where(z != z, inf, z)"]
    text += [*_exchanged(count), f"m = sum(where(arange({count}) == floor((n - 1)/2), s, 0), -1)"]
    return "; ".join([*text, "m = where(n[..., 0] > 0, m, nan)", back])


REDUCTIONS: tuple[Op, ...] = (
    Op(
        "sum",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the sum over all elements, or over the dimensions dim",
        kind=Kind.REDUCTION,
        torch="sum",
        monoid=Monoid.SUM,
        adds_terms=True,
        caveat=(
            "sum([a, b]) of a list and sum(f(i) for i in range(n)) are Python's, which add term by term; "
            "torch.sum(torch.stack([a, b])) is one number; in Python's code, sum(A) adds the rows of a matrix"
        ),
        example="sum(A, dim=1)",
        at={"A": "[[1,2,3],[4,5,6]]"},
    ),
    Op(
        "mean",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the mean over all elements, or over the dimensions dim",
        kind=Kind.DEFINED,
        meaning="sum(x, dim=dim, keepdim=keepdim)/count(x, dim)",
        torch="mean",
        adds_terms=True,
        rule_name="sum rule",
        example="mean(x**2)",
        at={"x": "1,5,3"},
    ),
    Op(
        "prod",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the product over all elements, or over one dimension",
        kind=Kind.REDUCTION,
        torch="prod",
        monoid=Monoid.PRODUCT,
        caveat="the formula divides by each element, and holds where none is 0",
        at={"x": "1,5,3"},
    ),
    Op(
        "amax",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the largest element of all, or along dim",
        kind=Kind.REDUCTION,
        torch="amax",
        monoid=Monoid.LARGEST,
        caveat="a kink where the largest elements tie; torch then shares the derivative among them",
        example="amax(x, dim=1)",
        at={"x": "[[1,5,3],[4,2,6]]"},
    ),
    Op(
        "max",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the largest element of all, or along dim",
        parts=("values", "indices"),
        kind=Kind.DEFINED,
        meaning="amax(x, dim=dim, keepdim=keepdim)",
        torch="max",
        monoid=Monoid.LARGEST,
        caveat=(
            "as in torch, max(x, y) of two tensors is maximum, and max(x, 0) is along dimension 0; max([a, "
            "b]) of a list is Python's, the larger of the two"
        ),
        at={"x": "1,5,3"},
    ),
    Op(
        "amin",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the smallest element of all, or along dim",
        kind=Kind.REDUCTION,
        torch="amin",
        monoid=Monoid.SMALLEST,
        caveat="a kink where the smallest elements tie; torch then shares the derivative among them",
        example="amin(x, dim=1)",
        at={"x": "[[1,5,3],[4,2,6]]"},
    ),
    Op(
        "min",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the smallest element of all, or along dim",
        parts=("values", "indices"),
        kind=Kind.DEFINED,
        meaning="amin(x, dim=dim, keepdim=keepdim)",
        torch="min",
        monoid=Monoid.SMALLEST,
        caveat=(
            "as in torch, min(x, y) of two tensors is minimum, and min(x, 0) is along dimension 0; min([a, "
            "b]) of a list is Python's, the smaller of the two"
        ),
        at={"x": "1,5,3"},
    ),
    Op(
        "var",
        ("x", Constant("dim", None), Constant("correction", 1), Constant("keepdim", False)),
        "the variance, the sum of squares divided by the count less the correction",
        kind=Kind.DEFINED,
        meaning=("sum((x - mean(x, dim=dim, keepdim=True))**2, dim=dim, keepdim=keepdim)/(count(x, dim) - correction)"),
        in_floats=(
            "s = sum((x - mean(x, dim=dim, keepdim=True))**2, dim=dim, keepdim=keepdim); s/maximum(count(x, "
            "dim) - correction, 0)"
        ),
        torch="var",
        domain="more elements than the correction, which is 1 by default",
        caveat="as in torch, correction=1 by default; np.var divides by the count, which is correction=0",
        at={"x": "1,5,3"},
    ),
    Op(
        "std",
        ("x", Constant("dim", None), Constant("correction", 1), Constant("keepdim", False)),
        "the standard deviation, the square root of var",
        kind=Kind.DEFINED,
        meaning="sqrt(var(x, dim=dim, correction=correction, keepdim=keepdim))",
        torch="std",
        adjoints={
            "x": (
                "where(result == 0, 0, grad*(x - mean(x, dim=dim, keepdim=True))/(result*maximum(count(x, dim) - "
                "correction, 0)))"
            )
        },
        domain="more elements than the correction, which is 1 by default, and not all of them equal",
        at={"x": "1,5,3"},
    ),
    Op(
        "norm",
        ("x", Constant("p", 2), Constant("dim", None), Constant("keepdim", False)),
        "the p-norm of the elements, 2 by default; p may be inf",
        aliases=("vector_norm",),
        kind=Kind.DEFINED,
        meaning="sqrt(sum(x**2, dim=dim, keepdim=keepdim))",
        torch="linalg.vector_norm",
        adjoints={"x": "where(result == 0, 0, grad*x/result)"},
        domain="not all elements 0",
        caveat="of a matrix, it is the norm of all its elements; matrix_norm is that of a matrix",
        example="norm(x)",
        at={"x": "3,4"},
    ),
)

SCANS: tuple[Op, ...] = (
    Op(
        "cumsum",
        ("x", Constant("dim", None)),
        "running sums along a dimension",
        kind=Kind.SCAN,
        torch="cumsum",
        monoid=Monoid.SUM,
        adds_terms=True,
        example="cumsum(x, dim=0)",
        at={"x": "2,3,4"},
    ),
    Op(
        "cumprod",
        ("x", Constant("dim", None)),
        "running products along a dimension",
        kind=Kind.SCAN,
        torch="cumprod",
        monoid=Monoid.PRODUCT,
        example="cumprod(x, dim=0)",
        at={"x": "2,3,4"},
    ),
)

NORMALIZED_EXPONENTIALS: tuple[Op, ...] = (
    Op(
        "logsumexp",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "log(sum(exp(x))) without overflow",
        kind=Kind.DEFINED,
        meaning="log(sum(exp(x), dim=dim, keepdim=keepdim))",
        in_floats=(
            "m = amax(x, dim=dim, keepdim=True); c = where(abs(m) == inf, 0, m); log(sum(exp(x - c), "
            "dim=dim, keepdim=keepdim)) + sum(c, dim=dim, keepdim=keepdim)"
        ),
        torch="logsumexp",
        adjoints={"x": "grad*exp(x - result)"},
        domain="an element along dim that is not -inf",
        example="logsumexp(x, dim=0)",
        at={"x": "1,2,3"},
    ),
    Op(
        "softmax",
        ("x", Constant("dim", None)),
        "exponentials divided by their sum along dim",
        kind=Kind.DEFINED,
        meaning="exp(x)/sum(exp(x), dim=dim, keepdim=True)",
        in_floats="e = exp(x - amax(x, dim=dim, keepdim=True)); e/sum(e, dim=dim, keepdim=True)",
        torch="softmax",
        adjoints={"x": "result*(grad - sum(grad*result, dim=dim, keepdim=True))"},
        domain="an element along dim that is not masked by -inf",
        caveat="dim may be left out where x has one dimension",
        example="softmax(x, dim=0)",
        at={"x": "1,2,3"},
    ),
    Op(
        "log_softmax",
        ("x", Constant("dim", None)),
        "log(softmax(x)) without overflow",
        kind=Kind.DEFINED,
        meaning="x - log(sum(exp(x), dim=dim, keepdim=True))",
        in_floats="d = x - amax(x, dim=dim, keepdim=True); d - log(sum(exp(d), dim=dim, keepdim=True))",
        torch="log_softmax",
        adjoints={"x": "grad - exp(result)*sum(grad, dim=dim, keepdim=True)"},
        domain="an element along dim that is not masked by -inf",
        caveat="dim may be left out where x has one dimension",
        example="log_softmax(x, dim=0)",
        at={"x": "1,2,3"},
    ),
)

ORDER: tuple[Op, ...] = (
    Op(
        "sorted",
        ("x", Constant("dim", -1), Constant("descending", False)),
        "the elements along a dimension in ascending or descending order",
        kind=Kind.DEFINED,
        meaning="exchanges of two elements at a time, each a minimum and a maximum",
        written=_sorted,
        torch="sort",
        caveat="a kink where elements tie",
        at={"x": "3,1,2"},
    ),
    Op(
        "cummax",
        ("x", Constant("dim", None)),
        "running maxima along a dimension",
        parts=("values", "indices"),
        kind=Kind.SCAN,
        torch="cummax",
        monoid=Monoid.LARGEST,
        caveat="a kink where the largest elements tie",
        example="cummax(x, dim=0)",
        at={"x": "3,1,2"},
    ),
    Op(
        "cummin",
        ("x", Constant("dim", None)),
        "running minima along a dimension",
        parts=("values", "indices"),
        kind=Kind.SCAN,
        torch="cummin",
        monoid=Monoid.SMALLEST,
        caveat="a kink where the smallest elements tie",
        example="cummin(x, dim=0)",
        at={"x": "3,1,2"},
    ),
)

STATISTICS: tuple[Op, ...] = (
    Op(
        "nansum",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the sum of what is not nan",
        kind=Kind.DEFINED,
        meaning="sum(where(x != x, 0, x), dim=dim, keepdim=keepdim)",
        torch="nansum",
        adds_terms=True,
        example="nansum(x**2)",
        at={"x": "1,2"},
    ),
    Op(
        "nanmean",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the mean of what is not nan",
        kind=Kind.DEFINED,
        meaning=(
            "sum(where(x != x, 0, x), dim=dim, keepdim=keepdim)/sum(where(x != x, 0, 1), dim=dim, keepdim=keepdim)"
        ),
        torch="nanmean",
        adds_terms=True,
        example="nanmean(x**2)",
        at={"x": "1,2"},
    ),
    Op(
        "nanmedian",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "the middle element of what is not nan, the lower one of two",
        parts=("values", "indices"),
        kind=Kind.DEFINED,
        meaning="the element in the middle of sorted(where(x != x, inf, x))",
        written=_nanmedian,
        torch="nanmedian",
        example="nanmedian(y**2)",
        at={"y": "1,2,4"},
    ),
    Op(
        "logcumsumexp",
        ("x", Constant("dim", None)),
        "log(cumsum(exp(x))) without overflow",
        kind=Kind.DEFINED,
        meaning="log(cumsum(exp(x), dim=dim))",
        in_floats="m = amax(x, dim=dim, keepdim=True); log(cumsum(exp(x - m), dim=dim)) + m",
        torch="logcumsumexp",
        example="logcumsumexp(y, dim=0)",
        at={"y": "1,2,4"},
    ),
    Op(
        "dist",
        ("a", "b", Constant("p", 2)),
        "the p-norm of a difference",
        kind=Kind.DEFINED,
        meaning="norm(a - b, p)",
        torch="dist",
        domain="a != b",
        example="dist(x, y[1:])",
        at={"x": "1,2", "y": "1,2,4"},
    ),
    Op(
        "cdist",
        ("x1", "x2", Constant("p", 2)),
        "the p-norms of the differences of all rows of two matrices",
        kind=Kind.DEFINED,
        meaning="norm(unsqueeze(x1, -2) - unsqueeze(x2, -3), p, dim=-1)",
        torch="cdist",
        domain="no row is in both",
        example="cdist(a, b)",
        at={"a": "[[1,2]]", "b": "[[4,6],[2,2]]"},
    ),
    Op(
        "average",
        ("x", Constant("axis", None), Operand("weights", default=1)),
        "the mean over all elements or one dimension, weighted if there are weights",
        kind=Kind.DEFINED,
        meaning="sum(x*weights, dim=axis)/sum(weights*ones_like(x), dim=axis)",
        written=_average,
        adds_terms=True,
        example="average(y, weights=w)",
        at={"y": "1,2,4", "w": "1,1,2"},
    ),
    Op(
        "ptp",
        ("x", Constant("dim", None), Constant("keepdim", False)),
        "from the smallest to the largest: the range of the elements",
        kind=Kind.DEFINED,
        meaning="amax(x, dim=dim, keepdim=keepdim) - amin(x, dim=dim, keepdim=keepdim)",
        example="ptp(y)",
        at={"y": "1,2,4"},
    ),
)
