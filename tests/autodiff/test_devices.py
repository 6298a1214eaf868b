"""Torch's reading on another device: the numbers are the device's, the truth is that of the CPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.autodiff import devices
from gradcli.errors import InputError
from gradcli.results import Block, RowSource
from tests.conftest import Command
from tests.fake_device import DEVICES, REAL, require_device, require_fake_device, require_own_process, wrong_kernel


@pytest.mark.part("tables", "plot", "explain")
def test_a_device_made_in_python_runs_texts_and_code() -> None:
    """The tests of this file and of those of its name in parts, on a device that this process has not."""
    require_own_process()


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Any:
    """A device made in Python, and each that this machine has."""
    return require_device(request.param)


def _verdict(answer: Any) -> str:
    return str(answer.check.verdict)


TEXT, AT = "sum(sin(x)*x) + sin(pi/6)", {"x": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    "asked",
    [
        lambda f, **how: f.vjp(AT, **how),
        lambda f, **how: f.grad(AT, **how),
        lambda f, **how: f.jacobian(AT, **how),
        lambda f, **how: f.hessian(AT, **how),
        lambda f, **how: f.hvp(AT, AT, **how),
        lambda f, **how: f.jvp(AT, AT, **how),
        lambda f, **how: f.jvp(AT, AT, forward=True, **how),
        lambda f, **how: f.eval(AT, **how),
        lambda f, **how: f.vjp(AT, loss="y**2", **how),
        pytest.param(lambda f, **how: f.check(AT, **how), marks=pytest.mark.part("claims")),
        pytest.param(lambda f, **how: f.explain(AT, **how), marks=pytest.mark.part("explain")),
    ],
    ids="vjp grad jacobian hessian hvp jvp forward eval loss check explain".split(),
)
def test_judged_questions_are_answered_on_a_device(device: Any, asked: Callable[..., Any]) -> None:
    """With the same verdict and the name of the device."""
    found = asked(Function(TEXT), device=device)
    assert found.check.verdict == "agree"
    assert found.device == device
    assert asked(Function(TEXT)).device == "cpu"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("A@x + 1", {"A": [[1.0, 2.0], [3.0, 4.0]], "x": [5.0, 6.0]}),
        ("x[[2, 0]]*[1, 2]", AT),
        ("softmax(x, 0)", AT),
        ("eye(3)@x", AT),
        ("2 + 3", {}),
    ],
)
def test_constants_of_a_text_are_on_the_device_too(device: Any, text: str, at: dict[str, Any]) -> None:
    """Numbers, positions, matrices, and a text that has nothing else."""
    found: Any = Function(text).eval(at, device=device) if not at else Function(text).jacobian(at, device=device)
    assert found.check.verdict == "agree"


def test_a_wrong_kernel_of_the_device_is_found() -> None:
    """By the verdict, as its numbers alone are wrong."""
    fake: Any = require_fake_device()
    with wrong_kernel("cos"):
        assert _verdict(Function(TEXT).grad(AT, device=fake)) == "disagree"
        assert _verdict(Function(TEXT).grad(AT)) == "agree"


@pytest.mark.part("tables", "plot", "explain")
def test_many_points_and_graphs_are_computed_on_the_device(device: Any) -> None:
    """By `map`, block by block, by `plot`, and by `graph`."""
    points = {"x": np.linspace(0.1, 2, 5)}
    for name, array in Function("a*sin(x)").map(points, {"a": 2.0}, device=device).items():
        np.testing.assert_allclose(array, Function("a*sin(x)").map(points, {"a": 2.0})[name], rtol=1e-12)
    curves: Any = Function("sin(x)").plot(x=(0, 1), device=device)
    np.testing.assert_allclose(curves.curves[0].values, np.sin(curves.points), rtol=1e-12)
    found: Any = Function("sin(x)*x").graph(2.0, device=device)
    assert (found.device, found.value) == (device, pytest.approx(2 * np.sin(2)))


def test_a_wrong_kernel_shows_at_many_points_and_in_graphs() -> None:
    """So they were computed there; some rows of `map` are judged if that is asked for."""
    fake: Any = require_fake_device()
    source, block = RowSource("rows", {"x": ()}), Block(np.arange(2), {"x": np.array([1.0, 2.0])}, {})
    with wrong_kernel("sin"):
        stream = Function("sin(x)").stream(source, check=True, device=fake)
        (part,) = stream.over([block])
        np.testing.assert_allclose(part.values[0], 1.01 * np.sin([1, 2]), rtol=1e-12)
        check = stream.passage().check
        assert check is not None
        assert check.verdict == "disagree"
        curves: Any = Function("sin(x)").plot(x=(0, 1), device=fake)
        np.testing.assert_allclose(curves.curves[0].values, 1.01 * np.sin(curves.points), rtol=1e-12)
        graph: Any = Function("sin(x)").graph(2.0, device=fake)
        assert graph.value == pytest.approx(1.01 * np.sin(2))


OF_PARTS = {"map sin(x) --points -": "tables", "plot sin(x) --in x=0..1": "plot", "graph sin(x) --at 1": "explain"}
"""Command lines, each with the part whose command it is."""


@pytest.mark.parametrize("words", [pytest.param(one, marks=pytest.mark.part(part)) for one, part in OF_PARTS.items()])
def test_the_shell_refuses_a_device_that_is_not_there(words: str, gradcli: Command) -> None:
    """In each command that takes one."""
    run = gradcli(*words.split(), "--device", "xpu", given="x\n1\n")
    assert (run.code, "torch has no device 'xpu' here" in run.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("nonsense", "torch has no device 'nonsense' here", "it has cpu"),
        ("cuda:99", "torch has no device 'cuda:99' here", "it has cpu"),
        ("meta", "a tensor on the meta device has a shape and no numbers, so nothing can be computed", "computes"),
    ],
)
def test_a_device_that_is_not_there_is_an_error(name: Any, message: str, hint: str) -> None:
    """Of one line, with the devices that there are."""
    with pytest.raises(InputError) as caught:
        Function("x**2").grad(1.0, device=name)
    assert caught.value.message == message
    assert hint in str(caught.value.hint)


def test_tensors_without_numbers_are_refused() -> None:
    """In a sentence that says why."""
    with pytest.raises(InputError, match="meta device"):
        Function("x**2").grad(torch.ones((), device="meta"))


def test_auto_takes_the_first_device_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the CPU where there is none."""
    monkeypatch.setattr(devices, "is_there", lambda name: name in ("mps", "xpu"))
    assert devices.chosen("auto") == "mps"
    monkeypatch.setattr(devices, "is_there", lambda name: False)
    assert devices.chosen("auto") == "cpu"
    assert Function("x**2").grad(3.0, device="auto").device == "cpu"


def test_a_device_without_float64_computes_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is said, unless float64 was asked for, which is refused."""
    fake: Any = require_fake_device()
    monkeypatch.setattr(devices, "_WITHOUT_FLOAT64", (fake,))
    found = Function("x**2").grad(3.0, device=fake)
    assert (found.dtype, _verdict(found)) == ("float32", "agree")
    assert found.warnings == ("fake has no float64, so torch computes in float32",)
    assert not Function("x**2").grad(3.0, device=fake, dtype="float32").warnings
    with pytest.raises(InputError, match="fake has no float64"):
        Function("x**2").grad(3.0, device=fake, dtype="float64")


def test_the_shell_has_the_option(gradcli: Command) -> None:
    """JSON names a device that is not the CPU; one that is not there is an error of one line, with its hint."""
    found = gradcli("grad", "x**2", "--at", "3", "--device", "cpu", "--json")
    assert "device" not in json.loads(found.out)
    if "xpu" not in REAL:
        found = gradcli("grad", "x**2", "--at", "3", "--device", "xpu")
        assert found.err == f"error: torch has no device 'xpu' here\nhint: it has {', '.join(('cpu', *REAL))}\n"
