"""NumPy's own files, .npy and .npz, to float64 arrays, and from arrays.

NumPy reads the header and maps the file; there is no path to a pickle.  What is in a pipe or in an archive is copied
to a temporary file first.  Rows are those of the map, so that the memory is that of a block however long the file is.
"""

from __future__ import annotations

import os
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from math import inf
from types import SimpleNamespace
from typing import IO, Any, BinaryIO

import numpy as np

from gradcli.arrays import AnyArray, Array
from gradcli.errors import InputError, TooLargeError
from gradcli.files.decoding import (
    Start,
    choice,
    named_twice,
    quoted,
    require_room,
)
from gradcli.option_words import option
from gradcli.results import Block, Cells, RowSource

MAGIC = np.lib.format.MAGIC_PREFIX

HEADER_BYTES = 2**16
"""Bytes of a header; NumPy itself reads 10,000."""

VALUE_BYTES = 2**30 + HEADER_BYTES
"""Bytes of a value that are copied: those of the largest tensor, in the widest numbers."""

_PART_BYTES = 2**20
"""Bytes that are copied at once."""

_NO_HEADER = (ArithmeticError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError, tokenize.TokenError)
"""Errors that NumPy raises of a header that is none."""

_PLAIN = {
    "mmap length": "it is cut short, and has fewer numbers than its header claims",
    "Python objects": "it holds Python objects, which are pickled and never loaded",
    "EOF:": "it is cut short, or is no such file",
    "magic string": "it does not begin as one",
}
"""Messages in place of some of these."""

_REFUSED = {
    "c": ("complex numbers, and complex numbers are not read", "save the real and the imaginary part on their own"),
    "f": ("numbers of more digits than float64 has", "convert it with .astype(float)"),
    "U": ("text", "convert it with .astype(float)"),
    "S": ("text", "convert it with .astype(float)"),
    "M": ("dates", "convert it with .astype(float)"),
    "m": ("time differences", "convert it with .astype(float)"),
}
"""Meanings of the kinds of types that are not read, and the fix."""


def mapped(stream: IO[bytes], name: str, stack: ExitStack, head: bytes = b"", most: float = inf) -> np.memmap[Any, Any]:
    """Map the array of an .npy file into memory, without reading it yet.

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
    """Read the one array of an .npy file, `head` being the bytes that were already read.

    Raises:
        InputError: As for `mapped`; or it holds other than real numbers.
        TooLargeError: It is larger than is held.
    """
    if part is not None:
        raise InputError(f"{name} is one array and has no part {quoted(part)}", hint="leave out the colon and the name")
    with ExitStack() as stack:
        array = mapped(stream, name, stack, head, VALUE_BYTES)
        require_numbers(array.dtype, name)
        require_room(array.shape, name)
        # Read rather than copied from the map, whose pages would count beside the copy.
        return as_float64(np.load(str(array.filename), allow_pickle=False, max_header_size=HEADER_BYTES))


def as_float64(array: AnyArray) -> Array:
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
    """Open an .npz file: its arrays by name, each to be opened in turn.

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
                    raise InputError(f"{name} has two arrays {quoted(known)}", hint="save it again with numpy.savez")
                # Deflate gives out no more than it is asked for; bzip2 and LZMA give out whatever a block unpacks to.
                if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    message = f"the array {quoted(known)} of {name} is encrypted, or compressed in another way"
                    raise InputError(message, hint="save it with numpy.savez or numpy.savez_compressed")
                members[known] = partial(archive.open, member)
            yield members
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, NotImplementedError):
        raise InputError(f"{name} is not an .npz file, or is damaged", hint="save it again with numpy.savez") from None


def read_npz(stream: BinaryIO, name: str, part: str | None) -> Array:
    """Read the named array of an .npz file, or the only one.

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
        message = f"{name} has no array {quoted(part)}"
    elif len(names) != 1:
        message = f"{name} has {len(names)} arrays, and none is named" if names else f"{name} has no arrays"
    else:
        return names[0]
    raise InputError(message, hint=f"write @FILE.npz:NAME; {choice('arrays', part, names)}")


def write_npy(array: AnyArray, file: IO[bytes]) -> None:
    """Write one array, with its type and shape."""
    # Nothing but a way to write: of a file NumPy would take the descriptor, and not say that a pipe is closed.
    np.lib.format.write_array(SimpleNamespace(write=file.write), np.asanyarray(array), allow_pickle=False)


def write_npz(arrays: Mapping[str, AnyArray], file: BinaryIO) -> None:
    """Write an archive of arrays by name, the same bytes for the same numbers.

    It is what `numpy.savez` writes, which takes no array that is called `file`.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                write_npy(array, member)


# -- rows: an array of records, a plain table, or an archive with an array for each column

_ROWS = 2**20
"""Rows of a piece of arrays."""

_Columns = dict[str, AnyArray]


def columns_of_npy(
    stream: BinaryIO, name: str, variables: Sequence[str], columns: Sequence[str], stack: ExitStack
) -> _Columns:
    """Return the fields of records, or the columns of a plain table in the order of their names.

    Raises:
        GradcliError: The array has no rows, or no columns for these names.
    """
    table = mapped(stream, name, stack)
    if table.dtype.names:
        if columns:
            raise named_twice(name)
        return {field: table[field] for field in table.dtype.names if table.dtype[field].base.kind in "biufSUmM"}
    names = columns or variables
    if table.shape[1:] != (len(names),) and not columns:  # of which e may be Euler's number
        names = [one for one in names if one != "e"] or names
    if table.ndim and len(names) == 1:
        return {names[0]: table[:, 0] if table.shape[1:] == (1,) else table}
    if table.shape[1:] != (len(names),):
        what = f"names in {option('columns')}" if columns else f"variables without {option('at')}"
        said = f"{name} is an array of shape {table.shape}, and there are {len(names)} {what}: {', '.join(names[:8])}"
        raise InputError(said, hint="a table without names has a column for each of them, in their order")
    return {known: table[:, column] for column, known in enumerate(names)}


def columns_of_npz(stream: BinaryIO, name: str, variables: Sequence[str], stack: ExitStack) -> _Columns:
    """Return the arrays of an archive that have as many rows as that of the first variable.

    Raises:
        InputError: One cannot be read, or the variables have different numbers of rows.
    """
    with opened_npz(stream, name) as members:
        found = {member: mapped(opened(), f"{name[:-1]}:{member}'", stack) for member, opened in members.items()}
    rows = {member: len(array) for member, array in found.items() if array.ndim and not array.dtype.names}
    used = {member: count for member, count in rows.items() if member in variables} or rows
    first, count = next(iter(used.items()), ("", 0))
    for member, other in used.items():
        if other != count:
            said = f"{name} has {count:,} rows of {quoted(first)} and {other:,} of {quoted(member)}"
            raise InputError(said, hint="every array has a row a point, on its first axis")
    return {member: found[member] for member, length in rows.items() if length == count}


class ArrayRows:
    """The rows of arrays that have as many of them.

    Attributes:
        source: Its columns.
        passed: Rows that have gone by.
        count: Rows that there are.
    """

    def __init__(self, name: str, columns: Mapping[str, AnyArray]) -> None:
        self._columns, self.passed, self.count = columns, 0, min(map(len, columns.values()), default=0)
        self.source = RowSource(name, {column: array.shape[1:] for column, array in columns.items()})

    def starts(self) -> Iterator[Start]:
        """Yield where pieces end."""
        yield from (Start(min(end, self.count)) for end in range(_ROWS, self.count + _ROWS, _ROWS))

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """Yield the rows in blocks, counted from 1.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep all columns.
            most: Rows of a block.
            first: The first row that is needed.
        """
        for name in wanted:
            require_numbers(self._columns[name].dtype, f"the column {quoted(name)} of {self.source.name}")
        for start in range((first - 1) // most * most, self.count, most):
            self.passed = last = min(start + most, self.count)
            kept: dict[str, Cells] = {name: _cells(a[start:last]) for name, a in self._columns.items() if keep}
            columns = {name: as_float64(self._columns[name][start:last]) for name in wanted}
            yield Block(np.arange(start + 1, last + 1), columns, kept)


def _cells(array: AnyArray) -> list[object]:
    """List the numbers and texts of an array; a number of a shorter format as its own digits say."""
    match array.dtype.kind:
        case "f" if array.dtype.itemsize < 8:
            array = array.astype(str).astype(float)
        case "m" | "M":
            array = array.astype(str)
        case "S":
            array = np.char.decode(array, "utf-8", "replace")
    found: list[object] = array.tolist()
    return found
