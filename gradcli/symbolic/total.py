"""A sum that stays as it was built.

`sympy.Sum` folds a Piecewise out of the sums inside its body, also where the condition is on a bound index of such an
inner sum, which leaves that index free and the value wrong (SymPy 1.14).  A `Total` is a `Sum` in every other respect.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Expr


class Total(sympy.Sum):  # type: ignore[misc]
    """The sum of an expression over bound indices, the innermost first.

    >>> k = sympy.Dummy("k", integer=True)
    >>> Total(k**2, (k, 0, 3)).doit()
    14
    """

    def __new__(cls, function: Expr, *limits: Any) -> Total:
        """Build without folding; a sum of a sum has the limits of both."""
        tuples = tuple(sympy.Tuple(*limit) for limit in limits)
        if isinstance(function, Total):
            function, tuples = function.function, (*function.limits, *tuples)
        self: Total = Expr.__new__(cls, function, *tuples)
        self.is_commutative = True
        return self
