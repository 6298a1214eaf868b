"""The parts of the documents that are generated: between two comments, of which the first names the module."""

from pathlib import Path

GUIDE = Path(__file__).parent.parent / "gradcli" / "guide"
_END = "<!-- end of the generated part -->\n"


def begin(module: str) -> str:
    """The comment before the part that `python -m tests.MODULE` renews."""
    return f"<!-- generated: python -m tests.{module} -->\n"


def split(text: str, module: str) -> tuple[str, str, str]:
    """A page before its generated part, that part, and what follows."""
    before, _, rest = text.partition(begin(module))
    found, _, after = rest.partition(_END)
    return before, found, after


def renewed(text: str, module: str, generated: str) -> str:
    """A page with the part that is generated now."""
    before, _, after = split(text, module)
    return f"{before}{begin(module)}\n{generated}\n{_END}{after}"


def renew(page: Path, module: str, generated: str) -> None:
    """Write a page anew."""
    page.write_text(renewed(page.read_text(encoding="utf-8"), module, generated), encoding="utf-8")
