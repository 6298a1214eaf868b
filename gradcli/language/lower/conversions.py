"""Calls without a row in the op table: tensors made from values, and converted, and `Piecewise`, `len`, `Rational`.

`torch.tensor(x)` and `x.item()` are constants to autograd; `x.to(torch.int64)` drops fractions; `x.clone()` is x.
"""

from __future__ import annotations

from dataclasses import replace

import sympy

from gradcli.errors import Span
from gradcli.language.lower.argument_kinds import DETACHING, WITH_WORDS
from gradcli.language.lower.arguments import IGNORED, by_name, ignored, require_real
from gradcli.language.lower.constants import as_whole, inline_text
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.lines import emit, require_tensor
from gradcli.language.lower.sizes import shape_of
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, Items, Word, is_word
from gradcli.language.text.tokens import Token

MAX_BESSEL_ORDER = 20
"""Largest order of a Bessel function, which is written out by those of orders 0 and 1."""

COPIES = frozenset("tensor Tensor FloatTensor DoubleTensor float".split())
"""Constructors that copy numbers: their arguments pass on no derivative."""

TENSORS = COPIES | frozenset(
    "as_tensor asarray array from_numpy copy LongTensor IntTensor Variable Parameter Matrix Float S Integer".split()
)
"""Functions that only wrap a value: `torch.tensor([1., 2.])` is `[1., 2.]`."""

_WHOLE = frozenset("int long short int8 int16 int32 int64 uint8 IntTensor LongTensor".split())

SPECIAL = frozenset(["Piecewise", "len", "Rational", "complex", "besseli"])
"""Calls that make no tensor."""


def constructed(context: Context, name: Token, span: Span, arguments: Arguments) -> Operand:
    """Lower a constructor around a value: `torch.tensor([1., 2.])`, `float('inf')`; `span` is of its name."""
    held = [one for one in arguments.items if one.name is not None and one.name.text in IGNORED]
    kept = [one for one in arguments.items if one not in held]
    word = kept[0].value if len(kept) == 1 else None
    if isinstance(word, Word) and word.token.kind == "string":
        value = _named_number(context, word.token)
    else:
        value = require_tensor(
            context, *by_name(context, replace(arguments, items=tuple(kept)), ["data"], name.text)["data"]
        )
    if name.text != "float":  # a number of Python, which decides no type
        context.rules.note_types([name], False)
    for one in held:
        ignored(context, one)
    span = span.to(arguments.span)
    kinds = [t.text for one in held if one.name.text == "dtype" for t in context.source.within(one.value.span)]  # type: ignore[union-attr]
    value = _of_type(context, value, kinds or [name.text], span)
    return detached(context, value, span) if name.text in COPIES else (value, span)


def _named_number(context: Context, word: Token) -> Atom:
    named = {"inf": sympy.oo, "+inf": sympy.oo, "-inf": -sympy.oo, "nan": sympy.nan}
    text = word.text.strip().lower()
    if text not in named:
        raise context.source.error(f"'{word.text}' is not a number", word.span, hint="write inf or nan")
    return named[text]


def converted(context: Context, name: Token, span: Span, value: Atom, arguments: Arguments) -> Operand:
    """Lower a method that converts: `x.clone()`, `x.item()`, `x.to(torch.int64)`."""
    inside = context.source.within(arguments.span)[1:-1]
    words = [token.text for token in inside]
    is_flag = name.text == "requires_grad_" and words in (["True"], ["False"])
    is_keyword = words[1:2] == ["="]
    if words and name.text not in WITH_WORDS and not is_flag and not is_keyword:
        raise context.source.error(f"too many arguments for .{name.text}()", inside[0].span)
    require_real(context, [name, *inside])
    context.rules.note_types([name, *inside], True)
    value, span = _of_type(context, value, [name.text, *words], span.to(arguments.span)), span.to(arguments.span)
    return detached(context, value, span) if name.text in DETACHING else (value, span)


def _of_type(context: Context, value: Atom, words: list[str], span: Span) -> Atom:
    """Convert a value to a type: whole types drop fractions, truth values are 1 or 0."""
    if not _WHOLE.isdisjoint(words):
        return emit(context, "trunc", [value], span)[0]
    if "bool" in words:
        is_condition = value in context.findings.conditions
        return value if is_condition else emit(context, "ne", [value, sympy.Integer(0)], span)[0]
    return value


def detached(context: Context, value: Atom, span: Span) -> Operand:
    """Make a value a constant to autograd; numbers are constants already."""
    _, leaves = context.builder.backward_slice(value)
    if leaves.isdisjoint(context.findings.variables.values()):
        return value, span
    said = "a tensor is copied without its gradient, as in torch: float(), .item(), .data, torch.tensor()"
    context.findings.warnings.append(said)
    return emit(context, "detach", [value], span)


def special(context: Context, name: Token, span: Span, arguments: Arguments) -> Operand:
    """Lower a call that makes no tensor; `span` is of its name."""
    match name.text:
        case "Piecewise":
            value = _piecewise(context, span, arguments)
        case "len":
            operand = by_name(context, arguments, ["x"], "len")["x"][0]
            context.findings.doubtful_numbers += shape_of(context, operand) == ()
            value = emit(context, "count", [operand], span, (0,))[0]
        case "Rational":
            given = by_name(context, arguments, ["p", "q"], "Rational", optional=["q"])
            numbers = [a for a, _ in given.values()]
            value = emit(context, "div", [*numbers, sympy.Integer(1)][:2], span)[0]
        case "besseli":
            order, x = by_name(context, arguments, ["n", "x"], "besseli").values()
            if (place := as_whole(context, *order)) not in range(MAX_BESSEL_ORDER + 1):
                raise context.source.error(f"besseli(n, x) is read for n from 0 to {MAX_BESSEL_ORDER}", span)
            steps = ["b0 = i0(x)", "b1 = i1(x)"]  # and by recurrence from these
            steps += [f"b{n + 1} = b{n - 1} - {2 * n}/x*b{n}" for n in range(1, place)]
            value = inline_text(context, "; ".join([*steps[: place + 1], f"b{place}"]), {"x": x[0]}, span)
        case _:
            raise context.source.error("complex numbers are not read", name.span)
    return value, span.to(arguments.span)


def _piecewise(context: Context, span: Span, arguments: Arguments) -> Atom:
    """Lower `Piecewise((value, condition), ..., (value, True))` as branches inside one another."""
    pairs = [one.value for one in arguments.items]
    hint = "write Piecewise((x**2, x > 0), (0, True))"
    found: list[tuple[Atom, Atom | None]] = []
    for pair in pairs:
        if not isinstance(pair, Items) or len(pair.items) != 2:
            raise context.source.error("Piecewise is of pairs, (value, condition)", pair.span, hint=hint)
        value, node = pair.items
        found.append((lower(context, value)[0], None if is_word(node, "True") else lower(context, node)[0]))
    if not found or found[-1][1] is not None:
        raise context.source.error("Piecewise needs a last pair with the condition True", span, hint=hint)
    result = found[-1][0]
    for value, condition in reversed(found[:-1]):
        result = value if condition is None else emit(context, "where", [condition, value, result], span)[0]
    return result
