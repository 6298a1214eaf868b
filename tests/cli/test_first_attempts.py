"""What people type first: it works, or a hint says what does."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.conftest import Command

ATTEMPTS = [
    line.rpartition(" => ")
    for line in Path(__file__).with_name("first_attempts.txt").read_text(encoding="utf-8").splitlines()
    if " => " in line and not line.startswith("#")
]


@pytest.mark.parametrize(("line", "expected"), [(line, expected) for line, _, expected in ATTEMPTS])
@pytest.mark.usefixtures("folder")
def test_a_first_attempt(line: str, expected: str, gradcli: Command) -> None:
    """The exit code and some words of what is said; `<<` gives lines to standard input."""
    words, _, sent = line.replace("\\n", "\n").partition(" << ")
    code, _, said = expected.partition(" | ")
    run = gradcli(*shlex.split(words), given=sent)
    assert str(run.code) == code, run.err
    assert said.strip() in run.out + run.err


SUGGESTED = [
    ('"diff(x^2, x)"', 'gradcli grad "x^2" --wrt x', 'grad "x^2" --wrt x'),
    ('"diff(sin(cos(x)), x, 2)"', 'gradcli hessian "sin(cos(x))" --wrt x', 'hessian "sin(cos(x))" --wrt x'),
    ('"d/dx(x^2)"', 'gradcli grad "(x^2)" --wrt x', 'grad "(x^2)" --wrt x'),
    ('"d(x^2)/dx"', 'gradcli grad "x^2" --wrt x', 'grad "x^2" --wrt x'),
    ('"D[x^2,x]"', 'gradcli grad "x^2" --wrt x', 'grad "x^2" --wrt x'),
    ('"(x^2)\'"', "leave it out", '"(x^2)"'),
    ('check "x^2" "2x"', '--claim "2x"', 'check "x^2" --claim "2x"'),
    ('check "sin(x)" == "cos(x)"', '--claim "cos(x)"', 'check "sin(x)" --claim "cos(x)"'),
    ('"x^2*y" x', "--wrt x", '"x^2*y" --wrt x'),
    ('vjp "y=x**2" "z=y**3"', '"y=x**2; z=y**3"', 'vjp "y=x**2; z=y**3"'),
    ('grad "x^2+y^2" --at 1 2', "--at x=1 --at y=2", 'grad "x^2+y^2" --at x=1 --at y=2'),
    ("grad x^2 --at pts.csv", "--at @pts.csv", "vjp x^2 --v ones --at x=@pts.csv"),
    ("grad x*y --at x=1 --at y=./pts.csv", "--at y=@./pts.csv", "vjp x*y --v ones --at x=1 --at y=@./pts.csv"),
    ("'$x^2$'", "write x^2,", "x^2"),
    ("explain backward", 'gradcli explain "x**2" --at 3', 'explain "x**2" --at 3'),
    ('map "x^2" -', "--points -", 'map "x^2" --points - << x\n1\n'),
    ('"y = x**2; x = 3"', "--at x=3", '"y = x**2" --at x=3'),
    ('"0x10*x"', "write 16", "16*x"),
    ('eval "x^2" --at 1,000', "1000 for one number, 1,0 for a vector", 'eval "x^2" --at 1000'),
    ("check fn.py --at 1,2", "fn.py::loss --at", "check fn.py::loss --at 1,2"),
    ("check fn.py*2 --at fn.py=1,2", "fn.py::NAME --at", "check fn.py::loss --at 1,2"),
    ("check pts.csv --at 1,2", "write @pts.csv", "eval x+y --at x=@pts.csv --at y=1"),
    ("check fn.f --at 1,2", "--at fn.f=VALUE", "check fn.f --at fn.f=1,2"),
    ('"net.weight**2"', "--shape net.weight=", '"net.weight**2" --shape net.weight=n'),
]


@pytest.mark.parametrize(("typed", "hint", "meant"), SUGGESTED)
def test_what_is_suggested_works(typed: str, hint: str, meant: str, gradcli: Command, folder: Path) -> None:
    """The hint stands in the error, and the command that it means answers."""
    (folder / "pts.csv").write_text("x\n1\n2\n", encoding="utf-8")
    (folder / "fn.py").write_text("def loss(x):\n    return (x**2).sum()\n", encoding="utf-8")
    refused = gradcli(*shlex.split(typed))
    assert (refused.code, hint in refused.err.partition("hint: ")[2]) == (2, True), refused.err
    words, _, sent = meant.partition(" << ")
    assert gradcli(*shlex.split(words), given=sent).code == 0
