"""What else a function may be written as where its numbers are bad: complete texts, the best known ones first.

A candidate is the same function in exact arithmetic wherever the original has a value and a derivative.  Whether it is
better at a point is for the judge to say.

Last come quotients that are 0/0 at one point, with the limit put in: `where(x == 0, 1 + 0.5*x, n/where(x == 0, 1, d))`.
The value and the first derivative at the point are those of the limit; everywhere else nothing changes.  Only a
quotient that is made of one variable element by element has one limit for all of its elements.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
import sympy

from gradcli.diagnose.guards import guarded
from gradcli.diagnose.occurrences import Reading, read_places
from gradcli.diagnose.patterns import RULES, Match, Rule, pattern
from gradcli.diagnose.splicing import decimal, filled, joined
from gradcli.errors import GradcliError, Span
from gradcli.language.ops import Kind
from gradcli.language.program import numeric
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.language.text.tokens import tokenize

MOST_LINES = 2_000
"""Operations of a Program that is looked at."""

MOST_TEXT = 20_000
"""Characters of a text that is looked at, or made."""

MOST_INLINED = 400
"""Characters of a text whose names are written out."""

MOST_CANDIDATES = 20
"""Candidates for one function."""

MOST_ROUNDS = 8
"""How often one rule is applied to what it gave: it may apply to parts of parts."""


LONGEST_NAME = 30
"""Characters of a sub-expression that a reason repeats."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Another text of a function, and why.

    Attributes:
        expression: The text.
        reason: What it avoids.
        basis: The text with no series in it, if it has some: these are the same to float64, which was proved of them.
    """

    expression: str
    reason: str
    basis: str = ""


def candidates(
    program: Program, shapes: Mapping[str, Shape] = MappingProxyType({}), culprit: Line | None = None
) -> Iterator[Candidate]:
    """Other texts of a function, the most likely to help first; none for a snippet.

    Args:
        program: As typed.
        shapes: Of the variables by name, where they are known: a softmax is told from a quotient of exponentials by
            them.
        culprit: The operation that made the number bad, if it is known: it is guarded where it stands in a branch.

    >>> from gradcli.language.parsing import parse
    >>> next(candidates(parse("(1 - cos(x))/x"))).expression
    '2*sin(x/2)**2/x'
    """
    original = readable(program, shapes)
    if original is None:
        return
    seen = {original.text}
    for text, reason in _proposed(original, culprit):
        if text not in seen and is_sound(original, text):
            seen.add(text)
            yield Candidate(text.strip(), reason)
        if len(seen) > MOST_CANDIDATES:
            return


def readable(program: Program, shapes: Mapping[str, Shape]) -> Reading | None:
    """A Program with its places; None for one that is too long, or part of a snippet."""
    if program.shown or len(program.lines) > MOST_LINES or len(program.text) > MOST_TEXT:
        return None
    try:
        reading = read_places(program.text, program.names, shapes)
    except GradcliError:
        return None
    return reading if reading.program.names == program.names else None


def is_sound(original: Reading, text: str) -> bool:
    """Whether a text is read, with the same variables and the same shape of the result."""
    reading = again(original, text)
    return reading is not None and is_alike(original, reading)


def is_alike(original: Reading, reading: Reading) -> bool:
    """Whether a text has the same variables and the same shape of the result."""
    if set(reading.program.names) != set(original.program.names):
        return False
    return reading.shape(reading.program.output) == original.shape(original.program.output)


def again(original: Reading, text: str) -> Reading | None:
    """A text made of another one, with its places; None if it cannot be read."""
    if len(text) > MOST_TEXT:
        return None
    try:
        return read_places(text, original.program.names, original.sizes)
    except GradcliError:
        return None


def tidy(original: Reading, text: str) -> str:
    """A text without the statements that it no longer uses."""
    for _ in range(MOST_ROUNDS if len(original.statements) > 1 else 0):
        reading = again(original, text)
        if reading is None:
            break
        shorter = reading.without_unused(original.unused)
        if shorter == text or not is_sound(original, shorter):
            break
        text = shorter
    return text


def _proposed(original: Reading, culprit: Line | None) -> Iterator[tuple[str, str]]:
    """Texts with their reasons: of the culprit's branch, of each rule, of every branch, and of all rules together."""
    read = partial(again, original)
    if culprit is not None:
        yield from _tidied(original, guarded(original, culprit, read))
    fitting = []
    for rule in RULES:
        found = applied(original, rule)
        if found is not None:
            fitting.append(rule)
            yield tidy(original, found[0]), found[1]
    yield from _tidied(original, guarded(original, None, read))
    together, reasons = original, []
    for rule in (*fitting, *RULES) if fitting else ():  # what one rule gives may be what another one looks for
        found = applied(together, rule)
        reading = None if found is None else read(found[0])
        if found is not None and reading is not None:
            together = reading
            reasons.append(found[1])
    yield tidy(original, together.text), "; ".join(dict.fromkeys(reasons))


def _tidied(original: Reading, found: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for text, reason in found:
        yield tidy(original, text), reason


def applied(original: Reading, rule: Rule) -> tuple[str, str] | None:
    """The text with a rule applied wherever it fits, and to what that gives, and why; None if it fits nowhere."""
    reading, text, reason = original, "", ""
    for _ in range(MOST_ROUNDS):
        edits: dict[Span, str] = {}
        for atom in reading.nodes:
            found = _edits(reading, rule, atom)
            edits |= {span: edit.text for span, edit in found.items()}
            reason = reason or next((_reason(rule, edit) for edit in found.values()), "")
        if not edits:
            break
        text = reading.edited(edits)
        following = again(original, text)
        if following is None:
            return None
        reading = following
    return (text, reason) if text else None


def inlined(reading: Reading) -> str:
    """The text with its names written out, as one expression; empty where it has none, or where that is too long.

    >>> inlined(read_places("s = sin(x); t = x - s\\nt/x**3"))
    '(x - sin(x))/x**3'
    """
    texts: dict[str, str] = {}
    if not any(statement.name for statement in reading.statements):
        return ""
    last = ""
    for statement in reading.statements:
        first, stop = reading.ends(statement.span)
        tokens = reading.tokens[first:stop]
        if statement.name:
            if len(tokens) < 3 or tokens[0].text != statement.name or tokens[1].text != "=":
                return ""
            tokens = tokens[2:]
        last = filled(joined(reading.text, tokens), texts)
        if len(last) > MOST_INLINED or any(token.kind == "keyword" for token in tokens):
            return ""
        texts[statement.name] = last
    return last


def steps(original: Reading, rule: Rule) -> Iterator[tuple[str, str]]:
    """The texts with a rule applied once, to one value in each way that fits, and why."""
    for atom in original.nodes:
        places = original.places(atom)
        for form, replacement in rule.forms if places else ():
            for match in pattern(form).matches(original.nodes, atom):
                template = replacement if isinstance(replacement, str) else replacement(match, original, atom)
                found = None if template is None else _step(original, template, match, places)
                if found is not None:
                    yield found[0], _reason(rule, found[1])


def _step(original: Reading, template: str, match: Match, places: list[Span]) -> tuple[str, _Edit] | None:
    """A template at all places of a value, its definitions before the text; None where a part cannot be written."""
    *definitions, body = template.split("; ")
    fresh = {name: _fresh(original, name) for name in (d.partition(" = ")[0] for d in definitions)}
    edits = {span: _edit(original, body, match, span, fresh) for span in places}
    before = [_edit(original, definition, match, places[0], fresh) for definition in definitions]
    first = next(iter(edits.values()))
    assigned = {statement.name for statement in original.statements}
    if first is None or None in edits.values() or any(d is None or _words(d) & assigned for d in before):
        return None
    text = original.edited({span: edit.text for span, edit in edits.items() if edit is not None})
    return "; ".join([*(d.text for d in before if d is not None), text.lstrip()]), first


def _words(edit: _Edit) -> set[str]:
    """The names in the texts of a form's names."""
    return {token.text for text in edit.names.values() for token in tokenize(text) if token.kind == "name"}


def _fresh(original: Reading, name: str) -> str:
    """A name that the text has not."""
    taken = {token.text for token in original.tokens}
    return next(n for n in (name, *(f"{name}{k}" for k in range(1, len(taken) + 2))) if n not in taken)


@dataclass(frozen=True, slots=True)
class _Edit:
    """What is written at a range, and the texts of the names of its form."""

    text: str
    names: Mapping[str, str]


def _edits(reading: Reading, rule: Rule, atom: Atom) -> dict[Span, _Edit]:
    """What a rule writes for a value, at each of its places."""
    places = reading.places(atom)
    for form, replacement in rule.forms if places else ():
        for match in pattern(form).matches(reading.nodes, atom):
            template = replacement if isinstance(replacement, str) else replacement(match, reading, atom)
            if template is not None:
                edits = {span: _edit(reading, template, match, span) for span in places}
                return {span: edit for span, edit in edits.items() if edit is not None}
    return {}


def _edit(
    reading: Reading, template: str, match: Match, span: Span, defined: Mapping[str, str] = MappingProxyType({})
) -> _Edit | None:
    """A template with the texts of a match at a range; None if one of them cannot be written there."""
    texts = dict(defined)
    for token in tokenize(template):
        if token.kind == "name" and token.text in match.names:
            text = reading.shown(match.names[token.text], span)
            if text is None:
                return None
            texts[token.text] = text
    return _Edit(filled(template, texts), texts)


def _reason(rule: Rule, edit: _Edit) -> str:
    """Why, in the user's own names unless they are long."""
    short = {name: text for name, text in edit.names.items() if len(text) <= LONGEST_NAME}
    return re.sub(r"\{(\w)\}", lambda found: short.get(found[1], found[1]), rule.reason)


def quotients(program: Program, variable: str, point: float) -> tuple[Line, ...]:
    """The quotients of one variable, element by element, that are 0/0 at a point.

    >>> from gradcli.language.parsing import parse
    >>> [str(line.call) for line in quotients(parse("y*(exp(x) - 1)/x + sin(x)/x + 1/x"), "x", 0.0)]
    ['div(_t4, x)']
    """
    lines = {line.symbol: line for line in program.lines}
    of_x: dict[Atom, bool] = {symbol: str(symbol) == variable for symbol in program.variables}
    found = []
    for line in program.lines:
        is_plain = line.call.op.kind is Kind.ELEMENTWISE
        of_x[line.symbol] = is_plain and all(of_x.get(a, not isinstance(a, sympy.Symbol)) for a in line.call.operands)
        if line.call.op.name == "div" and of_x[line.symbol]:
            above, below = line.call.operands
            if isinstance(below, sympy.Symbol) and all(
                _value(program, lines, a, variable, point) == 0 for a in (above, below)
            ):
                found.append(line)
    return tuple(found)


def _value(program: Program, lines: Mapping[Atom, Line], atom: Atom, variable: str, point: float) -> float | None:
    """A part of a Program of one variable at a point; None if NumPy cannot say."""
    needed: list[Line] = []
    waiting, known = [atom], set[Atom]()
    while waiting:
        line = lines.get(waiting.pop())
        if line is not None and line.symbol not in known:
            known.add(line.symbol)
            needed.append(line)
            waiting += line.call.operands
    kept = tuple(line for line in program.lines if line.symbol in known)
    symbol = sympy.Symbol(variable, real=True)
    try:
        return float(numeric.run(Program(program.text, (), kept, atom), {symbol: np.asarray(point)}))
    except GradcliError:
        return None


def removable_candidates(
    program: Program,
    line: Line,
    variable: str,
    point: float,
    limit: float,
    slope: float,
    shapes: Mapping[str, Shape] = MappingProxyType({}),
) -> Iterator[Candidate]:
    """The function with the limit of a quotient put in; nothing if its text cannot be changed.

    Args:
        program: As typed.
        line: One of `quotients`, with the same variable and point.
        variable: The name that the quotient is made of.
        point: Where it is 0/0.
        limit: Of the quotient there.
        slope: The limit of its derivative there.
        shapes: Of the variables by name, where they are known.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("(exp(x) - 1)/x")
    >>> (line,) = quotients(program, "x", 0.0)
    >>> next(removable_candidates(program, line, "x", 0.0, 1.0, 0.5)).expression
    'where(x == 0, 1 + 0.5*x, (exp(x) - 1)/where(x == 0, 1, x))'
    """
    reading = readable(program, shapes) if all(map(math.isfinite, (point, limit, slope))) else None
    atom = None if reading is None else reading.operations.get(line.span)
    if reading is None or atom is None or reading.nodes[atom].op.name != "div":
        return
    above, below = reading.nodes[atom].operands
    template = template_at(variable, point, limit, slope)
    edits = {}
    for span in reading.places(atom):
        texts = {"n": reading.shown(above, span), "d": reading.shown(below, span)}
        if None not in texts.values():
            edits[span] = filled(template, {name: text or "" for name, text in texts.items()})
    text = reading.edited(edits)
    if edits and is_sound(reading, text):
        at = f"{variable} = {decimal(point)}"
        yield Candidate(text.strip(), f"the quotient is 0/0 at {at}, where its limit is {decimal(limit)}")


def template_at(variable: str, point: float, limit: float, slope: float) -> str:
    """The quotient of n and d with its limit, and the slope of its limit, put in at a point.

    >>> template_at("x", -1.0, 0.0, -0.25)
    'where(x == -1, -0.25*(x + 1), n/where(x == -1, 1, d))'
    """
    distance = variable if point == 0 else f"({variable} {'-' if point > 0 else '+'} {decimal(abs(point))})"
    size = decimal(abs(slope))
    product = distance if size == "1" else f"{size}*{distance}"
    sign = "-" if slope < 0 else "+"
    if slope == 0:
        tangent = decimal(limit)
    elif limit == 0:
        tangent = product if slope > 0 else f"-{product}"
    else:
        tangent = f"{decimal(limit)} {sign} {product}"
    at = f"{variable} == {decimal(point)}"
    return f"where({at}, {tangent}, n/where({at}, 1, d))"
