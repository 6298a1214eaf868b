"""A trial of a command line or a text: it is read, with its values and shapes, and nothing is computed or run.

What a hint spells is tried so before it is shown.  Within a trial, whatever would ask torch, derive a formula or run
code of the user ends with `ReadError` instead, which says that all before it could be read.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from gradcli.errors import GradcliError

    _Spelled = TypeVar("_Spelled", bound=Hashable)

_IS_TRIAL: ContextVar[bool] = ContextVar("is_trial", default=False)

MOST_STEPS = 3
"""Most changes that lead from what was typed to what may be meant."""

MOST_TRIED = 150
"""Most spellings that are tried for one error."""

MOST_SHOWN = 2
"""Most spellings of one hint."""


class ReadError(BaseException):
    """The end of a trial: everything was read.  No error, so that nothing on the way takes it for one."""


def is_on() -> bool:
    """Tell whether a trial is on."""
    return _IS_TRIAL.get()


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
    respell: Callable[[_Spelled, GradcliError], Iterable[Iterable[_Spelled]]],
    read: Callable[[_Spelled], GradcliError | None],
) -> Sequence[_Spelled]:
    """Search for what may be meant by something that cannot be read, with as few changes as possible.

    Args:
        typed: What was typed.
        error: What is wrong with it.
        respell: Gives other spellings of one, by the error that it has, in groups: the likeliest group first.
        read: Tries to read a spelling; None if that is possible, else the error.

    Returns:
        Those of the first group in which some can be read, at most `MOST_SHOWN`; none where none is found.

    >>> from gradcli.errors import GradcliError
    >>> def read(text): return None if text.isupper() else GradcliError(f"'{text}' is small")
    >>> spellings("ab", GradcliError("'ab' is small"), lambda text, error: [[text[::-1]], [text.upper()]], read)
    ['AB']
    """
    seen, layer = {typed}, [(typed, error)]
    for _ in range(MOST_STEPS):
        following: list[tuple[_Spelled, GradcliError]] = []
        for spelled, why in layer:
            for group in respell(spelled, why):
                found: list[_Spelled] = []
                for other in group:
                    if other in seen or len(seen) > MOST_TRIED:
                        continue
                    seen.add(other)
                    failure = read(other)
                    if failure is None:
                        found.append(other)
                    elif _of(failure) != _of(why):
                        following.append((other, failure))
                if found:
                    return found[:MOST_SHOWN]
        layer = following
    return []
