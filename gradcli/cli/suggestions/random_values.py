"""Random numbers as other tools ask for them: `--v random`, `np.random.randn(2)`, `--seed 0`.

A value draws them by `randn(y.shape, seed=0)`, the same ones at each call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.cli.suggestions.respelled_options import UnknownOption, unknown_options
from gradcli.cli.suggestions.respelled_values import parts_of, values_by_name
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.cli.suggestions.typed_values import LABELLED, typed_values

_RANDOM = re.compile(
    r"\s*(?:(?:torch|np|numpy|jax|jnp)\.)?(?:random\.)?"
    r"(?P<law>randn?|random|normal|standard_normal|gaussian|uniform|noise)(?P<like>_like)?"
    r"(?:\(\s*(?:size\s*=\s*|n\s*=\s*)?(?P<inside>[\w\s,.()]*?)\s*\))?\s*"
)
"""Numbers drawn from a law, as torch, NumPy or words ask for them."""

_UNIFORM = frozenset(["rand", "uniform"])
_SIZE_UNKNOWN = "3"


def random_values(line: TypedLine) -> Iterator[Words]:
    """Write random numbers that a value asks for as this language draws them, with the seed that was given.

    >>> from gradcli.cli.suggestions.typed_line import typed_line
    >>> [*random_values(typed_line(("vjp", "x**2", "--at", "1,2", "--v", "random", "--seed", "7")))]
    [('vjp', 'x**2', '--at', '1,2', '--v', 'randn(y.shape, seed=7)')]
    """
    unknown = {one.name: one for one in unknown_options(line)}
    seed = one if (one := unknown.get("seed")) is not None and one.value.isdecimal() else None
    asked = one if (one := unknown.get("random")) is not None and not one.has_value else None
    given = [one for one in typed_values(line) if one.option in ("--v", "--u", "--at")]
    options = {one.option for one in given}
    with_seed = f", seed={seed.value}" if seed is not None else ""
    words, is_drawn = list(line.words), False
    for one in reversed(given):
        name = label[0] if (label := LABELLED.match(one.typed)) is not None else ""
        drawn = _drawn(line, one.option, name.rstrip(" =").strip(), one.typed.removeprefix(name), with_seed)
        if drawn:
            words[one.place : one.place + one.words] = [one.option, f"{name}{drawn}"]
            is_drawn = True
    left = [one for one in (seed, asked) if one is not None]
    if left and not is_drawn and "--v" in line.kinds and "--v" not in options:
        words += ["--v", f"randn({_output(line)}.shape{with_seed})"]
    elif not is_drawn:
        left = [one for one in left if one is seed]  # nothing is drawn at all
    if is_drawn or left:
        yield _without(words, left)


def _output(line: TypedLine) -> str:
    """Name the output of an expression, as a gradient vector may."""
    defined = re.match(r"\s*([^\W\d]\w*)\s*(?:\([^()]*\)\s*)?=(?!=)", line.text)
    return defined[1] if defined is not None else "f" if "y" in line.variables else "y"


def _without(words: list[str], options: list[UnknownOption]) -> Words:
    """Leave out options with their values."""
    for one in options:
        place = words.index(one.typed if not one.is_attached else f"{one.typed}={one.value}")
        del words[place : place + one.words]
    return tuple(words)


_CALL = re.compile(r"(?<![\w.])(randn?)\(((?:[^()]|\([^()]*\))*)\)")
"""A call of this language that draws numbers."""


def _drawn(line: TypedLine, option: str, name: str, value: str, with_seed: str) -> str:
    """Write the numbers that a value draws; empty where it draws none, or has all that is needed."""
    if (found := _RANDOM.fullmatch(value)) is None:  # a longer value, of which a seed may be missing
        seeded = _CALL.sub(lambda one: one[0] if "seed" in one[2] else f"{one[1]}({one[2]}{with_seed})", value)
        return seeded if seeded != value else ""
    law, inside = "rand" if found["law"] in _UNIFORM else "randn", found["inside"]
    if inside and found["like"]:
        size = f"{inside}.shape"
    else:
        size = inside or (f"{_output(line)}.shape" if option == "--v" else _size(line, name))
    return f"{law}({size}{with_seed})"


def _size(line: TypedLine, name: str) -> str:
    """Count the numbers of the value of a variable, or of the only one."""
    values = values_by_name(line)
    typed = [one.typed for one in typed_values(line) if one.option == "--at" and not LABELLED.match(one.typed)]
    value = values.get(name) or (typed[0] if typed else next(iter(values.values()), ""))
    count = 0 if _RANDOM.fullmatch(value) else len(parts_of(value))
    return str(count) if count > 1 else _SIZE_UNKNOWN if not count else "()"
