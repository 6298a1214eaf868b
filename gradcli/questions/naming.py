"""Names of variables with and without a value, and of statements; and values given without a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import replace

from gradcli.arrays import Array
from gradcli.errors import (
    InputError,
    MissingValueError,
    MissingVectorError,
    NamelessArrayError,
    NamelessValueError,
    UnknownVariableError,
    constants_meant,
    did_you_mean,
)
from gradcli.language.inputs import Value, is_plain
from gradcli.language.lower.juxtaposed_names import NOT_EULER, meant, product_of, require_named
from gradcli.language.program.wengert import Atom, Program, Shape, show
from gradcli.language.snippet_result import Snippet
from gradcli.option_words import option, source as named

Inputs = Mapping[str, Value] | Value
"""A value per variable, or one for the only variable: text, a number, nested lists, an array or a tensor."""

Directions = Mapping[str, Value] | Value | None
"""Directions by variable, or the direction of the only variable."""


def unnamed(snippet: Snippet) -> Snippet:
    """Return the snippet if its only variable may take a value without a name, with a remark if that is e.

    Raises:
        LanguageError: The variable is several words written together, as in `sinx`.
    """
    require_valued(snippet, ())
    program = snippet.program
    if any(len(name) > 1 or name == "e" for name in program.names):
        require_named(program, program.names, ())
    told = replace(program, warnings=(*program.warnings, *[NOT_EULER] * ("e" in program.names)))
    return replace(snippet, program=told)


def require_valued(snippet: Snippet, names: Container[str]) -> None:
    """Refuse variables with names of functions unless they are among these names.

    Raises:
        UncalledFunctionError: One is not.
    """
    for name, error in snippet.uncalled.items():
        if name not in names:
            from gradcli.questions.text_reading import advise

            advise(error)
            raise error


def open_names(snippet: Snippet) -> tuple[str, ...]:
    """Return the variables for a value without a name: those without a value in the text, or all if each has one."""
    found = tuple(name for name in snippet.program.names if name not in snippet.values) or snippet.program.names
    return tuple(name for name in found if name not in snippet.uncalled) or found


def with_name(
    given: Inputs | None, names: Sequence[str], source: str = "--at", whose: str = "the expression"
) -> dict[str, Value]:
    """Return values by variable, where a value without a name goes to the only variable.

    Args:
        given: Values as they are given.
        names: The variables that a value without a name may be of.
        source: The option that gives the values, as in the shell.
        whose: The owner of the variables, in words for messages.

    Raises:
        InputError: There is not one such variable, or it has another value.

    >>> with_name([1, 2], ["x"]), with_name({"": 1, "y": 2}, ["x"])
    ({'x': [1, 2]}, {'x': 1, 'y': 2})
    """
    found: dict[str, Value] = dict(given) if isinstance(given, Mapping) else {} if given is None else {"": given}
    if "" not in found or (len(names) == 1 and names[0] not in found):
        return {name or names[0]: value for name, value in found.items()}
    word = found[""].strip() or "''" if isinstance(found[""], str) else "VALUE"
    if len(names) == 1:
        raise InputError(
            f"{named(source)} gives '{names[0]}' two values: {word} and {found[names[0]]}", hint="give it once"
        )
    known = f"the variables {', '.join(names)}" if names else "no variables"
    parts = word.strip("()[]").split(",")
    if len(parts) != len(names) or not all(map(_NUMBER.fullmatch, parts)):
        is_range = source == "--in"
        is_shown = is_range or (is_plain(word) and "e" not in names)
        parts = [word if is_shown and (is_range or not n) else "VALUE" for n in range(min(4, len(names)))]
    flag = source.removeprefix("--")
    each = (f"{name}={part}" for name, part in zip(names, parts, strict=False))
    remedy = f"write {option(flag, *each)}" if names else f"leave out {option(flag)}"
    hint = _joined(names, names) or constants_meant(names) + remedy
    if word == "VALUE":
        raise NamelessArrayError(f"a value alone names no variable, and {whose} has {known}", hint=hint)
    raise NamelessValueError(f"{option(flag, word)} names no variable, and {whose} has {known}", hint=hint)


def _joined(names: Sequence[str], known: Collection[str]) -> str:
    """Hint at what one of several names may be: a product of known letters, or functions with their arguments."""
    for name in names:
        if (product := product_of(name, known)) is not None:
            of_matrices = "" if name.islower() else f", {product.replace('*', '@')} for one of matrices"
            return f"'{name}' is one variable; write {product} for a product{of_matrices}"
        if (apart := meant(name, known)) is not None:
            return f"'{name}' is one variable; {apart}"
    return ""


_NUMBER = re.compile(r"\s*[-+]?[.\d][\d.eE+-]*\s*")


def require_names(program: Program, given: Mapping[str, Value], named: Mapping[str, Array]) -> None:
    """Refuse a variable without a value, and a value without a variable.

    Args:
        program: The function.
        given: Values as they were given.
        named: Values whose name is in the text.

    Raises:
        InputError: There is such a variable or value.
    """
    missing = [name for name in program.names if name not in named]
    surplus = [name for name in given if name not in named]
    if missing:
        require_named(program, missing, given)
    if surplus:
        known = ", ".join(program.names) or "none"
        hint = did_you_mean(surplus[0], program.names) or f"the variables are: {known}"
        hint = _joined(missing, given) or hint
        message = f"'{surplus[0]}' is given a value, and the expression has no such variable"
        raise UnknownVariableError(message, hint=hint)
    if missing:
        names = ", ".join(f"'{name}'" for name in missing[:8]) + ", ..." * (len(missing) > 8)
        raise MissingValueError(
            f"no value for the variable{'s' * (len(missing) > 1)} {names}",
            hint=(f"{joined}; or " if (joined := _joined(missing, program.names)) else constants_meant(missing))
            + "give "
            + option("at", *(f"{name}=VALUE" for name in missing[:4])),
        )


def no_such_variable(source: str, name: str, variables: Sequence[str]) -> UnknownVariableError:
    """Return the error for an option, as in the shell, that names no variable of the expression."""
    hint = did_you_mean(name, variables) or f"the variables are: {', '.join(variables) or 'none'}"
    return UnknownVariableError(f"{named(source)} names '{name}', and the expression has no such variable", hint=hint)


def missing_vector(y: str, shape: Shape) -> MissingVectorError:
    """Return the error for a y of several elements without a gradient vector."""
    example = ",".join(["1"] * shape[0]) if len(shape) == 1 and shape[0] <= 4 else "ones"
    return MissingVectorError(
        f"{y} has shape {show(shape)}, so it needs a gradient vector v of that shape: "
        "torch takes v = 1 only for a single element",
        hint=f"{option('v', example)} sums the elements of {y}; e0 picks {y}[0]; jacobian needs no v",
    )


def chosen_variables(snippet: Snippet, asked: Sequence[str] | None) -> tuple[str, ...]:
    """Return the variables to differentiate by: those asked for, or those named in the text, or all.

    Raises:
        InputError: The expression has no such variable, or y is not computed from it, which torch refuses too.
    """
    program, wrt = snippet.program, snippet.wrt if asked is None else asked
    for name in wrt or ():
        if name not in program.names and asked is None:
            message = f"'{name}' is to be differentiated by, and '{program.output_name}' is not computed from it"
            raise InputError(
                message, hint=f"torch.autograd.grad refuses that too; leave it out, or use {option('wrt')}"
            )
        if name not in program.names:
            unknown = no_such_variable("--wrt", name, program.names)
            if name in program.named:
                raise InputError(f"{option('wrt')} names '{name}', which a statement computes", hint=unknown.text.hint)
            raise unknown
    return program.differentiable if wrt is None else tuple(dict.fromkeys(wrt))


def intermediates(program: Program, names: Sequence[str]) -> dict[str, Atom]:
    """Return the symbols of the names of `--show`: the last value of each statement's name, or the output.

    A name may stand for a variable, `a = x`: it is the same tensor.  Two names of one operation have one symbol unless
    the Program was prepared without sharing.

    Args:
        program: The function.
        names: As asked for.

    Returns:
        A symbol for each name, once, in the order of `names`.

    Raises:
        InputError: A name is not a statement's, or is a variable, or stands for a plain number.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("y = x**2; z = y**3; z + 1")
    >>> intermediates(program, ["z"])["z"] == program.lines[1].symbol
    True
    """
    known = {**program.named, program.output_name: program.output}
    for name in names:
        if name in program.names:
            hint = f"its own gradient is shown without that; {option('wrt', name)} asks for it"
            raise InputError(f"{option('show')} names '{name}', which is a variable", hint=hint)
        if name not in known:
            hint = did_you_mean(name, known) or f"the names are: {', '.join(known)}"
            raise InputError(f"{option('show')} names '{name}', and no statement has that name", hint=hint)
        if known[name].is_number:
            raise InputError(
                f"{option('show')} names '{name}', which stands for the number {known[name]} and has no gradient"
            )
    return {name: known[name] for name in names}
