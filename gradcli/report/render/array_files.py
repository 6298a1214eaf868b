"""Arrays of an answer as files of NumPy: one array, or all of them by name."""

from __future__ import annotations

from typing import BinaryIO

from gradcli.errors import UsageError
from gradcli.files.binary import write_npy, write_npz
from gradcli.report.appearance import Appearance
from gradcli.report.render.plain import named, primary_array
from gradcli.results import Answer, Result


def npy(answer: Result, shown: Appearance, file: BinaryIO) -> None:
    """Write the command's own quantity.

    Raises:
        GradcliError: It has one array for each of several variables; or the answer is a formula.
    """
    write_npy(primary_array(_with_numbers(answer, shown)), file)


def npz(answer: Result, shown: Appearance, file: BinaryIO) -> None:
    """Write all arrays by name.

    Raises:
        UsageError: The answer is a formula.
    """
    write_npz(named(_with_numbers(answer, shown)), file)


def _with_numbers(answer: Result, shown: Appearance) -> Answer:
    if not isinstance(answer, Answer):
        message = f"-o {shown.path} is for numbers, and the answer is a formula"
        raise UsageError(message, hint="add --at, or write .txt")
    return answer
