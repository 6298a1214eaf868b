"""Torch's activations on -100..100, as the commands of the page on boxes see them.

`python -m tests.activations_table` renews the table of the guide.
"""

from collections.abc import Iterator

from gradcli import Function
from gradcli.questions.bound_function import Dtype
from gradcli.report.numbers import outward
from gradcli.results import BoxChecking, BoxRange
from tests import generated

PAGE = generated.GUIDE / "everywhere.md"

BOX = {"x": "-100..100"}

ACTIVATIONS = (
    "relu leaky_relu elu selu gelu silu mish softplus sigmoid logsigmoid tanh softsign hardsigmoid hardswish".split()
)

KEPT: tuple[tuple[Dtype, float], ...] = (("float64", 1e-12), ("float64", 1e-8), ("float32", 1e-4))
"""Formats and tolerances of the last columns: twelve, eight and four digits."""

DIGITS = 5
"""Digits of the bounds, which are rounded outward."""

HEADER = """| function | least | slopes | rises | convex | float64: 12 digits | 8 digits | float32: 4 digits |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def table() -> str:
    """Return all rows."""
    return HEADER + "".join(row(name) for name in ACTIVATIONS)


def row(name: str) -> str:
    """Make the row of a function: what `range` bounds, what `check --prove` proves, and where digits are kept."""
    function = Function(f"{name}(x)")
    bounds = function.range(box=BOX)
    assert isinstance(bounds, BoxRange)
    y, slope = bounds.bounds
    proved = function.check(box=BOX, prove="dy/dx >= 0; convex")
    assert isinstance(proved, BoxChecking)
    words = {"proved": "proved", "refuted": "no", "undecided": "open"}
    cells = [
        f"`{name}(x)`",
        outward(y.low, DIGITS, is_upper=False),
        f"{outward(slope.low, DIGITS, is_upper=False)}..{outward(slope.high, DIGITS, is_upper=True)}",
        *(words[one.status] for one in proved.proofs),
        *(", ".join(kept(function, dtype, rtol)) or "nowhere" for dtype, rtol in KEPT),
    ]
    return f"| {' | '.join(cells)} |\n"


def kept(function: Function, dtype: Dtype, rtol: float) -> Iterator[str]:
    """Name the stretches of the range in which torch's numbers are proved, but for slivers."""
    from gradcli.parts.everywhere.box_check import searched_regions

    regions = searched_regions(function._asked(None, dtype=dtype), BOX, rtol)
    good = [one in ("proved", "near-zero") for one in regions.verdicts.tolist()]
    order = regions.boxes.low[0].argsort(kind="stable")
    stretches: list[list[float]] = []
    for n in order.tolist():
        low, high = float(regions.boxes.low[0, n]), float(regions.boxes.high[0, n])
        if good[n] and stretches and low - stretches[-1][1] < 1e-6:
            stretches[-1][1] = high
        elif good[n]:
            stretches.append([low, high])
    yield from (f"{low:.3g}..{high:.3g}" for low, high in stretches if high - low > 1e-3)


if __name__ == "__main__":
    generated.renew(PAGE, "activations_table", table())
