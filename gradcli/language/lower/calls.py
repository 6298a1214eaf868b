"""Calls and methods, and what torch, NumPy, SymPy and Python spell differently.

`max(x, y)`, `log(x, 10)`, tensor constructors, generators, and methods that do nothing to a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.errors import LanguageError, Span, UnknownFunctionError, did_you_mean
from gradcli.language import ops
from gradcli.language.lower import joined
from gradcli.language.lower.arguments import EXTREMES, Binder, Bound
from gradcli.language.lower.constants import Constants
from gradcli.language.lower.hooks import Hooks, Lower, Operand
from gradcli.language.lower.lines import Lines
from gradcli.language.lower.loops import Loops
from gradcli.language.lower.scope import Scope
from gradcli.language.lower.special import SPECIAL, Special
from gradcli.language.lower.tensors import CONVERSIONS, TENSORS, Tensors
from gradcli.language.ops import Default, Kind, Op
from gradcli.language.program.movement import NEW
from gradcli.language.program.wengert import CONSTANTS, Atom, Program
from gradcli.language.text import hints
from gradcli.language.text.nodes import Arguments, Loop, Member
from gradcli.language.text.tokens import Token

_FOLDS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""What Python makes of a generator, `sum(f(i) for i in range(n))`: term by term."""


class Calls:
    """Reads a function with its arguments, and what stands behind a dot.

    Attributes:
        is_pair: Whether the last call gives a pair in torch, values and positions.
    """

    def __init__(
        self,
        lines: Lines,
        scope: Scope,
        hooks: Hooks,
        lower: Lower,
        constants: Constants,
        loops: Loops,
        meaning: Callable[[str, Sequence[str]], Program],
    ) -> None:
        self.lines, self.scope, self.hooks, self.lower = lines, scope, hooks, lower
        self.constants, self.loops, self.meaning = constants, loops, meaning
        self.source = lines.source
        self.binder = Binder(self.source, scope, hooks, lower, constants, loops.items)
        self.tensors = Tensors(lines, scope, hooks, lower, self.binder)
        self.special = Special(lines, lower, self.tensors)
        self.is_pair = False

    # -- methods

    def member(self, operand: Operand, member: Member) -> Operand:
        """What follows an operand's dot."""
        name = member.name
        if name.kind != "name":
            raise self.source.error(LanguageError, "a method name must follow the dot", member.dot.span)
        span = operand[1].to(name.span)
        if member.arguments is not None:
            return self._method(name, span, operand, member.arguments)
        place = member.dot.span.to(name.span)
        match name.text:
            case "T":
                return self.lines.emit("transpose", [operand[0]], span, (None, None))
            case "mT":
                return self.lines.emit("transpose", [operand[0]], span, (-2, -1))
            case "values":
                return operand[0], span
            case "data":
                return self.tensors.detached(operand[0], span)
            case "real" | "imag" | "H" | "conj":
                raise self.source.error(LanguageError, "complex numbers are not read", place)
            case "grad":
                hint = "gradcli prints the gradient; leave it out"
                raise self.source.error(LanguageError, "'.grad' is not part of the language", place, hint=hint)
        is_method = ops.find(name.text, after_dot=True) is not None
        raise self.source.error(
            LanguageError,
            f"'.{name.text}' is a method" if is_method else f"'.{name.text}' is not part of the language",
            place,
            hint=f"write .{name.text}(...)" if is_method else "only .T, .mT, .shape[0] and methods such as .sum()",
        )

    def _method(self, name: Token, span: Span, operand: Operand, arguments: Arguments) -> Operand:
        """A method with its parentheses."""
        if name.text in CONVERSIONS:
            return self.tensors.converted(name, span, operand[0], arguments)
        if name.text.endswith("_"):
            message = f"'.{name.text}' changes its tensor in place, which is not read"
            hint = f"write y = x.{name.text.rstrip('_')}(...)"
            raise self.source.error(LanguageError, message, name.span, hint=hint)
        if name.text in ("T", "mT"):
            message, hint = f"'.{name.text}' takes no parentheses", f"write .{name.text} alone"
            raise self.source.error(LanguageError, message, arguments.opening.span, hint=hint)
        return self.call(name, span, [operand], arguments, after_dot=True)

    # -- functions

    def call(
        self,
        name: Token,
        span: Span,
        given: list[Operand],
        arguments: Arguments,
        *,
        after_dot: bool = False,
        library: str = "",
    ) -> Operand:
        """A function with its arguments.

        Args:
            name: Of the function.
            span: Of the name with what is before it.
            given: The operand before the dot of a method.
            arguments: What is in its parentheses.
            after_dot: Whether a dot is before it.
            library: Whose meaning it has, by the module before it; torch's if empty.
        """
        if not given and (constructed := self.hooks.constructed(name, span, arguments)) is not None:
            return constructed
        if name.text in TENSORS and not given:
            return self.tensors.tensor(name, span, arguments)
        if name.text in SPECIAL and not given:
            return self.special.call(name, span, arguments)
        op = ops.find(name.text, after_dot=after_dot)
        if op is None:
            raise self._unknown(name, arguments)
        if given and op.kind in (Kind.SOURCE, Kind.LIST):
            hint = f"write {op.name}([a, b])" if op.kind is Kind.LIST else f"write {op.name}(...)"
            message = f"'{name.text}' is not a method of a tensor"
            raise self.source.error(UnknownFunctionError, message, name.span, hint=hint)
        whole = span.to(arguments.span)
        generator = self.loops.generator(arguments)
        if generator is not None and isinstance(generator.value, Loop):
            if given:
                message = f"'.{name.text}' does not take a generator"
                raise self.source.error(LanguageError, message, arguments.opening.span)
            return self._folded(op, self.loops.generated(arguments, generator.value), arguments, whole)
        if (not after_dot and op.name in ("sum", *EXTREMES)) or (library == "math" and op.name == "prod"):
            terms = self.loops.listed(arguments, has_start=op.name == "sum")
            if terms is not None:
                return self._of_list(op, terms, arguments, whole)
        bound = self.binder.bind(op, name, arguments, given, library)
        if bound.op.name == "norm" and not given:
            self._require_vector_norm(bound, name, span)
        if after_dot:
            self._require_taken(bound, name, library)
        meaning = bound.op.elsewhere.get(library)
        if isinstance(meaning, str) and bound.constants == tuple(bound.op.statics.values()):
            return self._written(meaning, bound.op, [a for a, _ in bound.values], whole)
        return self.made(bound.op, bound.values, bound.constants, whole)

    def _require_taken(self, bound: Bound, name: Token, library: str) -> None:
        """Refuse the base of a logarithm, and a third tensor, which torch has not and NumPy writes its result to."""
        op, count = bound.op, len(bound.values)
        is_log, is_extreme = op.name == "log", op.name in EXTREMES
        if library == "sympy" or (is_log and library == "math"):
            return
        is_folded = is_log or is_extreme or (op.variadic and op.kind is Kind.ELEMENTWISE)
        if is_folded and count > (1 if is_log or (is_extreme and library) else 2):
            hint = "write log(x)/log(base)" if is_log else f"write {EXTREMES.get(op.name, op.name)} of two at a time"
            message = f"too many tensors for the library's {name.text}"
            raise self.source.error(LanguageError, message, name.span, hint=hint)

    def _require_vector_norm(self, bound: Bound, name: Token, span: Span) -> None:
        """Refuse `linalg.norm(A, 2)`, which is a matrix norm of a matrix and a vector norm of a vector."""
        is_matrix_norm = "linalg" in self.source.text[span.start : name.span.start] and name.text == "norm"
        if is_matrix_norm and "p" in bound.typed and bound.constants[1] is None:
            hint = "vector_norm(x, p) is the norm of all the elements"
            raise self.source.error(LanguageError, "linalg.norm with an order is a matrix norm", name.span, hint=hint)

    def _written(self, meaning: str, op: Op, operands: list[Atom], span: Span) -> Operand:
        """The lines of a definition in the language."""
        program = self.meaning(meaning, op.operands)
        inside: dict[Atom, Atom] = dict(zip(program.variables, operands, strict=True))
        for line in program.lines:
            parts = tuple(inside.get(a, a) for a in line.call.operands)
            inside[line.symbol] = self.lines.builder.emit(line.call.op.name, parts, span, line.call.statics)
        return inside[program.output], span

    def made(self, op: Op, operands: list[Operand], statics: tuple[Default, ...], span: Span) -> Operand:
        """The line of a call whose arguments are bound."""
        operand = self._made(op, operands, statics, span)
        self.hooks.made(op, operands, operand)
        return operand

    def _made(self, op: Op, operands: list[Operand], statics: tuple[Default, ...], span: Span) -> Operand:
        atoms = [a for a, _ in operands]
        if op.name == "log" and len(atoms) == 2:
            parts = [self.lines.emit("log", [a], span)[0] for a in atoms]
            return self.lines.emit("div", parts, span)
        if (op.variadic and op.kind is Kind.ELEMENTWISE) or (op.name in EXTREMES and len(atoms) > 1):
            name, result = EXTREMES.get(op.name, op.name), atoms[0]
            for atom in atoms[1:]:
                result = self.lines.emit(name, [result, atom], span)[0]
            return result, span
        self.is_pair = op.name in EXTREMES and statics[0] is not None
        if op.name == "cross_entropy" and all(self._is_vector(a) for a in atoms):
            return self._of_one_sample(atoms, statics, span)
        return self.lines.emit(op.name, atoms, span, statics)

    def _is_vector(self, atom: Atom) -> bool:
        """Whether an operand has one dimension; the text is to be read again where that is not known yet."""
        shape = self.constants.shape_in(atom, self.scope.known_shapes)
        self.scope.needs_shapes |= shape is None
        return shape is not None and len(shape) == 1

    def _of_one_sample(self, atoms: list[Atom], statics: tuple[Default, ...], span: Span) -> Operand:
        """`cross_entropy` of vectors, whose dimension is that of the classes: as a batch of one."""
        key: Any = (NEW, "...")
        batch = [self.lines.emit("index", [atom], span, (key,))[0] for atom in atoms]
        loss = self.lines.emit("cross_entropy", batch, span, statics)
        return self.lines.emit("index", [loss[0]], span, ((0,),)) if statics == ("none",) else loss

    # -- Python's folds

    def _folded(self, op: Op, found: list[Operand], arguments: Arguments, span: Span) -> Operand:
        """A generator's terms added up (or multiplied, or compared), as Python does."""
        terms = [(self.lines.as_number(a, s) if op.name == "sum" else a, s) for a, s in found]
        if op.name in ("stack", "cat"):
            return self.made(op, terms, (0,), span)
        if op.name not in _FOLDS:
            message, hint = f"{op.name} does not take a generator", f"write {op.name}([... for ...])"
            raise self.source.error(LanguageError, message, arguments.opening.span, hint=hint)
        return self._fold(op, [a for a, _ in terms], span), span

    def _fold(self, op: Op, terms: list[Atom], span: Span) -> Atom:
        result = terms[0]
        for term in terms[1:]:
            result = self.lines.emit(_FOLDS[op.name], [result, term], span)[0]
        return result

    def _of_list(self, op: Op, terms: list[Operand], arguments: Arguments, span: Span) -> Operand:
        """Python's sum of a list, and what it begins with: term by term, as of a generator."""
        atoms = [self.lines.as_number(a, s) for a, s in terms]
        if len(arguments.items) > 1:
            atoms.insert(0, self.lower(arguments.items[1].value)[0])
        if len(arguments.items) > 2:
            position = arguments.items[1].stop
            raise self.source.unexpected(position, " where ')' was expected", is_inside=True)
        self.tensors.require_closed(arguments)
        return self._fold(op, atoms, span), span

    # -- what is unknown

    def _unknown(self, name: Token, arguments: Arguments) -> UnknownFunctionError:
        """The error for a name that is not in the table."""
        plain = {known.replace("_", ""): known for known in ops.names()}
        same = plain.get(name.text.lower().replace("_", ""))  # MSELoss, ReLU
        hint = f"did you mean '{same}'?" if same else hints.of_function(name.text) or joined.of_call(name.text)
        hint = self._of_definition(arguments) or hint or did_you_mean(name.text, ops.names())
        if hint is None:
            is_letter = len(name.text) == 1 or name.text in CONSTANTS
            hint = f"write {name.text}*(...) for a product" if is_letter else "gradcli functions lists them"
        error = self.source.error(UnknownFunctionError, f"unknown function '{name.text}'", name.span, hint=hint)
        assert isinstance(error, UnknownFunctionError)  # noqa: S101 -- the kind that was asked for
        return error

    def _of_definition(self, arguments: Arguments) -> str | None:
        """What to write for `f(x) = x**2`."""
        levels = self.source.levels(arguments.position)
        closing = next((n for n, depth in levels if depth == 0), arguments.position)
        if self.source.tokens[min(closing + 1, len(self.source.tokens) - 1)].text != "=":
            return None
        return "write the body alone, without a name for the function; its names are the variables"
