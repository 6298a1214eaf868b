"""The text of a function: an expression, or what a reader makes of it, such as one of pasted statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

from gradcli import trial
from gradcli.arrays import AnyArray
from gradcli.errors import GradcliError, UncalledFunctionError, UnknownFactorError
from gradcli.language.lower.context import Ask, Known
from gradcli.language.parsing import EVALUATION, parse
from gradcli.language.program.wengert import Shape
from gradcli.language.snippet_result import Snippet


class TextReader(Protocol):
    """Reader of texts that are no expression."""

    def __call__(self, text: str, known: Known, *, shares: bool) -> Snippet | None:
        """Read a text as `read` does; None where it is an expression, or something else that this does not read.

        Raises:
            GradcliError: As for `read`.
        """


def read_whole(text: str, readers: Sequence[TextReader] = (), ask: Ask | None = None) -> Snippet:
    """Read the function of a text before any values are known: names of functions without arguments may be variables.

    So may letters before parentheses, `A(x + b)`.

    Raises:
        GradcliError: As for `read`.

    >>> read_whole("mean**2").program.names, list(read_whole("mean**2").uncalled)
    (('mean',), ['mean'])
    """
    uncalled: dict[str, GradcliError] = {}
    while True:
        try:
            found = read(text, readers, given=frozenset(uncalled), values={}, ask=ask)
            return replace(found, uncalled=uncalled)
        except (UncalledFunctionError, UnknownFactorError) as error:
            if error.name in uncalled:
                return _as_meant(error, text, readers, ask)
            uncalled[error.name] = error
        except GradcliError as error:  # the cause may be a name that was taken for a variable
            return _as_meant(next(iter(uncalled.values()), error), text, readers, ask)


def _as_meant(error: GradcliError, text: str, readers: Sequence[TextReader], ask: Ask | None) -> Snippet:
    """Read the one spelling of a text that is meant beyond doubt.

    Raises:
        GradcliError: There is none; the error itself, with a hint.
    """
    meant = advise(error, text, readers, ask)
    if meant is None:
        raise error from None
    try:
        with trial.without_hints():
            found = read_whole(meant, readers, ask)
    except GradcliError:
        raise error from None
    return found.read_like(replace(found, read_as=meant, reading_remark=f"{text.strip()} is read as {meant}"))


def advise(error: GradcliError, text: str, readers: Sequence[TextReader], ask: Ask | None) -> str | None:
    """Give an error the spellings of its text that can be read, in which no name lacks its arguments.

    Returns:
        The spelling that is meant beyond doubt, if there is one.
    """

    def tried(text: str) -> Snippet:
        found = read_whole(text, readers, ask)
        for one in found.uncalled.values():
            raise one
        return found

    from gradcli.language import spelled_texts  # patterns that a text without mistakes does not need

    return spelled_texts.advise(error, text, tried)


def read(
    text: str,
    readers: Sequence[TextReader] = (),
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
    values: Mapping[str, AnyArray] | None = None,
    ask: Ask | None = None,
    is_of_matrices: bool = False,
) -> Snippet:
    """Read the function of a text.

    Args:
        text: As typed or pasted.
        readers: Readers of what is no expression, of which the first that reads the text is believed.
        given: Names that are variables although they are also constants.
        shapes: Of variables, where they are known.
        shares: Whether operations that compute the same become one line, as in `parse`.
        values: Of all variables, where the text is to be read at a point, as masks may ask; empty, to note that they
            do; None refuses such a text.
        ask: Asks torch for the operations that its own functions consist of.
        is_of_matrices: As of `parse`.

    Raises:
        GradcliError: As for `parse`, or a line that is code.

    >>> read("x**2 + y").program.names
    ('x', 'y')
    """
    known = Known(given, shapes, values, ask, is_of_matrices=is_of_matrices, evaluation=EVALUATION)
    for reader in readers:
        found = reader(text, known, shares=shares)
        if found is not None:
            return found
    how = {"shares": shares, "values": values, "ask": ask, "is_of_matrices": is_of_matrices}
    return Snippet(parse(text, given=given, shapes=shapes, **how))  # type: ignore[arg-type]
