"""Derivatives in a statement as mathematics writes them, `f''(x)`, `d^2y/dx^2`, `(dy/dx)'`, as quotients: `d2y/dx2`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from gradcli.errors import InputError, Place, Span, ThirdDerivativeError

_PRIMES = "['\"\u2032\u2033\u2034\u2057]"

_RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"

_COUNTS = {'"': 2, "\u2033": 2, "\u2034": 3, "\u2057": 4, **{sign: n for n, sign in enumerate(_RAISED)}}
"""How many primes a sign is, or the number that a raised digit is."""

_ORDER = r"(?:\s*(?:\^|\*\*)\s*)?(?P<in_order>[({]\s*)?(?P<order>[2-9\u00b2\u00b3\u2074-\u2079])(?(in_order)\s*[)}])"
"""Order of a derivative: `2`, `^2`, `**2`, `^{2}`, a raised 2."""

_OTHER_NAMES = ("y", "f", "g", "h")
"""Names of a function that has another one, or none."""


class DerivativeWriting:
    """Writing of derivatives of a function of some numbers in one form.

    Args:
        y: The name of its value.
        taken: The names of other values, which are no names of the function.
        names: The numbers that it may be differentiated by, `x` or `x[0]`.

    >>> DerivativeWriting("y", ["x"], ["x"]).in_quotients("f''(x) >= 0 and (dy/dx)' > 1 and d^2y/dx^2 < y'")
    'd2y/dx2 >= 0 and d2y/dx2 > 1 and d2y/dx2 < dy/dx'
    """

    def __init__(self, y: str, taken: Collection[str], names: Sequence[str]) -> None:
        self.y, self.taken, self.names = y, taken, names
        functions = {y, *(one for one in _OTHER_NAMES if one not in taken)}
        self._function = "|".join(sorted(map(re.escape, functions), key=len, reverse=True))
        listed = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        self._by = rf"(?:{listed})(?![\w\[])"
        of_all = rf"(?:\(\s*(?:{listed})(?:\s*,\s*(?:{listed}))*\s*\))?"
        called = rf"(?:{self._function}){of_all}"
        self._primed = re.compile(
            rf"(?<![\w.])(?:{called}|\(\s*{called}\s*\))(?P<primes>{_PRIMES}+)(?:(?P<at>\([^()]*\)))?"
        )
        first = rf"d(?:{called})\s*/\s*d(?P<by>{self._by})"
        self._first = re.compile(rf"(?<!\w){first}")
        self._again = re.compile(
            rf"(?<!\w)\(\s*{first}\s*\)(?P<primes>{_PRIMES}+)"
            rf"|(?<!\w)d\s*/\s*d(?P<over>{self._by})\s*\(?\s*d(?:{called})\s*/\s*d(?P<under>{self._by})\s*\)?"
        )
        self._of = re.compile(rf"(?<!\w)d\s*/\s*d(?P<by>{self._by})\s*(?:\(\s*{called}\s*\)|{called})(?!\w)")
        quotient = rf"d2?{re.escape(y)}/d(?:{listed})(?:2|d(?:{listed}))?"
        self._called = re.compile(rf"(?<!\w)(?P<quotient>{quotient})\s*(?P<at>\([^()]*\))")
        self._in_power = re.compile(
            rf"(?<=[/^*])(?<!\w){quotient}(?!\w)|(?<!\w){quotient}(?=\s*(?:\^|\*\*|[\u00b2\u00b3]))"
        )
        self._written = re.compile(
            rf"(?<![\w.])(?:(?:{self._function})_(?P<first>{listed})(?P<again>{listed})?"
            rf"|(?:[dD]iff|D)\(\s*(?:{called})\s*,\s*(?P<by>{listed})(?:\s*,\s*(?P<once_more>2|{listed}))?\s*\))(?!\w)"
        )
        below = rf"d\s*(?P<by>{listed})(?:{_ORDER.replace('order', 'power')}|\s*\*?\s*d(?P<other>{listed}))?"
        self._below = re.compile(rf"/\s*\(\s*(?P<below>{below})\s*\)(?!\w)")
        self._higher = re.compile(
            rf"(?<!\w)d{_ORDER}\s*(?:(?:{called})\s*/\s*{below}(?!\w)"
            rf"|/\s*{below.replace('<', '<_').replace('(in_', '(_in_')}\s*(?:\(\s*{called}\s*\)|{called})(?!\w))"
        )

    def in_quotients(self, text: str) -> str:
        """Write all derivatives of a statement as quotients, `dy/dx` and `d2y/dx2`.

        Raises:
            InputError: One is a third derivative, at one point, or by one of several numbers that it does not name.
        """
        whole, text = text, text.replace("\u2202", "d")
        text = self._below.sub(lambda found: f"/{found['below']}", text)
        text = self._higher.sub(lambda found: self._of_order(found, whole), text)
        text = self._primed.sub(lambda found: self._of_primes(found, whole), text)
        text = self._again.sub(lambda found: self._second(found, whole), text)
        text = self._of.sub(lambda found: self._quotient([found["by"]]), text)
        text = self._first.sub(lambda found: self._quotient([found["by"]]), text)
        text = self._written.sub(self._of_names, text)
        text = self._called.sub(lambda found: self._of_call(found, whole), text)
        text = self._in_power.sub(r"(\g<0>)", text)
        if (mark := re.search(_PRIMES, text)) is not None:
            message = "a prime stands for a derivative of the function alone, and for no transpose here"
            raise _error(message, whole, f"write d{self.y}/d{self.names[0]} for the derivative of {self.y}", mark[0])
        return text

    def _of_names(self, found: re.Match[str]) -> str:
        """Write `y_x`, `y_xz`, `diff(y, x)` and `diff(y, x, z)` unless such a name is that of a value."""
        if found[0] in self.taken:
            return found[0]
        first, second = found["first"] or found["by"], found["again"] or found["once_more"]
        return self._quotient([first] if second is None else [first, first if second == "2" else second])

    def _of_primes(self, found: re.Match[str], whole: str) -> str:
        at = found["at"] or ""
        inside = [one.strip() for one in at[1:-1].split(",")]
        written = self._by_one(_count(found["primes"]), found[0], whole)
        if not at or (at and {*inside} <= {*self.names}):
            return written
        self._require_no_point(found, written, whole)
        hint = f"write {written}*{at} for a product; a derivative elsewhere is not read"
        raise _error(f"{found[0]} is a derivative elsewhere, or a product", whole, hint, found[0])

    def _of_call(self, found: re.Match[str], whole: str) -> str:
        """Write `dy/dx(x - 1)` as a product; `dy/dx(x)` is the derivative itself, and `dy/dx(1)` at one point."""
        written, at = found["quotient"], found["at"]
        self._require_no_point(found, written, whole)
        return written if {one.strip() for one in at[1:-1].split(",")} <= {*self.names} else f"{written}*{at}"

    def _require_no_point(self, found: re.Match[str], written: str, whole: str) -> None:
        if re.fullmatch(r"\(\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*\)", found["at"]):
            message = f"{found[0]} is a derivative at one point, and a statement is of all points of the box"
            raise _error(message, whole, f"write {written}, that at all points; gradcli grad has it at one", found[0])

    def _by_one(self, count: int, shown: str, whole: str) -> str:
        """Write a derivative that does not say by what it is."""
        if count > 2:
            raise self._third(shown, whole)
        if len(self.names) > 1:
            forms = " or ".join(self._quotient([name] * count) for name in self.names[:2])
            message = f"{shown} does not say by which of {', '.join(self.names[:4])} it is"
            raise _error(message, whole, f"write {forms}", shown)
        return self._quotient([*self.names] * count)

    def _quotient(self, by: Sequence[str]) -> str:
        if len(by) == 1:
            return f"d{self.y}/d{by[0]}"
        return f"d2{self.y}/d{by[0]}2" if by[0] == by[1] else f"d2{self.y}/d{by[0]}d{by[1]}"

    def _second(self, found: re.Match[str], whole: str) -> str:
        if found["over"]:
            return self._quotient([found["over"], found["under"]])
        if _count(found["primes"]) > 1:
            raise self._third(found[0], whole)
        return self._quotient([found["by"]] * 2)

    def _of_order(self, found: re.Match[str], whole: str) -> str:
        order = _digit(found["order"])
        by, power, other = (found[name] or found[f"_{name}"] for name in ("by", "power", "other"))
        if order > 2 or (power is not None and _digit(power) > 2):
            raise self._third(found[0], whole)
        if by is None or (power is None and other is None):
            return found[0]
        return self._quotient([by, other or by])

    def _third(self, shown: str, whole: str) -> ThirdDerivativeError:
        """Make the error of a third derivative, with the way that there is."""
        second = self._quotient([self.names[0]] * 2)
        hint = f"state {second} of the formula that gradcli grad prints: it is the third derivative of {self.y}"
        message = f"{shown} is of a higher order than the second, at which statements stop"
        return ThirdDerivativeError(message, place=_place(whole, shown), hint=hint)


def _count(primes: str) -> int:
    return sum(_COUNTS.get(sign, 1) for sign in primes)


def _digit(sign: str) -> int:
    return _COUNTS.get(sign) or int(sign)


def _error(message: str, whole: str, hint: str, shown: str) -> InputError:
    return InputError(message, place=_place(whole, shown), hint=hint)


def _place(whole: str, shown: str) -> Place:
    start = max(whole.find(shown), 0)
    stop = start + len(shown) if shown in whole else len(whole)
    return Place(whole, Span(start, stop), "--prove")
