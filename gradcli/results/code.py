"""What the command that writes scripts answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gradcli.results.verdicts import Array

Language = Literal["torch", "numpy", "latex"]
"""What a script can be written in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A question as a script that computes vᵀJ.

    Attributes:
        command: Its name.
        expression: The text as typed.
        dtype: `float64` or `float32`.
        inputs: The value of every variable.
        wrt: The variables of the derivative, in order.
        language: Of the script.
        source: The script, with its last newline.
        in_ascii: The same with its comments in ASCII.
        warnings: Remarks about the expression.
    """

    command: str
    expression: str
    dtype: str
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...]
    language: Language
    source: str
    in_ascii: str
    warnings: tuple[str, ...] = ()
