"""Structures that an argument is assumed to have: symmetric matrices, the simplex, positive numbers.

A function under an assumption is the function of the nearest member: of A symmetric, f((A + Aᵀ)/2).  This map leaves
members where they are, so that all readings of its derivative, and whoever moves A a little, stay inside, and the chain
rule projects the derivative on the directions of the structure: that by A[0,1] is along (E₀₁ + E₁₀)/2.  A claim is
taken at the nearest member, and projected too.

    structure     nearest member           its derivative, along E
    symmetric     (A + Aᵀ)/2               (E + Eᵀ)/2
    diagonal      A∘I                      E∘I
    triangular    the lower triangle       that of E
    simplex       x - mean(x) + 1/n        E - mean(E)
    orthogonal    A(3I - AᵀA)/2            (E - A Eᵀ A)/2

A positive definite matrix is moved as a symmetric one, and numbers that are positive in every direction.  The map for
orthogonal ones is a step of Newton and Schulz, which makes of an error e about e².

Source: N. J. Higham, "Functions of Matrices", 2008, section 8.3; P.-A. Absil, R. Mahony and R. Sepulchre,
"Optimization Algorithms on Matrix Manifolds", 2008, section 3.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from numpy.typing import NDArray

from gradcli.errors import InputError, Span, did_you_mean
from gradcli.language.parsing import parse
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Builder, Program, Shape, show
from gradcli.option_words import option
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.questions.bound_function import BoundFunction

Values = Any
"""Array, or a tensor of torch."""

ROUNDINGS = 2**10
"""Distance from a structure, in roundings of the largest number, that counts as inside."""

SHORT = 16
"""Numbers that are added to a diagonal are multiples of the inverse of this, and so exact and short to read."""

LEAST_EIGENVALUE = 0.5
"""Smallest eigenvalue of a positive definite matrix that is drawn, where it would be less otherwise."""


@dataclass(frozen=True)
class Structure:
    """Structure that a value may have.

    Attributes:
        name: Its name, as it is asked for.
        directions: The directions of it, in words.
        inside: Text of the nearest member to A, whose last dimension has n elements.
        along: Text of the projection of a derivative C by A on the directions of it.
        nearest_of: The same as `inside`, of a tensor or an array.
        fault: Says why an array is no member, to within a distance; empty if it is one.
        fix: How to give one.
        drawn: Makes a member of any numbers.
        is_of_matrices: Whether members are square matrices.
        is_exact: Whether floats can be members, so that a claim needs no tolerance, and may be proved.
        is_of_positives: Whether members are positive numbers, each of them free.
        edge: Says where a member lies on the edge, from which directions lead out; empty inside.
    """

    name: str
    directions: str
    inside: str
    along: str
    nearest_of: Callable[[Values], Values]
    fault: Callable[[str, Array, float], str]
    fix: str
    drawn: Callable[[Array], Array]
    is_of_matrices: bool = True
    is_exact: bool = True
    is_of_positives: bool = False
    edge: Callable[[str, Array], str] = lambda name, value: ""

    def require(self, name: str, value: Array, dtype: str = "float64", *, is_moved: bool = True) -> None:
        """Refuse a value without the structure, or on its boundary where the value is differentiated by.

        Raises:
            InputError: The value has not the structure, or lies on its boundary.
        """
        shape = value.shape
        if not shape and not self.is_of_positives:
            what = "square matrix" if self.is_of_matrices else "vector"
            raise InputError(f"{name} is assumed to be {self.called}, and is a number and no {what}")
        if self.is_of_matrices and (len(shape) < 2 or shape[-1] != shape[-2]):
            raise InputError(
                f"{name} is assumed to be {self.called}, and has shape {show(shape)}, not that of a square matrix"
            )
        near = ROUNDINGS * float(np.finfo(dtype).eps) * float(np.abs(value).max(initial=0.0))
        if why := self.fault(name, value, near):
            raise InputError(f"{name} is not {self.called}: {why}", hint=self.fix.format(name))
        if is_moved and (why := self.edge(name, value)):
            hint = f"{self.fix.format(name)}, or leave {name} out of {option('wrt')}"
            raise InputError(f"{name} is on the edge: {why}", hint=hint)

    def fits(self, shape: Shape) -> bool:
        """Tell whether it is a structure of values of this shape: of square matrices, or of vectors."""
        if self.is_of_positives:
            return True
        return len(shape) > 1 and shape[-1] == shape[-2] if self.is_of_matrices else len(shape) == 1

    @property
    def called(self) -> str:
        """The structure as what a value is: symmetric, positive definite, on the simplex."""
        return _CALLED.get(self.name, self.name)

    def member(self, value: Array) -> Array:
        """Make a member of any numbers, such as random ones."""
        with np.errstate(all="ignore"):
            return np.asarray(self.drawn(np.nan_to_num(np.asarray(value, dtype=np.float64))))

    def nearest(self, shape: Shape) -> Program:
        """Return the Program of the nearest member to a value of this shape."""
        return parse(_sized(self.inside, shape))

    def projection(self, shape: Shape, claimed: Shape) -> Program:
        """Return the Program of the projection of a derivative of some shape by a value of another one."""
        return parse(_sized(self.along, shape).replace("C", f"(C + zeros({claimed}))"))


_CALLED = {
    "spd": "symmetric and positive definite",
    "triangular": "lower triangular",
    "simplex": "on the simplex",
}


def _sized(text: str, shape: Shape) -> str:
    return text.replace("{n}", str(shape[-1] if shape else 1))


# -- members


def _first(name: str, value: Array, wrong: NDArray[np.bool_]) -> str:
    """Write the first element of an array that is wrong: `A[0,1] = 2`."""
    index = tuple(int(k) for k in np.argwhere(wrong)[0])
    return _element(name, index, value)


def _element(name: str, index: tuple[int, ...], value: Array) -> str:
    place = f"[{','.join(map(str, index))}]" if index else ""
    return f"{name}{place} = {float(value[index]):.6g}"


def _not_symmetric(name: str, value: Array, near: float) -> str:
    apart = ~(np.abs(value - value.swapaxes(-1, -2)) <= near)
    if not apart.any():
        return ""
    *batch, i, j = (int(k) for k in np.argwhere(apart)[0])
    one, other = (_element(name, (*batch, *at), value) for at in ((i, j), (j, i)))
    return f"{one} and {other}" if i != j else one


def _not_positive_definite(name: str, value: Array, near: float) -> str:
    if why := _not_symmetric(name, value, near):
        return why
    smallest = float(np.linalg.eigvalsh(value).min(initial=math.inf))
    return "" if smallest > 0 else f"its smallest eigenvalue is {smallest:.6g}"


def _not_zero_where(where: Callable[[int], NDArray[np.bool_]]) -> Callable[[str, Array, float], str]:
    def fault(name: str, value: Array, near: float) -> str:
        wrong = ~(np.abs(value) <= near) & where(value.shape[-1])
        return _first(name, value, wrong) if wrong.any() else ""

    return fault


def _not_orthogonal(name: str, value: Array, near: float) -> str:
    product = value.swapaxes(-1, -2) @ value
    wrong = ~(np.abs(product - np.eye(value.shape[-1])) <= max(near, near * value.shape[-1]))
    return _first(f"({name}.T@{name})", product, wrong) if wrong.any() else ""


def _not_on_simplex(name: str, value: Array, near: float) -> str:
    if not (value >= 0).all():
        return _first(name, value, ~(value >= 0))
    sums = value.sum(-1)
    wrong = ~(np.abs(sums - 1) <= max(near, near * value.shape[-1]))
    return f"the sum is {float(sums[wrong][0]):.6g}" if wrong.any() else ""


def _edge_of_simplex(name: str, value: Array) -> str:
    is_inside = (value > 0).all()
    return "" if is_inside else f"{_first(name, value, value == 0)}, from where directions lead out of it"


def _not_positive(name: str, value: Array, near: float) -> str:
    wrong = ~(value > 0)
    return _first(name, value, wrong) if wrong.any() else ""


def _symmetric(value: Values) -> Values:
    return (value + value.swapaxes(-1, -2)) / 2


def _positive_definite(value: Array) -> Array:
    """Make a matrix symmetric, and add to its diagonal what makes the smallest eigenvalue large enough."""
    found: Array = _symmetric(value)
    if not found.size:
        return found
    smallest = np.linalg.eigvalsh(found)[..., :1, None]
    lacking = np.maximum(0.0, LEAST_EIGENVALUE * np.maximum(1.0, np.abs(found).max() / SHORT) - smallest)
    return np.asarray(found + np.where(smallest > 0, 0.0, np.ceil(lacking * SHORT) / SHORT) * np.eye(found.shape[-1]))


def _orthogonal(value: Array) -> Array:
    """Make the orthogonal factor of a matrix, with the signs that make it unique."""
    q, r = np.linalg.qr(value)
    return np.asarray(q * np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[..., None, :])


def _positive(value: Array) -> Array:
    return np.where(value == 0, 1.0, np.abs(value))


def _on_simplex(value: Array) -> Array:
    found = _positive(value)
    return np.asarray(found / found.sum(-1, keepdims=True))


def _identity_like(value: Values) -> Values:
    n = value.shape[-1]
    if isinstance(value, np.ndarray):
        return np.eye(n, dtype=value.dtype)
    from gradcli.autodiff._torch import torch

    return torch.eye(n, dtype=value.dtype, device=value.device)


def _lower(value: Values) -> Values:
    return np.tril(value) if isinstance(value, np.ndarray) else value.tril()


def _diagonal(value: Values) -> Values:
    return value * _identity_like(value)


def _centred(value: Values) -> Values:
    return value - value.mean(-1)[..., None] + 1 / value.shape[-1]


def _step_to_orthogonal(value: Values) -> Values:
    return (3 * value - value @ value.swapaxes(-1, -2) @ value) / 2


def _off_diagonal(n: int) -> NDArray[np.bool_]:
    return ~np.eye(n, dtype=bool)


def _above_diagonal(n: int) -> NDArray[np.bool_]:
    return np.triu(np.ones((n, n), dtype=bool), 1)


STRUCTURES: Mapping[str, Structure] = {
    one.name: one
    for one in (
        Structure(
            name="symmetric",
            directions="symmetric directions",
            inside="(A + A.mT)/2",
            along="(C + C.mT)/2",
            nearest_of=_symmetric,
            fault=_not_symmetric,
            fix="give ({0} + {0}.T)/2, which is symmetric",
            drawn=_symmetric,
        ),
        Structure(
            name="spd",
            directions="symmetric directions",
            inside="(A + A.mT)/2",
            along="(C + C.mT)/2",
            nearest_of=_symmetric,
            fault=_not_positive_definite,
            fix="give a symmetric matrix whose eigenvalues are above 0, such as {0}@{0}.T + eye(n)",
            drawn=_positive_definite,
        ),
        Structure(
            name="diagonal",
            directions="the diagonal",
            inside="A*eye({n})",
            along="C*eye({n})",
            nearest_of=_diagonal,
            fault=_not_zero_where(_off_diagonal),
            fix="give zeros off the diagonal, or assume symmetric, triangular or nothing of {0}",
            drawn=_diagonal,
        ),
        Structure(
            name="triangular",
            directions="the lower triangle",
            inside="tril(A)",
            along="tril(C)",
            nearest_of=_lower,
            fault=_not_zero_where(_above_diagonal),
            fix="give zeros above the diagonal; of an upper triangular one, check the function of {0}.T",
            drawn=_lower,
        ),
        Structure(
            name="orthogonal",
            directions="directions that keep it orthogonal",
            inside="(3*A - A@A.mT@A)/2",
            along="(3*C - C@A.mT@A - A@C.mT@A - A@A.mT@C)/2",
            nearest_of=_step_to_orthogonal,
            fault=_not_orthogonal,
            fix="give a matrix of orthonormal columns with all its digits, such as [[0.6, -0.8], [0.8, 0.6]]",
            drawn=_orthogonal,
            is_exact=False,
        ),
        Structure(
            name="simplex",
            directions="directions whose sum is 0",
            inside="A - mean(A, -1, keepdim=True) + 1/{n}",
            along="C - mean(C, -1, keepdim=True)",
            nearest_of=_centred,
            fault=_not_on_simplex,
            fix="give numbers above 0 whose sum is 1, such as {0}/sum({0})",
            drawn=_on_simplex,
            is_of_matrices=False,
            edge=_edge_of_simplex,
        ),
        Structure(
            name="positive",
            directions="all directions",
            inside="A",
            along="C",
            nearest_of=lambda value: value,
            fault=_not_positive,
            fix="give numbers above 0",
            drawn=_positive,
            is_of_matrices=False,
            is_of_positives=True,
        ),
    )
}
"""The structures by name."""

Assumed = Mapping[str, Structure]
"""Structures by variable."""


def structures_of(given: Mapping[str, str] | None) -> Assumed:
    """Read the structures that are assumed of variables.

    Raises:
        InputError: There is no structure of such a name, or no variable is named.

    >>> structures_of({"A": "symmetric"})["A"].directions
    'symmetric directions'
    """
    if given is not None and not isinstance(given, Mapping):
        hint = f"write {option('assume', 'A=symmetric')}"
        raise InputError(f"{option('assume')} is {given!r}, and no structures by variable", hint=hint)
    found = {}
    for name, word in (given or {}).items():
        if not isinstance(word, str) or word.strip() not in STRUCTURES:
            hint = did_you_mean(str(word).strip(), STRUCTURES) or f"the structures are: {', '.join(STRUCTURES)}"
            raise InputError(f"{option('assume')} names '{word}', which is no structure", hint=hint)
        found[name] = STRUCTURES[word.strip()]
    return found


def named_variables(
    assumed: Assumed, names: tuple[str, ...], shapes: Callable[[], Mapping[str, Shape]] = dict
) -> Assumed:
    """Give the structure without a name to the only variable, and refuse those of others.

    Args:
        assumed: Structures by variable.
        names: The variables.
        shapes: Gives the shapes of those that are known, for a hint at the variable that is meant.

    Raises:
        InputError: There is no such variable, or there are several, and none is named.
    """
    found = {}
    for name, one in assumed.items():
        known = f"the variables are: {', '.join(names) or 'none'}"
        if not name and len(names) != 1:
            fitting = [each for each, shape in shapes().items() if one.fits(shape)]
            meant = " or ".join(option("assume", f"{each}={one.name}") for each in fitting)
            hint = f"write {meant or option('assume', f'NAME={one.name}') + '; ' + known}"
            raise InputError(f"{option('assume', one.name)} does not say of which variable", hint=hint)
        if name and name not in names:
            message = f"{option('assume')} names '{name}', and there is no such variable"
            raise InputError(message, hint=did_you_mean(name, names) or known)
        found[name or names[0]] = one
    return found


def in_words(assumed: Assumed) -> str:
    """Name what is assumed: `symmetric A`, `A on the simplex`.

    >>> in_words(structures_of({"A": "spd", "x": "simplex"}))
    'symmetric and positive definite A and x on the simplex'
    """
    said = (
        f"{name} {one.called}" if one.name == "simplex" else f"{one.called} {name}" for name, one in assumed.items()
    )
    return " and ".join(said)


def remarks(assumed: Assumed, wrt: Collection[str]) -> list[str]:
    """Say what is assumed, and along which directions derivatives are compared."""
    return [
        f"{name} is assumed to be {one.called}"
        + (f": derivatives by it are those along {one.directions}" if name in wrt else "")
        for name, one in assumed.items()
    ]


# -- functions and claims under them


def composed(program: Program, shapes: Mapping[Atom, Shape], assumed: Assumed) -> Program:
    """Return the function of the nearest members."""
    builder, span = Builder(program.text, program.source), Span(0, len(program.text))
    operands: list[Atom] = []
    for symbol in program.variables:
        one = assumed.get(str(symbol))
        operands.append(symbol if one is None else builder.inline(one.nearest(shapes[symbol]), [symbol], span))
    inside = dict(zip(program.variables, operands, strict=True))
    for line in program.lines:
        builder.part_of = line.part_of
        call = line.call.renamed(inside)
        inside[line.symbol] = builder.emit(call.op.name, call.operands, line.span, call.statics)
    output = inside.get(program.output, program.output)
    named = {name: inside.get(atom, atom) for name, atom in program.named.items()}
    return replace(program, lines=tuple(builder.lines), output=output, named=named)


def under(bound: BoundFunction, assumed: Assumed) -> BoundFunction:
    """Return the question of the function of the nearest members."""
    program = composed(bound.program, bound.shapes, assumed)
    shapes = infer(program, {symbol: bound.shapes[symbol] for symbol in program.variables})
    return replace(bound, program=program, shapes=shapes)


def projected(
    program: Program, known: Mapping[Atom, Shape], assumed: Assumed, variable: sympy.Symbol, claimed: Shape
) -> Program:
    """Return a claimed derivative by a variable, of some shape, at the nearest members, along its directions.

    Args:
        program: The claim.
        known: The shapes of the variables.
        assumed: The structures by variable.
        variable: The variable.
        claimed: The shape of the derivative.
    """
    inner = composed(program, known, assumed)
    one = assumed.get(str(variable))
    if one is None:
        return inner
    span = Span(0, len(program.text))
    builder = Builder(program.text, program.source, lines=list(inner.lines))
    projection = one.projection(known[variable], claimed)
    operands = [inner.output if str(symbol) == "C" else variable for symbol in projection.variables]
    output = builder.inline(projection, operands, span)
    variables = tuple(dict.fromkeys((*inner.variables, *(a for a in operands if a == variable))))
    return replace(inner, variables=variables, lines=tuple(builder.lines), output=output)


def projected_numbers(
    numbers: Array, inputs: Mapping[str, Array], one: Structure, variable: str, shape: Shape
) -> Array:
    """Return the numbers of a derivative by a variable, of some shape, along the directions of a structure."""
    from gradcli.autodiff.run import array_of, run

    projection = one.projection(inputs[variable].shape, shape)
    values = {"C": np.broadcast_to(numbers, shape), "A": inputs[variable]}
    found = run(projection, {name: np.asarray(values[name], np.float64) for name in projection.names}, (), "float64")
    return array_of(found.output)
