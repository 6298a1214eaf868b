"""Values that name no variable, where there is only one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradcli.errors import InputError, constants_meant
from gradcli.language.inputs import Value
from gradcli.language.lower.joined import remarks, require_named
from gradcli.language.snippets import Snippet
from gradcli.questions.question import Inputs


def unnamed(snippet: Snippet) -> Snippet:
    """The same where its only variable takes a value that does not name it: a remark may say so.

    Raises:
        LanguageError: The variable is several words written together, as in `sinx`.
    """
    snippet.require_valued(())
    program = snippet.program
    require_named(program, program.names, ())
    told = replace(program, warnings=(*program.warnings, *(r for name in program.names for r in remarks(name))))
    return replace(snippet, program=told)


def by_name(snippet: Snippet, at: Inputs | None) -> tuple[Snippet, Mapping[str, Value]]:
    """Values by variable, one alone being that of the only variable; and what was asked, with a remark of that.

    Raises:
        InputError: It is alone, and there is not one variable.

    >>> from gradcli.language.snippets import read
    >>> by_name(read("x**2"), [1, 2])[1]
    {'x': [1, 2]}
    """
    if at is None or isinstance(at, Mapping):
        return snippet, at or {}
    snippet.require_valued(())
    names = tuple(n for n in snippet.program.names if n not in snippet.values) or snippet.program.names
    if len(names) == 1:
        return unnamed(snippet), {names[0]: at}
    known = f"the variables {', '.join(names)}" if names else "no variables"
    hint = f"give {' '.join(f'--at {name}=VALUE' for name in names[:4])}" if names else "leave it out"
    raise InputError(
        f"a value alone names no variable, and the expression has {known}", hint=constants_meant(names) + hint
    )
