"""Settings: what a file changes, what counts more, what is said of a mistake in it, and what config shows."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gradcli.registry import all_commands
from tests import of_parts
from tests.cli.test_pager import LONG
from tests.cli.test_process import on_a_terminal
from tests.conftest import Command

Write = Callable[[str], str]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """A function that writes the file of settings."""
    path = tmp_path / "own.toml"
    monkeypatch.setenv("GRADCLI_CONFIG", str(path))

    def write(text: str) -> str:
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.mark.part("pages")
def test_what_counts_more(settings: Write, gradcli: Command) -> None:
    """Flags, the environment, the file."""
    words = ("eval", "x/3", "--at", "1")
    settings('dtype = "float32"\nformat = "json"\n')
    assert json.loads(gradcli("x**2", "--at", "1").out)["dtype"] == "float32"
    assert json.loads(gradcli("grad", "x +").err)["error"]["kind"] == "syntax"
    own = {"GRADCLI_FORMAT": "markdown", "GRADCLI_DTYPE": "float64"}
    assert "\n| --- |" in gradcli(*words, **own).out
    assert gradcli(*words, "--format", "plain", **own).out == "0.3333333333333333\n"
    assert gradcli(*words, "--format", "plain", "--dtype", "float32", **own).out == "0.33333334\n"


@pytest.mark.part("code", "explain", "improve", "tables")
def test_a_setting_breaks_no_command(settings: Write, gradcli: Command, tmp_path: Path) -> None:
    """A command without the setting goes on, and so does one with an option that excludes it."""
    settings('format = "csv"\ndigits = 3\nstrict = true\nrequire-all = true\nquiet = true\non-error = "skip"\n')
    assert "import torch" in gradcli("code", "x", "--at", "1").out
    assert gradcli("graph", "x**2", "--at", "1", "--to", "dot").out.startswith("digraph")
    assert gradcli("graph", "x**2", "--at", "1").code == gradcli("improve", "x", "--at", "1").code == 0
    assert gradcli("eval", "x", "--at", "1", "--no-check", "--json").code == 0
    assert gradcli("eval", "x", "--at", "1", "-o", str(tmp_path / "x.npz")).code == 0
    assert gradcli("functions", "ln").code == gradcli("guide", "tour").code == gradcli("config").code == 0
    rows = tmp_path / "rows.csv"
    rows.write_text("x\n1\nno\n", encoding="utf-8")
    assert gradcli("map", "x**2", "--points", str(rows)).out.splitlines()[1:] == ["1.0,2.0"]
    assert gradcli("map", "x**2", "--points", str(rows), "--on-error", "fail").code == 2


@pytest.mark.part("tables")
def test_rows_have_the_format_of_the_file(settings: Write, gradcli: Command, tmp_path: Path) -> None:
    """Where they go to standard output and may have it; a suffix, and a format that is typed, count more."""
    rows, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    rows.write_text("x\n3\n", encoding="utf-8")
    words = ("map", "x**2", "--points", str(rows))
    settings('format = "jsonl"\n')
    assert gradcli(*words).out == '{"y": 9.0, "dy_dx": 6.0}\n'
    assert gradcli(*words, GRADCLI_FORMAT="tsv").out == "y\tdy_dx\n9.0\t6.0\n"
    assert gradcli(*words, "--format", "csv").out == "y,dy_dx\n9.0,6.0\n"
    assert (gradcli(*words, "-o", str(out)).code, out.read_text(encoding="utf-8")) == (0, "y,dy_dx\n9.0,6.0\n")
    settings('format = "plain"\n')
    assert gradcli(*words).out == "y,dy_dx\n9.0,6.0\n"


WORDS = ("eval", "(1-cos(x))/x**2", "--at", "1e-8", "--format", "plain")
"""A question with another verdict than agree."""


def test_a_switch_of_the_file_is_taken_back_by_a_flag(settings: Write, gradcli: Command) -> None:
    """And a flag turns on again what the file has turned off."""
    settings("strict = true\n")
    assert gradcli(*WORDS).code == 1
    assert gradcli(*WORDS, "--no-strict").code == 0
    assert gradcli(*WORDS, "--no-check").code == 0
    settings("check = false\n")
    assert "not checked" in gradcli("eval", "x", "--at", "1").out
    assert "agree" in gradcli("eval", "x", "--at", "1", "--check").out
    assert gradcli(*WORDS, "--strict").code == 1
    assert gradcli(*WORDS, "--strict", "--no-check").code == 2


@pytest.mark.part("pages")
def test_digits_of_a_default_are_for_tables_of_a_terminal(settings: Write, gradcli: Command, tmp_path: Path) -> None:
    """Data keep all of theirs; typed, they count everywhere, and `all` is all of them."""
    words = ("eval", "x/3", "--at", "1")
    path = settings("digits = 3\n")
    assert " y = 0.333\n" in on_a_terminal(80, *words, GRADCLI_CONFIG=path)
    assert " y = 0.3333\n" in on_a_terminal(80, *words, GRADCLI_CONFIG=path, GRADCLI_DIGITS="4")
    exact = " y = 0.3333333333333333\n"
    assert exact in on_a_terminal(80, *words, GRADCLI_CONFIG=path, GRADCLI_DIGITS="all")
    assert exact in on_a_terminal(80, *words, "--digits", "all", GRADCLI_CONFIG=path)
    assert exact in gradcli(*words, GRADCLI_DIGITS="2").out
    assert json.loads(gradcli(*words, "--json", GRADCLI_DIGITS="2").out)["value"] == 1 / 3
    assert gradcli(*words, "--format", "plain", "--digits", "2").out == "0.33\n"
    assert gradcli(*words, "--format", "plain", "--digits", "all").out == "0.3333333333333333\n"
    array = str(tmp_path / "y.npy")
    assert [gradcli(*words, "-o", array, "--digits", digits).code for digits in ("all", "3")] == [0, 2]


def test_the_pager_is_a_setting(settings: Write) -> None:
    """A command, which GRADCLI_PAGER comes before and PAGER behind, or whether there is one."""
    marking = "sed 's/^/: /'"
    other = "sed 's/^/> /'"

    def first(*words: str, **environment: str) -> str:
        shown = on_a_terminal(80, *words, GRADCLI_CONFIG=path, NO_COLOR="1", **environment)
        return shown if len(shown) < 2 else shown[:2]

    path = settings(f'pager = "{marking}"\n')
    assert first(*LONG, PAGER=other) == ": "
    assert first(*LONG, GRADCLI_PAGER=other) == "> "
    assert first(*LONG, "--no-pager") == "ne"
    path = settings("pager = false\n")
    assert first(*LONG, PAGER=other) == "ne"
    assert first(*LONG, "--pager", PAGER=other) == "> "
    assert first("vjp", "--help", PAGER=other) == "Us"


MISTAKES = {
    'format = "pla"': ('format = "pla" is not one of "table", ', 'write format = "table"'),
    "digits = 40": ('digits = 40 is not a whole number between 1 and 17 or "all"', "write digits = 6"),
    'digits = "4"': ('digits = "4" is not a whole number between 1 and 17 or "all"', "write digits = 6"),
    "strict = 1": ("strict = 1 is not true or false", "write strict = true"),
    "full = true": ("there is no setting full", "the settings are budget, check, "),
    "digit = 4": ("there is no setting digit", "did you mean 'digits'?"),
    "strict = true\nat = 'x=1'": ("there is no setting at", "the settings are budget, check, "),
    "[mapp]\non-error = 'skip'": (
        "[mapp] is a table, and a setting is of all commands",
        "write the settings without [mapp]",
    ),
    "check = false\nstrict = true": ("check = false and strict = true exclude each other", "leave out one"),
    "color = always": ("the settings in ", "a line is NAME = VALUE, with words in quotes"),
}
"""Their messages, and the hints."""


@pytest.mark.parametrize("text", [*MISTAKES, *of_parts.rows("MISTAKES")])
def test_a_mistake_is_an_error_of_the_file(text: str, settings: Write, gradcli: Command) -> None:
    """Of every command that has settings; helps answer, and config, which names it."""
    path = settings(f"{text}\n")
    said, hint = (MISTAKES | of_parts.rows("MISTAKES"))[text]
    streams = [["map", "x", "--points", "none.csv"]] if "map" in all_commands() else []
    for words in (["eval", "x", "--at", "1"], ["functions"], *streams):
        run = gradcli(*words)
        assert (run.code, run.out) == (2, "")
        assert run.err.startswith(f"error: {said}")
        assert f"in {path}" in run.err
        assert f"\nhint: {hint}" in run.err
    shown = gradcli("config")
    assert (shown.code, shown.err) == (2, run.err)
    assert 'format = "table"' in shown.out
    for words in (["--help"], ["eval", "--help"], ["--version"], ["guide", "settings"], ["completion", "zsh"]):
        assert gradcli(*words).code == 0


def test_a_table_of_one_command_is_an_error_of_that_command(settings: Write, gradcli: Command) -> None:
    """Earlier versions read it; all others have the settings in front of it."""
    settings('format = "plain"\n[eval]\ndtype = "float32"\n')
    assert gradcli("grad", "x**2", "--at", "1").out == "2\n"
    for words in (["eval", "x", "--at", "1"], ["config"]):
        run = gradcli(*words)
        assert run.code == 2
        assert run.err.startswith("error: [eval] is a table, and a setting is of all commands (in ")
    assert re.search(r'format = "plain" +# file', run.out)


def test_a_file_that_cannot_be_read(gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is an error, and one that nobody named need not be there."""
    (tmp_path / "bytes").write_bytes(b"\n\xff")
    for name, said in (("bytes", "'utf-8' codec"), ("", "Is a directory"), ("no", "No such file or directory")):
        own = {"GRADCLI_CONFIG": str(tmp_path / name)}
        run = gradcli("eval", "1", **own)
        assert (run.code, run.out, f"cannot be read: {said}" in run.err, "\nhint: " in run.err) == (2, "", True, True)
        assert gradcli("config", **own).code == 2
    assert gradcli("eval", "1", GRADCLI_CONFIG="").code == 0
    monkeypatch.delenv("GRADCLI_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert gradcli("eval", "1").code == 0
    for folder in (tmp_path / ".config", tmp_path / "xdg"):
        (folder / "gradcli").mkdir(parents=True)
        (folder / "gradcli" / "config.toml").write_text(f'format = "{"plain" if folder.name == "xdg" else "csv"}"\n')
    assert gradcli("eval", "1").out.startswith("index,")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert gradcli("eval", "1").out.startswith("index,")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert gradcli("eval", "1").out == "1\n"


@pytest.mark.part("tables")
def test_config_shows_what_is_in_force(settings: Write, gradcli: Command) -> None:
    """Every setting, of the file, with its variable, or as the default that it is."""
    path = settings('#\nformat = "csv"\ncheck = false\ndigits = 3\non-error = "skip"\n')
    lines = [line.split("#") for line in gradcli("config", GRADCLI_DIGITS="4").out.splitlines()]
    assert lines[0] == [f"file: {path}"]
    found = {setting.strip(): where.strip() for setting, where in (line for line in lines if len(line) == 2)}
    own = ('format = "csv"', "check = false", 'on-error = "skip"')
    assert {found[setting] for setting in own} == {"file"}
    assert (found["digits = 4"], found["strict = false"]) == (
        "GRADCLI_DIGITS; in tables on a terminal; elsewhere all, or --digits",
        "default",
    )
    assert "digits = 3" not in found
    assert "GRADCLI_DIGITS=many is not" in gradcli("config", GRADCLI_DIGITS="many").err


@pytest.mark.part("batch")
def test_batch_and_python_read_no_settings(settings: Write, gradcli: Command) -> None:
    """A request is answered alike everywhere."""
    settings('dtype = "float32"\ncheck = false\n')
    answer = json.loads(gradcli("batch", given="eval x --at 1\n").out)
    assert (answer["dtype"], answer["check"]["verdict"]) == ("float64", "agree")
    assert "no such option: --no-strict" in gradcli("batch", given="eval x --at 1 --no-strict\n").out
    settings("nonsense")
    assert gradcli("batch", given="eval x --at 1\n").code == 0


def test_each_default_that_is_shown_may_be_set(gradcli: Command, tmp_path: Path) -> None:
    """A line that `config` prints is one of the file."""
    shown = gradcli("config").out.splitlines()[1:]
    assert len(shown) > 5
    (tmp_path / "own.toml").write_text("\n".join(shown), encoding="utf-8")
    run = gradcli("config", GRADCLI_CONFIG=str(tmp_path / "own.toml"))
    assert run.code == 0, run.err
