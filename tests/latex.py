r"""Whether a fragment of LaTeX would compile with amsmath alone, as far as that can be told without TeX.

Strict: only commands from a list, in the mode that they belong to, with their arguments; groups, environments and
`\left` balanced; `&` and `\\` inside environments that have columns, in no more of them than there are; no second
exponent on one thing; printable ASCII; no empty line where a paragraph must not end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "lambda Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon vartheta varphi varrho varsigma"
).split()

MATH = {
    *_GREEK,
    *"exp log sin cos tan sinh cosh tanh arcsin arccos arctan max min det".split(),
    *"partial nabla infty ell cdot odot dots cdots vdots ddots times wedge pm surd to sum prod le ge neq".split(),
    *"lfloor rfloor lceil rceil leq geq infty log".split(),
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

_TOKEN = re.compile(
    r"\\begin\{(?:array|tabular)\}\{(?:[^{}]|\{[^{}]*\})*\}|\\(?:begin|end)\{\w+\*?\}"
    r"|\\(?:left|right)(?:[()\[\]|.]|\\[lr](?:floor|ceil)(?![A-Za-z])|\\[{}])"
    r"|\\[A-Za-z]+\*?|\\.|\\\n|%[^\n]*\n?|\n[ \t]*\n\s*|\s+|.",
    re.DOTALL,
)
"""A command, an environment or a delimiter with what belongs to it, a comment, blanks, or one character."""


class LatexError(AssertionError):
    """Why it would not compile, and what is around the place."""


@dataclass
class _Level:
    """A group, an environment or a formula that is open, and the arguments in braces that must follow in it."""

    kind: str
    is_math: bool
    columns: int | None = None
    used: int = 1
    scripts: str = ""
    has_atom: bool = False
    wanted: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = re.sub(r"(?<=\\sqrt)\[\d+\]", "", text), 0  # the degree of a root
        self.levels = [_Level("top", False)]

    def require(self, is_right: bool, why: str) -> None:
        if not is_right:
            raise LatexError(f"{why} near {self.text[max(0, self.at - 60) : self.at + 40]!r}")

    @property
    def level(self) -> _Level:
        return self.levels[-1]

    def read(self) -> None:
        bad = re.search(r"[^\x20-\x7e\n]", self.text)
        self.at = bad.start() if bad else 0
        self.require(bad is None, "a character that is not printable ASCII")
        for found in _TOKEN.finditer(self.text):
            self.at = found.end()
            self.token(found[0])
        self.require(len(self.levels) == 1 and not self.level.wanted, f"{self.level.kind} is not closed")

    def open(self, kind: str, is_math: bool, columns: int | None = None) -> None:
        self.levels.append(_Level(kind, is_math, columns))

    def close(self, *kinds: str) -> None:
        self.require(self.level.kind in kinds, f"{kinds[0]} closes {self.level.kind}")
        if self.levels.pop().kind != "script":
            self.atom()

    def atom(self) -> None:
        self.level.scripts, self.level.has_atom = "", True

    def token(self, token: str) -> None:
        level = self.level
        if token.isspace():
            self.require(token.count("\n") < 2 or level.kind in ("top", "description", "itemize"), "an empty line")
            return
        if token.startswith("%"):
            self.require(not self.text[: self.at - len(token)].rpartition("\n")[2].strip(), "a raw %")
            return
        self.require(token == "{" or not level.wanted, "an argument without braces")
        match token:
            case "{":
                kind = level.wanted.pop(0) if level.wanted else "group"
                self.open(kind, level.is_math if kind in ("group", "script") else kind == "math")
            case "}":
                self.close("group", "script", "math", "text")
            case "^" | "_":
                self.require(level.is_math and token not in level.scripts and level.has_atom, f"a wrong {token}")
                level.scripts += token
                level.wanted.append("script")
            case "&":
                level.used += 1
                self.require(level.columns is not None and level.used <= level.columns, "too many columns")
                level.scripts, level.has_atom = "", False
            case "$" | "#" | "~" | "\\":
                self.require(False, f"a raw {token}")
            case _ if token.startswith("\\"):
                self.command(token[1:])
            case _:
                self.require(not level.is_math or token != "'", "a prime")
                self.atom()

    def command(self, name: str) -> None:
        level = self.level
        word, _, rest = name.partition("{")
        match word:
            case "\\":
                is_bare = not re.match(r"\s*[\[*]", self.text[self.at :])
                self.require(level.columns is not None and is_bare, r"\\ outside of columns, or with an argument")
                level.used, level.scripts, level.has_atom = 1, "", False
            case "begin":
                self.begin(rest)
            case "end":
                self.close(rest.removesuffix("}"))
            case "(" | "[":
                self.require(not level.is_math, "mathematics in mathematics")
                self.open("\\" + name, True)
            case ")" | "]":
                self.close("\\" + {")": "(", "]": "["}[name])
            case _ if word.startswith("left"):
                self.require(level.is_math, r"\left in text")
                self.open("left", True)
            case _ if word.startswith("right"):
                self.close("left")
            case " ":
                pass
            case "," | ";" | "!":
                self.require(level.is_math, f"\\{name} in text")
            case "item":
                self.require(level.kind in ("description", "itemize"), r"\item outside of a list")
            case "_" | "{" | "}" | "%" | "&" | "#" | "$" | "":
                self.atom()
            case _:
                known = MATH_ARGUMENTS if level.is_math else TEXT_ARGUMENTS
                plain = MATH if level.is_math else TEXT
                self.require(name in known or name in plain, f"\\{name} is not known here")
                level.wanted += ["text" if name in TO_TEXT else "math"] * known.get(name, 0)
                self.atom()

    def begin(self, rest: str) -> None:
        """An environment, with the widths of its columns if they are written."""
        name, _, columns = rest.partition("}")
        known = MATH_ENVIRONMENTS if self.level.is_math else {**DISPLAYS, **TEXT_ENVIRONMENTS}
        self.require(name in known, f"the environment {name} is not known here")
        count = len(re.sub(r"\{.*?\}|[^lcrp]", "", columns[1:-1])) if columns else known[name]
        self.open(name, self.level.is_math or name in DISPLAYS, count)


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
