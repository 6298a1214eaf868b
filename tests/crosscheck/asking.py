"""The verdict on a function at a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradcli import Function
from gradcli.autodiff import run as torch_reading
from gradcli.results import Check


def asked(command: str, text: str, at: Any, dtype: Any = "float64", **options: Any) -> Check:
    """The check of the answer to a command."""
    check: Check | None = getattr(Function(text), command)(at, dtype=dtype, **options).check
    assert check is not None
    return check


def checked(text: str, x: Any) -> Check:
    """Of its product with ones; all variables are x, if that does not name them."""
    return asked("vjp", text, x if isinstance(x, dict) else dict.fromkeys(Function(text).variables, x), v="ones")


def plant(monkeypatch: pytest.MonkeyPatch, op: str, factor: float) -> None:
    """Multiply torch's derivative of one operation, leaving its value alone."""
    right: Callable[..., Any] = torch_reading.apply

    def wrong(call: Any, values: Any, kind: Any) -> Any:
        result = right(call, values, kind)
        return result * factor - (result * (factor - 1)).detach() if call.op.name == op else result

    monkeypatch.setattr(torch_reading, "apply", wrong)
