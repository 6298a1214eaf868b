"""Escape sequences and marks that turn text around, through every route into every format: none comes out raw."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Command, Run

EVIL = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202eback\u2066\u200b\x7f\x08"
FORMATS = ("table", "markdown", "latex", "csv", "plain", "json")
COMMENT = f"  # {EVIL}"
COMMANDS = (
    ("vjp", "--v", "1,1"),
    ("vjp", "--loss", f"sum(y**2){COMMENT}"),
    ("jvp", "--u", "1,1"),
    ("check",),
    ("check", "--claim", f"2*x{COMMENT}"),
    ("explain", "--v", "1,1"),
    ("graph", "--v", "1,1"),
    ("code", "--v", "1,1"),
    ("hessian",),
    ("hvp", "--u", "1,1"),
)
SCALAR = f"y = x**3{COMMENT}\nsum(abs(y)){COMMENT}"
TEXT = f"y = x**2{COMMENT}\nz = sqrt(y){COMMENT}\nz*x{COMMENT}"


def _require_clean(run: Run) -> None:
    assert run.out + run.err
    for stream in (run.out, run.err):
        assert all(line.isprintable() for line in stream.split("\n")), repr(stream)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]).split("=")[0])
@pytest.mark.one_in(6)
def test_comments(words: tuple[str, ...], form: str, gradcli: Command) -> None:
    """Of the expression, of a claim and of a loss."""
    text = SCALAR if words[0] in ("hessian", "hvp") else TEXT
    _require_clean(gradcli(words[0], text, "--at", "0,-2", *words[1:], "--format", form))


WRONG = [
    ["eval", f"x{EVIL}", "--at", "1"],
    ["eval", f"'{EVIL}'", "--at", "1"],
    ["eval", "x", "--at", f"x{EVIL}=1"],
    ["eval", "x", "--at", f"1{EVIL}"],
    ["eval", "x", "--at", f"[1,2]{COMMENT}\n3"],
    ["eval", "x", "--at", f"@{EVIL}.csv"],
    ["eval", f"@{EVIL}.txt", "--at", "1"],
    ["eval", "x", f"--{EVIL}", "1"],
    ["eval", "x", "--at", "1", "--format", EVIL],
    ["eval", "x", "--at", "1", "-o", f"/nowhere/{EVIL}.json"],
    ["vjp", "x", "--at", "1,2", "--v", f"e{EVIL}"],
    ["vjp", "x", "--at", "1,2", "--v", "1,1", "--wrt", EVIL],
    ["check", "x**2", "--at", "1", "--claim", EVIL],
    ["check", "x**2", "--box", f"x={EVIL}"],
    ["check", "x**2", "--at", "1", "--allow", EVIL],
    ["functions", EVIL],
    [EVIL],
]


@pytest.mark.parametrize(
    "words",
    WRONG,
    ids=lambda words: " ".join(words).encode("ascii", "ignore").decode().translate(dict.fromkeys(range(32)))[:40],
)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_what_is_wrong(words: list[str], more: list[str], gradcli: Command) -> None:
    """Names, values, files, options: the message shows them, and stays a message."""
    run = gradcli(*words, *more)
    assert run.code in (2, 74)
    assert run.out == ""
    _require_clean(run)


def test_the_name_of_an_array_in_an_archive(gradcli: Command, tmp_path: Path) -> None:
    """It is listed where another was asked for."""
    path = tmp_path / "a.npz"
    np.savez(path, **{EVIL: np.ones(2)})  # type: ignore[arg-type]
    run = gradcli("eval", "x", "--at", f"x=@{path}:x")
    assert run.code == 2
    _require_clean(run)


@pytest.mark.part("tables")
@pytest.mark.parametrize("mode", ["fail", "skip", "nan"])
def test_cells_and_names_of_a_stream(mode: str, gradcli: Command, folder: Path) -> None:
    """The line about the first row at fault, and the check; kept cells are data, and stay in CSV as they are."""
    path = Path(f"in{EVIL}.csv".replace("/", ""))
    path.write_text("\n".join(["x", "1", EVIL, "2"]), encoding="utf-8")
    run = gradcli("map", f"x**2{COMMENT}", "--points", str(path), "--on-error", mode, "--check")
    _require_clean(run)
    assert run.code == (2 if mode == "fail" else 0)


def test_requests_of_a_batch(gradcli: Command) -> None:
    """JSON escapes by itself, and so does what is said of its lines."""
    requests = [{"command": EVIL}, {"command": "eval", "expression": TEXT, "at": {"x": 2}}, {EVIL: 1}, EVIL]
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in requests) + EVIL + "\n"
    _require_clean(gradcli("batch", given=lines))


def test_a_terminal_gets_no_sequence_but_our_colours(gradcli: Command) -> None:
    """With colours on, what was typed has none; in JSON every character comes back as it was."""
    assert json.loads(gradcli("eval", TEXT, "--at", "2", "--json").out)["expression"] == TEXT
    run = gradcli("vjp", TEXT, "--at", "1,2", "--v", "1,1", "--color", "always")
    assert "\x1b[31mred" not in run.out
    assert "\x1b]0" not in run.out
    assert not set("\x07\x9b\u202e\u2066\u200b\x7f\x08") & set(run.out)
