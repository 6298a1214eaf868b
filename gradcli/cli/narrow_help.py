"""Help on a narrow terminal: what click leaves as it stands is broken too, and an example can still be copied."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

FULL_WIDTH = 80
"""Columns from which on a page of help stands as it is."""

_COMMAND = re.compile(r"(?:\w[^ ]* .*\| *)?gradcli ")
_WORD = r"""(?:"[^"]*"|'[^']*'|[^\s"'])+"""
_SHELL_WORDS = re.compile(rf"\s*(?:-[-\w]+ (?!-))?{_WORD}")
_WORDS = re.compile(r"\s*\S+")
_CHOICES = re.compile(r"[^|]*\|?")


def in_columns_of_terminal(text: str) -> str:
    """Break the long lines of a page of help, if the terminal is a narrow one."""
    columns = shutil.get_terminal_size().columns
    return text if columns >= FULL_WIDTH else narrowed(text, columns)


def narrowed(text: str, columns: int) -> str:
    r"""Break long lines: of an example at blanks outside of quotes, as a shell reads on; of choices at their bars.

    >>> print(narrowed('    gradcli vjp "x**2; 2*x" --at 1,2 --v 1,1', 34))
        gradcli vjp "x**2; 2*x" \
          --at 1,2 --v 1,1
    >>> print(narrowed("  --format <table|full|json|csv>", 24))
      --format <table|full|
        json|csv>
    """
    return "\n".join(part for line in text.split("\n") for part in _parts(line, columns))


def _parts(line: str, columns: int) -> Iterator[str]:
    if len(line) <= columns:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()))
    is_command = bool(_COMMAND.match(line.strip()))
    behind = " \\" if is_command else ""
    units = (_SHELL_WORDS if is_command else _CHOICES if "|" in line and "<" in line else _WORDS).findall(line)
    if any(len(unit) > columns - len(indent) for unit in units):  # within double quotes a shell reads on too
        units = _WORDS.findall(line)
    held = ""
    for n, unit in enumerate(units):
        is_last = n == len(units) - 1
        if held.strip() and len(held + unit) > columns - (0 if is_last else len(behind)):
            yield held + behind
            held = f"{indent}  {unit.lstrip()}"
        else:
            held += unit
    yield held
