"""Derivatives that a snippet of PyTorch takes itself, as operations: what `torch.autograd.grad` gives is a tensor.

They have no names in the language.  Torch runs them; for the other readings `gradcli.reference.adjoint` writes them as
lines of the language.
"""

from __future__ import annotations

from gradcli.language.ops.row import REQUIRED, Kind, Op

ROWS = (
    Op(
        "gradient",
        ("y", "x", "v"),
        "vᵀJ of y by x, of x's shape; without v, y has one element",
        kind=Kind.DERIVATIVE,
    ),
    Op("jacobian", ("y", "x"), "J of y by x, of shape y.shape + x.shape", kind=Kind.DERIVATIVE),
    Op(
        "alias",
        ("x", "number"),
        "x as the argument of a function that is differentiated by it: no other tensor is this one",
        kind=Kind.DERIVATIVE,
        statics={"number": REQUIRED},
    ),
)
