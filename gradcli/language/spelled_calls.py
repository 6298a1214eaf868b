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
