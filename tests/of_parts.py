"""What the folders `tests/parts/NAME` add to tests of the core: rows of its tables, and files.

A table of the core has the rows of a part where the part is listed: those of a dict of its name, in `rows.py` of the
folder of the part.  What cannot be told apart by rows is marked, `@pytest.mark.part("NAME")`, and is skipped without
that part.
"""

import importlib
import re
from pathlib import Path
from typing import Any

from gradcli.parts import PARTS, is_listed

FOLDERS = {
    name: Path(__file__).parent / "parts" / name
    for name in (package.rpartition(".")[2] for package in PARTS)
    if (Path(__file__).parent / "parts" / name).is_dir()
}
"""The folders of tests of the parts that are listed, by the names of these."""


def rows(table: str) -> dict[Any, Any]:
    """Join the rows that parts add to a table of the core."""
    found: dict[Any, Any] = {}
    for name, folder in FOLDERS.items():
        if (folder / "rows.py").exists():
            added = getattr(importlib.import_module(f"tests.parts.{name}.rows"), table, {})
            assert not found.keys() & added.keys(), table
            found |= added
    return found


def files(pattern: str) -> list[Path]:
    """List the files that the folders of parts have."""
    return [path for folder in FOLDERS.values() for path in sorted(folder.glob(pattern))]


_WORDS_OF_FORMATS = {
    "pages": re.compile(r"\b(latex|markdown|html)\b|\.(md|tex|html?)\b"),
    "figures": re.compile(r"\.(svg|png|pdf)\b"),
}
"""Words of a command line that ask for a format of a part."""


def can_answer(line: str) -> bool:
    """Tell whether the formats that a command line asks for are those of parts that are listed."""
    return not missing(tuple(name for name, words in _WORDS_OF_FORMATS.items() if words.search(line)))


def missing(parts: tuple[str, ...]) -> list[str]:
    """Name those of some parts that are not listed."""
    return [name for name in parts if not is_listed(name)]
