"""Files that are written with -o, digits, colours, and options that are given twice: of every command."""

import csv
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcli.cli import BROKEN_PIPE, INTERRUPTED
from gradcli.cli.app import BUG
from gradcli.cli.commands import built
from gradcli.cli.output import NOT_PASSED
from gradcli.errors import GradcliError, OutputError
from gradcli.files import atomic
from gradcli.parts import is_listed
from gradcli.registry import all_commands, formats, lacks
from tests import of_parts
from tests.conftest import Command

AT = ["--at", "1,2"]
QUESTIONS: dict[str, list[str]] = {
    "vjp": ["sin(x)", *AT, "--v", "1,1"],
    "jacobian": ["sin(x)", *AT],
    "grad": ["sum(sin(x))", *AT],
    "jvp": ["sin(x)", *AT, "--u", "ones"],
    "hessian": ["sum(sin(x))", *AT],
    "hvp": ["sum(sin(x))", *AT, "--u", "e0"],
    "eval": ["sin(x)", *AT],
    "functions": ["sin"],
    **of_parts.rows("QUESTIONS"),
}
SIN, COS = np.sin([1.0, 2.0]), np.cos([1.0, 2.0])
QUANTITIES: dict[str, tuple[str, Any]] = {
    "vjp": ("vjp_x", COS),
    "jacobian": ("jacobian_x", np.diag(COS)),
    "grad": ("grad_x", COS),
    "jvp": ("jvp", COS),
    "hessian": ("hessian_x_x", np.diag(-SIN)),
    "hvp": ("hvp_x", [-SIN[0], 0]),
    "eval": ("value", SIN),
    **of_parts.rows("QUANTITIES"),
}
BUILT: Any = {name: built(command) for name, command in all_commands().items()}


def test_every_command_with_an_answer_is_here() -> None:
    """Commands that stream have outputs of their own; a script has its answers one after the other."""
    with_format = {n for n, c in BUILT.items() if {"format", "color"} <= {p.name for p in c.params} and not c.hidden}
    assert with_format == {*QUESTIONS} | ({"run"} & {*BUILT})


@pytest.mark.parametrize("command", QUESTIONS)
@pytest.mark.one_in(8)
def test_text_files_are_what_stdout_is(command: str, gradcli: Command, tmp_path: Path) -> None:
    """By suffix; a script and a picture have their own; nothing goes to stdout."""
    forms = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".JSON": "json"}
    absent = () if is_listed("pages") else ("markdown", "latex")
    forms = {suffix: form for suffix, form in forms.items() if form not in (*absent, *lacks(command))}
    assert forms or command == "plot"
    for suffix, form in forms.items():
        path = tmp_path / f"answer{suffix}"
        run = gradcli(command, *QUESTIONS[command], "-o", str(path))
        assert (run.code, run.out, run.err) == (0, "", "")
        assert path.read_text(encoding="utf-8") == gradcli(command, *QUESTIONS[command], "--format", form).out
    assert gradcli(command, *QUESTIONS[command], "--output", str(tmp_path / "answer.txt")).out == ""
    assert max(map(len, (tmp_path / "answer.txt").read_text(encoding="utf-8").splitlines())) <= 100
    assert len(list(tmp_path.iterdir())) == 1 + sum(form not in lacks(command) for form in forms.values())


@pytest.mark.parametrize("command", QUANTITIES)
def test_arrays_read_back_equal(command: str, gradcli: Command, tmp_path: Path) -> None:
    """The command's own as .npy, all of them as .npz, to the last bit as JSON and CSV have them."""
    key, expected = QUANTITIES[command]
    one, all_, rows, fields = (tmp_path / f"a.{suffix}" for suffix in ("npy", "npz", "csv", "json"))
    for path in (one, all_, rows, fields):
        assert gradcli(command, *QUESTIONS[command], "-o", str(path)).code == 0
    np.testing.assert_allclose(np.load(one), expected, rtol=1e-15)
    with np.load(all_) as arrays:
        np.testing.assert_array_equal(arrays[key], np.load(one))
        np.testing.assert_array_equal(arrays["x"], [1, 2])
        answer = json.loads(fields.read_text(encoding="utf-8"))
        np.testing.assert_array_equal(arrays["value"], answer["value"])
    if command != "explain":
        with rows.open(encoding="utf-8", newline="") as file:
            numbers = [float(row["value"]) for row in csv.DictReader(file)]
        np.testing.assert_array_equal(numbers, np.load(one).reshape(-1))
    assert gradcli("eval", "x", "--at", f"@{all_}:{key}", "--format", "plain").code == 0


def test_several_products_are_stacked_and_names_do_not_collide(gradcli: Command, tmp_path: Path) -> None:
    """A variable may be called v, value or file."""
    path = tmp_path / "a.npz"
    gradcli("vjp", "v*value*file", "--at", "v=1,2", "--at", "value=3", "--at", "file=5", *E01, "-o", str(path))
    with np.load(path) as arrays:
        assert set(arrays) >= {"input_v", "input_value", "file", "v", "value", "vjp_v", "vjp_file"}
        np.testing.assert_array_equal(arrays["v"], np.eye(2))
        np.testing.assert_array_equal(arrays["vjp_v"], 15 * np.eye(2))


E01 = ["--v", "e0", "--v", "e1"]


def test_a_format_decides_where_the_suffix_does_not(gradcli: Command, tmp_path: Path) -> None:
    """Of .txt, of an unknown suffix, and of none; the environment's counts less than a suffix."""
    for name in ("a.txt", "a.xyz", "a"):
        gradcli("vjp", *QUESTIONS["vjp"], "-o", str(tmp_path / name), "--format", "plain")
        assert len((tmp_path / name).read_text(encoding="utf-8").split()) == 2


LACKED = [(name, form) for name in all_commands() for form in lacks(name) if form in formats()]
"""Formats of numbers alone, with each command that answers with none."""


@pytest.mark.parametrize(("command", "form"), LACKED)
def test_a_format_that_an_answer_lacks_is_refused_first(command: str, form: str, gradcli: Command) -> None:
    """Before the expression is read, and long before it is answered."""
    run = gradcli(command, "no_function(x", "--format", form)
    assert (run.code, run.out) == (2, "")
    assert f"the answer of {command} is no table of numbers" in run.err


def test_a_file_of_json_is_one_document(gradcli: Command, tmp_path: Path) -> None:
    """An array where stdout has a line each, which .jsonl has too."""
    for words in (["vjp", "sin(x)", *AT, *E01], ["functions", "loss"], ["functions", "--groups"]):
        lines = gradcli(*words, "--json").out
        assert gradcli(*words, "-o", str(tmp_path / "a.json")).code == 0
        assert gradcli(*words, "-o", str(tmp_path / "a.jsonl")).code == 0
        found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
        assert found == [json.loads(line) for line in lines.splitlines()]
        assert (tmp_path / "a.jsonl").read_text(encoding="utf-8") == lines


@pytest.mark.part("code", "explain", "pages")
def test_scripts_and_pictures(gradcli: Command, tmp_path: Path) -> None:
    """A .py runs, a .tex is a document, if no other script is asked for, and .gv needs no --to."""
    script, document, dot = (tmp_path / f"a.{suffix}" for suffix in ("py", "tex", "gv"))
    gradcli("code", *QUESTIONS["code"], "--to", "numpy", "-o", str(script))
    assert subprocess.run([sys.executable, script], capture_output=True, timeout=60, check=True).stdout
    gradcli("code", *QUESTIONS["code"], "--to", "latex", "-o", str(document))
    text = document.read_text(encoding="utf-8")
    assert r"\documentclass" in text
    run = gradcli("code", *QUESTIONS["code"], "-o", str(document))
    assert (run.code, document.read_text(encoding="utf-8")) == (0, text)
    assert "--to latex" in run.err
    gradcli("code", *QUESTIONS["code"], "--to", "torch", "-o", str(document))
    assert "import torch" in document.read_text(encoding="utf-8")
    assert gradcli("code", *QUESTIONS["code"], "--to", "latex", "-o", str(script)).code == 2
    gradcli("graph", *QUESTIONS["graph"], "-o", str(dot))
    assert dot.read_text(encoding="utf-8").startswith("digraph")
    assert gradcli("graph", *QUESTIONS["graph"], "-o", str(dot), "--to", "tree").code == 2


def test_a_file_is_replaced_whole(gradcli: Command, tmp_path: Path) -> None:
    """The old file stays if anything fails; rights, links and the reading of the same file are as expected."""
    path, link = tmp_path / "a.npy", tmp_path / "link.npy"
    np.save(path, [1.0, 2.0])
    path.chmod(0o640)
    link.symlink_to(path)
    assert gradcli("eval", "x**2", "--at", f"@{path}", "-o", str(link)).code == 0
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    np.testing.assert_array_equal(np.load(path), [1, 4])
    assert gradcli("vjp", "x*z", "--at", "x=1", "--at", "z=2", "-o", str(path)).code == 2  # several arrays
    np.testing.assert_array_equal(np.load(path), [1, 4])
    assert {one.name for one in tmp_path.iterdir()} == {"a.npy", "link.npy"}


def test_a_name_as_long_as_the_system_takes_is_written(gradcli: Command, tmp_path: Path) -> None:
    """It counts bytes, of which a character may have four; the temporary file beside it must have a name too."""
    path = tmp_path / f"{'𝛁' * 62}.csv"
    run = gradcli("eval", "1", "-o", str(path))
    assert (run.code, run.err) == (0, "")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_read_only_file_is_not_replaced(gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although its folder would let it be; said before anything is computed, and where it is found later."""
    path = tmp_path / "a.csv"
    path.write_text("mine", encoding="utf-8")
    path.chmod(0o444)
    access = os.access
    monkeypatch.setattr("os.access", lambda where, mode: str(where) != str(path) and access(where, mode))
    assert "read-only" in gradcli("eval", "no_such_variable", "-o", str(path)).err
    assert gradcli("eval", "1", "-o", str(path)).code == 74
    with pytest.raises(PermissionError), atomic.replacing(str(path)):
        pass
    assert path.read_text(encoding="utf-8") == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("word", ["-oa.json", "-o=a.json", "--output=a.json"])
def test_a_file_may_be_attached_to_its_option(word: str, gradcli: Command, folder: Path) -> None:
    """As in other commands; of every place, but once."""
    for words in (["eval", "-o*2", "--at", "3", word], ["eval", word, "-o*2", "--at=3"], ["functions", word, "sin"]):
        run = gradcli(*words)
        assert (run.code, run.out, run.err) == (0, "", "")
        assert os.listdir() == ["a.json"]
        (folder / "a.json").unlink()
        assert "is given twice" in gradcli(*words, "-o", "b.json").err


@pytest.mark.parametrize("command", BUILT)
def test_a_scalar_option_is_given_once(command: str, gradcli: Command) -> None:
    """By the same or by another of its names; every option."""
    for option in BUILT[command].params:
        if option.param_type_name == "option" and not option.is_flag and not option.multiple:
            first, last = option.opts[0], option.opts[-1]
            for words in ([f"{first}=1", last, "1"], [f"{last}=1", first, "1"]):
                run = gradcli(command, "x", *words)
                assert (run.code, run.out, "is given twice" in run.err) == (2, "", True), words


@pytest.mark.parametrize("command", ["", *BUILT])
def test_every_help_says_what_the_exit_codes_mean(command: str, gradcli: Command) -> None:
    """All that there are."""
    said = gradcli(*filter(None, [command]), "--help").out.partition("Exit codes:")[2]
    errors = {0, NOT_PASSED, GradcliError.exit_code, BUG, OutputError.exit_code, INTERRUPTED, BROKEN_PIPE}
    assert {int(code) for code in re.findall(r"\b\d+\b", said)} == errors  # and nothing comes after them


@pytest.mark.parametrize("command", QUESTIONS)
@pytest.mark.one_in(2)
def test_options_stand_anywhere(command: str, gradcli: Command) -> None:
    """Before what they are about, after it, and before `--`."""
    first, *options = QUESTIONS[command]
    after = gradcli(command, first, *options, "--format", "json")
    assert after.code == 0
    assert gradcli(command, "--format=json", *options, first) == after
    assert gradcli(command, *options, "--format", "json", "--", first) == after
