"""Derivatives in words and signs: `d/dx x^2`, `derivative of x^2 at 3`, `diff(x^2, x)`, `∂²(x*y)/∂x∂y`."""

from __future__ import annotations

import re

from gradcli.language.text.signs import compared, is_balanced, unwrapped

_PHRASE = re.compile(
    r"\s*(?:(?:(?:what\s+is|find|compute|calculate)\s+)?(?:the\s+)?"
    r"(?:(?P<second>second|2nd)?\s*(?P<noun>gradient|derivative|jacobian|hessian)\s+)?of"
    r"|differentiate|(?:\\?nabla|∇)(?!\s*(?:[²^*·×⋅∙]|\\cdot|\\times))(?:_\{?(?P<of>[^\W\d]\w*)\}?)?"
    r"|(?P<d>[d∂])\s*(?P<twice>\^\s*2|\*\*\s*2|²)?\s*[a-zA-Z]?\s*/\s*(?P=d)(?P<by>[^\W\d]\w*?)(?(twice)\s*(?:\^\s*2|\*\*\s*2|²)))"
    r"(?:\s+|(?=\())(?(d)(?:(?:of|for|if|where|when)\s+)?)(?P<function>[^\s*/^+=<>@.,;:!%&)\]-].*?)"
    r"(?:,?\s+(?:wrt|w\.r\.t\.?|with\s+respect\s+to)\s+(?P<wrt>[^\W\d]\w*))?"
    r"(?:\s+(?:at|for|where)\s+(?P<at>.+))?\s*",
    re.DOTALL,
)
_APPLIED = re.compile(
    r"\s*(?:(?:sp|sympy|jax|torch\.func|torch\.autograd\.functional)\s*\.\s*)?"
    r"(?:(?P<noun>jacobian|hessian)|[d∂D]|Dt|p?[dD]iff|[pP]artial|grad|gradient|[dD]eriv(?:ative)?|differentiate)\s*[(\[](?P<function>.+?)"
    r"(?:\)\s*/\s*[d∂](?P<over>[^\W\d]\w*)|(?:,\s*(?:[\[{]{1,2}(?P<all>(?!\s*\w+\s*,\s*\d)[^\[\]{}]*)[\]}]{1,2}|\{?(?P<by>[^\W\d]\w*)(?:(?P<twice>\s*,\s*(?:(?P=by)|2))|\s*,\s*(?P<other>[^\W\d]\w*))?\}?))?\s*[)\]])\s*",
    re.DOTALL,
)
_LATEX = re.compile(
    r"\s*(?:\\|\f)?d?frac\{(?P<d>\\partial|d)(?P<twice>\^\{?2\}?)?(?:\s*[a-zA-Z])?\}\{(?P=d)\s*(?P<by>[^\W\d]\w*?)"
    r"(?(twice)\^\{?2\}?)\}\s*(?P<function>.+)",
    re.DOTALL,
)
_METHOD = re.compile(
    r"\s*(?:Matrix\((?P<list>\[.+\])\)|(?P<function>.+?)(?<!functional)(?<!func)(?<!jax))\.(?P<noun>jacobian|hessian|gradient|diff)"
    r"\(\s*\[?\s*(?P<by>[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)\s*\]?\s*\)\s*",
)
"""A derivative as a method, `Matrix([x*y, x + y]).jacobian([x, y])`."""

_OPERAND = r"[^\s*/^+=<>@.,;:!%&)\]-]"
"""First sign of a function after the sign of its derivative; another sign is an operator of a product."""

_QUOTIENT = re.compile(
    r"\s*(?P<d>[d∂])(?P<y>[^\W\d]\w*)\s*/\s*(?P=d)(?P<by>[^\W\d]\w*)(?:\s*[,:;]\s*(?:(?P=y)\s*=)?|\s+of\s+"
    rf"|\s+(?={_OPERAND})(?=.*(?P=by))|(?=\())(?P<function>.+)"
)
_TWICE = r"\s*(?:\^\s*\{?2\}?|\*\*\s*2|²)\s*"
_SECOND = re.compile(
    rf"\s*(?P<d>[d∂]){_TWICE}(?:(?P<inside>[(\[].+?[)\]])|[^\W\d]\w*)?\s*/\s*(?P=d)(?P<by>[^\W\d]\w*?)"
    rf"(?:{_TWICE}|\s*(?P=d)(?P<other>[^\W\d]\w*)\s*)(?(inside)(?P<claim>=.+?)?|(?:[,:;]\s*(?:\w+\s*=)?)?(?P<function>{_OPERAND}.+?))"
    r"(?:\s+(?:at|for|where)\s+(?P<at>.+))?\s*"
)
"""A second derivative, mixed or of a function that has a name: `∂²(x*y)/∂x∂y`, `d²f/dx² x^4`."""

_IN_BRACKETS = re.compile(r"^(\s*([d∂])\s*(?:\^?2|²)?\s*/\s*\2[^\W\d]\w*(?:\^2|²)?\s*)\[([^\[\],;]*)\](?=\s|$)")
"""The brackets of `d/dx [x^2]`, which are parentheses."""


def derivative(text: str, command: str) -> list[str] | None:
    """Return the words that ask for the derivative that a text asks for, or check what it claims; None for any other.

    Args:
        text: The words in the place of an expression.
        command: The command where the text names none.

    >>> derivative("d/dx x^2", "derivative"), derivative("diff(x*y, x)", "grad"), derivative("x^2", "grad")
    (['grad', 'x^2', '--wrt', 'x'], ['grad', 'x*y', '--wrt', 'x'], None)
    """
    for pattern in (_SECOND, _PHRASE, _APPLIED, _LATEX, _QUOTIENT):
        found = pattern.fullmatch(text)
        if found is None or (pattern is _APPLIED and not _is_one(found)):
            continue
        parts = _parts(found)
        by = parts["by"] or parts["wrt"] or parts["of"] or parts["over"] or parts["all"].replace(" ", "")
        at = parts["at"]
        noun = "hessian" if parts["twice"] or parts["other"] or parts["second"] else parts["noun"] or command
        noun = noun if noun in ("jacobian", "hessian", "vjp") else "grad"
        by = "" if parts["other"] else by
        point = ["--at", at if not by or "=" in at else f"{by}={at}"] if at else []
        point += ["--wrt", by] if by and (not at or "=" in at) else []
        function, *right = map(unwrapped, compared(unwrapped(parts["function"]), most=1).sides)
        is_claim = bool(right) and all(right) and not function.isidentifier() and noun != "hessian"
        if is_claim:
            return ["check", function, "--claim", right[0], *point]
        return [noun, right[0] if right and right[0] and noun != "hessian" else function, *point]
    return None


def _parts(found: re.Match[str]) -> dict[str, str]:
    """Return the parts of a derivative by their names, empty where the pattern has none."""
    parts = dict.fromkeys(
        ("noun", "by", "over", "all", "twice", "other", "at", "of", "wrt", "second"), ""
    ) | found.groupdict("")
    if found.re is _SECOND:
        parts |= {"twice": "2", "function": (parts["inside"] or parts["function"]) + parts["claim"]}
    return parts


def _is_one(found: re.Match[str]) -> bool:
    """Tell whether what is differentiated is one expression: its brackets balance, and no comma outside parts it."""
    text = found["function"]
    is_bare = not (found["by"] or found["over"] or found["all"])
    is_difference = is_bare and re.match(r"\s*(?:[d∂D]|[dD]iff)\s*[(\[]", found[0]) is not None
    return not (text.strip().isidentifier() or is_difference) and is_balanced(text)


def method(text: str) -> list[str] | None:
    """Return the words that ask for a derivative that is written as a method; None for any other text.

    >>> method("(x*y).diff(x)"), method("x*y")
    (['grad', 'x*y', '--wrt', 'x'], None)
    """
    if (found := _METHOD.fullmatch(text)) is None:
        return None
    named = "grad" if found["noun"] in ("diff", "gradient") else found["noun"]
    return [named, found["list"] or unwrapped(found["function"]), "--wrt", found["by"].replace(" ", "")]


def is_phrase(text: str) -> bool:
    """Tell whether a text is a derivative in words or as a call: `gradient of x^2`, `diff(x^2, x)`."""
    return bool(_PHRASE.fullmatch(text) or _APPLIED.fullmatch(text))


def in_parentheses(text: str) -> str:
    """Write the brackets around what is differentiated as parentheses.

    >>> in_parentheses("d/dx [x^2 + 1]")
    'd/dx (x^2 + 1)'
    """
    return _IN_BRACKETS.sub(r"\1(\3)", text)
