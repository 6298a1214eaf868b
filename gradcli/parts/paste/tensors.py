"""Tensors that a text makes: their types, the type in which its numbers are computed, and random numbers.

    torch.tensor(1., dtype=torch.float64)    torch.DoubleTensor([1.])    x.double()    torch.set_default_dtype(...)

Torch takes float32 where nothing is written.  Tensors of both types meet in float64, with the numbers that float32 has
of the others.  Whole numbers cannot require a gradient.

Random numbers are those that torch draws: `torch.manual_seed(3); x = torch.randn(2)`.  A draw is a constant
tensor; a name for it makes a variable, as for other tensors of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.arguments import bind
from gradcli.language.lower.context import Context, Operand
from gradcli.language.ops import TABLE, Kind
from gradcli.language.program.constant_tensors import DrawnNumbers
from gradcli.language.program.wengert import MAX_ELEMENTS, Atom
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token
from gradcli.parts.paste.text_state import Tensors, TextState, TypeName

MIXED = (
    "tensors of float32 and of float64 meet, and torch computes in float64 from there on; here all is computed in "
    "float64, with the numbers of float32 tensors as they are"
)
"""Remark on a text with both types."""

_TYPES: Mapping[str, TypeName] = {
    **dict.fromkeys(("float32", "float", "FloatTensor", "Tensor"), "float32"),
    **dict.fromkeys(("float64", "double", "DoubleTensor", "ndarray"), "float64"),
    **dict.fromkeys(("int", "long", "short", "int8", "int16", "int32", "int64", "uint8"), "int"),
    **dict.fromkeys(("IntTensor", "LongTensor", "bool", "BoolTensor"), "int"),
}
"""Types by the words that name them."""

CONSTRUCTORS = frozenset("tensor as_tensor from_numpy array asarray Variable Parameter".split())
"""Functions that make a tensor of numbers, of their type unless a keyword names another."""

_WHOLE = frozenset("add sub mul neg pow abs trunc floor ceil round sign stack cat".split())
"""Operations that give whole numbers of whole numbers."""

UNSEEDED = "no seed is set: random numbers are those that torch draws after torch.manual_seed(0)"
"""Remark on random numbers that differ from one run to the next."""


def note_types(tensors: Tensors, words: Sequence[Token], is_cast: bool) -> None:
    """Note the types that some words name, a method first; a call of NumPy names one too.

    `torch.float` and `x.float()` are float32, and Python's own `float` is float64.
    """
    for n, word in enumerate(words):
        kind = _TYPES.get(word.text, "")
        kind = tensors.default or kind if word.text == "Tensor" else kind
        is_of_torch = (n > 0 and words[n - 1].text == ".") or (is_cast and n == 0)
        kind = "float64" if word.text == "float" and not is_of_torch else kind
        tensors.said += [(kind, "cast" * is_cast or word.text)] * bool(kind)


def set_default(tensors: Tensors, context: Context, span: Span) -> None:
    """Note the type of `torch.set_default_dtype(torch.float64)`."""
    words = (_TYPES.get(token.text) for token in context.source.within(span))
    tensors.default = next(filter(None, words), tensors.default)


def note_casts(tensors: Tensors, context: Context, span: Span) -> None:
    """Note the types of a statement of the function, which was lowered."""
    tokens = context.source.within(span)
    said = {kind for kind, _ in tensors.said} - {"int"}
    is_made = any(token.text in CONSTRUCTORS for token in tokens)
    has_fraction = any(token.kind == "number" and not token.text.isdecimal() for token in tokens)
    tensors.casts |= said or ({tensors.default} if is_made and has_fraction else set())


def define_type(tensors: Tensors, context: Context, name: str, value: Atom) -> None:
    """Note the type of a variable that was just defined, and round its numbers to those before a cast."""
    said = tensors.said
    is_int = is_whole(tensors, context, value, is_typed=any(kind == "int" for kind, _ in said))
    _, leaves = context.builder.backward_slice(value)
    known = {tensors.types[str(leaf)] for leaf in leaves if str(leaf) in tensors.types}
    kinds = [kind for kind, how in said if (kind == "int") <= is_int and not (is_int and how == "ndarray")]
    inherited = next((kind for kind in ("float64", "float32") if kind in known), tensors.default)
    tensors.types[name] = kinds[-1] if kinds else "int" if is_int else inherited
    is_cast = bool(said) and said[-1] == ("float64", "cast")
    if is_cast and "float64" not in {*known, tensors.default, *(kind for kind, _ in said[:-1])}:
        tensors.values[name] = _rounded(tensors.values[name])


def is_whole(tensors: Tensors, context: Context, atom: Atom, *, is_typed: bool = False) -> bool:
    """Tell whether a value has whole numbers in Python, or is of a type of them."""
    lines, leaves = context.builder.backward_slice(atom, stop=lambda call: call.op.name == "trunc")
    for line in lines:
        op, statics = line.call.op, line.call.statics
        if op.kind is Kind.SOURCE:
            is_counted = op.name in ("arange", "full") and not any(isinstance(n, float) for n in statics)
            if not (is_typed or is_counted):
                return False
        elif op.kind is not Kind.MOVEMENT and op.name not in _WHOLE:
            return False
    return all(isinstance(leaf, sympy.Integer) or tensors.types.get(str(leaf)) == "int" for leaf in leaves)


def type_of(tensors: Tensors, context: Context, names: tuple[str, ...]) -> Literal["float64", "float32"] | None:
    """Return the type in which torch computes some variables; None where none of them is a tensor of its own."""
    found = {tensors.types.get(name, "int") for name in names} - {"int"}
    found |= tensors.casts if found else set()
    if "float64" in found and len(found) > 1:
        context.findings.warnings.append(MIXED)
        for name in names:
            if tensors.types.get(name) in ("", "float32"):
                tensors.values[name] = _rounded(tensors.values[name])
    return "float64" if "float64" in found else "float32" if found else None


def _rounded(array: Array) -> Array:
    """Round numbers to those of float32."""
    with np.errstate(over="ignore"):
        return array.astype(np.float32).astype(np.float64)


def draw(text: TextState, context: Context, path: str, arguments: nodes.Arguments, span: Span) -> Operand:
    """Lower a call that draws random numbers, which torch draws."""
    if text.draws.make_generator is None:
        raise context.source.code(f"'{path}'", span)
    name, mark = path.rpartition(".")[2], len(text.tensors.said)
    given = bind(context, TABLE[name], Token("name", name, span), arguments, []).statics
    if given["seed"]:
        raise context.source.error(
            f"{path} takes sizes, or a tuple of them", span, hint="torch.manual_seed(0) before it"
        )
    found = given["shape"]
    sizes = found if isinstance(found, tuple) else (found,)
    if any(size < 0 for size in sizes) or sympy.prod(sizes) > MAX_ELEMENTS:
        message = f"sizes are whole numbers from 0 on, of at most {MAX_ELEMENTS:,} elements in all"
        raise context.source.error(message, span, kind=TooLargeError)
    text.draws.generator = text.draws.generator or text.draws.make_generator()
    if text.draws.seed is not None:
        text.draws.generator.seed(text.draws.seed)
    elif not text.draws.count:
        context.findings.warnings.append(UNSEEDED)
    text.draws.seed, text.draws.count = None, text.draws.count + 1
    is_double = "float64" in (text.tensors.said[mark:] or [(text.tensors.default, "")])[-1]
    numbers = text.draws.generator.draw(name, sizes, is_double=is_double)
    held = DrawnNumbers(numbers.tobytes(), f"{name} {text.draws.count}")
    return context.builder.emit("drawn", (), span, (sizes, held)), span
