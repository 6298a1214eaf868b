"""`map` against scripts by hand: the engine at ten million elements, and whole commands from file to file."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import torch

from gradcli import Function
from gradcli.cli import main
from tests.benchmarks.conftest import processor_time, ratio

ELEMENTS = 10_000_000

_DRAWN = np.random.default_rng(0)
WEIGHTS = {"W": _DRAWN.normal(size=(8, 4)), "c": _DRAWN.normal(size=8), "w": _DRAWN.normal(size=8)}

Body = Callable[..., Any]

CASES: dict[str, tuple[str, Mapping[str, tuple[int, ...]], Mapping[str, Any], Body]] = {
    "cheap arithmetic": ("a*x**2 + b*x", {"x": ()}, {"a": 1.5, "b": 0.7}, lambda x: 1.5 * x**2 + 0.7 * x),
    "transcendental": ("sin(x)*exp(-x**2)", {"x": ()}, {}, lambda x: torch.sin(x) * torch.exp(-(x**2))),
    "branches": (
        "where(x > 0, x*exp(-x), x**3)", {"x": ()}, {}, lambda x: torch.where(x > 0, x * torch.exp(-x), x**3)
    ),
    "reduction of 8": ("sum(x**2*exp(-x))", {"x": (8,)}, {}, lambda x: (x**2 * torch.exp(-x)).sum()),
    "3x3 solve": ("sum(solve(A, b))", {"A": (3, 3), "b": (3,)}, {}, lambda A, b: torch.linalg.solve(A, b).sum()),
    "MLP 4-8-1": (
        "sum(w*tanh(W@x + c))", {"x": (4,)}, WEIGHTS,
        lambda x: _perceptron(x, *map(torch.asarray, WEIGHTS.values())),
    ),
}  # fmt: skip
"""A function, the shapes of its columns, its constants, and itself in torch's words, of one row."""


def _perceptron(x: Any, W: Any, c: Any, w: Any) -> Any:
    return (w * torch.tanh(W @ x + c)).sum()


@pytest.mark.parametrize("case", CASES)
def test_the_engine_against_eager_torch(case: str) -> None:
    """Value and derivatives of every row, files apart: eager torch has all its threads."""
    text, shapes, at, body = CASES[case]
    size = sum(int(np.prod(shape)) for shape in shapes.values())
    rows = ELEMENTS // size // (50 if case == "3x3 solve" else 1)
    columns = {name: _DRAWN.normal(size=(rows, *shape)) for name, shape in shapes.items()}
    if "A" in columns:
        columns["A"] += 3 * np.eye(3)
    f = Function(text)

    def by_hand() -> Any:
        leaves = [torch.from_numpy(column).requires_grad_() for column in columns.values()]
        run = body if not any(shapes.values()) else torch.vmap(body)
        y = run(*leaves)
        return [y.detach(), *torch.autograd.grad(y.sum(), leaves)]

    def in_blocks() -> Any:
        return f.map(columns, at)

    for found, expected in zip(in_blocks().values(), by_hand(), strict=True):
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-9, atol=1e-12)
    print(f"\n{case:18} eager torch over gradcli: {ratio(by_hand, in_blocks, 5):5.2f}")


TEXT = "sin(x)*exp(-x**2)"
ROWS = 5_000_000


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A column of numbers in row groups of a million."""
    path = tmp_path_factory.mktemp("bench") / "x.parquet"
    pq.write_table(pa.table({"x": _DRAWN.normal(size=ROWS)}), path, row_group_size=1_000_000)
    return path


def _by_pyarrow(path: Path, out: Path) -> None:
    """The script that one would write: a batch read, eager autograd, a batch written."""
    schema = pa.schema([("y", pa.float64()), ("dy_dx", pa.float64())])
    with pq.ParquetWriter(out, schema) as writer:
        for batch in pq.ParquetFile(path).iter_batches(2**20):
            x = torch.from_numpy(batch.column(0).to_numpy().copy()).requires_grad_()
            y = torch.sin(x) * torch.exp(-(x**2))
            (gradient,) = torch.autograd.grad(y.sum(), x)
            writer.write_batch(pa.record_batch([y.detach().numpy(), gradient.numpy()], schema=schema))


def test_parquet_against_pyarrow_and_eager_torch(parquet: Path, tmp_path: Path) -> None:
    """From file to file in this process, and what Polars takes to read the input alone."""

    def ours() -> int:
        return main(["map", TEXT, "--points", str(parquet), "-o", str(tmp_path / "out.parquet")])

    assert ours() == 0
    by_hand = ratio(lambda: _by_pyarrow(parquet, tmp_path / "by_hand.parquet"), ours)
    print(f"\nParquet: pyarrow and eager torch by hand over gradcli: {by_hand:.2f}")
    print(f"Parquet: gradcli over reading with Polars: {ratio(ours, lambda: pl.read_parquet(parquet)):.1f}")


def test_the_processor_time_of_a_million_rows_of_parquet(parquet: Path, tmp_path: Path) -> None:
    """Of a whole process, less that of one row, which is to start."""
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "one.parquet")
    words = [sys.executable, "-m", "gradcli", "map", TEXT, "-o", str(tmp_path / "out.parquet"), "--points"]
    taken = [processor_time(*words, str(path)) for path in (tmp_path / "one.parquet", parquet)]
    seconds = (taken[1] - taken[0]) / (ROWS / 1_000_000)
    print(f"\nParquet: {seconds:.2f} CPU-seconds a million rows")
    assert seconds <= 0.35
