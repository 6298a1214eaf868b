"""Order and statistics: sorted elements, quantiles, moments, differences and integrals of samples.

The elements of a dimension are sorted by exchanges of two at a time, each a minimum and a maximum, so that all readings
follow, and elements that tie are kinks.  Source: K. E. Batcher, "Sorting networks and their applications", 1968.
"""

from __future__ import annotations

from gradcli.errors import ShapeError, TooLargeError
from gradcli.language.ops.row import Constants, Shapes, read


def _average(constants: Constants, shapes: Shapes) -> str:
    """NumPy's, whose vector of weights lies along the axis."""
    (x, weights), axis, text = shapes, constants["axis"], "weights"
    if len(weights) == 1 < len(x) and axis is not None:
        text = f"reshape(weights, {tuple(-1 if n == axis % len(x) else 1 for n in range(len(x)))})"
    elif weights not in ((), x):
        raise ShapeError(f"average takes weights of the shape {x}, or a vector along axis, and not {weights}")
    over = "" if axis is None else f", {axis}"
    return f"sum(x*{text}{over})/sum({text}*ones_like(x){over})"


MOST_SORTED = 512
"""Elements of a dimension up to which it is sorted."""


def exchanges(count: int) -> list[list[tuple[int, int]]]:
    """The exchanges that sort so many elements, in stages of which none meets an element twice.

    >>> exchanges(3)
    [[(0, 1)], [(0, 2)], [(1, 2)]]
    """
    stages = []
    width = 1 << max(0, count - 1).bit_length()
    p = 1
    while p < width:
        k = p
        while k >= 1:
            stage = [
                (i + j, i + j + k)
                for j in range(k % p, width - k, 2 * k)
                for i in range(min(k, width - j - k))
                if (i + j) // (2 * p) == (i + j + k) // (2 * p) and i + j + k < count
            ]
            stages += [stage] if stage else []
            k //= 2
        p *= 2
    return stages


def _sorted(constants: Constants, shapes: Shapes) -> str:
    """The text of a sorted dimension: each stage takes the smaller and the larger of its pairs."""
    (shape,) = shapes
    if not shape or shape[constants["dim"]] <= 1:
        return "1*x"
    count, dim = shape[constants["dim"]], constants["dim"]
    if count > MOST_SORTED:
        raise TooLargeError(f"a dimension of {count:,} elements is not sorted", hint=f"at most {MOST_SORTED} are")
    text, name = [f"s = transpose(x, {dim}, -1)"], "s"
    low, high = ("maximum", "minimum") if constants["descending"] else ("minimum", "maximum")
    for stage in exchanges(count):
        first, second = [i for i, _ in stage], [j for _, j in stage]
        rest = [n for n in range(count) if n not in {*first, *second}]
        place = {n: at for at, n in enumerate([*first, *second, *rest])}
        parts = [f"{low}(a, b)", f"{high}(a, b)", *([f"{name}[..., {rest}]"] if rest else [])]
        text += [f"a = {name}[..., {first}]", f"b = {name}[..., {second}]"]
        text += [f"s = cat([{', '.join(parts)}], -1)[..., {[place[n] for n in range(count)]}]"]
    return "; ".join([*text, f"transpose(s, {dim}, -1)"])


ROWS = read(
    """
== order  kind: scan  torch: *  at x=3,1,2
sorted(x, dim=-1, descending=False)  the elements along a dimension in ascending or descending order
    = exchanges of two elements at a time, each a minimum and a maximum  written: _sorted  torch: sort  kind: defined
    caveat: a kink where elements tie
cummax(x, dim=None)  running maxima along a dimension  monoid: largest  caveat: a kink where the largest elements tie
    e.g. cummax(x, dim=0)
cummin(x, dim=None)  running minima along a dimension  monoid: smallest  caveat: a kink where the smallest elements tie
    e.g. cummin(x, dim=0)
== statistics  kind: defined  torch: *  at x=1,2 y=1,2,4 w=1,1,2 a=[[1,2]] b=[[4,6],[2,2]]
nansum(x, dim=None, keepdim=False)  the sum of what is not nan  = sum(where(x != x, 0, x), dim=dim, keepdim=keepdim)
    adds_terms: True  e.g. nansum(x**2)
nanmean(x, dim=None, keepdim=False)  the mean of what is not nan
    = sum(where(x != x, 0, x), dim=dim, keepdim=keepdim)/sum(where(x != x, 0, 1), dim=dim, keepdim=keepdim)
    adds_terms: True  e.g. nanmean(x**2)
logcumsumexp(x, dim=None)  log(cumsum(exp(x))) without overflow  = log(cumsum(exp(x), dim=dim))
    in_floats: m = amax(x, dim=dim, keepdim=True); log(cumsum(exp(x - m), dim=dim)) + m  e.g. logcumsumexp(y, dim=0)
dist(a, b, p=2)  the p-norm of a difference  = norm(a - b, p)  domain: a != b  e.g. dist(x, y[1:])
cdist(x1, x2, p=2)  the p-norms of the differences of all rows of two matrices
    = norm(unsqueeze(x1, -2) - unsqueeze(x2, -3), p, dim=-1)  domain: no row is in both  e.g. cdist(a, b)
average(x, axis=None, weights:1)  the mean over all elements or one dimension, weighted if there are weights
    = sum(x*weights, dim=axis)/sum(weights*ones_like(x), dim=axis)  written: _average  torch: none  adds_terms: True
    e.g. average(y, weights=w)
ptp(x, dim=None, keepdim=False)  from the smallest to the largest: the range of the elements
    = amax(x, dim=dim, keepdim=keepdim) - amin(x, dim=dim, keepdim=keepdim)  torch: none  e.g. ptp(y)
""",
    globals(),
)
