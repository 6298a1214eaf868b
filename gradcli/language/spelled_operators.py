"""What rows of spellings write for cases in a brace, moduli of complex numbers and divergences of distributions.

Each function takes the match of a row of `gradcli.language.spellings`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradcli.language.text.signs import parted

CASES = (
    r"(?P<left>(?:[^\W\d]\w*\s*(?:\([^()]*\))?\s*=\s*)?)(?:\\left)?\s*"
    r"(?:\\?\{\s*\\begin\{(?P<array>array)\}\s*(?:\{[lcr|]*\})?(?P<rows>.*?)\\end\{array\}(?:\s*\\right\s*\.)?"
    r"|\\begin\{(?P<kind>d?cases)\}(?P<pieces>.*?)\\end\{d?cases\}|\{(?P<braced>[^{}]*)\})"
)
"""Pattern of a function by cases, in braces or in LaTeX."""

_OTHERWISE = r"(?:otherwise|elsewhere|else)"
_CONDITION = re.compile(r"[<>=≤≥≠]|\\(?:leq?|geq?|neq?|lt|gt)\b")
_OPPOSITES = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def cases(found: re.Match[str]) -> str:
    """Write a function by cases, `{ x^2, x < 1; 2x - 1, x >= 1 }`, with `where`; as typed if that is none.

    >>> cases(re.match(CASES, "{ x^2, x < 1; 2x - 1, x >= 1 }"))
    'where(x < 1, x^2, 2x - 1)'
    >>> cases(re.match(CASES, "f(x) = {0, x < 0; x, 0 <= x <= 1; 1, x > 1}"))
    'f(x) = where(x < 0, 0, where((0 <= x) & (x <= 1), x, where(x > 1, 1, nan)))'
    """
    whole = next(found[name] for name in ("rows", "pieces", "braced") if found[name] is not None)
    pieces = [one for one in re.split(r"\\\\?(?=\s|$)|;|\n", whole) if one.strip(" ,")]
    if len(pieces) == 1:
        values = [*filter(None, parted(whole))]
        pieces = [", ".join(values[n : n + 2]) for n in range(0, len(values), 2)]
    written = _chosen([*map(_piece, pieces)])
    return found[0] if written is None else f"{found['left']}{written}"


def alternatives(found: re.Match[str]) -> str:
    """Write cases in words, `x^2 if x < 1, 2x - 1 otherwise`, with `where`; as typed if these are none."""
    written = _chosen([_piece(one) for one in re.split(r"[,;]\s*(?:and\s+|but\s+)?", found[0]) if one.strip()])
    return found[0] if written is None else written


def _chosen(pieces: list[tuple[str, str] | None]) -> str | None:
    """Write the first value whose condition holds; None without cases, or where one is not read."""
    known = [one for one in pieces if one is not None]
    if len(known) < max(2, len(pieces)) or any(not condition for _, condition in known[:-1]):
        return None
    *first, (value, condition) = known
    is_rest = not condition or (len(first) == 1 and _opposite(first[0][1]) == re.sub(r"\s", "", condition))
    other = value if is_rest else f"where({condition}, {value}, nan)"
    for value, condition in reversed(first):
        other = f"where({condition}, {value}, {other})"
    return other


def _piece(text: str) -> tuple[str, str] | None:
    """Part a case into its value and its condition, which is empty of all other cases; None of anything else."""
    plain = re.sub(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}", r" \1 ", text).replace("&", ",")
    plain = re.sub(r"\s*,[\s,]*", ", ", plain).strip(" ,.")
    if (rest := re.fullmatch(rf"(.+?)(?:,\s|\s){_OTHERWISE}|{_OTHERWISE}\s+(.+)", plain)) is not None:
        return rest[1] or rest[2], ""
    found = re.fullmatch(r"(.+?)(?:,\s|\s)(?:if|for|when)\s+(.+)", plain) or re.fullmatch(r"(.+?),\s(.+)", plain)
    if found is None or _CONDITION.search(found[2]) is None or _CONDITION.search(found[1]) is not None:
        return None
    return found[1], _condition(found[2])


def _condition(text: str) -> str:
    """Write a condition with the signs of the language, and one of a range as two."""
    plain = re.sub(r"\\leq?\b|≤|=<", "<=", re.sub(r"\\geq?\b|≥", ">=", re.sub(r"\\lt\b", "<", text)))
    plain = re.sub(r"(?<![<>=!])=(?!=)", "==", re.sub(r"\\gt\b", ">", re.sub(r"\\neq?\b|≠", "!=", plain)))
    parts = [one.strip() for one in re.split(r"(<=|>=|==|!=|<|>)", plain)]
    if len(parts) == 5:
        return f"({parts[0]} {parts[1]} {parts[2]}) & ({parts[2]} {parts[3]} {parts[4]})"
    return " ".join(parts)


def _opposite(condition: str) -> str:
    """Write the opposite of a comparison, without blanks; empty of two."""
    parts = condition.split(" ")
    signs = [one for one in parts if one in _OPPOSITES]
    return "".join(_OPPOSITES.get(one, one) for one in parts) if len(signs) == 1 else ""


_I = r"(?:1?[ij](?![a-zA-Z0-9_]))"
_TERM = r"(?:[^()|+\-]|\([^()]*\))+?"

MODULUS = (
    rf"(?:(?<![\w.])(?:np\.|torch\.)?abs\(|\|)\s*(?P<re>{_TERM})\s*[+-]\s*(?:{_I}\s*(?:\*\s*|\s)(?P<im>{_TERM})|"
    rf"(?P<before>{_TERM})\s*(?:\*\s*|\s){_I})\s*[)|]"
)
"""Pattern of the modulus of a complex number, `|R + i omega L|`."""


def modulus(found: re.Match[str]) -> str:
    """Write the modulus of a complex number by its parts."""
    return f"hypot({found['re'].strip()}, {(found['im'] or found['before']).strip()})"


DIVERGENCE = (
    r"(?<!\w)(?:D_?)?\{?(?:\\(?:text|mathrm)\s*\{)?KL\}*\s*(?:\\left\s*)?\(\s*(?P<p>[^\W\d]\w*)\s*"
    r"(?:\|\||\\\||‖|∥|\\parallel|\\Vert|[,;|])\s*(?P<q>[^\W\d]\w*)\s*(?:\\right\s*)?\)"
)
"""Pattern of the divergence of Kullback and Leibler of two distributions, `KL(p||q)`."""

_OPERAND = r"(?:[^\W\d]\w*|\d[\d.]*)"
PARALLEL = rf"(?<![\w<>=.|])(?P<one>{_OPERAND})\s*(?:\|\||∥)\s*(?P<other>{_OPERAND})(?!\s*[\w<>=(.|])"
"""Pattern of two resistances side by side, `R1 || R2`."""

_STATE = r"\\?[^\W\d]\w*"
_OPENING, _CLOSING = r"(?:⟨|\\langle\b)", r"(?:⟩|\\rangle\b)"
BRACKET = rf"{_OPENING}\s*(?P<bra>{_STATE})\s*\|\s*(?P<ket>{_STATE})\s*{_CLOSING}"
BRACKETS = rf"{_OPENING}\s*(?P<bra>{_STATE})\s*\|\s*(?P<operator>{_STATE})\s*\|\s*(?P<ket>{_STATE})\s*{_CLOSING}"
"""Patterns of an inner product of two states, and of a matrix element, `⟨ψ|H|ψ⟩`; numbers are real here."""

_DEFINED = r"[^\W\d]\w*\s*=(?!=)[^=;,]*[^\W\d][^=;,]*"
DEFINITIONS = (
    rf"^(?P<whole>[^=;]+?)\s*(?:,\s*)?\b(?:where|with)\s+(?P<parts>{_DEFINED}(?:(?:[,;]|\s+and)\s*{_DEFINED})*)$"
)
"""Pattern of an expression with definitions after it, `T - V where T = m v^2/2, V = m g h`."""


def definitions(found: re.Match[str]) -> str:
    """Write definitions before the expression that uses them, the last of them first."""
    parts = re.split(r"(?:[,;]|\s+and)\s*(?=[^\W\d]\w*\s*=)", found["parts"])
    return "; ".join((*(one.strip() for one in reversed(parts)), found["whole"].strip()))


_CALLED = "sinh?|cosh?|tanh?|a(?:rc)?(?:sin|cos|tan)h?|exp|ln|log|sqrt|max|min"

ON_PAPER: tuple[tuple[str, str | Callable[[re.Match[str]], str], bool], ...] = (
    (rf"^\s*{CASES}\s*$", cases, True),
    (r"^[^{}]*\{[^{}]*$", lambda found: re.sub(rf"^\s*{CASES}\s*$", cases, f"{found[0]}}}"), False),
    (r"^[^,;]+?\s(?:if|for|when)\s[^,;]+[,;].+$", alternatives, True),
    (MODULUS, modulus, False),
    (DEFINITIONS, definitions, True),
    (r"\\?log_\{(2|10)\}\s*(?=[({\\]|\b)", r" log\1 ", True),
    (r"\\?log_\{([^\W\d]\w*|\d+)\}\s*\(([^()]*)\)", r"(log(\2)/log(\1))", False),
    (r"\\?(?<![a-zA-Z])log_([a-z])\s*\(([^()]*)\)", r"(log(\2)/log(\1))", False),
    (rf"(?<![\w.])({_CALLED})\{{([^{{}}]*)\}}", r"\1(\2)", True),
    (PARALLEL, r"(\g<one>*\g<other>/(\g<one> + \g<other>))", False),
    (BRACKETS, r"(\g<bra> @ \g<operator> @ \g<ket>)", True),
    (BRACKET, r"(\g<bra> @ \g<ket>)", True),
    (DIVERGENCE, r"sum(\g<p>*log(\g<p>/\g<q>))", False),
)
"""Patterns, what stands in their place, and whether that says the same in other signs."""
