"""Questions in the words of a textbook or of another tool: `d/dx x^2`, `diff(x^2, x)`, `x^2 at 3`.

They read as products of names, so they are refused; the command line that asks the same is what `asked` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradcli.cli.default_command import DERIVATIVE, IMPLICIT, SUM_OF_HESSIAN, SUM_OF_JACOBIAN
from gradcli.cli.suggestions.higher_derivatives import is_of_several, nested, require_low_order, require_none_in_words
from gradcli.errors import UsageError
from gradcli.language.text.signs import compared

_HIGHER = re.compile(
    r"[3-5\u00b3\u2074\u2075]|['\u2032]{3}|[\u2034\u2057]|\bthird\b|\bfourth\b|\bfifth\b|[dD](?:iff|erivative)?[(\[]"
    r"|[d\u2202]\s*/.*[d\u2202]\s*/"
)
"""Signs of a derivative of a higher order, or of several, without which none is looked for."""

_RANGED = re.compile(r"\.\.|[…∈<≤]|\b(?:on|over|from|between|to|in|within)\b")
"""Signs and words of a range."""

_LONGEST = 400
"""Characters of a text up to which ranges and derivatives along equations are looked for."""

_OF_TOOLS = r"/\.|\.subs|\.replace|_\s*\{|[lL]im|['\u2032\u2033@]|lambda|ymbol|;\s*d\w+\s*/"
_SIGNS = re.compile(rf"{_OF_TOOLS}|{_RANGED.pattern}|^\s*[d∂].*=")
"""Signs of another tool, of a range or of an equation, without which nothing further is looked for."""

_MARKED = re.compile(rf"{_SIGNS.pattern}|^\s*[dD\u2202]|[/=]")
"""These, and signs of derivatives and equations."""

_ASKS = re.compile(
    rf"{_MARKED.pattern}|[dD∂∇]|of|frac|jacobian|hessian|artial|nabla|aplacian|[cC]url|rot|iff|mplicit"
    r"|\b(?:at|when|where)\b"
)
"""All signs of a question, without which a text asks none: most texts are expressions."""


def _marked(text: str, command: str, named: list[str]) -> list[list[str]] | None:
    """Return the command lines of a text with such signs: none where several are asked; None where they say nothing."""
    if text.lstrip()[:1] in ("d", "D", "\u2202") and (twice := nested(text)) is not None:
        return [["hessian", twice.function, "--wrt", twice.by]]
    if is_of_several(text):
        return []
    of_tools = [*_of_tools(text, command, named)] if _SIGNS.search(text) is not None else []
    return of_tools or _along_equation(text) or None


def asked(text: str, command: str = DERIVATIVE) -> Iterator[list[str]]:
    """Generate the words of command lines that ask what a text asks.

    Args:
        text: The words in the place of an expression.
        command: The command before them, which may be part of the question: `gradient of x^2`.

    >>> [*asked("d/dx x^2")], [*asked("x^2 at 3")], [*asked("x^2")]
    ([['grad', 'x^2', '--wrt', 'x']], [['x^2', '--at', '3']], [])
    """
    if _ASKS.search(text) is None:
        return
    from gradcli.cli.suggestions.derivatives_in_words import derivative, in_parentheses  # which few texts need
    from gradcli.cli.suggestions.points_in_words import at_point

    named = [] if command == DERIVATIVE else [command]
    text = in_parentheses(text)
    if _MARKED.search(text) is not None and (marked := _marked(text, command, named)) is not None:
        yield from marked
        return
    if (found := derivative(text, command)) is not None:
        yield found
        return
    if text.rstrip()[-1:] in (")", "]") or text.startswith("∇"):
        yield from _of_operators(text)
    is_checked = command == "check" and "=" in text and len(_of_equation(text)) == 1
    if command in (DERIVATIVE, "grad", "vjp", "jacobian") or is_checked:
        yield from _of_equation(text)
    if (point := at_point(text)) is not None:
        at = re.sub(r"\s+and\s+|;", ",", f"{point['at']}{point['rest']}").replace(" ", "")
        yield [*named, point["function"], "--at", at]


def _of_tools(text: str, command: str, named: list[str]) -> Iterator[list[str]]:
    """Generate what a text asks in the words of SymPy, Mathematica, MATLAB, JAX or torch, by a limit or a prime."""
    if others := _on_range(text, command) or _along_equation(text):
        yield from others
        return
    if re.search(_OF_TOOLS, text) is None:
        return
    from gradcli.cli.suggestions.limits_in_words import limit
    from gradcli.cli.suggestions.other_tools import called, is_of_sympy, of_sympy
    from gradcli.cli.suggestions.points_in_words import at_options, placed
    from gradcli.cli.suggestions.primes_in_words import primed

    if is_of_sympy(text):
        yield from of_sympy(text, asked)
    elif (point := placed(text)) is not None:
        found_in = [*asked(point.function, command)] or [[*named, point.function]]
        yield from ([*words, *at_options(point.values)] for words in found_in)
    elif (words := limit(text) or primed(text) or called(text, named)) is not None:
        yield words


def is_near(text: str) -> bool:
    """Tell whether a text asks for what is computed from derivatives that the answer gives, or claims a second one.

    >>> is_near("laplacian(x^2)"), is_near("d^2/dx^2 x^4 = 12x^2"), is_near("d^2/dx^2 x^4 at x = 1")
    (True, True, False)
    """
    from gradcli.cli.suggestions.vector_operators import vector_operator

    if _on_range(text, DERIVATIVE):
        return False
    left, *right = compared(re.sub(r"\s(?:at|for|where|when|if|with)\s.*", "", text)).sides
    is_claim = bool(right) and any(words[0] == "hessian" for words in asked(left))
    return is_claim or vector_operator(text) is not None or bool(_of_equation(text) or _along_equation(text))


def _on_range(text: str, command: str) -> list[list[str]]:
    """Return the command lines for a function with its range in words, `x^2 on [0, 1]`."""
    if len(text) > _LONGEST or _RANGED.search(text) is None:
        return []
    from gradcli.cli.suggestions.ranges_in_words import asked_on_range  # which few texts need

    return asked_on_range(text, command)


def _of_equation(text: str) -> list[list[str]]:
    """Return the command lines for the partial derivatives of F, where a text is an equation F = 0."""
    if "=" not in text and "iff" not in text and "mplicit" not in text:
        return []
    from gradcli.cli.suggestions.equations_in_words import of_equation  # which few texts need

    return of_equation(text)


def _along_equation(text: str) -> list[list[str]]:
    """Return those of a derivative along an equation, `dy/dx of x^2 + y^2 = 25`."""
    if len(text) > _LONGEST or "=" not in text or not ("of" in text or "/" in text):
        return []
    from gradcli.cli.suggestions.equations_in_words import asked_along

    return asked_along(text)


def _of_operators(text: str) -> Iterator[list[str]]:
    """Generate what a method of SymPy's asks, and an operator of vector analysis.

    >>> [*_of_operators("(x*y).diff(x)")], [*_of_operators("laplacian(x^2)")]
    ([['grad', 'x*y', '--wrt', 'x']], [['hessian', 'x^2']])
    """
    from gradcli.cli.suggestions.derivatives_in_words import method
    from gradcli.cli.suggestions.vector_operators import vector_operator

    if (found := method(text)) is not None:
        yield found
    elif (field := vector_operator(text)) is not None:
        named = "hessian" if field.is_trace else "jacobian"
        yield [named, field.function, *(["--wrt", field.by] if field.by else [])]


def require_none(text: str, command: str = "grad", typed: Sequence[str] = ()) -> None:
    """Refuse a question in words, and a derivative above the second, also by the words typed, `--order 3`.

    Raises:
        UsageError: The words are a question, or an expression with its point.
    """
    if _HIGHER.search(text) is not None or "--order" in " ".join(typed):
        require_low_order(typed)
        require_none_in_words(text)
    if any(asked(text, command)):
        raise UsageError(f"{_what(text)}: {text.strip()}")


def _what(text: str) -> str:
    """Say what a question in words is."""
    from gradcli.cli.suggestions.derivatives_in_words import is_phrase
    from gradcli.cli.suggestions.points_in_words import at_point, placed
    from gradcli.cli.suggestions.vector_operators import vector_operator

    if (field := vector_operator(text)) is not None:
        return f"{SUM_OF_HESSIAN if field.is_trace else SUM_OF_JACOBIAN}, which gradcli does not add up"
    if _on_range(text, DERIVATIVE):
        return "the range stands in the expression"
    if _of_equation(text) or _along_equation(text):
        return IMPLICIT
    if is_near(text):
        return "a claim is of the first derivative, and hessian has the second"
    is_point = bool(at_point(text) or placed(text)) and not is_phrase(text)
    return "the point stands in the expression" if is_point else "the expression is a question in words"
