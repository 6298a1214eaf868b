"""What names a function of Python: a file or a module, and a name in it.  Imports nothing that it names."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import PurePath

from gradcli.errors import InputError

_IN_FILE = re.compile(r"(?P<file>[^\n]+\.pyw?)::(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")
_IN_MODULE = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


@dataclass(frozen=True, slots=True)
class Target:
    """A function of Python.

    Attributes:
        text: As typed.
        file: The path of the file, if it is named by one.
        module: The name of the module, if by that.
        name: In it, with attributes behind dots.
    """

    text: str
    file: str
    module: str
    name: str

    def require_file(self) -> None:
        """Refuse a file that is not there.

        Raises:
            InputError: There is none.
        """
        if self.file and not os.path.isfile(self.file):
            is_folder = os.path.isdir(self.file)
            raise InputError(f"{self.file} is a folder" if is_folder else f"there is no file {self.file}")

    @property
    def short(self) -> str:
        """Without the folders of the file."""
        return f"{PurePath(self.file).name}::{self.name}" if self.file else self.text


def require_no_file(text: str) -> None:
    """Refuse the name of a file in the place of an expression, which a name with a dot would be.

    Raises:
        InputError: It is one; the hint names a function of it, if it is Python's, or how to read its text.
    """
    path = text.strip()
    if not (PurePath(path).suffix[1:2].isalpha() and os.path.isfile(path)):
        return
    hint = f"write @{path} for the text in it"
    if path.endswith((".py", ".pyw")):
        hint = f"name a function of it: gradcli check {path}::{_first_function(path)} --at VALUE"
    raise InputError(f"{path} is a file, and no expression", hint=hint)


def _first_function(path: str) -> str:
    """The name of a function in a file, by its text; a placeholder where none is found."""
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        if found := re.search(r"(?m)^def (\w+)", file.read()):
            return found[1]
    return "NAME"


def target(text: str) -> Target | None:
    """The function that a text names; None for any other text, which is an expression.

    >>> target("model.py::Net.loss").name, target("package.module:loss").module, target("x**2"), target("x[1:n]")
    ('Net.loss', 'package.module', None, None)
    """
    found = _IN_FILE.fullmatch(text.strip())
    if found is not None:
        return Target(text.strip(), found["file"], "", found["name"])
    found = _IN_MODULE.fullmatch(text.strip())
    return Target(text.strip(), "", found["module"], found["name"]) if found is not None else None
