"""What every question about a function begins with: its text, read once."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Self

from gradcli.language.lower.joined import remarks, require_named
from gradcli.language.snippets import read
from gradcli.questions.preparing import Inputs, Inquiry
from gradcli.questions.question import Dtype


class Text:
    """A function as text, parsed and never evaluated as Python."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._snippet = read(expression)

    def __repr__(self) -> str:
        return f"Function({self.expression!r})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The free names in order of appearance."""
        return self._snippet.program.names

    @property
    def asks(self) -> str:
        """What a snippet asks for, if that is no gradient: `jacobian`, `hessian`, `jvp`, `hvp`, or `eval`."""
        return self._snippet.asks

    @property
    def has_passes(self) -> bool:
        """Whether a snippet has several backward passes that no one product stands for."""
        return self._snippet.starts_anew

    def unnamed(self) -> Self:
        """This function where its only variable takes a value that does not name it: a remark may say so.

        Raises:
            LanguageError: The variable is several words written together, as in `sinx`.
        """
        program = self._snippet.program
        require_named(program, program.names, ())
        told = replace(program, warnings=(*program.warnings, *(r for name in program.names for r in remarks(name))))
        other = copy(self)
        other._snippet = replace(self._snippet, program=told)
        return other

    def _asked(
        self,
        at: Inputs | None,
        wrt: Sequence[str] | None,
        dtype: Dtype | None,
        *,
        check: bool = True,
        points_of: Sequence[str] = (),
    ) -> Inquiry:
        return Inquiry(self.expression, self._snippet, at or {}, wrt, dtype, check, points_of)
