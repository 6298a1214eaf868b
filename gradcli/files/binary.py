"""NumPy's own files, .npy and .npz, to float64 arrays, and from arrays.

The header is matched, not evaluated, and the bytes are taken as numbers: there is no path to a pickle.  The format:
https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError, TooLargeError
from gradcli.files.decoding import Array, choice, require_room, shown

MAGIC = b"\x93NUMPY"

_VERSIONS = ((1, 0), (2, 0), (3, 0))
"""Of the format; the length of the header has two bytes in the first, four in the others."""

HEADER_BYTES = 2**16
"""Bytes in which a header must end; NumPy itself reads 10,000."""

PART_BYTES = 2**20
"""Bytes of numbers that are read at once."""

DIRECTORY_BYTES = 2**22
"""Bytes of an archive's table of contents: some tens of thousands of arrays."""

SCALE = "scale the numbers before they are saved"
"""What to do about a number of more than eight bytes that float64 has not."""

_DESCR = re.compile(r"""['"]descr['"]\s*:\s*(?:['"]([^'"]*)['"]|[\[(])""")
FORTRAN = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([\d,\s]*)\)""")
_TYPE = re.compile(r"[<>=|]?([a-zA-Z?])(\d{0,2})")

_REFUSED = {
    "O": ("Python objects, which are pickled and never loaded", "convert it with .astype(float)"),
    "c": ("complex numbers, and complex numbers are not read", "save the real and the imaginary part on their own"),
    "U": ("text", "convert it with .astype(float)"),
    "S": ("text", "convert it with .astype(float)"),
    "M": ("dates", "convert it with .astype(float)"),
    "m": ("time differences", "convert it with .astype(float)"),
}
"""What the letters of types that are not real numbers stand for, and the fix."""


def read_npy(stream: IO[bytes], name: str, part: str | None = None, head: bytes = b"") -> Array:
    """The one array of an .npy file, `head` being what was already read of it.

    Raises:
        InputError: It is not such a file, is cut short, or holds other than real numbers.
        TooLargeError: Its header claims more than is held.
    """
    if part is not None:
        raise InputError(f"{name} is one array and has no part {shown(part)}", hint="leave out the colon and the name")
    head += stream.read(HEADER_BYTES - len(head))
    # One read may hold the header and the first numbers: those are copied, the rest is read in place.
    header, start = header_of(head, name)
    dtype, shape, order = _layout(header, name)
    array = np.empty(math.prod(shape), dtype)
    room = array.view(np.uint8).data
    size = len(room)
    begun = head[start : start + size]
    room[: len(begun)] = begun
    done = len(begun)
    # A part at a time: an archive's member unpacks all that it is asked for beside the array, and then copies it.
    while done < size and (read := stream.readinto(room[done : done + PART_BYTES])):  # type: ignore[attr-defined]
        done += read
    if done < size:
        message = f"{name} is cut short: its header claims {size:,} bytes of numbers, and {done:,} are there"
        raise InputError(message, hint="save or copy it again")
    # A longer file is not what its header says: better refused than cut to the first array.
    if len(head) > start + size or stream.read(1):
        message = f"{name} goes on after its array, which has {math.prod(shape):,} elements"
        raise InputError(message, hint="save one array a file, or several with numpy.savez")
    return as_float64(array, name).reshape(shape, order=order)


def header_of(head: bytes, name: str) -> tuple[str, int]:
    """The header's text, and where it ends."""
    if not head.startswith(MAGIC):
        hint = "save it with numpy.save; a file of text is named .csv, .txt or .json"
        raise InputError(f"{name} is not an .npy file: it does not begin as one", hint=hint)
    version = tuple(head[6:8])
    if len(version) == 2 and version not in _VERSIONS:
        message = f"{name} is an .npy file of version {'.'.join(map(str, version))}, and 1.0 to 3.0 are known"
        raise InputError(message, hint="save it again with numpy.save")
    try:
        kind = "<H" if head[6] == 1 else "<I"
        start = 8 + struct.calcsize(kind)
        stop = start + int(struct.unpack_from(kind, head, 8)[0])
    except (IndexError, struct.error):
        stop = start = len(head) + 1
    if stop > len(head):
        raise InputError(f"{name} is cut short or damaged: its header has no end", hint="save or copy it again")
    return head[start:stop].decode("latin-1"), stop


def _layout(header: str, name: str) -> tuple[np.dtype[Any], tuple[int, ...], Literal["C", "F"]]:
    """The element type, the shape and the order that a header claims, once they are known to be fit."""
    descr, fortran, sizes = (pattern.search(header) for pattern in (_DESCR, FORTRAN, SHAPE))
    if descr is None or fortran is None or sizes is None:
        raise InputError(f"the header of {name} is damaged", hint="save or copy it again")
    # Sixteen digits of a size are enough to refuse it, and int() of a million of them would take long.
    shape = tuple(int(size[:16]) for size in re.findall(r"\d+", sizes[1]))
    dtype = element_type(descr[1], name)
    require_room(shape, name)
    return dtype, shape, "F" if fortran[1] == "True" else "C"


def element_type(descr: str | None, name: str) -> np.dtype[Any]:
    """The type that a header claims, of real numbers.

    Raises:
        InputError: It is of other things.
    """
    match = _TYPE.fullmatch(descr or "")
    letter = match[1] if match else (descr or "").lstrip("<>=|")[:1]
    what, hint = _REFUSED.get(letter, ("records or raw bytes", "save one of their fields, as numbers"))
    if match and letter in "?biuf":
        try:
            return np.dtype(match[0])
        except TypeError:
            what, hint = f"numbers of the type {shown(match[0])}, which is not known here", "save it as float64"
    raise InputError(f"{name} holds {what}", hint=hint)


def as_float64(array: npt.NDArray[Any], name: str) -> Array:
    """The same in float64.

    Raises:
        InputError: A number is beyond its range.
    """
    numbers, beyond = within_float64(array)
    if beyond is not None:
        raise InputError(f"{name} holds a number that is beyond the range of float64", hint=SCALE)
    return numbers


def within_float64(array: npt.NDArray[Any]) -> tuple[Array, npt.NDArray[np.bool_] | None]:
    """The same in float64, and which numbers are beyond its range, where it is infinite; None if none is."""
    if array.dtype.kind == "b":
        array = array.view(np.uint8) != 0  # a byte may be 2, and is true all the same
    with np.errstate(all="ignore"):
        numbers: Array = array.astype(np.float64, copy=False)
    # No type of eight bytes or fewer holds a number beyond float64.
    if array.dtype.itemsize <= 8:
        return numbers, None
    beyond = np.isinf(numbers) & np.isfinite(array)
    return numbers, beyond if beyond.any() else None


def read_npz(stream: BinaryIO, name: str, part: str | None) -> Array:
    """The array of an .npz file that is named, or the only one.

    Raises:
        InputError: It is not such a file, has no such array or several to choose from; else as for `read_npy`.
        TooLargeError: Its table of contents, or the array, is larger than is held.
    """
    damaged = f"{name} is not an .npz file, or is damaged"
    try:
        _require_small_directory(stream, name)
        with zipfile.ZipFile(stream) as archive:
            members = members_of(archive, name)
            member = members[_chosen(list(members), name, part)]
            # Deflate gives out no more than it is asked for; bzip2 and LZMA give out whatever a block unpacks to.
            if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                message = f"the array {shown(member.filename)} of {name} is encrypted, or compressed in another way"
                raise InputError(message, hint="save it with numpy.savez or numpy.savez_compressed")
            with archive.open(member) as content:
                return read_npy(content, f"{name[:-1]}:{member.filename.removesuffix('.npy')}'")
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, NotImplementedError):
        raise InputError(damaged, hint="save it again with numpy.savez") from None


def members_of(archive: zipfile.ZipFile, name: str) -> dict[str, zipfile.ZipInfo]:
    """The arrays of an archive by their names.

    Raises:
        InputError: Two have one name, of which either may be meant.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        known = member.filename.removesuffix(".npy")
        if known in members:
            raise InputError(f"{name} has two arrays {shown(known)}", hint="save it again with numpy.savez")
        members[known] = member
    return members


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


def _require_small_directory(stream: BinaryIO, name: str) -> None:
    """Refuse an archive whose table of contents would itself fill the memory, or that is beyond 4 GiB."""
    size, is_large = directory(stream)
    if size > DIRECTORY_BYTES or is_large:
        message = f"the archive {name} is too large: at most 4 GiB, with {DIRECTORY_BYTES // 2**20} MiB of names"
        raise TooLargeError(message, hint="save the array in a file of its own, with numpy.save")


def directory(stream: BinaryIO) -> tuple[int, bool]:
    """The bytes of an archive's table of contents, which `zipfile` reads whole, and whether it may be beyond 4 GiB.

    It is described in the last record of the file: the signature, four numbers of two bytes, the table's size and place
    of four bytes each.  Archives beyond 4 GiB have the place of a longer record before it.

    Raises:
        BadZipFile: There is no such record.
    """
    end = stream.seek(0, 2)
    # The last record is 22 bytes and a comment below 64 KiB; the locator of the longer one has 20 before it.
    stream.seek(max(0, end - 2**16 - 42))
    tail = stream.read()
    stream.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise zipfile.BadZipFile
    if not tail[max(0, at - 20) : at].startswith(b"PK\x06\x07"):
        return struct.unpack_from("<I", tail, at + 12)[0], False
    place = struct.unpack_from("<Q", tail, at - 12)[0]
    stream.seek(min(place, end))
    size = struct.unpack_from("<Q", stream.read(56).ljust(56, b"\0"), 40)[0]
    stream.seek(0)
    return size, True


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
