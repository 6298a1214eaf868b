"""The shell: options in, exit codes out.  `main` is the only exit; it holds no logic and imports lazily.

Nothing else is imported before an interrupt is heeded.
"""

from __future__ import annotations

import sys

from gradcli import signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT."""

BROKEN_PIPE = 141
"""Exit code when the reader went away: 128 + SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Args:
        arguments: Without the program's name; those of the process by default.
    """
    try:
        from gradcli.cli.app import run

        return run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE


def process() -> int:
    """`main` as a process of its own, the entry point of `gradcli`: what it leaves behind ends with it.

    An interrupt ends it at once.  Python would look for cycles among all the objects of torch before it ends, which
    takes a fifth of a short command.
    """
    signals.end_on_interrupt(INTERRUPTED)
    try:
        return main()
    finally:
        import gc

        gc.freeze()
