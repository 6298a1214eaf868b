"""Generated scripts run in this process, and what they print."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any


def run_script(source: str) -> tuple[dict[str, Any], str]:
    """The names of a script that has run, and its output.

    Every `print(...)` leaves what it prints under `printed`, so that all its digits can be compared.
    """
    tree = ast.parse(source)
    printed: list[Any] = []
    out = io.StringIO()

    def show(*values: object) -> None:
        printed.extend(values)
        print(*values, file=out)

    names: dict[str, Any] = {"print": show}
    with contextlib.redirect_stderr(io.StringIO()):
        exec(compile(tree, "<script>", "exec"), names)
    return names | {"printed": printed}, out.getvalue()
