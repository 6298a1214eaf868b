"""Random numbers of a text, which torch draws: `torch.manual_seed(3); x = torch.randn(2)`.

What is drawn is a constant tensor; a name for it makes a variable, as for other tensors of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import sympy

from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Array, Operand
from gradcli.language.program.numeric import Numbers
from gradcli.language.program.wengert import MAX_ELEMENTS, Shape
from gradcli.language.snippets.dtypes import Dtypes
from gradcli.language.text import nodes

UNSEEDED = "no seed is set: random numbers are those that torch draws after torch.manual_seed(0)"
"""The remark on numbers that are another time others."""


class Generator(Protocol):
    """A generator of random numbers, torch's own."""

    def seed(self, number: int) -> None:
        """Begin anew, as after `torch.manual_seed(number)`."""

    def draw(self, name: str, shape: Shape, *, is_double: bool) -> Array:
        """Numbers of `torch.rand` or `torch.randn`."""


class Drawing:
    """Draws the numbers of a text, in the order of its statements.

    Attributes:
        seed: Of the numbers that are drawn next; None where they follow those before.
    """

    def __init__(self, lowering: Lowering, dtypes: Dtypes, generator: Callable[[], Generator] | None) -> None:
        self.source, self.scope, self.builder = lowering.source, lowering.scope, lowering.lines.builder
        self.constants, self.binder, self.dtypes = lowering.constants, lowering.binder, dtypes
        self.seed: int | None = None
        self._make_generator = generator
        self._generator: Generator | None = None
        self._count = 0

    def draw(self, path: str, arguments: nodes.Arguments, span: Span) -> Operand:
        """Numbers that torch draws."""
        if self._make_generator is None:
            raise self.source.code(f"'{path}'", span)
        sizes: list[int] = []
        for argument in arguments.items:
            if argument.name is None or argument.name.text == "size":
                found = self.constants.several(argument.value)
                sizes += found if isinstance(found, tuple) else [found]
            elif not self.binder.ignored(argument):
                raise self.source.error(f"{path} has no argument '{argument.name.text}'", argument.name.span)
        if any(size < 0 for size in sizes) or sympy.prod(sizes) > MAX_ELEMENTS:
            message = f"sizes are whole numbers from 0 on, of at most {MAX_ELEMENTS:,} elements in all"
            raise self.source.error(message, span, kind=TooLargeError)
        self._generator = self._generator or self._make_generator()
        if self.seed is not None:
            self._generator.seed(self.seed)
        elif not self._count:
            self.scope.remark(UNSEEDED)
        self.seed, self._count = None, self._count + 1
        shape = tuple(sizes)
        numbers = self._generator.draw(path.rpartition(".")[2], shape, is_double=self.dtypes.is_double(span))
        held = Numbers(numbers.tobytes(), f"{path.rpartition('.')[2]} {self._count}")
        return self.builder.emit("drawn", (), span, (shape, held)), span
