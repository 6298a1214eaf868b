"""Names that nobody means as variables: the words of an integral, a derivative, a limit or an expectation on paper."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from gradcli.errors import LanguageError, Place, Span
from gradcli.language.text import hints
from gradcli.option_words import option


class _Operator(NamedTuple):
    """An operator of paper.

    Attributes:
        names: Its words that are read as names of variables.
        beside: What the text of such an operator has, somewhere.
        said: That it is not read.
        hint: What can be asked in its place.
    """

    names: re.Pattern[str]
    beside: re.Pattern[str]
    said: str
    hint: str


_WORDS = "on|between|when|where|at|to|of|wrt|given|such|that|along"

_OPERATORS = (
    _Operator(re.compile("int(?:_.*)?|integral|Int"), re.compile("."), "an integral is not read", hints.NO_INTEGRAL),
    _Operator(
        re.compile(r"E_.+"), re.compile(r"(?<!\w)E_\w+\s*\["), "an expectation is not read", hints.NO_EXPECTATION
    ),
    _Operator(
        re.compile("[d∂]2?[a-zA-Z]?2?"),
        re.compile(
            r"(?<!\w)[d∂]\w*\s*(?:(?:\^|\*\*)\s*\d+\s*[a-zA-Z]?\s*)?\)?\s*/\s*\(?[d∂]\s*[^\W\d]|\\[dt]?frac\s*\{\s*(?:d|\\partial)"
        ),
        "a derivative within a text is not read",
        "give the function itself, such as x**2: its derivative is what is asked for",
    ),
    _Operator(
        re.compile("[ij](?:pi|kx|kr|[wωΩ]?t|[wωΩθφϕαβxkπ])?"),
        re.compile(
            r"(?:(?<!\w\w)[eE]\s*(?:\^|\*\*)\s*[({]?|exp\s*\(|exp\\left\()\s*[-−]?\s*\d*\s*[ij](?:\s*\*?\s*\\?[^\W\d])"
        ),
        "complex numbers are not read",
        "numbers are real: cos(x) and sin(x) are the parts of exp(i x)",
    ),
    _Operator(
        re.compile("(?:[ΣΠ]|sum|prod)_[a-z]"),
        re.compile(r"(?:[ΣΠ∑∏]|(?<!\w)(?:sum|prod))_\{?[a-z]\}?\s+[^\W\d_]"),
        "a sum over an index is not read",
        hints.OVER_SAMPLES,
    ),
    _Operator(
        re.compile("lim|limit"),
        re.compile("."),
        "a limit within a text is not read",
        "gradcli eval has the value, and the limit where the function has a hole",
    ),
    _Operator(
        re.compile("otherwise|elsewhere|else"),
        re.compile("."),
        "these cases are not read",
        "write where(CONDITION, VALUE, OTHERWISE), or VALUE if CONDITION else OTHERWISE",
    ),
    _Operator(
        re.compile(f"over|{_WORDS}"),
        re.compile(rf"[\w)\]%]\s+(?:over|{_WORDS})(?:\s+[-+\w(\[.]|\s*\))"),
        "words are not read",
        f"{option('at', 'x=1')} gives a point, and {option('in', 'x=0..1')} a range; a quotient is a/b",
    ),
)


def require_none(text: str, names: Collection[str], given: Collection[str], source: str = "EXPR") -> None:
    """Refuse names without a value that are words of an operator.

    Args:
        text: The text.
        names: Its variables.
        given: The names that have a value.
        source: The name of the text in messages.

    Raises:
        LanguageError: Some are.

    >>> require_none("int_0^x exp(-t) dt", ["x", "t", "dt"], [])
    >>> try:
    ...     require_none("int_0^x exp(-t) dt", ["int_0", "x", "t", "dt"], [])
    ... except LanguageError as error:
    ...     error.message
    "'int_0' is no variable: an integral is not read"
    """
    for operator in _OPERATORS:
        for name in (one for one in names if one not in given and operator.names.fullmatch(one)):
            if operator.beside.search(text) is not None:
                found = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)
                span = Span(*found.span()) if found is not None else Span(0, len(text))
                message = f"'{name}' is no variable: {operator.said}"
                raise LanguageError(message, place=Place(text, span, source), hint=operator.hint)
