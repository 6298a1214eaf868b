"""The program that a test starts: it hands all that it was given to the server, and ends as the server's process does.

It runs without `site`, and before anything else is opened it looks what is open.
"""

import os


def _open() -> list[int]:
    found = []
    for name in os.listdir("/dev/fd"):
        try:
            os.fstat(int(name))
        except OSError:
            continue  # the folder that was just read
        found.append(int(name))
    return found


if __name__ == "__main__":
    descriptors = _open()

    import json
    import socket
    import sys

    _, path, *words = sys.argv
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        given = json.dumps([words, os.getcwd(), dict(os.environ), descriptors]).encode()
        socket.send_fds(server, [len(given).to_bytes(8, "big")], descriptors)
        server.sendall(given)
        code = int.from_bytes(server.recv(8), "big", signed=True)
    os._exit(code if code >= 0 else 128 - code)
