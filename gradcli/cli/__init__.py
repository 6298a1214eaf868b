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
questions_in_words               questions in the words of a textbook, `d/dx x^2`, as command lines
plain_words                      words of English for signs and commands: `x squared`, `slope of x^2 at 3`
higher_derivatives               derivatives above the second, as people ask for them, refused
equations_in_words               equations of two variables, as command lines for their partial derivatives
ranges_in_words                  functions with the range of a variable, `x^2 on [0, 1]`, as command lines
written_ranges                   ranges as people write them, `x between 0 and 1`, with two dots between the ends
unicode_words                    full-width signs and odd blanks of words, as those of ASCII
typed_line                       the words of a command line that may be wrong, told apart
typed_values                     values of options as they were typed
respelling                       rows that rewrite the words of a command line
respelled_options                those that rewrite options
typed_ranges                     those that join the words of ranges, and give infinite ones finite ends
respelled_values                 those that rewrite values
random_values                    those that rewrite random numbers and seeds
respelled_mathematics            those that ask what signs of paper ask: integrals, lengths of vectors
respelled_orders                 those that ask for higher derivatives as the second one of a formula
spelled_hints                    command lines that the words of a hint spell
kept_words                       what a hint keeps of an equation that was typed
tried_hints                      command lines that are read before a hint shows them
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
