"""What every command answers, the same for the API and the shell.  Knows no formats; `gradcli.report` writes them.

answers                          of one function at a point: values, derivatives, their formulas
verdicts                         what was found of numbers and of claims; rows of a stream
comparing                        when two answers are equal
views                            of explain, graph, code and functions
"""

from gradcli.notation import Notation
from gradcli.results.answers import (
    HVP,
    JVP,
    VJP,
    Answer,
    Cell,
    Checking,
    ClosedForm,
    Differentiation,
    Evaluation,
    Formula,
    Gradient,
    Hessian,
    Intermediate,
    Jacobian,
    Judged,
    Loss,
    Products,
    Reply,
)
from gradcli.results.verdicts import (
    NO_COUNTEREXAMPLE,
    SEVERITY,
    Allowed,
    Array,
    Block,
    Cells,
    Check,
    Claim,
    Entry,
    Fault,
    Index,
    Mapped,
    Of,
    OnError,
    Quantity,
    Rewrite,
    RowSource,
    Sampling,
    StreamSummary,
    Verdict,
)
from gradcli.results.views import (
    Adjoint,
    BackwardGraph,
    Drawing,
    Explanation,
    FunctionEntry,
    FunctionPage,
    Functions,
    GraphEdge,
    GraphNode,
    GraphTensor,
    Language,
    Listing,
    Meaning,
    Parameter,
    Source,
    Step,
    Term,
)

Result = Answer | ClosedForm | Functions | Source
"""What a command may answer with."""

__all__ = [
    "HVP", "JVP", "NO_COUNTEREXAMPLE", "SEVERITY", "VJP", "Adjoint", "Allowed", "Answer", "Array", "BackwardGraph",
    "Block", "Cell", "Cells", "Check", "Checking", "Claim", "ClosedForm", "Differentiation", "Drawing", "Entry",
    "Evaluation", "Explanation", "Fault", "Formula", "FunctionEntry", "FunctionPage", "Functions", "Gradient",
    "GraphEdge", "GraphNode", "GraphTensor", "Hessian", "Index", "Intermediate", "Jacobian", "Judged", "Language",
    "Listing", "Loss", "Mapped", "Meaning", "Notation", "Of", "OnError", "Parameter", "Products",
    "Quantity", "Reply", "Result", "Rewrite", "RowSource", "Sampling", "Source", "Step", "StreamSummary", "Term",
    "Verdict",
]  # fmt: skip
