"""The divergence: a number by hand, in the shell, in a request and in Python; and fields that have none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.requests import answer, read
from tests.conftest import Command


@pytest.mark.parametrize(
    ("text", "at", "number"),
    [("[x[0]**2, x[0]*x[1]]", [1, 2], 3), ("[-x[1], x[0]]", [5, 7], 0), ("x**3", [1, 2, 3], 42)],
)
def test_it_is_the_trace_of_the_jacobian(text: str, at: list[float], number: float, gradcli: Command) -> None:
    """Derived by hand; the three surfaces give the same."""
    words = ",".join(map(str, at))
    request = json.dumps({"command": "divergence", "expression": text, "at": at})
    function: Any = Function(text)
    assert function.divergence(at).value == number
    assert float(gradcli("divergence", text, "--at", words, "--format", "plain").out) == number
    found: Any = answer(read(request.encode()))
    assert found.value == number


def test_a_field_has_as_many_components_as_variables() -> None:
    """No other has a divergence."""
    function: Any = Function("sum(x)")
    with pytest.raises(GradcliError, match="of a vector by one of its size"):
        function.divergence([1, 2])
