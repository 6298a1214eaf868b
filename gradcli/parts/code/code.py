"""The same computation as a runnable script, or as a document: the method `code`."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import Unpack, cast

import numpy as np

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.crosscheck.confirming import has_cases_at
from gradcli.crosscheck.formulas import confirmed
from gradcli.crosscheck.judge import judge
from gradcli.errors import InputError, TooLargeError, printable
from gradcli.language.foreign import unwrapped
from gradcli.language.inputs import Value
from gradcli.language.program.opaque import require_readable
from gradcli.option_words import option
from gradcli.parts.code.numpy_script import MOST_CELLS, numpy_script
from gradcli.parts.code.script import Task, latex_document, torch_script
from gradcli.parts.code.self_writing import WIDTH
from gradcli.questions.bound_function import JACOBIAN_ENTRIES, BoundFunction, rounded
from gradcli.questions.commands.vjp import answered
from gradcli.questions.gradients import SEED, gradient_of, numbers_of
from gradcli.questions.parsed_text import CommonOptions, Inputs, ParsedText
from gradcli.registry import renderer
from gradcli.results import Array, ClosedForm, Index, Language, Source, by_variable

MAX_SCRIPT_LINES = 10_000
"""Operations of a function that is written as a script."""

SAME = {"float64": 1e-10, "float32": 1e-4}
"""Relative distance from which on numbers are others than torch's; a thousandth of it as a part of the largest."""

_SHORT = 40
"""Characters of a value in the comment."""


def code(
    self: ParsedText,
    at: Inputs | None = None,
    v: Value | None = None,
    *,
    to: Language = "torch",
    **options: Unpack[CommonOptions],
) -> Source:
    """Write the same computation as a runnable script.

    `torch` has the numbers of `vjp` bit for bit, `numpy` the backward pass by its lines; `latex` is a document.

    Raises:
        GradcliError: As for `vjp`; NumPy has no adjoint of an operation; values that follow no rule are too many.

    >>> from gradcli import Function
    >>> print(Function("x**2").code({"x": "1,2"}, v="2*y").source)
    # gradcli code "x**2" --at 1,2 --v "2*y" --to torch
    import torch
    <BLANKLINE>
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    <BLANKLINE>
    y = x**2
    v = (2 * y).detach()
    y.backward(gradient=v)
    <BLANKLINE>
    print(x.grad)
    <BLANKLINE>
    """
    if to == "latex" and renderer("latex") is None:
        message = f"{option('to', 'latex')} needs the format latex, which no part of gradcli adds here"
        raise InputError(message, hint=f"{option('to', 'torch')} or {option('to', 'numpy')} writes a script")
    if to == "latex":
        typed = {name for name, value in {"at": at, "v": v, **options}.items() if value is not None}
        if self.wants_formula(typed):
            return _formulas_alone(cast(ClosedForm, self.ask("closed_form", {"wrt": options.get("wrt")})))
    unbound = self._asked(at, **options)
    require_readable(unbound.snippet.program, "code is written of calls that are")
    bound = unbound.bind(is_last=v is None)
    if len(bound.program.lines) > MAX_SCRIPT_LINES:
        message = f"the function has {len(bound.program.lines):,} operations; a script holds up to {MAX_SCRIPT_LINES:,}"
        raise TooLargeError(message, hint="vjp gives the numbers")
    cotangent = bound.cotangent(v, unbound.snippet.v)
    weights = rounded(cotangent, bound.dtype) if isinstance(cotangent, np.ndarray) else cotangent
    given = None if v is None and unbound.snippet.v is None else weights
    task = Task(bound.program, bound.arrays, bound.wrt, bound.dtype, given, bound.extra_values)
    match to:
        case "torch":
            text = torch_script(task)
        case "numpy":
            text = _numpy(bound, task, bound.weights(cotangent))
        case "latex":
            text = latex_document(answered(unbound, () if v is None else (v,))[1][0])
    comment = _comment(bound.program.expression, bound.program.names, bound.wrt, v, to, unbound.at, bound.dtype)
    common = {name: fact for name, fact in bound.common.items() if name != "output"}
    return Source(command="code", language=to, source=f"{comment}\n{text}", **common)


def _formulas_alone(form: ClosedForm) -> Source:
    """Write the document of a derivative without values, which has its formulas."""
    names = tuple(name for name in form.shapes if name != form.output)
    comment = _comment(form.expression, names, form.wrt, None, "latex", {}, "float64")
    return Source(
        command="code",
        language="latex",
        source=f"{comment}\n{latex_document(form)}",
        expression=form.expression,
        dtype="float64",
        inputs={},
        wrt=form.wrt,
        warnings=form.warnings,
    )


def _numpy(bound: BoundFunction, task: Task, v: Array) -> str:
    """Write the script of the gradient, with torch's numbers where the gradient gives others."""
    numbers: dict[str, Array] = {}
    try:
        found = gradient_of(bound)
        with suppress(InputError):
            numbers = numbers_of(found, bound, v)
        if not numbers:
            found = gradient_of(bound, by_inverses=False)
            numbers = numbers_of(found, bound, v)
    except NoAdjointError as error:
        message = f"there is no NumPy script of this gradient: {error}"
        raise InputError(message, hint=f"{option('to', 'torch')} needs none") from None
    torch = bound.product(v)
    others = {name: _differing(numbers[name], torch[name], SAME[bound.dtype]) for name in numbers}
    return numpy_script(task, v, SEED, found, _formulas(bound), others)


def _differing(found: Array, torch: Array, closeness: float) -> dict[Index, float]:
    """Return torch's numbers where others are found, by their indices."""
    scale = np.abs(torch[np.isfinite(torch)]).max(initial=0)
    is_same = np.isclose(found, torch, rtol=closeness, atol=closeness / 1e3 * scale, equal_nan=True)
    return {tuple(map(int, at)): float(torch[tuple(at)]) for at in np.argwhere(~is_same)}


def _formulas(bound: BoundFunction) -> dict[str, list[str]]:
    """Write the closed forms that the reference confirms, by variable; none of too many entries."""
    if bound.jacobian_entries > JACOBIAN_ENTRIES or not bound.wrt:
        return {}
    judgement = judge(bound.point, bound.first_derivatives(), bound.wrt)
    found = confirmed(bound.point, bound.program, bound.derived, judgement.evidence)
    check, part, comments = judgement.check, "", {}
    if check.sampled and has_cases_at(bound.point):
        part = f"the formula was compared with torch at {check.checked:,} of {check.entries:,} entries"
    for name, formula in by_variable(found.shown).items():
        cells = [f"d{cell.row}/d{cell.column} = {cell.text}" for cell in formula.cells[:MOST_CELLS]]
        comments[name] = [*cells, *["..."] * (len(formula.cells) > MOST_CELLS), *filter(None, (formula.note, part))]
    return comments


def _comment(
    expression: str,
    names: tuple[str, ...],
    wrt: tuple[str, ...],
    v: Value | None,
    language: Language,
    at: Mapping[str, Value],
    dtype: str,
) -> str:
    """Write the command line as a comment of one line, without any character that ends a line."""
    words = [_quoted(expression)]
    for name, value in at.items():
        words += ["--at", _quoted(_shown(value) if names == (name,) else f"{name}={_shown(value)}")]
    if v is not None:
        words += ["--v", _quoted(_shown(v))]
    if wrt != names:
        words += ["--wrt", _quoted(",".join(wrt))]
    if dtype != "float64":
        words += ["--dtype", dtype]
    text = printable(f"{'%' if language == 'latex' else '#'} gradcli code {' '.join(words)} --to {language}")
    if language == "latex":  # whose engines need not know other characters
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def _quoted(text: str) -> str:
    """Quote a word for a shell, in double quotes where they mean the same."""
    line = re.sub(r"\s*\n\s*", "; ", text.strip())
    if re.fullmatch(r"[\w@%+=:,./-]+", line, re.ASCII):
        return line
    return shlex.quote(line) if set(line) & set('"$`\\!') else f'"{line}"'


def _shown(value: Value) -> str:
    """Write a value as it can be typed; a long text is cut, and a large array is dots."""
    if isinstance(value, str):
        return value.strip() if len(value) <= _SHORT else f"{value.strip()[:_SHORT]}..."
    array = np.asarray(unwrapped(value))
    return str(array.tolist()).replace(" ", "") if math.prod(array.shape) <= 8 else "..."
