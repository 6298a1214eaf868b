"""Random requests at the rim of what is allowed: what no example has, and no user means.

No elements and one, no dimensions, `()` for a dimension, whole numbers of all magnitudes, numbers next to the largest
and the smallest float, variables that y does not depend on, and every command, over the whole op table, with a point
and without; and command lines of the documents, spliced with one another.  Every request is answered or refused in
time and memory: no other exception leaves the answer of a request.  A few run with the tests; by hand, as many as
asked:

    python -m tests.requests.fuzz 100000            from a random seed
    python -m tests.requests.fuzz 1 12345           the one request of a seed, with its trace
"""

from __future__ import annotations

import faulthandler
import json
import random
import re
import resource
import shlex
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from gradcli import guide
from gradcli.cli import request_words
from gradcli.errors import GradcliError, InternalError
from gradcli.language import ops
from gradcli.language.ops import Default
from gradcli.options import DERIVATIVES, FORMATS, JUDGED, QUESTIONS
from gradcli.report import Screen, rendered
from gradcli.report.data.json import render_error, reply
from gradcli.requests import answer, read
from tests.fuzz import Fuzz, limited

SECONDS = 60
"""No request takes longer, on a busy machine."""

SLOW = 10.0
"""Seconds of the processor that no request takes, on any machine."""

LONG = 200_000
"""Characters of an answer up to which it is shown as a page."""

MEMORY = 2**31
"""Bytes that no request takes."""

MAGNITUDES = "0 -1 1 2 3 63 64 65 1000 10**6 2**26 2**31 -2**31 10**9 2**40 -2**40 10**18 2**63 -2**63 10**400".split()
"""Of whole numbers: sizes, counts, orders, dimensions, decimals."""

BY_SHAPE = """
0 1 -1 0.0 0.5 -2.5 1.7976931348623157e308 -1.7e308 5e-324 1e300 inf nan 10**30 2**1023 ones(0).sum()
zeros(0) arange(0) full((0,),1e308)
[0.0] ones(1) [1e308] [-5e-324] [0.5] [-1.0] [nan] arange(10**30,10**30+10**20,10**20)
1,2 -1,0 0,0 -1.7e308,1.7e308 0,5e-324 -inf,inf nan,1 1e-300,1e300 0.3,0.7 -10**30,10**30 linspace(10**30,10**31,2)
[[1,2],[3,4]] [[0,0],[0,0]] eye(2) [[1e308,1],[0,5e-324]] [[0.5,-0.5],[2,3]] ones(2,2)
zeros(0,2) zeros(0,2)
zeros(2,0) ones(2,0)
[[1,2]] ones(1,2)
ones(1,1) [[0]]
zeros(1,0,2) ones(2,1,2)
"""
VALUES = [line.split() for line in BY_SHAPE.strip().split("\n")]
"""Of one shape each, or nearly so."""

ODD = """
[] [[]] full((),2.0) 2**1024 einsum('i,i->',ones(2)) einsum('i,i->',[1,2],[3,4]) sum(ones(2),dim=())
norm([1,2],p=10**30) zeros(0).mean()
""".split()

ATOMS = "x x x x y y 0 1 -1 2 0.5 pi inf nan 10**30 1e308 5e-324 [x,y] x[None] x.view(-1) x*0 x*1e308 zeros(0)".split()

FORMS = """
({0} + {1})|({0} - {1})|({0} * {1})|({0} / {1})|({0} ** {1})|({0} @ {1})|({0} // {1})|({0} % {1})|-{0}|0**{0}|{0}**0
where({0} > {1}, {1}, {2})|where({0} == 0, {1}, {0})|sum({0})|sum({0}**2)|mean({0})|({0} if {1} > 0 else {2})|[{0}, {1}]
prod({0})|log({0})|exp({0})|sqrt({0})|1/{0}|abs({0})|({0})[0]|({0})[1:]|({0})[:0]|({0})[...,None]|maximum({0}, {1})
({0})[{n}]|({0})[{n}:]|({0})[::{n}]|({0})**({n})|({n})*{0}|[{0}]*{n}|[{0} for i in range({n})]|arange({n})*{0}
({0}).view({n}, -1)|({0}).sum({n})|({0}).repeat({n}, {n})|({0}).unsqueeze({n})|zeros({n}, {n})|linspace(0, 1, {n})
eye({n})|{0}<<{n}|sort({0})|({0}).split({n})|inv_ex(eye(2))|[v*2 for v in {0}]|sum([v for v in ({0})[5:]])|print({0}
({0}).view(1, -1)|stack([{0}, {1}])|cat([{0}, {1}], 0)|sum({0})*0|({0}).sum()**2|0*{0}|detach({0})
sum({0}**i for i in range(1, 3))|z = {0}; {1}*z|z = {0}; w = {1}; z + 0*w
"""
SHAPES = [form for line in FORMS.strip().split("\n") for form in line.split("|")]

SNIPPETS = tuple(
    "x = torch.tensor({2}, requires_grad=True); y = torch.tensor({3}, requires_grad=True); z = {0}; " + end
    for end in ("torch.autograd.grad(z, x)", "z.backward({1})")
)

STATICS = [
    "()",
    "(0,)",
    "0",
    "-1",
    "1",
    "2",
    "(0, 1)",
    "[]",
    "None",
    "10**30",
    "-10**30",
    "2**62",
    "0.5",
    "inf",
    "-0.5",
    "10**18",
]

BY_NAME = {
    "equation": ["'i,i->'", "'i->'", "'ij,j->i'", "'ii->'", "',->'", "'->'", "'i,j->ij'"],
    "reduction": ["'sum'", "'none'", "'mean'"],
    "mode": ["'constant'"],
    "pad": ["()", "(1, 1)", "(-1, 0)", "(0, 0, 1, 1)", "(-9, -9)"],
    "shape": ["()", "(0,)", "(1,)", "(-1,)", "(0, -1)", "-1", "(1, 1)"],
}

CLAIMS = ["1", "0", "x", "2*x", "1.79e308", "-1.79e308", "5e-324", "x/0", "10**30", "[]", "zeros(0)", "eye(2)", "2*v*x"]

NUMBERS: list[Any] = [
    1.79e308,
    -1.79e308,
    5e-324,
    0,
    1,
    [],
    [[]],
    [1, 2],
    "Infinity",
    "NaN",
    10**30,
    "zeros(0)",
    "e0",
    "ones",
]


class Rim:
    """The request of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def request(self) -> dict[str, Any]:
        """One request."""
        pick = self.random.choice
        command = pick(QUESTIONS)
        text = self.text(command)
        found: dict[str, Any] = {"command": command, "expression": text}
        names = [name for name in ("x", "y") if re.search(rf"\b{name}\b", text)]
        if "requires_grad" not in text or self.random.random() < 0.1:
            fitting = pick(VALUES)
            found["at"] = {name: pick(fitting if self.random.random() < 0.8 else self.odd()) for name in names}
            if self.random.random() < 0.2:
                sizes = {name: [pick(["n", 2, 3, 10**6, 10**18])] for name in found.pop("at")}
                found |= {"shape": sizes} if command in DERIVATIVES and self.random.random() < 0.3 else {}
        return found | self.options(command, names)

    def odd(self) -> list[str]:
        """Values of another shape, or that are none."""
        return self.random.choice([*VALUES, ODD])

    def text(self, command: str) -> str:
        """An expression, or a snippet; mostly a sum where the command needs one element."""
        pick = self.random.choice
        if self.random.random() < 0.08:
            inner = self.expression(1), pick(["", "", "y", "ones(2)"])
            return pick(SNIPPETS).format(*inner, pick(["1.", "[1., 2.]", "[]", "[[0.]]"]), pick(["2.", "[0.]", "[]"]))
        text = self.expression(self.random.randint(1, 3))
        is_summed = command in ("grad", "hessian", "hvp") and ";" not in text and self.random.random() < 0.8
        return f"sum({text})" if is_summed else text

    def options(self, command: str, names: list[str]) -> dict[str, Any]:
        """Some of the keys that the command has."""
        pick, chance = self.random.choice, self.random.random
        found: dict[str, Any] = {}
        if command in ("vjp", "explain", "graph", "code") and chance() < 0.8:
            found["v"] = pick(["ones"] * len(NUMBERS) + NUMBERS)
        if command in ("jvp", "hvp"):
            found["u"] = pick([dict.fromkeys(names, "ones"), dict.fromkeys(names, "ones"), {"x": pick(NUMBERS)}])
        if command == "check":
            if chance() < 0.3:
                found["claim"] = {"x": pick(CLAIMS)}
            if chance() < 0.3:
                found["expect"] = {"x": pick(NUMBERS)}
            if chance() < 0.15:
                found |= {"random": pick([1, 2, 3]), "in": {"x": pick(["0..1", "-1e308..1e308", "0..0", "[]..[]"])}}
            if chance() < 0.2:
                found["v"] = pick(NUMBERS)
        if command != "eval" and chance() < 0.15:
            found["wrt"] = pick([*names, "x,y"])
        if chance() < 0.2:
            found["dtype"] = "float32"
        if chance() < 0.4 and command in JUDGED:
            found["check"] = False
        if command in ("vjp", "jacobian", "grad", "eval") and chance() < 0.05:
            found["points_of"] = pick([*names, "x,y"])
        if command == "code":
            found["to"] = pick(["torch", "numpy", "latex"])
        return found

    def expression(self, depth: int) -> str:
        """An expression of at most this depth."""
        pick = self.random.choice
        if depth == 0 or self.random.random() < 0.1:
            return pick(ATOMS)
        inner = [self.expression(depth - 1) for _ in range(3)]
        if self.random.random() < 0.4:
            return pick(SHAPES).format(*inner, n=pick([*MAGNITUDES, *"1122" * 10]))
        return self.call(pick(list(ops.TABLE.values())), inner)

    def call(self, op: ops.Op, inner: list[str]) -> str:
        """A call of an operation of the table with some of its constants."""
        pick = self.random.choice
        operands = [pick(inner) for _ in op.operands]
        if op.operands[:1] == ("tensors",):
            operands = [pick([f"[{inner[0]}, {inner[1]}]", f"[{inner[0]}]", "[]"])]
        if op.name == "einsum":
            return f"einsum({pick(BY_NAME['equation'])}, {', '.join(inner[: self.random.randint(1, 2)])})"
        statics = [
            f"{parameter}={self.constant(parameter, default)}"
            for parameter, default in op.statics.items()
            if default is ops.REQUIRED or self.random.random() < 0.5
        ]
        return f"{op.name}({', '.join((*operands, *statics))})"

    def constant(self, parameter: str, default: Default) -> str:
        """A constant argument at the rim of what it takes."""
        if parameter in BY_NAME:
            return self.random.choice(BY_NAME[parameter])
        if isinstance(default, bool):
            return self.random.choice(["True", "False"])
        if self.random.random() < 0.3:
            return self.random.choice(MAGNITUDES)
        return self.random.choice([*STATICS, *([repr(default)] if default is not ops.REQUIRED else [])])


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
    """The request of one seed in words: of two command lines of the documents, in numbers of all magnitudes."""

    def request(self) -> str:
        """One request."""
        pick, chance = self.random.choice, self.random.random
        words, (_, other, *values) = list(pick(DOCUMENTED)), pick(DOCUMENTED)
        words[0] = pick(QUESTIONS) if chance() < 0.3 else words[0]
        words[1] = self.spliced(words[1], other)
        words[2:] = pick([words[2:], words[2:], values, []])
        return shlex.join([words[0], *(self.resized(word) for word in words[1:])])

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


def complaint(request: dict[str, Any] | str) -> str:
    """What is wrong with how a request was answered; empty if nothing is."""
    line, reason = answered(request)
    return reason or unreadable(line)


def unreadable(line: str) -> str:
    """What keeps a line from being JSON; empty if it is."""
    try:
        json.loads(line, parse_constant=_refused)
    except (ValueError, RecursionError, MemoryError):
        return traceback.format_exc()
    return ""


def answered(request: dict[str, Any] | str) -> tuple[str, str]:
    """The line that answers a request, and what was wrong meanwhile."""
    try:
        with limited(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("error")
            found = read((request if isinstance(request, str) else json.dumps(request)).encode())
            try:
                told = answer(found) if found.words is None else request_words.answer(found.words)
                line = "".join(reply(told, found.head))
                if len(line) < LONG:  # the page of a large answer is as much longer
                    rendered(told, FORMATS[len(line) % len(FORMATS)], Screen(80, encoding="utf-8"))
            except InternalError:
                return "", traceback.format_exc()
            except GradcliError as error:
                line = render_error(error, found.head, line=1)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "", traceback.format_exc()
    return line, ""


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def run(count: int, seed: int | None = None) -> int:
    """Try this many requests; the number of complaints."""
    first = random.SystemRandom().randrange(10**9) if seed is None else seed
    resource.setrlimit(resource.RLIMIT_AS, (6 * MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    found, most, slowest = 0, 0, (0.0, first)
    for number in range(first, first + count):
        request, began = (Rim if number % 2 else Spliced)(number).request(), time.process_time()
        faulthandler.dump_traceback_later(2 * SECONDS, exit=True)  # what no signal interrupts
        line, reason = answered(request)
        took, before, most = time.process_time() - began, most, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        slowest = max(slowest, (took, number))
        reason = reason or unreadable(line) or f"took {took:.1f} s" * (took > SLOW)
        reason = reason or f"took {most / 2**20:.1f} GiB" * (before < MEMORY // 2**10 < most)
        if reason:
            found += 1
            print(f"seed {number}: {json.dumps(request)}\n{reason[-1500:]}", flush=True)
    print(f"{count} requests from seed {first}: {found} complaints; slowest {slowest}, most memory {most // 2**10} MiB")
    return found


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None) > 0)
