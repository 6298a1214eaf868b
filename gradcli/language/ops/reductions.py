"""Operations over a dimension: reductions, scans and what statistics and classifiers make of them.

A row with a meaning is written in the language itself; `count(x, dim)` is the number of elements that a reduction
takes in.  Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.language.ops.row import Kind, Op

_REDUCED = {"dim": None, "keepdim": False}
_SIGNATURE = ("x", "dim", "keepdim")

REDUCTIONS = (
    Op(
        "sum",
        _SIGNATURE,
        "the sum over all elements, or over the dimensions dim",
        torch="sum",
        numpy="sum",
        kind=Kind.REDUCTION,
        statics=_REDUCED,
        caveat="sum([a, b]) of a list and sum(f(i) for i in range(n)) are Python's, which add term by term; "
        "torch.sum(torch.stack([a, b])) is one number",
        spans_all=True,
        example="sum(x, dim=1) at x=[[1,2,3],[4,5,6]]",
    ),
    Op(
        "mean",
        _SIGNATURE,
        "the mean over all elements, or over the dimensions dim",
        "sum(x, dim=dim, keepdim=keepdim)/count(x, dim)",
        torch="mean",
        kind=Kind.DEFINED,
        statics=_REDUCED,
        spans_all=True,
        example="mean(x**2) at x=1,2,3",
    ),
    Op(
        "prod",
        _SIGNATURE,
        "the product over all elements, or over one dimension",
        torch="prod",
        torch_dim="one",
        numpy="prod",
        kind=Kind.REDUCTION,
        statics=_REDUCED,
        caveat="the formula divides by each element, and holds where none is 0",
        example="prod(x) at x=2,3,4",
    ),
    Op(
        "amax",
        _SIGNATURE,
        "the largest element of all, or along dim",
        torch="amax",
        numpy="max",
        kind=Kind.REDUCTION,
        statics=_REDUCED,
        caveat="a kink where the largest elements tie; torch then shares the derivative among them",
        spans_all=True,
        example="amax(x, dim=1) at x=[[1,5,3],[4,2,6]]",
    ),
    Op(
        "amin",
        _SIGNATURE,
        "the smallest element of all, or along dim",
        torch="amin",
        numpy="min",
        kind=Kind.REDUCTION,
        statics=_REDUCED,
        caveat="a kink where the smallest elements tie; torch then shares the derivative among them",
        spans_all=True,
        example="amin(x, dim=1) at x=[[1,5,3],[4,2,6]]",
    ),
    Op(
        "max",
        _SIGNATURE,
        "the largest element of all, or along dim",
        "amax(x, dim=dim, keepdim=keepdim)",
        torch="max",
        torch_dim="one",
        torch_part="values",
        kind=Kind.DEFINED,
        statics=_REDUCED,
        caveat="as in torch, max(x, y) of two tensors is maximum, and max(x, 0) is along dimension 0; "
        "max([a, b]) of a list is Python's, the larger of the two",
        example="max(x) at x=1,5,3",
    ),
    Op(
        "min",
        _SIGNATURE,
        "the smallest element of all, or along dim",
        "amin(x, dim=dim, keepdim=keepdim)",
        torch="min",
        torch_dim="one",
        torch_part="values",
        kind=Kind.DEFINED,
        statics=_REDUCED,
        caveat="as in torch, min(x, y) of two tensors is minimum, and min(x, 0) is along dimension 0; "
        "min([a, b]) of a list is Python's, the smaller of the two",
        example="min(x) at x=1,5,3",
    ),
    Op(
        "var",
        ("x", "dim", "correction", "keepdim"),
        "the variance, the sum of squares divided by the count less the correction",
        "sum((x - mean(x, dim=dim, keepdim=True))**2, dim=dim, keepdim=keepdim)/(count(x, dim) - correction)",
        in_floats="s = sum((x - mean(x, dim=dim, keepdim=True))**2, dim=dim, keepdim=keepdim); "
        "s/maximum(count(x, dim) - correction, 0)",
        torch="var",
        kind=Kind.DEFINED,
        statics={"dim": None, "correction": 1, "keepdim": False},
        domain="more elements than the correction",
        elsewhere={"numpy": {"correction": 0}},
        slopes=("2*(x - center)/(size - correction)",),
        caveat="as in torch, correction=1 by default; np.var and jnp.var divide by the count, which is correction=0",
        example="var(x) at x=1,2,4",
    ),
    Op(
        "std",
        ("x", "dim", "correction", "keepdim"),
        "the standard deviation, the square root of var",
        "sqrt(var(x, dim=dim, correction=correction, keepdim=keepdim))",
        torch="std",
        kind=Kind.DEFINED,
        statics={"dim": None, "correction": 1, "keepdim": False},
        domain="more elements than the correction, not all equal",
        elsewhere={"numpy": {"correction": 0}},
        slopes=("(x - center)/(result*(size - correction))",),
        example="std(x) at x=1,2,4",
    ),
    Op(
        "norm",
        ("x", "p", "dim", "keepdim"),
        "the p-norm of the elements, 2 by default; p may be inf",
        "sqrt(sum(x**2, dim=dim, keepdim=keepdim))",
        aliases=("vector_norm",),
        torch="linalg.vector_norm",
        torch_keywords={"p": "ord"},
        kind=Kind.DEFINED,
        statics={"p": 2, "dim": None, "keepdim": False},
        domain="not all elements 0",
        caveat="of a matrix, it is the norm of all its elements; matrix norms are not read",
        spans_all=True,
        example="norm(x) at x=3,4",
    ),
)

SCANS = (
    Op(
        "cumsum",
        ("x", "dim"),
        "running sums along a dimension",
        torch="cumsum",
        numpy="cumsum",
        kind=Kind.SCAN,
        statics={"dim": None},
        elsewhere={"numpy": "cumsum(flatten(x), 0)", "tensorflow": {"dim": 0}},
        example="cumsum(x, dim=0) at x=1,2,3",
    ),
)

NORMALIZED = (
    Op(
        "logsumexp",
        _SIGNATURE,
        "log(sum(exp(x))) without overflow",
        "log(sum(exp(x), dim=dim, keepdim=keepdim))",
        in_floats="m = amax(x, dim=dim, keepdim=True); c = where(abs(m) == inf, 0, m); "
        "log(sum(exp(x - c), dim=dim, keepdim=keepdim)) + sum(c, dim=dim, keepdim=keepdim)",
        torch="logsumexp",
        torch_dim="needed",
        kind=Kind.DEFINED,
        statics=_REDUCED,
        slopes=("exp(x - result)",),
        example="logsumexp(x, dim=0) at x=1,2,3",
    ),
    Op(
        "softmax",
        ("x", "dim"),
        "exponentials divided by their sum along dim",
        "exp(x)/sum(exp(x), dim=dim, keepdim=True)",
        in_floats="e = exp(x - amax(x, dim=dim, keepdim=True)); e/sum(e, dim=dim, keepdim=True)",
        torch="softmax",
        kind=Kind.DEFINED,
        statics={"dim": None},
        computed="exp(x - detach(amax(x, dim=dim, keepdim=True)))"
        "/sum(exp(x - detach(amax(x, dim=dim, keepdim=True))), dim=dim, keepdim=True)",
        elsewhere={"jax": {"dim": -1}, "tensorflow": {"dim": -1}},
        caveat="dim may be left out where x has one dimension; jax.nn and tf.nn then take the last one",
        example="softmax(x, dim=0) at x=1,2,3",
    ),
    Op(
        "log_softmax",
        ("x", "dim"),
        "log(softmax(x)) without overflow",
        "x - log(sum(exp(x), dim=dim, keepdim=True))",
        in_floats="d = x - amax(x, dim=dim, keepdim=True); d - log(sum(exp(d), dim=dim, keepdim=True))",
        torch="log_softmax",
        kind=Kind.DEFINED,
        statics={"dim": None},
        computed="x - detach(amax(x, dim=dim, keepdim=True))"
        " - log(sum(exp(x - detach(amax(x, dim=dim, keepdim=True))), dim=dim, keepdim=True))",
        elsewhere={"jax": {"dim": -1}, "tensorflow": {"dim": -1}},
        caveat="dim may be left out where x has one dimension; jax.nn and tf.nn then take the last one",
        example="log_softmax(x, dim=0) at x=1,2,3",
    ),
)
