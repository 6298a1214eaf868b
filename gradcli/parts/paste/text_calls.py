"""Calls that the op table does not have: of functions that the text defines or imports, and backward passes.

    f(x) = x^2        f(x) := x^2        f = lambda x: x**2        def f(x, n=2): return x**n

A function is lowered again wherever it is called.  Its parameters stand for its arguments, its other names for
the values that they have where it is defined, as in Python.

The final `.grad` is linear in v, so several backward passes are one with the sum of their v's.  A pass that
does not keep the graph leaves nothing for the next to go back through: torch itself is asked if it then refuses.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradcli.arrays import Array
from gradcli.errors import Span
from gradcli.language.lower.scope import Operand
from gradcli.language.parsing import Reader
from gradcli.language.program.wengert import Atom, Program
from gradcli.language.snippet_result import ADD_UP, SnippetPass
from gradcli.language.text.nodes import Argument, Arguments, FunctionNode, Import, Items, Word, is_word

_KNOWN = "torch torch, np numpy, nn torch.nn, optim torch.optim, autograd torch.autograd, grad torch.autograd.grad"
_KNOWN += ", rand torch.rand, randn torch.randn, manual_seed torch.manual_seed"
KNOWN = dict(pair.split() for pair in _KNOWN.split(", "))
"""Whole names of words that no import explains."""

_READ = frozenset("torch numpy math scipy sympy autograd functorch".split())
"""Libraries of which the language has some functions; names imported from others are code where they are called."""

_CODE = re.compile(
    r"torch\.(?:nn\.(?:modules\.|utils\.|init\.|parallel\.)?(?!Parameter\b)[A-Z]\w*|nn\.(?:utils|init)\.\w+"
    r"|optim\.|func\.|distributions\.|utils\.|jit\.|compile\b|vmap\b|Generator\b|multiprocessing"
    r"|(?:rand|randn|randint)_like\b|randint\b|randperm\b|normal\b|bernoulli\b|multinomial\b|empty\w*\b"
    r"|autograd\.(?!grad\b|set_detect|Variable\b)\w+|no_grad\b|enable_grad\b|inference_mode\b)"
    r"|numpy\.random\.|random\.|functorch\.|autograd\.(?!grad\b|Variable\b)"
)
"""Pattern of whole names whose calls are run, not read: layers, optimizers, transforms, other random numbers."""


_BACKWARD = "gradient retain_graph create_graph inputs".split()
_UNUSED = "One of the differentiated Tensors appears to not have been used in the graph"
_GRAD = "outputs inputs grad_outputs retain_graph create_graph only_inputs allow_unused".split()

_ACTS = frozenset(f"torch.{name}" for name in ("autograd.grad", "rand", "randn", "manual_seed"))
"""Functions that note a question, or advance the random numbers."""


@dataclass(frozen=True)
class Callee:
    """Function of the text.

    Attributes:
        node: Its definition.
        shown: Its name in messages.
        names: The values of the names around its definition.
        defaults: The values of the parameters that are not given.
    """

    node: FunctionNode
    shown: str
    names: MutableMapping[str, Atom]
    defaults: Mapping[str, Atom] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters."""
        return tuple(one.name for one in self.node.parameters)


class TextCalls(Reader):
    """Lowering that defines functions and calls them, notes backward passes, and selects those that are asked for.

    Attributes:
        running: The positions of the functions that are being lowered.
        statements: The ranges of the statements of the text that have a value, with their values.
        imported: The whole name of each name that an import gave.
        foreign: The libraries that are not read.
        values: The numbers of the variables that the text defines.
        requires: The variables that require a gradient.
        passes: In order.
        zeroed: The variables whose `.grad` was set to zero since the last of them.
        frees_graph: Whether one is followed by another and is not asked to keep its graph.
    """

    running: list[int]
    statements: list[tuple[Span, Atom]]
    imported: dict[str, str]
    foreign: set[str]
    values: dict[str, Array]
    requires: dict[str, None]
    passes: list[SnippetPass]
    zeroed: dict[str, None]
    frees_graph = False

    def _body(self, node: FunctionNode) -> Operand | None:
        """Lower the body of a function to the value that it returns."""
        raise NotImplementedError

    def callee(self, node: FunctionNode) -> Callee:
        """Make the function of a definition or a lambda, with the names around it."""
        defaults = {one.name: self.lower(one.default)[0] for one in node.parameters if one.default is not None}
        return Callee(node, node.name or f"({self.source.excerpt(node.span)})", self.scope.names, defaults)

    def call_function(self, callee: Callee, arguments: Arguments) -> Operand | None:
        """Lower the call of a function; None if it returns nothing."""
        span, defaults = arguments.span, callee.defaults
        given = self.by_name(arguments, callee.parameters, callee.shown, optional=defaults)
        held = {name: (default, span) for name, default in defaults.items()} | given
        return self.function_value(callee, [held[name] for name in callee.parameters], span)

    def function_value(self, callee: Callee, given: Sequence[Operand], where: Span) -> Operand | None:
        """Lower the body with these operands as its parameters, among the names where it is defined."""
        scope, node = self.scope, callee.node
        if node.position in self.running:
            raise self.source.error("a function that calls itself is not read", where)
        self.require_few(len(self.source.positions(node.span)), self.source.tokens[node.position])
        held, lists, last_name = scope.names, dict(scope.lists), scope.last_name
        own = dict(zip(callee.parameters, (atom for atom, _ in given), strict=True))
        scope.names = ChainMap(own, *(callee.names.maps if isinstance(callee.names, ChainMap) else [callee.names]))
        self.running.append(node.position)
        result = self._body(node)
        self.running.pop()
        scope.names, scope.lists, scope.last_name = held, lists, last_name
        if result is not None and node.name:
            self.statements.append((node.span, self.scope.first_part(result[0])))
        return result

    def of_parameters(self, callee: Callee) -> Operand | None:
        """Lower a function at its parameters, which are variables unless they have a default."""
        node, scope = callee.node, self.scope
        atoms = (callee.defaults[n] if n in callee.defaults else scope.variable(n) for n in callee.parameters)
        result = self.function_value(callee, [(atom, node.span) for atom in atoms], node.span)
        if node.name and result is not None:
            scope.names.pop(node.name, None)
            scope.last_name = node.name
            scope.names[node.name] = result[0]
        return result

    # -- imports

    def add_import(self, line: Import) -> None:
        """Remember the names of an import."""
        self.imported |= line.names
        self.foreign |= {path.partition(".")[0] for _, path in line.names} - _READ
        for name, _ in line.names:
            self.scope.names.pop(name, None)

    def path_at(self, position: int) -> tuple[str, int]:
        """Return the whole name at a position, as `torch.autograd.grad`, and the position after it."""
        first = self.source.tokens[position]
        if first.kind != "name" or self.scope.is_taken(first.text) or first.text not in self.imported:
            return "", position
        _, *members = self.source.dotted(position)
        return ".".join([self.imported[first.text], *members]), position + 1 + 2 * len(members)

    def is_code_path(self, path: str) -> bool:
        """Tell whether a call by a whole name is code: `torch.nn.Linear` is, and `torch.nn.functional.relu` is not."""
        return path.partition(".")[0] in self.foreign or _CODE.match(path) is not None

    def acts(self, span: Span) -> bool:
        """Tell whether a call there affects later lines: a derivative, a draw, a change in place."""
        for n in self.source.positions(span):
            token, (path, end) = self.source.tokens[n], self.path_at(n)
            is_own = self.scope.names.get(token.text) in self.scope.objects  # a function of the text
            is_act = is_own or token.text == "backward" or token.text.endswith("_") or path in _ACTS
            if is_act and self.source.tokens[max(end, n + 1)].text == "(":
                return True
        return False

    # -- passes as they are written

    def backward(self, output: Operand, arguments: Arguments) -> Operand:
        """Read `y.backward(v)`."""
        found = self._named_arguments(arguments, _BACKWARD, "backward")
        span = output[1].to(arguments.span)
        y = self.as_number(*output)
        inputs = tuple(str(atom) for atom, _ in found.get("inputs", ()))
        v = self._vector(found, "gradient")
        self._add(SnippetPass(y, v, span, inputs, _keeps_graph(found), zeroed=(*self.zeroed,)))
        self.zeroed.clear()
        return y, span

    def grad(self, start: Span, arguments: Arguments) -> tuple[Span, int]:
        """Read `torch.autograd.grad(y, x, v)`; return its range, and the number of its gradients.

        Raises:
            LanguageError: It takes several outputs, or an input that y is not made of.
        """
        found, span = self._named_arguments(arguments, _GRAD, "grad"), start.to(arguments.span)
        if not (found.get("outputs") and found.get("inputs")):
            raise self.source.error("grad takes outputs and inputs: grad(y, x)", span)
        if len(found["outputs"]) != 1:
            raise self.source.error("several outputs are not read", span, hint="differentiate their sum")
        y = self.as_number(*found["outputs"][0])
        self._require_computed(y, span)
        _, leaves = self.builder.made_of(y, stop=lambda call: call.op.name == "detach")
        for x, where in found["inputs"]:
            shown = self.source.excerpt(where)
            if x not in self.scope.variables.values():
                hint = "gradcli graph --show NAME shows the gradient of what is computed"
                raise self.source.error(f"'{shown}' is computed, and no variable", where, hint=hint)
            if x not in leaves:
                said = "gives None" if found.get("allow_unused") else f"raises '{_UNUSED}'"
                raise self.source.error(f"the output does not depend on {shown}: torch {said}", where)
        inputs = tuple(str(x) for x, _ in found["inputs"])
        v = self._vector(found, "grad_outputs")
        self._add(SnippetPass(y, v, span, inputs, _keeps_graph(found), accumulates=False))
        return span, len(inputs)

    def _named_arguments(self, arguments: Arguments, names: Sequence[str], called: str) -> dict[str, Any]:
        """Read arguments by name: tensors as lists of operands, flags as True or False."""

        def read(name: str, argument: Argument) -> Any:
            is_tensor = name in ("gradient", "inputs", "outputs", "grad_outputs")
            return self._tensors(argument) if is_tensor else self._flag(argument)

        return self.by_name(arguments, names, called, read, optional=names)

    def _flag(self, argument: Argument) -> bool | None:
        word = argument.value.token.text if isinstance(argument.value, Word) else ""
        if word not in ("True", "False", "None"):
            raise self.source.error("True or False must stand here", argument.value.span)
        return None if word == "None" else word == "True"

    def _tensors(self, argument: Argument) -> list[Operand]:
        """Read a tensor, or those of a list or tuple; none for None."""
        node = argument.value
        if is_word(node, "None"):
            return []
        if not isinstance(node, Items):
            return [self.lower(node)]
        return [self.lower(item) for item in node.items]

    def _vector(self, found: Mapping[str, Any], name: str) -> Atom | None:
        """Read the gradient vector, in a list of one or alone."""
        operands = found.get(name) or []
        if len(operands) > 1:
            raise self.source.error("several gradient vectors are not read", operands[0][1])
        return self.as_number(*operands[0]) if operands else None

    def _require_computed(self, y: Atom, span: Span) -> None:
        """Refuse an output that nothing computes: to give it a value would answer the identity."""
        name = str(y)
        if name in self.scope.variables and name not in self.values:
            hint = f"write the statement that does before this one, such as {name} = x**2"
            raise self.source.error(f"nothing computes '{name}' in this text", span, hint=hint)

    def _add(self, one: SnippetPass) -> None:
        """Note a derivative that is asked for."""
        self._require_computed(one.output, one.span)
        self.frees_graph |= any(not earlier.keeps_graph for earlier in self.passes)
        self.passes.append(one)

    # -- passes that are asked for

    def function_of(self, atom: Atom) -> Program:
        """Return a value as a function of the variables."""
        return self.builder.program(atom, self.scope.variables.values())

    def asked(self) -> list[SnippetPass]:
        """List the passes that are questions, those of one output by several inputs as one.

        Raises:
            LanguageError: They are of different outputs.
        """
        found: list[SnippetPass] = []
        for one in self.passes:
            last = found[-1] if found else one
            is_same = (last.output, last.v, last.accumulates) == (one.output, one.v, False)
            if found and is_same:
                found[-1] = replace(last, inputs=tuple(dict.fromkeys((*last.inputs, *one.inputs))))
            else:
                found.append(one)
        for one in found:
            if self.builder.shares and one.output != found[0].output:
                instead = "join them: (a*y1.sum() + b*y2.sum()).backward()"
                raise self.source.code("a pass of a second output", one.span, instead)
        return found

    def in_grad(self, passes: list[SnippetPass]) -> list[SnippetPass]:
        """Select the passes whose sum is the answer where there is to be one: those that add up in the final `.grad`.

        Raises:
            LanguageError: The `.grad` of the variables hold different ones.
        """
        if not passes or not passes[-1].accumulates:
            return passes[-1:]
        adding = [one for one in passes if one.accumulates]
        last = max((n for n, one in enumerate(adding) if one.zeroed), default=0)
        names = {*self.function_of(passes[-1].output).names} & {*(self.requires or self.values)}
        if last and not names <= {*adding[last].zeroed}:
            hint = "set all of them to zero at one place"
            raise self.source.error("the .grad of these tensors hold different passes", passes[-1].span, hint=hint)
        return adding[last:]

    def vector_of(self, one: SnippetPass) -> Atom:
        """Return the gradient vector of a pass, 1 where it has none."""
        return self.emit("ones_like", [one.output], one.span)[0] if one.v is None else one.v

    def accumulated(self, passes: list[SnippetPass]) -> Atom | None:
        """Add up the gradient vectors of passes, as `.grad` is linear in v; None stands for 1."""
        if not passes or (len(passes) == 1 and passes[0].v is None):
            return None
        if len(passes) > 1:
            self.scope.warnings.append(f"{len(passes)} {ADD_UP}")
        first, *others = map(self.vector_of, passes)
        for v in others:
            first = self.emit("add", [first, v], passes[0].span)[0]
        return first


def _keeps_graph(found: Mapping[str, Any]) -> bool:
    """Tell whether a pass is asked to keep its graph, as it does too where it makes one of the derivative."""
    retains = found.get("retain_graph")
    return bool(found.get("create_graph") if retains is None else retains)
