"""How much code is read as it is: the examples in torch's own docstrings, or pieces in a folder.

By hand: `python -m tests.language.reading_share` prints the share of the examples of torch that is installed, and what
stands in the way of the others, the most frequent first; with a folder, of its files (`.py`, `.txt`), each a piece.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from gradcli.errors import GradcliError
from gradcli.language.snippets import read_whole

ROOMS = ("torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.nn")
"""Where the docstrings are."""

_PROMPTED = re.compile(r"^[ \t]*(?:>>> |>>>$|\.\.\. |\.\.\.$)")

_ELSEWHERE = re.compile(
    r"\b(?:cuda|complex|cfloat|cdouble|int8|uint8|bool|int32|int64|quint8|sparse|distributed|multiprocessing|jit|compile"
    r"|save|load|export|onnx|quantiz\w*|DataLoader|is_\w+|manual_seed|set_\w+|get_\w+)\b|1j|\+\s*\d+\.?\d*j"
)
"""What is no computation of real floating-point numbers on a CPU."""


def examples() -> dict[str, str]:
    """The examples of torch, by the name of what they are of: those that compute with real numbers.

    >>> "torch.add" in examples()
    True
    """
    found: dict[str, str] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in sorted(set(dir(module))):
            doc = inspect.getdoc(getattr(module, name)) or ""
            if name.startswith("_") or ">>>" not in doc:
                continue
            for n, piece in enumerate(_pieces(doc)):
                if not _ELSEWHERE.search(piece):  # a function of two rooms is of the first
                    found.setdefault(piece, f"{room}.{name}" + (f" {n + 1}" if n else ""))
    return {name: piece for piece, name in found.items()}


def _pieces(doc: str) -> Iterator[str]:
    """What was typed at prompts, one piece for each run of lines between prose."""
    lines: list[str] = []
    for line in doc.splitlines():
        if _PROMPTED.match(line):
            lines.append(line)
        elif line.strip() and not line.startswith(" ") and lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def files(folder: Path) -> dict[str, str]:
    """The pieces in a folder, by their paths."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".txt"))
    return {str(path): path.read_text(encoding="utf-8", errors="replace") for path in paths}


def unread(pieces: Mapping[str, str]) -> dict[str, str]:
    """Why pieces are not read, by their names.

    >>> unread({"a": "x**2", "b": "sine(x)"})
    {'b': "unknown function 'sine'"}
    """
    found = {}
    for name, piece in pieces.items():
        try:
            read_whole(piece)
        except GradcliError as error:
            found[name] = error.in_shell.message
    return found


def main() -> None:
    """The share, and what stands in the way."""
    pieces = files(Path(sys.argv[1])) if len(sys.argv) > 1 else examples()
    refused = unread(pieces)
    print(f"{len(pieces) - len(refused)} of {len(pieces)} are read ({1 - len(refused) / max(1, len(pieces)):.0%})")
    for reason, count in Counter(refused.values()).most_common():
        names = [name for name, why in refused.items() if why == reason]
        print(f"  {count:3} {reason}: {', '.join(names[:4])}")


if __name__ == "__main__":
    main()
