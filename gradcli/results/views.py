"""Answers of the commands that show a function in other ways: explain, improve, graph, code and functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import ClassVar, Literal

from gradcli.arrays import Array
from gradcli.notation import Notation
from gradcli.results.answers import VJP, Answer, Differentiation, Gradient, Loss, Reply
from gradcli.results.box_answers import OnBox
from gradcli.results.derivative_formulas import ClosedForm
from gradcli.results.pictures import Plotted
from gradcli.results.record import Record, if_empty, if_none, if_whole, json_field, json_property
from gradcli.results.verdicts import Verdict

# -- explain

MOST_LOCAL = 10_000
"""Most numbers of a local derivative that JSON has, as many as of a Jacobian."""


class Step(Record):
    """One line of the forward pass: `name = operation`, and its value.

    Attributes:
        name: The name of the line.
        operation: The single operation that it computes.
        value: Of the line's shape; a condition has booleans.
    """

    name: str
    operation: Notation
    value: Array


class Term(Record, kw_only=True):
    """The contribution of one line to the adjoint of one of its operands.

    Attributes:
        source: The name of the line.
        rule: The rule of differentiation that gives it, by its name.
        derivative: The local derivative, or what the line adds to the adjoint; None if it is too long.
        entry: The elements that `derivative` is of and by, if not the whole: `y` by `x[j]`.
        equation: The line of the gradient: what the line adds to the adjoint; None if it is too long.
        factors: The numbers of this product; none where they show no more than the value.
        words: The rule in words, or a remark.
        local: The local derivative: of the line's shape if the line is elementwise, of the operand's if the line is
            one number, else line.shape + operand.shape; None where that is too large.
        is_elementwise: Whether the line is elementwise, so that `local` is multiplied element by element.
        summed: Whether the product is summed over dimensions that were stretched.
        value: The contribution, of the operand's shape.
    """

    source: str = json_field("from")
    rule: str = json_field("rule_name", omit=if_empty, default="")
    derivative: Notation | None = json_field(None, default=None)
    entry: tuple[str, str] = json_field(omit=lambda term, entry: not all(entry), default=("", ""))
    equation: Notation | None = json_field(None, default=None)
    factors: tuple[Array, ...] = json_field(None, default=())
    words: str = json_field("rule", omit=if_empty, default="")
    local: Array | None = json_field(
        omit=lambda term, local: local is None or local.size > MOST_LOCAL,
        default=None,
    )
    is_elementwise: bool = json_field(None, default=False)
    summed: bool = json_field(None, default=False)
    value: Array

    @property
    @json_property(omit=if_empty, before="rule")
    def formula(self) -> str:
        """The local derivative in the language; empty if it is too long."""
        return "" if self.derivative is None else self.derivative.text


class Adjoint(Record, kw_only=True):
    """The adjoint ∂(v·y)/∂line of a line or a variable: the sum of its terms.

    Attributes:
        name: The name of the line or variable.
        notation: The notation of its adjoint.
        value: Of the line's shape.
        verdict: The verdict on its numbers; None if no check was asked for.
        terms: At most 12, in the order of the lines they come from.
        terms_count: The number of all terms.
    """

    name: str
    notation: Notation = json_field(None)
    value: Array
    verdict: Verdict | None = json_field(omit=if_none, default=None)
    terms: tuple[Term, ...]
    terms_count: int = json_field(omit=if_whole("terms"))

    @property
    @json_property("rule_name", omit=if_empty, before="verdict")
    def rule(self) -> str:
        """The name of the rule of differentiation that gives the adjoint; "" for the output, whose adjoint is v."""
        if self.terms_count > 1:
            return "sum over uses"
        return self.terms[0].rule if self.terms else ""


def _loss_that_agrees(answer: Explanation) -> Loss | None:
    return answer.loss and replace(answer.loss, agrees=answer.loss_agrees)


class DifferentialLine(Record, kw_only=True):
    """One line of a differential: how a value changes where what it depends on changes a little.

    Attributes:
        name: The name of the value.
        of: The text of the value, where the text of the function has no name for it; else empty.
        change: The change, to first order, in the changes `dx` of what it depends on.
    """

    name: str
    of: str = json_field(omit=if_empty, default="")
    change: Notation


class Explanation(Differentiation, kw_only=True):
    """The chain rule step by step: forward, v, backward, vᵀJ.

    Attributes:
        v: The gradient vector.
        steps: The lines of the forward pass; of a long one, its ends.
        steps_count: How many lines there are.
        adjoints: From the output to the variables; of many, the ends.
        adjoints_count: How many there are.
        loss: The loss that v is the derivative of, if one was given.
        loss_agrees: Whether vᵀJ equals the gradient of the loss of the function, up to rounding.
        differential: The differential of a function of vectors and matrices, from the value to the variables.
        gradients: What it says the gradients are, by variable, in whole tensors.
    """

    asks = "vjp"

    output: str
    v: Array
    steps: tuple[Step, ...]
    steps_count: int = json_field(omit=if_whole("steps"))
    adjoints: tuple[Adjoint, ...]
    adjoints_count: int = json_field(omit=if_whole("adjoints"))
    loss: Loss | None = json_field(omit=if_none, made=_loss_that_agrees, default=None)
    loss_agrees: bool | None = json_field(None, default=None)
    differential: tuple[DifferentialLine, ...] = json_field(omit=if_empty, default=())
    gradients: Mapping[str, Notation] = json_field("matrix", omit=if_empty, default_factory=dict)

    @property
    @json_property(before="steps")
    def vjp(self) -> Mapping[str, Array]:
        """The vector-Jacobian product per variable."""
        return self.arrays("vjp")


# -- improve

Outcome = Literal["better", "fine", "none"]
"""Outcome: a better form was found; the function as typed is fine; or no better form was found."""

Bits = tuple[int | None, ...]
"""Lost bits of each place; None where the truth is not known."""


class Strip(Record):
    """Lost bits at some magnitudes of a variable: the most over the points around each.

    Attributes:
        variable: The name of the variable; empty where the places are points.
        places: The magnitudes as numbers of the variable, or the labels of points.
        before: The bits lost by the function as typed.
        after: The bits lost by the better form; empty where there is none.
    """

    variable: str = json_field(omit=if_empty)
    places: tuple[float | str, ...]
    before: Bits
    after: Bits = json_field(omit=if_empty, default=())


class BitsLost(Record):
    """Lost bits over all points.

    Attributes:
        worst: The most bits lost at one point.
        mean: The mean over the points.
    """

    worst: int
    mean: float


class Improvement(Reply, kw_only=True):
    """The form of a function that loses the fewest digits at points, or over a range.

    Attributes:
        output: The name of y.
        dtype: `float64` or `float32`, the dtype in which digits are lost.
        points: The number of points measured.
        inputs: The values that were given, by variable.
        ranges: The ranges that were given, by variable, as typed.
        wrt: The variables of the derivative, in order.
        outcome: Whether there is a better form.
        form: The text of the better form; the text as typed, where there is none.
        reasons: The problems that it avoids.
        same: The evidence that it is the same function: `proved`, or `enclosed` at points alone; empty for the text
            as typed.
        domain: The points at which it is known to be the same, in words.
        switches: The conditions on which one form takes over from another, such as `x < 0.5`.
        bits: The bits of a number of the dtype.
        before: The bits lost by the function as typed; None where that is not known.
        after: The bits lost by the better form.
        still_lost: What the better form still loses more than a check lets pass, and where, in words; empty if nothing.
        proved_bits: The bits that it, or the text as typed, is proved to lose at most at every point of the ranges.
        strips: The lost bits by magnitude, a strip a variable.
        notes: Further remarks.

    >>> from gradcli import Function
    >>> answer = Function("1 - cos(x)").improve({"x": 1e-8})
    >>> answer.form, answer.same, answer.before.worst, answer.passed
    ('2*sin(x/2)**2', 'proved', 53, True)
    """

    output: str = json_field(None)
    dtype: str
    points: int
    inputs: Mapping[str, Array]
    ranges: Mapping[str, str] = json_field("in", omit=if_empty)
    wrt: tuple[str, ...]
    outcome: Outcome
    form: str
    reasons: tuple[str, ...] = json_field(omit=if_empty, default=())
    same: Literal["", "proved", "enclosed"] = json_field(omit=if_empty, default="")
    domain: str = json_field(omit=if_empty, default="")
    switches: tuple[str, ...] = json_field(omit=if_empty, default=())
    bits: int
    before: BitsLost | None = json_field(omit=if_none, default=None)
    after: BitsLost | None = json_field(omit=if_none, default=None)
    still_lost: str = json_field(omit=if_empty, default="")
    proved_bits: int | None = json_field(omit=if_none, default=None)
    strips: tuple[Strip, ...] = json_field(omit=if_empty, default=())
    notes: tuple[str, ...] = json_field(omit=if_empty, default=())

    @property
    @json_property(before="warnings")
    def passed(self) -> bool:
        """Tell whether the function as typed is fine, or a better form was found that keeps digits everywhere."""
        return self.outcome != "none" and not self.still_lost


# -- graph

Drawing = Literal["", "tree", "table", "dot"]
"""Drawing of a graph: the tree and the table for "", one of them, or the source for Graphviz."""


class GraphTensor(Record, kw_only=True):
    """A tensor with the attributes that autograd gives it, as read from torch.

    Attributes:
        name: The name of the variable, the statement or the output.
        data: Its numbers; a condition is boolean.
        requires_grad: Whether autograd records the operations on it.
        grad: Of its shape; None where torch holds none.
        grad_fn: The operation that made it; None for a leaf.
        is_leaf: Whether it is not the result of a recorded operation.
        retains_grad: Whether it keeps its gradient although it is no leaf.
    """

    name: str
    data: Array
    requires_grad: bool
    grad: Array | None
    grad_fn: str | None
    is_leaf: bool
    retains_grad: bool

    @property
    @json_property(before="data")
    def shape(self) -> tuple[int, ...]:
        """The shape of its numbers."""
        return self.data.shape


class GraphNode(Record):
    """An operation of the backward pass.

    Attributes:
        id: Its number in breadth-first order from the output, which is 0.
        name: Its name in torch, `MulBackward0`.
        line: The text of the operation; empty for an `AccumulateGrad`.
        tensors: The names of the result of its forward operation; several names are one tensor.
        variable: The variable to whose gradient an `AccumulateGrad` adds.
        value: The result of its forward operation, or the variable; None if torch alone has it, or it is large.
        adjoint: The gradient that arrived there, of the value's shape; of a variable its `.grad`; None without one.
        rule: The rule of differentiation by which the operation hands it on, by its name.
    """

    id: int
    name: str
    line: str = json_field(omit=if_empty, default="")
    tensors: tuple[str, ...] = json_field(omit=if_empty, before="line", default=())
    variable: str = json_field(omit=if_empty, default="")
    value: Array | None = json_field(None, default=None)
    adjoint: Array | None = json_field(None, default=None)
    rule: str = json_field(omit=if_empty, before="variable", default="")


class GraphEdge(Record):
    """A flow of the gradient from one node to another.

    Attributes:
        source: The id of the node that it leaves.
        target: The id of the node that it reaches.
        input: The input of the source's forward operation that it belongs to, from 0.
    """

    source: int
    target: int
    input: int


def _edges_in_numbers(graph: BackwardGraph) -> tuple[tuple[int, int, int], ...]:
    """List source, target and input of each edge."""
    return tuple((edge.source, edge.target, edge.input) for edge in graph.edges)


class BackwardGraph(Answer, kw_only=True):
    """The backward graph, and the tensors after the backward pass if there was one.

    Attributes:
        v: The gradient vector of the backward pass; None if there was none.
        tensors: The variables, the named values and the output, in this order.
        nodes: In breadth-first order from the output.
        edges: In the order of their sources and inputs.
        notes: Remarks about the tensors.
        drawing: The way to draw it.
    """

    v: Array | None = json_field(omit=if_none)
    tensors: tuple[GraphTensor, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...] = json_field(made=_edges_in_numbers)
    notes: tuple[str, ...] = json_field(omit=if_empty, default=())
    drawing: Drawing = json_field(None, default="")


# -- code

Language = Literal["torch", "numpy", "latex"]
"""Language of a script."""


class Source(Reply, kw_only=True):
    """A question as a script that computes vᵀJ.

    Attributes:
        dtype: `float64` or `float32`.
        inputs: The value of every variable, an array of `dtype`.
        wrt: The variables of the derivative, in order.
        language: The language of the script.
        source: The script, with its last newline.
    """

    dtype: str
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...]
    language: Language
    source: str


# -- functions


class Parameter(Record):
    """A parameter of a function.

    Attributes:
        name: The keyword.
        is_constant: Whether it takes a constant, such as a dimension; the others take expressions.
        is_required: Whether it has no default.
        default: The value where it is left out.
    """

    name: str
    is_constant: bool = json_field("constant")
    is_required: bool = json_field("required")
    default: int | float | bool | str | tuple[int, ...] | None = json_field(
        omit=lambda parameter, default: parameter.is_required, default=None
    )


class FunctionEntry(Record, kw_only=True):
    """A function of the language, as the list of functions has it.

    Attributes:
        name: The name in the language.
        group: The group that it is listed under.
        usage: The call with its defaults, `var(x, dim=None, correction=1, keepdim=False)`.
        parameters: In torch's order.
        aliases: Other names that are called in the same way.
        spellings: Other ways to write it: operators, methods, names of modules.
        doc: Its meaning in one line.
        domain: The condition on the parameters under which the value is real; empty if it always is.
        kinks: Expressions of the parameters that vanish where the derivative jumps.
        is_step: Whether the value jumps there too.
        caveat: A further remark.
    """

    name: str
    group: str
    usage: str
    parameters: tuple[Parameter, ...]
    aliases: tuple[str, ...]
    spellings: tuple[str, ...]
    doc: str
    domain: str = ""
    kinks: tuple[str, ...] = ()
    is_step: bool = json_field("step", default=False)
    caveat: str = ""


class Listing(Record):
    """Rows of the list of functions.

    Attributes:
        entries: In the order of the groups.
        word: The word that was searched for; empty for the whole list.
        is_brief: Whether to show only the names of each group.
    """

    entries: tuple[FunctionEntry, ...] = json_field(None)
    word: str = json_field(None, default="")
    is_brief: bool = json_field(None, default=False)

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The names of the functions, group by group."""
        grouped = groupby(self.entries, key=lambda entry: entry.group)
        return [(group, [entry.name for entry in rows]) for group, rows in grouped]


def _example_with_command(page: FunctionPage) -> Mapping[str, str | VJP | Gradient]:
    return {"command": page.example_command, "answer": page.example}


class FunctionPage(Listing, kw_only=True):
    """The page of one function, the only one of its list.

    Attributes:
        meaning: Its definition in the language, or a sentence in its place.
        example_command: The command line of the example.
        example: The answer of the example.
    """

    meaning: str
    example_command: str = json_field(None)
    example: VJP | Gradient = json_field(made=_example_with_command)

    @property
    def entry(self) -> FunctionEntry:
        """The row of the function in the list."""
        return self.entries[0]


class Functions(Record):
    """Answer of the command `functions`: pages and lists, in the order asked for."""

    command: ClassVar[str] = "functions"

    parts: tuple[Listing, ...]
    warnings: tuple[str, ...] = ()


Result = Answer | ClosedForm | Functions | Improvement | OnBox | Plotted | Source
"""Any answer of a command."""
