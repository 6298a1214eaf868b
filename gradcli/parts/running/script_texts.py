"""The text of a script to be run: a file, the cells of a notebook, or what was pasted from a prompt or a page.

What Python can run is run as it stands.  Of any other text the prompts, the printed lines and the fences are left out;
and where a text names torch or NumPy without an import, as snippets do, it is given the usual one.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
from collections.abc import Mapping, Sequence
from importlib.util import decode_source
from pathlib import Path
from typing import TYPE_CHECKING

from gradcli.errors import InputError
from gradcli.parts import is_listed

if TYPE_CHECKING:
    from gradcli.parts.running.script_process import UserScript

if is_listed("paste"):
    from gradcli.parts.paste import code_of
else:

    def code_of(text: str) -> str:
        """Return a text as it is."""
        return text


USUAL_IMPORTS: Mapping[str, tuple[str, str]] = {
    "torch": ("torch", "import torch"),
    "np": ("numpy", "import numpy as np"),
    "numpy": ("numpy", "import numpy"),
    "math": ("math", "import math"),
    "nn": ("torch.nn", "from torch import nn"),
    "F": ("torch.nn.functional", "import torch.nn.functional as F"),
    "optim": ("torch.optim", "from torch import optim"),
    "autograd": ("torch.autograd", "from torch import autograd"),
    "Variable": ("torch.autograd.Variable", "from torch.autograd import Variable"),
    "jacobian": ("torch.autograd.functional.jacobian", "from torch.autograd.functional import jacobian"),
}
"""What snippets leave out, by the name that it has there: its whole name, and the import."""

_PRINTED = frozenset(("tensor", "array"))
"""Names before numbers that are printed, which a script has not unless it imports them."""

_COMPILED = (".zip", ".pyz", ".pyc")
"""Suffixes of scripts that are no text."""


def user_script(name: str, arguments: Sequence[str] = (), text: str | None = None) -> UserScript:
    """Make the script of a file, or of a text that has no file.

    Raises:
        InputError: There is no such file, or it is no notebook.

    >>> user_script("-c", text=">>> x = torch.ones(2)").code
    'x = torch.ones(2)'
    """
    from gradcli.parts.running.script_process import UserScript  # which imports torch

    if text is None and not os.path.exists(name):
        raise InputError(f"there is no file {name}")
    cells: Sequence[str] = ()
    if text is None and is_notebook(name):
        cells = cells_of(name)
        text = joined(cells)
    written = _text_of_file(name) if text is None else text
    if written is None:
        return UserScript(name, arguments)
    code, told = written, []
    if (_parsed(written) is None or not _PRINTED.isdisjoint(_not_bound(written))) and _parsed(code_of(written)):
        code = code_of(written)
        told.append("prompts, fences and printed lines are left out of the script")
    lacks = _not_bound(code)
    given = {name: found for name, found in USUAL_IMPORTS.items() if name in lacks}
    if given:
        lines = "; ".join(line for _, line in given.values())
        told.append(f"the script lacks an import without which Python refuses it, and is given it: {lines}")
    imports = {name: path for name, (path, _) in given.items()}
    if code != written:
        return UserScript(name, arguments, text, code, imports, tuple(told))
    return UserScript(name, arguments, text, None, imports, tuple(told), tuple(cells))


def is_notebook(path: str) -> bool:
    """Tell whether a path is that of a notebook, by its suffix."""
    return path.endswith(".ipynb")


def cells_of(path: str) -> list[str]:
    """Return the code of each cell of a notebook that has code, without magics and commands of the shell.

    Raises:
        InputError: It is no notebook.
    """
    try:
        cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{path} cannot be read as a notebook: {type(error).__name__}"
        raise InputError(message, hint="save it as a script, and run that") from None
    return ["\n".join("" if one.lstrip().startswith(("%", "!")) else one for one in cell.split("\n")) for cell in code]


def joined(cells: Sequence[str]) -> str:
    """Join the cells of a notebook to the text of one script."""
    return "\n".join(cells) + "\n"


def _text_of_file(path: str) -> str | None:
    """Read a script; None of a folder, and of what is no text."""
    if path.endswith(_COMPILED) or not os.path.isfile(path):
        return None
    try:
        return decode_source(Path(path).read_bytes())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None


def _parsed(text: str) -> ast.Module | None:
    """Parse a text of Python; None of any other."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _not_bound(code: str) -> set[str]:
    """Collect the names that a text takes and gives no value anywhere."""
    tree = _parsed(code)
    nodes = [] if tree is None else [*ast.walk(tree)]
    taken = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    bound = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    for one in nodes:
        match one:
            case ast.alias():
                bound.add((one.asname or one.name).partition(".")[0])
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                bound.add(name)
            case ast.arg(word):
                bound.add(word)
    if "*" in bound:
        return set()
    return {name for name in taken - bound if not hasattr(builtins, name)}
