"""What entries are called, `∂y[0]/∂x[1]`, `vᵀJ x[1]`, `y[0]`, the same in plain words, and what became of claims."""

from __future__ import annotations

from dataclasses import replace

from gradcli.results import Claim, Finding, Opinion


def index(position: tuple[int, ...] | None) -> str:
    """An index in brackets; nothing for a scalar.

    >>> index((0, 1)), index(())
    ('[0,1]', '')
    """
    return f"[{','.join(map(str, position))}]" if position else ""


def entry(of: Finding | Opinion, y: str) -> str:
    """Of the Jacobian, of vᵀJ, of y, or of a whole formula, for people; `y` is what the output is called.

    Of what passes add up to, `x.grad[1]`; of second derivatives too: `(Ju)[0]`, `Hu x[1]`, `∂²y/∂x[0]∂z[1]`, and of
    the gradient beside them `∂y/∂x[1]`.

    >>> entry(Finding("x", (0,), (1,), "kink", 0.0, None, None, "", point=3), "y")
    '∂y[0]/∂x[1] at point 3'
    """
    if isinstance(of, Finding) and of.point is not None:
        return f"{entry(replace(of, point=None), y)} at point {of.point}"
    if isinstance(of, Finding) and of.of:
        return _of_curvature(of, y)
    if of.variable is None:
        return y + index(of.row)
    if of.column is None:
        return f"∂{y}/∂{of.variable}"
    column = of.variable + index(of.column)
    return f"vᵀJ {column}" if of.row is None else f"∂{y}{index(of.row)}/∂{column}"


def _of_curvature(of: Finding, y: str) -> str:
    column = f"{of.variable or ''}{index(of.column)}"
    match of.of:
        case "jvp":
            return f"(Ju){index(of.row)}" if of.row else "Ju"
        case "hvp":
            return f"Hu {column}"
        case "accumulated":
            return f"{of.variable}.grad{index(of.column)}"
        case "hessian":
            row = f"{of.by}{index(of.row)}"
            return f"∂²{y}/∂{row}²" if row == column else f"∂²{y}/∂{row}∂{column}"
        case _:
            return f"∂{y}/∂{column}"


_PLAIN = str.maketrans({"∂": "d", "²": "2", " ": "_"})


def plain_entry(of: Finding | Opinion, y: str) -> str:
    """The same in one ASCII word: `dy[0]/dx[1]`, `x[1]` for an entry of vᵀJ, `y[0]`, `Ju[0]`, `d2y/dx[0]dz[1]`."""
    if isinstance(of, Finding) and of.of:
        return _of_curvature(of, y).translate(_PLAIN).replace("(Ju)", "Ju")
    if of.variable is None:
        return y + index(of.row)
    column = of.variable + index(of.column)
    return column if of.row is None else f"d{y}{index(of.row)}/d{column}"


def status(claim: Claim) -> str:
    """What became of a claim; that nothing contradicts one that was not compared says nothing.

    >>> status(Claim("x", "0", "gradient", "no counterexample", 0))
    'not compared'
    """
    return "not compared" if claim.status == "no counterexample" and claim.points == 0 else claim.status
