"""What every command answers, the same for the API and the shell.  Knows no formats; `gradcli.report` writes them."""

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
from gradcli.results.curvature import HVP, JVP, Hessian
from gradcli.results.explanation import Adjoint, Explanation, Loss, Notation, Step, Term
from gradcli.results.functions import FunctionEntry, FunctionPage, Functions, Listing, Meaning, Parameter
from gradcli.results.graph import BackwardGraph, Drawing, GraphEdge, GraphNode, GraphTensor
from gradcli.results.products import Products
from gradcli.results.source import Language, Source
from gradcli.results.streams import Block, Cells, Fault, Mapped, OnError, Passage, Quantity, RowSource
from gradcli.results.verdicts import SEVERITY, Array, Check, Claim, Finding, Of, Opinion, Rewrite, Sampling, Verdict

__all__ = [
    "HVP",
    "JVP",
    "SEVERITY",
    "VJP",
    "Adjoint",
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
    "Evaluation",
    "Explanation",
    "Fault",
    "Finding",
    "Formula",
    "FunctionEntry",
    "FunctionPage",
    "Functions",
    "Gradient",
    "GraphEdge",
    "GraphNode",
    "GraphTensor",
    "Hessian",
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
    "Opinion",
    "Parameter",
    "Passage",
    "Products",
    "Quantity",
    "Rewrite",
    "RowSource",
    "Sampling",
    "Source",
    "Step",
    "Term",
    "Verdict",
]
