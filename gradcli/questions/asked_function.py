"""What the shell asks of a function, whether it is a text or a function of Python."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Protocol

from gradcli.results import Result


class AskedFunction(Protocol):
    """A function that answers commands."""

    @property
    def has_v(self) -> bool:
        """Tell whether it has a gradient vector of its own."""

    def wants_formula(self, given: Container[str]) -> bool:
        """Tell whether a derivative is asked for without a point, as `ParsedText.wants_formula` does."""

    def ask(self, command: str, given: Mapping[str, Any], *, budget: float | None = None) -> Result:
        """Answer a command by its name, as `ParsedText.ask` does."""
