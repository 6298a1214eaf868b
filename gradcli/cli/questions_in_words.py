"""Questions in the words of a textbook or of another tool: `d/dx x^2`, `diff(x^2, x)`, `x^2 at 3`.

They read as products of names, so they are refused; the command line that asks the same is what `asked` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradcli.cli.default_command import DERIVATIVE, IMPLICIT, SUM_OF_HESSIAN, SUM_OF_JACOBIAN
from gradcli.cli.higher_derivatives import is_of_several, nested, require_low_order, require_none_in_words
from gradcli.errors import UsageError
from gradcli.language.text.signs import NAME, compared, is_balanced, parted_at, unwrapped

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

_HIGHER = re.compile(
    r"[3-5\u00b3\u2074\u2075]|['\u2032]{3}|[\u2034\u2057]|\bthird\b|\bfourth\b|\bfifth\b|[dD](?:iff|erivative)?[(\[]"
    r"|[d\u2202]\s*/.*[d\u2202]\s*/"
)
"""Signs of a derivative of a higher order, or of several, without which none is looked for."""

_POINT = re.compile(
    r"\s*(?P<function>\S.*?)\s*(?:/\.\s*(?P<rules>\{[^{}]*\}|[^{},]+->[^{},]+)"
    r"|\.(?:subs|replace)\((?P<subs>[^()]*)\)(?:\.(?:evalf|n|doit)\(\))?"
    r"|(?:\\(?:big|Big|bigg|Bigg)?(?:r\s*)?)?(?:\||\\rvert|\\vert)\s*_\s*\{(?P<bar>[^{}]*=[^{}]*)\})\s*",
    re.DOTALL,
)
"""A point after a function: `/. x -> 1` of Mathematica, `.subs(x, 1)` of SymPy, `|_{x=1}` on paper."""

_RULE = re.compile(r"[({]*\s*([^\W\d]\w*)\s*(?:->|=|:|,)\s*([^,;=:<>]+?)\s*[)}]*\s*(?:[,;]|$)")
_OF_LAMBDA = re.compile(
    r"\s*(?:[\w.]+\.)?(?P<noun>jacobian|hessian|jac(?:rev|fwd)|grad|gradient|derivative|jacobian|elementwise_grad)"
    r"\(\s*lambda\s+(?P<names>[\w\s,]+?)\s*:\s*(?P<rest>[^\n;]+)\)\s*"
)
"""A derivative of a function without a name: `jax.grad(lambda x: x**2)(3.0)`."""

_DECLARED = re.compile(r"[\w\s,]+=\s*(?:\w+\.)?(?:symbols|Symbol)\s*\([^()]*\)")
"""Declaration of variables in SymPy."""

_PASSED_OVER = re.compile(r"(?:from|import)\s|#|(?:\w+\.)?init_printing\(")
_ASSIGNED = re.compile(r"([^\W\d]\w*)\s*=(?!=)\s*(.+)")
_WRAPPED = re.compile(
    r"(?:\w+\.)?(?:print|pprint|display|simplify|expand|factor|latex)\(([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*)\)"
)
_OPERAND = r"[^\s*/^+=<>@.,;:!%&)\]-]"
"""First sign of a function after the sign of its derivative; another sign is an operator of a product."""

_ARROW = r"\s*(?:->|→|\\to|\\rightarrow|(?:goes|tends)\s+to|approaches)\s*"
_LIMIT = re.compile(
    rf"\s*\\?lim(?:it)?s?\s*(?:_\s*)?[{{(]?\s*(?P<by>{NAME}){_ARROW}(?P<to>[-+.\w∞\\]+)\s*[}})]?\s+(?:of\s+)?"
    r"(?P<function>\S.*)"
    r"|\s*(?:sp\.|sympy\.)?[lL]imit\s*[(\[](?P<first>.+),\s*(?P<of>[^\W\d]\w*)\s*(?:,|->)\s*(?P<at>[-+.\w∞\\]+)\s*[)\]]\s*"
    r"|\s*(?:(?:what\s+is|find|compute|calculate)\s+)?(?:the\s+)?[lL]im(?:it)?(?:\s+of\s+|\s+|(?=\())(?P<whole>\S.*?)"
    rf"(?:,\s*(?:as\s+|when\s+|for\s+)?|\s+(?:as|when|for)\s+)(?P<goes>{NAME}){_ARROW}(?P<there>[-+.\w∞\\]+)\s*"
)
"""A limit, `lim x->0 sin(x)/x`: the value there, which `eval` finds where the function only has a hole."""

_INFINITE = re.compile(r"[-+]?(?:inf(?:inity|ty)?|oo|∞|\\infty)", re.IGNORECASE)
"""Infinity, as a variable's limit is written."""

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

_HANDLE = re.compile(
    r"\s*(?P<name>\w+)\s*=\s*@\s*\((?P<names>[^()]*)\)\s*(?P<function>[^;\n]+?)\s*[;\n]\s*"
    r"(?P=name)\s*\((?P<values>[^;]*)\)\s*;?\s*"
)
"""A function of MATLAB and its call: `f = @(x) x.^2 + 1; f(3)`."""

_NABLA = r"(?:∇|\\?nabla\b)\s*"
_FIELD = re.compile(
    rf"\s*(?:(?P<trace>[lL]aplacian|{_NABLA}(?:²|(?:\^|\*\*)\s*\{{?2\}}?))"
    rf"|(?P<rows>[dD]iv(?=\s*[(\[]\s*[\[{{(])|[dD]ivergence|[cC]url|rot|{_NABLA}(?:[·.×⋅∙*]|\\cdot|\\times)))"
    r"\s*(?:[(\[](?P<function>.+?)(?:,\s*[\[{](?P<by>[^\[\]{}()]*)[\]}])?[)\]]|(?<=[\s²})])(?P<bare>[^\W\d]\S*.*))\s*",
    re.DOTALL,
)
"""An operator of vector analysis on a function, `laplacian(x^2*y)`."""

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
_AT = re.compile(
    r"\s*(?P<function>[^\s].*?)\s+(?:at|when|where)\s+(?P<at>[-+\[(\d.]|[^\W\d]\w*(?:\.\w+)*\s*=[^=])(?P<rest>.*)",
    re.DOTALL,
)
"""An expression with its point after it, `x^2 at 3`."""

_AT_VALUES = re.compile(
    r"\s*(?P<function>[^\s=;][^=;]*?)(?:\s+(?:for|where|with|given)\s+|\s*[,;|@]\s*)"
    r"(?P<at>[^\W\d])(?P<rest>\w*\s*=\s*(?:\[[^=;]*\]|[-+\d.eEpiπ*/^]+)\s*(?:[,;]\s*[^\W\d]\w*\s*=\s*(?:\[[^=;]*\]|[-+\d.eEpiπ*/^]+)\s*)*)"
)
"""The same with a value for each variable after a sign or a word, `x^2; x=3`, `x*y for x=1, y=2`."""

_IN_BRACKETS = re.compile(r"^(\s*([d∂])\s*(?:\^?2|²)?\s*/\s*\2[^\W\d]\w*(?:\^2|²)?\s*)\[([^\[\],;]*)\](?=\s|$)")
"""The brackets of `d/dx [x^2]`, which are parentheses."""

_RANGED = re.compile(r"\.\.|[…∈<≤]|\b(?:on|over|from|between|to|in|within)\b")
"""Signs and words of a range."""

_LONGEST = 400
"""Characters of a text up to which ranges and derivatives along equations are looked for."""

_OF_TOOLS = r"/\.|\.subs|\.replace|_\s*\{|[lL]im|['\u2032\u2033@]|lambda|ymbol|;\s*d\w+\s*/"
_SIGNS = re.compile(rf"{_OF_TOOLS}|{_RANGED.pattern}|^\s*[d∂].*=")
"""Signs of another tool, of a range or of an equation, without which nothing further is looked for."""

_MARKED = re.compile(rf"{_SIGNS.pattern}|^\s*[dD\u2202]|[/=]")
"""These, and signs of derivatives and equations."""


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
    named = [] if command == DERIVATIVE else [command]
    text = _IN_BRACKETS.sub(r"\1(\3)", text)
    if _MARKED.search(text) is not None and (marked := _marked(text, command, named)) is not None:
        yield from marked
        return
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
        yield (
            ["check", function, "--claim", right[0], *point]
            if is_claim
            else [noun, right[0] if right and right[0] and noun != "hessian" else function, *point]
        )
        return
    if text.rstrip()[-1:] in (")", "]") or text.startswith("∇"):
        yield from _of_operators(text)
    is_checked = command == "check" and "=" in text and len(_of_equation(text)) == 1
    if command in (DERIVATIVE, "grad", "vjp", "jacobian") or is_checked:
        yield from _of_equation(text)
    if (found := _at_point(text)) is not None:
        at = re.sub(r"\s+and\s+|;", ",", f"{found['at']}{found['rest']}").replace(" ", "")
        yield [*named, found["function"], "--at", at]


def _parts(found: re.Match[str]) -> dict[str, str]:
    """Return the parts of a derivative by their names, empty where the pattern has none."""
    parts = dict.fromkeys(
        ("noun", "by", "over", "all", "twice", "other", "at", "of", "wrt", "second"), ""
    ) | found.groupdict("")
    if found.re is _SECOND:
        parts |= {"twice": "2", "function": (parts["inside"] or parts["function"]) + parts["claim"]}
    return parts


def _of_tools(text: str, command: str, named: list[str]) -> Iterator[list[str]]:
    """Generate what a text asks in the words of SymPy, Mathematica, MATLAB, JAX or torch."""
    if others := _on_range(text, command) or _along_equation(text):
        yield from others
    elif re.search(_OF_TOOLS, text) is None:
        return
    elif is_of_sympy(text):
        yield from _of_sympy(text)
    elif (placed := _placed(text)) is not None:
        function, rules = placed
        found_in = [*asked(function, command)] or [[*named, function]]
        yield from ([*words, *_at(rules)] for words in found_in)
    elif (called := _called(text, named)) is not None:
        yield called


def _at(rules: Sequence[str]) -> list[str]:
    """Return the words that give variables their values."""
    return [word for one in rules for word in ("--at", one)]


def _placed(text: str) -> tuple[str, list[str]] | None:
    """Part a function from the point that is written after it.

    >>> _placed("D[x^2, x] /. x -> 1"), _placed("diff(x*y, x).subs({x: 1, y: 2})")
    (('D[x^2, x]', ['x=1']), ('diff(x*y, x)', ['x=1', 'y=2']))
    """
    if (found := _POINT.fullmatch(text)) is None or "\n" in text:
        return None
    point = found["rules"] or found["subs"] or found["bar"]
    rules = _RULE.findall(point)
    is_whole = bool(rules) and not _RULE.sub("", point).strip(" )}")
    return (found["function"], [f"{name}={value}" for name, value in rules]) if is_whole else None


def is_of_sympy(text: str) -> bool:
    """Tell whether a text is a script of SymPy, which declares its variables."""
    return _DECLARED.search(text) is not None


def _of_sympy(text: str) -> Iterator[list[str]]:
    """Generate what a script of SymPy asks last, with the statements before it.

    >>> [*_of_sympy("x, y = symbols('x y'); f = sin(x)*y; print(diff(f, x))")]
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


def _called(text: str, named: list[str]) -> list[str] | None:
    """Return the words that ask what a call of a function without a name, a derivative by its prime or a limit asks.

    >>> _called("jax.grad(lambda x: x**2)(3.0)", []), _called("f = @(x) x.^2; f(3)", [])
    (['grad', 'x**2', '--at', 'x=3.0'], ['x.^2', '--at', 'x=3'])
    >>> _called("f''(2) where f(x) = x^4", []), _called("lim x->0 sin(x)/x", [])
    (['hessian', 'x^4', '--at', 'x=2'], ['eval', 'sin(x)/x', '--at', 'x=0'])
    >>> _called("lim x->inf (1 + 1/x)^x", [])
    ['eval', 'x = 1/t^2; (1 + 1/x)^x', '--at', 't=0']
    """
    if (found := _LIMIT.fullmatch(text)) is not None:
        by, to = found["by"] or found["of"] or found["goes"], found["to"] or found["at"] or found["there"]
        function = unwrapped(found["function"] or found["first"] or found["whole"]).strip()
        if _INFINITE.fullmatch(to):  # where 1/t^2 goes from both sides of 0
            t = next(name for name in ("t", "s", "u", "t_0") if re.search(rf"(?<![^\W\d_]){name}", function) is None)
            function, by, to = f"{by} = {'-' * to.startswith('-')}1/{t}^2; {function}", t, "0"
        return ["eval", function, "--at", f"{by}={to}"]
    if (found := _PRIMED.fullmatch(text) or _PRIMED_AFTER.fullmatch(text)) is not None:
        is_twice = len(found["primes"].replace("\N{DOUBLE PRIME}", "''")) == 2
        noun = "hessian" if is_twice else "grad"
        at = found["at"].strip()
        return [noun, found["function"].strip(), *_at([f"{found['by']}={at}"] if at != found["by"] else [])]
    if (claimed := _claimed(text)) is not None:
        return claimed
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
    return [*named, function.strip(), *_at([f"{name}={value}" for name, value in zip(variables, given, strict=False)])]


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
            return ["grad" if is_first else "hessian", function, *_at([f"x={found['at']}"] if is_point else [])]
        return ["check", function, "--claim", found["claim"]] if is_first and not is_point else None
    if (found := _PRIMED_CLAIM.fullmatch(text)) is None:
        return None
    if (whole := found["whole"]) is not None:
        return ["check", whole, "--claim", found["of_whole"]] if is_balanced(whole) else None
    by = [one for one in (found["by"], found["of"], found["over"]) if one is not None]
    words = ["check", found["function"], "--claim", found["claim"]]
    return [*words, *(["--wrt", by[0]] if by else [])] if len({*by}) <= 1 else None


class _Field(NamedTuple):
    """An operator of vector analysis on a function.

    Attributes:
        is_trace: Whether it is of the Hessian, and not of the Jacobian.
        function: The function, a list where it has several components.
        by: The variables, separated by commas; empty where none are named.
    """

    is_trace: bool
    function: str
    by: str


def _field(text: str) -> _Field | None:
    """Match an operator of vector analysis on one function; `div(a, b)` is a quotient.

    >>> _field("∇·(x**2, y**2)"), _field("∇²(x^2)"), _field("div([a, b], c)")
    (_Field(is_trace=False, function='[x**2, y**2]', by=''), _Field(is_trace=True, function='x^2', by=''), None)
    """
    found = _FIELD.fullmatch(text)
    if found is None or (found["rows"] == "div" and found["by"] is not None):
        return None
    function = (found["function"] or found["bare"]).strip()
    inside = function[1:-1] if function[:1] + function[-1:] in ("{}", "()", "[]") else function
    parts = [one.strip() for one in parted_at(inside, ",")]
    is_list = len(parts) > 1 and all(parts) and all(map(is_balanced, parts))
    if is_list and found["rows"] not in (None, "div"):
        function = f"[{', '.join(parts)}]"
    is_one = is_balanced(function) and not (found["bare"] and function.isidentifier())
    return _Field(bool(found["trace"]), function, (found["by"] or "").replace(" ", "")) if is_one else None


def is_near(text: str) -> bool:
    """Tell whether a text asks for what is computed from derivatives that the answer gives, or claims a second one.

    >>> is_near("laplacian(x^2)"), is_near("d^2/dx^2 x^4 = 12x^2"), is_near("d^2/dx^2 x^4 at x = 1")
    (True, True, False)
    """
    if _on_range(text, DERIVATIVE):
        return False
    left, *right = compared(re.sub(r"\s(?:at|for|where|when|if|with)\s.*", "", text)).sides
    is_claim = bool(right) and any(words[0] == "hessian" for words in asked(left))
    return is_claim or _field(text) is not None or bool(_of_equation(text) or _along_equation(text))


def _on_range(text: str, command: str) -> list[list[str]]:
    """Return the command lines for a function with its range in words, `x^2 on [0, 1]`."""
    if len(text) > _LONGEST or _RANGED.search(text) is None:
        return []
    from gradcli.cli.ranges_in_words import asked_on_range  # which few texts need

    return asked_on_range(text, command)


def _of_equation(text: str) -> list[list[str]]:
    """Return the command lines for the partial derivatives of F, where a text is an equation F = 0."""
    if "=" not in text and "iff" not in text and "mplicit" not in text:
        return []
    from gradcli.cli.equations_in_words import of_equation  # which few texts need

    return of_equation(text)


def _along_equation(text: str) -> list[list[str]]:
    """Return those of a derivative along an equation, `dy/dx of x^2 + y^2 = 25`."""
    if len(text) > _LONGEST or "=" not in text or not ("of" in text or "/" in text):
        return []
    from gradcli.cli.equations_in_words import asked_along

    return asked_along(text)


def _of_operators(text: str) -> Iterator[list[str]]:
    """Generate what a method of SymPy's asks, and an operator of vector analysis.

    >>> [*_of_operators("(x*y).diff(x)")], [*_of_operators("laplacian(x^2)")]
    ([['grad', 'x*y', '--wrt', 'x']], [['hessian', 'x^2']])
    """
    if (found := _METHOD.fullmatch(text)) is not None:
        named = "grad" if found["noun"] in ("diff", "gradient") else found["noun"]
        yield [named, found["list"] or unwrapped(found["function"]), "--wrt", found["by"].replace(" ", "")]
    elif (field := _field(text)) is not None:
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
    if (field := _field(text)) is not None:
        return f"{SUM_OF_HESSIAN if field.is_trace else SUM_OF_JACOBIAN}, which gradcli does not add up"
    if _on_range(text, DERIVATIVE):
        return "the range stands in the expression"
    if _of_equation(text) or _along_equation(text):
        return IMPLICIT
    if is_near(text):
        return "a claim is of the first derivative, and hessian has the second"
    is_point = bool(_at_point(text) or _placed(text)) and not (_PHRASE.fullmatch(text) or _APPLIED.fullmatch(text))
    return "the point stands in the expression" if is_point else "the expression is a question in words"


def _is_one(found: re.Match[str]) -> bool:
    """Tell whether what is differentiated is one expression: its brackets balance, and no comma outside parts it."""
    text = found["function"]
    is_bare = not (found["by"] or found["over"] or found["all"])
    is_difference = is_bare and re.match(r"\s*(?:[d∂D]|[dD]iff)\s*[(\[]", found[0]) is not None
    return not (text.strip().isidentifier() or is_difference) and is_balanced(text)


def _at_point(text: str) -> re.Match[str] | None:
    """Match an expression with its point after it.

    >>> bool(_at_point("x^2; x=3")), bool(_at_point("f(x, y=2)")), bool(_at_point("y = x; x=3"))
    (True, False, False)
    """
    found = _AT_VALUES.fullmatch(text) if "=" in text else None
    return found if found is not None and is_balanced(found["function"]) else _AT.fullmatch(text)
