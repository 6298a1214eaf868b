r"""Whether a fragment of LaTeX would compile with amsmath alone, as far as that can be told without TeX.

Strict: only commands from a list, in the mode that they belong to, with their arguments; groups, environments and
`\left` balanced; `&` and `\\` inside environments that have columns, in no more of them than there are; no second
exponent on one thing; printable ASCII; no empty line where a paragraph must not end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "lambda Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon vartheta varphi varrho varsigma"
).split()

MATH = {
    *_GREEK,
    *"exp log sin cos tan sinh cosh tanh arcsin arccos arctan max min det".split(),
    *"partial nabla infty ell cdot odot dots cdots vdots ddots times pm surd to sum prod le ge neq".split(),
    *"lfloor rfloor lceil rceil".split(),
    *"quad qquad".split(),
}
"""Without arguments, in mathematics only."""

MATH_ARGUMENTS = {
    **{"frac": 2, "sqrt": 1, "mathit": 1, "mathrm": 1, "operatorname": 1, "text": 1, "texttt": 1},
    **dict.fromkeys("grave acute hat tilde bar breve dot ddot check overline".split(), 1),
}
TEXT = set(
    "textbackslash textasciicircum textasciitilde textless textgreater textbar dots noindent hline ldots".split()
)
TEXT_ARGUMENTS = {"texttt": 1, "textbf": 1, "emph": 1, "textit": 1}
TO_TEXT = {"text", "texttt", "textbf", "emph", "textit"}

MATH_ENVIRONMENTS = {"cases": 2, "bmatrix": 10, "pmatrix": 10, "aligned": 10, "array": 0}
DISPLAYS = {"align*": 10}
TEXT_ENVIRONMENTS = {"tabular": 0, "description": None, "itemize": None, "verbatim": None}

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\\\n|%[^\n]*\n?|\n[ \t]*\n\s*|\s+|.", re.DOTALL)


class LatexError(AssertionError):
    """Why it would not compile, and what is around the place."""


@dataclass
class _Level:
    kind: str
    is_math: bool
    columns: int | None = None
    used: int = 1
    scripts: str = ""
    has_atom: bool = False


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.levels = [_Level("top", False)]

    def fail(self, why: str) -> None:
        around = self.text[max(0, self.at - 60) : self.at + 40]
        raise LatexError(f"{why} near {around!r}")

    @property
    def level(self) -> _Level:
        return self.levels[-1]

    def peek(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        while found and (found[0].isspace() or found[0].startswith("%")):
            found = _TOKEN.match(self.text, found.end())
        return found[0] if found else ""

    def word(self) -> str:
        """The text of a group such as an environment's name."""
        found = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}").match(self.text, self.at)
        if not found:
            self.fail("a name in braces is missing")
        assert found
        self.at = found.end()
        return found[1]

    def read(self) -> None:
        if bad := re.search(r"[^\x20-\x7e\n]", self.text):
            self.at = bad.start()
            self.fail("a character that is not printable ASCII")
        while self.at < len(self.text):
            found = _TOKEN.match(self.text, self.at)
            assert found
            self.at = found.end()
            self.token(found[0])
        if len(self.levels) != 1:
            self.fail(f"{self.level.kind} is not closed")

    def open(self, kind: str, is_math: bool, columns: int | None = None) -> None:
        self.levels.append(_Level(kind, is_math, columns))

    def close(self, kind: str) -> None:
        if self.level.kind != kind:
            self.fail(f"{kind} closes {self.level.kind}")
        self.levels.pop()

    def atom(self) -> None:
        self.level.scripts, self.level.has_atom = "", True

    def token(self, token: str) -> None:
        match token:
            case "{":
                self.open("group", self.level.is_math)
            case "}":
                self.close("group")
                self.atom()
            case "^" | "_":
                self.script(token)
            case "&":
                self.column()
            case "$" | "#" | "~" | "\\":
                self.fail(f"a raw {token}")
            case _ if token.startswith("%"):
                if self.text[: self.at - len(token)].rpartition("\n")[2].strip():
                    self.fail("a raw %")
            case _ if token.isspace():
                if "\n" in token and token.count("\n") > 1 and self.level.kind not in ("top", "description", "itemize"):
                    self.fail("an empty line")
            case _ if token.startswith("\\"):
                self.command(token[1:])
            case _:
                if self.level.is_math and token in "'":
                    self.fail("a prime")
                self.atom()

    def script(self, token: str) -> None:
        if not self.level.is_math:
            self.fail(f"{token} in text")
        if token in self.level.scripts:
            self.fail(f"a second {token}")
        if not self.level.has_atom:
            self.fail(f"{token} on nothing")
        scripts = self.level.scripts + token
        if self.peek() != "{":
            self.fail(f"{token} without braces")
        self.group()
        self.level.scripts = scripts

    def group(self) -> None:
        """One argument in braces, read to its end."""
        while self.text[self.at].isspace():
            self.at += 1
        depth = len(self.levels)
        self.at += 1
        self.token("{")
        while len(self.levels) > depth:
            found = _TOKEN.match(self.text, self.at)
            if not found:
                self.fail("a group is not closed")
            assert found
            self.at = found.end()
            self.token(found[0])

    def column(self) -> None:
        if self.level.columns is None:
            self.fail("& outside of columns")
        self.level.used += 1
        if self.level.used > (self.level.columns or 0):
            self.fail("too many columns")
        self.level.scripts, self.level.has_atom = "", False

    def row(self) -> None:
        if self.level.columns is None:
            self.fail(r"\\ outside of columns")
        if self.peek()[:1] in ("[", "*"):
            self.fail(r"\\ with an argument")
        self.level.used = 1
        self.level.scripts, self.level.has_atom = "", False

    def command(self, name: str) -> None:
        is_math = self.level.is_math
        match name:
            case "\\":
                self.row()
            case "begin" | "end":
                self.environment(name, self.word())
            case "(" | "[":
                if is_math:
                    self.fail("mathematics in mathematics")
                self.open("\\" + name, True)
            case ")" | "]":
                self.close("\\" + {")": "(", "]": "["}[name])
            case "left":
                self.delimiter()
                self.open("left", True)
            case "right":
                self.close("left")
                self.delimiter()
                self.atom()
            case " ":
                pass
            case "," | ";" | "!":
                if not is_math:
                    self.fail(f"\\{name} in text")
            case "_" | "{" | "}" | "%" | "&" | "#" | "$":
                self.atom()
            case "item":
                self.item()
            case _:
                self.named(name)

    def delimiter(self) -> None:
        if not self.level.is_math:
            self.fail(r"\left or \right in text")
        found = re.compile(r"[()\[\]|.]|\\[lr](?:floor|ceil)(?![A-Za-z])|\\[{}]").match(self.text, self.at)
        if not found:
            self.fail("a delimiter is missing")
        assert found
        self.at = found.end()

    def item(self) -> None:
        if self.level.kind not in ("description", "itemize"):
            self.fail(r"\item outside of a list")

    def named(self, name: str) -> None:
        is_math = self.level.is_math
        known = MATH_ARGUMENTS if is_math else TEXT_ARGUMENTS
        if name in known:
            for _ in range(known[name]):
                if self.peek() != "{":
                    self.fail(f"\\{name} without its argument")
                if name in TO_TEXT:
                    self.open("mode", False)
                    self.group()
                    self.levels.pop()
                else:
                    self.group()
        elif name not in (MATH if is_math else TEXT):
            self.fail(f"\\{name} is not known in {'mathematics' if is_math else 'text'}")
        self.atom()

    def environment(self, what: str, name: str) -> None:
        is_math = self.level.is_math
        if what == "end":
            self.close(name)
            self.atom()
            return
        known = MATH_ENVIRONMENTS if is_math else {**DISPLAYS, **TEXT_ENVIRONMENTS}
        if name not in known:
            self.fail(f"the environment {name} is not known here")
        columns = known[name]
        if name in ("array", "tabular"):
            columns = len(re.sub(r"\{.*?\}|[^lcrp]", "", self.word()))
        self.open(name, is_math or name in DISPLAYS, columns)


def check(fragment: str, *, is_math: bool = False) -> None:
    r"""Fail with `LatexError` if it would not compile.

    Args:
        fragment: For the body of a document, or for the inside of mathematics.
        is_math: Which.
    """
    _Reader(rf"\({fragment}\)" if is_math else fragment).read()


def check_document(text: str) -> None:
    """Fail with `LatexError` if a whole document would not compile."""
    head, begins, rest = text.partition("\\begin{document}\n")
    body, ends, after = rest.partition("\\end{document}\n")
    lines = [line for line in head.splitlines() if not line.startswith("%")]
    if lines != ["\\documentclass{article}", "\\usepackage{amsmath}"] or not (begins and ends) or after:
        raise LatexError("no document")
    check(body)
