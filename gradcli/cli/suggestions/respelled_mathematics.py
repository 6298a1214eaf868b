"""Questions that a text asks by the signs of paper: an integral, a second prime, lengths and products of vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gradcli.cli.default_command import DERIVATIVE
from gradcli.cli.suggestions.respelled_values import name_parts, values_by_name
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.errors import (
    GradcliError,
    MissingVectorError,
    SeveralElementsError,
    UnknownFunctionError,
    UnknownVariableError,
    UsageError,
)
from gradcli.language.spellings import BARE_SUM
from gradcli.language.text.signs import NAME, parted, parted_at
from gradcli.trial import SpelledGroup

_BARS = re.compile(r"(?<!\|)\|\s*(\w+(?:\s*-\s*\w+)?)\s*\|(?!\|)|\\left\s*\|\s*([^|]+?)\s*\\right\s*\|")
_DOT = re.compile(r"(?:(?<=[^\W\d]|[\]}])|(?<=[^\W\d]\d))\s*(?:[·⋅∙]|\\cdot\b)\s*(?=[(\[\\]|[^\W\d]\w*(?![\w(]))")
"""The length of a vector, `|r|`, and the dot product of two, as they are written on paper."""


def _of_vectors(text: str) -> Iterator[str]:
    """Write lengths and dot products of vectors, which are one number, for elements that would be many.

    >>> [*_of_vectors("1/|r|")], [*_of_vectors("2·(w·x) + b")]
    (['1/norm(r)'], ['2·(w @ x) + b'])
    >>> [*_of_vectors("exp(-x²)·cos(x)")]
    []
    """
    with_norms = _BARS.sub(lambda found: f"norm({found[1] or found[2]})", text)
    for one in dict.fromkeys((with_norms, text)):
        dots = [found.span() for found in _DOT.finditer(one)]
        yield from [_DOT.sub(" @ ", one)] if dots else []
        yield from (f"{one[:start]} @ {one[stop:]}" for start, stop in dots if len(dots) > 1)
    yield from [with_norms] if with_norms != text else []


_INTEGRAL = re.compile(
    r"\s*(?:\w+\s*(?:\(\w+\))?\s*=\s*)?(?:\\?int|∫|integral)\s*_\s*\{?\s*[-+\d.]+(?:inf|∞)?\s*\}?\s*\^\s*\{?\s*"
    r"(?P<bound>[^\W\d]\w*?)\s*\}?(?:\s+|(?<=\}))(?P<body>\S.*?)\s*(?:\\[,;:! ])?\s*d(?P<by>[^\W\d]\w*)\s*"
)
"""An integral up to a variable, `int_0^x exp(-t^2) dt`."""

_INTEGRATED = re.compile(
    r"\s*(?:\w+\.)?(?:int|[iI]ntegral|[iI]ntegrate|quad)\(\s*(?P<body>.+?),\s*[({]?\s*(?P<by>[^\W\d]\w*)\s*[=,:]\s*"
    r"[-+]?(?:[\d.]+|inf|oo|∞)\s*(?:\.\.|,|\bto\b)\s*(?P<bound>[^\W\d]\w*)\s*[)}]?\s*\)\s*"
)
"""The same as a call, `integral(exp(-t^2), t=0..x)`."""

_TWICE_PRIMED = re.compile(
    r"\s*(?:\(([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*)\)|([^\W\d]\w*))\s*(?:''|\u2032\u2032|\u2033)\s*"
)
"""The second derivative of all of a text, `(x ln x)''`."""


def products_of_given(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Write a product for a call of a name with a value, `P_0 (1 + r)^t` next to `--at P_0=100`, or whose parts do."""
    if isinstance(error, UnknownFunctionError) and error.place is not None and line.others:
        word = error.place.text[slice(*error.place.span)]
        inside = re.findall(rf"(?<![\w.]){re.escape(word)}\s*\(([^()]*)", line.text)
        is_factor = all("," not in one and re.search(r"[^\W\d]|^$", one.strip()) for one in inside)  # no x(1, 2)
        parts = [word] if word in (given := values_by_name(line)) else name_parts(word)
        if parts and {*parts} <= {*given} and is_factor:
            product = "*".join(parts)
            yield line.put(line.others[0], 1, re.sub(rf"(?<![\w.]){re.escape(word)}\s*\(", f"{product}*(", line.text))


def sums_without_brackets(line: TypedLine) -> Iterator[Words]:
    """Write `sum(p*ln(p))` for `Σ p ln p`, where no variable Σ has a value."""
    if line.others and "Σ" not in values_by_name(line):
        yield from (line.put(line.others[0], 1, one) for one in BARE_SUM.respelled(line.text))


class _MatrixInside(NamedTuple):
    """A call for derivatives in a text.

    Attributes:
        command: The command that answers it.
        function: What is differentiated.
        variables: By what, as `--wrt` has them; empty where that is not said.
        is_whole: Whether nothing stands around the call.
    """

    command: str
    function: str
    variables: str
    is_whole: bool


def _matrix_inside(text: str) -> _MatrixInside | None:
    """Find a call for derivatives in a text; its last argument is what is differentiated by, as in MATLAB.

    >>> _matrix_inside("det(jacobian([x*y, x], [x; y]))")
    _MatrixInside(command='jacobian', function='[x*y, x]', variables='x,y', is_whole=False)
    >>> _matrix_inside("hessian(x*y)").variables, _matrix_inside("jacobian(x*y, 2*x)")
    ('', None)
    """
    found = _DERIVATIVES.search(text)
    if found is None:
        return None
    inside, *after = parted_at(text[found.end() :], ")")
    first, *others = parted(inside)
    names = [re.findall(r"[^\W\d]\w*", one) for one in others if re.fullmatch(_NAMES, one)]
    if not after or not first or len(names) != len(others):
        return None
    command = {"gradient": "grad"}.get(found["name"], found["name"])
    around = text[: found.start()] + ")".join(after)
    return _MatrixInside(command, first, ",".join(name for group in names for name in group), not around.strip())


_DERIVATIVES = re.compile(r"(?<![\w.])(?P<name>jacobian|hessian|gradient)\(")
_NAMES = r"[\[({]?\s*[^\W\d]\w*(?:[\s,;]+[^\W\d]\w*)*\s*[\])}]?"


def matrices_inside(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Ask for the derivatives that stand in a text, `det(jacobian([x*y, x], [x, y]))`."""
    found = _matrix_inside(line.text) if line.others else None
    if found is not None and isinstance(error, (UnknownFunctionError, UsageError)):
        wrt = ["--wrt", found.variables] if found.variables and "--wrt" not in line.values.values() else []
        yield (found.command, *line.put(line.others[0], 1, found.function, *wrt)[line.start :])


def on_matrix_inside(line: TypedLine, error: GradcliError) -> str:
    """Say that what stands around derivatives in a text is lost where they are asked for alone; else nothing."""
    found = _matrix_inside(line.text) if isinstance(error, UnknownFunctionError) else None
    if found is None or found.is_whole:
        return ""
    outer = re.match(r"\s*([^\W\d]\w*)\s*\(", line.text)
    lost = f"{_OUTER.get(outer[1], f'{outer[1]}(...)')} of" if outer is not None else "what stands around"
    return f"{lost} derivatives is not computed; "


_OUTER = {"det": "the determinant", "trace": "the trace", "tr": "the trace", "norm": "the norm", "inv": "the inverse"}
"""What functions of a matrix give, in words."""


def factors_of_numbers(line: TypedLine) -> str:
    """Write signs between capital letters that are read as matrices, where no value says so; empty for any other text.

    >>> from gradcli.cli.suggestions.typed_line import typed_line
    >>> factors_of_numbers(typed_line(("grad", "-G M m/r")))
    '-G*M*m/r'
    """
    from gradcli.language.text.juxtaposition import of_numbers  # which reads the grammar

    is_open = not {"--at", "--shape"} & {*line.flags.values(), *line.values.values()}
    return of_numbers(line.text, line.variables) if is_open and line.others else ""


def on_factors(line: TypedLine, error: GradcliError) -> str:
    """Say that capital letters side by side are read as matrices, where a y of one element is needed; else nothing."""
    if not isinstance(error, SeveralElementsError):
        return ""
    said = "capital letters with no sign between them are matrices; " if factors_of_numbers(line) else ""
    primed = (
        re.search(rf"(?<!\w){NAME}'(?![\w'])", line.text) if not {"--at", "--shape"} & {*line.flags.values()} else None
    )
    return f"{primed[0]} is {primed[0][:-1]} transposed, and no rate; {said}" if primed is not None else said


def elements_by_subscripts(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Write elements of a vector for names with numbers, `x_1^2 + x_2^2` next to `--at x=1,2`."""
    if not isinstance(error, UnknownVariableError) or not line.others:
        return
    for name, value in values_by_name(line).items():
        own = re.compile(rf"(?<![\w.]){re.escape(name)}_?(\d)(?!\w)")
        numbers = {int(found[1]) for found in own.finditer(line.text)}
        first = 0 if 0 in numbers else 1
        if numbers and numbers <= {*range(first, first + value.count(",") + 1)}:
            elements = own.sub(lambda one, first=first, name=name: f"{name}[{int(one[1]) - first}]", line.text)  # type: ignore[misc]
            yield line.put(line.others[0], 1, elements)


def on_paper(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Ask what the signs of paper ask: the derivative of an integral, a second one, that of one number of vectors."""
    if not line.others:
        return
    place = line.others[0]
    if isinstance(error, (SeveralElementsError, MissingVectorError)):
        vectors = [line.put(place, 1, one) for one in _of_vectors(line.text)]
        yield from vectors
        yield from [line.named("jacobian")] if vectors and line.command in ("grad", DERIVATIVE) else []
    if line.command not in ("grad", DERIVATIVE):
        return
    if (primed := _TWICE_PRIMED.fullmatch(line.text)) is not None:
        yield ("hessian", *line.put(place, 1, primed[1] or primed[2])[line.start :])
    found = _INTEGRAL.fullmatch(line.text) or _INTEGRATED.fullmatch(line.text)
    if found is not None and not re.search(rf"(?<![\w.]){found['bound']}(?!\w)", found["body"]):
        body = re.sub(rf"(?<![a-zA-Z_.]){found['by']}(?!\w)", found["bound"], found["body"])
        yield ("eval", *line.put(place, 1, body)[line.start :])


_C_FUNCTIONS = re.compile(
    r"(?<![\w.])(?:__)?((?:exp|log)(?:2|10|1p|m1)?|pow|sqrt|cbrt|a?(?:sin|cos|tan)h?|atan2|fabs|fmax|fmin|fma|fmod|hypot|"
    r"erfc?|[lt]gamma|floor|ceil|round|trunc)f(?=\s*\()"
)
_C_NUMBER = re.compile(r"(?<![\w.])((?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?)[fF](?!\w)")
_C_CONSTANTS = {
    "M_PI": "pi",
    "M_E": "E",
    "M_PI_2": "(pi/2)",
    "M_PI_4": "(pi/4)",
    "M_SQRT2": "sqrt(2)",
    "M_LN2": "log(2)",
}
_C_CONSTANT = re.compile(rf"(?<![\w.])(?:{'|'.join(_C_CONSTANTS)})(?!\w)")
"""Functions, numbers and constants as C has them for float: `expf(x)`, `2.5f`, `M_PI`."""


def in_c(line: TypedLine) -> SpelledGroup[Words]:
    """Write the functions, numbers and constants of C in all words; sure where more than a suffix `f` says so."""
    if not line.others or {"f", *_C_CONSTANTS} & {*values_by_name(line)}:
        return SpelledGroup([])
    text = " ".join(line.words)
    numbers = [_C_NUMBER.sub(r"\1", word) for word in line.words]
    names = [_C_FUNCTIONS.sub(r"\1", _C_CONSTANT.sub(lambda one: _C_CONSTANTS[one[0]], word)) for word in numbers]
    is_sure = _C_FUNCTIONS.search(text) is not None or _C_CONSTANT.search(text) is not None
    return SpelledGroup([tuple(names)] if tuple(names) != line.words else [], is_sure=is_sure)
