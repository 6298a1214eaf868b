"""What `graph` refuses, before torch is imported."""

from __future__ import annotations

from typing import Any

import pytest

from gradcli import Function
from gradcli.errors import TooLargeError
from gradcli.questions import views
from gradcli.results import Array


def test_tensors_that_are_too_large_together_are_refused() -> None:
    """A hundred names of half a million elements each."""
    text = "y0 = x; " + "; ".join(f"y{n + 1} = y{n}*2" for n in range(100))
    with pytest.raises(TooLargeError, match="elements together; the limit is 33,554,432"):
        Function(text).graph({"x": "ones(500000)"})


def test_very_many_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nested operations need none."""
    monkeypatch.setattr(views, "MAX_TENSORS", 5)
    with pytest.raises(TooLargeError, match="there are 7 variables and named values"):
        Function("a = x; b = x; c = x; d = x; e1 = x; a+b+c+d+e1").graph({"x": 1})
    assert Function("a = x; b = a; c = b; c*2").graph({"x": 1}).nodes


def test_nodes_have_their_values_and_adjoints() -> None:
    """Of y = x**2, z = y**3 at 1, 2: what went forward, and what came back; before a pass nothing has."""
    function = Function("y = x**2; z = y**3")
    found = [
        (node.name, _listed(node.value), _listed(node.adjoint)) for node in function.graph({"x": "1,2"}, "1,1").nodes
    ]
    assert found == [
        ("PowBackward0", [1, 64], [1, 1]),
        ("PowBackward0", [1, 4], [3, 48]),
        ("AccumulateGrad", [1, 2], [6, 192]),
    ]
    assert {_listed(node.adjoint) is None for node in function.graph({"x": "1,2"}).nodes} == {True}


def test_an_adjoint_is_the_sum_over_all_uses_and_large_values_are_left_out() -> None:
    """Also where torch makes several nodes of one line; nothing changes which gradients are retained."""
    answer = Function("y = x*x; z = y + 3*y").graph({"x": 5}, 1)
    assert {node.tensors: _listed(node.adjoint) for node in answer.nodes if node.tensors} == {("z",): 1, ("y",): 4}
    assert [tensor.retains_grad for tensor in answer.tensors] == [False, False, False]
    large = Function("y = x**2; sum(y)").graph({"x": "ones(50)"})
    assert [_listed(node.value) for node in large.nodes] == [50, None, None]


def _listed(array: Array | None) -> Any:
    return None if array is None else array.tolist()
