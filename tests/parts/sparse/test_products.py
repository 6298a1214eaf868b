"""Groups of rows and columns: no two members meet, few groups where there is a period, and planted errors are seen."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.parts.sparse import grouped_products, sparse
from gradcli.parts.sparse.colouring import BATCH, Colouring, clashing, coloured
from gradcli.parts.sparse.grouped_products import plan, values_of
from gradcli.parts.sparse.pattern import SparsityPattern, pattern_of
from tests.examples import seeds
from tests.parts.sparse.dense import jacobian, require_same


def _five_points(n: int) -> SparsityPattern:
    """The pattern of a five-point stencil on a square grid."""
    place = np.arange(n * n).reshape(n, n)
    pairs = [(place, place)]
    pairs += [(place[1:], place[:-1]), (place[:-1], place[1:]), (place[:, 1:], place[:, :-1])]
    pairs += [(place[:, :-1], place[:, 1:])]
    rows, columns = (np.concatenate([pair[side].ravel() for pair in pairs]).astype(np.int32) for side in (0, 1))
    order = np.lexsort((columns, rows))
    return SparsityPattern(rows[order], columns[order], (n * n, n * n))


def _require_apart(pattern: SparsityPattern, found: Colouring) -> None:
    """No two rows of a colour have a column in common, and each row with an entry has a colour."""
    assert (found.colours[np.unique(pattern.rows)] >= 0).all()
    pairs: dict[tuple[int, int], int] = {}
    for row, column in zip(pattern.rows.tolist(), pattern.columns.tolist(), strict=True):
        key = column, int(found.colours[row])
        assert pairs.setdefault(key, row) == row, key


@pytest.mark.parametrize("seed", seeds(0, 6))
def test_rows_of_a_colour_never_meet(seed: int) -> None:
    """In random patterns, which have no period."""
    draw = np.random.default_rng(seed)
    size, width, count = 40, 30, 120 + 100 * (seed % 3)
    key = np.unique(draw.integers(0, size * width, count))
    pattern = SparsityPattern((key // width).astype(np.int32), (key % width).astype(np.int32), (size, width))
    found = coloured(pattern.rows, pattern.columns, (size,), width)
    _require_apart(pattern, found)
    assert found.count >= int(np.bincount(pattern.columns).max())
    assert not clashing(pattern.rows, pattern.columns, np.maximum(found.colours, 0), width)[found.colours >= 0].any()


def test_a_stencil_takes_as_many_products_as_it_has_points() -> None:
    """Five on a grid of any size, by a period that borders do not break."""
    for n in (6, 30):
        pattern = _five_points(n)
        found = coloured(pattern.rows, pattern.columns, (n, n), n * n)
        _require_apart(pattern, found)
        assert found.count == 5


def test_a_seam_is_coloured_anew() -> None:
    """A ring of a length that the period does not divide: the few rows at the seam get further colours."""
    n = 1000
    rows = np.repeat(np.arange(n, dtype=np.int32), 3)
    columns = ((rows + np.tile([-1, 0, 1], n)) % n).astype(np.int32)
    pattern = SparsityPattern(rows, columns, (n, n))
    found = coloured(rows, columns, (n,), n)
    _require_apart(pattern, found)
    assert 3 < found.count <= 6


def test_more_colours_than_a_word_has_bits() -> None:
    """A column that all of 150 rows are in."""
    rows = np.arange(150, dtype=np.int32)
    found = coloured(rows, np.zeros(150, np.int32), (150,), 1)
    assert sorted(found.colours.tolist()) == list(range(150))


def test_a_full_pattern_takes_no_time_to_colour() -> None:
    """Each row meets each other one: no rounds are needed to see that."""
    n = 2000
    rows, columns = np.repeat(np.arange(n, dtype=np.int32), n), np.tile(np.arange(n, dtype=np.int32), n)
    began = time.process_time()
    assert coloured(rows, columns, (n,), n).count == n
    assert time.process_time() - began < 2


PRODUCTS = {
    "x[1:] - x[:-1]": 2,
    "(3 - 2*x)*x - pad(x, [1, 0])[:-1] - 2*pad(x, [0, 1])[1:] + 1": 3,
    "cat([x.sum()[None], x[0]*x[1:] + x[1:]**2])": 3,
    "x.view(20, 10).sum(1)": 1,
    "softmax(x.view(20, 10), 1)": 10,
    "x[0]*x": 2,
}
"""The products that texts of a vector of 200 take; an arrow takes one for its row, its column and its diagonal each."""


@pytest.mark.parametrize("text", PRODUCTS)
@pytest.mark.one_in(2)
def test_a_matrix_takes_few_products(text: str) -> None:
    """As many as its fullest row or column has entries, without what is dense."""
    dense, found = jacobian(text, {"x": np.linspace(0.5, 2, 200)})
    require_same(dense, found)
    assert found.sparsity.products == PRODUCTS[text]
    assert found.check is not None
    assert found.check.proven


def test_columns_of_several_variables_are_grouped_by_themselves() -> None:
    """Each row has one entry by A and one by x, and so two products have all."""
    draw = np.random.default_rng(0)
    dense, found = jacobian("A*x", {"A": draw.uniform(1, 2, (9, 8)), "x": draw.uniform(1, 2, 8)})
    require_same(dense, found)
    assert found.sparsity.products == 2


def test_each_entry_is_read_from_one_product() -> None:
    """Of an arrow in both senses, with a band besides."""
    n = 300
    rows = [*[0] * n, *range(1, n), *range(1, n), *range(1, n - 1)]
    columns = [*range(n), *[0] * (n - 1), *range(1, n), *range(2, n)]
    pattern = SparsityPattern(np.array(rows, np.int32), np.array(columns, np.int32), (n, n))
    for is_symmetric in (False, True):
        found = plan(pattern, (n,), [(n,)], is_symmetric=is_symmetric)
        entries = np.concatenate([one.entries for one in found.products])
        assert sorted(entries.tolist()) == list(range(pattern.count))
        for one in found.products:
            other = pattern.columns if one.axis == "rows" else pattern.rows
            is_mirrored = is_symmetric & (other[one.entries] != one.places)
            assert (pattern.rows[one.entries][is_mirrored] == one.places[is_mirrored]).all()


def test_a_graph_without_a_period_is_coloured_greedily() -> None:
    """Its window has hardly an edge, so that most periods seem to hold there."""
    draw, n = np.random.default_rng(0), 3000
    i = draw.integers(0, n, 2 * n)
    j = (i + draw.integers(1, n, 2 * n)) % n
    key = np.unique(np.concatenate([i * n + j, j * n + i, np.arange(n) * (n + 1)]))
    pattern = SparsityPattern((key // n).astype(np.int32), (key % n).astype(np.int32), (n, n))
    found = coloured(pattern.rows, pattern.columns, (n,), n)
    _require_apart(pattern, found)
    assert found.count <= 1.5 * int(np.bincount(pattern.columns).max())


@pytest.mark.parametrize("spacing", [1, 100], ids=["each column", "every hundredth column"])
def test_a_large_graph_is_coloured_a_batch_at_a_time(spacing: int) -> None:
    """Each batch sees the colours of those before it; columns that are many have a table of colours for two."""
    draw, n = np.random.default_rng(0), 30_000
    i = draw.integers(0, n, 2 * n)
    j = (i + draw.integers(1, n, 2 * n)) % n
    key = np.unique(np.concatenate([i * n + j, j * n + i, np.arange(n) * (n + 1)]))
    rows, columns = (key // n).astype(np.int32), (key % n * spacing).astype(np.int32)
    assert len(rows) > 2 * BATCH
    found = coloured(rows, columns, (n,), n * spacing)
    _require_apart(SparsityPattern(rows, columns, (n, n * spacing)), found)
    assert found.count <= int(np.bincount(columns).max()) + 1


def test_the_threads_of_torch_are_as_before() -> None:
    """Products of elements run in one."""
    import torch

    before = torch.get_num_threads()
    found = Function("x**2").jacobian({"x": np.ones(30_000)}, sparse=True, check=False)
    assert found.sparsity.products == 1
    assert torch.get_num_threads() == before


# -- planted errors


@pytest.mark.parametrize("at", [0, 7, -1])
def test_a_pattern_that_lacks_an_entry_is_refused(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By torch's product for a random v, which has the entry."""

    def without(*args: Any) -> SparsityPattern:
        found = pattern_of(*args)
        kept = np.delete(np.arange(found.count), at)
        return SparsityPattern(found.rows[kept], found.columns[kept], found.shape)

    monkeypatch.setattr(sparse, "pattern_of", without)
    found = Function("x**2*roll(x, 1, 0)").jacobian({"x": np.linspace(1, 2, 8)}, sparse=True)
    assert found.check is not None
    assert found.check.verdict == "disagree"
    assert any("outside of the pattern" in one.note for one in found.check.findings)


def test_a_colouring_that_joins_two_groups_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of one place are added up, which neither bounds nor a random v find."""

    def joined(*args: Any) -> Colouring:
        found = coloured(*args)
        return replace(found, colours=np.minimum(found.colours, found.count - 2), count=found.count - 1)

    monkeypatch.setattr(grouped_products, "coloured", joined)
    found = Function("x**2*roll(x, 1, 0)").jacobian({"x": np.linspace(1, 2, 8)}, sparse=True)
    assert found.check is not None
    assert found.check.verdict == "disagree"


def test_a_number_that_torch_gets_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two thousand."""

    def wrong(*args: Any) -> np.ndarray:
        found = values_of(*args)
        found[777] *= 1.0001
        return found

    monkeypatch.setattr(sparse, "values_of", wrong)
    found = Function("x[1:]**2 - x[:-1]").jacobian({"x": np.linspace(1, 2, 1001)}, sparse=True)
    assert found.check is not None
    assert found.check.verdict == "disagree"
    assert float(found.jacobian["x"].data[777]) in [one.torch for one in found.check.findings]
