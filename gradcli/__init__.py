"""gradcli: vector-Jacobian products, Jacobians and their formulas, checked.

>>> import gradcli
>>> f = gradcli.Function("x**2")
>>> answer = f.vjp({"x": [1, 2]}, v=[1, 1])
>>> answer.vjp["x"]
array([2., 4.])
>>> answer.symbolic["x"].text
'2*x[i]*KroneckerDelta(i, j)'
>>> answer.check.verdict
'agree'

Importing the package imports neither torch nor SymPy; they come with the first function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from gradcli.function import Function
    from gradcli.results import (
        VJP,
        Check,
        Checking,
        Claim,
        Evaluation,
        Explanation,
        Finding,
        Formula,
        Gradient,
        Intermediate,
        Jacobian,
        Loss,
        Opinion,
        Products,
        Rewrite,
        Sampling,
        Source,
    )

__version__ = "0.1.0"

__all__ = [
    "VJP",
    "Check",
    "Checking",
    "Claim",
    "Evaluation",
    "Explanation",
    "Finding",
    "Formula",
    "Function",
    "GradcliError",
    "Gradient",
    "Intermediate",
    "Jacobian",
    "Loss",
    "Opinion",
    "Products",
    "Rewrite",
    "Sampling",
    "Source",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    from importlib import import_module

    if name in __all__:
        return getattr(import_module("gradcli.function" if name == "Function" else "gradcli.results"), name)
    raise AttributeError(f"module 'gradcli' has no attribute '{name}'")
