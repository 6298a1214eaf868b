"""Words on a wrong `backward`: what its result is in place of the gradient, and where it is wrong.

    it does not multiply by the gradient it is given    its result is the transpose of the gradient
    only where x is negative                            only with requires_grad of w alone

A mistake is said if it explains every wrong result, a place if further values, drawn on either side of it, bear it out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradcli.errors import GradcliError
from gradcli.parts.running.custom_functions import CLOSE, CustomFunction, VariantResult
from gradcli.parts.running.cuts import largest
from gradcli.parts.running.variants import WHOLE, without_condition
from gradcli.results import Array

HALVES = 24
"""Steps of bisection to find the place where a gradient begins to be wrong."""

DRAWS = 2
"""Draws of values on either side of a place, which must bear it out."""

MOST_EXPLAINED = 8
"""Most wrong results that a mistake must explain."""

ABRUPT = 1e-3
"""Least relative error half as far again into a place: where an error grows slowly beyond a tolerance, none begins."""

MEASURED = 1e-2
"""Largest relative difference of ratios to measured slopes that count as one."""

LINEAR = 1e-3
"""Largest relative error of a sum of two results that rounding may explain."""

FURTHER = np.array([1.5, 4.0, 30.0, 1e3])
"""Sizes of elements further from 0, next to the least that is wrong."""

ASIDE = 1e-3
"""Relative distance of the numbers next to one that alone is wrong."""

ONLY = ", only where"
"""How a place is named outside of which all elements are right."""

UP_TO_ZERO = ", up to where the gradient is 0"
"""What follows of a place that ends further from 0, where both gradients round to 0."""

NEXT_TO_ZERO = 1e-6
"""Largest end of a range that is taken for 0, where 0 lies between the ends."""


def words(custom: CustomFunction, name: str, results: Sequence[VariantResult]) -> str:
    """Say what is wrong with the gradient by one argument, and where.

    Args:
        custom: The function.
        name: The argument.
        results: What was seen, some of it wrong.
    """
    failing = [result for result in results if name in result.wrong]
    cause = _cause(custom, name, failing)
    named = {cause.where, *cause.disproved}
    alike = [result for result in failing if result.variant.where in named and not result.error][:MOST_EXPLAINED]
    failing = [result for result in failing if result.variant.where not in cause.disproved] or failing
    where, error = cause.where, failing[0].error
    by = f" for {name}" * (len(custom.names) > 1)
    arrays = failing[0].variant.arrays if failing[0].variant.is_reshaped else None
    only = "only " * all(result.variant.where == where or result.variant.arrays is arrays for result in failing)
    said = error or f"is wrong{by}"
    if not error and not custom.is_fully_recorded:
        return f"{said}: {_of_measured(failing, name)}{f', {only}{where}' if where else ''}"
    if not error and not where and (fault := _of_vector(custom, name, alike[0])):
        return f"{said}: it {fault}"
    mistake = "" if error else next(_mistakes(custom, name, alike), "")
    is_explained = bool(mistake)
    if not (mistake or error) and (cause.is_partial or not where):
        mistake = next(_mistakes(custom, name, alike, only_wrong=True), "")
    said += f": its result {mistake}" * bool(mistake)
    if where and not cause.is_partial:
        return f"{said}, {only}{where}"
    decided = [
        _decided(custom, result, name)
        for result in results
        if result.variant.where in {"", *named} and not result.error
    ]
    region = _region(custom, name, decided, is_explained=is_explained and not where) if decided else ""
    return said + (f", {only}{where}" if where and not region.startswith(ONLY) else "") + region


@dataclass(frozen=True)
class _Cause:
    """The condition under which a gradient is wrong, and those that were tried and are none.

    Attributes:
        where: The condition, in the words of a variant; empty if there is none.
        is_partial: Whether some elements that meet it are right.
        disproved: The conditions of variants in which it is wrong too where they do not hold.
    """

    where: str = ""
    is_partial: bool = False
    disproved: Sequence[str] = ()


def _cause(custom: CustomFunction, name: str, failing: Sequence[VariantResult]) -> _Cause:
    """Take the first condition that is borne out, next to values of the same sizes for which it does not hold."""
    disproved: list[str] = []
    first = dict[str, VariantResult]()
    for result in failing:
        first.setdefault(result.variant.where, result)
    for where, result in first.items():
        if not where:
            break
        decided = None if result.error else _decided(custom, result, name)
        if _is_right_otherwise(custom, name, result, decided):
            return _Cause(where, where == WHOLE and decided is not None and bool(decided.is_right.any()), disproved)
        disproved.append(where)
    return _Cause(disproved=disproved)


def _is_right_otherwise(custom: CustomFunction, name: str, result: VariantResult, decided: _Elements | None) -> bool:
    """Tell whether the gradient is right at values of the same sizes that do not meet the condition of a variant."""
    wrong = {} if decided is None or decided.is_right.all() else {name: decided.x[~decided.is_right]}
    others = [*without_condition(custom.arguments, result.variant, wrong)]
    results = [found for one in others if (found := custom.try_variant(one)) is not None]
    return not others or (bool(results) and not any(name in found.wrong for found in results))


def _of_measured(failing: Sequence[VariantResult], name: str) -> str:
    """Say what the result is next to a slope that is measured: a multiple of it, if all have one ratio."""
    ratios = np.array([result.ratios[name] for result in failing if name in result.ratios])
    if ratios.size > 1 and np.isfinite(ratios).all() and np.ptp(ratios) <= MEASURED * abs(ratios[0]):
        return f"its result is {ratios.mean():.3g} times the slope that its forward has, moved a little"
    return "its forward, moved a little, has another slope"


ONCE_AND_TWICE = "gives the same for twice the gradient it is given, as where that is clipped or its sign is taken"
"""What is said of a backward that is of another size of v, but not of every one."""

AS_GIVEN = "is the gradient that it is given"
"""What is said of a backward that is that of the identity, as of a straight-through estimator."""

OPPOSITE = ", with the other sign"
"""What follows of a backward that turns a gradient around."""

# -- mistakes


def _of_vector(custom: CustomFunction, name: str, result: VariantResult) -> str:
    """Say that a backward is not linear in the gradient vector; empty if it is, as far as is seen."""
    try:
        found, twice, other, both = custom.products(result, name)
    except GradcliError:
        return ""
    if not found.any() or not all(np.isfinite(one).all() for one in (found, twice, other, both)):
        return ""
    if custom.is_same(result, name, twice, found):
        ignores = custom.is_same(result, name, other, found)
        return "does not multiply by the gradient it is given" if ignores else ONCE_AND_TWICE
    sums = ((twice, 2 * found), (both, found + other))
    is_linear = all(np.abs(own - one).max() <= LINEAR * max(largest(own), largest(one)) for own, one in sums)
    return "" if is_linear else "is not linear in the gradient it is given"


def _mistakes(
    custom: CustomFunction, name: str, results: Sequence[VariantResult], *, only_wrong: bool = False
) -> Iterator[str]:
    """Yield the mistakes that explain all results, the likeliest first.

    Args:
        custom: The function.
        name: The argument.
        results: The results, each wrong.
        only_wrong: Whether elements of a result that are right need no explanation; several must be wrong.
    """
    truths, found = [result.truth[name] for result in results], [result.found[name] for result in results]
    if not results or not all(np.isfinite(one).all() for one in found):
        return
    counted = [np.ones(truth.shape, bool) for truth in truths]
    if only_wrong:
        counted = [~_is_right(custom, result, name) for result in results]
        if sum(int(one.sum()) for one in counted) <= 1:
            return
    likely = itertools.chain(
        _of_elements(custom, name, results, truths),
        [] if only_wrong else _of_arrays(custom, name, results, truths),
        _factors(custom, results, truths, found, counted),
        [(AS_GIVEN, [one.v for one in results]), (f"{AS_GIVEN}{OPPOSITE}", [-one.v for one in results])],
    )
    with np.errstate(all="ignore"):
        for said, others in likely:
            known = [
                np.isfinite(one) & is_counted if one.shape == own.shape else np.zeros(own.shape, bool)
                for one, own, is_counted in zip(others, found, counted, strict=True)
            ]
            if any(one.any() for one in known) and all(
                one.shape == own.shape and custom.is_same(result, name, own[is_known], one[is_known])
                for result, own, one, is_known in zip(results, found, others, known, strict=True)
            ):
                yield said


_Likely = Iterator[tuple[str, list[Array]]]
"""Results that may have come in place of the truth of each result, in words and numbers."""


def _of_elements(
    custom: CustomFunction, name: str, results: Sequence[VariantResult], truths: Sequence[Array]
) -> _Likely:
    """Yield what may have come in place of each element of the truth."""
    yield "is 0", [np.zeros_like(truth) for truth in truths]
    yield "has the other sign", [-truth for truth in truths]
    for other in custom.names:
        if other != name:
            yield f"is the gradient of {other}", [result.truth[other] for result in results]


def _of_arrays(custom: CustomFunction, name: str, results: Sequence[VariantResult], truths: Sequence[Array]) -> _Likely:
    """Yield what may have come in place of the truth as a whole, its elements in another order or summed."""
    yield "is the transpose of the gradient", [truth.T for truth in truths]
    dimensions = min(truth.ndim for truth in truths)
    for axis in range(dimensions):
        yield f"is the gradient in reverse along axis {axis}", [np.flip(truth, axis) for truth in truths]
    for said, reduced in (("summed", np.sum), ("averaged", np.mean)):
        for axes, over in _axes(dimensions):
            yield f"is {said} over {over}", [_stretched(reduced, truth, axes) for truth in truths]
    means = (np.full_like(result.v, result.v.mean()) for result in results)
    likely = [custom.truth(result, name, mean) for result, mean in zip(results, means, strict=True)]
    yield "is that of the mean of the gradient it is given", likely


def _factors(
    custom: CustomFunction,
    results: Sequence[VariantResult],
    truths: Sequence[Array],
    found: Sequence[Array],
    counted: Sequence[NDArray[np.bool_]],
) -> _Likely:
    """Yield the truth times a number, that of the largest element that counts, or times a power of an argument."""
    if sum(truth.size for truth in truths) > 1:
        sizes = [np.where(is_counted, np.abs(truth), -1.0) for truth, is_counted in zip(truths, counted, strict=True)]
        n = int(np.argmax([size.max(initial=-1.0) for size in sizes]))
        top = int(sizes[n].argmax())
        factor = float(found[n].ravel()[top] / truths[n].ravel()[top])
        shown = f"{factor:.6g}" if abs(factor - 1) > ABRUPT else f"{factor:.15g}"
        yield f"is {shown} times the gradient", [factor * truth for truth in truths]
    factors = {one: [result.variant.arrays[one] for result in results] for one in custom.names}
    factors["y"] = [result.y for result in results]
    for (called, arrays), (power, said) in itertools.product(factors.items(), _POWERS):
        if all(array.shape in (truth.shape, ()) for array, truth in zip(arrays, truths, strict=True)):
            yield said.format(called), [truth * array**power for array, truth in zip(arrays, truths, strict=True)]


_POWERS = ((-1.0, "lacks the factor {}"), (1.0, "has the factor {} once too often"))


def _axes(dimensions: int) -> Iterator[tuple[tuple[int, ...] | None, str]]:
    """Give axes to sum over, one or all, and their names."""
    if dimensions > 1:
        yield from (((axis,), f"axis {axis}") for axis in range(dimensions))
    yield None, "all elements"


def _stretched(reduced: Callable[..., Array], truth: Array, axes: tuple[int, ...] | None) -> Array:
    """Reduce an array over some of its axes, and stretch the result to its shape."""
    return np.broadcast_to(reduced(truth, axis=axes, keepdims=True), truth.shape)


# -- places


@dataclass(frozen=True)
class _Elements:
    """Elements of an argument, and whether the gradient by each is right."""

    x: Array
    is_right: NDArray[np.bool_]


def _region(custom: CustomFunction, name: str, decided: Sequence[_Elements], *, is_explained: bool) -> str:
    """Say where it is wrong only, if the elements tell: `, only where x is negative`."""
    seen = _Elements(np.concatenate([one.x for one in decided]), np.concatenate([one.is_right for one in decided]))
    x, wrong = seen.x, ~seen.is_right
    if not wrong.any() or wrong.all():
        return ""
    if not x[wrong].any():
        is_negative = np.signbit(x[wrong]).all() and (x[seen.is_right] == 0).any()
        return f"{ONLY} {name} is {'-0' if is_negative else '0'}"
    if (value := x[wrong][0]) not in x[seen.is_right] and (x[wrong] == value).all():
        next_to_it = value * (1 + ASIDE * np.array([-1, 1]))
        if _is_borne_out(custom, name, next_to_it, is_right=True):
            return f"{ONLY} {name} is {value:.4g}"
    for kind in _PLACES:
        if said := _place(custom, name, seen, kind):
            return f"{ONLY} {name} is {said}"
    return (
        ""
        if is_explained
        else f", at {np.sum(wrong)} of {x.size} elements that were tried, such as {name} = {x[wrong][0]:.4g}"
    )


@dataclass(frozen=True)
class _Kind:
    """Kind of a place: the words for it, and the size whose large values are in it, as a sign and a function."""

    said: str
    next_to_zero: str
    sign: int
    size: Callable[[Array], Array]


_PLACES = (
    _Kind("large: from {} on", "positive", 1, np.asarray),
    _Kind("small: from {} on", "negative", -1, np.asarray),
    _Kind("far from 0: from {} on", "not 0", 1, np.abs),
    _Kind("near 0: up to {}", "", -1, np.abs),
)


def _place(custom: CustomFunction, name: str, seen: _Elements, kind: _Kind) -> str:
    """Name a place of one kind in which all elements are wrong, and outside of which none is; empty if it is none."""
    sizes = kind.sign * kind.size(seen.x)
    right, wrong = float(sizes[seen.is_right].max()), float(sizes[~seen.is_right].min())
    if not right < wrong:
        return ""
    given = custom.arguments
    for _ in range(HALVES):  # the ends are brought nearer, with all elements of one value
        middle = (right + wrong) / 2
        result = custom.try_variant(given.moved({name: np.full_like(given.values[name], kind.sign * middle)}))
        tells = np.array([]) if result is None else _decided(custom, result, name).is_right
        if not tells.size:
            break
        right, wrong = (middle, wrong) if tells.all() else (right, middle)
    further = kind.sign * (wrong + abs(wrong) / 2)
    result = custom.try_variant(given.moved({name: np.full_like(given.values[name], further)}))
    if result is not None and not _is_far_off(result, name):
        return ""
    ends = UP_TO_ZERO if kind.said.startswith("far") and _is_right_further(custom, name, wrong) else ""
    if not all(_is_borne_out(custom, name, seen.x[part], is_right=is_right) for part, is_right in (
        (seen.is_right, True), (~seen.is_right, False),
    )):  # fmt: skip
        return ""
    if right <= 0 <= wrong and max(-right, wrong) <= NEXT_TO_ZERO:
        return kind.next_to_zero
    about = "about " * (f"{right:.4g}" != f"{wrong:.4g}")
    return kind.said.format(f"{about}{kind.sign * wrong:.4g}") + ends


def _is_right_further(custom: CustomFunction, name: str, least: float) -> bool:
    """Tell whether the gradient by some elements further from 0 is 0, and right: what is wrong ends before them."""
    given = custom.arguments
    for size in max(least, 1.0) * FURTHER:
        result = custom.try_variant(given.moved({name: np.full_like(given.values[name], size)}))
        if result is not None and not (result.found[name].any() or result.truth[name].any()):
            return True
    return False


def _is_borne_out(custom: CustomFunction, name: str, x: Array, *, is_right: bool) -> bool:
    """Tell whether the gradient by other draws of these elements is as it was by them."""
    given = custom.arguments
    moved = ({name: given.generator.choice(x, size=given.values[name].shape)} for _ in range(DRAWS))
    results = [result for one in moved if (result := custom.try_variant(given.moved(one))) is not None]
    return bool(results) and all((_decided(custom, result, name).is_right == is_right).all() for result in results)


def _is_far_off(result: VariantResult, name: str) -> bool:
    """Tell whether some element of a gradient is off by more than a little."""
    found, truth = result.found[name], result.truth[name]
    with np.errstate(all="ignore"):
        return bool((~(np.abs(found - truth) <= ABRUPT * np.maximum(np.abs(found), np.abs(truth)))).any())


def _decided(custom: CustomFunction, result: VariantResult, name: str) -> _Elements:
    """List elements of an argument, and whether the gradient by each is right, without those that rounding decides.

    Where all together were found to be right, those are left out too that are within the error allowed of the largest.
    """
    sizes = np.maximum(np.abs(result.truth[name]), np.abs(result.found[name]))
    together = 0.0 if name in result.wrong else CLOSE[custom.call.dtype] * largest(result.truth[name])
    is_decided = ~(sizes <= custom.rounding(result, name) + together)
    return _Elements(result.variant.arrays[name][is_decided], _is_right(custom, result, name)[is_decided])


def _is_right(custom: CustomFunction, result: VariantResult, name: str) -> NDArray[np.bool_]:
    """Tell by which elements of an argument the gradient is right, but for rounding."""
    truth, found = result.truth[name], result.found[name]
    room = 10 * CLOSE[custom.call.dtype] * np.abs(truth) + custom.rounding(result, name)
    return np.asarray((np.abs(found - truth) <= room) | (name not in result.wrong))


def tried(custom: CustomFunction, results: Sequence[VariantResult]) -> str:
    """Say which points and variants were tried, besides the application itself."""
    given: Mapping[str, Array] = custom.arguments.values
    own = [
        result.variant for result in results if result.variant.arrays is not given and not result.variant.is_reshaped
    ]
    sizes = np.concatenate([[], *(np.abs(one.arrays[name]).ravel() for one in own for name in custom.names)])
    ends = f" of sizes {sizes[sizes > 0].min():.0e} to {sizes.max():.0e}" if sizes.any() else ""
    said = dict.fromkeys(result.variant.tried for result in results if result.variant.tried)
    return f"at {len(own)} other points{ends}, with {', '.join(said)}"
