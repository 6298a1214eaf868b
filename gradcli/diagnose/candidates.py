"""What else a function may be written as where its numbers are bad, the best known forms first.

A candidate is the same function in exact arithmetic wherever the original has a value and a derivative.  Whether it is
better at a point is for the judge to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gradcli.diagnose.forms import MOST_LINES, MOST_TEXT, Form
from gradcli.diagnose.guards import guarded
from gradcli.diagnose.identities import KNOWN
from gradcli.errors import Span
from gradcli.language.program.wengert import Program, Shape

MOST_CANDIDATES = 20
"""Candidates for one function."""


@dataclass(frozen=True)
class Candidate:
    """Another form of a function, and why.

    Attributes:
        form: It.
        reasons: What it avoids.
        basis: The form with no series in it, if it has some: these are the same to float64, which was proved of them.
    """

    form: Form
    reasons: tuple[str, ...]
    basis: Form | None = None

    @property
    def text(self) -> str:
        """Of the form."""
        return self.form.text

    @property
    def same(self) -> Form:
        """The form that is the function beyond float64 too."""
        return self.basis or self.form


def readable(program: Program, shapes: Mapping[str, Shape]) -> Form | None:
    """A Program as a form; None for one that is too long, part of a snippet, or depends on values."""
    is_long = len(program.lines) > MOST_LINES or len(program.text) > MOST_TEXT
    if program.shown or program.needs_values or is_long or not program.output.is_Symbol:
        return None
    return Form(program, shapes)


def candidates(original: Form, culprit: Span | None = None) -> Iterator[Candidate]:
    """Other forms of a function, the most likely to help first.

    Args:
        original: As typed.
        culprit: The place of the operation that made the number bad: that is guarded where it stands in a branch.

    >>> from gradcli.language.parsing import parse
    >>> next(candidates(Form(parse("(1 - cos(x))/x")))).text
    '2*sin(x/2)**2/x'
    """
    seen: set[str] = set()
    for form, *reasons in _proposed(original, culprit):
        if form.text not in seen:
            seen.add(form.text)
            yield Candidate(form, tuple(reasons))
        if len(seen) >= MOST_CANDIDATES:
            return


def _proposed(original: Form, culprit: Span | None) -> Iterator[tuple[Form, *tuple[str, ...]]]:
    """Forms with their reasons: of the culprit's branch, of each rule, of every branch, and of all rules together."""
    blamed = [line.symbol for line in original.program.lines if line.span == culprit]
    for atom in blamed[-1:]:
        yield from guarded(original, atom)
    fitting = []
    for rule in KNOWN:
        found = rule.everywhere(original)
        if found is not None:
            fitting.append(rule)
            yield found
    yield from guarded(original, None)
    together, reasons = original, list[str]()
    for rule in (*fitting, *KNOWN) if fitting else ():  # what one rule gives may be what another one looks for
        found = rule.everywhere(together)
        if found is not None:
            together = found[0]
            reasons.append(found[1])
    if reasons:
        yield together, *dict.fromkeys(reasons)
