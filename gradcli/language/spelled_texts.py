"""Other spellings of a text that cannot be read: by the table, by the word that an error is at, and by open brackets.

Those that can be read are the hint of the error; the one that is meant beyond doubt is read in place of the text.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial

from gradcli import trial
from gradcli.errors import CodeError, GradcliError, LanguageError, Span, UncalledFunctionError, UnknownFunctionError
from gradcli.language import ops
from gradcli.language.spelled_calls import CHOICES, binomial
from gradcli.language.spellings import ARGUMENT, CALLS, OTHER_NAMES, SAME_CALLS, SAME_NAMES, TEXTS, Spelling
from gradcli.language.text import hints
from gradcli.language.text.signs import parted

LONGEST = 400
"""Characters of a text up to which other spellings of it are tried."""

LONGEST_SHOWN = 200
"""Characters of a spelling that is shown whole."""


def respelled(text: str, error: GradcliError, rows: tuple[Spelling, ...] = TEXTS) -> Iterator[trial.SpelledGroup[str]]:
    """Generate other spellings of a text, by what is wrong with it and by the rows of a table, a group each."""
    if rows is TEXTS:
        yield trial.SpelledGroup(_elements(text, error))
        yield from _by_error(text, error)
    for row in rows:
        yield trial.SpelledGroup((_with_fixed(text, one) for one in row.respelled(text)), row.is_sure)
    yield trial.SpelledGroup(_closed(text))


def _by_error(text: str, error: GradcliError) -> Iterator[trial.SpelledGroup[str]]:
    """Generate spellings of the word that an error is at, a group each."""
    if error.place is None or error.place.text != text:
        return
    span = error.place.span
    word = text[span.start : span.stop]
    argument = re.compile(r"\s+" + ARGUMENT).match(text, span.stop)
    if isinstance(error, UncalledFunctionError) and argument is not None:
        alone = [_replaced(text, Span(span.start, argument.end()), f"{word}({argument['argument']})")]
        if (power := re.compile(_POWER).match(text, argument.end())) is not None:
            inside = f"{word}({argument['argument']}{power[0]})"
            alone.insert(0, _replaced(text, Span(span.start, power.end()), inside))
        yield trial.SpelledGroup(alone, is_sure=len(alone) == 1)
    if isinstance(error, UncalledFunctionError) and word == text.strip():
        yield trial.SpelledGroup([f"{word}(x)"])
    apart = [*_all_apart(text, word, error)]
    yield trial.SpelledGroup(apart, is_sure=len(apart) == 1 and _has_greek_angles(text, apart[0]))
    names = [*_names_for(word, error)]
    by_name = [_with_name(text, error, *one) for one in names]
    by_name += [one for name, closing in names if not closing for one in _with_powers_inside(text, word, name)]
    yield trial.SpelledGroup(by_name, is_sure=bool(by_name) and _is_sure_name(word, error))
    if (form := CALLS.get(word)) is not None and text[span.stop : span.stop + 1] == "(":
        stop = _closing(text, span.stop)
        given = text[span.stop + 1 : stop]
        arguments = parted(given)
        is_of_numbers = word in CHOICES and all(map(str.isdecimal, arguments))  # which has a row of its own
        if "{all}" in form or (not is_of_numbers and len({*re.findall(r"\{\d\}", form)}) == len(arguments)):
            called = _replaced(text, Span(span.start, stop + 1), form.format(*arguments, all=given))
            is_positive = word in ("gamma", "Gamma", "Γ", "factorial") and re.fullmatch(r"[\d./\s]+", given) is not None
            yield trial.SpelledGroup([called], word in SAME_CALLS or is_positive)
    yield trial.SpelledGroup(_grouped(text, error))
    if "is never closed" not in error.text.message and word in (")", "]", "}"):
        yield trial.SpelledGroup([_replaced(text, span, "")])


def _with_name(text: str, error: GradcliError, other: str, closing: str) -> str:
    """Write another name for the word that an error is at, wherever it stands, or here with what closes its call."""
    span = error.place.span if error.place is not None else Span(0, 0)
    if closing:
        stop = _closing(text, span.stop)
        return _replaced(text, Span(span.start, stop), other + text[span.stop : stop] + closing)
    called = r"(?=\s*\()" if isinstance(error, UnknownFunctionError) else ""
    before = r"(?<!\w)" if called else r"(?<![\w.])"
    found = rf"{before}(?P<factor>(?:\d+\.?\d*)?){re.escape(text[slice(*span)])}(?!\w){called}"
    return re.sub(found, lambda one: one["factor"] + other, text)


def _all_apart(text: str, word: str, error: GradcliError) -> Iterator[str]:
    """Take apart each of several names that are words written together, `sinφ cosθ`; the powers after them inside too.

    >>> list(_all_apart("sinx cosx", "sinx", LanguageError(""))), list(_all_apart("sinx", "sinx", LanguageError("")))
    (['sin(x) cos(x)'], [])
    """
    if isinstance(error, UnknownFunctionError | UncalledFunctionError):
        return
    names = {*re.findall(r"(?<![\w.])[^\W\d]\w*(?![\w(.])", text)}
    if len(names) < 2:
        return
    from gradcli.language.lower.juxtaposed_names import apart

    found = {one: apart(one) for one in names}
    several = {one: parts for one, parts in found.items() if parts is not None}
    if word not in several or len(several) < 2:
        return
    inside = alone = text
    for one, parts in several.items():
        alone = re.sub(rf"(?<![\w.]){one}(?!\w)", parts, alone)
        inside = next(_with_powers_inside(inside, one, parts), re.sub(rf"(?<![\w.]){one}(?!\w)", parts, inside))
    yield alone
    if inside != alone:
        yield inside


def _has_greek_angles(text: str, spelled: str) -> bool:
    """Tell whether parentheses around letters beyond ASCII are all that is added: nobody calls a variable `sinθ`.

    >>> _has_greek_angles("r sinθ cosφ", "r sin(θ) cos(φ)"), _has_greek_angles("r sinx", "r sin(x)")
    (True, False)
    """
    found = re.sub(r"(?<=[a-z])\(([^\W\d_])\)", lambda one: one[0] if one[1].isascii() else one[1], spelled)
    return found == text != spelled


_NO_INDEX = re.compile(r"\^|\*\*|\w\(|\\")
"""What stands in brackets that group, `4ε[(σ/r)^12 - (σ/r)^6]`, and in no index."""


def _grouped(text: str, error: GradcliError) -> Iterator[str]:
    """Write parentheses for brackets after a name that hold no index, which an error is in."""
    start = error.place.span.start if error.place is not None else 0
    depths = itertools.accumulate((sign == "]") - (sign == "[") for sign in reversed(text[:start]))
    opening = next((start - 1 - n for n, depth in enumerate(depths) if depth < 0), -1)
    closing = _closing(text, opening) if opening >= 0 else len(text)
    if "integer constant" in error.text.message and closing < len(text):
        inside = text[opening + 1 : closing]
        if _NO_INDEX.search(inside) and "%" not in inside and "//" not in inside:
            yield f"{text[:opening].rstrip()}*({inside}){text[closing + 1 :]}"


_POWER = r"\s*(?:(?:\^|\*\*)\s*(?:-?[\w.]+|\([^()]*\))|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"


def _with_powers_inside(text: str, word: str, called: str) -> Iterator[str]:
    """Write `sin(x^2)` for `sinx^2`, which may be sin(x)^2 as well; nothing where no power is after the word.

    >>> list(_with_powers_inside("2sinx^2 + sinx", "sinx", "sin(x)")), list(_with_powers_inside("pix^2", "pix", "pi*x"))
    (['2sin(x^2) + sin(x)'], [])
    """
    found = re.compile(rf"(?<![\w.])(?P<factor>(?:\d+\.?\d*)?){re.escape(word)}(?!\w)(?P<power>{_POWER})?")
    if word.isidentifier() and called.endswith(")") and any(one["power"] for one in found.finditer(text)):
        yield found.sub(lambda one: f"{one['factor']}{called[:-1]}{one['power'] or ''})", text)


def _is_sure_name(word: str, error: GradcliError) -> bool:
    """Tell whether a name has one meaning: it is another name, or a function with what stands before it, `xsin(x)`."""
    if word in OTHER_NAMES:
        return word in SAME_NAMES
    from gradcli.language.lower import juxtaposed_names

    if not isinstance(error, UnknownFunctionError):  # sinx may be a variable
        return isinstance(error, LanguageError) and _has_greek_angles(word, juxtaposed_names.apart(word) or "")
    plain = {known.replace("_", "") for known in ops.names()}
    return word.lower().replace("_", "") in plain or juxtaposed_names.called_after(word) is not None


def _elements(text: str, error: GradcliError) -> Iterator[str]:
    """Generate `x[0]^2` for `x(1)^2`, an element that is counted from 1, if all calls of an unknown name look so."""
    if not isinstance(error, UnknownFunctionError) or error.place is None or error.place.text != text:
        return
    from gradcli.language.lower.juxtaposed_names import FUNCTIONS

    word = text[slice(*error.place.span)]
    called = rf"(?<![\w.]){re.escape(word)}\("
    element = re.compile(rf"{called}((?:\s*[1-9]\d*\s*,?)+)\)")
    is_known = word in (*FUNCTIONS, *CALLS, *OTHER_NAMES, *_ELSEWHERE)
    if not is_known and len(element.findall(text)) == len(re.findall(called, text)):
        if word == "C":
            yield re.sub(rf"{called}\s*(\d+)\s*,\s*(\d+)\s*\)", binomial, text)
        yield element.sub(lambda found: f"{word}[{','.join(str(int(n) - 1) for n in found[1].split(','))}]", text)


_SUBSCRIPT = r"(?<![\w.])([^\W\d_]+)_(?:([a-z])(?!\w)|\{([a-z])\})"
"""A name with an index of a sum, `x_j`."""


def _with_fixed(text: str, spelled: str) -> str:
    """Write elements for names with numbers, whose name has the index of a sum that is spelled without it.

    They count from 0 where one is 0, or where the sum is from 0 on.

    >>> _with_fixed("s_0 - log(sum_j exp(s_j))", "s_0 - log(sum(exp(s)))"), _with_fixed("x_1 + y_1", "x_1 + y_1")
    ('s[0] - log(sum(exp(s)))', 'x_1 + y_1')
    """
    left = {found[1] for found in re.finditer(_SUBSCRIPT, spelled)}
    for name in {found[1] for found in re.finditer(_SUBSCRIPT, text)} - left:
        fixed = re.compile(rf"(?<![\w.]){name}_(?:(\d)(?!\w)|\{{(\d)\}})")
        from_0 = re.search(rf"(?<![\w.]){name}_\{{?0|_\{{?\s*[a-z]\s*=\s*0", text) is not None
        spelled = fixed.sub(partial(_element, name, 0 if from_0 else 1), spelled)
    return spelled


def _element(name: str, first: int, found: re.Match[str]) -> str:
    return f"{name}[{int(found[1] or found[2]) - first}]"


_ELSEWHERE = frozenset("choose nthroot surd root mod rem fix nCr nCk nPr gcd lcm".split())
"""Functions from elsewhere that rows spell."""


def _names_for(word: str, error: GradcliError) -> Iterator[tuple[str, str]]:
    """Generate what may be meant by a name that is not known, with what then stands after its argument."""
    if not word.isidentifier():
        return
    from gradcli.language.lower import juxtaposed_names  # SymPy is imported once a text was read
    from gradcli.language.program.wengert import CONSTANTS

    yield from ((name, "") for name in OTHER_NAMES.get(word, ()))
    if word in (*OTHER_NAMES, *CALLS, *hints.FACTS):
        return
    if not isinstance(error, UnknownFunctionError):
        parts = juxtaposed_names.apart(word)
        yield from [] if parts is None else [(parts, "")]
        return
    plain = {known.replace("_", ""): known for known in ops.names()}
    if (same := plain.get(word.lower().replace("_", ""))) is not None:  # MSELoss, ReLU
        yield same, ""
    elif (parted := juxtaposed_names.called_after(word)) is not None:
        yield parted
    elif (len(word) == 1 and word not in juxtaposed_names.FUNCTIONS and word not in "ΣΠ∑∏") or word in CONSTANTS:
        yield f"{word}*", ""
    else:
        yield from (
            (name, "") for name in difflib.get_close_matches(word, list(ops.names()), 1, 0.72 if len(word) > 5 else 0.8)
        )


def _replaced(text: str, span: Span, other: str) -> str:
    return text[: span.start] + other + text[span.stop :]


def _closing(text: str, opening: int) -> int:
    """Return the place of the parenthesis that closes one, or the end of the text."""
    depth = 0
    for n in range(opening, len(text)):
        depth += (text[n] in "([{") - (text[n] in ")]}")
        if depth == 0:
            return n
    return len(text)


def _closed(text: str) -> Iterator[str]:
    """Close the brackets that are open at the end."""
    pairs, left = {"(": ")", "[": "]", "{": "}"}, list[str]()
    for sign in text:
        if sign in pairs:
            left.append(pairs[sign])
        elif left and sign == left[-1]:
            left.pop()
    if left:
        yield text + "".join(reversed(left))


PAGE = "gradcli guide language shows what is read"
"""Hint at the page that says what is expected, where no spelling is known."""


def page_for(error: GradcliError) -> str | None:
    """Return the hint at the page, of an error of the language."""
    return PAGE if isinstance(error, LanguageError | UnknownFunctionError) else None


def fact_of(error: GradcliError) -> str:
    """Return the hint of an error if it is a fact, which says why a spelling answers; else nothing."""
    if hints.UNITLESS in error.text.message:
        return f"{hints.NO_UNITS}; "
    return f"{error.text.hint}; " if error.text.hint in (hints.NO_INTEGRAL, hints.NO_MATRIX) else ""


def is_form(hint: str | None) -> bool:
    """Tell whether a hint is a form that nobody has tried, or missing."""
    return hint is None or (hint.startswith("write ") and "..." in hint)


def is_script(error: GradcliError, text: str) -> bool:
    """Tell whether a text is several statements of code, of which no other spelling is answered unasked."""
    return isinstance(error, CodeError) and (";" in text or "import " in text)


def advise(
    error: GradcliError, text: str, read: Callable[[str], object], rows: tuple[Spelling, ...] = TEXTS
) -> str | None:
    """Give an error the spellings of its text that can be read as its hint, where there are some.

    Args:
        error: The error.
        text: The text.
        read: Reads a spelling, or raises.
        rows: The table.

    Returns:
        The spelling that is meant beyond doubt, which may be read in place of the text; None where there is none.
    """
    if not trial.has_hints() or len(text) > LONGEST or "\n" in text.strip():
        return None

    def failure(spelled: str) -> GradcliError | None:
        try:
            with trial.trying():
                read(spelled)
        except trial.ReadError:
            return None
        except GradcliError as raised:
            return raised
        return None

    found = trial.spellings(text, error, partial(respelled, rows=rows), failure)
    if found.spelled and max(map(len, found.spelled)) <= LONGEST_SHOWN:
        error.advise(f"write {', or '.join(found.spelled)}")
        return None if is_script(error, text) else found.meant
    if is_form(error.text.hint) and not isinstance(error, CodeError):
        error.advise(page_for(error))
    return None
