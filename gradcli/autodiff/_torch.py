"""The one place that imports torch."""

from __future__ import annotations

import os

from gradcli import progress
from gradcli.errors import InputError
from gradcli.progress import set_step


def _require_folder() -> None:
    """Refuse a deleted working directory: the mathematics library needs one to find itself, or it ends the process.

    Raises:
        InputError: The working directory was deleted.
    """
    try:
        os.getcwd()
    except FileNotFoundError:
        message = "the working directory does not exist any more, and torch does not run without one"
        raise InputError(message, hint="change to one that exists, such as cd ~") from None


_require_folder()
set_step("importing torch")
with progress.collector_paused():
    import torch

    progress.count_as_old()
set_step("differentiating")

__all__ = ["torch"]
