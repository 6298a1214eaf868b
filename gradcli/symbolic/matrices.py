"""A gradient in index notation as an expression of whole tensors: Σ[k] A[j,k]·x[k] + Σ[k] A[k,j]·x[k] as (A + A.T)@x.

Factors that share a bound index are contracted, one index after the other: two vectors to a number, a matrix and a
vector to a vector, two matrices to a matrix.  What remains has the gradient's own indices, or there is no such form.
It is a candidate: whether it is the gradient is for `gradcli.parts.claims` to prove.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr

from gradcli.language.program.sympy_functions import InverseElement, MatrixDeterminant
from gradcli.notation import Notation, Spelling
from gradcli.symbolic.operations import Operation
from gradcli.symbolic.printing.abbreviating import StandIns, placeholders, with_wholes
from gradcli.symbolic.printing.pretty import is_of_variable, is_transposed

MOST_NODES = 300
"""Most nodes of a formula to search for a matrix form."""

FUNCTIONS = frozenset("exp log sin cos tan sinh cosh tanh asin acos atan sign abs".split())
"""Elementwise functions, by the names that the language has for them."""

Axes = tuple[Expr, ...]
"""Indices of a tensor, in the order of its dimensions."""


class NoMatrixFormError(Exception):
    """Error of a formula that has no form in whole tensors."""


class WholeTensors(Operation):
    """Expression of whole tensors, which people type as well."""

    def spelled(self, how: Spelling) -> str:
        """Write the expression as the language has it, or in LaTeX."""
        return super().spelled("latex" if how == "latex" else "text")


@dataclass(frozen=True)
class _Tensor:
    """Expression of whole tensors, with its indices.

    Attributes:
        text: It, as the language reads it.
        axes: Its indices.
        level: How tightly it binds: 0 a sum, 1 a product, 2 a product of matrices, 3 a power, 4 one thing.
        chain: The factors, if it is a product of matrices.
        outer: The two vectors, if it is their outer product.
    """

    text: str
    axes: Axes = ()
    level: int = 4
    chain: tuple[_Tensor, ...] = ()
    outer: tuple[_Tensor, ...] = ()

    def bracketed(self, level: int) -> str:
        """Write the text, in brackets where an operator of this level would take it apart."""
        return self.text if self.level >= level else f"({self.text})"

    def along(self, axes: Axes) -> _Tensor:
        """Permute the dimensions to this order."""
        if self.axes == axes:
            return self
        if len(axes) != 2 or self.axes != axes[::-1]:
            raise NoMatrixFormError
        if self.chain:
            return _chained([one.along(one.axes[::-1]) for one in self.chain[::-1]], axes)
        is_turned = self.level == 4 and self.text.endswith(".T")
        return _Tensor(self.text.removesuffix(".T") if is_turned else f"{self.bracketed(4)}.T", axes)


@dataclass(frozen=True)
class _Term:
    """Product of a number, scalars and a tensor."""

    number: sympy.Rational = sympy.S.One
    above: tuple[_Tensor, ...] = ()
    below: tuple[_Tensor, ...] = ()
    tensor: _Tensor | None = None

    @property
    def whole(self) -> _Tensor:
        """Return the product as one tensor; the sign is left to the enclosing sum."""
        p, q = abs(self.number).as_numer_denom()
        above = [*[_Tensor(str(p))] * (p != 1), *self.above, *([self.tensor] if self.tensor else [])] or [_Tensor("1")]
        below = [*[_Tensor(str(q))] * (q != 1), *self.below]
        return _multiplied(above, below, self.tensor.axes if self.tensor else ())


def matrix_form(gradient: Expr, axes: Axes, sizes: Mapping[sympy.Symbol, str]) -> Notation | None:
    """Write a gradient as an expression of whole tensors; None where none is found.

    Args:
        gradient: An element of it.
        axes: Its indices.
        sizes: What the sizes that are symbols are called.

    >>> j, k = (sympy.Symbol(name, integer=True, nonnegative=True) for name in "jk")
    >>> A, x = (sympy.IndexedBase(name, real=True) for name in "Ax")
    >>> from gradcli.language.program.sympy_functions import Total
    >>> matrix_form(Total(A[k, j]*x[k], (k, 0, 2)) + Total(A[j, k]*x[k], (k, 0, 2)), (j,), {}).text
    '(A + A.T)@x'
    """
    if sum(1 for _ in sympy.preorder_traversal(gradient)) > MOST_NODES:
        return None
    known: StandIns = {}
    expression = with_wholes(gradient, known)
    wholes = {getattr(one, "base", one): generic for generic, one in known.items()}
    try:
        term = _MatrixReader(sizes, wholes).term(expression, axes)
        if term.tensor is None or set(term.tensor.axes) != set(axes):
            return None
        found = replace(term, tensor=term.tensor.along(axes)).whole
    except NoMatrixFormError:
        return None
    return WholeTensors(f"-{found.bracketed(1)}" if term.number < 0 else found.text)


class _MatrixReader:
    """Reader of index notation as expressions of whole tensors."""

    def __init__(self, sizes: Mapping[sympy.Symbol, str], wholes: Mapping[Expr, Expr]) -> None:
        self.sizes, self.wholes = sizes, wholes

    def tensor(self, expression: Expr, axes: Axes) -> _Tensor:
        """Write an expression with these indices, or some of them, as one tensor."""
        term = self.term(expression, axes)
        whole = term.whole
        return _Tensor(f"-{whole.bracketed(1)}", whole.axes, 0) if term.number < 0 else whole

    def term(self, expression: Expr, axes: Axes) -> _Term:
        """Write an expression with these indices as a number, scalars and a tensor."""
        match expression:
            case sympy.Add():
                return _sum([self.term(one, axes) for one in expression.args])
            case sympy.Mul() | sympy.Pow() | sympy.Sum():
                return self._product(expression, axes)
            case sympy.Rational():
                return _Term(expression)
        one = self._leaf(expression, axes)
        return _Term(tensor=one) if one.axes else _Term(above=(one,))

    def _product(self, product: Expr, axes: Axes) -> _Term:
        number, above, below, bound = sympy.S.One, list[_Tensor](), list[_Tensor](), list[Expr]()
        factors = list(sympy.Mul.make_args(product))
        for factor in factors:  # which grow
            if isinstance(factor, sympy.Sum):
                fresh = {k: sympy.Dummy(k.name, integer=True, nonnegative=True) for k in factor.variables}
                bound += fresh.values()
                factors += sympy.Mul.make_args(factor.function.xreplace(fresh))
        every = (*axes, *bound)
        for factor in factors:
            if isinstance(factor, sympy.Pow):
                one = self._power(factor.base, abs(factor.exp), every)
                is_below = bool(factor.exp < 0)
                if is_below and set(one.axes) & set(bound):
                    one, is_below = _Tensor(f"1/{one.bracketed(3)}", one.axes, 1), False
                (below if is_below else above).append(one)
            elif not isinstance(factor, sympy.Sum):
                term = self.term(factor, every)
                number *= term.number
                above += [*term.above, *([term.tensor] if term.tensor else [])]
                below += term.below
        tensors = [o for o in above if o.axes]
        while bound:
            tensors = _contracted(tensors, bound)
        scalars = [o for o in (*above, *tensors) if not o.axes]
        whole = _pointwise([o for o in tensors if o.axes], axes)
        if divisors := [o for o in below if o.axes]:
            whole = whole or _Tensor("1", divisors[0].axes)
            whole = _multiplied([replace(whole, level=min(whole.level, 1))], divisors, whole.axes)
        return _Term(number, tuple(scalars), tuple(o for o in below if not o.axes), whole)

    def _power(self, base: Expr, power: Expr, axes: Axes) -> _Tensor:
        if not power.is_Rational:
            raise NoMatrixFormError
        if power.q == 2 and isinstance(base, sympy.Sum) and len(base.variables) == 1:
            body = base.function
            if isinstance(body, sympy.Pow) and body.exp == 2:
                vector = self.tensor(body.base, base.variables)
                if vector.axes == tuple(base.variables):
                    return _raised(_Tensor(f"norm({vector.text})"), power * 2)
        return _raised(self.tensor(base, axes), power)

    def _leaf(self, expression: Expr, axes: Axes) -> _Tensor:
        index = expression.indices if isinstance(expression, sympy.Indexed) else ()
        whole = self.wholes.get(expression.base if index else expression)
        if whole is not None:
            return self._whole(whole.xreplace(dict(zip(placeholders(len(index)), index, strict=True))), axes)
        name, at = type(expression).__name__, index
        match expression:
            case sympy.Indexed():
                text = str(expression.base.label)
            case InverseElement() if is_of_variable(expression) and len(expression.body.indices) == 2:
                at = expression.free[::-1] if is_transposed(expression) else expression.free
                text = f"inv({expression.body.base.label})"
            case MatrixDeterminant() if is_of_variable(expression) and len(expression.body.indices) == 2:
                text = f"det({expression.body.base.label})"
            case sympy.Symbol():
                text = self.sizes.get(expression, str(expression))
            case sympy.Function(args=(argument,)) if name in FUNCTIONS:
                inside = self.tensor(argument, axes)
                text, at = f"{name}({inside.text})", inside.axes
            case _:
                raise NoMatrixFormError
        if len(set(at)) != len(at) or not set(at) <= set(axes):
            raise NoMatrixFormError
        return _Tensor(text, tuple(at))

    def _whole(self, expression: Expr, axes: Axes) -> _Tensor:
        """Recognize a softmax of a vector, or the logistic function."""
        exponentials = [f for f in sympy.Mul.make_args(expression) if isinstance(f, sympy.exp)]
        argument = exponentials[0].args[0] if exponentials else -(1 / expression - 1).args[0]
        inside = self.tensor(argument, axes)
        if exponentials and len(inside.axes) != 1:
            raise NoMatrixFormError
        return _Tensor(f"{'softmax' if exponentials else 'sigmoid'}({inside.text})", inside.axes)


def _multiplied(above: Sequence[_Tensor], below: Sequence[_Tensor], axes: Axes) -> _Tensor:
    """Multiply numbers and tensors."""
    if len(above) == 1 and not below:
        return replace(above[0], axes=axes)
    text = "*".join([above[0].bracketed(1), *(one.bracketed(2) for one in above[1:])])
    return _Tensor(text + "".join(f"/{one.bracketed(3)}" for one in below), axes, 1)


def _contracted(tensors: list[_Tensor], bound: list[Expr]) -> list[_Tensor]:
    """Contract one bound index."""
    for k in sorted(bound, key=lambda k: sum(len(o.axes) > 1 for o in tensors if k in o.axes)):
        mine, rest = ([o for o in tensors if (k in o.axes) == is_mine] for is_mine in (True, False))
        vectors, matrices = ([o for o in mine if len(o.axes) == rank] for rank in (1, 2))
        others = [next(a for a in one.axes if a != k) for one in matrices]
        match len(matrices), len(vectors):
            case 0, 2:
                found = _chained(vectors, ())
            case 0, n if n:
                found = _Tensor(f"sum({_times(vectors).text})")
            case 1, n if n:
                found = _matmul(matrices[0].along((others[0], k)), _times(vectors), (others[0],))
            case 2, 0 if others[0] != others[1]:
                a, b = others
                found = _matmul(matrices[0].along((a, k)), matrices[1].along((k, b)), (a, b))
            case _:
                continue
        bound.remove(k)
        return [*rest, found]
    raise NoMatrixFormError


def _pointwise(tensors: list[_Tensor], axes: Axes) -> _Tensor | None:
    if not tensors:
        return None
    if len({o.axes if len(o.axes) < 2 else frozenset(o.axes) for o in tensors}) == 1:
        return _times([o.along(tensors[0].axes) for o in tensors])
    if len(axes) == 2 and all(len(o.axes) == 1 for o in tensors):
        return _outer([_times([o for o in tensors if o.axes == (a,)]) for a in axes], axes)
    raise NoMatrixFormError


def _sum(terms: list[_Term]) -> _Term:
    """Add terms, with their common factors before or after the sum."""
    first, own = terms[0], next((t.tensor.axes for t in terms if t.tensor), ())
    if not all(t.tensor and (t.above, t.below) == (first.above, first.below) for t in terms):
        whole = _added([(t.whole.along(own) if t.tensor else t.whole, t.number) for t in terms], own)
        return _Term(tensor=whole) if own else _Term(above=(whole,))
    common = min(abs(t.number) for t in terms) * (-1 if all(t.number < 0 for t in terms) else 1)
    inner = [replace(t, number=t.number / common, above=(), below=()) for t in terms]
    pairs = [(t.whole.along(own), t.number) for t in inner]
    return _Term(common, first.above, first.below, _factored(pairs, own) or _added(pairs, own))


def _raised(one: _Tensor, power: Expr) -> _Tensor:
    if power == 1:
        return one
    if power == sympy.S.Half:
        return _Tensor(f"sqrt({one.text})", one.axes)
    return _Tensor(f"{one.bracketed(4)}**{power if power.is_Integer else f'({power})'}", one.axes, 3)


def _times(parts: Sequence[_Tensor]) -> _Tensor:
    """Multiply element by element."""
    if not parts:
        raise NoMatrixFormError
    if len(parts) == 1:
        return parts[0]
    return _Tensor("⊙".join([parts[0].bracketed(1), *(one.bracketed(3) for one in parts[1:])]), parts[0].axes, 1)


def _matmul(a: _Tensor, b: _Tensor, axes: Axes) -> _Tensor:
    # A product of matrices may be bracketed in any way, unless a vector stands on its left.
    return _chained([*(a.chain or (a,)), *(b.chain or (b,))], axes)


def _outer(parts: Sequence[_Tensor], axes: Axes) -> _Tensor:
    return _Tensor(f"outer({parts[0].text}, {parts[1].text})", axes, outer=tuple(parts))


def _chained(parts: Sequence[_Tensor], axes: Axes) -> _Tensor:
    if len(parts) == 1:
        return parts[0]
    text = "@".join(one.bracketed(2 if one is parts[0] and not one.chain else 3) for one in parts)
    return _Tensor(text, axes, 2, tuple(parts))


def _factored(terms: Sequence[tuple[_Tensor, Expr]], axes: Axes) -> _Tensor | None:
    """Write A@x + B@x as (A + B)@x, A@x + A@y as A@(x + y), outer products alike; None where nothing is shared."""
    chains, is_outer = [one.chain or one.outer for one, _ in terms], bool(terms[0][0].outer)
    if not all(chains) or any(abs(number) != 1 or bool(one.outer) != is_outer for one, number in terms):
        return None
    for place, rest in ((-1, slice(None, -1)), (0, slice(1, None))):
        shared = chains[0][place]
        if len({chain[place].text for chain in chains}) == 1:
            parts = (chain[rest] for chain in chains)
            rests = [_chained(own, (*own[0].axes[:1], *own[-1].axes[1:])) for own in parts]
            whole = _added([(one, number) for one, (_, number) in zip(rests, terms, strict=True)], rests[0].axes)
            return (_outer if is_outer else _chained)([whole, shared] if place else [shared, whole], axes)
    return None


def _added(terms: Sequence[tuple[_Tensor, Expr]], axes: Axes) -> _Tensor:
    """Add terms by the signs of their numbers: first those with a plus, then products of matrices, then short ones."""
    ordered = sorted(terms, key=lambda pair: (bool(pair[1] < 0), not pair[0].chain, len(pair[0].text)))
    text = "".join(f" {'-' if number < 0 else '+'} {one.bracketed(1)}" for one, number in ordered)
    return _Tensor(text.removeprefix(" + ") if text[1] == "+" else f"-{text[3:]}", axes, 0)
