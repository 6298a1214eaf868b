"""Arrays to NumPy's own files, .npy and .npz."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt


def write_npy(array: npt.NDArray[Any], file: BinaryIO) -> None:
    """One array, with its type and shape."""
    np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def write_npz(arrays: Mapping[str, npt.NDArray[Any]], file: BinaryIO) -> None:
    """An archive of arrays by name, the same bytes for the same numbers.

    It is what `numpy.savez` writes, which takes no array that is called `file`.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
