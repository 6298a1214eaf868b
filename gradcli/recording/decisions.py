"""What values decide while a function runs: branches of Python, masks, positions; and what leaves torch.

Where two values are the same number, other positions may be taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.language.program import wengert
from gradcli.language.program.program_text import ProgramText
from gradcli.language.program.wengert import Atom, Guards, Program
from gradcli.recording.aten_calls import DecidedValue, tensors_in
from gradcli.recording.memory import memory
from gradcli.recording.places import CallPlace

if TYPE_CHECKING:
    from gradcli.recording.recorder import Recorder

LOW = (torch.bfloat16, torch.float16)
"""Dtypes of fewer digits than are judged."""

BRANCH = "another branch is taken"
ELEMENTS = "other elements are taken"
"""What is otherwise where a condition is decided otherwise."""

_SMALLEST = frozenset(["argmin", "min"])

_ORDER = frozenset("argsort sort msort median nanmedian mode kthvalue".split())
"""What all values decide."""


ORDERED = _ORDER | _SMALLEST | {"argmax", "max", "topk"}
"""Operations that give positions which the order of values decides."""


class RecordedDecisions:
    """Notes what values decide.

    Args:
        recorder: Whose values they are.

    Attributes:
        guards: The conditions.
        lost: Where numbers leave torch.
        remarks: What there is to say of them, with the line after which it matters.
        low: The first dtype of fewer digits than are judged, and where numbers are of it.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.guards: list[DecidedValue] = []
        self.lost: list[str] = []
        self.remarks: dict[str, Atom | None] = {}
        self.low = ""
        self._ordered: dict[int, tuple[Tensor, str, Mapping[str, Any], CallPlace]] = {}

    def note_dtype(self, tensor: Tensor, place: CallPlace) -> None:
        """Note a dtype of fewer digits than are judged."""
        if tensor.dtype in LOW:
            self.low = self.low or f"{str(tensor.dtype).removeprefix('torch.')}{place}"

    def read(self, tensor: Tensor, place: CallPlace) -> None:
        """Note that Python takes a number: it decides by what is true or false, and else may do anything with it."""
        if tensor.dtype is torch.bool:
            self.guards.append(DecidedValue(self.recorder.operand(tensor, place), tensor, str(place), "", BRANCH))
        else:
            self.left("item", [tensor], place)

    def left(self, called: str, tensors: Sequence[Tensor], place: CallPlace) -> None:
        """Remark that numbers leave torch.

        Raises:
            InputError: They do in the forward of a custom function.
        """
        known = [one for one in tensors if self.recorder.knows(one)]
        if not known:
            return
        if place.custom is not None and any(one.is_floating_point() for one in known):
            raise InputError(
                f"numbers leave torch by {called}(){place} in a forward of an autograd.Function: "
                "its derivative is not known",
                hint="compute with functions of torch there",
            )
        self.lost.append(f"numbers leave torch by {called}(){place}")
        lines = self.recorder.lines.written
        last = lines[-1].symbol if lines else None
        self.remarks[f"{self.lost[-1]}: what is computed from them is a constant, as for autograd"] = last

    def of_whole_numbers(self, name: str, given: Mapping[str, Any], place: CallPlace) -> None:
        """Note what decides whole numbers that a call gives: the order of values, a mask, or where a cast jumps.

        Args:
            name: Of the operation.
            given: Its arguments by name.
            place: Of the call.
        """
        if name in ORDERED:
            with self.recorder.again():
                differ = distinct(name, given)
            if differ is not None:
                self._decided(differ, place, f"what {name}() gives")
            return
        for one in tensors_in(given):
            if one.dtype is torch.bool and self.recorder.knows(one):
                self._decided(one, place)
            elif one.is_floating_point() and name == "_to_copy" and self.recorder.knows(one):
                whole = self.recorder.lines.emit("trunc", [self.recorder.operand(one, place)])
                self.guards.append(DecidedValue(whole, one, str(place), "a cast to whole numbers", ELEMENTS))

    def put_off(self, output: Tensor, name: str, given: Mapping[str, Any], place: CallPlace) -> None:
        """Note positions that a call gives beside values: what decides them counts where they are used."""
        self._ordered[memory(output)] = output, name, given, place

    def positions(self, name: str, indices: Sequence[Any], place: CallPlace) -> list[Any]:
        """Give positions by their numbers; a mask as the positions that it takes.

        Args:
            name: Of the operation: those of arguments that it reads elements at stay tensors.
            indices: One of each dimension, or None.
            place: Of the call.
        """
        is_kept = self.recorder.records_meaning or "put" not in name
        found: list[Any] = []
        for one in indices:
            if one is None or (is_kept and self.recorder.is_argument(one)):
                found.append(one)
            elif one.dtype is torch.bool:
                if self.recorder.knows(one):
                    taken = f"{int(one.sum())} of {one.numel()} elements"
                    self.remarks.setdefault(f"a mask took {taken}{place}; the answer is of these", None)
                    self._decided(one, place)
                found += [axis.numpy() for axis in one.nonzero(as_tuple=True)]
            else:
                if self.recorder.records_meaning and self.recorder.is_of_argument(one):
                    self.lost.append("index")
                if (ordered := self._ordered.pop(memory(one), None)) is not None:
                    self.of_whole_numbers(*ordered[1:])
                found.append(one.detach().numpy().copy())
        return found

    def _decided(self, mask: Tensor, place: CallPlace, shown: str = "") -> None:
        self.guards.append(DecidedValue(self.recorder.operand(mask, place), mask, str(place), shown, ELEMENTS))

    def conditions(self, program: Program) -> Guards:
        """Give them as values of a Program, and as text.

        Args:
            program: Whose names they are shown by.
        """
        guards = list(dict.fromkeys(self.guards))
        part = self.recorder.lines.program([guard.condition for guard in guards])
        text = ProgramText(part.lines, {atom: name for name, atom in program.named.items()})
        free, held = released(part)  # a condition on what is held constant changes with it all the same
        found = []
        for guard in guards:
            shown = (guard.shown or text.expression(guard.condition).text) + guard.at
            found.append(wengert.Guard(held.get(guard.condition, guard.condition), shown, guard.changes))
        return Guards(free, tuple(found))

    def told(self, program: Program) -> Iterator[str]:
        """Say which branches were taken, each condition of a line once, and what else there is to know of a Program."""
        for guard, known in zip(dict.fromkeys(self.guards), self.conditions(program).conditions, strict=True):
            if guard.changes == BRANCH:
                condition = known.shown.removesuffix(guard.at)
                taken = condition if bool(guard.value) else f"not ({condition})"
                yield f"the branch {taken} was taken{guard.at}; the answer is of that branch"
        order = {line.symbol: n for n, line in enumerate(self.recorder.lines.written)}
        last = max((order.get(line.symbol, -1) for line in program.lines), default=-1)
        yield from (said for said, after in self.remarks.items() if order.get(after, -1) < last)


def released(program: Program, only: Atom | None = None) -> tuple[Program, Mapping[Atom, Atom]]:
    """The Program without holding constant any value, or one, and what stands in place of each of these."""
    renamed: dict[Atom, Atom] = {}
    lines = []
    for line in program.lines:
        call = line.call.renamed(renamed) if renamed else line.call
        if call.op.is_detached and only in (None, line.symbol):
            renamed[line.symbol] = call.operands[0]
        else:
            lines.append(replace(line, call=call))
    return replace(program, lines=tuple(lines), output=renamed.get(program.output, program.output)), renamed


def distinct(name: str, given: Mapping[str, Any]) -> Tensor | None:
    """Where the values differ that decide the positions which a function gives; None of what is no such function.

    Args:
        name: Of the function of torch.
        given: Its arguments by the names of ATen's schema.

    >>> distinct("argmax", {"self": torch.tensor([3.0, 1.0, 3.0])}).tolist()
    [False]
    """
    x = given["self"]
    if name not in ORDERED or not x.is_floating_point():
        return None
    dim = given.get("dim")
    if dim is None and name in ("argmax", "argmin"):
        x = x.flatten()
    dim = -1 if dim is None else dim
    if not x.ndim or x.shape[dim] < 2:
        return None
    count = x.shape[dim] if name in _ORDER else min(1 + given.get("k", 1), x.shape[dim])
    is_largest = name not in _SMALLEST and given.get("largest", True)
    values = x.topk(count, dim=dim, largest=is_largest).values
    return torch.ne(values.narrow(dim, 0, count - 1), values.narrow(dim, 1, count - 1))
