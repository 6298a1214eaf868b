"""The options of the commands: each is an annotation, written once, that a command has in its signature.

Typer reads the name, the help and the type; `Fact` has what Typer does not know.  The keys of requests, the settings,
completion and the command reference are read from the same annotations (`gradcli.cli.signatures`); a test compares the
keyword arguments of `Function` with them.  Options of one part are with its command.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

from typer import Argument, Option

from gradcli.cli.typer_internals import LaterChoice, NumberOrWord, one_of
from gradcli.formats import COLORS
from gradcli.registry import files_of_commands, formats, formats_of_parts

FORMAT_VARIABLE, COLOR_VARIABLE = "GRADCLI_FORMAT", "GRADCLI_COLOR"
"""Environment variables of defaults; the values of a function never come from the environment."""


class OptionKind(Enum):
    """Kind of an option's value, as requests and Python take it."""

    INPUTS = "values by variable; without a name, of the only one"
    VALUES = "the same of derivatives"
    DIRECTIONS = "the same of directions"
    VECTOR = "one gradient vector"
    VECTORS = "several of them"
    TEXT = "an expression"
    TEXTS = "expressions by variable"
    SHAPES = "sizes by variable"
    RANGES = "pairs of bounds by variable"
    VARIABLES = "names of variables"
    STATEMENTS = "names of statements"
    VERDICTS = "verdicts"
    SWITCH = "on or off"
    NUMBER = "a number"
    WHOLE = "a whole number"
    CHOICE = "one of a few words"
    FILE = "a file"
    WORD = "a word"


@dataclass(frozen=True)
class Fact:
    """Facts about an option that Typer does not know.

    Attributes:
        kind: The kind of its value; None where its type says so.
        is_presentation: Whether it is about the shell's presentation of the answer, and not part of the question.
        is_setting: Whether the file of settings may set it: presentation of answers, and demands on them.
        variable: The variable of the environment with its default, where the shell has no option for it.
        more_help: Returns the end of its help, which names what parts add.
    """

    kind: OptionKind | None = None
    is_presentation: bool = False
    is_setting: bool = False
    variable: str = ""
    more_help: Callable[[], str] | None = None


PRESENTATION = Fact(is_presentation=True)
DEMAND = Fact(is_presentation=True, is_setting=True)
"""Facts of an option that the shell alone has, and of one that may be a setting too."""

Expression = Annotated[
    str,
    Argument(
        metavar="EXPR",
        show_default=False,
        help='The function, such as "x**2"; variables are its free names. @FILE reads it from a file, @- from standard '
        "input. FILE.py::NAME and MODULE:NAME are functions of Python, which are run and recorded.",
    ),
]

# -- options of questions

Forward = Annotated[
    bool,
    Option("--forward", show_default=False, help="Compute Ju by forward mode, as torch.func.jvp does."),
]

At = Annotated[
    list[str] | None,
    Option(
        "--at",
        metavar="[NAME=]VALUE",
        help="A variable's value: 1, or 1,2, or [[1,2],[3,4]], or linspace(0,1,5). The name may be left out where "
        "there is one variable. Repeat for more. @FILE reads .npy, .npz:NAME, .csv:COLUMN, .tsv, .txt, .dat or "
        ".json:KEY, where a column has a name or a number from 0; @- reads standard input, once, unless it is a "
        "terminal. @@ is an @ that reads nothing.",
    ),
    Fact(OptionKind.INPUTS),
]
Shape = Annotated[
    list[str] | None,
    Option(
        "--shape",
        metavar="[NAME=]SIZES",
        help="Without --at the answer is a formula, and this is the shape of a variable: 3, or n, or m,n, or () of a "
        "number; a name stands for any size. By default what the expression and a claim need. Repeat for more.",
    ),
    Fact(OptionKind.SHAPES),
]
Along = Annotated[
    list[str] | None,
    Option(
        "--along",
        metavar="[NAME=]VALUE",
        help="The direction in which tensors move from their --at: ones, e0, or a value. What moves is t, by default "
        "in -1..1.",
    ),
    Fact(OptionKind.DIRECTIONS),
]
V = Annotated[
    str | None,
    Option(
        "--v",
        metavar="VALUE",
        help="The gradient vector, of y's shape: a value, or ones, or e0 (ones over y[0]), or e0_1 (the element y[0,1] "
        "alone), or @FILE or @- as for --at. Default: 1, if y has one element.",
    ),
    Fact(OptionKind.VECTOR),
]
SeveralV = Annotated[
    list[str] | None,
    Option(
        "--v",
        metavar="VALUE",
        help="The gradient vector, of y's shape: a value, or ones, or e0 (ones over y[0]), or e0_1 (the element y[0,1] "
        "alone), or @FILE or @- as for --at. Repeat for more, a product each. Default: 1, if y has one element.",
    ),
    Fact(OptionKind.VECTOR),
]
Vs = Annotated[list[str] | None, Fact(OptionKind.VECTORS)]
"""Several gradient vectors, of requests and Python; the shell repeats `--v`."""

U = Annotated[
    list[str] | None,
    Option(
        "--u",
        metavar="[NAME=]VALUE",
        help="The direction in which a variable moves, of its shape: a value, or ones, or e0 (along x[0]), or e0_1 "
        "(along x[0,1]), or @FILE or @- as for --at. The name may be left out where there is one variable. Repeat for "
        "more; a variable without one is held constant. Default: 1, if there is one element in all.",
    ),
    Fact(OptionKind.DIRECTIONS),
]
Loss = Annotated[
    str | None,
    Option(
        "--loss",
        metavar="TEXT",
        help='In place of --v, a loss of one element in y by the output\'s name, such as "sum((y - t)**2)": v is its '
        "derivative by y. Names such as t take values from --at. @FILE reads it.",
    ),
    Fact(OptionKind.TEXT),
]
Accumulate = Annotated[
    bool,
    Option(
        "--accumulate",
        show_default=False,
        help="Show what .grad holds after each pass, where every --v is a backward pass and nothing is set to zero.",
    ),
]
Sparse = Annotated[
    bool,
    Option(
        "--sparse",
        show_default=False,
        help="Compute only the entries that are not 0 by structure, a few products in place of all rows. A matrix of "
        "more than 1,000,000 entries is computed so of itself, if fewer than 5 in 100 are not 0; -o FILE.mtx and "
        "FILE.parquet ask for it.",
    ),
]
Pattern = Annotated[
    bool,
    Option(
        "--pattern",
        show_default=False,
        help="The places of these entries alone, as solvers of SciPy take them for jac_sparsity.",
    ),
]
Wrt = Annotated[
    str | None,
    Option(
        "--wrt",
        metavar="NAMES",
        help="The variables to differentiate by, separated by commas. All by default.",
    ),
    Fact(OptionKind.VARIABLES),
]
Dtype = Annotated[
    Literal["float64", "float32"] | None,
    Option(
        "--dtype",
        envvar="GRADCLI_DTYPE",
        help="The floating-point type of the computation. Default: that of a snippet's tensors, or float64.",
    ),
    Fact(is_setting=True),
]
Device = Annotated[
    Literal["cpu", "cuda", "mps", "xpu", "auto"] | None,
    Option(
        "--device",
        help="Where torch computes; the truth is always that of the CPU. auto: the first of cuda, mps and xpu that is "
        "there. Default: cpu, or where the tensors of a function's module are.",
    ),
    Fact(is_setting=True),
]

# -- options for showing an answer


def _formats_of_parts() -> str:
    """Write what the formats of parts are, at the end of a list."""
    words = [one.help for one in formats_of_parts() if one.help]
    return "".join(f", {word}" for word in words[:-1]) + "".join(f", or {word}" for word in words[-1:]) + "."


def _files_of_parts() -> str:
    """Write the suffixes of the formats of parts, and of the files that some commands alone write."""
    of_formats = [f", {one.suffixes[0]}" for one in formats_of_parts() if one.suffixes]
    of_commands = [f"; {_listed(kinds)} of {_listed(names)}" for kinds, names in files_of_commands().items()]
    return "".join([*of_formats, *of_commands]) + ". With --format any other suffix."


def _listed(words: Sequence[str]) -> str:
    """Write a list: `plot, jacobian and hessian`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


FORMAT = Fact(is_presentation=True, is_setting=True, more_help=_formats_of_parts)
"""Facts of the option for the format."""

Format = Annotated[
    str,
    Option(
        "--format",
        click_type=LaterChoice(formats),
        envvar=FORMAT_VARIABLE,
        help="A screen of tables, all tables, one line of JSON, a row of CSV an entry, the bare numbers",
    ),
    FORMAT,
]
Full = Annotated[
    bool, Option("--full", show_default=False, help="The same as --format full: all there is to say."), PRESENTATION
]
Json = Annotated[bool, Option("--json", show_default=False, help="The same as --format json."), PRESENTATION]
Color = Annotated[
    str,
    Option(
        "--color",
        click_type=one_of(COLORS),
        envvar=COLOR_VARIABLE,
        help="Whether tables and messages have colours; auto: as FORCE_COLOR, NO_COLOR or the terminal says.",
    ),
    DEMAND,
]
Digits = Annotated[
    str | None,
    Option(
        "--digits",
        metavar="N|all",
        click_type=NumberOrWord(1, 17, "all"),
        envvar="GRADCLI_DIGITS",
        help="Significant digits of every number shown. By default 6 in the tables of a terminal; elsewhere all, as "
        "many as it takes to read a number back.",
    ),
    Fact(OptionKind.WHOLE, is_presentation=True, is_setting=True),
]
OutputFile = Annotated[
    str | None,
    Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to a file, whole or not at all, as its suffix says: .csv, .json, .txt (a table), .npy (one array), "
        ".npz (all arrays; of a sparse matrix, SciPy's)",
    ),
    Fact(OptionKind.FILE, is_presentation=True, more_help=_files_of_parts),
]
Picture = Annotated[
    bool,
    Option(
        "--picture",
        show_default=False,
        help="Draw the signs and sizes of the entries, and the zeros that the formula proves, in place of the numbers.",
    ),
    PRESENTATION,
]
Theme = Annotated[
    Literal["light", "dark"] | None,
    Option("--theme", help="The ground of a picture in a file. By default light; of a graph, the reader's."),
    DEMAND,
]
Quiet = Annotated[
    bool,
    Option(
        "--quiet/--no-quiet",
        "-q",
        show_default=False,
        help="Write no warnings and no notes to stderr; errors are written.",
    ),
    DEMAND,
]
NoPager = Annotated[
    bool,
    Option(
        "--no-pager/--pager",
        show_default=False,
        help="Do not show through the pager what is longer than the screen of the terminal.",
    ),
    DEMAND,
]

# -- options for checks

Budget = Annotated[
    int | None,
    Option(
        "--budget",
        metavar="N",
        min=1,
        max=3600,
        help="Seconds for all checks and searches; what is left is counted. Default: 5 of processor time.",
    ),
    DEMAND,
]
NoCheck = Annotated[
    bool,
    Option("--no-check/--check", show_default=False, help="Do not compare the numbers with the reference."),
    Fact(is_setting=True),
]
Strict = Annotated[
    bool,
    Option("--strict/--no-strict", show_default=False, help="Exit with 1 unless the verdict of the check is agree."),
    DEMAND,
]
RequireAll = Annotated[
    bool,
    Option(
        "--require-all/--no-require-all",
        show_default=False,
        help="Exit with 1 unless every entry was checked, and not a sample of them.",
    ),
    DEMAND,
]

ExitZero = Annotated[
    bool,
    Option(
        "--exit-zero",
        show_default=False,
        help="Exit with 0 whatever the verdict is; errors keep their exit codes.",
    ),
    PRESENTATION,
]

Warm = Annotated[bool, Fact(is_setting=True, variable="GRADCLI_WARM")]
"""Whether the first call starts the warm process: a setting, and an option of no command."""

# -- options that commands share, by what they are about: a command has those of the functions that `shares` names


def output_options(
    format: Format = "table",  # noqa: A002
    full: Full = False,
    json: Json = False,
    color: Color = "auto",
    digits: Digits = None,
    output: OutputFile = None,
) -> None:
    """Declare the options of output: file, format and digits."""


def matrix_options(picture: Picture = False, theme: Theme = None) -> None:
    """Declare the options for drawing a matrix."""


def figure_options(theme: Theme = None) -> None:
    """Declare the options for drawing a figure."""


def remark_options(quiet: Quiet = False, pager: NoPager = False) -> None:
    """Declare the options for remarks and the pager."""


def budget_options(budget: Budget = None) -> None:
    """Declare the option for the time of an answer."""


def check_options(
    budget: Budget = None,
    check: NoCheck = False,
    strict: Strict = False,
    require_all: RequireAll = False,
    exit_zero: ExitZero = False,
) -> None:
    """Declare the options for the check of numbers."""


def exit_options(exit_zero: ExitZero = False) -> None:
    """Declare the option for the exit code of a command that judges unasked."""
