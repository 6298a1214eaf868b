"""What the commands answer that look at a function otherwise: explain, improve, graph, code and functions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Literal

from gradcli.notation import Notation
from gradcli.results.answers import VJP, Answer, ClosedForm, Differentiation, Gradient, Loss, Reply
from gradcli.results.record import Record
from gradcli.results.verdicts import Array, Verdict

# -- explain


class Step(Record):
    """One line of the forward pass: `name = operation`, and its value.

    Attributes:
        name: Of the line.
        operation: What it computes, one operation deep.
        value: Of the line's shape; a condition has booleans.
    """

    name: str
    operation: Notation
    value: Array


class Term(Record, kw_only=True):
    """What one line adds to the adjoint of something that it uses.

    Attributes:
        source: The name of the line.
        rule: The rule of differentiation that gives it, by its name.
        derivative: The local derivative, or the rule for the adjoint; None if there is none.
        entry: What `derivative` is of, where that is not the whole: `y` by `x[j]`.
        equation: The adjoint of the line times the local derivative, or the rule that stands for it.
        factors: The numbers of this product; none where they say no more than the value.
        words: The rule in words, or a remark.
        local: The local derivative: of the line's shape if the line is elementwise, of the operand's if the line is
            one number, else line.shape + operand.shape; None where that is too large.
        is_elementwise: Whether the line is, so that `local` is multiplied element by element.
        summed: Whether the product is summed over dimensions that were stretched.
        value: What is added, of the operand's shape.
    """

    source: str
    rule: str = ""
    derivative: Notation | None = None
    entry: tuple[str, str] = ("", "")
    equation: Notation | None = None
    factors: tuple[Array, ...] = ()
    words: str = ""
    local: Array | None = None
    is_elementwise: bool = False
    summed: bool = False
    value: Array

    @property
    def formula(self) -> str:
        """The local derivative in SymPy's notation; empty if there is none."""
        return "" if self.derivative is None else self.derivative.text


class Adjoint(Record, kw_only=True):
    """The adjoint ∂(v·y)/∂line of a line or a variable: the sum of its terms.

    Attributes:
        name: Of the line or variable.
        notation: How its adjoint is written.
        value: Of the line's shape.
        terms: At most `explain.MOST_TERMS`, in the order of the lines they come from.
        terms_count: How many there are.
        verdict: Of its numbers; None if no check was asked for.
    """

    name: str
    notation: Notation
    value: Array
    terms: tuple[Term, ...]
    terms_count: int
    verdict: Verdict | None = None

    @property
    def rule(self) -> str:
        """The rule of differentiation that gives it, by its name; none of the output, whose adjoint is v."""
        if self.terms_count > 1:
            return "sum over uses"
        return self.terms[0].rule if self.terms else ""


class Explanation(Differentiation, kw_only=True):
    """The chain rule step by step: forward, v, backward, vᵀJ.

    Attributes:
        v: The gradient vector.
        vjp: The vector-Jacobian product per variable.
        steps: The lines of the forward pass; of a long one, its ends.
        steps_count: How many lines there are.
        adjoints: From the output to the variables; of many, the ends.
        adjoints_count: How many there are.
        loss: Where v comes from, if it is from a loss.
        loss_agrees: Whether vᵀJ equals the gradient of the loss of the function, up to rounding.
    """

    v: Array
    vjp: Mapping[str, Array]
    steps: tuple[Step, ...]
    steps_count: int
    adjoints: tuple[Adjoint, ...]
    adjoints_count: int
    loss: Loss | None = None
    loss_agrees: bool | None = None


# -- improve

Outcome = Literal["better", "fine", "none"]
"""A better form was found; what is typed needs none; or no better form was found."""

Bits = tuple[int | None, ...]
"""Bits that are lost; None where the truth is not known."""


class Strip(Record):
    """Bits that are lost at some magnitudes of a variable: the most of all points around each.

    Attributes:
        variable: Its name; empty where the places are points.
        places: The magnitudes as numbers of the variable; or what the points are called.
        before: By the function as it is typed.
        after: By the better form; empty where there is none.
    """

    variable: str
    places: tuple[float | str, ...]
    before: Bits
    after: Bits = ()


class BitsLost(Record):
    """The bits that are lost over all points.

    Attributes:
        worst: The most at one point.
        mean: Over the points.
    """

    worst: int
    mean: float


class Improvement(Reply, kw_only=True):
    """The form of a function that loses the fewest digits at points, or over a range.

    Attributes:
        output: What y is called.
        dtype: `float64` or `float32`, which the digits are lost in.
        inputs: The values that were given, by variable.
        ranges: The ranges that were given, by variable, as typed.
        outcome: Whether there is a better form.
        form: Its text; what is typed, where there is none.
        reasons: What it avoids.
        same: How it is known to be the same function: `proved`, or `enclosed` at points alone; empty where it is what
            is typed.
        domain: Where it is the same.
        switches: Where one form takes over from another in it, such as `x < 0.5`.
        bits: Of a number of the dtype.
        points: How many points were measured.
        before: What is lost by the function as it is typed; None where that is not known.
        after: What is lost by the better form.
        strips: The same by magnitude, a strip a variable.
        notes: What else there is to say.

    >>> from gradcli import Function
    >>> answer = Function("1 - cos(x)").improve({"x": 1e-8})
    >>> answer.form, answer.same, answer.before.worst, answer.passed
    ('2*sin(x/2)**2', 'proved', 53, True)
    """

    output: str
    dtype: str
    inputs: Mapping[str, Array]
    ranges: Mapping[str, str]
    outcome: Outcome
    form: str
    reasons: tuple[str, ...] = ()
    same: Literal["", "proved", "enclosed"] = ""
    domain: str = ""
    switches: tuple[str, ...] = ()
    bits: int
    points: int
    before: BitsLost | None = None
    after: BitsLost | None = None
    strips: tuple[Strip, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether a better form was found, or nothing needs one."""
        return self.outcome != "none"


# -- graph

Drawing = Literal["", "tree", "table", "dot", "mermaid"]
"""What to draw of a graph for people: the tree and the table, one of them, or the source of a picture."""


class GraphTensor(Record, kw_only=True):
    """A tensor with the attributes that autograd gives it, as read from torch.

    Attributes:
        name: Of the variable, the statement or the output.
        data: Its numbers; a condition is boolean.
        requires_grad: Whether autograd records what is done with it.
        grad: Of its shape; None where torch holds none.
        grad_fn: The operation that made it; None for a leaf.
        is_leaf: Whether nothing that is recorded made it.
        retains_grad: Whether it keeps its gradient although it is no leaf.
    """

    name: str
    data: Array
    requires_grad: bool
    grad: Array | None
    grad_fn: str | None
    is_leaf: bool
    retains_grad: bool


class GraphNode(Record):
    """An operation of the backward pass.

    Attributes:
        id: Its number in breadth-first order from the output, which is 0.
        name: As torch has it, `MulBackward0`.
        line: The text that it comes from; empty for an `AccumulateGrad`.
        tensors: What the result of its forward operation is called; several names are one tensor.
        variable: Whose gradient an `AccumulateGrad` adds to.
        value: Of the result of its forward operation, or of the variable; None of what torch alone has, or is large.
        adjoint: What the backward pass brought there, of the value's shape; of a variable its `.grad`; None without.
    """

    id: int
    name: str
    line: str = ""
    tensors: tuple[str, ...] = ()
    variable: str = ""
    value: Array | None = None
    adjoint: Array | None = None


class GraphEdge(Record):
    """The gradient flows from one node to another.

    Attributes:
        source: The id of the node that it leaves.
        target: The id of the node that it reaches.
        input: Which input of the source's forward operation that is, from 0.
    """

    source: int
    target: int
    input: int


class BackwardGraph(Answer, kw_only=True):
    """The backward graph, and the tensors after the backward pass if there was one.

    Attributes:
        v: The gradient vector of the backward pass; None if there was none.
        tensors: The variables, the named values and the output, in this order.
        nodes: In breadth-first order from the output.
        edges: In the order of their sources and inputs.
        notes: What to know of the tensors.
        drawing: How to draw it.
    """

    v: Array | None
    tensors: tuple[GraphTensor, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    notes: tuple[str, ...] = ()
    drawing: Drawing = ""


# -- code

Language = Literal["torch", "numpy", "latex", "gradcli"]
"""What a script can be written in."""


class Source(Reply, kw_only=True):
    """A question as a script that computes vᵀJ.

    Attributes:
        dtype: `float64` or `float32`.
        inputs: The value of every variable, an array of `dtype`.
        language: Of the script.
        source: The script, with its last newline.
    """

    dtype: str
    inputs: Mapping[str, Array]
    language: Language
    source: str


# -- functions


class Parameter(Record):
    """A parameter of a function.

    Attributes:
        name: As a keyword.
        is_constant: Whether it takes a constant, such as a dimension; the others take expressions.
        is_required: Whether it has no default.
        default: What stands for it where it is left out.
    """

    name: str
    is_constant: bool
    is_required: bool
    default: int | float | bool | str | tuple[int, ...] | None = None


class FunctionEntry(Record, kw_only=True):
    """A function of the language, as the list of functions has it.

    Attributes:
        name: The name in the language.
        group: What people look for it under.
        usage: The call with its defaults, `var(x, dim=None, correction=1, keepdim=False)`.
        parameters: In torch's order.
        aliases: Other names that are called in the same way.
        spellings: Other ways to write it: operators, methods, names of modules.
        doc: What it computes, in one line.
        domain: Where the value is real, as a condition on the parameters; empty for everywhere.
        kinks: Expressions of the parameters that vanish where the derivative jumps.
        is_step: Whether the value jumps there too.
        caveat: What to know beyond that.
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
    is_step: bool = False
    caveat: str = ""


class Listing(Record):
    """Rows of the list of functions.

    Attributes:
        entries: In the order of the groups.
        word: What was searched for; empty for the whole list.
        is_brief: Whether to show only the names of each group.
    """

    entries: tuple[FunctionEntry, ...]
    word: str = ""
    is_brief: bool = False

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The names of the functions, group by group."""
        grouped = groupby(self.entries, key=lambda entry: entry.group)
        return [(group, [entry.name for entry in rows]) for group, rows in grouped]


class FunctionPage(Listing, kw_only=True):
    """All that there is to say of one function, the only one of its list.

    Attributes:
        meaning: Its definition in the language, or what there is in its place.
        example_command: What to type for the example.
        example: What it answers.
    """

    meaning: str
    example_command: str
    example: VJP | Gradient

    @property
    def entry(self) -> FunctionEntry:
        """Its row of the list."""
        return self.entries[0]


class Functions(Record):
    """What the command `functions` answers: pages and lists, in the order asked for."""

    parts: tuple[Listing, ...]
    warnings: tuple[str, ...] = ()


Result = Answer | ClosedForm | Functions | Improvement | Source
"""What a command may answer with."""
