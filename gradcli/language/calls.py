"""Calls and methods, and what torch, NumPy, SymPy and Python spell differently.

`max(x, y)`, `log(x, 10)`, `Piecewise`, tensor constructors, generators, and methods that do nothing to a value.
"""

from __future__ import annotations

from typing import Any

import sympy

from gradcli.errors import LanguageError, Place, Span, UnknownFunctionError, did_you_mean
from gradcli.language import hints, joined, ops
from gradcli.language.arguments import EXTREMES
from gradcli.language.lines import Operand
from gradcli.language.ops import Default, Kind, Op
from gradcli.language.program.indexing import NEW
from gradcli.language.program.wengert import CONSTANTS, Atom
from gradcli.language.tensors import CONVERSIONS, TENSORS, Tensors
from gradcli.language.tokens import Token

_FOLDS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""What Python makes of a generator, `sum(f(i) for i in range(n))`: term by term."""


class Calls(Tensors):
    """Reads what follows a function's name, or a dot."""

    is_pair = False  # whether the last call gives a pair in torch, values and positions

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
            case "values":
                return operand[0], span
            case "data":
                return self.detached(operand[0], span)
            case "real" | "imag" | "H" | "conj":
                raise self.error(LanguageError, "complex numbers are not read", dot.span.to(name.span))
            case "grad":
                hint = "gradcli prints the gradient; leave it out"
                raise self.error(
                    LanguageError, "'.grad' is not part of the language", dot.span.to(name.span), hint=hint
                )
        is_method = ops.find(name.text, after_dot=True) is not None
        raise self.error(
            LanguageError,
            f"'.{name.text}' is a method" if is_method else f"'.{name.text}' is not part of the language",
            dot.span.to(name.span),
            hint=f"write .{name.text}(...)" if is_method else "only .T, .mT, .shape[0] and methods such as .sum()",
        )

    def _called(self, name: Token, span: Span, operand: Operand) -> Operand:
        """A method with its parentheses."""
        if name.text in CONVERSIONS:
            return self.converted(name, span, operand[0])
        if name.text.endswith("_"):
            raise self.error(
                LanguageError,
                f"'.{name.text}' changes its tensor in place, which is not read",
                name.span,
                hint=f"write y = x.{name.text.rstrip('_')}(...)",
            )
        if name.text in ("T", "mT"):
            hint = f"write .{name.text} alone"
            raise self.error(LanguageError, f"'.{name.text}' takes no parentheses", self.token.span, hint=hint)
        return self.call(name, span, [operand], after_dot=True)

    def call(
        self, name: Token, span: Span, given: list[Operand], *, after_dot: bool = False, library: str = ""
    ) -> Operand:
        """A function with its arguments.

        Args:
            name: Of the function, of which the parenthesis is next.
            span: Of the name with what is before it.
            given: The operand before the dot of a method.
            after_dot: Whether a dot is before it.
            library: Whose meaning it has, by the module before it; torch's if empty.
        """
        if name.text in TENSORS and not given:
            return self.tensor(name, span)
        if name.text in ("Piecewise", "len", "Rational", "complex") and not given:
            return self._special(name, span)
        op = ops.find(name.text, after_dot=after_dot)
        if op is None:
            raise self.unknown(name)
        if given and op.kind in (Kind.SOURCE, Kind.LIST):
            hint = f"write {op.name}([a, b])" if op.kind is Kind.LIST else f"write {op.name}(...)"
            raise self.error(UnknownFunctionError, f"'{name.text}' is not a method of a tensor", name.span, hint=hint)
        opening = self.advance()
        with self.nested(opening):
            if self.is_generator(opening):
                if given:
                    raise self.error(LanguageError, f"'.{name.text}' does not take a generator", opening.span)
                return self._folded(op, opening, span)
            if (not after_dot and op.name in ("sum", *EXTREMES)) or (library == "math" and op.name == "prod"):
                terms = self.listed_terms(has_start=op.name == "sum")
                if terms is not None:
                    return self._of_list(op, terms, opening, span)
            op, operands, statics = self.arguments(op, name, given, library)
            if op.name == "norm" and not given and "linalg" in self.text[span.start : name.span.start]:
                self._require_vector_norm(name, statics)
            span = span.to(self.expect(")", opening).span)
        if after_dot:
            self._require_taken(op, name, len(operands), library)
        meaning = op.elsewhere.get(library)
        if isinstance(meaning, str) and statics == tuple(op.statics.values()):
            return self._written(meaning, op, [a for a, _ in operands], span)
        return self.made(op, operands, statics, span)

    def _require_taken(self, op: Op, name: Token, count: int, library: str) -> None:
        """Refuse the base of a logarithm, and a third tensor, which torch has not and NumPy writes its result to."""
        is_log, is_extreme = op.name == "log", op.name in EXTREMES
        if library == "sympy" or (is_log and library == "math"):
            return
        is_folded = is_log or is_extreme or (op.variadic and op.kind is Kind.ELEMENTWISE)
        if is_folded and count > (1 if is_log or (is_extreme and library) else 2):
            hint = "write log(x)/log(base)" if is_log else f"write {EXTREMES.get(op.name, op.name)} of two at a time"
            raise self.error(LanguageError, f"too many tensors for the library's {name.text}", name.span, hint=hint)

    def _written(self, meaning: str, op: Op, operands: list[Atom], span: Span) -> Operand:
        """The lines of a definition in the language."""
        from gradcli.language.grammar import parse_meaning

        program = parse_meaning(meaning, op.operands, {})
        inside: dict[Atom, Atom] = dict(zip(program.variables, operands, strict=True))
        for line in program.lines:
            parts = tuple(inside.get(a, a) for a in line.call.operands)
            inside[line.symbol] = self.builder.emit(line.call.op.name, parts, span, line.call.statics)
        return inside[program.output], span

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
        if op.name == "cross_entropy" and all(self._is_vector(a) for a in atoms):
            return self._of_one_sample(atoms, statics, span)
        return self.emit(op.name, atoms, span, statics)

    def _is_vector(self, atom: Atom) -> bool:
        """Whether an operand has one dimension; the text is to be read again where that is not known yet."""
        shape = self.shape_in(atom, {s: self.shapes[name] for name, s in self.variables.items() if name in self.shapes})
        self.needs_shapes |= shape is None
        return shape is not None and len(shape) == 1

    def _of_one_sample(self, atoms: list[Atom], statics: tuple[Default, ...], span: Span) -> Operand:
        """`cross_entropy` of vectors, whose dimension is that of the classes: as a batch of one."""
        key: Any = (NEW, "...")
        batch = [self.emit("index", [atom], span, (key,))[0] for atom in atoms]
        loss = self.emit("cross_entropy", batch, span, statics)
        return self.emit("index", [loss[0]], span, ((0,),)) if statics == ("none",) else loss

    # -- what has no row

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
        terms = [(self.as_number(a, s) if op.name == "sum" else a, s) for a, s in self.items(opening, ")")]
        span = span.to(self.tokens[self.position - 1].span)
        if op.name in ("stack", "cat"):
            return self.made(op, terms, (0,), span)
        if op.name not in _FOLDS:
            hint = f"write {op.name}([... for ...])"
            raise self.error(LanguageError, f"{op.name} does not take a generator", opening.span, hint=hint)
        return self._fold(op, [a for a, _ in terms], span), span

    def _fold(self, op: Op, terms: list[Atom], span: Span) -> Atom:
        result = terms[0]
        for term in terms[1:]:
            result = self.emit(_FOLDS[op.name], [result, term], span)[0]
        return result

    def _of_list(self, op: Op, terms: list[Operand], opening: Token, span: Span) -> Operand:
        """Python's sum of a list, and what it begins with: term by term, as of a generator."""
        atoms = [self.as_number(a, s) for a, s in terms]
        if self.accept(","):
            atoms.insert(0, self.expression()[0])
        span = span.to(self.expect(")", opening).span)
        return self._fold(op, atoms, span), span

    def listed_terms(self, *, has_start: bool) -> list[Operand] | None:
        """The elements of the list that is the first argument, if it is one; the loops have it."""
        raise NotImplementedError

    def is_generator(self, opening: Token) -> bool:
        """Whether a bracket holds `... for ... in ...`; the loops have it."""
        raise NotImplementedError

    def unknown(self, name: Token) -> UnknownFunctionError:
        """The error for a name that is not in the table."""
        plain = {known.replace("_", ""): known for known in ops.names()}
        same = plain.get(name.text.lower().replace("_", ""))  # MSELoss, ReLU
        hint = f"did you mean '{same}'?" if same else hints.of_function(name.text) or joined.of_call(name.text)
        hint = self._of_definition() or hint or did_you_mean(name.text, ops.names())
        if hint is None:
            is_letter = len(name.text) == 1 or name.text in CONSTANTS
            hint = f"write {name.text}*(...) for a product" if is_letter else "gradcli functions lists them"
        return UnknownFunctionError(
            f"unknown function '{name.text}'", place=Place(self.text, name.span, self.source), hint=hint
        )

    def _of_definition(self) -> str | None:
        """What to write for `f(x) = x**2`, of which `(` is next."""
        closing = next((n for n, depth in self.levels(self.position) if depth == 0), self.position)
        after = self.tokens[min(closing + 1, len(self.tokens) - 1)]
        if after.text != "=":
            return None
        return "write the body alone, without a name for the function; its names are the variables"
