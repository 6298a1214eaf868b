"""Sparse matrices of up to a million rows, whole processes: against dense torch, and asdex with JAX and CasADi.

The peers are skipped where they are not installed (`pip install asdex jax casadi`).
"""

import json
import os
import resource
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import NamedTuple

import pytest

TEXTS = {
    "difference": "x[1:] - x[:-1]",
    "broyden": "(3 - 2*x)*x - pad(x, [1, 0])[:-1] - 2*pad(x, [0, 1])[1:] + 1",
    "grid": "u = x.view(-1, 100); p = pad(u, [1, 1, 1, 1]); "
    "(p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4*u + u**3).view(-1)",
    "space": "u = x.view(-1, 10, 10); p = pad(u, [1, 1, 1, 1, 1, 1]); "
    "(p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 1:-1, 2:] "
    "+ p[1:-1, 1:-1, :-2] - 6*u + u**3).view(-1)",
    "reaction": "w = x.view(2, -1, 50); u = w[0]; v = w[1]; p = pad(w, [1, 1, 1, 1]); "
    "d = p[:, 2:, 1:-1] + p[:, :-2, 1:-1] + p[:, 1:-1, 2:] + p[:, 1:-1, :-2] - 4*w; "
    "(stack([1 + u**2*v - 4*u, 3*u - u**2*v]) + 0.02*d).view(-1)",
    "arrow": "cat([x.sum()[None], x[0]*x[1:] + x[1:]**2])",
    "batch": "softmax(x.view(-1, 4), 1).view(-1)",
}
"""Functions of a vector whose length is a multiple of 1000."""

HESSIANS = {
    "rosenbrock": "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)",
    "springs": "u = x.view(-1, 100); sum((u[1:] - u[:-1])**4) + sum((u[:, 1:] - u[:, :-1])**2*u[:, 1:])",
}

OURS = """
import json, sys
import numpy as np
from gradcli import Function
text, command, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
answer = getattr(Function(text), command)({"x": np.random.default_rng(0).uniform(0.5, 1.5, n)}, sparse=True)
print(json.dumps([answer.sparsity.entries, answer.check.checked, answer.check.proven, answer.sparsity.products]))
"""

DENSE = """
import sys, torch
n = int(sys.argv[1])
x = torch.rand(n, dtype=torch.float64)
print(torch.autograd.functional.jacobian(lambda x: x[1:] - x[:-1], x).count_nonzero())
"""

ASDEX = """
import sys, numpy as np, jax, asdex
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
n = int(sys.argv[1])
def f(x):
    p = jnp.pad(x, 1)
    return (3 - 2*x)*x - p[:-2] - 2*p[2:] + 1
x = np.random.default_rng(0).uniform(0.5, 1.5, n)
print(asdex.jacobian(f, x)(x).nse)
"""

CASADI = """
import sys, numpy as np, casadi
n = int(sys.argv[1])
x = casadi.MX.sym("x", n)
below, above = casadi.vertcat(0, x[:-1]), casadi.vertcat(x[1:], 0)
y = (3 - 2*x)*x - below - 2*above + 1
f = casadi.Function("f", [x], [casadi.jacobian(y, x)])
print(f(np.random.default_rng(0).uniform(0.5, 1.5, n)).nnz())
"""


class Taken(NamedTuple):
    """What a process printed, and what it took: seconds of the clock and of the processor, and bytes at most."""

    out: str
    clock: float
    processor: float
    memory: int


def _taken(script: str, *words: str) -> Taken:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    # The largest child so far would hide a smaller one, so that one process starts each.
    wrapped = (
        "import resource, subprocess, sys\n"
        "command = [sys.executable, '-c', *sys.argv[1:]]\n"
        "out = subprocess.run(command, check=True, capture_output=True, text=True).stdout\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)\nprint(out)"
    )
    done = subprocess.run(
        [sys.executable, "-c", wrapped, script, *words], check=True, capture_output=True, text=True, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory, out = done.stdout.split("\n", 1)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(out.strip(), time.perf_counter() - start, used, int(memory))


@pytest.mark.parametrize("name", [*TEXTS, *HESSIANS])
def test_a_million_rows_are_proved_in_seconds(name: str) -> None:
    """Every entry, in 1.5 GiB, and in time that grows no more than the size does."""
    command = "hessian" if name in HESSIANS else "jacobian"
    taken = {n: _taken(OURS, {**TEXTS, **HESSIANS}[name], command, str(n)) for n in (100_000, 1_000_000)}
    for n, one in taken.items():
        entries, checked, is_proven, products = json.loads(one.out)
        print(
            f"{name:10} n={n:8,} {one.processor:6.1f} s of processor, {one.memory / 2**30:.2f} GiB, {products} products"
        )
        assert (checked, is_proven) == (entries, True)
    start = _taken("import gradcli, torch, sympy, flint, scipy.sparse").processor
    small, large = (max(one.processor - start, 0.2) for one in taken.values())
    assert large < 15 * small
    assert taken[1_000_000].memory < 1.5 * 2**30


def test_dense_torch_is_slower_from_two_thousand_rows_on() -> None:
    """At 4,000 rows, without a verdict; at 100,000 it would need 75 GiB."""
    dense, ours = _taken(DENSE, "4000"), _taken(OURS, TEXTS["difference"], "jacobian", "4000")
    print(f"dense torch {dense.processor:.1f} s, gradcli {ours.processor:.1f} s of processor, at 4,000 rows")
    assert dense.memory > 128_000_000


@pytest.mark.parametrize(("library", "script"), [("asdex", ASDEX), ("casadi", CASADI)])
@pytest.mark.parametrize("n", [100_000, 1_000_000])
def test_peers_at_the_same_function(library: str, script: str, n: int) -> None:
    """Broyden's, the whole process; neither proves anything."""
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    peer, ours = _taken(script, str(n)), _taken(OURS, TEXTS["broyden"], "jacobian", str(n))
    print(f"{library} {peer.clock:.1f} s, gradcli {ours.clock:.1f} s with the verdict, at {n:,} rows")
    assert int(peer.out) == json.loads(ours.out)[0]
