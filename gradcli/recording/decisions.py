"""Decisions by values while a function runs: branches of Python, masks, positions; and numbers that leave torch.

Where two values are the same number, other positions may be taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import GradcliError, InputError
from gradcli.language.program import wengert
from gradcli.language.program.certain_conditions import certain_truth
from gradcli.language.program.expansion import without_detach
from gradcli.language.program.program_text import ProgramText
from gradcli.language.program.wengert import Atom, Guards, Program
from gradcli.recording.aten_calls import Argument, DecidedValue, tensors_in
from gradcli.recording.call_recorder import CallRecorder
from gradcli.recording.comparisons import comparison_at, condition_at
from gradcli.recording.memory import memory
from gradcli.recording.places import CallPlace, called_at

SMALLEST = frozenset(["argmin", "min"])
"""Operations that give positions of the smallest values."""

_ORDER = frozenset("argsort sort msort median nanmedian mode kthvalue".split())
"""Operations that give positions decided by the order of all values."""


ORDERED = _ORDER | SMALLEST | {"argmax", "max", "topk"}
"""Operations that give positions decided by the order of values."""


FOLDS = {"all": "all", "_is_all_true": "all", "any": "any", "_is_any_true": "any"}
"""Operations that make one condition of many, by the name that users have for them."""

NUMBERS_LEAVE = "numbers leave torch by"
"""Beginning of the remark on numbers that leave torch."""

MOST_COMPARED_NUMBERS = 1000
"""Most conditions of one pass with which comparisons of numbers that leave torch are looked at."""

LONGEST_CONDITION = 120
"""Most characters of a condition in a message."""


class RecordedDecisions:
    """Record of the decisions that values make.

    Args:
        recorder: The recorder of the values.

    Attributes:
        guards: The conditions that were decided.
        lost: Places where numbers leave torch, in words.
        remarks: Remarks, each with the line after which it matters.
        drawn: The places of calls that draw random numbers, in words.
        implicit: The values that were drawn and have an implicit gradient, with the call and its place in words.
        digits: The machine epsilon of tensors that may be made of numbers that left torch; 0 without any.
        low: The first dtype with fewer digits than are judged, and the place where it occurs.
        folded: Conditions that are one for all elements of another, or for any of them: `all` or `any`, and the other.
        ordered: Calls that gave positions next to values, by the memory of the positions, until these are used.
    """

    def __init__(self, recorder: CallRecorder) -> None:
        self.recorder = recorder
        self.guards: list[DecidedValue] = []
        self.lost: list[str] = []
        self.remarks: dict[str, Atom | None] = {}
        self.drawn: dict[str, None] = {}
        self.implicit: dict[Atom, str] = {}
        self.digits = 0.0
        self._created_by = ""  # of a constant, of numbers that left torch
        self.low = ""
        self.folded: dict[Atom, tuple[str, Atom]] = {}
        self.ordered: dict[int, tuple[Tensor, str, Mapping[str, object], CallPlace]] = {}

    def until_now(self) -> Callable[[], None]:
        """Return a function that makes the record what it is now, as if nothing was noted after this."""
        guards, lost, remarks, low, digits = [*self.guards], [*self.lost], {**self.remarks}, self.low, self.digits

        def restore() -> None:
            self.guards, self.lost, self.remarks, self.low, self.digits = guards, lost, remarks, low, digits

        return restore

    def read(self, tensor: Tensor, number: object, place: CallPlace) -> None:
        """Note that Python reads a number: it branches on a truth value, and may do anything with another number."""
        if isinstance(number, bool):
            if not self._is_certain(condition := self.recorder.operand(tensor, place), number):
                self.guards.append(DecidedValue(condition, str(place), condition_at(place.frame), branch=number))
        else:
            self.note_numbers_leaving("item", [tensor], place)

    def note_numbers_leaving(self, called: str, tensors: Sequence[Tensor], place: CallPlace) -> None:
        """Remark that numbers leave torch.

        Raises:
            InputError: They do in the forward of a custom function.
        """
        known, said = [one for one in tensors if self.recorder.may_follow(one)], f"{NUMBERS_LEAVE} {called}(){place}"
        if not known:
            return
        if place.custom is not None and any(one.is_floating_point() for one in known):
            message = f"{said} in a forward of an autograd.Function: its derivative is not known"
            self.recorder.on_error(InputError(message, hint="compute with functions of torch there"))
        if said not in self.lost:
            self.lost.append(said)
        is_of_script = self.recorder.dtype is None  # which cannot be called again
        if is_of_script and len(tensors) == 1 and len(self.guards) < MOST_COMPARED_NUMBERS:
            with suppress(GradcliError):  # of a tensor that cannot be recorded
                self._compare(tensors[0], place)
        lines = self.recorder.lines.written
        last = lines[-1].symbol if lines else None
        remark = f"{said}: what is computed from them is a constant, as for autograd"
        self.remarks[remark] = last
        self.recorder.numbers_left(remark, known)

    def _compare(self, tensor: Tensor, place: CallPlace) -> None:
        """Note the branch of a comparison of a number that leaves torch."""
        found = comparison_at(place.frame)
        if found is None or not tensor.is_floating_point() or (found.element is None and tensor.numel() != 1):
            return
        value, lines = self.recorder.operand(tensor, place), self.recorder.lines
        if found.element is not None and tensor.ndim == 1 and -len(tensor) <= found.element < len(tensor):
            value = lines.picked(value, [found.element % len(tensor)], ())
        elif found.element is not None:
            return
        value = lines.emit("trunc", [value]) if found.is_whole else value
        condition = lines.emit(found.operation, [value, found.other])
        self.guards.append(DecidedValue(condition, str(place), found.text, branch=True, is_late=True))

    def change_unseen(self, place: CallPlace) -> None:
        """Remark that a tensor that autograd follows is changed where autograd does not see it."""
        said = f"a tensor that autograd follows is changed in place where it records nothing{place}"
        self.remarks.setdefault(f"{said}: its gradient is that of before", None)

    def note_creation(self, tensor: Tensor, place: CallPlace) -> None:
        """Note a call that makes a tensor of numbers of Python, as some numbers left torch and may be among them."""
        if tensor.is_floating_point():
            self.digits = max(self.digits, torch.finfo(tensor.dtype).eps)
        if not self._created_by:
            name = called_at(place.frame)
            file, _, line = place.where.rpartition(", ")
            self._created_by = f"`{name}` in {line} makes a constant of it ({file})" if name else ""

    def require_reason(self, names: Sequence[str], output_name: str) -> None:
        """Say first, where numbers left torch, that the value does not follow these arguments."""
        if names and self.lost:
            of = ", ".join(names)
            self.lost.insert(0, f"{output_name} does not follow {of}: {self._created_by or self.lost[0]}")

    def of_whole_numbers(self, name: str, given: Mapping[str, object], found: object, place: CallPlace) -> None:
        """Note the decision that gives a call's whole numbers: the order of values, a comparison, a mask, or a cast.

        Args:
            name: Name of the operation.
            given: Its arguments by name.
            found: Its result.
            place: Place of the call.
        """
        if name in ORDERED or name in _COMPARED:
            with self.recorder.recording_nested():
                condition = distinct(name, given) if name in ORDERED else _COMPARED[name](given)
            if condition is not None and self.recorder.is_known(condition):
                self._decided(condition, place, f"what {name}() gives", found if isinstance(found, bool) else None)
            elif condition is None and name in _COMPARED:
                self._lose_whole_numbers(name, place)
            return
        for one in tensors_in(given):
            if one.dtype is torch.bool and self.recorder.is_known(one):
                self._decided(one, place)
            elif one.is_floating_point() and name == "_to_copy" and self.recorder.is_known(one):
                whole = self.recorder.lines.emit("trunc", [self.recorder.operand(one, place)])
                self.guards.append(DecidedValue(whole, str(place), "a cast to whole numbers"))
            elif one.is_floating_point() and self.recorder.follows(one):
                self._lose_whole_numbers(name, place)

    def _lose_whole_numbers(self, name: str, place: CallPlace) -> None:
        """Note whole numbers that nobody knows the decisions of: the function itself may tell of their jumps."""
        self.lost.append(f"{name}() makes whole numbers{place}")

    def defer(self, output: Tensor, name: str, given: Mapping[str, object], place: CallPlace) -> None:
        """Put off noting the decision of positions that a call gives next to values, until they are used."""
        self.ordered[memory(output)] = output, name, given, place

    def use(self, tensors: Sequence[Tensor]) -> None:
        """Note the decision of positions that a call uses, if it was put off."""
        for one in tensors if self.ordered else ():
            if (ordered := self.ordered.pop(memory(one), None)) is not None:
                self.of_whole_numbers(*ordered[1:3], None, ordered[3])

    def positions(self, name: str, indices: Sequence[Argument], place: CallPlace) -> list[Argument]:
        """Give positions as plain numbers, and a mask as the positions that it takes.

        Args:
            name: Name of the operation; if it reads elements, positions that are arguments stay tensors.
            indices: Positions or a mask for each dimension, or None.
            place: Place of the call.
        """
        is_kept = self.recorder.records_meaning or "put" not in name
        found: list[Argument] = []
        for one in indices:
            if one is None or (is_kept and self.recorder.is_argument(one) and not bool((one < 0).any())):
                found.append(one)  # those that count from the end are taken as numbers
            elif one.dtype in (torch.bool, torch.uint8):  # a mask
                if self.recorder.is_known(one) and not self._is_certain_mask(one, place):
                    taken = f"{int(one.sum())} of {one.numel()} elements"
                    self.remarks.setdefault(f"a mask took {taken}{place}; the answer is of these", None)
                    self._decided(one, place)
                found += [axis.cpu().numpy() for axis in one.nonzero(as_tuple=True)]
            else:
                if self.recorder.records_meaning and self.recorder.is_of_argument(one):
                    self.lost.append("index")
                found.append(one.detach().cpu().numpy().copy())
        return found

    def _decided(self, mask: Tensor, place: CallPlace, shown: str = "", branch: bool | None = None) -> None:
        if not self._is_certain_mask(mask, place):
            self.guards.append(DecidedValue(self.recorder.operand(mask, place), str(place), shown, branch))

    def _is_certain_mask(self, mask: Tensor, place: CallPlace) -> bool:
        """Tell whether no real input gives another mask than this one, which is true, or false, everywhere."""
        is_same = mask.dtype is torch.bool and (bool(mask.all()) or not bool(mask.any()))
        return is_same and self._is_certain(self.recorder.operand(mask, place), bool(mask.all()))

    def _is_certain(self, condition: Atom, found: bool) -> bool:
        """Tell whether no real input decides a condition otherwise than it was found: `exp(x) > 0` is no branch."""
        return certain_truth(self.recorder.lines.program([condition])) is found

    def conditions(self, program: Program) -> Guards:
        """Give the conditions as values of a Program, and as text.

        Args:
            program: The Program whose names the text uses.
        """
        guards = list(dict.fromkeys(self.guards))
        part = self.recorder.lines.program([guard.condition for guard in guards])
        if not guards:
            return Guards(part, ())
        text = self._text(part, program)
        free, held = without_detach(part)  # a condition on a value held constant changes with it all the same
        found, written = [], Counter((guard.shown, guard.at) for guard in guards)
        for guard in guards:  # of several conditions of a line, as in a loop, each is told apart by its numbers
            own = guard.shown if guard.branch is None or guard.is_late or written[guard.shown, guard.at] == 1 else ""
            shown = _shortened(own or text.expression(guard.condition).text) + guard.at
            changes = "other elements are taken" if guard.branch is None else "another branch is taken"
            found.append(wengert.Guard(held.get(guard.condition, guard.condition), shown, changes))
        return Guards(free, tuple(found))

    def _text(self, part: Program, program: Program) -> ProgramText:
        """Make the writer of conditions, which writes one for all elements, or for any, as it was called."""
        text = ProgramText(part.lines, {atom: name for name, atom in program.named.items()})
        for line in part.lines:
            if (folded := self.folded.get(line.symbol)) is not None:
                name, operand = folded
                text.named.setdefault(line.symbol, f"{name}({text.expression(operand).text})")
        return text

    def remarks_on(self, program: Program) -> Iterator[str]:
        """Say which branches were taken, each condition of a line once, and give the remarks on a Program.

        A function that draws random numbers is another one each time; a script has had its numbers.
        """
        if self.recorder.dtype is not None:
            yield from (f"random numbers are drawn{at}; the answer is of those that were drawn" for at in self.drawn)
        for guard, known in zip(dict.fromkeys(self.guards), self.conditions(program).conditions, strict=True):
            if guard.branch is not None and not guard.is_late:
                condition = known.shown.removesuffix(guard.at)
                taken = condition if guard.branch else f"not ({condition})"
                yield f"the branch {taken} was taken{guard.at}; the answer is of that branch"
        order = {line.symbol: n for n, line in enumerate(self.recorder.lines.written)}
        last = max((order.get(line.symbol, -1) for line in program.lines), default=-1)
        last = order.get(program.output, last)  # lines that were found out later are after it
        yield from (said for said, after in self.remarks.items() if order.get(after, -1) < last)


def _shortened(text: str) -> str:
    """Leave out the middle of a long condition, for messages."""
    return (
        text
        if len(text) <= LONGEST_CONDITION
        else f"{text[: LONGEST_CONDITION * 2 // 3]} … {text[-LONGEST_CONDITION // 3 :]}"
    )


def _below(given: Mapping[str, Argument]) -> Tensor | None:
    """Find which ends of ranges are below each value, or at it if a range has its right end; None of too many."""
    ends = given["boundaries"] if "boundaries" in given else given["sorted_sequence"]
    values = torch.as_tensor(given["self"], dtype=ends.dtype).unsqueeze(-1)
    if values.numel() * ends.shape[-1] > MOST_COMPARED:
        return None
    is_right = given["right"] or given.get("side") == "right"
    return (torch.le if is_right else torch.lt)(ends.unsqueeze(-2) if ends.ndim > 1 else ends, values)


_COMPARED: Mapping[str, Callable[[Mapping[str, Argument]], Tensor | None]] = {
    **dict.fromkeys(("searchsorted", "bucketize"), _below),
    **dict.fromkeys(("count_nonzero", "nonzero"), lambda given: torch.ne(given["self"], 0)),
    "equal": lambda given: torch.eq(given["self"], given["other"]).all(),
}
"""Condition that decides the whole numbers of an operation, or a truth value of Python, by name."""

MOST_COMPARED = 2**22
"""Most comparisons of values with the ends of ranges that are looked at one by one."""


def distinct(name: str, given: Mapping[str, Argument]) -> Tensor | None:
    """Find where the values that decide a function's positions are distinct; None if no values decide.

    Args:
        name: Name of the function of torch.
        given: Its arguments by the names of ATen's schema.

    >>> distinct("argmax", {"self": torch.tensor([3.0, 1.0, 3.0])}).tolist()
    [False]
    """
    x, dim = given["self"], given.get("dim")
    if dim is None and name in ("argmax", "argmin"):
        x = x.flatten()
    dim = -1 if dim is None else dim
    if not (x.is_floating_point() and x.ndim and x.shape[dim] > 1):
        return None
    count = x.shape[dim] if name in _ORDER else min(1 + given.get("k", 1), x.shape[dim])
    is_largest = name not in SMALLEST and given.get("largest", True)
    values = x.topk(count, dim=dim, largest=is_largest).values
    return torch.ne(values.narrow(dim, 0, count - 1), values.narrow(dim, 1, count - 1))
