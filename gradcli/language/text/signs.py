"""Mathematics as it is written, and as our own answers print it, in the signs that a program has."""

from __future__ import annotations

import re

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("×·⋅∗∙•⊙", "*"),
        **dict.fromkeys("÷⁄", "/"),
        "−": "-",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "∧": "&",
        "∨": "|",
        "¬": "~",
        "∞": "inf",
        "⌊": "floor(",
        "⌈": "ceil(",
        "⌋": ")",
        "⌉": ")",
        **{subscript: str(digit) for digit, subscript in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    }
)
_RAISED = {**{sign: str(digit) for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁺": "+", "⁻": "-"}
_POWER = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_ROOT = re.compile(r"√\s*(?:(?=\()|((?:\d[\d.]*|[^\W\d][\w.]*)(?:\[[^\[\]]*\])?))")
_PI = re.compile(r"(?<!\w)π(?!\w)")


def plain(text: str) -> str:
    """The same text without signs that no program has; what is ASCII, and any other sign, stays as it is.

    >>> plain("2·x² − √(y)/√x[i]"), plain("x⁻¹ ≤ π"), plain("x₁ + ⌊x⌋")
    ('2*x**2 - sqrt(y)/sqrt(x[i])', 'x**-1 <= pi', 'x1 + floor(x)')
    """
    if text.isascii():
        return text
    text = _POWER.sub(lambda found: "**" + "".join(_RAISED[sign] for sign in found[0]), text)
    text = _ROOT.sub(lambda found: f"sqrt({found[1]})" if found[1] else "sqrt", text)
    return _PI.sub("pi", text).translate(_SIGNS)
