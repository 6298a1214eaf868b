"""Further modes of differentiation in torch: forward mode, second order, several v at once.

Each gives numbers of its own, which are judged like those of the usual mode: one backward pass for each v.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import sympy

from gradcli.crosscheck.point import Numbers
from gradcli.errors import Span
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Builder
from gradcli.language.snippet_result import Snippet
from gradcli.progress import SECONDS, budget_factor
from gradcli.questions.bound_function import JACOBIAN_ENTRIES, BoundFunction, FunctionWithValues, rounded
from gradcli.results import Array, BlockNames, Mode, NumberKind, by_name

MOST_RUNS = 64
"""Most elements of the variables for which forward mode runs a function once each."""

SHARE_OF_TIME = 0.5
"""Share of the time of a check in which all of these runs must end."""

CLOSE = {"float64": 1e-9, "float32": 1e-3}
"""Largest difference that rounding may make between two computations of a derivative, relative to its size."""

SEED = 0
"""Seed of random directions and gradient vectors."""


def forward_product(bound: BoundFunction, u: Mapping[str, Array]) -> Array:
    """Compute Ju by forward mode.

    Raises:
        InputError: Something in the function has no forward mode.
    """
    if bound.recording is not None:
        return bound.recording.tangent(bound.arrays, u)
    from gradcli.autodiff.forward_mode import jvp_of_program

    return jvp_of_program(bound.program, bound.arrays, u, bound.dtype, bound.device)


def forward_numbers(bound: BoundFunction) -> list[Numbers]:
    """Compute J by forward mode; of many columns, or if that takes long, Ju along a random direction u.

    Both are given if one does not follow from the other, as a `jvp` may be no linear function of its tangents.

    Raises:
        InputError: Something in the function has no forward mode.
    """
    inputs = {name: bound.arrays[name] for name in bound.wrt}
    u = random_direction(inputs)
    began = time.perf_counter()
    product = forward_product(bound, u)
    seconds, runs = time.perf_counter() - began, sum(array.size for array in inputs.values())
    along_u = _numbers(bound, {"jvp": {("", ""): product}}, "forward mode", u)
    is_quick = runs * seconds <= SHARE_OF_TIME * SECONDS * budget_factor()
    if runs > MOST_RUNS or not is_quick or bound.jacobian_entries > JACOBIAN_ENTRIES:
        return [along_u]
    from gradcli.autodiff.forward_mode import jacobian_of

    blocks = jacobian_of(lambda u: forward_product(bound, u), inputs, bound.value)
    found = [_numbers(bound, {"jacobian": by_name(blocks)}, "forward mode")]
    terms = [block * u[name] for name, block in blocks.items()]
    axes = [tuple(range(product.ndim, term.ndim)) for term in terms]
    linear, size = (sum(np.sum(t, axis=a) for t, a in zip(one, axes, strict=True)) for one in (terms, map(abs, terms)))
    with np.errstate(invalid="ignore"):
        is_linear = not np.isfinite(linear).all() or np.all(abs(product - linear) <= CLOSE[bound.dtype] * size)
    return found if is_linear else [*found, along_u]


V = "gradient vector v"
"""Name of v in a Program: no name of the language has a space."""

Asked = tuple[BoundFunction, Numbers, str]
"""Numbers, the question that they are of, and how they are a sample; empty if they are none."""


def batched(own: BoundFunction) -> Iterator[tuple[Numbers, str]]:
    """Compute all rows of J at once; of many rows, vᵀJ for the first of two random v.

    First by `torch.vmap` over v, then as `is_grads_batched=True` does, which has other rules.

    Yields:
        The numbers, and how they are a sample.

    Raises:
        GradcliError: The backward pass does not run for several v at once.
    """
    from gradcli.autodiff.jacobians import products

    rows = math.prod(own.shape)
    is_small = rows <= MOST_RUNS and own.jacobian_entries <= JACOBIAN_ENTRIES
    vs = np.eye(rows) if is_small else np.random.default_rng(SEED).uniform(-1.5, 1.5, (2, rows))
    vs = vs.reshape(len(vs), *own.shape).astype(own.dtype)
    before: dict[str, Array] = {}
    for by_vmap in (True, False):
        found = products(own.forward, vs, own.wrt, by_vmap=by_vmap)
        rtol = CLOSE[own.dtype]
        if before and all(np.allclose(found[n], before[n], rtol=rtol, atol=0, equal_nan=True) for n in own.wrt):
            return
        before = found
        if is_small:
            blocks = {name: array.reshape(own.shape + array.shape[1:]) for name, array in found.items()}
            yield _numbers(own, {"jacobian": by_name(blocks)}, "batched"), ""
        else:
            first = by_name({name: array[0] for name, array in found.items()})
            numbers = replace(_numbers(own, {"vjp": first}, "batched"), v=vs[0])
            yield numbers, f"for two random v at once, as y has {rows:,} elements"


def second_order(own: BoundFunction, bound: BoundFunction) -> Iterator[Asked]:
    """Compute the derivatives of vᵀJ by v and by x, through a graph of the backward pass.

    The first are J again, the second the Hessian of Σ v·y, for a random v if y has several elements.  Of many elements
    of x they are products with a random direction u.

    Args:
        own: The function whose numbers are taken.
        bound: The function whose derivatives they are to be.

    Raises:
        GradcliError: Torch cannot differentiate a backward pass again, or the function cannot be recorded once more.
    """
    from gradcli.autodiff.jacobians import hessian, hvp, jacobian_by_v, jvp

    inputs = {name: bound.arrays[name] for name in bound.wrt}
    columns, u = sum(array.size for array in inputs.values()), random_direction(inputs)
    is_small = columns <= MOST_RUNS and bound.jacobian_entries <= JACOBIAN_ENTRIES
    sample = "" if is_small else f"along one random direction u, as x has {columns:,} elements"
    first = replace(own, twice=True)
    by_v: Mapping[NumberKind, Mapping[BlockNames, Array]]
    if is_small:
        by_v = {"jacobian": by_name(jacobian_by_v(first.forward, bound.wrt))}
        yield bound, _numbers(own, by_v, "second order"), ""
    else:
        by_v = {"jvp": {("", ""): jvp(first.forward, u)}}
        yield bound, _numbers(own, by_v, "second order", u), sample
    sums = _weighted(first)
    whole, value = sums if own is bound else _weighted(replace(bound, twice=True)), sums.value
    if is_small:
        gradient, blocks = hessian(sums.forward, bound.wrt)
        second = {(a, b): array for a, row in blocks.items() for b, array in row.items()}
        yield whole, _numbers(sums, {"gradient": by_name(gradient), "hessian": second}, "second order"), ""
    else:
        gradient, slope, product = hvp(sums.forward, u, bound.wrt)
        along = {("", ""): np.full(value.shape, float(slope))}
        yield whole, _numbers(sums, {"jvp": along, "hvp": by_name(product)}, "second order", u), sample


def _weighted(bound: BoundFunction) -> BoundFunction:
    """Ask for Σ v·y with a random v; for y itself, if it has one element."""
    if math.prod(bound.shape) == 1 and not bound.shape:
        return bound
    generator = np.random.default_rng(SEED)
    v = rounded(generator.choice((-1, 1), size=bound.shape) * generator.uniform(0.5, 1.5, bound.shape), "float64")
    if bound.recording is not None:
        made = bound.recording.weighted(v)
        constants = {name: made.arrays[name].astype(np.float64) for name in made.constants}
        own = {name: array for name, array in made.arrays.items() if name not in constants}
        snippet = Snippet(made.program, values=constants, wrt=None)
        return FunctionWithValues(made.program.text, snippet, own, bound.wrt, bound.dtype, bound.check, made).bind()
    program = bound.program
    builder, span = Builder(program.text, program.source), Span(0, len(program.text))
    builder.retain(program.lines)
    symbol = sympy.Symbol(V, real=True)
    total = builder.inline(parse("sum(v*y)"), (symbol, program.output), span)
    summed = replace(program, variables=(*program.variables, symbol), lines=tuple(builder.lines), output=total)
    arrays = {**bound.arrays, V: rounded(v, bound.dtype)}
    return replace(bound.another(summed, arrays, bound.wrt), twice=True)


def _numbers(
    bound: BoundFunction,
    found: Mapping[NumberKind, Mapping[BlockNames, Array]],
    mode: Mode,
    u: Mapping[str, Array] = MappingProxyType({}),
) -> Numbers:
    return Numbers(bound.dtype, bound.value, found, u=u, judges_value=False, mode=mode)


def random_direction(inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Draw a direction in which each element moves, by about 1."""
    generator = np.random.default_rng(SEED)
    return {
        name: np.asarray(generator.choice((-1, 1), size=x.shape) * generator.uniform(0.5, 1.5, size=x.shape), x.dtype)
        for name, x in inputs.items()
    }
