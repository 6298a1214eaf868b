"""Torch's generator of random numbers on the CPU, whose words are those of NumPy's MT19937 with the same seed.

All that a text draws comes of it in order, so that nothing that draws is passed over.
"""

from __future__ import annotations

import math
import re

import numpy as np
import numpy.typing as npt

from gradcli.errors import GradcliError, Span
from gradcli.language.lower.scope import Array
from gradcli.language.program.wengert import Shape
from gradcli.language.text.source import Source

_BLOCK = 16
"""As many normal numbers torch makes at once."""

OWN_SEED = 67280421310721
"""The seed of a `torch.Generator()` that is given none."""

_DRAWS = re.compile(
    r"\b(?:rand\w*|fork_rng|(?:standard_)?normal_?|uniform_?|bernoulli|permutation|integers|r?sample|nn\.[A-Z]\w*)\("
)
"""What draws, as it is written."""

Drawn = npt.NDArray[np.floating]


class Generator:
    """Torch's generator of random numbers on the CPU.

    Attributes:
        is_seeded: Whether the text says its seed.
        is_double: Whether the next numbers are those of a tensor of float64.
    """

    shown = "a generator"

    def __init__(self, number: int = 0, *, is_seeded: bool = False) -> None:
        self.seed(number)
        self.is_seeded, self.is_double = is_seeded, False

    def seed(self, number: int) -> None:
        """`torch.manual_seed(number)`."""
        self._bits = np.random.RandomState(number % 2**32)
        self.is_seeded = True
        self._next: float | None = None  # the second of two normal numbers that are made at once

    def _words(self, count: int) -> npt.NDArray[np.uint32]:
        return self._bits.randint(0, 2**32, size=count, dtype=np.uint32)

    def _fractions(self, count: int) -> Drawn:
        """Numbers from 0 to 1, by one word each in float32 and by two in float64."""
        if not self.is_double:
            return (self._words(count) & (2**24 - 1)).astype(np.float32) * np.float32(2.0**-24)
        words = self._words(2 * count).astype(np.uint64)
        return ((words[::2] << np.uint64(32) | words[1::2]) & np.uint64(2**53 - 1)).astype(np.float64) * 2.0**-53

    def uniform(self, shape: Shape, bound: float, start: float | None = None) -> Array:
        """Numbers between -bound, or a start, and bound, as `uniform_` draws them."""
        kind = np.float64 if self.is_double else np.float32
        low, high = kind(-bound if start is None else start), kind(bound)
        found = self._fractions(math.prod(shape)).astype(np.float64) * np.float64(high - low) + np.float64(low)
        return found.astype(kind).astype(np.float64).reshape(shape)  # torch multiplies and adds in one step

    def normal(self, shape: Shape, mean: float = 0.0, std: float = 1.0) -> Array:
        """Normal numbers, as `normal_` draws them, up to the last digit of their type.

        Its logarithm, sine and cosine of many numbers are faster than they are exact.
        """
        count = math.prod(shape)
        found = (self._few(count) if count < _BLOCK else self._many(count).astype(np.float64)) * std + mean
        return found.astype(np.float64 if self.is_double else np.float32).astype(np.float64).reshape(shape)

    def _few(self, count: int) -> Array:
        """One after the other, in float64: of every two that are made the second is kept for the next call."""
        found = []
        for _ in range(count):
            if self._next is not None:
                value, self._next = self._next, None
            else:
                first, second = (self._double() for _ in range(2))
                radius, angle = math.sqrt(-2.0 * math.log1p(-second)), 2.0 * math.pi * first
                value, self._next = radius * math.cos(angle), radius * math.sin(angle)
            found.append(value)
        return np.asarray(found, dtype=np.float64)

    def _double(self) -> float:
        high, low = (int(word) for word in self._words(2))
        return ((high << 32 | low) & (2**53 - 1)) * 2.0**-53

    def _many(self, count: int) -> Drawn:
        """In blocks of 16; the last of them is made again of new numbers, where the others leave a rest."""
        drawn = self._fractions(count)
        whole = count - count % _BLOCK
        found = np.concatenate([_normal(drawn[:whole]), drawn[whole:]])
        if whole < count:
            found[-_BLOCK:] = _normal(self._fractions(_BLOCK))
        return found

    def whole(self, shape: Shape, low: int, high: int) -> Array:
        """Whole numbers from low on and below high, which are near each other, as `random_` draws them."""
        return (self._words(math.prod(shape)) % np.uint32(high - low)).astype(np.float64).reshape(shape) + low

    def permutation(self, count: int) -> Array:
        """The numbers below a count in another order, as `randperm` draws it."""
        found = list(range(count))
        for n, word in enumerate(self._words(max(count - 1, 0)).tolist()):
            other = n + word % (count - n)
            found[n], found[other] = found[other], found[n]
        return np.asarray(found, dtype=np.float64)


def _normal(drawn: Drawn) -> Drawn:
    """Normal numbers of uniform ones in blocks of 16: a radius by the first 8, and an angle by the others."""
    kind = drawn.dtype.type
    blocks = drawn.reshape(-1, 2, _BLOCK // 2)
    logarithm = np.log(1.0 - blocks[:, 0].astype(np.float64)).astype(kind)
    radius, angle = np.sqrt(kind(-2) * logarithm), kind(2 * math.pi) * blocks[:, 1]
    turned = [f(angle.astype(np.float64)).astype(kind) for f in (np.cos, np.sin)]
    return np.stack([radius * one for one in turned], axis=1).reshape(-1)


def draw_in(source: Source, span: Span) -> Span | None:
    """Where something is drawn in a range of a text, by torch or by NumPy; None where nothing is."""
    found = _DRAWS.search(source.text, span.start, span.stop)
    return None if found is None else Span(found.start(), found.end() - 1)


def require_no_draw(source: Source, span: Span) -> None:
    """Refuse numbers that are drawn where nothing is read, as all that are drawn behind them would be others.

    Raises:
        LanguageError: There are some.
    """
    where = draw_in(source, span)
    if where is not None:
        raise drawn_unread(source, where)


def drawn_unread(source: Source, where: Span) -> GradcliError:
    """The error that something is drawn where nothing is read."""
    message = "what is drawn here is passed over, and what is drawn behind it would be other numbers"
    return source.error(message, where, hint="draw it on a line of its own: u = torch.rand(3)")
