"""The page for contributors: its commands can be typed, and name what there is."""

import itertools
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
COMMANDS = re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE)
MARKERS = {line.partition(":")[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_of_the_shell(command: str) -> None:
    """Bash reads it, and it selects tests by a marker that there is."""
    assert subprocess.run(["bash", "-n", "-c", command], check=False).returncode == 0
    words = shlex.split(command)
    if words[0] == "pytest" and "-m" in words:
        assert words[words.index("-m") + 1] in MARKERS
    assert not words[0].startswith(".") or (ROOT / words[0]).exists() or not (ROOT / ".git").exists()


def test_each_marker_has_a_command() -> None:
    """A test that no command runs is none; a mark with arguments chooses none."""
    assert {marker for marker in MARKERS if f"$ pytest -m {marker}" in PAGE or "(" in marker} == MARKERS


def test_the_lowest_versions_are_those_of_all_that_users_install() -> None:
    """The dependencies and each extra but the tools of development; each has a lower bound."""
    (compiled,) = [shlex.split(command) for command in COMMANDS if "--resolution lowest-direct" in command]
    (installed,) = [shlex.split(command) for command in COMMANDS if "--constraint" in command]
    extras = {word for before, word in itertools.pairwise(compiled) if before == "--extra"}
    optional = PROJECT["project"]["optional-dependencies"]
    assert extras == set(optional) - {"dev"}
    assert "pyproject.toml" in compiled
    assert compiled[compiled.index("-o") + 1] == installed[installed.index("--constraint") + 1]
    listed = [*PROJECT["project"]["dependencies"], *(one for extra in extras for one in optional[extra])]
    assert [one for one in listed if ">=" not in one] == []


NAMED = re.findall(r"`(?:pytest )?((?:gradcli|tests|examples)/[\w/.]+)`((?:[, ]+`\w+`)*)", PAGE)


def _marks(path: str) -> tuple[pytest.MarkDecorator, ...]:
    """A file of a part, and of its tests, is there with it."""
    found = re.match(r"\w+/parts/(\w+)/", path)
    return (pytest.mark.part(found[1]),) if found else ()


@pytest.mark.parametrize(
    ("path", "names"), [pytest.param(*one, id="".join(one), marks=_marks(one[0])) for one in NAMED]
)
def test_a_file_that_is_named_has_what_is_named_after_it(path: str, names: str) -> None:
    """Its functions, classes and options."""
    assert (ROOT / path).exists()
    if path.endswith(".py"):
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            assert re.search(rf"^(?:def |class )?{name}\b", text, re.MULTILINE), name


def test_each_stage_and_each_place_to_add_to_is_named() -> None:
    """Those that a newcomer asks for."""
    stages = re.findall(r"^\| ([\w ]+) \| `", PAGE, re.MULTILINE)
    assert len(stages) >= 11
    for what in ("An operation", "A command", "A part", "An adviser", "A format", "A verdict"):
        assert f"**{what}**" in PAGE
