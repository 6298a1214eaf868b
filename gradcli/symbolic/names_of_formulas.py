"""What a formula is of, in words for people: `∂y[i]/∂x[j]`, `(Ju)[i]`, `∂²y/∂x[i]∂z[j]`, `Hu x[j]`."""

from __future__ import annotations

from gradcli.symbolic.derivative import Of


def label(of: Of, output: str, row: str, column: str) -> str:
    """The label of one formula; empty for ∂`row`/∂`column`, which is what they say themselves.

    Args:
        of: What the formula is of.
        output: What y is called.
        row: The element of y, or of the first variable of a Hessian.
        column: The element of x.

    >>> label("jvp", "y", "y[i]", ""), label("hvp", "y", "y", "x[j]"), label("jacobian", "y", "y[i]", "x[j]")
    ('(Ju)[i]', 'Hu x[j]', '')
    >>> label("hessian", "y", "x[i]", "z[j]"), label("hessian", "y", "x", "x")
    ('∂²y/∂x[i]∂z[j]', '∂²y/∂x²')
    """
    match of:
        case "jvp":
            index = row.partition("[")[2]
            return f"(Ju)[{index}" if index else "Ju"
        case "hvp":
            return f"Hu {column}"
        case "hessian" if row == column:
            return f"∂²{output}/∂{row}²"
        case "hessian":
            return f"∂²{output}/∂{row}∂{column}"
    return ""
