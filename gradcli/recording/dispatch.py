"""A mode that sees every call of ATen, may pause, and may see the calls within a call."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from gradcli.autodiff._torch import torch


class DispatchMode(torch.utils._python_dispatch.TorchDispatchMode):
    """Sees the calls of ATen while it is entered, and above them what its surface sees."""

    _surface: Any  # what sees above autograd

    def __init__(self) -> None:
        super().__init__()
        self._pauses = self._inside = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first call imports torch._dynamo, which takes a second

    def __enter__(self) -> Self:
        """See calls from here on."""
        self._surface.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        """See no more."""
        super().__exit__(*raised)
        self._surface.__exit__(*raised)

    def run(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run a call for its numbers."""
        return function(*args, **kwargs)

    def lose(self, error: Exception) -> None:
        """Take note of what cannot be recorded.

        Raises:
            Exception: That, as the function is not answered.
        """
        raise error

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Run a block whose calls are not seen."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """See the calls of a block that runs within a call."""
        super().__enter__()
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            super().__exit__(None, None, None)
