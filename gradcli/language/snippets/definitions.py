"""What names stand for in a snippet, and how what they stand for is called: imports, arguments, functions.

    def f(x, n=2): ...; return ...          f = lambda x: ...

A function is lowered again wherever it is called.  Its body is assignments and one `return`; its parameters stand for
what it is called with, its other names for what the snippet has under them, as in Python.
"""

from __future__ import annotations

import re
from collections import ChainMap, defaultdict
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from gradcli.errors import Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.arguments import exact_number
from gradcli.language.lower.dotted_names import PREFIXES
from gradcli.language.lower.libraries import OF_MODULES
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Dictionary, Key, Listed, Nothing, Operand, Scope
from gradcli.language.ops import REQUIRED
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.generators import draw_in, drawn_unread, require_no_draw
from gradcli.language.text.nodes import (
    Argument,
    Arguments,
    Function,
    Group,
    Import,
    Items,
    Line,
    Member,
    Name,
    Node,
    Postfix,
    Starred,
    Statement,
)
from gradcli.language.text.python_statements import PythonGrammar
from gradcli.language.text.source import Source, require_sound
from gradcli.language.text.tokens import Token

_FUNCTIONAL, _FUNC = "torch.autograd.functional", "torch.func"

_CALLED = re.compile(r"\b([^\W\d]\w*)\s*\(")

_KNOWN = {
    "torch": "torch",
    "autograd": "torch.autograd",
    "functorch": _FUNC,
    "grad": "torch.autograd.grad",
    **{name: f"{_FUNCTIONAL}.{name}" for name in ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp")},
    **{name: f"{_FUNC}.{name}" for name in ("jacrev", "jacfwd", "grad_and_value")},
}
"""What names stand for where no import says."""

_SAME = {"functorch.": f"{_FUNC}.", "jax.": f"{_FUNC}.", "autograd.": f"{_FUNC}."}
"""Libraries whose derivatives are those of another."""


class Imports:
    """The whole names of what is imported."""

    def __init__(self, source: Source, scope: Scope) -> None:
        self.source, self.scope = source, scope
        self.whole: dict[str, str] = dict(_KNOWN)

    def add(self, line: Import) -> None:
        """Remember the names of an import."""
        self.whole |= line.names

    def path_at(self, position: int) -> tuple[str, int]:
        """The whole name of what stands at a position, as `torch.autograd.grad`, and the position behind it."""
        tokens, scope = self.source.tokens, self.scope
        first = tokens[position]
        is_own = first.text in scope.names or first.text in scope.variables
        is_behind_dot = position > 0 and tokens[position - 1].text == "."
        if first.kind != "name" or is_own or is_behind_dot or first.text not in self.whole:
            return "", position
        path = self.whole[first.text]
        position += 1
        while tokens[position].text == "." and tokens[position + 1].kind == "name":
            path += f".{tokens[position + 1].text}"
            position += 2
        for theirs, ours in _SAME.items():
            path = ours + path.removeprefix(theirs) if path.startswith(theirs) else path
        return path, position

    def library(self, words: Sequence[str]) -> list[str]:
        """The modules before a name in full: `from numpy import var`, `import jax.numpy as F`."""
        every = self.whole.get("*", "")
        if len(words) == 1 and words[0] not in self.whole and every.rpartition(".")[2] in ("numpy", "torch"):
            return [*every.split("."), *words]
        return [*self.whole.get(words[0], words[0]).split("."), *words[1:]]

    def renamed(self, token: Token, *, is_module: bool, is_called: bool) -> Token:
        """A name that an import gave to a function or a module under the name that is known."""
        last = self.whole.get(token.text, token.text).rpartition(".")[2]
        is_own = token.text in self.scope.names or token.text in self.scope.variables
        is_known = is_called and ops.find(last) is not None
        is_known = last in PREFIXES or self.whole.get(token.text) == "scipy.stats.norm" if is_module else is_known
        return replace(token, text=last) if is_known and not is_own else token


def definition_of(line: Line) -> Function | None:
    """The definition that a line is."""
    if isinstance(line, Function):
        return line
    if isinstance(line, Statement) and isinstance(line.value, Function):
        require_sound(line.fault)
        return line.value
    return None


def keeps_graph(found: Mapping[str, Any]) -> bool:
    """Whether a pass is asked to keep its graph, which it does too where it makes one of the derivative."""
    retains = found.get("retain_graph")
    return bool(found.get("create_graph") if retains is None else retains)


class Signatures:
    """Reads what is between the parentheses of a call that is no operation."""

    def __init__(self, lowering: Lowering) -> None:
        self.source, self.lines = lowering.source, lowering.lines
        self.lower, self.constants = lowering.lower, lowering.constants

    def written(self, arguments: Arguments) -> list[Argument]:
        """The arguments that are there, but for what is missing where the text ends."""
        return [one for one in arguments.items if self.source.tokens[one.start].kind != "end"]

    def in_call(self, arguments: Arguments, readers: Mapping[str, Callable[[Argument], Any]]) -> dict[str, Any]:
        """What is between parentheses, by name or in order, each read in its own way."""
        found: dict[str, Any] = {}
        for argument in self.written(arguments):
            waiting = [name for name in readers if name not in found]
            name = argument.name.text if argument.name else waiting[0] if waiting else ""
            if name not in waiting:
                what = f"'{name}' is not read here" if name else "there are too many arguments"
                start = argument.name or self.source.tokens[argument.start]
                raise self.source.error(what, start.span)
            found[name] = readers[name](argument)
            require_sound(argument.fault)
        require_sound(arguments.unclosed)
        return found

    def _alone(self, argument: Argument) -> Token:
        """The one word of an argument."""
        if argument.stop > argument.start + 1:
            raise self.source.unexpected(argument.start + 1, " where ')' was expected", is_inside=True)
        return self.source.tokens[argument.start]

    def flag(self, argument: Argument) -> bool | None:
        """True or False, or None where neither is said."""
        word = self.source.tokens[argument.start]
        if word.text not in ("True", "False", "None", "0", "1"):
            raise self.source.error("True or False must stand here", word.span)
        self._alone(argument)
        return None if word.text == "None" else word.text in ("True", "1")

    def any_word(self, argument: Argument) -> str:
        """A word that changes no number."""
        return self._alone(argument).text

    def not_read(self, argument: Argument) -> bool:
        """A flag that must be False."""
        word = self.source.tokens[argument.start - 2]
        if self.flag(argument):
            raise self.source.error(f"'{word.text}' is not read", word.span)
        return False

    def integers(self, argument: Argument) -> int | tuple[int, ...]:
        """A whole number, or a tuple of them."""
        node = argument.value
        return self.constants.integers(node) if isinstance(node, Items | Group) else self.constants.integer(node)

    def vector(self, argument: Argument) -> Atom | None:
        """V, in a list of one or alone."""
        if self.source.tokens[argument.start].text == "None":
            self._alone(argument)
            return None
        operands, _ = self.tensors(argument)
        if len(operands) != 1:
            raise self.source.error("several gradient vectors are not read", operands[0][1])
        return self.lines.as_number(*operands[0])

    def tensors(self, argument: Argument) -> tuple[list[Operand], bool]:
        """A tensor, or a list or tuple of them, and whether it is one."""
        node = argument.value
        if not (isinstance(node, Items) and (node.has_comma or node.opening.text == "[")):
            return [self.lower(node)], False
        found = [self.lower(item) for item in node.items]
        require_sound(node.fault)
        if not found:
            raise self.source.error("there is no tensor here", node.opening.span)
        return found, True


@dataclass(frozen=True)
class Callee:
    """What can be called.

    Attributes:
        parameters: Their names; none where they are not known.
        value: What it gives for its arguments, at a range of the text.
        defaults: What stands for those of them that are not given.
        shown: What it is called in the text.
        rest: Whether the last parameter takes all that follow, in a list.
        keywords: Whether one more parameter behind all takes the arguments of other names, in a dict.
        node: Where it is defined, if the text does.
    """

    parameters: tuple[str, ...]
    value: Callable[[Sequence[Operand], Span], Operand]
    defaults: Mapping[str, Atom] = field(default_factory=dict)
    shown: str = "f"
    rest: bool = False
    keywords: str = ""
    node: Function | None = None


class Functions:
    """Defines functions, and calls them.

    Attributes:
        running: Where the bodies that are being lowered begin.
        frames: The names of those that wait for the innermost of them.
        statements: The ranges of the statements of the function that is differentiated, with their values.
        without_value: Where one was called last that returns nothing.
    """

    def __init__(self, lowering: Lowering, signatures: Signatures, run: Callable[[Function], Operand | None]) -> None:
        self.lowering, self.signatures, self._run_body = lowering, signatures, run
        self.source, self.scope = lowering.source, lowering.scope
        self.lower, self.constants = lowering.lower, lowering.constants
        self.running: list[int] = []
        self.frames: list[MutableMapping[str, Atom]] = []
        self.statements: list[tuple[Span, Atom]] = []
        self.without_value: Span | None = None
        self._bodies: defaultdict[str, list[Span]] = defaultdict(list)  # by their names, methods among them
        self._outside = 0  # levels of nesting around the body that is being lowered, beyond those in the tree
        self._here = 0  # and around the call that is being lowered

    def require_value(self) -> None:
        """Refuse a text without a value because a function gives none.

        Raises:
            LanguageError: One was called.
        """
        if self.without_value is not None:
            hint = "end it with return ..."
            raise self.source.error("this function returns nothing", self.without_value, hint=hint)

    # -- definitions

    def known(self, name: str) -> Callee | None:
        """The function that a name stands for."""
        found = self.scope.objects.get(self.scope.names[name]) if name in self.scope.names else None
        return found if isinstance(found, Callee) else None

    def require_no_draw(self, span: Span) -> None:
        """Refuse random numbers in what is passed over, and in the functions of the text that are called there.

        Raises:
            LanguageError: There are some.
        """
        require_no_draw(self.source, span)
        waiting, seen = [span], set[str]()
        while waiting:
            one = waiting.pop()
            names = {*_CALLED.findall(self.source.text, one.start, one.stop)} - seen
            seen |= names
            bodies = [body for name in names for called in self._called_by(name) for body in self._bodies[called]]
            if any(draw_in(self.source, body) for body in bodies):
                raise drawn_unread(self.source, span)
            waiting += bodies

    def _called_by(self, name: str) -> tuple[str, ...]:
        """The functions that a call of a name may run, by their own names."""
        callee = self.known(name)
        if callee is not None:
            return (name, callee.node.name if callee.node is not None else name)
        return ("forward", "__call__") if name in self.scope.names else (name,)

    def bind(self, name: str, callee: Callee) -> None:
        """Give a function a name."""
        self.scope.names[name] = atom = sympy.Dummy(name, real=True)
        self.scope.objects[atom] = callee

    def callee(self, node: Function) -> Callee:
        """What a definition or a lambda stands for, in the names that it is defined among."""
        self._bodies[node.name].append(node.span)
        defaults = {one.name: self.lower(one.default)[0] for one in node.parameters if one.default is not None}
        require_sound(node.fault)
        named = [one for one in node.parameters if one.stars != "**"]
        names = self.scope.names

        def value(given: Sequence[Operand], where: Span) -> Operand:
            return self._run(node, names, given, where)

        is_lambda = self.source.tokens[node.position].text == "lambda"
        shown = f"({self.source.excerpt(node.span)})" if is_lambda else node.name
        rest = any(one.stars for one in named)
        if rest and named[-1].stars != "*":
            message = "parameters behind a star are not read"
            raise self.source.error(message, node.span, hint="put *args behind all others")
        keywords = next((one.name for one in node.parameters if one.stars == "**"), "")
        return Callee(tuple(one.name for one in named), value, defaults, shown, rest, keywords, node)

    def of_table(self, node: Node) -> Callee | None:
        """An operation of the table as a function: `torch.cos`, alone among arguments."""
        members = node.trailers if isinstance(node, Postfix) else ()
        first = node.operand if isinstance(node, Postfix) else node
        if not isinstance(first, Name) or first.arguments is not None:
            return None
        name, known = first.token, first.token.text
        for member in members:
            if not isinstance(member, Member) or member.arguments is not None:
                return None
            known = OF_MODULES.get((name.text, member.name.text), member.name.text)
            name = member.name
        op = ops.find(known, after_dot=bool(members))
        if name.kind != "name" or op is None or REQUIRED in op.statics.values():
            return None

        defaults = {key: exact_number(number) for key, number in op.defaults.items()}

        def value(given: Sequence[Operand], where: Span) -> Operand:
            given = [*given, *((defaults[key], where) for key in op.operands[len(given) :] if key in defaults)]
            if len(given) != len(op.operands):
                raise self.source.error(f"{op.name} takes {', '.join(op.operands)}", where)
            statics = tuple(op.statics.values())
            return self.lowering.calls.made(op, [*given], statics, name.span)

        return Callee(op.operands, value, defaults, shown=self.source.excerpt(first.span.to(name.span)))

    # -- calls

    def _run(self, node: Function, outer: MutableMapping[str, Atom], given: Sequence[Operand], where: Span) -> Operand:
        """A body with its parameters standing for these operands, among the names where it is defined."""
        scope, names = self.scope, [one.name for one in node.parameters]
        if node.position in self.running:
            raise self.source.error("a function that calls itself is not read", where)
        self.constants.require_few(node.width, node.first)
        if len(given) != len(names):
            raise self.source.error(f"the function takes {', '.join(names) or 'nothing'}", where)
        outside, here = self._outside, self._here
        self._outside = outside + here + 1 - node.depth
        self._require_shallow(node, outside + here + 1)
        held = scope.names
        own = dict(zip(names, (atom for atom, _ in given), strict=True))
        scope.names = ChainMap(own, *(outer.maps if isinstance(outer, ChainMap) else [outer]))
        self.running.append(node.position)
        self.frames.append(held)
        result = self._run_body(node)
        self.running.pop()
        self.frames.pop()
        scope.names, self._outside, self._here = held, outside, here
        if result is None and node.name == "__init__":
            return given[0]
        if result is None:
            self.without_value = where
            nothing = sympy.Dummy("nothing", real=True)
            scope.objects[nothing] = Nothing(where)
            return nothing, where
        if node.name:
            self.statements.append((node.span, result[0]))
        return result

    def _require_shallow(self, node: Function, levels: int) -> None:
        """Refuse a body that is nested too deep where it is called, at so many levels already."""
        most = PythonGrammar.max_depth
        token = node.first if levels > most else next(iter(node.reached[most - levels :]), None)
        if token is not None:
            message, hint = f"nested more than {most} levels deep", "name parts of it: y = ...; z = f(y)"
            raise self.source.error(message, token.span, hint=hint, kind=TooLargeError)

    def called(self, callee: Callee, shown: str, arguments: Arguments) -> Operand:
        """A function with its arguments."""
        given: list[Operand] = []
        named: dict[str, Operand] = {}
        for argument in self.signatures.written(arguments):
            word = argument.name
            if word is None and isinstance(argument.value, Starred) and argument.value.star.text == "**":
                named |= self._named(argument.value, callee, named, shown)
            elif word is None and isinstance(argument.value, Starred):
                given += self._unpacked(argument.value)
            elif word is None:
                given.append(self.lower(argument.value))
            elif (word.text not in callee.parameters and not callee.keywords) or word.text in named:
                raise self.source.error(f"{shown} has no argument '{word.text}'", word.span)
            else:
                named[word.text] = self.lower(argument.value)
            require_sound(argument.fault)
        require_sound(arguments.unclosed)
        self.enter(arguments)
        return callee.value(self.bound_to(callee, given, named, shown, arguments.span), arguments.span)

    def _unpacked(self, node: Starred) -> list[Operand]:
        """The values behind a star."""
        found = self.lowering.hooks.elements(node.value)
        if found is None or node.star.text != "*":
            raise self.source.error("this is not unpacked here", node.span)
        return found

    def _named(self, node: Starred, callee: Callee, named: Mapping[str, Operand], shown: str) -> dict[str, Operand]:
        """The arguments that a dict behind two stars holds."""
        atom, span = self.lower(node.value)
        found = self.scope.objects.get(atom)
        if not isinstance(found, Dictionary):
            raise self.source.error("a dict must stand behind '**'", node.span)
        for key in found.items:
            if not isinstance(key, str) or key in named or not (key in callee.parameters or callee.keywords):
                raise self.source.error(f"{shown} has no argument {key!r}", span)
        return {str(key): value for key, value in found.items.items()}

    def enter(self, arguments: Arguments) -> None:
        """Note how deep a call is nested, behind its arguments."""
        self._here = arguments.depth

    def bound_to(
        self, callee: Callee, given: list[Operand], named: dict[str, Operand], shown: str, span: Span
    ) -> list[Operand]:
        """The arguments in order, defaults filled in."""
        names = callee.parameters
        if not names and not callee.keywords:
            return given
        extra: list[Operand] = []
        if callee.keywords:
            others: dict[Key, Operand] = {name: named[name] for name in named if name not in names}
            named = {name: one for name, one in named.items() if name in names}
            keywords = sympy.Dummy("keywords", real=True)
            self.scope.objects[keywords] = Dictionary(others)
            extra = [(keywords, span)]
        if not names and not callee.rest:
            return [*given, *extra]
        if callee.rest:
            atom = sympy.Dummy("rest", real=True)
            self.scope.objects[atom] = Listed(list(given[len(names) - 1 :]), "tuple")
            given, named = given[: len(names) - 1], {**named, names[-1]: (atom, span)}
        held = dict(zip(names, given, strict=False)) | named
        held = {name: (default, span) for name, default in callee.defaults.items()} | held
        if len(given) > len(names) or set(names) - set(held) or set(names[: len(given)]) & set(named):
            raise self.source.error(f"{shown} takes {', '.join(names)}", span)
        return [*(held[name] for name in names), *extra]
