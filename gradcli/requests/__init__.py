"""Questions as data: a line of a stream, or the options of a command line, to the answer of a `Function`.

Knows JSON's types, and neither the shell nor how answers are written.  A request is hostile until it is read: it opens
no files, and nothing of it stays behind for the next.

json_lines   lines of a stream, and the JSON object on each
json_values  a value of JSON as an argument, by the kind of the option
answering    the answer to a request, or to a command whose options have been read
"""

from __future__ import annotations

from gradcli.requests.answering import answer, ask
from gradcli.requests.json_lines import LINE_BYTES, Request, lines, read

__all__ = ["LINE_BYTES", "Request", "answer", "ask", "lines", "read"]
