"""Passes of several outputs as passes of one: the outputs stand in a row, and each v weights its own part.

    y1.backward(); y2.backward(v)     the output is [y1, y2], and the gradient vectors are [1, 0] and [0, v]

What `.grad` holds after them is then the product with the sum of the vectors, as it is for passes of one output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from gradcli.language.lower.context import Context
from gradcli.language.lower.lines import emit
from gradcli.language.lower.sizes import needed_shape
from gradcli.language.program.wengert import Atom, Shape, show
from gradcli.language.snippet_result import SnippetPass
from gradcli.parts.paste.text_passes import vector_of


def in_a_row(context: Context, passes: Sequence[SnippetPass]) -> list[SnippetPass]:
    """Give passes of several outputs the one output that has all of them in a row.

    Raises:
        LanguageError: A gradient vector has another shape than its output, or is missing; `.grad` is to hold passes by
            different variables.
    """
    outputs = list(dict.fromkeys(one.output for one in passes))
    inputs = {one.inputs for one in passes if one.accumulates}
    if len(inputs) > 1:
        raise context.source.code("adding up passes by different inputs", passes[-1].span)
    shapes = [needed_shape(context, output) for output in outputs]
    for one in passes:
        _require_vector(context, one, shapes[outputs.index(one.output)])
    row = _row(context, outputs, shapes, passes[-1])
    asked = dict.fromkeys(name for one in passes for name in one.inputs) if all(one.inputs for one in passes) else ()
    found = []
    for one in passes:
        zeros = (emit(context, "zeros_like", [output], one.span)[0] for output in outputs)
        parts = [
            vector_of(context, one) if output == one.output else zero
            for output, zero in zip(outputs, zeros, strict=True)
        ]
        found.append(replace(one, output=row, v=_row(context, parts, shapes, one), inputs=tuple(asked)))
    *names, last = (_name(context, output, n) for n, output in enumerate(outputs))
    context.findings.warnings.append(
        f"the passes are of {', '.join(names)} and {last}, which stand in a row here: in each pass "
        "v weights the elements of its own output, and is 0 elsewhere"
    )
    return found


def _row(context: Context, parts: Sequence[Atom], shapes: Sequence[Shape | None], one: SnippetPass) -> Atom:
    """Put values in a row: numbers in a list, others flattened, one after the other."""
    if all(shape == () for shape in shapes):
        return emit(context, "stack", [*parts], one.span, (0,))[0]
    flat = [emit(context, "reshape", [part], one.span, ((-1,),))[0] for part in parts]
    return emit(context, "cat", flat, one.span, (0,))[0]


def _name(context: Context, output: Atom, number: int) -> str:
    """Name an output as the text does, or by its number."""
    named = (name for name, atom in context.names.values.items() if atom == output)
    return next(named, f"output {number + 1}")


def _require_vector(context: Context, one: SnippetPass, shape: Shape | None) -> None:
    """Refuse a pass whose gradient vector torch refuses."""
    if shape is None:
        return
    given = () if one.v is None else needed_shape(context, one.v)
    if one.v is None and math.prod(shape) != 1:
        message = f"this output has shape {show(shape)}, so its pass needs a gradient vector of that shape"
        raise context.source.error(message, one.span, hint="write .backward(torch.ones_like(y)) for ones")
    if one.v is not None and given not in (None, shape):
        message = f"the gradient vector has shape {show(given)}, and the output has shape {show(shape)}"
        raise context.source.error(message, one.span)
