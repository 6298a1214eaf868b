"""Row of the op table: its fields, its text form, and the facts that follow from them.

Each reading asks a row for its facts; the test of the table names the facts that a new row lacks.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from inspect import signature as parameters_of
from types import MappingProxyType
from typing import Any


class Monoid(Enum):
    """Associative operation of two operands with its identity, by which a reduction or a scan folds its elements."""

    SUM = "add", 0.0
    PRODUCT = "mul", 1.0
    LARGEST = "maximum", -math.inf
    SMALLEST = "minimum", math.inf

    def __init__(self, operation: str, identity: float) -> None:
        self.operation = operation
        self.identity = identity

    @property
    def is_extreme(self) -> bool:
        """Tell whether it takes one of the two operands and leaves the other."""
        return self in (Monoid.LARGEST, Monoid.SMALLEST)


class Kind(Enum):
    """Way in which an operation moves elements: each reading has one rule for a kind, or one for a name inside it.

    No reading meets an `inlined` one: the lowering puts the operations that torch makes of the call in its place.
    """

    ELEMENTWISE = "elementwise"
    REDUCTION = "reduction"
    SCAN = "scan"
    CONTRACTION = "contraction"
    LIST = "list"
    MOVEMENT = "movement"
    MATRIX = "matrix"
    SPECTRAL = "spectral"
    COUNT = "count"
    SOURCE = "source"
    DEFINED = "defined"
    INLINED = "inlined"


class Required(Enum):
    """Mark of a static parameter without a default."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED

Default = int | float | bool | str | None | tuple[int, ...] | Required

Constants = Mapping[str, Any]
"""Constant arguments by name."""

Shapes = tuple[tuple[int, ...], ...]
"""Shape of each operand."""

ASKED = "what torch makes of it"
"""Meaning of an operation whose definition torch is asked for."""

SHAPES = "shapes"
"""The last constant of a call whose meaning depends on the shapes of its operands."""

LARGEST_ORDER = 2**40
"""Largest operand without a derivative for which Arb's method is called: of larger ones it takes long, for nothing."""

_COMPARED = {">": operator.gt, ">=": operator.ge}


def _marked(mark: str) -> cached_property[tuple[str, ...]]:
    return cached_property(lambda op: tuple(name for name, marks, *_ in op._parameters if mark in marks))


@dataclass(frozen=True)
class Op:
    """Operation: one row of the table.

    >>> Op("exp(x)", "the exponential").worked_example
    ('exp(x)', {'x': '0.5'})

    Attributes:
        heading: `name|alias|.method(operand, marked?:default, constant=default, required=) -> parts`: its names in
            Program, language, SymPy, NumPy and Python; after a dot only, as in `x.t()`, a name that is too likely
            a variable before a parenthesis alone; the parameters in torch's order, of which those with `=` take
            constants and the others operands; the names of several results, `...` for a list of any.  The marks of an
            operand, `#`: torch's function takes it as a plain number only; where it is none, the meaning is run.  `?`:
            it takes it as a tensor or not at all; the default, which is 0 if none is written, stands for it, but
            where the kind is `inlined`.  `~`: it has no derivative by it; where one is asked for, the meaning is run;
            torch refuses that of a primitive.  `%`: it is no parameter: not differentiated by unless that is asked
            for.  `^`: it must be a symmetric matrix, of which torch reads one triangle and derives by both.  `!`: it
            is a whole number, as a position is, and has no derivative; with `<`, only where it has fewer dimensions
            than the first operand.  `&`: it must be true or false, as a comparison is.  `*`: more may follow, which
            are folded from the left, two at a time.
        doc: One line on its value.
        meaning: Its definition in the language itself, in terms of the signature; empty for a primitive, which has
            a rule of its own in each reading; `ASKED` where torch is asked for it.
        written: Writes the definition from constant arguments by name, and, if it takes two, from the shapes of the
            operands.  The meaning is then a short form of it.
        total: The same with torch's value where that has none, as of 0*log(0) and of nan: the form that balls and NumPy
            take; empty where there is no more.
        in_floats: The same written so that it neither overflows nor cancels, as in torch: the form that NumPy
            runs for values; empty where the meaning will do.
        torch: Path below `torch` of the function that computes it; empty where only the meaning does.
        arb: Of a primitive, Arb's method for values on balls, with operands and constants: `gamma_lower(x, a, 1)`.
        slopes: Its derivatives by its operands, in the language; with `arb`, no reading needs a rule for it.
        adjoints: What it adds to the adjoints of its operands in torch, at kinks too, where the gradient of the meaning
            is other; `grad` is its own adjoint and `result` its value, with the dimensions that a reduction drops.
        kernel: Extra rounding by torch's kernel: as if the last operand were off by so many units in its last place,
            and then the result by this part of itself.
        kind: The way in which it moves elements.
        caveat: Facts beyond the doc line: a rule of torch that surprises, a formula by cases.
        rule_name: The rule of differentiation by its name in the textbooks, where it is not that of its kind.
        notation: Ways to write it that are no call, method or sign, such as `x.T`.
        example: An expression with the operation; empty for the obvious one.
        at: Values for its variables, `x=1,2,3`, and for others.
        sense: Of a comparison, the signs of a - b with which it holds.
        monoid: Operation that a reduction or a scan folds by; of an operation of two, itself.
        coefficients: Of a linear operation on numbers, those of its operands.
        adds_terms: Whether it adds up terms, which may cancel.
        domain: Where the value is real, as a condition on the operands; empty for everywhere.  With `arb` it is read:
            `x > 1, q > 0`.
        edges: Expressions of the operands that vanish where the domain ends at a point that has a value, and at poles
            of functions that are evaluated one by one.
        kinks: Expressions of the operands that vanish where the derivative jumps.
    """

    heading: str
    doc: str
    meaning: str = ""
    written: Callable[..., str] | None = field(default=None, repr=False)
    total: str = ""
    in_floats: str = ""
    torch: str = ""
    arb: str = ""
    slopes: Mapping[str, str] = field(default_factory=dict)
    adjoints: Mapping[str, str] = field(default_factory=dict)
    kernel: tuple[int, float] = (0, 0.0)
    kind: Kind = Kind.ELEMENTWISE
    caveat: str = ""
    rule_name: str = ""
    notation: tuple[str, ...] = ()
    example: str = ""
    at: str = ""
    sense: tuple[int, ...] = ()
    monoid: Monoid | None = None
    coefficients: tuple[int, ...] = ()
    adds_terms: bool = False
    domain: str = ""
    edges: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()

    numbers, optional, undifferentiated, buffers = map(_marked, "#?~%")
    symmetric, whole, whole_if_fewer, conditions = map(_marked, "^!<&")

    # -- the heading

    @cached_property
    def _names(self) -> list[str]:
        return self.heading.partition("(")[0].split("|")

    @cached_property
    def name(self) -> str:
        """Name in the Program, and in the language."""
        return self._names[0]

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        """Other names in the language."""
        return tuple(name for name in self._names[1:] if name[0] != ".")

    @cached_property
    def qualified(self) -> tuple[str, ...]:
        """Names that are read after a dot only."""
        return tuple(name[1:] for name in self._names if name[0] == ".")

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Names that torch gives the results of a function with several tensors; `...` alone for a list."""
        return tuple(filter(None, self.heading.partition(" -> ")[2].split(", ")))

    @cached_property
    def _parameters(self) -> list[tuple[str, ...]]:
        inside = self.heading.partition(" -> ")[0].partition("(")[2][:-1]
        return [_PARAMETER.match(parameter).groups("") for parameter in inside.split(", ")]  # type: ignore[union-attr]

    @cached_property
    def signature(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(name for name, *_ in self._parameters)

    @cached_property
    def statics(self) -> Mapping[str, Default]:
        """Parameters that take constants, with their defaults; shapes are one where the meaning depends on them."""
        found = {name: _default(text) for name, _, sign, text in self._parameters if sign == "="}
        return found | ({SHAPES: None} if self.of_shapes else {})

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """Parameters that take expressions."""
        return tuple(name for name, _, sign, _ in self._parameters if sign != "=")

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """Operands that may be left out, with the numbers that stand for them."""
        return {
            name: _default(text or "0")
            for name, marks, sign, text in self._parameters
            if sign == ":" or ("?" in marks and self.kind is not Kind.INLINED)
        }

    @cached_property
    def of_shapes(self) -> bool:
        """Tell whether its meaning depends on the shapes of its operands, which the text is read for."""
        return self.is_recorded or (self.written is not None and len(parameters_of(self.written).parameters) > 1)

    @cached_property
    def is_asked(self) -> bool:
        """Tell whether torch is asked for its meaning, and for the values that its constants may take."""
        return self.meaning == ASKED

    @cached_property
    def is_recorded(self) -> bool:
        """Tell whether its meaning is recorded from torch, for operands of certain shapes."""
        return self.is_asked and self.kind is Kind.DEFINED

    # -- facts that follow from the others

    @cached_property
    def variadic(self) -> bool:
        """Tell whether further operands are a list, or folded from the left, two at a time."""
        is_list = self.operands[:1] in (("tensors",), ("operands",))
        return is_list or any("*" in marks for _, marks, *_ in self._parameters)

    @cached_property
    def adds_dimension(self) -> bool:
        """Tell whether it lays the parts of a list along a new dimension."""
        return self.name == "stack"

    @cached_property
    def is_condition(self) -> bool:
        """Tell whether the result is true or false."""
        return bool(self.sense) or self.name.startswith(("is", "logical_"))

    @cached_property
    def is_step(self) -> bool:
        """Tell whether the value jumps where there is a kink."""
        return bool(self.kinks) and self.name != "abs" and not self.is_extreme

    @cached_property
    def is_locally_constant(self) -> bool:
        """Tell whether the value changes in jumps alone, so that the derivative is 0 wherever there is one."""
        return self.is_condition or self.name in ("sign", "floor", "ceil", "trunc", "round")

    @cached_property
    def is_detached(self) -> bool:
        """Tell whether the result is a constant to derivatives, of which torch keeps no graph."""
        return self.name in ("zeros_like", "ones_like", "detach")

    @cached_property
    def is_held(self) -> bool:
        """Tell whether the result is its operand, held constant."""
        return self.name == "detach"

    @cached_property
    def is_choice(self) -> bool:
        """Tell whether it is elementwise and takes one of its operands."""
        return self.kind is Kind.ELEMENTWISE and bool(self.is_branch or self.is_extreme)

    @cached_property
    def is_aggregate(self) -> bool:
        """Tell whether an element of the result hangs on many of the operand, and not linearly."""
        return self.is_nonlinear_fold or self.kind in (Kind.MATRIX, Kind.SPECTRAL)

    @cached_property
    def keeps_order(self) -> bool:
        """Tell whether the elements of a movement stay in row-major order."""
        return self.name in ("reshape", "flatten", "squeeze", "unsqueeze")

    @cached_property
    def keeps_shape(self) -> bool:
        """Tell whether a function of a matrix gives a matrix, rather than a number or a list of eigenvalues."""
        return self.name in ("inv", "matrix_exp")

    @cached_property
    def branches(self) -> tuple[str, ...]:
        """Operands of a choice: the condition, the one taken where it holds, and the other one; empty for others."""
        words = self.operands if self.name == "where" else tuple(re.findall(r"\w+", self.meaning))[1:]
        is_choice = self.meaning in ("", f"where({', '.join(words)})") and set(words) == set(self.operands)
        return words if is_choice and self.conditions == words[:1] else ()

    @cached_property
    def guarded(self) -> str:
        """Operand that must stay inside the domain, if not the first."""
        named = [word for word in re.findall(r"\w+", self.domain) if word in self.operands]
        return "" if named[:1] == list(self.operands[:1]) else "".join(named[:1])

    @cached_property
    def worked_example(self) -> tuple[str, dict[str, str]]:
        """Expression with this operation, and a value for each of its variables."""
        is_list, others = self.operands[:1] in (("tensors",), ("operands",)), {"x": "0.5"}
        needed = ["[x, x**2]"] if is_list else [name for name in self.operands if name not in self.defaults]
        text = self.example or f"{self.name}({', '.join(needed)})"
        if len(self.operands) > 1:
            others = dict(zip(self.operands, ("1.5", "0.5", "2"), strict=False))
        given = dict(word.split("=", 1) for word in self.at.split()) or others
        return text, {name: value for name, value in given.items() if name in re.findall(r"\w+", text)}

    def has_large_order(self, *operands: Any) -> bool:
        """Tell whether an operand without a derivative is, or may be, above `LARGEST_ORDER`."""
        pairs = zip(self.operands, operands, strict=True)
        return any(not abs(ball) <= LARGEST_ORDER for name, ball in pairs if name in self.undifferentiated)

    def on_balls(self, *operands: Any) -> Any:
        """Compute the value by Arb's method; None where balls may be outside of the domain."""
        given = dict(zip(self.operands, operands, strict=True))
        limits = map(str.split, filter(None, self.domain.split(", ")))
        if not all(_COMPARED[sign](given[name], int(bound)) for name, sign, bound in limits):
            return None
        method, *words = re.findall(r"\w+", self.arb)
        first, *rest = (given[word] if word in given else int(word) for word in words)
        return getattr(first, method)(*rest)

    @cached_property
    def is_primitive(self) -> bool:
        """Tell whether each reading has a rule of its own for it."""
        return not self.meaning

    def positions(self, ranks: Sequence[int]) -> tuple[str, ...]:
        """List the operands that are whole numbers, where the operands have these numbers of dimensions; none unknown.

        >>> from gradcli.language.ops import TABLE
        >>> [TABLE["cross_entropy"].positions(ranks) for ranks in [(2, 1, 0), (2, 2, 0)]]
        [('target',), ()]
        """
        if not self.whole_if_fewer:
            return self.whole
        of = dict(zip(self.operands, ranks, strict=False))
        return tuple(name for name in self.whole if name in of and of[name] < ranks[0])

    @cached_property
    def has_equation(self) -> bool:
        """Tell whether an equation of letters defines its value."""
        return "equation" in self.statics

    @cached_property
    def is_branch(self) -> bool:
        """Tell whether it is the primitive choice by a condition."""
        return self.name == "where"

    @cached_property
    def is_extreme(self) -> bool:
        """Tell whether it takes the largest or smallest of two operands, or of the elements of one."""
        return self.monoid is not None and self.monoid.is_extreme

    @cached_property
    def is_nonlinear_fold(self) -> bool:
        """Tell whether its elements are products or extremes of those of its operand."""
        return self.kind in (Kind.REDUCTION, Kind.SCAN) and self.monoid is not Monoid.SUM

    @cached_property
    def folds_by(self) -> Monoid:
        """Monoid of a reduction or a scan, which has one."""
        if self.monoid is None:
            raise ValueError(f"the row of {self.name} lacks its monoid")
        return self.monoid

    @cached_property
    def is_sum(self) -> bool:
        """Tell whether it adds up the elements of its operand."""
        return self.kind is Kind.REDUCTION and self.monoid is Monoid.SUM

    @cached_property
    def rule(self) -> str:
        """Rule of differentiation by which its adjoint reaches an operand, in the words of textbooks.

        >>> Op("exp(x)", "the exponential").rule
        'chain rule'
        """
        if self.rule_name:
            return self.rule_name
        if self.branches:
            return "rule of the branch taken"
        if self.kind is Kind.ELEMENTWISE and self.coefficients:
            return "sum rule"
        return _RULES.get(self.monoid or self.kind, "chain rule")

    @cached_property
    def is_linear(self) -> bool:
        """Tell whether the derivative needs no values of the operands."""
        is_fold, is_sum = self.kind in (Kind.REDUCTION, Kind.SCAN), self.monoid is Monoid.SUM
        return is_sum if is_fold else bool(self.coefficients) or self.kind in (Kind.LIST, Kind.MOVEMENT)


_RULES: Mapping[Kind | Monoid, str] = {
    Kind.CONTRACTION: "product rule",
    Kind.LIST: "rule of parts",
    Kind.MOVEMENT: "rule of moved elements",
    Monoid.SUM: "sum rule",
    Monoid.PRODUCT: "product rule",
    **dict.fromkeys((Monoid.LARGEST, Monoid.SMALLEST), "rule of the element taken"),
}
"""Rule of differentiation of a kind or a monoid, where it is not the chain rule."""

_PARAMETER = re.compile(r"(\w*)(\W*?)(?:([=:])(.*))?$")

_WORDS: Mapping[str, Default] = {"": REQUIRED, "None": None, "False": False, "True": True}


def read(text: str, functions: Mapping[str, Any] = MappingProxyType({})) -> dict[str, tuple[Op, ...]]:
    """Read the rows of a table, by their groups.

    A row is its heading, a line on its value and its facts, two spaces or a line apart: `= meaning`, `e.g. example`,
    `at values` of its variables, and others after the name of the field of `Op`; of several texts a
    semicolon is between.  `== group` begins a group, after which stand facts that its rows share.  In a path below
    torch `*` is the name of the row.  A line indented by eight goes on with the one before.

    Args:
        text: The table.
        functions: The functions that write definitions, by their names.

    Raises:
        ValueError: A fact is given twice, or is of no field.

    >>> (op,) = read('''== norms  torch: linalg.*
    ... norm|vector_norm(x, p=2, dim=None)  the p-norm of the elements
    ...     = sqrt(sum(x**2, dim=dim))  e.g. norm(x) at x=3,4
    ... ''')["norms"]
    >>> op.name, op.aliases, op.signature, op.statics, op.torch
    ('norm', ('vector_norm',), ('x', 'p', 'dim'), {'p': 2, 'dim': None}, 'linalg.norm')
    """
    groups: dict[str, tuple[Op, ...]] = {}
    for entry in re.split(r"\n+(?! )", text.strip().replace("\n        ", " ")):
        heading, *facts = re.split(r" *\n +|  +", entry)
        facts = [part for fact in facts for part in re.split(r" (?=at \S+=)", fact)]
        given = dict(_fact(fact, functions) for fact in facts)
        if len(given) < len(facts):
            raise ValueError(f"a fact of {heading} is given twice, or is of no field")
        if heading.startswith("== "):
            group, shared = heading[3:], given
        else:
            groups[group] = (*groups.get(group, ()), _row(heading, shared | given))
    return groups


_FACTS = {"=": "meaning", "e.g.": "example", "at": "at"}


def _fact(text: str, functions: Mapping[str, Any]) -> tuple[str, Any]:
    sign, _, value = text.partition(" ")
    if sign in _FACTS:
        return _FACTS[sign], value
    name, _, value = text.partition(": ")
    if name == "written":
        return name, functions[value]
    return (name, _FIELDS[name](value)) if name in _FIELDS else ("doc", text)


_FIELDS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys("total in_floats torch arb domain caveat rule_name".split(), str),
    **dict.fromkeys("edges kinks notation".split(), lambda text: tuple(text.split("; "))),
    **dict.fromkeys("sense coefficients kernel".split(), lambda text: tuple(map(_default, text.split(", ")))),
    **dict.fromkeys(("slopes", "adjoints"), lambda text: dict(part.split(": ", 1) for part in text.split("; "))),
    "kind": Kind,
    "monoid": lambda text: Monoid[text.upper()],
    "adds_terms": bool,
}
"""Reader of each fact of a row, by the name of the field."""


def _row(heading: str, facts: Mapping[str, Any]) -> Op:
    torch = facts.get("torch", "none").replace("*", re.split(r"[|(]", heading)[0])
    return Op(heading, **{**facts, "torch": "" if torch == "none" else torch})


def _default(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == "(":
        return tuple(map(_default, text[1:-1].split(",")))
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text
