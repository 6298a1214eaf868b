r"""Expressions of whole tensors in three spellings: the language's, mathematics in Unicode, and LaTeX.

    2*A.T@(A@x - b)        2·Aᵀ(Ax − b)        2 A^\top (A x - b)

Each part knows how tightly it binds in each spelling, as `inv(X)` is a call and `X⁻¹` a power.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gradcli.notation import Notation, Spelling, typesetting

SUM, PRODUCT, CHAIN, POWER, ONE = range(5)
"""How tightly an expression binds: a sum, a product of numbers, one of matrices, a power, one thing."""

_SUPERSCRIPTS = str.maketrans("0123456789-/", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᐟ")

_LETTERS = dict(zip(typesetting.GREEK, "αβγδεζηθικλμνξπρστυϕχψωΓΔΘΛΞΠΣΥΦΨΩεϑφϱς", strict=True))
_LETTERS |= {"pi": "π", "epsilon": "ϵ", "varepsilon": "ε"}

_COMMANDS = {"log": r"\log", "exp": r"\exp", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "det": r"\det"}
_COMMANDS |= {"sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh"}


@dataclass(frozen=True)
class Written:
    """Expression in three spellings.

    Attributes:
        text: As the language reads it.
        pretty: As people write it.
        latex: In LaTeX, with amsmath.
        level: How tightly the text binds.
        shown: How tightly the other two bind.
        turned: The same, transposed, where that has a spelling of its own; `inv(X).T` is `X⁻ᵀ`.
        is_long: Whether its name has several letters, so that it needs a sign between it and the next one.
        is_symmetric: Whether it is its own transpose.
    """

    text: str
    pretty: str
    latex: str
    level: int = ONE
    shown: int = ONE
    turned: Written | None = None
    is_long: bool = False
    is_symmetric: bool = False

    def within(self, level: int) -> Written:
        """Put into brackets where something that binds like this would take it apart."""
        text = self.text if self.level >= level else f"({self.text})"
        is_one = self.shown >= level
        pretty, latex = (self.pretty, self.latex) if is_one else (f"({self.pretty})", f"({self.latex})")
        return replace(
            self, text=text, pretty=pretty, latex=latex, level=max(level, self.level), shown=max(level, self.shown)
        )

    @property
    def transposed(self) -> Written:
        """The transpose."""
        if self.is_symmetric:
            return self
        if self.turned is not None:
            return replace(self.turned, turned=self)
        one = self.within(ONE)
        return Written(f"{one.text}.T", f"{one.pretty}ᵀ", rf"{one.latex}^\top", shown=POWER, turned=self)


@dataclass(frozen=True)
class WholeTensors(Notation):
    """Notation of an expression of whole tensors, which people type as well.

    Attributes:
        written: The expression.
        is_mathematics: Whether people are shown mathematics, and not the language.
        conditions: What must be so that it has a value, such as `X is invertible`.
    """

    written: Written
    is_mathematics: bool = False
    conditions: tuple[str, ...] = ()

    @property
    def mathematics(self) -> WholeTensors:
        """The same, for people who write mathematics."""
        return replace(self, is_mathematics=True)

    def spelled(self, how: Spelling) -> str:
        """Write the expression as the language has it, as mathematics, or in LaTeX."""
        if how == "latex":
            return self.written.latex
        return self.written.pretty if how == "pretty" and self.is_mathematics else self.written.text


def named(name: str) -> Written:
    """Write a variable; people write Greek letters as such."""
    pretty = _LETTERS.get(name, name)
    return Written(name, pretty, typesetting.name(name), is_long=len(pretty) > 1)


def integer(number: int) -> Written:
    """Write a whole number that is not negative."""
    return Written(str(number), str(number), str(number))


def greater(one: Written, other: Written) -> Written:
    """Write 1 where an expression is greater than another one, and 0 elsewhere."""
    if one.text == "0":
        return Written(f"({other.text} < 0)", f"({other.pretty} < 0)", f"({other.latex} < 0)")
    return Written(f"({one.text} > {other.text})", f"({one.pretty} > {other.pretty})", f"({one.latex} > {other.latex})")


def called(name: str, *parts: Written) -> Written:
    """Write a function of parts."""
    texts, pretty, latex = (", ".join(getattr(p, how) for p in parts) for how in ("text", "pretty", "latex"))
    command = _COMMANDS.get(name, rf"\operatorname{{{name.replace('_', chr(92) + '_')}}}")
    return Written(f"{name}({texts})", f"{name}({pretty})", rf"{command}({latex})", is_long=True)


def trace(matrix: Written) -> Written:
    """Write a trace."""
    return Written(
        f"trace({matrix.text})", f"tr({matrix.pretty})", rf"\operatorname{{tr}}({matrix.latex})", is_long=True
    )


def norm(one: Written, *, is_matrix: bool) -> Written:
    """Write the Euclidean norm of a vector, or the Frobenius norm of a matrix."""
    mark, sub = ("_F", "_F") if is_matrix else ("", "")
    return Written(f"norm({one.text})", f"‖{one.pretty}‖{mark}", rf"\lVert {one.latex} \rVert{sub}")


def inverse(one: Written) -> Written:
    """Write the inverse of a matrix."""
    inside = one.within(ONE)
    back = Written(f"inv({one.text}).T", f"{inside.pretty}⁻ᵀ", rf"{inside.latex}^{{-\top}}", shown=POWER)
    return Written(f"inv({one.text})", f"{inside.pretty}⁻¹", f"{inside.latex}^{{-1}}", shown=POWER, turned=back)


def root(one: Written) -> Written:
    """Write a square root."""
    return Written(f"sqrt({one.text})", f"√{one.within(ONE).pretty}", rf"\sqrt{{{one.latex}}}")


def raised(one: Written, power: Fraction) -> Written:
    """Write a positive power of numbers, or of elements."""
    if power == 1:
        return one
    if power == Fraction(1, 2):
        return root(one)
    base = one.within(ONE)
    exponent = str(power) if power.denominator == 1 else f"({power})"
    return Written(
        f"{base.text}**{exponent}",
        f"{base.pretty}{str(power).translate(_SUPERSCRIPTS)}",
        f"{base.latex}^{{{power}}}",
        POWER,
        POWER,
    )


def chain(parts: Sequence[Written]) -> Written:
    """Write a product of matrices and vectors."""
    if len(parts) == 1:
        return parts[0]
    own = [one.within(CHAIN) for one in parts]
    pretty = own[0].pretty
    for before, one in itertools.pairwise(own):
        pretty += ("·" if before.is_long or one.is_long else "") + one.pretty
    return Written("@".join(one.text for one in own), pretty, " ".join(one.latex for one in own), CHAIN, CHAIN)


def outer(column: Written, row: Written) -> Written:
    """Write the product of a column and a row, which is the transpose of a vector."""
    left, right = column.within(CHAIN), row.transposed
    sign = "·" if left.is_long or row.is_long else ""
    return Written(
        f"outer({column.text}, {row.text})",
        f"{left.pretty}{sign}{right.pretty}",
        rf"{left.latex} {right.latex}",
        shown=CHAIN,
        is_long=False,
    )


def by_element(above: Sequence[Written], below: Sequence[Written]) -> Written:
    """Write a product by element, and what it is divided by."""
    if len(above) == 1 and not below:
        return above[0]
    if above:
        first, *rest = above
        parts = [first.within(PRODUCT if len(above) == 1 or first.level == PRODUCT else POWER)]
        parts += [one.within(POWER) for one in rest]
        found = Written(
            "⊙".join(one.text for one in parts),
            " ⊙ ".join(one.pretty for one in parts),
            r" \odot ".join(one.latex for one in parts),
            PRODUCT if len(parts) > 1 else parts[0].level,
            PRODUCT if len(parts) > 1 else parts[0].shown,
        )
    else:
        found = integer(1)
    return divided(found, below)


def times(numbers: Sequence[Written], tensor: Written | None, below: Sequence[Written]) -> Written:
    """Write a product of numbers and a tensor, divided by numbers."""
    if len(numbers) + (tensor is not None) == 1:
        return divided(tensor or numbers[0], below)
    if not numbers:
        return divided(integer(1), below)
    parts = [one.within(POWER) for one in numbers] + ([tensor.within(CHAIN)] if tensor else [])
    latex = parts[0].latex
    for one in parts[1:]:
        latex += (r" \cdot " if one.latex[0].isdigit() else " ") + one.latex
    text, pretty = "*".join(one.text for one in parts), "·".join(one.pretty for one in parts)
    return divided(Written(text, pretty, latex, PRODUCT, PRODUCT), below)


def divided(above: Written, below: Sequence[Written]) -> Written:
    """Write a quotient by the product of numbers."""
    if not below:
        return above
    top, bottom = above.within(PRODUCT), times(below, None, []).within(POWER)
    return Written(
        f"{top.text}/{bottom.text}",
        f"{top.pretty}/{bottom.pretty}",
        rf"\frac{{{above.latex}}}{{{times(below, None, []).latex}}}",
        PRODUCT,
        PRODUCT,
    )


def negative(one: Written) -> Written:
    """Write the negative of an expression."""
    inside = one.within(PRODUCT)
    return Written(f"-{inside.text}", f"−{inside.pretty}", f"-{inside.latex}", SUM, SUM)


def added(terms: Sequence[tuple[bool, Written]]) -> Written:
    """Write a sum, of terms that are subtracted or added."""
    (is_first_negative, first), *rest = terms
    start = negative(first) if is_first_negative else first.within(PRODUCT)
    if not rest:
        return negative(first) if is_first_negative else first
    text, pretty, latex = start.text, start.pretty, start.latex
    for is_negative, one in rest:
        inside = one.within(PRODUCT)
        text += f" {'-' if is_negative else '+'} {inside.text}"
        pretty += f" {'−' if is_negative else '+'} {inside.pretty}"
        latex += f" {'-' if is_negative else '+'} {inside.latex}"
    return Written(text, pretty, latex, SUM, SUM)
