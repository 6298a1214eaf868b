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

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all else here
if TYPE_CHECKING:
    from typing import Any

    from gradcli.errors import GradcliError
    from gradcli.function import Function
    from gradcli.results import (
        HVP,
        JVP,
        VJP,
        Adjoint,
        Answer,
        BackwardGraph,
        Block,
        Cell,
        Check,
        Checking,
        Claim,
        Differentiation,
        Evaluation,
        Explanation,
        Fault,
        Finding,
        Formula,
        Gradient,
        GraphEdge,
        GraphNode,
        GraphTensor,
        Hessian,
        Intermediate,
        Jacobian,
        Judged,
        Loss,
        Mapped,
        Notation,
        Opinion,
        Products,
        Quantity,
        Rewrite,
        RowSource,
        Sampling,
        Source,
        Step,
        StreamSummary,
        Term,
    )

__version__ = "0.1.0"

__all__ = [
    "HVP",
    "JVP",
    "VJP",
    "Adjoint",
    "Answer",
    "BackwardGraph",
    "Block",
    "Cell",
    "Check",
    "Checking",
    "Claim",
    "Differentiation",
    "Evaluation",
    "Explanation",
    "Fault",
    "Finding",
    "Formula",
    "Function",
    "GradcliError",
    "Gradient",
    "GraphEdge",
    "GraphNode",
    "GraphTensor",
    "Hessian",
    "Intermediate",
    "Jacobian",
    "Judged",
    "Loss",
    "Mapped",
    "Notation",
    "Opinion",
    "Products",
    "Quantity",
    "Rewrite",
    "RowSource",
    "Sampling",
    "Source",
    "Step",
    "StreamSummary",
    "Term",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    from importlib import import_module

    if name in __all__:
        homes = {"Function": "gradcli.function", "GradcliError": "gradcli.errors"}
        return getattr(import_module(homes.get(name, "gradcli.results")), name)
    raise AttributeError(f"module 'gradcli' has no attribute '{name}'")
