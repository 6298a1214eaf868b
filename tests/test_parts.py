"""Parts plug in and out: the core works without any of them, and other packages add their own."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import gradcli
from gradcli.parts import FIRST, PARTS, all_parts
from tests import of_parts, sources
from tests.conftest import Run, process

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "another_part"

QUICK = "tests/cli/test_main_job.py tests/language/test_mathematics.py tests/crosscheck/test_edges.py"
"""Tests of the core that the usual run has without the parts."""

CORE = ("tests", "--ignore=tests/parts", "--ignore=tests/test_parts.py")
"""All tests of the core."""

USUAL = "not benchmark and not thorough and not database"
"""Marks of those that the usual run has."""


def _without(folder: Path, parts: list[str]) -> None:
    """Copy the project to a folder, without some parts, their tests and their lines in the list."""
    kept = [
        name
        for name in (".github", "pyproject.toml", "README.md", "gradcli", "tests", "examples")
        if (ROOT / name).exists()
    ]
    for name in kept:
        source = ROOT / name
        ignored = shutil.ignore_patterns("__pycache__") if name == "tests" else None  # which keeps what is compiled
        _ = shutil.copytree(source, folder / name, ignore=ignored) if source.is_dir() else shutil.copy(source, folder)
    listing = folder / "gradcli" / "parts" / "__init__.py"
    text = listing.read_text(encoding="utf-8")
    for part in parts:
        name = part.rpartition(".")[2]
        shutil.rmtree(folder / "gradcli" / "parts" / name)
        shutil.rmtree(folder / "tests" / "parts" / name, ignore_errors=True)
        text = re.sub(rf'^    "{re.escape(part)}",\n', "", text, flags=re.MULTILINE)
        text = re.sub(rf'"{re.escape(part)}\.\w+", ?', "", text)
        text = re.sub(rf"^{name} .*\n", "", text, flags=re.MULTILINE)
    listing.write_text(text, encoding="utf-8")


def _tested(folder: Path, *words: str) -> str:
    """Run tests of a copy; return what they print if they fail."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    return done.stdout if done.returncode else ""


def test_the_core_needs_no_part(tmp_path: Path) -> None:
    """All of them are deleted, and tests of the core pass."""
    _without(tmp_path, list(PARTS))
    assert _tested(tmp_path, "-n", "0", *QUICK.split()) == ""


@pytest.mark.thorough
def test_no_test_of_the_core_needs_a_part_but_by_its_mark(tmp_path: Path) -> None:
    """All parts are deleted, and all tests of the core pass; `of_parts` skips those that are marked."""
    _without(tmp_path, list(PARTS))
    assert _tested(tmp_path, "-n", "2", "-m", USUAL, *CORE) == ""


def _needs(folder: Path) -> dict[str, frozenset[str]]:
    """Return the parts that each test of the core needs by its mark, in a copy."""
    assert _tested(folder, "-n", "0", "-m", USUAL, "--collect-only", "--needs", "needs.json", *CORE) == ""
    found = json.loads((folder / "needs.json").read_text(encoding="utf-8"))
    return {test: frozenset(parts) for test, parts in found.items()}


@pytest.mark.thorough
def test_a_test_of_the_core_needs_the_parts_alone_that_it_names(tmp_path: Path) -> None:
    """All other parts are deleted, and each marked test passes, and each row that a part adds to a table."""

    def copied(*parts: str) -> Path:
        folder = tmp_path / "-".join(["only", *sorted(parts)])
        if not folder.exists():
            _without(folder, [name for name in PARTS if name.rpartition(".")[2] not in parts])
        return folder

    without_parts = _needs(copied())
    tests: dict[frozenset[str], list[str]] = {}
    for test, parts in _needs(copied(*(name.rpartition(".")[2] for name in PARTS))).items():
        tests.setdefault(parts, []).append(test)
    assert len(tests) > len(PARTS)
    del tests[frozenset()]
    for name in of_parts.FOLDERS:
        own = (test for test, parts in _needs(copied(name)).items() if not parts and test not in without_parts)
        tests.setdefault(frozenset([name]), []).extend(own)
    failed = {parts: said for parts, own in tests.items() if own and (said := _tested(copied(*parts), "-n", "2", *own))}
    assert failed == {}, "\n".join(failed.values())


RESPELLING = ("default_command", "typed_line", "respelling", "respelled_options", "respelled_values", "spelled_hints")
"""Modules of the core that find what a wrong command line means."""


@pytest.mark.parametrize("name", RESPELLING)
def test_what_a_wrong_line_means_names_no_command_of_a_part(name: str) -> None:
    """A part says by its `Command` what may be meant as it, and takes that with it."""
    names = "|".join(command for part in all_parts() for command in part.COMMANDS)
    tree = sources.tree(next(Path(gradcli.__file__).parent.glob(f"cli/**/{name}.py")))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)}
    assert [
        one for one in texts if one not in docstrings and re.search(rf"^({names})$|\bgradcli ({names})\b", one)
    ] == []


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def test_every_part_is_listed() -> None:
    """A folder each, and no line without one."""
    folder = Path(gradcli.__file__).parent / "parts"
    assert sorted(path.name for path in folder.iterdir() if (path / "__init__.py").exists()) == sorted(
        name.rpartition(".")[2] for name in PARTS
    )
    assert all(name.rpartition(".")[0] in PARTS for name in FIRST)
    assert len(all_parts()) == len(PARTS)


def test_what_is_asked_for_is_a_part() -> None:
    """By `is_listed`, in the package and in tests of the core: what a part has no name for would never be there."""
    files = [path for folder in ("gradcli", "tests") for path in (ROOT / folder).rglob("*.py")]
    asked = {name for path in files for name in re.findall(r'^[^">\n]*\bis_listed\("(\w+)"\)', path.read_text(), re.M)}
    assert {"claims", "warm"} <= asked
    assert of_parts.missing(tuple(asked)) == []


def test_a_mark_names_parts_that_there_are(request: pytest.FixtureRequest) -> None:
    """Of all tests of this run: one with the name of a part that there never was would never run."""
    marks = (mark for item in request.session.items for mark in item.iter_markers("part"))
    assert of_parts.missing(tuple(name for mark in marks for name in mark.args)) == []


def _installed(folder: Path, target: str = "gradcli_condition:PART") -> dict[str, str]:
    """Install the example into a folder as pip does, and return an environment that finds it."""
    shutil.copy(EXAMPLE / "gradcli_condition.py", folder)
    info = folder / "gradcli_condition-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gradcli-condition\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[gradcli.parts]\ncondition = {target}\n", encoding="utf-8")
    return {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', ROOT)}", "GRADCLI_WARM": "0"}


def _shell(environment: dict[str, str], *words: str) -> Run:
    return process(sys.executable, "-m", "gradcli", *words, given=None, cwd=None, **environment)


SEVERAL = """
import contextlib, io, json, sys
from gradcli import Function
from gradcli.cli import main
runs = []
for words in json.loads(sys.argv[1]):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    runs.append((code, *(stream.buffer.getvalue().decode() for stream in (out, err))))
print(json.dumps([runs, eval(sys.argv[2])]))
"""


def _answers(environment: dict[str, str], *lines: Sequence[str], python: str = "''") -> tuple[list[Run], str]:
    """Run command lines one after the other in one process, and then an expression of Python."""
    run = process(sys.executable, "-c", SEVERAL, json.dumps(lines), python, given=None, cwd=None, **environment)
    runs, text = json.loads(run.out)
    return [Run(*one) for one in runs], text


def test_another_package_adds_a_command(tmp_path: Path) -> None:
    """By an entry point; it is in the help, has one of its own, and its errors are as ours."""
    environment = _installed(tmp_path)
    (run, listed, own, config, option, wrong), _ = _answers(
        environment,
        ["condition", "x - 1", "--at", "1.001"],
        ["--help"],
        ["condition", "--help"],
        ["config"],
        ["vjp", "x**2", "--foo", "1"],
        ["condition", "x -", "--at", "1"],
    )
    assert (run.code, run.out) == (0, "condition number: 1001   J: agree\n"), run.err
    assert "condition " in listed.out
    assert "‖J‖·‖x‖/‖y‖" in own.out
    assert config.code == 0
    assert "no such option" in option.err.lower()
    assert wrong.code == 2
    assert wrong.err.startswith("error: ")


@pytest.mark.thorough
def test_another_package_adds_a_format(tmp_path: Path) -> None:
    """On the screen and in a file; the help, errors and `f"{answer:verdict}"` know it, and the formats of the core."""
    environment, path = _installed(tmp_path), tmp_path / "a.verdict"
    (shown, written, listed, suffix), text = _answers(
        environment,
        ["grad", "x**2", "--at", "3", "--format", "verdict"],
        ["grad", "abs(x)", "--at", "0", "-o", str(path)],
        ["grad", "--help"],
        ["grad", "x", "--at", "1", "-o", "a.b"],
        python="f'{Function(\"x**2\").grad(3.0):verdict}'",
    )
    assert (shown.code, shown.out) == (0, "agree\n"), shown.err
    assert (written.code, written.out, path.read_text(encoding="utf-8")) == (0, "", "kink\n"), written.err
    assert "|html|verdict>" in re.sub(r"\s", "", listed.out)
    assert ".htm, .verdict;" in suffix.err.replace("\n", " ")
    assert text == "agree"


def test_the_example_names_the_group_that_is_read() -> None:
    """The entry point of its project."""
    text = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points."gradcli.parts"]\ncondition = "gradcli_condition:PART"' in text


@pytest.mark.parametrize("target", ["gradcli_condition:MISSING", "gradcli_condition:condition", "missing:PART"])
def test_a_part_that_cannot_be_loaded_is_named(target: str, tmp_path: Path) -> None:
    """With the package to take away."""
    run = _shell(_installed(tmp_path, target), "vjp", "x**2", "--at", "1")
    assert run.code == 2
    assert "gradcli-condition" in run.err
