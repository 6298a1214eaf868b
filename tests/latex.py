r"""A reader of LaTeX, which tells whether a fragment would compile with amsmath alone, as far as it can without TeX.

Strict: only commands from a list, in the mode that they belong to, with their arguments; groups, environments and
`\left` balanced; `&` and `\\` inside environments that have columns, in no more of them than there are; no second
exponent on one thing; printable ASCII; no empty line where a paragraph must not end.
"""

import re

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "lambda Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon vartheta varphi varrho varsigma"
).split()

MATH = {
    **dict.fromkeys(_GREEK, 0),
    **dict.fromkeys("exp log sin cos tan sinh cosh tanh arcsin arccos arctan max min det".split(), 0),
    **dict.fromkeys("partial nabla infty ell cdot odot dots cdots vdots ddots times wedge pm surd to".split(), 0),
    **dict.fromkeys("sum prod approx le ge neq leq geq lfloor rfloor lceil rceil quad qquad".split(), 0),
    **{"frac": 2, "sqrt": 1, "mathit": 1, "mathrm": 1, "mathbf": 1, "operatorname": 1, "text": 1, "texttt": 1},
    **dict.fromkeys("grave acute hat tilde bar breve dot ddot check overline".split(), 1),
}
"""Commands of mathematics, and how many arguments each has."""

TO_TEXT = ("text", "texttt", "textbf", "emph", "textit")
TEXT = {
    **dict.fromkeys("textbackslash textasciicircum textasciitilde textless textgreater textbar".split(), 0),
    **dict.fromkeys("dots noindent hline ldots".split(), 0),
    **dict.fromkeys(TO_TEXT[1:], 1),
}

MATH_ENVIRONMENTS = {"cases": 2, "bmatrix": 10, "pmatrix": 10, "aligned": 10, "array": 0}
DISPLAYS = {"align*": 10}
TEXT_ENVIRONMENTS = {"tabular": 0, "description": None, "itemize": None, "verbatim": None}
"""Environments, and how many columns each has; none is not in columns, and of 0 they are written."""

WHOLE = r"\end{document}"
LISTS = (r"\end{description}", r"\end{itemize}")
"""Ends of what may hold items; in these and in the whole a paragraph may end."""

_TOKEN = re.compile(
    r"\\begin\{(?:array|tabular)\}\{(?:[^{}]|\{[^{}]*\})*\}|\\(?:begin|end)\{\w+\*?\}"
    r"|\\(?:left|right)(?:[()\[\]|.]|\\[lr](?:floor|ceil)(?![A-Za-z])|\\[{}])"
    r"|\\[A-Za-z]+\*?|\\.|\\\n|%[^\n]*\n?|\n[ \t]*\n\s*|\s+|.",
    re.DOTALL,
)
"""A command, an environment or a delimiter with what belongs to it, a comment, blanks, or one character."""


class LatexError(AssertionError):
    """Why it would not compile, and what is around the place."""


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = re.sub(r"(?<=\\sqrt)\[\d+\]", "", text), 0  # the degree of a root
        self.tokens = _TOKEN.finditer(self.text)

    def require(self, is_right: bool, why: str) -> None:
        if not is_right:
            raise LatexError(f"{why} near {self.text[max(0, self.at - 60) : self.at + 40]!r}")

    def token(self, *, may_end_paragraph: bool = False) -> str:
        """Take the next token that is neither blank nor a comment; empty at the end."""
        for found in self.tokens:
            self.at, token = found.end(), found[0]
            self.require(token.isascii() and (token.isprintable() or "\n" in token), "what is not printable ASCII")
            if token.startswith("%"):
                self.require(not self.text[: found.start()].rpartition("\n")[2].strip(), "a raw %")
            elif not token.isspace():
                return token
            self.require(token.count("\n") < 2 or may_end_paragraph, "an empty line")
        return ""

    def read(self, end: str, is_math: bool, columns: int | None = None) -> None:
        """Read to the end of a group, an environment or a formula, in columns if they are counted."""
        used, scripts, has_atom = 1, "", False
        while not (token := self.token(may_end_paragraph=end in (WHOLE, *LISTS))).startswith(end):
            self.require(token not in ("", "}", "$", "#", "~", "\\"), f"{token or 'no ' + end}")
            match token:
                case "^" | "_":
                    self.require(is_math and token not in scripts and has_atom, f"a wrong {token}")
                    scripts += token
                    self.argument(is_math)
                case "&" | "\\\\":
                    used, scripts, has_atom = used + 1 if token == "&" else 1, "", False
                    is_bare = token == "&" or not re.match(r"\s*[\[*]", self.text[self.at :])
                    self.require(columns is not None and used <= columns and is_bare, f"a wrong {token}")
                case "\\," | "\\;" | "\\!" | "\\ ":
                    self.require(is_math or token == "\\ ", f"{token} in text")
                case "\\item":
                    self.require(end in LISTS, r"\item outside of a list")
                case _:
                    self.atom(token, is_math)
                    scripts, has_atom = "", True

    def argument(self, is_math: bool) -> None:
        token = self.token()
        if token != r"\top":  # one sign, which needs none
            self.require(token == "{", "an argument without braces")
            self.read("}", is_math)

    def atom(self, token: str, is_math: bool) -> None:
        """Read on to the end of what a token begins, if it begins something."""
        match token.removeprefix("\\"):
            case "{" if token == "{":
                self.read("}", is_math)
            case "(" | "[" as bracket if token != bracket:
                self.require(not is_math, "mathematics in mathematics")
                self.read({"(": r"\)", "[": r"\]"}[bracket], True)
            case "_" | "{" | "}" | "%" | "&" | "#" | "$":
                pass
            case name if token == name:
                self.require(not is_math or token != "'", "a prime")
            case name if name.startswith("begin{"):
                self.environment(name.removeprefix("begin{"), is_math)
            case name if name.startswith("left"):
                self.require(is_math, r"\left in text")
                self.read(r"\right", True)
            case name:
                known = MATH if is_math else TEXT
                self.require(name in known, f"{token} is not known here")
                for _ in range(known[name]):
                    self.argument(name not in TO_TEXT)

    def environment(self, begun: str, is_math: bool) -> None:
        """Read an environment, with the widths of its columns if they are written."""
        name, _, columns = begun.partition("}")
        known = MATH_ENVIRONMENTS if is_math else {**DISPLAYS, **TEXT_ENVIRONMENTS}
        self.require(name in known, f"the environment {name} is not known here")
        count = len(re.sub(r"\{.*?\}|[^lcrp]", "", columns[1:-1])) if columns else known[name]
        self.read(rf"\end{{{name}}}", is_math or name in DISPLAYS, count)


def check(fragment: str, *, is_math: bool = False) -> None:
    r"""Fail with `LatexError` if it would not compile.

    Args:
        fragment: For the body of a document, or for the inside of mathematics.
        is_math: Which.
    """
    reader = _Reader((rf"\({fragment}\)" if is_math else fragment) + f"\n{WHOLE}")
    reader.read(WHOLE, False)
    reader.require(not reader.token(), "more after the end")


def check_document(text: str) -> None:
    """Fail with `LatexError` if a whole document would not compile."""
    head, begins, rest = text.partition("\\begin{document}\n")
    body, ends, after = rest.partition("\\end{document}\n")
    lines = [line for line in head.splitlines() if not line.startswith("%")]
    if lines != ["\\documentclass{article}", "\\usepackage{amsmath}"] or not (begins and ends) or after:
        raise LatexError("no document")
    check(body)
