"""Requests: questions as data, from a line of a stream to the answer of a `Function`.

asking         a request to the answer of a `Function`
request_lines  bytes to requests: an object of JSON a line, or the words of a command
caches         what is remembered between requests, forgotten

Knows JSON's types, and neither the shell nor how answers are written.  A request is untrusted until it is read: it
opens no files, and leaves no state for the next one.  Every mistake is an error that names the key.
"""

from __future__ import annotations

from gradcli.parts.batch.asking import WHY_NOT as WHY_NOT, answer as answer, require_command as require_command
from gradcli.parts.batch.caches import empty_caches as empty_caches
from gradcli.parts.batch.request_lines import LINE_BYTES as LINE_BYTES, Request as Request, lines as lines, read as read
