"""Remarks on `v·w` of two vectors, which multiplies element by element here and is the dot product on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gradcli.language.program.wengert import Atom, Line, Shape

DOTS = ("·", "⋅", "∙", "\\cdot")
"""Signs of a product that are those of a dot product on paper."""

MAY_BE_DOT = re.compile("|".join(map(re.escape, DOTS)))
"""Any of these signs."""

_PRODUCT = re.compile(r"\s*([^·⋅∙*\\()\[]+?)\s*(·|⋅|∙|\\cdot\b)\s*([^·⋅∙*\\()\[]+?)\s*")


def sign_of(shown: str) -> str:
    """Return the sign of a product, as it is typed.

    >>> sign_of("A·x"), sign_of("A*x·y")
    ('·', '*')
    """
    return next((sign for sign in DOTS if sign in shown and "*" not in shown), "*")


def remarks(products: Sequence[Line], text: str, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on the first product of two vectors that is typed as a dot product is."""
    for line in products:
        one, other = (shapes.get(operand, ()) for operand in line.call.operands)
        found = _PRODUCT.fullmatch(text[slice(*line.span)])
        if found is not None and one == other and len(one) == 1 and one != (1,):
            said = f"{found[1]}{found[2]}{found[3]} multiplies element by element"
            yield f"{said}; {found[1]} @ {found[3]} is the dot product"
            return
