"""The command `warm`: its help, its options, and its answer; and the process that starts after a call that wants it."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from typer import Argument, Option

from gradcli.cli import settings
from gradcli.errors import UsageError
from gradcli.parts.warm import paths

IDLE = 15
"""Minutes without a call until the warm process ends by itself."""

_MINUTE = 60

ACTIONS: Mapping[str, str] = {"start": "started", "stop": "stopped", "status": "runs"}
"""Actions on the warm process, and the word that reports each as done."""

Action = Annotated[Literal["start", "stop", "status"], Argument(metavar="[ACTION]", help="start, stop or status.")]
Idle = Annotated[int, Option("--idle", metavar="N", min=1, max=1440, help="Minutes without a call until it ends.")]


def warm(action: Action = "status", idle: Idle = IDLE) -> str:
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
    if not paths.is_possible():
        raise UsageError("this system has no fork: each call starts by itself", hint="nothing has to be done for that")
    if not paths.make_folder():
        message = f"the folder {paths.folder()} cannot be used: it has to be yours, and closed to others"
        raise UsageError(message, hint="remove it, or set XDG_RUNTIME_DIR to a folder of your own")
    from gradcli.parts.warm import control

    found, did = control.stop() if action == "stop" else control.running(), ACTIONS[action]
    if action == "start":
        found = control.running(paths.name())
        did = "runs already" if found else did
        reason = "" if found else control.start(idle * _MINUTE)
        found = found or control.running(paths.name())
        if not found:
            raise UsageError(
                f"no warm process takes calls yet: {reason}",
                hint="gradcli works without it: each call starts by itself",
            )
    if found:
        return f"the warm process {', '.join(map(str, found))} {did}\n"
    advice = "gradcli warm start starts one; GRADCLI_WARM=1 lets the first call do it"
    return f"no warm process: each call starts by itself\n{advice}\n"


def begin_if_wanted(arguments: Sequence[str]) -> None:
    """Start the warm process after this call, if the environment or the settings want it and none runs."""
    word = os.environ.get(paths.VARIABLE, "")
    is_wanted = word == "1" if word else settings.peek("warm") is True
    if not is_wanted or list(arguments[:1]) == [paths.COMMAND] or not paths.is_possible() or not paths.make_folder():
        return
    from gradcli.parts.warm import control

    if not control.running(paths.name()):
        control.begin(IDLE * _MINUTE).close()
