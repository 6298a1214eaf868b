r"""Short mathematics of one line, as the board has it, in LaTeX: `ȳ · 2·x²` as `\bar{y} \cdot 2 \cdot x^{2}`.

The line is made of names, numbers, signs and calls; what is none of these is set as text, so that it compiles too.
"""

from __future__ import annotations

import re
import unicodedata

from gradcli.notation.typesetting import name, number, text

_BARS = "\N{COMBINING MACRON}\N{COMBINING OVERLINE}"
_MARKS = "\u0300-\u036f"
_POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_NAME = rf"[^\W\d{_POWERS}ᵀ](?:[^\W{_POWERS}ᵀ]|[{_MARKS}])*"
_TOKEN = re.compile(
    rf"(?P<root>√{_NAME})|(?P<name>{_NAME})|(?P<number>[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)|(?P<power>[{_POWERS}]+|ᵀ|\.T\b)"
    r"|(?P<quoted>'[^']*'|\"[^\"]*\")|(?P<sign>\*\*|>=|<=|==|!=|.)",
    re.DOTALL,
)
_DIGITS = str.maketrans(_POWERS, "0123456789-")
_WORDS = frozenset(["and", "or", "not", "if", "else", "where", "otherwise"])
_SIGNS = {
    **{"·": r" \cdot ", "*": r" \cdot ", "@": r" \, ", "≥": r" \ge ", ">=": r" \ge ", "≤": r" \le ", "<=": r" \le "},
    **{"≠": r" \neq ", "!=": r" \neq ", "==": " = ", "∂": r"\partial ", "…": r" \dots ", "√": r"\surd "},
    **{"×": r" \times ", "π": r"\pi "},
    **{sign: sign for sign in "+-/=<>(),:;|"},
    **{"[": "{[}", "]": "{]}", " ": " "},
}


def mathematics(shown: str) -> str:
    r"""A line as mathematics.

    >>> mathematics("ȳ · 2·t1²"), mathematics("Aᵀ z̄"), mathematics("1/(2·√x)")
    ('\\bar{y} \\cdot 2 \\cdot \\mathit{t1}^{2}', 'A^{T} \\, \\bar{z}', '1/(2 \\cdot \\sqrt{x})')
    """
    parts: list[str] = []
    found = list(_TOKEN.finditer(unicodedata.normalize("NFD", shown)))
    for n, token in enumerate(found):
        after = found[n + 1][0] if n + 1 < len(found) else ""
        is_beside = n > 1 and found[n - 1][0] == " " and _is_operand(found[n - 2])
        if is_beside and token.lastgroup in ("name", "root") and token[0] not in _WORDS:
            parts.append(r"\, ")  # a product without a sign
        parts.append(_part(token, after, parts[-1] if parts else ""))
    return re.sub(" +", " ", "".join(parts)).strip()


def _is_operand(token: re.Match[str]) -> bool:
    return token.lastgroup in ("root", "name", "number", "power") and token[0] not in _WORDS


def _part(token: re.Match[str], after: str, before: str) -> str:
    word = token[0]
    match token.lastgroup:
        case "root":
            return rf"\sqrt{{{_name(word[1:])}}}"
        case "name" if after == "(" and word.isascii():
            return rf"\operatorname{{{text(word)}}}"
        case "name" if word in _WORDS:
            return rf"\text{{ {word} }}"
        case "name":
            return _name(word)
        case "number":
            return number(word)
        case "power":
            above = "T" if word in ("ᵀ", ".T") else word.translate(_DIGITS)
            is_bare = not before or before[-1] in " (,;:=+-/<>" or before.startswith(("^", "{}^"))
            return "{}" * is_bare + f"^{{{above}}}"
        case "quoted":
            return rf"\text{{{text(word)}}}"
    return _SIGNS.get(word, rf"\text{{{text(word)}}}")


def _name(word: str) -> str:
    bare = unicodedata.normalize("NFC", "".join(c for c in word if c not in _BARS))
    return bar(bare) if any(c in _BARS for c in word) else name(bare)


def bar(word: str) -> str:
    r"""The adjoint of what has this name.

    >>> bar("x"), bar("t1")
    ('\\bar{x}', '\\overline{\\mathit{t1}}')
    """
    return rf"\bar{{{name(word)}}}" if len(word) == 1 else rf"\overline{{{name(word)}}}"
