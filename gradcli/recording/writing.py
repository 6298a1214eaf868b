"""A recording as text of the language, a statement a value, and where in the user's code each call stands.

What has no name in the user's code and is used once is written where it is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gradcli.autodiff._torch import torch
from gradcli.errors import Span
from gradcli.recording.recorder import Recorder
from gradcli.recording.spelling import spelled
from gradcli.recording.values import Leaf, Ref, Step, within

OUTPUTS = ("y", "f", "out", "output")
"""What the value of a function is called, where the user's code does not say: the first that nothing else is."""

MOST_INLINE = 60
"""Characters of a call that is written inside of another."""

_MARKS = re.compile("\x01(\\d+)\x02|\x03")
_ATOM = re.compile(r"[\w.]+(?:\[[^\[\]]*\]|\([^()]*\))?")


@dataclass(frozen=True)
class Written:
    """The text of a recording.

    Attributes:
        text: Statements, a line each.
        places: Where the user's code makes the call that a range of the text is, the innermost last.
        names: What the text calls each value that has a statement, by its number; of leaves too.
        texts: How each value is written where it is used.
    """

    text: str
    places: tuple[tuple[Span, int], ...]
    names: dict[int, str]
    texts: dict[int, str]


def written(recorder: Recorder, output: Ref) -> Written:
    """The text of what an output is made of.

    Args:
        recorder: What was recorded.
        output: The value of the function.
    """
    values = recorder.values
    order = _needed(recorder, output)
    uses = Counter(ref.number for n in order for ref in _refs(values[n]))
    uses.update([output.number] + [guard.ref.number for guard in recorder.guards])
    texts: dict[int, str] = {}
    names: dict[int, str] = {}
    statements = []
    for n in order:
        value = values[n]
        if isinstance(value, Leaf):
            names[n] = value.name
            is_condition = value.value.dtype is torch.bool
            texts[n] = f"{value.name} != 0" if is_condition else value.name
            continue
        found = _text(value, texts)
        plain = _MARKS.sub("", found)
        is_last = n == output.number
        if uses[n] == 1 and not value.name and not is_last and len(plain) <= MOST_INLINE:
            texts[n] = f"\x01{n}\x02{found}\x03"
            continue
        own = value.name or (recorder.names.first(OUTPUTS) if is_last else recorder.names.free("t", numbered=True))
        names[n] = texts[n] = own
        statements.append(f"{own} = \x01{n}\x02{found}\x03")
    if output.number not in names or isinstance(values[output.number], Leaf):
        names[output.number] = recorder.names.first(OUTPUTS)
        statements.append(f"{names[output.number]} = {texts[output.number]}")
    steps = [value for value in (values[n] for n in order) if isinstance(value, Step)]
    if any(step.path == "torch.autograd.grad" for step in steps):
        whole = names[output.number]  # what takes derivatives itself says which value is the function
        statements.append(f"{whole}.backward({whole})")
    return _parted("\n".join(statements), names, {n: _MARKS.sub("", found) for n, found in texts.items()})


def _parted(marked: str, names: dict[int, str], texts: dict[int, str]) -> Written:
    """The text without its marks, and the ranges between them."""
    places: list[tuple[Span, int]] = []
    pieces: list[str] = []
    open_marks: list[tuple[int, int]] = []
    length = end = 0
    for mark in _MARKS.finditer(marked):
        pieces.append(marked[end : mark.start()])
        length += mark.start() - end
        end = mark.end()
        if mark[1] is not None:
            open_marks.append((length, int(mark[1])))
        else:
            start, number = open_marks.pop()
            places.append((Span(start, length), number))
    return Written("".join(pieces) + marked[end:], tuple(places), names, texts)


def _text(step: Step, texts: dict[int, str]) -> str:
    def named(ref: Ref, is_alone: bool) -> str:
        found = texts[ref.number]
        return found if is_alone or _ATOM.fullmatch(_MARKS.sub("", found)) else f"({found})"

    found = spelled(step.path, step.arguments, step.keywords, named)
    if step.part is not None:
        found = f"{found}[{step.part}]"
    return f"detach({found})" if step.is_detached else found


def _needed(recorder: Recorder, output: Ref) -> list[int]:
    """The numbers of the values that the output, and what Python decided by, are made of."""
    found: set[int] = set()
    waiting = [output.number, *(guard.ref.number for guard in recorder.guards)]
    while waiting:
        n = waiting.pop()
        if n not in found:
            found.add(n)
            waiting += [ref.number for ref in _refs(recorder.values[n])]
    return sorted(found)


def _refs(value: Leaf | Step) -> Iterator[Ref]:
    return within((value.arguments, dict(value.keywords)), Ref) if isinstance(value, Step) else iter(())
