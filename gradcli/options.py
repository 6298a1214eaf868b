"""Every option once: what it takes, what its help says, its default, and which commands have it.

The parameters of the shell, the keys of a request, completion and the command reference are read from this table, and
the keyword arguments of `Function` are held to it by a test: they stay written out, as `help()` and type checkers read
signatures and no tables.  A `Kind` says what a value is; `gradcli.cli.parameters` and `gradcli.requests` read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

DERIVATIVES = ("vjp", "jacobian", "grad", "jvp", "hessian", "hvp")
QUESTIONS = (*DERIVATIVES, "eval", "check", "improve", "explain", "graph", "code")
"""The commands that answer on a function at a point, which are those that a request may have."""

JUDGED = (*DERIVATIVES, "eval", "explain")
"""Those whose numbers are compared with the reference unless that is not wanted."""

FORMATS = ("table", "full", "json", "jsonl", "csv", "tsv", "plain", "latex", "markdown", "html")
COLORS = ("auto", "always", "never")
ROW_SUFFIXES: Mapping[str, str] = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npy": "npy", ".npz": "npz",
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".arrows": "arrows",
}  # fmt: skip
"""The formats of rows by the suffix of the file; `arrows` is the stream."""

ROW_FORMATS = tuple(dict.fromkeys(ROW_SUFFIXES.values()))

FORMAT_VARIABLE, DTYPE_VARIABLE, COLOR_VARIABLE = "GRADCLI_FORMAT", "GRADCLI_DTYPE", "GRADCLI_COLOR"
DIGITS_VARIABLE, PAGER_VARIABLE, CONFIG_VARIABLE = "GRADCLI_DIGITS", "GRADCLI_PAGER", "GRADCLI_CONFIG"
"""Where defaults come from, beside the table; the values of a function never do."""

ON_TERMINALS = 6
"""Digits of the tables of a terminal."""


class Kind(Enum):
    """What the value of an option is, and what stands for it in the help, unless it has words or letters of its own."""

    INPUTS = "values by variable; without a name, of the only one", "[NAME=]VALUE"
    VALUES = "the same of derivatives", "[NAME=]VALUE"
    DIRECTIONS = "the same of directions", "[NAME=]VALUE"
    VECTOR = "one gradient vector", "VALUE"
    VECTORS = "several of them", ""
    TEXT = "an expression", "TEXT"
    TEXTS = "expressions by variable", "[NAME=]FORMULA"
    SHAPES = "sizes by variable", "[NAME=]SIZES"
    RANGES = "pairs of bounds by variable", "[NAME=]LOW..HIGH"
    VARIABLES = "names of variables", "NAMES"
    STATEMENTS = "names of statements", "NAMES"
    VERDICTS = "verdicts", "VERDICTS"
    SWITCH = "on or off", ""
    NUMBER = "a number", "NUMBER"
    WHOLE = "a whole number", "N"
    CHOICE = "one of a few words", ""
    FILE = "a file", "FILE"
    WORD = "a word", ""


BY_VARIABLE = frozenset(kind for kind in Kind if kind.value[1].startswith("[NAME=]"))
"""What there is one of for each variable."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of some commands; one name may stand for several, which differ in their help.

    Attributes:
        name: The keyword argument in Python.
        kind: What it takes.
        of: The commands that have it.
        help: What `--help` says; an option without is none of the shell's.
        default: What holds where it is not given, if that is to be shown; a switch is off, unless it is on by default.
        spelling: Its name elsewhere, where that is no name in Python, or is one of another option's.
        short: Another flag for the same, mostly of one letter.
        variable: Of the environment, for the default.
        choices: The words that it takes.
        bounds: Of a whole number.
        words: What may stand in its place.
        letters: What stands for a word in the help.
        has_several: Whether the shell takes several of one.
        is_required: Whether the shell insists on it.
        is_presentation: Whether it is about how the shell shows the answer, and no part of the question.
        is_setting: Whether a file may set it for good: how answers are shown, and what is demanded of them.
    """

    name: str
    kind: Kind
    of: tuple[str, ...]
    help: str = ""
    default: str | int | bool | None = None
    spelling: str = ""
    short: str = ""
    variable: str | None = None
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None
    words: tuple[str, ...] = ()
    letters: str = ""
    has_several: bool = False
    is_required: bool = False
    is_presentation: bool = False
    is_setting: bool = False

    @property
    def metavar(self) -> str | None:
        """What stands for its value in the help."""
        of_kind = self.letters or self.kind.value[1]
        return "|".join([of_kind, *self.words]) if of_kind and not self.choices else None

    @property
    def is_repeated(self) -> bool:
        """Whether the shell takes it more than once."""
        return self.has_several or self.kind in BY_VARIABLE

    @property
    def key(self) -> str:
        """Its name in a request."""
        return self.spelling or self.name

    @property
    def flag(self) -> str:
        """Its name in the shell; a switch that is on has one that turns it off."""
        return f"--{'no-' * (self.default is True)}{self.key.replace('_', '-')}"

    @property
    def opposite(self) -> str:
        """The flag that takes a switch back where a setting has turned it; no help lists it."""
        return f"--{'no-' * (self.default is not True)}{self.key.replace('_', '-')}"

    @property
    def flags(self) -> tuple[str, ...]:
        """All of its names in the shell."""
        return (self.flag, self.short) if self.short else (self.flag,)


_QUESTIONS, _DERIVATIVES, _JUDGED = map(" ".join, (QUESTIONS, DERIVATIVES, JUDGED))


def _option(row: str, /, help: str = "", **facts: Any) -> Option:  # noqa: A002
    """An option by its name, its kind and the commands that have it, but those after a minus."""
    name, kind, *of = row.split()
    return Option(name, Kind[kind], tuple(one for one in of if one[0] != "-" and f"-{one}" not in of), help, **facts)


def _shown(row: str, /, help: str = "", **facts: Any) -> Option:  # noqa: A002
    """An option of how answers are shown, which a file may set for good."""
    return _option(row, help, is_presentation=True, is_setting=True, **facts)


_GRADIENT_VECTOR = (
    "The gradient vector, of y's shape: a value, or ones, or e0 (ones over y[0]), "
    "or e0_1 (the element y[0,1] alone), or @FILE or @- as for --at."
)
_IMPLICIT = "Default: 1, if y has one element."
_NO_CHECK = "Do not compare the numbers with the reference."
_STRICT = "Exit with 1 unless the verdict of the check is agree."
_REQUIRE_ALL = "Exit with 1 unless every entry was checked, and not a sample of them."

OPTIONS = (
    _option(
        f"at INPUTS {_QUESTIONS} map",
        "A variable's value: 1, or 1,2, or [[1,2],[3,4]], or linspace(0,1,5). "
        "The name may be left out where there is one variable. Repeat for more. "
        "@FILE reads .npy, .npz:NAME, .csv:COLUMN, .tsv, .txt, .dat or .json:KEY; "
        "@- reads standard input, once, unless it is a terminal. @@ is an @ that reads nothing.",
    ),
    _option(
        f"shape SHAPES {_DERIVATIVES}",
        "Without --at the answer is a formula, and this is the shape of a variable: 3, or n, or m,n, or () of a "
        "number; a name stands for any size. By default what the expression needs. Repeat for more.",
    ),
    # -- what a product or a direction needs
    _option("v VECTOR vjp", f"{_GRADIENT_VECTOR} Repeat for more, a product each. {_IMPLICIT}", has_several=True),
    _option("vs VECTORS vjp"),
    _option("v VECTOR explain code", f"{_GRADIENT_VECTOR} {_IMPLICIT}"),
    _option(
        "v VECTOR graph",
        "The gradient vector, as in vjp. Default: 1, if y has one element; else there is no backward pass.",
    ),
    _option(
        "v VECTOR check",
        "Check the entries of vᵀJ for this gradient vector, as in vjp. By default those of the Jacobian.",
    ),
    _option(
        "accumulate SWITCH vjp",
        "Show what .grad holds after each pass, where every --v is a backward pass and nothing is set to zero.",
    ),
    _option(
        "u DIRECTIONS jvp hvp",
        "The direction in which a variable moves, of its shape: a value, or ones, or e0 (along x[0]), or e0_1 "
        "(along x[0,1]), or @FILE or @- as for --at. The name may be left out where there is one variable. "
        "Repeat for more; a variable without one is held constant. Default: 1, if there is one element in all.",
    ),
    _option(
        "show STATEMENTS vjp grad graph",
        "Names of statements, separated by commas: their values and adjoints, as retain_grad() keeps them.",
    ),
    _option(
        "loss TEXT vjp explain",
        "In place of --v, a loss of one element in y by the output's name, such as "
        '"sum((y - t)**2)": v is its derivative by y. Names such as t take values from --at. '
        "@FILE reads it.",
    ),
    _option(
        "points_of VARIABLES vjp jacobian grad eval",
        "Variables that hold many points, one after the other along their first axis, separated by commas. "
        "EXPR is of one point, and there is an answer for each.",
    ),
    # -- graph and code
    _option(
        "drawing CHOICE graph",
        "Only the tree, only the table of tensors, or the graph in the language of Graphviz or Mermaid.",
        spelling="to",
        choices=("tree", "table", "dot", "mermaid"),
        is_presentation=True,
    ),
    _option(
        "to CHOICE code",
        "A script of PyTorch with backward(gradient=v), one of NumPy with the formula of the derivative, a "
        "LaTeX document with all of it, or the text of the function with its values, which gradcli reads.",
        choices=("torch", "numpy", "latex", "gradcli"),
        default="torch",
    ),
    # -- check
    _option(
        "rtol NUMBER check", "How far torch may be off, relative to the truth. Default: 2**-30, or 2**-16 in float32."
    ),
    _option("atol NUMBER check", "How far torch may be off beyond that. Default: 0."),
    _option(
        "claim TEXTS check",
        "A derivative to prove or refute: a gradient, a Jacobian, or vᵀJ in terms of v, "
        "as a formula of the variables. The name may be left out where there is one. Repeat for more; @FILE reads it.",
    ),
    _option("expect VALUES check", "The same as numbers, which are compared at the point; @FILE and @- as for --at."),
    _option("random WHOLE check", "Check at N random points of the box that --in gives."),
    _option(
        "box RANGES check",
        "Where to draw a variable: 0..1, or -pi..pi, or [0,0]..[1,2]. The bounds are values; "
        "they broadcast to the shape of the variable's --at, if it has one. Repeat for more.",
        spelling="in",
    ),
    _option(
        "box RANGES improve",
        "In place of --at, the range of a variable, looked at magnitude by magnitude: 1e-300..1e300. Repeat for more.",
        spelling="in",
    ),
    _option("seed WHOLE check", "Of the random points.", default=0),
    _option(
        "allow VERDICTS check",
        "Verdicts that pass beside agree, separated by commas: kink,removable; "
        "no-counterexample lets claims pass that are neither proved nor refuted.",
    ),
    _option("require_all SWITCH check", _REQUIRE_ALL, is_setting=True),
    _option("differences SWITCH check", "Take finite differences too, as --full does."),
    # -- map
    _option(
        "points FILE map",
        "The rows, one a point, with columns named as variables are: .csv, .tsv, .jsonl, .npy, .npz, .parquet, "
        ".arrow or .arrows, text compressed too, .csv.gz or .csv.zst; a folder, or a pattern in quotes, 'data/*.csv'; "
        "- is standard input. A vector x has columns x[0], x[1], or x0, x1, or one of lists.",
        is_required=True,
    ),
    _option("points_format CHOICE map", "The format of the rows. By suffix; csv of a pipe.", choices=ROW_FORMATS),
    _option(
        "columns VARIABLES map",
        "Names for the columns of rows that have no names, in order, separated by commas: x,y, or x[0],x[1]. "
        "One column of numbers is the only variable without them.",
    ),
    _option(
        "output FILE map",
        "Where to write y and dy_dx. The file has its name when it is whole. A folder, out/, gets a part for each "
        "row group or block. Default: -, standard output.",
        short="-o",
    ),
    _option(
        "output_format CHOICE map",
        "The format written. By suffix; csv on standard output.",
        short="--format",
        choices=ROW_FORMATS,
    ),
    _option("keep SWITCH map", "Write the columns of the input first."),
    _option(
        "on_error CHOICE map",
        "What to do about a row that is at fault: fail, leave it out, or write nan.",
        choices=("fail", "skip", "nan"),
        default="fail",
        is_setting=True,
    ),
    _option(
        "check SWITCH map",
        "Judge a sample of the rows, and say the verdict on stderr; --check N judges N of them. Default: 16.",
        is_setting=True,
    ),
    _option("check_rows WHOLE map", "How many rows --check judges.", bounds=(1, 100_000)),
    _option("rows WORD map", "Only these rows, from 1, both ends: 1..1000, or 1001..", letters="A..B"),
    _option("part WORD map", "Only the Kth of N parts of the rows; joined, they are all.", letters="K/N"),
    _option("workers WHOLE map", "Compute in N processes of Dask. Needs -o FOLDER/.", bounds=(1, 999)),
    _option("scheduler WORD map", "Compute on Dask, tcp://host:8786, into -o FOLDER/.", letters="ADDRESS"),
    _option("resume SWITCH map", "Go on with a run that was ended: its parts that are whole stay."),
    # -- what many have
    _option(
        f"wrt VARIABLES {_QUESTIONS} map run -eval",
        "The variables to differentiate by, separated by commas. All by default.",
    ),
    _option(
        f"dtype CHOICE {_QUESTIONS} map",
        "The floating-point type of the computation. Default: that of a snippet's tensors, or float64.",
        choices=("float64", "float32"),
        variable=DTYPE_VARIABLE,
        is_setting=True,
    ),
    _shown(
        f"format CHOICE {_QUESTIONS} run",
        "A screen of tables, all tables, one line of JSON, a row of CSV an entry, the bare numbers, LaTeX for "
        "amsmath, GitHub's Markdown, or a page of HTML.",
        choices=FORMATS,
        default="table",
        variable=FORMAT_VARIABLE,
    ),
    _option(f"full SWITCH {_QUESTIONS} run", "The same as --format full: all there is to say.", is_presentation=True),
    _shown(
        "format CHOICE functions",
        "Tables, a line of JSON each, a row of CSV each, the names, one a line, LaTeX, Markdown, or HTML.",
        choices=FORMATS,
        default="table",
        variable=FORMAT_VARIABLE,
    ),
    _option(f"json SWITCH {_QUESTIONS} run functions", "The same as --format json.", is_presentation=True),
    _shown(
        f"color CHOICE {_QUESTIONS} run functions",
        "Whether tables and messages have colours; auto: as FORCE_COLOR, NO_COLOR or the terminal says.",
        choices=COLORS,
        default="auto",
        variable=COLOR_VARIABLE,
    ),
    _shown(
        f"digits WHOLE {_QUESTIONS} run functions -code",
        "Significant digits of every number shown. By default 6 in the tables of a terminal; elsewhere all, as "
        "many as it takes to read a number back.",
        bounds=(1, 17),
        words=("all",),
        variable=DIGITS_VARIABLE,
    ),
    _option(
        f"output FILE {_QUESTIONS} functions",
        "Write to a file, whole or not at all, as its suffix says: .csv, .json, .md, .tex, .html, .txt (a table), "
        ".npy (one array), .npz (all arrays); .py of code; .dot and .mmd of graph. With --format any other suffix.",
        short="-o",
        is_presentation=True,
    ),
    _shown(
        f"quiet SWITCH {_QUESTIONS} run map functions",
        "Write no warnings and no notes to stderr; errors are written.",
        short="-q",
    ),
    _shown(
        f"pager SWITCH {_QUESTIONS} functions guide",
        "Do not show through the pager what is longer than the screen of the terminal.",
        default=True,
    ),
    _shown(
        f"budget WHOLE {_JUDGED} check improve run",
        "Seconds for all checks and searches; what is left is counted. Default: 5 of processor time.",
        bounds=(1, 3600),
    ),
    _option(f"check SWITCH {_JUDGED} run", _NO_CHECK, default=True, is_setting=True),
    _shown(f"strict SWITCH {_JUDGED} map run", _STRICT),
    _option("strict SWITCH check", "Fail for lost digits in small entries too.", is_setting=True),
    _shown(f"require_all SWITCH {_JUDGED} map run", _REQUIRE_ALL),
    _option("only WHOLE run", "Show only the Nth pass.", spelling="pass", bounds=(1, 10**9)),
    _option("command TEXT run", "The text of the script, in place of a file.", short="-c"),
    _option("idle WHOLE warm", "Minutes without a call until it ends.", default=15, bounds=(1, 1440)),
    _option("warm SWITCH", variable="GRADCLI_WARM", is_setting=True),  # of no command: the first call heeds it
    _option("groups SWITCH functions", "Only the names, group by group."),
)
"""The table, in the order in which the help of a command lists them."""


def typed(command: str) -> Iterator[Option]:
    """The options that a command has in the shell.

    >>> [option.flags for option in typed("map")][1:4]
    [('--points',), ('--points-format',), ('--columns',)]
    """
    return (option for option in OPTIONS if command in option.of and option.help)


def keys(command: str) -> Mapping[str, Option]:
    """The options that a request for a command may have, by their keys.

    >>> list(keys("hessian"))
    ['at', 'shape', 'wrt', 'dtype', 'check']
    """
    return {option.key: option for option in OPTIONS if command in option.of and not option.is_presentation}
