"""A claim proved in the algebra of whole tensors: its normal form is that of the gradient Program.

Sizes are numbers there that stand for any, so that a proof holds for all of them.  What has a kink is left to
`proof`, which tells the regions between branches apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import sympy

from gradcli.adjoint.gradient import vector_jacobian_product
from gradcli.adjoint.slopes import NoAdjointError
from gradcli.errors import GradcliError
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.symbolic.matrix_algebra.equality import are_equal
from gradcli.symbolic.matrix_algebra.factoring import FormulaWriter
from gradcli.symbolic.matrix_algebra.inverses import MatrixAlgebra
from gradcli.symbolic.matrix_algebra.networks import GaveUpError, NormalForm
from gradcli.symbolic.matrix_algebra.program_forms import FormReader

_PRIMES = 211, 307, 401, 503, 601, 701, 809, 907, 1009, 1103
"""Numbers that stand for any size: none is written in a text by chance."""

_WEIGHTS = sympy.Symbol("weights of y", real=True)
"""Symbol of the vector that a Jacobian is multiplied by."""


@dataclass(frozen=True)
class AlgebraicProof:
    """Proof of a claim in whole tensors.

    Attributes:
        sizes: Those in place of which any others may stand.
        conditions: What must be so that both sides have a value, such as `X is invertible`.
    """

    sizes: frozenset[int]
    conditions: tuple[str, ...]


def algebraic_proof(
    function: Program,
    claim: Program,
    shapes: Mapping[Atom, Shape],
    variable: sympy.Symbol,
    *,
    is_jacobian: bool,
    has_kinks: bool = False,
) -> AlgebraicProof | None:
    """Prove a claim; None if no proof is found.

    Args:
        function: The function, in primitives; of one element unless the claim is of a Jacobian.
        claim: Its derivative, as somebody states it, in primitives.
        shapes: Of the variables of both.
        variable: The one to differentiate by.
        is_jacobian: Whether the claim has the axes of y before those of x.
        has_kinks: Whether functions with kinks are read, too: the proof is of points at which no branch changes.
    """
    for sizes, is_expanded in itertools.product(_numberings(shapes), (True, False)):
        known = {symbol: tuple(sizes.get(n, n) for n in shape) for symbol, shape in shapes.items()}
        algebra = MatrixAlgebra(
            {number: str(n) for n, number in sizes.items()}, expands=is_expanded, splits=is_expanded
        )
        with suppress(GaveUpError, GradcliError, NoAdjointError, RecursionError):
            derivative, stated = _both(
                algebra, function, claim, known, variable, is_jacobian=is_jacobian, has_kinks=has_kinks
            )
            if are_equal(derivative, stated, algebra):
                return AlgebraicProof(frozenset(sizes), _conditions(derivative, stated))
    return None


def _numberings(shapes: Mapping[Atom, Shape]) -> Iterator[dict[int, int]]:
    """Generate numbers for the sizes: first any, then those at hand."""
    sizes = sorted({n for shape in shapes.values() for n in shape if n > 1})
    if 0 < len(sizes) <= len(_PRIMES):
        yield dict(zip(sizes, _PRIMES, strict=False))
    yield {}


def _conditions(*forms: NormalForm) -> tuple[str, ...]:
    """Write what must be so that forms have values, as far as it can be written."""
    found: dict[str, None] = {}
    for form in forms:
        with suppress(GaveUpError):
            found |= dict.fromkeys(FormulaWriter({}).conditions(form))
    return tuple(found)


def _both(
    algebra: MatrixAlgebra,
    function: Program,
    claim: Program,
    known: Mapping[Atom, Shape],
    variable: sympy.Symbol,
    *,
    is_jacobian: bool,
    has_kinks: bool,
) -> tuple[NormalForm, NormalForm]:
    """Return the derivative and the claim as forms, of a Jacobian both multiplied by one vector of weights."""
    product = vector_jacobian_product(function, known, variable, _WEIGHTS if is_jacobian else sympy.S.One)
    derivative = FormReader(algebra, product.shapes, has_kinks=has_kinks).read(product.program)
    claimed = infer(claim, {s: known[s] for s in claim.variables}, bounded=False)
    stated = FormReader(algebra, claimed, has_kinks=has_kinks).read(claim)
    x = known[variable]
    if is_jacobian:
        y = infer(function, {s: known[s] for s in function.variables}, bounded=False).get(function.output, ())
        weights = algebra.variable(str(_WEIGHTS), y)
        whole = algebra.add((1, stated), (1, algebra.constant(0, (*y, *x))))
        axes = range(len(y) + len(x))
        stated = algebra.contract([(weights, axes[: len(y)]), (whole, axes)], axes[len(y) :], x)
    return derivative, stated
