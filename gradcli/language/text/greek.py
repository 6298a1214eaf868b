"""Greek letters as such and by their names, which are one name of a variable: `θ` and `theta`, `λ_1` and `lambda_1`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from gradcli.language.text.signs import NAME

_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega"
).split()
_SMALL = "αβγδεζηθικλμνξοπρστυφχψω"

LETTERS: Mapping[str, str] = {
    **dict(zip(_SMALL, _NAMES, strict=True)),
    **{letter.upper(): name.capitalize() for letter, name in zip(_SMALL, _NAMES, strict=True)},
    **{"ϵ": "epsilon", "ϕ": "phi", "ϑ": "theta", "ϱ": "rho", "ς": "sigma", "µ": "mu"},
}
"""Names of Greek letters, also of those in another shape."""

_IN_PYTHON = re.compile(r"\bla?m(?:bda?)?(?![^\W\d_])")
"""Lambda as programs write it, where `lambda` is a word of Python: lam, lamb, lambd, lmbda."""


def spelled_out(name: str) -> str:
    """Write the Greek letters of a name by their names.

    >>> spelled_out("θ_1"), spelled_out("lam"), spelled_out("x")
    ('theta_1', 'lambda', 'x')
    """
    return _IN_PYTHON.sub("lambda", "".join(LETTERS.get(letter, letter) for letter in name))


def same_name(name: str, known: Collection[str]) -> str | None:
    """Find the one known name that differs from a name in the spelling of Greek letters alone; None without it.

    >>> same_name("theta", ["x", "θ"]), same_name("θ", ["theta"]), same_name("x", ["x"]), same_name("λ", ["lam"])
    ('θ', 'theta', None, 'lam')
    """
    if name in known:
        return None
    spelled = spelled_out(name)
    found = [one for one in known if spelled_out(one) == spelled]
    return found[0] if len(found) == 1 else None


def in_letters_of(text: str, known: Collection[str]) -> str:
    """Write the names of a text as known ones have their Greek letters, also after the d of a derivative.

    >>> in_letters_of("dy/dtheta >= theta", ["θ"]), in_letters_of("d2y/dθ2", ["theta"]), in_letters_of("x=1", ["x"])
    ('dy/dθ >= θ', 'd2y/dtheta2', 'x=1')
    """
    return re.sub(NAME, lambda found: same_name(found[0], known) or _of_rate(found[0], known), text)


def _of_rate(name: str, known: Collection[str]) -> str:
    """Write `dtheta` as `dθ`, and `dtheta2` as `dθ2`."""
    found = re.fullmatch(r"d([^\W\d]+)(2?)", name)
    other = same_name(found[1], known) if found is not None else None
    return name if found is None or other is None else f"d{other}{found[2]}"
