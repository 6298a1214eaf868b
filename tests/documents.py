"""The README and the pages of the guide: command lines, with what is shown below each, and the code in their prose."""

import re
import shlex
from pathlib import Path

from gradcli import guide
from tests import generated, row_fields
from tests.conftest import Command, Run

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = {page: generated.GUIDE / f"{page}.md" for page in guide.PAGES}
DOCUMENTS = [README, *PAGES.values(), row_fields.PAGE]
OPENING = ['pip install . && gradcli vjp "x**2" --at 1,2 --v 1,1', "pip install -e '.[dev]' && pytest"]
"""The two commands that do everything on a fresh machine; `.ci/run` executes both as they stand in the README."""

EXIT = ' || echo "exit code $?"'
"""End of a command line that shows the exit code of a failure."""


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(*documents: Path) -> list[tuple[str, str]]:
    """Every `$` line of the documents with the output below it; what stands in two places comes once."""
    parts = [
        part.partition("\n")
        for document in documents
        for block in blocks(document, "console")
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    return list(dict.fromkeys((command, output) for command, _, output in parts if command not in OPENING))


COMMANDS = [
    (command, output)
    for command, output in commands(*(document for document in DOCUMENTS if document != row_fields.PAGE))
    if "--scheduler" not in command  # for which `tests.parts.tables` starts one
]
"""Commands that gradcli answers as it is, without the row that the page on rows adds."""


NEEDS = {
    "paste": r"\A(?!gradcli run).*(?:f\(x\) =|lambda|def |requires_grad|while |low, high = |@examples/)",
    "running": r"\Agradcli \w+ \S+\.py::",
    "closed_forms": r"^for numbers, add --at",
    "improve": r"^better: ",
    "everywhere": r"\Agradcli check (?!.*--random).*--in ",
    "claims": r"\(proved\)|^│ ∇",
    "sparse": r"--(?:sparse|pattern)\b|linspace\(0,1,100000\)",
    "figures": r"\.(?:svg|png|pdf)\b",
    "pages": r"--format (?:latex|markdown|html)|\.(?:md|tex|html)\b",
}
"""What shows that a command line, or its answer, needs a part which is not that of its command."""


def parts_needed(command: str, output: str) -> tuple[str, ...]:
    """Name the parts that a command line of a document needs, besides that of its command."""
    return tuple(part for part, signs in NEEDS.items() if re.search(signs, f"{command}\n{output}", re.MULTILINE))


def command_of(line: str) -> str:
    """Name the command of a line; what stands in its place may be an expression, of which the derivative is asked."""
    _, *words = shlex.split(line[line.index("gradcli ") :])
    return words[0] if words[0].isidentifier() else "derivative"


def words(document: Path) -> list[str]:
    """The code within the prose of a document."""
    prose = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]+)`", prose)


def run(line: str, gradcli: Command) -> Run:
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


def require_in_step(module: str, page: Path, part: str) -> None:
    """Hold what is generated of a page to what its module makes, and see that what is stale would be renewed."""
    text = page.read_text(encoding="utf-8")
    assert text == generated.renewed(text, module, part)
    changed = text.replace(generated.begin(module), f"{generated.begin(module)}stale")
    assert generated.renewed(changed, module, part) == text
