"""An interpreter that is forked: `python -m tests.warm.scripts SCRIPT ...` hands the script to its process.

The process that it belongs to has imported what `gradcli` has, or nothing, which is enough for tests of calls.  With
the word `run` first, it is `gradcli run`, which the installed command starts anew for each script.
"""

import functools
import os
import runpy
import sys
import time
from collections.abc import Sequence

from gradcli.parts import is_listed

if is_listed("warm"):  # without which no process is started, and each script runs cold
    from gradcli.parts.warm import client, server


def serve(kind: str, idle: float) -> None:
    """Serve `gradcli`, or scripts with all packages (`python`) or without torch (`light`), forked slowly (`slow`)."""
    if kind == "slow":
        os.register_at_fork(before=lambda: time.sleep(0.1))
    if kind == "gradcli":
        server.main(idle)
    else:
        server.serve(idle, server.say_ready, server.loaded if kind == "python" else int, _run)


def serve_both(folders: Sequence[str], idle: float) -> None:
    """Serve `gradcli` and scripts with all packages, from two processes that are forked after the imports.

    Args:
        folders: Where the programs look for their processes.
        idle: Seconds without a call after which they end.
    """
    from gradcli.cli import process

    threads = server.loaded()
    programs = (functools.partial(process, is_forked=True), _run)
    is_child = os.fork() == 0
    os.environ["XDG_RUNTIME_DIR"] = folders[is_child]
    server.serve(idle, server.say_ready, lambda: threads, programs[is_child])


def _run() -> int:
    """The script of this call, as the interpreter or `gradcli run` runs it."""
    if sys.argv[1] == "run":
        from gradcli.cli import process

        return process()
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


if __name__ == "__main__":
    code = None
    if is_listed("warm"):
        client.PATIENCE = float(os.environ.get("PATIENCE", "5"))  # whatever else the machine does
        code = client.answered()
    if code is None:
        sys.exit(_run())  # a process of its own, which ends as one
    os._exit(code)
