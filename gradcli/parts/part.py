"""What a part may supply: commands, methods, formats, readers of texts, names of functions, advice after a check.

A part is an object of a class that inherits from `Part`, and overrides what it supplies.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from gradcli.crosscheck.advising import Adviser
    from gradcli.language.function_text import TextReader
    from gradcli.parts.command import Command
    from gradcli.parts.renderer import Renderer
    from gradcli.results import Judged, Result


class AskedFunction(Protocol):
    """A function that answers commands, whether it is a text or a function of Python."""

    @property
    def has_v(self) -> bool:
        """Tell whether it has a gradient vector of its own."""

    def wants_formula(self, given: Container[str]) -> bool:
        """Tell whether a derivative is asked for without a point, as `ParsedText.wants_formula` does."""

    def ask(self, command: str, given: Mapping[str, object], *, budget: float | None = None) -> Result:
        """Answer a command by its name, as `ParsedText.ask` does."""


class SparseMatrices(Protocol):
    """What answers a Jacobian or a Hessian by the entries that are not 0 by structure."""

    def answered(
        self, kind: type[Judged], bound: object, *, is_asked: bool, is_pattern: bool, unknown: frozenset[str]
    ) -> Judged | None:
        """Answer; None where nobody asked for that, and a dense matrix is better.

        Args:
            kind: `Jacobian` or `Hessian`; the answer is of a subclass.
            bound: The function at its point, a `BoundFunction`.
            is_asked: Whether it is to be sparse whatever its pattern is.
            is_pattern: Whether the pattern alone is asked for.
            unknown: The variables of which the shape alone is known, for a pattern.

        Raises:
            GradcliError: It is not sparse, or would be too large.
        """

    def lacks(self) -> str:
        """Return how to install what is missing; "" if nothing is."""


@runtime_checkable
class Part(Protocol):
    """Something that gradcli can do besides its main job; each attribute and method has a default, which is nothing."""

    COMMANDS: tuple[str, ...] = ()
    """Names of the commands that it adds to the shell, in the order of the help."""

    def command(self, name: str) -> Command:
        """Return one of its commands.

        Raises:
            KeyError: It is none of `COMMANDS`.
        """
        raise KeyError(name)

    def methods(self) -> Mapping[str, str]:
        """Return the methods that it adds to `Function` besides those of its commands, as `module:function`."""
        return {}

    def functions(self) -> Mapping[str, str]:
        """Return the functions that it adds to the package besides those of its commands, as `module:function`."""
        return {}

    def answer_of(
        self, function: object, command: str, values: Sequence[object], options: Mapping[str, object]
    ) -> object | None:
        """Answer a command on an object that stands for a function, such as a function of Python; None of any other.

        Args:
            function: The object.
            command: The name of a method of `Function`.
            values: What is given behind the function.
            options: What is given by name.

        Raises:
            GradcliError: As for the method.
        """
        return None

    def renderers(self) -> Sequence[Renderer]:
        """Return the formats and the kinds of files that it adds, in the order of the help."""
        return ()

    def composers(self) -> Mapping[str, str]:
        """Return the functions that compose the documents of its answers, `module:function`, by the class's name."""
        return {}

    def text_reader(self) -> TextReader | None:
        """Return a reader of texts that are no expression, such as statements, which passes over any other text."""
        return None

    def adviser(self) -> Adviser | None:
        """Return what is said after a check of numbers that cannot be trusted: what is to blame, a better form."""
        return None

    def sparse_matrices(self) -> SparseMatrices | None:
        """Return what answers a Jacobian or a Hessian by the entries that are not 0 by structure."""
        return None

    def function_named(self, word: str) -> AskedFunction | None:
        """Return the function that a word names which stands in the place of an expression, such as `FILE.py::f`.

        Raises:
            GradcliError: It looks like one of these names, and there is no such function.
        """
        return None

    def names_code(self, word: str) -> bool:
        """Tell whether a word of the shell names code of the user that would be run."""
        return False

    def after_call(self, arguments: Sequence[str]) -> None:
        """Do what is wanted after a call of the shell, such as to start a warm process."""
        return

    def end_process(self, code: int) -> None:
        """Prepare the end of a process of the shell, which is to have this exit code."""
        return
