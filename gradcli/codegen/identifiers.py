"""Names of a script: valid identifiers of Python, each for one thing, none that the script needs for itself."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable


class Names:
    """Hands out identifiers.

    >>> names = Names(["torch", "print"])
    >>> [names.take(word) for word in ("x", "x", "torch", "lambda", "__debug__")]
    ['x', 'x_2', 'torch_2', 'lambda_2', 'debug__']
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = set(reserved)
        self._temporaries = 0

    def take(self, *wanted: str) -> str:
        """The first of these names that is free, or else the first with a number behind it."""
        words = [_identifier(word) for word in wanted]
        free = next((word for word in words if self.is_free(word)), None)
        number = 2
        while free is None:
            word = f"{words[0]}_{number}"
            free = word if self.is_free(word) else None
            number += 1
        self._taken.add(free)
        return free

    def temporary(self) -> str:
        """The next free name of t1, t2, ..."""
        while True:
            self._temporaries += 1
            if self.is_free(f"t{self._temporaries}"):
                return self.take(f"t{self._temporaries}")

    def is_free(self, word: str) -> bool:
        """Whether nothing is called so yet."""
        return word not in self._taken and not keyword.iskeyword(word)


def _identifier(word: str) -> str:
    """The identifier as Python reads it (it takes `ｘ` for `x`), without the underscores that mean something to it."""
    read = unicodedata.normalize("NFKC", word).lstrip("_")
    return read if read.isidentifier() else "t"
