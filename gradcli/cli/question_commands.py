"""The commands of the core on a function: a function declares each, by its docstring, the help, and its options.

The methods of `Function` answer them (`gradcli.questions.commands`).  Annotations here are objects, and no texts, as
`shares` joins signatures.
"""

from gradcli.cli.options import (
    Accumulate,
    At,
    Device,
    Dtype,
    Expression,
    Forward,
    Loss,
    Pattern,
    SeveralV,
    Shape,
    Sparse,
    U,
    Vs,
    Wrt,
    check_options,
    matrix_options,
    output_options,
    remark_options,
)
from gradcli.cli.signatures import shares


@shares(output_options, remark_options, check_options)
def vjp(
    expression: Expression,
    at: At = None,
    shape: Shape = None,
    v: SeveralV = None,
    vs: Vs = None,
    accumulate: Accumulate = False,
    loss: Loss = None,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """The vector-Jacobian product, as y.backward(gradient=v).

    That is what backward leaves in x.grad. Prints y, v, vᵀJ, the full Jacobian (up to 10,000 entries), its formula
    and the verdict of the cross-check; with --json a line for each --v. --format plain prints only the numbers of
    vᵀJ, or of .grad with --accumulate: one row per line, v by v and variable by variable.

    \b
    Examples:
      gradcli vjp "x**2" --at 1,2 --v 1,1
      gradcli vjp "[x*y, x+y]" --at x=3 --at y=5 --v e0 --v e1
      gradcli vjp "-x**2" --at -1,2 --v ones --format plain
      gradcli vjp "y = x**2; z = y**3" --at 1,2 --v 1,1 --v 1,1 --accumulate
      gradcli vjp "x**2" --at 1,2 --loss "sum(y**2)"
    """


@shares(output_options, matrix_options, remark_options, check_options)
def jacobian(
    expression: Expression,
    at: At = None,
    shape: Shape = None,
    sparse: Sparse = False,
    pattern: Pattern = False,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """The full Jacobian: a row for each y[i], a column for each x[j].

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, a row a line, with the
    columns of all variables next to each other.

    \b
    Examples:
      gradcli jacobian "exp(x)/sum(exp(x))" --at 1,2,3
      gradcli jacobian "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --wrt x
    """


@shares(output_options, remark_options, check_options)
def grad(
    expression: Expression,
    at: At = None,
    shape: Shape = None,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """The gradient of a function with one output.

    In --format plain, the numbers alone, variable after variable, a row of them a line.

    \b
    Examples:
      gradcli grad "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x
      gradcli grad "log(x)" --at -1
    """


@shares(output_options, remark_options, check_options)
def jvp(
    expression: Expression,
    at: At = None,
    shape: Shape = None,
    u: U = None,
    forward: Forward = False,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """The Jacobian-vector product, the slope along u.

    Ju is how y changes as x moves in the direction u. Prints y, u, Ju, its formula and the verdict of the cross-check.
    --forward prints the number of forward mode. In --format plain, the numbers of Ju alone, a row of them a line.

    \b
    Examples:
      gradcli jvp "x**2" --at 1,2 --u 1,1
      gradcli jvp "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --u x=e0
    """


@shares(output_options, matrix_options, remark_options, check_options)
def hessian(
    expression: Expression,
    at: At = None,
    shape: Shape = None,
    sparse: Sparse = False,
    pattern: Pattern = False,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """All second derivatives of a function with one output.

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, one matrix with the
    rows and columns of all variables, a row a line.

    \b
    Examples:
      gradcli hessian "(1 - x[0])**2 + 100*(x[1] - x[0]**2)**2" --at 1,1
      gradcli hessian "x**3*y" --at x=2 --at y=5 --format plain
    """


@shares(output_options, remark_options, check_options)
def hvp(
    expression: Expression,
    at: At = None,
    shape: Shape = None,
    u: U = None,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """The Hessian times a direction u, without the Hessian.

    Hu is how the gradient changes as x moves in the direction u. In --format plain, the numbers of Hu alone, variable
    after variable, a row of them a line.

    \b
    Examples:
      gradcli hvp "sum(x**3)" --at 1,2 --u e0
      gradcli hvp "log(sum(exp(x)))" --at 1,2,3 --u 1,0,-1 --format plain
    """


@shares(output_options, remark_options, check_options)
def eval(expression: Expression, at: At = None, dtype: Dtype = None, device: Device = None) -> None:  # noqa: A001
    """The value of a function, and whether it can be trusted.

    In --format plain, the numbers alone, a row of them a line.

    \b
    Examples:
      gradcli eval "y = x**2; sum(y)" --at 1,2
      gradcli eval "sin(pi/6)" --format plain
    """


@shares(output_options, matrix_options, remark_options, check_options)
def derivative(
    expression: Expression,
    at: At = None,
    shape: Shape = None,
    sparse: Sparse = False,
    pattern: Pattern = False,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """Answer an expression without a command by its derivative.

    That is vjp of a function with one output, and of a text with a backward(v); else jacobian, whose options it has; a
    formula where no value is given.

    \b
    Examples:
      gradcli "x**2" --at 3
      gradcli "[x*y, x+y]" --at x=3 --at y=5
    """
