"""Recorded command lines: files of `$ gradcli ...`, each with what it prints, as a terminal shows them.

A line that does not end with 0 says so, `# exit 1`; in the folder of errors all end with 2, and what is printed is
their message.  `pytest --update-goldens -n 0` renews the files.

Those of a part stand in its folder of tests, in files of the same names; what needs another part too has the name of
that behind: `answers/check.improve.txt`.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests import of_parts

GOLDENS = Path(__file__).parent / "goldens"
_START = re.compile(r"^(?=\$ gradcli )", re.MULTILINE)


@dataclass(frozen=True)
class Recorded:
    """A command line of a file, and what it printed.

    Attributes:
        path: The file.
        command: The line, with the prompt, and the exit code if it is not 0.
        printed: The whole of the output, or of the message of an error.
    """

    path: Path
    command: str
    printed: str

    @property
    def words(self) -> list[str]:
        """Words after `gradcli`."""
        return words(self.command)

    @property
    def is_error(self) -> bool:
        """Whether it is a wrong input."""
        return self.path.parent.name == "errors"

    @property
    def subject(self) -> str:
        """What the file is named for: of an error, its kind."""
        return self.path.name.partition(".")[0]

    @property
    def code(self) -> int:
        """The exit code."""
        return 2 if self.is_error else int(self.command.partition("  # exit ")[2] or 0)

    def renew(self, printed: str) -> None:
        """Write another output in the place of this one."""
        text = self.path.read_text(encoding="utf-8")
        parts = [_shown(self.command, printed) if _command(part) == self.command else part for part in _parts(text)]
        self.path.write_text("".join(parts), encoding="utf-8")


def recorded(folder: str) -> list[Recorded]:
    """List the command lines of the files of a folder of goldens, and of those that parts add to it."""
    found = []
    of_others = [path for path in of_parts.files(f"goldens/{folder}/*.txt") if not of_parts.missing(_others(path))]
    for path in (*sorted((GOLDENS / folder).glob("*.txt")), *of_others):
        for part in _parts(path.read_text(encoding="utf-8")):
            command, _, printed = part.partition("\n")
            if of_parts.can_answer(command):
                found.append(Recorded(path, command, printed.removesuffix("\n")))
    return found


def _others(path: Path) -> tuple[str, ...]:
    """Name the parts that a file needs besides the one in whose folder it stands."""
    return tuple(path.name.split(".")[1:-1])


def words(command: str) -> list[str]:
    """Words of a command line after `gradcli`."""
    return shlex.split(command.removeprefix("$ ").partition("  # exit ")[0])[1:]


def _parts(text: str) -> list[str]:
    return _START.split(text)[1:]


def _command(part: str) -> str:
    return part.partition("\n")[0]


def _shown(command: str, printed: str) -> str:
    """Write a command line and its output, with an empty line after it."""
    return f"{command}\n{printed}\n"
