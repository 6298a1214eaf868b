"""Requests: questions as data, from a line of a stream to the answer of a `Function`.

asking         a request to the answer of a `Function`
request_lines  bytes to requests: an object of JSON a line, or the words of a command
replying       the stream, and requests in words
shell          the command, its help and its argument
caches         what is remembered between requests, forgotten

A request is untrusted until it is read: it
opens no files, and leaves no state for the next one.  Every mistake is an error that names the key.
"""

from __future__ import annotations

from gradcli.parts.command import Command
from gradcli.parts.part import Part

_COMMANDS = {
    "batch": Command("batch", "Many at once", "gradcli.parts.batch.shell:batch"),
}


class BatchPart(Part):
    """Requests, answered in order."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]


PART = BatchPart()
