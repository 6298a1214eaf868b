"""The functions of the language as answers: the op table as a list, and a page for one function.

The list is what the rows say and imports neither torch nor SymPy.  A page asks the readings for the rest: the formula
of the derivative, which the reference has confirmed, and a worked example with its verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.errors import UnknownFunctionError, did_you_mean, listed_names
from gradcli.language import ops
from gradcli.language.ops import REQUIRED, SIGNS, Kind, Op
from gradcli.results import FunctionEntry, FunctionPage, Functions, Listing, Meaning, Parameter

if TYPE_CHECKING:
    import sympy

    from gradcli.results import VJP, Array, Gradient, Jacobian

_SEARCHED = 3
"""Letters from which on a word is looked for in the descriptions; single letters are everywhere."""

_VARIABLES: Mapping[str, str] = {"min": "lower", "max": "upper", "nan": "value", "threshold": "limit"}
"""Parameters that no variable can be called, as they are functions, and variables in their place."""

_NUMBERS = ("1.5", "0.5", "2")
"""Values of operands for which a row has none; they only have to be inside of the domain."""


def listed(*words: str, brief: bool = False) -> Functions:
    """The rows of the op table: all of them, or those that the words name or find.

    Args:
        words: Names, aliases, or dotted names and signs as they are typed; else text of names, groups, descriptions.
        brief: Whether the names of the groups are enough.

    Raises:
        UnknownFunctionError: Nothing is called so, and nothing is found.

    >>> listed("ln").parts[0].entries[0].usage
    'log(x)'
    """
    if not words:
        return Functions((Listing(_ENTRIES, is_brief=brief),))
    return Functions(tuple(Listing(*_found(word), is_brief=brief) for word in words))


def pages(*words: str) -> Functions:
    """A page for each name, and for a word that is none, the rows that it finds.

    Raises:
        UnknownFunctionError: Nothing is called so, and nothing is found.
    """
    found = [_found(word) for word in words]
    return Functions(tuple(page(e[0].name) if len(e) == 1 else Listing(e, word) for e, word in found))


def page(name: str) -> FunctionPage:
    """All that there is to say of one function.

    Args:
        name: In the language; an alias will do, and a word finds its first.

    Raises:
        UnknownFunctionError: No function has this name.

    >>> page("exp").derivative.symbolic["x"].text
    'exp(x)'
    """
    from gradcli.questions import derivatives
    from gradcli.questions.question import Inquiry, read

    (entry, *_), _ = _found(name)
    op = ops.TABLE[entry.name]
    meanings, note = _meanings(op)
    text, values = _formula_of(op)
    derivative = derivatives.jacobian(Inquiry(text, read(text), values, check=False))
    command, example = _example(op)
    return FunctionPage(
        entries=(entry,),
        meanings=meanings,
        meaning_note=note,
        inner_kinks=tuple(dict.fromkeys(_inner_kinks(op))),
        derivative=derivative,
        derivative_note=_derivative_note(op, derivative),
        example_command=command,
        example=example,
    )


# -- the list


def _entry(op: Op, group: str) -> FunctionEntry:
    facts: dict[str, Any] = {name: getattr(op, name) for name in "name aliases doc domain kinks is_step".split()}
    parameters = tuple(_parameter(op, name) for name in op.signature)
    spellings = tuple(_spellings(op))
    return FunctionEntry(
        group=group, usage=_usage(op), parameters=parameters, spellings=spellings, caveat=op.caveat, **facts
    )


def _parameter(op: Op, name: str) -> Parameter:
    default = None if name in op.optional else op.statics.get(name, op.defaults.get(name, REQUIRED))
    is_required = default is REQUIRED
    return Parameter(name, name in op.statics, is_required=is_required, default=None if is_required else default)


def _usage(op: Op) -> str:
    if op.name == "index":
        return "x[key]"
    return f"{op.name}({', '.join(_arguments(op, op.signature))})"


def _arguments(op: Op, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        parameter = _parameter(op, name)
        star = "*" * (name == "operands")
        yield f"{star}{name}" if parameter.is_required else f"{name}={parameter.default!r}"
    if op.variadic and op.kind is Kind.ELEMENTWISE:
        yield "..."


def _spellings(op: Op) -> Iterator[str]:
    """Other ways to write the function, each as an example of itself."""
    yield from op.notation
    for sign, name in SIGNS.items():
        if name == op.name:
            yield f"{op.signature[0]} {sign} {op.signature[1]}"
    if _is_method(op):
        rest = [name for name in op.signature if name != op.operands[0]]
        for name in (op.name, *op.qualified):
            given = () if name == "t" else _arguments(op, rest)
            yield f"{op.operands[0]}.{name}({', '.join(given)})"
    same = ops.find(op.torch.rpartition(".")[2], after_dot=True)  # torch.sort is of both its parts
    if (
        op.torch
        and (same in (op, None) or op.name == op.torch.replace(".", "_"))
        and not op.torch.startswith("Tensor.")
    ):
        yield f"torch.{op.torch}({', '.join(_arguments(op, op.signature))})"


def _is_method(op: Op) -> bool:
    """Whether torch has it as a method of its first operand."""
    is_of_list = op.operands[:1] in (("tensors",), ("operands",))
    if is_of_list or op.kind is Kind.SOURCE or op.conditions or op.has_equation or op.name in ("index", "solve"):
        return False
    is_tensors = bool(op.torch) and not op.torch.startswith(("nn.", "special."))
    return is_tensors or op.kind in (Kind.MOVEMENT, Kind.COUNT)


def _found(word: str) -> tuple[tuple[FunctionEntry, ...], str]:
    """The rows for a word, with the word if it had to be searched for.

    Raises:
        UnknownFunctionError: There are none.
    """
    name = _name_in(word)
    op = ops.find(name, after_dot=True) or ops.find(name.lower(), after_dot=True) or ops.TABLE.get(name)
    if op is not None:
        return (_BY_NAME[op.name],), ""
    wanted = word.strip().lower()
    entries = tuple(entry for entry in _ENTRIES if entry.group == wanted)
    entries = entries or tuple(entry for entry in _ENTRIES if wanted and _matches(entry, wanted))
    if not entries:
        hint = did_you_mean(name or word, ops.names()) or "gradcli functions lists them"
        raise UnknownFunctionError(f"unknown function '{name or word}'", hint=hint)
    return entries, wanted


def _name_in(word: str) -> str:
    """The name in what may be pasted: `torch.softmax`, `x.t()`, `@`."""
    text = word.strip()
    return SIGNS.get(text, text.partition("(")[0].rpartition(".")[2])


def _matches(entry: FunctionEntry, wanted: str) -> bool:
    if any(wanted in name.lower() for name in (entry.name, entry.group, *entry.aliases)):
        return True
    return len(wanted) >= _SEARCHED and re.search(rf"\b{re.escape(wanted)}", entry.doc, re.IGNORECASE) is not None


_ENTRIES = tuple(_entry(op, group) for group, rows in ops.GROUPS.items() for op in rows)
_BY_NAME = {entry.name: entry for entry in _ENTRIES}


# -- the meaning


def _meanings(op: Op) -> tuple[tuple[Meaning, ...], str]:
    """The definitions in the language, and what to know of them."""
    if op.kind is Kind.SOURCE:
        return (), "constant numbers, the same for torch, the formula and the reference"
    if op.is_primitive:
        ruled = "torch and" if op.kind is Kind.SPECTRAL else "torch, the formula and"
        return (), f"a primitive: not defined by others, but a rule of its own for {ruled} the reference"
    if op.is_recorded or op.kind is Kind.INLINED:
        return (), "torch says what it is made of, for the shapes of its operands"
    if op.has_equation or op.of_shapes:
        each = "equation" if op.has_equation else "shape"
        return (), f"{op.meaning}, which is written with the other functions for each {each}"
    if op.written is not None and "reduction" not in op.statics:
        return (Meaning("", op.meaning, op.meaning),), ""
    found = tuple(_meaning(op, case, constants) for case, constants in _cases(op))
    handed_on = sorted({name for m in found for name in re.findall(r"\b(\w+)=\1\b", m.text)}, key=op.signature.index)
    if not handed_on:
        return found, ""
    are = "is" if len(handed_on) == 1 else "are"
    return found, f"where {listed_names(handed_on)} {are} given, the functions inside get the same"


def _meaning(op: Op, case: str, constants: Mapping[str, Any]) -> Meaning:
    from gradcli.language.program.expansion import meaning_of

    text = meaning_of(op, {**op.statics, **constants})
    if (reduction := constants.get("reduction", "mean")) != "mean":
        return Meaning(case, text, "the same without the mean" if reduction == "none" else "the sum of the same")
    short = re.sub(r", (\w+)=\1\b", "", text).replace("count(x, dim)", "count(x)")
    return Meaning(case, text, short)


def _cases(op: Op) -> list[tuple[str, dict[str, Any]]]:
    """The values of a constant argument for which the definition is another one."""
    if "reduction" in op.statics:
        return [(f"reduction='{name}'", {"reduction": name}) for name in ("mean", "sum", "none")]
    match op.name:
        case "gelu":
            return [(f"approximate='{name}'", {"approximate": name}) for name in ("none", "tanh")]
        case "norm":
            infinite = [(f"p={p}", {"p": float(p)}) for p in ("inf", "-inf")]
            return [("p=2", {"p": 2}), ("p=1", {"p": 1}), *infinite, ("any other p", {"p": 3})]
    return [("", {})]


def _inner_kinks(op: Op) -> Iterator[str]:
    """Where the operations of an elementwise definition have kinks or jump, in terms of the operands."""
    is_written = op.has_equation or op.written is not None or op.is_recorded or op.kind is Kind.INLINED
    if op.is_primitive or is_written or REQUIRED in op.statics.values():
        return
    from gradcli.language.program.expansion import definition
    from gradcli.language.program.meaning import compose, meaning

    constants = {**op.statics} | ({"reduction": "none"} if "reduction" in op.statics else {})
    program = definition(op.name, tuple(constants.values()), len(op.operands))
    if any(line.call.op.kind is not Kind.ELEMENTWISE for line in program.lines):
        return
    values: dict[sympy.Expr, sympy.Expr] = {symbol: symbol for symbol in program.variables}
    for line in program.lines:
        operands = [values.get(a, a) for a in line.call.operands]
        values[line.symbol] = meaning(line.call, tuple(operands))
        for kink in line.call.op.kinks:
            where = compose(kink, dict(zip(line.call.op.operands, operands, strict=True)))
            if where.free_symbols and not all(str(name) in op.conditions for name in where.free_symbols):
                yield str(where)


# -- the derivative and the example


def _formula_of(op: Op) -> tuple[str, dict[str, str]]:
    """The expression to differentiate: of scalars where the operation is elementwise, else the worked example."""
    text, at = op.worked_example
    if op.kind is not Kind.ELEMENTWISE or REQUIRED in op.statics.values():
        return text, at
    values: dict[str, str] = {}
    words = []
    for operand, number in zip(op.operands, _NUMBERS, strict=False):
        name = _VARIABLES.get(operand, operand)
        given = at.get(operand, op.defaults.get(operand, number))
        values[name] = str(given).partition(",")[0]
        words.append(f"{name} > 0" if operand in op.conditions else name)
    return f"{op.name}({', '.join(words)})", values


def _derivative_note(op: Op, derivative: Jacobian) -> str:
    if op.kind is Kind.SOURCE:
        return f"{op.name} itself has no operands to differentiate by"
    is_flat = not any(block.any() for block in (derivative.jacobian or {}).values())
    if op.is_condition or (op.is_step and is_flat):  # the angle of atan2 jumps too, but is not flat beside it
        return "a step: the derivative is 0 wherever there is one"
    return ""


def _example(op: Op) -> tuple[str, VJP | Gradient]:
    """The command line of the worked example, and its answer."""
    from gradcli.questions import derivatives, products
    from gradcli.questions.question import Inquiry, read

    text, at = op.worked_example
    inquiry = Inquiry(text, read(text), at)
    y = derivatives.evaluation(inquiry).value
    words = [f'"{text}"', *(f"--at {_quoted(x if len(at) == 1 else f'{name}={x}')}" for name, x in at.items())]
    if y.size == 1 and y.ndim == 0:
        return f"gradcli grad {' '.join(words)}", products.grad(inquiry)
    v = "ones" if op.kind is Kind.ELEMENTWISE else _counting(y)
    answer = products.vjp(inquiry, (v,))
    return f"gradcli vjp {' '.join(words)} --v {_quoted(v)}", answer


def _counting(y: Array) -> str:
    """1, 2, 3, ... in the shape of y, so that the example shows where each weight goes."""
    import numpy as np

    text = str(np.arange(1, y.size + 1).reshape(y.shape).tolist()).replace(" ", "")
    return text[1:-1] if y.ndim == 1 else text


def _quoted(word: str) -> str:
    """In quotes where a shell would read it otherwise."""
    return f'"{word}"' if re.search(r"[^\w.,=+-]", word) else word
