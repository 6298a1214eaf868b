"""Options of Python by the names that other tools have for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.errors import InputError

MEANT: Mapping[str, str] = {
    **dict.fromkeys(("gradient", "grad_output", "grad_outputs", "cotangent", "cotangents", "vector", "weights"), "v"),
    **dict.fromkeys(("tangent", "tangents", "direction", "directions"), "u"),
    **dict.fromkeys(("argnum", "argnums", "argument", "variables", "params", "inputs_wrt"), "wrt"),
    **dict.fromkeys(("point", "values", "value", "inputs", "input"), "at"),
    **dict.fromkeys(("range", "ranges", "bounds", "domain", "limits", "interval"), "box"),
    **dict.fromkeys(("language", "target", "format"), "to"),
    **dict.fromkeys(("tol", "tolerance", "rel_tol", "eps"), "rtol"),
    **dict.fromkeys(("abs_tol",), "atol"),
    **dict.fromkeys(("claims", "formula", "expected_formula"), "claim"),
    **dict.fromkeys(("expected", "expects"), "expect"),
    **dict.fromkeys(("allowed", "ignore"), "allow"),
    **dict.fromkeys(("samples", "points", "n"), "random"),
    **dict.fromkeys(("shapes",), "shape"),
}
"""Options by the names that other tools have for them."""

SAME = frozenset(
    "gradient grad_output grad_outputs cotangent cotangents tangent tangents direction directions argnum argnums "
    "variables point inputs tol tolerance rel_tol abs_tol bounds domain interval claims expected shapes".split()
)
"""Those of them that mean the same, and are taken for it."""


def at_places(value: object, names: Sequence[str]) -> object:
    """Name the variables at some places, counted from 0, as JAX counts arguments; names stay.

    Raises:
        InputError: There is no variable there.
    """
    places = value if isinstance(value, tuple | list) else (value,)
    if not places or not all(isinstance(one, int) and not isinstance(one, bool) for one in places):
        return value
    if not all(-len(names) <= one < len(names) for one in places):
        raise InputError(f"the variables are {', '.join(names)}, counted from 0, and no other is at {value}")
    return [names[one] for one in places]
