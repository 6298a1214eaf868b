"""Arguments of a call, bound to the signature of its operation, and arguments of calls without a row in the op table.

Such are tensors made from values, and converted, and `Piecewise`, `len`, `Rational`.  `torch.tensor(x)` and `x.item()`
are constants to autograd; `x.to(torch.int64)` drops fractions; `x.clone()` is x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

import sympy

from gradcli.errors import Span, did_you_mean
from gradcli.language import ops
from gradcli.language.lower.argument_kinds import DETACHING, GATHERED, KEYWORDS, WIDER, WITH_WORDS
from gradcli.language.lower.constants import Constants
from gradcli.language.lower.libraries import ELSEWHERE
from gradcli.language.lower.scope import Operand
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


MAX_ORDER = 20  # of a Bessel function, which is written out by those of orders 0 and 1

COPIES = frozenset("tensor Tensor FloatTensor DoubleTensor float".split())
"""Constructors that copy numbers: their arguments pass on no derivative."""

TENSORS = COPIES | frozenset(
    "as_tensor asarray array from_numpy copy LongTensor IntTensor Variable Parameter Matrix Float S Integer".split()
)
"""Functions that only wrap a value: `torch.tensor([1., 2.])` is `[1., 2.]`."""

_WHOLE = frozenset("int long short int8 int16 int32 int64 uint8 IntTensor LongTensor".split())


_OF_16_BITS = ("half", "float16", "bfloat16")

SPECIAL = frozenset(["Piecewise", "len", "Rational", "complex", "besseli"])
"""Calls that make no tensor."""


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
    """

    op: Op
    library: str
    is_method: bool
    waiting: list[str]
    operands: dict[str, Operand] = field(default_factory=dict)
    statics: dict[str, Any] = field(default_factory=dict)
    extra: list[Operand] = field(default_factory=list)
    is_one: bool = True

    @property
    def values(self) -> list[Operand]:
        """Operands in order."""
        return [self.operands[p] for p in self.op.operands if p in self.operands] + self.extra

    @property
    def constants(self) -> tuple[Default, ...]:
        """Constant arguments in order, without those that were not written."""
        return tuple(self.statics[p] for p in self.op.signature if p in self.statics)


class Binder(Constants):
    """Lowering of the arguments of a call, and of calls that have no row."""

    def bind(self, op: Op, name: Token, arguments: Arguments, given: list[Operand], library: str = "") -> Bindings:
        """Bind arguments to the op's signature, with the defaults of a library.

        Args:
            op: The operation.
            name: As it is called.
            arguments: As they are written.
            given: The operand before the dot of a method.
            library: The library whose meaning it has.
        """
        op = self._wider(op, arguments, given)
        defaults = defaults_in(op, library)
        bound = Bindings(op, library, bool(given), list(op.signature))
        bound.statics = {parameter: value for parameter, value in defaults.items() if parameter in op.statics}
        if given:
            receiver = "input" if op.name == "where" else op.operands[0]
            bound.operands[receiver] = given[0]
            bound.waiting.remove(receiver)
        waiting = [argument for argument in arguments.items if not self.ignored(argument)]
        bound.is_one = sum(one.name is None for one in arguments.items) == 1
        while waiting:
            argument = waiting.pop(0)
            parameter = self.keyword(op, argument, bound.waiting) or next(iter(bound.waiting), "")
            taken = [argument]
            while self._gathers(op, parameter, argument) and waiting and waiting[0].name is None:
                taken.append(waiting.pop(0))
            self._take(bound, parameter, taken)
        for parameter in op.defaults:
            bound.operands.setdefault(parameter, (exact_number(defaults[parameter]), name.span))
        self._complete(bound, name)
        return bound

    def _wider(self, op: Op, arguments: Arguments, given: list[Operand]) -> Op:
        """Choose the row that a function is with these arguments."""
        items = arguments.items
        words = [one.name.text for one in items if one.name is not None]
        words += [one.value.token.text for one in items if isinstance(one.value, Word)]
        words += [""] if len(items) + len(given) > len(op.signature) else []
        return next((ops.TABLE[WIDER[op.name, word]] for word in words if (op.name, word) in WIDER), op)

    def _gathers(self, op: Op, parameter: str, argument: Argument) -> bool:
        """True if all arguments from one on belong to the same parameter."""
        is_whole = isinstance(argument.value, Items | GroupNode | Word) or self.is_meaning_constant(argument.value)
        return parameter in GATHERED and parameter in op.statics and op.name != "full" and not is_whole

    def _take(self, bound: Bindings, parameter: str, arguments: list[Argument]) -> None:
        """Bind one parameter; it may take several arguments, `x.view(3, 2)`."""
        op, extra, waiting, argument = bound.op, bound.extra, bound.waiting, arguments[0]
        if parameter in ("operands", "tensors"):
            is_list = bound.is_one or parameter == "tensors" or self.scope.list_of(argument.value) is not None
            extra += self._listed(op, argument) if is_list else [self.lower(argument.value)]
            if parameter == "tensors":
                waiting.remove(parameter)
        elif op.name in EXTREMES and argument.name is None and (parameter == "dim" or extra):
            self._second(bound, argument)
            waiting[:] = [] if extra else [p for p in waiting if p != "dim"]
        elif parameter in op.statics:
            waiting.remove(parameter)
            bound.statics[parameter] = self.static(op, parameter, arguments)
        elif parameter:
            waiting.remove(parameter)
            is_absent = op.name == "clamp" or parameter in op.defaults  # clip(x, None, 1)
            if not (is_absent and is_word(argument.value, "None")):
                bound.operands[parameter] = self.lower(argument.value)
        elif (op.variadic and op.kind is Kind.ELEMENTWISE) or (op.name == "log" and not extra):
            extra.append(self.lower(argument.value))
        else:
            raise self.source.error(f"too many arguments for {usage(op)}", argument.value.span)

    def _second(self, bound: Bindings, argument: Argument) -> None:
        """Bind the second argument of max or min: as in torch, a whole number is a dimension, a tensor an operand."""
        name = bound.op.name
        value, span = self.lower(argument.value)
        is_number = bound.extra or self.scope.is_formula or not isinstance(value, sympy.Integer)
        if is_number or not isinstance(bound.operands["x"][0], sympy.Symbol):
            bound.extra.append((value, span))
            return
        bound.statics["dim"] = int(value)
        self.require_bounded(bound.op, "dim", int(value), span)
        if not bound.is_method:
            other = f"{EXTREMES[name]}(x, {value}) is the {'larger' if name == 'max' else 'smaller'} of the two"
            self.scope.warnings.append(f"{name}(x, {value}) is along dimension {value}, as in torch; {other}")

    def _complete(self, bound: Bindings, name: Token) -> None:
        """Fill in the arguments that are left out, and refuse a call that lacks a required one.

        Raises:
            LanguageError: An argument is missing, or not of the kind that the operation takes.
        """
        op, statics = bound.op, bound.statics
        if op.name == "polygamma" and isinstance(statics["n"], int) and statics["n"] < 0:
            raise self.source.error(f"{usage(op)} needs a whole number n from 0 on", name.span)
        if op.name in ("var", "std") and isinstance(statics["correction"], bool):
            statics["correction"] = int(statics["correction"])  # unbiased=False
        mask = bound.operands.get("attn_mask")
        if mask is not None and mask[0] in self.conditions:  # true elements take part
            chosen = self.emit("where", [mask[0], sympy.Integer(0), -sympy.oo], mask[1])
            bound.operands["attn_mask"] = chosen
        if isinstance(statics.get("normalized_shape"), int):
            statics["normalized_shape"] = (statics["normalized_shape"],)
        if op.kind in _OVER_DIMENSIONS and statics.get("dim") == ():
            if op.name not in _SPANS_ALL or bound.library == "numpy":
                hint = "leave dim out for all elements" if "keepdim" in op.statics else None
                raise self.source.error(f"{op.name} takes no empty dim", name.span, hint=hint)
            statics["dim"] = None
        if op.name == "clamp" and len(bound.operands) == 2:
            bound.op = op = ops.TABLE["clamp_max" if "max" in bound.operands else "clamp_min"]
        absent = [p for p in op.operands if p not in bound.operands and p not in ("operands", "tensors", *op.optional)]
        absent += [p for p, value in statics.items() if value is REQUIRED]
        absent += [p for p in ("operands", "tensors") if p in op.operands and not bound.extra]
        if absent:
            raise self.source.error(f"{usage(op)} needs the argument '{absent[0]}'", name.span)

    def _listed(self, op: Op, argument: Argument) -> list[Operand]:
        """List the tensors of `stack([a, b])`, or the next operand of an einsum."""
        node = argument.value
        if isinstance(node, Items | GroupNode) and not op.has_equation:
            return self.items(node)
        if not op.has_equation and (parts := self.parts(node)) is not None:
            return parts
        if "operands" in op.operands:
            return [self.lower(node)]
        before = op.signature[: op.signature.index("tensors")]
        hint = f"write {op.name}({', '.join([*before, '[a, b]'])}{', ...' * bool(before)})"
        raise self.source.error(f"{op.name} takes a list", node.span, hint=hint)

    def keyword(self, op: Op, argument: Argument, waiting: list[str]) -> str | None:
        """Return the parameter that `name=` names, in any library's spelling."""
        token = argument.name
        if token is None:
            return None
        others = [p for p in KEYWORDS.get(token.text, ()) if p in op.signature]
        parameter = token.text if token.text in op.signature or not others else others[0]
        if parameter not in waiting:
            known = parameter in op.signature
            problem = f"'{token.text}' is given twice" if known else f"{usage(op)} has no argument '{token.text}'"
            raise self.source.error(problem, token.span, hint=None if known else did_you_mean(token.text, op.signature))
        return parameter

    def ignored(self, argument: Argument) -> bool:
        """Tell whether an argument is passed over, such as `dtype=torch.float64`, and note its types."""
        if argument.name is None or argument.name.text not in IGNORED:
            return False
        words = self.source.within(argument.value.span)
        self._require_real(words)
        self.note_types(words)
        return True

    def note_types(self, words: Sequence[Token], *, is_cast: bool = False) -> None:
        """Note words that may name the type of a tensor; subclasses do it."""

    def _require_real(self, words: Sequence[Token]) -> None:
        for word in words:
            if "complex" in word.text or word.text in ("cfloat", "cdouble"):
                raise self.source.error("complex numbers are not read", word.span)
            if word.text.lower().removesuffix("tensor") in _OF_16_BITS:
                hint = "float32 and float64 are"
                raise self.source.error(f"'{word.text}' has 16 bits, and is not read", word.span, hint=hint)

    # -- calls that have no row

    def by_name(
        self,
        arguments: Arguments,
        names: Sequence[str],
        called: str,
        read: Callable[[str, Argument], Any] | None = None,
        *,
        optional: Collection[str] = (),
    ) -> dict[str, Any]:
        """Read the arguments of a call by the names of the parameters; lowered, unless `read` reads them.

        Raises:
            LanguageError: There is no such parameter, it is given twice, or one is missing that is not optional.
        """
        found: dict[str, Any] = {}
        for argument in arguments.items:
            word, waiting = argument.name, [name for name in names if name not in found]
            name = word.text if word is not None else next(iter(waiting), "")
            if name not in waiting:
                said = f"has no argument '{name}'" if word is not None else f"takes {', '.join(names) or 'nothing'}"
                raise self.source.error(f"{called} {said}", arguments.span if word is None else word.span)
            found[name] = read(name, argument) if read is not None else self.lower(argument.value)
        if not {*names} <= {*found, *optional}:
            raise self.source.error(f"{called} takes {', '.join(names)}", arguments.span)
        return found

    def tensor(self, name: Token, span: Span, arguments: Arguments) -> Operand:
        """Lower a constructor around a value: `torch.tensor([1., 2.])`, `float('inf')`; `span` is of its name."""
        held = [one for one in arguments.items if one.name is not None and one.name.text in IGNORED]
        kept = [one for one in arguments.items if one not in held]
        word = kept[0].value if len(kept) == 1 else None
        if isinstance(word, Word) and word.token.kind == "string":
            value = self._named_number(word.token)
        else:
            value = self.require_tensor(
                *self.by_name(replace(arguments, items=tuple(kept)), ["data"], name.text)["data"]
            )
        if name.text != "float":  # a number of Python, which decides no type
            self.note_types([name])
        for one in held:
            self.ignored(one)
        span = span.to(arguments.span)
        kinds = [t.text for one in held if one.name.text == "dtype" for t in self.source.within(one.value.span)]  # type: ignore[union-attr]
        value = self._of_type(value, kinds or [name.text], span)
        return self.detached(value, span) if name.text in COPIES else (value, span)

    def _named_number(self, word: Token) -> Atom:
        named = {"inf": sympy.oo, "+inf": sympy.oo, "-inf": -sympy.oo, "nan": sympy.nan}
        text = word.text.strip().lower()
        if text not in named:
            raise self.source.error(f"'{word.text}' is not a number", word.span, hint="write inf or nan")
        return named[text]

    def converted(self, name: Token, span: Span, value: Atom, arguments: Arguments) -> Operand:
        """Lower a method that converts: `x.clone()`, `x.item()`, `x.to(torch.int64)`."""
        inside = self.source.within(arguments.span)[1:-1]
        words = [token.text for token in inside]
        is_flag = name.text == "requires_grad_" and words in (["True"], ["False"])
        is_keyword = words[1:2] == ["="]
        if words and name.text not in WITH_WORDS and not is_flag and not is_keyword:
            raise self.source.error(f"too many arguments for .{name.text}()", inside[0].span)
        self._require_real([name, *inside])
        self.note_types([name, *inside], is_cast=True)
        value, span = self._of_type(value, [name.text, *words], span.to(arguments.span)), span.to(arguments.span)
        return self.detached(value, span) if name.text in DETACHING else (value, span)

    def _of_type(self, value: Atom, words: list[str], span: Span) -> Atom:
        """Convert a value to a type: whole types drop fractions, truth values are 1 or 0."""
        if not _WHOLE.isdisjoint(words):
            return self.emit("trunc", [value], span)[0]
        if "bool" in words:
            is_condition = value in self.conditions
            return value if is_condition else self.emit("ne", [value, sympy.Integer(0)], span)[0]
        return value

    def detached(self, value: Atom, span: Span) -> Operand:
        """Make a value a constant to autograd; numbers are constants already."""
        _, leaves = self.builder.made_of(value)
        if leaves.isdisjoint(self.scope.variables.values()):
            return value, span
        said = "a tensor is copied without its gradient, as in torch: float(), .item(), .data, torch.tensor()"
        self.scope.warnings.append(said)
        return self.emit("detach", [value], span)

    # -- calls that make no tensor

    def special(self, name: Token, span: Span, arguments: Arguments) -> Operand:
        """Lower a call that makes no tensor; `span` is of its name."""
        match name.text:
            case "Piecewise":
                value = self._piecewise(span, arguments)
            case "len":
                value = self.emit("count", [self.by_name(arguments, ["x"], "len")["x"][0]], span, (0,))[0]
            case "Rational":
                given = self.by_name(arguments, ["p", "q"], "Rational", optional=["q"])
                numbers = [a for a, _ in given.values()]
                value = self.emit("div", [*numbers, sympy.Integer(1)][:2], span)[0]
            case "besseli":
                order, x = self.by_name(arguments, ["n", "x"], "besseli").values()
                if (place := self.whole(*order)) not in range(MAX_ORDER + 1):
                    raise self.source.error(f"besseli(n, x) is read for n from 0 to {MAX_ORDER}", span)
                steps = ["b0 = i0(x)", "b1 = i1(x)"]  # and by recurrence from these
                steps += [f"b{n + 1} = b{n - 1} - {2 * n}/x*b{n}" for n in range(1, place)]
                value = self.inlined("; ".join([*steps[: place + 1], f"b{place}"]), {"x": x[0]}, span)
            case _:
                raise self.source.error("complex numbers are not read", name.span)
        return value, span.to(arguments.span)

    def _piecewise(self, span: Span, arguments: Arguments) -> Atom:
        """Lower `Piecewise((value, condition), ..., (value, True))` as branches inside one another."""
        pairs = [one.value for one in arguments.items]
        hint = "write Piecewise((x**2, x > 0), (0, True))"
        found: list[tuple[Atom, Atom | None]] = []
        for pair in pairs:
            if not isinstance(pair, Items) or len(pair.items) != 2:
                raise self.source.error("Piecewise is of pairs, (value, condition)", pair.span, hint=hint)
            value, node = pair.items
            found.append((self.lower(value)[0], None if is_word(node, "True") else self.lower(node)[0]))
        if not found or found[-1][1] is not None:
            raise self.source.error("Piecewise needs a last pair with the condition True", span, hint=hint)
        result = found[-1][0]
        for value, condition in reversed(found[:-1]):
            result = value if condition is None else self.emit("where", [condition, value, result], span)[0]
        return result


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
