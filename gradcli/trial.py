"""A trial of a command line or a text: it is read, with its values and shapes, and nothing is computed or run.

What a hint spells is tried so before it is shown.  Within a trial, whatever would ask torch, derive a formula or run
code of the user ends with `ReadError` instead, which says that all before it could be read.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, NamedTuple, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from gradcli.errors import GradcliError

_Spelled = TypeVar("_Spelled", bound="Hashable")

_IS_TRIAL: ContextVar[bool] = ContextVar("is_trial", default=False)
_IS_MEANT: ContextVar[bool] = ContextVar("is_meant", default=False)

MOST_STEPS = 3
"""Most changes that lead from what was typed to what may be meant."""

MOST_TRIED = 150
"""Most spellings that are tried for one error."""

MOST_SHOWN = 2
"""Most spellings of one hint."""


class SpelledGroup(NamedTuple, Generic[_Spelled]):
    """Spellings of one kind.

    Attributes:
        spelled: The spellings.
        is_sure: Whether each says what was typed, only in other signs, so that one that can be read may be answered.
    """

    spelled: Iterable[_Spelled]
    is_sure: bool = False


class Found(NamedTuple, Generic[_Spelled]):
    """Spellings that can be read.

    Attributes:
        spelled: The spellings, at most `MOST_SHOWN`; none where none is found.
        is_sure: Whether there is one, and each change that led to it only puts other signs.
    """

    spelled: Sequence[_Spelled] = ()
    is_sure: bool = False

    @property
    def meant(self) -> _Spelled | None:
        """The spelling that is meant beyond doubt; None where there is none."""
        return self.spelled[0] if self.is_sure else None


class ReadError(BaseException):
    """The end of a trial: everything was read.  No error, so that nothing on the way takes it for one."""


def is_on() -> bool:
    """Tell whether a trial is on."""
    return _IS_TRIAL.get()


def has_hints() -> bool:
    """Tell whether an error gets hints: neither within a trial, nor while a spelling is read in place of the text."""
    return not (_IS_TRIAL.get() or _IS_MEANT.get())


@contextmanager
def without_hints() -> Iterator[None]:
    """Read a spelling in place of a text within a block; an error there gets no hints of its own."""
    token = _IS_MEANT.set(True)
    try:
        yield
    finally:
        _IS_MEANT.reset(token)


def end() -> None:
    """End the trial, if one is on, as all that follows would compute.

    Raises:
        ReadError: A trial is on.
    """
    if _IS_TRIAL.get():
        raise ReadError


@contextmanager
def trying() -> Iterator[None]:
    """Read within a block, and compute nothing."""
    token = _IS_TRIAL.set(True)
    try:
        yield
    finally:
        _IS_TRIAL.reset(token)


def _of(error: GradcliError) -> tuple[str, str]:
    """Return what an error says, and of which text: a spelling that leaves both is no way to another."""
    return error.text.message, error.place.source if error.place is not None else ""


def spellings(
    typed: _Spelled,
    error: GradcliError,
    respell: Callable[[_Spelled, GradcliError], Iterable[SpelledGroup[_Spelled]]],
    read: Callable[[_Spelled], GradcliError | None],
) -> Found[_Spelled]:
    """Search for what may be meant by something that cannot be read, with as few changes as possible.

    Args:
        typed: What was typed.
        error: What is wrong with it.
        respell: Gives other spellings of one, by the error that it has, in groups: the likeliest group first.
        read: Tries to read a spelling; None if that is possible, else the error.

    Returns:
        Those of the first group in which some can be read.

    >>> from gradcli.errors import GradcliError
    >>> def read(text): return None if text.isupper() else GradcliError(f"'{text}' is small")
    >>> small = GradcliError("'ab' is small")
    >>> def ways(text, error): return [SpelledGroup([text[::-1]]), SpelledGroup([text.upper()], is_sure=True)]
    >>> spellings("ab", small, ways, read)
    Found(spelled=['AB'], is_sure=True)
    """
    seen, layer = {typed}, [(typed, error, True)]
    for _ in range(MOST_STEPS):
        following: list[tuple[_Spelled, GradcliError, bool]] = []
        for spelled, why, is_sure in layer:
            for group in respell(spelled, why):
                found: list[_Spelled] = []
                for other in group.spelled:
                    if other in seen or len(seen) > MOST_TRIED:
                        continue
                    seen.add(other)
                    failure = read(other)
                    if failure is None:
                        found.append(other)
                    elif _of(failure) != _of(why):
                        following.append((other, failure, is_sure and group.is_sure))
                if found:
                    return Found(found[:MOST_SHOWN], is_sure and group.is_sure and len(found) == 1)
        layer = following
    return Found()
