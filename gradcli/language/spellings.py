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

from gradcli.language import spelled_calls as calls
from gradcli.language.orthogonal_polynomials import CALLED, written_out
from gradcli.language.spelled_operators import ON_PAPER
from gradcli.language.units import in_si


@dataclass(frozen=True)
class Spelling:
    """A row of the table.

    Attributes:
        found: What is written elsewhere.
        instead: What may be meant, each a template of `re`, or a function of the match.
        is_sure: Whether it says the same in other signs, so that it may be answered in place of the text; else it is
            one of several things that may be meant.
    """

    found: re.Pattern[str]
    instead: tuple[str | Callable[[re.Match[str]], str], ...]
    is_sure: bool = False

    def respelled(self, text: str) -> Iterator[str]:
        """Generate the texts that have something else in its place."""
        if self.found.search(text):
            yield from (self.found.sub(one, text).strip() for one in self.instead)


def _same(found: str, *instead: str | Callable[[re.Match[str]], str]) -> Spelling:
    """Make a row of what says the same in other signs."""
    return Spelling(re.compile(found, re.DOTALL), instead, is_sure=True)


def _near(found: str, *instead: str | Callable[[re.Match[str]], str]) -> Spelling:
    """Make a row of what may be meant."""
    return Spelling(re.compile(found, re.DOTALL), instead)


_INVERSES = {name: f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
_ELEMENTARY = "arc(?:sin|cos|tan)h?|a?(?:sin|cos|tan)h?|sech?|csch?|coth?|exp|log|ln|sqrt"
ARGUMENT = r"(?P<argument>\((?:[^()]|\([^()]*\))*\)|[^\W\d]\w*|\d[\d.]*[^\W\d]?\w*)"
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


def _by_name(**names: str) -> Mapping[str, tuple[str, ...]]:
    """Map each name to the functions that it means: `tan="tg tang"`; several are parted by `_or_`."""
    return {name: tuple(instead.split("_or_")) for instead, own in names.items() for name in own.split()}


SAME_NAMES: Mapping[str, tuple[str, ...]] = _by_name(
    abs="dabs iabs",
    atan="arctg arctang datan",
    atan2="datan2",
    cos="dcos",
    cosh="ch",
    cot="ctg cotg cotan cotangent",
    csc="cosecant",
    exp="dexp",
    lgamma="lngamma lnGamma",
    log="dlog alog",
    log10="dlog10 alog10",
    log2="lb ld",
    logsumexp="lse log_sum_exp",
    mean="average avg",
    l1_loss="mae MAE",
    mse_loss="mse MSE",
    binary_cross_entropy="bce BCE BCELoss",
    binary_cross_entropy_with_logits="BCEWithLogits BCEWithLogitsLoss bce_with_logits",
    cross_entropy="CE ce crossentropy CrossEntropy CrossEntropyLoss",
    kl_div="KLDivLoss",
    ndtr="normcdf pnorm",
    ndtri="probit",
    norm="frob",
    reciprocal="recip",
    sec="secant",
    sigmoid=f"logistic {chr(0x3C3)}",
    sign="sgn signum",
    sin="sen seno dsin",
    sinh="sh",
    sqrt="dsqrt",
    tan="tg tang dtan",
    tanh="th dtanh",
)
"""Names that functions have elsewhere."""

NEAR_NAMES: Mapping[str, tuple[str, ...]] = _by_name(
    cholesky="chol",  # which is the upper one in MATLAB
    eigvalsh="eig eigvals eigenvalues",
    cosine_similarity="cos_sim cossim",
    huber_loss="huber",
    scaled_dot_product_attention="attention sdpa",
    log10_or_log2="lg",
    ndtr="phi Phi",
    norm="l2 L2 norm_2 vecnorm",
    reciprocal="inv_pos",
    sigmoid="sigma",
    square="sqr",  # which is the root in Basic
)
"""Names whose meaning is near only, depends on who writes, or holds for some arguments."""

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {**SAME_NAMES, **NEAR_NAMES}
"""All of these names, with the functions."""

SAME_CALLS: Mapping[str, str] = {
    "logspace": "(10**linspace({all}))",
    **dict.fromkeys(("exp10", "pow10"), "10**({0})"),
    "sinpi": "sin(pi*({0}))",
    "cospi": "cos(pi*({0}))",
    "cube": "({0})**3",
    "rmse": "sqrt(mse_loss({0}, {1}))",
    "RMSE": "sqrt(mse_loss({0}, {1}))",
    "l1": "l1_loss({0}, {1})",
    **dict.fromkeys(("ifelse", "iif", "IF", "cond", "piecewise"), "where({0}, {1}, {2})"),
    "trigamma": "polygamma(1, {0})",
    **dict.fromkeys(("sum_squares", "sumsq"), "sum(({0})**2)"),
    "versin": "(1 - cos({0}))",
    **dict.fromkeys(("hav", "haversin"), "sin(({0})/2)**2"),
    "normpdf": "(exp(-({0})**2/2)/sqrt(2*pi))",
    "betaln": "(lgamma({0}) + lgamma({1}) - lgamma(({0}) + ({1})))",
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
    "sind": "sin(pi/180*({0}))",
    "cosd": "cos(pi/180*({0}))",
    "tand": "tan(pi/180*({0}))",
    **{f"{name}d": f"(180/pi*{name}({{all}}))" for name in ("asin", "acos", "atan", "atan2")},
    **dict.fromkeys(("opnorm", "spectral_norm"), "matrix_norm({0}, 2)"),
    **dict.fromkeys(("sigma_max", "largest_singular_value"), "svdvals({0})[0]"),
}
"""Functions from elsewhere, as expressions of what is in their parentheses."""

NEAR_CALLS: Mapping[str, str] = {
    "entropy": "sum(entr({0}))",
    **dict.fromkeys(("hinge", "hinge_loss"), "relu(1 - ({0})*({1}))"),
    **dict.fromkeys(("layernorm", "LayerNorm"), "((({0}) - mean({0}))/sqrt(var({0}, correction=0) + 1e-5))"),
    **dict.fromkeys(("rmsnorm", "RMSNorm"), "(({0})/sqrt(mean(({0})**2) + 1e-6))"),
    **dict.fromkeys(("gamma", "Gamma", "Γ"), "exp(lgamma({0}))"),
    "factorial": "exp(lgamma({0} + 1))",
    "heaviside": "heaviside({0}, 0.5)",
    **dict.fromkeys(("Heaviside", "step", "Θ"), "where({0} > 0, 1, 0)"),
    "beta": "exp(lgamma({0}) + lgamma({1}) - lgamma(({0}) + ({1})))",
    **dict.fromkeys(
        ("nchoosek", "binom", "comb", "binomial"),
        "exp(lgamma({0} + 1) - lgamma({1} + 1) - lgamma({0} - ({1}) + 1))",
    ),
    **dict.fromkeys(
        "lambda_max λ_max eigmax lambdamax max_eig max_eigenvalue largest_eigenvalue".split(), "eigvalsh({0})[-1]"
    ),
    **dict.fromkeys(
        "lambda_min λ_min eigmin lambdamin min_eig min_eigenvalue smallest_eigenvalue".split(), "eigvalsh({0})[0]"
    ),
    **dict.fromkeys(("gammainc", "igamma"), "(1 - gammaincc({all}))"),
    "t": "({0}).T",  # where it is no factor
}
"""Functions that are this for some arguments only, such as symmetric matrices, or for some who write."""

CALLS: Mapping[str, str] = {**SAME_CALLS, **NEAR_CALLS}
"""All of these functions."""


def _normal(signs: str) -> str:
    return unicodedata.normalize("NFKC", signs).replace("⁄", "/").replace("−", "-")


def _power(found: re.Match[str]) -> str:
    return f"{found['name']}({calls.inside(found['argument'])})**{_normal(found['power'])}"


_OF_RECIPROCAL = {"cot": "atan", "sec": "acos", "csc": "asin"}


def _inverse(found: re.Match[str]) -> str:
    name = found["name"]
    if name in _OF_RECIPROCAL:
        return f"{_OF_RECIPROCAL[name]}(1/({calls.inside(found['argument'])}))"
    return f"{_INVERSES.get(name, name)}({calls.inside(found['argument'])})"


def _neighbours(found: re.Match[str]) -> str:
    """Write a sum over neighbouring elements, `\\sum_{i=1}^{n-1} (x_{i+1} - x_i)^2`, by those after and before."""
    index, body = found["index"], found["body"]
    is_after = (found["first"], found["last"].replace(" ", ""), found["by"]) in (("1", "n-1", "+1"), ("0", "n-2", "+1"))
    is_before = (found["first"], found["last"], found["by"]) in (("2", "n", "-1"), ("1", "n-1", "-1"))
    if (not is_after and not is_before) or {*re.findall(rf"_\{{{index}([-+]\d+)\}}", body)} != {found["by"]}:
        return found[0]
    here, beside = ("[:-1]", "[1:]") if is_after else ("[1:]", "[:-1]")
    own = re.compile(rf"_(?:{index}(?![^\W\d])|\{{{index}\}})")
    return f"sum({own.sub(here, body.replace(f'_{{{index}' + found['by'] + '}', beside)).strip()})"


def _thousands(found: re.Match[str]) -> str:
    return found[0].replace(",", "")


def _rates(found: re.Match[str]) -> str:
    """Write a system of equations, `x' = v; v' = -x`, as the list of its right sides."""
    equations = filter(None, map(str.strip, found[0].replace("\n", ";").split(";")))
    return f"[{', '.join(one.partition('=')[2].strip() for one in equations)}]"


def _matrix(found: re.Match[str]) -> str:
    rows = [re.sub(r"[\s,]+", ",", row.strip()) for row in found["rows"].split(";")]
    return f"[{','.join(f'[{row}]' for row in rows)}]"


def _plain(found: re.Match[str]) -> str:
    return _normal(found[0])


def _listed(found: re.Match[str]) -> str:
    """Write a list of what commas part outside of all brackets, `sin(x), x`; any other text stays."""
    depths = itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in found["all"])
    is_parted = any(sign == "," and depth == 0 for sign, depth in zip(found["all"], depths, strict=True))
    return f"[{found['all']}]" if is_parted else found["all"]


_CHOOSE = r"exp(lgamma(\1 + 1) - lgamma(\2 + 1) - lgamma(\1 - \2 + 1))"

_PLAIN = r"\s*((?:[^(),]|\([^()]*\))+?)\s*"
"""An argument, with calls in it."""

_RATE = r"(?:d[^\W\d]\w*/dt|[ẋẏżẍÿ]|[^\W\d]\w*(?:'|\u2032|\u0307)+)\s*"
"""Left side of an equation of a system."""

_REDUCED = "mean|sum|prod|std|var|median|softmax|norm|logsumexp"
"""Functions of a vector, to which its elements may be given one by one."""

_WHOLE_SIGN = r"(?:\\|\b|(?=[∑∏]))(?P<sign>sum|prod|∑|Σ|∏|Π)"
"""Sign of a sum, or of a product, before its index."""

BARE_SUM = _near(
    r"(?<![\w@ᵀ'])(?<!\^T)(?<![@ᵀ'] )(?<!\^T )(?<!tr\()(?<!trace\()(?:Σ\s+|∑\s*)(?=[\w√‖|])"
    r"(?P<body>(?:(?:\^|\*\*|[*/])\s*-|[^-+()\[\],;=<>Σ∑]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\[\]]*\])+)",
    calls.summands,
)
"""A sum without brackets or bounds, `-Σ p ln p`; not the matrix of `xᵀ Σ x`."""

TEXTS: tuple[Spelling, ...] = (
    *(Spelling(re.compile(found, re.DOTALL), (instead,), is_sure) for found, instead, is_sure in ON_PAPER),
    _same(r"^\s*=(?!=)\s*(?P<formula>(?:[^=]|(?<=[<>])=)+)$", calls.cells),
    _same(r"^(.*Σ\[(?P<index>[a-z])=[^\[\]]*\])\s*(?P<body>.+)$", calls.bodies),
    _same(r"\\begin\{[bpv]?matrix\}(.*?)\\end\{[bpv]?matrix\}", calls.columns),
    _same(rf"^\s*(?:{_RATE}=(?!=)[^;=\n]+[;\n]\s*)+{_RATE}=(?!=)[^;=\n]+;?\s*$", _rates),
    _same(r"^(.*?\b(\w+)\s*=(?!=).*?)[;\n]\s*d\2\s*/\s*d\w+\s*$", r"\1"),  # y = x^2; dy/dx
    _same(r"^\s*\$+(.*?)\$+\s*$", r"\1"),
    _same(r"\frac" + _BRACED + _BRACED, r"((\1)/(\2))"),  # where a shell has read \f
    _same(
        r"(?<![\w.])(?P<name>[Ss]um|nsum|[Pp]rod(?:uct)?)[(\[](?P<body>[^;]+),\s*[({]?\s*(?P<index>[^\W\d]\w*)\s*,\s*"
        r"(?P<first>\d+)\s*,\s*(?P<last>\d+)\s*[)}]?\s*[)\]](?:\.doit\(\)|\.evalf\(\))?",
        calls.summed,
    ),
    _same(
        r"\\(?P<name>sum|prod)\s*_\s*\{\s*(?P<index>[^\W\d]\w*)\s*=\s*(?P<first>\d+)\s*\}\s*\^\s*\{?(?P<last>\d+)\}?"
        r"\s*(?P<body>(?:\\[dt]?frac\s*\{[^{}]*\}\{[^{}]*\}|[^\s+\-=])+)\s*$",
        calls.summed,
    ),
    _same(
        rf"{_WHOLE_SIGN}_\{{?(?P<index>[a-z])\}}?\s*(?P<body>\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))\s*$", calls.whole
    ),
    _same(
        r"(?P<a>[^\W\d]\w*)\s*[·•⋅∙]\s*(?P<b>[^\W\d]\w*)\s*/\s*(?P<open>\()?\s*\|\s*(?P=a)\s*\|\s*[*·•⋅∙]?\s*\|\s*(?P=b)\s*\|"
        r"\s*(?(open)\))",
        r"sum(\g<a>*\g<b>)/(norm(\g<a>)*norm(\g<b>))",
    ),
    _near(r"\|\s*(\w+)\s*\|\s*\|\s*(\w+)\s*\|", r"(norm(\1)*norm(\2))", r"(abs(\1)*abs(\2))"),
    _same(r"(?<=[\w)\]])\s*\|([^|]+)\|(?=\s*(?:$|[-+*/^),;²³]))", r"*|\1|"),
    _same(r"(?<![\w.])(?:nthroot|surd|real_root|realroot|root)\(((?:[^(),]|\([^()]*\))+),\s*(\d+)\s*\)", calls.root),
    _same(
        r"(?<![\w.])(?:torch\.)?nn\.(?P<name>[A-Z]\w+)\((?P<options>(?:[^()]|\([^()]*\))*)\)"
        r"\((?P<given>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)",
        calls.functional,
    ),
    _same(
        r"(?<=[(,])\s*(?P<given>[^(),]+(?:\([^()]*\))?),(?P<options>[^()]*?)\s*inplace\s*=\s*(?P<truth>True|False)\s*(?=[,)])",
        calls.out_of_place,
    ),
    _same(r",\s*(?:size_average|reduce)\s*=\s*True\s*(?=[,)])", ""),
    _same(r"(?<=[,(])(\s*)size_average\s*=\s*False\s*(?=[,)])", r"\1reduction='sum'"),
    _same(r"(?<=[,(])(\s*)reduce\s*=\s*False\s*(?=[,)])", r"\1reduction='none'"),
    _same(r"(?<=\bfor )\s*([^\W\d]\w*)\s*(?:in|=|∈)\s*(\d+)(?::|\.\.)(\d+)", calls.integers),
    _same(
        r"^\s*(?:(?:[^\W\d]\w*\s*(?:['′\u0307])|\\dot\s*\{?\s*[^\W\d]\w*\s*\}?|d[^\W\d]\w*\s*/\s*dt)\s*=(?!=)[^=;,]+"
        r"(?:[;,]\s*|$)){2,}\s*$",
        calls.right_sides,
    ),
    _same(r"(?<![\w.])(?:jnp|jax\.numpy|cp|cupy|autograd\.numpy|anp)\s*\.\s*(?=[a-z])", "np."),
    _same(
        r"(?<![\w.])(?:jax\.nn|jnn)\s*\.\s*(?=(?:relu|sigmoid|softplus|tanh|silu|elu|log_sigmoid|softmax|log_softmax)\b)",
        "F.",
    ),
    _same(r"(?<![\w.])jax\.scipy\.", "scipy."),
    _same(r"(?<![\w.])(?:scipy\.constants|constants)\.(\w+)", calls.constant),
    _near(r"(?<![\w.])(?:torch\.)?nn\.Linear\([^()]*\)\((?P<given>[^()]+)\)", calls.layer),
    _same(
        r"(?<![\w.])tf\.(?:math\.|nn\.)?(?:reduce_(?=(?:sum|mean|prod|max|min|logsumexp)\()"
        r"|(?=(?:square|sigmoid|tanh|relu|softplus|exp|log|sqrt|abs|sin|cos|pow|maximum|minimum)\())",
        "",
    ),
    _near(r"(?<![\w.])(?:torch\.)?nn\.(?P<name>[A-Z]\w+)\((?P<options>)(?P<given>[^()]+)\)(?!\s*\()", calls.functional),
    _near(r"\bcosine_similarity\(([^(),]+),([^(),]+)\)", r"cosine_similarity(\1,\2, dim=0)"),
    _same(
        rf"(?<![\w.])(?:Math|cmath|std|tf\.math|tf|numpy\.lib\.scimath|mp|mpmath)\s*(?:\.|::)\s*(?=(?:{_ELEMENTARY}|abs|pow)\b)",
        "math.",
    ),
    _same(r"(?<![\w.])d?sign\(((?:[^(),]|\([^()]*\))+,(?:[^(),]|\([^()]*\))+)\)", r"copysign(\1)"),
    _same(
        r"\\?(?:sum|∑|Σ)_\{(?P<index>[a-z])\s*=\s*(?P<first>[012])\}\s*\^\s*\{?(?P<last>n(?:\s*-\s*[12])?)\}?\s*"
        r"(?P<body>.*?_\{(?P=index)(?P<by>[-+]1)\}.*)$",
        _neighbours,
    ),
    _near(
        r"\\?(?:sum|∑|Σ)_?\{?\(?(?P<index>[a-z])\s*=\s*(?P<first>\w+)[)}]?\s*\^\s*\{?(?P<last>\w+)\}?\s*(?P<body>.+)",
        calls.indexed,
    ),
    _same(r"\bsum\((?P<body>[^,]+),\s*(?P<index>[a-z])\s*=\s*(?P<first>\d+)\.\.(?P<last>\d+)\)", calls.indexed),
    _same(
        r"\b(?P<name>prod(?:uct)?)\((?P<body>[^,]+),\s*(?P<index>[a-z])\s*=\s*(?P<first>\d+)\.\.(?P<last>\d+)\)",
        calls.summed,
    ),
    _same(
        r"\b(?P<name>sum|prod(?:uct)?)\(\s*(?P<index>[a-z])\s*=\s*(?P<first>\d+)\.\.(?P<last>\d+)\s*,(?P<body>.+)\)\s*$",
        calls.summed,
    ),
    _same(
        r"\b(?P<name>[Ss]um|[Pp]roduct)\s+(?:from|over)\s+(?P<index>[a-z])\s*=\s*(?P<first>\d+)\s*(?:to|\.\.)\s*"
        r"(?P<last>\d+)\s+(?:of\s+)?(?P<body>.+)$",
        calls.summed,
    ),
    _near(rf"(?<![\w.])({_REDUCED})\(([-+\w.]+(?:\s*,\s*[-+\w.]+)+)\)", r"\1([\2])"),
    _near(r"^\s*([^=;\[\]]+(?:;[^=;\[\]]+)+)\s*$", calls.expressions),
    _near(r"\bsum\((?P<body>[^,]+),\s*(?P<index>[a-z])\s*=\s*1\.\.n\)", calls.whole),
    _near(rf"{_WHOLE_SIGN}_\{{?(?P<index>[a-z])\}}?\s*(?P<body>.+)", calls.whole),
    _near(r"(?P<sign>[ΣΠ∑∏])\s*(?P<body>[^\W\d]+_\{?(?P<index>[a-z])(?![a-zA-Z]).*)", calls.whole),
    _same(
        rf"\b(?P<name>sinh?|cosh?|tanh?|cot|sec|csc)\s*(?:⁻¹|(?:\^|\*\*)\s*[({{]?-\s*1[)}}]?)\s*{ARGUMENT}",
        _inverse,
        lambda found: f"1/{found['name']}({calls.inside(found['argument'])})",
    ),
    _same(r"(\|\||‖|[^\W\d]\w*)\s*(?:\^|\*\*)\s*(\d+)_(\d+|inf|∞|F)(?!\w)", r"\1_\3^\2"),
    _same(r"(?<!\|)\|([^|]+)\|_\{?(\d|inf|∞|F)\}?(?!\w)", r"||\1||_\2"),
    _same(rf"\blog_\{{?(?P<base>\d+|[a-z])\}}?\s*{ARGUMENT}", calls.log_of_base),
    _same(rf"\bif\s*\({_PLAIN},{_PLAIN},{_PLAIN}\)", r"where(\1, \2, \3)"),
    _same(rf"(?<![\w.])(min|max)\({_PLAIN},\s*([-+]?\d[\d.]*)\s*\)", r"\1imum(\2, \3)"),
    _same(r"(?<=[\w)\]])\s+dot\s+(?=[\w(\[])", " @ "),
    _near(r"(?<![\w.])([^\W\d]\w*)\s+cross\s+([^\W\d]\w*)", r"cross(\1, \2)"),
    _near(r"(?<![\w.])([^\W\d])\.(?!T\b)([^\W\d])(?!\w)", r"\1 @ \2"),
    _near(r"\^\{?T\}?(?=[^\W\d_])", "^T "),
    _near(r"(?<![\w.])transpose\(\s*([^\W\d]\w*)\s*\)", r"\1^T"),
    _near(r"\bsum\((?P<body>.+),\s*(?P<index>[a-z])\)", calls.over_all),
    _near(r"\)_\{?(\d+)\}?(?!\w)", r")[\1]"),
    _same(rf"(?<![a-zA-Z_])({_ELEMENTARY})\s*(\|[^|]+\|)(?!\s*(?:\^|\*\*|[²³]))", r"\1(\2)"),
    _near(rf"(?<![a-zA-Z_])({_ELEMENTARY})\s*(\|[^|]+\|)\s*((?:\^|\*\*)\s*\d+|[²³])", r"\1(\2\3)", r"\1(\2)\3"),
    _same(r"√\s*(\|[^|]+\|)", r"sqrt(\1)"),
    _same(rf"\b(?P<name>{_ELEMENTARY})\s*(?:\^|\*\*)\s*\{{?\s*(?P<power>\d+)\s*\}}?\s*{ARGUMENT}", _power),
    _same(rf"\b(?P<name>{_ELEMENTARY})(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)\s*{ARGUMENT}", _power),
    _same(r"\bPiecewise\[\{\{([^{},]+),([^{},]+)\}(?:,\s*\{([^{},]+),[^{}]*\})?\}\]", r"where(\2, \1, 0)"),
    _same(r"\b([A-Z][a-z]+[A-Za-z]*)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", calls.mathematica),
    _near(r"\bjax\.nn\.gelu\(([^()]*)\)", r"gelu(\1, approximate='tanh')"),
    _near(r"\b(?:Math|cmath|(?:jax|keras|mxnet|theano)(?:\.\w+)*|jnp|tf(?:\.\w+)?|mx|cp|K|std)\s*\.\s*(?=[a-z])", ""),
    _same(r"^\s*(?P<if>[^?]+?)\s*\?\s*(?P<a>[^:]+?)\s*:\s*(?P<b>.+?)\s*$", r"\g<a> if \g<if> else \g<b>"),
    _same(
        r"^\s*if\s+(?P<if>.+?)\s*(?:then|:)\s*(?P<a>.+?)\s*;?\s*else\s*:?\s*(?P<b>.+?)\s*$",
        r"\g<a> if \g<if> else \g<b>",
    ),
    _same(r"^\s*(?:\(?\s*[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*\s*\)?)\s*(?:→|↦|->|=>)\s*(.+)$", r"\1"),
    _same(r"^\s*(?:\w+\s*=\s*)?(?:@|function\s*)\([^()]*\)\s*\{?\s*(?:return\s+)?([^;]+?)\}?\s*;?\s*$", r"\1"),
    _same(r"^\s*\w+\s*=\s*lambda\s+[^:]*:\s*(.+)$", r"\1"),
    _same(r"^\s*return\s+(.+)$", r"\1"),
    _near(r"^\s*d([^\W\d]\w*)\s*/\s*d[^\W\d]\w*\s*=(?!=)\s*(.+)$", r"\2"),
    _near(
        r"^\s*(?:\\d?dot\s*\{?\s*[^\W\d]\w*\s*\}?|[^\W\d]\w*[\u0307\u0308'′″]+(?:\(\s*[^\W\d]\w*\s*\))?)\s*=(?!=)\s*(.+)$",
        r"\1",
    ),
    _near(r"(?<![\w.])dot\(", "matmul("),
    _near(r"\.dot\(", ".matmul("),
    _same(r"^\s*[\"'“”„‘’«»`](.*)[\"'“”„‘’«»`]\s*$", r"\1"),
    _same("[“”„‟‘’‚«»`]", ""),
    _same("[−–—‐‑]", "-"),
    _same(r"^\s*\{([^{}]*:[^{}]*)\}\s*$", calls.pieces),
    _same(r"(?<![\w.])(\d+\.?\d*|\.\d+)[dD]([-+]?\d+)\b", r"\1e\2"),
    _same(r"[Σ∑]\s*(\((?:[^()]|\([^()]*\))*\))\s*(²|³|(?:\^|\*\*)\s*\d+)?", calls.squares),
    _same(
        r"\b(?:[sS]um|summation)[(\[](?P<body>.+?),\s*[({]?\s*(?P<index>[a-z])\s*,\s*(?P<first>\d+)\s*,\s*(?P<last>\d+)\s*[)}]?[)\]]",
        calls.indexed,
    ),
    _same(r"[\"']([^\W\d]\w*(?:\W+\w+)+)\W*[\"']", lambda found: re.sub(r"\W+", "_", found[1])),
    _same(r"(?<=[^\W\d])(?<!sum)(?<!prod)(?<![ΣΠ∑∏])_\{\s*([a-zA-Z]{2,}|\d+)\s*\}", r"_\1"),
    _near(r"([^\W\d]\w*)(?<!_)\{(\d+)\}", r"\1[\2]"),
    _same(r"\{(?P<branches>[^{}]+\b(?:if|otherwise|else)\b[^{}]*)\}", calls.branches),
    _same(r"(?<!_)\{([^{},]*)\}", r"(\1)"),
    _same(r"(?<!_)\{([^{}]*,[^{}]*)\}", r"[\1]"),
    _same(r"\s+mod\s+", " % "),
    _near(r"(?<=[\w)\]])\s+over\s+(?=[\w(])", "/"),
    _same(r"&&", "&"),
    _same(r"\|\|", "|"),
    _same(r"===?", "=="),
    _near(r"=>", ">="),
    _near(r"=<", "<="),
    _same(r"<>|!==", "!="),
    _same(r":=", "="),
    _near(r"≈", "="),
    _same(r"\\sqrt\s*\[\s*3\s*\]\s*" + _BRACED, r"cbrt(\1)"),
    _same(r"\\sqrt\s*\[\s*(\d+)\s*\]\s*" + _BRACED, r"((\2)^(1/\1))"),
    _same(r"∛\s*" + ARGUMENT, r"cbrt(\g<argument>)"),
    _same(r"\b0(?:[xX][\da-fA-F]{1,16}|[bB][01]{1,64}|[oO][0-7]{1,21})\b", lambda found: str(int(found[0], 0))),
    _same(r"(\d[\d.]*|[^\W\d]\w*|\([^()]*\))\s*(?:°|degrees?\b|deg\b)", r"(\1*pi/180)"),
    _same(r"(\d[\d.]*)\s*(?:radians?|rad)\b", r"\1"),
    _same(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,])", _thousands, lambda found: found[0].replace(",", ".", 1)),
    _near(r"(?<!ones\(\d)(?<!zeros\(\d)(?<!eye\(\d)(?<=\d),(?=\d)", "."),
    _near(r"(?<=\d)[’' _](?=\d{3})", ""),
    _same(r"(?<![\w.])(\d+)!(?![=!])", calls.factorial),
    _near(CALLED, written_out),
    _near(r"([^\W\d]\w*|\d*\.\d+|\([^()]*\))!(?![=!])", calls.factorial),  # below -1 the sign is another one
    _same(r"(?<![\w.])(?:math\.|scipy\.special\.|sp\.)?factorial\(\s*(\d+)\s*\)", calls.factorial),
    _same(
        r"(?<![\w.])(?:math\.|scipy\.special\.|sp\.)?(?:nchoosek|binom|binomial|comb|choose|Binomial|nCr|nCk)[(\[]\s*(\d+)\s*,"
        r"\s*(\d+)\s*[)\]]",
        calls.binomial,
    ),
    _same(r"\\[dt]?binom\s*\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}", calls.binomial),
    _same(r"\be\s*\^\s*(?=[-+({\w])", "E^"),
    _near(r"(?<=\d)\s*%", "/100"),
    _same(r"[½⅓⅔¼¾]", lambda found: f"({_plain(found)})"),
    _same(r"[\u2070-\u207f\u2080-\u2089\uff00-\uffef\u00a0\u2000-\u200a]", _plain),
    _same(r"[\u200b-\u200f\ufeff]", ""),
    _same(r",\s*(?=[^\W\d]\w*\s*=[^=])", "; "),
    _same(r"^(?P<all>[^()\[\]]+,[^()\[\]]+)$", r"[\g<all>]"),
    _same(r"^(?P<all>.+\(.*\)\s*,.+)$", _listed),
    _same(r"\s*(?:\.\.\.|…|;|,)\s*$", ""),
)
"""Spellings of expressions and formulas."""

SIGNED = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
"""A number with its sign."""

VALUES: tuple[Spelling, ...] = (
    _same(r"^\s*[<({|]\s*([^<>(){}|]*?)\s*[>)}|]\s*$", r"[\1]"),
    _near(r"^\s*\[?(?P<rows>[^;\[\]]*[^;\[\]\s][\s,]+[^;\[\]]*(?:;[^;\[\]]+)+)\]?\s*$", _matrix),
    _same(
        r"^\s*(?P<all>[-+]?\d{1,3}(?:,\d{3})+)\s*$",
        lambda found: found["all"].replace(",", ""),
        lambda found: re.sub(r",0+(?=\d)", ",", found["all"]),
    ),
    _near(r"[|;]", ","),
    _same(r"^\s*(\S+(?:\s+\S+)*)\s*$", lambda found: re.sub(r"[\s,]+", ",", found[1])),
    _same(r"(?<![\w.])e(?![\w.(])", "E"),
    _same(r"(?i)\b(nan|inf)(?:inity)?\b", lambda found: found[1].lower()),
    _same(r"(?i)\btrue\b", "1"),
    _same(r"(?i)\bfalse\b", "0"),
    _same(r"^\s*(?:==|->|→|=|:|is)\s*(?=[-+\d.\[])", ""),
    _same(r"^\s*([-+\d.eE]+)\s*:\s*([-+\d.eE]+)\s*$", r"arange(\1, \2)", r"arange(\1, \2 + 1)"),
    _same(rf"^\s*({SIGNED})\s*:\s*({SIGNED})\s*:\s*({SIGNED})\s*$", calls.from_by_to, calls.from_to_by),
    _near(r"^\s*([-+\d.eE]+)\s*(?:\.\.|…|to)\s*([-+\d.eE]+)\s*$", r"arange(\1, \2 + 1)", r"linspace(\1, \2, 5)"),
    _near(r"^\s*(ones|zeros|randn|rand)\s*$", r"\1(3)"),
    _same(r"\b(?:x?range)\(", "arange("),
    _same(rf"\b({_ELEMENTARY})\s*(\d[\d.]*)(?![\w(])", r"\1(\2)"),
    _same(r"(?<=[\d.])[dD]([-+]?\d+)\b", r"e\1"),
    _same(r"(?<=\d)[fF]\b", ""),
    _near(r"(?<=\d)\s*%", "/100"),
    _near(r"(?<=[\d.])\s*±\s*[\d.]+", ""),
    _near(r"(?<![\w.])(\d*\.\d+)\((\d+)\)", r"\1", r"\1*\2"),
    _near(rf"^\s*({SIGNED})\s*[–—]\s*({SIGNED})\s*$", r"\1-\2"),
    _same(r"(?<=[\d.])\s*[×x*]\s*10\s*\^?\s*\{?([-+]?\d+)\}?", r"e\1"),
    _same(r"(?<=[\d.])\s*[×x*]\s*10([⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: f"e{_normal(found[1])}"),
    _same(r"(?<=[\d.])\s*(?:degrees?|degs?)\b", "*pi/180"),
    _same(r"(?<=[\w.)])\s*(?:radians?|rads?)\b", ""),
    _near(r"^.*$", lambda found: in_si(found[0]) or found[0]),
    _near(r"\bone\b(?!\()", "ones"),
    _same(r",\s*(?:device|requires_grad|dtype)\s*=\s*[^,()]+", ""),
    _same("[−–—‐‑]", "-"),
    _same(r"^\s*'(.*)'\s*$", r"\1"),
    _same(r"[“”„‟‘’‚«»`\"]|(?<![^\W\d)])'", ""),  # and not y', a derivative
    _near(r"(?<=\d)[’' _](?=\d{3})", ""),
    _near(r",(?:\s*,)+", ","),
    _near(r"^\s*,|,\s*$", ""),
)
"""Spellings of values."""
