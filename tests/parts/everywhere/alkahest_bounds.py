"""The least value of a published function by alkahest, as a process: `python -m … NAME`.

Its bounds are proved too, by Taylor models with branch and bound.  What is printed is JSON: the bounds, the boxes, the
seconds from the text on, and why there are none.
"""

import json
import sys
import time
from importlib import import_module
from typing import Any

from tests.parts.everywhere.published_minima import PUBLISHED

TOLERANCE = 1e-6
"""As gradcli has it."""


def bounded(name: str) -> dict[str, Any]:
    """Bound a function in its range."""
    alkahest = import_module("alkahest")
    case = next(one for one in PUBLISHED if one.name == name)
    start, pool = time.perf_counter(), alkahest.ExprPool()
    variables = {name: pool.symbol(name) for name in ("x", "y")}
    box = [(one, float(case.low), float(case.high)) for one in variables.values()]
    try:
        found = alkahest.bound_on_box(alkahest.parse(case.text, pool, variables), box, tol=TOLERANCE)
    except ValueError as error:
        return {"refused": str(error).partition("\n")[0]}
    seconds = time.perf_counter() - start
    return {"low": found.lower, "boxes": found.subdivisions, "seconds": seconds, "is_cut": found.budget_exhausted}


if __name__ == "__main__":
    print(json.dumps(bounded(sys.argv[1])))
