"""Constant tensors made from numbers: what `torch.linspace` and its like give, in float64.

Their numbers are NumPy's, the same for every reading; see `gradcli.language.program.numeric`.
"""

from __future__ import annotations

from gradcli.language.ops.row import REQUIRED, Kind, Op


def _source(signature: str, doc: str, example: str, *, exact: bool = True, caveat: str = "", **statics: object) -> Op:
    name, _, parameters = signature.partition("(")
    names = tuple(parameters.rstrip(")").split(", "))
    values = {parameter: statics.get(parameter, REQUIRED) for parameter in names}
    facts = {"kind": Kind.SOURCE, "statics": values, "is_exact": exact, "caveat": caveat, "example": example}
    return Op(name, names, doc, **facts)  # type: ignore[arg-type]


_SEEDED = "NumPy's generator with this seed; torch's gives other numbers for the same seed"

ROWS = (
    _source(
        "linspace(start, end, steps)",
        "evenly spaced numbers, both ends included",
        "linspace(0, 1, 5)*x at x=2",
        exact=False,
    ),
    _source("arange(start, end, step)", "start, start + step, ... below end", "arange(4)*x at x=2", end=None, step=1),
    _source("zeros(shape)", "zeros of a shape", "x + zeros(2, 2) at x=1"),
    _source("ones(shape)", "ones of a shape", "x*ones(2, 2) at x=3"),
    _source("full(shape, fill_value)", "one number in every element of a shape", "x*full((2,), 0.5) at x=3"),
    _source("eye(n, m)", "the identity matrix", "x*eye(2) at x=3", m=None),
    _source(
        "randn(shape, seed)", "normal random numbers", "x*randn(2, seed=0) at x=3", exact=False, seed=0, caveat=_SEEDED
    ),
    _source(
        "rand(shape, seed)",
        "random numbers from 0 to 1",
        "x*rand(2, seed=0) at x=3",
        exact=False,
        seed=0,
        caveat=_SEEDED,
    ),
)
