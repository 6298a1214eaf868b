"""Backward passes of a text, `y.backward(v)` and `torch.autograd.grad(y, x, v)`, and those that are asked for.

The final `.grad` is linear in v, so several backward passes are one with the sum of their v's.  A pass that
does not keep the graph leaves nothing for the next to go back through: torch itself is asked if it then refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradcli.errors import Span
from gradcli.language.lower.arguments import by_name
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.lines import as_number, emit
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippet_result import ADD_UP, SnippetPass
from gradcli.language.text.nodes import Argument, Arguments, Items, Word, is_word
from gradcli.option_words import command, option
from gradcli.parts.paste.text_state import TextState

_BACKWARD = "gradient retain_graph create_graph inputs".split()

_GRAD = "outputs inputs grad_outputs retain_graph create_graph only_inputs allow_unused".split()

_UNUSED = "One of the differentiated Tensors appears to not have been used in the graph"


def backward(text: TextState, context: Context, output: Operand, arguments: Arguments) -> Operand:
    """Read `y.backward(v)`."""
    found = _named_arguments(context, arguments, _BACKWARD, "backward")
    span = output[1].to(arguments.span)
    y = as_number(context, *output)
    inputs = tuple(str(atom) for atom, _ in found.get("inputs", ()))
    v = _vector(context, found, "gradient")
    _add(text, context, SnippetPass(y, v, span, inputs, _keeps_graph(found), zeroed=(*text.passes.zeroed,)))
    text.passes.zeroed.clear()
    return y, span


def grad(text: TextState, context: Context, start: Span, arguments: Arguments) -> tuple[Span, int]:
    """Read `torch.autograd.grad(y, x, v)`; return its range, and the number of its gradients.

    Raises:
        LanguageError: It takes several outputs, or an input that y is not made of.
    """
    found, span = _named_arguments(context, arguments, _GRAD, "grad"), start.to(arguments.span)
    if not (found.get("outputs") and found.get("inputs")):
        raise context.source.error("grad takes outputs and inputs: grad(y, x)", span)
    if len(found["outputs"]) != 1:
        raise context.source.error("several outputs are not read", span, hint="differentiate their sum")
    y = as_number(context, *found["outputs"][0])
    _require_computed(text, context, y, span)
    _, leaves = context.builder.backward_slice(y, stop=lambda call: call.op.name == "detach")
    for x, where in found["inputs"]:
        shown = context.source.excerpt(where)
        if x not in context.findings.variables.values():
            hint = f"{command('graph', option('show', 'NAME'))} shows the gradient of what is computed"
            raise context.source.error(f"'{shown}' is computed, and no variable", where, hint=hint)
        if x not in leaves:
            said = "gives None" if found.get("allow_unused") else f"raises '{_UNUSED}'"
            raise context.source.error(f"the output does not depend on {shown}: torch {said}", where)
    inputs = tuple(str(x) for x, _ in found["inputs"])
    v = _vector(context, found, "grad_outputs")
    _add(text, context, SnippetPass(y, v, span, inputs, _keeps_graph(found), accumulates=False))
    return span, len(inputs)


def _named_arguments(context: Context, arguments: Arguments, names: Sequence[str], called: str) -> dict[str, Any]:
    """Read arguments by name: tensors as lists of operands, flags as True or False."""

    def read(name: str, argument: Argument) -> Any:
        is_tensor = name in ("gradient", "inputs", "outputs", "grad_outputs")
        return _tensors(context, argument) if is_tensor else _flag(context, argument)

    return by_name(context, arguments, names, called, read, optional=names)


def _flag(context: Context, argument: Argument) -> bool | None:
    word = argument.value.token.text if isinstance(argument.value, Word) else ""
    if word not in ("True", "False", "None"):
        raise context.source.error("True or False must stand here", argument.value.span)
    return None if word == "None" else word == "True"


def _tensors(context: Context, argument: Argument) -> list[Operand]:
    """Read a tensor, or those of a list or tuple; none for None."""
    node = argument.value
    if is_word(node, "None"):
        return []
    if not isinstance(node, Items):
        return [lower(context, node)]
    return [lower(context, item) for item in node.items]


def _vector(context: Context, found: Mapping[str, Any], name: str) -> Atom | None:
    """Read the gradient vector, in a list of one or alone."""
    operands = found.get(name) or []
    if len(operands) > 1:
        raise context.source.error("several gradient vectors are not read", operands[0][1])
    return as_number(context, *operands[0]) if operands else None


def _require_computed(text: TextState, context: Context, y: Atom, span: Span) -> None:
    """Refuse an output that nothing computes: to give it a value would answer the identity."""
    name = str(y)
    if name in context.findings.variables and name not in text.tensors.values:
        hint = f"write the statement that does before this one, such as {name} = x**2"
        raise context.source.error(f"nothing computes '{name}' in this text", span, hint=hint)


def _add(text: TextState, context: Context, one: SnippetPass) -> None:
    """Note a derivative that is asked for."""
    _require_computed(text, context, one.output, one.span)
    text.passes.frees_graph |= any(not earlier.keeps_graph for earlier in text.passes.noted)
    text.passes.noted.append(one)


def function_of(context: Context, atom: Atom) -> Program:
    """Return a value as a function of the variables."""
    return context.builder.program(atom, context.findings.variables.values())


def asked_passes(text: TextState, context: Context) -> list[SnippetPass]:
    """List the passes that are questions, those of one output by several inputs as one."""
    found: list[SnippetPass] = []
    for one in text.passes.noted:
        last = found[-1] if found else one
        is_same = (last.output, last.v, last.accumulates) == (one.output, one.v, False)
        if found and is_same:
            found[-1] = replace(last, inputs=tuple(dict.fromkeys((*last.inputs, *one.inputs))))
        else:
            found.append(one)
    return found


def in_grad(text: TextState, context: Context, passes: list[SnippetPass]) -> list[SnippetPass]:
    """Select the passes whose sum is the answer where there is to be one: those that add up in the final `.grad`.

    Raises:
        LanguageError: The `.grad` of the variables hold different ones.
    """
    if not passes or not passes[-1].accumulates:
        return passes[-1:]
    adding = [one for one in passes if one.accumulates]
    last = max((n for n, one in enumerate(adding) if one.zeroed), default=0)
    names = {*function_of(context, passes[-1].output).names} & {*(text.passes.requires or text.tensors.values)}
    if last and not names <= {*adding[last].zeroed}:
        hint = "set all of them to zero at one place"
        raise context.source.error("the .grad of these tensors hold different passes", passes[-1].span, hint=hint)
    return adding[last:]


def vector_of(context: Context, one: SnippetPass) -> Atom:
    """Return the gradient vector of a pass, 1 where it has none."""
    return emit(context, "ones_like", [one.output], one.span)[0] if one.v is None else one.v


def accumulated(context: Context, passes: list[SnippetPass]) -> Atom | None:
    """Add up the gradient vectors of passes, as `.grad` is linear in v; None stands for 1."""
    if not passes or (len(passes) == 1 and passes[0].v is None):
        return None
    if len(passes) > 1:
        context.findings.warnings.append(f"{len(passes)} {ADD_UP}")
    first, *others = (vector_of(context, one) for one in passes)
    for v in others:
        first = emit(context, "add", [first, v], passes[0].span)[0]
    return first


def require_gradient(text: TextState, context: Context, name: str, span: Span, *, is_required: bool) -> None:
    """Note that a variable requires a gradient, or no longer does."""
    text.passes.requires.pop(name, None)
    if not is_required:
        return
    if text.tensors.types.get(name) == "int":
        said = "torch raises 'Only Tensors of floating point dtype can require gradients'"
        hint = "give its numbers a decimal point, or add dtype=torch.float64"
        raise context.source.error(f"'{name}' has whole numbers: {said}", span, hint=hint)
    text.passes.requires[name] = None


def _keeps_graph(found: Mapping[str, object]) -> bool:
    """Tell whether a pass is asked to keep its graph, as it does too where it makes one of the derivative."""
    retains = found.get("retain_graph")
    return bool(found.get("create_graph") if retains is None else retains)
