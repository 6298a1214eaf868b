"""What the part adds to tables of the tests of the core."""

import numpy as np

from gradcli import Function
from gradcli.parts import is_listed

ANSWERS = {
    "Explanation": lambda: Function("sin(x)/3").explain({"x": [1.0, 2.0]}, "ones"),
    "BackwardGraph": lambda: Function("sum(sin(x)/3)").graph({"x": [1.0, 2.0]}),
}

GRADIENTS = {
    "parts/explain/differential.py": "the lines of a differential",
}

COMMAND_LINES = {
    ("parts/explain/graph_drawings.py", " and --to "): "files are written by the shell alone",
    ("parts/explain/graph_drawings.py", "leave out --to"): "files are written by the shell alone",
}

QUESTIONS = {
    "explain": ["sin(x)", "--at", "1,2", "--v", "1,1"],
    "graph": ["sum(sin(x))", "--at", "1,2"],
}

QUANTITIES = {"explain": ("vjp_x", np.cos([1.0, 2.0]))}

SHOWN = {
    "explained": 'explain "y = x**2; z = sin(y)*x" --at 1,2 --v 1,0.1',
    "explained-loss": 'explain "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --loss "sum((y - t)**2)/3" --at t=16,40',
    "explained-long": 'explain "sum(sin(x**k) for k in range(1, 9))" --at 0.3,0.4 --v ones',
    "graph": 'graph "y = x**2; z = sin(y)*c" --at x=1,2,3 --at c=2 --wrt x --v ones --show y',
}

COLORED = dict.fromkeys(["explained", "graph"])

LONG = dict.fromkeys(["explained-long"])

RECORDED = dict.fromkeys(["explain", "graph"])

if is_listed("improve"):  # which adds a better form
    SHOWN |= {
        "explained-trap": 'explain "where(x > 0, sqrt(x), -x)" --at -1,4 --v ones',
    }
    LONG |= dict.fromkeys(["explained-trap"])
