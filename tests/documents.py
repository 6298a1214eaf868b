"""The README and the pages of the guide: command lines, with what is shown below each, and the code in their prose."""

import re
import shlex
from pathlib import Path

from gradcli import guide
from tests import command_lines, generated, row_fields
from tests.command_lines import CommandLine

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = {page: generated.GUIDE / f"{page}.md" for page in guide.PAGES}
DOCUMENTS = [README, *PAGES.values(), row_fields.PAGE]
OPENING = ['pip install . && gradcli vjp "x**2" --at 1,2 --v 1,1', "pip install -e '.[dev]' && pytest"]
"""The two commands that do everything on a fresh machine; `.ci/run` executes both as they stand in the README."""


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(*documents: Path) -> list[CommandLine]:
    """Every `$` line of the documents with the output below it."""
    blocks_of = {document: blocks(document, "console") for document in documents}
    found = (one for path, parts in blocks_of.items() for part in parts for one in command_lines.transcript(path, part))
    return [one for one in found if one.line not in OPENING]


COMMANDS = [
    one
    for one in commands(*(document for document in DOCUMENTS if document != row_fields.PAGE))
    if "--scheduler" not in one.line  # for which `tests.parts.tables` starts one
]
"""Commands that gradcli answers as it is, without the row that the page on rows adds."""


NEEDS = {
    "paste": r"\A(?!gradcli run).*(?:f\(x\) =|lambda|def |requires_grad|while |low, high = |@examples/)",
    "running": r"\Agradcli \w+ \S+\.py::",
    "closed_forms": r"^for numbers, add --at",
    "improve": r"^better: |^another function has a finite derivative",
    "everywhere": r"\Agradcli check (?!.*--random).*--in |at every point of the range$",
    "claims": r"\(proved\)|^│ (?:∇|∂\w+/∂\w+ = diag)",
    "sparse": r"--(?:sparse|pattern)\b|linspace\(0,1,100000\)",
    "figures": r"\.(?:svg|png|pdf)\b",
    "pages": r"--format (?:latex|markdown|html)|\.(?:md|tex|html)\b",
}
"""What shows that a command line, or its answer, needs a part which is not that of its command."""


def parts_needed(one: CommandLine) -> tuple[str, ...]:
    """Name the parts that a command line of a document needs, besides that of its command."""
    shown = f"{one.line}\n{one.printed}"
    return tuple(part for part, signs in NEEDS.items() if re.search(signs, shown, re.MULTILINE))


def command_of(line: str) -> str:
    """Name the command of a line; what stands in its place may be an expression, of which the derivative is asked."""
    _, *words = shlex.split(line[line.index("gradcli ") :])
    return words[0] if words[0].isidentifier() else "derivative"


def words(document: Path) -> list[str]:
    """The code within the prose of a document."""
    prose = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]+)`", prose)


def require_in_step(module: str, page: Path, part: str) -> None:
    """Hold what is generated of a page to what its module makes, and see that what is stale would be renewed."""
    text = page.read_text(encoding="utf-8")
    assert text == generated.renewed(text, module, part)
    changed = text.replace(generated.begin(module), f"{generated.begin(module)}stale")
    assert generated.renewed(changed, module, part) == text
