"""Errors in the rules of the gradient, planted one at a time: the tests of each reader of the gradient see them.

A reader is right before an error is planted, and wrong with it: in torch against autograd, first and second
derivatives; as `check` judges Hessians; on arrays with bounds against balls, which differentiate by themselves; as a
NumPy script, by the part `code`, against `vjp`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.adjoint import elementwise_rules, fold_rules, linear_rules, matrix_rules, row_rules, slopes
from gradcli.adjoint.gradient import _Walk
from gradcli.adjoint.writing import ONE, ZERO, LineWriter
from tests import of_parts
from tests.adjoint import test_gradient as in_torch
from tests.checks import check_of
from tests.reference import test_bounds

Rule = Callable[..., Any]

CACHES = (slopes.partials, slopes.as_program, row_rules._meaning, row_rules._in_floats)
"""What remembers Programs and slopes, which an error is a part of."""


@pytest.fixture(autouse=True)
def _without_memory() -> Iterator[None]:
    yield
    _forget()


def _forget() -> None:
    for cache in CACHES:
        cache.cache_clear()


# -- readers: each raises an error where the gradient is wrong, and tells how much it knows


MISTAKEN = -1
"""Entries that a reader knows whose assertion fails."""


def _first(text: str, at: dict[str, Any]) -> int:
    in_torch.require_that_of_autograd(*in_torch.program_of(text, _arrays(at)), _arrays(at), "as torch")
    return 0


def _second(text: str, at: dict[str, Any]) -> int:
    in_torch.require_second_of_autograd(*in_torch.program_of(text, _arrays(at)), _arrays(at))
    return 0


def _bounds(text: str, at: dict[str, Any]) -> int:
    return test_bounds.adjoints_hold(text, at)[0]


def _hessian(text: str, at: dict[str, Any]) -> int:
    check = check_of(Function(f"y_ = {text}; sum(y_*y_)").hessian(at))
    assert check.verdict == "agree", check.findings
    return check.checked


def _arrays(at: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(a, dtype=float) for name, a in at.items()}


READERS: dict[str, Callable[[str, dict[str, Any]], int]] = {
    "torch": _first,
    "second": _second,
    "hessian": _hessian,
    "bounds": _bounds,
    **of_parts.rows("READERS"),
}
"""The readers by name; the part `code` adds its scripts."""


# -- errors: each makes a wrong rule of the right one


def negated(right: Rule) -> Rule:
    """A wrong sign."""
    return lambda writer, *given, **options: writer.write("neg", right(writer, *given, **options))


def scaled(right: Rule) -> Rule:
    """A factor."""
    factor = sympy.Rational(1001, 1000)
    return lambda writer, *given, **options: writer.write("mul", factor, right(writer, *given, **options))


def of_first(right: Rule) -> Rule:
    """The slope of the first operand in place of that of each."""
    return lambda writer, call, k: right(writer, call, 0)


def of_other(right: Rule) -> Rule:
    """The other operand of two."""
    return lambda writer, call, k, *given, **options: right(writer, call, len(call.operands) - 1 - k, *given, **options)


def swapped(right: Rule) -> Rule:
    """A comparison from the other side."""
    return lambda writer, a, b, *others: right(writer, b, a, *others)


def of_other_branch(right: Rule) -> Rule:
    """The other branch."""
    return lambda writer, call, k, *given, **options: right(writer, call, 3 - k, *given, **options)


def as_given(right: Rule) -> Rule:
    """No change of the second argument, the adjoint or the matrix, as if the rule were not there."""
    return lambda writer, given, *others, **options: given


def adjoint_as_given(right: Rule) -> Rule:
    """No change of the adjoint, the last argument."""
    return lambda *given: given[-1]


def of_weights_alone(right: Rule) -> Rule:
    """A recurrence without what it carries on."""
    return lambda writer, g, *others: g


def unflipped(right: Rule) -> Rule:
    """Running sums from the wrong end."""
    return lambda writer, call, g: writer.write("cumsum", g, dim=0)


def shifted(right: Rule) -> Rule:
    """An index that is off by one."""
    return lambda writer, g, axis, targets, size: right(writer, g, axis, (targets + 1) % size, size)


def transposed(right: Rule) -> Rule:
    """A matrix that is transposed once too often."""
    return lambda writer, *given: matrix_rules.turned(writer, right(writer, *given))


def first_alone(right: Rule) -> Rule:
    """A dropped term."""
    return lambda writer, a, b: a


def unguarded(right: Rule) -> Rule:
    """A lost guard: no place has no derivative."""
    return lambda *given: []


def untied(right: Rule) -> Rule:
    """A lost guard: no elements tie."""
    return lambda *given: ONE


def unmasked(right: Rule) -> Rule:
    """A lost mask: what is 0 whatever it is multiplied by is no longer told."""
    return lambda walk, found, mask: found


def everywhere(right: Rule) -> Rule:
    """A lost mask: adjoints come back to all elements."""
    return lambda *given: ONE


def nowhere(right: Rule) -> Rule:
    """A mask that leaves out too much."""
    return lambda *given: ZERO


def of_first_pairs(right: Rule) -> Rule:
    """A tree of one level."""
    return lambda *given: right(*given)[:1]


def minus(right: Rule) -> Rule:
    """A wrong sign of an expression."""
    return lambda *given: -right(*given)


VECTOR = {"x": [1.0, 5, 3]}
TWO = {"x": [1.5, 5, 3], "y": [2.0, 0.5, 7]}
SQUARE = {"A": [[4.0, 1, 2], [1, 5, 1], [2, 1, 9]]}
ANY = {"A": [[4.0, 1, 2], [3, 5, 1], [2, 7, 9]]}
EVERY = "torch second hessian bounds script"

PLANTED: list[tuple[Any, str, Callable[[Rule], Rule], str, dict[str, Any], str]] = [
    # elementwise operations, choices, and what has no derivative
    (elementwise_rules, "pulled_back", negated, "exp(x)*x", VECTOR, EVERY),
    (elementwise_rules, "pulled_back", scaled, "exp(x)*x", VECTOR, EVERY),
    (elementwise_rules, "slope", scaled, "log(x)", VECTOR, EVERY),
    (elementwise_rules, "slope", of_first, "x/y", TWO, EVERY),
    (elementwise_rules, "taken", of_other, "maximum(x, y)*x", TWO, "torch second bounds"),
    (elementwise_rules, "may_be_taken", nowhere, "maximum(x**2, y)", TWO, "second bounds"),
    (elementwise_rules, "chosen", of_other_branch, "where(x > 2, x**2, y**3)", TWO, EVERY),
    (elementwise_rules, "distances", unguarded, "abs(x)", {"x": [0.0, 1]}, "bounds"),
    (elementwise_rules, "distances", unguarded, "floor(x)", {"x": [0.0, 1.5]}, "bounds"),
    (slopes, "_partial", minus, "sin(x)*x", VECTOR, EVERY),
    (_Walk, "_unless", as_given, "abs(x)", {"x": [0.0, 1]}, "bounds"),
    (_Walk, "_unless", as_given, "amax(x)", {"x": [1.0, 1, 0]}, "bounds"),
    (_Walk, "_masked", unmasked, "where(x > 0, sqrt(x), x)", {"x": [-1.0, 4]}, "bounds"),
    (_Walk, "_moved_mask", everywhere, "sqrt(x)[1:]*x[1:]", {"x": [-1.0, 4, 9]}, "bounds"),
    (linear_rules, "moves_every_element", everywhere, "sum(sqrt(x)[1:])", {"x": [-1.0, 4, 9]}, "bounds"),
    (_Walk, "_moved_mask", nowhere, "sum(where(x > 2, x, x**2))*x", VECTOR, "second bounds"),
    (_Walk, "_of_product", everywhere, "(sqrt(A) @ x)[1:]", {"A": [[-4.0, 1], [2, 3]], "x": [1.0, 2]}, "bounds"),
    (LineWriter, "plus", first_alone, "x*sin(x)", VECTOR, EVERY),
    (LineWriter, "fit", scaled, "x[:, None]*y", TWO, EVERY),
    # movements, lists and sums
    (linear_rules, "part_of_list", scaled, "cat([x, y])**2", TWO, EVERY),
    (linear_rules, "moved_back", adjoint_as_given, "flip(x, 0)*y", TWO, EVERY),
    (linear_rules, "moved_back", adjoint_as_given, "A.T**2*[[1, 2, 3], [4, 5, 6], [7, 8, 9]]", ANY, EVERY),
    (linear_rules, "spread", scaled, "sum(x**2)*x", VECTOR, EVERY),
    (linear_rules, "summed_behind", unflipped, "cumsum(x**2, 0)*y", TWO, EVERY),
    (linear_rules, "summed_at", shifted, "x[[0, 0, 2]]*y", TWO, EVERY),
    (linear_rules, "summed_at", shifted, "windows(x**2, 0, 2)*y[:2]", TWO, EVERY),
    (linear_rules, "gathered_back", scaled, "elements_at(x**2, [0, 0, 2])*y", TWO, EVERY),
    (linear_rules, "scattered_back", scaled, "sums_at(x**2, [2, 0, 2], 0, 3)*y", TWO, EVERY),
    (linear_rules, "_placed", scaled, "x[::-2]**2", VECTOR, EVERY),
    (linear_rules, "_on_diagonal", transposed, "diagonal(A, 1)**2", ANY, EVERY),
    (linear_rules, "dilated", scaled, "x[::2]**2", VECTOR, EVERY),
    # products, extremes and running folds
    (fold_rules, "folded_adjoint", scaled, "prod(x)", VECTOR, "second bounds"),
    (fold_rules, "_levels", of_first_pairs, "prod(x)", VECTOR, "second bounds"),
    (fold_rules, "excluded", scaled, "prod(x)", VECTOR, "second bounds"),
    (fold_rules, "wins", swapped, "amax(x)*x", VECTOR, "bounds"),
    (fold_rules, "apart_from_ties", untied, "amax(x)", {"x": [1.0, 1, 0]}, "bounds"),
    (fold_rules, "may_be_extreme", nowhere, "amax(x**2)", VECTOR, "second bounds"),
    (fold_rules, "_recurrence", of_weights_alone, "cumprod(x, 0)", VECTOR, EVERY),
    (fold_rules, "_summed_while", of_weights_alone, "cummax(x, 0)*x", VECTOR, EVERY),
    (fold_rules, "running_adjoint", scaled, "cumprod(x, 0)", VECTOR, EVERY),
    (row_rules, "own_adjoint", scaled, "softplus(x)*x", VECTOR, "script"),
    # matrices
    (matrix_rules, "turned", as_given, "A @ A**2", ANY, EVERY),
    (matrix_rules, "lines_reached", nowhere, "(A**2 @ x)[1:]", ANY | VECTOR, "second bounds"),
    (
        matrix_rules,
        "lines_reached",
        everywhere,
        "(sqrt(A) @ x)[1:]",
        {"A": [[-4.0, 1], [2, 3]], "x": [1.0, 2]},
        "bounds",
    ),
    (matrix_rules, "multiplied", scaled, "A @ A", ANY, EVERY),
    (matrix_rules, "of_matrix", negated, "inv(A)", ANY, "torch bounds"),
    (matrix_rules, "cofactors", transposed, "det(A)", ANY, "torch second bounds"),
    (matrix_rules, "_determinants", negated, "det(A)", ANY, "torch second bounds"),
    (matrix_rules, "without_singular", adjoint_as_given, "det(A)", {"A": [[1.0, 2], [2, 4]]}, "torch"),
    (matrix_rules, "_of_exponential", transposed, "matrix_exp(A/9)", ANY, "torch second script"),
    (matrix_rules, "_of_factor", scaled, "cholesky(A)", SQUARE, "bounds script"),
    (matrix_rules, "_symmetric", as_given, "cholesky(A)", SQUARE, "bounds script"),
    (matrix_rules, "of_matrix", scaled, "eigvalsh(A + A.T)", ANY, EVERY),
    (matrix_rules, "_of_spectrum", scaled, "with_eigenvalues(A + A.T, x)", ANY | VECTOR, "bounds script"),
]
"""A rule, what is wrong with it, a function that it is a rule for, with values, and the readers that use it."""


def _rows() -> list[Any]:
    """Each error with each of its readers, of which all but one in turn are for `pytest -m thorough`."""
    rows = []
    for n, (owner, name, wrong, text, at, readers) in enumerate(PLANTED):
        there = [reader for reader in readers.split() if reader in READERS]
        for m, reader in enumerate(there):
            marks = pytest.mark.thorough if m != n % len(there) else ()
            named = f"{reader}-{name}-{wrong.__name__}-{text}"
            rows.append(pytest.param(owner, name, wrong, text, at, reader, id=named, marks=marks))
    return rows


@pytest.mark.parametrize(("owner", "name", "wrong", "text", "at", "reader"), _rows())
@pytest.mark.one_in(4)
def test_a_planted_error_is_seen(
    owner: Any,
    name: str,
    wrong: Callable[[Rule], Rule],
    text: str,
    at: dict[str, Any],
    reader: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reader is right, and then wrong, or knows less."""
    known = READERS[reader](text, at)
    _forget()
    monkeypatch.setattr(owner, name, wrong(getattr(owner, name)))
    try:
        found = READERS[reader](text, at)
    except AssertionError:
        found = MISTAKEN
    assert found < known


def test_every_rule_has_an_error() -> None:
    """Of those that others call."""
    planted = {(getattr(owner, "__name__", ""), name) for owner, name, *_ in PLANTED}
    modules = (elementwise_rules, linear_rules, fold_rules, matrix_rules, row_rules)
    names = {
        (module.__name__, name)
        for module in modules
        for name, rule in vars(module).items()
        if callable(rule) and getattr(rule, "__module__", "") == module.__name__ and name[0] != "_"
    }
    assert {name for _, name in names - planted} <= HELPERS


HELPERS = {"has_own_adjoint", "in_torch_form", "is_guard", "kept_shape"}
"""Functions that rules share, or that ask about an operation."""
