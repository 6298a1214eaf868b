"""Words of English in the place of signs and of commands: `x squared`, `slope of x^2 at 3`, `is relu smooth at 0`.

They read as products of names, as `sin x cos x` does.  So where such a word stands next to another one, with no
operator between them, the text is put into signs, and what it then asks is asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gradcli.cli.default_command import DERIVATIVE, lacking, other_commands, other_names
from gradcli.cli.suggestions import questions_in_words
from gradcli.cli.suggestions.equations_in_words import rate_after
from gradcli.cli.suggestions.higher_derivatives import higher_derivative
from gradcli.errors import UsageError
from gradcli.registry import questions

_WORDS = (
    "of the times plus minus over squared cubed twice wrt to divided multiplied raised with what what's whats find "
    "show compute calculate evaluate derivative gradient when is sine cosine half double triple choose"
)
_FIRST = (
    "partial slope tangent minimize maximize minimise maximise minimum maximum plot graph draw simplify expand factor "
    "integrate integral solve roots taylor hessian jacobian vjp jvp grad explain value rate differentiate steps prove "
    "verify critical third"
)
_BETWEEN = rf"(?:(?<=[\w)\]|%] )|(?<=\^))(?:{'|'.join(_WORDS.split())})(?=(?: [\w(\[|√])|$)"
_AT_FIRST = rf"^(?:{'|'.join((*_WORDS.split(), *_FIRST.split()))})(?= [\w(\[|√])"
_WORD = re.compile("|".join((*_WORDS.split(), *_FIRST.split())))
_PLAIN = re.compile(rf"{_AT_FIRST}|{_BETWEEN}", re.IGNORECASE)
"""A word of English next to another word, with no operator between them."""

_CODE = re.compile(r"[;\n#'\"]|\b(?:def|return|lambda|import|else|in)\b|\bfor \w+ of\b|^if\b")
"""A text of several statements, or one that is code."""

_VALUES = r"^((?:(?! at | for | where | with ).)*[\w)\]]) (?=(?:[a-z]\w*=-?[\d.]+[, ]*)+$)"
"""A text with values behind it and no word between, `x*y x=1 y=2`, up to these."""

_UNREAD = re.compile(r"\d and \d|^[a-zA-Z] ?\(\w+(?:, ?\w+)*\)$")
"""Values that are no list, or a definition, that was taken for a part of the function."""

_NEVER = re.compile(
    r"(?:^|(?<=[\w)\]|%] ))(?:of|the|wrt|what|find|sine|cosine|half|double|triple|choose)(?= [\w(\[|√])"
)
"""Words that are hardly variables, and stay where a text was not understood."""

_INNER = r"\((?:[^()]|\([^()]*\))*\)"
_FACTOR = rf"{_INNER}|\w+{_INNER}|[\w.]+"
_NO_NUMBER = r"(?![\d.]+ ?[-+*/])"
_OPERANDS = (
    rf"{_NO_NUMBER}({_INNER}|(?:\w+{_INNER}|[\w.]+)(?:\s*\^\s*[\w.]+)?)",
    rf"{_NO_NUMBER}({_FACTOR})",
    rf"{_NO_NUMBER}((?:{_FACTOR})(?: (?:pi|[a-zA-Z])(?![\w.]))*)",
)
"""What `square root of` is of: a factor with its power, or without it, or with the factors after it.

None is a number before a sign: `log of one plus x` is hardly `log(1) + x`.
"""

_NUMBERS = dict(zip("zero one two three four five six seven eight nine ten".split(), map(str, range(11)), strict=True))
_FUNCTIONS = {
    "square root": "sqrt",
    "cube root": "cbrt",
    "absolute value": "abs",
    "natural log": "log",
    "natural logarithm": "log",
    "logarithm": "log",
    "sine": "sin",
    "cosine": "cos",
    "exponential": "exp",
}
_ASKING = (
    "please|can you|show me|give me|tell me|what is|what are|what's|whats|how do i|find|compute|calculate|show|the|an?"
)
_SIGNS = (
    (r"[?.!]+$", ""),
    (r"^why (?:is|does|are) (?=.* of )", ""),
    (r"(?<=[\w)\]])(?: (?:is|be|give|become)s?)? (?:nan|inf(?:init[ey])?|none|wrong|undefined|not defined)$", ""),
    (r"\blog(?:arithm)? (?:to (?:the )?)?base (2|10) of ", r"log\1 of "),
    (r"^(?:(?:show|give) me )?(?:the )?steps (?:for|of) (?:d/d\w+ )?", "explain "),
    (rf"^(?:(?:{_ASKING}) )+", ""),
    (r"^(?:prove|check|verify|show) (?:that |whether |if )?(?=d/d)", ""),
    (r"\bthe (?=[a-z])", ""),
    (_VALUES, r"\1 at "),
    (r"(?<=of )[a-zA-Z] ?\([a-z](?:, ?[a-z])*\) ?= ?", ""),
    (r" squared\b", "^2"),
    (r" cubed\b", "^3"),
    (r"(?<!respect)(?<!goes)(?<!tends) (?:raised )?to (?:power of |power )?(?=[\w(])", "^"),
    (r"\^minus ([a-zA-Z]|\d+)(?!\w| [a-zA-Z]\b)", r"^-\1"),
    (r" (?:times|multiplied by) ", "*"),
    (r" plus ", " + "),
    (r" minus ", " - "),
    (r" (?:divided by|over) ", "/"),
    (r"(?<![\w.=^*,])(\d+) (?=[a-zA-Z]\b)", r"\1"),
    (r"\b(sin|cos)(?:ine|e) (?=[\w(])(?!of )", r"\1 "),
    (r"\btwice (?=[\w(])(?!at |wrt |with )", "2*"),
    (r"\b(?:(?:1|a) )?half (?:of )?(?=[\w(])", "1/2*"),
    (r"\bwhen (\w+) (?:is|equals) ", r"at \1="),
    (r"(?<= at )(.*\d) and (?=[-\d])", r"\1,"),
)
"""Words with the signs that they stand for, in the order in which they are replaced."""

_NOUN = re.compile(
    r"^(?:(?:partial|total|first) )?(?:derivative|gradient|grad|slope|rate of change|differential|partial)"
    r"(?: of| for)? (?=[\w(\[|√])",
    re.IGNORECASE,
)
_TWICE = re.compile(r"^differentiate (.+) twice((?: at .+)?)$", re.IGNORECASE)
_SMOOTH = re.compile(r"^is (.+?)(?: not)? (?:differentiable|smooth)(?: (at .+))?$", re.IGNORECASE)
_IS_CLAIM = re.compile(r"^(?:check|verify|prove|show|is)\b", re.IGNORECASE)
_CLAIMED = re.compile(
    r"^(?:check |verify |prove |show )?(?:that |whether |if )?(?:is )?"
    r"(?:(?:derivative|gradient) of (?P<f>\S+) (?:is |equals |= ?)?(?P<claim>[^=\s].*)"
    r"|(?P<first>.+) derivative of (?P<of>.+))$"
)
_DRAWN = ("graph", "draw", "sketch")
_FROM = re.compile(r"^(.+) from (\S+) to (\S+)$")
_TASKS = re.compile(
    r"^(?:(?P<solve>(?:critical|stationary) points|roots|zeros)"
    r"|(?P<optimize>gradient descent|minimi[sz]e|maximi[sz]e|minim(?:um|a)|maxim(?:um|a)))\b"
)
"""What gradcli does not do, in more than a word, by the name of a command that it lacks."""


def asked(text: str, command: str = DERIVATIVE) -> Iterator[list[str]]:
    """Generate the words of command lines that ask what a text asks, in the words of a textbook or in plain ones.

    Args:
        text: The words in the place of an expression.
        command: The command before them, which may be part of the question.

    >>> [*asked("slope of x squared at 3")], [*asked("x times y")]
    ([['grad', 'x^2', '--at', '3']], [['x*y']])
    >>> [*asked("is relu differentiable at 0")], [*asked("plot sin(x) from 0 to pi")]
    ([['grad', 'relu(x)', '--at', '0']], [['plot', 'sin(x)', '--in', '0..pi']])
    >>> [*asked("check that the derivative of x^2 is 2x")], [*asked("slope*x + to")]
    ([['check', 'x^2', '--claim', '2x']], [])
    """
    if (rated := rate_after(text)) is not None:
        yield rated
        return
    as_written, whole = [*questions_in_words.asked(text, command)], " ".join(text.split())
    if not _is_plain(whole) or _is_read(as_written, whole) or _task(whole):
        yield from as_written
        return
    named = [] if command == DERIVATIVE else [command]
    seen = [as_written[:0]]
    for signs in dict.fromkeys(_in_signs(whole, operand) for operand in _OPERANDS):
        for own, function, *options in _in_words(whole, signs):
            lines = [*questions_in_words.asked(function, own or command)] or [[*([own] if own else named), function]]
            for words in lines:
                if [words] not in seen:
                    seen.append([words])
                    yield [*words, *options]


def require_mathematics(text: str, command: str = "grad", given: Collection[str] = ()) -> None:
    """Refuse plain words: `x squared`, `minimize x^2`.

    Args:
        text: The words in the place of an expression.
        command: The command before them.
        given: The names that have values: none of them is a word of English.

    Raises:
        UsageError: The words are a question, or ask for what gradcli does not do.
    """
    whole = " ".join(text.split())
    if higher_derivative(whole) is not None:  # which `require_none` refuses
        return
    if _is_sentence(whole, given):
        raise UsageError(
            f"these are words, and no expression: {whole}",
            hint="a product of names has its signs, mass*height*width; gradcli guide WORD looks a word up",
        )
    is_named = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", whole) for name in given if _WORD.fullmatch(name))
    if _is_plain(whole) and not is_named and not _is_read([*questions_in_words.asked(text, command)], whole):
        if fact := _task(whole):
            raise UsageError(f"the words ask for something else than a derivative: {whole}", hint=fact)
        if any(asked(text, command)) or _NEVER.search(whole):
            raise UsageError(f"the expression is a question in words: {whole}")


_LETTERS_OF_WORDS = re.compile(r"(?:[a-zA-Z]{2,}[,?!.]?(?: |$)){3,}")


def _is_sentence(text: str, given: Collection[str]) -> bool:
    """Tell whether a text is three or more words in a row, and nothing else: no functions, and no names with values.

    >>> [_is_sentence(text, []) for text in ("can be implicitly created", "alpha beta gamma", "xy yz zx")]
    [True, False, False]
    """
    if not _LETTERS_OF_WORDS.fullmatch(text):
        return False
    from gradcli.language.ops import find
    from gradcli.language.text.greek import LETTERS

    words = re.findall(r"\w+", text)
    with_vowels = [word for word in words if re.search("[aeiou]", word.lower())]
    is_known = any(word in given or word in LETTERS.values() or find(word) is not None for word in words)
    return len(with_vowels) > 1 and not is_known


def _is_read(lines: list[list[str]], text: str) -> bool:
    """Tell whether the command lines of a text have no word left that is no mathematics."""
    words = [word for line in lines for word in line]
    return bool(words) and not re.match(_VALUES, text) and not any(map(_is_left, words))


def _is_left(word: str) -> bool:
    return _UNREAD.search(word) is not None or _PLAIN.search(word) is not None


def _is_plain(text: str) -> bool:
    return _PLAIN.search(text) is not None and _CODE.search(text.replace("what's", "what is")) is None


def _task(text: str) -> str:
    """Say what gradcli has in place of what a text asks for, if it lacks that; else nothing."""
    signs = _in_signs(text, _OPERANDS[0])
    found, first = _TASKS.match(signs), signs.partition(" ")[0].lower()
    name = (
        first if found is None or lacking(first) else next(task for task, words in found.groupdict().items() if words)
    )
    return "" if name in other_names() or name in questions() or name == "limit" else lacking(name)


def _in_words(text: str, signs: str) -> Iterator[list[str]]:
    """Generate the command that a text of plain words asks for, empty where none, the text in signs, and options."""
    if _IS_CLAIM.match(text) and (found := _CLAIMED.match(signs)) is not None:
        yield ["check", found["f"] or found["of"], "--claim", found["claim"] or found["first"]]
    elif (found := _SMOOTH.match(signs)) is not None:
        function = found[1] if re.search(r"\W", found[1]) else f"{found[1]}(x)"
        yield ["grad", f"{function} {found[2] or ''}".strip()]
    elif (found := _TWICE.match(signs)) is not None:
        yield ["hessian", found[1] + found[2]]
    elif (of_noun := _NOUN.sub("derivative of ", signs)) != signs or signs.startswith("derivative of "):
        yield ["grad", of_noun]
    else:
        first, _, rest = signs.partition(" ")
        first = "plot" if first in _DRAWN and "plot" in questions() else first
        command = other_names().get(first, first if first in questions() else other_commands().get(first, ("",))[0])
        command = command if command in questions() or command == "plot" or first not in other_names() else ""
        rest = rest.removeprefix("of ")
        if not command or not re.match(r"[\w(\[|√]", rest):
            yield from [["", signs]] if signs != text else []
        elif (drawn := _FROM.match(re.sub(r"^\w+ (?:of )?", "", text))) is not None:
            yield [command, drawn[1], "--in", f"{drawn[2]}..{drawn[3]}"]
        else:
            yield [command, _NOUN.sub("", rest)]


def _in_signs(text: str, operand: str) -> str:
    """Put signs in the place of words.

    >>> _in_signs("what is the square root of x plus one over y", _OPERANDS[0]), _in_signs("e to the x", _OPERANDS[0])
    ('sqrt(x) + 1/y', 'e^x')
    """
    from gradcli.language.ops import find

    for word, number in _NUMBERS.items():
        text = re.sub(rf"\b{word}\b", number, text)
    for words, sign in _SIGNS:
        text = re.sub(words, sign, text, flags=re.IGNORECASE)
    for words, name in _FUNCTIONS.items():
        text = re.sub(rf"\b{words} of {operand}", rf"{name}(\1)", text, flags=re.IGNORECASE)
    for name in dict.fromkeys(re.findall(r"\b([a-z]\w*) of ", text)):
        if (op := find(name)) is not None and len(op.operands) == 1:
            text = re.sub(rf"\b{name} of {operand}", rf"{name}(\1)", text)
    return re.sub(r"\((\((?:[^()]|\([^()]*\))*\))\)", r"\1", text).strip()
