"""What rows of spellings write in the place of what they found, where that takes more than a template.

Each function takes the match of a row of `gradcli.language.spellings`.
"""

from __future__ import annotations

import itertools
import math
import re

from gradcli.language import ops
from gradcli.language.text.signs import parted


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
    name = found["name"]
    options = re.sub(r"(?:^|,)\s*inplace\s*=\s*(?:True|False)", "", found["options"]).strip(", ")
    if name == "Identity":
        return f"({found['given'].strip()})"
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


def out_of_place(found: re.Match[str]) -> str:
    """Leave out that a function writes into its argument, where that is not read again: `F.relu(x, inplace=True)`."""
    names = {name for name in re.findall(r"(?<![\w.])[^\W\d]\w*", found["given"]) if ops.find(name) is None}
    is_read_again = any(len(re.findall(rf"(?<![\w.]){name}(?!\w)", found.string)) > 1 for name in names)
    if found["truth"] == "True" and is_read_again:
        return found[0]
    return ", ".join(filter(None, (found["given"], found["options"].strip(", "))))


def layer(found: re.Match[str]) -> str:
    """Write a linear layer, whose weights are variables of the text then."""
    used = {*re.findall(r"\w+", found.string)}
    weight, bias = (next(one for one in (name, f"{name}_1", f"{name}_2") if one not in used) for name in "Wb")
    return f"({found['given'].strip()} @ {weight}.T + {bias})"


_CONSTANTS = {
    "hbar": "1.054571817e-34", "h": "6.62607015e-34", "Planck": "6.62607015e-34", "c": "299792458",
    "speed_of_light": "299792458", "e": "1.602176634e-19", "elementary_charge": "1.602176634e-19",
    "k": "1.380649e-23", "Boltzmann": "1.380649e-23", "R": "8.31446261815324", "gas_constant": "8.31446261815324",
    "N_A": "6.02214076e23", "Avogadro": "6.02214076e23", "G": "6.67430e-11", "gravitational_constant": "6.67430e-11",
    "g": "9.80665", "m_e": "9.1093837139e-31", "electron_mass": "9.1093837139e-31", "m_p": "1.67262192595e-27",
    "proton_mass": "1.67262192595e-27", "epsilon_0": "8.8541878188e-12", "mu_0": "1.25663706127e-6",
    "sigma": "5.670374419e-8", "Stefan_Boltzmann": "5.670374419e-8", "alpha": "7.2973525643e-3",
    "fine_structure": "7.2973525643e-3", "Rydberg": "10973731.568157", "eV": "1.602176634e-19",
    "atm": "101325", "pi": "pi", "golden": "((1 + sqrt(5))/2)",
}  # fmt: skip
"""Constants of physics by their names in `scipy.constants`, of CODATA 2022."""


def constant(found: re.Match[str]) -> str:
    """Write a constant of `scipy.constants` as its number."""
    return _CONSTANTS.get(found[1], found[0])


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
    sign, index, first = "Σ" if found["name"].lower().endswith("sum") else "Π", found["index"], found["first"]
    element = f"[{index}-1]" if first == "1" else f"[{index}]"  # x_k on paper
    body = re.sub(rf"_(?:\{{{index}\}}|{index}(?![^\W\d]))", element, found["body"]).strip()
    return f"{sign}[{index}={first}..{found['last']}] ({body})"


def right_sides(found: re.Match[str]) -> str:
    """List the right-hand sides of a system of differential equations, `x' = v; v' = -x`."""
    return f"[{', '.join(one.partition('=')[2].strip() for one in re.split(r'[;,]', found[0]) if one.strip())}]"


def from_by_to(found: re.Match[str]) -> str:
    """Write a range as MATLAB and Julia have it, `0:0.5:2`, whose end belongs to it; as typed if that is one number."""
    first, step, last = (float(one) for one in found.groups())
    count = (last - first) / step if step else 0.0
    if count < 1:
        return found[0]
    if abs(count - round(count)) < 1e-9 * count:
        return f"linspace({found[1]}, {found[3]}, {round(count) + 1})"
    return f"arange({found[1]}, {found[3]}, {found[2]})"


def from_to_by(found: re.Match[str]) -> str:
    """Write a range as Python has it, `0:10:2`, without its end; as typed if that is one number."""
    first, last, step = (float(one) for one in found.groups())
    return f"arange({found[1]}, {found[2]}, {found[3]})" if step and (last - first) / step > 1 else found[0]


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


def around(body: str, index: str) -> str:
    """Put parentheses around the body of a sum that has its index after a sign too: `x_i^2 + x_i`.

    >>> around("x[i]^2 + x[i]", "i"), around("x[i]^2 + 1", "i"), around("(x[i] + 1)", "i")
    ('(x[i]^2 + x[i])', 'x[i]^2 + 1', '(x[i] + 1)')
    """
    depths = itertools.accumulate((sign in "([{") - (sign in ")]}") for sign in body)
    signs = [n for n, depth in enumerate(depths) if depth == 0 and body[n] in "+-" and body[:n].strip()]
    is_after = any(re.search(rf"(?<![a-zA-Z]){index}(?![a-zA-Z])", body[n:]) for n in signs)
    return f"({body.strip()})" if is_after else body


def bodies(found: re.Match[str]) -> str:
    """Put parentheses around the body of a sum, `Σ[i=0..1] x[i]^2 + x[i]`, where they are missing."""
    return f"{found[1]} {around(found['body'], found['index'])}"


def squares(found: re.Match[str]) -> str:
    """Write a sum of all elements without an index, `Σ(x_i - μ)²`, whose power is inside."""
    return f"sum({re.sub(r'_[a-z](?![a-zA-Z])', '', found[1])}{found[2] or ''})"


def summands(found: re.Match[str]) -> str:
    """Put the term after a sum's sign in parentheses, `Σ p ln p` and `Σ p_i ln p_i`, without its index."""
    body = re.sub(r"(?<=[^\W\d])_\{?[ijkn]\}?(?![a-zA-Z\d])", "", found["body"]).strip()
    product = re.sub(r"(?<=[\w)²³])\s+(ln|log|exp|sqrt|sin|cos)\s+([^\W\d]\w*)", r"*\1(\2)", body)
    return f"sum({product})" + " " * found["body"].endswith(" ")


def whole(found: re.Match[str]) -> str:
    """Write a sum over all elements, `sum_i x_i^2`, where that is what each use of the index means.

    `w^T x_i` is `x @ w`, of rows x_i; no other product of matrices is written, nor what the number i itself does.
    """
    index = found["index"]
    if re.search(rf"_\{{{index}[a-z]", found[0]):
        return found[0]
    subscript = rf"_(?:{index}(?![a-zA-Z])|\{{{index}\}})"
    name = "prod" if found.groupdict("").get("sign", "")[:1] in ("p", "∏", "Π") else "sum"
    one, rows = r"(?<![\w\\])(\\?[^\W\d_]\w*?)", list[str]()
    other = rf"(\\?[^\W\d_](?:[^\W_]|_(?!\{{?{index}(?![a-zA-Z])))*)"

    def product(pair: re.Match[str]) -> str:
        of_rows, by = (pair[1], pair[2]) if pair[1] is not None else (pair[4], pair[3])
        rows.append(of_rows)
        is_factor = re.search(r"[\w)}\]]\s*$", pair.string[: pair.start()]) is not None
        return f"{'*' * is_factor}({of_rows} @ {by})"

    pairs = rf"{one}{subscript}\s*{_TURNED}\s*{other}(?!\w)|(?<![\w\\]){other}\s*{_TURNED}\s*{one}{subscript}"
    inner, after = _terms(found["body"])
    body = re.sub(pairs, product, inner)
    are_mixed = any(re.search(rf"(?<![\w\\]){re.escape(row)}{subscript}", body) for row in rows)
    rest = re.sub(subscript, "", body)
    has_number = re.search(rf"(?<![\w\\]){index}(?!\w)", rest) is not None
    is_left = re.search(rf"{_TURNED}|[‖·⋅∙]|\\\||\\cdot|\|\|", body) is not None
    is_doubtful = are_mixed or has_number or is_left or re.search(subscript, after) is not None
    return found[0] if is_doubtful else f" {name}({rest.strip()}){after}"


def _terms(body: str) -> tuple[str, str]:
    """Part a body after its first term, which a sum without parentheses ends with.

    >>> _terms("x_i^2 + b"), _terms("(x_i - m)^2"), _terms("e^-x_i")
    (('x_i^2', ' + b'), ('(x_i - m)^2', ''), ('e^-x_i', ''))
    """
    depth = 0
    for place, sign in enumerate(body):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and (end := re.search(r"[\w)}\]'ᵀ²³]\s*$", body[:place])) and sign in "+-":
            return body[: end.start() + 1], body[end.start() + 1 :]
    return body, ""


_TURNED = r"(?:\s*\^\s*\{?(?:T|\\top|\\intercal|\\mathsf\{T\})\}?(?![a-zA-Z])|[ᵀ⊤'])"
"""Pattern of the mark of a transpose."""


def indexed(found: re.Match[str]) -> str:
    """Write a sum over an index, whose elements x_i count from 1 on paper."""
    index, first, last, body = found["index"], found["first"], found["last"], found["body"]
    if not last.isdecimal():
        return whole(found)
    body = around(body, index)
    offset = f"{index}-1" if first == "1" else index

    def position(found: re.Match[str]) -> str:
        moved = int(found[1]) - (first == "1")
        return f"[{index}{moved:+d}]" if moved else f"[{index}]"

    neighbours = re.sub(rf"_\{{{index}\s*([-+]\d+)\}}", position, body)
    elements = re.sub(rf"_\{{?{index}\}}?(?![^\W\d])", f"[{offset}]", neighbours).strip()
    return f" Σ[{index}={first}..{last}] {elements}"


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def branches(found: re.Match[str]) -> str:
    """Write cases, `{x^2 if x<1, 2x-1 if x>=1}`, as `where(...)`, whose last holds where no other does."""
    parts = [re.split(r"\bif\b", one) for one in parted(found["branches"].replace(";", ","))]
    *others, last = [[word.strip() for word in one] for one in parts]
    rest = re.fullmatch(r"(.+?)\s*,?\s*\b(?:otherwise|else)", last[0])
    if not others or any(len(one) != 2 for one in others) or (len(last) != 2 and rest is None):
        return found[0]
    value = rest[1] if rest is not None else last[0]
    if rest is None:
        sides = re.fullmatch(r"([^<>=]+)([<>]=?)([^<>=]+)", others[0][1].replace(" ", ""))
        if len(others) > 1 or sides is None or last[1].replace(" ", "") != f"{sides[1]}{_OPPOSITE[sides[2]]}{sides[3]}":
            return found[0]
    for one, condition in reversed(others):
        value = f"where({condition}, {one}, {value})"
    return value


def expressions(found: re.Match[str]) -> str:
    """List expressions that semicolons part, `x^2; x*y`, unless one stands in brackets."""
    parts = [one.strip() for one in found[1].split(";")]
    return f"[{', '.join(parts)}]" if all(one.count("(") == one.count(")") for one in parts) else found[0]


_CELLS = re.compile(r"(?<![\w.])([A-Z]{1,2})(\d{1,4}):\1(\d{1,4})(?!\w)")
_OF_SHEETS = {"LOG": "log10", "SUMSQ": "sumsq", "AVERAGE": "mean", "POWER": "pow", "PRODUCT": "prod"}
_MOST_CELLS = 40


def cells(found: re.Match[str]) -> str:
    """Write a formula of a spreadsheet, `=SUM(A1:A3)^2`: names in small letters, a range of cells as a list.

    There -A1^2 is the square of -A1, and LOG has the base 10.
    """

    def listed(one: re.Match[str]) -> str:
        first, last = sorted((int(one[2]), int(one[3])))
        names = [f"{one[1]}{n}" for n in range(first, last + 1)]
        return f"[{', '.join(names)}]" if len(names) <= _MOST_CELLS else one[0]

    text = _CELLS.sub(listed, found["formula"].replace("$", "").replace("PI()", "pi").replace(";", ","))
    text = re.sub(r"\bLOG\((?=[^(),]*\))", "log10(", text)
    text = re.sub(r"\bSUMPRODUCT\(([^()]+\]),\s*(\[[^()]+)\)", r"sum(\1*\2)", text)
    text = re.sub(r"(^|[(,=<>*/^+-])\s*-\s*([\w.]+(?:\([^()]*\))?)(?=\s*\^)", r"\1(-\2)", text)
    return re.sub(r"\b[A-Z]+(?=\()", lambda one: _OF_SHEETS.get(one[0], one[0].lower()), text)
