"""What is said on the socket, and the descriptors that go with it.

client    its fingerprint
child     CHILD, its number                 or COLD, as a start differs
client    the call, with its descriptors
child     the exit code
"""

from __future__ import annotations

import _socket
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CHILD, COLD = b"C", b"F"

LONGEST = 2**24
"""Bytes of one message; a system takes no more than some 2**21 in arguments and variables."""

MOST_DESCRIPTORS = 200

NUMBER = 4
"""Bytes of a number."""


def number(value: int) -> bytes:
    """A number as it is sent."""
    return value.to_bytes(NUMBER, "big", signed=True)


def value(data: bytes) -> int:
    """The number that was sent."""
    return int.from_bytes(data, "big", signed=True)


def received(connection: _socket.socket, size: int) -> bytes:
    """So many bytes.

    Raises:
        EOFError: There are fewer.
        OSError: The connection broke, or its time is over.
    """
    data = b""
    while len(data) < size:
        more = connection.recv(min(size - len(data), 2**20))
        if not more:
            raise EOFError
        data += more
    return data


def message(data: bytes) -> bytes:
    """What is sent of any length."""
    return number(len(data)) + data


def body(connection: _socket.socket) -> bytes:
    """What was sent so.

    Raises:
        EOFError, OSError: As `received`.
    """
    return received(connection, min(value(received(connection, NUMBER)), LONGEST))


def send_with(connection: _socket.socket, data: bytes, descriptors: Sequence[int]) -> None:
    """Send a message of any length, and open files."""
    data = message(data)
    rights = b"".join(d.to_bytes(4, sys.byteorder) for d in descriptors)
    rest = data[connection.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)]) :]
    if rest:  # or the other end may have done all, and be gone
        connection.sendall(rest)


def receive_with(connection: _socket.socket) -> tuple[bytes, list[int]]:
    """A message and the open files beside it, which are not passed on to other programs.

    Raises:
        EOFError, OSError: As `received`.
    """
    room = _socket.CMSG_SPACE(4 * (MOST_DESCRIPTORS + 1))
    first, ancillary, _, _ = connection.recvmsg(NUMBER, room)
    descriptors = [
        int.from_bytes(rights[k : k + 4], sys.byteorder)
        for level, kind, rights in ancillary
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS)
        for k in range(0, len(rights) - 3, 4)
    ]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    first += received(connection, NUMBER - len(first))
    return received(connection, min(value(first), LONGEST)), descriptors


def peer(connection: _socket.socket) -> int:
    """The user at the other end; -1 where the system does not say."""
    if hasattr(_socket, "SO_PEERCRED"):
        found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(found[4:8], sys.byteorder)
    if hasattr(_socket, "LOCAL_PEERCRED"):  # of the BSDs: a version, then the user
        found = connection.getsockopt(0, _socket.LOCAL_PEERCRED, 76)
        return int.from_bytes(found[4:8], sys.byteorder)
    return -1
