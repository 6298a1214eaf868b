"""Remarks on values of several variables that have the same random numbers: without a seed, that of a call is 0."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DRAWN = re.compile(r"\b(randn?)\s*\(((?:[^()]|\([^()]*\))*)\)")
_SEED = re.compile(r",?\s*\bseed\s*=\s*(\d+)")


def remarks_on_draws(typed: Mapping[str, str]) -> list[str]:
    """Name the variables whose values have the same call that draws numbers, with a call that draws others.

    Args:
        typed: The texts of the values, by variable.

    >>> remarks_on_draws({"Q": "randn(3,2)", "K": "2*torch.randn(3, 2)", "V": "rand(3)"})
    ['Q and K have the same random numbers: write randn(3,2, seed=1) for others']
    """
    drawn: dict[tuple[str, str, int], list[str]] = {}
    for name, text in typed.items():
        for function, arguments in _DRAWN.findall(text):
            seed = _SEED.search(arguments)
            sizes = re.sub(r"[\s()\[\]]", "", _SEED.sub("", arguments)).removesuffix(",")
            names = drawn.setdefault((function, sizes, int(seed[1]) if seed is not None else 0), [])
            names += [name] * (name not in names)
    remarks = []
    for (function, sizes, _), names in drawn.items():
        if len(names) > 1:
            taken = {seed for of, same, seed in drawn if (of, same) == (function, sizes)}
            free = next(seed for seed in range(1, len(taken) + 2) if seed not in taken)
            call = f"{function}({f'{sizes}, ' * bool(sizes)}seed={free})"
            listed = f"{', '.join(names[:-1])} and {names[-1]}"
            remarks.append(f"{listed} have the same random numbers: write {call} for others")
    return remarks
