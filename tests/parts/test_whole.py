"""What is said of all commands together, in the README, the guide and the helps: parts are in it, and each is there."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradcli import guide
from gradcli.cli.expression import EXIT_CODES
from gradcli.registry import all_commands
from gradcli.results import SEVERITY
from tests import command_reference, documents, generated, messages, of_parts
from tests.command_lines import run
from tests.conftest import Command
from tests.documents import DOCUMENTS, README, words
from tests.report.test_screens import QUESTIONS

LONGEST = 179
"""Lines of a front page, besides one for each command."""


def listed(gradcli: Command) -> list[tuple[str, str]]:
    """The commands of the help, with what it says of them."""
    groups = gradcli("--help").out.partition("\n\nOptions:")[0].split("\n\n")[2:]
    assert all(re.match(r"[A-Z][\w ]+:\n", group) for group in groups)
    assert not any(group.startswith("Others:") for group in groups)
    commands = re.findall(r"^  (\w+)  +(\S.*)$", "\n".join(groups), re.MULTILINE)
    assert commands[0][0] == "vjp"
    return commands


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_names_commands_and_options_that_exist(document: Path, gradcli: Command) -> None:
    """In its prose too; links lead to files, and to headings in them."""
    commands = {name for name, _ in listed(gradcli)}
    _, reference, _ = generated.split(command_reference.PAGE.read_text(encoding="utf-8"), "command_reference")
    for code in words(document):
        command = re.match(r"gradcli (\w+)", code)
        assert command is None or command[1] in commands, code
        for option in [] if code.startswith("dask ") else re.findall(r"(?<!\S)--[\w-]+", code):
            assert option in ("--help", "--version") or f"`{option}" in reference, code
    for target in re.findall(r"\]\(([^)]+)\)", document.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        found = document.parent / path if path else document
        assert found.exists(), target
        assert not anchor or anchor in _anchors(found.read_text(encoding="utf-8")), target


def test_the_page_of_messages_is_in_step() -> None:
    """`python -m tests.messages` renews it, and each kind of error has its advice."""
    assert set(messages.ADVICE) == set(messages.kinds())
    documents.require_in_step("messages", messages.PAGE, messages.page())


def test_every_recorded_error_is_on_the_page_of_messages() -> None:
    """Without the place that a message ends with."""
    known = [messages.pattern(text) for text in [*(one.text for one in messages.messages()), *dict(messages.OTHERS)]]
    goldens = sorted(Path("tests/goldens/errors").glob("*.txt"))
    raised = re.findall(r"^error: (.*)$", "\n".join(one.read_text(encoding="utf-8") for one in goldens), re.MULTILINE)
    assert len(raised) > 100
    for message in raised:
        bare = re.sub(r" \((?:in|line) [^()]*\)$", "", message)
        assert any(one.fullmatch(bare) for one in known), message


def _anchors(text: str) -> set[str]:
    """The headings of a document as GitHub links to them."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_all_questions_that_started_gradcli_are_asked() -> None:
    """Those of the core, and those of parts."""
    assert len(QUESTIONS) >= 44


def test_the_readme_is_a_front_page(gradcli: Command) -> None:
    """Short, with every command, every verdict and every page of the guide, which has every exit code."""
    text = README.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `gradcli (\w+)` \| (.*) \|$", text, re.MULTILINE)
    assert rows == listed(gradcli)
    assert text.count("\n") - len(rows) <= LONGEST
    assert re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE) == list(SEVERITY)
    assert set(re.findall(r"\(gradcli/guide/(.*?)\.md\)", text)) == set(guide.PAGES)
    codes = guide.text("scripting").partition("## Exit codes\n")[2].partition("Ctrl-C")[0]
    assert re.findall(r"\b\d+\b", codes) == re.findall(r"\b\d+\b", EXIT_CODES)


@pytest.mark.usefixtures("folder")
def test_every_example_of_the_help_runs(gradcli: Command) -> None:
    """As printed; `warm` starts a process, which `tests.warm` does."""
    Path("data.csv").write_text("x,n\n1,2\n3,4\n", encoding="utf-8")
    pq.write_table(pa.table({"x": [[1.0, 2.0]]}), "points.parquet")
    Path("data").mkdir()
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]}), "data/rows.parquet")
    Path("train.py").write_text("import torch\nx = torch.ones((), requires_grad=True)\n(x**2).backward()\n")
    for name in ("--help", *(name for name, _ in listed(gradcli) if name != "warm")):
        shown = gradcli(*([name] if name == "--help" else [name, "--help"])).out
        examples = re.findall(r"^ +((?:echo .* \| )?gradcli .*)$", shown, re.MULTILINE)
        assert examples
        for example in examples:
            found = run(example, gradcli)
            assert found.code == 0, (example, found.err)


def test_the_reference_of_commands_is_in_step() -> None:
    """`python -m tests.command_reference` renews it."""
    documents.require_in_step("command_reference", command_reference.PAGE, command_reference.reference())


def test_every_command_of_a_document_is_run() -> None:
    """None is left out for want of a part, or for a name that no command has."""
    for one in documents.COMMANDS:
        assert documents.command_of(one.line) in all_commands(), one
        assert of_parts.missing(documents.parts_needed(one)) == [], one
