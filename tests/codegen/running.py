"""Generated scripts run in this process, and what they print; command lines as arguments of `Function`."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Sequence
from typing import Any

from gradcli import Function


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


def asked(words: Sequence[str]) -> tuple[str, dict[str, str], str | None, list[str] | None]:
    """The expression, the values, v and `wrt` that the words of a command line say."""
    options = list(zip(words[1::2], words[2::2], strict=True))
    first = Function(words[0]).variables[0]
    given = [word if "=" in word else f"{first}={word}" for key, word in options if key == "--at"]
    v = next((word for key, word in options if key == "--v"), None)
    wrt = next((word.split(",") for key, word in options if key == "--wrt"), None)
    return words[0], dict(word.split("=", 1) for word in given), v, wrt
