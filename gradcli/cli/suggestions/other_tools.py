"""Derivatives in the code of other tools: a script of SymPy, `jax.grad(lambda x: x**2)(3.0)`, a function of MATLAB."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from gradcli.cli.suggestions.points_in_words import at_options
from gradcli.language.text.signs import NAME, parted_at, unwrapped

_DECLARED = re.compile(r"[\w\s,]+=\s*(?:\w+\.)?(?:symbols|Symbol)\s*\([^()]*\)")
"""Declaration of variables in SymPy."""

_PASSED_OVER = re.compile(r"(?:from|import)\s|#|(?:\w+\.)?init_printing\(")
_ASSIGNED = re.compile(r"([^\W\d]\w*)\s*=(?!=)\s*(.+)")
_WRAPPED = re.compile(
    r"(?:\w+\.)?(?:print|pprint|display|simplify|expand|factor|latex)\(([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*)\)"
)

_OF_LAMBDA = re.compile(
    r"\s*(?:[\w.]+\.)?(?P<noun>jacobian|hessian|jac(?:rev|fwd)|grad|gradient|derivative|jacobian|elementwise_grad)"
    r"\(\s*lambda\s+(?P<names>[\w\s,]+?)\s*:\s*(?P<rest>[^\n;]+)\)\s*"
)
"""A derivative of a function without a name: `jax.grad(lambda x: x**2)(3.0)`."""

_HANDLE = re.compile(
    r"\s*(?P<name>\w+)\s*=\s*@\s*\((?P<names>[^()]*)\)\s*(?P<function>[^;\n]+?)\s*[;\n]\s*"
    r"(?P=name)\s*\((?P<values>[^;]*)\)\s*;?\s*"
)
"""A function of MATLAB and its call: `f = @(x) x.^2 + 1; f(3)`."""


def is_of_sympy(text: str) -> bool:
    """Tell whether a text is a script of SymPy, which declares its variables."""
    return _DECLARED.search(text) is not None


def of_sympy(text: str, asked: Callable[[str], Iterable[list[str]]]) -> Iterator[list[str]]:
    """Generate what a script of SymPy asks last, with the statements before it.

    Args:
        text: The script.
        asked: Generates what its last line asks.

    >>> script = "x, y = symbols('x y'); f = sin(x)*y; print(diff(f, x))"
    >>> [*of_sympy(script, lambda last: [["grad", last.removeprefix("diff((").split(")")[0], "--wrt", "x"]])]
    [['grad', 'f = sin(x)*y', '--wrt', 'x']]
    """
    lines = [line.strip() for line in re.split(r"[\n;]", text) if line.strip()]
    lines = [line for line in lines if not _DECLARED.search(line) and not _PASSED_OVER.match(line)]
    statements, derived = dict[str, str](), dict[str, str]()
    last = ""
    for line in lines:
        name, value = found.groups() if (found := _ASSIGNED.fullmatch(line)) else ("", line)
        while (inner := _WRAPPED.fullmatch(value)) is not None:
            value = inner[1]
        for known, written in derived.items():
            value = re.sub(rf"(?<![\w.]){known}(?!\w)", lambda _, written=written: written, value)
        last = re.sub(rf"\bdiff\((?={NAME}\s*,)({NAME})", r"diff((\1)", value)
        last = re.sub(r"\b(?:sp|sympy)\.(?=[a-z])", "", last)
        if "diff(" in value and name:
            derived[name] = value
        elif name:
            statements[name] = value
    for words in asked(last):
        function = next(n for n, word in enumerate(words) if n or word not in ("grad", "hessian", "jacobian"))
        before = "; ".join(f"{name} = {value}" for name, value in statements.items())
        is_last = bool(statements) and words[function] == [*statements][-1]
        yield [
            *words[:function],
            before if is_last else "; ".join(filter(None, (before, words[function]))),
            *words[function + 1 :],
        ]


def called(text: str, named: list[str]) -> list[str] | None:
    """Return the words that ask for a function of MATLAB at its call, or a derivative of a function without a name.

    >>> called("jax.grad(lambda x: x**2)(3.0)", []), called("f = @(x) x.^2; f(3)", [])
    (['grad', 'x**2', '--at', 'x=3.0'], ['x.^2', '--at', 'x=3'])
    """
    if (found := _HANDLE.fullmatch(text)) is not None:
        names, values = found["names"], found["values"]
        function = found["function"]
    elif (found := _OF_LAMBDA.fullmatch(text)) is not None:
        names, noun, rest = found["names"], found["noun"], parted_at(found["rest"], "),")
        named = ["jacobian" if noun.startswith("jac") else "hessian" if noun == "hessian" else "grad"]
        function, values = rest[0], ",".join(rest[1:]).strip()
        values = unwrapped(values) if values.count("(") == values.count(")") else values.removeprefix("(")
    else:
        return None
    given = [one.strip() for one in parted_at(values.strip(), ",") if one.strip()]
    variables = [one.strip() for one in names.split(",")]
    if given and len(given) != len(variables):
        return None
    values_by_name = [f"{name}={value}" for name, value in zip(variables, given, strict=False)]
    return [*named, function.strip(), *at_options(values_by_name)]
