"""How many digits of a value are right.

shell    the command, its argument and its option
"""

from __future__ import annotations

from gradcli.parts.command import Command
from gradcli.parts.part import Part

_COMMANDS = {"digits": Command("digits", "Look closer", "gradcli.parts.digits.shell:digits")}


class DigitsPart(Part):
    """Digits of values."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]


PART = DigitsPart()
