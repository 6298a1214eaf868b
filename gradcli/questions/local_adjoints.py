"""What one line adds to the adjoint of an operand: the gradient of its operation, as text and in torch's numbers.

The gradient is that of the line alone, in torch's form, by the rules by which the whole function is differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from gradcli.adjoint.gradient import GradientProgram, gradient
from gradcli.adjoint.row_rules import in_torch_form
from gradcli.adjoint.slopes import NoAdjointError
from gradcli.adjoint.tidying import tidied
from gradcli.arrays import told_apart
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program.movement import permutation
from gradcli.language.program.program_text import ProgramText, TextPiece
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Program, Shape
from gradcli.notation import BRACKETED, Notation, Signs
from gradcli.results import Array
from gradcli.symbolic.operations import LONGEST_OPERATION, Operation, alone

_SEED = sympy.Symbol("adjoint of the line", real=True)


@dataclass(frozen=True)
class LocalAdjoint:
    """Gradient of one operation by one operand.

    Attributes:
        found: The gradient of the line alone; of a slope, that of its elements.
        variable: The operand.
        names: What the values are called: operands, the line, and its adjoint.
        is_of_tensors: Whether the operands have their shapes; those of an elementwise operation are numbers.
    """

    found: GradientProgram
    variable: sympy.Symbol
    names: Mapping[Atom, str]
    is_of_tensors: bool

    @property
    def text(self) -> str:
        """The gradient in the language, `adj(y)` being the adjoint of y."""
        return _Expression(self.found, dict(self.names)).expression(self.found.of[self.variable]).text

    @property
    def is_choice(self) -> bool:
        """Tell whether it is a choice between cases."""
        return self.text.startswith("where(")

    @property
    def notation(self) -> Notation | None:
        """The same for people; None if it is longer than helps."""
        return Operation(self.text) if len(self.text) <= LONGEST_OPERATION else None

    def times(self, adjoint: Notation, sign: Signs) -> Notation | None:
        """Write the product of the adjoint of the line and this slope; None if the slope is longer than helps.

        Args:
            adjoint: That of the line.
            sign: Of the product.
        """
        piece = _Expression(self.found, dict(self.names)).expression(self.found.of[self.variable])
        whole = self.notation
        if whole is None or piece.text in _SAME:
            return whole and _SAME[piece.text](adjoint)
        is_factor = piece.within(_PRODUCT).text == piece.text and not piece.text.startswith("-")
        return sign(adjoint, whole if is_factor else BRACKETED(whole))

    def numbers(self, values: Mapping[str, Array], adjoint: Array, dtype: str) -> Array | None:
        """Compute the gradient by torch's operations; None where torch refuses one.

        Args:
            values: Of the operands, by their names.
            adjoint: That of the line.
            dtype: `float64` or `float32`.
        """
        from gradcli.autodiff.run import derivative_of, evaluate, output_of, tensor_of, tensor_type

        program = self.found.function(self.variable)
        arrays = {**values, str(_SEED): adjoint}
        leaves = {name: tensor_of(arrays[name], tensor_type(dtype)) for name in program.names}
        leaves |= {name: leaf != 0 for name, leaf in leaves.items() if arrays[name].dtype == np.bool_}
        try:
            found = derivative_of(output_of(program, evaluate(program, leaves, dtype), dtype))
        except GradcliError:
            return None
        return np.array(np.broadcast_to(found, self.found.shapes[self.variable])) if self.is_of_tensors else found


def local_adjoint(
    call: Call,
    operand: Atom,
    names: Mapping[Atom, str],
    shapes: Sequence[Shape],
    y: str,
    *,
    is_slope: bool = False,
) -> LocalAdjoint | None:
    """Differentiate one operation by one of its operands; an elementwise one on numbers.

    Args:
        call: The operation.
        operand: One of its operands.
        names: What the operands are called.
        shapes: Of the operands, in order.
        y: What the line is called.
        is_slope: Whether the adjoint of the line is 1, so that the slope is found.

    Returns:
        None if its adjoint is no Program.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("A @ x")
    >>> A, x = program.variables
    >>> local_adjoint(program.lines[0].call, x, {A: "A", x: "x"}, [(2, 3), (3,)], "z").notation.pretty
    'Aᵀ · z̄'
    """
    is_of_numbers = call.op.kind is Kind.ELEMENTWISE
    typed, known = alone(call, names, [()] * len(shapes) if is_of_numbers else shapes, y)
    variable = next(s for s in typed.variables if str(s) == names[operand])
    try:
        found = _gradient(typed, {symbol: known[symbol] for symbol in typed.variables}, variable, is_slope=is_slope)
    except (NoAdjointError, GradcliError):
        return None
    called = {found.program.output: y, _SEED: f"adj({y})"}
    own = {symbol: str(symbol) for symbol in typed.variables}
    return LocalAdjoint(found, variable, {**called, **own}, is_of_tensors=not is_of_numbers)


def _gradient(
    typed: Program, inputs: Mapping[Atom, Shape], variable: sympy.Symbol, *, is_slope: bool
) -> GradientProgram:
    program = in_torch_form(typed)
    shapes = {**infer(program, dict(inputs), bounded=False)}
    shape = shapes.get(program.output, ())
    seed = sympy.S.One if is_slope else _SEED
    return tidied(
        gradient(
            program, {**shapes, _SEED: shape}, [variable], {program.output: seed}, keeps_defined=True, by_inverses=True
        )
    )


def differing(found: Array | None, torch: Array, closeness: float) -> str:
    """Say at one element which number torch has in place of another; empty if it has the same.

    Args:
        found: By the gradient; None if that has no number.
        torch: By autograd.
        closeness: The largest relative distance of numbers that count as the same.

    >>> differing(np.array([0.5, 2.0]), np.array([1.0, 2.0]), 1e-6)
    'torch takes 1 at [0], where the formula gives 0.5'
    """
    if found is None:
        return ""
    found = np.broadcast_to(found, torch.shape)
    scale = np.abs(torch[np.isfinite(torch)]).max(initial=0)
    is_same = np.isclose(found, torch, rtol=closeness, atol=closeness * 1e-3 * scale, equal_nan=True)
    if is_same.all():
        return ""
    at = tuple(map(int, np.argwhere(~is_same)[0]))
    index = f" at [{','.join(map(str, at))}]" if at else ""
    taken, given = told_apart(float(torch[at]), float(found[at]), least=3)
    return f"torch takes {taken}{index}, where the formula gives {given}"


_PRODUCT = 2
"""How tightly a product binds."""

_SAME = {"1": Signs("%s", "%s", "%s"), "-1": Signs("-%s", "-%s", "-%s")}
"""Products that are written without a sign between."""


class _Expression(ProgramText):
    """Writer of a gradient as one would write it: `A.T`, `outer(a, b)`, products without needless parentheses.

    Args:
        found: The gradient.
        named: Values that have names.
    """

    def __init__(self, found: GradientProgram, named: dict[Atom, str]) -> None:
        super().__init__(found.program.lines, named)
        self.shapes = found.shapes

    def _rank(self, atom: Atom) -> int:
        return len(self.shapes.get(atom, ()))

    def _call(self, call: Call) -> TextPiece:
        name, first = call.op.name, call.operands[0] if call.operands else None
        if first is not None and name in ("transpose", "permute") and self._rank(first) >= 2:
            order = permutation(self.shapes[first], call)
            if order == (*range(self._rank(first) - 2), self._rank(first) - 1, self._rank(first) - 2):
                return self.expression(first).within(5) + (".T" if self._rank(first) == 2 else ".mT")
        if first is not None and name == "unsqueeze":
            axes = [":"] * self._rank(first)
            axis = call.statics[0] % (len(axes) + 1)
            key = ", ".join([*axes[:axis], "None", *axes[axis:]] if axis else ["None"])
            return self.expression(first).within(5) + f"[{key}]"
        if first is not None and name == "neg":
            return TextPiece((TextPiece("-") + self.expression(first).within(_PRODUCT)).text, _PRODUCT)
        if name == "mul":
            return self._product(*call.operands)
        if name == "matmul":
            left, right = (self.expression(a).within(_PRODUCT) for a in call.operands)
            return TextPiece(f"{left.text} @ {right.text if right.text[0] != '-' else f'({right.text})'}", _PRODUCT)
        return super()._call(call)

    def _product(self, a: Atom, b: Atom) -> TextPiece:
        column = self.calls.get(a)
        if column is not None and column.op.name == "unsqueeze" and column.statics == (1,) and self._rank(b) == 1:
            parts = [self.expression(one).text for one in (column.operands[0], b)]
            return TextPiece(f"outer({', '.join(parts)})")
        sign = " ⊙ " if self._rank(a) and self._rank(b) else "*"
        left, right = self.expression(a).within(_PRODUCT), self.expression(b)
        is_product = b in self.calls and b not in self.named and self.calls[b].op.name in ("mul", "div")
        right = right.within(_PRODUCT if is_product and right.text[0] != "-" else _PRODUCT + 1)
        whole = left + sign + right
        return TextPiece(whole.text, _PRODUCT)
