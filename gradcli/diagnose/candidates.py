"""Candidates: other forms of a function whose numbers are bad, the best known forms first.

A candidate is the same function in exact arithmetic wherever the original has a value and a derivative.  Whether it is
better at a point is for the judge to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradcli.diagnose.forms import MOST_LINES, MOST_TEXT, Form
from gradcli.diagnose.guards import guarded
from gradcli.diagnose.identities import KNOWN
from gradcli.errors import Span
from gradcli.language.program.wengert import Program, Shape

MOST_CANDIDATES = 20
"""Most candidates for one function."""


def readable(program: Program, shapes: Mapping[str, Shape]) -> Form | None:
    """Make a form of a Program; None for one that is too long, part of a snippet, or depends on values."""
    is_long = len(program.lines) > MOST_LINES or len(program.text) > MOST_TEXT
    if program.shown or program.needs_values or is_long or not program.output.is_Symbol:
        return None
    return Form(program, shapes)


def candidates(original: Form, culprit: Span | None = None) -> Iterator[Form]:
    """Yield other forms of a function, the most likely to help first.

    Args:
        original: The function as typed.
        culprit: The place of the operation that made the number bad: it is guarded where it stands in a branch.

    >>> from gradcli.language.parsing import parse
    >>> next(candidates(Form(parse("(1 - cos(x))/x")))).text
    '2*sin(x/2)**2/x'
    """
    seen: set[str] = set()
    for form in _proposed(original, culprit):
        if form is not None and form.text not in seen:
            seen.add(form.text)
            yield form
        if len(seen) >= MOST_CANDIDATES:
            return


def _proposed(original: Form, culprit: Span | None) -> Iterator[Form | None]:
    """Yield the forms with the culprit's branch guarded, by each rule, with all branches guarded, and by all rules."""
    blamed = [line.symbol for line in original.program.lines if line.span == culprit]
    for atom in blamed[-1:]:
        yield guarded(original, atom)
    fitting = []
    for rule in KNOWN:
        found = rule.everywhere(original)
        fitting += [rule] if found is not None else []
        yield found
    yield guarded(original, None)
    together = original
    for rule in (*fitting, *KNOWN) if fitting else ():  # the result of one rule may fit another rule
        together = rule.everywhere(together) or together
    yield together if fitting else None
