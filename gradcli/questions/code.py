"""The same computation as a script: which readings a language needs, and the comment above it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping

import numpy as np

from gradcli.codegen.layout import WIDTH
from gradcli.codegen.script import Task
from gradcli.errors import InputError, TooLargeError, printable
from gradcli.language.inputs import Value
from gradcli.language.program.wengert import Program
from gradcli.questions.judging import by_variable
from gradcli.questions.question import JACOBIAN_ENTRIES, Cotangent, Question, rounded
from gradcli.results import Language, Source

MAX_LINES = 10_000
"""Operations of a function that is written as a script."""

_SHORT = 40
"""Characters of a value in the comment."""


def writing(
    question: Question, v: Value | None, of_snippet: Program | None, language: Language, at: Mapping[str, Value]
) -> Source:
    """The script for a question.

    Args:
        question: The function at its point.
        v: The gradient vector as given.
        of_snippet: The gradient vector of a snippet.
        language: Of the script.
        at: The values as given, for the comment.

    Raises:
        InputError: v is needed and not given, or there is no formula for a script that needs one.
        TooLargeError: The script would be too long, or too slow.
    """
    if len(question.program.lines) > MAX_LINES:
        raise TooLargeError(
            f"the function has {len(question.program.lines):,} operations; a script holds up to {MAX_LINES:,}",
            hint="vjp gives the numbers",
        )
    cotangent = question.cotangent(v, of_snippet)
    is_implicit = v is None and of_snippet is None
    weights = rounded(cotangent, question.dtype) if isinstance(cotangent, np.ndarray) else cotangent
    task = Task(
        question.program,
        question.arrays,
        question.wrt,
        question.dtype,
        None if is_implicit else weights,
        question.named,
    )
    in_ascii = ""
    match language:
        case "torch":
            from gradcli.codegen.languages import torch_script

            text = torch_script(task)
        case "numpy":
            text, in_ascii = _numpy(question, task)
        case "latex":
            text = _latex(question, cotangent)
    comment = _comment(question, v, language, at)
    return Source(
        command="code",
        expression=question.program.expression,
        dtype=question.dtype,
        inputs=question.arrays,
        wrt=question.wrt,
        language=language,
        source=f"{comment}\n{text}",
        in_ascii=f"{comment}\n{in_ascii or text}",
        warnings=question.program.warnings,
    )


def _latex(question: Question, cotangent: Cotangent) -> str:
    """The answer of `vjp` as a document: its numbers are torch's."""
    from gradcli.codegen.languages import latex_document
    from gradcli.questions.products import Extras, products

    return latex_document(products(question, [cotangent], Extras()).answers[0])


def _numpy(question: Question, task: Task) -> tuple[str, str]:
    """The script with the formulas that the reference confirms, and the same in ASCII.

    Raises:
        InputError: A variable has none.
        TooLargeError: The Jacobian has too many entries for loops over formulas.
    """
    from gradcli.check.formulas import confirmed, evidence_at
    from gradcli.codegen.languages import in_ascii, numpy_script

    if question.jacobian_entries > JACOBIAN_ENTRIES:
        raise TooLargeError(
            f"the Jacobian has {question.jacobian_entries:,} entries; "
            f"a NumPy script fills up to {JACOBIAN_ENTRIES:,} from the formula",
            hint="--to torch has no such limit",
        )
    evidence = evidence_at(question.point, question.wrt)
    found = confirmed(question.point, question.program, question.derived, evidence)
    for name, reason in by_variable(found.omitted).items():
        message = f"there is no formula of the derivative by '{name}' for a NumPy script: {reason}"
        raise InputError(message, hint="--to torch needs none, or leave the variable out by --wrt")
    try:
        script = numpy_script(task, by_variable(found.derivatives), by_variable(found.shown))
    except NotImplementedError as error:
        message = f"the formula has no NumPy form: {error}"
        raise InputError(message, hint="--to torch needs no formula") from None
    return script, in_ascii(script, by_variable(found.shown))


def _comment(question: Question, v: Value | None, language: Language, at: Mapping[str, Value]) -> str:
    """The command line on one line, as a comment: nothing in it ends the line."""
    names = question.program.names
    words = [_quoted(question.program.expression)]
    for name, value in at.items():
        words += ["--at", _quoted(_shown(value) if names == (name,) else f"{name}={_shown(value)}")]
    if v is not None:
        words += ["--v", _quoted(_shown(v))]
    if question.wrt != names:
        words += ["--wrt", _quoted(",".join(question.wrt))]
    if question.dtype != "float64":
        words += ["--dtype", question.dtype]
    text = printable(f"{'%' if language == 'latex' else '#'} gradcli code {' '.join(words)} --to {language}")
    if language == "latex":  # whose engines need not know other characters
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def _quoted(text: str) -> str:
    """A word as a shell takes it, in double quotes where that is the same."""
    line = re.sub(r"\s*\n\s*", "; ", text.strip())
    if re.fullmatch(r"[\w@%+=:,./-]+", line, re.ASCII):
        return line
    return shlex.quote(line) if set(line) & set('"$`\\!') else f'"{line}"'


def _shown(value: Value) -> str:
    """A value as it can be typed; one that is long, or was in a file, as dots."""
    if isinstance(value, str):
        return value.strip() if len(value) <= _SHORT else f"{value.strip()[:_SHORT]}..."
    array = np.asarray(value)
    return str(array.tolist()).replace(" ", "") if math.prod(array.shape) <= 8 else "..."
