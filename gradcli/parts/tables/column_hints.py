"""Names for the columns of a table without a row of names: those that the function needs, tried before they are shown.

Nothing is known here of files: a table is the number of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradcli import trial
from gradcli.errors import GradcliError, InputError
from gradcli.option_words import option
from gradcli.results import RowSource

if TYPE_CHECKING:
    from gradcli.parts.tables.streaming import ColumnPlan

_LISTED = 12
"""Most names that a hint lists."""


class UnnamedColumnsError(InputError):
    """Columns that have no names, or as many names as another table would have.

    Attributes:
        count: How many columns there are.
        is_number_alone: Whether names are given, and their number is wrong.
    """

    is_of_spelling = False

    def __init__(self, message: str, *, count: int = 0, is_number_alone: bool = False, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.count, self.is_number_alone = count, is_number_alone


class _NamedColumns(NamedTuple):
    """Names of columns: of vectors by their elements, and of columns that no variable needs."""

    names: tuple[str, ...]
    has_vector: bool = False
    has_others: bool = False


def numbered(name: str, count: int) -> tuple[str, ...]:
    """Name the columns of a vector.

    >>> numbered("x", 3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"{name}{place}" for place in range(count))


def _candidates(variables: Sequence[str], count: int) -> Iterator[_NamedColumns]:
    """Generate the ways in which so many columns may be the variables, in order."""
    more = count - len(variables)
    if more == 0:
        yield _NamedColumns(tuple(variables))
        return
    if len(variables) > 1 and count % len(variables) == 0:
        yield _NamedColumns(tuple(one for name in variables for one in numbered(name, count // len(variables))), True)
    for place, name in reversed([*enumerate(variables)]):
        yield _NamedColumns((*variables[:place], *numbered(name, more + 1), *variables[place + 1 :]), True)
    yield _NamedColumns((*variables, *(f"c{place}" for place in range(len(variables) + 1, count + 1))), has_others=True)


def fitting_names(
    variables: Sequence[str], count: int, plan: Callable[[RowSource], ColumnPlan]
) -> list[tuple[str, ...]]:
    """Find names for so many columns under which the function can be computed, the likeliest first.

    A vector is likely where y is then a single number, as x is in `sum(x**2)` and not in `x**2`.

    Args:
        variables: The variables without a value.
        count: The number of columns.
        plan: Binds the variables to columns.

    >>> from gradcli import Function
    >>> from gradcli.parts.tables.streaming import planned
    >>> for text in ("a*b", "sum(x**2)", "x**2", "a*x[0]*x[1]"):
    ...     function = Function(text)
    ...     print(fitting_names(function.variables, 3, lambda source: planned(function, source, None)))
    [('a', 'b', 'c3')]
    [('x0', 'x1', 'x2')]
    [('x', 'c2', 'c3'), ('x0', 'x1', 'x2')]
    [('a', 'x0', 'x1')]
    """
    found: list[tuple[int, tuple[str, ...]]] = []
    for one in _candidates(variables, count):
        is_free = len({*one.names}) == count and not (one.has_others and {*one.names[len(variables) :]} & {*variables})
        if is_free and (is_single := _is_single(one.names, plan)) is not None:
            found.append(
                (0 if not one.has_others and (is_single or not one.has_vector) else 1 + one.has_vector, one.names)
            )
    best = min((rank for rank, _ in found), default=0)
    if best == 0:
        return [names for rank, names in found if rank == 0][:1]
    ways = [names for _, names in sorted(found, key=lambda pair: pair[0])]
    return ways[: trial.MOST_SHOWN if len(variables) == 1 else 1]


def _is_single(names: Sequence[str], plan: Callable[[RowSource], ColumnPlan]) -> bool | None:
    """Tell whether y is a single number where columns have these names; None where the function cannot be computed."""
    try:
        with trial.trying():
            return not plan(RowSource("the columns", dict.fromkeys(names, ()))).quantities[0].shape
    except trial.ReadError:
        return False
    except GradcliError:
        return None


def advise_on_columns(
    error: UnnamedColumnsError,
    variables: Sequence[str],
    planned: Callable[[RowSource, Mapping[str, float]], ColumnPlan],
) -> None:
    """Give an error on columns without names the names that they may have as its hint, where some fit.

    Args:
        error: The error.
        variables: The variables without a value.
        planned: Binds the variables to columns, with values of more variables besides.
    """
    if error.count < len(variables):  # of which e may be Euler's number
        variables = sorted(variables, key=lambda name: name == "e")
    own, left = variables[: error.count], variables[error.count :]
    more = dict.fromkeys(left, 1.0)
    found = fitting_names(own, error.count, lambda source: planned(source, more)) if own else []
    if not found:
        return
    ways = ", or ".join(option("columns", _listed(names)) for names in found)
    valued = [f"{name}=VALUE" for name in left if name != "e"]
    values = f", and give {option('at', *valued)}" if valued else ""
    first_row = "" if error.is_number_alone or values else ", or in the first row"
    error.advise(f"name the columns by {ways}{values}{first_row}")


def _listed(names: Sequence[str]) -> str:
    return ",".join(names if len(names) <= _LISTED else (*names[:2], "...", names[-1]))
