"""NumPy's own files, .npy and .npz, to float64 arrays, and from arrays.

NumPy reads the header and maps the file; there is no path to a pickle.  What is in a pipe or in an archive is copied
to a temporary file first.
"""

from __future__ import annotations

import os
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from math import inf
from types import SimpleNamespace
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError, TooLargeError
from gradcli.files.decoding import Array, choice, require_room, shown

MAGIC = np.lib.format.MAGIC_PREFIX

HEADER_BYTES = 2**16
"""Bytes of a header; NumPy itself reads 10,000."""

VALUE_BYTES = 2**30 + HEADER_BYTES
"""Bytes of a value that are copied: those of the largest tensor, in the widest numbers."""

_PART_BYTES = 2**20
"""Bytes that are copied at once."""

_NO_HEADER = (ArithmeticError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError, tokenize.TokenError)
"""What NumPy raises of a header that is none."""

_PLAIN = {
    "mmap length": "it is cut short, and has fewer numbers than its header claims",
    "Python objects": "it holds Python objects, which are pickled and never loaded",
    "EOF:": "it is cut short, or is no such file",
    "magic string": "it does not begin as one",
}
"""What is said in place of some of that."""

_REFUSED = {
    "c": ("complex numbers, and complex numbers are not read", "save the real and the imaginary part on their own"),
    "f": ("numbers of more digits than float64 has", "convert it with .astype(float)"),
    "U": ("text", "convert it with .astype(float)"),
    "S": ("text", "convert it with .astype(float)"),
    "M": ("dates", "convert it with .astype(float)"),
    "m": ("time differences", "convert it with .astype(float)"),
}
"""What the kinds of types that are not read stand for, and the fix."""


def mapped(stream: IO[bytes], name: str, stack: ExitStack, head: bytes = b"", most: float = inf) -> np.memmap[Any, Any]:
    """The array of an .npy file, none of which is read yet.

    Args:
        stream: The file; what is in a pipe or in an archive is copied to a temporary file.
        name: What messages call it.
        stack: Removes the temporary file.
        head: What was already read of the stream.
        most: Bytes that are copied.

    Raises:
        InputError: It is not such a file, is cut short, goes on after its array, or holds Python objects.
        TooLargeError: There is more to copy.
    """
    path = getattr(stream, "name", None)
    if head or not isinstance(path, str) or not os.path.isfile(path):
        copy = stack.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115 (the stack closes it)
        copy.write(head)
        while data := stream.read(_PART_BYTES):
            copy.write(data)
            if copy.tell() > most:
                raise TooLargeError(f"{name} has more than {most:,} bytes of numbers", hint="save a part of it")
        copy.flush()
        path = copy.name
    try:
        with np.errstate(over="raise"):
            array = np.lib.format.open_memmap(path, mode="r", max_header_size=HEADER_BYTES)
    except _NO_HEADER as error:
        said = str(error).partition("\n")[0]
        reason = next((plain for words, plain in _PLAIN.items() if words in said), said)
        hint = "save or copy it again, as numbers and with numpy.save; a file of text is named .csv, .txt or .json"
        raise InputError(f"{name} cannot be read as an .npy file: {reason}", hint=hint) from None
    if os.path.getsize(path) > array.offset + array.nbytes:
        # A longer file is not what its header says: better refused than cut to the first array.
        message = f"{name} goes on after its array, which has {array.size:,} elements"
        raise InputError(message, hint="save one array a file, or several with numpy.savez")
    return array


def read_npy(stream: IO[bytes], name: str, part: str | None = None, head: bytes = b"") -> Array:
    """The one array of an .npy file, `head` being what was already read of it.

    Raises:
        InputError: As for `mapped`; or it holds other than real numbers.
        TooLargeError: It is larger than is held.
    """
    if part is not None:
        raise InputError(f"{name} is one array and has no part {shown(part)}", hint="leave out the colon and the name")
    with ExitStack() as stack:
        array = mapped(stream, name, stack, head, VALUE_BYTES)
        require_numbers(array.dtype, name)
        require_room(array.shape, name)
        # Read rather than copied from the map, whose pages would count beside the copy.
        return as_float64(np.load(str(array.filename), allow_pickle=False, max_header_size=HEADER_BYTES))


def as_float64(array: npt.NDArray[Any]) -> Array:
    """Convert to float64, as which a byte of a condition that is 2 is true too."""
    found: Array = (array.view(np.uint8) != 0 if array.dtype.kind == "b" else array).astype(np.float64, copy=False)
    return found


def require_numbers(dtype: np.dtype[Any], name: str) -> None:
    """Refuse what is no type of real numbers that float64 has room for.

    Raises:
        InputError: So it is.
    """
    if dtype.base.kind not in "biuf" or dtype.base.itemsize > 8:
        what, hint = _REFUSED.get(dtype.base.kind, ("records or raw bytes", "save one of their fields, as numbers"))
        raise InputError(f"{name} holds {what}", hint=hint)


@contextmanager
def opened_npz(stream: BinaryIO, name: str) -> Iterator[dict[str, Callable[[], IO[bytes]]]]:
    """The arrays of an .npz file by their names, each to be opened.

    Raises:
        InputError: It is not such a file, is damaged or comes through a pipe; it has two arrays of one name, or one
            that is packed as NumPy never does.
    """
    if not stream.seekable():
        raise InputError(f"{name} is an archive, which is not read from a pipe", hint="write it to a file")
    try:
        with zipfile.ZipFile(stream) as archive:
            members: dict[str, Callable[[], IO[bytes]]] = {}
            for member in archive.infolist():
                known = member.filename.removesuffix(".npy")
                if known in members:
                    raise InputError(f"{name} has two arrays {shown(known)}", hint="save it again with numpy.savez")
                # Deflate gives out no more than it is asked for; bzip2 and LZMA give out whatever a block unpacks to.
                if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    message = f"the array {shown(known)} of {name} is encrypted, or compressed in another way"
                    raise InputError(message, hint="save it with numpy.savez or numpy.savez_compressed")
                members[known] = partial(archive.open, member)
            yield members
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, NotImplementedError):
        raise InputError(f"{name} is not an .npz file, or is damaged", hint="save it again with numpy.savez") from None


def read_npz(stream: BinaryIO, name: str, part: str | None) -> Array:
    """The array of an .npz file that is named, or the only one.

    Raises:
        InputError: As for `opened_npz` and `read_npy`; or it has no such array, or several to choose from.
        TooLargeError: The array is larger than is held.
    """
    with opened_npz(stream, name) as members:
        chosen = _chosen(list(members), name, part)
        with members[chosen]() as content:
            return read_npy(content, f"{name[:-1]}:{chosen}'")


def _chosen(names: list[str], name: str, part: str | None) -> str:
    if part in names:
        return str(part)
    if part is not None:
        message = f"{name} has no array {shown(part)}"
    elif len(names) != 1:
        message = f"{name} has {len(names)} arrays, and none is named" if names else f"{name} has no arrays"
    else:
        return names[0]
    raise InputError(message, hint=f"write @FILE.npz:NAME; {choice('arrays', part, names)}")


def write_npy(array: npt.NDArray[Any], file: IO[bytes]) -> None:
    """One array, with its type and shape."""
    # Nothing but a way to write: of a file NumPy would take the descriptor, and not say that a pipe is closed.
    np.lib.format.write_array(SimpleNamespace(write=file.write), np.asanyarray(array), allow_pickle=False)


def write_npz(arrays: Mapping[str, npt.NDArray[Any]], file: BinaryIO) -> None:
    """An archive of arrays by name, the same bytes for the same numbers.

    It is what `numpy.savez` writes, which takes no array that is called `file`.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                write_npy(array, member)
