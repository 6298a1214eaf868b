"""Answers and errors as lines of JSON, one object each: what their fields are called, schema 1, in their order.

Floats are the shortest that round-trip; numbers that are not finite are the strings `"NaN"`, `"Infinity"` and
`"-Infinity"`, so that every JSON parser reads the line.

A key is absent where its value is None (`known`), where there is nothing in it either (`some`), or never (`always`).
What is behind a key is an attribute of the same name, an attribute of another, or made of the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from gradcli import results
from gradcli.errors import GradcliError
from gradcli.notation import Notation
from gradcli.report.numbers import as_json, json_number, json_pieces
from gradcli.report.wording import require_few_nodes

SCHEMA = 1

MOST_LOCAL = 10_000
"""Numbers of a local derivative that are written out, as many as of a Jacobian."""

Getter = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Key:
    """A key, the value behind it, and whether something with that value has the key."""

    name: str
    get: Getter
    applies: Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Record:
    """Something by the keys of another than its own class."""

    of: Any
    keys: tuple[Key, ...]


def _getter(source: str | Getter) -> Getter:
    return source if callable(source) else lambda one: getattr(one, source)


def always(name: str, source: str | Getter = "") -> Key:
    """A key that is never absent."""
    return Key(name, _getter(source or name), lambda one, value: True)


def known(name: str, source: str | Getter = "") -> Key:
    """A key that is absent where the value is None."""
    return Key(name, _getter(source or name), lambda one, value: value is not None)


def some(name: str, source: str | Getter = "") -> Key:
    """A key that is absent where there is nothing to say: no text, no items, a count of none."""
    return Key(name, _getter(source or name), lambda one, value: value is not None and bool(value))


def _count(name: str, of: str) -> Key:
    """How many there are, where not all are listed."""
    return some(name, lambda one: getattr(one, name) if getattr(one, name) > len(getattr(one, of)) else 0)


def _each(name: str, keys: tuple[Key, ...]) -> Key:
    return always(name, lambda one: tuple(Record(item, keys) for item in getattr(one, name)))


# -- verdicts

FINDING = (
    *(some("of"), *map(known, ("by", "variable", "point", "row", "column")), always("verdict")),
    *(*map(known, ("torch", "reference", "relative_error")), always("note"), known("one_sided"), always("proven")),
)

OPINION = (
    *(*map(known, ("variable", "row", "column")), always("verdict"), always("proven"), always("torch")),
    *map(known, ("formula", "reference", "radius", "difference", "difference_error", "relative_error", "ulps")),
    *(known("one_sided"), some("note")),
)


def _opinions(answer: results.Checking) -> tuple[Record, ...]:
    """Torch's numbers in the precision that it computed them in, of which the digits are the shortest."""
    kind = np.dtype(answer.dtype).type
    return tuple(Record(replace(one, torch=kind(one.torch)), OPINION) for one in answer.opinions)


# -- what most answers have

_HEAD = (always("schema", lambda one: SCHEMA), always("command"), always("expression"), always("dtype"))
_ANSWER = (
    *_HEAD,
    *(some("points_of"), known("points")),
    *(always("inputs"), always("wrt"), always("value")),
)


def _shortened(symbolic: Any) -> Any:
    """The formulas with names for what they repeat, held as the formulas are; empty where there is nothing to name."""
    match symbolic:
        case results.Formula():
            return symbolic.brief_text if symbolic.definitions else ""
        case Mapping():
            return {key: short for key, one in symbolic.items() if (short := _shortened(one))}
    return ""


def _names(symbolic: Any) -> dict[str, Notation]:
    """What the names in these stand for."""
    match symbolic:
        case results.Formula(definitions=definitions):
            return {name.text: meaning for name, meaning in definitions}
        case Mapping():
            return {name: meaning for one in symbolic.values() for name, meaning in _names(one).items()}
    return {}


_BRIEF = (
    some("brief", lambda one: _shortened(one.symbolic)),
    some("where", lambda one: _names(one.symbolic)),
)
"""Beside formulas that repeat something: the same with a name for it, and what that stands for."""

_DERIVATIVE = (
    some("intermediates"),
    known("jacobian"),
    some("jacobian_omitted"),
    always("symbolic"),
    *_BRIEF,
    some("structure", lambda one: {name: f.structure for name, f in one.symbolic.items() if f.structure}),
    some("symbolic_omitted"),
)
_REMARKS = (some("remarks"), some("warnings"))
_END = (known("check"), *_REMARKS)
_FORMULAS = (always("symbolic"), *_BRIEF, some("symbolic_omitted"))

_LOSS = (
    *(always("expression"), always("value"), some("inputs")),
    known("symbolic", "formula"),
    some("symbolic_omitted", lambda one: "" if one.formula else one.formula_omitted),
    *(always("gradient"), known("check")),
)
_PAGE_DERIVATIVE = (
    always("expression", lambda page: page.derivative.expression),
    always("symbolic", lambda page: page.derivative.symbolic),
    always("symbolic_omitted", lambda page: page.derivative.symbolic_omitted),
    always("note", "derivative_note"),
)


def _nodes(graph: results.BackwardGraph) -> tuple[results.GraphNode, ...]:
    require_few_nodes(graph, "json")
    return graph.nodes


KEYS: Mapping[type, tuple[Key, ...]] = {
    results.Evaluation: (*(key for key in _ANSWER if key.name != "wrt"), *_END),
    results.VJP: (*_ANSWER, always("v"), always("vjp"), known("accumulated"), known("loss"), *_DERIVATIVE, *_END),
    results.Gradient: (*_ANSWER, always("grad"), *_DERIVATIVE, *_END),
    results.Jacobian: (*_ANSWER, *_DERIVATIVE, *_END),
    results.JVP: (*_ANSWER, always("u"), always("jvp"), known("symbolic"), *_BRIEF, some("symbolic_omitted"), *_END),
    results.Hessian: (*_ANSWER, always("grad"), always("hessian"), *_FORMULAS, *_END),
    results.HVP: (*_ANSWER, always("u"), always("grad"), always("hvp"), *_FORMULAS, *_END),
    results.Explanation: (
        *_ANSWER,
        *(always("output"), always("v"), always("vjp")),
        *(always("steps"), _count("steps_count", "steps")),
        *(always("adjoints"), _count("adjoints_count", "adjoints")),
        known("loss", lambda one: one.loss and Record(one.loss, (*_LOSS, always("agrees", lambda _: one.loss_agrees)))),
        *_DERIVATIVE,
        *_END,
    ),
    results.Checking: (
        *_ANSWER,
        *(known("v"), known("vjp")),
        *_DERIVATIVE,
        known("check"),
        always("opinions", _opinions),
        _count("opinions_count", "opinions"),
        some("claims"),
        known("sampling"),
        *(always("allowed"), always("passed"), some("elsewhere")),
        *_REMARKS,
    ),
    results.BackwardGraph: (
        *_ANSWER,
        known("v"),
        always("tensors"),
        always("nodes", _nodes),
        always("edges", lambda one: tuple((edge.source, edge.target, edge.input) for edge in one.edges)),
        some("notes"),
        *_REMARKS,
    ),
    results.Improvement: (
        *(*_HEAD, some("inputs"), some("in", "ranges"), always("wrt")),
        *(always("outcome"), always("form"), some("reasons"), some("same"), some("domain"), some("switches")),
        *(always("bits"), always("points"), known("before"), known("after"), some("strips")),
        *(some("notes"), always("passed"), some("warnings")),
    ),
    results.BitsLost: tuple(map(always, ("worst", "mean"))),
    results.Strip: (some("variable"), always("places"), always("before"), some("after")),
    results.ClosedForm: (
        *(key for key in _HEAD if key.name != "dtype"),
        *(always("wrt"), always("shapes")),
        some("vjp", "products"),
        always("symbolic", lambda one: one.symbolic.get("") if one.command == "jvp" else one.symbolic),
        some("brief", lambda one: _shortened(one.products or one.symbolic.get("", one.symbolic))),
        some("where", lambda one: _names(one.products or one.symbolic)),
        some("matrix", "matrices"),
        some("structure", lambda one: {name: f.structure for (_, name), f in one.blocks.items() if f.structure}),
        some("symbolic_omitted", lambda one: one.nested(one.omitted)),
        *_END,
    ),
    results.Source: (*_HEAD, always("inputs"), always("wrt"), always("language"), always("source"), some("warnings")),
    # parts of answers
    results.Check: (
        *map(always, ("verdict", "entries", "checked", "max_relative_error")),
        _each("findings", FINDING),
        *(always("proven"), always("sampled")),
        _count("findings_count", "findings"),
        some("zero_by_structure", "zeros"),
        some("undecided"),
        some("chosen", lambda one: one.chosen if one.chosen != "all" else ""),
        some("notes"),
        known("rewrite"),
    ),
    results.Rewrite: tuple(map(always, ("expression", "reason", "verdict"))),
    results.Claim: (
        *(always("variable"), always("claim", "text"), always("of"), always("status"), always("points")),
        *map(known, ("entry", "claimed", "truth", "at", "v")),
        *(some("mistake"), some("note")),
    ),
    results.Sampling: tuple(map(always, ("points", "seed", "boxes", "verdicts", "worst"))),
    results.Loss: _LOSS,
    results.Intermediate: (always("value"), always("grad")),
    results.Step: (always("name"), always("operation"), always("value")),
    results.Adjoint: (
        *(always("name"), always("value"), some("rule_name", "rule"), known("verdict")),
        *(always("terms"), _count("terms_count", "terms")),
    ),
    results.Term: (
        always("from", "source"),
        some("rule_name", "rule"),
        some("entry", lambda one: one.entry if all(one.entry) else ()),
        *(some("formula"), some("rule", "words")),
        known("local", lambda one: one.local if one.local is not None and one.local.size <= MOST_LOCAL else None),
        always("value"),
    ),
    results.GraphTensor: (
        *(always("name"), always("shape", lambda one: one.data.shape), always("data")),
        *map(always, ("requires_grad", "grad", "grad_fn", "is_leaf", "retains_grad")),
    ),
    results.GraphNode: (always("id"), always("name"), some("tensors"), some("line"), some("variable")),
    # the list of functions
    results.FunctionEntry: (
        *map(always, ("name", "group", "usage", "parameters", "aliases", "spellings", "doc", "domain", "kinks")),
        *(always("step", "is_step"), always("caveat")),
    ),
    results.Parameter: (
        *(always("name"), always("constant", "is_constant"), always("required", "is_required")),
        Key("default", lambda one: one.default, lambda one, default: not one.is_required),
    ),
    results.Meaning: (some("case"), always("text")),
    results.FunctionPage: (
        *(always("meaning", "meanings"), always("meaning_note"), always("inner_kinks")),
        always("derivative", lambda one: Record(one, _PAGE_DERIVATIVE)),
        always("example", lambda one: {"command": one.example_command, "answer": one.example}),
    ),
}
"""The keys of each class, in order."""


def pieces(answer: results.Result, *, one_document: bool = False) -> Iterator[str]:
    """The answer, a line an object.

    Args:
        answer: The object.
        one_document: Whether to write one value, which a file of JSON has: an array, if there are several objects.
    """
    found = list(_objects(answer))
    has_brackets = one_document and len(found) > 1
    yield "[\n" * has_brackets
    for n, one in enumerate(found):
        yield from _written(one())
        yield ",\n" if has_brackets and n + 1 < len(found) else "\n"
    yield "]\n" * has_brackets


def _objects(answer: results.Result) -> Iterator[Callable[[], Any]]:
    match answer:
        case results.Functions():
            yield from (partial(dict, one) for one in _functions(answer))
        case results.Products():
            yield from (partial(value, one) for one in answer.answers)
        case _:
            yield partial(value, answer)


def _functions(answer: results.Functions) -> Iterator[dict[str, Any]]:
    """An object a function, or a group of a brief list."""
    head = {"schema": SCHEMA, "command": "functions"}
    for part in answer.parts:
        if isinstance(part, results.FunctionPage):
            yield head | value(part.entry) | value(part)
        elif part.is_brief:
            yield from (head | {"group": group, "functions": names} for group, names in part.groups)
        else:
            yield from (head | value(entry) for entry in part.entries)


def reply(answer: results.Result, head: Mapping[str, Any]) -> Iterator[str]:
    """The answer to one request of a stream, always one line: that of `pieces`, or several products in a list.

    Args:
        answer: The object.
        head: What to repeat of the request, behind the schema.
    """
    if isinstance(answer, results.Products):
        found = {"command": answer.command, "answers": value(answer.answers)}
    else:
        found = value(answer)
    return chain(_written({"schema": SCHEMA, **head, **found}), "\n")


def render_error(error: GradcliError, head: Mapping[str, Any] | None = None, *, line: int | None = None) -> str:
    """The error as one line, with its newline.

    Args:
        error: It.
        head: What to repeat of a request, behind the schema.
        line: Of the stream that the request was on.
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


# -- answers as what JSON can hold


def value(one: Any) -> Any:
    """What JSON can hold of an answer or of a part of one; an array that is large stays itself until it is written."""
    match one:
        case None | str() | bool() | int():
            return one
        case np.ndarray():
            return as_json(one)
        case float() | np.generic():
            return json_number(one)
        case Notation() | results.Formula():
            return one.text
        case Mapping():
            return {key: value(held) for key, held in one.items()}
        case tuple() | list():
            return [value(held) for held in one]
        case Record(of=held, keys=keys):
            return _object(held, keys)
    return _object(one, KEYS[type(one)])


def _object(one: Any, keys: tuple[Key, ...]) -> dict[str, Any]:
    found = ((key, key.get(one)) for key in keys)
    return {key.name: value(held) for key, held in found if key.applies(one, held)}


# -- the text


def _written(found: Any) -> Iterator[str]:
    """As `json.dumps` writes it, large arrays a part at a time."""
    match found:
        case np.ndarray():
            yield from json_pieces(found)
        case dict():
            yield from _joined("{", (([json.dumps(key), ": "], held) for key, held in found.items()))
            yield "}"
        case list() if any(isinstance(one, dict | np.ndarray) for one in found):
            yield from _joined("[", (([], held) for held in found))
            yield "]"
        case _:
            yield json.dumps(found, allow_nan=False, ensure_ascii=True)


def _joined(opening: str, members: Iterable[tuple[list[str], Any]]) -> Iterator[str]:
    yield opening
    for n, (head, held) in enumerate(members):
        yield ", " * (n > 0) + "".join(head)
        yield from _written(held)
