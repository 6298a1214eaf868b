"""What a snippet reads while its expressions are lowered: functions, derivatives, types, required gradients."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.errors import LanguageError, Span
from gradcli.language.lower.evaluators import Array
from gradcli.language.lower.hooks import Hooks, Operand
from gradcli.language.lower.programs import Lowering
from gradcli.language.ops import Kind, Op
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.definitions import Functions
from gradcli.language.snippets.dtypes import Dtypes
from gradcli.language.snippets.gradients import Derivatives
from gradcli.language.snippets.imports import Imports
from gradcli.language.snippets.passes import Passes
from gradcli.language.snippets.signatures import Signatures
from gradcli.language.snippets.transforms import Transforms
from gradcli.language.text.nodes import Arguments, Member, Name, Subscript, Trailer
from gradcli.language.text.tokens import Token


class SnippetHooks(Hooks):
    """Hands what stands in an expression to those who read it.

    Attributes:
        values: The numbers of the variables that the snippet defines.
        is_made: Whether the present statement makes a tensor.
        is_required: Whether it requires a gradient.
        leaf: The tensor that does.
    """

    def __init__(self) -> None:
        self.values: dict[str, Array] = {}
        self.begin_value()

    def listen(self, lowering: Lowering) -> None:
        """Begin with a text."""
        self.lowering = lowering
        self.source, self.scope = lowering.source, lowering.scope
        self.signatures = Signatures(lowering)
        self.functions = Functions(lowering, self.signatures)
        self.imports = Imports(self.source, self.scope, self.functions.callees)
        self.dtypes = Dtypes(lowering, self.values)
        self.derivatives = Derivatives(lowering, self.signatures, self.values)
        self.passes = Passes(lowering, self.signatures, self.derivatives)
        self.transforms = Transforms(
            lowering, self.imports, self.signatures, self.functions, self.derivatives, self.dtypes
        )

    def begin_value(self) -> None:
        """A new value, of which nothing is known."""
        self.is_made = self.is_required = False
        self.leaf: Atom | None = None

    def set_required(self, name: str, span: Span, *, is_required: bool) -> None:
        """Note whether a variable requires a gradient."""
        self.passes.requires.pop(name, None)
        if is_required:
            self.dtypes.require_floating(name, span)
            self.passes.require(name)

    # -- names

    def library(self, words: Sequence[str]) -> Sequence[str]:
        """As the imports say."""
        return self.imports.library(words)

    def renamed(self, name: Token, *, is_module: bool, is_called: bool) -> Token:
        """As the imports say."""
        return self.imports.renamed(name, is_module=is_module, is_called=is_called)

    def named(self, name: Name, trailers: Sequence[Trailer]) -> tuple[Operand, int] | None:
        """A derivative with its arguments, or a function of the text."""
        found = self.transforms.named(name, trailers)
        if found is not None:
            return found
        operand = self.functions.named(name)
        return None if operand is None else (operand, 0)

    def was_named(self, name: Name, *, is_call: bool) -> None:
        """The type that a module's function gives."""
        if is_call:  # np.pi is a number of Python's
            self.dtypes.named(name.token)

    # -- operations

    def emitting(self, operands: Sequence[Atom], span: Span) -> None:
        """A tuple is no tensor."""
        self.derivatives.require_tensors(operands, span)

    def indexed(self, operand: Operand, subscript: Subscript) -> Operand | None:
        """One of a tuple of gradients."""
        return self.derivatives.indexed(operand, subscript)

    def made(self, op: Op, operands: Sequence[Operand], result: Operand) -> None:
        """A constant tensor makes a definition."""
        is_source = op.kind is Kind.SOURCE
        self.is_made |= is_source
        if op.name in ("rand", "randn"):
            message = f"{op.name} is NumPy's generator here; torch's numbers differ for the same seed"
            self.scope.warnings.append(message)
        self.dtypes.made(op, result[0])
        self.leaf = result[0] if is_source and self.is_required else self.leaf

    def raised(self, sign: Token) -> None:
        """As in Python, where `^` is no power."""
        if sign.text == "^":
            message = "'^' is exclusive or in Python, which torch has not of such numbers"
            raise self.source.error(LanguageError, message, sign.span, hint="write ** for a power")

    # -- tensors

    def constructed(self, name: Token, span: Span, arguments: Arguments) -> Operand | None:
        """`np.float32(0.1)`."""
        if name.text not in ("float32", "float64", "float16"):
            return None
        operand = self.lowering.expressions.calls.tensors.constructed(name, span, arguments)
        self.dtypes.note_type(name.text, name.span)
        return operand

    def constructing(self) -> str:
        """The type that the statement had before."""
        return self.dtypes.constructing()

    def was_constructed(self, name: Token, span: Span, arguments: Arguments, result: Operand, before: str) -> None:
        """A tensor of numbers makes a definition, and a Parameter requires a gradient."""
        self.is_made |= name.text not in ("float", "Float", "S", "Integer")
        self.dtypes.constructed(name, span, arguments, result[0], before)
        self.is_required |= name.text == "Parameter"
        self.leaf = result[0] if self.is_required else self.leaf

    def held(self, keyword: Token, value: str) -> None:
        """`dtype=...` and `requires_grad=True` among the arguments of a constructor."""
        if keyword.text == "dtype":
            self.dtypes.note_type(value, keyword.span)
        if keyword.text == "requires_grad":
            if value not in ("True", "False"):
                raise self.source.error(LanguageError, "requires_grad takes True or False here", keyword.span)
            self.is_required |= value == "True"

    def member(self, operand: Operand, member: Member) -> Operand | None:
        """`.requires_grad_()` and `.backward(v)`."""
        name = member.name
        if name.text == "requires_grad_":
            self._requires(operand, member)
        self.dtypes.member(name)
        if name.text == "backward" and member.arguments is not None:
            return self.passes.method(operand, member, member.arguments)
        return None

    def _requires(self, operand: Operand, member: Member) -> None:
        """Note what requires a gradient from here on."""
        position = self.source.position(member.dot.span.start)
        self.is_required = self.source.tokens[position + 3].text != "False"
        self.leaf = operand[0]
        if str(operand[0]) in self.values:
            span = operand[1].to(member.name.span)
            self.set_required(str(operand[0]), span, is_required=self.is_required)

    def was_member(self, member: Member) -> None:
        """A conversion gives another type."""
        self.dtypes.was_member(member)
