"""The commands that evaluate and differentiate: vjp, jacobian, grad, eval."""

from typing import TYPE_CHECKING

import typer

from gradcli.cli.command import CommonOptions, add
from gradcli.cli.options import Accumulate, LossText, PointsOf, Show, Vectors, names, read, read_expression, shown
from gradcli.errors import UsageError

if TYPE_CHECKING:
    from gradcli.results import Answer, Evaluation, Jacobian


def register(app: typer.Typer) -> None:
    """Add the commands that differentiate to the application."""
    for command in (vjp, jacobian, grad):
        add(app, command)


def register_eval(app: typer.Typer) -> None:
    """Add eval, which the help lists after all derivatives."""
    add(app, eval_, without=["wrt"])


def vjp(
    asked: CommonOptions,
    v: Vectors = None,
    accumulate: Accumulate = False,
    show: Show = None,
    loss: LossText = None,
    points_of: PointsOf = None,
) -> "Answer":
    """The vector-Jacobian product, as y.backward(gradient=v).

    That is what backward leaves in x.grad. Prints y, v, vᵀJ, the full Jacobian (up to 10,000 entries), its formula
    and the verdict of the cross-check; with --json a line for each --v. In --format plain, the numbers of vᵀJ alone, or
    of .grad with --accumulate: a row of them a line, for each --v and variable in turn.

    \b
    Examples:
      gradcli vjp "x**2" --at 1,2 --v 1,1
      gradcli vjp "[x*y, x+y]" --at x=3 --at y=5 --v e0 --v e1
      gradcli vjp "-x**2" --at -1,2 --v ones --format plain
      gradcli vjp "y = x**2; z = y**3" --at 1,2 --v 1,1 --v 1,1 --accumulate
      gradcli vjp "y = x**2; z = y**3" --at 1,2 --v 1,1 --show y
      gradcli vjp "x**2" --at 1,2 --loss "sum(y**2)"
    """
    vs = [read(word, "--v", asked.files) for word in v or []]
    named = shown(show)
    loss = None if loss is None else read_expression(loss, asked.files, "--loss")
    if points := _points(points_of):
        if accumulate or len(vs) > 1:
            what = "--accumulate" if accumulate else "several --v"
            raise UsageError(f"{what} and --points-of exclude each other", hint="each point takes one v")
        one = vs[0] if vs else None
        return asked.function.vjp(asked.at, one, show=named, loss=loss, points_of=points, **asked.options)
    if asked.function.asks and not (vs or accumulate or named or loss):
        return asked.function.answer(asked.at, **asked.options)
    found = asked.function.vjps(asked.at, vs, accumulate=accumulate, show=named, loss=loss, **asked.options)
    return found if accumulate or len(found.answers) > 1 else found.answers[0]


def jacobian(asked: CommonOptions, points_of: PointsOf = None) -> "Jacobian":
    """The full Jacobian: a row for each y[i], a column for each x[j].

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, a row a line, with the
    columns of all variables beside one another.

    \b
    Examples:
      gradcli jacobian "exp(x)/sum(exp(x))" --at 1,2,3
      gradcli jacobian "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --wrt x
      gradcli jacobian "[x[0]*x[1], x[0]+x[1]]" --at "[[1,2],[3,4],[5,6]]" --points-of x
    """
    return asked.function.jacobian(asked.at, points_of=_points(points_of), **asked.options)


def grad(asked: CommonOptions, show: Show = None, points_of: PointsOf = None) -> "Answer":
    """The gradient of a function with one output.

    In --format plain, the numbers alone, variable after variable, a row of them a line.

    \b
    Examples:
      gradcli grad "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x
      gradcli grad "log(x)" --at -1
      gradcli grad "y = x**2; sum(exp(y))" --at 0,1 --show y
      gradcli grad "sum(w*x**2)" --at w=3,5 --at "x=[[-1,2],[0,1]]" --points-of x
    """
    named, points = shown(show), _points(points_of)
    if asked.function.asks and not (named or points):
        return asked.function.answer(asked.at, **asked.options)
    return asked.function.grad(asked.at, show=named, points_of=points, **asked.options)


def eval_(asked: CommonOptions, points_of: PointsOf = None) -> "Evaluation":
    """The value of a function, and whether it can be trusted.

    In --format plain, the numbers alone, a row of them a line.

    \b
    Examples:
      gradcli eval "y = x**2; sum(y)" --at 1,2
      gradcli eval "sin(pi/6)" --format plain
    """
    return asked.function.eval(asked.at, dtype=asked.dtype, check=asked.check, points_of=_points(points_of))


def _points(points_of: str | None) -> list[str]:
    return names(points_of, "--points-of") or []
