"""Imports of each command line: the help needs neither torch nor SymPy, and the error of an input no torch."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from gradcli.parts import PARTS
from tests import of_parts
from tests.conftest import process

WATCH = """
import json, sys
from gradcli.cli import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    there = [name for name in "torch torch._dynamo sympy numpy flint".split() if name in sys.modules]
    print(f"\\n{code}", *there, file=sys.stderr)
"""

LINES: dict[str, list[str]] = {}
for _file in (Path(__file__).with_name("imports.txt"), *of_parts.files("imports.txt")):
    for _kept_out, _lines in re.findall(r"^\[(.*)\]\n((?:.+\n)+)", _file.read_text("utf-8"), re.MULTILINE):
        LINES.setdefault(_kept_out, []).extend(_lines.splitlines())


@pytest.mark.parametrize(("kept_out", "lines"), LINES.items(), ids=[*LINES])
def test_what_is_not_imported(kept_out: str, lines: list[str], tmp_path: Path) -> None:
    """By command lines one after the other in one process."""
    (tmp_path / "mistakes").write_text('{"command": "grad", "expression": "x +"}\ngrad "x**2"\n', encoding="utf-8")
    asked = [line.rpartition(" => ") for line in lines]
    run = process(sys.executable, "-c", WATCH, json.dumps([shlex.split(line) for line, _, _ in asked]), cwd=tmp_path)
    ends = re.findall(r"^(\d+)((?: (?:torch|torch[.]_dynamo|sympy|numpy|flint))*)$", run.err, re.MULTILINE)
    for (line, _, code), (ended, packages) in zip(asked, ends, strict=True):
        assert (ended, {*packages.split()} & {*kept_out.split()}) == (code, set()), line


def test_parts_are_imported_without_what_is_heavy() -> None:
    """As a process of the shell imports them at its end, after a help too."""
    script = "import sys; from gradcli.parts import all_parts; all_parts(); print(*sys.modules)"
    run = process(sys.executable, "-c", script)
    assert {*PARTS} <= {*run.out.split()}
    assert not {"torch", "sympy", "numpy", "flint"} & {*run.out.split()}
