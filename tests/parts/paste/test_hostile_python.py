"""Texts that explode or nest without end are refused in time; nothing of them is run."""

import time
from contextlib import suppress
from pathlib import Path

import pytest

from gradcli.errors import GradcliError
from gradcli.parts.paste.texts import read


def _deep(line: str, times: int, last: str) -> str:
    """A statement inside of itself, so many times."""
    return "".join(f"{'    ' * n}{line.format(n)}\n" for n in range(times)) + f"{'    ' * times}{last}\nx"


HOSTILE = {
    "calls that double": "".join(f"def f{n}(x): return f{n + 1}(x)+f{n + 1}(x)\n" for n in range(30))
    + "def f30(x): return x\nf0(x)",
    "a long comprehension": "ys = [a*b for a in range(2000) for b in range(2000)]\nsum(ys)*x",
    "a long range": "sum(x for i in range(10**9))",
    "deep definitions": _deep("def f{}(x):", 300, "return x") + "\nf0(x)",
    "deep calls": "".join(f"f{n}(x) = {'(' * 60}f{n + 1}(x){')' * 60}; " for n in range(40)) + "f40(x) = x; f0(x)",
    "an empty word": "d = {'': x}; d['a']",
    "itself": "f = lambda g: g(g)\nf(f)",
    "one another": "def f(x): return g(x)\ndef g(x): return f(x)\nf(x)",
    "recursion": "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(30)*x",
    "names for a long tensor": "x, y = torch.zeros(10**6)\nx",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.one_in(8)
def test_it_is_refused_in_time(name: str) -> None:
    """By an error of ours."""
    began = time.process_time()
    with pytest.raises(GradcliError):
        read(HOSTILE[name])
    assert time.process_time() - began < 4


@pytest.mark.parametrize(
    "text",
    [
        # definitions
        "f0(x) = x + x; " + "".join(f"f{n + 1}(x) = f{n}(f{n}(x)); " for n in range(30)) + "f30(t)",
        "f(x) = x; " * 5_000 + "f(f(t))",
        "f(x) = " * 5_000,
        "lambda x: " * 5_000 + "x",
        "f(" * 25_000,
        "d = {'a': " * 5_000,
        "def f(x): " * 2_500,
        # formulas
        "Σ[k=0..2] " * 5_000,
        "|" * 25_000,
        "{1 if x > 0; otherwise" * 1_250,
        "|x|+" * 5_000 + "1",
        "+".join(["Σ[k=0..2] x[k]"] * 1_250),
        "x[" * 12_500,
        "Σ[k=0..2] x[" + "k+" * 12_500 + "1]",
        "Σ[" + ",".join(f"k{n}=0..1" for n in range(1_250)) + "] 1",
        # runs of one sign, which are not read again from each of their places
        "\t" * 7_500 + "x",
        "x\n" + " " * 7_500 + "y",
        "1." * 2_500 + "x",
    ],
)
@pytest.mark.one_in(8)
def test_what_is_long_takes_linear_time(text: str) -> None:
    """Read or refused."""
    began = time.process_time()
    with suppress(GradcliError):
        read(text)
    assert time.process_time() - began < 2.5


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.system('touch {0}')\ny = x",
        "def f(x):\n    open('{0}', 'w')\n    return x",
        "class A:\n    def __init__(self):\n        open('{0}', 'w')\nA()\ny = x",
        "with open('{0}', 'w') as f:\n    y = x\ny",
        'eval(\'open("{0}", "w")\')\ny = x',
        "@open('{0}', 'w')\ndef f(x):\n    return x",
        "y = [open('{0}', 'w') for i in range(2)]\nx",
    ],
)
def test_nothing_is_run(text: str, tmp_path: Path) -> None:
    """Read or refused."""
    mark = tmp_path / "mark"
    try:
        read(text.format(mark))
    except GradcliError as error:
        assert error.render()  # noqa: PT017
    assert not mark.exists()
