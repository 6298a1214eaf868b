"""Calls as Python has them: values by place and by name, options of any spelling, and answers as numbers."""

import ast
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
import torch

import gradcli
from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.registry import questions
from tests.checks import check_of
from tests.function.conftest import SURFACE
from tests.function.user_program import mistakes, program

pytestmark = pytest.mark.part(*SURFACE)

T = torch.tensor([1.0, 2.0])
api: Any = gradcli  # whose types would refuse what is refused here
f: Any = Function("x**2")


def squares(x: torch.Tensor) -> torch.Tensor:
    """Sum squares."""
    return (x**2).sum()


def weighted(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Sum weighted squares."""
    return (w * x**2).sum()


WORK = [
    (lambda: float(gradcli.grad("x**2", x=3)), 6),
    (lambda: float(gradcli.grad("x**2", 3)), 6),
    (lambda: float(gradcli.grad("x**2")(3)["x"]), 6),
    (lambda: float(gradcli.grad("x**2")(x=3)["x"]), 6),
    (lambda: gradcli.grad("x*y", 1, 2)["y"], 1),
    (lambda: gradcli.grad("x*y", {"x": 1}, y=2)["x"], 2),
    (lambda: gradcli.vjp("x*y", 1, 2, 10)["x"], 20),
    (lambda: gradcli.vjp("x**2", [1, 2], [1, 10])["x"], [2, 40]),
    (lambda: float(gradcli.jvp("x*y", 1, 2, {"x": 5})), 10),
    (lambda: api.vjp("x**2", [1, 2], gradient=[1, 10])["x"], [2, 40]),
    (lambda: api.vjp(squares, T, cotangent=torch.tensor(2.0))["x"], [4, 8]),
    (lambda: float(api.jvp("x*y", 1, 2, tangent={"x": 5})), 10),
    (lambda: api.grad(weighted, T, T, argnums=1)["w"], [1, 4]),
    (lambda: [*api.grad(weighted, T, T, argnums=(0, 1)).keys()], ["x", "w"]),
    (lambda: api.check("x**2", x=3, expected=6).passed, True),
    (lambda: float(gradcli.grad("log_2(x)", x=1 / math.log(2))), 1),
    (lambda: gradcli.eval("5! + nchoosek(5, 2)")["y"], 130),
    (lambda: Function("∛x").expression, "cbrt(x)"),
    (lambda: gradcli.hessian("x*y", 1, 2)["x", "y"], 1),
    (lambda: gradcli.hessian("x*y", 1, 2)["x"]["y"], 1),
    (lambda: float(Function("x**2")(3)), 9),
    (lambda: float(gradcli.eval("E*x", x=1, E=2)), 2),
    (lambda: Function("E*x")(x=1, E=2)["y"], 2),
    (lambda: f.check(3, claim="2*x").passed, True),
    (lambda: f.check(3, claim={"x": Function("2*x")}).passed, True),
    (lambda: f.check(3, claim=2).passed, False),
    (lambda: f.check(3, expect=6).passed, True),
    (lambda: api.check(func=squares, inputs=(T,)).passed, True),
    (lambda: api.gradcheck(squares, (T,)).passed, True),
    (lambda: float(api.backward("x**2", 3)["x"]), 6),
    (lambda: f.check(3, expect={"x": torch.tensor(6.0)}).passed, True),
    (lambda: Function("abs(x)").check(0, allow="kink").passed, True),
    (lambda: f.check(random=3, box={"x": (0, 1)}).passed, True),
    (lambda: f.check(random=3, box=("0", "pi")).passed, True),
    (lambda: f.check(random=3, x="0..1").passed, True),
    (lambda: Function("trace(A)").check([[2, 0], [0, 1]], assume="spd").passed, True),
    (lambda: gradcli.check("x**2", 3, claim="2*x").passed, True),
    (lambda: gradcli.check("x**2", x=3, gradient="2*x").passed, True),
    (lambda: gradcli.check("x**2", 3, gradient=5.0, raise_exception=False).passed, False),
    (lambda: gradcli.check(squares, T, claim="2*x").passed, True),
    (lambda: gradcli.check(squares, random=2, box={"x": ([0, 0], [1, 1])}).passed, True),
    (lambda: gradcli.check(weighted, T, T, wrt="w").wrt, ("w",)),
    (lambda: f.grad(3, dtype=torch.float32).dtype, "float32"),
    (lambda: f.grad(3, dtype=np.float32).dtype, "float32"),
    (lambda: f.grad(3, dtype=np.dtype("float64"), device=torch.device("cpu")).dtype, "float64"),
    (lambda: f.grad(3, wrt="x").wrt, ("x",)),
    (lambda: api.plot("x**2", x=(-1, 1)).points[-1], 1),
    (lambda: api.plot("x**2", x=3).tangents[0].slope, 6),
    (lambda: api.plot("x**2", box="0..2").points[-1], 2),
    (lambda: api.plot(lambda x: x**2, x=(-1, 1)).points[0], -1),
    (lambda: gradcli.improve("1 - cos(x)", x=1e-8).form, "2*sin(x/2)**2"),
    (lambda: gradcli.improve("sqrt(x**2 + 4) - x", box={"x": (1, 1e300)}).form, "4/(hypot(x, 2) + x)"),
    (lambda: "y.backward()" in gradcli.code("x**2", x=3).source, True),
    (lambda: "x**2" in gradcli.code(squares, T).source, True),
    (lambda: gradcli.explain("x**2", x=3)["x"], 6),
    (lambda: gradcli.graph(squares, T).nodes[0].name, "SumBackward0"),
    (lambda: gradcli.map("a*x**2", {"x": [1, 2]}, a=2)["y"], [2, 8]),
    (lambda: gradcli.map(lambda x: x**2, {"x": [1, 2]})["dy_dx"], [2, 4]),
    (lambda: gradcli.grad(weighted, [1.0, 2.0], [3.0, 4.0])["x"], [6, 16]),
    (lambda: gradcli.grad(weighted, x=[1.0, 2.0], w=[3.0, 4.0])["w"], [1, 4]),
    (lambda: gradcli.grad(weighted)([1.0, 2.0], w=[3.0, 4.0])["w"], [1, 4]),
    (lambda: gradcli.grad(weighted, wrt="w")([1.0, 2.0], [3.0, 4.0]).wrt, ("w",)),
    (lambda: gradcli.vjp(lambda x, w: x * w, [1.0, 2.0], [3.0, 4.0], [1, 10])["x"], [3, 40]),
    (lambda: gradcli.record(weighted, T).grad(T)["w"], [1, 4]),
    (lambda: gradcli.grad("x**2", 3).formula, "2*x"),
    (lambda: gradcli.grad("x*y").formula, {"x": "y", "y": "x"}),
    (lambda: gradcli.hessian("x**3", 2).formula, "6*x"),
    (lambda: dict(gradcli.grad("x*y", 1, 2)), {"x": 2, "y": 1}),
    (lambda: np.asarray(gradcli.jacobian("x**2", [1, 2])), [[2, 0], [0, 4]]),
    (lambda: np.asarray(gradcli.grad("x**2", 3), dtype="float32").dtype, "float32"),
    (lambda: [gradcli.grad(t, 0).passed for t in ("x**2", "abs(x)")], [True, False]),
    (lambda: gradcli.grad("x**2", 3, check=False).passed, None),
    (lambda: "x" in gradcli.grad("x**2", 3), True),
]


@pytest.mark.parametrize(("call", "expected"), WORK)
@pytest.mark.one_in(4)
def test_what_is_meant_is_answered(call: Any, expected: object) -> None:
    """Values by place and by name, of texts and of functions of Python, and options of any usual spelling."""
    found = call()
    assert (found.tolist() if isinstance(found, np.ndarray | torch.Tensor) else found) == expected


REFUSED = [
    (lambda: f.grad(3, foo=1), "grad has no option 'foo'", "the variables are x"),
    (lambda: api.grad("x**2", foo=1), "grad has no option 'foo'", "the variables are x"),
    (lambda: api.grad(squares, T, foo=1), "'foo' is given a value, and squares", "it takes x"),
    (lambda: api.grad(squares, foo=1), "grad has no option 'foo'", "the options are at, wrt"),
    (lambda: f.grad(3, dtyp="float32"), "no option 'dtyp'", "did you mean 'dtype'?"),
    (lambda: f.grad(3, loss="y"), "no option 'loss'", "the options are"),
    (lambda: f.vjp(3, weights=1), "vjp has no option 'weights'", "write v="),
    (lambda: api.grad(weighted, T, T, argnums=2), "the variables are x, w, counted from 0", ""),
    (lambda: f.vjp(3, v=1, gradient=1), "vjp has no option 'gradient'", "write v="),
    (lambda: f.code(3, to="jax"), "to is one of torch, numpy, latex, and not 'jax'", 'to="torch"'),
    (lambda: f.code(3, to="Numpy"), "and not 'Numpy'", "did you mean 'numpy'?"),
    (lambda: f.vjp(3, 1, 2), "vjp takes at most 2 arguments by place: at, v", ""),
    (lambda: f.grad(1, 2), "2 values are given to grad", "[1, 2]"),
    (lambda: api.grad("x*w", 1, 2), "in the order x, w", "x=1, w=2"),
    (lambda: f.grad(3, x=3), "two values", "once"),
    (lambda: f.grad(3, at=3), "at of grad is given twice", "once"),
    (lambda: f.grad({1: 2}), "at has 1 for the name of a variable", "texts"),
    (lambda: f.grad(3, dtype=torch.float16), "unknown dtype 'float16'", "use float64 or float32"),
    (lambda: f.grad(3, dtype=int), "unknown dtype", "use float64 or float32"),
    (lambda: f.grad(3, wrt=1), "wrt is a list of names, and not 1", ""),
    (lambda: f.grad(3, out="jax"), "out is numpy or torch", ""),
    (lambda: f.grad(3, check="no"), "check is True or False", ""),
    (lambda: f.check(3, order=3), "order is 1 or 2, and not 3", ""),
    (lambda: f.check(3, rtol="a"), "rtol is a number, and not 'a'", ""),
    (lambda: f.check(random=1.5, box="0..1"), "random is a whole number, and not 1.5", ""),
    (lambda: f.check(random=1, box={"x": 3}), "a range is a text or its two ends, and not 3", "(0, 1)"),
    (lambda: f.check(box="0..1", v=np.ones(2)), "v is for points, and a box has every point", "leave it out"),
    (lambda: f.check(3, claim={"x": [2]}), "claim is a formula, and not a value of type list", "expect"),
    (lambda: f.explain(3, loss=1), "loss is a text, and not 1", ""),
    (lambda: f.closed_form(3), "of is a text, and not 3", ""),
    (lambda: f.closed_form("gard"), "there is no derivative 'gard'", "did you mean 'grad'?"),
    (api.grad, "grad takes a function first", "gradcli.grad"),
    (lambda: api.grad(3), "and not 3", "gradcli.grad"),
    (api.check, "check takes a function first", "gradcli.check"),
    (lambda: api.vjp(T**2, T, T), "and not a value of type Tensor", "give what computes the tensor"),
    (lambda: api.grad(sympy.sin(sympy.Symbol("x")), x=0), "and not a value of type sin", "gradcli.grad(str(...), ...)"),
    (lambda: api.map("a*x**2", x=[1, 2], a=2), "map takes columns first", 'map({"x": ...}, ...)'),
    (lambda: api.grad(lambda x: 2 * math.exp(x), 1.0), "a value of type float", "functions of math"),
    (lambda: api.check(torch.nn.functional.layer_norm, (T, (2,))), "must be tuple of ints", "within the function"),
    (lambda: api.grad(gradcli.grad(squares), T), "its own derivative is another question", "hessian(f)"),
    (lambda: api.grad(torch.nn.Linear, T), "is a class of modules", "make one"),
    (lambda: api.check("x**2", 3, versus=squares), "versus= is for functions of Python", "claim="),
    (lambda: api.check(squares, T, versus=3), "takes a function", ""),
    (lambda: api.check(squares, T, budget="a"), "budget='a'", "budget=60"),
    (lambda: api.run("no.py"), "there is no file no.py", "a text of Python"),
    (lambda: api.run(3), "a script is a file or a text", "train.py"),
    (lambda: float(gradcli.grad("x*y", 1, 2)), "arrays of x, y, and one is asked for", 'answer["x"]'),
    (lambda: float(gradcli.jacobian("x**2", [1, 2])), "no single number", "numpy.asarray"),
    (lambda: gradcli.grad("x**2", 3)["z"], "no numbers of 'z'", "the names are 'x'"),
    (lambda: gradcli.grad("x**2", 3)["y"], "no numbers of 'y'", "answer.value"),
]


@pytest.mark.parametrize(("call", "message", "hint"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_what_cannot_be_meant_is_an_error_with_a_hint(call: Any, message: str, hint: str) -> None:
    """In one line, with the nearest name; a wrong argument is Python's TypeError too, a wrong name its KeyError."""
    with pytest.raises(GradcliError) as raised:
        call()
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")
    assert isinstance(raised.value, TypeError) >= ("no option" in message)
    assert isinstance(raised.value, KeyError) == ("no numbers of" in message)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda: gradcli.grad(squares, T), torch.float32),
        (lambda: gradcli.grad(squares)(T), torch.float32),
        (lambda: gradcli.grad("sum(x**2)", T), torch.float64),
        (lambda: gradcli.grad("sum(x**2)", [1, 2], out="torch"), torch.float64),
        (lambda: gradcli.record(squares, T).grad(), torch.float32),
        (lambda: Function("x**2").vjps([1, 2], ["e0"], out="torch").answers[0], torch.float64),
        (lambda: gradcli.grad("sum(x**2)", T, out="numpy"), None),
        (lambda: gradcli.grad("sum(x**2)", [1, 2]), None),
    ],
)
def test_tensors_are_given_where_tensors_were_or_are_asked_for(answer: Any, kind: torch.dtype | None) -> None:
    """In brackets alone: what answers have, and JSON, are arrays and lists as ever."""
    found = answer()
    x = found["x"]
    assert getattr(x, "dtype", None) == (kind or np.float64)
    assert isinstance(x, torch.Tensor if kind is not None else np.ndarray)
    own = found.grad["x"] if hasattr(found, "grad") else found.vjp["x"]
    assert isinstance(own, np.ndarray)
    assert np.array_equal(own, np.asarray(x))
    assert "out" not in found.to_dict()


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (lambda: gradcli.grad("x**2", 3), "∂y/∂x = 2·x = 6   ✓ proven"),
        (lambda: gradcli.grad("cos(x)", 1), "∂y/∂x = -sin(x) = -0.8414709848078965   ✓ proven"),
        (lambda: gradcli.grad("x**2", 3, check=False), "∂y/∂x = 6"),
        (lambda: gradcli.grad("x**2", 3, dtype="float32"), "∂y/∂x = 2·x = 6 in float32   ✓ proven"),
        (lambda: Function("x**2")(3), "y = 9   ✓ proven"),
        (lambda: gradcli.vjp("x**2", 3, 2), "vᵀJ = x.grad = 12   ✓ proven"),
        (lambda: gradcli.hessian("x**2", 3), "∂²y/∂x² = 2   ✓ proven"),
        (lambda: gradcli.jvp("x**2", 3, 2), "Ju = 2·u·x = 12   ✓ proven"),
        (lambda: gradcli.grad("x*y", 1, 2, wrt="x"), "∂f/∂x = y = 2   ✓ proven"),
        (lambda: gradcli.jacobian("x**2", [3]), "∂y/∂x = 6   ✓ proven"),
    ],
)
def test_a_prompt_shows_a_number_in_a_line(answer: Any, shown: str) -> None:
    """With its formula, where that is of one number, and its verdict."""
    assert repr(answer()) == shown


def test_a_prompt_shows_more_as_the_screen() -> None:
    """Arrays, a wrong number, a remark, a formula, curves, a script; a formula in an answer is its text."""
    more = [gradcli.grad("x*y", 1, 2), gradcli.grad("abs(x)", 0), gradcli.grad("x**2"), gradcli.plot("x**2", x=(0, 1))]
    for answer in (*more, gradcli.code("x**2", 3), gradcli.vjp("x**2", [1, 2], [1, 1]), gradcli.check("x**2", 3)):
        assert repr(answer) == str(answer)
    assert repr(gradcli.grad("x*y", 1, 2).symbolic) == "{'x': Formula('y'), 'y': Formula('x')}"


def test_a_script_is_run_from_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file with arguments, or a text; its passes are answers."""
    path = tmp_path / "train.py"
    path.write_text(
        "import sys, torch\nx = torch.tensor(float(sys.argv[1]), requires_grad=True)\n"
        "(x**2).backward()\nprint('printed')\ntorch.sqrt(x*0).backward()\n",
        encoding="utf-8",
    )
    ran = gradcli.run(path, "3")
    assert (len(ran), ran.passed, ran.exit_code) == (2, False, None)
    assert check_of(ran[0].answers[0]).verdict == "agree"
    assert float(ran.answers[0]) == 6
    assert "pass 2" in repr(ran)
    assert "train.py, line 5" in repr(ran)
    assert capsys.readouterr().out == "printed\n"
    assert gradcli.run("import torch; torch.ones((), requires_grad=True).sin().backward()").passed


def test_a_program_of_a_user_runs() -> None:
    """The one that mypy reads; and Python refuses what mypy does."""
    found = program()
    assert found[:3] == [12.0, "agree", True]
    assert [str(one) for one in found[9:12]] == ["6.0", "6.0", "9.0"]
    with pytest.raises(GradcliError):
        mistakes()


@pytest.mark.parametrize("name", [*questions(), "vjps", "closed_form", "map", "map_partitions", "stream"])
def test_what_type_checkers_see_is_what_can_be_given(name: str) -> None:
    """The names of a method, and of the function of the package."""
    methods, functions = _typed()
    assert methods[name] == _named(inspect.signature(getattr(Function, name)))
    if name in dir(gradcli) and name != "check":  # which is its own type
        further = {"forward"} if name == "hvp" else set()  # as jvp has, whose type is the same
        assert functions[name] - further == _named(inspect.signature(getattr(gradcli, name)))


def _named(signature: inspect.Signature) -> set[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name for name, one in signature.parameters.items() if one.kind in kinds and name != "self"}


def _typed() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Read the names of arguments that type checkers see: of methods, and of functions."""
    path = Path(gradcli.__file__).with_name("parts") / "typed_function.py"
    body = ast.parse(path.read_text(encoding="utf-8")).body
    classes = {one.name: one.body for one in body if isinstance(one, ast.ClassDef)}
    called = {name: _arguments(inside[-1]) for name, inside in classes.items() if name != "TypedFunction"}
    functions = {one.name: _arguments(one) for one in body if isinstance(one, ast.FunctionDef)}
    for one in body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            functions[one.target.id] = called[ast.unparse(one.annotation).partition("[")[0]]
    methods = [one for one in classes["TypedFunction"] if isinstance(one, ast.FunctionDef)]
    return {one.name: _arguments(one) for one in methods}, functions


def _arguments(node: ast.stmt) -> set[str]:
    assert isinstance(node, ast.FunctionDef)
    return {one.arg for one in (*node.args.args, *node.args.kwonlyargs)} - {"self"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("jaccobian", "did you mean 'jacobian'?"),
        ("xyzzy", "dir(gradcli)"),
    ],
)
def test_a_name_that_is_not_here_says_which_is_meant(name: str, meant: str) -> None:
    """By its letters."""
    with pytest.raises(AttributeError, match=re.escape(meant)):
        getattr(gradcli, name)


def test_random_numbers_of_a_function_are_remarked() -> None:
    """A function that draws is another one each time; without draws nothing is said."""
    said = "random numbers are drawn"
    drawn, plain = (gradcli.check(torch.nn.Dropout(p), torch.ones(4)).warnings for p in (0.5, 0.0))
    assert any(said in one for one in drawn)
    assert not any(said in one for one in plain)


def test_importing_the_package_is_light() -> None:
    """Neither torch nor SymPy, nor NumPy, nor any part; `dir` imports the list of the parts."""
    script = "import sys, gradcli; print(*sys.modules); dir(gradcli); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8")
    first, second = (line.split() for line in run.stdout.splitlines())
    assert {*first}.isdisjoint({"torch", "sympy", "numpy", "gradcli.parts", "gradcli.registry"})
    assert {*second}.isdisjoint({"torch", "flint"})
