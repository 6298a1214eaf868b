"""The commands that evaluate and differentiate: vjp, jacobian, grad, eval."""

from __future__ import annotations

import typer

from gradcli.cli.expression import ExpressionCommand
from gradcli.cli.options import (
    At,
    Dtype,
    DtypeOption,
    Expression,
    Format,
    FormatOption,
    Json,
    NoCheck,
    Strict,
    Vector,
    Wrt,
    function_of,
    inputs,
    names,
    read,
    require_check,
)
from gradcli.cli.output import Output, output


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    for command in (vjp, jacobian, grad, eval_):
        app.command(command.__name__.rstrip("_"), cls=ExpressionCommand, no_args_is_help=True)(command)


def vjp(
    expression: Expression,
    at: At = None,
    v: Vector = None,
    wrt: Wrt = None,
    dtype: DtypeOption = Dtype.float64,
    format: FormatOption = Format.table,  # noqa: A002
    json: Json = False,
    no_check: NoCheck = False,
    strict: Strict = False,
) -> Output:
    """The vector-Jacobian product, as y.backward(gradient=v).

    That is what backward leaves in x.grad. Prints y, v, vᵀJ, the full Jacobian (up to 10,000 entries), its formula
    and the verdict of the cross-check.

    \b
    Examples:
      gradcli vjp "x**2" --at 1,2 --v 1,1
      gradcli vjp "[x*y, x+y]" --at x=3 --at y=5 --v e0
      gradcli vjp "-x**2" --at -1,2 --v ones --format plain
    """
    require_check(strict=strict, no_check=no_check)
    function, files = function_of(expression)
    given = inputs(function.variables, at, files)
    vector = None if v is None else read(v, "--v", files)
    answer = function.vjp(given, vector, wrt=names(wrt), dtype=dtype.value, check=not no_check)
    return output(answer, format, json=json, strict=strict)


def jacobian(
    expression: Expression,
    at: At = None,
    wrt: Wrt = None,
    dtype: DtypeOption = Dtype.float64,
    format: FormatOption = Format.table,  # noqa: A002
    json: Json = False,
    no_check: NoCheck = False,
    strict: Strict = False,
) -> Output:
    """The full Jacobian: a row for each y[i], a column for each x[j].

    It may take up to 1 GiB of memory; a larger one is refused with its size.

    \b
    Examples:
      gradcli jacobian "exp(x)/sum(exp(x))" --at 1,2,3
      gradcli jacobian "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --wrt x
    """
    require_check(strict=strict, no_check=no_check)
    function, files = function_of(expression)
    given = inputs(function.variables, at, files)
    answer = function.jacobian(given, wrt=names(wrt), dtype=dtype.value, check=not no_check)
    return output(answer, format, json=json, strict=strict)


def grad(
    expression: Expression,
    at: At = None,
    wrt: Wrt = None,
    dtype: DtypeOption = Dtype.float64,
    format: FormatOption = Format.table,  # noqa: A002
    json: Json = False,
    no_check: NoCheck = False,
    strict: Strict = False,
) -> Output:
    """The gradient of a function with one output.

    \b
    Examples:
      gradcli grad "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x
      gradcli grad "log(x)" --at -1
    """
    require_check(strict=strict, no_check=no_check)
    function, files = function_of(expression)
    given = inputs(function.variables, at, files)
    answer = function.grad(given, wrt=names(wrt), dtype=dtype.value, check=not no_check)
    return output(answer, format, json=json, strict=strict)


def eval_(
    expression: Expression,
    at: At = None,
    dtype: DtypeOption = Dtype.float64,
    format: FormatOption = Format.table,  # noqa: A002
    json: Json = False,
    no_check: NoCheck = False,
    strict: Strict = False,
) -> Output:
    """The value of a function, and whether it can be trusted.

    \b
    Examples:
      gradcli eval "y = x**2; sum(y)" --at 1,2
      gradcli eval "sin(pi/6)" --format plain
    """
    require_check(strict=strict, no_check=no_check)
    function, files = function_of(expression)
    answer = function.eval(inputs(function.variables, at, files), dtype=dtype.value, check=not no_check)
    return output(answer, format, json=json, strict=strict)
