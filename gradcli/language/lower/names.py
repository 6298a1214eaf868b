"""Names: variables, constants, values of the text, and functions, each with the modules before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import sympy

from gradcli.errors import Span, UncalledFunctionError, UnknownFunctionError
from gradcli.language import ops
from gradcli.language.lower import libraries
from gradcli.language.lower.argument_kinds import CONVERSIONS
from gradcli.language.lower.calls import SIGMA, call, meant_by_sigma
from gradcli.language.lower.context import Context, NameRead, Operand
from gradcli.language.lower.indices import called_in_formula
from gradcli.language.lower.libraries import FOREIGN, OF_MODULES, PREFIXES
from gradcli.language.lower.matrix_ranks import RowVector
from gradcli.language.lower.sizeless import IDENTITIES, identity, is_identity
from gradcli.language.ops.torch_functions import OTHERWISE
from gradcli.language.program.wengert import CONSTANTS
from gradcli.language.text import hints
from gradcli.language.text.nodes import Argument, Arguments, Member, NameNode, Subscript, Trailer
from gradcli.language.text.tokens import POWERS, Token
from gradcli.option_words import option

_MODULE_CONSTANTS: Mapping[str, sympy.Expr] = {**CONSTANTS, "e": sympy.E}
"""Constants after a module's name, `math.e`."""

_WOLFRAM = re.compile(r"N?[A-Z][a-z]+(?:[A-Z][a-z]*)*")
"""A name as functions have it in Mathematica, `BesselJ`."""


def shadowed(names: Iterable[str]) -> frozenset[str]:
    """Select the names that mean something else where no variable has them: constants, modules, functions.

    >>> sorted(shadowed(["x", "pi", "mean", "np", "Sin"]))
    ['Sin', 'mean', 'np', 'pi']
    """
    return frozenset(n for n in names if n in (*CONSTANTS, *PREFIXES) or ops.find(n) or _WOLFRAM.fullmatch(n))


def _renamed(context: Context, token: Token, *, is_module: bool, is_called: bool) -> Token:
    """Rename a function or a module that an import gave another name."""
    whole = context.libraries.imported[token.text]
    last = whole.rpartition(".")[2]
    is_own = token.text in context.names.values or token.text in context.findings.variables
    is_known = is_called and ops.find(last) is not None
    is_known = last in PREFIXES or whole == "scipy.stats.norm" if is_module else is_known
    return replace(token, text=last) if is_known and not is_own else token


def dotted_name(context: Context, node: NameNode, trailers: Sequence[Trailer]) -> Token | None:
    """Return the name of a variable with dots, `fc1.weight`, if its first part stands for nothing of its own."""
    first = node.token
    if node.arguments is not None or not isinstance(trailers[0], Member):
        return None
    path, found = first, None
    for member in trailers:
        if not isinstance(member, Member) or member.arguments is not None or member.name.kind == "operator":
            break
        path = Token("name", f"{path.text}.{member.name.text}", path.span.to(member.span))
        if path.text in context.known.variables:
            found = path
        elif not any(name.startswith(f"{path.text}.") for name in context.known.variables):
            if _is_own(context, first) or member.name.text in CONVERSIONS or ops.is_member(member.name.text):
                break  # each tensor has such a member, so that no variable has it
            found = path
    return found


def _is_own(context: Context, name: Token) -> bool:
    """Tell whether a name stands for something by itself, without the part after its dot, so far in the text."""
    return context.is_taken(name.text) or name.text in (*PREFIXES, *FOREIGN, *CONSTANTS, *context.libraries.imported)


def named(context: Context, node: NameNode, trailers: Sequence[Trailer]) -> NameRead:
    """Lower a name with the modules before it; some of the members after it may belong to it."""
    found, is_called = context.findings, node.arguments is not None
    is_module = not is_called and bool(trailers) and isinstance(trailers[0], Member)
    token = node.token
    if token.text in context.libraries.imported:
        token = _renamed(context, token, is_module=is_module, is_called=is_called)
    if trailers and (path := dotted_name(context, node, trailers)) is not None:
        used = path.text.count(".")
        if path.text.endswith(".py"):
            hint = f"gradcli check {path.text}::NAME --at VALUE asks of a function in it"
            raise context.source.error(f"'{path.text}' is the name of a file", path.span, hint=hint)
        if context.known.is_value:
            raise context.source.error(f"a value cannot use the name '{path.text}'", path.span)
        return NameRead((found.variable(path.text), path.span), used)
    used = _modules(context, token, trailers) if is_module and not context.is_taken(token.text) else 0
    behind = trailers[used - 1] if used else node
    arguments = behind.arguments if isinstance(behind, NameNode | Member) else None
    name = behind.name if isinstance(behind, Member) else token
    span = token.span.to(name.span) if used else token.span
    is_variable = name.text in found.variables and not (ops.find(name.text) or name.text in context.known.calls)
    is_value = not used and (name.text in context.names.values or is_variable)
    if arguments is not None and not is_value:
        words = [node.token.text, *(one.name.text for one in trailers[:used] if isinstance(one, Member))]
        return NameRead(_called(context, name, span, words, arguments), used)
    value = _MODULE_CONSTANTS.get(name.text) if used else context.names.values.get(name.text)
    if value is not None and arguments is not None:
        raise context.source.unexpected(context.source.position(arguments.span.start), is_inside=True)
    if value is not None:
        found.unused.pop("" if used else name.text, None)
        return NameRead(RowVector(value, span) if not used and name.text in context.names.rows else (value, span), used)
    if arguments is not None:
        message, hint = f"'{name.text}' is a variable, not a function", f"write {name.text}*(...) for a product"
        raise context.source.error(message, span, hint=hint, kind=UnknownFunctionError)
    if name.text in IDENTITIES and not used and is_identity(context, name.text):
        return NameRead(identity(context, span), 0)
    if name.text in CONSTANTS and name.text not in context.known.variables and name.text not in found.variables:
        if name.text == "E" and trailers and isinstance(trailers[0], Subscript):
            _require_no_expectation(context, trailers[0])
        return NameRead((CONSTANTS[name.text], span), used)
    if used or name.text not in found.variables:
        require_variable(context, name, span, is_behind_module=used > 0)
        if trailers and (found_call := _called_in_brackets(context, name, trailers[0])) is not None:
            return NameRead(found_call, 1)
    return NameRead((found.variable(name.text), span), used)


def _called(context: Context, name: Token, span: Span, words: Sequence[str], arguments: Arguments) -> Operand:
    """Lower a function of the table, or a call that has the form of one."""
    if len(words) == 1 and name.text in context.known.calls:
        from gradcli.language.lower.called_values import called_function  # for texts next to one that defines functions

        return called_function(context, name, arguments)
    if len(words) == 1 and (found := called_in_formula(context, name, arguments)) is not None:
        return found
    if name.text == SIGMA:
        name = meant_by_sigma(context, name, arguments)
    path = context.libraries.in_full(words)
    if (of_module := OF_MODULES.get((*path[-2:-1], name.text))) is not None:
        name = Token(name.kind, of_module, name.span)
    is_of_linalg = "linalg" in words and name.text in libraries.ELSEWHERE["linalg"]
    library = libraries.library_of(path[:-1]) or "linalg" * is_of_linalg
    if library == "numpy":
        if (hint := OTHERWISE.get(name.text)) is not None:
            raise context.source.error(f"{context.source.excerpt(span)} is not read", span, hint=hint)
        context.rules.note_types([replace(name, text="ndarray")], False)
    is_own = len(path) == 1 and context.libraries.has_own_functions
    return call(context, name, span, [], arguments, after_dot=len(words) > 1, library=library, is_own=is_own)


def require_variable(context: Context, name: Token, span: Span, *, is_behind_module: bool = False) -> None:
    """Refuse a name that cannot be a variable.

    Raises:
        LanguageError: It is a function, or stands after a module or in a value.
    """
    op = ops.find(name.text)
    if is_behind_module and op is None:
        raise context.source.error(f"'{context.source.excerpt(span)}' is not part of the language", span)
    if is_behind_module:
        raise context.source.error(f"'{name.text}' is a function", span, hint=_with_arguments(context, span))
    if op is not None and name.text not in context.known.variables:
        hint = _with_arguments(context, span)
        if not context.known.is_value:
            at = option("at", f"{name.text}=VALUE")
            hint = f"a call has its arguments in parentheses; a variable called {name.text} needs a value, {at}"
        raise context.source.error(f"'{name.text}' is a function", span, hint=hint, kind=UncalledFunctionError)
    if context.known.is_value:
        message, before = f"a value cannot use the name '{name.text}'", context.source.position(span.start) - 1
        if before >= 0 and context.source.tokens[before].kind == "number":
            if name.text in ("i", "j", "I"):
                raise context.source.error("complex numbers are not read", span, hint=hints.COMPLEX)
            from gradcli.language.units import clause  # which a value without mistakes does not need

            message = f"a value is a number, without a unit{clause(context.source.text, name.text)}"
            raise context.source.error(message, span, hint=hints.NO_UNITS)
        raise context.source.error(message, span, hint=_without_names(context, name))


def _require_no_expectation(context: Context, bracket: Subscript) -> None:
    """Refuse `E[(x - mu)^2]`, an expectation on paper, where E has no elements; a position may be that of a variable.

    Raises:
        LanguageError: It is no position.
    """
    inside = context.source.within(bracket.span)
    names = {token.text for token in inside if token.kind == "name"} - context.indices.keys()
    if names and not names & {"shape", "len", "size"}:
        hint = f"{hints.NO_EXPECTATION}; a variable E needs {option('at', 'E=VALUE')}"
        raise context.source.error("E[...] is no element, as E is Euler's number here", bracket.span, hint=hint)


def _called_in_brackets(context: Context, name: Token, bracket: Trailer) -> Operand | None:
    """Lower `Sqrt[x]`, a call in Mathematica, unless a variable of the name has a value; None of an element.

    Raises:
        UncalledFunctionError: No function is meant.
    """
    if not isinstance(bracket, Subscript) or name.text in context.known.variables or not _WOLFRAM.fullmatch(name.text):
        return None
    inside = context.source.within(bracket.span)[1:]
    names = {token.text for token in inside if token.kind == "name"}
    has_calls = any(token.text in ("[", "(") for token in inside) or _COMPOUND.search(name.text) is not None
    is_position = all(token.kind != "number" or token.text.isdecimal() for token in inside)
    if is_position and not names - context.indices.keys() - context.names.values.keys():
        return None
    plain, given = name.text.replace("Arc", "a").lower(), [item.only for item in bracket.items]
    if plain in _BASE_FIRST and len(given) == 2:
        plain, given = _BASE_FIRST[plain], given[::-1]
    if ops.find(plain) is None or None in given:
        fact = hints.FACTS.get(plain.removeprefix("n"), hints.FACTS.get(plain))
        fact = fact or (None if is_position and not has_calls else "gradcli functions lists those that there are")
        hint = fact or f"an element of a variable {name.text} needs {option('at', f'{name.text}=VALUE')}"
        message = f"'{name.text}[...]' is a call in Mathematica, of a function that gradcli does not have"
        raise context.source.error(message, name.span, hint=hint, kind=UncalledFunctionError)
    items = tuple(Argument(None, node) for node in given if node is not None)
    arguments = Arguments(bracket.span, replace(name, text="("), items)
    return call(context, replace(name, text=plain), name.span, [], arguments)


_COMPOUND = re.compile("[a-z][A-Z]")
"""Sign of a name of several words, `EllipticK`, which Mathematica's functions have, and hardly a variable."""

_BASE_FIRST: Mapping[str, str] = {"log": "log", "atan": "atan2"}
"""Functions to which Mathematica gives two arguments in the other order: the base, and x before y."""


def _with_arguments(context: Context, span: Span) -> str:
    """Hint at the form of a function that lacks its arguments: `sin x`, `sin^2(x)`."""
    shown = context.source.excerpt(span)
    behind = context.source.position(span.stop)
    sign, exponent = (*context.source.tokens[behind : behind + 2], *context.source.tokens[-1:] * 2)[:2]
    if sign.text in POWERS and exponent.kind == "number":
        return f"write {shown}(...)**{exponent.text}"
    if sign.text in POWERS and exponent.text == "-":
        return f"write 1/{shown}(...), or its inverse by name, as asin is that of sin"
    return f"write {shown}(...)"


def _without_names(context: Context, name: Token) -> str:
    """Say what a value that contains a name is: `x: 1`, `x=1, y=2`."""
    behind = context.source.position(name.span.stop)
    is_named = context.source.tokens[behind].text in (":", "=")
    return hints.of_equals(context.source.name) if is_named else "a value holds numbers only"


def _modules(context: Context, token: Token, trailers: Sequence[Trailer]) -> int:
    """Count the members after the name of a module that belong to it."""
    if token.text not in PREFIXES and token.text.lower() in {*PREFIXES, *FOREIGN, "tensor"}:
        hint = "write torch, np, math, F, or the name of the function alone"
        raise context.source.error(f"the module '{token.text}' is not known", token.span, hint=hint)
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
