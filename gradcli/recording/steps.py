"""Values that change in jumps alone are not held constant, as their derivative is 0 wherever there is one.

    x*(x > 0).to(x.dtype)    torch.where(x.detach() > 0, x, 0)    x - x.detach().floor()

Autograd follows none of these masks and positions, so that a recording has a `detach` line before or behind each.
For derivatives that line changes nothing, but it hides the jump.  Without it the mask is a part of the function like
any other, and what happens where it jumps is decided from both sides, as for a mask that autograd sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import sympy

from gradcli.language.program.wengert import Atom, Call, Line, Program, needed


@dataclass(frozen=True)
class LiveSteps:
    """Recording in which steps are not held constant.

    Attributes:
        program: The recording.
        copies: Lines that hold the same as another one but for what is held constant, with the other line.
    """

    program: Program
    copies: Mapping[Atom, Atom]


def with_live_steps(program: Program) -> LiveSteps:
    """Stop holding constant what steps are made of, and what is made of steps alone.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x*where(detach(x) > 0, 1, 0) + x*detach(floor(x))*detach(x)")
    >>> [line.call.op.name for line in with_live_steps(program).program.lines]
    ['detach', 'gt', 'where', 'mul', 'floor', 'mul', 'mul', 'add']
    """
    if not any(line.call.op.name == "detach" for line in program.lines):
        return LiveSteps(program, {})
    found = _Release()
    for line in program.lines:
        found.add(line)
    output = found.renamed.get(program.output, program.output)
    lines = tuple(needed(found.lines, output))
    return LiveSteps(replace(program, lines=lines, output=output), found.copies)


@dataclass
class _Release:
    """Lines of a Program, each also as it is where nothing is held constant, if that is another value.

    Attributes:
        lines: The new lines.
        renamed: Replacements for values that are held constant no more.
        live: The same value where nothing is held constant, if it is not the value itself.
        copies: The lines of these values, with the lines that they are copies of.
        steps: Values that change in jumps alone.
    """

    lines: list[Line] = field(default_factory=list)
    renamed: dict[Atom, Atom] = field(default_factory=dict)
    live: dict[Atom, Atom] = field(default_factory=dict)
    copies: dict[Atom, Atom] = field(default_factory=dict)
    steps: set[Atom] = field(default_factory=set)

    def add(self, line: Line) -> None:
        """Add a line, and its copy."""
        call, symbol = line.call, line.symbol
        as_live = call.renamed(self.live)
        if call.op.name == "detach":
            (value,) = as_live.operands
            self.live[symbol] = value
            if self._is_step(value):
                self.renamed[symbol] = value
                return
        elif call.op.is_locally_constant:
            self._append(line, as_live)
            return
        as_held = self._hold_constant(call)
        self._append(line, as_held)
        if call.op.name != "detach" and as_live != as_held:
            self.live[symbol] = copy = sympy.Dummy(symbol.name, real=True)
            self.copies[copy] = symbol
            self._append(replace(line, symbol=copy, name=""), as_live)

    def _hold_constant(self, call: Call) -> Call:
        """Replace the operands of a call; of a choice, the condition by the one that is not held constant."""
        names = [*call.op.operands, *[""] * len(call.operands)]
        operands = [
            self.live.get(a, a) if name in call.op.conditions else self.renamed.get(a, a)
            for a, name in zip(call.operands, names, strict=False)
        ]
        return Call(call.op.name, tuple(operands), call.statics)

    def _append(self, line: Line, call: Call) -> None:
        self.lines.append(replace(line, call=call))
        if call.op.is_locally_constant or all(map(self._is_step, call.operands)):
            self.steps.add(line.symbol)

    def _is_step(self, atom: Atom) -> bool:
        """Tell whether a value changes in jumps alone, or never."""
        return atom in self.steps or not isinstance(atom, sympy.Symbol)
