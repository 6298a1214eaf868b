"""What every question about a function begins with: its text, read once, and a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from gradcli.language.joined import remarks, require_named
from gradcli.language.names import SHADOWABLE
from gradcli.language.snippets import read
from gradcli.questions.preparing import Inputs, prepare
from gradcli.questions.question import Dtype, Question
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.questions.points import Points


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

    @property
    def asks(self) -> str:
        """What a snippet asks for, if that is no gradient: `jacobian`, `hessian`, `jvp`, `hvp`, or `eval`."""
        return self._snippet.asks

    @property
    def has_passes(self) -> bool:
        """Whether a snippet has several backward passes that no one product stands for."""
        return self._snippet.starts_anew

    def _of_last(self, question: Question, given: object) -> Question:
        """A question about the last pass, with a remark if that is one of several and nothing else was given."""
        if given is not None or not self.has_passes:
            return question
        from gradcli.questions.remarks import LAST_ALONE

        return question.with_remark(LAST_ALONE)

    def _question(
        self,
        at: Inputs | None,
        wrt: Sequence[str] | None,
        dtype: Dtype | None,
        *,
        shares: bool = True,
        command: str = "",
    ) -> Question:
        """Everything that can be known without torch; `command` is what answers, where a snippet may ask for it."""
        question = prepare(self.expression, self._snippet, at or {}, wrt, dtype, shares=shares)
        if self.asks in ("", command):
            return question
        from gradcli.questions.remarks import of_asked

        return question.with_remark(of_asked(self.asks))

    def _split(self, at: Inputs | None, loss: str | None) -> tuple[Inputs, Mapping[str, Array]]:
        """The values of the function's own names, and those of names that the loss alone has."""
        from gradcli.questions.loss import split

        given = frozenset(at or {}) & SHADOWABLE
        snippet = read(self.expression, given=given) if given else self._snippet
        return split(loss, at or {}, (*snippet.program.names, *snippet.values))

    def _points(
        self, at: Inputs | None, wrt: Sequence[str] | None, dtype: Dtype | None, points_of: Sequence[str]
    ) -> Points:
        """The same, at many points."""
        from gradcli.questions.points import points_of as read_points

        return read_points(self.expression, self._snippet, at or {}, wrt, dtype, points_of)
