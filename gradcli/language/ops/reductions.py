"""Operations over a dimension, and of matrices: reductions, scans, order, statistics, and linear algebra.

A row with a meaning is written in the language itself; `count(x, dim)` is the number of elements that a reduction
takes in.  The elements of a dimension are sorted by exchanges of two at a time, each a minimum and a maximum, so that
all readings follow, and elements that tie are kinks.  Sources: the torch reference of each function; K. E. Batcher,
"Sorting networks and their applications", 1968.
"""

from __future__ import annotations

import math

from gradcli.errors import ShapeError, TooLargeError
from gradcli.language.ops.row import Constants, Shapes, read


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


_LARGEST = """
amax(x, dim=None, keepdim=False)  the largest element of all, or along dim  kind: reduction  monoid: largest
    caveat: a kink where the largest elements tie; torch then shares the derivative among them
    e.g. amax(x, dim=1) at x=[[1,5,3],[4,2,6]]
max(x, dim=None, keepdim=False) -> values, indices  the largest element of all, or along dim
    = amax(x, dim=dim, keepdim=keepdim)  monoid: largest
    caveat: as in torch, max(x, y) of two tensors is maximum, and max(x, 0) is along dimension 0; max([a, b]) of a list
        is Python's, the larger of the two
"""
"""Rows of largest elements, which differ from those of smallest ones in two words."""

ROWS = read(
    f"""
== reductions  kind: defined  torch: *  at x=1,5,3
sum(x, dim=None, keepdim=False)  the sum over all elements, or over the dimensions dim  kind: reduction  monoid: sum
    adds_terms: True
    caveat: sum([a, b]) of a list and sum(f(i) for i in range(n)) are Python's, which add term by term;
        torch.sum(torch.stack([a, b])) is one number; in Python's code, sum(A) adds the rows of a matrix
    e.g. sum(A, dim=1) at A=[[1,2,3],[4,5,6]]
mean(x, dim=None, keepdim=False)  the mean over all elements, or over the dimensions dim
    = sum(x, dim=dim, keepdim=keepdim)/count(x, dim)  adds_terms: True  rule_name: sum rule  e.g. mean(x**2)
prod(x, dim=None, keepdim=False)  the product over all elements, or over one dimension  kind: reduction  monoid: product
    caveat: the formula divides by each element, and holds where none is 0
{_LARGEST}
{_LARGEST.replace("max", "min").replace("larg", "small")}
var(x, dim=None, correction=1, keepdim=False)  the variance, the sum of squares divided by the count less the correction
    = sum((x - mean(x, dim=dim, keepdim=True))**2, dim=dim, keepdim=keepdim)/(count(x, dim) - correction)
    in_floats: s = sum((x - mean(x, dim=dim, keepdim=True))**2, dim=dim, keepdim=keepdim); s/maximum(count(x, dim) -
        correction, 0)  domain: more elements than the correction, which is 1 by default
    caveat: as in torch, correction=1 by default; np.var divides by the count, which is correction=0
std(x, dim=None, correction=1, keepdim=False)  the standard deviation, the square root of var
    = sqrt(var(x, dim=dim, correction=correction, keepdim=keepdim))
    domain: more elements than the correction, which is 1 by default; not all equal
    adjoints: x: where(result == 0, 0, grad*(x - mean(x, dim=dim, keepdim=True))/(result*maximum(count(x, dim) -
        correction, 0)))
norm|vector_norm(x, p=2, dim=None, keepdim=False)  the p-norm of the elements, 2 by default; p may be inf
    = sqrt(sum(x**2, dim=dim, keepdim=keepdim))  torch: linalg.vector_norm  domain: not all elements 0
    caveat: of a matrix, it is the norm of all its elements; matrix_norm is that of a matrix  e.g. norm(x) at x=3,4
    adjoints: x: where(result == 0, 0, grad*x/result)
== scans  kind: scan  torch: *  at x=2,3,4
cumsum(x, dim=None)  running sums along a dimension  monoid: sum  adds_terms: True  e.g. cumsum(x, dim=0)
cumprod(x, dim=None)  running products along a dimension  monoid: product  e.g. cumprod(x, dim=0)
== normalized exponentials  kind: defined  torch: *  at x=1,2,3
logsumexp(x, dim=None, keepdim=False)  log(sum(exp(x))) without overflow  = log(sum(exp(x), dim=dim, keepdim=keepdim))
    in_floats: m = amax(x, dim=dim, keepdim=True); c = where(abs(m) == inf, 0, m); log(sum(exp(x - c), dim=dim,
        keepdim=keepdim)) + sum(c, dim=dim, keepdim=keepdim)  domain: an element along dim that is not -inf
    e.g. logsumexp(x, dim=0)
    adjoints: x: grad*exp(x - result)
softmax(x, dim=None)  exponentials divided by their sum along dim  = exp(x)/sum(exp(x), dim=dim, keepdim=True)
    in_floats: e = exp(x - amax(x, dim=dim, keepdim=True)); e/sum(e, dim=dim, keepdim=True)
    domain: an element along dim that is not masked by -inf
    caveat: dim may be left out where x has one dimension  e.g. softmax(x, dim=0)
    adjoints: x: result*(grad - sum(grad*result, dim=dim, keepdim=True))
log_softmax(x, dim=None)  log(softmax(x)) without overflow  = x - log(sum(exp(x), dim=dim, keepdim=True))
    in_floats: d = x - amax(x, dim=dim, keepdim=True); d - log(sum(exp(d), dim=dim, keepdim=True))
    domain: an element along dim that is not masked by -inf
    caveat: dim may be left out where x has one dimension  e.g. log_softmax(x, dim=0)
    adjoints: x: grad - exp(result)*sum(grad, dim=dim, keepdim=True)
== products  kind: defined  torch: *  at a=1,2 b=3,4 A=[[1,2],[3,4]] x=5,6
matmul|.mm|.mv|.bmm(a, b)  the matrix product a @ b  kind: contraction  adds_terms: True  e.g. A @ x
dot|vdot(a, b)  the inner product of two vectors  = sum(a*b)  adds_terms: True  rule_name: product rule
cosine_similarity(x1, x2, dim=1)  the cosine of the angle between vectors along dim, 1 by default
    = sum(x1*x2, dim=dim)/(sqrt(sum((x1*ones_like(x2))**2, dim=dim))*sqrt(sum((x2*ones_like(x1))**2, dim=dim)))
    total: a = x1*ones_like(x2); b = x2*ones_like(x1); p = a/maximum(norm(a, dim=dim, keepdim=True), 1e-8); q =
        b/maximum(norm(b, dim=dim, keepdim=True), 1e-8); sum(p*q, dim=dim)  torch: nn.functional.*
    domain: two vectors that are not 0
    e.g. cosine_similarity(a, b, dim=0)
outer(a, b)  the outer product of two vectors  = unsqueeze(a, 1)*unsqueeze(b, 0)  rule_name: product rule
    at a=1,2 b=3,4,5
einsum(equation=, operands)
    sums of products by names of dimensions, such as einsum('ij,j->i', A, x); ... are the dimensions without one
    = sum of the product of the operands over the letters that are not in the result  adds_terms: True
    e.g. einsum('ij,j->i', A, x)
linear(x, weight, bias:0)  a fully connected layer  = x @ transpose(weight) + bias  torch: none  e.g. linear(x, A, b)
trace|Trace(A)  the sum of the diagonal of a matrix  = sum(diagonal(A))  adds_terms: True  e.g. trace(A @ A)
== square matrices  kind: defined  torch: linalg.*  at A=[[2,1],[1,3]] b=1,2
det|Determinant(A)  the determinant of a square matrix  kind: matrix  adds_terms: True
    caveat: torch gives 0 as the derivative of a singular matrix, which is reported; the formula is by the inverse rule,
        d det(A) = det(A)*trace(inv(A) @ dA), for an invertible A
    adjoints: A: grad*result*transpose(inv(A), -2, -1)
logdet(A)  the logarithm of the determinant  = log(det(A))  torch: *  domain: det(A) > 0
inv|inverse|Inverse(A)  the inverse of a square matrix  kind: matrix  domain: det(A) != 0
    caveat: the formula is by the inverse rule, d inv(A) = -inv(A) @ dA @ inv(A)
eigvalsh(A^)  the eigenvalues of a symmetric matrix, the smallest first  kind: spectral  adds_terms: True
    domain: A is symmetric
    caveat: torch reads the lower triangle alone, and derives by the symmetric part; an eigenvalue that occurs twice has
        no derivative
matrix_exp|expm(A)  the exponential of a square matrix, the sum of A^n/n!  kind: spectral  adds_terms: True
    at A=[[0,1],[-1,0]]
solve(A, b)  the solution x of A @ x = b  = inv(A) @ b  domain: det(A) != 0
== order  kind: scan  torch: *  at x=3,1,2
sorted(x, dim=-1, descending=False)  the elements along a dimension in ascending or descending order
    = exchanges of two elements at a time, each a minimum and a maximum  written: _sorted  torch: sort  kind: defined
    caveat: a kink where elements tie
cummax(x, dim=None) -> values, indices  running maxima along a dimension  monoid: largest
    caveat: a kink where the largest elements tie  e.g. cummax(x, dim=0)
cummin(x, dim=None) -> values, indices  running minima along a dimension  monoid: smallest
    caveat: a kink where the smallest elements tie  e.g. cummin(x, dim=0)
== statistics  kind: defined  torch: *  at x=1,2 y=1,2,4 w=1,1,2 a=[[1,2]] b=[[4,6],[2,2]]
nansum(x, dim=None, keepdim=False)  the sum of what is not nan  = sum(where(x != x, 0, x), dim=dim, keepdim=keepdim)
    adds_terms: True  e.g. nansum(x**2)
nanmean(x, dim=None, keepdim=False)  the mean of what is not nan
    = sum(where(x != x, 0, x), dim=dim, keepdim=keepdim)/sum(where(x != x, 0, 1), dim=dim, keepdim=keepdim)
    adds_terms: True  e.g. nanmean(x**2)
nanmedian(x, dim=None, keepdim=False) -> values, indices  the middle element of what is not nan, the lower one of two
    = the element in the middle of sorted(where(x != x, inf, x))  written: _nanmedian  e.g. nanmedian(y**2)
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
