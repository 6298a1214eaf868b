"""The functions of the language as answers: the op table as a list, and a page for one function.

The list shows the rows alone and imports neither torch nor SymPy.  A page has a worked example too, with the formula
of the derivative and the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradcli import trial
from gradcli.errors import UnknownFunctionError, did_you_mean
from gradcli.language import ops
from gradcli.language.ops import REQUIRED, SIGNS, Kind, Op
from gradcli.results import FunctionEntry, FunctionPage, Functions, Listing, Parameter

if TYPE_CHECKING:
    from gradcli.results import VJP, Array, Gradient

_SEARCHED = 3
"""Letters that a word needs to be searched for in the descriptions; shorter ones are everywhere."""


def listed(*words: str, brief: bool = False) -> Functions:
    """List the rows of the op table: all of them, or those that the words name or find.

    Args:
        words: Names, aliases, or dotted names and signs as they are typed; else text of names, groups, descriptions.
        brief: Whether the names of the groups are enough.

    Raises:
        UnknownFunctionError: No function has such a name, and nothing is found.

    >>> listed("ln").parts[0].entries[0].usage
    'log(x)'
    """
    if not words:
        return Functions((Listing(_ENTRIES, is_brief=brief),))
    return Functions(tuple(Listing(*_found(word), is_brief=brief) for word in _phrases(words)))


def pages(*words: str) -> Functions:
    """Return a page for each name of a function, and for any other word the rows that it finds.

    Raises:
        UnknownFunctionError: No function has such a name, and nothing is found.
    """
    found = [_found(word) for word in _phrases(words)]
    trial.end()
    return Functions(tuple(page(e[0].name) if len(e) == 1 else Listing(e, word) for e, word in found))


def page(name: str) -> FunctionPage:
    """Compose the page of one function.

    Args:
        name: Its name in the language, an alias, or a word, of which the first row found counts.

    Raises:
        UnknownFunctionError: No function has this name.

    >>> page("exp").example.check.verdict
    'agree'
    """
    (entry, *_), _ = _found(name)
    op = ops.TABLE[entry.name]
    command, example = _example(op)
    return FunctionPage(entries=(entry,), meaning=_meaning(op), example_command=command, example=example)


# -- the list


def _entry(op: Op, group: str) -> FunctionEntry:
    facts: dict[str, Any] = {name: getattr(op, name) for name in "name aliases doc domain kinks is_step caveat".split()}
    parameters = tuple(_parameter(op, name) for name in op.signature)
    spellings = tuple(_spellings(op))
    return FunctionEntry(group=group, usage=_usage(op), parameters=parameters, spellings=spellings, **facts)


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
    """Yield other ways to write the function, each as an example: an operator, a method, a dotted name."""
    yield from op.notation
    for sign, name in SIGNS.items():
        if name == op.name:
            yield f"{op.signature[0]} {sign} {op.signature[1]}"
    if _is_method(op):
        rest = [name for name in op.signature if name != op.operands[0]]
        for name in (op.name, *op.after_dot):
            given = () if name == "t" else _arguments(op, rest)
            yield f"{op.operands[0]}.{name}({', '.join(given)})"
    same = ops.find(op.torch.rpartition(".")[2], after_dot=True)  # torch.sort stands for values and for indices
    is_this = same in (op, None) or op.name == op.torch.replace(".", "_")
    if op.torch and is_this and not op.torch.startswith("Tensor."):
        yield f"torch.{op.torch}({', '.join(_arguments(op, op.signature))})"


def _is_method(op: Op) -> bool:
    """Tell whether torch has the function as a method of its first operand."""
    is_of_list = op.operands[:1] in (("tensors",), ("operands",))
    if is_of_list or op.kind is Kind.SOURCE or op.conditions or op.has_equation or op.name in ("index", "solve"):
        return False
    is_tensors = bool(op.torch) and not op.torch.startswith(("nn.", "special."))
    return is_tensors or op.kind in (Kind.MOVEMENT, Kind.COUNT)


def _found(word: str) -> tuple[tuple[FunctionEntry, ...], str]:
    """Find the rows for a word, with the word if it had to be searched for.

    Raises:
        UnknownFunctionError: There are no such rows.
    """
    name = _name_in(word)
    op = ops.find(name, after_dot=True) or ops.find(name.lower(), after_dot=True) or ops.TABLE.get(name)
    if op is not None:
        return (_BY_NAME[op.name],), ""
    wanted = word.strip().lower()
    entries = tuple(entry for entry in _ENTRIES if entry.group == wanted)
    entries = entries or tuple(entry for entry in _ENTRIES if wanted and _matches(entry, wanted))
    if not entries and (same := _PLAIN.get(re.sub(r"[\s_-]+", "", wanted))) is not None:  # log gamma
        return (_BY_NAME[same],), ""
    if not entries and re.fullmatch(r"[\w\s'.,/-]+", wanted) is not None:
        entries, wanted = _by_words(wanted)
    if not entries:
        hint = did_you_mean(name or word, ops.names()) or "gradcli functions lists them"
        raise UnknownFunctionError(f"unknown function '{name or word}'", hint=hint)
    return entries, wanted


_LITTLE = frozenset("a an the of and or for in by to is with function functions gradient derivative".split())
"""Words of a search that say nothing of a function."""

_OTHER_WORDS = {
    "arc": "inverse", "arcus": "inverse", "cdf": "distribution", "pdf": "density", "gaussian": "normal",
    "cumulative": "running", "step": "heaviside", "modulus": "absolute", "magnitude": "absolute", "ramp": "relu",
    "scalar": "inner", "eigenvalue": "eigenvalues", "largest": "maximum", "smallest": "minimum", "average": "mean",
}  # fmt: skip
"""Words of textbooks, by those of the descriptions."""


def _phrases(words: Sequence[str]) -> Sequence[str]:
    """Join words one of which says nothing alone, `bessel k` and `error function`, to a phrase."""
    is_phrase = any(word.lower() in _LITTLE or (len(word) < _SEARCHED and word.isalnum()) for word in words)
    is_of_names = all(ops.find(_name_in(word), after_dot=True) is not None for word in words)
    return (" ".join(words),) if is_phrase and not is_of_names else words


def _by_words(wanted: str) -> tuple[tuple[FunctionEntry, ...], str]:
    """Find the rows that have most of the words of a phrase, with these words: `Bessel K` is of Bessel."""
    words = [_OTHER_WORDS.get(word, word) for word in re.findall(r"\w+", wanted) if word not in _LITTLE]
    words = [word for word in dict.fromkeys(words) if len(word) >= _SEARCHED]
    found = {entry: [word for word in words if _matches(entry, word)] for entry in _ENTRIES}
    most = max(map(len, found.values()))
    entries = tuple(entry for entry in _ENTRIES if most and len(found[entry]) == most)
    return entries, " ".join(found[entries[0]]) if entries else wanted


def _name_in(word: str) -> str:
    """Extract the name of a function from pasted text: `torch.softmax`, `x.t()`, `@`."""
    text = word.strip()
    return SIGNS.get(text, text.partition("(")[0].rpartition(".")[2])


def _matches(entry: FunctionEntry, wanted: str) -> bool:
    if any(wanted in name.lower() for name in (entry.name, entry.group, *entry.aliases)):
        return True
    return len(wanted) >= _SEARCHED and re.search(rf"\b{re.escape(wanted)}", entry.doc, re.IGNORECASE) is not None


_ENTRIES = tuple(_entry(op, group) for group, rows in ops.GROUPS.items() for op in rows)
_BY_NAME = {entry.name: entry for entry in _ENTRIES}
_PLAIN = {name.replace("_", ""): entry.name for entry in _ENTRIES for name in (entry.name, *entry.aliases)}


# -- the meaning and the example


def _meaning(op: Op) -> str:
    """Return the definition in the language, with constants at their defaults, or a sentence in its place."""
    if op.kind is Kind.SOURCE:
        return "constant numbers, the same for torch, the formula and the reference"
    if op.is_primitive:
        ruled = "torch and" if op.kind is Kind.SPECTRAL else "torch, the formula and"
        return f"a primitive: not defined by others, but a rule of its own for {ruled} the reference"
    if op.is_defined_by_torch:
        return "torch says what it is made of, for the shapes of its operands"
    if op.has_equation or op.of_shapes:
        each = "equation" if op.has_equation else "shape"
        return f"{op.meaning}, which is written with the other functions for each {each}"
    if op.written is not None and "reduction" not in op.statics:
        return op.meaning
    from gradcli.language.program.expansion import meaning_of

    return meaning_of(op, dict(op.statics))


def _example(op: Op) -> tuple[str, VJP | Gradient]:
    """Return the command line of the worked example, and its answer."""
    from gradcli.questions.commands.eval import eval as evaluate
    from gradcli.questions.commands.grad import grad
    from gradcli.questions.commands.vjp import vjp
    from gradcli.questions.parsed_text import ParsedText

    text, at = op.worked_example
    function = ParsedText(text)
    y = evaluate(function, at).value
    words = [f'"{text}"', *(f"--at {_quoted(x if len(at) == 1 else f'{name}={x}')}" for name, x in at.items())]
    if y.size == 1 and y.ndim == 0:
        return f"gradcli grad {' '.join(words)}", grad(function, at)
    v = "ones" if op.kind is Kind.ELEMENTWISE else _counting(y)
    return f"gradcli vjp {' '.join(words)} --v {_quoted(v)}", vjp(function, at, v)


def _counting(y: Array) -> str:
    """Write 1, 2, 3, ... in the shape of y, so that the example shows where each weight goes."""
    import numpy as np

    text = str(np.arange(1, y.size + 1).reshape(y.shape).tolist()).replace(" ", "")
    return text[1:-1] if y.ndim == 1 else text


def _quoted(word: str) -> str:
    """Quote a word if a shell would read it otherwise."""
    return f'"{word}"' if re.search(r"[^\w.,=+-]", word) else word
