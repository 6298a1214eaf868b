"""Derivatives of functions: what takes a function of the text, or of torch, and differentiates it by its arguments.

torch.autograd.functional.jacobian(f, x)     and hessian, vjp, jvp, hvp, vhp
torch.func.grad(f)(x)                        and jacrev, jacfwd, hessian, one inside the other; vjp and jvp
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy

from gradcli.errors import LanguageError, Span
from gradcli.language.derivatives import Derivatives, Pass, Question
from gradcli.language.functions import Function
from gradcli.language.lines import Operand
from gradcli.language.program.numeric import run
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.tokens import Token

_TRANSFORMS: Mapping[str, Question] = {
    "grad": "vjp",
    "grad_and_value": "vjp",
    "jacrev": "jacobian",
    "jacfwd": "jacobian",
    "jacobian": "jacobian",
    "hessian": "hessian",
}
"""What takes a function and gives one, in `torch.func`; `hessian` and `jacobian` of a function alone too."""

_FUNCTIONAL: Mapping[str, Question] = {
    "jacobian": "jacobian",
    "hessian": "hessian",
    "vjp": "vjp",
    "jvp": "jvp",
    "hvp": "hvp",
    "vhp": "hvp",
}
"""What takes a function and its arguments, in `torch.autograd.functional`."""

TAKES = frozenset(
    [
        "torch.autograd.grad",
        *(f"torch.func.{name}" for name in (*_TRANSFORMS, "vjp", "jvp")),
        *(f"torch.autograd.functional.{name}" for name in _FUNCTIONAL),
    ]
)
"""The functions that are read here."""


class Transforms(Derivatives):
    """Reads them."""

    def named(self, token: Token) -> Operand:
        """As in the language, and a derivative with its arguments."""
        path, end = self.path_at(self.position - 1)
        if path not in TAKES or self.tokens[end].text != "(":
            return super().named(token)
        self.position = end
        if self._is_transform(path):
            function = self._transform(path)
            if self.token.text != "(":
                hint = "call it: grad(f)(x)"
                raise self.error(LanguageError, "this derivative is a function", token.span, hint=hint)
            operand, span = self.called(function, function.shown)
            return operand, token.span.to(span)
        opening = self.advance()
        if path == "torch.autograd.grad":
            return self.gradients(token, opening)
        return self._of_function(path, token, opening)

    def _is_transform(self, path: str) -> bool:
        """Whether a derivative takes a function alone, and gives one; its parenthesis is next."""
        room, _, name = path.rpartition(".")
        if name not in _TRANSFORMS:
            return False
        if name == "grad" and room == "torch.autograd":
            return self.function_at(self.position + 1)
        closing = next((n for n, depth in self.levels(self.position) if depth == 0), self.position)
        return room == "torch.func" or self.tokens[closing + 1].text == "("

    def function_at(self, position: int) -> bool:
        """Whether a function, and no tensor, stands at a position."""
        token = self.tokens[position]
        if token.text in ("lambda", "func", "f") and (token.text == "lambda" or self.tokens[position + 1].text == "="):
            return True
        path, end = self.path_at(position)
        if path in TAKES and self.tokens[end].text == "(":
            start, self.position = self.position, end
            is_one = self._is_transform(path)
            self.position = start
            closing = next((n for n, depth in self.levels(end) if depth == 0), end)
            return is_one and self.tokens[closing + 1].text != "("
        if token.text in self.functions and token.text not in self.names:
            return self.tokens[position + 1].text != "("
        is_name = token.kind == "name" and token.text not in self.names and token.text not in self.variables
        return is_name and self.function_of_table(position) is not None

    def function(self) -> Function:
        """A function among arguments: a name of the text, a lambda, an operation, or a derivative of one of these."""
        token = self.token
        if not self.function_at(self.position):
            hint = "define it: def f(x): return x**2, or lambda x: x**2"
            raise self.error(LanguageError, "a function must stand here", token.span, hint=hint)
        if token.text == "lambda":
            return self.lambda_()
        path, end = self.path_at(self.position)
        if path in TAKES:
            self.position = end
            return self._transform(path)
        if token.text in self.functions:
            self.position += 1
            return self.functions[token.text]
        found = self.function_of_table(self.position)
        assert found is not None, "a function of the table"  # noqa: S101
        function, self.position = found
        return function

    def _transform(self, path: str) -> Function:
        """`grad(f, argnums)`, a function of f's arguments; its parenthesis is next."""
        name = path.rpartition(".")[2]
        opening = self.advance()
        found = self.in_call(
            opening,
            {
                "func": self.function,
                "argnums": self.integers,
                "has_aux": self.not_read,
                "chunk_size": self.any_word,
                "randomness": self.any_word,
            },
        )
        if "func" not in found:
            raise self.error(LanguageError, f"{name} takes a function", opening.span)
        f: Function = found["func"]
        numbers = found.get("argnums", 0)
        chosen = numbers if isinstance(numbers, tuple) else (numbers,)

        def value(given: Sequence[Operand], where: Span) -> Operand:
            if not all(-len(given) <= n < len(given) for n in chosen):
                raise self.error(LanguageError, f"{name} has an argnums beyond the arguments", where)
            places = [n % len(given) for n in chosen]
            y, xs, one = self._applied(f, given, places, where)
            one = replace(one, asks=_TRANSFORMS[name])
            parts = [self.line_of_kind(one.asks, y, x, where) for x in xs]
            is_tuple = isinstance(numbers, tuple)
            if name == "grad_and_value":
                first, span = self.result(parts, one, is_tuple=is_tuple)
                whole = sympy.Dummy("tuple", real=True)
                self.tuples[whole], self.derived[whole] = (first, y), self.derived[first]
                return whole, span
            return self.result(parts, one, is_tuple=is_tuple)

        return Function(f.parameters, value, f.defaults, f"{name}({f.shown})")

    def _applied(
        self, f: Function, given: Sequence[Operand], places: Sequence[int], span: Span
    ) -> tuple[Atom, list[Atom], Pass]:
        """A function at its arguments, of which some are copies that it is differentiated by; and the pass."""
        names = f.parameters or tuple(f"x{n}" if n else "x" for n in range(len(given)))
        arguments = [self._argument(operand, name) for operand, name in zip(given, names, strict=False)]
        arguments += [atom for atom, _ in given[len(arguments) :]]
        inputs = [arguments[n] for n in places]
        copies = {n: self.alias(arguments[n], span) for n in places}
        y, _ = f.value(
            [(copies.get(n, a), s) for (n, a), (_, s) in zip(enumerate(arguments), given, strict=True)], span
        )
        y = self.as_number(y, span)
        self.calls[y] = f"{f.shown}({', '.join(self._shown(a, s) for a, (_, s) in zip(arguments, given, strict=True))})"
        _, leaves = self.builder.made_of(y, stop=lambda call: call.op.name == "alias")
        trouble = self.trouble_of(inputs)
        if not leaves.isdisjoint(inputs):
            trouble = "the function uses its argument by the name that it has outside too"
        names = tuple(map(str, inputs))
        return y, [*copies.values()], Pass(y, None, span, names, keeps_graph=True, accumulates=False, trouble=trouble)

    def _shown(self, atom: Atom, span: Span) -> str:
        return str(atom) if atom in self.variables.values() else self.text[span.start : span.stop]

    def _argument(self, operand: Operand, name: str) -> Atom:
        """What a function is called with; numbers become a variable with the name of the parameter."""
        atom, span = operand
        lines, leaves = self.builder.made_of(atom)
        if self.running or atom in self.tuples or not leaves.isdisjoint(self.variables.values()):
            return atom
        while name in self.values or name in self.names or name in self.variables or name in self.functions:
            name += "_"
        self.values[name] = run(Program(self.text, (), tuple(lines), atom, self.source))
        self.shapes[name] = self.values[name].shape
        self.define(name, atom)
        self.require_floating(name, span)
        return self.variables.setdefault(name, sympy.Symbol(name, real=True))

    def _of_function(self, path: str, token: Token, opening: Token) -> Operand:
        """`torch.autograd.functional.jvp(f, x, u)` and its like; `jvp` and `vjp` of `torch.func`."""
        room, _, name = path.rpartition(".")
        is_func = room == "torch.func"
        if is_func and name == "vjp":
            return self._pullback(token, opening)
        flags = ("create_graph", "strict", "vectorize", "has_aux")
        words = ("strategy", "outer_jacobian_strategy")
        inputs, second = ("primals", "tangents") if is_func else ("inputs", "v")
        found = self.in_call(
            opening,
            {"func": self.function, inputs: self.tensors, second: self.tensors}
            | dict.fromkeys(flags, self.flag)
            | dict.fromkeys(words, self.any_word),
        )
        span = token.span.to(self.tokens[self.position - 1].span)
        if "func" not in found or inputs not in found:
            raise self.error(LanguageError, f"{name} takes a function and its arguments: {name}(f, x)", span)
        given, is_tuple = found[inputs]
        f: Function = found["func"]
        if f.parameters and len(given) > len(f.parameters):
            raise self.error(LanguageError, f"the function takes {', '.join(f.parameters)}", span)
        given = self.bound_to(f, list(given), {}, "the function", span)
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
            raise self.error(
                LanguageError, f"{name} takes a vector for each argument, and {len(vectors)} are given", span
            )
        if name in ("jvp", "hvp", "vhp"):
            one = replace(one, u=tuple(zip(one.inputs, vectors, strict=False)))
            vectors = vectors or [self.emit("ones_like", [x], span)[0] for x in xs]
        match name:
            case "jacobian" | "hessian":
                found = [self.line_of_kind(one.asks, y, x, span) for x in xs]
            case "vjp":
                v = vectors[0] if vectors else None
                one = replace(one, v=v)
                found = [self.gradient_line(y, x, v, span) for x in xs]
            case "jvp":
                found, is_tuple = [self._along(y, xs, vectors, span)], False
            case _:
                slope = self._slope([self.gradient_line(y, x, None, span) for x in xs], vectors, span)
                found = [self.gradient_line(slope, x, None, span) for x in xs]
        others = [] if name in ("jacobian", "hessian") else [y]
        if not keeps:
            found, others = ([self.detached_line(a, span) for a in atoms] for atoms in (found, others))
        whole, span = self.result(found, one, is_tuple=is_tuple)
        if not others:
            return whole, span
        pair = sympy.Dummy("tuple", real=True)
        self.tuples[pair], self.derived[pair] = (*others, whole), self.derived[whole]
        return pair, span

    def _pullback(self, token: Token, opening: Token) -> Operand:
        """`torch.func.vjp(f, x)`: the value, and a function of v that gives a tuple of gradients."""
        f = self.function()
        given: list[Operand] = []
        while self.accept(",") and self.token.text != ")":
            if self.at_keyword:
                raise self.error(LanguageError, f"'{self.token.text}' is not read here", self.token.span)
            given.append(self.expression())
        span = token.span.to(self.expect(")", opening).span)
        y, xs, one = self._applied(f, given, range(len(given)), span)

        def value(vectors: Sequence[Operand], where: Span) -> Operand:
            if len(vectors) != 1:
                raise self.error(LanguageError, "this function takes v alone", where)
            v = vectors[0][0]
            found = [self.gradient_line(y, x, v, where) for x in xs]
            return self.result(found, replace(one, v=v, span=where), is_tuple=True)

        back = sympy.Dummy("pullback", real=True)
        pair = sympy.Dummy("tuple", real=True)
        self.pullbacks[back] = Function((), value)
        self.tuples[pair] = (y, back)
        return pair, span

    def define(self, name: str, value: Atom) -> None:
        """Note the type of a variable that was just defined."""

    def require_floating(self, name: str, span: Span) -> None:
        """Refuse a gradient by whole numbers."""
