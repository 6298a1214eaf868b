"""Names that are several words written together: `sinx` is sin(x) on paper, and one name to a program.

A name is taken apart into functions of one number with what they are of, constants, numbers and names.  It is *meant*
as these parts, and refused where no value is given by that name, if each part is known: a name that is used next to it,
x, y, z or t, a Greek letter by its name, or after an elementary function or pi any single letter, unless the whole is
a word that people call variables by (`cost`, `tank`).  What only resembles a product or a call (`ab`, `cost`) is a name
like any other.  Several unknown letters are no parts, nor is the s of a plural, so that `logits`, `expected`, `arcs`
and `pixel` are names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gradcli.errors import LanguageError, Place, Span
from gradcli.language import ops
from gradcli.language.ops import REQUIRED, Kind, Op
from gradcli.language.program.wengert import Program
from gradcli.language.text.tokens import tokenize

LONGEST = 16
"""Letters of a name that is taken apart."""

MOST_PARTS = 5
"""Parts that are looked for in one name."""

NOT_EULER = "e is a variable here; Euler's number is E"
"""What to say where a value that names no variable, or none, is for e."""

_GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi rho sigma tau upsilon phi chi psi omega".split()
)

_FAMILIAR = frozenset("xyzt") | _GREEK
"""Names that need no other sign of being one."""

_WORDS = frozenset(
    "cost tank tang sing sink sine coset sect expo lnp lnz pit pin pie pig pip pint vary kpi api".split()
)
"""Words and usual names that look like a call or a product."""

_ELEMENTARY = frozenset(
    "exp ln sqrt sin cos tan sec csc cot asin acos atan arcsin arccos arctan sinh cosh tanh asinh acosh atanh "
    "arcsinh arccosh arctanh".split()
)
"""Functions that stand before any letter and any number on paper; `log` stands in names too: logp, log1, logsigma."""


def _is_of_one(name: str, op: Op) -> bool:
    """Whether it is a function of one tensor, and more than a number or two letters at the beginning of a name."""
    statics = [parameter for parameter, value in op.statics.items() if value is REQUIRED]
    needed = [operand for operand in op.operands if operand not in op.defaults]
    is_of_one = len(needed) == 1 and not statics and not op.variadic
    return is_of_one and op.kind not in _NO_FUNCTIONS and (len(name) > 2 or name == "ln") and name != "exp2"


_NO_FUNCTIONS = (Kind.SOURCE, Kind.LIST, Kind.COUNT)
_FUNCTIONS = {name: op for name in ops.names() if (op := ops.find(name)) and _is_of_one(name, op)}


def apart(name: str, known: Collection[str] = ()) -> str | None:
    """The parts that a name is meant as, with the signs between them, the likeliest way; None if it is a name.

    Args:
        name: Of a variable.
        known: Other names of the same text, and names that are given values.

    >>> [apart(name) for name in ("sinx", "pix", "xlnx", "exp2x", "sintheta", "sint")]
    ['sin(x)', 'pi*x', 'x*ln(x)', 'exp(2*x)', 'sin(theta)', 'sin(t)']
    >>> [name for name in ("alpha", "logits", "expected", "pixel", "arcs", "x_1", "cost", "logp", "xx") if apart(name)]
    []
    >>> apart("cost", ["t"]), apart("logp", ["p"])
    ('cos(t)', 'log(p)')
    """
    if len(name) > LONGEST or "_" in name or name in _GREEK or ops.find(name) is not None:
        return None
    ways = (parts for parts in _ways(name, known, MOST_PARTS) if _is_meant(parts, known, name))
    return _spelled(min(ways, key=len, default=())) or None


def require_named(program: Program, names: Collection[str], given: Collection[str]) -> None:
    """Refuse a name that is several words written together, or has a dot, where nothing is given by it.

    Args:
        program: Whose variables they are.
        names: Those without a value or a shape of their own.
        given: The names that have one.

    Raises:
        LanguageError: There is one.
    """
    known = {*program.names, *program.assigned, *given}
    for name in names:
        if "." in name:
            hint = f"give --at {name}=VALUE, or --shape {name}=SIZES for a formula; FILE.py::NAME is a function"
            message = f"'{name}' is a variable only where a value or a shape is given by that name"
            raise LanguageError(message, place=_place(program, name), hint=hint)
        found = apart(name, known)
        if found is not None:
            hint = f"write {found}; or --at {name}=VALUE for a variable of that name"
            message = f"'{name}' is one name to a program, and no value is given by it"
            raise LanguageError(message, place=_place(program, name), hint=hint)


def meant(name: str, known: Collection[str] = ()) -> str | None:
    """The hint for a name that is unknown, if it may be several.

    >>> meant("cosx"), meant("total")
    ('write cos(x)', None)
    """
    found = apart(name, known)
    return f"write {found}" if found else None


def of_call(name: str) -> str | None:
    """The hint for a call of an unknown function, if a factor or a function is written before one.

    >>> of_call("xsin"), of_call("logcosh"), of_call("total")
    ('write x*sin(...)', 'write log(cosh(...))', None)
    """
    if (found := apart(f"{name}x")) is not None and found.endswith("(x)"):
        return f"write {found.removesuffix('x)')}...)"
    pairs = ((name[:n], name[n:]) for n in range(1, min(len(name), LONGEST)))
    inner = _ELEMENTARY | {"log"}
    return next((f"write {f}({g}(...))" for f, g in pairs if f in _FUNCTIONS and g in inner), None)


def _place(program: Program, name: str) -> Place:
    tokens = tokenize(program.text, program.source)
    start = next((t.span.start for t in tokens if t.kind == "name" and program.text.startswith(name, t.span.start)), 0)
    span = Span(start, start + len(name))
    return Place(program.text, span, program.source)


# -- taking apart

Parts = tuple[str, ...]


def _ways(text: str, known: Collection[str], most: int) -> Iterator[Parts]:
    """All ways to write a text as functions, constants, numbers, known names and letters, one behind the other."""
    if not text:
        yield ()
    if not text or most == 0:
        return
    for length in range(len(text) - (most == MOST_PARTS), 0, -1):
        word, rest = text[:length], text[length:]
        is_function = word in _FUNCTIONS and bool(rest)
        if not (is_function or _is_operand(word, known)):
            continue
        for parts in _ways(rest, known, most - 1):
            is_number = bool(parts) and parts[0].isdigit()
            if is_function and (parts[0] in _FUNCTIONS or (is_number and word not in _ELEMENTARY)):
                continue
            if is_number and not is_function and word != "pi":
                continue
            yield (word, *parts)


def _is_operand(word: str, known: Collection[str]) -> bool:
    """Whether it is a name, a constant or a number: `x`, `x2`, `theta`, `pi`, `2`."""
    is_letter = word[0].isalpha() and (len(word) == 1 or word[1:].isdigit())
    return word == "pi" or is_letter or word in known or word in _GREEK or word.isdigit()


def _is_sure(part: str, known: Collection[str]) -> bool:
    return part in _FUNCTIONS or part == "pi" or part.rstrip("0123456789") in ("", *_FAMILIAR) or part in known


def _is_meant(parts: Parts, known: Collection[str], name: str) -> bool:
    """Whether a function or pi is among the parts, and the others are known, all but a single letter behind it."""
    is_word = name in _WORDS
    functions = [part for part in parts if part in _FUNCTIONS]
    if (not functions and "pi" not in parts) or (is_word and not any(part in known for part in parts)):
        return False
    plain = [part for part in functions if part != "log" and _FUNCTIONS[part].kind is Kind.ELEMENTWISE]
    if len(plain) < len(functions) and not all(part in known or part in "xyz" for part in parts if part != "log"):
        return False
    unsure = [n for n, part in enumerate(parts) if not _is_sure(part, known)]
    if not unsure or is_word:
        return not unsure
    before = parts[unsure[0] - 1] if unsure[0] else ""
    is_plural = parts[-1] == "s" and unsure[-1] == len(parts) - 1
    return len(unsure) == 1 and (before in _ELEMENTARY or before == "pi") and not is_plural


def _spelled(parts: Parts) -> str:
    """The parts with the signs between them; a function is of what follows up to the next one."""
    found: list[str] = []
    waiting = list(parts)
    while waiting:
        word = waiting.pop(0)
        if word in _FUNCTIONS:
            inside = []
            while waiting and waiting[0] not in _FUNCTIONS:
                inside.append(waiting.pop(0))
            word = f"{word}({'*'.join(inside)})"
        found.append(word)
    return "*".join(found)
