"""Generated scripts run in this process, and what they print; command lines as arguments of `Function`."""

import ast
import contextlib
import io
import warnings
from collections.abc import Mapping
from typing import Any
from unittest import mock

import numpy as np

from gradcli import Function
from gradcli.crosscheck.formulas import Derived
from gradcli.language.inputs import Value
from gradcli.questions.bound_function import BoundFunction, Dtype
from gradcli.results import VJP, Language

Edge = tuple[str, dict[str, str], str | None]

EDGES: list[Edge] = [
    ("cumsum([1, 2], 0)[1]*x + [[3, 4]].T.sum() + [[1, 2], [3, 4]].sum() + sum(7) + [5].numel()", {"x": "1.5"}, None),
    ("(x**2)**x + x**2**x + 2**-x - -x + -(-x)", {"x": "1.1,2.3"}, "ones"),
    ("x**(1/3) + x/3 - 1/3*x + pi*x**E + 0.1*x + 1e-300*x", {"x": "1.1,2.3"}, "ones"),
    ("x.prod(dim=(0, 1)) + x.prod(dim=1).sum() + x.amax((0,), keepdim=True).sum()", {"x": "[[1.1,2.3],[3,4]]"}, None),
    ("x*zeros(3, 3) + x*randn(3, seed=1) + eye(3)*x + linspace(0, 1, 3) + full((3, 3), 1/3)*x", {"x": "2"}, "ones"),
    ("-x**2 + (-x)**2 - (x - (1 - x)) / (x / (2 / x))", {"x": "1.1,2.3"}, "ones"),
    ("where(((x > 0) | (x < -1)) & ~(x > 2), x**2, -x)", {"x": "-2,-0.5,1,3"}, "ones"),
    ("n = x.numel(); x/n + x**n + (n - 1)*x + n/2 + sqrt(n)*x", {"x": "1.1,2.3,3.1"}, "ones"),
    ("[x, 1, [1, 2, 3]*y, x*y]", {"x": "1.1,2.3,3.7", "y": "0.3"}, "ones"),
    ("stack([x, y], dim=1) + cat([x, y]).view(2, 3).T", {"x": "1.1,2.3,3.7", "y": "1,2,3"}, "ones"),
    (
        "zeros(4).index_add(0, i, x)[i]*A[i, [0, 1, 1]] + A.T.index_select(1, i).sum()",
        {"x": "1.1,2.3,3", "A": "[[1.1,2.3],[3,4],[5,6.5]]", "i": "2,0,2"},
        "ones",
    ),
    (
        "A.index_add(1, i, B)**2 + A.gather(0, j)",
        {"A": "[[1.1,2],[3,4]]", "B": "[[1],[2]]", "i": "[1]", "j": "[[1,0],[0,0]]"},
        "ones",
    ),
    ("std(x, dim=1, correction=0) + var(x, 0, keepdim=True)", {"x": "[[1.1,2.3],[3,4.5]]"}, "ones"),
    ("x[0, ..., None] + x[-1, :1, None] + x.T[1:, :1].sum()", {"x": "[[1.1,2.3,3],[3,4,5]]"}, "ones"),
    ("pad(x, (1, -1), value=0.5) + x.roll(1) + x.flip(0) + x.expand(3, -1)[2]", {"x": "1.1,2.3,3.7"}, "ones"),
    ("x.detach()*y + zeros_like(z)", {"x": "1.5", "y": "2", "z": "3"}, None),
    ("3", {}, None),
    ("y = x**2; z = y**3", {"x": "1,2"}, "z*x - softmax(z, 0) + [1, 1/3]"),
    ("x**2", {"x": "linspace(0,1,20).view(4,5)"}, "e2_3"),
]
"""Functions, their points and v: precedence, constants, sizes, lists, dimensions, v."""


def ran(
    text: str, at: Mapping[str, Value] | None, v: Value | None, to: Language, dtype: Dtype = "float64"
) -> tuple[str, dict[str, Any], VJP]:
    """The script of a question, its names once it has run, and the answer in numbers alone."""
    function = Function(text)
    source = function.code(at, v, dtype=dtype, to=to).source
    with mock.patch.object(BoundFunction, "derived", Derived({})):  # formulas take most of the time
        answer = function.vjp(at, v, dtype=dtype, check=False)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return source, run_script(source)[0], answer


def run_script(source: str) -> tuple[dict[str, Any], str]:
    """The names of a script that has run, and its output.

    Every `print(...)` leaves what it prints under `printed`, so that all its digits can be compared.
    """
    tree = ast.parse(source)
    printed: list[Any] = []
    out = io.StringIO()

    def show(*values: object) -> None:
        printed.extend(values)
        print(*values, file=out)

    names: dict[str, Any] = {"print": show}
    with contextlib.redirect_stderr(io.StringIO()):
        exec(compile(tree, "<script>", "exec"), names)
    return names | {"printed": printed}, out.getvalue()
