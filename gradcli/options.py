"""Options of the commands: the kind of value, the help, the default and the commands of each, stated once.

A command on a function is a module of `gradcli.questions.commands`, whose docstring is its help in the shell, with its
own options at the end, after the groups of commands that it is one of and the names of options that it shares.  The
docstring of this module has, in the same form, the options of several commands: the name, the `OptionKind` and the
commands, without those after a minus, with further facts of `Option`, and the help.  Both are read as texts, so that
no module of a command is imported for a help or an error.

The parameters of the shell, the keys of a request, completion and the command reference are read from this table, and
the keyword arguments of `Function` are held to it by a test: they stay written out, as `help()` and type checkers read
signatures and no tables.  `gradcli.cli.parameters` and `gradcli.parts.batch` read values by their kind.

Options:

at INPUTS QUESTIONS map
    A variable's value: 1, or 1,2, or [[1,2],[3,4]], or linspace(0,1,5). The name may be left out where there is one
    variable. Repeat for more. @FILE reads .npy, .npz:NAME, .csv:COLUMN, .tsv, .txt, .dat or .json:KEY; @- reads
    standard input, once, unless it is a terminal. @@ is an @ that reads nothing.

shape SHAPES DERIVATIVES
    Without --at the answer is a formula, and this is the shape of a variable: 3, or n, or m,n, or () of a number; a
    name stands for any size. By default what the expression needs. Repeat for more.

v VECTOR
    The gradient vector, of y's shape: a value, or ones, or e0 (ones over y[0]), or e0_1 (the element y[0,1] alone), or
    @FILE or @- as for --at. Default: 1, if y has one element.

u DIRECTIONS
    The direction in which a variable moves, of its shape: a value, or ones, or e0 (along x[0]), or e0_1 (along x[0,1]),
    or @FILE or @- as for --at. The name may be left out where there is one variable. Repeat for more; a variable
    without one is held constant. Default: 1, if there is one element in all.

OWN

loss TEXT
    In place of --v, a loss of one element in y by the output's name, such as "sum((y - t)**2)": v is its derivative by
    y. Names such as t take values from --at. @FILE reads it.

points FILE map is_required
    The rows, one a point, with columns named as variables are: .csv, .tsv, .jsonl, .npy, .npz or .parquet, text by gzip
    too, .csv.gz; a folder, or a pattern in quotes, 'data/*.csv'; - is standard input. A vector x has columns x[0],
    x[1], or x0, x1, or one of lists.

points_format CHOICE map choices=ROW_FORMATS
    The format of the rows. By suffix; csv of a pipe.

columns VARIABLES map
    Names for the columns of rows that have no names, in order, separated by commas: x,y, or x[0],x[1]. One column of
    numbers is the only variable without them.

output FILE map short=-o
    Where to write y and dy_dx. The file has its name when it is whole. A folder, out/, gets a part for each row group
    or block. Default: -, standard output.

output_format CHOICE map short=--format choices=ROW_FORMATS
    The format written. By suffix; csv on standard output.

keep SWITCH map
    Write the columns of the input first.

on_error CHOICE map choices=fail|skip|nan default=fail is_setting
    What to do about a row that is at fault: fail, leave it out, or write nan.

check SWITCH map is_setting
    Judge a sample of the rows, and say the verdict on stderr; --check N judges N of them. Default: 16.

check_rows WHOLE map bounds=1..100000
    How many rows --check judges.

rows WORD map letters=A..B
    Only these rows, from 1, both ends: 1..1000, or 1001..

part WORD map letters=K/N
    Only the Kth of N parts of the rows; joined, they are all.

scheduler WORD map letters=ADDRESS
    Compute on Dask, tcp://host:8786, into -o FOLDER/.

resume SWITCH map
    Go on with a run that was ended: its parts that are whole stay.

wrt VARIABLES QUESTIONS map run -eval
    The variables to differentiate by, separated by commas. All by default.

dtype CHOICE QUESTIONS map variable=GRADCLI_DTYPE choices=float64|float32 is_setting
    The floating-point type of the computation. Default: that of a snippet's tensors, or float64.

format CHOICE QUESTIONS run variable=GRADCLI_FORMAT choices=FORMATS default=table is_presentation is_setting
    A screen of tables, all tables, one line of JSON, a row of CSV an entry, the bare numbers, LaTeX for amsmath,
    GitHub's Markdown, or a page of HTML.

full SWITCH QUESTIONS run is_presentation
    The same as --format full: all there is to say.

format CHOICE functions variable=GRADCLI_FORMAT choices=FORMATS default=table is_presentation is_setting
    Tables, a line of JSON each, the names, one a line, LaTeX, Markdown, or HTML.

json SWITCH QUESTIONS run functions is_presentation
    The same as --format json.

color CHOICE QUESTIONS run functions variable=GRADCLI_COLOR choices=COLORS default=auto is_presentation is_setting
    Whether tables and messages have colours; auto: as FORCE_COLOR, NO_COLOR or the terminal says.

digits WHOLE QUESTIONS run functions -code variable=GRADCLI_DIGITS words=all bounds=1..17 is_presentation is_setting
    Significant digits of every number shown. By default 6 in the tables of a terminal; elsewhere all, as many as it
    takes to read a number back.

output FILE QUESTIONS functions short=-o is_presentation
    Write to a file, whole or not at all, as its suffix says: .csv, .json, .md, .tex, .html, .txt (a table), .npy (one
    array), .npz (all arrays); .svg, .png and .pdf of plot, jacobian and hessian; .svg of graph and explain; .dot of
    graph; .py of code. With --format any other suffix.

picture SWITCH jacobian hessian is_presentation
    Draw the signs and sizes of the entries, and the zeros that the formula proves, in place of the numbers.

theme CHOICE plot jacobian hessian choices=light|dark default=light is_presentation is_setting
    The ground of a figure in a file.

quiet SWITCH QUESTIONS run map functions short=-q is_presentation is_setting
    Write no warnings and no notes to stderr; errors are written.

pager SWITCH QUESTIONS functions guide default=on is_presentation is_setting
    Do not show through the pager what is longer than the screen of the terminal.

budget WHOLE JUDGED run bounds=1..3600 is_presentation is_setting
    Seconds for all checks and searches; what is left is counted. Default: 5 of processor time.

check SWITCH JUDGED run default=on is_setting
    Do not compare the numbers with the reference.

strict SWITCH JUDGED map run is_presentation is_setting
    Exit with 1 unless the verdict of the check is agree.

require_all SWITCH JUDGED map run is_presentation is_setting
    Exit with 1 unless every entry was checked, and not a sample of them.

only WHOLE run spelling=pass bounds=1..1000000000
    Show only the Nth pass.

command TEXT run short=-c
    The text of the script, in place of a file.

idle WHOLE warm bounds=1..1440 default=15
    Minutes without a call until it ends.

warm SWITCH variable=GRADCLI_WARM is_setting

groups SWITCH functions
    Only the names, group by group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = Path(__file__).parent / "questions" / "commands"
_ORDER = tuple("vjp jacobian grad jvp hessian hvp eval check improve plot explain graph code".split())


class Documentation(NamedTuple):
    """Docstring of a module, with options at its end.

    Attributes:
        help: The text before the options.
        names: The groups that a command is one of, and the options of other commands that it has.
        rows: The rows of its own options.
    """

    help: str
    names: Sequence[str]
    rows: Sequence[str]


def _documentation(module: Path) -> Documentation:
    """Read the docstring of a module, as a text."""
    text, _, options = module.read_text(encoding="utf-8").split('"""')[1].partition("\n\nOptions:")
    names, *rows = options.rstrip("\n").split("\n\n")
    return Documentation(text.replace("Examples:", "\b\nExamples:"), names.split(), rows)


QUESTIONS = tuple(dict.fromkeys((*_ORDER, *sorted(file.stem for file in _FOLDER.glob("[a-z]*.py")))))
"""The commands that answer on a function at a point; a request may have only these."""

COMMANDS = {name: _documentation(_FOLDER / f"{name}.py") for name in QUESTIONS}
DERIVATIVES, JUDGED = (
    tuple(name for name, one in COMMANDS.items() if group in one.names) for group in ("DERIVATIVES", "JUDGED")
)
"""Commands that answer by a formula where there is no point; commands that compare their numbers by default."""

GONE: Mapping[str, str] = {
    "points_of": "gradcli map takes a function of one point to a table of them: gradcli map EXPR --points FILE",
    "show": "gradcli explain has all adjoints; gradcli graph --show NAMES keeps those of the values that are named",
    "workers": "one process uses all cores; dask worker --nworkers 4 starts others for --scheduler ADDRESS",
}
"""Hints for options that were removed."""

_WRITERS = sorted(file.stem for file in (Path(__file__).parent / "report" / "render").glob("[a-z]*.py"))
FORMATS: tuple[str, ...] = ("table", "full", "json", "jsonl", "csv", "tsv", "plain", "latex", "markdown", "html")
_FURTHER_FORMATS = tuple(name for name in _WRITERS if name not in FORMATS)
FORMATS += _FURTHER_FORMATS
"""Formats of answers: also any other module of `gradcli.report.render`, whose name is the suffix of its files too."""

_OTHER_SUFFIXES = {".jsonl": "json", ".md": "markdown", ".tex": "latex", ".htm": "html", ".txt": "table"}
SUFFIXES = {f".{form}": form for form in ("csv", "tsv", "json", "html", *_FURTHER_FORMATS)} | _OTHER_SUFFIXES
"""Formats of answers by the suffix of the file."""

LACKS: dict[str, tuple[str, ...]] = {"check": ("npy",), "graph": ("csv", "tsv", "plain", "npy")}
LACKS |= {"plot": ("latex", "plain", "npy", "npz")} | dict.fromkeys(
    ("code", "functions", "improve"), ("csv", "tsv", "npy", "npz")
)
"""Formats, and files of arrays, that commands lack whose answers are no table of numbers, or no array."""

FIGURES = ("svg", "png", "pdf")
"""Kinds of files of pictures."""

PICTURES = ("plot", "jacobian", "hessian", "graph", "explain")
"""Commands that draw one; a graph, and that of an explanation, as svg alone."""

COLORS = ("auto", "always", "never")
_ROW_WORDS = "csv tsv jsonl ndjson npy npz parquet pq".split()
ROW_SUFFIXES = {f".{word}": {"ndjson": "jsonl", "pq": "parquet"}.get(word, word) for word in _ROW_WORDS}
"""The formats of rows by the suffix of the file."""

ROW_FORMATS = tuple(dict.fromkeys(ROW_SUFFIXES.values()))

FORMAT_VARIABLE, COLOR_VARIABLE = "GRADCLI_FORMAT", "GRADCLI_COLOR"
PAGER_VARIABLE, CONFIG_VARIABLE = "GRADCLI_PAGER", "GRADCLI_CONFIG"
"""Environment variables of defaults; the values of a function never come from the environment."""

ON_TERMINALS = 6
"""Significant digits in tables on a terminal."""


class OptionKind(Enum):
    """Kind of an option's value, and its placeholder in the help unless the option has `words` or `letters`."""

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


BY_VARIABLE = frozenset(kind for kind in OptionKind if kind.value[1].startswith("[NAME=]"))
"""Kinds of options with one value for each variable."""


@dataclass(frozen=True)
class Option:
    """An option of some commands; one name may stand for several, which differ in their help.

    Attributes:
        name: The keyword argument in Python.
        kind: The kind of its value.
        of: The commands that have it.
        help: The text of `--help`; an option without it is not in the shell.
        default: The default, if it is to be shown; a switch is off, unless it is on by default.
        spelling: Its name elsewhere, if that cannot be the name in Python or is another option's there.
        short: Another flag for the same, mostly of one letter.
        variable: The environment variable of the default.
        choices: The words that it takes.
        bounds: The bounds of a whole number.
        words: Words allowed in place of the value.
        letters: The placeholder of a word in the help.
        has_several: Whether the shell takes it several times.
        is_required: Whether the shell insists on it.
        is_presentation: Whether it is about the shell's presentation of the answer, and not part of the question.
        is_setting: Whether the configuration file may set it: presentation of answers, and demands on them.
    """

    name: str
    kind: OptionKind
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

    @cached_property
    def metavar(self) -> str | None:
        """The placeholder of its value in the help; None if there is none."""
        of_kind = self.letters or self.kind.value[1]
        return "|".join([of_kind, *self.words]) if of_kind and not self.choices else None

    @cached_property
    def is_repeated(self) -> bool:
        """Tell whether the shell takes it more than once."""
        return self.has_several or self.kind in BY_VARIABLE

    @cached_property
    def key(self) -> str:
        """Its name in a request."""
        return self.spelling or self.name

    @cached_property
    def flag(self) -> str:
        """Its name in the shell; a switch that is on has one that turns it off."""
        return f"--{'no-' * (self.default is True)}{self.key.replace('_', '-')}"

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """All of its names in the shell."""
        return (self.flag, self.short) if self.short else (self.flag,)

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """The flags as click takes them: a switch that is a setting has an opposite flag too."""
        if not self.is_setting or self.kind is not OptionKind.SWITCH:
            return self.flags
        opposite = f"--{'no-' * (self.default is not True)}{self.key.replace('_', '-')}"
        return (f"{self.flag}/{opposite}", *self.flags[1:])


_NAMED: Mapping[str, tuple[str, ...]] = {
    "QUESTIONS": QUESTIONS, "FORMATS": FORMATS, "COLORS": COLORS, "ROW_FORMATS": ROW_FORMATS,
    "DERIVATIVES": DERIVATIVES, "JUDGED": JUDGED,
}  # fmt: skip
"""Commands and choices that several rows have."""

_FACTS: Mapping[str, Callable[[str], Any]] = {
    "choices": lambda words: _NAMED.get(words) or tuple(words.split("|")),
    "words": lambda words: tuple(words.split("|")),
    "bounds": lambda words: tuple(map(int, words.split(".."))),
    "default": lambda word: int(word) if word.isdecimal() else word == "on" or word,
}
"""Readers of facts that are not plain words."""


def _option(row: str, *commands: str) -> Option:
    """Read an option from its row, of these commands and of those that the row names.

    >>> found = _option("seed WHOLE check map -map default=0 is_setting\\n  Of the points.")
    >>> found.name, found.of, found.default, found.is_setting, found.help
    ('seed', ('check',), 0, True, 'Of the points.')
    """
    head, *lines = row.split("\n")
    name, kind, *words = head.split()
    facts: dict[str, Any] = {}
    of = [*commands]
    for word in words:
        fact, equals, value = word.partition("=")
        if equals or "_" in word:
            facts[fact] = _FACTS.get(fact, str)(value) if equals else True
        elif not word.startswith("-"):
            of += [one for one in _NAMED.get(word, (word,)) if f"-{one}" not in words]
    return Option(name, OptionKind[kind], tuple(of), " ".join(map(str.strip, lines)), **facts)


def _options() -> Iterator[Option]:
    """Yield all options in the order in which the help of a command lists them."""
    for row in _documentation(Path(__file__)).rows:
        if row == "OWN":
            yield from (_option(own, name) for name, one in COMMANDS.items() for own in one.rows)
        else:
            yield _option(row, *(name for name, one in COMMANDS.items() if row.split()[0] in one.names))


OPTIONS = tuple(_options())
"""All options, in the order in which the help of a command lists them."""


def typed(command: str) -> Iterator[Option]:
    """Yield the options that a command has in the shell.

    >>> [option.flags for option in typed("map")][1:4]
    [('--points',), ('--points-format',), ('--columns',)]
    """
    return (option for option in OPTIONS if command in option.of and option.help)


def keys(command: str) -> Mapping[str, Option]:
    """Return the options that a request for a command may have, by their keys.

    >>> list(keys("hessian"))
    ['at', 'shape', 'wrt', 'dtype', 'check']
    """
    return {option.key: option for option in OPTIONS if command in option.of and not option.is_presentation}
