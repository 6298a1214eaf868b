"""Process that has imported all and forks a child for each call, so that an answer takes no import.

paths                            folder and name of the socket, and the conditions of a start of Python
protocol                         the messages on the socket, and their descriptors
client                           the installed command: hands its call to that process, or runs it
server                           that process: its imports and first calls, its loop, and its children
warm_part, shell                 the part; its command: start, stop or status
control                          starts it, stops it, and asks for its number

This module, `paths`, `protocol` and `client` are imported by every call, before anything else: they import nothing that
Python has not imported at its start, but `_socket` and `resource`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.parts.part import Part


def __getattr__(name: str) -> Part:
    """Import the part when it is asked for."""
    if name != "PART":
        raise AttributeError(f"there is no {name}")
    from gradcli.parts.warm.warm_part import PART

    return PART
