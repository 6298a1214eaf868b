"""Nodes of a page, from top to bottom, whose words are spans with a role; and the screen of a page.

A composer makes a document of an answer and knows no format; a renderer writes a document and asks nothing of the
answer.  Mathematics stays a tree, an array stays an array: each format writes them in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from gradcli.formats import TINTS
from gradcli.notation import Notation
from gradcli.results import Array, GraphEdge, GraphNode, Result, Verdict
from gradcli.results.record import Record

if TYPE_CHECKING:
    from rich.text import Text

Role = Literal["plain", "strong", "aside", "code", "good", "open", "lost", "bad"]
"""Roles of words: ours, some of them strong or a remark; as typed; a verdict: good, open, lost digits, bad."""

TONES: Mapping[Verdict, Role] = {
    "agree": "good",
    "unchecked": "open",
    "kink": "open",
    "inaccurate": "lost",
    "removable": "lost",
    "nan-trap": "bad",
    "undefined": "open",
    "cut": "bad",
    "disagree": "bad",
}
"""The role of a verdict's words."""

TINT_NAMES: Mapping[Role, str] = {"good": "green", "open": "amber", "lost": "purple", "bad": "red"}
"""The colour of the words of a role, in `TINTS`; all of them are bold."""

STYLES: Mapping[Role, str] = {"strong": "bold", "aside": "dim"}
"""The style of words of a role without a colour."""

WIDEST = 10_000
"""Columns of a table in a pipe."""

_ASCII = str.maketrans(
    {"∂": "d", "²": "2", "ᵀ": "T", "…": "...", "±": "+-", "∇": "grad ", "ℓ": "l", "δ": "delta", "Σ": "sum", "√": "sqrt"}
    | {"≥": ">=", "≤": "<=", "≠": "!=", "·": "*", "×": "x", "→": "->", "←": "<-", "∞": "inf", "∘": " o ", "–": "-"}
    | {"│": "|", "├": "|", "└": "`", "─": "-", "⌊": "floor(", "⌋": ")", "⌈": "ceil(", "⌉": ")", "Π": "prod", "π": "pi"}
    | {
        "—": "-",
        "−": "-",
        "σ": "sigma",
        "∑": "sum",
        "∏": "prod",
        "‐": "-",
        "‑": "-",
        "✓": "+",
        "✗": "x",
        "≈": "~",
        "∧": "^",
        "⊙": "*",
        "⊗": "kron",
        "‖": "||",
        "⟨": "<",
        "⟩": ">",
        "↑": "^",
        "↓": "->",
    }
    | dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
    | dict(zip("░▒▓█╌┊◆◇○•", "':*#-:#<oo", strict=True))
    | dict.fromkeys("╭╮╰╯┤┬┴┼", "+")
    | dict(zip("↗↖↙↘", "/\\/\\", strict=True))
    | dict.fromkeys("⎡⎢⎣", "[")
    | dict.fromkeys("⎤⎥⎦", "]")
)
"""ASCII for our own words and signs, where a screen has no others; formulas are in SymPy's notation there."""

# -- within a line


class Styled(Record):
    """Words of one role."""

    words: str
    role: Role = "plain"


class Symbol(Record):
    """Name of something, in mathematical notation."""

    notation: Notation


class FormulaText(Record):
    """A formula, or an operation."""

    notation: Notation


class ArrayNumbers(Record):
    """The elements of an array."""

    array: Array


class WordList(Record):
    """Words of the language, one after another."""

    words: tuple[str, ...]


class EquationCell(Record):
    """Name and value of something: a table shows only the value; where there are no tables, it is an equation.

    Attributes:
        left: The name, so that the cell can stand alone.
        right: An array, a formula, or the words in their place.
    """

    left: Notation
    right: ArrayNumbers | FormulaText | Styled


Inline = Styled | Symbol | FormulaText | ArrayNumbers | WordList | EquationCell
Line = tuple[Inline, ...]


def line(*parts: str | Inline) -> Line:
    """Join parts of a line, texts being plain words; leave out empty ones."""
    return tuple(Styled(part) if isinstance(part, str) else part for part in parts if part != "")


def lines(*cells: str | Inline | Line) -> tuple[Line, ...]:
    """Make the cells of a row, each a line or one part."""
    return tuple(cell if isinstance(cell, tuple) else line(cell) for cell in cells)


# -- from top to bottom


class Title(Record):
    """A line above a part, with room before it."""

    words: Line


class Note(Record):
    """A paragraph."""

    words: Line


class Abreast(Record):
    """Short lines, next to each other where there is room."""

    lines: tuple[Line, ...]


class Table(Record):
    """Rows below headers.

    Attributes:
        headers: Of the columns.
        rows: Cells; None for rows that are left out.
        is_numeric: Whether all but the first column are numbers.
        has_rules: Whether rows of several lines have a rule between them.
        labels: Number of columns at the left with the names of the rows.
        footer: A row below a rule; empty for none.
        is_pointed: Whether numbers stand below each other by their points.
        is_folded: Whether it stays a table on a narrow screen, the formulas in its first column folded.
    """

    headers: tuple[Line, ...]
    rows: tuple[tuple[Line, ...] | None, ...]
    is_numeric: bool = False
    has_rules: bool = False
    labels: int = 1
    footer: tuple[Line, ...] = ()
    is_pointed: bool = False
    is_folded: bool = False

    @property
    def body(self) -> list[tuple[Line, ...]]:
        """The rows, dots in the place of those left out, and the footer."""
        dots = ((Styled("…"),),) * len(self.headers)
        return [*(row or dots for row in self.rows), *filter(None, [self.footer])]


class MatrixAxis(Record):
    """A tensor whose elements are the rows or the columns of a matrix."""

    name: str
    shape: tuple[int, ...]


class Blocks(Record):
    """A matrix of numbers in blocks, such as a Jacobian by its variables.

    Attributes:
        name: Of the matrix.
        rows: Tensors whose elements are the rows.
        columns: Tensors whose elements are the columns.
        blocks: A matrix for each row axis and each column axis, as an equation.
        marks: Words in the place of a number that is not to be trusted, by its row axis, its row, its column
            axis and its column.
        weights: Weights of the rows of the first axis, whose sum is the row of the second; None for neither.
        instead: Shown where the columns do not fit and their parts would take many lines; nothing if parts may.
    """

    name: Notation
    rows: tuple[MatrixAxis, ...]
    columns: tuple[MatrixAxis, ...]
    blocks: tuple[tuple[tuple[Notation, Array], ...], ...]
    marks: Mapping[tuple[int, int, int, int], Line]
    weights: Array | None = None
    instead: tuple[Table | Note, ...] = ()


class Graph(Record):
    """Nodes and the edges from one to another, from the first on."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


class ScriptText(Record):
    """A text in another language, which is written as it is.

    Attributes:
        source: The text.
        language: Its language.
    """

    source: str
    language: str


class Chart(Record):
    """An answer as a picture.

    Attributes:
        answer: The answer, for formats that have pictures.
        drawn: Draws it with the characters of a screen.
    """

    answer: Result
    drawn: Callable[[Screen], Iterator[Text]]


Node = Title | Note | Abreast | Table | Blocks | Graph | ScriptText | Chart
Document = tuple[Node, ...]

# -- the screen of a page


class Screen(Record):
    """Screen of a page: the width of the terminal (None in a pipe), and the characters and colours that it has.

    Where there are only the characters of ASCII for our own words, those of the user are in the encoding, or escapes.
    """

    width: int | None = None
    ascii: bool = False
    color: bool = False
    encoding: str = "ascii"
    is_deep: bool = False

    def tint(self, name: str) -> str:
        """Name a colour of `TINTS` as rich does; one of 256 where the terminal does not say that it has more."""
        return TINTS[name].rgb if self.is_deep else f"color({TINTS[name].nearest})"

    def style(self, role: Role) -> str:
        """Name the style of a role as rich does."""
        found = TINT_NAMES.get(role)
        return f"bold {self.tint(found)}" if found else STYLES.get(role, "")

    def in_characters(self, words: str) -> str:
        """Write words in the screen's characters, so that a column is as wide as the escapes in it."""
        if not self.ascii:
            return words
        return in_ascii(words).encode(self.encoding, "backslashreplace").decode(self.encoding)


def in_ascii(words: str) -> str:
    """Write our own words in ASCII."""
    return words.translate(_ASCII)
