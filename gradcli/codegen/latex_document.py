r"""A question as a LaTeX document that compiles as it is: the function, v, J, their product, the formulas."""

from __future__ import annotations

from gradcli.report import Screen, render
from gradcli.results import VJP


def latex_document(answer: VJP) -> str:
    r"""The answer of `vjp` as a whole document, which needs amsmath and nothing else.

    >>> from gradcli import Function
    >>> latex_document(Function("x**2").vjp({"x": 3}, check=False)).splitlines()[:3]
    ['\\documentclass{article}', '\\usepackage{amsmath}', '\\begin{document}']
    """
    fragment = render(answer, "latex", Screen()).partition("\n")[2]  # without the remark on what it needs
    head = ["\\documentclass{article}", "\\usepackage{amsmath}", "\\begin{document}"]
    return "\n".join([*head, fragment.rstrip(), "\\end{document}"]) + "\n"
