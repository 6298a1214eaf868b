"""A command of the shell, as the core and parts offer it.

Its functions are named as entry points of Python name one, `module:function`, and imported when they are asked for: a
help, an error and `import gradcli` import no command but their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name


@dataclass(frozen=True)
class Command:
    """A command of the shell; one that answers a question on a function is a method of `Function` too.

    Attributes:
        name: Its name in the shell, in requests and in Python.
        section: The section of `gradcli --help` that lists it; "" for a command that no list shows.
        function: The function that Typer reads, `module:function`: its docstring is the help, its signature has the
            options.  One on an expression only declares these; any other one answers too.
        method: The method of `Function` that answers the question, `module:function`; "" where there is none.
        answer: The function that answers a `CommandLine` of the shell, where the shell does more than to ask.
        lacks: Formats, and files of arrays, that its answer cannot be written in.
        other_names: Names that other tools, and textbooks, have for it.
        near: Commands of other tools that do something near, and may be typed in its place.
        elsewhere: Commands of other tools that gradcli has not, each with a hint at what it does of that.
        respelled: The function that gives command lines which may be meant as this command, `module:function`.  It is
            asked of each line that cannot be read, a `TypedLine`, and its error, and gives groups of words.
    """

    name: str
    section: str
    function: str
    method: str = ""
    answer: str = ""
    lacks: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    respelled: str = ""

    @property
    def is_on_function(self) -> bool:
        """Tell whether it answers on a function, so that an expression comes first."""
        return bool(self.method or self.answer)

    def loaded(self) -> Callable[..., object]:
        """Import the function that Typer reads."""
        found: Callable[..., object] = resolve_name(self.function)
        return found
