"""Questions as data: a line of a stream, or the options of a command line, to the answer of a `Function`.

asking         a request to the answer; the one way that the shell asks, too
request_lines  bytes to requests: an object of JSON a line, or the words of a command
json_values    a value of JSON to the argument of an option

Knows JSON's types, and neither the shell nor how answers are written.  A request is hostile until it is read: it opens
no files, and nothing of it stays behind for the next.  Every mistake is an error that names the key.
"""

from __future__ import annotations

from gradcli.requests.asking import answer, ask, require_command, why_not
from gradcli.requests.json_values import argument
from gradcli.requests.request_lines import LINE_BYTES, Request, lines, read

__all__ = [
    "LINE_BYTES",
    "Request",
    "answer",
    "argument",
    "ask",
    "lines",
    "read",
    "require_command",
    "why_not",
]
