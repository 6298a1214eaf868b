"""Arrays of an answer as files of NumPy: one array, or all of them by name, in the shapes of the answer.

Of several products, the first axis of an array counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import BinaryIO

import numpy as np

from gradcli.errors import InputError, UsageError
from gradcli.files.binary import write_npy, write_npz
from gradcli.option_words import option
from gradcli.report.appearance import Appearance
from gradcli.results import Answer, Array, Products, Result

KEYS = {"gradient": "grad"}
"""Names of quantities in files, where their kind has another."""


def npy(answer: Result, shown: Appearance, file: BinaryIO) -> None:
    """Write the command's own quantity.

    Raises:
        GradcliError: It has one array for each of several variables; or the answer is a formula.
    """
    write_npy(_primary_array(_with_numbers(answer, shown)), file)


def npz(answer: Result, shown: Appearance, file: BinaryIO) -> None:
    """Write all arrays by name.

    Raises:
        UsageError: The answer is a formula.
    """
    write_npz(_named(_with_numbers(answer, shown)), file)


def _with_numbers(answer: Result, shown: Appearance) -> Answer:
    if not isinstance(answer, Answer):
        message = f"-o {shown.path} is for numbers, and the answer is a formula"
        raise UsageError(message, hint="add --at, or write .txt")
    return answer


def _named(answer: Answer) -> dict[str, Array]:
    """Name the inputs, then `value`, `v`, `vjp_x`, `jacobian_x`, `hessian_x_z` and the other arrays.

    An input whose name is one of these is `input_NAME`.
    """
    found = _arrays(answer)
    if isinstance(answer, Products):
        each = [_arrays(one) for one in answer.answers]
        found |= {name: np.stack([one[name] for one in each]) for name in each[0] if name not in found}
    inputs = {f"input_{name}" if name in found else name: array for name, array in answer.inputs.items()}
    return inputs | found


def _arrays(answer: Answer) -> dict[str, Array]:
    """Collect the fields that are arrays, or hold some by name, and the quantities."""
    held = (_by(field.name, getattr(answer, field.name)) for field in fields(answer) if field.name != "inputs")
    found = {name: array for one in held for name, array in one.items()}
    known = [one for one in answer.quantities if one.array is not None] if isinstance(answer, Answer) else []
    for one in known:
        found["_".join([KEYS.get(one.kind, one.kind), *filter(None, one.block)])] = one.numbers
    return found


def _by(name: str, held: object) -> dict[str, Array]:
    """Map a name to its array, or to several, each by that name and its own after it."""
    match held:
        case np.ndarray():
            return {name: held}
        case Mapping():
            return {key: array for inner, one in held.items() for key, array in _by(f"{name}_{inner}", one).items()}
    return {}


def _primary_array(answer: Answer) -> Array:
    """Get the command's own quantity.

    Raises:
        InputError: It has one array for each of several variables.
    """
    parts = answer.asked
    if len(parts) != 1:
        message = f"what {answer.command} answers has {len(answer.wrt)} variables, and an .npy file holds one array"
        raise InputError(message, hint=f"write an .npz, which holds them all, or choose one with {option('wrt')}")
    return parts[0].numbers
