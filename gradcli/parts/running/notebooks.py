"""The cells of a notebook as a script: code alone, without magics and commands of the shell."""

from __future__ import annotations

import json
from pathlib import Path

from gradcli.errors import InputError


def is_notebook(path: str) -> bool:
    """Tell whether a path is that of a notebook, by its suffix."""
    return path.endswith(".ipynb")


def script_of(path: str) -> str:
    """Return the code of the cells of a notebook, in order.

    Raises:
        InputError: It is no notebook.
    """
    try:
        cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{path} cannot be read as a notebook: {type(error).__name__}"
        raise InputError(message, hint="save it as a script, and run that") from None
    lines = ("\n".join(code)).split("\n")
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines) + "\n"
