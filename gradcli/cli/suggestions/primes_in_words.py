"""Derivatives that are written by a prime, and claims of them: `f(x) = x^4; f''(2)`, `tanh'(x) = 1 - tanh(x)^2`."""

from __future__ import annotations

import re

from gradcli.cli.suggestions.points_in_words import at_options
from gradcli.language.text.signs import NAME, is_balanced

_PRIMES = r"(?P<primes>['\u2032]{1,2}|\u2033)"
_DEFINED = r"(?P=f)\s*\(\s*(?P<by>[^\W\d]\w*)\s*\)\s*=\s*(?P<function>[^=;]+?)"
_PRIMED = re.compile(
    rf"\s*(?P<f>[^\W\d])\s*{_PRIMES}\s*\((?P<at>[^()]*)\)\s*(?:where|if|for|with|when|,|;|:)\s+{_DEFINED}\s*"
)
_PRIMED_AFTER = re.compile(
    r"\s*(?P<f>[^\W\d])\s*\(\s*(?P<by>[^\W\d]\w*)\s*\)\s*=\s*(?P<function>[^=;]+?)\s*"
    rf"(?:[;,]|\bfind\b|\bthen\b)\s*(?:(?:find|what is)\s+)?(?P=f)\s*{_PRIMES}\s*\((?P<at>[^()]*)\)\s*"
)
"""A derivative by its prime next to the function: `f''(2) where f(x) = x^4`, `f(x) = x^4; f''(2)`."""

_PRIMED_CALL = re.compile(
    rf"\s*(?P<f>{NAME}){_PRIMES}\s*\(\s*(?P<at>{NAME}|[-+]?[\d.]+)\s*\)\s*(?:={{1,2}}\s*(?P<claim>[^=;]+?)\s*)?"
)
"""The derivative of a known function by its prime, which may be claimed: `tanh'(x) = 1 - tanh(x)^2`."""

_PRIMED_CLAIM = re.compile(
    rf"\s*\((?P<whole>.+)\)\s*['\u2032]\s*={{1,2}}\s*(?P<of_whole>[^=;]+?)\s*"
    rf"|\s*(?P<f>{NAME})\s*(?:\(\s*(?P<by>{NAME})\s*\))?\s*=\s*(?P<function>[^=;]+?)\s*[;,]\s*"
    rf"(?:(?P=f)\s*['\u2032]\s*(?:\(\s*(?P<of>{NAME})\s*\))?|d(?P=f)\s*/\s*d(?P<over>{NAME}))\s*=\s*(?P<claim>[^=;]+?)\s*"
)
"""A claim by a prime, `(x^2)' = 2x`, or by that of a function with its definition, `f(x) = x^3; f'(x) = 3x^2`."""


def primed(text: str) -> list[str] | None:
    """Return the words that ask for a derivative that is written by its prime, or check a claim of it; else None.

    >>> primed("f''(2) where f(x) = x^4"), primed("(x^2)' = 2x")
    (['hessian', 'x^4', '--at', 'x=2'], ['check', 'x^2', '--claim', '2x'])
    """
    if (found := _PRIMED.fullmatch(text) or _PRIMED_AFTER.fullmatch(text)) is not None:
        is_twice = len(found["primes"].replace("\N{DOUBLE PRIME}", "''")) == 2
        noun = "hessian" if is_twice else "grad"
        at = found["at"].strip()
        return [noun, found["function"].strip(), *at_options([f"{found['by']}={at}"] if at != found["by"] else [])]
    return _claimed(text)


def _claimed(text: str) -> list[str] | None:
    """Return the words that ask for a derivative that is written by a prime, or check what is claimed of it.

    >>> _claimed("tanh'(x) = 1 - tanh(x)^2"), _claimed("(x^2)' = 2x")
    (['check', 'tanh(x)', '--claim', '1 - tanh(x)^2'], ['check', 'x^2', '--claim', '2x'])
    >>> _claimed("f(x) = x^3; f'(x) = 3x^2"), _claimed("sin'(0)")
    (['check', 'x^3', '--claim', '3x^2', '--wrt', 'x'], ['grad', 'sin(x)', '--at', 'x=0'])
    """
    from gradcli.language.ops import find

    if (found := _PRIMED_CALL.fullmatch(text)) is not None and find(found["f"]) is not None:
        is_first, is_point = len(found["primes"].replace("\N{DOUBLE PRIME}", "''")) == 1, not found["at"].isidentifier()
        function = f"{found['f']}({'x' if is_point else found['at']})"
        if found["claim"] is None:
            return ["grad" if is_first else "hessian", function, *at_options([f"x={found['at']}"] if is_point else [])]
        return ["check", function, "--claim", found["claim"]] if is_first and not is_point else None
    if (found := _PRIMED_CLAIM.fullmatch(text)) is None:
        return None
    if (whole := found["whole"]) is not None:
        return ["check", whole, "--claim", found["of_whole"]] if is_balanced(whole) else None
    by = [one for one in (found["by"], found["of"], found["over"]) if one is not None]
    words = ["check", found["function"], "--claim", found["claim"]]
    return [*words, *(["--wrt", by[0]] if by else [])] if len({*by}) <= 1 else None
