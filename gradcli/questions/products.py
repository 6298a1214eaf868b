"""What `vjp` and `grad` ask: several vᵀJ of one Jacobian, what `.grad` accumulates, what intermediates keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from gradcli.crosscheck.summary import joined
from gradcli.errors import TooLargeError, UsageError
from gradcli.language.inputs import Value
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippets.snippet_result import ADD_UP
from gradcli.progress import counted
from gradcli.questions.judging import (
    compared,
    differentiated,
    first_derivatives,
    itself,
    judged_adjoint,
    of_passes,
    of_v,
    with_part,
)
from gradcli.questions.loss import apart, derive_loss, with_loss
from gradcli.questions.naming import intermediates
from gradcli.questions.question import Cotangent, Inquiry, Question, require_one_element
from gradcli.results import VJP, Array, Check, Differentiation, Gradient, Intermediate, Products

MAX_PRODUCTS = 256
"""Gradient vectors of one answer; each product is judged on its own."""

MOST_ELEMENTS = 2**24
"""Elements of all lines that are explained: each is held with its adjoint and local derivatives, 1 GiB in all."""

MAX_SHOWN = 30
"""Intermediates of one answer; the adjoint of each is judged on a function of its own."""


def vjp(
    inquiry: Inquiry, vs: Sequence[Value] = (), show: Sequence[str] = (), loss: str | None = None, command: str = "vjp"
) -> VJP:
    """One product, or one for each of many points; of a snippet with several passes, that of all or of the last.

    Raises:
        GradcliError: As for `vjps`; what is asked at one point only is asked at many.
    """
    if not inquiry.points_of:
        return answered(inquiry, vs, show, loss, command=command)[1][0]
    from gradcli.questions.points import differentiated

    for name, given in (("show", show), ("loss", loss)):
        if given:
            point = f"leave out --points-of {','.join(inquiry.points_of)}, or --{name}"
            raise UsageError(f"--{name} and --points-of exclude each other", hint=point)
    return VJP(**differentiated(inquiry, command, vs[0] if vs else None))


def grad(inquiry: Inquiry, show: Sequence[str] = ()) -> Gradient:
    """The gradient of a y of one element, or one for each of many points: the product with v = 1.

    Raises:
        GradcliError: y has several elements; a name to show is none of the function's.
    """
    found = vjp(inquiry, ("ones",), show, command="grad")
    return Gradient(**{**_shared(found), "command": "grad"}, grad=found.vjp)


def vjps(
    inquiry: Inquiry,
    vs: Sequence[Value],
    show: Sequence[str] = (),
    text: str | None = None,
    *,
    accumulate: bool = False,
) -> Products:
    """A product for each v; without any, for each pass of a snippet.

    Raises:
        GradcliError: As for `answered`.
    """
    _, answers = answered(inquiry, vs, show, text, accumulate=accumulate, each=True)
    first = answers[0]
    check = first.check
    if check is not None and len(answers) > 1:
        check = joined([_numbered(answer.check, n) for n, answer in enumerate(answers) if answer.check is not None])
    return Products(**{**_shared(first), "check": check, "intermediates": {}}, answers=tuple(answers))


def answered(
    inquiry: Inquiry,
    vs: Sequence[Value],
    show: Sequence[str] = (),
    text: str | None = None,
    *,
    accumulate: bool = False,
    command: str = "vjp",
    each: bool = False,
) -> tuple[Question, Sequence[VJP]]:
    """The question, and a product for each v; without any, for all passes of a snippet together.

    Args:
        inquiry: The function at its point.
        vs: The gradient vectors.
        show: Names of intermediates, and of variables.
        text: Of the loss that v is the derivative of.
        accumulate: Whether to show what `.grad` holds after each pass.
        command: `grad`, if y must have one element; `explain`, if each line is to be held.
        each: Whether each pass of a snippet has a product, in place of one for all.

    Raises:
        GradcliError: A v is needed and not given, has not y's shape, or stands beside a loss; there are too many; a
            name to show is none of the function's.
    """
    snippet, check = inquiry.snippet, inquiry.check
    own, extra = (inquiry, {}) if text is None else apart(inquiry, text, vs or None)
    question = own.question(shares=not show)
    if command == "grad":
        require_one_element(question, "grad")
    if command == "explain" and question.elements > MOST_ELEMENTS:
        raise TooLargeError(
            f"the steps have {question.elements:,} numbers in all; at most {MOST_ELEMENTS:,} are explained",
            hint="use smaller inputs, or vjp, which keeps no steps",
        )
    question = question if each else own.of_last(question, vs or text or None)
    is_of_snippet = not vs and text is None
    accumulates = accumulate or (each and is_of_snippet and snippet.starts_anew)
    passes = snippet.passes if accumulates and is_of_snippet else ()
    # The v of a snippet is that of all its passes together, where each has none of its own.
    given = [] if text is not None else _cotangents(question, vs, [one.v for one in passes] or [snippet.v])
    atoms = _named(question, show)
    loss = None if text is None else derive_loss(question, text, extra, check=check)
    remarked = dict.fromkeys(warning for v in given for warning in of_v(question, v))
    remarked |= dict.fromkeys((*of_passes(question), *(loss.warnings if loss else ())))
    weights = [question.weights(v) for v in given] if loss is None else [loss.v]
    values, adjoints = _retained(question, atoms, weights)
    added: list[Array] = []
    held = {name: np.zeros_like(question.arrays[name]) for name in question.wrt}
    steps = [(one.zeroed, one.accumulates) for one in passes] or [((), True)] * len(weights)
    warnings = [w for w in question.program.warnings if len(weights) == 1 or not w.endswith(ADD_UP)]
    answers = []
    for number, v in enumerate(counted("product", weights, len(weights))):
        found, grads = differentiated(question, v, check=check), adjoints[number]
        found["intermediates"] = {name: Intermediate(value, grads.get(name)) for name, value in values.items()}
        zeroed, adds = steps[number]
        added = ([] if set(zeroed) & set(question.wrt) else added) + [v] * adds
        held = {name: np.zeros_like(array) if name in zeroed else array for name, array in held.items()}
        if adds:
            with np.errstate(all="ignore"):  # each in turn, as torch adds to .grad
                held = {name: held[name] + grad for name, grad in found["vjp"].items()}
        found |= {"warnings": (*warnings, *remarked), "accumulated": held if accumulates else None, "loss": loss}
        if check:
            for name, grad in grads.items():
                part = judged_adjoint(question, itself(question, atoms[name]), name, values[name], v, grad)
                found["check"] = with_part(found["check"], part, f"the adjoint of {name}")
            if accumulates and len(added) > 1:
                found["check"] = _with_added(found["check"], question, added, held)
            if loss is not None:
                found["check"] = with_loss(found["check"], loss, question, found["vjp"])
        answers.append(VJP(command="vjp", **found))
    return question, answers


def _cotangents(question: Question, vs: Sequence[Value], passes: Sequence[Program | None]) -> list[Cotangent]:
    """The gradient vectors: as given, else as a snippet has them, else the implicit one.

    Raises:
        InputError: One is needed and not given, or has not y's shape.
        TooLargeError: There are more than `MAX_PRODUCTS`.
    """
    many = len(vs or passes)
    if many > MAX_PRODUCTS:
        raise TooLargeError(f"{many:,} gradient vectors are more than {MAX_PRODUCTS}", hint="jacobian gives all rows")
    return [question.cotangent(v, None) for v in vs] or [question.cotangent(None, v) for v in passes]


def _named(question: Question, names: Sequence[str]) -> dict[str, Atom]:
    """What the names to show stand for.

    Raises:
        InputError: One is none of the function's.
        TooLargeError: There are too many of them.
    """
    names = tuple(dict.fromkeys(names))
    if len(names) > MAX_SHOWN:
        raise TooLargeError(f"--show names {len(names):,} values, more than {MAX_SHOWN}")
    own: dict[str, Atom] = {str(symbol): symbol for symbol in question.program.variables}
    found = own | intermediates(question.program, [name for name in names if name not in own])
    return {name: found[name] for name in names}


def _retained(
    question: Question, atoms: Mapping[str, Atom], vs: Sequence[Array]
) -> tuple[Mapping[str, Array], Sequence[Mapping[str, Array]]]:
    """The values of some intermediates, and their adjoints for each v."""
    if not atoms:
        return {}, [{}] * len(vs)
    from gradcli.autodiff.backward_passes import retained

    live = None if question.live is None else question.live.tensors
    return retained(question.program, question.arrays, question.wrt, question.dtype, atoms, vs, live)


def _with_added(check: Check, question: Question, passes: Sequence[Array], held: Mapping[str, Array]) -> Check:
    """The check, and that of what `.grad` holds after several passes."""
    with np.errstate(all="ignore"):
        v = np.sum(passes, axis=0)
        cancels = bool((np.abs(v) < np.max(np.abs(passes), axis=0)).any())
    numbers = first_derivatives(question, None, v, held, passes=tuple(passes), judges_value=False)
    found, count = compared(question, numbers).check, len(passes)
    cause = f"the sum of {count} passes cancels" if cancels else f"after {count} passes"
    findings = tuple(
        replace(finding, of="accumulated", note="; ".join(filter(None, [finding.note, cause])))
        for finding in found.findings
    )
    of = "" if found.is_whole else f".grad after {count} passes"
    return with_part(check, replace(found, findings=findings), of)


def _shared(answer: VJP) -> dict[str, Any]:
    """The fields that all answers of first derivatives have."""
    return {one.name: getattr(answer, one.name) for one in fields(Differentiation)}


def _numbered(check: Check, number: int) -> Check:
    """The check of one of several products: a finding of vᵀJ says of which v it is."""
    findings = tuple(
        replace(finding, note=f"for v number {number + 1}: {finding.note}")
        if not finding.of and finding.variable is not None and finding.row is None and finding.column is not None
        else finding
        for finding in check.findings
    )
    return replace(check, findings=findings)
