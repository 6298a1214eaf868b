"""Arguments of a call, bound to the signature of its operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

import sympy

from gradcli.errors import did_you_mean
from gradcli.language import ops
from gradcli.language.lower.argument_kinds import GATHERED, KEYWORDS, WIDER
from gradcli.language.lower.constants import is_meaning_constant, require_bounded, static
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.libraries import ELSEWHERE
from gradcli.language.lower.lines import emit
from gradcli.language.lower.loops import elements, parts_in
from gradcli.language.lower.sizes import needed_shape
from gradcli.language.ops import REQUIRED, Default, Kind, Op
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Argument, Arguments, GroupNode, Items, Word, is_word
from gradcli.language.text.tokens import Token

IGNORED = frozenset(["dtype", "device", "requires_grad", "pin_memory", "memory_format", "copy"])
"""Keywords on the storage of a tensor, not on its numbers."""

_OVER_DIMENSIONS = frozenset([Kind.REDUCTION, Kind.SCAN, Kind.DEFINED])
"""Operations whose `dim` names the dimensions that they are taken over."""

_SPANS_ALL = frozenset("sum mean amax amin norm nansum nanmean".split())
"""Reductions for which an empty `dim` is all dimensions, as in torch; others refuse it, or give no gradient."""

EXTREMES: Mapping[str, str] = {"max": "maximum", "min": "minimum"}
"""Functions of one tensor that are also functions of two, with their names as such."""

_OF_16_BITS = ("half", "float16", "bfloat16")


@dataclass
class Bindings:
    """Arguments of a call by parameter.

    Attributes:
        op: The operation; `clamp` of one bound is another one.
        library: The library whose meaning it has.
        is_method: Whether an operand stands before its dot.
        waiting: The parameters that are not given yet.
        operands: The named ones.
        statics: The constant arguments by parameter.
        extra: The operands of a list, or of a fold.
        is_one: Whether exactly one argument has no name; it may be a list of operands.
        is_bare: Whether nothing stands before the name and a dot: `max`, which is Python's too.
    """

    op: Op
    library: str
    is_method: bool
    waiting: list[str]
    operands: dict[str, Operand] = field(default_factory=dict)
    statics: dict[str, Any] = field(default_factory=dict)
    extra: list[Operand] = field(default_factory=list)
    is_one: bool = True
    is_bare: bool = False

    @property
    def values(self) -> list[Operand]:
        """Operands in order."""
        return [self.operands[p] for p in self.op.operands if p in self.operands] + self.extra

    @property
    def constants(self) -> tuple[Default, ...]:
        """Constant arguments in order, without those that were not written."""
        return tuple(self.statics[p] for p in self.op.signature if p in self.statics)


def bind(
    context: Context, op: Op, name: Token, arguments: Arguments, given: list[Operand], library: str = ""
) -> Bindings:
    """Bind arguments to the op's signature, with the defaults of a library.

    Args:
        context: Place of the call.
        op: The operation.
        name: As it is called.
        arguments: As they are written.
        given: The operand before the dot of a method.
        library: The library whose meaning it has.
    """
    op = _wider(context, op, arguments, given)
    defaults = defaults_in(op, library)
    bound = Bindings(op, library, bool(given), list(op.signature))
    bound.is_bare = not (given or context.source.text[: name.span.start].rstrip().endswith("."))
    bound.statics = {parameter: value for parameter, value in defaults.items() if parameter in op.statics}
    if given:
        receiver = "input" if op.name == "where" else op.operands[0]
        bound.operands[receiver] = given[0]
        bound.waiting.remove(receiver)
    waiting = [argument for argument in arguments.items if not ignored(context, argument)]
    bound.is_one = sum(one.name is None for one in arguments.items) == 1
    while waiting:
        argument = waiting.pop(0)
        parameter = keyword(context, op, argument, bound.waiting) or next(iter(bound.waiting), "")
        taken = [argument]
        while _gathers(context, op, parameter, argument) and waiting and waiting[0].name is None:
            taken.append(waiting.pop(0))
        _take(context, bound, parameter, taken)
    for parameter in op.defaults:
        bound.operands.setdefault(parameter, (exact_number(defaults[parameter]), name.span))
    _complete(context, bound, name)
    return bound


def _wider(context: Context, op: Op, arguments: Arguments, given: list[Operand]) -> Op:
    """Choose the row that a function is with these arguments."""
    items = arguments.items
    words = [one.name.text for one in items if one.name is not None]
    words += [one.value.token.text for one in items if isinstance(one.value, Word)]
    words += [""] if len(items) + len(given) > len(op.signature) else []
    return next((ops.TABLE[WIDER[op.name, word]] for word in words if (op.name, word) in WIDER), op)


def _gathers(context: Context, op: Op, parameter: str, argument: Argument) -> bool:
    """True if all arguments from one on belong to the same parameter."""
    is_whole = isinstance(argument.value, Items | GroupNode | Word) or is_meaning_constant(context, argument.value)
    return parameter in GATHERED and parameter in op.statics and op.name != "full" and not is_whole


def _take(context: Context, bound: Bindings, parameter: str, arguments: list[Argument]) -> None:
    """Bind one parameter; it may take several arguments, `x.view(3, 2)`."""
    op, extra, waiting, argument = bound.op, bound.extra, bound.waiting, arguments[0]
    if parameter in ("operands", "tensors"):
        is_list = bound.is_one or parameter == "tensors" or context.list_of(argument.value) is not None
        extra += _listed(context, op, argument) if is_list else [lower(context, argument.value)]
        if parameter == "tensors":
            waiting.remove(parameter)
    elif op.name in EXTREMES and argument.name is None and (parameter == "dim" or extra):
        _second(context, bound, argument)
        waiting[:] = [] if extra else [p for p in waiting if p != "dim"]
    elif parameter in op.statics:
        waiting.remove(parameter)
        bound.statics[parameter] = static(context, op, parameter, arguments)
    elif parameter:
        waiting.remove(parameter)
        is_absent = op.name == "clamp" or parameter in op.defaults  # clip(x, None, 1)
        if not (is_absent and is_word(argument.value, "None")):
            bound.operands[parameter] = lower(context, argument.value)
    elif (op.variadic and op.kind is Kind.ELEMENTWISE) or (op.name == "log" and not extra):
        extra.append(lower(context, argument.value))
    else:
        raise context.source.error(f"too many arguments for {usage(op)}", argument.value.span)


def _second(context: Context, bound: Bindings, argument: Argument) -> None:
    """Bind the second argument of max or min: as in torch, a whole number is a dimension, a tensor an operand."""
    name = bound.op.name
    value, span = lower(context, argument.value)
    is_number = bound.extra or context.is_formula or not isinstance(value, sympy.Integer)
    if is_number or not isinstance(bound.operands["x"][0], sympy.Symbol):
        bound.extra.append((value, span))
        return
    of_two = f"{EXTREMES[name]}(x, {value})"
    shape = needed_shape(context, bound.operands["x"][0]) if bound.is_bare else None
    if shape == ():  # a number has no dimension
        context.findings.warnings.append(f"{name}(x, {value}) of a number is read as {of_two}")
        bound.extra.append((value, span))
        return
    bound.statics["dim"] = int(value)
    require_bounded(context, bound.op, "dim", int(value), span)
    if not bound.is_method and (shape is not None or not bound.is_bare):  # else the text is read again for a shape
        other = f"{of_two} is the {'larger' if name == 'max' else 'smaller'} of the two"
        context.findings.warnings.append(f"{name}(x, {value}) is along dimension {value}, as in torch; {other}")


def _complete(context: Context, bound: Bindings, name: Token) -> None:
    """Fill in the arguments that are left out, and refuse a call that lacks a required one.

    Raises:
        LanguageError: An argument is missing, or not of the kind that the operation takes.
    """
    op, statics = bound.op, bound.statics
    if op.name == "polygamma" and isinstance(statics["n"], int) and statics["n"] < 0:
        raise context.source.error(f"{usage(op)} needs a whole number n from 0 on", name.span)
    if op.name in ("var", "std") and isinstance(statics["correction"], bool):
        statics["correction"] = int(statics["correction"])  # unbiased=False
    mask = bound.operands.get("attn_mask")
    if mask is not None and mask[0] in context.findings.conditions:  # true elements take part
        chosen = emit(context, "where", [mask[0], sympy.Integer(0), -sympy.oo], mask[1])
        bound.operands["attn_mask"] = chosen
    if isinstance(statics.get("normalized_shape"), int):
        statics["normalized_shape"] = (statics["normalized_shape"],)
    if op.kind in _OVER_DIMENSIONS and statics.get("dim") == ():
        if op.name not in _SPANS_ALL or bound.library == "numpy":
            hint = "leave dim out for all elements" if "keepdim" in op.statics else None
            raise context.source.error(f"{op.name} takes no empty dim", name.span, hint=hint)
        statics["dim"] = None
    if op.name == "clamp" and len(bound.operands) == 2:
        bound.op = op = ops.TABLE["clamp_max" if "max" in bound.operands else "clamp_min"]
    absent = [p for p in op.operands if p not in bound.operands and p not in ("operands", "tensors", *op.optional)]
    absent += [p for p, value in statics.items() if value is REQUIRED]
    absent += [p for p in ("operands", "tensors") if p in op.operands and not bound.extra]
    if absent:
        raise context.source.error(f"{usage(op)} needs the argument '{absent[0]}'", name.span)


def _listed(context: Context, op: Op, argument: Argument) -> list[Operand]:
    """List the tensors of `stack([a, b])`, or the next operand of an einsum."""
    node = argument.value
    if isinstance(node, Items | GroupNode) and not op.has_equation:
        return elements(context, node)
    if not op.has_equation and (parts := parts_in(context, node)) is not None:
        return parts
    if "operands" in op.operands:
        return [lower(context, node)]
    before = op.signature[: op.signature.index("tensors")]
    hint = f"write {op.name}({', '.join([*before, '[a, b]'])}{', ...' * bool(before)})"
    raise context.source.error(f"{op.name} takes a list", node.span, hint=hint)


def keyword(context: Context, op: Op, argument: Argument, waiting: list[str]) -> str | None:
    """Return the parameter that `name=` names, in any library's spelling."""
    token = argument.name
    if token is None:
        return None
    others = [p for p in KEYWORDS.get(token.text, ()) if p in op.signature]
    parameter = token.text if token.text in op.signature or not others else others[0]
    if parameter not in waiting:
        known = parameter in op.signature
        problem = f"'{token.text}' is given twice" if known else f"{usage(op)} has no argument '{token.text}'"
        raise context.source.error(problem, token.span, hint=None if known else did_you_mean(token.text, op.signature))
    return parameter


def ignored(context: Context, argument: Argument) -> bool:
    """Tell whether an argument is passed over, such as `dtype=torch.float64`, and note its types."""
    if argument.name is None or argument.name.text not in IGNORED:
        return False
    words = context.source.within(argument.value.span)
    require_real(context, words)
    context.rules.note_types(words, False)
    return True


def require_real(context: Context, words: Sequence[Token]) -> None:
    """Refuse the words of types that are not read: of complex numbers, and of 16 bits."""
    for word in words:
        if "complex" in word.text or word.text in ("cfloat", "cdouble"):
            raise context.source.error("complex numbers are not read", word.span)
        if word.text.lower().removesuffix("tensor") in _OF_16_BITS:
            hint = "float32 and float64 are"
            raise context.source.error(f"'{word.text}' has 16 bits, and is not read", word.span, hint=hint)


def by_name(
    context: Context,
    arguments: Arguments,
    names: Sequence[str],
    called: str,
    read: Callable[[str, Argument], object] | None = None,
    *,
    optional: Collection[str] = (),
) -> dict[str, Any]:
    """Read the arguments of a call by the names of the parameters; lowered, unless `read` reads them.

    Raises:
        LanguageError: There is no such parameter, it is given twice, or one is missing that is not optional.
    """
    found: dict[str, object] = {}
    for argument in arguments.items:
        word, waiting = argument.name, [name for name in names if name not in found]
        name = word.text if word is not None else next(iter(waiting), "")
        if name not in waiting:
            said = f"has no argument '{name}'" if word is not None else f"takes {', '.join(names) or 'nothing'}"
            raise context.source.error(f"{called} {said}", arguments.span if word is None else word.span)
        found[name] = read(name, argument) if read is not None else lower(context, argument.value)
    if not {*names} <= {*found, *optional}:
        raise context.source.error(f"{called} takes {', '.join(names)}", arguments.span)
    return found


def defaults_in(op: Op, library: str) -> dict[str, Any]:
    """Return the values of parameters that are left out, in the library of a prefix.

    >>> defaults_in(ops.TABLE["var"], "numpy")["correction"], defaults_in(ops.TABLE["var"], "")["correction"]
    (0, 1)
    """
    others = ELSEWHERE.get(library, {}).get(op.name, {})
    return {**op.statics, **op.defaults, **({} if isinstance(others, str) else others)}


def usage(op: Op) -> str:
    """Return a call as its signature: `sum(x, dim, keepdim)`."""
    return f"{op.name}({', '.join(op.signature)})"


@lru_cache(maxsize=4096)
def exact_number(number: float) -> Atom:
    """Convert a number of a row to an exact one: whole where it is."""
    if math.isnan(number):
        return sympy.nan
    if number in (float("inf"), float("-inf")):
        return sympy.oo if number > 0 else -sympy.oo
    return sympy.Integer(int(number)) if number == int(number) else sympy.Float(number, precision=53)


def spelled_out(equation: str, ranks: Sequence[int]) -> str:
    """Write an equation with own letters for the dimensions that `...` stands for, counted from the last.

    Args:
        equation: As einsum takes it.
        ranks: The number of dimensions of each operand.

    >>> spelled_out("...ij,...jk->...ik", [3, 2]), spelled_out("...i,i", [2, 1])
    ('Aij,jk->Aik', 'Ai,i->A')
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    words = left.split(",")
    counts = [max(0, rank - len(word) + 3) if "..." in word else 0 for word, rank in zip(words, ranks, strict=False)]
    own = [c for c in ascii_uppercase if c not in equation][: max(counts, default=0)]
    spelled = [word.replace("...", "".join(own[len(own) - n :])) for word, n in zip(words, counts, strict=False)]
    letters = "".join(words).replace(".", "")
    result = right if arrow else "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{','.join([*spelled, *words[len(spelled) :]])}->{result.replace('...', ''.join(own))}"
