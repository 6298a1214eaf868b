"""The README, the guide and the examples are executed, and what they show is what happens."""

import doctest
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradcli import guide
from gradcli.cli.expression import EXIT_CODES
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.crosscheck.rounding import RESIDUE
from gradcli.language.ops import Kind
from gradcli.results import SEVERITY
from tests import command_reference, generated, json_schema, row_fields, warm
from tests.conftest import Command, Run, process
from tests.language import operation_count

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = {page: generated.GUIDE / f"{page}.md" for page in guide.PAGES}
DOCUMENTS = [README, *PAGES.values(), row_fields.PAGE]
LONGEST = 200
"""Lines of a front page."""

OPENING = ['pip install . && gradcli vjp "x**2" --at 1,2 --v 1,1', "pip install -e '.[dev]' && pytest"]
"""The two commands that do everything on a fresh machine; `.ci/run` executes both as they stand in the README."""

EXIT = ' || echo "exit code $?"'
"""End of a command line that shows the exit code of a failure."""

GOLDENS = Path(__file__).parent / "goldens" / "examples"
INSTALLED = "snippet.py"
"""The example that runs with the installed package in a fresh Python, which starts for two seconds."""


def _blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def _commands(*documents: Path) -> list[tuple[str, str]]:
    """Every `$` line of the documents with the output below it; what stands in two places comes once."""
    parts = [
        part.partition("\n")
        for document in documents
        for block in _blocks(document, "console")
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    return list(dict.fromkeys((command, output) for command, _, output in parts if command not in OPENING))


COMMANDS = [
    (command, output)
    for command, output in _commands(*(document for document in DOCUMENTS if document != row_fields.PAGE))
    if "--scheduler" not in command  # for which `tests.parts.tables` starts one
]
"""Commands that gradcli answers as it is, without the row that the page on rows adds."""


def _tables() -> None:
    """The files of the page on large tables, in the working directory."""
    for name in ("data", "tables/2023", "tables/2024"):
        Path(name).mkdir(parents=True)
    day, x, z = ["mon", "tue", "wed"], [1.0, None, 0.5], [3.0, 4.0, 5.0]
    pq.write_table(pa.table({"day": day, "x": x, "z": z}), "data/a.parquet")
    pq.write_table(pa.table({"day": day[:2], "x": [2.0, 3.0], "z": z[:2]}), "data/b.parquet")
    for place, year in enumerate(("2023", "2024"), 1):
        pq.write_table(pa.table({"x": [float(place)]}), f"tables/{year}/rows.parquet")
    Path("rows.csv").write_text("x\n1\n2\n3\n4\n", encoding="utf-8")


def _words(document: Path) -> list[str]:
    """The code within the prose of a document."""
    prose = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]+)`", prose)


def _run(line: str, gradcli: Command) -> Run:
    """A command line, before which `echo` or `printf '%s\\n'` may write lines to a pipe."""
    words, sent = shlex.split(line.removesuffix(EXIT)), None
    if "|" in words:
        start, end = {"echo": 1, "printf": 2}[words[0]], words.index("|")
        sent = "".join(f"{word}\n" for word in words[start:end])
        words = words[end + 1 :]
    assert words[0] == "gradcli"
    run = gradcli(*words[1:], given=sent)
    shown = f"exit code {run.code}\n" if line.endswith(EXIT) and run.code else ""
    return Run(run.code, f"{run.out}{shown}", run.err)


def _listed(gradcli: Command) -> list[tuple[str, str]]:
    """The commands of the help, with what it says of them."""
    groups = gradcli("--help").out.partition("\n\nOptions:")[0].split("\n\n")[2:]
    assert all(re.match(r"[A-Z][\w ]+:\n", group) for group in groups)
    assert not any(group.startswith("Others:") for group in groups)
    commands = re.findall(r"^  (\w+)  +(\S.*)$", "\n".join(groups), re.MULTILINE)
    assert commands[0][0] == "vjp"
    return commands


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_of_a_document_prints_what_is_shown(
    command: str, output: str, gradcli: Command, request: pytest.FixtureRequest
) -> None:
    """Stdout, or the message of a mistake; a failure shows its exit code, or says that it is one."""
    if "-o " in command or re.search(r"--points (?!-)", command):
        request.getfixturevalue("folder")
        _tables()
    run = _run(command, gradcli)
    if request.config.getoption("--update-goldens"):  # with -n 0, as a document has several commands
        for document in DOCUMENTS:
            text = document.read_text(encoding="utf-8")
            text = text.replace(f"$ {command}\n{output}", f"$ {command}\n{run.out + run.err}")
            document.write_text(text, encoding="utf-8")
        return
    assert run.out + run.err == output
    said = output.rstrip().rpartition("\n")[2]
    wrong = run.err.startswith("error: ") or '"error": ' in run.out + run.err
    assert run.code == (2 if wrong else int(said.startswith(("did not pass", "exit code"))))


def test_the_readme_opens_with_the_two_commands() -> None:
    """One runs the main job, one passes the tests."""
    assert _blocks(README, "console")[0].splitlines() == [f"$ {command}" for command in OPENING]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_the_python_of_a_document_runs(document: Path) -> None:
    """As a doctest, where it has a prompt."""
    results = doctest.testfile(str(document), module_relative=False, encoding="utf-8")
    assert bool(results.attempted) == (document in (README, PAGES["tour"], PAGES["scripting"]))
    assert not results.failed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_names_commands_and_options_that_exist(document: Path, gradcli: Command) -> None:
    """In its prose too; links lead to files, and to headings in them."""
    commands = {name for name, _ in _listed(gradcli)}
    _, reference, _ = generated.split(command_reference.PAGE.read_text(encoding="utf-8"), "command_reference")
    for words in _words(document):
        command = re.match(r"gradcli (\w+)", words)
        assert command is None or command[1] in commands, words
        for option in [] if words.startswith("dask ") else re.findall(r"(?<!\S)--[\w-]+", words):
            assert option in ("--help", "--version") or f"`{option}" in reference, words
    for target in re.findall(r"\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        found = document.parent / path if path else document
        assert found.exists(), target
        assert not anchor or anchor in _anchors(found.read_text(encoding="utf-8")), target


def _anchors(text: str) -> set[str]:
    """The headings of a document as GitHub links to them."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_is_a_front_page(gradcli: Command) -> None:
    """Short, with every command, every verdict and every page of the guide, which has every exit code."""
    text = README.read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST
    assert re.findall(r"^\| `gradcli (\w+)` \| (.*) \|$", text, re.MULTILINE) == _listed(gradcli)
    assert re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE) == list(SEVERITY)
    assert set(re.findall(r"\(gradcli/guide/(.*?)\.md\)", text)) == set(guide.PAGES)
    codes = guide.text("scripting").partition("## Exit codes\n")[2].partition("Ctrl-C")[0]
    assert re.findall(r"\b\d+\b", codes) == re.findall(r"\b\d+\b", EXIT_CODES)


def test_every_page_of_the_guide_is_listed() -> None:
    """And begins with its title."""
    assert sorted(guide.PAGES) == sorted(path.stem for path in generated.GUIDE.glob("*.md"))
    for page, path in PAGES.items():
        assert path.read_text(encoding="utf-8").startswith(f"# {guide.title(page)}\n\n")


GENERATED = {
    "command_reference": (command_reference.PAGE, command_reference.reference),
    "row_fields": (row_fields.PAGE, row_fields.tables),
    "json_schema": (json_schema.PAGE, json_schema.tables),
    "language.operation_count": (operation_count.PAGE, operation_count.table),
}


@pytest.mark.parametrize("module", GENERATED)
def test_what_is_generated_is_in_step(module: str) -> None:
    """`python -m tests.command_reference` and `python -m tests.row_fields` renew it."""
    page, part = GENERATED[module][0], GENERATED[module][1]()
    text = page.read_text(encoding="utf-8")
    assert text == generated.renewed(text, module, part)
    changed = text.replace(generated.begin(module), f"{generated.begin(module)}stale")
    assert generated.renewed(changed, module, part) == text


def test_the_guide_says_all_that_a_row_can_hold() -> None:
    """Every field is in the docstring that its table is made of, and every kind is named."""
    for facts in row_fields.holders():
        assert list(row_fields.documented(facts)) == [field.name for field in fields(facts)]
    words = _words(row_fields.PAGE)
    assert {kind.value for kind in Kind} <= set(words)


def test_the_row_of_the_guide_is_all_that_its_operation_needs(tmp_path: Path) -> None:
    """Put into the table of a copy, it has the derivative and the proof that the guide shows; a primitive is there."""
    row, primitive = (f"{textwrap.indent(row.rstrip(), '    ')},\n" for row in _blocks(row_fields.PAGE, "python"))
    shutil.copytree(ROOT / "gradcli", tmp_path / "gradcli")
    table = tmp_path / "gradcli" / "language" / "ops" / "arithmetic.py"
    assert primitive in table.with_name("special_functions.py").read_text(encoding="utf-8")
    rows, end, rest = table.read_text(encoding="utf-8").rpartition(")\n")
    table.write_text(f"{rows}{row}{end}{rest}", encoding="utf-8")
    commands = _commands(row_fields.PAGE)
    script = "import json, sys; from gradcli.cli import main; sys.exit(any(map(main, json.loads(sys.argv[1]))))"
    lines = json.dumps([shlex.split(command)[1:] for command, _ in commands])
    run = process(sys.executable, "-c", script, lines, cwd=tmp_path)
    assert run == Run(0, "".join(output for _, output in commands), "")


@pytest.mark.usefixtures("folder")
def test_every_example_of_the_help_runs(gradcli: Command) -> None:
    """As printed; `warm` starts a process, which `tests.warm` does."""
    Path("data.csv").write_text("x,n\n1,2\n3,4\n", encoding="utf-8")
    pq.write_table(pa.table({"x": [[1.0, 2.0]]}), "points.parquet")
    Path("data").mkdir()
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]}), "data/rows.parquet")
    Path("train.py").write_text("import torch\nx = torch.ones((), requires_grad=True)\n(x**2).backward()\n")
    for name in ("--help", *(name for name, _ in _listed(gradcli) if name != "warm")):
        shown = gradcli(*([name] if name == "--help" else [name, "--help"])).out
        examples = re.findall(r"^ +((?:echo .* \| )?gradcli .*)$", shown, re.MULTILINE)
        assert examples
        for example in examples:
            run = _run(example, gradcli)
            assert run.code == 0, (example, run.err)


_NO_SCRIPTS = ("notebook", "test_", "another_part", "__")
EXAMPLES = sorted(one for one in (ROOT / "examples").iterdir() if not one.name.startswith(_NO_SCRIPTS))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_what_is_recorded(example: Path, require_recorded: Callable[[Path, str], None]) -> None:
    """Scripts find the command on the PATH; Python examples the installed package."""
    folder = Path(sys.executable).parent if example.name == INSTALLED else warm.folder()
    program = {".py": [f"{folder}/python"], ".mk": ["make", "-sf"]}.get(example.suffix, ["sh"])
    if shutil.which(program[0]) is None:
        pytest.skip("there is no make here")
    run = process(*program, str(example), PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert (run.code, run.err) == (0, "")
    require_recorded(GOLDENS / f"{example.name}.txt", run.out)


def test_the_guide_says_what_each_verdict_promises() -> None:
    """One line for each, in the order of severity, with the tolerances that are in force."""
    page = guide.text("verdicts")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(SEVERITY)
    assert (TOLERANCE["float64"].rtol, TOLERANCE["float32"].rtol) == (2.0**-30, 2.0**-16)
    assert "2⁻³⁰·|truth| (2⁻¹⁶ in float32)" in page
    assert (RESIDUE, "2⁻⁵² (2⁻²³ in float32)" in " ".join(page.split())) == (2, True)
