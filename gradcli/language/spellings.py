"""Spellings from elsewhere, with those of this language: a table, of which a hint shows what can be read.

Mathematics on paper, LaTeX, Mathematica, MATLAB, Julia, C, JavaScript, R, and signs that an editor or a web page puts
into text.  A row is a pattern and what may stand in its place; the rows know nothing of grammar, so that what they make
is read before anybody sees it (`gradcli.trial`).
"""

from __future__ import annotations

import difflib
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from gradcli import trial
from gradcli.errors import CodeError, GradcliError, LanguageError, Span, UncalledFunctionError, UnknownFunctionError
from gradcli.language import ops
from gradcli.language.text import hints

LONGEST = 400
"""Characters of a text up to which other spellings of it are tried."""

LONGEST_SHOWN = 200
"""Characters of a spelling that is shown whole."""


@dataclass(frozen=True)
class Spelling:
    """A row of the table.

    Attributes:
        found: What is written elsewhere.
        instead: What may be meant, each a template of `re`, or a function of the match.
    """

    found: re.Pattern[str]
    instead: tuple[str | Callable[[re.Match[str]], str], ...]

    def respelled(self, text: str) -> Iterator[str]:
        """Generate the texts that have something else in its place."""
        if self.found.search(text):
            yield from (self.found.sub(one, text).strip() for one in self.instead)


def _row(found: str, *instead: str | Callable[[re.Match[str]], str]) -> Spelling:
    return Spelling(re.compile(found, re.DOTALL), instead)


_INVERSES = {name: f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
_OF_RECIPROCALS = dict(zip(("cot", "sec", "csc"), ("atan", "acos", "asin"), strict=True))
_ELEMENTARY = "arc(?:sin|cos|tan)h?|a?(?:sin|cos|tan)h?|sec|csc|cot|exp|log|ln|sqrt"
_ARGUMENT = r"(?P<argument>\((?:[^()]|\([^()]*\))*\)|[^\W\d]\w*|\d[\d.]*[^\W\d]?\w*)"
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"

_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    name: tuple(instead.split())
    for names, instead in (
        ("tg tang", "tan"),
        ("ctg cotg cotan", "cot"),
        ("arctg arctang", "atan"),
        ("sen seno", "sin"),
        ("lg", "log10 log2"),
        ("sh", "sinh"),
        ("ch", "cosh"),
        ("th", "tanh"),
        (f"sigma {chr(0x3C3)}", "sigmoid"),
        ("mse MSE", "mse_loss"),
        ("sgn signum", "sign"),
        ("normcdf phi Phi pnorm", "ndtr"),
        ("l2 L2 norm_2", "norm"),
        ("chol", "cholesky"),
        ("frob", "norm"),
        ("average avg", "mean"),
        ("eig eigvals eigenvalues", "eigvalsh"),
    )
    for name in names.split()
}
"""Names that functions have elsewhere."""

_CALLS: Mapping[str, str] = {
    "gamma": "exp(lgamma({0}))",
    "Gamma": "exp(lgamma({0}))",
    "Γ": "exp(lgamma({0}))",
    "factorial": "exp(lgamma({0} + 1))",
    "Heaviside": "where({0} > 0, 1, 0)",
    "step": "where({0} > 0, 1, 0)",
    "logspace": "(10**linspace({0}))",
    "sind": "sin(pi/180*({0}))",
    "cosd": "cos(pi/180*({0}))",
    "tand": "tan(pi/180*({0}))",
    "gammainc": "(1 - gammaincc({0}))",
    "igamma": "(1 - gammaincc({0}))",
    "t": "({0}).T",
    **dict.fromkeys(("opnorm", "spectral_norm"), "matrix_norm({0}, 2)"),
    **dict.fromkeys(("lambda_max", "eigmax", "max_eigenvalue", "largest_eigenvalue"), "eigvalsh({0})[-1]"),
    **dict.fromkeys(("lambda_min", "eigmin", "min_eigenvalue", "smallest_eigenvalue"), "eigvalsh({0})[0]"),
    **dict.fromkeys(("sigma_max", "largest_singular_value"), "svdvals({0})[0]"),
}
"""Functions from elsewhere, as expressions of what is in their parentheses."""


def _normal(signs: str) -> str:
    return unicodedata.normalize("NFKC", signs).replace("⁄", "/").replace("−", "-")


def _inside(argument: str) -> str:
    """Return an argument without the parentheses around all of it."""
    return argument[1:-1] if argument.startswith("(") else argument


def _power(found: re.Match[str]) -> str:
    return f"{found['name']}({_inside(found['argument'])})**{_normal(found['power'])}"


def _inverse(found: re.Match[str]) -> str:
    name, inside = found["name"], _inside(found["argument"])
    return f"{_OF_RECIPROCALS[name]}(1/({inside}))" if name in _OF_RECIPROCALS else f"{_INVERSES[name]}({inside})"


def _mathematica(found: re.Match[str]) -> str:
    """Write a call in round brackets, and those in it: `Log[b, x]` and `ArcTan[x, y]` have the base, and x, first."""
    inner = re.sub(r"\b([A-Z][a-z]+[A-Za-z]*)\[([^\[\]]*)\]", _mathematica, found[2])
    first, comma, second = inner.partition(",")
    if comma and found[1] in ("Log", "ArcTan"):
        if first.count("(") != first.count(")"):
            return found[0]
        name = "log" if found[1] == "Log" else "atan2"
        return f"{name}({second.strip()}, {first.strip()})"
    return f"{found[1].replace('Arc', 'a').lower()}({inner})"


def _indexed(found: re.Match[str]) -> str:
    """Write a sum over an index, whose elements x_i count from 1 on paper."""
    index, first, last, body = found["index"], found["first"], found["last"], found["body"]
    if not last.isdecimal():
        return _whole(found)
    body = _around(body, index)
    offset = f"{index}-1" if first == "1" else index
    elements = re.sub(rf"_\{{?{index}\}}?(?![^\W\d])", f"[{offset}]", body).strip()
    return f" Σ[{index}={first}..{last}] {elements}"


def _around(body: str, index: str) -> str:
    """Put parentheses around the body of a sum that has its index after a sign too: `x_i^2 + x_i`.

    >>> _around("x[i]^2 + x[i]", "i"), _around("x[i]^2 + 1", "i"), _around("(x[i] + 1)", "i")
    ('(x[i]^2 + x[i])', 'x[i]^2 + 1', '(x[i] + 1)')
    """
    depths = itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in body)
    signs = [n for n, depth in enumerate(depths) if depth == 0 and body[n] in "+-" and body[:n].strip()]
    is_after = any(re.search(rf"(?<![a-zA-Z]){index}(?![a-zA-Z])", body[n:]) for n in signs)
    return f"({body.strip()})" if is_after else body


def _bodies(found: re.Match[str]) -> str:
    """Put parentheses around the body of a sum, `Σ[i=0..1] x[i]^2 + x[i]`, where they are missing."""
    return f"{found[1]} {_around(found['body'], found['index'])}"


def _squares(found: re.Match[str]) -> str:
    """Write a sum of all elements without an index, `Σ(x_i - μ)²`, whose power is inside."""
    return f"sum({re.sub(r'_[a-z](?![a-zA-Z])', '', found[1])}{found[2] or ''})"


def _thousands(found: re.Match[str]) -> str:
    return found[0].replace(",", "")


def _columns(found: re.Match[str]) -> str:
    """Write a matrix of LaTeX, whose rows a shell may have left one backslash of; one of a column is a list."""
    rows = [[cell.strip() for cell in row.split("&")] for row in re.split(r"\\\\?(?=\s|$)", found[1]) if row.strip()]
    return f"[{', '.join(row[0] if len(row) == 1 else '[' + ', '.join(row) + ']' for row in rows)}]"


def _rates(found: re.Match[str]) -> str:
    """Write a system of equations, `x' = v; v' = -x`, as the list of its right sides."""
    equations = filter(None, map(str.strip, found[0].replace("\n", ";").split(";")))
    return f"[{', '.join(one.partition('=')[2].strip() for one in equations)}]"


def _whole(found: re.Match[str]) -> str:
    """Write a sum over all elements, `sum_i x_i^2`."""
    subscript = rf"_(?:{found['index']}(?![^\W\d])|\{{{found['index']}\}})"
    body = re.sub(rf"(\w+)_{found['index']}\s*\^\s*\{{?(?:T|\\top)\}}?\s*(\w+)", r"(\1 @ \2)", found["body"])
    return f" sum({re.sub(subscript, '', body).strip()})"


def _matrix(found: re.Match[str]) -> str:
    rows = [re.sub(r"[\s,]+", ",", row.strip()) for row in found["rows"].split(";")]
    return f"[{','.join(f'[{row}]' for row in rows)}]"


def _plain(found: re.Match[str]) -> str:
    return _normal(found[0])


def _pieces(found: re.Match[str]) -> str:
    """Write a choice of a plotter, `{x < 0: -x, x^2}`; what has no condition stands last."""
    *pieces, last = (piece.partition(":") for piece in found[1].split(","))
    if last[1]:
        return found[0]
    other = last[0].strip()
    for condition, _, value in reversed(pieces):
        other = f"where({condition.strip()}, {value.strip()}, {other})"
    return other


_CHOOSE = r"exp(lgamma(\1 + 1) - lgamma(\2 + 1) - lgamma(\1 - \2 + 1))"

_PLAIN = r"\s*((?:[^(),]|\([^()]*\))+?)\s*"
"""An argument, with calls in it."""

_RATE = r"(?:d[^\W\d]\w*/dt|[^\W\d]\w*(?:'|\u2032|\u0307)+)\s*"
"""Left side of an equation of a system."""

_UNIT = r"[a-zA-ZµΩÅ]{1,6}(?:\^?-?\d|[⁻¹²³]+)?"

TEXTS: tuple[Spelling, ...] = (
    _row(r"^(.*Σ\[(?P<index>[a-z])=[^\[\]]*\])\s*(?P<body>.+)$", _bodies),
    _row(r"\\begin\{[bpv]?matrix\}(.*?)\\end\{[bpv]?matrix\}", _columns),
    _row(rf"^\s*(?:{_RATE}=(?!=)[^;=\n]+[;\n]\s*)+{_RATE}=(?!=)[^;=\n]+;?\s*$", _rates),
    _row(r"^\s*\$+(.*?)\$+\s*$", r"\1"),
    _row(r"\frac" + _BRACED + _BRACED, r"((\1)/(\2))"),  # where a shell has read \f
    _row(
        r"\\?(?:sum|∑|Σ)_?\{?\(?(?P<index>[a-z])\s*=\s*(?P<first>\w+)[)}]?\s*\^\s*\{?(?P<last>\w+)\}?\s*(?P<body>.+)",
        _indexed,
    ),
    _row(r"\bsum\((?P<body>[^,]+),\s*(?P<index>[a-z])\s*=\s*(?P<first>\d+)\.\.(?P<last>\d+)\)", _indexed),
    _row(r"\bsum\((?P<body>[^,]+),\s*(?P<index>[a-z])\s*=\s*1\.\.n\)", _whole),
    _row(r"(?:\\|\b)(?:sum|∑|Σ)_\{?(?P<index>[a-z])\}?\s*(?P<body>.+)", _whole),
    _row(
        rf"\b(?P<name>sinh?|cosh?|tanh?|cot|sec|csc)\s*(?:⁻¹|(?:\^|\*\*)\s*\(?-\s*1\)?)\s*{_ARGUMENT}",
        _inverse,
        r"1/\g<name>\g<argument>",
    ),
    _row(rf"\b(?P<name>{_ELEMENTARY})\s*(?:\^|\*\*)\s*(?P<power>\d+)\s*{_ARGUMENT}", _power),
    _row(rf"\b(?P<name>{_ELEMENTARY})(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\s*{_ARGUMENT}", _power),
    _row(r"\bPiecewise\[\{\{([^{},]+),([^{},]+)\}(?:,\s*\{([^{},]+),[^{}]*\})?\}\]", r"where(\2, \1, 0)"),
    _row(r"\b([A-Z][a-z]+[A-Za-z]*)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", _mathematica),
    _row(r"\b(?:Math|cmath|jax\.numpy|jnp|tf\.math|tf\.nn|tf|mx|cp|K|std)\s*\.\s*(?=[a-z])", ""),
    _row(r"^\s*(?P<if>[^?]+?)\s*\?\s*(?P<a>[^:]+?)\s*:\s*(?P<b>.+?)\s*$", r"\g<a> if \g<if> else \g<b>"),
    _row(
        r"^\s*if\s+(?P<if>.+?)\s*(?:then|:)\s*(?P<a>.+?)\s*;?\s*else\s*:?\s*(?P<b>.+?)\s*$",
        r"\g<a> if \g<if> else \g<b>",
    ),
    _row(r"^\s*(?:\(?\s*[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*\s*\)?)\s*(?:→|↦|->|=>)\s*(.+)$", r"\1"),
    _row(r"^\s*(?:\w+\s*=\s*)?(?:@|function\s*)\([^()]*\)\s*\{?\s*(?:return\s+)?([^;]+?)\}?\s*;?\s*$", r"\1"),
    _row(r"^\s*\w+\s*=\s*lambda\s+[^:]*:\s*(.+)$", r"\1"),
    _row(r"^\s*return\s+(.+)$", r"\1"),
    _row(r"^\s*d([^\W\d]\w*)\s*/\s*d[^\W\d]\w*\s*=(?!=)\s*(.+)$", r"\2"),
    _row(r"^\s*(?:\\d?dot\s*\{?\s*[^\W\d]\w*\s*\}?|[^\W\d]\w*[\u0307\u0308'′″]+)\s*=(?!=)\s*(.+)$", r"\1"),
    _row(r"(?<![\w.])dot\(", "matmul("),
    _row(r"\.dot\(", ".matmul("),
    _row(r"^\s*[\"'“”„‘’«»`](.*)[\"'“”„‘’«»`]\s*$", r"\1"),
    _row("[“”„‟‘’‚«»`]", ""),
    _row("[−–—‐‑]", "-"),
    _row(r"^\s*\{([^{}]*:[^{}]*)\}\s*$", _pieces),
    _row(r"(?<![\w.])(\d+\.?\d*|\.\d+)[dD]([-+]?\d+)\b", r"\1e\2"),
    _row(r"\b(masked_fill\(|where\()\s*([^\W\d]\w*)\s*,", r"\1\2 > 0,"),
    _row(r"[Σ∑]\s*(\((?:[^()]|\([^()]*\))*\))\s*(²|³|(?:\^|\*\*)\s*\d+)?", _squares),
    _row(rf"\b(?:nchoosek|binom|binomial|comb|choose)\({_PLAIN},{_PLAIN}\)", _CHOOSE),
    _row(rf"\bsign\({_PLAIN},{_PLAIN}\)", r"copysign(\1, \2)"),
    _row(r"\bin\s+(\d+):(\d+)", lambda found: f"in range({found[1]}, {int(found[2]) + 1})"),
    _row(rf"\bzeta\({_PLAIN}\)", r"zeta(\1, 1)"),
    _row(
        r"\b(?:[sS]um|summation)[(\[](?P<body>.+?),\s*[({]?\s*(?P<index>[a-z])\s*,\s*(?P<first>\d+)\s*,\s*(?P<last>\d+)\s*[)}]?[)\]]",
        _indexed,
    ),
    _row(r"[\"']([^\W\d]\w*(?:\W+\w+)+)\W*[\"']", lambda found: re.sub(r"\W+", "_", found[1])),
    _row(rf"\b(?:nthroot|surd|root)\({_PLAIN},\s*3\s*\)", r"cbrt(\1)"),
    _row(rf"\b(?:nthroot|surd|root)\({_PLAIN},\s*(\d*[02468])\s*\)", r"(\1)**(1/\2)"),
    _row(rf"\b(?:nthroot|surd|root)\({_PLAIN},\s*(\d+)\s*\)", r"sign(\1)*abs(\1)**(1/\2)"),
    _row(r"([^\W\d]\w*)\{(\d+)\}", r"\1[\2]"),
    _row(r"(?<!_)\{([^{},]*)\}", r"(\1)"),
    _row(r"(?<!_)\{([^{}]*,[^{}]*)\}", r"[\1]"),
    _row(r"\s+mod\s+", " % "),
    _row(r"&&", "&"),
    _row(r"\|\|", "|"),
    _row(r"===?", "=="),
    _row(r"=>", ">="),
    _row(r"=<", "<="),
    _row(r"<>|!==", "!="),
    _row(r":=", "="),
    _row(r"≈", "="),
    _row(r"∛\s*" + _ARGUMENT, r"cbrt(\g<argument>)"),
    _row(r"\b0(?:[xX][\da-fA-F]{1,16}|[bB][01]{1,64}|[oO][0-7]{1,21})\b", lambda found: str(int(found[0], 0))),
    _row(r"(\d[\d.]*|[^\W\d]\w*|\([^()]*\))\s*(?:°|degrees?\b|deg\b)", r"(\1*pi/180)"),
    _row(r"(\d[\d.]*)\s*(?:radians?|rad)\b", r"\1"),
    _row(r"([^\W\d]\w*|\d+|\([^()]*\))!(?!=)", r"exp(lgamma(\1 + 1))"),
    _row(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,])", _thousands, lambda found: found[0].replace(",", ".", 1)),
    _row(r"(?<=\d),(?=\d)", "."),
    _row(r"(?<=\d)[’' _](?=\d{3})", ""),
    _row(r"\be\s*\^\s*(?=[-+({\w])", "E^"),
    _row(r"(?<=\d)\s*%", "/100"),
    _row(r"[½⅓⅔¼¾]", lambda found: f"({_plain(found)})"),
    _row(r"[\u2070-\u207f\u2080-\u2089\uff00-\uffef\u00a0\u2000-\u200a]", _plain),
    _row(r"[\u200b-\u200f\ufeff]", ""),
    _row(r",\s*(?=[^\W\d]\w*\s*=[^=])", "; "),
    _row(r"^(?P<all>[^()\[\]]+,[^()\[\]]+)$", r"[\g<all>]"),
    _row(r"^(?P<all>.+\(.*\)\s*,.+)$", r"[\g<all>]"),
    _row(r"\s*(?:\.\.\.|…|;|,)\s*$", ""),
)
"""Spellings of expressions and formulas."""

VALUES: tuple[Spelling, ...] = (
    _row(r"^\s*[<({|]\s*([^<>(){}|]*?)\s*[>)}|]\s*$", r"[\1]"),
    _row(r"^\s*\[?(?P<rows>[^;\[\]]*[^;\[\]\s][\s,]+[^;\[\]]*(?:;[^;\[\]]+)+)\]?\s*$", _matrix),
    _row(
        r"^\s*(?P<all>[-+]?\d{1,3}(?:,\d{3})+)\s*$",
        lambda found: found["all"].replace(",", ""),
        lambda found: re.sub(r",0+(?=\d)", ",", found["all"]),
    ),
    _row(r"[|;]", ","),
    _row(r"^\s*(\S+(?:\s+\S+)*)\s*$", lambda found: re.sub(r"[\s,]+", ",", found[1])),
    _row(r"(?<![\w.])e(?![\w.(])", "E"),
    _row(r"(?i)\b(nan|inf)(?:inity)?\b", lambda found: found[1].lower()),
    _row(r"(?i)\btrue\b", "1"),
    _row(r"(?i)\bfalse\b", "0"),
    _row(r"^\s*(?:==|->|→|=|:|is)\s*(?=[-+\d.\[])", ""),
    _row(r"^\s*([-+\d.eE]+)\s*:\s*([-+\d.eE]+)\s*$", r"arange(\1, \2)", r"arange(\1, \2 + 1)"),
    _row(r"^\s*([-+\d.eE]+)\s*:\s*([-+\d.eE]+)\s*:\s*([-+\d.eE]+)\s*$", r"arange(\1, \3, \2)"),
    _row(r"^\s*([-+\d.eE]+)\s*(?:\.\.|…|to)\s*([-+\d.eE]+)\s*$", r"linspace(\1, \2, 5)"),
    _row(r"\b(?:x?range)\(", "arange("),
    _row(rf"\b({_ELEMENTARY})\s*(\d[\d.]*)(?![\w(])", r"\1(\2)"),
    _row(r"(?<=[\d.])[dD]([-+]?\d+)\b", r"e\1"),
    _row(r"(?<=\d)[fFdDlL]\b", ""),
    _row(r"(?<=\d)\s*%", "/100"),
    _row(r"(?<=[\d.])\s*±\s*[\d.]+", ""),
    _row(r"(?<=[\d.])\s*[×x*]\s*10\s*\^?\s*\{?([-+]?\d+)\}?", r"e\1"),
    _row(r"(?<=[\d.])\s*[×x*]\s*10([⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: f"e{_normal(found[1])}"),
    _row(rf"(?<=[\d.])(?:\s+|(?![eE]\d)(?=[a-zA-ZµΩ]{{2}}|[a-zA-Z]/)){_UNIT}(?:\s*[/*·⋅ ]\s*{_UNIT})*\s*$", ""),
    _row(r"\bone\b(?!\()", "ones"),
    _row(r",\s*(?:device|requires_grad|dtype)\s*=\s*[^,()]+", ""),
    _row("[−–—‐‑]", "-"),
    _row("[“”„‟‘’‚«»`\"']", ""),
    _row(r"(?<=\d)[’' _](?=\d{3})", ""),
    _row(r",(?:\s*,)+", ","),
    _row(r"^\s*,|,\s*$", ""),
)
"""Spellings of values."""


def respelled(text: str, error: GradcliError, rows: tuple[Spelling, ...] = TEXTS) -> Iterator[Iterator[str]]:
    """Generate other spellings of a text, by what is wrong with it and by the rows of a table, a group each."""
    if rows is TEXTS:
        yield _elements(text, error)
        yield _by_error(text, error)
    for row in rows:
        yield row.respelled(text)
    yield _closed(text)


def _by_error(text: str, error: GradcliError) -> Iterator[str]:
    """Generate spellings of the word that an error is at."""
    if error.place is None or error.place.text != text:
        return
    span = error.place.span
    word = text[span.start : span.stop]
    argument = re.compile(r"\s+" + _ARGUMENT).match(text, span.stop)
    if isinstance(error, UncalledFunctionError) and argument is not None:
        yield _replaced(text, Span(span.start, argument.end()), f"{word}({argument['argument']})")
    for other, closing in _names_for(word, error):
        if not closing:
            called = r"(?=\s*\()" if isinstance(error, UnknownFunctionError) else ""
            before = r"(?<!\w)" if called else r"(?<![\w.])"
            yield re.sub(rf"{before}{re.escape(word)}(?!\w){called}", other, text)
            continue
        stop = _closing(text, span.stop)
        yield _replaced(text, Span(span.start, stop), other + text[span.stop : stop] + closing)
    if (form := _CALLS.get(word)) is not None and text[span.stop : span.stop + 1] == "(":
        stop = _closing(text, span.stop)
        yield _replaced(text, Span(span.start, stop + 1), form.format(text[span.stop + 1 : stop]))
    if "is never closed" not in error.text.message and word in (")", "]", "}"):
        yield _replaced(text, span, "")


def _elements(text: str, error: GradcliError) -> Iterator[str]:
    """Generate `x[0]^2` for `x(1)^2`, an element that is counted from 1, if all calls of an unknown name look so."""
    if not isinstance(error, UnknownFunctionError) or error.place is None or error.place.text != text:
        return
    from gradcli.language.lower.juxtaposed_names import FUNCTIONS

    word = text[slice(*error.place.span)]
    called = rf"(?<![\w.]){re.escape(word)}\("
    element = re.compile(rf"{called}((?:\s*[1-9]\d*\s*,?)+)\)")
    is_function = word in FUNCTIONS or word in _ELSEWHERE
    if not is_function and len(element.findall(text)) == len(re.findall(called, text)):
        yield element.sub(lambda found: f"{word}[{','.join(str(int(n) - 1) for n in found[1].split(','))}]", text)


_ELSEWHERE = frozenset("nchoosek binom binomial comb choose nthroot surd root mod rem fix".split())
"""Functions from elsewhere that rows spell."""


def _names_for(word: str, error: GradcliError) -> Iterator[tuple[str, str]]:
    """Generate what may be meant by a name that is not known, with what then stands after its argument."""
    if not word.isidentifier():
        return
    from gradcli.language.lower import juxtaposed_names  # SymPy is imported once a text was read
    from gradcli.language.program.wengert import CONSTANTS

    yield from ((name, "") for name in _OTHER_NAMES.get(word, ()))
    if word in (*_OTHER_NAMES, *_CALLS, *hints.FACTS):
        return
    if not isinstance(error, UnknownFunctionError):
        parts = juxtaposed_names.apart(word)
        yield from [] if parts is None else [(parts, "")]
        return
    plain = {known.replace("_", ""): known for known in ops.names()}
    if (same := plain.get(word.lower().replace("_", ""))) is not None:  # MSELoss, ReLU
        yield same, ""
    elif (parted := juxtaposed_names.called_after(word)) is not None:
        yield parted
    elif (len(word) == 1 and word not in juxtaposed_names.FUNCTIONS and word not in "ΣΠ∑∏") or word in CONSTANTS:
        yield f"{word}*", ""
    else:
        yield from (
            (name, "") for name in difflib.get_close_matches(word, list(ops.names()), 1, 0.72 if len(word) > 5 else 0.8)
        )


def _replaced(text: str, span: Span, other: str) -> str:
    return text[: span.start] + other + text[span.stop :]


def _closing(text: str, opening: int) -> int:
    """Return the place of the parenthesis that closes one, or the end of the text."""
    depth = 0
    for n in range(opening, len(text)):
        depth += (text[n] in "([{") - (text[n] in ")]}")
        if depth == 0:
            return n
    return len(text)


def _closed(text: str) -> Iterator[str]:
    """Close the brackets that are open at the end."""
    pairs, left = {"(": ")", "[": "]", "{": "}"}, list[str]()
    for sign in text:
        if sign in pairs:
            left.append(pairs[sign])
        elif left and sign == left[-1]:
            left.pop()
    if left:
        yield text + "".join(reversed(left))


PAGE = "gradcli guide language shows what is read"
"""Hint at the page that says what is expected, where no spelling is known."""


def page_for(error: GradcliError) -> str | None:
    """Return the hint at the page, of an error of the language."""
    return PAGE if isinstance(error, LanguageError | UnknownFunctionError) else None


def is_form(hint: str | None) -> bool:
    """Tell whether a hint is a form that nobody has tried, or missing."""
    return hint is None or (hint.startswith("write ") and "..." in hint)


def advise(error: GradcliError, text: str, read: Callable[[str], object], rows: tuple[Spelling, ...] = TEXTS) -> None:
    """Give an error the spellings of its text that can be read as its hint, where there are some.

    Args:
        error: The error.
        text: The text.
        read: Reads a spelling, or raises.
        rows: The table.
    """
    if trial.is_on() or len(text) > LONGEST or "\n" in text.strip():
        return

    def failure(spelled: str) -> GradcliError | None:
        try:
            with trial.trying():
                read(spelled)
        except trial.ReadError:
            return None
        except GradcliError as raised:
            return raised
        return None

    found = trial.spellings(text, error, partial(respelled, rows=rows), failure)
    if found and max(map(len, found)) <= LONGEST_SHOWN:
        error.advise(f"write {', or '.join(found)}")
    elif is_form(error.text.hint) and not isinstance(error, CodeError):
        error.advise(page_for(error))
