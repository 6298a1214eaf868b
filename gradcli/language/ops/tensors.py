"""Operations that move elements: reductions, contractions, structure, and the sources of values.

All are primitives; their shape rules are in `gradcli.language.shapes`, and each reading has a rule of its own.
"""

from __future__ import annotations

from gradcli.language.ops.row import REQUIRED, Kind, Op

_REDUCED = {"dim": None, "keepdim": False}

REDUCTIONS = (
    Op(
        "sum",
        ("x", "dim", "keepdim"),
        "the sum over all elements, or over the dimensions dim",
        torch="sum",
        numpy="sum",
        kind=Kind.REDUCTION,
        statics=_REDUCED,
    ),
    Op(
        "mean",
        ("x", "dim", "keepdim"),
        "the mean over all elements, or over the dimensions dim",
        torch="mean",
        numpy="mean",
        kind=Kind.REDUCTION,
        statics=_REDUCED,
    ),
)

CONTRACTIONS = (
    Op(
        "matmul",
        ("a", "b"),
        "the matrix product a @ b",
        torch="matmul",
        numpy="matmul",
        kind=Kind.CONTRACTION,
    ),
)

STRUCTURE = (
    Op(
        "stack",
        ("x",),
        "the expressions of a list along a new first dimension",
        torch="stack",
        numpy="stack",
        kind=Kind.STRUCTURE,
        variadic=True,
    ),
    Op(
        "index",
        ("x", "key"),
        "elements chosen by constant indices and slices, x[key]",
        kind=Kind.STRUCTURE,
        statics={"key": REQUIRED},
    ),
    Op(
        "transpose",
        ("x", "dim0", "dim1"),
        "two dimensions swapped; x.T of two",
        aliases=("swapaxes",),
        kind=Kind.STRUCTURE,
        numpy="swapaxes",
        statics={"dim0": None, "dim1": None},
    ),
    Op(
        "reshape",
        ("x", "shape"),
        "the same elements in row-major order in another shape",
        aliases=("view",),
        torch="reshape",
        numpy="reshape",
        kind=Kind.STRUCTURE,
        statics={"shape": REQUIRED},
    ),
)

SOURCES = (
    Op(
        "linspace",
        ("start", "stop", "number"),
        "evenly spaced numbers, both ends included",
        numpy="linspace",
        kind=Kind.SOURCE,
    ),
    Op("arange", ("start", "stop", "step"), "start, start + step, ... below stop", numpy="arange", kind=Kind.SOURCE),
    Op("zeros", ("shape",), "zeros of a shape", numpy="zeros", kind=Kind.SOURCE, variadic=True),
    Op("ones", ("shape",), "ones of a shape", numpy="ones", kind=Kind.SOURCE, variadic=True),
    Op("eye", ("number",), "the identity matrix", numpy="eye", kind=Kind.SOURCE),
)

ROWS = REDUCTIONS + CONTRACTIONS + STRUCTURE + SOURCES
