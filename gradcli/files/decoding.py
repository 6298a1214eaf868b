"""Bytes to text, with a bound, and how messages show pieces of what was read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from gradcli.errors import InputError, TooLargeError, did_you_mean

TEXT_BYTES = 2**25
"""Bytes of text that are read, 32 MiB: two million numbers of full length.

At worst, with a digit a number, parsing takes a quarter of a minute and a gigabyte; .npy has no such limit.
"""

_CELL = 40
"""Characters of a cell or a name that a message shows."""

_MOST_NAMES = 8
"""Columns, keys or arrays that a hint lists."""


def read_text(stream: BinaryIO, name: str, head: bytes = b"") -> str:
    r"""The rest of the stream as text, `head` before it, every line ending as `\n`.

    Raises:
        TooLargeError: There is more than `TEXT_BYTES`.
        InputError: It is not UTF-8, with or without a byte order mark.
    """
    data = head + stream.read(TEXT_BYTES + 1 - len(head))
    if len(data) > TEXT_BYTES:
        raise TooLargeError(
            f"{name} has more than {TEXT_BYTES // 2**20} MiB of text, the most that is read",
            hint="save the numbers with numpy.save and give the .npy file",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name} is not text in UTF-8, from byte {error.start} on"
        raise InputError(message, hint="save it as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def unreadable(name: str, error: OSError) -> InputError:
    """What to say of a file or a stream that the system does not give."""
    reason = (error.strerror or str(error)).lower()
    return InputError(f"{name} cannot be read: {reason}", hint="it must be a file that you may read")


def shown(word: str) -> str:
    """A cell or a name in quotes, cut to what a message has room for.

    >>> shown("abc")
    "'abc'"
    """
    return f"'{word}'" if len(word) <= _CELL else f"'{word[:_CELL]}...'"


def choice(what: str, word: str | None, names: Iterable[str]) -> str:
    """The hint that names what there is to choose, the closest first.

    >>> choice("columns", "prize", ["price", "day"])
    "did you mean 'price'? the columns are 'price', 'day'"
    """
    known = list(names)
    if not known:
        return f"there are no {what}"
    listed = ", ".join(map(shown, known[:_MOST_NAMES])) + ", ..." * (len(known) > _MOST_NAMES)
    closest = did_you_mean(word, known[:1_000]) if word and len(word) < 100 else None
    return f"{closest} the {what} are {listed}" if closest else f"the {what} are {listed}"
