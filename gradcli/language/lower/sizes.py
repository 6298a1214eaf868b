"""The shape of what was read so far, line by line; unknown while those of the variables are."""

from __future__ import annotations

import sympy

from gradcli.errors import GradcliError, LanguageError, Place
from gradcli.language.lower.scope import Evaluation, Lines
from gradcli.language.program.wengert import Atom, Shape

UNKNOWN_SIZE = 4
"""What stands for a size until the shapes of the variables are known."""


class Sizes:
    """Infers the shape of each line once."""

    def __init__(self, lines: Lines, evaluation: Evaluation | None) -> None:
        self.lines, self.scope, self._evaluation = lines, lines.scope, evaluation
        self._known: dict[Atom, Shape | None] = {}  # of each line that was read
        self._read = 0

    @property
    def evaluation(self) -> Evaluation:
        """What evaluates lines."""
        if self._evaluation is None:
            raise LanguageError("a constant argument is not of the kind that is read here")
        return self._evaluation

    def of(self, atom: Atom) -> Shape | None:
        """The shape of a value; None while that of a variable is not known.

        Raises:
            GradcliError: Shapes do not fit.
        """
        lines = self.lines.builder.lines
        self._read = min(self._read, len(lines))
        while self._read and lines[self._read - 1].symbol not in self._known:  # others were forgotten for it
            self._read -= 1
        for line in lines[self._read :]:
            shapes = [self._found(a) for a in line.call.operands]
            known = [shape for shape in shapes if shape is not None]
            is_known = len(known) == len(shapes)
            try:
                self._known[line.symbol] = self.evaluation.shape_of(line.call, known) if is_known else None
            except GradcliError as error:
                error.place = Place(self.lines.source.text, line.span, self.lines.source.name)
                raise
        self._read = len(lines)
        return self._found(atom)

    def needed(self, atom: Atom) -> Shape | None:
        """The same, for which the text is read again where it is not known."""
        shape = self.of(atom)
        self.scope.needs_shapes |= shape is None
        return shape

    def _found(self, atom: Atom) -> Shape | None:
        if not isinstance(atom, sympy.Symbol):
            return ()
        is_variable = self.scope.variables.get(atom.name) == atom
        return self.scope.shapes.get(atom.name) if is_variable else self._known.get(atom)
