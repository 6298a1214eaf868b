"""Answers and errors as lines of JSON, one object each: names and order of their fields, schema 1.

Floats are the shortest that round-trip; numbers that are not finite are the strings `"NaN"`, `"Infinity"` and
`"-Infinity"`, so that every JSON parser reads the line.

`_KEYS` lists the keys of all classes in order; a class has the keys that are attributes of it.  Key `a` is
always there, `b?` unless its value is None, `c~` unless it is empty; `d=e` is of the attribute e.  The value
is that of the attribute, or made of the object by one of `_MADE`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from gradcli import results
from gradcli.errors import GradcliError
from gradcli.notation import Notation
from gradcli.report.numbers import MANY, in_lists, json_number
from gradcli.report.wording import require_few_nodes

SCHEMA = 1

LONG_ROW = 2**10
"""Elements from which on a row is turned into Python's numbers by itself: all rows at once take too much memory."""

MOST_LOCAL = 10_000
"""Most numbers of a local derivative written out, as many as of a Jacobian."""


def _symbolic(one: Any) -> Any:
    """Get the formulas of an answer: by variable, by two of them, or the one of Ju."""
    is_one = isinstance(one, results.ClosedForm) and one.command == "jvp"
    return one.symbolic.get("") if is_one else one.symbolic


def _repeating(one: Any) -> Any:
    """Get the formulas whose repeated parts are named: those of vᵀJ, or else all."""
    return getattr(one, "products", None) or _symbolic(one)


def _shortened(symbolic: Any) -> Any:
    """Shorten formulas by names for their repeated parts, nested as they are; empty where there is nothing to name."""
    match symbolic:
        case results.Formula():
            return symbolic.brief_text if symbolic.definitions else ""
        case Mapping():
            return {key: short for key, one in symbolic.items() if (short := _shortened(one))}
    return ""


def _names(symbolic: Any) -> dict[str, Notation]:
    """Collect the meanings of the names in formulas."""
    match symbolic:
        case results.Formula(definitions=definitions):
            return {name.text: meaning for name, meaning in definitions}
        case Mapping():
            return {name: meaning for one in symbolic.values() for name, meaning in _names(one).items()}
    return {}


def _structures(one: Any) -> dict[str, str]:
    if isinstance(one, results.ClosedForm):
        return {name: formula.structure for (by, name), formula in one.blocks.items() if formula.structure and not by}
    found = one.symbolic.items() if isinstance(one, results.Differentiation) else ()
    return {name: formula.structure for name, formula in found if formula.structure}


def _opinions(answer: results.Checking) -> tuple[results.Entry, ...]:
    """Put torch's numbers in the precision of the answer, so that their digits are the shortest."""
    kind = np.dtype(answer.dtype).type
    return tuple(replace(one, torch=kind(one.torch)) for one in answer.opinions)


_MADE: Mapping[str, Callable[[Any], Any]] = {
    "schema": lambda one: SCHEMA,
    "wrt": lambda one: ... if isinstance(one, results.Evaluation) else one.wrt,
    "output": lambda one: one.output,
    "symbolic": _symbolic,
    "brief": lambda one: _shortened(_repeating(one)),
    "where": lambda one: _names(_repeating(one)),
    "structure": _structures,
    "omitted_blocks": lambda one: results.by_variable(one.omitted),
    "loss": lambda one: one.loss and value(one.loss) | ({"agrees": one.loss_agrees} if hasattr(one, "steps") else {}),
    "why_no_formula": lambda one: "" if one.formula else one.formula_omitted,
    "opinions": _opinions,
    "nodes": partial(require_few_nodes, form="json"),
    "edges": lambda one: tuple((edge.source, edge.target, edge.input) for edge in one.edges),
    "chosen": lambda one: one.chosen if one.chosen != "all" else "",
    "part": lambda one: one.entry if all(one.entry) else (),
    "small_local": lambda one: one.local if one.local is not None and one.local.size <= MOST_LOCAL else None,
    "shape": lambda one: one.data.shape,
    "page_example": lambda one: {"command": one.example_command, "answer": one.example},
    "default": lambda one: ... if one.is_required else one.default,
}
"""Values other than plain attributes, by their name; `...` for an absent one."""

_KEYS = """
schema=command command expression id name shape=data dtype of~ by? variable~ row? column? operation points?
inputs in~=ranges wrt value output=steps v? u vjp? accumulated? shapes data requires_grad grad grad_fn is_leaf
retains_grad jvp hessian hvp rule_name~=rule steps steps_count~ adjoints adjoints_count~ loss? jacobian?
jacobian_omitted~ symbolic? brief~=symbolic where~=symbolic structure~=symbolic symbolic_omitted~ language source
tensors nodes edges outcome form reasons~ reason same~ domain~ switches~ bits places before? after~ strips~ check?
verdict? terms terms_count~ entries checked max_relative_error findings torch? formula? reference? radius? difference?
difference_error? relative_error? ulps? note~ one_sided? proven sampled findings_count~ zero_by_structure~=zeros
undecided~ chosen~ notes~ rewrite? opinions opinions_count~ claims~ sampling? seed boxes
verdicts worst mean allowed passed elsewhere~
constant=is_constant required=is_required default remarks~ warnings~
"""

_OWN: Mapping[type, str] = {
    results.Plot: "schema command expression dtype inputs variable u? points curves marks~ spans~ tangents~ warnings~",
    results.PlotMap: "schema command expression dtype inputs axes values gradient singular warnings~",
    results.Curve: "name=label order element values error?",
    results.Mark: "kind place element value slope",
    results.MarkedRange: "kind low high element",
    results.Tangent: "place element value slope",
    results.ClosedForm: "schema command expression wrt shapes vjp~=products symbolic brief~ where~ matrix~=matrices "
    "structure~ symbolic_omitted~=omitted_blocks check? remarks~ warnings~",
    results.Claim: "variable claim=text of status points entry? claimed? truth? at? v? mistake~ note~",
    results.Loss: "expression value inputs~ symbolic?=formula symbolic_omitted~=why_no_formula gradient check?",
    results.Term: "from=source rule_name~=rule entry~=part formula~ rule~=words local?=small_local value",
    results.GraphNode: "id name tensors~ line~ rule~ variable~",
    results.FunctionEntry: "name group usage parameters aliases spellings doc domain kinks step=is_step caveat",
    results.FunctionPage: "meaning example=page_example",
}
"""Keys of the classes in which one of those names means something else."""


@cache
def _keys(kind: Any) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """List the keys of one class, each with its mark and the getter of its value."""
    found = []
    for word in _OWN.get(kind, _KEYS).split():
        key, _, source = word.partition("=")
        name = key.rstrip("?~")
        source = source or name
        if kind in _OWN or hasattr(kind, source) or source in kind.__dataclass_fields__:
            get = _MADE.get(source if kind in _OWN else name, attrgetter(source))
            found.append((name, key[-1], partial(_count, name) if name.endswith("_count") else get))
    return tuple(found)


def _count(name: str, one: Any) -> int:
    """Count all of a list that is cut short; 0 where the list is whole."""
    found: int = getattr(one, name)
    return found if found > len(getattr(one, name.removesuffix("_count"))) else 0


def pieces(answer: results.Result, form: str = "json") -> Iterator[str]:
    """Write the answer, a line an object.

    Args:
        answer: The object.
        form: `array` to write one value, as a file of JSON must be: an array, if there are several objects.
    """
    found = list(_objects(answer))
    has_brackets = form == "array" and len(found) > 1
    yield "[\n" * has_brackets
    for n, one in enumerate(found):
        yield from _WRITTEN(one)
        yield ",\n" if has_brackets and n + 1 < len(found) else "\n"
    yield "]\n" * has_brackets


def _objects(answer: results.Result) -> Iterator[Any]:
    """List an object for each product, function, or group of a brief list; else one."""
    head = {"schema": SCHEMA, "command": "functions"}
    if not isinstance(answer, results.Functions):
        yield from map(value, answer.answers if isinstance(answer, results.Products) else [answer])
        return
    for part in answer.parts:
        if isinstance(part, results.FunctionPage):
            yield head | value(part.entry) | value(part)
        elif part.is_brief:
            yield from (head | {"group": group, "functions": names} for group, names in part.groups)
        else:
            yield from (head | value(entry) for entry in part.entries)


def reply(answer: results.Result, head: Mapping[str, Any]) -> Iterator[str]:
    """Write the answer to one request of a stream on one line: as `pieces` does, or several products in a list.

    Args:
        answer: The object.
        head: Fields of the request to repeat, after the schema.
    """
    if isinstance(answer, results.Products):
        found = {"command": answer.command, "answers": value(answer.answers)}
    else:
        found = value(answer)
    return chain(_WRITTEN({"schema": SCHEMA, **head, **found}), "\n")


def render_error(error: GradcliError, head: Mapping[str, Any] | None = None, *, line: int | None = None) -> str:
    """Write the error as one line, with its newline.

    Args:
        error: The error.
        head: Fields of a request to repeat, after the schema.
        line: Number of the request's line in the stream.
    """
    found: dict[str, Any] = {"kind": error.kind, "message": error.in_shell.message}
    if error.place is not None:
        span = error.place.span
        found["position"] = {"in": error.place.source, "start": span.start, "end": span.stop}
    if error.in_shell.hint:
        found["hint"] = error.in_shell.hint
    if line is not None:
        found["line"] = line
    return json.dumps({"schema": SCHEMA, **(head or {}), "error": found}, allow_nan=False) + "\n"


# -- answers as JSON's types


def value(one: Any) -> Any:
    """Turn an answer or a part of one into JSON's types; a large array stays itself until it is written."""
    match one:
        case None | str() | bool() | int():
            return one
        case np.ndarray():
            return one if one.size > MANY else in_lists(one)
        case float() | np.generic():
            return json_number(one)
        case Notation() | results.Formula():
            return one.text
        case Mapping():
            return {key: value(held) for key, held in one.items()}
        case tuple() | list():
            return [value(held) for held in one]
    found = ((name, mark, get(one)) for name, mark, get in _keys(one.__class__))
    return {name: value(held) for name, mark, held in found if not _is_absent(mark, held)}


def _is_absent(mark: str, held: Any) -> bool:
    return held is ... or (mark in "?~" and held is None) or (mark == "~" and not held)


# -- the text


def _unfolded(array: results.Array) -> Any:
    """Split a large array into its rows; where they are short or it has none, into its numbers."""
    return list(array) if array.ndim > 1 and array[0].size >= LONG_ROW else in_lists(array)


_WRITTEN = json.JSONEncoder(allow_nan=False, default=_unfolded).iterencode
"""Text of JSON's types and of large arrays, part by part."""
