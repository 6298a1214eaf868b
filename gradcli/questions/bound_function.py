"""Questions: a text and values made a Program with names, shapes and numbers, before and after torch has run it.

Mistakes in the input are found before torch is imported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import sympy

from gradcli import trial
from gradcli.arrays import AnyArray, Array
from gradcli.crosscheck.formulas import Derived, derive_formulas
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.errors import GradcliError, InputError, InternalError, SeveralElementsError, ShapeError, TooLargeError
from gradcli.language import inputs
from gradcli.language.inputs import Outputs, Value, fitted, read_cotangent, read_directions, require_shape
from gradcli.language.lower.juxtaposed_names import cut_remarks, that_hold
from gradcli.language.lower.names import shadowed
from gradcli.language.ops import Kind
from gradcli.language.program.passes import shared
from gradcli.language.program.shapes import infer, likely_matrix_products, remarks_on_shapes
from gradcli.language.program.wengert import Atom, Program, Shape, show
from gradcli.language.snippet_result import LAST_ALONE, Replay, Snippet
from gradcli.language.text.signs import plain
from gradcli.option_words import Words, method, option
from gradcli.questions import naming
from gradcli.questions.given_masks import given_masks, without_masks
from gradcli.questions.recorded_protocol import Recording
from gradcli.questions.text_reading import read
from gradcli.results import BlockNames, NumberKind, by_name

if TYPE_CHECKING:
    from gradcli.autodiff.batched import Batch
    from gradcli.autodiff.run import Forward
    from gradcli.language.program.torch_passes import RecordPasses, TorchPasses


JACOBIAN_ENTRIES = 10_000
"""Entries up to which `vjp`, `grad` and `check` show the Jacobian next to their answer."""

JACOBIAN_BYTES = 2**30
"""Memory that `jacobian` may fill: 1 GiB, or 134 million entries in float64."""

Dtype = Literal["float64", "float32"]

Device = Literal["cpu", "cuda", "mps", "xpu", "auto"]
"""Device, of which torch knows more; `auto` is the first that is there."""

Cotangent = Array | Program
"""A gradient vector: numbers, or an expression in y and the variables."""


@dataclass(frozen=True)
class BoundFunction:
    """A Program with shapes and values, before and after torch has run it.

    Attributes:
        program: The function.
        shapes: Of every symbol.
        arrays: The value of every variable.
        wrt: The variables to differentiate by.
        dtype: Of the computation.
        extra_values: Values that only v names, as a snippet may define them.
        frees_graph: The backward passes of a snippet, if one may need values that a pass before it freed.
        recording: The function that is run in place of the Program recorded from it, if there is one.
        reread_at: The FunctionWithValues to ask again at another point, if values decide which lines the Program has.
        check: Whether to compare with the reference.
        twice: Whether torch's gradients can be differentiated again.
        device: The device that torch computes on.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    arrays: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: Dtype
    extra_values: Mapping[str, Array]
    frees_graph: Replay | None = None
    recording: Recording[BoundFunction] | None = None
    reread_at: FunctionWithValues | None = None
    check: bool = True
    twice: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Set an eps that is left out to the machine epsilon of the dtype, as torch does."""
        if self.dtype != "float64":
            usual, own_eps = (sympy.Float(float(np.finfo(one).eps), precision=53) for one in ("float64", self.dtype))
            own = {usual: own_eps}
            lines = tuple(
                replace(line, call=line.call.renamed(own)) if line.call.op.defaults.get("eps") in own else line
                for line in self.program.lines
            )
            object.__setattr__(self, "program", replace(self.program, lines=lines))

    @property
    def shape(self) -> Shape:
        """The shape of y."""
        return self.shapes.get(self.program.output, ())

    @property
    def is_of_point(self) -> bool:
        """Tell whether values decided the lines of the Program, so that other points may have another one."""
        return self.program.guards is not None if self.recording is None else self.recording.is_of_point

    def with_values(self, arrays: Mapping[str, Array]) -> BoundFunction:
        """Return the question at another point, with these values in place of some of its own."""
        if not arrays:
            return self
        arrays = {**self.arrays, **arrays}
        if self.reread_at is not None:
            return replace(self.reread_at, at={**self.reread_at.at, **arrays}).bind()
        if self.recording is None:
            return replace(self, arrays=arrays)
        recording = self.recording.with_values(arrays)
        program = replace(recording.program, called=self.program.called, warnings=self.program.warnings)
        known = {symbol: arrays[str(symbol)].shape for symbol in program.variables}
        return replace(self, program=program, shapes=infer(program, known), arrays=arrays, recording=recording)

    def another(
        self, program: Program, arrays: Mapping[str, Array], wrt: tuple[str, ...], **how: bool
    ) -> BoundFunction:
        """Ask of another text, at values among these, in the same dtype, on the same device."""
        arrays = {name: arrays[name] for name in program.names}
        shapes = infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables}, **how)
        return BoundFunction(program, shapes, arrays, wrt, self.dtype, self.extra_values, device=self.device)

    @property
    def jacobian_entries(self) -> int:
        """The number of entries of all blocks."""
        return math.prod(self.shape) * sum(self.arrays[name].size for name in self.wrt)

    @property
    def common(self) -> dict[str, Any]:
        """The fields that every answer has: expression, dtype, inputs, variables and warnings."""
        return {
            "expression": self.program.expression,
            "dtype": self.dtype,
            "inputs": self.arrays,
            "wrt": self.wrt,
            "output": self.program.output_name,
            "warnings": self.program.warnings,
        }

    @cached_property
    def forward(self) -> Forward:
        """The Program run by torch.

        Raises:
            InternalError: y has another shape than the language says.
        """
        from gradcli.autodiff.run import run

        if self.recording is not None:
            forward: Forward = self.recording.forward(self.arrays, self.wrt)
        else:
            forward = run(self.program, self.arrays, self.wrt, self.dtype, twice=self.twice, device=self.device)
        if tuple(forward.output.shape) != self.shape:  # before numbers are compared with others of another shape
            found = show(tuple(forward.output.shape))
            raise InternalError(f"torch's {self.program.output_name} has shape {found}, not {show(self.shape)}")
        return forward

    def bounds(self, name: str, read: tuple[Array, Array]) -> tuple[Array, Array]:
        """Broadcast the bounds that were read from `--in` to the shape of a variable.

        Raises:
            InputError: They have another shape.
        """
        low, high = (fitted(bound, self.arrays[name].shape, f"--in {name}") for bound in read)
        return low, high

    def batch(self, mapped: tuple[str, ...]) -> Batch:
        """Return a Batch without points yet, which lie on the first axis of the mapped variables' values."""
        trial.end()
        from gradcli.autodiff.batched import Batch

        by_point = None if self.recording is None else self.recording.forward  # each point may run other code
        return Batch(self.program, self.arrays, mapped, self.wrt, self.dtype, 0, self.shape, self.device, by_point)

    @cached_property
    def value(self) -> Array:
        """The output y by torch, of y's shape."""
        trial.end()
        from gradcli.autodiff.run import array_of

        return array_of(self.forward.output)

    @cached_property
    def point(self) -> FunctionAtPoint:
        """The Program and its values in the form that the check reads."""
        return FunctionAtPoint.from_inputs(self.program, self.shapes, self.arrays, self.record)

    @cached_property
    def record(self) -> RecordPasses:
        """A recorder of torch's own passes that records each pass of a Program once, for check and diagnosis."""
        known: dict[Any, tuple[Program, TorchPasses | None]] = {}

        def recorded(way: Any, program: Program, inputs: Mapping[str, Array], *asked: Any, **how: Any) -> Any:
            key = way, id(program), str((asked, how))
            if key not in known:
                from gradcli.recording.pass_recorder import record

                known[key] = program, record(way, program, inputs, *asked, **how)
            return known[key][1]

        return recorded

    @cached_property
    def derived(self) -> Derived:
        """The formulas of ∂y/∂x, before the reference has confirmed them."""
        return derive_formulas(self.point, self.program, self.wrt)

    def require_room(self, hint: str, what: str = "the Jacobian", entries: int | None = None) -> None:
        """Refuse the Jacobian, or another matrix with this many entries, beyond `JACOBIAN_BYTES`.

        Raises:
            TooLargeError: It would take more; `hint` says what to do.
        """
        entries = self.jacobian_entries if entries is None else entries
        size = entries * np.dtype(self.dtype).itemsize
        if size > JACOBIAN_BYTES:
            limit = f"the limit is {JACOBIAN_BYTES / 2**30:,.1f} GiB"
            raise TooLargeError(f"{what} has {entries:,} entries and takes {size / 2**30:,.1f} GiB; {limit}", hint=hint)

    @cached_property
    def jacobian(self) -> dict[str, Array]:
        """The Jacobian blocks; computed once for all products."""
        from gradcli.autodiff.jacobians import jacobian

        return jacobian(self.forward, self.wrt)

    @property
    def jacobian_omitted(self) -> str:
        """The reason that the Jacobian is left out of an answer; "" where it is not."""
        if self.jacobian_entries <= JACOBIAN_ENTRIES:
            return ""
        limit = f"more than {JACOBIAN_ENTRIES:,}; {method('jacobian')} has no such limit"
        return Words(f"{self.jacobian_entries:,} entries, {limit}")

    def product(self, v: Array) -> dict[str, Array]:
        """Compute the vector-Jacobian product vᵀJ by torch, for each variable."""
        from gradcli.autodiff.jacobians import vjp

        return vjp(self.forward, v, self.wrt)

    def first_derivatives(self, vectors: Mapping[str, Array] = MappingProxyType({})) -> Numbers:
        """Ask torch for y, J if it is small, and vᵀJ if v is given by the name of y or J is large (v is ones then)."""
        found: dict[NumberKind, Mapping[BlockNames, Array]] = {}
        if not self.jacobian_omitted:
            found["jacobian"] = by_name(self.jacobian)
        v = vectors.get(self.program.output_name, None if found else np.ones(self.shape))
        if v is not None:
            found["vjp"] = by_name(self.product(v))
        return Numbers(self.dtype, self.value, found, v)

    def cotangent(self, v: Value | None, of_snippet: Program | None) -> Cotangent:
        """Return the gradient vector: the one given, the snippet's, or the implicit 1 for a y of one element.

        Raises:
            InputError: It is needed and not given, or has not y's shape.
        """
        shapes = {name: array.shape for name, array in {**self.extra_values, **self.arrays}.items()}
        y = Outputs(self.program.output_name, self.shape, shapes)
        if v is not None:
            return read_cotangent(v, y)
        if of_snippet is not None:
            require_shape(of_snippet, y)
            return of_snippet
        if math.prod(self.shape) != 1:
            raise naming.missing_vector(y.name, self.shape)
        return np.ones(self.shape)

    def require_one_element(self, command: str) -> None:
        """Refuse a derivative that only a y of one element has.

        Raises:
            InputError: y has several elements, or none.
        """
        y, shape = self.program.output_name, self.shape
        example = f", or one element: {y} = ...; {y}[{', '.join('0' * len(shape))}]" * (0 not in shape)
        hint = "use sum(...)" + (f", or vjp with {option('v')}, or jacobian" if command == "grad" else example)
        if math.prod(shape) != 1:
            message = f"{OF_ONE_ELEMENT[command]} needs a y of one element, and y has shape {show(shape)}"
            raise SeveralElementsError(message, hint=next(likely_matrix_products(self.program, self.shapes), hint))

    def directions(self, u: naming.Directions, command: str) -> dict[str, Array]:
        """Read the directions that are given, for a derivative by the variables of the question."""
        given: Mapping[str, Value] = {} if u is None else u if isinstance(u, Mapping) else {"": u}
        found = read_directions(given, {n: array.shape for n, array in self.arrays.items()}, self.wrt, command)
        return {name: rounded(array, self.dtype) for name, array in found.items()}

    def weights(self, v: Cotangent) -> Array:
        """Return the numbers of the gradient vector; torch evaluates an expression in y, as a constant."""
        if not isinstance(v, Program):
            return rounded(v, self.dtype)
        from gradcli.autodiff.run import array_of, run

        inputs = {**self.extra_values, self.program.output_name: self.value, **self.arrays}
        return array_of(run(v, inputs, (), self.dtype, device=self.device).output)


OF_ONE_ELEMENT = {"grad": "a gradient", "hessian": "a Hessian", "hvp": "a Hessian-vector product"}
"""Derivatives that only a y of one element has, by their commands."""


def rounded(array: Array, dtype: Dtype) -> Array:
    """Round an array to a dtype; a number beyond its range becomes infinite, and the check then says so."""
    with np.errstate(over="ignore"):
        return array.astype(dtype)


@dataclass(frozen=True)
class FunctionWithValues:
    """A function as text, read once, with values and the options that all questions share, not yet bound to shapes.

    Attributes:
        expression: The text.
        snippet: The text as read.
        at: Values, which override those of the text.
        wrt: The variables to differentiate by; by default those named in the text, or all.
        dtype: Of the computation; by default the dtype of the tensors in the text, or float64.
        check: Whether to compare with the reference.
        recording: The function of Python that the text was recorded from.
        device: The device for torch's reading of a text; by default the CPU. A function of Python has its own.
        is_of_matrices: Whether a text next to it, as a claim is, is in the notation of matrices.
    """

    expression: str
    snippet: Snippet
    at: Mapping[str, Value] = field(default_factory=dict)
    wrt: Sequence[str] | None = None
    dtype: Dtype | None = None
    check: bool = True
    recording: Recording[BoundFunction] | None = None
    device: str | None = None
    is_of_matrices: bool = False

    def require_fixed(self) -> None:
        """Refuse a function whose operations depend on values, for a question without one fixed point.

        Raises:
            LanguageError: Values decide which elements a mask takes.
        """
        if self.snippet.program.needs_values:
            self.read(self._meant(self.at))

    def read(
        self,
        given: frozenset[str] = frozenset(),
        *,
        shapes: Mapping[str, Shape] = MappingProxyType({}),
        shares: bool = True,
        values: Mapping[str, AnyArray] | None = None,
    ) -> Snippet:
        """Read the text again, with these names as variables, for shapes and values as of `read`."""
        how = {"shares": shares, "values": values, "is_of_matrices": self.is_of_matrices}
        return read(self.expression, given=given, shapes=shapes, **how).read_like(self.snippet)  # type: ignore[arg-type]

    def with_names(self, names: Sequence[str]) -> FunctionWithValues:
        """Return the function with its text read again, if only that has variables of these names: X in `tr(AXB)`."""
        if self.recording is not None or {*names} <= {*self.snippet.program.names}:
            return self
        with suppress(GradcliError):
            found = self.read(frozenset({*names, *self.at}), values={})
            if {*names} <= {*found.program.names}:
                return replace(self, snippet=found)
        return self

    def _meant(self, names: Iterable[str]) -> frozenset[str]:
        """Select the names that change what the text says: constants and functions, and parts of joined names."""
        found, program = {*names} - {""}, self.snippet.program
        others = {*program.names} - {*self.snippet.values}
        is_other = bool(program.joined) or self.is_of_matrices > program.is_of_matrices
        if self.recording is not None or (found == others and not is_other):
            return shadowed(found)
        return frozenset({*found, *(self.wrt or ())})

    def of_one(self, values: Mapping[str, Array], where: str) -> BoundFunction:
        """Return the question at one of many points, with these values too; `where` names the point in messages."""
        try:
            return replace(self, at={**self.at, **values}).bind()
        except ShapeError as error:
            inside = ", ".join(f"{name} has shape {show(array.shape)}" for name, array in values.items())
            error.add(f"{where}, where {inside}")
            raise

    def read_with(self, names: Iterable[str]) -> tuple[frozenset[str], Snippet]:
        """Return the names that hide a constant, such as `pi`, and the text read with these names as variables."""
        hidden, is_other = self._meant(names), self.is_of_matrices > self.snippet.program.is_of_matrices
        naming.require_valued(self.snippet, {*hidden, *self.snippet.values})
        return hidden, self.read(hidden) if hidden or is_other else self.snippet

    def within(self, given: Mapping[str, str]) -> tuple[FunctionWithValues, dict[str, str]]:
        """Give each variable without a value the lower bound of its range; return the function and the ranges.

        Raises:
            InputError: A range names neither a variable nor a constant that a value makes a variable.
        """
        is_unnamed = "" in given and self.recording is None
        snippet = naming.unnamed(self.snippet) if is_unnamed else self.snippet
        boxes = naming.with_name(given, naming.open_names(self.snippet), "--in")
        ranges = {name: str(text) for name, text in boxes.items()}
        variables, known = self.snippet.program.names, {*self.at, *self.snippet.values}
        for name in ranges:
            if name not in variables and not shadowed([name]):
                raise naming.no_such_variable("--in", name, variables)
        missing = {
            name: inputs.read_range(text, f"--in {name}")[0] for name, text in ranges.items() if name not in known
        }
        return replace(self, snippet=snippet, at={**self.at, **missing}), ranges

    def _has_identity(self, program: Program, named: Mapping[str, Array]) -> bool:
        """Tell whether the only name without a value is I, and the text makes sense with it as an identity matrix."""
        if [name for name in program.names if name not in named] != ["I"]:
            return False
        try:
            sizes = {name: array.shape for name, array in named.items()}
            return "I" not in self.read(frozenset(named), shapes=sizes, values=named).program.names
        except GradcliError:
            return False

    def bind(self, *, shares: bool = True, twice: bool = False, is_last: bool = False) -> BoundFunction:
        """Validate the input, and build the question without torch.

        Args:
            shares: Whether operations that compute the same are one line. Without it, two statements never have one
                symbol, and each has a gradient of its own, as in torch.
            twice: Whether torch's gradients are to be differentiated again.
            is_last: Whether it is of the last of several passes that do not add up, which is remarked.

        Raises:
            GradcliError: A value is missing, surplus or malformed, or shapes do not fit.

        >>> FunctionWithValues("x**2", read("x**2"), {"x": "1,2"}).bind().shape
        (2,)
        """
        snippet, dtype = self.snippet, self.dtype
        at = {name if name.isascii() else plain(name): value for name, value in self.at.items()}
        if dtype not in ("float64", "float32", None):
            raise InputError(f"unknown dtype '{dtype}'", hint="use float64 or float32")
        device, in_other, dtype = "cpu", tuple[str, ...](), dtype or snippet.dtype or "float64"
        if self.recording is not None:
            device = self.recording.call.device
        elif self.device not in (None, device):
            trial.end()
            from gradcli.autodiff.devices import chosen, dtype_there

            device = chosen(str(self.device))
            dtype, in_other = dtype_there(device, dtype, is_asked=self.dtype is not None)
        hidden, told = self._meant(at), (*snippet.program.warnings, *in_other)
        if self.recording is not None:
            hidden, told = frozenset(snippet.program.names), (*told, *self.recording.remarks)
        naming.require_valued(snippet, {*at, *snippet.values})
        if (hidden and self.recording is None) or not shares:
            snippet = replace(self.read(hidden, shares=shares, values={}), values=snippet.values)
        program, kinds = snippet.program, {line.call.op.kind for line in snippet.program.lines}
        told = (*told, *inputs.remarks_on_values(at, of_numbers=kinds <= {Kind.ELEMENTWISE}))
        named = {name: rounded(value, dtype) for name, value in snippet.values.items()}
        for name, value in at.items():
            if name in program.names or name in named:
                named[name] = rounded(inputs.read_value(value, f"--at {name}"), dtype)
        is_matrix = self._has_identity(program, named)
        if not is_matrix:
            naming.require_names(program, at, named)
        if program.needs_shapes and snippet.values and any(name not in snippet.values for name in at):
            # Values of the text may have the sizes of given ones, as torch.randn(x.shape) has.
            sizes = {name: array.shape for name, array in named.items() if name in at}
            sized = self.read(hidden, shapes=sizes, shares=shares, values={})
            named |= {name: rounded(value, dtype) for name, value in sized.values.items() if name not in at}
        may_index = program.needs_shapes or any(line.call.op.whole for line in program.lines)
        masks = given_masks(at, program.names) if may_index and not self.recording else {}
        if program.needs_shapes or program.needs_values or is_matrix or masks:
            sizes = {name: array.shape for name, array in named.items()}
            # Read the text again: constants in it hold sizes, such as len(x), or values decide its operations.
            snippet = self.read(hidden, shapes=sizes, shares=shares, values={**named, **masks})
            variables = tuple(dict.fromkeys((*program.variables, *snippet.program.variables)))
            variables = tuple(one for one in variables if not is_matrix or one.name in named)
            program = without_masks(replace(snippet.program, variables=variables), masks)
            naming.require_names(program, at, named)
        reread_at = self if program.needs_values else None
        arrays = {name: named.pop(name) for name in program.names}
        shapes = infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables})
        alone = [LAST_ALONE] if is_last and self.snippet.starts_anew else []
        remarks = cut_remarks(program) if program.joined else ()
        of_text = (*told, *program.warnings, *remarks, *remarks_on_shapes(program, shapes, at.values()))
        called = self.recording.call.called if self.recording else ""
        program = replace(program, warnings=that_hold(dict.fromkeys((*of_text, *alone)), program.names), called=called)
        asked = naming.chosen_variables(replace(snippet, program=program), self.wrt)
        found = shared(program) if called else program, shapes, arrays, asked, dtype, named, snippet.frees_graph
        return BoundFunction(*found, self.recording, reread_at, self.check, twice, device)
