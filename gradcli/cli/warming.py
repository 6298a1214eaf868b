"""The command warm, and the start of the process by the first call."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from gradcli.errors import UsageError
from gradcli.options import OPTIONS
from gradcli.warm import place

if TYPE_CHECKING:
    from gradcli.warm.control import Status

IDLE = next(int(str(option.default)) for option in OPTIONS if option.name == "idle")

_MINUTE = 60


class Action(StrEnum):
    """What to do about the process."""

    start = "start"
    stop = "stop"
    status = "status"


def warm(action: Action, idle: int) -> str:
    """A process that answers each call at once: start, stop or status.

    It has imported all, and forks for each call, which answers as one does that starts by itself. Nothing of one call
    is seen by the next. A call starts by itself if it runs code of yours, or is unusual (gradcli guide warm). With
    GRADCLI_WARM=1, or warm = true in the settings, the first call starts the process; with GRADCLI_WARM=0 a call does
    without.

    \b
    Examples:
      gradcli warm start
      gradcli warm status
      gradcli warm stop
    """
    _require_possible()
    from gradcli.warm import control

    found: Status | None
    if action is Action.start:
        found, did = _started(idle * _MINUTE)
    elif action is Action.stop:
        found, did = control.stop(), "stopped"
    else:
        found, did = control.status(), "runs"
    return "".join(f"{line}\n" for line in _lines(found, did))


def begin_if_wanted(arguments: Sequence[str]) -> None:
    """Start the process behind this call, if the environment or the settings want it and there is none."""
    from gradcli.cli import settings

    word = os.environ.get(place.VARIABLE, "")
    is_wanted = word == "1" if word else settings.peek("warm") is True
    if not is_wanted or list(arguments[:1]) == [place.COMMAND] or not place.is_possible() or not place.made():
        return
    from gradcli.warm import control

    if control.status() is None:  # or it is there, and would not have this call
        control.begin(IDLE * _MINUTE).close()


def _require_possible() -> None:
    if not place.is_possible():
        raise UsageError("this system has no fork: each call starts by itself", hint="nothing has to be done for that")
    if not place.made():
        message = f"the folder {place.folder()} cannot be used: it has to be yours, and closed to others"
        raise UsageError(message, hint="remove it, or set XDG_RUNTIME_DIR to a folder of your own")


def _started(idle: float) -> tuple[Status, str]:
    """The process, and whether it was there before.

    Raises:
        UsageError: It does not start.
    """
    from gradcli.warm import control

    before = control.status()
    if before is not None:
        return before, "runs already"
    reason = control.start(idle)
    found = control.status()
    if found is None:
        raise UsageError(f"the warm process does not start: {reason}", hint="gradcli works without it")
    return found, "started"


def _lines(found: Status | None, did: str) -> Iterator[str]:
    if found is None:
        yield "no warm process: each call starts by itself"
        yield "gradcli warm start starts one; GRADCLI_WARM=1 lets the first call do it"
        return
    yield f"the warm process {found.process} {did}"
    if did == "stopped":
        return
    minutes = -(-found.left // _MINUTE)
    yield f"calls: {found.calls}; it ends after {minutes} minute{'s' * (minutes != 1)} without a call"
    for line in found.differences:
        yield f"calls from here start by themselves, as this is another here than there: {line}"
