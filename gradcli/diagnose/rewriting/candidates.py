"""What else a function may be written as where its numbers are bad: complete texts, the best known ones first.

A candidate is the same function in exact arithmetic wherever the original has a value and a derivative.  Whether it is
better at a point is for the judge to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from gradcli.diagnose.rewriting.guards import guarded
from gradcli.diagnose.rewriting.matching import Match, pattern
from gradcli.diagnose.rewriting.occurrences import Reading
from gradcli.diagnose.rewriting.patterns import RULES, Rule
from gradcli.diagnose.rewriting.recording import read_places
from gradcli.diagnose.rewriting.splicing import filled
from gradcli.errors import GradcliError, Span
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.language.text.tokens import tokenize

MOST_LINES = 2_000
"""Operations of a Program that is looked at."""

MOST_TEXT = 20_000
"""Characters of a text that is looked at, or made."""

MOST_CANDIDATES = 20
"""Candidates for one function."""

MOST_ROUNDS = 8
"""How often one rule is applied to what it gave: it may apply to parts of parts."""


LONGEST_NAME = 30
"""Characters of a sub-expression that a reason repeats."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Another text of a function, and why."""

    expression: str
    reason: str


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
    if reading is None or set(reading.program.names) != set(original.program.names):
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


def _edit(reading: Reading, template: str, match: Match, span: Span) -> _Edit | None:
    """A template with the texts of a match at a range; None if one of them cannot be written there."""
    texts = {}
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
