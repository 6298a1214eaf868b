"""SymPy expressions as functions of whole arrays with bounds, element by element, and functions of matrices.

Source of the functions: NumPy, of which `bounds.LOSS` is assumed; and balls for those that it lacks.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial, singledispatch
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb
from sympy import Expr

from gradcli.arrays import Array, FloatType
from gradcli.language.ops import SIGNS, TABLE
from gradcli.language.program import sympy_functions
from gradcli.language.program.library_calls import NUMPY
from gradcli.reference import balls
from gradcli.reference.balls import HEADS, Ball, precision
from gradcli.reference.bounds import (
    LOSS,
    Bounds,
    Mask,
    NoRuleError,
    absolute,
    add,
    angle,
    bounded,
    chosen,
    compared,
    divide,
    exact,
    from_one,
    inverse,
    larger,
    monotone,
    multiply,
    norm,
    of_angle,
    one_by_one,
    power,
    product,
    smaller,
    steps,
    unit,
    unknown,
    whole_power,
)
from gradcli.reference.compiling import Arithmetic, folded
from gradcli.reference.deadline import require_time

Scalar = TypeVar("Scalar", bound=np.generic)

BALL_BITS = 128
"""Precision of the balls."""

MOST_BALLS = 4_096
"""Most elements that are taken ball by ball at once."""

MOST_WORK = 2**20
"""Most multiplications for determinants of balls."""

LARGEST_BESSEL = 714.0
"""Argument from which on modified Bessel functions are beyond float64, and take long."""

_MORE = 1 + 2.0**-30
"""More than what some sums of radii lose."""

_LEAST = 2.0**-1060
"""More than what an underflow loses."""


def _ball_by_ball(function: Callable[..., Ball], *operands: Bounds) -> Bounds:
    """Apply a function of balls to arrays, element by element."""
    shape = np.broadcast_shapes(*(operand.middle.shape for operand in operands))
    kind = np.result_type(*(operand.middle for operand in operands)).type
    if math.prod(shape) > MOST_BALLS:
        raise NoRuleError
    with precision(BALL_BITS):
        columns = (_as_balls(operand.spread(shape)) for operand in operands)
        found = []
        for each in zip(*columns, strict=True):
            require_time()
            found.append(function(*each))
        return _as_bounds(found, shape, kind)


def _sinc(a: Bounds) -> Bounds:
    """Compute the sine of pi*x over pi*x; between 1 and 1 - (pi*x)**2/6 where x may be 0."""
    with precision(BALL_BITS):
        angle = multiply(a, _as_bounds([arb.pi()], (), a.middle.dtype.type))
    far = divide(of_angle(np.sin, angle), angle)
    size = abs(a.middle) + a.radius
    near = bounded(np.ones_like(a.middle), 2 * size * size)
    return near.where(size < 2.0**-40, far)


def _bessel(order: Bounds, a: Bounds) -> Bounds:
    """Compute the modified Bessel functions, where they are within float64 and the bounds are not wide."""
    is_near = (abs(a.middle) < LARGEST_BESSEL) & (a.radius < 2.0**-20)
    found = _ball_by_ball(HEADS[sympy.besseli], order, a.where(is_near, exact(0.0, a.middle.dtype.type)))
    return found.where(is_near, unknown(found.middle))


def _erfc(a: Bounds) -> Bounds:
    """Apply Python's erfc, in float64 whatever the format of the numbers is."""
    numbers = a.middle.astype(np.float64)
    radius = np.asarray(a.radius + abs(a.middle - numbers), np.float64)
    inside = bounded(numbers, np.where(radius > 0, np.nextafter(radius, np.inf), 0.0))
    found = monotone(partial(one_by_one, math.erfc), inside, LOSS * 2**11)
    return found.mapped(lambda x: x.astype(a.middle.dtype))


def _both(a: Bounds, b: Bounds) -> Bounds:
    return chosen(a, b, exact(0.0))


_RELATIONS = (sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)

_MONOTONE = "exp log asin acos atan sinh tanh asinh acosh atanh".split()

_STEPS = "sign floor ceil trunc round".split()

_BY_BALLS = (sympy.erfinv, sympy_functions.lgamma, sympy_functions.polygamma, *sympy_functions.DESCRIBED.values())

_FUNCTIONS: Mapping[type, Callable[..., Bounds]] = {
    **{getattr(sympy, name): partial(monotone, getattr(np, NUMPY[name])) for name in _MONOTONE},
    **{getattr(sympy_functions, name): partial(steps, getattr(np, name)) for name in _STEPS},
    sympy.sin: partial(of_angle, np.sin),
    sympy.cos: partial(of_angle, np.cos),
    sympy.tan: lambda a: divide(of_angle(np.sin, a), of_angle(np.cos, a)),
    sympy.atan2: angle,
    sympy.cosh: lambda a: add(exact(1), multiply(exact(2), whole_power(monotone(np.sinh, multiply(exact(0.5), a)), 2))),
    sympy.erf: partial(monotone, partial(one_by_one, math.erf), losses=LOSS * 2**11),
    sympy.erfc: _erfc,
    sympy.besseli: _bessel,
    **{one: partial(_ball_by_ball, HEADS[one]) for one in _BY_BALLS},
    sympy_functions.sinc: _sinc,
    sympy.Abs: absolute,
    sympy_functions.abs: absolute,
    sympy.sign: partial(steps, np.sign),
    **{relation: partial(compared, sense=TABLE[SIGNS[relation.rel_op]].sense) for relation in _RELATIONS},
    sympy_functions.eq: partial(compared, sense=(0,)),
    sympy_functions.maximum: larger,
    sympy_functions.minimum: smaller,
    sympy_functions.detach: lambda a: a,
}
"""The functions that meanings and their derivatives are made of, with rules for arrays."""

BoundsEnvironment = Mapping[sympy.Symbol, Bounds]
Compiled = Callable[[BoundsEnvironment], Bounds]


@lru_cache(maxsize=4096)
def compile_bounds(expression: Expr) -> Compiled:
    """Compile an expression of elements to a closure.

    Raises:
        NoRuleError: It has a function without a rule.
    """
    match expression:
        case sympy.Rational() | sympy.Float() | sympy.NumberSymbol():
            constant = _constant(expression)
            return lambda env: constant
        case sympy.Symbol():
            return lambda env: env[expression]
        case sympy.logic.boolalg.BooleanTrue():
            return lambda env: exact(1.0)
        case sympy.And():
            return folded([compile_bounds(a) for a in expression.args], _both)
    return _ARITHMETIC.compile(expression, compile_bounds)


def _constant(expression: Expr) -> Bounds:
    number = float(expression)
    is_binary = not expression.is_NumberSymbol and sympy.Rational(expression) == sympy.Rational(number)
    return exact(number) if is_binary else bounded(np.asarray(number), np.asarray(2.0**-52 * abs(number)))


def _branch(condition: Compiled, value: Compiled, others: Compiled) -> Compiled:
    return lambda env: chosen(condition(env), value(env), others(env))


_ARITHMETIC = Arithmetic[Bounds](
    heads=_FUNCTIONS,
    add=add,
    multiply=multiply,
    divide=divide,
    negate=operator.neg,
    root=partial(monotone, np.sqrt),
    whole_power=whole_power,
    power=power,
    branch=_branch,
    neither=lambda env: unknown(np.zeros(1)),
    error=NoRuleError,
)


# -- matrices


@singledispatch
def determinant(a: Bounds) -> Bounds:
    """Compute the determinants of matrices.

    Raises:
        NoRuleError: The determinants take too much work.
    """
    *front, order, _ = a.middle.shape
    if math.prod(front) * max(1, order) ** 3 > MOST_WORK:
        raise NoRuleError
    size = order * order
    with precision(BALL_BITS):
        every = list(_as_balls(a))
        found = [balls.determinant(every[n * size : (n + 1) * size], order) for n in range(math.prod(front))]
        return _as_bounds(found, tuple(front), a.middle.dtype.type)


def eigenvalues(a: Bounds) -> tuple[Bounds, Bounds, Mask]:
    """Compute the eigenvalues of symmetric matrices, ascending, their vectors as columns, and which are apart.

    Both are found in floats, as V and the numbers D.  With S, the symmetric part of A, eigenvalues are off by the norm
    of V.T @ S @ V - D, and relatively by that of V.T @ V - 1; a vector is off by its residual over the distance to the
    next eigenvalue.
    Source: R. Horn, C. Johnson, "Matrix Analysis", 2013, theorems 4.3.1 and 4.5.9; B. Parlett, "The Symmetric
    Eigenvalue Problem", 1998, theorem 11.7.1.
    """
    order, half = a.middle.shape[-1], symmetric_part(a)
    kind = half.middle.dtype.type
    numbers, found = (x.astype(kind) for x in np.linalg.eigh(half.middle.astype(np.float64)))
    if kind is not np.float64:
        numbers, found = _refined(half.middle, numbers, found)
    vectors, diagonal = exact(found, kind), exact(numbers[..., None, :] * np.eye(order), kind)
    turned, moved = vectors.mapped(transposed), product(half, vectors)
    off = norm(add(product(turned, moved), -diagonal))[..., None]
    stretch = norm(from_one(product(turned, vectors)))[..., None]
    is_symmetric = np.all(abs(a.middle - transposed(a.middle)) <= a.radius + transposed(a.radius), axis=(-1, -2))
    radius = _MORE * (off + stretch * abs(numbers)) / (1 - stretch)
    radius = np.where(is_symmetric[..., None] & (stretch < 0.5), radius, np.inf)
    gaps = abs(numbers[..., None] - numbers[..., None, :]) - radius[..., None]
    gap = np.where(np.eye(order, dtype=bool), np.inf, gaps).min(axis=-2, initial=np.inf)
    residual = add(moved, -product(vectors, diagonal))
    length = np.sqrt(((abs(residual.middle) + residual.radius) ** 2).sum(axis=-2))
    is_alone = gap > 2 * radius
    width = np.where(is_alone, _MORE * (1.5 * length / gap / (1 - stretch) + stretch), 0.0)
    return bounded(numbers, radius), bounded(found, np.broadcast_to(width[..., None, :], found.shape)), is_alone


def with_eigenvalues(a: Bounds, numbers: Bounds) -> Bounds:
    """Compute the matrices that have the eigenvectors of symmetric matrices and these eigenvalues.

    The vector of an eigenvalue that may occur twice is not known, and not needed where its new eigenvalue is 0.
    """
    _, vectors, is_alone = eigenvalues(a)
    depth = max(vectors.middle.ndim - 1, numbers.middle.ndim)
    kept = numbers.mapped(lambda x: _of_depth(x, depth))
    alone = _of_depth(is_alone, depth)
    shape = np.broadcast_shapes(kept.middle.shape, alone.shape)
    kept = kept.spread(shape).where(alone | kept.is_zero, unknown(np.zeros(shape, kept.middle.dtype)))
    vectors = vectors.mapped(lambda x: _of_depth(x, depth + 1))
    return product(multiply(vectors, kept.mapped(lambda x: x[..., None, :])), vectors.mapped(transposed))


def _of_depth(array: npt.NDArray[Scalar], depth: int) -> npt.NDArray[Scalar]:
    """Put dimensions of size 1 after the first, which counts points."""
    return array.reshape(len(array), *(1,) * (depth - array.ndim), *array.shape[1:])


def symmetric_part(a: Bounds) -> Bounds:
    """Return half the sum of matrices and their transposes."""
    return multiply(add(a, a.mapped(transposed)), exact(0.5, a.middle.dtype.type))


def transposed(matrix: Array) -> Array:
    """Transpose each matrix."""
    return np.swapaxes(matrix, -1, -2)


def cholesky(a: Bounds) -> Bounds:
    """Compute the lower triangular L with L @ L.T = S, the symmetric part of a matrix.

    For the inverse X of the factor in floats, X @ S @ X.T = 1 + E = (1 + F) @ (1 + F).T, and S = L @ L.T with L the
    inverse of X times 1 + F.  F is the lower half of E - F @ F.T, and no larger than E in the norm of Frobenius if
    that is less than 1/4.
    Source: J.-G. Sun, "Perturbation bounds for the Cholesky and QR factorizations", BIT 31 (1991), section 2.
    """
    half, kind = symmetric_part(a), a.middle.dtype.type
    try:
        found = np.tril(np.linalg.inv(np.linalg.cholesky(half.middle.astype(np.float64))))
    except np.linalg.LinAlgError:
        return unknown(a.middle)
    near = exact(found, kind)
    rest = from_one(product(product(near, half), near.mapped(transposed)))
    size = _MORE * np.sqrt(((abs(rest.middle) + rest.radius) ** 2).sum(axis=(-1, -2), keepdims=True))
    size = np.where(size < 0.25, size, np.inf)
    lower = multiply(rest, exact(lower_half(found.shape[-1]), kind))
    one = add(
        bounded(lower.middle, lower.radius + np.tril(size * size * np.ones_like(found))),
        exact(np.eye(len(found[0])), kind),
    )
    return product(inverse(near), one).mapped(np.tril)


def lower_half(order: int) -> Array:
    """Return weights that turn a symmetric matrix into the triangular one whose sum with its transpose it is."""
    return np.tril(np.ones((order, order))) - np.eye(order) / 2


def _refined(matrix: Array, numbers: Array, found: Array) -> tuple[Array, Array]:
    """Refine eigenvalues and vectors to twice the digits.

    Source: T. Ogita, K. Aishima, "Iterative refinement for symmetric eigenvalue decomposition", 2018, algorithm 1.
    """
    apart = np.eye(matrix.shape[-1]) - transposed(found) @ found
    moved = transposed(found) @ matrix @ found
    values = np.diagonal(moved, axis1=-2, axis2=-1) / (1 - np.diagonal(apart, axis1=-2, axis2=-1))
    gaps = values[..., None, :] - values[..., None]
    is_near = abs(gaps) <= 2.0**-40 * abs(values).max(axis=-1, initial=0)[..., None, None]
    change = np.where(is_near, apart / 2, (moved + values[..., None, :] * apart) / np.where(is_near, 1, gaps))
    order = np.argsort(values, axis=-1)
    better = np.take_along_axis(found + found @ change, order[..., None, :], axis=-1)
    return np.take_along_axis(values, order, axis=-1), better


# -- balls


def _as_balls(a: Bounds) -> Iterator[Ball]:
    """Convert the elements to balls; the part of a number that two floats do not hold goes to its radius."""
    first = a.middle.astype(np.float64)
    second = (a.middle - first).astype(np.float64)
    rest = a.radius + abs(a.middle - first - second)
    radius = np.where(rest > 0, np.nextafter(rest.astype(np.float64), np.inf), 0.0)
    for high, low, width in zip(*(x.ravel().tolist() for x in (first, second, radius)), strict=True):
        require_time()
        yield arb(high, width) + arb(low)


def _as_bounds(found: Sequence[Ball], shape: tuple[int, ...], kind: FloatType) -> Bounds:
    middles, radii = np.zeros(len(found), kind), np.full(len(found), np.inf, kind)
    for n, ball in enumerate(found):
        if balls.exists(ball):
            high = float(ball.mid())
            low = 0.0 if kind is np.float64 or not math.isfinite(high) else float((ball - arb(high)).mid())
            rest = abs(ball - arb(high) - arb(low)) if math.isfinite(high) else ball
            middles[n] = kind(high) + kind(low)
            radii[n] = 0.0 if rest == 0 else float(rest.upper()) + _LEAST
            radii[n] += 0.0 if low == 0 else unit(middles) * abs(middles[n])
    return bounded(middles.reshape(shape), radii.reshape(shape))
