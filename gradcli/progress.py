"""What is being done, for those who wait: said by whatever may take long, shown by the shell or by nobody.

The last word counts, and saying it costs an assignment: it belongs to the process, as a terminal does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    _Item = TypeVar("_Item")

_Step = tuple[str, int, int]

_steps: dict[str, _Step] = {}
"""What is being done, and which of several that it is part of."""


def doing(what: str, done: int = 0, total: int = 0) -> None:
    """Say what is being done, and how much of it, if that is known.

    >>> doing("proving", 512, 1024)
    >>> said()
    'proving 512 of 1,024'
    """
    _steps["inner"] = what, done, total


def counted(what: str, items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """The items, of which each takes long: whatever is done meanwhile is part of that.

    >>> for _ in counted("point", "abc", 3):
    ...     doing("proving")
    ...     said()
    'point 1 of 3: proving'
    'point 2 of 3: proving'
    'point 3 of 3: proving'
    """
    try:
        for n, item in enumerate(items, 1):
            _steps["outer"] = what, n, total
            yield item
    finally:
        _steps.pop("outer", None)


def said() -> str:
    """What was said last."""
    return ": ".join(_words(*_steps[part]) for part in ("outer", "inner") if part in _steps)


def _words(what: str, done: int, total: int) -> str:
    return f"{what} {done:,} of {total:,}" if total > 1 else what
