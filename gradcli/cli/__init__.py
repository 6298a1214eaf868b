"""The shell: options in, exit codes out.  `main` is the only exit; it holds no logic and imports lazily.

Nothing else is imported before an interrupt is heeded.

app                              the application: its commands, its errors, its exit codes
commands                         the commands on a function at a point, whose docstrings are their helps
streams                          the commands for many: map, batch and its requests in words, and run
info_commands                    the commands about gradcli itself: functions, guide, config, warm, completion
parameters                       the table of options as Typer's parameters; their words as arguments
default_command                  the command that is meant by the first word
expression                       options and arguments told apart, and its mistakes; groups in the help
output                           an answer on stdout or in a file, and what is known before all is read
settings                         defaults from the environment and a file
console                          what stdout and stderr can show, and writing to them; the pager; what takes so long

A new command on a function is its question in `gradcli.questions`, a method of `Function`, its name at its options in
`gradcli.options`, and a function with its help in `commands`.
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


def process(*, is_forked: bool = False) -> int:
    """`main` as a process of its own: what it leaves behind ends with it.

    An interrupt ends it at once.  Python would look for cycles among all the objects of torch before it ends, which
    takes a fifth of a short command.
    """
    signals.end_on_interrupt(INTERRUPTED)
    try:
        code = main()
        if not is_forked:
            from gradcli.cli.info_commands import begin_if_wanted

            begin_if_wanted(sys.argv[1:])
    finally:
        import gc

        gc.freeze()
    if "gradcli.running.targets" in sys.modules:  # a thread of the user's must not keep the process
        from gradcli.running.targets import end

        end(code)
    return code
