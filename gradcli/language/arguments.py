"""Arguments of a call, bound to the signature of its operation in any library's spelling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from gradcli.errors import LanguageError, did_you_mean
from gradcli.language import ops
from gradcli.language.constants import Constants
from gradcli.language.lines import Operand
from gradcli.language.ops import REQUIRED, Default, Kind, Op
from gradcli.language.program.wengert import Atom
from gradcli.language.tokens import Token

IGNORED = frozenset(["dtype", "device", "requires_grad", "pin_memory", "memory_format", "copy"])
"""Keywords that say how a tensor is held, not what is in it."""

_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "axis": ("dim", "dims"),
    "axes": ("dims",),
    "dims": ("dim",),
    "dim": ("dims",),
    "keepdims": ("keepdim",),
    "ddof": ("correction",),
    "unbiased": ("correction",),
    "alpha": ("negative_slope",),
    "size": ("shape",),
    "input": ("x", "a", "A"),
    "other": ("b",),
    "exponent": ("b",),
    "a_min": ("min",),
    "a_max": ("max",),
    "num": ("steps",),
    "stop": ("end",),
    "shift": ("shifts",),
    "k": ("diagonal", "offset"),
    "ord": ("p",),
}
"""Other libraries' names of parameters."""

Bound = tuple[Op, list[Operand], tuple[Default, ...]]
"""An operation (`clamp` of one bound is another one), its operands in order, and its static arguments."""

_OVER_DIMENSIONS = frozenset([Kind.REDUCTION, Kind.SCAN, Kind.DEFINED])
"""Operations whose `dim` says what they are taken over."""

EXTREMES: Mapping[str, str] = {"max": "maximum", "min": "minimum"}
"""Functions of one tensor that are also functions of two, and what they are called then."""


class Arguments(Constants):
    """Reads what is between the parentheses of a call."""

    warnings: list[str]
    unused: dict[str, None]
    lists: dict[str, list[Operand]]  # of the names that stand for one
    typed: set[str]  # the constants that the last call was given

    def items(self, opening: Token, closing: str) -> list[Operand]:
        """The expressions of a list up to its bracket; the lists have it."""
        raise NotImplementedError

    def arguments(self, op: Op, name: Token, given: list[Operand], library: str = "") -> Bound:
        """Bind the arguments up to the closing parenthesis to the op's signature, with the defaults of a library."""
        bound: dict[str, Operand] = {}
        defaults = defaults_in(op, library)
        statics = {parameter: value for parameter, value in defaults.items() if parameter in op.statics}
        extra: list[Operand] = []
        self.typed = set()
        opening = self.tokens[self.position - 1]
        waiting = list(op.signature)
        if given:
            receiver = "input" if op.name == "where" else op.operands[0]
            bound[receiver] = given[0]
            waiting.remove(receiver)
        while self.token.text != ")":
            start = self.token
            if self._ignored():
                if not self.accept(","):
                    break
                continue
            keyword = self.keyword(op, waiting)
            is_named, parameter = keyword is not None, keyword or (waiting[0] if waiting else "")
            if parameter in ("operands", "tensors"):
                extra += self._listed(op)
                waiting = [p for p in waiting if p != parameter or parameter == "operands"]
            elif op.name in EXTREMES and not is_named and (parameter == "dim" or extra):
                self._second(op, bound, statics, extra, is_method=bool(given))
                waiting = [] if extra else [p for p in waiting if p != "dim"]
            elif parameter in op.statics:
                waiting.remove(parameter)
                self.typed.add(parameter)
                statics[parameter] = self._switched(parameter, library) or self.static(op, parameter)
            elif parameter:
                waiting.remove(parameter)
                if not (op.name == "clamp" and self.accept_none()):
                    bound[parameter] = self.expression()
            elif (op.variadic and op.kind is Kind.ELEMENTWISE) or (op.name == "log" and not extra):
                extra.append(self.expression())
            else:
                raise self.error(LanguageError, f"too many arguments for {usage(op)}", start.span)
            if not self.accept(","):
                break
        if self.at_end:
            self.expect(")", opening)
        for parameter in op.defaults:
            bound.setdefault(parameter, (_exact(defaults[parameter]), name.span))
        return self._complete(op, name, bound, statics, extra)

    def _switched(self, parameter: str, library: str) -> str | None:
        """`approximate=True`, as JAX and TensorFlow have it."""
        if parameter != "approximate" or library not in ("jax", "tensorflow") or self.token.kind != "keyword":
            return None
        return {"True": "tanh", "False": "none"}.get(self.advance().text)

    def accept_none(self) -> bool:
        """Take a bound that is left out, `clip(x, None, 1)`."""
        found = self.token.text == "None"
        self.position += found
        return found

    def _second(
        self, op: Op, bound: dict[str, Operand], statics: dict[str, Default], extra: list[Operand], *, is_method: bool
    ) -> None:
        """The second argument of max or min: as in torch, a whole number is a dimension, a tensor the other operand."""
        value, span = self.expression()
        if extra or not isinstance(value, sympy.Integer) or not isinstance(bound["x"][0], sympy.Symbol):
            extra.append((value, span))
            return
        statics["dim"] = int(value)
        if not is_method:
            larger = "larger" if op.name == "max" else "smaller"
            self.warnings.append(
                f"{op.name}(x, {value}) is along dimension {value}, as in torch; "
                f"{EXTREMES[op.name]}(x, {value}) is the {larger} of the two"
            )

    def _complete(
        self,
        op: Op,
        name: Token,
        bound: dict[str, Operand],
        statics: dict[str, Default],
        extra: list[Operand],
    ) -> Bound:
        """The operands in order and the statics, defaults filled in."""
        if op.name == "polygamma" and isinstance(statics["n"], int) and statics["n"] < 0:
            raise self.error(LanguageError, f"{usage(op)} needs a whole number n from 0 on", name.span)
        if op.name in ("var", "std") and isinstance(statics["correction"], bool):
            statics["correction"] = int(statics["correction"])  # unbiased=False
        if op.kind in _OVER_DIMENSIONS and statics.get("dim") == ():
            if not op.spans_all:
                hint = "leave dim out for all elements" if "keepdim" in op.statics else None
                raise self.error(LanguageError, f"{op.name} takes no empty dim", name.span, hint=hint)
            statics["dim"] = None
        if op.name == "clamp" and len(bound) == 2:
            op = ops.TABLE["clamp_max" if "max" in bound else "clamp_min"]
        absent = [p for p in op.operands if p not in bound and p not in ("operands", "tensors")]
        absent += [p for p, value in statics.items() if value is REQUIRED]
        absent += [p for p in ("operands", "tensors") if p in op.operands and not extra]
        if absent:
            raise self.error(LanguageError, f"{usage(op)} needs the argument '{absent[0]}'", name.span)
        operands = [bound[p] for p in op.operands if p in bound] + extra
        return op, operands, tuple(statics[p] for p in op.signature if p in statics)

    def _listed(self, op: Op) -> list[Operand]:
        """The tensors of `stack([a, b])`, or the next operand of an einsum."""
        if self.token.kind == "name" and self.token.text in self.lists and op.name != "einsum":
            self.unused.pop(self.token.text, None)
            return self.lists[self.advance().text]
        if op.name == "einsum" or self.token.text not in ("[", "("):
            if op.name == "einsum":
                return [self.expression()]
            raise self.error(LanguageError, f"{op.name} takes a list", self.token.span, hint=f"write {op.name}([a, b])")
        opening = self.advance()
        with self.nested(opening):
            return self.items(opening, "]" if opening.text == "[" else ")")

    def keyword(self, op: Op, waiting: list[str]) -> str | None:
        """The parameter that `name=` names, in any library's spelling."""
        token = self.token
        if not self.at_keyword:
            return None
        others = [p for p in _KEYWORDS.get(token.text, ()) if p in op.signature]
        parameter = token.text if token.text in op.signature or not others else others[0]
        if parameter not in waiting:
            known = parameter in op.signature
            problem = f"'{token.text}' is given twice" if known else f"{usage(op)} has no argument '{token.text}'"
            raise self.error(
                LanguageError, problem, token.span, hint=None if known else did_you_mean(token.text, op.signature)
            )
        self.position += 2
        return parameter

    def _ignored(self) -> bool:
        """Skip `dtype=torch.float64` and the like."""
        token = self.token
        if not self.at_keyword or token.text not in IGNORED:
            return False
        self.position += 2
        word = token
        while self.token.text not in (",", ")", "", "\n"):
            word = self.advance()
            if "complex" in word.text or word.text in ("cfloat", "cdouble"):
                raise self.error(LanguageError, "complex numbers are not read", word.span)
        self.held(token, word.text)
        return True

    def held(self, keyword: Token, value: str) -> None:
        """A keyword that says how a tensor is held; a snippet listens."""


def defaults_in(op: Op, library: str) -> dict[str, Any]:
    """The values of parameters that are left out, in the library of a prefix.

    >>> defaults_in(ops.TABLE["var"], "numpy")["correction"], defaults_in(ops.TABLE["var"], "")["correction"]
    (0, 1)
    """
    others = op.elsewhere.get(library, {})
    return {**op.statics, **op.defaults, **({} if isinstance(others, str) else others)}


def usage(op: Op) -> str:
    """A call as its signature: `sum(x, dim, keepdim)`."""
    return f"{op.name}({', '.join(op.signature)})"


def _exact(number: float) -> Atom:
    if number in (float("inf"), float("-inf")):
        return sympy.oo if number > 0 else -sympy.oo
    return sympy.Integer(int(number)) if number == int(number) else sympy.Float(number, precision=53)
