"""Random command lines: from the op table, from snippets, and both with tokens lost, doubled and put in.

Every one must be answered (exit 0, or 1 from a check) or refused (exit 2) in bounded time.  Checks come with claims,
expected numbers, boxes and tolerances, at kinks, poles and zeros, so that what looks into verdicts runs too.  Every
third is one of the documents, spliced with another.  A few run with the tests; by hand, for as long as asked:

    python -m tests.fuzz 20            minutes, from a random seed
    python -m tests.fuzz 0 12345       the one command line of a seed, with its trace
"""

import contextlib
import io
import itertools
import json
import random
import re
import shlex
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

from gradcli import guide
from gradcli.cli import main
from gradcli.cli.signatures import shell_options
from gradcli.language import ops
from gradcli.registry import all_commands, formats, questions

SECONDS = 60
"""No command line takes longer, on a busy machine."""

ATOMS = """
x A a 2 0.5 -1 pi inf nan 1e300 0 x[0] x[-1] A[0] A.T x[1:] x[5:] [x,2*x] eye(2) arange(3) linspace(0,1,2) ones(2,1)
randn(2,seed=1) zeros(0) x.shape[0] len(A) x.numel() True A[:,0] A[...,None] F.relu(x) torch.pi 1/3 10**20
eye(len(x)) zeros(x.shape[0]-1) x[len(x)-1] 10**30 1e308 5e-324 x*0 x*1e308 x[None]
""".split()

MAGNITUDES = "0 -1 1 2 3 63 64 65 1000 10**6 2**26 2**31 -2**31 10**9 2**40 -2**40 10**18 2**63 -2**63 10**400".split()
"""Of whole numbers: sizes, counts, orders, dimensions, decimals."""

SHAPES = """
({0} + {1});({0} - {1});({0} * {1});({0} / {1});({0} ** {1});({0} @ {1});({0} // {1});({0} % {1});{0} {1};-{0};~{0}
({0} > {1});({0} <= {1});({0} == {1});(({0} > 0) & ({1} < 1));(({0} > 0) | ({1} < 1));({0} if {1} > 0 else {2})
where({0} > {1}, {1}, {2});Piecewise(({0}, {1} > 0), ({2}, True));[{0}, {1}];[{0}*i for i in range(3)]
sum({0}**i for i in range(1, 4))
[{0}*i for i in range(len({1}))];({0}).view({1}.shape[0], -1);y = {0}\\n{1}*y;y = {0}\\nz = y + {1}\\nz*y
({0})[0];({0})[None];({0})[1:, None]
({0}).sum(0);({0}).max(1)[0];max({0}, {1});max({0}, 0);({0}).T;({0}).view(-1);({0}).clamp(min={1});log({0}, {1})
stack([{0}, {1}], dim=1);cat([{0}, {1}], dim=-1);einsum('ij,j->i', {0}, {1});einsum('ii', {0});({0}).pow({1})
s = 0\\nfor v in {0}:\\n    s += v*{1}\\ns;def f(x, a={1}):\\n    return a*{0}\\nf({1});a, b = {0}, {1}\\na*b
if {0} > 0:\\n    y = {1}\\nelse:\\n    y = {0}\\ny;y = {0}\\ny += {1}\\ny;while {0} > 1:\\n    x = x/2\\nx
ys = [v*{1} for v in {0}]\\nsum(ys);y = zeros(2)\\ny[0] = {0}\\ny;for a, b in zip({0}, {1}):\\n    x = a*b\\nx
def f(*t):\\n    return t[0]\\nf({0}, {1});for i, v in enumerate({0}):\\n    x = v*i\\nx;f = lambda t: {0}\\nf({1})
({0})[{n}];({0})[{n}:];({0})[::{n}];({0})**({n});({n})*{0};[{0}]*{n};[{0} for i in range({n})];arange({n})*{0}
({0}).view({n}, -1);({0}).sum({n});({0}).repeat({n}, {n});({0}).unsqueeze({n});zeros({n}, {n});linspace(0, 1, {n})
eye({n});{0}<<{n};({0}).split({n});inv_ex(eye(2));0**{0};{0}**0;({0})[:0];({0})[...,None];where({0} == 0, {1}, {0})
norm({0}, p=3);0 < {0} < {1};not {0};{0} and {1};torch.tensor([1., 2.])*{0};lambda: {0};{0}.grad;{0}!
"""
FORMS = [shape.replace("\\n", "\n") for line in SHAPES.split("\n") for shape in line.split(";") if shape]

SNIPPETS = (
    "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = {0}\ny.backward({1})\nprint(x.grad)",
    "x = torch.tensor(2., requires_grad=True)\ny = {0}\ny.sum().backward()\nx.grad.zero_()\ny.sum().backward()",
    "x = torch.ones(2, 2, requires_grad=True)\nw = torch.tensor([3., 5.])\nv = {1}\nz = {0}\nz.backward(v)",
    "import torch\nfrom torch import nn\nfc = nn.Linear(2, 2)\nx = torch.ones(2)\ny = fc({0})\nfor i in range(2):\n"
    "    y = y*{1}\ny.backward({1})",
    "import torch\nclass N(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.a = torch.nn.Parameter(torch.ones(2))\n    def forward(self, x):\n"
    "        return {0}*self.a\ny = N()({1})",
    "x = torch.arange(3.)\nx.requires_grad = True\n(g,) = torch.autograd.grad({0}, x, {1})",
)

VALUES = """
1,2 0.3 -1,0 [[1,2],[3,4]] [1] nan,1 1e300,1e-300 arange(0) linspace(0,1,2) inf 0 [[[1],[2]]] ones(2,2) 1,2,3 -0.0
randn(2) [1,[2]] @nowhere.csv @@1 1e-320 [True,False] sqrt(-1) zeros(2,0) x 1,,2 'a' eye(3)[0] 2j
""".split()

VECTORS = [*"ones e0 e1 e0_1 y 2*y x 1 1,1 ones_like(y) y.sum() z [1,2] y>0 -y".split(), ""]

SPOTS = """
0 -0.0 1 -1 1e-8 1000 -1000 1e16 1e-160 pi pi/2 0,0 0,1e-9 1,1 1000,999 [[0,0],[0,0]] [[1,1],[1,1]] 5e-324 [1e308]
2**1023 10**30 -1.7e308,1.7e308 -inf,inf ones(0).sum() zeros(0) zeros(0,2) ones(2,0) ones(1,2) [[0]] zeros(1,0,2)
""".split()
"""Kinks, poles, zeros, numbers at the ends of the range, and shapes that hold nothing."""

TRAPS = """
abs({0});relu({0});maximum({0}, {1});sqrt({0}**2);norm({0});where({0} > 0, sqrt({0}), 0);sin({0})/{0};{0}**2/{0}
(exp({0})-1)/{0};(1-cos({0}))/{0}**2;log(1+{0});sqrt({0}+1)-sqrt({0});exp({0})/sum(exp({0}));log(sum(exp({0})))
log({0});1/{0};{0}**0.5;floor({0});clamp({0}, 0, 1);where({0}<=0, exp({0}), 1+{0});{0}**{1};tan({0});xlogy({0}, {1})
amax({0});sign({0})*{1};atan2({0}, {1});log(softmax({0}, 0));exp(-1/{0}**2);{0}*log({0});logsumexp({0}, 0);prod({0})
"""
TRAPPED = [trap for line in TRAPS.split("\n") for trap in line.split(";") if trap]

SOUND = """
x**2;sum(x**2);x*a;sum(A@x);A@x;y = x**2; z = y*x;y = A@x; z = sum(sin(y));y = softmax(x, 0); log(y);norm(x);det(A)*a
[x[0]*x[1], sum(x)];y = relu(x); z = y**2; w = sum(z*y);where(x > 0, x**2, 0);y = x*2; z = y > 1; y*z;cumsum(x, 0)
a**3;y = exp(a); y*a;logsumexp(x, 0);outer(x, x);trace(A@A);y = x; t1 = y**2; t1*a;sum(abs(x));x[0]/x[1];sqrt(sum(x**2))
"""
SOUNDS = [line.strip() for line in SOUND.replace("; ", "\0").replace("\n", ";").split(";") if line.strip()]
SOUNDS = [text.replace("\0", "; ") for text in SOUNDS]
"""Functions that mostly have an answer at the values that fit."""

FITTING = ["1,2", "1,2", "0,1", "-1,0.5", "1e-8,1000", "nan,1", "[[1,2],[3,4]]"]
"""Values of x that fit most functions."""

BOXES = """
0..1 -1..1 x=0..1 x=-1..1 A=0..1 a=-1..1 1..0 0..0 x=0,0..1,1 -pi..pi 0.. ..1 ... 1..2..3 x=nan..1 0..inf q=0..1
-1e308..1e308 1e-320..2e-320 x=.5...75
""".split()

WORDS = """
( ) [ ] , ; : . + - * / ** // % @ ^ = == != < > <= >= & | ~ if else for in not and or lambda True None x A a y 0 1 -1
2.5 1e9 9999999999 'mean' 'ij->i' sum where softmax dim= keepdim=True range(3) ... # \\ é ∂ ² _ __ $ ! ? " { }
for while def return class with += is enumerate( zip( break del
""".split()

_DRAWN = "vjp vjp jacobian grad eval check check improve jvp hessian hvp explain explain graph code".split()
COMMANDS = tuple(name for name in _DRAWN if name in all_commands())

NAMES = ["x", "y", "z", "y,z", "x,A", "A", "a", "t1", "q", "", ",", "pi", "2", "é"]

OPTIONS: dict[str, tuple[float, list[str]]] = {
    "--v": (0.6, VECTORS),
    "--u": (0.9, "ones ones x=1,2 1,1 x=ones A=e0 A=e0_1 a=1 x= q=1 nan x=x x=inf,0 e9".split()),
    "--show": (0.25, NAMES),
    "--loss": (0.15, "sum(y**2) z.sum() mean(abs(y)) y y[0] sum(x) norm(y-y) sum(q) relu(y).sum() 0*y.sum() {".split()),
    "--wrt": (0.06, NAMES),
    "--to": (0.25, ["tree", "table", "dot", "torch", "latex", ""]),
    "--accumulate": (0.25, []),
    "--no-check": (0.06, []),
    "--strict": (0.06, []),
    "--json": (0.06, []),
    "--digits": (0.06, ["1", "3", "17", "0", "x"]),
    "--color": (0.06, ["always", "never", "red"]),
    "--claim": (
        0.4,
        "2*x 1 0 x v 2*x*v cos(x) -1/x sign(x) eye(2) [1,1] A A.T v@A where(x>0,1,0) x= A=A+A.T q=1".split(),
    ),
    "--expect": (0.15, "1 0 2,4 1,1 nan inf -inf [[1,0],[0,1]] x=1 A=0 x=2,4 = 1,, zeros(2,2)".split()),
    "--allow": (0.15, "kink kink,undefined agree inaccurate,nan-trap,unchecked disagree kinks , ".split()),
    "--rtol": (0.1, ["0", "1e-3", "-1", "nan", "inf", "1e-400", "x"]),
    "--atol": (0.1, ["0", "1", "1e300", "-0.0"]),
    "--seed": (0.05, ["1", "-1", "99999999999999999999"]),
    "--random": (0.15, ["1", "2", "7", "40", "0", "-3", "99999999"]),
    "--in": (0.15, BOXES),
}
"""Shares of the commands that are given an option, of those that have it, and its values; some take none."""

QUESTIONS = questions()
OWN = {command: {option.flag for option in shell_options(all_commands()[command])} for command in QUESTIONS}
"""The options that a command has."""

LEAKS = re.compile(r"Traceback|tensor\(\d[^)]*grad_fn=|<[\w.]+ object at|_Dummy|mappingproxy|Symbol\(")
"""Ways in which Python writes its own objects, which no answer has."""


class Fuzz:
    """The command lines of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def words(self) -> list[str]:
        """One command line."""
        pick = self.random.choice
        text = self.text()
        words = [pick(COMMANDS), text, "--format", pick(list(formats())), "--dtype", pick(["float64", "float32"])]
        is_sound = text in SOUNDS
        if "requires_grad" not in text or self.random.random() < 0.1:
            for name in ("x", "A", "a"):
                is_in = re.search(rf"\b{name}\b", text) if is_sound else name in text
                if is_in and self.random.random() < 0.95:
                    words += ["--at", f"{name}={self.value(name, is_sound=is_sound)}"]
        return [*words, *self.options(words[0])]

    def options(self, command: str) -> list[str]:
        """Options of a command, and now and then one that it does not have."""
        found, others = [], [*OPTIONS, "--jsn", "-x", "--"]
        names = [name for name, (share, _) in OPTIONS.items() if name in OWN[command] and self.random.random() < share]
        names += [self.random.choice(others)] if self.random.random() < 0.04 else []
        for name in names:
            values = OPTIONS.get(name, (0, ["x", "q", ""]))[1]
            found += [name, *([self.random.choice(values)] if values else [])]
        return found

    def value(self, name: str, *, is_sound: bool = False) -> str:
        """A value, mostly one that fits, or one at which functions are not smooth."""
        if is_sound and self.random.random() < 0.9:
            return self.random.choice(
                {"x": FITTING, "A": ["[[1,2],[3,4]]", "eye(2)"], "a": ["0.7", "0", "-1e-9"]}[name]
            )
        if self.random.random() < 0.35:
            return self.random.choice(SPOTS)
        if self.random.random() < 0.6:
            return {"x": "1,2", "A": "[[1,2],[3,4]]", "a": "0.7"}[name]
        return self.random.choice(VALUES)

    def text(self) -> str:
        """An expression or a snippet, one in three of them damaged; or a function that mostly has an answer."""
        if self.random.random() < 0.25:
            return self.random.choice(SOUNDS)
        if self.random.random() < 0.15:
            text = self.random.choice(SNIPPETS).format(self.expression(2), self.expression(1))
        else:
            text = self.expression(self.random.randint(1, 4))
        for _ in range(self.random.choice([0, 0, 0, 0, 1, 1, 3])):
            text = self.damaged(text)
        return text

    def expression(self, depth: int) -> str:
        """An expression of at most this depth."""
        if depth == 0 or self.random.random() < 0.15:
            return self.random.choice(ATOMS)
        inner = [self.expression(depth - 1) for _ in range(3)]
        if self.random.random() < 0.15:
            return self.random.choice(TRAPPED).format(*inner)
        if self.random.random() < 0.5:
            return self.random.choice(FORMS).format(*inner, n=self.random.choice([*MAGNITUDES, *"1122" * 10]))
        return self.call(self.random.choice(list(ops.TABLE.values())), inner)

    def call(self, op: ops.Op, inner: list[str]) -> str:
        """A call of an operation of the table, as a function or a method, with some of its constants."""
        name = self.random.choice((op.name, op.name, *op.aliases))
        operands = [self.random.choice(inner) for _ in op.operands]
        if op.operands[:1] == ("tensors",):
            operands = [f"[{', '.join(inner[:2])}]"]
        statics = [
            f"{parameter}={self.constant(parameter, default)}"
            for parameter, default in op.statics.items()
            if default is ops.REQUIRED or self.random.random() < 0.4
        ]
        if op.operands and self.random.random() < 0.3:
            return f"({operands[0]}).{name}({', '.join((*operands[1:], *statics))})"
        return f"{name}({', '.join((*operands, *statics))})"

    def constant(self, parameter: str, default: ops.Default) -> str:
        """A constant argument, mostly of the right kind."""
        texts = {
            "equation": ["'ij,j->i'", "'i,i'", "'ij->ji'", "'ii->i'", "'...'", "'ab,bc,cd'"],
            "reduction": ["'sum'", "'none'", "'mean'", "'max'"],
            "mode": ["'constant'", "'reflect'"],
        }
        general = ["0", "1", "-1", "2", "(0, 1)", "(2, 1)", "(1, 2)", "(0, 1, 1, 0)", "()", "None", "True", "0.5", "x"]
        return self.random.choice(texts.get(parameter, [*general, repr(default), self.random.choice(MAGNITUDES)]))

    def damaged(self, text: str) -> str:
        """The text with a piece lost, doubled, moved or put in."""
        at, end = sorted(self.random.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + 6)
        piece, word = text[at:end], self.random.choice(WORDS)
        changed = [text[:at] + text[end:], text[:end] + piece + text[end:], text[:at] + word + text[at:]]
        return self.random.choice([*changed, text[:at] + word + text[end:]])


def _documented() -> list[list[str]]:
    """The command lines of the documents that a request may have, and the examples of the op table."""
    pages = [Path("README.md").read_text(encoding="utf-8"), *map(guide.text, guide.PAGES)]
    found = re.findall(r"""^\$ gradcli ((?:[^'"|\\\n]|'[^'\n]*'|"[^"\n]*")+)$""", "\n".join(pages), re.MULTILINE)
    lines = [shlex.split(re.sub(" --(format|digits|color) [^ ]+| --(full|json|strict)", "", line)) for line in found]
    lines = [words if words[0] in QUESTIONS else ["vjp", *words] for words in lines]
    for op in ops.TABLE.values():
        text, values = op.worked_example
        lines.append(["vjp", text, *(word for name, value in values.items() for word in ("--at", f"{name}={value}"))])
    return [words for words in lines if len(words) > 1 and not re.search("^@|::|[.]py$", words[1])]


DOCUMENTED = _documented()


class Spliced(Fuzz):
    """The command line of one seed: of two of the documents, in numbers of all magnitudes."""

    def words(self) -> list[str]:
        """One command line."""
        pick, chance = self.random.choice, self.random.random
        words, (_, other, *values) = list(pick(DOCUMENTED)), pick(DOCUMENTED)
        words[0] = pick(QUESTIONS) if chance() < 0.3 else words[0]
        words[1] = self.spliced(words[1], other)
        words[2:] = pick([words[2:], words[2:], values, []])
        return [words[0], *(self.resized(word) for word in words[1:]), "--format", pick(list(formats()))]

    def spliced(self, text: str, other: str) -> str:
        """A text with another, or a piece of it, in the place of a name; and some of its own lost, doubled or moved."""
        pieces, others = (re.split(r"(\W)", one) for one in (text, other))
        names = [n for n, piece in enumerate(pieces) if piece.isidentifier()]
        if names and self.random.random() < 0.7:
            at, end = sorted(self.random.randrange(len(others) + 1) for _ in range(2))
            is_whole = ";" not in other and self.random.random() < 0.7
            pieces[self.random.choice(names)] = f"({other})" if is_whole else "".join(others[at:end])
        found = "".join(pieces)
        for _ in range(self.random.choice([0, 0, 0, 0, 1, 2])):
            found = self.damaged(found) or "x"
        return found

    def resized(self, text: str) -> str:
        """A text with other whole numbers, now and then."""
        if self.random.random() < 0.5:
            return text
        put = lambda found: self.random.choice(MAGNITUDES) if self.random.random() < 0.3 else found[0]  # noqa: E731
        return re.sub(r"(?<![\w.-])\d+(?![\w.])", put, text)


def drawn(seed: int) -> list[str]:
    """The command line of a seed."""
    return (Spliced if seed % 3 == 0 else Fuzz)(seed).words()


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` in a block that takes longer."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def complaint(words: list[str]) -> str:
    """Find fault with the answer of a command line; empty if there is none."""
    out, err = io.StringIO(), io.StringIO()
    hook = sys.excepthook
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            limited(SECONDS),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error")
            code = main(words)
    except BaseException:
        return traceback.format_exc()
    finally:
        sys.excepthook = hook
    if code not in ((0, 1, 2) if words[0] in ("check", "improve") or "--strict" in words else (0, 2)):
        return f"exit {code}: {err.getvalue()}"
    if code == 2:
        said = re.sub(r"\x1b\[[\d;]*m", "", err.getvalue())
        said = re.sub(r"\Anote: read as .*\n", "", said)
        is_clear = said.startswith(("error: ", '{"schema"')) and not out.getvalue()
        return "" if is_clear and len(err.getvalue()) < 3_000 else f"unclear: {out.getvalue()}{err.getvalue()}"
    if leaked := LEAKS.findall(out.getvalue() + err.getvalue()):
        return f"leaked: {leaked}"
    if "--json" in words or ("--format", "json") in itertools.pairwise(words):
        try:
            for line in out.getvalue().splitlines() or [""]:
                json.loads(line, parse_constant=_refused)
        except ValueError as error:
            return f"not strict JSON: {error}"
    return ""


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def run(minutes: float, seed: int | None = None) -> int:
    """Try command lines for so long, or the one of a seed; the number of complaints."""
    first = random.SystemRandom().randrange(10**9) if seed is None else seed
    start, tried, found = time.monotonic(), 0, 0
    while tried == 0 or time.monotonic() - start < 60 * minutes:
        words = drawn(first + tried)
        if reason := complaint(words):
            found += 1
            print(f"seed {first + tried}: {words}\n{reason[-1500:]}", flush=True)
        tried += 1
    print(f"{tried} command lines from seed {first}: {found} complaints")
    return found


if __name__ == "__main__":
    sys.exit(run(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None) > 0)
