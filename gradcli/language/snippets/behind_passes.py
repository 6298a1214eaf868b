"""What stands behind a backward pass, and changes parameters or gradients: the answer is of what was before.

w.data -= 0.1*w.grad            the parameters are others, as behind optimizer.step()
clip_grad_norm_([w], 1.0)       so are the gradients
w.grad == 2*w                   a display, as print(...) is
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from gradcli.errors import Span
from gradcli.language.lower.scope import Array
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.gradients import Passes
from gradcli.language.snippets.interpreter import Ending
from gradcli.language.snippets.module_statements import STEPPED, ModuleStatements
from gradcli.language.snippets.transforms import TAKES
from gradcli.language.text import nodes
from gradcli.language.text.source import require_sound

_CLIPPED = "{} changes the gradients: the answer is of those before it, and what follows is passed over"
"""The remark on what is done to `.grad`."""

_CLIPPING = frozenset("clip_grad_norm_ clip_grad_value_ clip_grad_norm".split())
"""Functions that do it."""


class BehindPasses(ModuleStatements):
    """Reads what is said of gradients behind the passes that give them.

    Attributes:
        passes: The backward passes so far.
    """

    passes: Passes

    def set_numbers(self, variable: Atom, value: Atom, span: Span) -> None:
        """A variable that has numbers takes those of a value."""
        self.set_array(variable, self.numbers_of(value, span, "a tensor that is set"), span)

    def set_array(self, variable: Atom, found: Array, span: Span) -> None:
        """A variable that has numbers takes others; behind a pass, the answer is of the numbers before.

        Raises:
            LanguageError: Something was computed from it before.
        """
        name = str(variable)
        if self.passes.passes:
            self.stop(STEPPED, f"'{self.source.shown(span)}'")
            return
        if name not in self.values:
            raise self.source.error(f"'{name}' has no numbers here", span, hint="give it some by --at")
        if self._is_used_before(variable):
            message = f"'{name}' takes other numbers behind lines that use it"
            raise self.source.error(message, span, hint="set it before")
        if self.scope.shapes.get(name) == self.values[name].shape:
            self.scope.shapes[name] = found.shape
        self.values[name] = np.array(found)
        self.builder.forget(min(self.mark, len(self.builder.lines)))

    def _is_used_before(self, variable: Atom) -> bool:
        """Whether something was computed from a variable before this statement; `.data` alone is nothing yet."""
        lines = self.builder.lines[: self.mark]
        waiting = {line.symbol for line in lines if variable in line.call.operands and line.call.op.name == "detach"}
        used = [line for line in lines if variable in line.call.operands and line.symbol not in waiting]
        is_used = bool(used) or any(not waiting.isdisjoint(line.call.operands) for line in lines)
        return is_used or any(holder.atom in waiting for holder in self.sharing.holders())

    def stop(self, words: str, shown: str) -> Ending:
        """Pass over what follows, and say why."""
        self.is_stopped = True
        self.scope.warnings.append(words.format(shown))
        return "stop"

    def behind_pass(self, line: nodes.Statement) -> Ending | None:
        """How a statement ends that is about gradients alone; None of others."""
        names = self.source.dotted(line.value_at)
        if self.updates(line, [line.start] if line.targets else []):
            return "stop"
        if names[-1] in _CLIPPING and self.called_in(line) is not None:
            return self.stop(_CLIPPED, f"{'.'.join(names)}(...)") if self.passes.passes else ""
        if names[-1] == "zero_grad" or _is_zeroed(names):
            self.passes.zero(self._of_grad(line.value) if names[-1] == "zero_" else None)
            return ""
        if self.steps(names, line):
            return self.stop(STEPPED, f"{'.'.join(names)}()") if self.passes.passes else ""
        return "" if self._shows_gradient(line) else None

    def _of_grad(self, node: nodes.Node) -> str:
        """The variable before `.grad`."""
        members = node.trailers if isinstance(node, nodes.Postfix) else ()
        place = next(
            (n for n, one in enumerate(members) if isinstance(one, nodes.Member) and one.name.text == "grad"), 0
        )
        owner = node.operand if isinstance(node, nodes.Postfix) else node
        if place:
            owner = nodes.Postfix(owner.span.to(members[place - 1].span), owner, tuple(members[:place]))
        return str(self.lowering.lower(owner)[0])

    def _shows_gradient(self, line: nodes.Statement) -> bool:
        """Whether a statement is a display that is made of gradients, as `x.grad == 2*x`."""
        inside = range(line.value_at, line.stop)
        words = [self.source.tokens[n].text for n in inside]
        is_shown = not line.targets and bool(self.passes.passes) and _has_gradient(words)
        if not is_shown or any(self.takes_derivative(n) for n in inside) or any(word.endswith("_") for word in words):
            return False
        require_sound(line.fault)
        self.functions.require_no_draw(line.value.span)
        return True

    def updates(self, line: nodes.Statement | nodes.Assignment, starts: Sequence[int]) -> bool:
        """Whether variables are changed by the gradient of a pass before, or the gradient itself; it is said."""
        tokens = self.source.tokens
        words = [token.text for token in self.source.within(line.value.span)]
        targets = line.targets if isinstance(line, nodes.Assignment) else ()
        is_gradient = any(_has_gradient([token.text for token in self.source.within(one.span)]) for one in targets)
        is_none = isinstance(line.value, nodes.Word) and line.value.token.text == "None"
        is_zeroed = isinstance(line, nodes.Statement) and _is_zeroed(self.source.dotted(line.value_at))
        if not self.passes.passes or not (_has_gradient(words) or is_gradient) or is_zeroed or is_none:
            return False
        firsts = [tokens[start].text for start in starts]
        if not starts and any(word.endswith("_") and word[:1].isalpha() for word in words):
            firsts = [tokens[self.source.position(line.span.start)].text]
            is_gradient = "grad" in self.source.dotted(self.source.position(line.span.start))
        if not firsts or not all(self._has_numbers(name) for name in firsts):
            return False
        self.stop(_CLIPPED if is_gradient else STEPPED, f"'{self.source.shown(line.span)}'")
        return True

    def _has_numbers(self, name: str) -> bool:
        """Whether a name stands for a variable with numbers, or for a module, which has some."""
        atom = self.scope.names.get(name, self.scope.variables.get(name))
        return str(atom) in self.values or name in self.values or self.is_module(name)

    def takes_derivative(self, position: int) -> bool:
        """Whether a derivative, or a function of the text, is called at a position."""
        name, behind = self.source.tokens[position : position + 2]
        is_call = self.functions.known(name.text) is not None and behind.text == "("
        return is_call or self.path_of(position) in TAKES

    def called_in(self, line: nodes.Statement) -> nodes.Arguments | None:
        """The arguments of the call that a statement is."""
        last = line.value.trailers[-1] if isinstance(line.value, nodes.Postfix) else line.value
        return last.arguments if isinstance(last, nodes.Name | nodes.Member) else None


def _is_zeroed(names: Sequence[str]) -> bool:
    """Whether names joined by dots are `x.grad.zero_`."""
    return names[-1] == "zero_" and "grad" in names


def _has_gradient(words: Sequence[str]) -> bool:
    """Whether `.grad` stands among words, which is no call.

    >>> _has_gradient(["x", ".", "grad"]), _has_gradient(["autograd", ".", "grad", "(", "y"])
    (True, False)
    """
    return any(
        pair == (".", "grad") and words[n + 2 : n + 3] != ["("] for n, pair in enumerate(itertools.pairwise(words))
    )
