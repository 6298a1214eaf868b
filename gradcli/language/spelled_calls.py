"""What rows of spellings write in the place of what they found, where that takes more than a template.

Each function takes the match of a row of `gradcli.language.spellings`.
"""

from __future__ import annotations

import math
import re

from gradcli.language import ops


def inside(argument: str) -> str:
    """Return an argument without the parentheses around all of it."""
    return argument[1:-1] if argument.startswith("(") else argument


CHOICES = ("nchoosek", "binom", "binomial", "comb")

_LARGEST_FACTORIAL = 170


def root(found: re.Match[str]) -> str:
    """Write a real root, `nthroot(x, 3)`, which is negative where x is and its order is odd."""
    argument, order = found[1].strip(), int(found[2])
    if order == 3:
        return f"cbrt({argument})"
    return f"sign({argument})*abs({argument})**(1/{order})" if order % 2 else f"({argument})**(1/{order})"


_WITH_WEIGHTS = (
    "Linear", "Bilinear", "Conv", "BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm", "Embedding",
    "PReLU", "LSTM", "GRU", "RNN", "Multihead", "Transformer",
)  # fmt: skip
"""Beginnings of the names of modules that have parameters of their own."""


def functional(found: re.Match[str]) -> str:
    """Write a module of torch without weights that is called at once, `nn.MSELoss()(y, t)`, as a function."""
    name, options = found["name"], found["options"].strip()
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.removesuffix("Loss")).lower()
    known = {one.replace("_", ""): one for one in ops.names()}
    alone, of_loss = words.replace("_", ""), f"{words}_loss".replace("_", "")
    special = {"bcewithlogits": "binary_cross_entropy_with_logits", "bce": "binary_cross_entropy"}
    called = special.get(alone) or (known.get(of_loss) if name.endswith("Loss") else None) or known.get(alone)
    is_random = name.endswith(("Dropout", "RReLU")) or name.startswith(_WITH_WEIGHTS)
    is_by_place = bool(options) and "=" not in options and name.endswith("Loss")
    if called is None or is_random or is_by_place:
        return found[0]
    return f"F.{called}({', '.join(filter(None, (found['given'].strip(), options)))})"


def factorial(found: re.Match[str]) -> str:
    """Write the factorial of a whole number as a number, and of anything else by lgamma."""
    if found[1].isdecimal() and int(found[1]) <= _LARGEST_FACTORIAL:
        whole = math.factorial(int(found[1]))
        return str(whole) if whole < 2**53 else repr(float(whole))
    return f"exp(lgamma({inside(found[1])} + 1))"


def binomial(found: re.Match[str]) -> str:
    """Write how many ways there are to choose some of a number of things."""
    n, k = (int(one) for one in found.groups() if one is not None)
    if k > n or n > 1000:
        return found[0]
    whole = math.comb(n, k)
    return str(whole) if whole < 2**53 else repr(float(whole))


def integers(found: re.Match[str]) -> str:
    """Write the integers of a loop of Julia, `for k in 1:10`, whose ends both belong to it."""
    return f"{found[1]} in range({found[2]}, {int(found[3]) + 1})"


def summed(found: re.Match[str]) -> str:
    """Write a sum, or a product, over an index with its bounds, `Sum(1/k^2, (k, 1, 100))`."""
    sign = "Σ" if found["name"].lower().endswith("sum") else "Π"
    return f"{sign}[{found['index']}={found['first']}..{found['last']}] ({found['body'].strip()})"


def right_sides(found: re.Match[str]) -> str:
    """List the right-hand sides of a system of differential equations, `x' = v; v' = -x`."""
    return f"[{', '.join(one.partition('=')[2].strip() for one in re.split(r'[;,]', found[0]) if one.strip())}]"


def over_all(found: re.Match[str]) -> str:
    """Write a sum over all elements by its index without bounds, `sum(x[i]^2, i)`."""
    return f"sum({found['body'].replace('[' + found['index'] + ']', '')})"


def log_of_base(found: re.Match[str]) -> str:
    """Write a logarithm of a base, `log_10 x`."""
    base, argument = found["base"], inside(found["argument"])
    return f"log{base}({argument})" if base in ("2", "10") else f"log({argument}, {base})"


def columns(found: re.Match[str]) -> str:
    """Write a matrix of LaTeX, whose rows a shell may have left one backslash of; one of a column is a list."""
    rows = [[cell.strip() for cell in row.split("&")] for row in re.split(r"\\\\?(?=\s|$)", found[1]) if row.strip()]
    return f"[{', '.join(row[0] if len(row) == 1 else '[' + ', '.join(row) + ']' for row in rows)}]"


def pieces(found: re.Match[str]) -> str:
    """Write a choice of a plotter, `{x < 0: -x, x^2}`; what has no condition stands last."""
    *pieces, last = (piece.partition(":") for piece in found[1].split(","))
    if last[1]:
        return found[0]
    other = last[0].strip()
    for condition, _, value in reversed(pieces):
        other = f"where({condition.strip()}, {value.strip()}, {other})"
    return other


def mathematica(found: re.Match[str]) -> str:
    """Write a call in round brackets, and those in it: `Log[b, x]` and `ArcTan[x, y]` have the base, and x, first."""
    inner = re.sub(r"\b([A-Z][a-z]+[A-Za-z]*)\[([^\[\]]*)\]", mathematica, found[2])
    first, comma, second = inner.partition(",")
    if comma and found[1] in ("Log", "ArcTan"):
        if first.count("(") != first.count(")"):
            return found[0]
        name = "log" if found[1] == "Log" else "atan2"
        return f"{name}({second.strip()}, {first.strip()})"
    return f"{found[1].replace('Arc', 'a').lower()}({inner})"
