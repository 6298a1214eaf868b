"""What every command answers, the same for the API and the shell.  Knows no formats; `gradcli.report` writes them.

answers                          of one function at a point: values, derivatives, their formulas
verdicts                         what was found of numbers and of claims
products, second_order           of several v; Ju, the Hessian and Hu
explain, graph, code, functions  of the commands of these names
streams                          of many points
"""

from gradcli.notation import Notation
from gradcli.results.answers import (
    VJP,
    Answer,
    Cell,
    Checking,
    Differentiation,
    Evaluation,
    Formula,
    Gradient,
    Intermediate,
    Jacobian,
    Judged,
)
from gradcli.results.code import Language, Source
from gradcli.results.explain import Adjoint, Explanation, Loss, Step, Term
from gradcli.results.functions import FunctionEntry, FunctionPage, Functions, Listing, Meaning, Parameter
from gradcli.results.graph import BackwardGraph, Drawing, GraphEdge, GraphNode, GraphTensor
from gradcli.results.products import Products
from gradcli.results.second_order import HVP, JVP, Hessian
from gradcli.results.streams import Block, Cells, Fault, Mapped, OnError, Quantity, RowSource, StreamSummary
from gradcli.results.verdicts import (
    NO_COUNTEREXAMPLE,
    SEVERITY,
    Allowed,
    Array,
    Check,
    Claim,
    Entry,
    Index,
    Of,
    Rewrite,
    Sampling,
    Verdict,
)

__all__ = [
    "HVP",
    "JVP",
    "NO_COUNTEREXAMPLE",
    "SEVERITY",
    "VJP",
    "Adjoint",
    "Allowed",
    "Answer",
    "Array",
    "BackwardGraph",
    "Block",
    "Cell",
    "Cells",
    "Check",
    "Checking",
    "Claim",
    "Differentiation",
    "Drawing",
    "Entry",
    "Evaluation",
    "Explanation",
    "Fault",
    "Formula",
    "FunctionEntry",
    "FunctionPage",
    "Functions",
    "Gradient",
    "GraphEdge",
    "GraphNode",
    "GraphTensor",
    "Hessian",
    "Index",
    "Intermediate",
    "Jacobian",
    "Judged",
    "Language",
    "Listing",
    "Loss",
    "Mapped",
    "Meaning",
    "Notation",
    "Of",
    "OnError",
    "Parameter",
    "Products",
    "Quantity",
    "Rewrite",
    "RowSource",
    "Sampling",
    "Source",
    "Step",
    "StreamSummary",
    "Term",
    "Verdict",
]
