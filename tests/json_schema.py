"""The JSON of all answers as a schema, and as tables for the guide, made of the dataclasses that are written.

`python -m tests.json_schema` renews the tables; the schema is a golden, which `pytest --update-goldens` renews.
"""

import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin

import numpy as np

from gradcli import results
from gradcli.notation import Notation
from gradcli.results.record import JsonKey, Record, json_keys
from tests import generated

PAGE = generated.GUIDE / "json.md"
GOLDEN = generated.GUIDE / "schema.json"

ANSWERS: Mapping[str, type[Record]] = {
    "vjp": results.VJP,
    "grad": results.Gradient,
    "jacobian": results.Jacobian,
    "jvp": results.JVP,
    "hessian": results.Hessian,
    "hvp": results.HVP,
    "eval": results.Evaluation,
    "check": results.Checking,
    "explain": results.Explanation,
    "graph": results.BackwardGraph,
    "formulas without --at": results.ClosedForm,
    "plot": results.Plot,
    "plot of two variables": results.PlotMap,
    "improve": results.Improvement,
    "code": results.Source,
    "range": results.BoxRange,
    "check of a box": results.BoxChecking,
    "sparse jacobian": results.SparseJacobian,
    "sparse hessian": results.SparseHessian,
}
"""The class of each answer that is one object."""

PARTS = {
    "check": results.Check,
    "findings and opinions": results.Entry,
    "rewrite": results.Rewrite,
    "claims": results.Claim,
    "sampling": results.Sampling,
    "modes": results.ModeCheck,
    "loss": results.Loss,
    "steps": results.Step,
    "adjoints": results.Adjoint,
    "terms": results.Term,
    "tensors": results.GraphTensor,
    "nodes": results.GraphNode,
    "curves": results.Curve,
    "marks": results.Mark,
    "spans": results.MarkedRange,
    "tangents": results.Tangent,
    "stretches": results.Stretch,
    "bounds": results.BoxBounds,
    "proofs": results.BoxProof,
    "regions": results.BoxRegion,
    "places": results.BoxPlace,
    "strips": results.Strip,
    "before and after": results.BitsLost,
    "functions": results.FunctionEntry,
    "parameters": results.Parameter,
    "sparsity": results.Compression,
    "blocks of sparse matrices": results.SparseBlock,
    "a function's page": results.FunctionPage,
}
"""The classes of the objects inside, by their keys."""

NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
ARRAY = {
    "anyOf": [{"$ref": "#/$defs/number"}, {"type": "boolean"}, {"type": "array", "items": {"$ref": "#/$defs/array"}}]
}
"""A number, or a list of arrays: of a shape with a 0 an empty one; conditions are true and false."""


def schema() -> dict[str, Any]:
    """The schema of a line of `--json`."""
    known: dict[str, Any] = {"number": NUMBER, "array": ARRAY}
    for kind in (*ANSWERS.values(), *PARTS.values()):
        known[kind.__name__] = _object(kind)
    listed = known["FunctionEntry"]["properties"]
    head = {"schema": {"const": results.SCHEMA}, "command": {"const": "functions"}}
    page = {**head, **listed, **known.pop("FunctionPage")["properties"]}
    group = {**head, "group": {"type": "string"}, "functions": {"type": "array", "items": {"type": "string"}}}
    known["functions"] = {"anyOf": [_closed({**head, **listed}), _closed(page), _closed(group)]}
    found = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in ANSWERS.values()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a line of gradcli --json",
        "anyOf": [*found, {"$ref": "#/$defs/functions"}],
        "$defs": dict(sorted(known.items())),
    }


def text() -> str:
    """The schema as text, a key a line."""
    whole = schema()
    lines = []
    for name, one in whole.pop("$defs").items():
        properties = one.pop("properties", {})
        keys = ",\n".join(f"   {json.dumps(key)}: {json.dumps(held)}" for key, held in properties.items())
        inside = f', "properties": {{\n{keys}\n  }}' if keys else ""
        lines.append(f"  {json.dumps(name)}: {json.dumps(one)[:-1]}{inside}}}")
    return json.dumps(whole, indent=1)[:-2] + ',\n "$defs": {\n' + ",\n".join(lines) + "\n }\n}\n"


def _closed(properties: Mapping[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [key for key in properties if key not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _object(kind: type) -> dict[str, Any]:
    """The schema of a record, with its keys in the order in which they are written."""
    keys = json_keys(kind)
    found = {one.key: _of_type(type_of(kind, one), is_there=one.omit is not None) for one in keys}
    return _closed(found, tuple(one.key for one in keys if one.omit is not None))


def type_of(kind: type, member: JsonKey) -> Any:
    """The type of what is written: of the field, of the property, or of the function that makes it."""
    if inspect.isfunction(member.get) and (made := typing.get_type_hints(member.get).get("return", Any)) is not Any:
        return made
    held = inspect.getattr_static(kind, member.name, None)
    if isinstance(held, property):
        return typing.get_type_hints(held.fget)["return"]
    owner = next(one for one in kind.__mro__ if member.name in vars(one).get("__annotations__", {}))
    own = types.SimpleNamespace(__annotations__={"type": owner.__annotations__[member.name]})
    return typing.get_type_hints(own, vars(sys.modules[owner.__module__]))["type"]


def _of_type(found: Any, *, is_there: bool = False) -> Any:
    """The schema of a type; with `is_there`, of one whose None is not written."""
    origin, inside = get_origin(found), get_args(found)
    if origin in (typing.Union, types.UnionType):
        parts = [_of_type(one) for one in inside if not (is_there and one is type(None))]
        return parts[0] if len(parts) == 1 else {"anyOf": parts}
    if origin is typing.Literal:
        return {"enum": list(inside)}
    if origin is np.ndarray:
        return {"$ref": "#/$defs/array"}
    if origin is tuple:
        return _of_tuple(inside)
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of_type(inside[1])}
    plain = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
    if found in plain:
        return {"type": plain[found]}
    if found is float:
        return {"$ref": "#/$defs/number"}
    if issubclass(found, Notation | results.Formula):
        return {"type": "string"}
    assert is_dataclass(found), found
    return {"$ref": f"#/$defs/{getattr(found, '__name__', '')}"}


def _of_tuple(inside: tuple[Any, ...]) -> dict[str, Any]:
    if inside[-1] is ...:
        return {"type": "array", "items": _of_type(inside[0])}
    alike = [_of_type(one) for one in inside]
    assert all(one == alike[0] for one in alike)
    return {"type": "array", "items": alike[0], "minItems": len(alike), "maxItems": len(alike)}


# -- tables of the guide


def tables() -> str:
    """A table of the keys that many answers have, then one for each answer, and one for each object inside."""
    shared = {member.key for member in json_keys(results.Differentiation)}
    parts = [_table("### Keys of many answers", results.Differentiation, set())]
    for name, kind in ANSWERS.items():
        parts.append(_table(f"### {name.capitalize()}" if " " in name else f"### `{name}`", kind, shared))
    for name, kind in PARTS.items():
        parts.append(_table(f"### In {name}" if " " in name else f"### In `{name}`", kind, set()))
    return "\n".join(parts)


def _table(heading: str, kind: type, left_out: set[str]) -> str:
    said = dict(documented(kind))
    rows = ""
    for one in json_keys(kind):
        if one.key not in left_out:
            mark, held = "" if one.omit is None else " ?", type_of(kind, one)
            says = said[one.name].replace("; None if", "; null if" if one.omit is None else "; left out if")
            rows += f"| `{one.key}`{mark} | {words(held, is_there=one.omit is not None)} | {says} |\n"
    body = f"| key | is | says |\n| --- | --- | --- |\n{rows}" if rows else "It has no keys of its own.\n"
    return f"{heading}\n\n{body}"


def documented(kind: type) -> Iterator[tuple[str, str]]:
    """Read what the docstrings of a class and of its bases say of fields and of properties."""
    for owner in reversed(kind.__mro__):
        _, _, attributes = (inspect.cleandoc(owner.__doc__ or "")).partition("Attributes:\n")
        for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE):
            yield name, " ".join(text.split()).replace("|", "\\|")
        for name, held in vars(owner).items():
            if isinstance(held, property):
                yield name, (inspect.getdoc(held) or "").partition("\n")[0].replace("|", "\\|")


def words(found: Any, *, is_there: bool = False) -> str:
    """A type in words; with `is_there`, of one whose None is not written."""
    origin, inside = get_origin(found), get_args(found)
    if found == results.Verdict:
        return "a [verdict](verdicts.md)"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(words(one) for one in inside if not (is_there and one is type(None))))
    if origin is typing.Literal:
        return ", ".join(f"`{word}`" for word in inside if word)
    if origin is np.ndarray:
        return "array"
    if origin is tuple:
        return f"list of {_plural(words(inside[0]))}"
    if origin is not None and issubclass(origin, Mapping):
        return f"object of {_plural(words(inside[1]))}"
    plain = {str: "text", int: "whole number", bool: "true or false", float: "number", type(None): "null"}
    if found in plain:
        return plain[found]
    return "formula" if issubclass(found, Notation | results.Formula) else "object"


def _plural(words: str) -> str:
    """Write a type in words for several of it.

    >>> _plural("text"), _plural("list of whole numbers"), _plural("a [verdict](verdicts.md)")
    ('texts', 'lists of whole numbers', '[verdicts](verdicts.md)')
    """
    if words == "a [verdict](verdicts.md)":
        return "[verdicts](verdicts.md)"
    first, of, rest = words.partition(" of ")
    return words if " or " in first or "`" in first else f"{first}s{of}{rest}"


if __name__ == "__main__":
    generated.renew(PAGE, "json_schema", tables())
