"""Messages on the socket, and the descriptors that go with them.

server    ACCEPTED, and the client waits for its turn
child     CHILD, its number
client    the call, with its folder and its streams
child     the exit code
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

ACCEPTED, CHILD = b"A", b"C"

NUMBER = 4
"""Bytes of a number."""


def number(value: int) -> bytes:
    """Encode a number to be sent."""
    return value.to_bytes(NUMBER, "big", signed=True)


def value(data: bytes) -> int:
    """Decode a number that was sent."""
    return int.from_bytes(data, "big", signed=True)


def received(connection: _socket.socket, size: int) -> bytes:
    """Receive `size` bytes.

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


def peer(connection: _socket.socket) -> int:
    """Get the user at the other end; -1 where the system does not say."""
    import _socket

    if hasattr(_socket, "SO_PEERCRED"):
        found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(found[4:8], sys.byteorder)
    if hasattr(_socket, "LOCAL_PEERCRED"):  # of the BSDs: a version, then the user
        found = connection.getsockopt(0, _socket.LOCAL_PEERCRED, 76)
        return int.from_bytes(found[4:8], sys.byteorder)
    return -1
