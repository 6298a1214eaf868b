"""Work counted in calls, which no clock, no other process and no other machine changes."""

import contextlib
import cProfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gradcli.errors import GradcliError


@dataclass
class Work:
    """Work of a block, once it has ended."""

    calls: int = 0


@contextlib.contextmanager
def counted() -> Iterator[Work]:
    """The calls of a block, of Python's own functions and of others; what torch does within one is not seen."""
    work, profile = Work(), cProfile.Profile()
    profile.enable()
    try:
        yield work
    finally:
        profile.disable()
        work.calls = sum(entry.callcount for entry in profile.getstats())


def calls(function: Callable[[], Any]) -> int:
    """Count the calls that a function makes until it returns or refuses."""
    with counted() as work, contextlib.suppress(GradcliError):
        function()
    return work.calls
