"""The readings of a derivative side by side, with the claims that somebody makes of it: the method `check`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Unpack, get_args

from gradcli import results
from gradcli.arrays import Array
from gradcli.crosscheck import formulas
from gradcli.crosscheck.compare import TOLERANCE, Tolerance
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Numbers, flat
from gradcli.errors import GradcliError, InputError, Place, ShapeError, UsageError, did_you_mean
from gradcli.language.inputs import Value
from gradcli.language.program.shape_readings import GivenShape
from gradcli.language.program.wengert import Atom, Line, Program, show
from gradcli.option_words import Words, option
from gradcli.parts import is_listed
from gradcli.parts.claims.asked_claims import claims_of, judged_claims, with_statements
from gradcli.parts.claims.assumptions import Assumption, assumption_of
from gradcli.parts.claims.box_claims import ClaimsInBox
from gradcli.parts.claims.checked_points import CheckedPoint, random_points, require_random_points, worst_of
from gradcli.parts.claims.claim_readings import StatedFunction
from gradcli.parts.claims.mode_checks import AskedModes, with_modes
from gradcli.parts.claims.point_options import require_of_boxes
from gradcli.parts.claims.structured_formulas import shortened
from gradcli.parts.claims.structures import Assumed, remarks
from gradcli.progress import collector_paused
from gradcli.questions import judging
from gradcli.questions.bound_function import BoundFunction, FunctionWithValues
from gradcli.questions.likely_shapes import example_range
from gradcli.questions.parsed_text import DeviceOptions, Directions, Inputs, ParsedText
from gradcli.questions.text_reading import read_whole
from gradcli.reference.deadline import is_over_time, time_limit

MENDED = ("inaccurate", "nan-trap")
"""Verdicts of the worst random point for which a better form is searched over the whole box."""

ROWS_OR_FEWER = (
    f"use {option('v', 'ones')}, or {option('v', 'e0')}, {option('v', 'e1')}, ... for single rows, "
    f"or {option('wrt')} for fewer variables"
)
"""Hint at smaller questions, where a Jacobian would be too large."""


def check(
    self: ParsedText,
    at: Inputs | None = None,
    v: Value | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    claim: Mapping[str, str | StatedFunction] | None = None,
    expect: Mapping[str, Value] | None = None,
    assume: Mapping[str, str] | None = None,
    shape: Mapping[str, GivenShape] | None = None,
    random: int | None = None,
    box: Mapping[str, str] | None = None,
    along: Directions = None,
    prove: str | None = None,
    seed: int = 0,
    allow: Sequence[results.Allowed] = (),
    strict: bool = False,
    require_all: bool = False,
    differences: bool = False,
    forward: bool = False,
    order: Literal[1, 2] = 1,
    batched: bool = False,
    numbers_of: ParsedText | None = None,
    **options: Unpack[DeviceOptions],
) -> results.BoxChecking | results.Checking:
    """Compare autograd, the formula and the enclosure entry by entry, and give a verdict.

    The entries are those of vᵀJ, or without v those of J.  Torch may be off by `rtol`, relative to the truth, and
    `atol` beyond that.  `claim` has formulas of derivatives by variable, or functions, to be proved or refuted,
    `expect` numbers; `""` is the only variable.  `random` points are drawn from the `box` of each variable, `"0..1"`.
    Verdicts of `allow` pass, and unproved claims by `no-counterexample`; unless `strict`, so do lost digits next to a
    larger entry of the gradient, and unless `require_all`, a sample.  With `forward` the numbers of forward mode are
    checked too, as they are for a custom function that has a `jvp`; with `order=2` second derivatives, by x and by v;
    with `batched` the rows of J that torch computes at once.
    With `numbers_of`, the numbers that are judged are those that torch gives for another function, whose derivative
    is meant to be this one's.

    A `box` without `random` is checked at every point, as is a line from the values `along` a direction: torch's
    numbers, or in their place the claims, and what `prove` says of y and its derivatives.

    `assume` has structures by variable, such as `symmetric`: values stay inside, and derivatives, formulas and claims
    are those along its directions.

    Without values, the shapes are those with which the function and the claims make sense: all such readings are tried,
    and a claim is refuted only if it fails in each.  `shape` gives them, as `closed_form` has it.

    Raises:
        GradcliError: v has not y's shape; a range, a claim or a number makes no sense; the Jacobian would take
            more than `JACOBIAN_BYTES`, or too many points are asked.

    >>> from gradcli import Function
    >>> entry = (answer := Function("x**2").check({"x": 3})).opinions[0]
    >>> answer.passed, entry.torch, entry.formula, entry.reference, entry.ulps
    (True, 6.0, 6.0, 6.0, 0.0)
    """
    if prove is not None or along is not None or (box and random is None and is_listed("everywhere")):
        of_points = {
            "v": None if claim else v, "expect": expect, "assume": assume, "shape": shape, "random": random,
            "atol": atol, "differences": differences, "forward": forward, "batched": batched, "order": order == 2,
            "backward_of": numbers_of,
        }  # fmt: skip
        require_of_boxes(of_points, assume, "prove" if prove is not None else "along" if along is not None else "")
        typed, at = self._next_to(claim or {}), self._starting(at, box if along is None else None, None)
        claim = with_statements(claim or {}, self.variables)
        meant = typed._asked(at, **options)
        return ClaimsInBox(typed, meant, at, box or {}, along, prove, claim, v, rtol, seed, allow).answer()
    tolerances: dict[str, Any] = {name: one for name, one in (("rtol", rtol), ("atol", atol)) if one is not None}
    _require_sensible(tolerances, allow := tuple(allow), random, box or {}, seed, partial(_example, self, at, options))
    typed, at = self._next_to(claim or {}), self._starting(at, box, assume)
    function = typed._assuming(assume, at, options.get("wrt"))
    claim = with_statements(claim or {}, self.variables)
    unbound = function._asked(at, **options)
    if not (claim or expect):
        _require_no_equation(unbound, has_v=v is not None)
    has_values = bool(unbound.at or unbound.snippet.values or box or expect)
    if shape and has_values:
        raise UsageError(f"{option('shape')} is for a check without values", hint="leave it out: values have shapes")
    asked = Asked(
        typed, function, at, v, tolerances, claim, expect or {}, assume or {}, random, seed, allow, strict,
        require_all, differences, AskedModes(forward, order, batched), numbers_of, options,
    )  # fmt: skip
    if (claim or assume) and not has_values:
        from gradcli.parts.claims.open_claims import at_likely_shapes

        return at_likely_shapes(unbound, shape or {}, claim, assume or {}, seed, asked.answer)
    unbound, ranges = unbound.within(box or {})
    return asked.answer(unbound, ranges, claim)


IF_MEANT = Words(
    f"if the value is meant to be a constant, as in a straight-through estimator, {option('allow', 'cut')} lets it pass"
)
"""How a gradient passes that is meant to be without what is held constant."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a check, at whatever point.

    The attributes are the arguments of `check`.

    Attributes:
        whose: The function as it was given.
        function: The function of the nearest members of what is assumed.
        modes: Further modes of differentiation.
        options: How torch computes.
    """

    whose: ParsedText
    function: ParsedText
    at: Inputs | None
    v: Value | None
    tolerances: Mapping[str, Any]
    claim: Mapping[str, str | StatedFunction]
    expect: Mapping[str, Value]
    assume: Mapping[str, str]
    random: int | None
    seed: int
    allow: tuple[results.Allowed, ...]
    strict: bool
    require_all: bool
    differences: bool
    modes: AskedModes
    numbers_of: ParsedText | None
    options: DeviceOptions

    def answer(
        self, unbound: FunctionWithValues, ranges: Mapping[str, str] | None, claim: Mapping[str, str | StatedFunction]
    ) -> results.Checking:
        """Answer at the point of a function; `ranges` are those of random points, None where nobody gave the values."""
        is_open, ranges = ranges is None, ranges or {}
        bound, drawn = unbound.bind(), None if is_open else {*ranges}

        def ask() -> FunctionWithValues:
            """Ask of the function without what is assumed, at the same point."""
            plain = self.whose._asked(self.at, **self.options)
            return replace(plain, at=unbound.at) if is_open else plain

        assumed, bound, general = _assumed(self.function, bound, self.assume, drawn, ask)
        cotangent, has_v = _cotangent(bound, self.v), self.v is not None
        given = self.whose._argument_values(self.at, bound)
        claims, expected = claims_of(bound, given, has_v, claim, self.expect)
        tolerance = replace(TOLERANCE[bound.dtype], **self.tolerances, is_strict=bool(self.tolerances))
        asked = _with_numbers_of(self.numbers_of, bound, self.at, self.assume, **self.options)
        look = partial(_look, bound, asked, cotangent, tolerance)
        failing_at = partial(_failing, self.allow, self.strict)
        draw = None if self.random is None else results.Sampling(self.random, self.seed, ranges, {}, {})
        worst, sampling, failing = _worst(look, failing_at, bound, draw, assumed, has_v=has_v)
        shared, found = _readings(worst, tolerance, assumed, has_differences=self.differences)
        failing |= failing_at(worst.judgement, found)
        found = _with_better_form(found, unbound, worst, tolerance, {} if sampling is None else ranges, assumed)
        claimed_ones = judged_claims(worst, claims, expected, tolerance, self.seed, assumed, general)
        elsewhere, tried = ((), ()) if (live := bound.recording) is None else live.trials_told(found.verdict)
        is_right = not failing and not elsewhere and all(one.passes(self.allow) for one in claimed_ones)
        answer = results.Checking(
            command="check",
            allowed=self.allow,
            requires_all=self.require_all,
            failing=tuple(verdict for verdict in results.SEVERITY if verdict in failing),
            passed=is_right and (found.is_whole or not self.require_all),
            claims=claimed_ones,
            elsewhere=elsewhere,
            remarks=(*(remarks(assumed, worst.bound.wrt) if assumed else ()), *tried, *[IF_MEANT] * ("cut" in failing)),
            sampling=sampling,
            check=found,
            **shared,
        )
        if not self.modes.are_checked(worst.asked):
            return answer
        return with_modes(answer, worst.bound, worst.asked, self.modes, tolerance, failing_at)


def _assumed(
    function: ParsedText,
    bound: BoundFunction,
    assume: Mapping[str, str] | None,
    drawn: Collection[str] | None,
    ask: Callable[[], FunctionWithValues],
) -> Assumption:
    """Read what is assumed, if anything is; None for values that are all drawn, `ask` asks without it."""
    if not assume:
        return Assumption({}, bound, lambda: bound)
    drawn = bound.arrays if drawn is None else drawn
    return assumption_of(function, bound, assume, drawn, lambda: ask().bind())


def _worst(
    look: Callable[[Mapping[str, Array]], CheckedPoint],
    failing_at: Callable[[Judgement, results.Check], set[results.Verdict]],
    bound: BoundFunction,
    asked: results.Sampling | None,
    assumed: Assumed,
    *,
    has_v: bool,
) -> tuple[CheckedPoint, results.Sampling | None, set[results.Verdict]]:
    """Look at the point of a question, or find the worst of random ones, with the verdicts that do not pass at them."""
    if asked is None:
        return look({}), None, set()
    rows = 1 if has_v else math.prod(bound.shape)
    return worst_of(look, failing_at, random_points(bound, asked, rows, assumed), asked)


def _with_numbers_of(
    other: ParsedText | None,
    bound: BoundFunction,
    at: Inputs | None,
    assume: Mapping[str, str] | None,
    **options: Unpack[DeviceOptions],
) -> BoundFunction:
    """Return the question of the function whose numbers are judged, if that is another one."""
    if other is None:
        return bound
    return _of_another(other._assuming(assume, at, options.get("wrt"))._asked(at, **options).bind(), bound)


def _cotangent(bound: BoundFunction, v: Value | None) -> Array | Program | None:
    """Read the gradient vector; without one, there must be room for the Jacobian."""
    if v is None:
        bound.require_room(ROWS_OR_FEWER)
    return None if v is None else bound.cotangent(v, None)


def _example(whose: ParsedText, at: Inputs | None, options: DeviceOptions) -> str:
    """Write a range of a variable to draw from."""
    return example_range(whose._asked(at, **options), "0", "1")


def _require_sensible(
    tolerances: Mapping[str, float],
    allowed: Sequence[results.Allowed],
    points: int | None,
    boxes: Mapping[str, str],
    seed: int,
    example: Callable[[], str],
) -> None:
    """Refuse options that are invalid for every function; `example` writes a range of a variable.

    Raises:
        InputError: A tolerance, a number of points, a seed or an allowed verdict is invalid.
    """
    for name, number in tolerances.items():
        if not (math.isfinite(number) and number >= 0):
            raise InputError(
                f"{option(name, str(number))} is not a tolerance", hint="a tolerance is a number from 0 on"
            )
    known = (*get_args(results.Verdict), results.NO_COUNTEREXAMPLE)
    for name in allowed:
        if name not in known:
            hint = did_you_mean(name, known) or f"the verdicts are: {', '.join(known)}"
            raise InputError(f"{option('allow')} names '{name}', which is no verdict", hint=hint)
        # Any other verdict may be a property of the function; this one says that a reading is wrong.
        if name == "disagree":
            message = "disagree cannot be allowed: it means that torch, the formula or gradcli is wrong"
            raise InputError(message, hint=f"a larger {option('rtol')} or {option('atol')} allows for known errors")
    if seed < 0:
        raise InputError(f"{option('seed', str(seed))} is not a seed", hint="a seed is a whole number from 0 on")
    if points is not None or boxes:
        require_random_points(points, boxes, example)


def _require_no_equation(unbound: FunctionWithValues, *, has_v: bool) -> None:
    """Refuse an equation, `x**2 == 2*x`, without a claim: its value is 1 or 0, and there is nothing to compare.

    Raises:
        InputError: The value of the text is an equation.
    """
    program = unbound.snippet.program
    lines = {line.symbol: line for line in program.lines}
    value = lines.get(program.output)
    if value is None or not (value.call.op.is_branch and value.call.operands[1:] == (1, 0)):
        return
    if unbound.recording is not None or not _is_equation(value.call.operands[0], lines):
        return
    left, _, right = (part.strip() for part in program.text.partition("=="))
    hint = f"give the function alone, and its derivative by {option('claim', 'FORMULA')}"
    with suppress(GradcliError):
        snippet = read_whole(left)
        alone = replace(unbound, expression=snippet.read_as or left, snippet=snippet)
        from gradcli.questions.likely_shapes import at_random_values

        bound = (alone if alone.at or alone.snippet.values else at_random_values(alone, 0)).bind()
        named = f"{bound.wrt[0]}=" if len(bound.wrt) > 1 else ""
        claims_of(bound, {}, has_v, {named[:-1]: right}, {})
        if "==" not in right:
            derivative = option("claim", f'"{named}{right}"')
            hint = f'give the function alone, "{left}", and its derivative by {derivative}'
    message = "check compares the derivative of a function, and this is an equation, which is only 1 or 0"
    raise InputError(message, place=Place(program.text, value.span), hint=hint)


def _is_equation(atom: Atom, lines: Mapping[Atom, Line]) -> bool:
    """Tell whether a condition is made of equations alone."""
    if atom not in lines:
        return False
    call = lines[atom].call
    return call.op.sense == (0,) or (bool(call.op.conditions) and all(_is_equation(a, lines) for a in call.operands))


def _with_better_form(
    check: results.Check,
    unbound: FunctionWithValues,
    worst: CheckedPoint,
    tolerance: Tolerance,
    ranges: Mapping[str, str],
    assumed: Assumed,
) -> results.Check:
    """Add to a check of random points the form that loses the fewest digits; a form is of no members alone."""
    if assumed:
        return replace(check, rewrite=None)
    return _mended_everywhere(unbound, ranges, worst, check, tolerance) if ranges else check


def _mended_everywhere(
    unbound: FunctionWithValues,
    ranges: Mapping[str, str],
    worst: CheckedPoint,
    check: results.Check,
    tolerance: Tolerance,
) -> results.Check:
    """Add to a check the form that loses the fewest digits over the box, if it helps at the worst point."""
    if check.verdict not in MENDED:
        return check
    if is_listed("improve"):
        from gradcli.parts.improve import improved

        found = improved(unbound, ranges)
        better = found.outcome == "better"
        form = judging.judged_form(worst.bound, found.form, worst.numbers.v, None, tolerance) if better else None
        if form is not None and results.SEVERITY.index(form.verdict) < results.SEVERITY.index(check.verdict):
            return replace(check, rewrite=results.Rewrite(found.form, "; ".join(found.reasons), form.verdict))
    return check


def _of_another(other: BoundFunction, bound: BoundFunction) -> BoundFunction:
    """Return the question of the function whose numbers are judged.

    Raises:
        ShapeError: Its value has another shape than that of the function whose derivative it is to have.
    """
    if other.shape != bound.shape:
        raise ShapeError(
            f"the function gives a tensor of shape {show(other.shape)}, and the one that its backward is of, "
            f"one of shape {show(bound.shape)}"
        )
    return other


def _look(
    first: BoundFunction,
    first_asked: BoundFunction,
    cotangent: Array | Program | None,
    tolerance: Tolerance,
    drawn: Mapping[str, Array],
) -> CheckedPoint:
    """Ask torch, of this function or of another with its variables, and the judge at one point."""
    bound = first.with_values(drawn)
    asked = bound if first_asked is first else first_asked.with_values(drawn)
    if cotangent is None:
        numbers = Numbers(bound.dtype, bound.value, {"jacobian": results.by_name(asked.jacobian)})
    else:
        v = bound.weights(cotangent)
        numbers = Numbers(bound.dtype, bound.value, {"vjp": results.by_name(asked.product(v))}, v)
    derived = (first if first.program is bound.program else bound).derived
    found = judging.compare_numbers(bound, numbers, tolerance, blames=False)  # the worst alone is explained
    if asked is not bound:  # y is that of the function whose backward is judged
        alone = replace(asked, wrt=())
        found = found.with_value_of(judging.compare_numbers(alone, Numbers(alone.dtype, alone.value), tolerance))
    return CheckedPoint(bound, asked, derived, numbers, found)


def _failing(
    allow: Sequence[results.Allowed], is_strict: bool, judgement: Judgement, check: results.Check
) -> set[results.Verdict]:
    """Collect the verdicts that do not pass: of entries, of findings, and `unchecked` of the check itself."""
    opinions = [one.assessment for one in (*judgement.entries, *check.findings)]
    found = {one.verdict for one in opinions if one.verdict != "unchecked" and (is_strict or not one.is_minor)}
    return (found | {check.verdict} & {"unchecked"}) - {"agree", *allow}


def _readings(
    look: CheckedPoint, tolerance: Tolerance, assumed: Assumed, *, has_differences: bool
) -> tuple[dict[str, Any], results.Check]:
    """Collect the formulas and all opinions on each entry; and the check with their findings and notes."""
    bound, v = look.bound, look.numbers.v
    judgement = judging.with_advice(bound, judging.with_blame(bound, look.judgement), v, None, tolerance)
    confirmed, check = judging.confirm_formulas(bound, look.numbers, judgement, look.derived)
    assert check is not None, "what was judged has a check"  # noqa: S101
    confirmed = shortened(confirmed, bound.program, assumed) if assumed else confirmed
    entries = formulas.worst_first(judgement.entries)
    differences, note = _differences(bound, entries[: formulas.MAX_OPINIONS], v) if has_differences else ({}, "")
    with collector_paused():
        shown = formulas.opinions(entries, confirmed.values, differences, bound.dtype)
    given = look.numbers.derivatives
    jacobian = {} if bound.jacobian_omitted else given.get("jacobian", {})
    named = bound.program.output_name, bound.wrt
    products = results.quantities_of("vjp", *named, given.get("vjp", {}))
    blocks = results.quantities_of("jacobian", *named, jacobian, confirmed.shown, confirmed.omitted)
    found = {
        "quantities": (*(products if v is not None else ()), *blocks),
        "opinions": shown,
        "opinions_count": len(entries),
        "v": v,
        "value": look.asked.value,
        "assumed": {name: one.name for name, one in assumed.items()},
        "jacobian_omitted": bound.jacobian_omitted if v is None else "",
        **bound.common,
        "device": bound.device,
    }
    return found, replace(check, notes=(*check.notes, note)) if note else check


def _differences(
    bound: BoundFunction, entries: Sequence[results.Entry], v: Array | None
) -> tuple[formulas.DifferenceQuotients, str]:
    """Compute the difference quotients of these entries; with a remark if there was no time for all."""
    from gradcli.autodiff.batched import PRODUCT, difference

    found: dict[results.Entry, tuple[float, float]] = {}
    with time_limit():
        for n, entry in enumerate(entries):
            if entry.variable is not None and entry.column is not None:
                row = PRODUCT if entry.row is None else flat(entry.row, bound.shape)
                place = entry.variable, flat(entry.column, bound.arrays[entry.variable].shape), row
                quotient = difference(bound.program, bound.arrays, place, v, bound.shape)
                found |= {entry: quotient} if quotient else {}
            if is_over_time():
                return found, f"there was time for {n + 1:,} of {len(entries):,} finite differences"
    return found, ""
