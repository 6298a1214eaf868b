"""The backward graph as torch builds it, and its tensors: the method `graph`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Unpack

from gradcli import trial
from gradcli.errors import MOST_NAMES, TooLargeError, listed_names
from gradcli.language.inputs import Value
from gradcli.language.program.opaque import require_readable
from gradcli.language.program.wengert import Atom, Program, show
from gradcli.option_words import Words, option
from gradcli.questions.bound_function import BoundFunction
from gradcli.questions.naming import intermediates
from gradcli.questions.parsed_text import DeviceOptions, Inputs, ParsedText
from gradcli.results import BackwardGraph, GraphTensor

MAX_GRAPH_ELEMENTS = 2**25
"""Elements of all tensors of a graph together: 256 MiB in float64, and as much again for the gradients."""


def graph(
    self: ParsedText,
    at: Inputs | None = None,
    v: Value | None = None,
    *,
    show: Sequence[str] = (),
    **options: Unpack[DeviceOptions],
) -> BackwardGraph:
    """Return the backward graph as torch builds it, and every tensor with its attributes after the backward pass.

    Without v there is a backward pass only if y has one element.

    Raises:
        GradcliError: As for `vjp`; the tensors have too many elements.

    >>> from gradcli import Function
    >>> answer = Function("z = x*y").graph({"x": 1, "y": 2}, wrt=["x"])
    >>> [(node.name, node.line or node.variable) for node in answer.nodes]
    [('MulBackward0', 'x*y'), ('AccumulateGrad', 'x')]
    >>> [(tensor.name, tensor.requires_grad, tensor.is_leaf) for tensor in answer.tensors]
    [('x', True, True), ('y', False, True), ('z', True, False)]
    """
    unbound = self._asked(at, **options)
    require_readable(unbound.snippet.program, "each node of a graph is a call with its rule")
    bound = unbound.bind(shares=False, is_last=v is None)
    program, of_snippet = bound.program, unbound.snippet.v
    retained = intermediates(program, show)
    named = _named(program)
    shapes = [bound.shapes.get(atom, ()) for atom in named.values()]
    elements = sum(math.prod(shape) for shape in (*shapes, *(array.shape for array in bound.arrays.values())))
    if elements > MAX_GRAPH_ELEMENTS:
        message = f"the tensors to show have {elements:,} elements together; the limit is {MAX_GRAPH_ELEMENTS:,}"
        raise TooLargeError(message, hint="the graph of smaller inputs is the same")
    # Without v, `backward()` runs on one element alone; the graph is there in any case.
    has_v = v is not None or of_snippet is not None or math.prod(bound.shape) == 1
    cotangent = bound.cotangent(v, of_snippet) if has_v else None
    trial.end()
    from gradcli.autodiff.backward_passes import walk

    weights = None if cotangent is None else bound.weights(cotangent)
    live = None if bound.recording is None else bound.recording.tensors
    found = walk(
        program,
        bound.arrays,
        bound.wrt,
        bound.dtype,
        named=named,
        retained=retained,
        v=weights,
        live=live,
        device=bound.device,
    )
    by_name = {tensor.name: tensor for tensor in found.tensors}
    y = by_name[program.output_name]
    return BackwardGraph(
        command="graph",
        value=y.data,
        v=weights if y.requires_grad else None,
        tensors=found.tensors,
        nodes=found.nodes,
        edges=found.edges,
        notes=(*_of_pass(bound, y, has_v=has_v), *_of_gradients(by_name, y, retained), *_same(program, named)),
        **bound.common,
        device=bound.device,
    )


def _named(program: Program) -> dict[str, Atom]:
    """Return the tensors that have names, the output last, without plain numbers."""
    of_lines = {name: atom for name, atom in program.named.items() if not atom.is_number}
    of_lines.pop(program.output_name, None)
    return {**of_lines, program.output_name: program.output}


def _of_pass(bound: BoundFunction, y: GraphTensor, *, has_v: bool) -> list[str]:
    """Say why there is no graph, or was no backward pass."""
    if not y.requires_grad:
        reason = "nothing that autograd records leads to it"
        return [f"{y.name} has requires_grad=False, as {reason}: there is no graph, and backward() would fail"]
    notes = []
    if y.grad_fn is None:
        notes.append(f"{y.name} is itself a leaf: no operation made it, so there is no graph")
    if not has_v:
        shape = show(bound.shape)
        needs = f"{y.name} has shape {shape} and needs {option('v')}"
        notes.append(Words(f"there was no backward pass, so every grad is None: {needs}"))
    return notes


def _of_gradients(by_name: Mapping[str, GraphTensor], y: GraphTensor, retained: Mapping[str, Atom]) -> list[str]:
    """Point out missing gradients that a reader might expect."""
    notes = []
    if vain := [name for name in retained if not by_name[name].requires_grad]:
        has = "has" if len(vain) == 1 else "have"
        notes.append(f"{listed_names(vain)} {has} requires_grad=False: there is no gradient to retain")
    was_pass = any(tensor.grad is not None for tensor in by_name.values())
    if not was_pass:
        return notes
    empty = [t for t in by_name.values() if t.requires_grad and t.grad is None]
    if inner := [t.name for t in empty if not t.is_leaf]:
        one = len(inner) == 1
        what = "is no leaf: torch leaves its" if one else "are no leaves: torch leaves their"
        example = ",".join(inner) if len(inner) <= MOST_NAMES else inner[0]
        retains = f"{option('show', example)} retains {'it' if one else 'them'}"
        notes.append(Words(f"{listed_names(inner)} {what} .grad None; {retains}"))
    if apart := [t.name for t in empty if t.is_leaf]:
        said = "torch leaves the .grad None, where vjp says 0"
        notes.append(f"{y.name} does not depend on {listed_names(apart)}: {said}")
    return notes


def _same(program: Program, named: Mapping[str, Atom]) -> list[str]:
    """Return the remarks on names that stand for one tensor."""
    names: dict[Atom, list[str]] = {symbol: [str(symbol)] for symbol in program.variables}
    for name, atom in named.items():
        names.setdefault(atom, []).append(name)
    return [f"{listed_names(same)} are one tensor" for same in list(names.values()) if len(same) > 1][:MOST_NAMES]
