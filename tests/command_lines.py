"""Command lines in tables, `commands/*.txt`: a line each, with its exit code and what is printed.

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
from pathlib import Path

import pytest

from tests import of_parts
from tests.conftest import Command


def rows(tables: Iterable[Path]) -> list[object]:
    """List the command lines of tables, each with what is expected, as parameters of a test."""
    return [
        pytest.param(*line.rpartition(" => ")[::2], id=f"{table.stem} {line.partition(' => ')[0]}")
        for table in sorted(tables)
        for line in table.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#") and of_parts.can_answer(line)
    ]


def require(line: str, expected: str, gradcli: Command) -> None:
    """Run a command line; a refusal leaves stdout empty, writes no file, and is one message of bounded length."""
    words, _, sent = line.replace("\\n", "\n").partition(" << ")
    found = re.fullmatch(r"(\d+)(?: ([|/=~]) ?(.*))?", expected.replace("\\n", "\n"), re.DOTALL)
    assert found
    code, sign, said = found.groups("")
    given = dict(word.split("=", 1) for word in shlex.split(words) if re.match(r"GRADCLI_\w+=", word))
    before = sorted(os.listdir())
    run = gradcli(*shlex.split(words)[len(given) :], given=sent, **given)
    assert run.code == int(code), run.err
    assert said.strip() in (run.out if sign == "/" else run.out + run.err)
    assert run.out == (said and f"{said}\n") or sign not in ("=", "~")
    assert run.out or sign != "/"
    assert run.err == "" or sign in ("", "|", "~")
    assert run.err.count("note: ") <= 1
    if code in ("2", "74"):
        assert (run.out, sorted(os.listdir())) == ("", before)
        assert len(run.err) < 2_000
        assert run.err.count("error: ") == 1 or '"error"' in run.err
