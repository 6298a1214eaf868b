"""A claim in index notation: its left-hand side, and the index that each of its letters stands for.

    ∂y[i]/∂x[j] = 2·x[i]·δ[i,j]        2·x[i]·δ[i,j]        ∂y[0]/∂x[j] = x[j]; ∂y[1]/∂x[j] = 1

Without a left-hand side, letters stand for the indices in the order in which answers use them: i, j, ... for y's and
then x's, and j for the first of x where y is one number; i, too, if it is there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gradcli.errors import GradcliError, InputError, LanguageError, Place, Span
from gradcli.language.lower.indices import DELTAS
from gradcli.language.lower.statements import EntryFormulas
from gradcli.language.parsing import parse_entries
from gradcli.language.program.wengert import Program, Shape, show
from gradcli.language.text.grammar import parse_equations
from gradcli.language.text.nodes import EquationNode
from gradcli.language.text.source import SourceText
from gradcli.language.text.tokens import Token
from gradcli.option_words import option
from gradcli.parts.claims.subject import Subject

LETTERS = "ijklmnpqrstuvw"
"""What answers call indices, in this order."""

MOST_EQUATIONS = 1_000
"""Left-hand sides of one claim."""


def letters_for(subject: Subject) -> list[str]:
    """List names for indices that the function does not use, in order."""
    taken = {*subject.program.names, *subject.program.assigned}
    return [letter for letter in (*LETTERS, *(f"i{n}" for n in range(1, 17))) if letter not in taken]


def source_of(text: str, name: str) -> SourceText:
    """Make the source of a claim, in which `∂y/∂x` is `dy/dx`."""
    return SourceText(text.replace("∂", "d"), name)


def variable_of(text: str) -> str:
    """Return the variable of the left-hand side of a claim; empty if it has none.

    >>> variable_of("∂y[i]/∂x[j] = 2·x[i]·δ[i,j]"), variable_of("2*x")
    ('x', '')
    """
    try:
        first, *_ = (*parse_equations(source_of(text, "--claim"))[:1], None)
    except GradcliError:
        return ""
    return first.below[0].text[1:] if first is not None and first.below else ""


_LEFT = re.compile(r"\s*d\s?\w*\s*=(?!=)")
"""The left-hand side: `df =`, `dL =`, `d =`."""


def differentials_in(text: str, variables: Collection[str]) -> list[str]:
    """List the variables whose differentials a claim names; none where it is no claim of a differential.

    >>> differentials_in("df = 2*x@dx", ["x", "y"]), differentials_in("2*x", ["x"])
    (['x'], [])
    """
    left = _LEFT.match(text.replace("∂", "d"))
    words = set(re.findall(r"\w+", text[left.end() :])) if left else set()
    return [name for name in variables if f"d{name}" in words - {*variables}]


def read_equations(source: SourceText, subject: Subject, shapes: Mapping[str, Shape]) -> Program | None:
    """Read a claim with left-hand sides or with indices; None for another.

    Args:
        source: The text.
        subject: What it is of.
        shapes: Of what it may name.

    Raises:
        LanguageError: It is not in the language.
        InputError: It is of something else, says nothing of some entries, or its letters are of no index.
    """
    rank = len(subject.y) + len(subject.x)
    # One more than the derivative has indices, if y has none and x has.
    free = _free(source, shapes, letters_for(subject)[: rank + (rank > 0 and not subject.y)])
    is_labelled = any(a.text == "/" and b.text[:1] == "d" for a, b in itertools.pairwise(source.tokens))
    if not free and not (is_labelled and "=" in source.text):
        return None
    equations = parse_equations(source)
    if not free and not any(equation.below for equation in equations):
        return None
    return _entries_of(source, equations, free, subject, shapes)


def _entries_of(
    source: SourceText,
    equations: Sequence[EquationNode],
    free: Sequence[Token],
    subject: Subject,
    shapes: Mapping[str, Shape],
) -> Program:
    """Read the entries that equations give, by the letters of their indices; `read_equations` has the errors."""
    if len(equations) > MOST_EQUATIONS:
        raise InputError(f"a claim of more than {MOST_EQUATIONS:,} equations")
    is_free = subject.has_vector and "v" not in subject.program.assigned
    is_vector = is_free and "v" in (token.text for token in source.tokens) and not equations[0].below
    labelled = [_labelled(source, equation, subject) for equation in equations]
    if any(one is None for one in labelled) and len(equations) > 1:
        position = source.position(equations[1].span.start)
        raise source.unexpected(max(position - 1, 0))
    shape = subject.x if is_vector else (*subject.y, *subject.x)
    if labelled[0] is None:
        indices = _lettered(source, free, subject, shape)
        cases = [EntryFormulas(indices, (None,) * len(shape), equations[0].value)]
    else:
        cases = [
            EntryFormulas(letters, fixed, equation.value)
            for equation, (letters, fixed) in zip(equations, (one for one in labelled if one is not None), strict=True)
        ]
        _require_all(source, cases, subject, shape)
    return parse_entries(source, cases, shape, frozenset(shapes), shapes)


_INDEX = re.compile(rf"(?<=[\w\])])\[[^\[\]]*\]|(?:{'|'.join(DELTAS)})\s*\([^()]*\)")
"""What is between the brackets of an index, and the indices of a delta."""

_BOUND = re.compile(r"(\w+)\s*=(?!=)|\bfor\s+(\w+)|,\s*\(\s*(\w+)\s*,")
"""What loops and sums run over: `k=`, `for k in`, `, (k, 0, 2)`."""


def _free(source: SourceText, shapes: Mapping[str, Shape], usual: Sequence[str]) -> list[Token]:
    """List the letters in indices that stand for all positions: no variables, and nothing sums over them."""
    indices = set(re.findall(r"\w+", " ".join(_INDEX.findall(source.text))))
    letters = {*usual, *(name for name in indices if name in LETTERS or re.fullmatch(r"i\d+", name))}
    letters -= {*shapes, *(name for found in _BOUND.findall(source.text) for name in found)}
    pairs = itertools.pairwise(source.tokens)
    found = [token for token, after in pairs if token.text in letters and after.text not in ("(", "=", ".")]
    return list({token.text: token for token in reversed(found)}.values())[::-1]


def _labelled(
    source: SourceText, equation: EquationNode, subject: Subject
) -> tuple[tuple[str, ...], tuple[int | None, ...]] | None:
    """Return the letters of the left-hand side, and its positions; None where there is none."""
    if not equation.below:
        return None
    name = equation.below[0]
    if name.text[1:] != str(subject.variable):
        message = f"this is a derivative by {name.text[1:]}, and the claim is for the one by {subject.variable}"
        hint = f"write {option('claim', f'{name.text[1:]}=...')} for that"
        raise source.error(message, name.span, hint=hint, kind=InputError)
    letters: list[str] = []
    fixed: list[int | None] = []
    for (head, *indices), shape in ((equation.above, subject.y), (equation.below, subject.x)):
        if len(indices) not in (0, len(shape)):
            message = f"{head.text[1:]} has shape {show(shape)}, so {len(shape)} indices, and here are {len(indices)}"
            raise source.error(message, head.span, kind=InputError)
        for n, size in enumerate(shape):
            is_number = bool(indices) and indices[n].kind == "number"
            letters.append(indices[n].text if indices and not is_number else "")
            fixed.append(None)
            if is_number:
                fixed[-1] = position = int(indices[n].text) if indices[n].text.isdecimal() else size
                if position >= size:
                    message = f"this index is outside of a dimension of size {size}"
                    raise source.error(message, indices[n].span, kind=InputError)
    return tuple(letters), tuple(fixed)


def _lettered(source: SourceText, free: Sequence[Token], subject: Subject, shape: Shape) -> tuple[str, ...]:
    """List the letters of the indices in order, where no left-hand side names them.

    Raises:
        LanguageError: They are not those of the indices in order.
    """
    rows = len(shape) - len(subject.x)
    letters = letters_for(subject)
    names = {token.text for token in free}
    if rows == 0 and letters[0] not in names:
        letters = letters[1:]
    usual = letters[: len(shape)]
    wide = [n for n, size in enumerate(shape) if size != 1]  # answers may leave out the index of a single position
    is_usual = names == set(usual) or (names <= set(usual) and len(wide) == len(shape))
    if is_usual:
        return tuple(letter if letter in names else "" for letter in usual)
    if len(names) == len(wide):
        ordered = sorted(names, key=lambda name: letters.index(name) if name in letters else len(letters))
        return tuple(ordered[wide.index(n)] if n in wide else "" for n in range(len(shape)))
    token = next((token for token in free if token.text not in usual), free[0])
    above, below = (f"[{','.join(part)}]" if part else "" for part in (usual[:rows], usual[rows:]))
    hint = f"write the left-hand side too, ∂y{above}/∂{subject.variable}{below} = ..."
    message = f"'{token.text}' is no index that is known here: the derivative has shape {show(shape)}"
    raise source.error(message, token.span, hint=hint, kind=LanguageError)


def _require_all(source: SourceText, cases: Sequence[EntryFormulas], subject: Subject, shape: Shape) -> None:
    """Refuse a claim that leaves entries out.

    Positions that no equation names are alike, so one of an axis stands for all: shapes may have millions of entries.
    """
    axes = []
    for n, size in enumerate(shape):
        named = {position for case in cases if (position := case.fixed[n]) is not None}
        axes.append(sorted({*named, *itertools.islice((k for k in range(size) if k not in named), 1)}))
    is_said = np.zeros([len(axis) for axis in axes], dtype=bool)
    for case in cases:
        where = (slice(None) if at is None else axis.index(at) for at, axis in zip(case.fixed, axes, strict=True))
        is_said[tuple(where)] = True
    if is_said.all():
        return
    at = [axis[n] for n, axis in zip(np.argwhere(~is_said)[0], axes, strict=True)]
    rows = len(shape) - len(subject.x)
    above, below = (f"[{','.join(map(str, part))}]" if part else "" for part in (at[:rows], at[rows:]))
    place = Place(source.text, Span(0, len(source.text)), source.name)
    message = f"the claim says nothing of ∂y{above}/∂{subject.variable}{below}"
    raise InputError(message, place=place, hint="write an equation for each row, separated by ';'")
