"""Statements broken over lines where they are too long: at blanks, inside of brackets."""

from __future__ import annotations

import ast
import re
import textwrap

WIDTH = 88
"""Characters of a line of a script."""

_QUOTED = re.compile(r"\"[^\"]*\"|'(?:\\.|[^'])*'")
_INDENT = 4 * " "


def laid_out(statement: str) -> str:
    """A statement `name = expression` on as many lines as it needs.

    >>> print(laid_out("y = torch.stack([torch.sin(first_angle), torch.sin(second_angle), torch.sin(third_angle)])"))
    y = torch.stack(
        [torch.sin(first_angle), torch.sin(second_angle), torch.sin(third_angle)]
    )
    """
    if len(statement) <= WIDTH:
        return statement
    name, _, inside = statement.partition(" = ")
    opening, whole = f"{name} = (", ast.parse(inside, mode="eval").body
    if isinstance(whole, ast.Call) and whole.args:  # its own brackets do
        start = len(inside.encode()[: whole.func.end_col_offset].decode()) + 1
        opening, inside = f"{name} = {inside[:start]}", inside[start:-1]
    inside = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", "\0"), inside)
    lines = textwrap.wrap(
        inside, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join([opening, *lines, ")"]).replace("\0", " ")
