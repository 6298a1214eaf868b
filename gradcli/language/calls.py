"""Calls and methods: their arguments bound to the signatures of the op table.

What torch, NumPy, SymPy and Python spell differently meets here: keyword names, `max(x, y)`, `log(x, 10)`,
`Piecewise`, tensor constructors, and methods that do nothing to a value.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from gradcli.errors import LanguageError, Place, Span, UnknownFunctionError, did_you_mean
from gradcli.language import ops
from gradcli.language.constants import Constants
from gradcli.language.lines import Operand
from gradcli.language.ops import REQUIRED, Default, Kind, Op
from gradcli.language.program import CONSTANTS, Atom
from gradcli.language.tokens import Token

TENSORS = frozenset(
    [
        "tensor",
        "Tensor",
        "FloatTensor",
        "DoubleTensor",
        "as_tensor",
        "asarray",
        "array",
        "Variable",
        "Parameter",
        "Matrix",
        "float",
        "Float",
        "S",
        "Integer",
    ]
)
"""Functions that only wrap a value: `torch.tensor([1., 2.])` is `[1., 2.]`."""

IGNORED = frozenset(["dtype", "device", "requires_grad", "pin_memory", "memory_format", "copy"])
"""Keywords that say how a tensor is held, not what is in it."""

UNCHANGED = frozenset(
    [
        "clone",
        "contiguous",
        "float",
        "double",
        "cpu",
        "numpy",
        "item",
        "tolist",
        "to",
        "type",
        "type_as",
        "requires_grad_",
        "retain_grad",
    ]
)
"""Methods that leave the value as it is."""

_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "axis": ("dim", "dims"),
    "axes": ("dims",),
    "dims": ("dim",),
    "dim": ("dims",),
    "keepdims": ("keepdim",),
    "ddof": ("correction",),
    "unbiased": ("correction",),
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

EXTREMES: Mapping[str, str] = {"max": "maximum", "min": "minimum"}
"""Functions of one tensor that are also functions of two, and what they are called then."""

_FOLDS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""What Python makes of a generator, `sum(f(i) for i in range(n))`: term by term."""


class Calls(Constants):
    """Reads what follows a function's name, or a dot."""

    names: dict[str, Atom]
    warnings: list[str]
    typed: set[str]  # the constants that the last call was given
    is_pair = False  # whether the last call gives a pair in torch, values and positions

    def items(self, opening: Token, closing: str) -> list[Operand]:
        """The expressions of a list up to its bracket; the grammar has it."""
        raise NotImplementedError

    def method(self, operand: Operand) -> Operand:
        """What follows an operand's dot."""
        dot, name = self.advance(), self.advance()
        if name.kind != "name":
            raise self.error(LanguageError, "a method name must follow the dot", dot.span)
        span = operand[1].to(name.span)
        if self.token.text == "(":
            return self._called(name, span, operand)
        match name.text:
            case "T":
                return self.emit("transpose", [operand[0]], span, (None, None))
            case "mT":
                return self.emit("transpose", [operand[0]], span, (-2, -1))
            case "shape" if self.token.text == "[":
                opening = self.advance()
                axis = self.integer()
                return self.emit("count", [operand[0]], span.to(self.expect("]", opening).span), (axis,))
            case "data" | "values":
                return operand[0], span
            case "real" | "imag" | "H" | "conj":
                raise self.error(LanguageError, "complex numbers are not read", dot.span.to(name.span))
            case "grad":
                hint = "gradcli prints the gradient; leave it out"
                raise self.error(
                    LanguageError, "'.grad' is not part of the language", dot.span.to(name.span), hint=hint
                )
        raise self.error(
            LanguageError,
            f"'.{name.text}' is not part of the language",
            dot.span.to(name.span),
            hint="only .T, .mT, .shape[0] and methods such as .sum()",
        )

    def _called(self, name: Token, span: Span, operand: Operand) -> Operand:
        """A method with its parentheses."""
        if name.text in UNCHANGED:
            return operand[0], span.to(self.skip(self.advance()).span)
        if name.text.endswith("_"):
            raise self.error(
                LanguageError,
                f"'.{name.text}' changes its tensor in place, which is not read",
                name.span,
                hint=f"write y = x.{name.text.rstrip('_')}(...)",
            )
        return self.call(name, span, [operand], after_dot=True)

    def call(self, name: Token, span: Span, given: list[Operand], *, after_dot: bool = False) -> Operand:
        """A function with its arguments; `given` is the operand before the dot of a method."""
        if name.text in TENSORS and not given:
            return self._tensor(span)
        if name.text in ("Piecewise", "len", "Rational", "complex") and not given:
            return self._special(name, span)
        op = ops.find(name.text, after_dot=after_dot)
        if op is None or op.name == "index":
            raise self.unknown(name)
        if given and op.kind in (Kind.SOURCE, Kind.LIST):
            hint = f"write {op.name}([a, b])" if op.kind is Kind.LIST else f"write {op.name}(...)"
            raise self.error(UnknownFunctionError, f"'{name.text}' is not a method of a tensor", name.span, hint=hint)
        opening = self.advance()
        with self.nested(opening):
            if self.is_generator(opening):
                return self._folded(op, opening, span)
            op, operands, statics = self.arguments(op, name, given)
            if op.name == "norm" and "linalg" in self.text[span.start : name.span.start]:
                self._require_vector_norm(name, statics)
            span = span.to(self.expect(")", opening).span)
        return self.made(op, operands, statics, span)

    def _require_vector_norm(self, name: Token, statics: tuple[Default, ...]) -> None:
        """Refuse `linalg.norm(A, 2)`, which is a matrix norm of a matrix and a vector norm of a vector."""
        if name.text == "norm" and "p" in self.typed and statics[1] is None:
            hint = "vector_norm(x, p) is the norm of all the elements"
            raise self.error(LanguageError, "linalg.norm with an order is a matrix norm", name.span, hint=hint)

    def made(self, op: Op, operands: list[Operand], statics: tuple[Default, ...], span: Span) -> Operand:
        """The line of a call whose arguments are bound."""
        atoms = [a for a, _ in operands]
        if op.name == "log" and len(atoms) == 2:
            parts = [self.emit("log", [a], span)[0] for a in atoms]
            return self.emit("div", parts, span)
        if (op.variadic and op.kind is Kind.ELEMENTWISE) or (op.name in EXTREMES and len(atoms) > 1):
            name, result = EXTREMES.get(op.name, op.name), atoms[0]
            for atom in atoms[1:]:
                result = self.emit(name, [result, atom], span)[0]
            return result, span
        self.is_pair = op.name in EXTREMES and statics[0] is not None
        return self.emit(op.name, atoms, span, statics)

    # -- arguments

    def arguments(self, op: Op, name: Token, given: list[Operand]) -> Bound:
        """Bind the arguments up to the closing parenthesis to the op's signature."""
        bound: dict[str, Operand] = {}
        statics: dict[str, Default] = dict(op.statics)
        extra: list[Operand] = []
        self.typed = set()
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
            elif op.name in EXTREMES and not is_named and parameter != "x":
                self._second(op, bound, statics, extra, is_method=bool(given))
                waiting = [p for p in waiting if p != "dim"]
            elif parameter in op.statics:
                waiting.remove(parameter)
                self.typed.add(parameter)
                statics[parameter] = self.static(op, parameter)
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
        return self._complete(op, name, bound, statics, extra)

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
        for parameter, number in op.defaults.items():
            bound.setdefault(parameter, (_exact(number), name.span))
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
        if token.kind != "name" or self.tokens[self.position + 1].text != "=":
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
        if token.kind != "name" or token.text not in IGNORED or self.tokens[self.position + 1].text != "=":
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

    # -- what has no row

    def _tensor(self, span: Span) -> Operand:
        """A constructor around a value: `torch.tensor([1., 2.])`, `float('inf')`."""
        opening = self.advance()
        with self.nested(opening):
            if self.token.kind == "string":
                word = self.advance()
                text = word.text.strip().lower()
                named = {"inf": sympy.oo, "+inf": sympy.oo, "-inf": -sympy.oo, "nan": sympy.nan}
                if text not in named:
                    raise self.error(
                        LanguageError, f"'{word.text}' is not a number", word.span, hint="write inf or nan"
                    )
                value: Atom = named[text]
            else:
                value = self.expression()[0]
            while self.accept(","):
                if not self._ignored() and self.token.text != ")":
                    raise self.unexpected()
            return value, span.to(self.expect(")", opening).span)

    def _special(self, name: Token, span: Span) -> Operand:
        opening = self.advance()
        with self.nested(opening):
            match name.text:
                case "Piecewise":
                    value = self._piecewise(span)
                case "len":
                    value = self.emit("count", [self.expression()[0]], span, (0,))[0]
                case "Rational":
                    above = self.expression()[0]
                    below = self.expression()[0] if self.accept(",") else sympy.Integer(1)
                    value = self.emit("div", [above, below], span)[0]
                case _:
                    raise self.error(LanguageError, "complex numbers are not read", name.span)
            return value, span.to(self.expect(")", opening).span)

    def _piecewise(self, span: Span) -> Atom:
        """`Piecewise((value, condition), ..., (value, True))` as branches inside one another."""
        pairs: list[tuple[Atom, Atom | None]] = []
        while self.token.text == "(":
            opening = self.advance()
            value = self.expression()[0]
            if not self.accept(","):
                raise self.unexpected(" where ', condition' was expected")
            is_rest = self.token.text == "True" and self.tokens[self.position + 1].text == ")"
            self.position += is_rest
            pairs.append((value, None if is_rest else self.expression()[0]))
            self.expect(")", opening)
            if not self.accept(","):
                break
        if not pairs or pairs[-1][1] is not None:
            hint = "write Piecewise((x**2, x > 0), (0, True))"
            raise self.error(LanguageError, "Piecewise needs a last pair with the condition True", span, hint=hint)
        result = pairs[-1][0]
        for value, condition in reversed(pairs[:-1]):
            result = value if condition is None else self.emit("where", [condition, value, result], span)[0]
        return result

    def _folded(self, op: Op, opening: Token, span: Span) -> Operand:
        """A generator's terms added up (or multiplied, or compared), as Python does."""
        terms = self.items(opening, ")")
        span = span.to(self.tokens[self.position - 1].span)
        if op.name in ("stack", "cat"):
            return self.made(op, terms, (0,), span)
        if op.name not in _FOLDS:
            hint = f"write {op.name}([... for ...])"
            raise self.error(LanguageError, f"{op.name} does not take a generator", opening.span, hint=hint)
        result = terms[0][0]
        for term, _ in terms[1:]:
            result = self.emit(_FOLDS[op.name], [result, term], span)[0]
        return result, span

    def is_generator(self, opening: Token) -> bool:
        """Whether a bracket holds `... for ... in ...`; the grammar has it."""
        raise NotImplementedError

    def unknown(self, name: Token) -> UnknownFunctionError:
        """The error for a name that is not in the table."""
        plain = {known.replace("_", ""): known for known in ops.names()}
        same = plain.get(name.text.lower().replace("_", ""))  # MSELoss, ReLU
        hint = f"did you mean '{same}'?" if same else did_you_mean(name.text, ops.names())
        if hint is None:
            is_letter = len(name.text) == 1 or name.text in CONSTANTS
            hint = f"write {name.text}*(...) for a product" if is_letter else "gradcli functions lists them"
        return UnknownFunctionError(
            f"unknown function '{name.text}'", place=Place(self.text, name.span, self.source), hint=hint
        )


def usage(op: Op) -> str:
    """A call as its signature: `sum(x, dim, keepdim)`."""
    return f"{op.name}({', '.join(op.signature)})"


def _exact(number: float) -> Atom:
    if number in (float("inf"), float("-inf")):
        return sympy.oo if number > 0 else -sympy.oo
    return sympy.Integer(int(number)) if number == int(number) else sympy.Float(number, precision=53)
