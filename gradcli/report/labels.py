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

    >>> entry(Finding("x", (0,), (1,), "kink", 0.0, None, None, "", point=3), "y")
    '∂y[0]/∂x[1] at point 3'
    """
    if isinstance(of, Finding) and of.point is not None:
        return f"{entry(replace(of, point=None), y)} at point {of.point}"
    if of.variable is None:
        return y + index(of.row)
    if of.column is None:
        return f"∂{y}/∂{of.variable}"
    column = of.variable + index(of.column)
    return f"vᵀJ {column}" if of.row is None else f"∂{y}{index(of.row)}/∂{column}"


def plain_entry(of: Opinion, y: str) -> str:
    """The same in one ASCII word: `dy[0]/dx[1]`, `x[1]` for an entry of vᵀJ, `y[0]`."""
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
