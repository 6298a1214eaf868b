"""Statements broken over lines where they are too long: inside of brackets, at blanks."""

from __future__ import annotations

import ast
import re
import textwrap

from gradcli.codegen.self_writing import unparsed

WIDTH = 88
"""Characters of a line of a script."""

_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")


def laid_out(statement: str) -> str:
    """A statement `name = expression` on as many lines as it needs.

    >>> print(laid_out("y = torch.stack([torch.sin(first_angle), torch.sin(second_angle), torch.sin(third_angle)])"))
    y = torch.stack(
        [torch.sin(first_angle), torch.sin(second_angle), torch.sin(third_angle)]
    )
    """
    if len(statement) <= WIDTH:
        return statement
    name, _, value = statement.partition(" = ")
    node = ast.parse(value, mode="eval").body
    head = unparsed(node.func) if isinstance(node, ast.Call) else ""
    body = value[len(head) + 1 : -1] if head else value
    # No line ends inside of a string.
    kept = _STRING.sub(lambda found: found[0].replace(" ", "\0"), body)
    lines = textwrap.wrap(kept, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"{name} = {head}(", *(f"    {line}" for line in lines), ")"]).replace("\0", " ")
