"""Many points at once give the numbers of one point after the other, for every operation of the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from gradcli.autodiff import derivatives
from gradcli.autodiff.points import AtPoints, Batch, at_points
from gradcli.autodiff.run import run
from gradcli.language import ops
from gradcli.language.grammar import parse
from gradcli.language.shapes import infer
from tests.language.ops import test_algebra, test_branches, test_elementwise, test_reductions, test_structure
from tests.language.ops.numpy_truth import POINT, names_of

STRETCH = np.array([1.0, 0.93, 0.81])
"""By which the truths' points are multiplied to have three of each."""


def _elementwise() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, (_, values) in test_elementwise.ONE.items():
        yield f"{name}(x)", {"x": np.resize(values, (3, 2))}
    for name, (_, pairs) in test_elementwise.TWO.items():
        first, second = ops.TABLE[name].operands
        yield f"{name}({first}, {second})", dict(zip((first, second), np.resize(pairs, (3, 2)).T, strict=True))
    for texts in test_elementwise.MORE.values():
        for text, (_, values) in texts.items():
            yield text, {"x": np.resize(values, (3, 2))}


def _others() -> Iterator[tuple[str, dict[str, Any]]]:
    tables = (test_branches.CASES, test_reductions.CASES, test_structure.CASES)
    for table in (*tables, test_algebra.PRODUCTS, test_algebra.LOSSES):
        for case in (case for cases in table.values() for case in cases):
            if names_of(case):
                yield case[0], {name: np.multiply.outer(STRETCH, POINT[name]) for name in names_of(case)}


CASES = dict([*_elementwise(), *_others()])


def batch_of(
    text: str, inputs: Mapping[str, Any], mapped: tuple[str, ...], wrt: tuple[str, ...], dtype: str = "float64"
) -> Batch:
    """The Program of a text with the sizes that its values have."""
    arrays = {name: np.asarray(value, dtype) for name, value in inputs.items()}
    one = {name: array.shape[1:] if name in mapped else array.shape for name, array in arrays.items()}
    program = parse(text, shapes=one)
    shapes = infer(program, {symbol: one[str(symbol)] for symbol in program.variables})
    count = len(arrays[mapped[0]])
    return Batch(program, arrays, mapped, wrt, dtype, count, shapes[program.output], 1)


def looped(batch: Batch, v: Any = None) -> AtPoints:
    """The same, one call for each point, with the code of one point."""
    found = [run(batch.program, batch.inputs_at(n), batch.wrt, batch.dtype) for n in range(batch.points)]
    blocks = [derivatives.jacobian(forward, batch.wrt) for forward in found]
    weights = np.broadcast_to(1.0 if v is None else v, (batch.points, *batch.shape))
    products = [derivatives.vjp(f, w, batch.wrt) for f, w in zip(found, weights, strict=True)]
    return AtPoints(
        np.stack([derivatives.value(forward) for forward in found]),
        {name: np.stack([product[name] for product in products]) for name in batch.wrt},
        {name: np.stack([block[name] for block in blocks]) for name in batch.wrt},
    )


def assert_same(found: AtPoints, expected: AtPoints) -> None:
    """To a few units in the last place of the largest number, as sums may be taken in another order."""
    for one, other in (
        (found.value, expected.value),
        *((array, (expected.vjp or {})[name]) for name, array in (found.vjp or {}).items()),
        *((array, (expected.jacobian or {})[name]) for name, array in (found.jacobian or {}).items()),
    ):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        scale = np.abs(other[np.isfinite(other)]).max(initial=0.0)
        np.testing.assert_allclose(one, other, rtol=1e-15, atol=4 * float(np.finfo(other.dtype).eps) * scale)


@pytest.mark.parametrize("text", CASES)
def test_all_points_at_once_are_as_one_after_the_other(text: str) -> None:
    """Every variable mapped, then only the first, whose others are then leaves with a copy a point."""
    names = tuple(CASES[text])
    for mapped in {names, names[:1]}:
        inputs = {name: array if name in mapped else array[0] for name, array in CASES[text].items()}
        batch = batch_of(text, inputs, mapped, names)
        assert_same(at_points(batch, v=np.ones(batch.shape), jacobian=True), looped(batch))
