"""The command warm, and the start of the process by the first call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from gradcli.errors import UsageError
from gradcli.options import OPTIONS
from gradcli.warm import place

IDLE = next(int(str(option.default)) for option in OPTIONS if option.name == "idle")

_MINUTE = 60


ACTIONS: Mapping[str, str] = {"start": "started", "stop": "stopped", "status": "runs"}
"""What to do about the process, and what is said when it is done."""


def warm(action: str, idle: int) -> str:
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
    if not place.is_possible():
        raise UsageError("this system has no fork: each call starts by itself", hint="nothing has to be done for that")
    if not place.made():
        message = f"the folder {place.folder()} cannot be used: it has to be yours, and closed to others"
        raise UsageError(message, hint="remove it, or set XDG_RUNTIME_DIR to a folder of your own")
    from gradcli.warm import control

    found, did = control.stop() if action == "stop" else control.status(), ACTIONS[action]
    if action == "start" and found is not None:
        did = "runs already"
    elif action == "start":
        reason = control.start(idle * _MINUTE)
        found = control.status()
        if found is None:
            raise UsageError(f"the warm process does not start: {reason}", hint="gradcli works without it")
    if found is not None:
        return f"the warm process {found} {did}\n"
    advice = "gradcli warm start starts one; GRADCLI_WARM=1 lets the first call do it"
    return f"no warm process: each call starts by itself\n{advice}\n"


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
