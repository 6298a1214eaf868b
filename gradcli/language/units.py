"""Values with a unit, `10 mH` and `3 km/h`, as numbers in units of the SI, for a hint: the language has no units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

_PREFIXES = {
    prefix: Fraction(10) ** power
    for prefix, power in (
        *(("f", -15), ("p", -12), ("n", -9), ("u", -6), ("µ", -6), ("μ", -6), ("m", -3), ("c", -2), ("d", -1)),
        *(("h", 2), ("k", 3), ("M", 6), ("G", 9), ("T", 12)),
    )
}

_PREFIXED: Mapping[str, tuple[str, Fraction]] = {
    **{
        name: (base, Fraction(1))
        for base, names in {
            "m": "m meter meters metre metres",
            "s": "s sec second seconds",
            "A": "A amp amps ampere amperes",
            "K": "K kelvin",
            "mol": "mol mole moles",
            "Hz": "Hz hertz",
            "N": "N newton newtons",
            "Pa": "Pa pascal pascals",
            "J": "J joule joules",
            "W": "W watt watts",
            "C": "C coulomb coulombs",
            "V": "V volt volts",
            "F": "F farad farads",
            "Ω": "Ω \u2126 ohm ohms Ohm",
            "S": "S siemens",
            "Wb": "Wb",
            "T": "T tesla",
            "H": "H henry",
            "cd": "cd",
        }.items()
        for name in names.split()
    },
    **dict.fromkeys(("g", "gram", "grams"), ("kg", Fraction(1, 1000))),
    **dict.fromkeys(("eV", "electronvolt"), ("J", Fraction("1.602176634e-19"))),
    **dict.fromkeys(("L", "l", "liter", "liters", "litre", "litres"), ("m^3", Fraction(1, 1000))),
    "bar": ("Pa", Fraction(10**5)),
    "cal": ("J", Fraction("4.184")),
    "Wh": ("J", Fraction(3600)),
}
"""Units that may have a prefix: that of the SI, and what one of them is in it."""

_ALONE: Mapping[str, tuple[str, Fraction]] = {
    **dict.fromkeys(("kilogram", "kilograms"), ("kg", Fraction(1))),
    **dict.fromkeys(("rad", "radian", "radians", "sr"), ("", Fraction(1))),
    **dict.fromkeys(("min", "minute", "minutes"), ("s", Fraction(60))),
    **dict.fromkeys(("h", "hr", "hour", "hours"), ("s", Fraction(3600))),
    **dict.fromkeys(("day", "days"), ("s", Fraction(86400))),
    **dict.fromkeys(("kph", "kmh"), ("m/s", Fraction(10, 36))),
    **dict.fromkeys(("Å", "\u212b", "angstrom"), ("m", Fraction(1, 10**10))),
    "atm": ("Pa", Fraction(101325)),
    "t": ("kg", Fraction(1000)),
    "ha": ("m^2", Fraction(10000)),
}
"""Units without a prefix."""

_NO_UNITS = frozenset(["kT", "pH"])
"""A product in physics and an exponent in chemistry, which look like units."""

_SUFFIXES = {**dict.fromkeys("pnuµμk"), **dict.fromkeys(("Meg", "meg"))}
"""Prefixes that stand for themselves, as in circuits, `4.7u`; m is a metre, and M, G and f are other things too."""

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_WORD = r"[a-zA-ZµμΩ\u2126Å\u212b]+"
_POWER = r"(?:(?:\^|\*\*)?\s*\(?[-+]?\d\)?|[⁺⁻]?[¹²³⁴])?"
_FACTOR = rf"{_WORD}{_POWER}"
_UNIT = rf"{_FACTOR}(?:\s*(?:[*·⋅/]\s*\(?|\s)\s*{_FACTOR}\)?)*"
_QUANTITY = re.compile(rf"(?P<number>[-+−]?{_NUMBER})\s*(?P<unit>{_UNIT})(?=\s*(?:[,;\])]|$))")
_RAISED = str.maketrans("⁺⁻¹²³⁴", "+-1234")


class NumberInSI(NamedTuple):
    """A value in the SI.

    Attributes:
        number: As it is typed here.
        unit: Of it; empty of a plain number.
    """

    number: str
    unit: str


def in_si(text: str) -> str | None:
    """Write a value whose numbers have units in those of the SI; None where one is not known.

    >>> in_si("10mH"), in_si("[1 km/h, 2 mm]"), in_si("5 furlongs"), in_si("9.81 m/s^2"), in_si("4.7u")
    ('10e-3', '[1*5/18, 2e-3]', None, '9.81', '4.7e-6')
    """
    found = [(one, quantity(one["number"], one["unit"])) for one in _QUANTITY.finditer(text)]
    if not found or any(value is None for _, value in found):
        return None
    parts, position = [], 0
    for one, value in found:
        parts += [text[position : one.start()], value.number if value is not None else ""]
        position = one.end()
    return "".join((*parts, text[position:]))


def without_units(text: str) -> str:
    """Take the units of a value away, and leave its numbers.

    >>> without_units("[0.5 eV, 2 eV]"), without_units("5 furlongs")
    ('[0.5, 2]', '5 furlongs')
    """
    known = in_si(text) is not None
    return _QUANTITY.sub(lambda one: one["number"].replace("−", "-"), text) if known else text


def is_outside_si(text: str) -> bool:
    """Tell whether a value has a unit that is none of the SI, with or without a prefix.

    >>> [is_outside_si(text) for text in ("0.5 eV", "90 km/h", "10 mH", "2 L", "300 K", "3")]
    [True, True, False, False, False, False]
    """
    return "*" in (in_si(text) or "").replace("*1e", "")


def clause(text: str, word: str) -> str:
    """Say of a value with a unit, such as this word, what it is in the SI, if that is another number.

    >>> clause("10mH", "mH"), clause("3m/s", "m"), clause("5 furlongs", "furlongs")
    (': 10 mH is 10e-3 H', " such as 'm/s'", " such as 'furlongs'")
    """
    found = _QUANTITY.fullmatch(text.strip())
    value = None if found is None else quantity(found["number"], found["unit"])
    if found is None or value is None or value.number == found["number"]:
        return f" such as '{found['unit'] if found is not None and value is not None else word}'"
    return f": {found['number']} {found['unit']} is {' '.join(value).strip()}"


def quantity(number: str, unit: str) -> NumberInSI | None:
    """Convert a number with a unit; None where the unit is not known.

    >>> quantity("5", "g/cm^3"), quantity("1", "J/kg K"), quantity("2", "parsec")
    (NumberInSI(number='5e3', unit='kg/m^3'), None, None)
    """
    if unit in _SUFFIXES:
        return NumberInSI(_scaled(number, _PREFIXES.get(unit, Fraction(10**6))), "")
    if unit in ("rad", "radian", "radians"):
        return None  # a number of radians is that number
    above, *below = (part.strip() for part in unit.split("/"))
    factor, shown = Fraction(1), list[str]()
    for n, part in enumerate((above, *below)):
        words = re.findall(rf"({_WORD})({_POWER})", part.strip("()"))
        if (n and len(words) > 1 and not part.startswith("(")) or not words:  # J/kg K
            return None
        names = list[str]()
        for word, typed in words:
            power = int(re.sub(r"[\^*()\s]", "", typed.translate(_RAISED)) or 1)
            if (base := _base(word)) is None or (len(below) + len(words) > 1 and "/" in base[0]):
                return None
            factor *= base[1] ** (-power if n else power)
            names.append(base[0] if power == 1 or not base[0] else f"{base[0]}^{power}")
        joined = " ".join(filter(None, names))
        shown.append(f"({joined})" if n and len(words) > 1 else joined)
    return NumberInSI(_scaled(number, factor), "/".join((shown[0] or "1", *shown[1:])) if below else shown[0])


def _base(word: str) -> tuple[str, Fraction] | None:
    """Return the unit of the SI for a word, and what one of the word is in it."""
    if (found := _PREFIXED.get(word) or _ALONE.get(word)) is not None:
        return found
    if word[:1] not in _PREFIXES or word[1:] not in _PREFIXED or word in _NO_UNITS:
        return None
    base, factor = _PREFIXED[word[1:]]
    return base, factor * _PREFIXES[word[:1]]


def _scaled(number: str, factor: Fraction) -> str:
    """Write a number times a factor without rounding either."""
    number = number.replace("−", "-")
    power = len(str(max(factor.numerator, factor.denominator))) - 1
    power = power if factor > 1 else -power
    if factor == Fraction(10) ** power:
        is_plain = "e" not in number.lower()
        return number if power == 0 else f"{number}e{power}" if is_plain else f"{number}*1e{power}"
    if factor.denominator == 1:
        return f"{number}*{factor.numerator}"
    if max(factor.numerator, factor.denominator) > 10**6:
        return f"{number}*{float(factor)!r}"
    return f"{number}*{factor.numerator}/{factor.denominator}"
