"""What entries are called, `∂y[0]/∂x[1]`, `vᵀJ x[1]`, `y[0]`, the same in one plain word, and what became of claims."""

from __future__ import annotations

from gradcli.notation import HU, PARTIAL, Element, Form, Name, Notation, directional, second
from gradcli.results import Claim, Entry

RATIO = Form("d%s/d%s", "∂%s/∂%s", r"\partial %s / \partial %s")
"""A derivative in a line of words."""

_OF_PRODUCT = Form("vTJ %s", "vᵀJ %s", "(v^{T} J)_{%s}")


def index(position: tuple[int, ...] | None) -> str:
    """An index in brackets; nothing for a scalar.

    >>> index((0, 1)), index(())
    ('[0,1]', '')
    """
    return f"[{','.join(map(str, position))}]" if position else ""


def entry(of: Entry, y: str) -> Notation:
    """Of the Jacobian, of vᵀJ, of y, or of a whole formula, for people; `y` is what the output is called.

    Of what passes add up to, `x.grad[1]`; of second derivatives too: `(Ju)[0]`, `Hu x[1]`, `∂²y/∂x[0]∂z[1]`, and of
    the gradient beside them `∂y/∂x[1]`.

    >>> entry(Entry("x", (0,), (1,), "kink", 0.0, None, None, ""), "y").pretty
    '∂y[0]/∂x[1]'
    """
    column = Element(of.variable or "", of.column or ())
    match getattr(of, "of", ""):
        case "jvp":
            return directional(of.row or ())
        case "hvp":
            return HU(column)
        case "accumulated":
            return Element(f"{of.variable}.grad", of.column or ())
        case "hessian":
            return second(Name(y), Element(getattr(of, "by", None) or "", of.row or ()), column)
        case "gradient":
            return RATIO(Name(y), column)
    if of.variable is None:
        return Element(y, of.row or ())
    if of.column is None:
        return PARTIAL(Name(y), column)
    return _OF_PRODUCT(column) if of.row is None else RATIO(Element(y, of.row), column)


def plain_entry(of: Entry, y: str) -> str:
    """The same in one ASCII word: `dy[0]/dx[1]`, `x[1]` for an entry of vᵀJ, `y[0]`, `Ju[0]`, `d2y/dx[0]dz[1]`."""
    found = entry(of, y).text.replace("(Ju)", "Ju").removeprefix("vTJ ")
    return found.replace(" ", "_")


def status(claim: Claim) -> str:
    """What became of a claim; that nothing contradicts one that was not compared says nothing.

    >>> status(Claim("x", "0", "gradient", "no counterexample", 0))
    'not compared'
    """
    return "not compared" if claim.status == "no counterexample" and claim.points == 0 else claim.status
