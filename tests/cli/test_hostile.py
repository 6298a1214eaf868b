"""User text is hostile until parsed: refused in bounded time and memory, without any side effect."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import Command, process
from tests.work import counted

REFUSED = 2_000_000
"""Calls until hostile text is refused, at most: some for each of ten thousand brackets."""

ANSWERED = 10_000_000
"""Calls until text that is large is answered or refused, at most."""

HOSTILE = [
    *Path(__file__).with_name("hostile.txt").read_text(encoding="utf-8").splitlines(),
    "x**" * 200 + "x",
    "-" * 10_000 + "x",
    "[" * 10_000 + "x" + "]" * 10_000,
    "(" * 10_000,
    ")" * 10_000,
    "a" * 1_000_000,
    "x+" * 500_000 + "x",
    "x\x00y",
    "\x1b[31mx",
    "\u202ex",
    "x" + "\u0301" * 50 + "(",
    "ｅｖａｌ（ｘ）",
    "\ud800",
    "x[" + "0," * 5000 + "0]",
    "[[x],[x],[x]][5]",
    "einsum('" + "a" * 500 + "', x)",
    "'" * 99,
    "e" + "1" * 5_000,
    "+".join(f"a{n:020}" for n in range(120)),
]


ROUTES: dict[str, Callable[[str], list[str]]] = {
    "expression": lambda text: ["eval", text, "--at", "x=1"],
    "code": lambda text: ["code", text, "--at", "x=1"],
    "value": lambda text: ["vjp", "x**2", "--at", f"x={text}"],
    "v": lambda text: ["vjp", "x**2", "--at", "x=1,2", "--v", text],
    "wrt": lambda text: ["vjp", "x**2", "--at", "x=1,2", "--wrt", text],
    "show": lambda text: ["graph", "y = x**2", "--at", "x=1", "--show", text],
    "loss": lambda text: ["explain", "x**2", "--at", "x=1,2", "--loss", text],
}


ASKED = [(n, route) for n in range(len(HOSTILE)) for k, route in enumerate(ROUTES) if k == 0 or n % 3 == k % 3]
"""Each of them as an expression, and a third on every other route, of which half are for `pytest -m thorough`."""


@pytest.mark.parametrize(
    ("number", "route"),
    [
        pytest.param(*one, marks=pytest.mark.thorough if one[1] != "expression" and one[0] % 6 > 2 else ())
        for one in ASKED
    ],
)
@pytest.mark.one_in(4)
def test_hostile_text_is_refused(number: int, route: str, gradcli: Command, tmp_path: Path) -> None:
    """Exit 2, one message of bounded length, nothing on stdout, no side effect, at once."""
    mark = tmp_path / "mark"
    text = HOSTILE[number].replace("{mark}", str(mark))
    with counted() as work:
        run = gradcli(*ROUTES[route](text))
    assert work.calls < (ANSWERED if route in ("wrt", "show") else REFUSED)  # a million words are parted
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: ")
    assert len(run.err) < 2_500
    assert "\x1b" not in run.err
    assert not mark.exists()


def bounded(lines: int, terms: int, depth: int) -> list[str]:
    """Texts that are allowed, of which three are as large as is said."""
    return [
        "; ".join(["y = x"] + ["y = y + y"] * lines),
        "; ".join(["y = x"] + ["y = y*y"] * 200),
        "+".join(f"a{n}*x" for n in range(terms)).replace("a", "x*"),
        "[" * 60 + "x" + "]" * 60,
        "x" + "[None]" * 70,
        "exp(" * depth + "x" + ")" * depth,
        "2**(10**2) * x",
        "x**1000000",
        "x*len(x[None])**(10**20)",
        "x + digamma(10**20) + polygamma(3, 10**9)",
        "x*gt(1, 2)**9999",
        "x*erfc(1e300)",
        "x*swish(len(x[None])**1e300)",
        "x*exp(exp(exp(1e3)))",
        "x*2**1e300",
        "(2*x)**(10**20) + (x/3)**(10**20)",
        "(0.5*x)**(10**20)",
        "([x, 2*x]**10**20)[1]",
        "(2*x + 3)**(10**20)*x",
    ]


BOUNDED = bounded(1_000, 400, 30)


@pytest.mark.parametrize("number", range(len(BOUNDED)))
@pytest.mark.one_in(8)
def test_text_that_is_allowed_but_large_is_answered_or_refused(number: int, gradcli: Command) -> None:
    """Doubling programs, deep lists, towers: bounded work, and an exit code that is one of ours."""
    with counted() as work:
        run = gradcli("vjp", BOUNDED[number], "--at", "x=0.5", "--v", "ones", "--json")
    assert run.code in (0, 2), run.err
    assert work.calls < ANSWERED


def test_memory_stays_bounded(tmp_path: Path) -> None:
    """In a process that may map 8 GiB (torch alone maps several) and hold far less."""
    texts = ["(" * 100_000 + "x", "[x,x]" + "[:, None]" * 90, "x+" * 30_000 + "x"]
    code = (
        f"import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({8 * 2**30}, {8 * 2**30}))\n"
        "from gradcli.cli import main\n"
        "for text in sys.stdin:\n"
        "    code = main(['eval', text.strip(), '--at', 'x=1', '--format', 'plain'])\n"
        "    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in KiB\n"
        "    assert code in (0, 2) and held < 4 * 2**20, (text[:20], code, held)\n"
    )
    (tmp_path / "bounded.py").write_text(code, encoding="utf-8")
    run = process(warm.runner(), str(tmp_path / "bounded.py"), given="\n".join(texts))
    assert run.code == 0, run.err
    assert "Traceback" not in run.err
