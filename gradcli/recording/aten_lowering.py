"""Calls of ATen as lines of a Program: by the row with their name and arguments, or by a rule.

A call with neither is decomposed by torch's own tables, down to calls that have one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from gradcli.arrays import AnyArray
from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.arguments import exact_number
from gradcli.language.lower.calls import result_of
from gradcli.language.lower.constants import inline_text
from gradcli.language.lower.context import Ask, Known, start
from gradcli.language.lower.lines import as_number, emit
from gradcli.language.lower.programs import RULES
from gradcli.language.lower.sizes import shape_of
from gradcli.language.ops import Meaning, Op
from gradcli.language.parsing import EVALUATION
from gradcli.language.program.constant_tensors import constant_tensor
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, show
from gradcli.language.text.source import SourceText
from gradcli.recording.aten_calls import Argument, Overload, name_of

Lowered = Atom
"""An argument: an atom where it is a tensor, a number, a word, or a list of these."""

Rule = Callable[..., Any] | str
"""Function of an `AtenLowering` and the arguments of a call by name, which returns the same as `AtenLowering.call`; or
the name of a row."""

MOST_LITERAL = 2**16
"""Most elements of a constant tensor of whole numbers to write out."""

_HELD = frozenset(
    "dtype layout device pin_memory memory_format half_to_float implicit non_blocking generator stable atol rtol "
    "compute_mode N C HxW hermitian check_errors".split()
)
"""Arguments about the storage of a tensor, and about ways to the same values; rows take none of them."""

_AFFIXES = re.compile("^_?(?:linalg_|special_|native_)?|_forward$")
"""Affixes that ATen's names have and names of rows have not."""

_RENAMED = {"unbiased": "correction"}
"""Parameters of rows by the other names that ATen has for them."""

_REDUCTIONS = ("none", "mean", "sum")
"""Reductions of a loss, by torch's number."""


class NoRowError(Exception):
    """Signal that a call has no row and is to be decomposed."""


class AtenLowering:
    """Builder that appends calls of ATen to a Program.

    Args:
        called: Name of the recorded function, for messages.
        rules: Rules by the name of an operation, or by its name and overload.
        ask: Asks torch for the meaning of rows that have none.
        records_meaning: Whether the recording makes such a meaning itself: rows that need one count as missing then.

    Attributes:
        context: The text that the lines are appended to.
        written: The lines so far.
        variables: The variables by name.
        span: The place of the next lines, where there is a text already.
        instead: Values that stand for some variables in Programs, as it was found out later how these are made.
    """

    span = Span(0, 0)

    def __init__(self, called: str, rules: Mapping[str, Rule], ask: Ask, *, records_meaning: bool = False) -> None:
        self.rules, self.records_meaning = rules, records_meaning
        self.context = start(SourceText("0", called), Known(values={}, ask=ask, evaluation=EVALUATION), RULES)
        self.written, self.variables = self.context.builder.lines, self.context.findings.variables
        self.instead: dict[Atom, Atom] = {}

    # -- operands

    def variable(self, name: str, shape: Shape) -> Atom:
        """Add a variable of a shape."""
        self.context.findings.shapes[name] = shape
        return self.context.findings.variable(name)

    def literal(self, tensor: Tensor) -> Atom:
        """Add a constant tensor by its numbers."""
        array = tensor.detach().cpu().to(torch.float64).numpy()
        if have_one_value(tensor):
            first = tensor.flatten()[0].item()
            return self.row("full", array.shape, first) if array.ndim else as_atom(first)
        if array.ndim == 2 and np.array_equal(array, np.eye(*array.shape)):
            atom = self.row("eye", *array.shape)
        elif array.ndim == 1 and np.array_equal(array, np.arange(len(array))):
            atom = self.row("arange", 0, len(array), 1)
        else:
            atom = self.constant(array)
        return self.emit("ne", [atom, sympy.Integer(0)]) if tensor.dtype is torch.bool else atom

    def constant(self, array: AnyArray) -> Atom:
        """Add a constant tensor as one line, however many numbers it has."""
        return self.context.builder.emit("drawn", (), self.span, (array.shape, constant_tensor(array)))

    def shape(self, atom: Atom) -> Shape:
        """Give the shape of a value."""
        found = shape_of(self.context, atom)
        assert found is not None  # noqa: S101
        return found

    def is_condition(self, atom: Atom) -> bool:
        """Tell whether a value is true or false."""
        return atom in self.context.findings.conditions

    # -- lines

    def retain(self, values: Set[Atom], conditions: Sequence[Atom], changed: Sequence[str]) -> set[Atom]:
        """Drop all lines except the ones that some values are made of.

        Args:
            values: Values to keep, unless they follow from a changed variable.
            conditions: Conditions to keep where all their variables are kept.
            changed: Names of the changed variables.

        Returns:
            The atoms that are left, with the variables.
        """
        gone = {self.variables[name] for name in changed}
        for line in self.written:
            if not gone.isdisjoint(line.call.operands):
                gone.add(line.symbol)
        lines, _ = self.context.builder.backward_slice(*(values - gone))
        kept = {one for line in lines for one in (line.symbol, *line.call.operands) if one.is_Symbol}
        for condition in conditions:
            others, asked = self.context.builder.backward_slice(condition)
            if condition not in gone and asked.intersection(self.variables.values()) <= kept:
                kept.update(line.symbol for line in others)
        self.context.builder.retain([line for line in self.written if line.symbol in kept])
        for name in [name for name, symbol in self.variables.items() if symbol not in kept]:
            del self.variables[name]
        return kept

    def program(self, atoms: Sequence[Atom]) -> Program:
        """Give the Program that computes some values, of which the last is the output."""
        lines, leaves = self._slice_of_all(*atoms) if self.instead else self.context.builder.backward_slice(*atoms)
        variables = tuple(one for one in self.variables.values() if one in leaves)
        output = atoms[-1] if atoms else sympy.Integer(0)
        return Program("", variables, tuple(lines), output, self.context.source.name)

    def _slice_of_all(self, *atoms: Atom) -> tuple[list[Line], set[Atom]]:
        """Trace values back as `backward_slice` does, also through what stands for variables."""
        line_of, leaves = self.context.builder.line_of, set[Atom]()
        found, begun, waiting = dict[Atom, Line](), set[Atom](), [*reversed(atoms)]
        while waiting:
            atom = self.instead.get(waiting[-1], waiting[-1])
            line = line_of(atom)
            if line is None:
                leaves.add(atom)
            elif atom not in begun:
                begun.add(atom)
                waiting += line.call.operands
                continue
            elif atom not in found:
                found[atom] = replace(line, call=line.call.renamed(self.instead))
            waiting.pop()
        return [*found.values()], leaves

    def emit(self, name: str, operands: Sequence[Argument], statics: tuple[Argument, ...] = ()) -> Atom:
        """Append a line of a primitive."""
        return emit(self.context, name, [as_atom(one) for one in operands], self.span, statics)[0]

    def number(self, atom: Atom) -> Atom:
        """Give a condition as 1 and 0, anything else as it is."""
        return as_number(self.context, atom, self.span)

    def text(self, text: str, **operands: Atom) -> Atom:
        """Append the lines of a text of the language, whose names stand for these operands."""
        return inline_text(self.context, text, {n: as_atom(a) for n, a in operands.items()}, self.span)

    def expanded(self, atom: Atom, size: Sequence[int]) -> Atom:
        """Append a value broadcast to a shape; -1 keeps its own size."""
        own = self.shape(atom)
        lead = len(size) - len(own)
        wanted = tuple(own[n - lead] if one == -1 else one for n, one in enumerate(size))
        return atom if own == wanted else self.row("expand", atom, wanted)

    def picked(self, atom: Atom, places: Sequence[int], shape: Shape) -> Atom:
        """Append the elements of a value at flat places, in a shape."""
        return self.text(f"reshape(reshape(x, -1)[{places}], {show(shape)})", x=self.number(atom))

    def merged(self, atom: Atom, before: Atom, places: Sequence[int], shape: Shape) -> Atom:
        """Append the elements of a value at flat places, in a shape; where the place is -1, keep that of `before`."""
        if min(places) >= 0:
            return self.picked(atom, places, shape)
        flat = [len(places) + n if n >= 0 else k for k, n in enumerate(places)]
        text = f"reshape(cat([reshape(x, -1), reshape(v, -1)])[{flat}], {show(shape)})"
        return self.text(text, x=self.number(before), v=self.number(atom))

    def copied(self, atom: Atom, is_left_out: Callable[[Call], bool], derived: Callable[..., Atom]) -> Atom:
        """Append the lines that a value is made of once more, without some operations.

        Args:
            atom: The value.
            is_left_out: Tells the operations in whose place their operand stands.
            derived: Notes that a value follows from others, and returns it.
        """
        builder, renamed = self.context.builder, dict[Atom, Atom]()
        for line in builder.backward_slice(atom)[0]:
            call = line.call.renamed(renamed)
            if is_left_out(call):
                renamed[line.symbol] = call.operands[0]
            else:
                copy = emit(self.context, call.op.name, [*call.operands], line.span, call.statics)[0]
                renamed[line.symbol] = derived(copy, *call.operands)
        return renamed.get(atom, atom)

    def row(self, name: str, *arguments: Lowered, **keywords: Lowered) -> Argument:
        """Append a call of a row with arguments in the order of its signature.

        Returns:
            Its atom; a list of atoms, where it gives several.
        """
        row = ops.TABLE[name]
        if row.defined_by is Meaning.TORCH_INLINE or (self.records_meaning and row.defined_by is Meaning.TORCH_CALL):
            raise NoRowError
        named = {**dict(zip(row.signature, arguments, strict=False)), **keywords}
        given = {**row.statics, **row.defaults, **{key: value for key, value in named.items() if value is not None}}
        operands: list[Lowered] = []
        for parameter in row.operands:
            value = given.get(parameter, ())
            operands += value if isinstance(value, list | tuple) else [value]
        statics = tuple(_static(parameter, given[parameter]) for parameter in row.signature if parameter in row.statics)
        return result_of(self.context, row, [(as_atom(one), self.span) for one in operands], statics, self.span)[0]

    def call(
        self, function: Overload, arguments: Mapping[str, Lowered], rules: Mapping[str, Rule] | None = None
    ) -> Argument:
        """Append a call of ATen.

        Args:
            function: An operation that changes none of its arguments.
            arguments: By the names of its schema, with atoms in place of tensors.
            rules: Rules to use in place of all others and of rows, as for complex numbers.

        Returns:
            An atom, or a list of atoms; `NotImplemented` if there is neither a rule nor a row.
        """
        if "::" in name_of(function):
            return NotImplemented
        name, _, overload = str(function).removeprefix("aten.").removeprefix("prims.").partition(".")
        known = self.rules if rules is None else rules
        rule = known.get(f"{name}.{overload}") or known.get(name) or (row_of(name) if rules is None else None)
        try:
            if callable(rule):
                return rule(self, **arguments)
            row = ops.TABLE[rule] if isinstance(rule, str) else rule
            return NotImplemented if row is None else self.row(row.name, **_by_parameter(row, function, arguments))
        except NoRowError:
            return NotImplemented


def _by_parameter(row: Op, function: Overload, arguments: Mapping[str, Lowered]) -> dict[str, Lowered]:
    """Name the arguments of a call by the parameters of a row: those of equal names, and the others in order.

    Raises:
        NoRowError: The row lacks an argument that is not the default.
    """
    plain = {_RENAMED.get(key, key): value for key, value in arguments.items() if key not in _HELD}
    others = (one for one in row.signature if one not in plain)
    found = {key if key in row.signature else next(others, f"{key}="): value for key, value in plain.items()}
    for one in torch_internals.arguments_of(function):
        if f"{one.name}=" in found and not (one.has_default_value() and plain[one.name] == one.default_value):
            raise NoRowError
    return found


@functools.lru_cache(maxsize=4096)
def row_of(name: str) -> Op | None:
    """Find the row for the name of an operation of ATen, also without its affixes or its underscores."""
    for one in (name, _AFFIXES.sub("", name), name.strip("_")):
        row = ops.find(one, after_dot=True)
        if row is not None:
            return row
    return None


def have_one_value(numbers: Tensor) -> bool:
    """Tell whether numbers, and no truth values, are all the same."""
    flat = numbers.flatten()
    return bool(flat.numel()) and flat.dtype is not torch.bool and bool((flat == flat[0]).all())


def as_atom(value: object) -> Atom:
    """Give an atom as it is, and a number as an atom."""
    return value if isinstance(value, sympy.Basic) else exact_number(value)


def _static(parameter: str, value: Argument) -> Argument:
    """Give a constant argument in the form that rows take."""
    if parameter == "dims" and value == []:
        return None
    if parameter == "correction" and value == int(value):
        return int(value)
    if parameter == "reduction" and isinstance(value, int):
        return _REDUCTIONS[value]
    if isinstance(value, tuple | list):
        found = tuple(_static("", one) for one in value)
        return found[0] if len(found) == 1 and parameter == "dim" else found if found or parameter != "dim" else None
    return value
