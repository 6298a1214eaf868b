"""The commands that differentiate: vjp, jacobian, grad, jvp, hessian, hvp."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from gradcli.cli.command import CommandLine, add
from gradcli.errors import UsageError

if TYPE_CHECKING:
    from gradcli.results import Answer, Source


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    for command in (vjp, jacobian, grad, jvp, hessian, hvp):
        add(app, command)


def vjp(line: CommandLine) -> Answer | Source:
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
    given = dict(line.arguments)
    vs = given.pop("v", [])
    if "points_of" in given and ("accumulate" in given or len(vs) > 1):
        what = "--accumulate" if "accumulate" in given else "several --v"
        raise UsageError(f"{what} and --points-of exclude each other", hint="each point takes one v")
    if vs:
        given |= {"vs": vs} if len(vs) > 1 else {"v": vs[0]}
    return replace(line, arguments=given).answer()


def jacobian(line: CommandLine) -> Answer | Source:
    """The full Jacobian: a row for each y[i], a column for each x[j].

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, a row a line, with the
    columns of all variables beside one another.

    \b
    Examples:
      gradcli jacobian "exp(x)/sum(exp(x))" --at 1,2,3
      gradcli jacobian "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --wrt x
      gradcli jacobian "[x[0]*x[1], x[0]+x[1]]" --at "[[1,2],[3,4],[5,6]]" --points-of x
    """
    return line.answer()


def grad(line: CommandLine) -> Answer | Source:
    """The gradient of a function with one output.

    In --format plain, the numbers alone, variable after variable, a row of them a line.

    \b
    Examples:
      gradcli grad "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x
      gradcli grad "log(x)" --at -1
      gradcli grad "y = x**2; sum(exp(y))" --at 0,1 --show y
      gradcli grad "sum(w*x**2)" --at w=3,5 --at "x=[[-1,2],[0,1]]" --points-of x
    """
    return line.answer()


def jvp(line: CommandLine) -> Answer | Source:
    """The Jacobian-vector product, the slope along u.

    Ju is how y changes as x moves in the direction u. Prints y, u, Ju, its formula and the verdict of the cross-check.
    In --format plain, the numbers of Ju alone, a row of them a line.

    \b
    Examples:
      gradcli jvp "x**2" --at 1,2 --u 1,1
      gradcli jvp "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --u x=e0
    """
    return line.answer()


def hessian(line: CommandLine) -> Answer | Source:
    """All second derivatives of a function with one output.

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, one matrix with the
    rows and columns of all variables, a row a line.

    \b
    Examples:
      gradcli hessian "(1 - x[0])**2 + 100*(x[1] - x[0]**2)**2" --at 1,1
      gradcli hessian "x**3*y" --at x=2 --at y=5 --format plain
    """
    return line.answer()


def hvp(line: CommandLine) -> Answer | Source:
    """The Hessian times a direction u, without the Hessian.

    Hu is how the gradient changes as x moves in the direction u. In --format plain, the numbers of Hu alone, variable
    after variable, a row of them a line.

    \b
    Examples:
      gradcli hvp "sum(x**3)" --at 1,2 --u e0
      gradcli hvp "log(sum(exp(x)))" --at 1,2,3 --u 1,0,-1 --format plain
    """
    return line.answer()
