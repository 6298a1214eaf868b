"""The shell: options in, exit codes out.  `main` is the only exit; it holds no logic and imports lazily.

Nothing else is imported before the handling of an interrupt is in place.

app                              the application: its commands, its errors, its exit codes
options                          the options that commands share, an annotation each
question_commands                the commands of the core on a function: help and options of each
info_commands                    the commands about gradcli itself: functions, config, completion
guide_command                    the command guide: pages and sections of the manual
signatures                       the options of a command, read from its signature
commands                         commands built by Typer; a command line on a function, and its answer
parameters                       the words of options as arguments of `Function`
default_command                  the command that the first word means
suggestions                      command lines that a wrong or foreign one may mean, each tried before it is shown
expression                       options and arguments told apart, mistakes in them; groups of commands in the help
output                           an answer on stdout or in a file; formats and colours read before the options are
settings                         defaults from the environment and a file
console                          stdout and stderr: their width, colours and signs; the pager; the line of progress
narrow_help                      long lines of a page of help, broken on a narrow terminal
typer_internals                  what Typer does not promise, and gradcli needs

A new command is a line of `gradcli.registry`, or of the part that it is of; a function with its options and its help;
and, if it is a question on a function, its method.
"""

from __future__ import annotations

import sys

from gradcli import signals
from gradcli.complete_output import complete_standard_streams
from gradcli.parts import all_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.parts.part import Part

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT."""

BROKEN_PIPE = 141
"""Exit code when the reader of stdout has closed it: 128 + SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Args:
        arguments: The words after the name of the program; by default those of the process.
    """
    try:
        from gradcli.cli.app import run

        return run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE


def _hide_own_warnings() -> None:
    """Ignore NumPy's warnings about lines of gradcli: what overflows there is judged, and no news to a user.

    The tests make them errors; those about lines of the user's code are shown as ever.
    """
    import warnings

    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradcli\.")


def _parts() -> tuple[Part, ...]:
    """Return the parts; none where one cannot be loaded, which `main` has reported."""
    from gradcli.errors import GradcliError

    try:
        return all_parts()
    except GradcliError:
        return ()


def process(*, is_forked: bool = False) -> int:
    """Run `main` as a process of its own; threads that code of the user left running end with it.

    An interrupt ends it at once.  Python would look for cycles among all the objects of torch before it ends, which
    takes a fifth of a short command.
    """
    signals.end_on_interrupt(INTERRUPTED)
    complete_standard_streams()
    _hide_own_warnings()
    try:
        code = main()
        parts = _parts()
        for part in () if is_forked else parts:
            part.after_call(sys.argv[1:])
    finally:
        import gc

        gc.freeze()
    for part in parts:
        part.end_process(code)
    if code == INTERRUPTED:
        signals.die_if_typed()
    return code
