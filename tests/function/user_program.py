"""A small program of a user, which mypy reads as strictly as the rest: with all that is public, typed.

What is no argument is an error for mypy, as each comment says that it ignores; an unused one is an error too.
"""

from typing import assert_type

import numpy as np
import torch

import gradcli
from gradcli import results


def loss(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Sum weighted squares."""
    return (w * x**2).sum()


def program() -> list[object]:
    """Ask in all usual ways."""
    ones, f = torch.ones(2), gradcli.Function("x**2")
    answer = assert_type(gradcli.grad("x**2", x=3), results.Gradient)
    later = assert_type(gradcli.grad(loss, wrt=["x"])(ones, ones), results.Gradient)
    form = assert_type(gradcli.grad("x**2"), results.ClosedForm)
    number: float = float(answer) + float(gradcli.grad("x**2", 3, dtype=torch.float32, wrt="x", out="torch"))
    verdict: str = answer.check.verdict if answer.check is not None else ""
    checked = assert_type(f.check(random=3, claim="2*x", allow="kink", box={"x": (0, 1)}), results.Checking)
    drawn = assert_type(f.plot(x=(0, 1)), results.Plot | results.PlotMap)
    return [
        number, verdict, checked.passed, drawn, later["x"], later.passed, later.formula, later.symbolic["x"].text,
        np.asarray(gradcli.jacobian("x*y", 1, [1.0, 2.0], wrt="x")), form(3)["x"], form(x=3)["x"], float(f(3)),
        gradcli.vjp(loss, ones, ones)["w"], gradcli.hvp("x**2", 3, 1).hvp, gradcli.hessian("x**2", 3)["x", "x"],
        gradcli.jvp(lambda x: x**2, 3.0, 1.0).jvp, gradcli.eval("x", x=1).value, f.eval(x=3).value,
        gradcli.check(loss, ones, ones).passed, gradcli.check("x**2", 3, claim="2*x").passed,
        gradcli.code("x**2", 3, to="numpy").source, gradcli.improve("1 - cos(x)", x=1e-8).form,
        gradcli.explain("x**2", x=3).steps, gradcli.graph(loss, ones, ones).nodes,
        gradcli.record(loss, ones, ones).grad(), gradcli.map("x**2", {"x": [1, 2]}),
        gradcli.run("import torch; torch.ones((), requires_grad=True).backward()").passed,
    ]  # fmt: skip


def mistakes() -> None:
    """Ask for what is not there."""
    f = gradcli.Function("x**2")
    f.grad(3, dtype="float16")  # type: ignore[arg-type]
    f.code(3, to="jax")  # type: ignore[arg-type]
    f.check(3, allow="kinks")  # type: ignore[arg-type]
    gradcli.eval("x", 3, check=[])  # type: ignore[arg-type]
    gradcli.grades("x**2")  # type: ignore[attr-defined]
