"""Variants of the application of an `autograd.Function`: each differs from it in one thing where mistakes hide.

A line of a table is a variant: the gradient vector v, the layout in memory, the values, the sizes.  Others follow from
the arguments: which of them need a gradient, which is stretched, which are equal, and which output is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.results import Array

SCALES = (1.0, 10.0, 1e3, 1e5, 1e8, 1e-3, 1e-6, 1e-8)
"""Factors of the values, each also with a minus, and with a little noise."""

STEPS = (0.3, 0.03, 0.003)
"""Sizes of steps to values for which a condition does not hold, where all must be right if it is to be a cause."""

WHOLE = "where elements are whole numbers"
"""The condition on values that each element may meet by itself."""

MOST_ALONE = 4
"""Most arguments that are moved, stretched or left out alone."""

LONGER = 2
"""How many elements longer a dimension is in other sizes."""


MakeValues = Callable[[Array, np.random.Generator], NDArray[Any]]
"""Makes values of an argument from others, with random numbers."""

MoveValues = Callable[[Array, float], Array]
"""Makes values for which a condition does not hold from some for which it does, in steps of this size."""


@dataclass(frozen=True)
class Variant:
    """Variant of an application.

    Attributes:
        arrays: The values of the arguments.
        tried: The difference, for the remark on what was tried.
        where: The difference, after a fault.
        v: Makes the gradient vector from random numbers.
        layout: Makes an argument from a tensor with its values.
        needs: The arguments that need a gradient; all if empty.
        output: The only output that is used; None for all.
        is_reshaped: Whether arguments have another shape, which a `backward` may refuse.
        is_repeated: Whether there is another call before the backward pass, which then runs twice.
        is_far: Whether the values are others than near those of the application.
        otherwise: Makes values of the same sizes for which `where` does not hold, if it is a condition on values.
    """

    arrays: Mapping[str, Array]
    tried: str = ""
    where: str = ""
    v: Callable[[Tensor], Tensor] = torch.clone
    layout: Callable[[Tensor], Tensor] = torch.clone
    needs: tuple[str, ...] = ()
    output: int | None = None
    is_reshaped: bool = False
    is_repeated: bool = False
    is_far: bool = False
    otherwise: MoveValues | None = None


@dataclass
class TriedArguments:
    """Floating-point arguments of an application, and random numbers like them.

    Attributes:
        values: The value of each tensor among the arguments.
        names: The arguments to differentiate by.
        generator: The generator of random numbers.
        outputs: The number of outputs, which the first call tells.
        is_steep: Whether the function computes many more numbers than it is given.
    """

    values: Mapping[str, Array]
    names: tuple[str, ...]
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    outputs: int = 1
    is_steep: bool = False

    def near(self, name: str, scale: float = 1.0, shape: Sequence[int] | None = None) -> Array:
        """Draw values near a multiple of an argument's, in its shape or another one; where they are 0, any."""
        array = self.values[name]
        spread = np.where(array == 0, self.generator.uniform(-1, 1, size=array.shape), array) * scale
        spread = np.resize(spread, array.shape if shape is None else tuple(shape))
        return np.asarray(spread * self.generator.uniform(0.7, 1.3, size=spread.shape), array.dtype)

    def moved(self, arrays: Mapping[str, Array], tried: str = "", where: str = "", *, is_far: bool = False) -> Variant:
        """Make the variant with other values of some arguments."""
        cast = {name: np.asarray(array, self.values[name].dtype) for name, array in arrays.items()}
        is_reshaped = any(array.shape != self.values[name].shape for name, array in cast.items())
        return Variant({**self.values, **cast}, tried, where, is_reshaped=is_reshaped, is_far=is_far)


def variants(given: TriedArguments) -> Iterator[Variant]:
    """Give all variants, the application itself first, and then what costs least and finds most."""
    values, names = given.values, given.names
    yield Variant(values)
    yield from (Variant(values, tried, where, v=v) for tried, where, v in VECTORS)
    yield from (Variant(values, tried, where, layout=layout) for tried, where, layout in LAYOUTS)
    yield Variant(values, "a call before backward, which runs twice", "after another call", is_repeated=True)
    yield from _needs(values, names)
    for output in range(given.outputs) if given.outputs > 1 else ():
        yield Variant(values, "each output alone", f"where output {output} alone is used", output=output)
    yield from _moved(given, names)
    yield from _equal_arguments(given)
    yield from _reshaped(given)
    yield from _stretched(given)
    for name in names[:MOST_ALONE] if len(names) > 1 else ():
        yield from _moved(given, (name,))


def without_condition(given: TriedArguments, variant: Variant, seen: Mapping[str, Array]) -> Iterator[Variant]:
    """Give variants of the same sizes as one, in which the condition that names it does not hold.

    There is none where it differs from the application in other things than values and shapes: the application is it.

    Args:
        given: The arguments of the application.
        variant: The variant.
        seen: Elements of each argument which are to be looked at, all of them if it is left out.
    """
    if not variant.where or variant.arrays is given.values or variant.v is not torch.clone:
        return
    for step in STEPS:
        arrays = {name: variant.arrays[name] for name in given.names}
        if variant.is_reshaped:  # the same numbers, in the shapes of the application
            arrays = {name: np.resize(seen.get(name, one), given.values[name].shape) for name, one in arrays.items()}
        elif (otherwise := variant.otherwise) is not None:
            moved = (name for name in given.names if arrays[name] is not given.values[name])
            arrays |= {name: otherwise(arrays[name], step) for name in moved}
        yield given.moved(arrays, is_far=True)


# -- tables


def scattered(tensor: Tensor) -> Tensor:
    """Put the same numbers in memory with gaps, the first and the last dimension in turn."""
    if not tensor.ndim:
        return torch.stack([tensor, tensor])[0]
    return torch.stack([tensor.transpose(0, -1)] * 2, -1)[..., 0].transpose(0, -1)


def _centred(v: Tensor) -> Tensor:
    return v - v.mean() if v.numel() > 1 else v


VECTORS: tuple[tuple[str, str, Callable[[Tensor], Tensor]], ...] = (
    ("v of each sign", "where v is positive", torch.abs),
    ("v of each sign", "where v is negative", lambda v: -v.abs()),
    ("large v", "where v is large", lambda v: 1e4 * v),
    ("tiny v", "where v is tiny", lambda v: 1e-9 * v),
    ("v that sums to 0", "where v sums to 0", _centred),
    ("v with zeros", "where v has zeros", lambda v: v * (torch.arange(v.numel(), device=v.device) % 2).view(v.shape)),
    ("v as sum() gives it", "where v is one number, stretched", lambda v: v.new_ones(()).expand_as(v)),
    ("v that is not contiguous", "where v is not contiguous", scattered),
)
"""Gradient vectors, each made from a random one."""

LAYOUTS: tuple[tuple[str, str, Callable[[Tensor], Tensor]], ...] = (
    ("inputs that are not contiguous", "where its inputs are not contiguous", scattered),
)
"""Layouts of the arguments in memory."""


def _of_both_signs(x: Array, step: float) -> Array:
    """Give each other element the other sign; one alone is turned."""
    return np.asarray(x * np.resize((-1, 1), x.size).reshape(x.shape))


def _near_each(x: Array, step: float) -> Array:
    """Move the elements a little, each by another amount: none is whole then, and no two are equal."""
    moves = step * np.linspace(0.7, 1, x.size) * np.resize((1, -1), x.size)
    return np.asarray(x + moves.reshape(x.shape))


def _reversed(x: Array, step: float) -> Array:
    """Reverse all elements, which leaves none sorted where two differ."""
    return np.flip(x)


VALUES: tuple[tuple[str, str, MakeValues, MoveValues | None], ...] = (
    ("values of one sign", "where all elements are positive", lambda x, _: np.abs(x), _of_both_signs),
    ("values of one sign", "where all elements are negative", lambda x, _: -np.abs(x), _of_both_signs),
    ("small whole numbers", WHOLE, lambda x, own: own.integers(-3, 4, x.shape), _near_each),
    ("small whole numbers", WHOLE, lambda x, own: own.integers(1, 6, x.shape), _near_each),
    ("sorted elements", "where elements are sorted", lambda x, _: np.sort(x, axis=None).reshape(x.shape), _reversed),
    ("equal elements", "where elements are equal", lambda x, _: np.full(x.shape, 0.7), _near_each),
    ("±0", "", lambda x, _: np.zeros(x.shape), None),
    ("±0", "", lambda x, _: np.full(x.shape, -0.0), None),
)
"""Values of arguments, each made from random ones near those of the application, and such as differ in this alone."""


class _Shape(NamedTuple):
    shape: tuple[int, ...]
    tried: str
    is_large: bool = False
    is_laid_out: bool = False


SHAPES = (
    _Shape((), "0-d inputs"),
    _Shape((1,), "other numbers of elements"),
    _Shape((7,), "other numbers of elements"),
    _Shape((2, 3), "2-d inputs", is_laid_out=True),
    _Shape((2, 3, 2), "3-d inputs"),
    _Shape((300,), "other numbers of elements", is_large=True),
)
"""Shapes of all arguments at once."""

MAGNITUDES = np.geomspace(1.1e-3, 1.1e4 + 0.5, 100).reshape(2, 50)
"""Values of an argument in two rows, each 18 % larger than the last: any wider range of magnitudes has one of them.

None is a whole number, and no row is as long as the longest shape that is tried for its own sake.
"""

SIZES: tuple[Callable[[tuple[int, ...]], tuple[int, ...]], ...] = (
    lambda shape: (shape[0] + LONGER, *shape[1:]) if shape else shape,
    lambda shape: (*shape[:-1], shape[-1] + LONGER) if shape else shape,
    lambda shape: tuple(size + LONGER * (size > 1) for size in shape),
)
"""Sizes of the arguments, which keep their numbers of dimensions."""


# -- what follows from the arguments


def _needs(values: Mapping[str, Array], names: Sequence[str]) -> Iterator[Variant]:
    """Give each subset of the arguments that need a gradient; of many arguments one alone, and all but one."""
    counts = range(1, len(names)) if len(names) <= MOST_ALONE else (1, len(names) - 1)
    for count in dict.fromkeys(counts):
        for few in itertools.combinations(names, count):
            where = f"with requires_grad of {' and '.join(few)} alone"
            yield Variant(values, "some inputs alone", where, needs=few)


def _moved(given: TriedArguments, names: Sequence[str]) -> Iterator[Variant]:
    """Move some arguments."""
    for scale, sign in itertools.product(SCALES, (1, -1)):
        is_far = (scale, sign) != (1.0, 1)
        yield given.moved({name: given.near(name, sign * scale) for name in names}, is_far=is_far)
    for tried, where, values, otherwise in VALUES:
        arrays = {name: values(given.near(name), given.generator) for name in names}
        yield replace(given.moved(arrays, tried, where, is_far=True), otherwise=otherwise)


def _equal_arguments(given: TriedArguments) -> Iterator[Variant]:
    """Make pairs of arguments equal, and equal but for the sign."""
    for a, b in itertools.combinations(given.names[:MOST_ALONE], 2):
        if given.values[a].shape == given.values[b].shape:
            x = given.near(a)
            for where, other in ((f"where {a} = -{b}", -x), (f"where {a} = {b}", x)):
                equal = given.moved({a: x, b: other}, "equal arguments", where, is_far=True)
                yield replace(equal, otherwise=_near_each)


def _reshaped(given: TriedArguments) -> Iterator[Variant]:
    """Give all arguments one other shape, or other sizes each."""
    for one in SHAPES:
        if not (one.is_large and given.is_steep):
            arrays = {name: given.near(name, shape=one.shape) for name in given.names}
            found = given.moved(arrays, one.tried, f"where its inputs have the shape {one.shape}")
            yield found
            if one.is_laid_out:
                yield replace(found, tried="v that is not contiguous", where="where v is not contiguous", v=scattered)
    if not given.is_steep:
        for row in MAGNITUDES:
            sweep = np.concatenate([row, -row])
            yield given.moved(dict.fromkeys(given.names, sweep), "values of many sizes", is_far=True)
    for sizes in SIZES:
        shapes = {name: sizes(given.values[name].shape) for name in given.names}
        if any(shape != given.values[name].shape for name, shape in shapes.items()):
            arrays = {name: given.near(name, shape=shape) for name, shape in shapes.items()}
            said = ", ".join(f"{shape}" for shape in shapes.values())
            yield given.moved(arrays, "other sizes", f"where its inputs have the shapes {said}")


def _stretched(given: TriedArguments) -> Iterator[Variant]:
    """Stretch one argument to the others: a number, a column, and one that lacks their first dimension."""
    for name in given.names[:MOST_ALONE] if len(given.names) > 1 else ():
        shape = given.values[name].shape
        column = {name: given.near(name, shape=(*shape[:-1], 1))} if shape else {}
        taller = {one: (4, *given.values[one].shape) for one in given.names if one != name}
        for arrays in (
            {name: given.near(name, shape=())},
            column,
            {one: given.near(one, shape=tall) for one, tall in taller.items()},
        ):
            if arrays and max(array.ndim for array in arrays.values()) <= 3:
                yield given.moved(arrays, "each input stretched", f"where {name} is stretched")
