"""What `vjp` and `grad` ask: several vᵀJ of one Jacobian, what `.grad` accumulates, what intermediates keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from gradcli.errors import TooLargeError, UsageError
from gradcli.language.inputs import Value
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippets.snippet_result import ADD_UP, Backward
from gradcli.progress import counted
from gradcli.questions.adjoints import itself, judged_adjoint
from gradcli.questions.judging import compared, differentiated, first_derivatives, of_passes, of_v
from gradcli.questions.loss import apart, derive_loss, with_loss
from gradcli.questions.naming import intermediates
from gradcli.questions.question import Cotangent, Inquiry, Question, require_one_element
from gradcli.results import VJP, Array, Check, Differentiation, Gradient, Intermediate, Products

MAX_PRODUCTS = 256
"""Gradient vectors of one answer; each product is judged on its own."""

MAX_SHOWN = 30
"""Intermediates of one answer; the adjoint of each is judged on a function of its own."""


@dataclass(frozen=True)
class ProductOptions:
    """What is asked beside an `Inquiry`: the arguments of `Function.vjps`.

    Attributes:
        vs: The gradient vectors.
        show: Names of intermediates, and of variables.
        loss: The text of what v is the derivative of.
        accumulate: Whether to show what `.grad` holds after each pass.
        command: `grad`, if y must have one element.
    """

    vs: Sequence[Value] = ()
    show: Sequence[str] = ()
    loss: str | None = None
    accumulate: bool = False
    command: str = "vjp"


@dataclass(frozen=True)
class _Kept:
    """What some names stand for, their values, and their adjoints per v."""

    atoms: Mapping[str, Atom]
    values: Mapping[str, Array] = field(default_factory=dict)
    adjoints: Sequence[Mapping[str, Array]] = ()

    def shown(self, number: int) -> dict[str, Intermediate]:
        """Value and adjoint by name, of one v."""
        grads = self.adjoints[number] if self.adjoints else {}
        return {name: Intermediate(value, grads.get(name)) for name, value in self.values.items()}


def vjp(inquiry: Inquiry, options: ProductOptions) -> VJP:
    """One product, or one for each of many points; of a snippet with several passes, that of all or of the last.

    Raises:
        GradcliError: As for `vjps`; what is asked at one point only is asked at many.
    """
    if not inquiry.points_of:
        return _asked(inquiry, options, each=False).answers[0]
    from gradcli.questions.points import differentiated

    for name, given in (("show", options.show), ("loss", options.loss)):
        if given:
            point = f"leave out --points-of {','.join(inquiry.points_of)}, or --{name}"
            raise UsageError(f"--{name} and --points-of exclude each other", hint=point)
    return VJP(**differentiated(inquiry, options.command, options.vs[0] if options.vs else None))


def vjps(inquiry: Inquiry, options: ProductOptions) -> Products:
    """A product for each v; without any, for each pass of a snippet.

    Raises:
        GradcliError: A v is needed and not given, has not y's shape, or stands beside a loss; there are too many; a
            name to show is none of the function's.
    """
    return _asked(inquiry, options, each=True)


def grad(inquiry: Inquiry, show: Sequence[str] = ()) -> Gradient:
    """The gradient of a y of one element, or one for each of many points: the product with v = 1.

    Raises:
        GradcliError: y has several elements; a name to show is none of the function's.
    """
    found = vjp(inquiry, ProductOptions(("ones",), show, command="grad"))
    return Gradient(**{**_shared(found), "command": "grad"}, grad=found.vjp)


def _asked(inquiry: Inquiry, options: ProductOptions, *, each: bool) -> Products:
    """The products; without `each`, one for all passes of a snippet."""
    vs, loss, snippet = options.vs, options.loss, inquiry.snippet
    own, extra = (inquiry, {}) if loss is None else apart(inquiry, loss, vs or None)
    question = own.question(shares=not options.show)
    if options.command == "grad":
        require_one_element(question, "grad")
    question = question if each else own.of_last(question, vs or loss or None)
    is_of_snippet = not vs and loss is None
    options = replace(options, accumulate=options.accumulate or (each and is_of_snippet and snippet.starts_anew))
    passes = snippet.passes if options.accumulate and is_of_snippet else ()
    # The v of a snippet is that of all its passes together, where each has none of its own.
    given = [] if loss is not None else _cotangents(question, vs, [one.v for one in passes] or [snippet.v])
    return products(question, given, options, extra, passes, check=inquiry.check)


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


def products(
    question: Question,
    vs: Sequence[Cotangent],
    options: ProductOptions,
    given: Mapping[str, Array] | None = None,
    passes: Sequence[Backward] = (),
    *,
    check: bool = True,
) -> Products:
    """A vector-Jacobian product for each v, of one Jacobian.

    Args:
        question: The function at its point.
        vs: The gradient vectors, at least one unless there is a loss.
        options: What else to show.
        given: Values that the loss alone names.
        passes: Those of a snippet, where the gradient vectors are theirs.
        check: Whether to compare with the reference.

    Raises:
        GradcliError: A name to show is none of the function's, or there are too many; the loss is not one.
    """
    atoms = _named(question, options.show)
    loss = None if options.loss is None else derive_loss(question, options.loss, given or {}, check=check)
    remarked = dict.fromkeys(warning for v in vs for warning in of_v(question, v))
    remarked |= dict.fromkeys((*of_passes(question), *(loss.warnings if loss else ())))
    vs = vs if loss is None else [loss.v]
    weights = [question.weights(v) for v in vs]
    kept = _kept(question, atoms, weights)
    held: Sequence[dict[str, Array] | None] = [None] * len(vs)
    steps = [(one.zeroed, one.accumulates) for one in passes] or [((), True)] * len(vs)
    if options.accumulate:
        from gradcli.autodiff.backward_passes import accumulated

        held = accumulated(question.forward, weights, question.wrt, steps)
    own = [w for w in question.program.warnings if len(vs) == 1 or not w.endswith(ADD_UP)]
    answers = []
    for number, v in enumerate(counted("product", weights, len(weights))):
        shared = differentiated(question, v, check=check)
        verdict = _with_adjoints(shared["check"], question, kept, number, v)
        added = [weights[n] for n in _adding(steps[: number + 1], question.wrt)]
        verdict = _with_added(verdict, question, added, held[number])
        shared["check"] = verdict if loss is None else with_loss(verdict, loss, question, shared["vjp"])
        shared |= {"warnings": (*own, *remarked), "accumulated": held[number], "intermediates": kept.shown(number)}
        answers.append(VJP(command="vjp", loss=loss, **shared))
    return _joined(answers)


def _named(question: Question, names: Sequence[str]) -> dict[str, Atom]:
    """What the names to show stand for.

    Raises:
        InputError: One is none of the function's.
        TooLargeError: There are too many of them.
    """
    names = tuple(dict.fromkeys(names))
    if len(names) > MAX_SHOWN:
        raise TooLargeError(f"--show names {len(names):,} values, more than {MAX_SHOWN}")
    own = {str(symbol): symbol for symbol in question.program.variables}
    found = intermediates(question.program, [name for name in names if name not in own])
    return {name: found.get(name, own.get(name)) for name in names}


def _kept(question: Question, atoms: Mapping[str, Atom], vs: Sequence[Array]) -> _Kept:
    if not atoms:
        return _Kept(atoms)
    from gradcli.autodiff.backward_passes import retained

    live = None if question.live is None else question.live.tensors
    values, adjoints = retained(question.program, question.arrays, question.wrt, question.dtype, atoms, vs, live)
    return _Kept(atoms, values, adjoints)


def _with_adjoints(check: Check | None, question: Question, kept: _Kept, number: int, v: Array) -> Check | None:
    """The check, and that of every adjoint: it is vᵀJ of the rest of the function, the value being a variable."""
    if check is None or not kept.atoms:
        return check
    from gradcli.crosscheck.summary import joined

    checks = [check]
    for name, grad in kept.adjoints[number].items():
        checks.append(judged_adjoint(question, itself(question, kept.atoms[name]), name, kept.values[name], v, grad))
    return replace(joined(checks), checked=check.checked)


def _adding(steps: Sequence[tuple[Sequence[str], bool]], wrt: Sequence[str]) -> list[int]:
    """The passes that `.grad` adds up after these, since it was set to zero.

    >>> _adding([((), True), (("x",), True), ((), False), ((), True)], ("x",))
    [1, 3]
    """
    found: list[int] = []
    for n, (zeroed, adds) in enumerate(steps):
        found = ([] if set(zeroed) & set(wrt) else found) + [n] * adds
    return found


def _with_added(
    check: Check | None, question: Question, passes: Sequence[Array], held: Mapping[str, Array] | None
) -> Check | None:
    """The check, and that of what `.grad` holds after several passes."""
    if check is None or held is None or len(passes) < 2:
        return check
    from gradcli.crosscheck.summary import joined

    with np.errstate(all="ignore"):
        v = np.sum(passes, axis=0)
    numbers = first_derivatives(question, None, v, held, passes=passes, judges_value=False)
    found, count = compared(question, numbers).check, len(passes)
    with np.errstate(all="ignore"):
        cancels = bool((np.abs(v) < np.max(np.abs(passes), axis=0)).any())
    cause = f"the sum of {count} passes cancels" if cancels else f"after {count} passes"
    findings = tuple(
        replace(finding, of="accumulated", note="; ".join(filter(None, [finding.note, cause])))
        for finding in found.findings
    )
    part = f"of .grad after {count} passes, {found.checked:,} of {found.entries:,} entries were checked"
    notes = found.notes if found.is_whole else (part, *found.notes)
    return replace(joined([check, replace(found, findings=findings, notes=notes)]), checked=check.checked)


def _joined(answers: Sequence[VJP]) -> Products:
    """Several answers as one; whatever they share is that of the first."""
    first = answers[0]
    check = first.check
    if check is not None and len(answers) > 1:
        from gradcli.crosscheck.summary import joined

        check = joined([_numbered(answer.check, n) for n, answer in enumerate(answers) if answer.check is not None])
    return Products(**{**_shared(first), "check": check, "intermediates": {}}, answers=tuple(answers))


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
