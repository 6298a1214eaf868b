"""Spellings from elsewhere, with those of this language: a table, of which a hint shows what can be read.

Mathematics on paper, LaTeX, Mathematica, MATLAB, Julia, C, JavaScript, R, and signs that an editor or a web page puts
into text.  A row is a pattern and what may stand in its place; the rows know nothing of grammar, so that what they make
is read before anybody sees it (`gradcli.trial`).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gradcli.language.spelled_calls import (
    binomial,
    factorial,
    from_by_to,
    from_to_by,
    functional,
    inside,
    integers,
    right_sides,
    root,
    summed,
)
from gradcli.language.spelled_operators import CASES, DIVERGENCE, MODULUS, alternatives, cases, modulus
from gradcli.language.units import in_si


@dataclass(frozen=True)
class Spelling:
    """A row of the table.

    Attributes:
        found: What is written elsewhere.
        instead: What may be meant, each a template of `re`, or a function of the match.
        is_sure: Whether it says the same in other signs; else it is one of several things that may be meant.
    """

    found: re.Pattern[str]
    instead: tuple[str | Callable[[re.Match[str]], str], ...]
    is_sure: bool = True

    def respelled(self, text: str) -> Iterator[str]:
        """Generate the texts that have something else in its place."""
        if self.found.search(text):
            yield from (self.found.sub(one, text).strip() for one in self.instead)


def _row(found: str, *instead: str | Callable[[re.Match[str]], str]) -> Spelling:
    return Spelling(re.compile(found, re.DOTALL), instead)


def _guess(found: str, *instead: str | Callable[[re.Match[str]], str]) -> Spelling:
    return Spelling(re.compile(found, re.DOTALL), instead, is_sure=False)


_INVERSES = {name: f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
_ELEMENTARY = "arc(?:sin|cos|tan)h?|a?(?:sin|cos|tan)h?|sech?|csch?|coth?|exp|log|ln|sqrt"
ARGUMENT = r"(?P<argument>\((?:[^()]|\([^()]*\))*\)|[^\W\d]\w*|\d[\d.]*[^\W\d]?\w*)"
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
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
        ("dabs iabs", "abs"),
        ("dsqrt", "sqrt"),
        ("dexp", "exp"),
        ("dlog alog", "log"),
        ("dlog10 alog10", "log10"),
        ("dsin", "sin"),
        ("dcos", "cos"),
        ("dtan", "tan"),
        ("datan", "atan"),
        ("datan2", "atan2"),
        ("dtanh", "tanh"),
        ("lb ld", "log2"),
        ("logistic", "sigmoid"),
        ("lngamma lnGamma", "lgamma"),
        ("cosecant", "csc"),
        ("secant", "sec"),
        ("cotangent", "cot"),
        ("recip inv_pos", "reciprocal"),
        ("lse log_sum_exp", "logsumexp"),
        ("sqr", "square"),
        ("probit", "ndtri"),
        ("vecnorm", "norm"),
        ("huber", "huber_loss"),
    )
    for name in names.split()
}
"""Names that functions have elsewhere."""

CALLS: Mapping[str, str] = {
    "gamma": "exp(lgamma({0}))",
    "Gamma": "exp(lgamma({0}))",
    "Γ": "exp(lgamma({0}))",
    "factorial": "exp(lgamma({0} + 1))",
    "Heaviside": "where({0} > 0, 1, 0)",
    "step": "where({0} > 0, 1, 0)",
    "logspace": "(10**linspace({all}))",
    "exp10": "10**({0})",
    "pow10": "10**({0})",
    "sinpi": "sin(pi*({0}))",
    "cospi": "cos(pi*({0}))",
    "cube": "({0})**3",
    "trigamma": "polygamma(1, {0})",
    "sum_squares": "sum(({0})**2)",
    "sumsq": "sum(({0})**2)",
    "versin": "(1 - cos({0}))",
    "hav": "sin(({0})/2)**2",
    "haversin": "sin(({0})/2)**2",
    "normpdf": "(exp(-({0})**2/2)/sqrt(2*pi))",
    "betaln": "(lgamma({0}) + lgamma({1}) - lgamma(({0}) + ({1})))",
    "beta": "exp(lgamma({0}) + lgamma({1}) - lgamma(({0}) + ({1})))",
    "nchoosek": "exp(lgamma({0} + 1) - lgamma({1} + 1) - lgamma({0} - ({1}) + 1))",
    "binom": "exp(lgamma({0} + 1) - lgamma({1} + 1) - lgamma({0} - ({1}) + 1))",
    "comb": "exp(lgamma({0} + 1) - lgamma({1} + 1) - lgamma({0} - ({1}) + 1))",
    "binomial": "exp(lgamma({0} + 1) - lgamma({1} + 1) - lgamma({0} - ({1}) + 1))",
    **{
        f"{sign}{one}": f"{inverse}(1/({{0}}))"
        for sign in ("a", "arc")
        for one, inverse in (
            ("cot", "atan"),
            ("sec", "acos"),
            ("csc", "asin"),
            ("coth", "atanh"),
            ("sech", "acosh"),
            ("csch", "asinh"),
        )
    },
    **dict.fromkeys(("lambda_max", "λ_max", "eigmax", "lambdamax", "max_eig"), "eigvalsh({0})[-1]"),
    **dict.fromkeys(("lambda_min", "λ_min", "eigmin", "lambdamin", "min_eig"), "eigvalsh({0})[0]"),
    "sind": "sin(pi/180*({0}))",
    "cosd": "cos(pi/180*({0}))",
    "tand": "tan(pi/180*({0}))",
    **{f"{name}d": f"(180/pi*{name}({{all}}))" for name in ("asin", "acos", "atan", "atan2")},
    "gammainc": "(1 - gammaincc({all}))",
    "igamma": "(1 - gammaincc({all}))",
    "t": "({0}).T",
    **dict.fromkeys(("opnorm", "spectral_norm"), "matrix_norm({0}, 2)"),
    **dict.fromkeys(("lambda_max", "eigmax", "max_eigenvalue", "largest_eigenvalue"), "eigvalsh({0})[-1]"),
    **dict.fromkeys(("lambda_min", "eigmin", "min_eigenvalue", "smallest_eigenvalue"), "eigvalsh({0})[0]"),
    **dict.fromkeys(("sigma_max", "largest_singular_value"), "svdvals({0})[0]"),
}
"""Functions from elsewhere, as expressions of what is in their parentheses."""


DOUBTFUL = frozenset(
    "argmax argmin eig eigvals eigenvalues phi Phi l2 L2 norm_2 gamma Gamma Γ factorial Heaviside step gammainc igamma "
    "sigma lg huber beta nchoosek binom comb binomial lambda_max λ_max eigmax lambdamax max_eig lambda_min λ_min "
    "eigmin lambdamin min_eig".split()
)
"""Names of these whose meaning is near only, depends on who writes, or holds for some arguments."""


def _normal(signs: str) -> str:
    return unicodedata.normalize("NFKC", signs).replace("⁄", "/").replace("−", "-")


def _power(found: re.Match[str]) -> str:
    return f"{found['name']}({inside(found['argument'])})**{_normal(found['power'])}"


_OF_RECIPROCAL = {"cot": "atan", "sec": "acos", "csc": "asin"}


def _inverse(found: re.Match[str]) -> str:
    name = found["name"]
    if name in _OF_RECIPROCAL:
        return f"{_OF_RECIPROCAL[name]}(1/({inside(found['argument'])}))"
    return f"{_INVERSES.get(name, name)}({inside(found['argument'])})"


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

_RATE = r"(?:d[^\W\d]\w*/dt|[ẋẏżẍÿ]|[^\W\d]\w*(?:'|\u2032|\u0307)+)\s*"
"""Left side of an equation of a system."""

TEXTS: tuple[Spelling, ...] = (
    _row(rf"^\s*{CASES}\s*$", cases),
    _row(r"^[^,;]+?\s(?:if|for|when)\s[^,;]+[,;].+$", alternatives),
    _guess(MODULUS, modulus),
    _guess(DIVERGENCE, r"sum(\g<p>*log(\g<p>/\g<q>))"),
    _row(r"^(.*Σ\[(?P<index>[a-z])=[^\[\]]*\])\s*(?P<body>.+)$", _bodies),
    _row(r"\\begin\{[bpv]?matrix\}(.*?)\\end\{[bpv]?matrix\}", _columns),
    _row(rf"^\s*(?:{_RATE}=(?!=)[^;=\n]+[;\n]\s*)+{_RATE}=(?!=)[^;=\n]+;?\s*$", _rates),
    _row(r"^(.*?\b(\w+)\s*=(?!=).*?)[;\n]\s*d\2\s*/\s*d\w+\s*$", r"\1"),  # y = x^2; dy/dx
    _row(r"^\s*\$+(.*?)\$+\s*$", r"\1"),
    _row(r"\frac" + _BRACED + _BRACED, r"((\1)/(\2))"),  # where a shell has read \f
    _row(
        r"(?<![\w.])(?P<name>[Ss]um|nsum|[Pp]rod(?:uct)?)[(\[](?P<body>[^;]+),\s*[({]?\s*(?P<index>[^\W\d]\w*)\s*,\s*"
        r"(?P<first>\d+)\s*,\s*(?P<last>\d+)\s*[)}]?\s*[)\]](?:\.doit\(\)|\.evalf\(\))?",
        summed,
    ),
    _row(
        r"\\(?P<name>sum|prod)\s*_\s*\{\s*(?P<index>[^\W\d]\w*)\s*=\s*(?P<first>\d+)\s*\}\s*\^\s*\{?(?P<last>\d+)\}?"
        r"\s*(?P<body>(?:\\[dt]?frac\s*\{[^{}]*\}\{[^{}]*\}|[^\s+\-=])+)\s*$",
        summed,
    ),
    _row(
        r"(?:\\|\b)(?:sum|∑|Σ)_\{?(?P<index>[a-z])\}?\s*(?P<body>\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))\s*$", _whole
    ),
    _row(r"(?<![\w.])(?:nthroot|surd|real_root|realroot)\(((?:[^(),]|\([^()]*\))+),\s*(\d+)\s*\)", root),
    _row(
        r"(?<![\w.])(?:torch\.)?nn\.(?P<name>[A-Z]\w+)\((?P<options>[^()]*)\)"
        r"\((?P<given>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)",
        functional,
    ),
    _row(r"(?<=\bfor )\s*([^\W\d]\w*)\s*(?:in|=|∈)\s*(\d+):(\d+)", integers),
    _row(
        r"^\s*(?:(?:[^\W\d]\w*\s*(?:['′\u0307])|\\dot\s*\{?\s*[^\W\d]\w*\s*\}?|d[^\W\d]\w*\s*/\s*dt)\s*=(?!=)[^=;,]+"
        r"(?:[;,]\s*|$)){2,}\s*$",
        right_sides,
    ),
    _row(r"(?<![\w.])(?:jnp|jax\.numpy|cp|cupy|autograd\.numpy|anp)\s*\.\s*(?=[a-z])", "np."),
    _row(
        r"(?<![\w.])(?:jax\.nn|jnn)\s*\.\s*(?=(?:relu|sigmoid|softplus|tanh|silu|elu|log_sigmoid|softmax|log_softmax)\b)",
        "F.",
    ),
    _row(r"(?<![\w.])jax\.scipy\.", "scipy."),
    _row(
        rf"(?<![\w.])(?:Math|cmath|std|tf\.math|tf|numpy\.lib\.scimath|mp|mpmath)\s*(?:\.|::)\s*(?=(?:{_ELEMENTARY}|abs|pow)\b)",
        "math.",
    ),
    _row(r"(?<![\w.])d?sign\(((?:[^(),]|\([^()]*\))+,(?:[^(),]|\([^()]*\))+)\)", r"copysign(\1)"),
    _guess(
        r"\\?(?:sum|∑|Σ)_?\{?\(?(?P<index>[a-z])\s*=\s*(?P<first>\w+)[)}]?\s*\^\s*\{?(?P<last>\w+)\}?\s*(?P<body>.+)",
        _indexed,
    ),
    _row(r"\bsum\((?P<body>[^,]+),\s*(?P<index>[a-z])\s*=\s*(?P<first>\d+)\.\.(?P<last>\d+)\)", _indexed),
    _guess(r"\bsum\((?P<body>[^,]+),\s*(?P<index>[a-z])\s*=\s*1\.\.n\)", _whole),
    _guess(r"(?:\\|\b)(?:sum|∑|Σ)_\{?(?P<index>[a-z])\}?\s*(?P<body>.+)", _whole),
    _row(
        rf"\b(?P<name>sinh?|cosh?|tanh?|cot|sec|csc)\s*(?:⁻¹|(?:\^|\*\*)\s*\(?-\s*1\)?)\s*{ARGUMENT}",
        _inverse,
        lambda found: f"1/{found['name']}({inside(found['argument'])})",
    ),
    _row(rf"\b(?P<name>{_ELEMENTARY})\s*(?:\^|\*\*)\s*(?P<power>\d+)\s*{ARGUMENT}", _power),
    _row(rf"\b(?P<name>{_ELEMENTARY})(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\s*{ARGUMENT}", _power),
    _row(r"\bPiecewise\[\{\{([^{},]+),([^{},]+)\}(?:,\s*\{([^{},]+),[^{}]*\})?\}\]", r"where(\2, \1, 0)"),
    _row(r"\b([A-Z][a-z]+[A-Za-z]*)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", _mathematica),
    _guess(r"\b(?:Math|cmath|jax\.numpy|jnp|tf\.math|tf\.nn|tf|mx|cp|K|std)\s*\.\s*(?=[a-z])", ""),
    _row(r"^\s*(?P<if>[^?]+?)\s*\?\s*(?P<a>[^:]+?)\s*:\s*(?P<b>.+?)\s*$", r"\g<a> if \g<if> else \g<b>"),
    _row(
        r"^\s*if\s+(?P<if>.+?)\s*(?:then|:)\s*(?P<a>.+?)\s*;?\s*else\s*:?\s*(?P<b>.+?)\s*$",
        r"\g<a> if \g<if> else \g<b>",
    ),
    _row(r"^\s*(?:\(?\s*[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*\s*\)?)\s*(?:→|↦|->|=>)\s*(.+)$", r"\1"),
    _row(r"^\s*(?:\w+\s*=\s*)?(?:@|function\s*)\([^()]*\)\s*\{?\s*(?:return\s+)?([^;]+?)\}?\s*;?\s*$", r"\1"),
    _row(r"^\s*\w+\s*=\s*lambda\s+[^:]*:\s*(.+)$", r"\1"),
    _row(r"^\s*return\s+(.+)$", r"\1"),
    _guess(r"^\s*d([^\W\d]\w*)\s*/\s*d[^\W\d]\w*\s*=(?!=)\s*(.+)$", r"\2"),
    _guess(r"^\s*(?:\\d?dot\s*\{?\s*[^\W\d]\w*\s*\}?|[^\W\d]\w*[\u0307\u0308'′″]+)\s*=(?!=)\s*(.+)$", r"\1"),
    _guess(r"(?<![\w.])dot\(", "matmul("),
    _guess(r"\.dot\(", ".matmul("),
    _row(r"^\s*[\"'“”„‘’«»`](.*)[\"'“”„‘’«»`]\s*$", r"\1"),
    _row("[“”„‟‘’‚«»`]", ""),
    _row("[−–—‐‑]", "-"),
    _row(r"^\s*\{([^{}]*:[^{}]*)\}\s*$", _pieces),
    _row(r"(?<![\w.])(\d+\.?\d*|\.\d+)[dD]([-+]?\d+)\b", r"\1e\2"),
    _row(r"[Σ∑]\s*(\((?:[^()]|\([^()]*\))*\))\s*(²|³|(?:\^|\*\*)\s*\d+)?", _squares),
    _row(
        r"\b(?:[sS]um|summation)[(\[](?P<body>.+?),\s*[({]?\s*(?P<index>[a-z])\s*,\s*(?P<first>\d+)\s*,\s*(?P<last>\d+)\s*[)}]?[)\]]",
        _indexed,
    ),
    _row(r"[\"']([^\W\d]\w*(?:\W+\w+)+)\W*[\"']", lambda found: re.sub(r"\W+", "_", found[1])),
    _guess(r"([^\W\d]\w*)\{(\d+)\}", r"\1[\2]"),
    _row(r"(?<!_)\{([^{},]*)\}", r"(\1)"),
    _row(r"(?<!_)\{([^{}]*,[^{}]*)\}", r"[\1]"),
    _row(r"\s+mod\s+", " % "),
    _row(r"&&", "&"),
    _row(r"\|\|", "|"),
    _row(r"===?", "=="),
    _guess(r"=>", ">="),
    _guess(r"=<", "<="),
    _row(r"<>|!==", "!="),
    _row(r":=", "="),
    _guess(r"≈", "="),
    _row(r"\\sqrt\s*\[\s*3\s*\]\s*" + _BRACED, r"cbrt(\1)"),
    _row(r"\\sqrt\s*\[\s*(\d+)\s*\]\s*" + _BRACED, r"((\2)^(1/\1))"),
    _row(r"∛\s*" + ARGUMENT, r"cbrt(\g<argument>)"),
    _row(r"\b0(?:[xX][\da-fA-F]{1,16}|[bB][01]{1,64}|[oO][0-7]{1,21})\b", lambda found: str(int(found[0], 0))),
    _row(r"(\d[\d.]*|[^\W\d]\w*|\([^()]*\))\s*(?:°|degrees?\b|deg\b)", r"(\1*pi/180)"),
    _row(r"(\d[\d.]*)\s*(?:radians?|rad)\b", r"\1"),
    _row(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,])", _thousands, lambda found: found[0].replace(",", ".", 1)),
    _guess(r"(?<=\d),(?=\d)", "."),
    _guess(r"(?<=\d)[’' _](?=\d{3})", ""),
    _row(r"(?<![\w.])(\d+)!(?![=!])", factorial),
    _guess(r"([^\W\d]\w*|\d*\.\d+|\([^()]*\))!(?![=!])", factorial),  # below -1 the sign is another one
    _row(r"(?<![\w.])(?:math\.|scipy\.special\.|sp\.)?factorial\(\s*(\d+)\s*\)", factorial),
    _row(
        r"(?<![\w.])(?:math\.|scipy\.special\.|sp\.)?(?:nchoosek|binom|binomial|comb|choose|Binomial)[(\[]\s*(\d+)\s*,"
        r"\s*(\d+)\s*[)\]]",
        binomial,
    ),
    _row(r"\\[dt]?binom\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}", binomial),
    _row(r"\be\s*\^\s*(?=[-+({\w])", "E^"),
    _guess(r"(?<=\d)\s*%", "/100"),
    _row(r"[½⅓⅔¼¾]", lambda found: f"({_plain(found)})"),
    _row(r"[\u2070-\u207f\u2080-\u2089\uff00-\uffef\u00a0\u2000-\u200a]", _plain),
    _row(r"[\u200b-\u200f\ufeff]", ""),
    _row(r",\s*(?=[^\W\d]\w*\s*=[^=])", "; "),
    _row(r"^(?P<all>[^()\[\]]+,[^()\[\]]+)$", r"[\g<all>]"),
    _row(r"^(?P<all>.+\(.*\)\s*,.+)$", r"[\g<all>]"),
    _row(r"\s*(?:\.\.\.|…|;|,)\s*$", ""),
)
"""Spellings of expressions and formulas."""

_SIGNED = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"

VALUES: tuple[Spelling, ...] = (
    _row(r"^\s*[<({|]\s*([^<>(){}|]*?)\s*[>)}|]\s*$", r"[\1]"),
    _guess(r"^\s*\[?(?P<rows>[^;\[\]]*[^;\[\]\s][\s,]+[^;\[\]]*(?:;[^;\[\]]+)+)\]?\s*$", _matrix),
    _row(
        r"^\s*(?P<all>[-+]?\d{1,3}(?:,\d{3})+)\s*$",
        lambda found: found["all"].replace(",", ""),
        lambda found: re.sub(r",0+(?=\d)", ",", found["all"]),
    ),
    _guess(r"[|;]", ","),
    _row(r"^\s*(\S+(?:\s+\S+)*)\s*$", lambda found: re.sub(r"[\s,]+", ",", found[1])),
    _row(r"(?<![\w.])e(?![\w.(])", "E"),
    _row(r"(?i)\b(nan|inf)(?:inity)?\b", lambda found: found[1].lower()),
    _row(r"(?i)\btrue\b", "1"),
    _row(r"(?i)\bfalse\b", "0"),
    _row(r"^\s*(?:==|->|→|=|:|is)\s*(?=[-+\d.\[])", ""),
    _row(r"^\s*([-+\d.eE]+)\s*:\s*([-+\d.eE]+)\s*$", r"arange(\1, \2)", r"arange(\1, \2 + 1)"),
    _row(rf"^\s*({_SIGNED})\s*:\s*({_SIGNED})\s*:\s*({_SIGNED})\s*$", from_by_to, from_to_by),
    _guess(r"^\s*([-+\d.eE]+)\s*(?:\.\.|…|to)\s*([-+\d.eE]+)\s*$", r"linspace(\1, \2, 5)"),
    _row(r"\b(?:x?range)\(", "arange("),
    _row(rf"\b({_ELEMENTARY})\s*(\d[\d.]*)(?![\w(])", r"\1(\2)"),
    _row(r"(?<=[\d.])[dD]([-+]?\d+)\b", r"e\1"),
    _row(r"(?<=\d)[fF]\b", ""),
    _guess(r"(?<=\d)\s*%", "/100"),
    _guess(r"(?<=[\d.])\s*±\s*[\d.]+", ""),
    _row(r"(?<=[\d.])\s*[×x*]\s*10\s*\^?\s*\{?([-+]?\d+)\}?", r"e\1"),
    _row(r"(?<=[\d.])\s*[×x*]\s*10([⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: f"e{_normal(found[1])}"),
    _guess(r"^.*$", lambda found: in_si(found[0]) or found[0]),
    _guess(r"\bone\b(?!\()", "ones"),
    _row(r",\s*(?:device|requires_grad|dtype)\s*=\s*[^,()]+", ""),
    _row("[−–—‐‑]", "-"),
    _row("[“”„‟‘’‚«»`\"']", ""),
    _guess(r"(?<=\d)[’' _](?=\d{3})", ""),
    _guess(r",(?:\s*,)+", ","),
    _guess(r"^\s*,|,\s*$", ""),
)
"""Spellings of values."""
