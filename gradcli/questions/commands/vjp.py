"""The vector-Jacobian product, as `y.backward(gradient=v)`: the methods `vjp` and `vjps`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Unpack

import numpy as np

from gradcli import trial
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.crosscheck.point import Numbers
from gradcli.crosscheck.summary import joined
from gradcli.errors import InputError, LossElementsError, TooLargeError, UsageError, did_you_mean
from gradcli.language.inputs import Value, read_value
from gradcli.language.lower.juxtaposed_names import meant, place_of
from gradcli.language.parsing import parse_formula, settle_value
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program, show
from gradcli.language.snippet_result import ADD_UP
from gradcli.language.text.source import SourceText
from gradcli.option_words import option
from gradcli.progress import tracked
from gradcli.questions.answering import answer_bound
from gradcli.questions.bound_function import BoundFunction, Dtype, FunctionWithValues, rounded
from gradcli.questions.judging import compare_numbers, with_part
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.questions.remarks import remarks_on_passes, remarks_on_v
from gradcli.results import VJP, Array, Check, Differentiation, Loss, Products, by_name, quantities_of

MAX_PRODUCTS = 256
"""Gradient vectors of one answer; each product is judged on its own."""


def vjp(
    self: ParsedText,
    at: Inputs | None = None,
    v: Value | None = None,
    *,
    loss: str | None = None,
    **options: Unpack[JudgedOptions],
) -> VJP:
    """Compute the vector-Jacobian product vᵀJ, left in `x.grad` by `y.backward(gradient=v)`.

    The answer has y, v, vᵀJ (x's shape per variable), J (y.shape + x.shape, up to `JACOBIAN_ENTRIES` entries), the
    formula and the verdict.

    Raises:
        GradcliError: v is missing for a y of several elements, has not y's shape, or is given with a loss.

    >>> from gradcli import Function
    >>> answer = Function("[x*y, x+y]").vjp({"x": 3, "y": 5}, v=[1, 10])
    >>> answer.vjp["x"], answer.jacobian["y"], answer.symbolic["x"].text, answer.check.verdict
    (array(15.), array([3., 1.]), '[y, 1]', 'agree')
    """
    return answered(self._asked(at, **options), () if v is None else (v,), loss)[1][0]


def vjps(
    self: ParsedText,
    at: Inputs | None = None,
    vs: Sequence[Value] = (),
    *,
    accumulate: bool = False,
    loss: str | None = None,
    **options: Unpack[JudgedOptions],
) -> Products:
    """Compute several vector-Jacobian products of one Jacobian; with `accumulate`, `x.grad` after each pass too.

    Without any v, it is what a single `vjp` would take, or those of all backward passes of a snippet, if the
    gradients are to accumulate or the snippet sets them to zero in between.

    Raises:
        GradcliError: As for `vjp`; there are too many of them.

    >>> from gradcli import Function
    >>> found = Function("x**2").vjps({"x": "1,2"}, ["e0", "e1"], accumulate=True)
    >>> [(one.vjp["x"].tolist(), one.accumulated["x"].tolist()) for one in found.answers]
    [([2.0, 0.0], [2.0, 0.0]), ([0.0, 4.0], [2.0, 4.0])]
    """
    unbound = self._asked(at, **options)
    answers = answered(unbound, vs, loss, accumulate=accumulate, each=True)[1]
    shared = {one.name: getattr(answers[0], one.name) for one in fields(Differentiation)}
    shared["quantities"] = answers[0].of_kind("jacobian")
    if shared["check"] is not None and len(answers) > 1:
        checks = [_numbered(answer.check, n) for n, answer in enumerate(answers) if answer.check is not None]
        shared["check"] = joined(checks)
    is_written = not vs and loss is None and len(answers) == len(unbound.snippet.passes)
    return Products(**shared, answers=tuple(answers), is_written=is_written)


def answered(
    unbound: FunctionWithValues,
    vs: Sequence[Value],
    loss_text: str | None = None,
    *,
    accumulate: bool = False,
    most_elements: int | None = None,
    each: bool = False,
) -> tuple[BoundFunction, Sequence[VJP]]:
    """Return the question, and a product for each v; without any v, one for all passes of a snippet together.

    Args:
        unbound: The function at its point.
        vs: The gradient vectors.
        loss_text: The loss, whose derivative is v.
        accumulate: Whether to show what `.grad` holds after each pass.
        most_elements: The number of elements of all lines that there may be, if each line is to be held.
        each: Whether each pass of a snippet has a product, in place of one for all.

    Raises:
        GradcliError: A v is needed and not given, has not y's shape, or is given with a loss; there are too many.
    """
    snippet = unbound.snippet
    own, extra = (unbound, {}) if loss_text is None else apart(unbound, loss_text, vs or None)
    is_of_snippet = not vs and loss_text is None
    bound = own.bind(is_last=is_of_snippet and not each)
    elements = 1 + sum(map(math.prod, bound.shapes.values()))
    if most_elements is not None and elements > most_elements:
        message = f"the steps have {elements:,} numbers in all; at most {most_elements:,} are explained"
        raise TooLargeError(message, hint="use smaller inputs, or vjp, which keeps no steps")
    is_written = is_of_snippet and (accumulate or (each and snippet.has_each))
    passes = snippet.passes if is_written else ()
    accumulates = accumulate or any(one.accumulates for one in passes)
    # Passes without a v of their own share the v of the snippet.
    own_vs = (passes and snippet.vectors) or [snippet.v]
    if (many := len(vs or own_vs)) > MAX_PRODUCTS:
        raise TooLargeError(f"{many:,} gradient vectors are more than {MAX_PRODUCTS}", hint="jacobian gives all rows")
    given = [bound.cotangent(v, None) for v in vs] or [bound.cotangent(None, v) for v in own_vs if loss_text is None]
    loss = None if loss_text is None else derive_loss(bound, loss_text, extra)
    remarked = dict.fromkeys(warning for v in given for warning in remarks_on_v(bound, v))
    remarked |= dict.fromkeys((*remarks_on_passes(bound), *(loss.warnings if loss else ())))
    trial.end()
    weights = [bound.weights(v) for v in given] if loss is None else [loss.v]
    added: list[Array] = []
    held = {name: np.zeros_like(bound.arrays[name]) for name in bound.wrt}
    steps = [(one.zeroed, one.accumulates) for one in passes] or [((), True)] * len(weights)
    warnings = [w for w in bound.program.warnings if len(weights) == 1 or not w.endswith(ADD_UP)]
    answers = []
    for number, v in enumerate(tracked("product", weights, len(weights))):
        found = answer_bound(VJP, bound, {bound.program.output_name: v})
        product = found.vjp
        zeroed, adds = steps[number]
        added = ([] if set(zeroed) & set(bound.wrt) else added) + [v] * adds
        held = {name: np.zeros_like(array) if name in zeroed else array for name, array in held.items()}
        if adds:
            with np.errstate(all="ignore"):  # each in turn, as torch adds to .grad
                held = {name: held[name] + grad for name, grad in product.items()}
        check = found.check
        if check is not None and accumulates and len(added) > 1:
            check = _with_added(check, bound, added, held)
        if check is not None and loss is not None:
            check = with_loss(check, loss, bound, product)
        found = replace(found, check=check, warnings=(*warnings, *remarked), accumulates=accumulates, loss=loss)
        answers.append(_with_accumulated(found, held) if accumulates else found)
    return bound, answers


def _with_accumulated(answer: VJP, held: Mapping[str, Array]) -> VJP:
    """Add what `.grad` holds after a pass, next to the product that the pass adds."""
    accumulated = quantities_of("accumulated", answer.output, answer.wrt, by_name(held))
    return replace(answer, quantities=(*answer.of_kind("vjp"), *accumulated, *answer.of_kind("jacobian")))


def _with_added(check: Check, bound: BoundFunction, passes: Sequence[Array], held: Mapping[str, Array]) -> Check:
    """Join to the check that of the `.grad` accumulated over several passes."""
    with np.errstate(all="ignore"):
        v = np.sum(passes, axis=0)
        cancels = bool((np.abs(v) < np.max(np.abs(passes), axis=0)).any())
    numbers = Numbers.of_first_order(bound.dtype, bound.value, None, v, held, passes=tuple(passes), judges_value=False)
    found, count = compare_numbers(bound, numbers).check, len(passes)
    cause = f"the sum of {count} passes cancels" if cancels else f"after {count} passes"
    findings = tuple(
        finding.moved(kind="accumulated").judged(note="; ".join(filter(None, [finding.note, cause])))
        for finding in found.findings
    )
    of = "" if found.is_whole else f".grad after {count} passes"
    return with_part(check, replace(found, findings=findings), of)


def _numbered(check: Check, number: int) -> Check:
    """Add the number of v to each finding of vᵀJ, in the check of one of several products."""
    findings = tuple(
        finding.judged(note=f"for v number {number + 1}: {finding.note}")
        if finding.kind == "vjp" and finding.column is not None
        else finding
        for finding in check.findings
    )
    return replace(check, findings=findings)


# -- a loss ℓ of the output: it gives v = ∂ℓ/∂y, and vᵀJ is then the gradient of ℓ∘f
#
# ℓ is text of the language in y, by the name of the output.  It may name the variables, which it holds constant, and
# other names that have values of their own, such as the targets of a fit.  Torch differentiates it twice: by y alone,
# and through the whole of ℓ∘f in one go, to compare vᵀJ with.


SOURCE = "--loss"
"""Name of the text in messages."""


def apart(unbound: FunctionWithValues, text: str, v: object = None) -> tuple[FunctionWithValues, dict[str, Array]]:
    """Split off the values that the loss alone names from the function; return both.

    Args:
        unbound: With all values.
        text: The loss.
        v: A gradient vector given too, which a loss excludes.

    Raises:
        GradcliError: There is a v, the loss is empty or not in the language, or such a value is malformed.

    >>> from gradcli.questions.text_reading import read
    >>> own, extra = apart(FunctionWithValues("x**2", read("x**2"), {"x": "1,2", "t": "3,4"}), "sum((y - t)**2)")
    >>> own.at, extra
    ({'x': '1,2'}, {'t': array([3., 4.])})
    """
    if v is not None:
        raise UsageError(
            f"{option('v')} and {option('loss')} exclude each other",
            hint="the loss gives v, which is its derivative by y",
        )
    if not text.strip():
        raise InputError(f"{option('loss')} is empty", hint='write a loss of the output, such as "sum(y**2)"')
    _, snippet = unbound.read_with(unbound.at)
    names = set(parse_formula(_source(text, snippet.program), frozenset(unbound.at), {}).names)
    names -= {*snippet.program.names, *snippet.values}
    extra = {name: read_value(value, f"--at {name}") for name, value in unbound.at.items() if name in names}
    return replace(unbound, at={name: value for name, value in unbound.at.items() if name not in extra}), extra


def _source(text: str, program: Program) -> SourceText:
    """Make the source of a loss, in which `y(x)` is y, the value of the function."""
    source = SourceText(text, SOURCE)
    settle_value(source, program.output_name, program.names)
    return source


def derive_loss(bound: BoundFunction, text: str, extra: Mapping[str, Array]) -> Loss:
    """Compute the loss at y, v = ∂ℓ/∂y with its formula, and ∇(ℓ∘f) in one go.

    Args:
        bound: The function f at its point.
        text: The loss ℓ, an expression in y by the name of the output.
        extra: Values of names that are not the function's.

    Raises:
        GradcliError: The text is not in the language, or a name in it has no value.
        InputError: ℓ does not name y, or has not one element.

    >>> from gradcli.questions.text_reading import read
    >>> bound = FunctionWithValues("x**2", read("x**2"), {"x": "1,2"}).bind()
    >>> loss = derive_loss(bound, "sum(y**2)", {})
    >>> loss.value, loss.v, loss.formula.text, loss.gradient["x"]
    (array(17.), array([2., 8.]), '2*y[j]', array([ 4., 32.]))
    """
    y = bound.program.output_name
    numbers = {name: rounded(array, bound.dtype) for name, array in extra.items()}
    given = {**numbers, **bound.extra_values, **bound.arrays}
    # In the loss the name of the output is the output, even where an input has it too.
    given.pop(y, None)
    shapes = {y: bound.shape, **{name: array.shape for name, array in given.items()}}
    program = parse_formula(_source(text, bound.program), frozenset(shapes), shapes)
    _require_known(program, y, shapes)
    inside = infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables})
    if math.prod(shape := inside.get(program.output, ())) != 1:
        message = f"the loss has shape {show(shape)}, and a loss has one element"
        raise LossElementsError(message, place=place_of(program), hint="write sum(...) or mean(...) of it")
    if "loss" not in shapes:
        program = replace(program, assigned=(*program.assigned[:-1], "loss"))
    values = {name: given[name] for name in program.names if name != y}

    at = {**values, y: bound.value}
    of_y = BoundFunction(program, inside, at, (y,), bound.dtype, {}, check=bound.check, device=bound.device)
    weights = np.ones(of_y.shape, dtype=bound.dtype)
    found = answer_bound(VJP, of_y, {program.output_name: weights})
    (block,) = found.of_kind("jacobian")
    held = [name for name in program.names if name in bound.arrays]
    remark = f"the loss names {', '.join(held)}, held constant there: v is its derivative by {y} alone"
    return Loss(
        expression=" ".join(text.split()),
        value=of_y.value,
        v=found.vjp[y],
        formula=block.formula,
        formula_omitted=block.formula_omitted,
        gradient=_composed(bound, program, values, weights),
        inputs=values,
        check=found.check,
        warnings=(*program.warnings, *([remark] if held else [])),
    )


def agrees(loss: Loss, vjp: Mapping[str, Array], dtype: Dtype) -> bool:
    """Tell whether vᵀJ is ∇(ℓ∘f) up to rounding of the largest element, as smaller ones may have cancelled.

    Elements that are not finite must be the same.
    """
    rtol = TOLERANCE[dtype].rtol
    return all(
        np.allclose(
            vjp[name], whole, rtol=rtol, atol=rtol * np.abs(whole[np.isfinite(whole)]).max(initial=0.0), equal_nan=True
        )
        for name, whole in loss.gradient.items()
    )


def with_loss(check: Check, loss: Loss, bound: BoundFunction, vjp: Mapping[str, Array]) -> Check:
    """Join the check of a loss's v = ∂ℓ/∂y, and note if vᵀJ equals torch's gradient of ℓ∘f or differs."""
    if loss.check is None:
        return check
    is_same = agrees(loss, vjp, bound.dtype)
    equal = "vᵀJ and the gradient of the loss in one go " + ("are equal" if is_same else "differ")
    what, found = f"∂loss/∂{bound.program.output_name}", loss.check
    findings = tuple(
        finding.moved(kind="vjp" if finding.kind == "jacobian" else finding.kind, row=None).judged(
            note=f"of {what}: {finding.note}"
        )
        for finding in found.findings
    )
    part = replace(found, findings=findings, notes=(*found.notes, equal), rewrite=None)
    return with_part(check, part, f"v = {what}")


def _require_known(program: Program, y: str, known: Mapping[str, object]) -> None:
    for name in program.names:
        if name not in known:
            hint = meant(name, known) or did_you_mean(name, known)
            hint = hint or f"it may name {', '.join(known)}; others get values by {option('at', f'{name}=VALUE')}"
            raise InputError(f"the loss names '{name}', which has no value", place=place_of(program, name), hint=hint)
    if y not in program.names:
        message = f"the loss does not name {y}, the output"
        raise InputError(message, place=place_of(program), hint=f"write it in terms of {y}, such as sum({y}**2)")


def _composed(bound: BoundFunction, loss: Program, values: Mapping[str, Array], weights: Array) -> dict[str, Array]:
    """Compute the gradient of ℓ∘f in one go, through the graph of the y that f gave."""
    from gradcli.autodiff.jacobians import vjp
    from gradcli.autodiff.run import composed

    return vjp(composed(bound.forward, loss, values, bound.program.output_name), weights, bound.wrt)
