"""What torch makes of a call of its own for operands of some shapes: the meaning of rows that have none.

Nothing of the user's is run: the functions are those of the op table, the numbers any that they take.  Shapes come
from torch's meta device, the meaning from a recording, when it is asked for.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import InputError
from gradcli.language.lower.arguments import exact_number
from gradcli.language.ops import TABLE
from gradcli.language.program.library_calls import TorchCalls, plain
from gradcli.language.program.wengert import AskedMeaning, Call, Program, Shape
from gradcli.recording.tensor_names import Names

if TYPE_CHECKING:
    from gradcli.recording.recorder import Recorder


def ask(make_recorder: type[Recorder], call: Call, shapes: tuple[Shape, ...]) -> tuple[AskedMeaning, ...]:
    """Ask torch what a call is made of.

    Args:
        make_recorder: Makes what records.
        call: Of a row that torch has; operands that are numbers are handed over as such.
        shapes: Of its operands.

    Returns:
        Each of the tensors that the call gives.

    Raises:
        InputError: Torch refuses it.
    """
    numbers = tuple(None if isinstance(one, sympy.Symbol) else plain(one) for one in call.operands)
    asked = _Asked(call.op.name, numbers, call.typed, shapes)
    return tuple(
        AskedMeaning(shapes, numbers, shape, functools.partial(_part, make_recorder, asked, n))
        for n, shape in enumerate(_result_shapes(asked))
    )


@dataclass(frozen=True)
class _Asked:
    """A call of a row, as `ask` takes it."""

    name: str
    numbers: tuple[float | None, ...]
    statics: tuple[Hashable, ...]
    shapes: tuple[Shape, ...]

    @property
    def symbols(self) -> list[sympy.Symbol]:
        """Variables that stand for the operands."""
        return [sympy.Symbol(f"x{n}", real=True) for n in range(len(self.numbers))]

    def tensors(self, device: str) -> dict[str, Tensor]:
        """Operands that every function takes: positions of 0, and what may be a probability."""
        op, found = TABLE[self.name], dict[str, Tensor]()
        whole = op.positions([len(shape) for shape in self.shapes])
        for n, (shape, number) in enumerate(zip(self.shapes, self.numbers, strict=True)):
            if number is not None:
                continue
            parameter = op.operands[min(n, len(op.operands) - 1)]
            is_whole = parameter in whole
            follows = not is_whole and parameter not in op.undifferentiated
            kind = {"dtype": torch.int64 if is_whole else torch.float64, "device": device}
            values = torch.zeros if is_whole else functools.partial(torch.linspace, 0.25, 0.75)
            found[f"x{n}"] = values(math.prod(shape), **kind).reshape(shape).requires_grad_(follows)
        return found

    def run(self, tensors: dict[str, Tensor]) -> tuple[Tensor, ...]:
        """Call torch.

        Raises:
            InputError: It refuses that.
        """
        op, symbols = TABLE[self.name], self.symbols
        atoms = [s if n is None else exact_number(n) for s, n in zip(symbols, self.numbers, strict=True)]
        call = Call(self.name, tuple(atoms), (*self.statics, None) if op.of_shapes else self.statics)
        operands = [tensors.get(s.name, n) for s, n in zip(symbols, self.numbers, strict=True)]
        try:
            found = TorchCalls(torch, torch.float64).apply(call, operands)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            raise InputError(f"torch refuses {self.name}: {' '.join(str(error).split())}") from None
        return tuple(found) if isinstance(found, tuple | list) else (found,)


@contextlib.contextmanager
def _unseen() -> Iterator[None]:
    """Run a block that no recorder sees, with autograd."""
    with torch.utils._python_dispatch._disable_current_modes(), torch.inference_mode(False), torch.enable_grad():
        yield


@functools.lru_cache(maxsize=1024)
def _result_shapes(asked: _Asked) -> tuple[Shape, ...]:
    with _unseen():
        try:
            found = asked.run(asked.tensors("meta"))
        except InputError:  # of numbers that are asked for, or in torch's words for real ones
            found = asked.run(asked.tensors("cpu"))
        return tuple(tuple(one.shape) for one in found)


@functools.lru_cache(maxsize=256)
def _recorded(make_recorder: type[Recorder], asked: _Asked) -> tuple[Program, ...]:
    """Record what a call is made of.

    Raises:
        InputError: Values decide that.
    """
    tensors = asked.tensors("cpu")
    with _unseen():
        recorder = make_recorder(Names(ask, tensors), torch.float64, asked.name, is_asked=True)
        recorder.give(tensors)
        with recorder:
            found = asked.run(tensors)
        if recorder.decisions.guards or recorder.decisions.lost:
            hint = "call it in a function of Python, FILE.py::NAME"
            raise InputError(f"values decide what {asked.name} computes", hint=hint)
        return tuple(_program(recorder, one, asked.symbols) for one in found)


def _part(make_recorder: type[Recorder], asked: _Asked, n: int) -> Program:
    return _recorded(make_recorder, asked)[n]


def _program(recorder: Recorder, output: Any, symbols: list[sympy.Symbol]) -> Program:
    atom = recorder.atom(output)
    program = recorder.lines.program([recorder.lines.literal(output) if atom is None else recorder.lines.number(atom)])
    return replace(program, variables=tuple(symbols))
