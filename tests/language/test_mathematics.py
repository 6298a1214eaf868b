"""Notation that formulas have and programs have not: sums over indices, Kronecker deltas, cases in braces, bars."""

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.conftest import Command

AT: dict[str, Any] = {"x": [1.0, 2.0, 3.0], "A": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}


def _value(text: str) -> np.ndarray[Any, Any]:
    f = Function(text)
    return f.eval({name: AT[name] for name in f.variables}, check=False).value


READ = [
    ("Σ[k=0..2] x[k]²", 14.0),
    ("1 + 2·Σ[k=1..2] x[k]", 11.0),
    ("Sum(x[k]**2, (k, 0, 2))", 14.0),
    ("Σ[k=0..2] Σ[l=0..k] x[k]·x[l]", 25.0),
    ("Σ[k=0..l, l=0..2] x[k]·x[l]", 25.0),
    ("Σ[k=2..0] x[k]", 0.0),
    ("Π[k=0..2] x[k]", 6.0),
    ("Π[k=0..2, k≠1] x[k]", 3.0),
    ("Σ[k=0..2, l=0..2, k≠l, k≠1 or l≠2] x[k]*x[l]", 16.0),
    ("max[k=0..2] x[k] - 1", 2.0),
    ("min[k=0..2] (x[k] - 1)", 0.0),
    ("Σ[k=0..1, l=0..2] A[k,l]·δ[k,l]", 6.0),
    ("Σ[k=0..2] x[k]·KroneckerDelta(k, 1)", 2.0),
    ("Σ[k=0..2] {x[k-1] if k ≥ 1; 0 otherwise}", 3.0),
    ("det([k=0..1, l=0..1] x[k]^l)", 1.0),
    ("||x[0]| - |x[2]||", 2.0),
    ("{x[0] if x[1] > 5; x[2] if x[1] > 1 and x[0] > 0; 0 otherwise}²", 9.0),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_formulas_are_read(text: str, expected: float) -> None:
    """As they are printed."""
    assert (float(_value(text)), _value(text).shape) == (expected, ())


REFUSED = [
    ("Σ[k=0..5] x[k]", "this index is from 0 to 5, and the dimension has size 3"),
    ("Σ[k=0..2] A[k]", "a tensor of shape (2, 3) has 2 indices, and here are 1"),
    ("Σ[k=0..l, l=0..k] x[k]", "these ranges depend on each other"),
    ("Σ[k=0..2 x[k]", "'[' is never closed"),
    ("Σ[k=0..2] x[x[k]]", "an index may depend on other indices only"),
    ("[k=0..2] x[k]", "ranges without a sign are of a matrix, as in det([k=0..1, l=0..1] x[k]*y[l])"),
    ("{1 if x[0] > 0}", "unexpected character '{'"),
    ("{1 if x[0] > 0} + {0 otherwise}", "unexpected '}' where ';' was expected"),
    ("{1 if x[0] > 0; 0 otherwise", "'{' is never closed"),
    ("Σ[k=0..10000000000] 1", "a tensor of shape (10000000001,)"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_no_formula_is_refused(text: str, message: str) -> None:
    """With what is wrong with it; never a crash."""
    with pytest.raises(GradcliError) as raised:
        _value(text)
    assert message in str(raised.value)


def test_a_product_of_elements_is_meant_where_indices_are_written(gradcli: Command) -> None:
    """No remark says that the matrix product is written otherwise."""
    run = gradcli("grad", "Σ[i=0..1] Σ[j=0..1] δ[i,j]·x[i]·x[j]", "--at", "1,2", "--format", "plain")
    assert (run.out, run.err) == ("2 4\n", "")
    assert "the matrix product is @" in gradcli("eval", "A*x", "--at", "A=[[1,2],[3,4]]", "--at", "x=1,2").err
