"""Errors, worded so that the reader can correct the mistake.

One exception family.  Every error says what is wrong, where (a caret under the text as typed) and what to do; the
command line maps the family to exit codes in one place (`gradcli.cli.main`).  Nothing here knows of any reading.
"""

from __future__ import annotations

import contextlib
import difflib
import re
import shlex
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from os.path import dirname
from typing import Any, ClassVar, NamedTuple, ParamSpec, TypeVar

from gradcli import option_words
from gradcli.option_words import in_python, in_shell

EXCERPT_WIDTH = 72
"""Characters of a source line that an error message shows around the caret, where there is room for them."""

EXCERPT_MARGIN = 8
"""Columns next to them: the indent, and dots at both ends."""

MESSAGE_LENGTH = 400
"""Characters of a message or a hint."""

OURS = (dirname(__file__), contextlib.__file__)
"""Paths of frames to hide from users: of this package, and of `contextlib`, which its `with` statements pass."""

P = ParamSpec("P")
R = TypeVar("R")


class Span(NamedTuple):
    """A half-open range of characters, `text[start:stop]`; a tuple, as there is one for each word and operation."""

    start: int
    stop: int

    def to(self, other: Span) -> Span:
        """Return the range from the start of this one to the end of `other`."""
        return Span(self.start, other.stop)


@dataclass(frozen=True, slots=True)
class Place:
    """Place of an error: the text as typed, its source (`EXPR`, `--at`, …) and the range in it."""

    text: str
    span: Span
    source: str = "EXPR"

    @property
    def where(self) -> str:
        """Source of the text and, if it has several lines, the line; empty for the only line of the expression."""
        source = f"in {option_words.source(self.source)}" if self.source != "EXPR" else ""
        line = f"line {self.text.count(chr(10), 0, self.span.start) + 1}" if "\n" in self.text else ""
        return ", ".join(part for part in (source, line) if part)

    def render(self, columns: int | None = None, encoding: str = "utf-8") -> str:
        """Show the line of text with carets under the range, cut around it to `EXCERPT_WIDTH` or the room there is.

        Args:
            columns: The width of the terminal, if the error goes to one.
            encoding: The encoding of the output; characters that it lacks are written as escapes.
        """
        room = EXCERPT_WIDTH if columns is None else max(1, min(EXCERPT_WIDTH, columns - EXCERPT_MARGIN))
        start = min(self.span.start, len(self.text))
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", first)
        line = self.text[first : last if last >= 0 else len(self.text)]
        column = start - first
        width = max(1, min(self.span.stop - start, len(line) - column))
        left = max(0, min(column - room // 3, len(line) + 1 - room))
        stop = min(column + width, max(column + 1, left + room))
        head, tail = "..." * (left > 0), "..." * (len(line) > left + room)
        parts = (line[left:column], line[column:stop], line[stop : left + room])
        before, marked, after = (
            printable(part).encode(encoding, "backslashreplace").decode(encoding) for part in parts
        )
        carets = " " * (len(head) + _cells(before)) + "^" * max(1, _cells(marked))
        return f"  {head}{before}{marked}{after}{tail}\n  {carets}"


def _cells(text: str) -> int:
    """Count the columns of a terminal that a text takes: two for a wide character, none for a combining one.

    >>> _cells("x + y"), _cells("\N{CJK UNIFIED IDEOGRAPH-91CF}"), _cells("e\N{COMBINING ACUTE ACCENT}")
    (5, 2, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def printable(text: str) -> str:
    """Replace each character that a terminal would not show as itself by `?`, one for one."""
    return "".join(c if c.isprintable() else "?" for c in text)


def displayable(text: str) -> str:
    r"""Make a text `printable`, except for line ends, which stay, and tabs, which become blanks.

    >>> displayable("a\tb\n\x1b[31m")
    'a b\n?[31m'
    """
    return text if text.isprintable() else "\n".join(map(printable, text.replace("\t", " ").split("\n")))


def shortened(text: str) -> str:
    """Cut the middle out of a text longer than `MESSAGE_LENGTH`, as messages may repeat the user's input."""
    half = MESSAGE_LENGTH // 2
    return text if len(text) <= MESSAGE_LENGTH else f"{text[:half]}...{text[-half:]}"


class Remark(NamedTuple):
    """Message of an error, and a hint at the remedy, if one is known."""

    message: str
    hint: str | None


class BriefError(Exception):
    """An error whose text says everything: the exceptions within gradcli that led to it are not shown."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.__suppress_context__ = True

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows in place of a traceback."""
        return f"{type(self).__name__}: {self}".split("\n")


def brief(method: Callable[P, R]) -> Callable[P, R]:
    """Wrap a public function so that its errors have only the frames of its caller and of functions it calls back."""

    @wraps(method)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True  # by pytest
        try:
            return method(*args, **kwargs)
        except InternalError:
            raise
        except BriefError as error:
            for shown in filter(None, (error, error.__cause__)):
                while (traceback := shown.__traceback__) and traceback.tb_frame.f_code.co_filename.startswith(OURS):
                    shown.__traceback__ = traceback.tb_next
            raise

    return asked


class WrongGradientsError(BriefError, AssertionError):
    """Error that `gradcli.check` raises for wrong gradients."""


LONGEST_COMMAND = 200
"""Characters up to which a hint repeats a whole text in its command."""


class GradcliError(BriefError):
    """An error that prevents an answer; `kind` names it for machines, `exit_code` for the shell.

    Its text has message, place and hint in the words of Python, `v="ones"`; `render` writes the shell's, `--v ones`.
    Message and hint are written once, with their options named by `option_words.option`.

    Attributes:
        message: The error.
        place: The text and the range in it; None if the error is in no text.
        hint: The remedy, if one is known.
        text: The message and the hint as they are written, with their options marked.
        in_shell: The same in the words of the shell.

    >>> from gradcli import Function
    >>> try:
    ...     Function("2*sine(x)")
    ... except GradcliError as error:
    ...     print(error.kind, error.place.span.start, error.hint)
    unknown-function 2 write 2*sin(x)
    >>> try:
    ...     Function("x**2").vjp([1, 2])
    ... except GradcliError as error:
    ...     print(error.hint)
    v=[1, 1] sums the elements of y; e0 picks y[0]; jacobian needs no v
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2
    is_of_spelling: ClassVar[bool] = True  # so that other words may be meant

    def __init__(self, message: str, *, place: Place | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.place = place
        self.text = Remark(message, hint)

    @property
    def in_shell(self) -> Remark:
        """The message and the hint in the words of the shell."""
        return self._worded(in_shell)

    @property
    def message(self) -> str:
        """The error, in the words of Python."""
        return self._worded(in_python).message

    @property
    def hint(self) -> str | None:
        """The remedy, in the words of Python; None if none is known."""
        return self._worded(in_python).hint

    def _worded(self, write: Callable[[str], str]) -> Remark:
        message, hint = (words and shortened(printable(write(words))) for words in self.text)
        return Remark(message or "", hint)

    def advise(self, hint: str | None) -> None:
        """Give another hint."""
        self.text = self.text._replace(hint=hint)

    def add(self, hint: str) -> None:
        """Append to the hint."""
        self.advise(f"{self.text.hint}; {hint}" if self.text.hint else hint)

    def __str__(self) -> str:
        return self._full(self._worded(in_python), in_python)

    def render(self, columns: int | None = None, encoding: str = "utf-8") -> str:
        """Write the message, the caret and the hint as plain text, without a final newline; see `Place.render`."""
        return f"error: {self._full(self.in_shell, in_shell, columns, encoding)}"

    def _full(self, words: Remark, write: Callable[[str], str], *room: Any) -> str:
        where = printable(write(self.place.where)) if self.place else ""
        lines = [f"{words.message}{f' ({where})' if where else ''}"]
        lines += [self.place.render(*room)] if self.place else []
        return "\n".join([*lines, f"hint: {words.hint}"] if words.hint else lines)


class LanguageError(GradcliError):
    """A text that is not in the language."""

    kind = "syntax"


class CodeError(LanguageError):
    """A text that is code: code is run only from a named file or script, and never read as an expression.

    >>> place = Place("import torch; x = [1]; x[0] = 2", Span(23, 27))
    >>> CodeError("an element that is assigned", place).message
    'an element that is assigned is code, and code is run only where you say so'
    """

    kind = "code"

    def __init__(self, what: str, place: Place, instead: str = "") -> None:
        message = f"{what} is code, and code is run only where you say so"
        ways = [instead, _command_for(place.text) if place.source == "EXPR" else ""]
        super().__init__(message, place=place, hint="; or ".join(filter(None, ways)) or None)


def _command_for(text: str) -> str:
    """Return the command that runs a text of Python: a script by itself, any other text as a function of a file.

    >>> _command_for("import torch; x += 1")
    "gradcli run -c 'import torch; x += 1'"
    >>> _command_for("def f(x):\\n  for i in range(3): ...")
    'save it in FILE.py: gradcli vjp FILE.py::f --at VALUE'
    """
    text = text.strip()
    definition = re.search(r"^[ \t]*def\s+(\w+)", text, re.MULTILINE)
    is_script = re.search(r"\bimport\b|\bbackward\b|\brequires_grad", text) is not None
    if is_script and re.search(r"\btorch\s*\.", text) and not re.search(r"\b(?:import|from) torch\b", text):
        text = f"import torch; {text}"
    is_line = "\n" not in text and not re.search(r";\s*(?:for|while|if|with|class|def|try|@)", text)  # to Python too
    if is_script and is_line and len(text) <= LONGEST_COMMAND:
        return f"gradcli run -c {shlex.quote(text)}"
    function = f"gradcli vjp FILE.py::{definition[1] if definition else 'NAME'} --at VALUE"
    if not is_script:
        return f"save it {'' if definition else 'as a function '}in FILE.py: {function}"
    return f"save it in FILE.py: gradcli run FILE.py{f', or {function}' if definition else ''}"


class UnknownFunctionError(GradcliError):
    """A function that the op table does not have."""

    kind = "unknown-function"


class UnknownFactorError(UnknownFunctionError):
    """A letter before parentheses, which is a factor only where it is given a value."""

    @property
    def name(self) -> str:
        """The letter, which its place covers."""
        return _name_at(self.place)


class UncalledFunctionError(LanguageError):
    """The name of a function that is not called, which is a variable only where it is given a value."""

    @property
    def name(self) -> str:
        """The name, which its place covers."""
        return _name_at(self.place)


def _name_at(place: Place | None) -> str:
    """Return the name that a place covers, which LaTeX writes with a sign before it."""
    return "" if place is None else place.text[slice(*place.span)].removeprefix("\\").strip()


class ShapeError(GradcliError):
    """Shapes that do not fit; the message names both."""

    kind = "shape"


class InputError(GradcliError):
    """A value that is missing, surplus, malformed or of the wrong shape."""

    kind = "value"


class InfiniteRangeError(InputError):
    """A range with an end that is not finite."""


class NamelessValueError(InputError):
    """A value without a name, where the name of a variable is needed."""


class NamelessArrayError(NamelessValueError):
    """A nameless value that is no text of numbers, such as a table of a file."""


class UnknownVariableError(InputError):
    """A name that no variable of the expression has."""


class MissingValueError(InputError):
    """A variable without a value."""


class SeveralElementsError(InputError):
    """A y of several elements, where the derivative of one is asked for."""


class NoPictureError(InputError):
    """An answer of which there is no picture, however the question is spelled."""

    is_of_spelling = False


class MissingVectorError(InputError):
    """A y of several elements without a gradient vector v."""


class LossElementsError(InputError):
    """A loss of several elements."""


class StructuredValueError(InputError):
    """A value of a file that is an object with parts, and no numbers."""


class UnknownSuffixError(InputError):
    """A suffix of an output that names no format."""


class ThirdDerivativeError(InputError):
    """A statement with a derivative above the second."""


class MissingPassError(InputError):
    """A script that makes no backward pass."""


class UserCodeError(InputError):
    """An error of the user's own code in a backward pass: there is no answer, and gradcli is not at fault."""

    kind = "user-code"
    exit_code = 1


class TooLargeError(GradcliError):
    """An answer that would need more memory or time than the stated budget."""

    kind = "too-large"


class UsageError(GradcliError):
    """A command line that the shell command does not take."""

    kind = "usage"


class HigherDerivativeError(UsageError):
    """A derivative above the second."""


class PointOptionError(UsageError):
    """An option for points, where a box is asked about."""


class OutputError(GradcliError):
    """An answer that could not be written."""

    kind = "output"
    exit_code = 74


class InternalError(GradcliError):
    """A bug of gradcli, reported for one request so that the next can be answered."""

    kind = "internal"
    exit_code = 70


MOST_NAMES = 6
"""Names that one remark lists."""


def listed_names(names: Sequence[str]) -> str:
    """List names in words: `x`, `x and y`, `x, y and 3 more`."""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1:,} more"
    return " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])


def constants_meant(names: Container[str]) -> str:
    """Return the start of a hint if a variable's name may be meant as a constant, e or π; else "".

    >>> constants_meant(["x", "e"])
    "Euler's number is E: write E^x, or exp(x); else "
    """
    hint = "Euler's number is E: write E^x, or exp(x); else " * ("e" in names)
    return hint + "the constant is pi; else " * ("π" in names)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the hint `did you mean 'sin'?` for the closest known word, if one is close.

    >>> did_you_mean("sine", ["sin", "exp"])
    "did you mean 'sin'?"
    """
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"did you mean '{close[0]}'?" if close else None
