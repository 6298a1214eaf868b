"""A function of tensors from text: the one place that asks all three readings for an answer.

Everything that can be wrong with the input is found before torch is imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.errors import InputError, TooLargeError, did_you_mean
from gradcli.language.grammar import parse
from gradcli.language.indexing import Shape, show
from gradcli.language.program import CONSTANTS, Atom, Program
from gradcli.language.shapes import infer
from gradcli.language.values import Array, Value, read_cotangent, read_value
from gradcli.results import VJP, Check, Evaluation, Formula, Gradient, Jacobian

if TYPE_CHECKING:
    from gradcli.autodiff.run import Forward
    from gradcli.check.judge import Evidence
    from gradcli.check.point import Point

Dtype = Literal["float64", "float32"]

JACOBIAN_ENTRIES = 10_000
"""Entries up to which `vjp` and `grad` show the Jacobian beside their answer."""

JACOBIAN_BYTES = 2**30
"""Memory that `jacobian` may fill: 1 GiB, or 134 million entries in float64."""

MAX_FORMULAS = 30
"""Variables for which a formula is derived; each takes a walk over the whole Program."""

Inputs = Mapping[str, Value]


class Function:
    """A function of tensors, parsed from text and never evaluated as Python.

    Args:
        expression: The text, such as `"x**2"` or `"y = A@x; sum(y**2)"`.

    Attributes:
        expression: The text as given.
        variables: The free names in order of appearance.

    Raises:
        GradcliError: The text is not in the language (see `gradcli.errors`).

    >>> f = Function("x**2")
    >>> f.variables
    ('x',)
    >>> f.vjp({"x": [1, 2]}, v=[1, 1]).vjp["x"]
    array([2., 4.])
    """

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._program = parse(expression)

    def __repr__(self) -> str:
        return f"Function({self.expression!r})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The free names in order of appearance."""
        return self._program.names

    def eval(self, at: Inputs | None = None, *, dtype: Dtype = "float64") -> Evaluation:
        """The value y.

        Args:
            at: A value per variable: text of the language, a number, nested lists or an array.
            dtype: Of the computation.

        Raises:
            GradcliError: A value is missing, surplus or malformed, or shapes do not fit.

        >>> Function("sum(x*y)").eval({"x": "1,2", "y": [3, 4]}).value
        array(11.)
        """
        call = self._call(at, (), dtype)
        from gradcli.autodiff.derivatives import value

        return Evaluation(command="eval", value=value(call.forward), **call.common)

    def vjp(
        self,
        at: Inputs | None = None,
        v: Value | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> VJP:
        """The vector-Jacobian product vᵀJ, what `y.backward(gradient=v)` leaves in `x.grad`.

        Args:
            at: A value per variable.
            v: Of y's shape; 1 if y has one element. `"ones"`, `"e0"` and `"e0_1"` are known.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Returns:
            y, v, vᵀJ (x's shape per variable), J (y.shape + x.shape, up to `JACOBIAN_ENTRIES` entries), the formula
            and the verdict.

        Raises:
            GradcliError: As for `eval`; v is missing for a y of several elements, or has not y's shape.

        >>> answer = Function("[x*y, x+y]").vjp({"x": 3, "y": 5}, v=[1, 10])
        >>> answer.vjp["x"], answer.jacobian["y"], answer.symbolic["x"].text, answer.check.verdict
        (array(15.), array([3., 1.]), '[y, 1]', 'agree')
        """
        call = self._call(at, wrt, dtype)
        weights = _rounded(_cotangent(v, call.shape), dtype)
        product, shared = call.product(weights, check=check)
        return VJP(command="vjp", v=weights, vjp=product, **shared)

    def grad(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> Gradient:
        """The gradient of a y of one element.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `eval`; y has several elements.

        >>> Function("sum(x**3)").grad({"x": [1, 2]}).grad["x"]
        array([ 3., 12.])
        """
        call = self._call(at, wrt, dtype)
        if math.prod(call.shape) != 1:
            raise InputError(
                f"a gradient needs a y of one element, and y has shape {show(call.shape)}",
                hint="use sum(...), or vjp with --v, or jacobian",
            )
        gradient, shared = call.product(np.ones(call.shape, dtype=dtype), check=check)
        return Gradient(command="grad", grad=gradient, **shared)

    def jacobian(
        self,
        at: Inputs | None = None,
        *,
        wrt: Sequence[str] | None = None,
        dtype: Dtype = "float64",
        check: bool = True,
    ) -> Jacobian:
        """The full Jacobian, a block of shape y.shape + x.shape per variable.

        Args:
            at: A value per variable.
            wrt: The variables to differentiate by; all by default.
            dtype: Of the computation.
            check: Whether to compare with the reference.

        Raises:
            GradcliError: As for `eval`.
            TooLargeError: The blocks would take more than `JACOBIAN_BYTES`.

        >>> Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}, wrt=["x"]).jacobian["x"]
        array([[1., 2.]])
        """
        call = self._call(at, wrt, dtype)
        size = call.jacobian_entries * np.dtype(dtype).itemsize
        if size > JACOBIAN_BYTES:
            raise TooLargeError(
                f"the Jacobian has {call.jacobian_entries:,} entries and takes {_bytes(size)}; "
                f"the limit is {_bytes(JACOBIAN_BYTES)}",
                hint="use vjp with --v e0, --v e1, ... for single rows, or --wrt for fewer variables",
            )
        from gradcli.autodiff.derivatives import value

        blocks, _ = call.jacobian(call.jacobian_entries)
        return Jacobian(
            command="jacobian",
            value=value(call.forward),
            jacobian=blocks,
            **call.common,
            **call.checked(blocks, None, None, check=check),
        )

    def _call(self, at: Inputs | None, wrt: Sequence[str] | None, dtype: Dtype) -> _Call:
        """Everything that can be known without torch."""
        if dtype not in ("float64", "float32"):
            raise InputError(f"unknown dtype '{dtype}'", hint="use float64 or float32")
        given = dict(at or {})
        program = self._program
        if shadowed := frozenset(given) & frozenset(CONSTANTS):
            program = parse(self.expression, given=shadowed)
        _require_names(program, given)
        arrays = {name: _rounded(read_value(given[name], f"--at {name}"), dtype) for name in program.names}
        shapes = infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables})
        return _Call(program, shapes, arrays, _require_wrt(program, wrt), dtype)


class _Checked(TypedDict):
    """The part of an answer that the formulas and the check fill."""

    symbolic: dict[str, Formula]
    symbolic_omitted: dict[str, str]
    check: Check | None


@dataclass(frozen=True)
class _Call:
    """One question: the Program with shapes and values, before and after torch has run it."""

    program: Program
    shapes: Mapping[Atom, Shape]
    arrays: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: Dtype

    @property
    def shape(self) -> Shape:
        return self.shapes.get(self.program.output, ())

    @property
    def jacobian_entries(self) -> int:
        return math.prod(self.shape) * sum(self.arrays[name].size for name in self.wrt)

    @property
    def common(self) -> dict[str, Any]:
        return {
            "expression": self.program.text,
            "dtype": self.dtype,
            "inputs": self.arrays,
            "wrt": self.wrt,
            "output": self.program.output_name,
            "warnings": self.program.warnings,
        }

    @cached_property
    def forward(self) -> Forward:
        """The Program run by torch."""
        from gradcli.autodiff.run import run

        return run(self.program, self.arrays, self.wrt, self.dtype)

    def jacobian(self, most: int) -> tuple[dict[str, Array] | None, str]:
        """The Jacobian blocks, or None and why: they would have more than `most` entries."""
        from gradcli.autodiff.derivatives import jacobian

        if self.jacobian_entries > most:
            return (
                None,
                f"{self.jacobian_entries:,} entries, more than {most:,}; the jacobian command has no such limit",
            )
        return jacobian(self.forward, self.wrt), ""

    def product(self, v: Array, *, check: bool) -> tuple[dict[str, Array], dict[str, Any]]:
        """The vector-Jacobian product, and the rest of an answer that gives one."""
        from gradcli.autodiff.derivatives import value, vjp

        found = vjp(self.forward, v, self.wrt)
        jacobian, omitted = self.jacobian(JACOBIAN_ENTRIES)
        shared = {"value": value(self.forward), "jacobian": jacobian, "jacobian_omitted": omitted}
        return found, {**shared, **self.common, **self.checked(jacobian, v, found, check=check)}

    def checked(
        self, jacobian: Mapping[str, Array] | None, v: Array | None, vjp: Mapping[str, Array] | None, *, check: bool
    ) -> _Checked:
        """The formulas that the reference confirms, and the verdict unless it is not asked for."""
        from gradcli.autodiff.derivatives import value
        from gradcli.check.judge import judge
        from gradcli.check.point import Point, Torch

        point = Point.of(self.program, self.shapes, self.arrays)
        torch = Torch(self.dtype, value(self.forward), jacobian, v, vjp)
        verdict, evidence = judge(point, torch, self.wrt) if check else (None, None)
        return self._formulas(point, evidence, verdict)

    def _formulas(self, point: Point, evidence: Evidence | None, verdict: Check | None) -> _Checked:
        from gradcli.check.formulas import confirm, with_refuted
        from gradcli.symbolic.derivative import differentiate
        from gradcli.symbolic.movement import NoFormulaError
        from gradcli.symbolic.printing import formula

        shown: dict[str, Formula] = {}
        omitted: dict[str, str] = {}
        for name in self.wrt[MAX_FORMULAS:]:
            omitted[name] = f"formulas are given for {MAX_FORMULAS} variables, and there are {len(self.wrt)}"
        for name in self.wrt[:MAX_FORMULAS]:
            try:
                derivative = differentiate(point.program, point.shapes, sympy.Symbol(name, real=True))
            except NoFormulaError as error:
                omitted[name] = str(error)
                continue
            confirmation = confirm(point, derivative, evidence)
            if confirmation.holds:
                shown[name] = formula(derivative, self.program, confirmation.note)
            elif confirmation.refuted:
                omitted[name] = f"it disagrees with the reference: {confirmation.refuted}"
                verdict = verdict and with_refuted(verdict, name, confirmation.refuted)
            else:
                omitted[name] = "the reference could not confirm it"
        return {"symbolic": shown, "symbolic_omitted": omitted, "check": verdict}


def _rounded(array: npt.NDArray[np.floating], dtype: Dtype) -> Array:
    """The array in this dtype, where a number beyond its range is infinite; the check then says so."""
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def _cotangent(v: Value | None, shape: Shape) -> npt.NDArray[np.floating]:
    """The gradient vector given, or the implicit 1 of a y of one element.

    Raises:
        InputError: It is needed and not given, or has not y's shape.
    """
    if v is not None:
        return read_cotangent(v, shape)
    if math.prod(shape) != 1:
        example = ",".join(["1"] * shape[0]) if len(shape) == 1 and shape[0] <= 4 else "ones"
        raise InputError(
            f"y has shape {show(shape)}, and only a y of one element has an implicit gradient: "
            "vjp needs a vector v of y's shape",
            hint=f"--v {example} sums the elements of y; e0 picks y[0]; jacobian needs no v",
        )
    return np.ones(shape)


def _require_names(program: Program, given: Mapping[str, Value]) -> None:
    missing = [name for name in program.names if name not in given]
    surplus = [name for name in given if name not in program.names]
    if surplus:
        known = ", ".join(program.names) or "none"
        hint = did_you_mean(surplus[0], program.names) or f"the variables are: {known}"
        raise InputError(f"'{surplus[0]}' is given a value, and the expression has no such variable", hint=hint)
    if missing:
        names = ", ".join(f"'{name}'" for name in missing[:8]) + ", ..." * (len(missing) > 8)
        raise InputError(
            f"no value for the variable{'s' * (len(missing) > 1)} {names}",
            hint="give "
            + " ".join(f"--at {name}=VALUE" for name in missing[:4])
            + "; Euler's number is E" * ("e" in missing),
        )


def _require_wrt(program: Program, wrt: Sequence[str] | None) -> tuple[str, ...]:
    if wrt is None:
        return program.names
    for name in wrt:
        if name not in program.names:
            hint = did_you_mean(name, program.names) or f"the variables are: {', '.join(program.names) or 'none'}"
            raise InputError(f"--wrt names '{name}', and the expression has no such variable", hint=hint)
    return tuple(dict.fromkeys(wrt))


def _bytes(size: int) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024  # type: ignore[assignment]
    raise AssertionError("unreachable")
