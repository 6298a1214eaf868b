"""The engine of `map` against scripts by hand, at ten million rows; reading and writing are measured apart."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.cli import main
from tests.benchmarks.conftest import ratio

ROWS = 10_000_000

CASES: dict[str, Callable[[Any, Any], Any]] = {
    "sin(x)*exp(-x**2)": lambda m, x: m.sin(x) * m.exp(-(x**2)),
    "log(1+exp(a*x))*tanh(b*x)": lambda m, x: m.log(1 + m.exp(1.5 * x)) * m.tanh(0.7 * x),
}

AT = {"a": 1.5, "b": 0.7}


@pytest.mark.parametrize("text", CASES)
def test_blocks_are_faster_than_the_whole_array(text: str) -> None:
    """Value and gradient of every row; eager torch has all its threads, and JAX its compiler."""
    x = np.random.default_rng(0).normal(size=ROWS)
    f = Function(text)
    at = {name: value for name, value in AT.items() if name in f.variables}

    def by_hand() -> tuple[Any, Any]:
        leaf = torch.from_numpy(x).requires_grad_()
        y = CASES[text](torch, leaf)
        y.backward(torch.ones_like(y))
        return y.detach().numpy(), leaf.grad.numpy()  # type: ignore[union-attr]

    def in_blocks() -> Any:
        return f.map({"x": x}, at)

    found, expected = in_blocks(), by_hand()
    np.testing.assert_allclose(found["y"], expected[0], rtol=1e-14)
    np.testing.assert_allclose(found["dy_dx"], expected[1], rtol=1e-13, atol=1e-300)
    eager = ratio(by_hand, in_blocks, 5)
    print(f"\n{text}: eager torch on the whole array over gradcli: {eager:.2f}")
    if importlib.util.find_spec("jax"):
        print(f"{text}: JAX jit over gradcli: {ratio(_by_jax(text, x), in_blocks, 5):.2f}")
    assert eager > 1


def _by_jax(text: str, x: Any) -> Callable[[], object]:
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    both = jax.jit(jax.vmap(jax.value_and_grad(lambda t: CASES[text](jax.numpy, t))))
    return lambda: [np.asarray(part) for part in both(x)]


@pytest.mark.parametrize(("form", "rows"), [("npy", ROWS), ("csv", ROWS // 10)])
def test_the_rows_a_second_with_reading_and_writing(form: str, rows: int, tmp_path: Path) -> None:
    """Printed, not promised: the disk and the digits take what they take."""
    path, out = tmp_path / f"x.{form}", tmp_path / f"out.{form}"
    x = np.random.default_rng(0).normal(size=rows)
    if form == "npy":
        np.save(path, x)
    else:
        path.write_text("x\n" + "".join(f"{number!r}\n" for number in x.tolist()))
    start = time.perf_counter()
    assert main(["map", "sin(x)*exp(-x**2)", "--points", str(path), "-o", str(out)]) == 0
    print(f"\n{form} to {form}: {rows / (time.perf_counter() - start):,.0f} rows a second")
