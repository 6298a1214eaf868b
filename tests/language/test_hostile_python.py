"""Python that explodes, runs for ever or nests without end is refused in two seconds; nothing of it is run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gradcli.errors import GradcliError
from gradcli.language.snippets import read


def _deep(line: str, times: int, last: str) -> str:
    """A statement inside of itself, so many times."""
    return "".join(f"{'    ' * n}{line.format(n)}\n" for n in range(times)) + f"{'    ' * times}{last}\nx"


HOSTILE = {
    "calls that double": "".join(f"def f{n}(x): return f{n + 1}(x)+f{n + 1}(x)\n" for n in range(30))
    + "def f30(x): return x\nf0(x)",
    "a long range": "s = 0\nfor i in range(10**9):\n    s += x\ns",
    "no end": "while True:\n    x = x + 1\nx",
    "a late end": "n = 0\nwhile n < 10**12:\n    n += 1\nx*n",
    "loops in loops": "for a in range(1000):\n    for b in range(1000):\n        x = x + 1\nx",
    "a long comprehension": "ys = [a*b for a in range(2000) for b in range(2000)]\nsum(ys)*x",
    "deep branches": _deep("if True:", 200, "y = x"),
    "deep loops": _deep("for i{} in range(2):", 50, "x = x + 1"),
    "deep definitions": _deep("def f{}(x):", 300, "return x") + "\nf0(x)",
    "many branches": "if x > 0:\n    y = x\n" + "".join(f"elif x > {n}:\n    y = {n}*x\n" for n in range(500)) + "y",
    "branches that double": "def f(x):\n"
    + "".join(f"    if x > {n}:\n        if x < {n}:\n            return x*{n}\n" for n in range(40))
    + "    return x\nf(x)",
    "a list that doubles": "xs = [x]\nfor i in range(60):\n    xs = xs + xs\nsum(xs)",
    "a class of itself": "import torch\nfrom torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
    "        self.a = A()\n    def forward(self, x):\n        return x\nA()(x)",
    "a large layer": "import torch\nfrom torch import nn\nm = nn.Linear(10**6, 10**6)\ny = m(x)",
    "a large norm": "import torch\nfrom torch import nn\nm = nn.LayerNorm(10**12)\ny = m(x)",
    "a large tensor": "y = torch.zeros(10**9)\ny[0] = x\ny",
    "itself": "f = lambda g: g(g)\nf(f)",
    "one another": "def f(x): return g(x)\ndef g(x): return f(x)\nf(x)",
    "recursion": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(30)*x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_refused_in_time(name: str) -> None:
    """By an error of ours."""
    began = time.process_time()
    with pytest.raises(GradcliError):
        read(HOSTILE[name])
    assert time.process_time() - began < 4


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
    """Whether it is read or refused."""
    mark = tmp_path / "mark"
    try:
        read(text.format(mark))
    except GradcliError as error:
        assert error.render()  # noqa: PT017
    assert not mark.exists()


REASONS = [
    ("y = 2*x\nz = y[0]\ny += 1\nz", "'z' shares its memory"),
    ("x += 1\nx", "changes the variable 'x' in place"),
    ("x[0] = 1\nx", "changes the variable 'x' in place"),
    ("while x.sum() > 1:\n    x = x/2\nx", "depends on the values of a tensor"),
    ("a, b = x, x, x\na", "2 names for a tuple of 3"),
    ("for v in 3:\n    x = x*v\nx", "a number has no elements"),
    ("try:\n    y = x\nexcept ValueError:\n    y = 2\nfinally\n    z = x\ny", "':' is missing"),
    ("except ValueError:\n    y = 2\ny", "unexpected 'except'"),
    ("for i in range(3)\n    x = x*i\nx", "':' is missing"),
    ("def f(x):\n    y = x\nf(x)", "returns nothing"),
    ("def f(x):\n    raise ValueError\nf(x)", "raises an error"),
    ("y = None\ny*x", "None stands where a number or a tensor must"),
    ("f = lambda t: t\nf*x", "the function"),
    ("xs = []\nxs.append(x)\nxs[3]", "this list has 1 element"),
    ("import plots\nplots.draw(x)", "not known|unknown function"),
]


@pytest.mark.parametrize(("text", "words"), REASONS)
def test_errors_name_the_cause(text: str, words: str) -> None:
    """At its place."""
    with pytest.raises(GradcliError, match=words) as refused:
        read(text)
    assert refused.value.place is not None
