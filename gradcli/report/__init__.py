"""Results out: an answer becomes a document that is rendered, or data that is written.  Does no mathematics.

document                         the nodes of a page, and its screen
appearance                       how an answer is to appear, and what a function that writes it looks like
compose                          an answer as a document, a module a family of answers
render                           a document or the fields of an answer as text, a module a format
heat_maps                        matrices drawn with characters
drawings                         graphs drawn with characters, nodes laid out as tables, words on a screen
wording, numbers                 common to all of these: words, names of entries; arrays of an answer, digits, marks

Parts add formats, and kinds of files; `gradcli.registry` lists them all.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pkgutil import resolve_name
from typing import BinaryIO

from gradcli import registry
from gradcli.errors import NoPictureError, UsageError
from gradcli.option_words import Words, option
from gradcli.report.appearance import Appearance, FileRenderer, TextRenderer
from gradcli.report.compose.answers import compose
from gradcli.report.compose.formula_tables import standing_of
from gradcli.report.compose.one_line import one_line
from gradcli.report.document import Blocks, Document, Line, Node, Note, Screen, Styled, line
from gradcli.report.numbers import rounded
from gradcli.results import Check, ClosedForm, Pass, Result

__all__ = ["Appearance", "Screen", "in_python", "picture", "pieces", "rendered", "write_file"]

WIDTH, DIGITS = 100, 6
"""Columns and significant digits of an answer shown in Python: those of a terminal."""


def rendered(answer: Result, form: str, screen: Screen, digits: int | None = None) -> str:
    """Write the answer in a format: all `pieces` in one string."""
    return "".join(pieces(answer, Appearance(form, screen, digits)))


def pieces(answer: Result, shown: Appearance) -> Iterator[str]:
    """Write the answer in a format, part by part: a matrix may fill the memory, and its text is larger.

    Raises:
        UsageError: There is no such format.
    """
    kind: type = type(answer)
    found = registry.renderer(shown.form, kind)
    if found is None or not found.is_format:
        raise UsageError(f"there is no format '{shown.form}'", hint=f"known are {', '.join(registry.formats())}")
    write: TextRenderer = resolve_name(found.function)
    digits = None if shown.form == "table" else shown.digits
    return write(rounded(answer, digits) if digits else answer, shown)


def write_file(answer: Result, shown: Appearance, file: BinaryIO) -> None:
    """Write the answer into a file, in a format or as another kind of file, such as npy or svg.

    Raises:
        GradcliError: The answer has nothing to write into a file of this kind.
    """
    if shown.form in registry.formats():
        for piece in pieces(answer, shown):
            file.write(piece.encode("utf-8"))
        return
    kind: type = type(answer)
    found = registry.renderer(shown.form, kind)
    if found is None:
        drawn = registry.commands_with_pictures(shown.form)
        if isinstance(answer, ClosedForm):
            lacks = "of which there is no picture" if drawn else "and there are no numbers to write"
            message = f"{answer.command} without values answers with a formula, {lacks}"
            raise NoPictureError(message, hint=f"give values: {option('at', 'NAME=VALUE')}")
        if not drawn:
            hint = f"it is written into {', '.join(registry.suffixes_of(answer.command))}"
            raise UsageError(f"the answer of {answer.command} is not written as {shown.form}", hint=hint)
        raise NoPictureError(f"{answer.command} answers with no picture", hint=f"{drawn} draw one")
    write: FileRenderer = resolve_name(found.function)
    write(answer, shown, file)


def picture(answer: Result, form: str, theme: str = "") -> bytes:
    """Draw an answer.

    Args:
        answer: Curves, a map, a Jacobian, a Hessian, a graph, or an explanation.
        form: svg, png or pdf; a graph, and that of an explanation, is drawn as svg alone.
        theme: The ground: light or dark; by default light, and of a graph the reader's.

    Raises:
        InputError: The answer has no picture, its graph is too large, or matplotlib is not installed.
    """
    file = io.BytesIO()
    write_file(answer, Appearance(form, theme=theme), file)
    return file.getvalue()


def in_python(answer: Result, form: str) -> str:
    """Show an answer in Python, for `print` or for a notebook.

    Args:
        answer: The object.
        form: `prompt`, a line for a number that agrees, else `text`, the compact screen; `cell`, that in HTML for a
            notebook; `fragment`, all of it in LaTeX; `svg`, its picture; `object`, one of JSON; or a format of
            `pieces`.

    Raises:
        NotImplementedError: No part writes what a notebook asks for, which then asks for something else.
    """
    match form:
        case "prompt" if (found := one_line(answer)) is not None:
            from gradcli.report.render import table

            return table.render((found,), Screen(WIDTH, encoding="utf-8"))
        case "text" | "prompt":
            from gradcli.report.render import table

            return table.render(_compact(answer), Screen(WIDTH, encoding="utf-8"))
        case "cell":
            return _in_notebook(_compact(answer), "html")
        case "fragment":
            return _in_notebook(compose(answer), "latex")
        case "svg":
            return picture(answer, "svg").decode()
        case "object":
            from gradcli.report.render import json

            return "".join(json.reply(answer, {}))
    return rendered(answer, form, Screen(WIDTH, encoding="utf-8"))


def in_a_line(part: Check | Pass) -> str:
    """Write a part of an answer in a line: a check with its verdict, and what a part of gradcli composes."""
    from gradcli.report.render import table

    if isinstance(part, Check):
        document: Document = (Note(line(standing_of(part), f"   {part.checked:,} of {part.entries:,} entries")),)
    else:
        document = compose(part, DIGITS, is_full=False)
    return table.render(document, Screen(WIDTH, encoding="utf-8")).removesuffix("\n")


def _in_notebook(document: Document, form: str) -> str:
    """Write a document as a part of a notebook.

    Raises:
        NotImplementedError: No part has this format.
    """
    found = registry.renderer(form)
    if found is None or not found.notebook:
        raise NotImplementedError(form)
    written: str = resolve_name(found.notebook)(document)
    return written


def _compact(answer: Result) -> Document:
    """Compose the compact screen, its notes in the words of Python."""
    document = compose(answer, DIGITS, is_full=False)
    return tuple(map(_in_python, document))


def _in_python(node: Node) -> Node:
    """Put a note, and those of a matrix that has no room, into the words of Python."""
    match node:
        case Note():
            return Note(_reworded(node.words))
        case Blocks(instead=instead):
            reworded = (Note(_reworded(one.words)) if isinstance(one, Note) else one for one in instead)
            return replace(node, instead=tuple(reworded))
    return node


def _reworded(words: Line) -> Line:
    """Name the options in our own words as Python does."""
    return tuple(
        Styled(part.words.python) if isinstance(part, Styled) and isinstance(part.words, Words) else part
        for part in words
    )
