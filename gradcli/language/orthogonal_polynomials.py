"""Orthogonal polynomials of a small order, `legendre(2, x)`, written out for a hint: the language has no such function.

Knows the names of SymPy, SciPy, torch, MATLAB and Mathematica, and letters with the order as index, `P_2(x)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HIGHEST = 12
"""Highest order that is written out."""

_NAMES: Mapping[str, str] = {
    name: family
    for family, names in {
        "legendre_poly": "legendre legendre_poly legendreP LegendreP eval_legendre legendre_polynomial_p P",
        "chebyshevt_poly": "chebyt chebyshevt chebyshevT ChebyshevT eval_chebyt chebyshev_polynomial_t chebyshev T",
        "chebyshevu_poly": "chebyu chebyshevu chebyshevU ChebyshevU eval_chebyu chebyshev_polynomial_u U",
        "hermite_poly": "hermite hermite_poly hermiteH HermiteH eval_hermite hermite_polynomial_h H",
        "hermite_prob_poly": "hermite_prob hermitenorm eval_hermitenorm hermite_polynomial_he He",
        "laguerre_poly": "laguerre laguerre_poly laguerreL LaguerreL eval_laguerre laguerre_polynomial_l L",
    }.items()
    for name in names.split()
}
"""Families, as SymPy's functions, by the names of their members."""

_ARGUMENT = r"(?:[^(),\[\]]|\((?:[^()]|\([^()]*\))*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\])+"

CALLED = (
    r"(?<![\w.])(?:(?:torch\.|scipy\.)?special\.|sp\.|sympy\.)?"
    rf"(?:(?P<name>{'|'.join(sorted((n for n in _NAMES if len(n) > 2), key=len, reverse=True))})"
    rf"[(\[](?P<first>{_ARGUMENT}),(?P<second>{_ARGUMENT})[)\]]"
    rf"|(?P<letter>[PTUHL]|He)_?\{{?(?P<order>\d+)\}}?\((?P<argument>{_ARGUMENT})\))"
)
"""Pattern of the call of a member: its order and its argument, which torch has the other way round."""


def written_out(found: re.Match[str]) -> str:
    """Write a member of a family as the polynomial that it is; of a high order, or of none, it stays.

    >>> [re.sub(CALLED, written_out, text) for text in ("legendre(2, x)", "T_3(2*t)", "hermite_polynomial_h(x, 2)")]
    ['(3*x**2/2 - 1/2)', '(4*(2*t)**3 - 3*(2*t))', '(4*x**2 - 2)']
    >>> [re.sub(CALLED, written_out, text) for text in ("legendre(n, x)", "legendre(99, x)")]
    ['legendre(n, x)', 'legendre(99, x)']
    """
    name = found["name"] or found["letter"]
    order, argument = found["first"] or found["order"], found["second"] or found["argument"]
    if "_polynomial_" in name:
        order, argument = argument, order
    order, argument = order.strip(), argument.strip()
    if not order.isdecimal() or int(order) > HIGHEST:
        return found[0]
    from sympy import Symbol  # which most texts that are not read do not need
    from sympy.polys import orthopolys

    member = getattr(orthopolys, _NAMES[name])
    return f"({member(int(order), Symbol(argument if argument.isidentifier() else f'({argument})'))})"
