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
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.crosscheck.rounding import RESIDUE
from gradcli.language.ops import Kind
from gradcli.registry import all_commands
from gradcli.results import SEVERITY
from tests import documents, generated, json_schema, row_fields, screenshot, warm
from tests.command_lines import CommandLine, require, run
from tests.conftest import Command, Run, process
from tests.documents import COMMANDS, DOCUMENTS, OPENING, PAGES, README, blocks, commands, words
from tests.language import operation_count

ROOT = Path(__file__).parent.parent
GOLDENS = Path(__file__).parent / "goldens" / "examples"
INSTALLED = "snippet.py"
"""The example that runs with the installed package in a fresh Python, which starts for two seconds."""


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


ROWS = [
    pytest.param(
        one,
        id=one.line,
        marks=[
            pytest.mark.part(*documents.parts_needed(one)),
            pytest.mark.skipif(documents.command_of(one.line) not in all_commands(), reason="its part is not there"),
        ],
    )
    for one in COMMANDS
]


@pytest.mark.parametrize("one", ROWS)
def test_a_command_of_a_document_prints_what_is_shown(
    one: CommandLine, gradcli: Command, updates: bool, request: pytest.FixtureRequest
) -> None:
    """Stdout, or the message of a mistake; a failure shows its exit code, or says that it is one."""
    if "-o " in one.line or re.search(r"--points (?!-)", one.line):
        request.getfixturevalue("folder")
        _tables()
    require(one, gradcli, updates=updates)


PICKED = [
    pytest.param(*found.groups(), id=found[1])
    for page in DOCUMENTS
    for found in re.finditer(
        r"`(gradcli [^`|]* --json) \| jq (?:-[rc] )?(\.[\w.]+)` prints\s+`([^`]*)`", page.read_text(encoding="utf-8")
    )
]
"""Commands in prose whose JSON jq takes something out of: the command, the place, and what is printed."""


@pytest.mark.parametrize(("line", "place", "printed"), PICKED)
def test_what_is_picked_of_json_in_prose_is_there(line: str, place: str, printed: str, gradcli: Command) -> None:
    """By the keys that jq is given."""
    found = json.loads(run(line, gradcli).out)
    for key in place.strip(".").split("."):
        found = found[key]
    assert (found if isinstance(found, str) else json.dumps(found, separators=(",", ":"))) == printed


def test_the_place_of_the_verdict_is_on_the_page_of_json() -> None:
    """For whoever asks jq for it."""
    assert ".check.verdict" in {place for param in PICKED for place in param.values[1:2]}


CELLS = {page: re.findall(r"`(gradcli [^`]*\"[^`]*)`", guide.text(page)) for page in ("coming-from",)}
"""Commands in the tables of a page, which show no answer."""


@pytest.mark.part("claims", "closed_forms", "code", "plot")
@pytest.mark.parametrize("page", CELLS)
def test_the_commands_in_the_tables_of_a_page_are_answered(page: str, gradcli: Command) -> None:
    """Or judged, where one is there for its verdict."""
    assert len(CELLS[page]) > 20
    for line in dict.fromkeys(CELLS[page]):
        assert run(line, gradcli).code == 0, line


def test_the_readme_opens_with_the_two_commands() -> None:
    """One runs the main job, one passes the tests."""
    assert blocks(README, "console")[0].splitlines() == [f"$ {command}" for command in OPENING]


@pytest.mark.part("improve")
def test_the_picture_of_the_readme_is_what_a_terminal_shows() -> None:
    """On both grounds, each shown where the reader's colours are such."""
    text, shown = README.read_text(encoding="utf-8"), screenshot.screen()
    for ground in screenshot.GROUNDS:
        kept = screenshot.path(ground)
        assert screenshot.lines(kept.read_text(encoding="utf-8")) == screenshot.lines(screenshot.draw(shown, ground))
        assert f'="{kept.relative_to(ROOT).as_posix()}">' in text
    assert all(f"$ {command}\n" in text + guide.text("tour") for command in screenshot.COMMANDS)


_OF_CODE = ["claims", "running"]
NEEDED = {
    README: _OF_CODE,
    PAGES["tour"]: ["claims"],
    PAGES["python"]: [*_OF_CODE, "closed_forms"],
    PAGES["gradcheck"]: _OF_CODE,
}
"""Parts whose methods the Python of a document calls."""

PYTHON = [pytest.param(one, id=one.stem, marks=pytest.mark.part(*NEEDED.get(one, []))) for one in DOCUMENTS]


@pytest.mark.parametrize("document", PYTHON)
def test_the_python_of_a_document_runs(document: Path) -> None:
    """As a doctest, where it has a prompt."""
    results = doctest.testfile(str(document), module_relative=False, encoding="utf-8")
    assert bool(results.attempted) == (
        document in (README, *map(PAGES.get, ("tour", "python", "gradcheck", "scripting")))
    )
    assert not results.failed


def test_every_page_of_the_guide_is_listed() -> None:
    """And begins with its title."""
    assert sorted(guide.PAGES) == sorted(path.stem for path in generated.GUIDE.glob("*.md"))
    for page, path in PAGES.items():
        assert path.read_text(encoding="utf-8").startswith(f"# {guide.title(page)}\n\n")


LONGEST = 15
"""Lines of prose in a section, so that it is read at a glance."""


@pytest.mark.parametrize("page", guide.PAGES)
def test_a_section_is_short(page: str) -> None:
    """But for code, tables and what is generated."""
    apart = r"^<!-- generated.*?^<!-- end of.*?$|^```.*?^```$|^\|.*?$"
    for section in guide.sections(page):
        prose = re.sub(apart, "", section.own, flags=re.MULTILINE | re.DOTALL).splitlines()[1:]
        assert len([line for line in prose if line]) <= LONGEST, section.heading


GENERATED = {
    "row_fields": (row_fields.PAGE, row_fields.tables),
    "json_schema": (json_schema.PAGE, json_schema.tables),
    "language.operation_count": (operation_count.PAGE, operation_count.table),
}


@pytest.mark.parametrize("module", GENERATED)
def test_what_is_generated_is_in_step(module: str) -> None:
    """`python -m tests.row_fields` renews it, and so for the others."""
    page, part = GENERATED[module]
    documents.require_in_step(module, page, part())


def test_the_guide_says_all_that_a_row_can_hold() -> None:
    """Every field is in the docstring that its table is made of, and every kind is named."""
    for facts in row_fields.holders():
        assert list(row_fields.documented(facts)) == [field.name for field in fields(facts)]
    named = words(row_fields.PAGE)
    assert {kind.value for kind in Kind} <= set(named)


@pytest.mark.part("claims")
@pytest.mark.thorough
def test_the_row_of_the_guide_is_all_that_its_operation_needs(tmp_path: Path) -> None:
    """Put into the table of a copy, it has the derivative and the proof that the guide shows; a primitive is there."""
    row, primitive = (f"{textwrap.indent(row.rstrip(), '    ')},\n" for row in blocks(row_fields.PAGE, "python"))
    shutil.copytree(ROOT / "gradcli", tmp_path / "gradcli")
    table = tmp_path / "gradcli" / "language" / "ops" / "arithmetic.py"
    assert primitive in table.with_name("special_functions.py").read_text(encoding="utf-8")
    rows, end, rest = table.read_text(encoding="utf-8").rpartition(")\n")
    table.write_text(f"{rows}{row}{end}{rest}", encoding="utf-8")
    asked = commands(row_fields.PAGE)
    script = "import json, sys; from gradcli.cli import main; sys.exit(any(map(main, json.loads(sys.argv[1]))))"
    lines = json.dumps([shlex.split(one.line)[1:] for one in asked])
    found = process(sys.executable, "-c", script, lines, cwd=tmp_path)
    assert found == Run(0, "".join(one.printed for one in asked), "")


_NO_SCRIPTS = ("notebook", "test_", "another_part", "__")
NEEDED_BY_EXAMPLES = {
    "csv-gradients.sh": ["tables"],
    "custom_backward.py": ["claims", "running"],
    "derivatives-in-pytorch.sh": ["tables"],
    "gradients.mk": ["claims"],
    "how-backward-works.sh": ["explain", "paste"],
    "nan-hunt.sh": ["claims", "improve"],
    "paste.sh": ["paste"],
    "reaction_diffusion.py": ["sparse"],
    "recheck.sh": ["claims", "warm"],
    "softmax-jacobian.sh": ["claims", "code", "pages"],
    "sparse-newton.sh": ["sparse"],
    "sparse_newton.py": ["sparse"],
    "steps.py": ["running"],
    "verify_gradient.sh": ["claims", "improve"],
    "warm-loop.sh": ["batch"],
    "what-is-the-gradient-argument.sh": ["claims", "explain"],
    "opaque_calls.py": ["running"],
    "your_code.py": ["claims", "running"],
}
"""Parts whose commands an example calls, or in whose words it is written."""

SLOW_EXAMPLES = ("sparse-newton.sh", "sparse_newton.py")
"""Examples of many large matrices, for the thorough run."""

EXAMPLES = [
    pytest.param(
        one,
        id=one.name,
        marks=[
            pytest.mark.part(*NEEDED_BY_EXAMPLES.get(one.name, [])),
            *([pytest.mark.thorough] if one.name in SLOW_EXAMPLES else []),
        ],
    )
    for one in sorted((ROOT / "examples").iterdir())
    if not one.name.startswith(_NO_SCRIPTS)
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_prints_what_is_recorded(example: Path, require_recorded: Callable[[Path, str], None]) -> None:
    """Scripts find the command on the PATH; Python examples the installed package."""
    folder = Path(sys.executable).parent if example.name == INSTALLED else warm.folder()
    program = {".py": [f"{folder}/python"], ".mk": ["make", "-sf"]}.get(example.suffix, ["sh"])
    if shutil.which(program[0]) is None:
        pytest.skip("there is no make here")
    found = process(*program, str(example), PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert (found.code, found.err) == (0, "")
    require_recorded(GOLDENS / f"{example.name}.txt", found.out)


def test_the_guide_says_what_each_verdict_promises() -> None:
    """One line for each, in the order of severity, with the tolerances that are in force."""
    page = guide.text("verdicts")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(SEVERITY)
    assert (TOLERANCE["float64"].rtol, TOLERANCE["float32"].rtol) == (2.0**-30, 2.0**-16)
    assert "2⁻³⁰·|truth| (2⁻¹⁶ in float32)" in page
    assert (RESIDUE, "2⁻⁵² (2⁻²³ in float32)" in " ".join(page.split())) == (2, True)
