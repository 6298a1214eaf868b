"""The verdict on a function at a point, and on numbers that torch might have given."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff import run as torch_reading
from gradcli.crosscheck.judge import judge
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.recording.pass_recorder import record as record_passes
from gradcli.results import Check, Entry
from gradcli.symbolic import derivative, linear
from tests.parsing import parse


def asked(command: str, text: str, at: Any, dtype: Any = "float64", **options: Any) -> Check:
    """The check of the answer to a command."""
    check: Check | None = getattr(Function(text), command)(at, dtype=dtype, **options).check
    assert check is not None
    return check


def checked(text: str, x: Any) -> Check:
    """Of its product with ones; all variables are x, if that does not name them."""
    return asked("vjp", text, x if isinstance(x, dict) else dict.fromkeys(Function(text).variables, x), v="ones")


def slope_of(check: Check) -> Entry:
    """Its first finding on a derivative."""
    return next(f for f in check.findings if f.variable is not None)


def judged(text: str, at: Mapping[str, Any], torch: Numbers, *wrt: str) -> Check:
    """The check of numbers as those of torch, in place of which they stand."""
    arrays = {name: np.asarray(value, dtype=float) for name, value in at.items()}
    shapes = {name: array.shape for name, array in arrays.items()}
    program = parse(text, shapes=shapes)
    point = FunctionAtPoint.from_inputs(
        program, {one: shapes[str(one)] for one in program.variables}, arrays, record_passes
    )
    return judge(point, torch, wrt).check


def plant(monkeypatch: pytest.MonkeyPatch, op: str, factor: float) -> None:
    """Multiply torch's derivative of one operation, leaving its value alone."""
    right: Callable[..., Any] = torch_reading.apply

    def wrong(call: Any, values: Any, kind: Any) -> Any:
        result = right(call, values, kind)
        return result * factor - (result * (factor - 1)).detach() if call.op.name == op else result

    monkeypatch.setattr(torch_reading, "apply", wrong)


@contextmanager
def wrong_formulas(factor: Any) -> Iterator[None]:
    """Multiply the formulas of derivatives within a block; none of before is remembered in it, and none of it after."""
    right, kept = linear.assemble, (derivative._differentiated_once, derivative._differentiated)
    try:
        with mock.patch.object(derivative, "assemble", lambda form: right(form) * factor):
            for cache in kept:
                cache.cache_clear()
            yield
    finally:
        for cache in kept:
            cache.cache_clear()
