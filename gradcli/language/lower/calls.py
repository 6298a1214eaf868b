"""Names with the modules before them, and calls: functions, methods, variables, constants.

Covers the spellings of torch, NumPy, SymPy and Python: `max(x, y)`, `log(x, 10)`, tensor constructors, generators, and
methods that do nothing to a value.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import sympy

from gradcli.errors import GradcliError, Span, UncalledFunctionError, UnknownFunctionError, did_you_mean
from gradcli.language import ops
from gradcli.language.lower import juxtaposed_names, libraries
from gradcli.language.lower.argument_kinds import CONVERSIONS
from gradcli.language.lower.arguments import EXTREMES, SPECIAL, TENSORS, Binder, Bindings, spelled_out
from gradcli.language.lower.indices import Indices
from gradcli.language.lower.inlining import Inlining
from gradcli.language.lower.libraries import FOREIGN, OF_MODULES, PREFIXES, Libraries
from gradcli.language.lower.scope import Operand, Several
from gradcli.language.ops import Default, Kind, Meaning, Op, gives_positions
from gradcli.language.ops.torch_functions import CODE_FUNCTIONS, OTHERWISE
from gradcli.language.program.wengert import CONSTANTS, Atom, Call
from gradcli.language.text import hints
from gradcli.language.text.nodes import Arguments, Items, Loop, Member, NameNode, Node, Trailer
from gradcli.language.text.tokens import POWERS, Token


def shadowed(names: Iterable[str]) -> frozenset[str]:
    """Select the names that mean something else where no variable has them: constants, modules, functions.

    >>> sorted(shadowed(["x", "pi", "mean", "np"]))
    ['mean', 'np', 'pi']
    """
    return frozenset(name for name in names if name in (*CONSTANTS, *PREFIXES) or ops.find(name) is not None)


_FOLDS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""Operations by which Python folds the terms of a list or a loop, `sum(f(i) for i in range(n))`."""

_MODULE_CONSTANTS: Mapping[str, sympy.Expr] = {**CONSTANTS, "e": sympy.E}
"""Constants after a module's name, `math.e`."""


class Calls(Binder, Indices, Inlining, Libraries):
    """Lowering of a name with the modules before it, of a function with its arguments, and of members after a dot."""

    # -- names

    def named(self, node: NameNode, trailers: Sequence[Trailer] = ()) -> tuple[Operand, int]:
        """Lower a name with the modules before it; return its value, and how many of the trailers belong to it."""
        scope, is_called = self.scope, node.arguments is not None
        is_module = not is_called and bool(trailers) and isinstance(trailers[0], Member)
        token = node.token
        if token.text in self.imported:
            token = self._renamed(token, is_module=is_module, is_called=is_called)
        if trailers and (path := self.dotted_name(node, trailers)) is not None:
            used = path.text.count(".")
            if path.text.endswith(".py"):
                hint = f"gradcli check {path.text}::NAME --at VALUE asks of a function in it"
                raise self.source.error(f"'{path.text}' is the name of a file", path.span, hint=hint)
            if scope.is_value:
                raise self.source.error(f"a value cannot use the name '{path.text}'", path.span)
            return (scope.variable(path.text), path.span), used
        used = self._modules(token, trailers) if is_module and not scope.is_taken(token.text) else 0
        behind = trailers[used - 1] if used else node
        arguments = behind.arguments if isinstance(behind, NameNode | Member) else None
        name = behind.name if isinstance(behind, Member) else token
        span = token.span.to(name.span) if used else token.span
        is_variable = name.text in scope.variables and ops.find(name.text) is None  # else a function
        is_value = not used and (name.text in scope.names or is_variable)
        if arguments is not None and not is_value:
            words = [node.token.text, *(one.name.text for one in trailers[:used] if isinstance(one, Member))]
            return self._called(name, span, words, arguments), used
        value = _MODULE_CONSTANTS.get(name.text) if used else scope.names.get(name.text)
        if value is not None and arguments is not None:
            raise self.source.unexpected(self.source.position(arguments.span.start), is_inside=True)
        if value is not None:
            scope.unused.pop("" if used else name.text, None)
            return (value, span), used
        if arguments is not None:
            message, hint = f"'{name.text}' is a variable, not a function", f"write {name.text}*(...) for a product"
            raise self.source.error(message, span, hint=hint, kind=UnknownFunctionError)
        if name.text in CONSTANTS and name.text not in scope.given and name.text not in scope.variables:
            return (CONSTANTS[name.text], span), used
        if used or name.text not in scope.variables:
            self.require_variable(name, span, is_behind_module=used > 0)
        return (scope.variable(name.text), span), used

    def _called(self, name: Token, span: Span, words: Sequence[str], arguments: Arguments) -> Operand:
        """Lower a function of the table, or a call that has the form of one."""
        if len(words) == 1 and (found := self.called_in_formula(name, arguments)) is not None:
            return found
        path = self._in_full(words)
        if (of_module := OF_MODULES.get((*path[-2:-1], name.text))) is not None:
            name = Token(name.kind, of_module, name.span)
        is_of_linalg = "linalg" in words and name.text in libraries.ELSEWHERE["linalg"]
        library = libraries.library_of(path[:-1]) or "linalg" * is_of_linalg
        if library == "numpy":
            if (hint := OTHERWISE.get(name.text)) is not None:
                raise self.source.error(f"{self.source.excerpt(span)} is not read", span, hint=hint)
            self.note_types([replace(name, text="ndarray")])
        is_own = len(path) == 1 and self.has_own_functions
        return self.call(name, span, [], arguments, after_dot=len(words) > 1, library=library, is_own=is_own)

    def require_variable(self, name: Token, span: Span, *, is_behind_module: bool = False) -> None:
        """Refuse a name that cannot be a variable.

        Raises:
            LanguageError: It is a function, or stands after a module or in a value.
        """
        op = ops.find(name.text)
        if is_behind_module and op is None:
            raise self.source.error(f"'{self.source.excerpt(span)}' is not part of the language", span)
        if is_behind_module:
            raise self.source.error(f"'{name.text}' is a function", span, hint=self._with_arguments(span))
        if op is not None and name.text not in self.scope.given:
            hint = self._with_arguments(span)
            if not self.scope.is_value:
                hint += f"; a variable called {name.text} needs a value, --at {name.text}=VALUE"
            raise self.source.error(f"'{name.text}' is a function", span, hint=hint, kind=UncalledFunctionError)
        if self.scope.is_value:
            raise self.source.error(f"a value cannot use the name '{name.text}'", span, hint=self._without_names(name))

    def _with_arguments(self, span: Span) -> str:
        """Hint at the form of a function that lacks its arguments: `sin x`, `sin^2(x)`."""
        shown = self.source.excerpt(span)
        behind = self.source.position(span.stop)
        sign, exponent = self.source.tokens[behind : behind + 2]
        if sign.text in POWERS and exponent.kind == "number":
            return f"write {shown}(...)**{exponent.text}"
        if sign.text in POWERS and exponent.text == "-":
            return f"write 1/{shown}(...), or its inverse by name, as asin is that of sin"
        return f"write {shown}(...)"

    def _without_names(self, name: Token) -> str:
        """Hint at the form of a value that contains a name: `x: 1`, `x=1, y=2`."""
        behind = self.source.position(name.span.stop)
        separator, value = self.source.tokens[behind : behind + 2]
        example = f"{name.text}={value.text or 'VALUE'}"
        hint = hints.of_variable(self.source.name, example) if separator.text in (":", "=") else None
        return hint or juxtaposed_names.meant(name.text) or "a value holds numbers only"

    def _modules(self, token: Token, trailers: Sequence[Trailer]) -> int:
        """Count the members after the name of a module that belong to it."""
        if token.text not in PREFIXES and token.text.lower() in {*PREFIXES, *FOREIGN, "tensor"}:
            hint = "write torch, np, math, F, or the name of the function alone"
            raise self.source.error(f"the module '{token.text}' is not known", token.span, hint=hint)
        name, used, before = token, 0, ""
        arguments: Arguments | None = None
        while arguments is None and used < len(trailers):
            member = trailers[used]
            is_module = name.text in PREFIXES or before == "stats"
            if not isinstance(member, Member) or not (is_module or (name.text, member.name.text) in OF_MODULES):
                break
            before = name.text
            name, used, arguments = member.name, used + 1, member.arguments
        if used and arguments is None and len(token.text) <= 2 and name.text in ("T", "mT", "shape"):
            return 0
        return used

    # -- methods

    def member(self, operand: Operand, member: Member) -> Operand:
        """Lower a member of an operand."""
        name = member.name
        span = operand[1].to(name.span)
        if member.arguments is not None:
            return self._method(name, span, operand, member.arguments)
        place = Span(member.span.start, name.span.stop)
        if (several := self.scope.several.get(operand[0])) is not None and name.text in several.names:
            return several.parts[several.names.index(name.text)][0], span
        operand = self.require_tensor(*operand), operand[1]
        match name.text:
            case "T" | "H":  # of real numbers they are one
                return self._transposed(operand[0], span)
            case "mT" | "mH":
                return self.emit("transpose", [operand[0]], span, (-2, -1))
            case "values" | "real":
                return operand[0], span
            case "size":  # of an array
                return self.emit("count", [operand[0]], span, (None,))
            case "data":
                return self.detached(operand[0], span)
            case "imag" | "conj":
                raise self.source.error("complex numbers are not read", place)
            case "grad":
                hint = "gradcli prints the gradient; leave it out"
                raise self.source.error("'.grad' is not part of the language", place, hint=hint)
        if ops.find(name.text, after_dot=True) is not None:
            raise self.source.error(f"'.{name.text}' is a method", place, hint=f"write .{name.text}(...)")
        hint = "only .T, .mT, .shape[0] and methods such as .sum()"
        raise self.source.error(f"'.{name.text}' is not part of the language", place, hint=hint)

    def _transposed(self, atom: Atom, span: Span) -> Operand:
        """Lower `x.T`, which of a vector is x."""
        shape = self.needed_shape(atom)
        if shape is None or len(shape) != 1:
            return self.emit("transpose", [atom], span, (None, None))
        if not (self.scope.needs_shapes or self.has_numpy):  # else sizes may be others yet
            remark = f"{self.source.excerpt(span)} of a vector is the vector, as NumPy has it; torch will refuse it"
            self.scope.warnings.append(remark)
        return atom, span

    def _method(self, name: Token, span: Span, operand: Operand, arguments: Arguments) -> Operand:
        """Lower a method with its arguments."""
        if name.text in CONVERSIONS:
            return self.converted(name, span, self.require_tensor(*operand), arguments)
        if name.text.endswith("_"):
            instead = f"write y = x.{name.text.rstrip('_')}(...)"
            raise self.source.code(f"'.{name.text}', which changes its tensor,", name.span, instead)
        if name.text in ("T", "mT"):
            message, hint = f"'.{name.text}' takes no parentheses", f"write .{name.text} alone"
            raise self.source.error(message, arguments.opening.span, hint=hint)
        library = self.library_of_method(name)
        if library and name.text in libraries.IN_PLACE:
            raise self.source.code(f"'.{name.text}', which changes its array,", name.span, f"write np.{name.text}(x)")
        return self.call(name, span, [operand], arguments, after_dot=True, library=library)

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
        is_own: bool = False,
    ) -> Operand:
        """Lower a function with its arguments.

        Args:
            name: Of the function.
            span: Of the name with what is before it.
            given: The operand before the dot of a method.
            arguments: Its arguments.
            after_dot: Whether a dot is before it.
            library: The library whose meaning it has, by the module before it; torch's if empty.
            is_own: Whether it is Python's own where that has one by its name.
        """
        if name.text in TENSORS and not given:
            return self.tensor(name, span, arguments)
        if name.text in SPECIAL and not given:
            return self.guarded(lambda: self.special(name, span, arguments))
        op = ops.find(name.text, after_dot=after_dot)
        if op is not None and op.name == "log" and (gamma := _gamma_in(arguments)) is not None:
            return self.emit("lgamma", [self.lower(gamma)[0]], span.to(arguments.span))
        if op is None:
            raise self._unknown(name)
        given = [] if name.text.startswith("new_") else given
        op = ops.TABLE[libraries.OTHER_ROWS.get((name.text, library), op.name)]
        is_of_list = op.variadic and op.operands[0] in ("tensors", "operands")
        if given and (op.kind is Kind.SOURCE or is_of_list):
            hint = f"write {op.name}([a, b])" if is_of_list else f"write {op.name}(...)"
            message = f"'{name.text}' is not a method of a tensor"
            raise self.source.error(message, name.span, hint=hint, kind=UnknownFunctionError)
        whole = span.to(arguments.span)
        is_python = (not after_dot and op.name in ("sum", *EXTREMES)) or (library == "math" and op.name == "prod")
        if is_python or (not given and any(isinstance(one.value, Loop) for one in arguments.items)):
            folded = self._folded(op, arguments, name, whole, is_own=is_own and is_python)
            if folded is not None:
                return folded
        bound = self.bind(op, name, arguments, given, library)
        if bound.op.name == "norm" and "p" not in bound.waiting:
            if self._is_of_matrix(bound, name, span):
                bound = self.bind(ops.TABLE["matrix_norm"], name, arguments, given, library)
            elif bound.statics["p"] == "fro":
                bound.statics["p"] = 2
        if after_dot:
            self._require_taken(bound, name, library)
        if bound.op.defined_by is Meaning.TORCH_INLINE:
            return self.inlined_call(bound, whole)
        meaning = libraries.ELSEWHERE.get(library, {}).get(bound.op.name)
        if isinstance(meaning, str) and bound.constants == tuple(bound.op.statics.values()):
            atoms = (a for a, _ in bound.values)
            return self.inlined(meaning, dict(zip(bound.op.operands, atoms, strict=True)), whole), whole
        found = self.result_of(bound.op, bound.values, bound.constants, whole)
        if library or self.is_meaning or not gives_positions(bound.op) or bound.extra:
            return found
        if "keepdim" in bound.statics and bound.statics["dim"] is None:  # of all elements there is one number
            return found
        parts = found, (self.scope.placeholder(None), whole)
        return self.scope.pack(Several(op.name, parts, ("values", "indices"), is_pair=True)), whole

    def _require_taken(self, bound: Bindings, name: Token, library: str) -> None:
        """Refuse the base of a logarithm, which torch lacks, and a third tensor, to which NumPy writes its result."""
        op, count = bound.op, len(bound.values)
        is_log, is_extreme = op.name == "log", op.name in EXTREMES
        if library == "sympy" or (is_log and library == "math"):
            return
        is_folded = is_log or is_extreme or (op.variadic and op.kind is Kind.ELEMENTWISE)
        if is_folded and count > (1 if is_log or (is_extreme and library) else 2):
            hint = "write log(x)/log(base)" if is_log else f"write {EXTREMES.get(op.name, op.name)} of two at a time"
            raise self.source.error(f"too many tensors for the library's {name.text}", name.span, hint=hint)

    def _folded(self, op: Op, arguments: Arguments, name: Token, span: Span, *, is_own: bool) -> Operand | None:
        """Fold a loop or a list with the start of a sum term by term, as Python does; None for any other argument.

        Raises:
            LanguageError: Python's own function differs from torch's: it folds rows, or takes plain numbers only.
        """
        items = arguments.items
        node = items[0].value if items and items[0].name is None else None
        if isinstance(node, Loop):
            terms = self.terms(node)
            if op.name in ("stack", "cat"):
                return self.result_of(op, terms, (0,), span)
            if op.name not in _FOLDS:
                message, hint = f"{op.name} does not take a generator", f"write {op.name}([... for ...])"
                raise self.source.error(message, arguments.opening.span, hint=hint)
        elif node is None or items[-1].name is not None:
            return None
        elif len(items) > 1 + (op.name == "sum"):
            terms = []
        elif isinstance(node, Items) and not isinstance(node.items[0] if node.items else node, Items):
            terms = self.items(node)
        else:
            terms = self.parts(node) or []
        if is_own and not terms:
            given = [self.lower(one.value) for one in items]
            terms = given if op.name in EXTREMES and len(items) > 1 else []
            shapes = [self.needed_shape(self.require_tensor(*operand)) for operand in given]
            if (len(items) > 1 and not terms) or any(len(s) > (len(items) == 1) for s in shapes if s is not None):
                raise self.source.code(f"Python's own '{name.text}' of a tensor", name.span, f"write x.{name.text}()")
        elif op.name == "sum":
            terms = terms and [self.lower(one.value) for one in items[1:]] + terms
        if not terms:
            return None
        first, *others = [self.as_number(a, s) if op.name == "sum" else a for a, s in terms]
        for term in others:
            first = self.emit(_FOLDS[op.name], [first, term], span)[0]
        return first, span

    def _is_of_matrix(self, bound: Bindings, name: Token, span: Span) -> bool:
        """Tell whether a norm is of a matrix: `linalg.norm(A, 2)` without dim or over two dimensions, or "nuc"."""
        if bound.statics["p"] == "nuc":
            return True
        shape = self.shape_of(bound.values[0][0])
        if shape is not None and len(shape) < 2:
            return False
        dim = bound.statics["dim"]
        is_of_linalg = "linalg" in self.source.text[span.start : name.span.start] and name.text == "norm"
        return is_of_linalg and (dim is None or (isinstance(dim, tuple) and len(dim) == 2))

    def result_of(self, op: Op, operands: list[Operand], statics: tuple[Default, ...], span: Span) -> Operand:
        """Append the line of a call whose arguments are bound."""
        atoms = [a for a, _ in operands]
        if op.name == "log" and len(atoms) == 2:
            parts = [self.emit("log", [a], span)[0] for a in atoms]
            return self.emit("div", parts, span)
        if (op.variadic and op.kind is Kind.ELEMENTWISE) or (op.name in EXTREMES and len(atoms) > 1):
            name, result = EXTREMES.get(op.name, op.name), atoms[0]
            for atom in atoms[1:]:
                result = self.emit(name, [result, atom], span)[0]
            return result, span
        if op.has_equation and "..." in str(statics[0]) and (shapes := self.needed_shapes(atoms)) is not None:
            statics = (spelled_out(str(statics[0]), [len(shape) for shape in shapes]),)
        if op.of_shapes:
            atoms = [self.require_tensor(a, span) for a in atoms]  # a list of Python's has a shape as a tensor
            call = Call(op.name, tuple(atoms), (*statics, None))
            statics = self.placed(span, lambda: self.fitted(call)).statics
        return self.emit(op.name, atoms, span, statics)

    # -- unknown functions

    def _unknown(self, name: Token) -> GradcliError:
        """Make the error for a name that is not in the table."""
        is_pythons = hasattr(builtins, name.text) or (self.is_code and hasattr(list, name.text))
        if is_pythons or name.text in CODE_FUNCTIONS:
            return self.source.code(f"'{name.text}(...)'", name.span)
        plain = {known.replace("_", ""): known for known in ops.names()}
        same = plain.get(name.text.lower().replace("_", ""))  # MSELoss, ReLU
        hint = f"did you mean '{same}'?" if same else hints.FOREIGN_NAMES.get(name.text)
        hint = hint or juxtaposed_names.of_call(name.text) or did_you_mean(name.text, (*ops.names(), *CODE_FUNCTIONS))
        if hint is None:
            is_letter = len(name.text) == 1 or name.text in CONSTANTS
            hint = f"write {name.text}*(...) for a product" if is_letter else "gradcli functions lists them"
        return self.source.error(f"unknown function '{name.text}'", name.span, hint=hint, kind=UnknownFunctionError)


def _gamma_in(arguments: Arguments) -> Node | None:
    """Find the x of `log(Abs(gamma(x)))`, which SymPy writes."""
    for name in ("abs", "gamma"):
        node = arguments.items[0].value if len(arguments.items) == 1 else None
        if not isinstance(node, NameNode) or node.arguments is None or node.token.text.lower() != name:
            return None
        arguments = node.arguments
    return arguments.items[0].value if len(arguments.items) == 1 else None
