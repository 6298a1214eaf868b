"""The part: its command, and the process that is started after a call that wants it."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.parts.command import Command
from gradcli.parts.part import Part

_WARM = Command("warm", "About gradcli", "gradcli.parts.warm.shell:warm")


class WarmPart(Part):
    """A process that answers at once."""

    COMMANDS = ("warm",)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return {_WARM.name: _WARM}[name]

    def after_call(self, arguments: Sequence[str]) -> None:
        """Start the process, if the environment or the settings want it."""
        from gradcli.parts.warm.shell import begin_if_wanted

        begin_if_wanted(arguments)


PART = WarmPart()
