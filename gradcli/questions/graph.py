"""What `graph` answers: the backward graph as torch builds it, and every tensor with its attributes.

Everything that can be wrong with the input is found before torch is imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gradcli.errors import TooLargeError
from gradcli.language.inputs import Value
from gradcli.language.program.wengert import Atom, Program, show
from gradcli.questions.preparing import intermediates
from gradcli.questions.question import Question
from gradcli.results import BackwardGraph, GraphTensor

MAX_TENSORS = 20_000
"""Variables and named values of one answer."""

MAX_ELEMENTS = 2**25
"""Elements of all of them together: 256 MiB in float64, and as much again for the gradients."""

MOST_NAMES = 6
"""Names that one remark lists."""


def graph(question: Question, v: Value | None, of_snippet: Program | None, shown: Sequence[str]) -> BackwardGraph:
    """The graph of a Program that was prepared without sharing, and its tensors after a backward pass.

    Args:
        question: The function with its values.
        v: The gradient vector; without it, there is a backward pass if y has one element or the text says v.
        of_snippet: The v of the text.
        shown: The names whose gradients are to be retained.

    Raises:
        GradcliError: v has not y's shape, a name is none of the function's, or the tensors are too large.
    """
    program = question.program
    retained = intermediates(program, shown)
    named = _named(program)
    _require_room(question, named)
    # Without v, `backward()` runs on one element alone; the graph is there in any case.
    has_v = v is not None or of_snippet is not None or math.prod(question.shape) == 1
    cotangent = question.cotangent(v, of_snippet) if has_v else None
    from gradcli.autodiff.backward_graph import walk

    weights = None if cotangent is None else question.weights(cotangent)
    found = walk(program, question.arrays, question.wrt, question.dtype, named=named, retained=retained, v=weights)
    by_name = {tensor.name: tensor for tensor in found.tensors}
    y = by_name[program.output_name]
    return BackwardGraph(
        command="graph",
        value=y.data,
        v=weights if y.requires_grad else None,
        tensors=found.tensors,
        nodes=found.nodes,
        edges=found.edges,
        notes=(*_of_pass(question, y, has_v=has_v), *_of_gradients(by_name, y, retained), *_same(program, named)),
        **question.common,
    )


def _named(program: Program) -> dict[str, Atom]:
    """The tensors that have names, the output last; plain numbers are none."""
    of_lines = {name: atom for name, atom in program.named.items() if not atom.is_number}
    of_lines.pop(program.output_name, None)
    return {**of_lines, program.output_name: program.output}


def _require_room(question: Question, named: Mapping[str, Atom]) -> None:
    count = len(question.arrays) + len(named)
    if count > MAX_TENSORS:
        raise TooLargeError(
            f"there are {count:,} variables and named values; graph shows at most {MAX_TENSORS:,}",
            hint="write fewer names: nested operations need none",
        )
    shapes = [question.shapes.get(atom, ()) for atom in named.values()]
    elements = sum(math.prod(shape) for shape in (*shapes, *(array.shape for array in question.arrays.values())))
    if elements > MAX_ELEMENTS:
        raise TooLargeError(
            f"the tensors to show have {elements:,} elements together; the limit is {MAX_ELEMENTS:,}",
            hint="the graph of smaller inputs is the same",
        )


def _of_pass(question: Question, y: GraphTensor, *, has_v: bool) -> list[str]:
    """Why there is no graph, or was no backward pass."""
    if not y.requires_grad:
        reason = "nothing that autograd records leads to it"
        return [f"{y.name} has requires_grad=False, as {reason}: there is no graph, and backward() would fail"]
    notes = []
    if y.grad_fn is None:
        notes.append(f"{y.name} is itself a leaf: no operation made it, so there is no graph")
    if not has_v:
        shape = show(question.shape)
        notes.append(f"there was no backward pass, so every grad is None: {y.name} has shape {shape} and needs --v")
    return notes


def _of_gradients(by_name: Mapping[str, GraphTensor], y: GraphTensor, retained: Mapping[str, Atom]) -> list[str]:
    """Where a gradient is missing that a reader might expect."""
    notes = []
    if vain := [name for name in retained if not by_name[name].requires_grad]:
        has = "has" if len(vain) == 1 else "have"
        notes.append(f"{_listed(vain)} {has} requires_grad=False: there is no gradient to retain")
    was_pass = any(tensor.grad is not None for tensor in by_name.values())
    if not was_pass:
        return notes
    empty = [t for t in by_name.values() if t.requires_grad and t.grad is None]
    if inner := [t.name for t in empty if not t.is_leaf]:
        one = len(inner) == 1
        what = "is no leaf: torch leaves its" if one else "are no leaves: torch leaves their"
        example = ",".join(inner) if len(inner) <= MOST_NAMES else inner[0]
        notes.append(f"{_listed(inner)} {what} .grad None; --show {example} retains {'it' if one else 'them'}")
    if apart := [t.name for t in empty if t.is_leaf]:
        notes.append(f"{y.name} does not depend on {_listed(apart)}: torch leaves the .grad None, where vjp says 0")
    return notes


def _same(program: Program, named: Mapping[str, Atom]) -> list[str]:
    """The remarks on names that stand for one tensor."""
    names: dict[Atom, list[str]] = {symbol: [str(symbol)] for symbol in program.variables}
    for name, atom in named.items():
        names.setdefault(atom, []).append(name)
    return [f"{_listed(same)} are one tensor" for same in list(names.values()) if len(same) > 1][:MOST_NAMES]


def _listed(names: Sequence[str]) -> str:
    """`x`, `x and y`, `x, y and 3 more`."""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1:,} more"
    return " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])
