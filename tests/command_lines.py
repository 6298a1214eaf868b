"""Command lines and what they print: one function runs them, one compares, and `pytest --update-goldens -n 0` renews.

They stand in files of two kinds.  A transcript shows all that a terminal shows of each line, after a prompt: those of
`goldens/answers` and `goldens/errors`, and the console blocks of the README and the guide.

$ [NAME=VALUE] gradcli WORDS                              the exit code is that of what is printed: 0, 1 or 2
$ gradcli WORDS  # exit CODE                              or this one
$ gradcli WORDS || echo "exit code $?"                    which is shown here
$ echo LINES | gradcli WORDS                              or printf '%s\\n' LINES

A table, `commands/*.txt`, has one line for a command and what is expected of it, where `\\n` is the end of a line.
Those of `NAME.nightly.txt` are for the thorough run.

[NAME=VALUE] WORDS [<< STANDARD INPUT] => CODE            an exit code
... => CODE | WORDS                                       words of what is printed, on stdout or stderr
... => CODE / WORDS                                       words of stdout (no words: any), and nothing on stderr
... => CODE = TEXT                                        the whole of stdout (no text: none), and nothing on stderr
... => CODE ~ TEXT                                        the whole of stdout, whatever is on stderr
"""

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests import of_parts
from tests.conftest import Command, Run

GOLDENS = Path(__file__).parent / "goldens"

_CODE_SHOWN = ' || echo "exit code $?"'
"""End of a command line that shows the exit code of a failure."""

_CODE_NOTED = "  # exit "


@dataclass(frozen=True)
class CommandLine:
    """A command line of a file, and what it prints.

    Attributes:
        path: The file.
        line: The line as it stands there, after the prompt.
        sign: How it is compared: `$` of a transcript, or the sign of a table.
        printed: What is printed, or words of it.
        noted: The exit code of a line of a table.
    """

    path: Path
    line: str
    sign: str
    printed: str
    noted: int | None = None

    @property
    def subject(self) -> str:
        """What the file is named for: of an error, its kind."""
        return self.path.name.partition(".")[0]

    @property
    def code(self) -> int:
        """The exit code, which what a transcript shows has where the line does not say it."""
        if self.noted is not None:
            return self.noted
        last = self.printed.rstrip().rpartition("\n")[2]
        if found := re.search(rf"{_CODE_NOTED}(\d+)$", self.line) or re.match(r"exit code (\d+)", last):
            return int(found[1])
        if self.printed.startswith("error: ") or '"error": ' in self.printed:
            return 2
        return int(last.startswith("did not pass"))

    @property
    def is_refused(self) -> bool:
        """Whether it is a wrong input, of which there is a message alone; a batch has answers beside it."""
        return self.code in (2, 74) and (self.sign != "$" or self.printed.startswith("error: "))


def recorded(folder: str) -> list[CommandLine]:
    """List the command lines of a folder of goldens, and of those that parts add to it.

    Those of a part stand in its folder of tests, in files of the same names; what needs another part too has the name
    of that behind: `answers/check.improve.txt`.
    """
    of_others = [path for path in of_parts.files(f"goldens/{folder}/*.txt") if not of_parts.missing(_others(path))]
    return [
        one
        for path in (*sorted((GOLDENS / folder).glob("*.txt")), *of_others)
        for one in transcript(path, path.read_text(encoding="utf-8"))
        if of_parts.can_answer(one.line)
    ]


def _others(path: Path) -> tuple[str, ...]:
    """Name the parts that a file needs besides the one in whose folder it stands."""
    return tuple(path.name.split(".")[1:-1])


def transcript(path: Path, text: str) -> list[CommandLine]:
    """List the command lines of a text of a file; an empty line follows what a golden shows of each."""
    parts = (part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:])
    is_golden = GOLDENS.name in path.parts
    return [
        CommandLine(path, line, "$", printed.removesuffix("\n") if is_golden else printed) for line, _, printed in parts
    ]


def rows(tables: Iterable[Path]) -> list[object]:
    """List the command lines of tables as parameters of a test, for the thorough run those of `NAME.nightly.txt`."""
    return [
        pytest.param(one, id=f"{one.subject} {one.line}", marks=[pytest.mark.thorough] if is_nightly else [])
        for table in sorted(tables)
        for is_nightly in [".nightly" in table.suffixes]
        for line in table.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#") and of_parts.can_answer(line)
        for one in [_row(table, line)]
    ]


def _row(path: Path, text: str) -> CommandLine:
    line, _, expected = text.replace("\\n", "\n").rpartition(" => ")
    found = re.fullmatch(r"(\d+)(?: ([|/=~]) ?(.*))?", expected, re.DOTALL)
    assert found
    code, sign, printed = found.groups("")
    return CommandLine(path, line, sign, printed, int(code))


def words(line: str) -> list[str]:
    """Words of a command line after `gradcli`."""
    return shlex.split(line.partition(_CODE_NOTED)[0])[1:]


def run(line: str, gradcli: Command) -> Run:
    """Run a command line, as transcripts and tables have it."""
    typed, is_sent, given = line.removesuffix(_CODE_SHOWN).partition(_CODE_NOTED)[0].partition(" << ")
    parts, sent = shlex.split(typed), given if is_sent else None
    if parts[:1] in (["echo"], ["printf"]):
        end = parts.index("|")
        sent = "".join(f"{word}\n" for word in parts[{"echo": 1, "printf": 2}[parts[0]] : end])
        parts = parts[end + 1 :]
    variables = dict(part.split("=", 1) for part in parts if re.match(r"GRADCLI_\w+=", part))
    parts = parts[len(variables) :]
    found = gradcli(*(parts[1:] if parts[:1] == ["gradcli"] else parts), given=sent, **variables)
    shown = f"exit code {found.code}\n" if line.endswith(_CODE_SHOWN) and found.code else ""
    return replace(found, out=f"{found.out}{shown}")


def renew(one: CommandLine, found: Run) -> CommandLine:
    """Write what a command line of a transcript prints now in the place of what it printed."""
    new = replace(one, printed=found.out + found.err)
    text = one.path.read_text(encoding="utf-8")
    old_text, new_text = (f"$ {each.line}\n{each.printed}" for each in (one, new))
    one.path.write_text(text.replace(old_text, new_text), encoding="utf-8")
    return new


def require(one: CommandLine, gradcli: Command, *, updates: bool = False) -> None:
    """Run a command line and compare what it prints; a refusal writes no file, and is one message of bounded length.

    Args:
        one: The command line.
        gradcli: What runs it.
        updates: Whether what a transcript has is renewed first.
    """
    before = sorted(os.listdir())
    found = run(one.line, gradcli)
    if updates and one.sign == "$":
        one = renew(one, found)
    match one.sign:
        case "$":
            assert found.out + found.err == one.printed
        case "=" | "~":
            assert found.out == (one.printed and f"{one.printed}\n")
        case "/":
            assert one.printed.strip() in found.out
            assert found.out
        case _:
            assert one.printed.strip() in found.out + found.err
    assert found.code == one.code, found.err
    assert found.err == "" or one.sign not in ("/", "=")
    assert found.err.count("note: ") <= 1
    if one.is_refused:
        assert (found.out, sorted(os.listdir())) == ("", before)
        assert len(found.err) < 2_000
        assert found.err.count("error: ") == 1 or '"error"' in found.err
