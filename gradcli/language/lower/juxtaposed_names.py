"""Names that are several words written together: `sinx` is sin(x) on paper, and one name to a program.

A name is *meant* as functions of one number, pi, numbers and names, and refused where no value is given by it, if each
part is known: a name that is used next to it, x, y, z or t, a Greek letter by its name, or after an elementary function
or pi any single letter, unless the whole is a usual name of a variable (`cost`, `tank`).  A name that only resembles
a product or a call (`ab`, `cost`) is a name like any other; so are `logits`, `expected`, `arcs` and `pixel`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from gradcli.errors import LanguageError, Place, Span, UncalledFunctionError
from gradcli.language import ops
from gradcli.language.ops import REQUIRED, Kind
from gradcli.language.program.wengert import CONSTANTS, Program
from gradcli.language.text.doubtful import EULER, on_euler
from gradcli.language.text.greek import LETTERS
from gradcli.language.text.signs import in_ascii_signs
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import POWERS, Token
from gradcli.option_words import option

LONGEST_JOINED = 16
"""Largest number of letters of a name that is taken apart."""

NOT_EULER = "e is a variable here; Euler's number is E"
"""Remark on a variable e to which no value is given by its name."""

PI = "π"

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "lam".split()
)
"""Greek letters, by their names."""

_SMALL_GREEK = [letter for letter in LETTERS if letter.islower() and letter != PI]

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
    sure = rf"(?:(?:{_any(names if is_word else {*names, *GREEK, *_SMALL_GREEK, *'xyzt'})})\d*)"
    letter = "(?!)" if is_word else r"[A-Za-rt-z]\d*"  # no s, which makes plurals
    elementary = _ELEMENTARY - {"asin", "acos", "atan"} if "a" in names else _ELEMENTARY  # a*sin(x)
    call = (
        rf"(?:({_any(elementary)})(\d*(?:pi(?:{letter}|{sure})*|{letter}{sure}*|{sure}+)|\d+)"
        rf"|({_any(_OTHERS)})({sure}+)|(log|{_any(_REDUCTIONS)})((?:{_any({*names, *'xyz'})})+)"
        rf"|(pi)({letter}{sure}*|{sure}*))"
    )
    found = re.fullmatch(f"({sure}*?){call}{call}?{call}?", name)
    if found is None:
        return None
    item = re.compile(rf"pi|{sure}|{letter}|\d+")
    before, *words = (group for group in found.groups() if group is not None)
    parts = item.findall(before)
    for function, argument in zip(words[::2], words[1::2], strict=True):
        inside = item.findall(argument)
        parts += [function, *inside] if function == "pi" else [f"{function}({'*'.join(inside)})"]
    return "*".join(parts)


def cut(source: SourceText, known: Collection[str]) -> dict[str, str]:
    """Cut the words of a text that are names written together; return the readings of those that only look so.

    `Ax` is A and x where both are known.  If not, letters look so of which each stands alone elsewhere, or in
    the notation of matrices or after a number a capital letter before a small one, or x, y, z, t; or `xe^(-x)`, `nπx`.

    Args:
        source: The text, whose words are changed.
        known: Names that have values or shapes, or are differentiated by.

    Raises:
        LanguageError: A name may be cut in two ways, or be one variable.

    >>> source = SourceText("xᵀAx + 2ab", "EXPR")
    >>> cut(source, ["A", "x", "a", "b"]), [token.text for token in source.tokens[:-6]]
    ({}, ['x', "'", 'A', 'x', '+', '2', 'a', 'b'])
    """
    tokens, assigned = source.tokens, _assigned(source)
    if not any(_may_be_several(tokens, n, assigned) for n in range(len(tokens) - 5)):
        return {}
    names, found, remarks = {*known, *assigned}, list[Token](), dict[str, str]()
    letters = {token.text for token in tokens if token.kind == "name" and len(token.text) == 1} | names
    for n, token in enumerate(tokens):
        parts: Sequence[str] = ()
        if n < len(tokens) - 5 and _may_be_several(tokens, n, assigned):
            parts = _parts_of(source, token, names)
            is_adjacent = n > 0 and tokens[n - 1].kind == "number" and tokens[n - 1].span.stop == token.span.start
            if not parts and token.text not in names:
                parts = _parts_with_constant(source, n, letters) or _likely_parts(
                    token.text, letters, names, is_adjacent=is_adjacent, is_matrix=bool(source.matrix_mark)
                )
                if parts:
                    remarks[token.text] = " ".join(parts)
        found += _split(token, parts) if parts else [token]
    source.tokens = found
    return remarks


def is_letter(name: str) -> bool:
    """Tell whether a name is a letter, maybe with a number, or that of a Greek one: it may stand before parentheses.

    >>> [name for name in ("A", "x1", "lambda1", "λ", "mu", "foo") if is_letter(name)]
    ['A', 'x1', 'λ', 'mu']
    """
    return name in (*GREEK, "ell", "hbar") or (len(name.rstrip("0123456789")) == 1 and name[0].isalpha())


def factors(source: SourceText, known: Collection[str]) -> frozenset[str]:
    """List the names before parentheses that are factors, and no functions: `A(x + b)` is a product.

    They have values, or are letters in the notation of matrices, unless functions are usually called so, and before no
    whole number alone: `x(1)` is an element in MATLAB.
    """
    tokens = source.tokens
    called = {one.text for one, after in itertools.pairwise(tokens) if one.kind == "name" and after.text == "("}
    defined = {one.text for before, one in itertools.pairwise(tokens) if before.text in (";", "\n")} | {tokens[0].text}
    defined = defined if any(token.text == "=" for token in tokens) else set()
    of_numbers = {
        one.text for one, _, inner in zip(tokens, tokens[1:], tokens[2:], strict=False) if inner.kind == "number"
    }
    functions = FUNCTIONS | {"S"} & of_numbers  # SymPy's S(1)
    likely = {name for name in called if is_letter(name) and name not in functions} if source.matrix_mark else set()
    likely = called & {*known, *(likely - defined)}
    places = _with_places(tokens) if likely else frozenset()
    return frozenset(name for name in likely - places if ops.find(name) is None)


def _with_places(tokens: Sequence[Token]) -> frozenset[str]:
    """List the names with a whole number alone in parentheses, as `x(1)`."""
    fours = zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False)
    around = (a.text for a, b, c, d in fours if a.kind == "name" and b.text + d.text == "()" and c.text.isdecimal())
    return frozenset(around)


FUNCTIONS = frozenset(["f", "g", "h", "F", "G", "H", "phi", "psi", *map(chr, (0x3C6, 0x3C8, 0x3C3))])
"""Letters that functions are called by, among them phi, psi and sigma in Greek."""


def cut_remarks(program: Program) -> Iterator[str]:
    """Generate the remarks on names that were cut though nothing names their parts."""
    for name, reading in program.joined:
        yield f"'{name}' is read as {reading}; a value or a shape by the name {name} makes it one variable"


def that_hold(remarks: Iterable[str], variables: Collection[str]) -> tuple[str, ...]:
    """Select the remarks on a text that hold where these names are variables, as a value makes E one.

    >>> that_hold([on_euler(), "..."], ["E"]), len(that_hold([on_euler(), "..."], ["x"]))
    (('...',), 2)
    """
    return tuple(one for one in remarks if EULER not in variables or one != on_euler())


def _assigned(source: SourceText) -> set[str]:
    """List the names that statements, arguments and loops bind."""
    pairs = itertools.pairwise(source.tokens)
    loops = {after.text for before, after in itertools.pairwise(source.tokens) if before.text == "for"}
    return {one.text for one, after in pairs if one.kind == "name" and after.text == "="} | loops


def _may_be_several(tokens: Sequence[Token], n: int, assigned: Collection[str]) -> bool:
    """Tell whether a word is a name that nothing else in the language has, and may be cut."""
    token = tokens[n]
    is_long = token.kind == "name" and 2 <= len(token.text) <= LONGEST_JOINED
    if not is_long or ("_" in token.text and not _is_power_of_e(tokens, n)):
        return False
    around = tokens[n - 1].text if n else "", tokens[n + 1].text
    if around[0] == "." or around[1] in (".", "(", "=") or token.text in assigned:
        return False
    return ops.find(token.text) is None and token.text not in (*CONSTANTS, *GREEK, *_ELEMENTARY)


def _parts_of(source: SourceText, token: Token, names: Collection[str]) -> Sequence[str]:
    """Cut a word into known names.

    Raises:
        LanguageError: There are two ways.
    """
    word, is_known = token.text, token.text in names
    if not names or (is_known and not source.matrix_mark):
        return ()
    pieces = {word[start:stop] for start in range(len(word)) for stop in range(start + 1, len(word) + 1)} - {word}
    usable = {piece for piece in pieces if piece in names or piece == word[-1:] == "I"}
    ways = _ways(word, usable)
    if len(ways) > 1 or (ways and is_known):
        readings = [" ".join(way) for way in ways[:2]]
        readings = [word, readings[0]] if is_known else readings
        message = f"'{word}' may be {readings[0]}{' alone' * is_known}, or {readings[1]}"
        hint = f"write {readings[1]} for the product" + (
            f", and give the variable {word} another name" if is_known else f", or {readings[0]}, with blanks"
        )
        raise source.error(message, token.span, hint=hint)
    return ways[0] if ways and any(part in names for part in ways[0]) else ()


def _ways(word: str, names: Collection[str]) -> list[tuple[str, ...]]:
    """List the ways, at most two, in which a word is names one after the other."""
    ways: list[list[tuple[str, ...]]] = [[()], *([] for _ in word)]
    for stop in range(1, len(word) + 1):
        for start in range(stop):
            if word[start:stop] in names:
                ways[stop] += [(*way, word[start:stop]) for way in ways[start]][:2]
                ways[stop] = ways[stop][:2]
    return ways[-1]


def _likely_parts(
    word: str, letters: Collection[str], names: Collection[str], *, is_adjacent: bool, is_matrix: bool
) -> Sequence[str]:
    """Cut a word of which nothing is known into its letters, if it looks like a product."""
    if not word.isalpha():
        return ()
    if word.islower() and len({*word}) == len(word) <= 3 and {*word} <= {*letters, *("xyzt" if is_adjacent else "")}:
        return tuple(word)
    if not (is_adjacent or is_matrix):
        return ()
    is_pair = len(word) == 2 and word[0].isascii() and word[0].isupper() and word[1].islower() and word not in _SYMBOLS
    is_multiple = is_matrix and len(word) == 2 and word[1] == "I" and word[0].islower()
    has_capital = any(letter.isupper() for letter in word)
    is_several = is_matrix and has_capital and ({*word} <= {*letters} or bool({*word} & {*names}))
    return tuple(word) if is_pair or is_multiple or is_several else ()


def _parts_with_constant(source: SourceText, n: int, letters: Collection[str]) -> Sequence[str]:
    """Cut a word into letters and π, `nπx`, or letters and Euler's number with a variable exponent, `xe^(-x)`."""
    token = source.tokens[n]
    if PI in token.text:
        return [part for part in re.split(f"({PI})", token.text) if part]
    has_variable = re.compile(_EXPONENT).match(source.text, token.span.stop) is not None
    if token.text[-1] in letters or not has_variable or not _is_power_of_e(source.tokens, n):
        return ()
    before = token.text[:-1]
    if before in letters or re.fullmatch(r"[^\W\d_](?:_?\d+)?", before):
        return (before, EULER)
    return (*before, EULER) if len({*before}) == len(before) <= 3 and {*before} <= {*letters} else ()


def _is_power_of_e(tokens: Sequence[Token], n: int) -> bool:
    """Tell whether a name ends in Euler's number and has an exponent."""
    return tokens[n].text.endswith(("e", EULER)) and tokens[n + 1].text in POWERS


_SYMBOLS = frozenset("Re Im Ei Ci Si Ai Bi Li Id Tr Pr Pe Ra Nu Ma St Mg Na".split())
"""Usual names of a capital letter and a small one."""


def _split(token: Token, parts: Sequence[str]) -> Iterator[Token]:
    """Generate the words of a name that is cut."""
    start, is_exact = token.span.start, token.span.stop - token.span.start == len(token.text)
    for part in parts:
        span = Span(start, start + len(part)) if is_exact else token.span
        yield Token("name", "pi" if part == PI else part, span)
        start += len(part)


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
    if program.source == "EXPR":
        from gradcli.language.lower.no_variables import require_none

        require_none(in_ascii_signs(program.text), names, given)
    for name in names:
        if name == "e" or name in _ELSEWHERE:
            _require_no_function(program, name)
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


_ELSEWHERE = frozenset("lg lb ld tg ctg cotg arctg sgn signum sen seno cosec sh ch th".split())
"""Functions by the names that they have elsewhere, which stand before an argument without parentheses."""

_ARGUMENT = r"\s+(?!(?:if|else|for|in|and|or|not|is)\b)[\w(]"
_NO_LETTER_BEFORE = r"(?<![^\W\d⁰¹²³⁴⁵⁶⁷⁸⁹])(?<!\.)(?<![^\W\d⁰¹²³⁴⁵⁶⁷⁸⁹]\d)"
"""Where a word may begin: after no letter, nor a letter with a digit; after a number and an exponent, `x²e^x`."""

_EXPONENT = r"\s*(?:\^|\*\*)[-+\s]*(?:[({][^)}=;]*?)?\\?[^\W\d]"
"""Exponent with a variable, which stands on Euler's number: `e^x`, `e**(-2*x)`, and not `e^2`."""


def _require_no_function(program: Program, name: str) -> None:
    """Refuse a name without a value that stands for a function elsewhere, `lg x`, or for Euler's number, `e^x`.

    Raises:
        UncalledFunctionError: It is a function.
        LanguageError: It is Euler's number.
    """
    behind = "(?!)" if program.source != "EXPR" else _EXPONENT if name == "e" else _ARGUMENT
    if (found := re.search(rf"{_NO_LETTER_BEFORE}{re.escape(name)}(?={behind})", in_ascii_signs(program.text))) is None:
        return
    place = Place(program.text, Span(*found.span()), program.source)
    if name == "e":
        raise LanguageError(
            "'e' with a variable exponent is Euler's number, which is E here",
            place=place,
            hint=f"write E for the number; {option('at', 'e=VALUE')} or {option('shape', 'e=()')} makes e a variable",
        )
    message = f"'{name}' is a function elsewhere, and no variable with a value"
    raise UncalledFunctionError(message, place=place, hint=f"{option('at', f'{name}=VALUE')} makes it a variable")


def meant(name: str, known: Collection[str] = ()) -> str | None:
    """Hint at the parts of an unknown name, if it may be several.

    >>> meant("cosx"), meant("total")
    ('write cos(x)', None)
    """
    found = apart(name, known)
    return f"write {found}" if found else None


def product_of(name: str, known: Collection[str]) -> str | None:
    """Write a name as the product of letters that are all known, one of which may be e for Euler's number.

    >>> product_of("xe", ["x"]), product_of("xy", ["x", "y"]), product_of("re", ["x"]), product_of("be", ["b", "e"])
    ('x*E', 'x*y', None, 'b*e')
    """
    letters = {*known} - {name}
    if len(name) < 2 or not {*name} <= {*letters, "e"} or not {*name} & letters:
        return None
    return "*".join(one if one in letters else EULER for one in name)


def called_after(name: str) -> tuple[str, str] | None:
    """Take apart an unknown function, if a factor or a function is written before one: what opens it, and closes it.

    >>> called_after("xsin"), called_after("logcosh"), called_after("total")
    (('x*sin', ''), ('log(cosh', ')'), None)
    """
    if (found := apart(f"{name}x")) is not None and found.endswith("(x)"):
        return found.removesuffix("(x)"), ""
    pair = re.fullmatch(
        f"({_any(_OTHERS | _ELEMENTARY | {'log'})})({_any(_ELEMENTARY | {'log'})})", name[:LONGEST_JOINED]
    )
    return (f"{pair[1]}({pair[2]}", ")") if pair else None


def place_of(program: Program, name: str = "") -> Place:
    """Return the Place of the first use of a name in the text of a Program; of the whole text without one."""
    found = re.search(rf"{_NO_LETTER_BEFORE}{re.escape(name)}(?!\w)", program.text) if name else None
    span = Span(*found.span()) if found else Span(0, len(program.text))
    return Place(program.text, span, program.source)
