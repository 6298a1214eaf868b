"""Calls whose lines are other operations: of functions that torch is asked for, and of indices with positions in them.

While a shape is not known the first operand stands for the result, and the text is read again when it is.  Constant
positions, `x[idx]`, are an index of the language; those of a variable choose by a comparison with every position,
so that no reading needs a rule of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from gradcli.errors import ShapeError, Span, TooLargeError
from gradcli.language.lower.arguments import Bindings
from gradcli.language.lower.constants import UNKNOWN_SIZE, Constants
from gradcli.language.lower.scope import Array, Operand, Several
from gradcli.language.program.movement import NEW, Slice, broadcast, indexed_axes
from gradcli.language.program.wengert import AskedMeaning, Atom, Call, Guard, Guards, Program, Shape, number, show

MOST_WORK = 2**26
"""Largest number of elements that are computed for decisions."""

MOST_DECIDED = 1_000
"""Largest number of conditions of a text that values decide."""


class Decisions(Constants):
    """Lowering that evaluates conditions at the point, each line once, and keeps them as guards."""

    _work = 0

    @cached_property
    def known_values(self) -> dict[Atom, Any]:
        """Values that were evaluated."""
        return {}

    def value_at_point(self, atom: Atom) -> Array | None:
        """Evaluate a value at the point; None where there is no point, which the text then asks for."""
        for name, value in (self.scope.values or {}).items():
            if name in self.scope.variables:
                self.known_values.setdefault(self.scope.variables[name], np.asarray(value))
        lines, leaves = self.builder.made_of(atom, known=self.known_values)
        if not leaves.isdisjoint({*self.scope.variables.values()} - {*self.known_values}):
            self.scope.needs_values = True
            return None
        for line in lines:
            held = {one: self.known_values[one] for one in line.call.operands if one in self.known_values}
            alone = Program(self.source.text, (), (line,), line.symbol, self.source.name)
            self.known_values[line.symbol] = found = self.evaluation.run(alone, held)
            self._work += found.size
        return np.asarray(self.known_values[atom] if atom in self.known_values else number(atom), dtype=np.float64)

    def guards(self) -> Guards | None:
        """Return all conditions that values decided, as guards."""
        if not self.scope.guards:
            return None
        first, *others = (guard.condition for guard in self.scope.guards)
        return Guards(self.builder.program(first, self.scope.variables.values(), *others), tuple(self.scope.guards))


class UnknownShapeError(Exception):
    """Unknown shape of an operand, or an unknown value that decides."""


class Inlining(Decisions):
    """Lowering of calls whose lines are other operations."""

    def meaning(self, text: str, operands: Sequence[str], constants: Mapping[str, Any]) -> Program:
        """Parse a text of the language as a Program in operands of these names, with constants by name."""
        raise NotImplementedError

    def inlined_call(self, bound: Bindings, span: Span) -> Operand:
        """Lower a call that torch is asked for; its value stands for several tensors where it gives several.

        Args:
            bound: Its arguments.
            span: Of the call.

        Raises:
            GradcliError: Torch refuses it, or is not there to be asked.
        """
        op, scope = bound.op, self.scope
        given = [(name, *bound.operands[name]) for name in op.operands if name in bound.operands]
        given += [("", *one) for one in bound.extra]
        atoms = [self.one(atom, span) for _, atom, _ in given]
        mark = len(self.builder.lines)
        try:
            fixed = tuple(
                self._fixed(bound, name, atom, where) for (name, _, where), atom in zip(given, atoms, strict=True)
            )
            shapes = tuple(map(self.shape_of, atoms))
            if None in shapes:
                raise UnknownShapeError
        except UnknownShapeError:
            return self._provisional(bound, atoms[0], span), span
        if scope.ask is None:
            raise self.source.error(f"what {op.name} computes is asked of torch, which is not done here", span)
        atoms = [self.as_number(atom, span) for atom in atoms]
        asked = Call(op.name, tuple(atoms), bound.constants)
        parts = self.placed(span, lambda: scope.ask(asked, cast("tuple[Shape, ...]", shapes), fixed))  # type: ignore[misc]
        found = tuple((self._result(one, atoms, span), span) for one in parts)
        names = () if op.parts == ("...",) else op.parts
        if len(parts) == 1 and len(names) != 1 and op.parts != ("...",):  # as a median of all elements
            return found[0]
        if bound.library and sum(one is not None for one in parts) == 1:  # as in np.sort
            return found[0]
        scope.spent.update(line.symbol for line in self.builder.lines[mark:])
        return scope.together(Several(op.name, found, names)), span

    def _result(self, part: AskedMeaning | None, atoms: Sequence[Atom], span: Span) -> Atom:
        """Inline one of the tensors that a call gives; whole numbers become a value that no operation takes."""
        if part is not None:
            return self._inlined(part.record(), atoms, span)
        return self.positions()

    def _fixed(self, bound: Bindings, name: str, atom: Atom, where: Span) -> Array | None:
        """Return the numbers of an operand that the call depends on: positions, a mask, a share."""
        op = bound.op
        if name in op.conditions:
            mask = self.as_number(atom, where)
            found = self._decided(mask, where, "x", self.source.shown(where))
            if found is None:
                raise UnknownShapeError
            return found
        if name not in (*op.whole, *op.numbers):
            return None
        found = self.numbers(atom)
        if found is None and name in op.numbers:
            message = f"{op.name} needs numbers that are constant for {name}"
            raise self.source.error(message, where, hint="write them as numbers")
        return found

    def index_with_tensors(self, operand: Operand, items: Sequence[Any], span: Span) -> Operand:
        """Lower `x[key]` with tensors of positions among the items, each an operand; conditions are masks."""
        tensors = [item for item in items if isinstance(item, tuple)]
        read: list[Any] = []
        try:
            for item in items:
                read += self._places_in(item, operand, tensors) if isinstance(item, tuple) else [item]
            shape = self.shape_of(operand[0])
            if shape is None or None in (self.shape_of(atom) for atom, _ in tensors):
                raise UnknownShapeError
        except UnknownShapeError:
            self.scope.needs_shapes = True
            return operand[0], span
        known_shape = shape
        text = self.placed(span, lambda: indexed("x", known_shape, read))
        names = ["x", *(f"i{n}" for n in range(len(tensors)))]
        program = self.meaning(text, names, {})
        atoms = [self.as_number(a, span) for a in (operand[0], *(a for a, _ in tensors))]
        found = self._inlined(program, atoms, span)
        return found, span

    def _places_in(self, item: Operand, operand: Operand, tensors: Sequence[Operand]) -> list[Positions]:
        """Return the positions of a tensor in an index; of a mask, one tensor for each of its dimensions."""
        atom, where = item
        shape = self.shape_of(atom)
        number = self.as_number(atom, where)
        if atom not in self.conditions:
            return [Positions(f"i{tensors.index(item)}", shape or (), self.numbers(number))]
        found = self._decided(number, where, self.source.excerpt(operand[1]), self.source.excerpt(where))
        if found is None:
            raise UnknownShapeError
        if not found.ndim:
            raise self.source.error("a condition of one number is no mask here", where, hint="write where(c, x, 0)")
        return [Positions("", axis.shape, axis) for axis in np.nonzero(found)]

    def _decided(self, mask: Atom, where: Span, x: str, shown: str) -> Array | None:
        """Return the numbers of a mask: of a constant, or those that values decide at the point; None without one.

        Raises:
            LanguageError: Values decide, and are not known here.
        """
        found = self.numbers(mask)
        if found is not None:
            return found
        if self.scope.values is None:
            message = "the values of variables decide how many elements this mask takes"
            hint = f"where({shown}, {x}, 0) keeps the shape, with 0 for the others; a sum of it is the same"
            raise self.source.error(message, where, hint=hint)
        self.scope.remark(f"values decided which elements {shown} takes: the answer is of those")
        found = self.value_at_point(mask)
        if found is not None:
            self.scope.needs_values = True
            self.scope.guards.append(Guard(mask, self.source.shown(where), "other elements are taken"))
            if len(self.scope.guards) > MOST_DECIDED or self._work > MOST_WORK:
                message = "values decide too much here: there are too many masks, or too large ones"
                raise self.source.error(message, where, hint="fewer masks, or smaller tensors", kind=TooLargeError)
        return found

    def numbers(self, atom: Atom) -> Array | None:
        """Evaluate a value that is made of constants and sizes alone; its lines are needed no more."""
        lines, _ = self.builder.made_of(atom)
        program = self.builder.program(atom, self.scope.variables.values())
        if program.variables:
            return None
        self.scope.spent.update(line.symbol for line in lines)
        return np.asarray(self.evaluation.run(program, {}))

    def inlined(self, text: str, operands: Mapping[str, Atom], span: Span, **held: Any) -> Atom:
        """Inline a text of the language in operands of these names, and constants of others."""
        return self._inlined(self.meaning(text, tuple(operands), held), tuple(operands.values()), span)

    def _inlined(self, program: Program, atoms: Sequence[Atom], span: Span) -> Atom:
        """Inline a Program at these operands; the shapes that its operations depend on are known."""
        inside: dict[Atom, Atom] = dict(zip(program.variables, atoms, strict=True))
        for line in program.lines:
            parts = tuple(inside.get(a, a) for a in line.call.operands)
            statics = line.call.statics
            if line.call.op.of_shapes:
                shapes = tuple(self.shape_of(a) for a in parts)
                self.scope.needs_shapes |= None in shapes
                known = None if None in shapes else cast("tuple[Shape, ...]", shapes)
                statics = (*statics[:-1], self.scope.shapes_or_meaning(line.call.op, parts, statics, known))
            inside[line.symbol] = self.builder.emit(line.call.op.name, parts, span, statics)
        return inside.get(program.output, program.output)

    def _provisional(self, bound: Bindings, atom: Atom, span: Span) -> Atom:
        """Return a stand-in for the result until the shapes are known."""
        self.scope.needs_shapes = True
        if not bound.op.parts:
            return atom
        names = () if bound.op.parts == ("...",) else bound.op.parts
        found = ((atom, span),) * (len(names) or UNKNOWN_SIZE)
        return self.scope.together(Several(bound.op.name, found, names, is_provisional=True))


# -- elements at positions

_Places: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class Positions:
    """Tensor of whole numbers in an index.

    Attributes:
        name: Its name in the text.
        shape: Of the tensor.
        numbers: The numbers of a constant tensor.
    """

    name: str
    shape: Shape
    numbers: npt.NDArray[Any] | None = None


def listed(places: Sequence[int]) -> str:
    """Write positions as an item of an index: a slice where they are evenly spaced.

    >>> listed([1, 3, 5]), listed([2, 1, 0]), listed([0, 0, 2])
    ('1:6:2', '2::-1', '[0, 0, 2]')
    """
    if not places:
        return ":0"
    step = places[1] - places[0] if len(places) > 1 else 1
    if step == 0 or any(b - a != step for a, b in itertools.pairwise(places)):
        return str([*places])
    stop = places[-1] + (1 if step > 0 else -1)
    return f"{places[0]}:{stop if stop >= 0 else ''}" + (f":{step}" if step != 1 else "")


def checked(numbers: npt.NDArray[Any], size: int) -> _Places:
    """Return positions in a dimension of this size, counted from the front.

    Raises:
        ShapeError: One is no whole number, or outside of the dimension.
    """
    found = np.asarray(numbers, dtype=np.float64)
    for at in found.ravel().tolist():
        if not at.is_integer():
            raise ShapeError(f"an index is a whole number, not {at:g}")
        if not -size <= at < size:
            raise ShapeError(f"the index {at:.0f} is outside a dimension of size {size}", hint="it counts from 0")
    return found.astype(np.intp) % max(size, 1)


def indexed(x: str, shape: Shape, items: Sequence[Any]) -> str:
    """Write the text of an index with tensors of positions among its items, by torch's rules.

    Args:
        x: The operand.
        shape: Of the operand.
        items: Whole numbers, slices, `...`, None as the language has it, and `Positions`.

    Raises:
        ShapeError: The index does not fit.

    >>> indexed("x", (4,), [Positions("i", (2,), np.array([3, 1]))])
    'x[3:0:-2]'
    """
    whole = Slice(None, None)
    basic = [whole if isinstance(item, Positions) else item for item in items]
    sizes = tuple(axis.size for axis in indexed_axes(shape, tuple(basic))[0])
    if any(item not in (whole, "...") for item in basic):
        x = f"{x}[{', '.join(map(str, basic))}]"
    more = len(shape) - sum(item not in ("...", NEW) for item in items)
    full = [one for item in items for one in ([whole] * more if item == "..." else [item])]
    kept = [item for item in full if not isinstance(item, int)]
    found = {axis: item for axis, item in enumerate(kept) if isinstance(item, Positions)}
    numbers = {axis: checked(one.numbers, sizes[axis]) for axis, one in found.items() if one.numbers is not None}
    if len(numbers) < len(found):
        return _chosen(x, sizes, found, numbers)
    (first, places), *others = numbers.items()
    if others:
        key = tuple(numbers.get(axis, slice(None)) for axis in range(len(sizes)))
        places = np.arange(math.prod(sizes)).reshape(sizes)[key]
        x, first, after = f"reshape({x}, -1)", 0, places.shape
    else:
        after = (*sizes[:first], *places.shape, *sizes[first + 1 :])
    text = f"{x}[{':, ' * first}{listed(places.ravel().tolist())}]"
    return text if places.ndim == 1 and not others else f"reshape({text}, {show(after)})"


def _chosen(x: str, sizes: Shape, found: Mapping[int, Positions], numbers: Mapping[int, _Places]) -> str:
    """Write the elements at positions along some dimensions, which broadcast, where not all are known."""
    axes = [*found]
    others = [n for n in range(len(sizes)) if n not in found]
    taken, kept = [sizes[n] for n in axes], [sizes[n] for n in others]
    whole = broadcast([one.shape for one in found.values()])
    hits = []
    for n, (axis, one) in enumerate(found.items()):
        name = numbers[axis].tolist() if axis in numbers else one.name
        stretched = f"expand({name}, {show(whole)})" if one.shape != whole else name
        ones = [size if m == n else 1 for m, size in enumerate(taken)]
        hit = f"one_hot({stretched}, {sizes[axis]})"
        hits.append(hit if len(sizes) == 1 else f"reshape({hit}, {show([*whole, *ones, *[1] * len(kept)])})")
    x = x if axes + others == sorted(axes + others) else f"permute({x}, {show(axes + others)})"
    rank, first = len(whole), axes[0] if axes == [*range(axes[0], axes[-1] + 1)] else 0
    summed = tuple(range(rank, rank + len(axes)))
    text = f"sum(where({'*'.join(hits)} == 1, {x}, 0), {show(summed)})"
    order = [*range(rank, rank + first), *range(rank), *range(rank + first, rank + len(others))]
    return f"permute({text}, {show(order)})" if first else text
