"""One sparse matrix by one library, as a process: `python -m tests.benchmarks.sparse_peers LIBRARY NAME SIZE`.

The functions are the same in the text of gradcli, in what torch and JAX have in common, and in CasADi's matrices, as
their users write them.  What is printed is the number of entries of the matrix, and what gradcli says of them.
"""

import functools
import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

WIDTH, BREADTH, DEPTH = 100, 50, 10
"""Of the rows of grids in two dimensions, of those of two substances, and of both short sides in three dimensions."""

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
    "laplacian": "d = w*(x[i] - x[j]); (0*x).index_add(0, i, d).index_add(0, j, -d)",
    "rosenbrock": "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)",
    "springs": "u = x.view(-1, 100); sum((u[1:] - u[:-1])**4) + sum((u[:, 1:] - u[:, :-1])**2*u[:, 1:])",
}
"""Functions of a vector whose length is a multiple of 1000."""

HESSIANS = "rosenbrock", "springs"
"""Those whose second derivative is asked for."""


class Edges(NamedTuple):
    """A graph with twice as many edges as nodes: their ends and weights."""

    i: "np.ndarray"
    j: "np.ndarray"
    w: "np.ndarray"


@functools.cache
def edges(n: int) -> Edges:
    """A random graph without loops."""
    draw = np.random.default_rng(1)
    i = draw.integers(0, n, 2 * n)
    return Edges(i, (i + draw.integers(1, n, 2 * n)) % n, draw.uniform(0.5, 1.5, 2 * n))


class Tensors(NamedTuple):
    """What torch and JAX have under other names.

    Attributes:
        pad: Appends a zero at both ends of the last dimensions, so many of them.
        stack, cat: Join tensors.
        softmax: Along the second dimension.
        add_at: Sums numbers at the places of an index.
    """

    pad: Callable[[Any, int], Any]
    stack: Callable[[list[Any]], Any]
    cat: Callable[[list[Any]], Any]
    softmax: Callable[[Any], Any]
    add_at: Callable[[Any, Any, Any], Any]


def functions(of: Tensors, n: int) -> Mapping[str, Callable[[Any], Any]]:
    """The functions in tensors."""

    def broyden(x: Any) -> Any:
        p = of.pad(x, 1)
        return (3 - 2 * x) * x - p[:-2] - 2 * p[2:] + 1

    def grid(x: Any) -> Any:
        u = x.reshape(-1, WIDTH)
        p = of.pad(u, 2)
        around = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]
        return (around - 4 * u + u**3).reshape(-1)

    def space(x: Any) -> Any:
        u = x.reshape(-1, DEPTH, DEPTH)
        p = of.pad(u, 3)
        around = p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1]
        return (around + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2] - 6 * u + u**3).reshape(-1)

    def reaction(x: Any) -> Any:
        w = x.reshape(2, -1, BREADTH)
        u, v = w[0], w[1]
        p = of.pad(w, 2)
        d = p[:, 2:, 1:-1] + p[:, :-2, 1:-1] + p[:, 1:-1, 2:] + p[:, 1:-1, :-2] - 4 * w
        return (of.stack([1 + u**2 * v - 4 * u, 3 * u - u**2 * v]) + 0.02 * d).reshape(-1)

    def laplacian(x: Any) -> Any:
        i, j, w = edges(n)
        d = of.cat([w]) * (x[i] - x[j])
        return of.add_at(of.add_at(0 * x, i, d), j, -d)

    def springs(x: Any) -> Any:
        u = x.reshape(-1, WIDTH)
        return ((u[1:] - u[:-1]) ** 4).sum() + ((u[:, 1:] - u[:, :-1]) ** 2 * u[:, 1:]).sum()

    return {
        "difference": lambda x: x[1:] - x[:-1],
        "broyden": broyden,
        "grid": grid,
        "space": space,
        "reaction": reaction,
        "arrow": lambda x: of.cat([x.sum()[None], x[0] * x[1:] + x[1:] ** 2]),
        "batch": lambda x: of.softmax(x.reshape(-1, 4)).reshape(-1),
        "laplacian": laplacian,
        "rosenbrock": lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(),
        "springs": springs,
    }


def at(n: int) -> "np.ndarray":
    """The point."""
    return np.random.default_rng(0).uniform(0.5, 1.5, n)


def by_gradcli(name: str, n: int) -> list[object]:
    """All entries, each proved: what is printed after their number says so."""
    from gradcli import Function

    values = {"x": at(n)}
    if name == "laplacian":
        values |= edges(n)._asdict()
    ask = getattr(Function(TEXTS[name]), "hessian" if name in HESSIANS else "jacobian")
    found = ask(values, sparse=True, wrt=["x"])
    return [found.sparsity.entries, found.check.checked, found.check.proven, found.sparsity.products]


def by_asdex(name: str, n: int) -> list[object]:
    """By JAX, in float64 as all others."""
    jax, asdex = import_module("jax"), import_module("asdex")
    jnp = import_module("jax.numpy")
    jax.config.update("jax_enable_x64", True)

    def pad(x: Any, dims: int) -> Any:
        return jnp.pad(x, [(0, 0)] * (x.ndim - dims) + [(1, 1)] * dims)

    of = Tensors(pad, jnp.stack, jnp.concatenate, lambda x: jax.nn.softmax(x, 1), lambda y, i, d: y.at[i].add(d))
    x = at(n)
    ask = asdex.hessian if name in HESSIANS else asdex.jacobian
    return [int(ask(functions(of, n)[name], x)(x).nse)]


def by_torch(name: str, n: int) -> list[object]:
    """By a dense matrix."""
    torch = import_module("torch")

    def cat(parts: list[Any]) -> Any:
        return torch.cat([torch.as_tensor(one) for one in parts])

    def add_at(y: Any, i: Any, d: Any) -> Any:
        return y.index_add(0, torch.as_tensor(i), d)

    of = Tensors(
        lambda x, dims: torch.nn.functional.pad(x, [1, 1] * dims), torch.stack, cat, lambda x: x.softmax(1), add_at
    )
    of_all = torch.autograd.functional
    ask = of_all.hessian if name in HESSIANS else of_all.jacobian
    return [int(ask(functions(of, n)[name], torch.as_tensor(at(n))).count_nonzero())]


def by_casadi(name: str, n: int) -> list[object]:
    """By CasADi's matrices of any size, which is its faster way from a thousand rows on."""
    casadi = import_module("casadi")
    x = casadi.MX.sym("x", n)

    def where(condition: Any) -> Any:
        return casadi.sparsify(casadi.DM(condition.astype(float)))

    def shifted(y: Any, step: int, condition: Any) -> Any:
        zeros = casadi.MX(abs(step), 1)
        moved = casadi.vertcat(y[step:], zeros) if step > 0 else casadi.vertcat(zeros, y[:step])
        return where(condition) * moved if not condition.all() else moved

    def around(y: Any, sides: list[int]) -> Any:
        place, step, total = np.arange(y.shape[0]), 1, 0
        for side in sides:
            position = place // step % side
            total = total + shifted(y, step, position < side - 1) + shifted(y, -step, position > 0)
            step *= side
        return total

    def reaction() -> Any:
        half = n // 2
        u, v = x[:half], x[half:]
        sides = [BREADTH, half // BREADTH]
        d = [around(one, sides) - 4 * one for one in (u, v)]
        return casadi.vertcat(1 + u**2 * v - 4 * u + 0.02 * d[0], 3 * u - u**2 * v + 0.02 * d[1])

    def batch() -> Any:
        e = casadi.exp(casadi.reshape(x, 4, n // 4))
        return casadi.vec(e / casadi.repmat(casadi.sum1(e), 4, 1))

    def laplacian() -> Any:
        i, j, w = edges(n)
        rows = np.arange(len(i)).tolist()
        one = casadi.DM.triplet(rows, i.tolist(), casadi.DM.ones(len(i)), len(i), n)
        differences = one - casadi.DM.triplet(rows, j.tolist(), casadi.DM.ones(len(i)), len(i), n)
        return differences.T @ (casadi.DM(w) * (differences @ x))

    def springs() -> Any:
        u = casadi.reshape(x, WIDTH, n // WIDTH)
        along = (u[1:, :] - u[:-1, :]) ** 2 * u[1:, :]
        return casadi.sum1(casadi.vec((u[:, 1:] - u[:, :-1]) ** 4)) + casadi.sum1(casadi.vec(along))

    texts: dict[str, Callable[[], Any]] = {
        "difference": lambda: x[1:] - x[:-1],
        "broyden": lambda: (3 - 2 * x) * x - casadi.vertcat(0, x[:-1]) - 2 * casadi.vertcat(x[1:], 0) + 1,
        "grid": lambda: around(x, [WIDTH, n // WIDTH]) - 4 * x + x**3,
        "space": lambda: around(x, [DEPTH, DEPTH, n // DEPTH**2]) - 6 * x + x**3,
        "reaction": reaction,
        "arrow": lambda: casadi.vertcat(casadi.sum1(x), x[0] * x[1:] + x[1:] ** 2),
        "batch": batch,
        "laplacian": laplacian,
        "rosenbrock": lambda: casadi.sum1(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
        "springs": springs,
    }
    y = texts[name]()
    matrix = casadi.hessian(y, x)[0] if name in HESSIANS else casadi.jacobian(y, x)
    return [int(casadi.Function("f", [x], [matrix])(at(n)).nnz())]


if __name__ == "__main__":
    library, text, size = sys.argv[1:]
    answers = {"gradcli": by_gradcli, "asdex": by_asdex, "casadi": by_casadi, "torch": by_torch}
    print(json.dumps(answers[library](text, int(size))))
