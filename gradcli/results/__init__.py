"""What every command answers, the same for the API and the shell.  Knows no formats; `gradcli.report` writes them.

answers                          of one function at a point: values, derivatives, their formulas
verdicts                         what was found of numbers and of claims; rows of a stream
improve                          the best form of a function, and what it loses
comparing                        when two answers are equal
views                            of explain, graph, code and functions
"""

from gradcli.notation import Notation as Notation
from gradcli.results.answers import (
    HVP as HVP,
    JVP as JVP,
    VJP as VJP,
    Abbreviation as Abbreviation,
    Answer as Answer,
    Cell as Cell,
    Checking as Checking,
    ClosedForm as ClosedForm,
    Differentiation as Differentiation,
    Evaluation as Evaluation,
    Formula as Formula,
    Gradient as Gradient,
    Hessian as Hessian,
    Intermediate as Intermediate,
    Jacobian as Jacobian,
    Judged as Judged,
    Loss as Loss,
    Pass as Pass,
    Products as Products,
    Reply as Reply,
)
from gradcli.results.improve import BitsLost as BitsLost, Improvement as Improvement, Outcome as Outcome, Strip as Strip
from gradcli.results.verdicts import (
    NO_COUNTEREXAMPLE as NO_COUNTEREXAMPLE,
    SEVERITY as SEVERITY,
    Allowed as Allowed,
    Array as Array,
    Block as Block,
    Cells as Cells,
    Check as Check,
    Claim as Claim,
    Entry as Entry,
    Fault as Fault,
    Index as Index,
    Mapped as Mapped,
    Of as Of,
    OnError as OnError,
    Quantity as Quantity,
    Rewrite as Rewrite,
    RowSource as RowSource,
    Sampling as Sampling,
    StreamSummary as StreamSummary,
    Verdict as Verdict,
)
from gradcli.results.views import (
    Adjoint as Adjoint,
    BackwardGraph as BackwardGraph,
    Drawing as Drawing,
    Explanation as Explanation,
    FunctionEntry as FunctionEntry,
    FunctionPage as FunctionPage,
    Functions as Functions,
    GraphEdge as GraphEdge,
    GraphNode as GraphNode,
    GraphTensor as GraphTensor,
    Language as Language,
    Listing as Listing,
    Meaning as Meaning,
    Parameter as Parameter,
    Source as Source,
    Step as Step,
    Term as Term,
)

Result = Answer | ClosedForm | Functions | Improvement | Source
"""What a command may answer with."""
