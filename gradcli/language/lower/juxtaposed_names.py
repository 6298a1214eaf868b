"""Names that are several words written together: `sinx` is sin(x) on paper, and one name to a program.

A name is *meant* as functions of one number, pi, numbers and names, and refused where no value is given by it, if each
part is known: a name that is used next to it, x, y, z or t, a Greek letter by its name, or after an elementary function
or pi any single letter, unless the whole is a usual name of a variable (`cost`, `tank`).  A name that only resembles
a product or a call (`ab`, `cost`) is a name like any other; so are `logits`, `expected`, `arcs` and `pixel`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from gradcli.errors import LanguageError, Place, Span
from gradcli.language import ops
from gradcli.language.ops import REQUIRED, Kind
from gradcli.language.program.wengert import Program
from gradcli.option_words import option

LONGEST_JOINED = 16
"""Largest number of letters of a name that is taken apart."""

NOT_EULER = "e is a variable here; Euler's number is E"
"""Remark on a variable e to which no value is given by its name."""

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi rho sigma tau upsilon phi chi psi omega".split()
)
"""Greek letters, by their names."""

_WORDS = frozenset(
    "cost tank tang sing sink sine coset sect expo lnp lnz pit pin pie pig pip pint vary kpi api".split()
)
"""Words and usual names that look like a call or a product."""

_ELEMENTARY = frozenset(
    "exp ln sqrt sin cos tan sec csc cot asin acos atan arcsin arccos arctan sinh cosh tanh asinh acosh atanh "
    "arcsinh arccosh arctanh".split()
)
"""Functions that stand before any letter and any number on paper; `log` stands in names too: logp, log1, logsigma."""


def _any(words: Iterable[str]) -> str:
    """Make a pattern of any of some words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))) or "(?!)"


def _of_one(*kinds: Kind) -> set[str]:
    """List the names of functions of one tensor that need no constant."""
    known = ((name, ops.find(name)) for name in ops.names() if len(name) > 2 and name not in ("log", "exp2"))
    return {
        name
        for name, op in known
        if op is not None and op.kind in kinds and REQUIRED not in op.statics.values() and not op.variadic
        if sum(operand not in op.defaults for operand in op.operands) == 1
    }


_OTHERS = _of_one(Kind.ELEMENTWISE) - _ELEMENTARY
_REDUCTIONS = _of_one(*Kind) - _of_one(Kind.ELEMENTWISE, Kind.SOURCE, Kind.LIST, Kind.COUNT)
_CALLED = re.compile(_any({"log", "pi", *_ELEMENTARY, *_OTHERS, *_REDUCTIONS}))


def apart(name: str, known: Collection[str] = ()) -> str | None:
    """Take apart a name into the parts that it is meant as, with the signs between them; None if it is a name.

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
    if len(name) > LONGEST_JOINED or "_" in name or name in GREEK or ops.find(name) or not _CALLED.search(name):
        return None
    names = {one for one in known if one in name} - {name, ""}  # others cannot be parts of it
    is_word = name in _WORDS
    sure = rf"(?:(?:{_any(names if is_word else {*names, *GREEK, *'xyzt'})})\d*)"
    letter = "(?!)" if is_word else r"[A-Za-rt-z]\d*"  # no s, which makes plurals
    call = (
        rf"(?:({_any(_ELEMENTARY)})(\d*(?:{letter}{sure}*|{sure}+)|\d+)|({_any(_OTHERS)})({sure}+)"
        rf"|(log|{_any(_REDUCTIONS)})((?:{_any({*names, *'xyz'})})+)|(pi)({letter}{sure}*|{sure}*))"
    )
    found = re.fullmatch(f"({sure}*?){call}{call}?", name)
    if found is None:
        return None
    item = re.compile(rf"{sure}|{letter}|\d+")
    before, *words = (group for group in found.groups() if group is not None)
    parts = item.findall(before)
    for function, argument in zip(words[::2], words[1::2], strict=True):
        inside = item.findall(argument)
        parts += [function, *inside] if function == "pi" else [f"{function}({'*'.join(inside)})"]
    return "*".join(parts)


def require_named(program: Program, names: Collection[str], given: Collection[str]) -> None:
    """Refuse a name that is several words written together, or has a dot, where nothing is given by it.

    Args:
        program: The Program that has these variables.
        names: The names without a value or a shape of their own.
        given: The names that have one.

    Raises:
        LanguageError: There is such a name.
    """
    known = {*program.names, *program.assigned, *given}
    for name in names:
        if "." in name:
            shape = f"{option('shape', f'{name}=SIZES')} for a formula"
            hint = f"give {option('at', f'{name}=VALUE')}, or {shape}; FILE.py::NAME is a function"
            message = f"'{name}' is a variable only where a value or a shape is given by that name"
            raise LanguageError(message, place=place_of(program, name), hint=hint)
        found = apart(name, known)
        if found is not None:
            hint = f"write {found}; or {option('at', f'{name}=VALUE')} for a variable of that name"
            message = f"'{name}' is one name to a program, and no value is given by it"
            raise LanguageError(message, place=place_of(program, name), hint=hint)


def meant(name: str, known: Collection[str] = ()) -> str | None:
    """Hint at the parts of an unknown name, if it may be several.

    >>> meant("cosx"), meant("total")
    ('write cos(x)', None)
    """
    found = apart(name, known)
    return f"write {found}" if found else None


def of_call(name: str) -> str | None:
    """Hint at the parts of an unknown function, if a factor or a function is written before one.

    >>> of_call("xsin"), of_call("logcosh"), of_call("total")
    ('write x*sin(...)', 'write log(cosh(...))', None)
    """
    if (found := apart(f"{name}x")) is not None and found.endswith("(x)"):
        return f"write {found.removesuffix('x)')}...)"
    pair = re.fullmatch(
        f"({_any(_OTHERS | _ELEMENTARY | {'log'})})({_any(_ELEMENTARY | {'log'})})", name[:LONGEST_JOINED]
    )
    return f"write {pair[1]}({pair[2]}(...))" if pair else None


def place_of(program: Program, name: str = "") -> Place:
    """Return the Place of the first use of a name in the text of a Program; of the whole text without one."""
    apart_or_after_a_number = rf"(?:(?<![\w.])|(?<=\d)(?<![^\W\d]\d)){re.escape(name)}(?!\w)"
    found = re.search(apart_or_after_a_number, program.text) if name else None
    span = Span(*found.span()) if found else Span(0, len(program.text))
    return Place(program.text, span, program.source)
