"""What a written row is given: the shapes of its operands, its constants, and the numbers of constant operands.

A rule takes it and gives text of the language in the names of the operands: one, a list of them, or several by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from gradcli.errors import GradcliError, TooLargeError
from gradcli.language.lower.scope import Array
from gradcli.language.ops import Op
from gradcli.language.program.movement import axis_of
from gradcli.language.program.wengert import Shape

Text = str | list[str] | dict[str, str]
"""What a rule gives: one text, those of a list, or several by their names."""


MOST_WRITTEN = 2**20
"""Elements of a tensor: a rule may name each of them."""


class UnknownShapeError(Exception):
    """The shape of an operand is not known yet."""


@dataclass(frozen=True)
class Given:
    """The arguments of one call.

    Attributes:
        op: The row.
        names: What the operands are called in the text, in order; those of a list are numbered.
        statics: The constant arguments.
        library: Whose meaning it has; torch's if empty.
        is_method: Whether an operand stands before its dot.
        known: The shape of an operand, None while it is not known.
        numbers: The numbers of an operand that is constant, None of one that is not.
        decided: Those of a condition that values decide at a point, None without one; an error where there is none.
        refuse: The error for a call that is not read, with a hint.
        held: Constants that the text has by name.
    """

    op: Op
    names: tuple[str, ...]
    statics: Mapping[str, Any]
    library: str
    is_method: bool
    known: Callable[[str], Shape | None]
    numbers: Callable[[str], Array | None]
    decided: Callable[[str], Array | None]
    refuse: Callable[[str, str | None], GradcliError]
    held: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, static: str) -> Any:
        """A constant argument."""
        return self.statics[static]

    def has(self, name: str) -> bool:
        """Whether an operand is given, which may be left out."""
        return name in self.names

    def shape(self, name: str) -> Shape:
        """The shape of an operand.

        Raises:
            UnknownShapeError: It is not known yet.
            TooLargeError: It has more than `MOST_WRITTEN` elements.
        """
        found = self.known(name)
        if found is None:
            raise UnknownShapeError
        if math.prod(found) > MOST_WRITTEN:
            message = f"{self.op.name} takes a tensor of at most {MOST_WRITTEN:,} elements"
            raise TooLargeError(message, hint=f"this one has {math.prod(found):,}")
        return found

    def rank(self, name: str) -> int:
        """How many dimensions an operand has."""
        return len(self.shape(name))

    def axis(self, name: str, static: str = "dim", extra: int = 0) -> int:
        """A dimension of an operand that a constant names, counted from the front."""
        return axis_of(self.shape(name), self[static], extra)

    def size(self, name: str, static: str = "dim") -> int:
        """The size of the dimension that a constant names."""
        return self.shape(name)[self.axis(name, static)]

    def hold(self, value: Any) -> str:
        """The name in the text of a constant argument that is long."""
        name = f"c{len(self.held)}"
        self.held[name] = value
        return name

    def mask(self, name: str) -> Array:
        """The numbers of a mask, which say how many elements there are.

        Raises:
            UnknownShapeError: They are not known yet.
            GradcliError: Values decide that are never known here.
        """
        found = self.decided(name)
        if found is None:
            raise UnknownShapeError
        return found

    def constant(self, name: str, what: str) -> Array:
        """The numbers of an operand that must be constant.

        Raises:
            GradcliError: It is not.
        """
        found = self.numbers(name)
        if found is None:
            raise self.refuse(f"{self.op.name} needs {what} that are constant for {name}", "write them as numbers")
        return found


def key(axis: int, item: object, rank: int | None = None) -> str:
    """The index of a text that takes `item` of a dimension, and all of the others.

    >>> key(1, "2:5"), key(-2, 0, 3)
    ('[:, 2:5]', '[:, 0]')
    """
    axis = axis if rank is None else axis % rank
    return f"[{':, ' * axis}{item}]"


def sizes(shape: Sequence[object]) -> str:
    """A shape as an argument: `(2, 3)`, `(2,)`, `()`.

    >>> sizes([2])
    '(2,)'
    """
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def product(texts: Sequence[str]) -> str:
    """Texts multiplied; 1 if there are none."""
    return "*".join(texts) or "1"


def spelled_out(equation: str, ranks: Sequence[int]) -> str:
    """An equation of letters with letters of their own for the dimensions that `...` stands for, counted from the last.

    Args:
        equation: As einsum takes it.
        ranks: How many dimensions each operand has.

    >>> spelled_out("...ij,...jk->...ik", [3, 2]), spelled_out("...i,i", [2, 1])
    ('Aij,jk->Aik', 'Ai,i->A')
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    words = left.split(",")
    counts = [max(0, rank - len(word) + 3) if "..." in word else 0 for word, rank in zip(words, ranks, strict=False)]
    own = [c for c in ascii_uppercase if c not in equation][: max(counts, default=0)]
    spelled = [word.replace("...", "".join(own[len(own) - n :])) for word, n in zip(words, counts, strict=False)]
    letters = "".join(words).replace(".", "")
    result = right if arrow else "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{','.join([*spelled, *words[len(spelled) :]])}->{result.replace('...', ''.join(own))}"
