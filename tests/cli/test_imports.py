"""What each command line imports: the help neither torch nor SymPy, and what is wrong with an input no torch."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import process

WATCH = """
import json, sys
from gradcli.cli import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    print(f"\\n{code}", *(m for m in ("torch", "sympy", "numpy", "flint") if m in sys.modules), file=sys.stderr)
"""

CHAIN = ["y = x**2; z = y**3", "--at", "1,2"]
NOTHING: list[tuple[int, list[str]]] = [
    *((0, words) for words in (["--help"], ["--version"], ["vjp", "--help"], ["check", "--help"], ["guide"])),
    *((2, words) for words in (["vpj"], ["vjp", "x", "--jsn"])),
]
LISTS: list[tuple[int, list[str]]] = [
    (0, ["functions"]),
    (0, ["functions", "loss", "--json"]),
    (0, ["functions", "softmax", "--format", "plain"]),
    (0, ["guide", "verdicts"]),
    *((2, words.split()) for words in ("functions sofmax", "guide verdict", "eval @nowhere.txt", "grad missing.py::f")),
]
NO_TORCH: list[tuple[int, list[str]]] = [
    # NumPy computes values, and SymPy formulas
    (0, ["eval", "2*sin(0.3) + sum(inv([[1, 2], [3, 5]]))"]),
    (0, ["eval", "softmax(A@x)", "--at", "A=[[1,2],[3,4]]", "--at", "x=1,-1"]),
    (0, ["eval", "lgamma(x)*erf(x)", "--at", "0.5,2.5", "--no-check"]),
    (0, ["derivative", "x*sin(x)"]),
    (0, ["grad", "sum(x**2)"]),
    (0, ["code", "x**2", "--at", "1,2", "--v", "2*y"]),
    # whatever can be wrong is found before the two seconds are spent
    (2, ["eval", "x**2"]),
    *((2, ["vjp", *words.split()]) for words in ("sine(x) --at 1", "x+ --at 1", "x**2 --at 1,2", "x --at @no.csv")),
    *((2, ["vjp", "x**2", *words.split()]) for words in ("--at 1,2 --v 1,2,3", "--at x=1 --at z=2")),
    *((2, ["vjp", *words.split()]) for words in ("x --at 1 --wrt y", "A@x --at A=[[1,2]] --at x=1,2,3")),
    *((2, [command, "x**2", "--at", "zeros(20000)"]) for command in ("jacobian", "check")),
    *((2, ["check", "x", "--at", "1", *words.split()]) for words in ("--allow kinks", "--claim y=2", "--expect 2,,3")),
    (2, ["improve", "x**2", "--in", "1..0"]),
    *((2, words.split()) for words in ("grad x**2 --at 1,2", "jvp x**2 --at 1,2", "jvp x --at 1 --v 1")),
    *((2, words.split()) for words in ("hvp x**2 --at 1,2 --u ones", "hvp x --at 1 --u z=1")),
    (2, ["hessian", "sum(x)", "--at", "zeros(20000)"]),
    *((2, ["vjp", *CHAIN, *more.split()]) for more in ("--show q", "--v 1", "--loss sum(q)")),
    *((2, ["explain", "x**2", "--at", "1,2", *more.split()]) for more in ("", "--v 1", "--v 1,1 --loss sum(y)")),
    *((2, ["explain", "x**2", "--at", "1,2", "--loss", loss]) for loss in ("y", "y**2", "sum(q)", "y +", "sum(y*q)")),
    *((2, ["graph", *CHAIN, *more.split()]) for more in ("--show hidden", "--show x", "--show ,", "--v 1,2,3")),
    *((2, ["graph", *CHAIN, *more.split()]) for more in ("--to dot --json", "--to svg", "--wrt w", "--strict")),
    (2, ["batch", "mistakes"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "kept_out"),
    [(NOTHING, {"torch", "sympy", "numpy", "flint"}), (LISTS, {"torch", "sympy", "flint"}), (NO_TORCH, {"torch"})],
    ids=["help", "lists", "no torch"],
)
def test_what_is_not_imported(rows: list[tuple[int, list[str]]], kept_out: set[str], tmp_path: Path) -> None:
    """By command lines one after the other in one process."""
    (tmp_path / "mistakes").write_text('{"command": "grad", "expression": "x +"}\ngrad "x**2"\n', encoding="utf-8")
    run = process(sys.executable, "-c", WATCH, json.dumps([words for _, words in rows]), cwd=tmp_path)
    ends = re.findall(r"^(\d+)((?: (?:torch|sympy|numpy|flint))*)$", run.err, re.MULTILINE)
    for (code, words), (ended, packages) in zip(rows, ends, strict=True):
        assert (int(ended), set(packages.split()) & kept_out) == (code, set()), words
