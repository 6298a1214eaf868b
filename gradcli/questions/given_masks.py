"""Values that are given as true and false: masks, where an index has them, as in NumPy and torch, and no positions."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.errors import InputError, LanguageError
from gradcli.language.foreign import unwrapped
from gradcli.language.inputs import Value, read_value
from gradcli.language.parsing import parse_value
from gradcli.language.program.wengert import Line, Program
from gradcli.option_words import option

Mask = npt.NDArray[np.bool_]

_OF_CONDITIONS = re.compile(r"True|False|true|false|bool|[<>=~!≠≤≥¬]")


def given_masks(given: Mapping[str, Value], names: Container[str]) -> dict[str, Mask]:
    """Return the values of some names that are given as true and false.

    >>> given_masks({"x": "1,2", "mask": "True,False", "other": [True, True]}, ("mask", "other"))
    {'mask': array([ True, False]), 'other': array([ True,  True])}
    """
    return {
        name: read_value(value, f"--at {name}") != 0
        for name, value in given.items()
        if name in names and _is_mask(value)
    }


def without_masks(program: Program, masks: Mapping[str, Mask]) -> Program:
    """Leave out the variables that are masks and that an index alone has, where they are constants.

    Raises:
        InputError: An operation, such as `gather`, takes one of them for positions.
    """
    used = {str(operand) for line in program.lines for operand in line.call.operands} | {str(program.output)}
    for line in program.lines:
        op = line.call.op
        whole = op.positions([len(shape) for shape in line.call.shapes]) if op.whole else ()
        for parameter, operand in zip(op.operands, line.call.operands, strict=False):
            if parameter in whole and (name := str(operand)) in masks:
                raise _no_positions(program, line, name, masks[name])
    kept = tuple(one for one in program.variables if one.name in used or one.name not in masks)
    return replace(program, variables=kept)


def _no_positions(program: Program, line: Line, name: str, mask: Mask) -> InputError:
    hint = f"an index takes a mask: x[{name}]"
    if mask.ndim == 1 and mask.any():
        hint += f"; the positions of its true elements are {option('at', f'{name}={listed(mask)}')}"
    message = f"whole numbers, positions, must stand here, and '{name}' is given as true and false"
    return InputError(message, place=program.place(line), hint=hint)


def listed(mask: Mask) -> str:
    """Write the positions of the true elements as a value.

    >>> listed(np.array([True, False, True])), listed(np.array([False, True]))
    ('0,2', '[1]')
    """
    places = ",".join(map(str, np.flatnonzero(mask)))
    return places if "," in places else f"[{places}]"


def _is_mask(value: Any) -> bool:
    if isinstance(value, str):
        return _OF_CONDITIONS.search(value) is not None and _is_condition(value)
    first = value
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if not str(getattr(first, "dtype", type(first).__name__)).endswith("bool"):
        return False
    return np.asarray(unwrapped(value)).dtype.kind == "b"


def _is_condition(text: str) -> bool:
    """Tell whether a text is a condition, which a Program makes 1 and 0 in its last line."""
    try:
        program = parse_value(text, "")
    except LanguageError:  # which reading the value reports, or another spelling of it mends
        return False
    last = program.lines[-1].call if program.lines else None
    is_chosen = re.match(r"[\s(\[]*(\w+\.)?where\(", text) is not None  # whole numbers, though they read the same
    return last is not None and not is_chosen and last.operands[1:] == (sympy.Integer(1), sympy.Integer(0))
