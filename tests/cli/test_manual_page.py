"""The manual page: all that the helps say, in a troff that man takes without a word."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from gradcli.cli.groups import GROUPS
from gradcli.cli.manual_page import escaped
from gradcli.options import OPTIONS
from tests.conftest import Command


@pytest.fixture
def page(gradcli: Command) -> str:
    """The source."""
    run = gradcli("guide", "--man")
    assert (run.code, run.err) == (0, "")
    return run.out


def _shown(source: str, device: str) -> str:
    """The page as groff sets it, with every warning that it has."""
    if not shutil.which("groff"):
        pytest.skip("no groff here")
    words = ["groff", "-man", "-ww", f"-T{device}", "-P-c", "-rLL=200n"]
    done = subprocess.run(words, input=source, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return re.sub(r".\x08", "", done.stdout)


@pytest.mark.parametrize("device", ["ascii", "utf8"])
def test_it_is_set_without_a_warning_and_says_what_the_helps_say(device: str, page: str, gradcli: Command) -> None:
    """Every command, its examples, every option, the environment and the exit codes."""
    shown = " ".join(_shown(page, device).split())
    for name in (name for names in GROUPS.values() for name in names):
        help_text = gradcli(name, "--help").out
        assert f" gradcli {name}" in shown
        for example in re.findall(r"^ +((?:echo .* \| )?gradcli .*)$", help_text, re.MULTILINE):
            assert " ".join(example.split()) in shown
    for option in OPTIONS:
        assert not option.help or f" {option.flag} " in shown or f" {option.flag}, " in shown
        assert all(f"<{'|'.join(option.choices)}>" in shown for _ in option.choices)
    for line in gradcli("--help").out.partition("Environment, ")[2].partition("Options:")[0].splitlines()[1:]:
        assert line.strip().rstrip(":") in shown or line == "  Exit codes:"
    titles = [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "COMMANDS",
        "OPTIONS",
        "ENVIRONMENT",
        "EXIT STATUS",
        "EXAMPLES",
        "FILES",
    ]
    assert re.findall(r"^\.SH (.*)$", page, re.MULTILINE) == [*titles, "SEE ALSO"]


def test_nothing_of_it_is_taken_for_troff(page: str) -> None:
    """Only the requests that are meant, ASCII, and signs of troff as they are."""
    assert page.isascii()
    requests = {".TH", ".nh", ".ad", ".SH", ".br", ".SS", ".TP", ".sp", ".nf", ".fi"}
    assert {line.split()[0] for line in page.splitlines() if line.startswith(".")} == requests
    assert not any(line.startswith("'") or not line for line in page.splitlines())
    assert set(re.findall(r"\\(.\(?)", page)) <= {"-", "f", "(", "e", "&"} | {f"({sign}" for sign in "aghtd"} | {"(("}
    assert not re.search(r"(?<!\\)-", page.replace("User Commands", ""))


@pytest.mark.parametrize("text", [".x", "'x'", r"a\b", "x - y", "~/.x^2`", '"q"', "...", r"\fBx"])
def test_a_text_is_seen_as_it_is(text: str) -> None:
    """Whatever it begins with."""
    assert text in _shown(f".TH T 1\n{escaped(text)}\n", "ascii")


def test_it_is_the_whole_guide_or_a_page(gradcli: Command) -> None:
    """And not both."""
    run = gradcli("guide", "tour", "--man")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: --man and a page exclude each other")
