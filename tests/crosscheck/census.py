"""Random smooth programs at random points: how often is the verdict anything but `agree`, and where?

By hand: `python -m tests.crosscheck.census COUNT [SEED]`.  Prints the rate and every program that does not agree, with
its worst finding, for somebody to look into.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli import Function
from gradcli.results import Check

SMOOTH = """
    sin({0})  cos({0})  tanh({0})  exp(-{0}**2)  sigmoid({0})  softplus({0})  atan({0})  0.5*{0} - 1  -{0}  {0}**3
    1/(1 + {0}*{0})  sqrt({0}**2 + 1)  log1p({0}*{0})  gelu({0})  erf({0})  asinh({0})  {0}/(1 + {0}**2)  expm1(-{0}**2)
    silu({0})  log(2 + sin({0}))  exp(sin({0}))  sinh({0}/4)  {0}*cos({0})  logsigmoid({0})  mish({0})  erfc({0})
    tanh({0})**2  cosh({0}/4)  lgamma(2 + {0}**2)  i0({0}/2)  sinc({0})  {0}**2 - {0}  {0}*sigmoid({0})
    softsign({0})*{0}  (1 + {0}**2)**0.3  2**({0}/3)  rsqrt(1 + {0}**2)  square({0})  digamma(1 + {0}**2)
""".replace("  ", "\n").split("\n")
PAIRS = [
    *("{0} + {1}", "{0} - 2*{1}", "{0}*{1}", "{0}/(1 + {1}**2)", "atan2({0}, 1 + {1}**2)", "hypot(1 + {0}, {1})"),
    *("logaddexp({0}, {1})", "lerp({0}, {1}, 0.3)", "exp(-{0}**2)*{1}", "(1 + {0}**2)**tanh({1})"),
]
WHOLE = [
    *("sum({0})", "mean({0})", "logsumexp({0})", "var({0} + w)", "softmax({0}, dim=0)", "log_softmax({0}, dim=0)"),
    *("cumsum({0}, dim=0)", "{0} - mean({0})", "sum({0}**2)", "norm(1 + {0}**2)", "{0}/sum(1 + {0}**2)", "A@{0}"),
    *("prod(1 + tanh({0})/2)", "outer({0}, {0})[0]", "flip({0}, 0)", "{0}[1:]*{0}[:-1]", "dot({0}, {0})", "{0}@B@{0}"),
]
"""Of vectors of three."""

TO_SCALARS = ("sum", "mean", "logsumexp", "var", "norm", "prod", "dot", "{0}@B")

STATEMENTS = 6
"""At most, of one program."""


@dataclass(frozen=True)
class Case:
    """A program and its point."""

    text: str
    at: dict[str, Any]


def case(generator: np.random.Generator) -> Case:
    """A program of vectors and scalars, well-shaped by construction; scales from a hundredth to ten."""
    vectors, scalars = ["x", "w"], ["s"]
    statements: list[str] = []
    for n in range(int(generator.integers(1, STATEMENTS + 1))):
        name = f"t{n}"
        kind = generator.choice(["one", "two", "whole"], p=[0.5, 0.3, 0.2])
        of_vectors = kind == "whole" or generator.random() < 0.7
        known = vectors if of_vectors else scalars
        template = str(generator.choice({"one": ONE, "two": PAIRS, "whole": WHOLE}[str(kind)]))
        a = known[-1] if generator.random() < 0.6 else str(generator.choice(known))
        b = str(generator.choice([*known, *scalars]))
        statements.append(f"{name} = {template.format(a, b)}")
        if "[1:]" in template:
            scalars.append(f"sum({name})")
        elif of_vectors and not template.startswith(TO_SCALARS):
            vectors.append(name)
        else:
            scalars.append(name)
    text = "; ".join(statements)
    scale = 10 ** generator.uniform(-2, 1)
    shapes: dict[str, tuple[int, ...]] = {"x": (3,), "w": (3,), "s": (), "A": (3, 3), "B": (3, 3)}
    used = Function(text).variables
    return Case(text, {name: scale * generator.normal(0.0, 1.0, shapes[name]) for name in used})


ONE = [template for template in map(str.strip, SMOOTH) if template]


def verdict(one: Case, dtype: Any = "float64") -> Check:
    """Of y and J at the point."""
    check = Function(one.text).jacobian(one.at, dtype=dtype).check
    assert check is not None
    return check


def main(count: int, seed: int) -> None:
    """The census."""
    generator = np.random.default_rng(seed)
    verdicts: Counter[str] = Counter()
    for _ in range(count):
        one = case(generator)
        check = verdict(one)
        verdicts[check.verdict] += 1
        if check.verdict != "agree":
            finding = check.findings[0] if check.findings else None
            print(check.verdict, "|", one.text, "|", {n: np.asarray(a).tolist() for n, a in one.at.items()})
            print("   ", finding)
    print({name: f"{number} ({100 * number / count:.2f} %)" for name, number in verdicts.most_common()})


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
