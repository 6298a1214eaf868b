"""Meanings of rows that have none: torch's own computation of a call for operands of some shapes.

No code of the user is run: the functions are the op table's, the numbers any that they take.  Shapes come from torch's
meta device, the meaning from a recording, when it is asked for.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError, TooLargeError
from gradcli.language.ops import TABLE, Meaning
from gradcli.language.program.library_calls import TorchCalls, plain
from gradcli.language.program.wengert import AskedMeaning, Call, Program, Shape
from gradcli.recording.aten_calls import Argument
from gradcli.recording.call_recorder import MakeRecorder
from gradcli.recording.places import TensorNames

MOST_CALL_ELEMENTS = 2**20
"""Most elements of an operand, and of a result, of a call that is replaced by other operations."""

MOST_UNBOUND_PARTS = 10_000
"""Most elements of a tensor that may be taken apart one by one."""

MOST_AT_POSITIONS = 2**24
"""The same of a call that takes or adds up elements at positions."""

AT_POSITIONS = frozenset("index_select take gather index_add scatter_add".split())
"""Operations that take or add up elements at positions, which are one line, and not compared with one another."""

SUMS = frozenset("scatter_reduce index_reduce".split())
"""Operations that add up elements at positions where they are asked for a sum or a mean."""

MOST_POSITION_PRODUCTS = 2**27
"""Largest product of the sizes of its operands: positions are compared with one another."""


def ask(
    make_recorder: MakeRecorder, call: Call, shapes: tuple[Shape, ...], fixed: Sequence[Any] = ()
) -> tuple[AskedMeaning | None, ...]:
    """Ask torch for the meaning of a call.

    Args:
        make_recorder: The class of the recorder.
        call: Of a row that torch has; operands that are numbers are handed over as such.
        shapes: Shapes of its operands.
        fixed: Numbers of operands that are handed over as they are.

    Returns:
        The meaning of each tensor that the call gives; None for whole numbers.

    Raises:
        InputError: Torch refuses it.
    """
    is_inlined = call.op.defined_by is Meaning.TORCH_INLINE
    if is_inlined:
        numbers = tuple(None if one is None else _nested(one.tolist()) for one in fixed)
        counts = [math.prod(shape) for shape in shapes]
        most = MOST_UNBOUND_PARTS if call.op.name == "unbind" else MOST_CALL_ELEMENTS
        is_at_positions = _is_at_positions(call)
        most = MOST_AT_POSITIONS if is_at_positions else most
        _require_at_most(call.op.name, max(counts, default=0), most)
        if not is_at_positions:
            _require_at_most(call.op.name, math.prod(counts), MOST_POSITION_PRODUCTS)
    else:
        numbers = tuple(None if isinstance(one, sympy.Symbol) else plain(one) for one in call.operands)
    torch_call = _TorchCall(call.op.name, numbers, call.typed, shapes)
    results = _result_shapes(torch_call)
    if is_inlined:
        _require_at_most(call.op.name, max((math.prod(one or ()) for one in results), default=0), most)
    parts = [functools.partial(_part, make_recorder, torch_call, n) for n, _ in enumerate(results)]
    made = zip(results, parts, strict=True)
    return tuple(None if shape is None else AskedMeaning(shapes, numbers, shape, part) for shape, part in made)


def _is_at_positions(call: Call) -> bool:
    """Tell whether a call takes or adds up elements at positions, and compares none with one another."""
    is_sum = call.op.name in SUMS and not {"sum", "mean"}.isdisjoint(map(str, call.statics))
    return call.op.name in AT_POSITIONS or is_sum


def _require_at_most(name: str, count: int, most: int) -> None:
    """Refuse a call that would hold too many numbers while it is recorded.

    Raises:
        TooLargeError: It would.
    """
    if count > most:
        raise TooLargeError(f"{name} would hold {count:,} numbers; at most {most:,} are", hint="take smaller tensors")


def _nested(value: Argument) -> Argument:
    """Turn nested lists of numbers into tuples, which may be keys of a dictionary."""
    return tuple(map(_nested, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class _TorchCall:
    """Call of a row, for torch to run and to record."""

    name: str
    numbers: tuple[Argument, ...]
    statics: tuple[Hashable, ...]
    shapes: tuple[Shape, ...]

    @property
    def symbols(self) -> list[sympy.Symbol]:
        """Variables that stand for the operands."""
        return [sympy.Symbol(f"x{n}", real=True) for n in range(len(self.numbers))]

    def operands(self, device: str) -> list[Argument]:
        """Make operands that every function takes: positions of 0, probabilities, matrices of full rank."""
        op, found, generator = TABLE[self.name], list[Argument](), torch.Generator().manual_seed(0)
        whole = op.positions([len(shape) for shape in self.shapes])
        for n, (shape, number) in enumerate(zip(self.shapes, self.numbers, strict=True)):
            parameter = op.operands[min(n, len(op.operands) - 1)]
            is_whole = parameter in whole
            dtype = torch.int64 if is_whole else torch.bool if parameter in op.conditions else torch.float64
            if number is not None:
                is_plain = isinstance(number, int | float) and not is_whole
                found.append(number if is_plain else torch.tensor(number, dtype=dtype, device=device))
                continue
            if is_whole or device == "meta":
                values = torch.zeros(shape, dtype=dtype, device=device)
            else:
                values = torch.rand(shape, dtype=dtype, generator=generator) / 2 + 0.25
            found.append(values.requires_grad_(not is_whole and parameter not in op.undifferentiated))
        return found

    def run(self, operands: list[Argument]) -> tuple[Tensor, ...]:
        """Call torch.

        Raises:
            InputError: It refuses the call.
        """
        calls, op = TorchCalls(torch, torch.float64), TABLE[self.name]
        call = Call(self.name, tuple(self.symbols), (*self.statics, None)[: len(op.statics)])
        try:
            found = calls.apply(call, operands)
        except (RuntimeError, ValueError, TypeError, IndexError, AssertionError, ArithmeticError) as error:
            raise InputError(f"torch refuses {self.name}: {' '.join(str(error).split())}") from None
        count = None if op.parts in ((), ("...",)) else len(op.parts)  # further results have no name here
        return tuple(found)[:count] if isinstance(found, tuple | list) else (found,)


@contextlib.contextmanager
def _unseen() -> Iterator[None]:
    """Run a block unseen by any recorder, with autograd."""
    with torch_internals.without_modes(), torch.inference_mode(False), torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.lru_cache(maxsize=1024)
def _result_shapes(torch_call: _TorchCall) -> tuple[Shape | None, ...]:
    with _unseen():
        try:
            found = torch_call.run(torch_call.operands("meta"))
        except InputError:  # values are needed, or torch's own message for real tensors
            found = torch_call.run(torch_call.operands("cpu"))
        return tuple(tuple(one.shape) if one.is_floating_point() else None for one in found)


@functools.lru_cache(maxsize=256)
def _recorded(make_recorder: MakeRecorder, torch_call: _TorchCall) -> dict[int, Program]:
    """Record a call as a Program for each of its results.

    Raises:
        InputError: Values decide what the call computes.
    """
    operands = torch_call.operands("cpu")
    tensors = {
        s.name: one for s, one, n in zip(torch_call.symbols, operands, torch_call.numbers, strict=True) if n is None
    }
    with _unseen():
        recorder = make_recorder(TensorNames(ask, tensors), torch.float64, torch_call.name, records_meaning=True)
        recorder.give(tensors)
        with recorder:
            found = torch_call.run(operands)
        conditions = [one.condition for one in recorder.decisions.guards]
        if recorder.decisions.lost or not recorder.of_arguments.isdisjoint(conditions):
            hint = "call it in a function of Python, FILE.py::NAME"
            raise InputError(f"values decide what {torch_call.name} computes", hint=hint)
        empty = {n: recorder.lines.row("full", tuple(one.shape), 0) for n, one in enumerate(found) if not one.numel()}
        values = {n: empty.get(n, recorder.number(one)) for n, one in enumerate(found) if one.is_floating_point()}
        return {
            n: replace(recorder.lines.program([one]), variables=tuple(torch_call.symbols)) for n, one in values.items()
        }


def _part(make_recorder: MakeRecorder, torch_call: _TorchCall, n: int) -> Program:
    return _recorded(make_recorder, torch_call)[n]
