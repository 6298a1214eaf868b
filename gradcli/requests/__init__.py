"""Questions as JSON: a line of a stream to the answer of a `Function`.

Knows JSON's types and what each command may be asked, and neither the shell nor how answers are written.  A request is
hostile until it is read: it opens no files, and nothing of it stays behind for the next.

json_lines  lines of a stream, and the JSON object on each
keys        what a command may be asked: one table, from JSON's types to arguments
answering   the answer to a request
"""

from __future__ import annotations

from gradcli.requests.answering import answer
from gradcli.requests.json_lines import LINE_BYTES, Request, lines, read
from gradcli.requests.keys import COMMANDS, KEYS, Key

__all__ = ["COMMANDS", "KEYS", "LINE_BYTES", "Key", "Request", "answer", "lines", "read"]
