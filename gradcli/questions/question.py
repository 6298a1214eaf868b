"""One question about a function, its values in place: before torch has run it, and after.

Everything that can be wrong with the input is found before torch is imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError, InternalError, TooLargeError
from gradcli.language.inputs import Array, Outputs, Value, read_cotangent, require_shape
from gradcli.language.program.wengert import Atom, Program, Shape, show
from gradcli.language.snippets.gradients import Replay

if TYPE_CHECKING:
    from gradcli.autodiff.run import Forward
    from gradcli.check.formulas import Derived
    from gradcli.check.point import Point

JACOBIAN_ENTRIES = 10_000
"""Entries up to which `vjp`, `grad` and `check` show the Jacobian beside their answer."""

JACOBIAN_BYTES = 2**30
"""Memory that `jacobian` may fill: 1 GiB, or 134 million entries in float64."""

Dtype = Literal["float64", "float32"]

Cotangent = Array | Program
"""A gradient vector: numbers, or an expression in y and the variables."""


@dataclass(frozen=True)
class Question:
    """A Program with shapes and values, before and after torch has run it.

    Attributes:
        program: The function.
        shapes: Of every symbol.
        arrays: The value of every variable.
        wrt: The variables to differentiate by.
        dtype: Of the computation.
        named: Values that only v names, as a snippet may define them.
        frees_graph: The backward passes of a snippet, if one may miss what a pass before it freed.
        as_typed: The function with the derivatives that it takes itself, as torch takes them, where it does; in
            `program` they are lines of the language.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    arrays: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: Dtype
    named: Mapping[str, Array]
    frees_graph: Replay | None = None
    as_typed: Program | None = None

    @property
    def shape(self) -> Shape:
        """The shape of y."""
        return self.shapes.get(self.program.output, ())

    def with_remark(self, *remarks: str) -> Question:
        """The same with a remark of what was typed."""
        return replace(self, program=replace(self.program, warnings=(*self.program.warnings, *remarks)))

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
        """The Program run by torch."""
        return self.ran()

    def ran(self, *, twice: bool = False) -> Forward:
        """The Program run by torch, so that its gradients can be differentiated again if they are to be `twice`.

        Raises:
            InternalError: y has another shape than the language says.
        """
        from gradcli.autodiff.run import run

        forward = run(self.as_typed or self.program, self.arrays, self.wrt, self.dtype, twice=twice)
        if tuple(forward.output.shape) != self.shape:  # before numbers are laid beside others that are elsewhere
            found = show(tuple(forward.output.shape))
            raise InternalError(f"torch's {self.program.output_name} has shape {found}, not {show(self.shape)}")
        return forward

    @cached_property
    def value(self) -> Array:
        """The output y by torch, of y's shape."""
        from gradcli.autodiff.jacobians import value

        return value(self.forward)

    @cached_property
    def point(self) -> Point:
        """The Program in the forms that the check reads."""
        from gradcli.check.point import Point

        return Point.of(self.program, self.shapes, self.arrays)

    @cached_property
    def derived(self) -> Derived:
        """The formulas of ∂y/∂x, before the reference has confirmed them."""
        from gradcli.check.formulas import of_jacobian

        return of_jacobian(self.point, self.wrt)

    def require_room(self, hint: str, *, times: int = 1) -> None:
        """Refuse a Jacobian, or one for each of several points, that would take more than `JACOBIAN_BYTES`.

        Raises:
            TooLargeError: It would; `hint` says what to do.
        """
        what = "the Jacobian has" if times == 1 else f"the Jacobians of {times:,} points have"
        require_room(what, times * self.jacobian_entries, self.dtype, hint)

    def jacobian(self, most: int) -> tuple[dict[str, Array] | None, str]:
        """The Jacobian blocks, or None and why: they would have more than `most` entries."""
        from gradcli.autodiff.jacobians import jacobian

        if self.jacobian_entries > most:
            return None, self.too_many(most)
        return jacobian(self.forward, self.wrt), ""

    @cached_property
    def small_jacobian(self) -> tuple[dict[str, Array] | None, str]:
        """The Jacobian as it is shown beside a product, if it is small enough; computed once for all products."""
        return self.jacobian(JACOBIAN_ENTRIES)

    def too_many(self, most: int, *, times: int = 1) -> str:
        """Why the Jacobian, or one for each of several points, is left out of an answer."""
        return f"{times * self.jacobian_entries:,} entries, more than {most:,}; the jacobian command has no such limit"

    def cotangent(self, v: Value | None, of_snippet: Program | None) -> Cotangent:
        """The gradient vector: as given, as a snippet has it, or the implicit 1 of a y of one element.

        Raises:
            InputError: It is needed and not given, or has not y's shape.
        """
        shapes = {name: array.shape for name, array in {**self.named, **self.arrays}.items()}
        y = Outputs(self.program.output_name, self.shape, shapes)
        if v is not None:
            return read_cotangent(v, y)
        if of_snippet is not None:
            require_shape(of_snippet, y)
            return of_snippet
        if math.prod(self.shape) != 1:
            example = ",".join(["1"] * self.shape[0]) if len(self.shape) == 1 and self.shape[0] <= 4 else "ones"
            raise InputError(
                f"{y.name} has shape {show(self.shape)}, and only one element has an implicit gradient: "
                f"a vector v of {y.name}'s shape is needed",
                hint=f"--v {example} sums the elements of {y.name}; e0 picks {y.name}[0]; jacobian needs no v",
            )
        return np.ones(self.shape)

    def weights(self, v: Cotangent) -> Array:
        """The numbers of the gradient vector; an expression in y is evaluated by torch, as a constant."""
        if not isinstance(v, Program):
            return rounded(v, self.dtype)
        from gradcli.autodiff.jacobians import value
        from gradcli.autodiff.run import run

        y = {self.program.output_name: self.value}
        return value(run(v, {**self.named, **y, **self.arrays}, (), self.dtype))


def require_one_element(question: Question, what: str, hint: str) -> None:
    """Refuse a derivative that only a y of one element has.

    Args:
        question: What is asked.
        what: The derivative, with its article.
        hint: What to do instead.

    Raises:
        InputError: y has several elements, or none.
    """
    if math.prod(question.shape) != 1:
        raise InputError(f"{what} needs a y of one element, and y has shape {show(question.shape)}", hint=hint)


def require_gradient(question: Question) -> None:
    """Refuse the gradient of a y of several elements.

    Raises:
        InputError: So it is.
    """
    require_one_element(question, "a gradient", "use sum(...), or vjp with --v, or jacobian")


def rounded(array: npt.NDArray[np.floating], dtype: Dtype) -> Array:
    """The array in this dtype, where a number beyond its range is infinite; the check then says so."""
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def require_room(what: str, entries: int, dtype: Dtype, hint: str) -> None:
    """Refuse a matrix that would take more than `JACOBIAN_BYTES`.

    Args:
        what: It, with its verb.
        entries: Of it.
        dtype: Of the entries.
        hint: What to do instead.

    Raises:
        TooLargeError: It would.
    """
    size = entries * np.dtype(dtype).itemsize
    if size > JACOBIAN_BYTES:
        raise TooLargeError(
            f"{what} {entries:,} entries and take{'s' * what.endswith(' has')} {_bytes(size)}; "
            f"the limit is {_bytes(JACOBIAN_BYTES)}",
            hint=hint,
        )


def _bytes(size: int) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024  # type: ignore[assignment]
    raise AssertionError("unreachable")
