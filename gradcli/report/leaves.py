"""An answer with every text and number in it passed through a function: what is rounded, and what is made printable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from gradcli.errors import displayable

Anything = TypeVar("Anything")


def changed(answer: Anything, leaf: Callable[[Any], Any]) -> Anything:
    """The same answer, with what `leaf` makes of each text, number and array in it.

    Args:
        answer: An object of `gradcli.results`, or what is in one; names are left as they are.
        leaf: What becomes of one.

    >>> changed((1, {"x": "a"}), lambda one: one * 2)
    (2, {'x': 'aa'})
    """
    found: Any = answer
    match answer:
        case Mapping():
            found = {key: changed(value, leaf) for key, value in answer.items()}
        case tuple():
            found = tuple(changed(value, leaf) for value in answer)
        case _ if is_dataclass(answer) and not isinstance(answer, type):
            found = replace(
                answer, **{field.name: changed(getattr(answer, field.name), leaf) for field in fields(answer)}
            )
        case _:
            found = leaf(answer)
    return found  # type: ignore[no-any-return]


def printable(answer: Anything) -> Anything:
    """The same answer, with nothing in its texts that a terminal or a page would not show as itself."""
    return changed(answer, lambda one: displayable(one) if isinstance(one, str) else one)
