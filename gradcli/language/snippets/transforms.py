"""Derivatives of functions: what takes a function of the text, or of torch, and differentiates it by its arguments.

torch.autograd.functional.jacobian(f, x)     and hessian, vjp, jvp, hvp, vhp
torch.func.grad(f)(x)                        and jacrev, jacfwd, hessian, one inside the other; vjp and jvp
autograd.elementwise_grad(f)(x)              and grad, jacobian, hessian, value_and_grad of HIPS autograd and of JAX
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy

from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Operand
from gradcli.language.program.numeric import run
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.asked import Pass, Question
from gradcli.language.snippets.definitions import Callee, Functions, Imports, Signatures
from gradcli.language.snippets.dtypes import Dtypes
from gradcli.language.snippets.gradients import Derivatives
from gradcli.language.text.nodes import Argument, Arguments, Broken, Function, Member, Name, Node, Postfix, Trailer
from gradcli.language.text.source import require_sound
from gradcli.language.text.tokens import Token

_TRANSFORMS: Mapping[str, Question] = {
    "grad": "vjp",
    "grad_and_value": "vjp",
    "value_and_grad": "vjp",
    "elementwise_grad": "vjp",
    "jacrev": "jacobian",
    "jacfwd": "jacobian",
    "jacobian": "jacobian",
    "hessian": "hessian",
}
"""What takes a function and gives one, in `torch.func`, JAX and HIPS autograd; `hessian` and `jacobian` alone too."""

_FUNCTIONAL: Mapping[str, Question] = {
    "jacobian": "jacobian",
    "hessian": "hessian",
    "vjp": "vjp",
    "jvp": "jvp",
    "hvp": "hvp",
    "vhp": "hvp",
}
"""What takes a function and its arguments, in `torch.autograd.functional`."""

_COMPILED = frozenset(["torch.func.jit", "torch.compile", "torch.jit.script", "torch.jit.trace"])
"""What gives the same function, which only is faster."""

TAKES = _COMPILED | frozenset(
    [
        "torch.autograd.grad",
        *(f"torch.func.{name}" for name in (*_TRANSFORMS, "vjp", "jvp")),
        *(f"torch.autograd.functional.{name}" for name in _FUNCTIONAL),
    ]
)
"""The functions that are read here."""


class Transforms:
    """Reads them."""

    def __init__(
        self,
        lowering: Lowering,
        imports: Imports,
        signatures: Signatures,
        functions: Functions,
        derivatives: Derivatives,
        dtypes: Dtypes,
    ) -> None:
        self.source, self.scope, self.lines = lowering.source, lowering.scope, lowering.lines
        self.emit, self.builder, self.lower = lowering.lines.emit, lowering.lines.builder, lowering.lower
        self.imports, self.signatures, self.functions = imports, signatures, functions
        self.derivatives, self.dtypes = derivatives, dtypes

    def path_of(self, node: Node) -> tuple[str, int, Arguments | None]:
        """The whole name of what a node begins with, how many of its trailers belong to it, and its arguments."""
        name, trailers = (node.operand, node.trailers) if isinstance(node, Postfix) else (node, ())
        return self._path(name, trailers) if isinstance(name, Name) else ("", 0, None)

    def _path(self, name: Name, trailers: Sequence[Trailer]) -> tuple[str, int, Arguments | None]:
        start = self.source.position(name.span.start)
        path, end = self.imports.path_at(start)
        used = min(max(0, end - start - 1) // 2, len(trailers))
        last = trailers[used - 1] if used else name
        return path, used, last.arguments if isinstance(last, Name | Member) else None

    def named(self, node: Name, trailers: Sequence[Trailer]) -> tuple[Operand, int] | None:
        """A derivative with its arguments, and how many trailers belong to it; None where there is none."""
        path, used, arguments = self._path(node, trailers)
        if path not in TAKES or arguments is None:
            return None
        token, behind = node.token, trailers[used] if used < len(trailers) else None
        if self._is_transform(path, arguments, is_called=isinstance(behind, Arguments)):
            callee = self._transform(path, arguments)
            if not isinstance(behind, Arguments):
                message, hint = "this derivative is a function", "call it: grad(f)(x)"
                raise self.source.error(message, token.span, hint=hint)
            operand, span = self.functions.called(callee, callee.shown, behind)
            return (operand, token.span.to(span)), used + 1
        if path in _COMPILED and arguments.items:  # a module
            return self.lower(arguments.items[0].value), used
        if path == "torch.autograd.grad":
            return self.derivatives.gradients(token, arguments), used
        return self._of_function(path, token, arguments), used

    def _is_transform(self, path: str, arguments: Arguments, *, is_called: bool) -> bool:
        """Whether a derivative takes a function alone, and gives one."""
        room, _, name = path.rpartition(".")
        if path in _COMPILED:
            return bool(arguments.items) and self.is_function(arguments.items[0].value)
        if name not in _TRANSFORMS:
            return False
        if name == "grad" and room == "torch.autograd":
            first = arguments.items[0] if arguments.items else None
            is_keyword = first is not None and first.name is not None and first.name.text in ("func", "f")
            return is_keyword or (first is not None and self.is_function(first.value))
        return room == "torch.func" or is_called

    def is_function(self, node: Node) -> bool:
        """Whether a node is a function, and no tensor."""
        if isinstance(node, Function):
            return True
        first = node.operand if isinstance(node, Postfix) else node
        if not isinstance(first, Name):
            return False
        path, used, arguments = self.path_of(node)
        if path in TAKES and arguments is not None:
            behind = node.trailers[used:] if isinstance(node, Postfix) else ()
            is_called = bool(behind) and isinstance(behind[0], Arguments)
            return not is_called and self._is_transform(path, arguments, is_called=False)
        name = first.token.text
        if self.functions.known(name) is not None:
            return first.arguments is None and first is node
        is_own = name in self.scope.names or name in self.scope.variables
        return not is_own and self.functions.of_table(node) is not None

    def argument(self, argument: Argument) -> Callee:
        """A function among arguments."""
        node = argument.value
        if isinstance(node, Broken) and isinstance(node.error, TooLargeError):
            raise node.error
        if not self.is_function(node):
            hint = "define it: def f(x): return x**2, or lambda x: x**2"
            token = self.source.tokens[argument.start]
            raise self.source.error("a function must stand here", token.span, hint=hint)
        return self.function(node)

    def function(self, node: Node) -> Callee:
        """A name of the text, a lambda, an operation, or a derivative of one of these."""
        if isinstance(node, Function):
            return self.functions.callee(node)
        path, _, arguments = self.path_of(node)
        if path in TAKES and arguments is not None:
            return self._transform(path, arguments)
        first = node.operand if isinstance(node, Postfix) else node
        if isinstance(first, Name) and (known := self.functions.known(first.token.text)) is not None:
            return known
        found = self.functions.of_table(node)
        assert found is not None, "a function of the table"  # noqa: S101
        return found

    def _transform(self, path: str, arguments: Arguments) -> Callee:
        """`grad(f, argnums)`, a function of f's arguments."""
        if path in _COMPILED:
            return self.argument(arguments.items[0])
        name = path.rpartition(".")[2]
        read = self.signatures
        readers = {
            "func": self.argument,
            "argnums": read.integers,
            "has_aux": read.not_read,
            "chunk_size": read.any_word,
            "randomness": read.any_word,
            "argnum": read.integers,
        }
        found = read.in_call(arguments, readers)
        if "func" not in found:
            raise self.source.error(f"{name} takes a function", arguments.opening.span)
        f: Callee = found["func"]
        numbers = found.get("argnums", found.get("argnum", 0))
        chosen = numbers if isinstance(numbers, tuple) else (numbers,)

        def value(given: Sequence[Operand], where: Span) -> Operand:
            if not all(-len(given) <= n < len(given) for n in chosen):
                raise self.source.error(f"{name} has an argnums beyond the arguments", where)
            places = [n % len(given) for n in chosen]
            y, xs, one = self._applied(f, given, places, where)
            if name == "elementwise_grad":
                y, _ = self.emit("sum", [y], where, (None, False))
            one = replace(one, output=y, asks=_TRANSFORMS[name])
            parts = [self.derivatives.line_of_kind(one.asks, y, x, where) for x in xs]
            is_tuple = isinstance(numbers, tuple)
            gradient, span = self.derivatives.result(parts, one, is_tuple=is_tuple)
            both = {"grad_and_value": (gradient, y), "value_and_grad": (y, gradient)}.get(name)
            if both is not None:
                gradient = self.derivatives.tuple_of(*both, asks=self.derivatives.derived[gradient])
            return gradient, span

        return Callee(f.parameters, value, f.defaults, f"{name}({f.shown})")

    def _applied(
        self, f: Callee, given: Sequence[Operand], places: Sequence[int], span: Span
    ) -> tuple[Atom, list[Atom], Pass]:
        """A function at its arguments, of which some are copies that it is differentiated by; and the pass."""
        names = f.parameters or tuple(f"x{n}" if n else "x" for n in range(len(given)))
        arguments = [self._argument(operand, name) for operand, name in zip(given, names, strict=False)]
        arguments += [atom for atom, _ in given[len(arguments) :]]
        inputs = [arguments[n] for n in places]
        copies = {n: self.derivatives.alias(arguments[n], span) for n in places}
        y, _ = f.value(
            [(copies.get(n, a), s) for (n, a), (_, s) in zip(enumerate(arguments), given, strict=True)], span
        )
        y = self.lines.as_number(y, span)
        self.derivatives.calls[y] = (
            f"{f.shown}({', '.join(self._shown(a, s) for a, (_, s) in zip(arguments, given, strict=True))})"
        )
        _, leaves = self.builder.made_of(y, stop=lambda call: call.op.name == "alias")
        objection = self.derivatives.objection_to(inputs)
        if not leaves.isdisjoint(inputs):
            objection = "the function uses its argument by the name that it has outside too"
        names = tuple(map(str, inputs))
        one = Pass(y, None, span, names, keeps_graph=True, accumulates=False, objection=objection)
        return y, [*copies.values()], one

    def _shown(self, atom: Atom, span: Span) -> str:
        return str(atom) if atom in self.scope.variables.values() else self.source.excerpt(span)

    def _argument(self, operand: Operand, name: str) -> Atom:
        """What a function is called with; numbers become a variable with the name of the parameter."""
        atom, span = self.lines.as_number(*operand), operand[1]
        values = self.derivatives.values
        program = self.builder.program(atom, self.scope.variables.values())
        if self.functions.running or atom in self.derivatives.tuples or program.variables:
            return atom
        while any(name in taken for taken in (values, self.scope.names, self.scope.variables)):
            name += "_"
        values[name] = run(program)
        self.scope.shapes[name] = values[name].shape
        if not atom.is_number or self.dtypes.cast or self.dtypes.said:  # a number of Python's has no dtype
            self.dtypes.define(name, atom)
        self.dtypes.require_floating(name, span)
        return self.scope.variables.setdefault(name, sympy.Symbol(name, real=True))

    def _of_function(self, path: str, token: Token, arguments: Arguments) -> Operand:
        """`torch.autograd.functional.jvp(f, x, u)` and its like; `jvp` and `vjp` of `torch.func`."""
        room, _, name = path.rpartition(".")
        is_func = room == "torch.func"
        if is_func and name == "vjp":
            return self._pullback(token, arguments)
        flags = ("create_graph", "strict", "vectorize", "has_aux")
        words = ("strategy", "outer_jacobian_strategy")
        inputs, second = ("primals", "tangents") if is_func else ("inputs", "v")
        read = self.signatures
        readers = {"func": self.argument, inputs: read.tensors, second: read.tensors}
        found = read.in_call(arguments, readers | dict.fromkeys(flags, read.flag) | dict.fromkeys(words, read.any_word))
        span = token.span.to(arguments.span)
        if "func" not in found or inputs not in found:
            raise self.source.error(f"{name} takes a function and its arguments: {name}(f, x)", span)
        given, is_tuple = found[inputs]
        f: Callee = found["func"]
        if f.parameters and len(given) > len(f.parameters):
            raise self.source.error(f"the function takes {', '.join(f.parameters)}", span)
        given = self.functions.bound_to(f, list(given), {}, "the function", span)
        self.functions.enter(arguments)
        y, xs, one = self._applied(f, given, range(len(found[inputs][0])), span)
        vectors = [atom for atom, _ in found[second][0]] if second in found else []
        one = replace(one, asks=_FUNCTIONAL[name], keeps_graph=True)
        return self._by_direction(
            name, y, xs, vectors, one, is_tuple=is_tuple, keeps=found.get("create_graph", is_func)
        )

    def _by_direction(
        self, name: str, y: Atom, xs: list[Atom], vectors: list[Atom], one: Pass, *, is_tuple: bool, keeps: bool
    ) -> Operand:
        """The derivative of a function, with its value where torch gives both."""
        span, count = one.span, 1 if name == "vjp" else len(xs)
        if vectors and len(vectors) != count:
            raise self.source.error(f"{name} takes a vector for each argument, and {len(vectors)} are given", span)
        if name in ("jvp", "hvp", "vhp"):
            one = replace(one, u=tuple(zip(one.inputs, vectors, strict=False)))
            vectors = vectors or [self.emit("ones_like", [x], span)[0] for x in xs]
        match name:
            case "jacobian" | "hessian":
                found = [self.derivatives.line_of_kind(one.asks, y, x, span) for x in xs]
            case "vjp":
                v = vectors[0] if vectors else None
                one = replace(one, v=v)
                found = [self.derivatives.gradient_line(y, x, v, span) for x in xs]
            case "jvp":
                found, is_tuple = [self.derivatives.along(y, xs, vectors, span)], False
            case _:
                slope = self.derivatives.slope(
                    [self.derivatives.gradient_line(y, x, None, span) for x in xs], vectors, span
                )
                found = [self.derivatives.gradient_line(slope, x, None, span) for x in xs]
        others = [] if name in ("jacobian", "hessian") else [y]
        if not keeps:
            found, others = ([self.derivatives.detached_line(a, span) for a in atoms] for atoms in (found, others))
        whole, span = self.derivatives.result(found, one, is_tuple=is_tuple)
        if others:
            whole = self.derivatives.tuple_of(*others, whole, asks=self.derivatives.derived[whole])
        return whole, span

    def _pullback(self, token: Token, arguments: Arguments) -> Operand:
        """`torch.func.vjp(f, x)`: the value, and a function of v that gives a tuple of gradients."""
        items = self.signatures.written(arguments)
        if not items:
            found = self.source.tokens[arguments.position + 1]
            hint = "define it: def f(x): return x**2, or lambda x: x**2"
            raise self.source.error("a function must stand here", found.span, hint=hint)
        f = self.argument(items[0])
        given: list[Operand] = []
        for before, argument in itertools.pairwise(items):
            require_sound(before.fault)
            if argument.name is not None:
                raise self.source.error(f"'{argument.name.text}' is not read here", argument.name.span)
            given.append(self.lower(argument.value))
        require_sound(items[-1].fault or arguments.unclosed)
        span = token.span.to(arguments.span)
        self.functions.enter(arguments)
        y, xs, one = self._applied(f, given, range(len(given)), span)

        def value(vectors: Sequence[Operand], where: Span) -> Operand:
            if len(vectors) != 1:
                raise self.source.error("this function takes v alone", where)
            v = vectors[0][0]
            found = [self.derivatives.gradient_line(y, x, v, where) for x in xs]
            return self.derivatives.result(found, replace(one, v=v, span=where), is_tuple=True)

        back = sympy.Dummy("pullback", real=True)
        self.derivatives.pullbacks[back] = Callee((), value)
        return self.derivatives.tuple_of(y, back), span
