"""A text, read once before any question on it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from functools import wraps
from typing import Any, Protocol, TypedDict, Unpack

from gradcli import progress
from gradcli.errors import InputError, UsageError, brief, did_you_mean
from gradcli.language.program.shape_readings import GivenShape
from gradcli.language.program.wengert import Shape
from gradcli.language.text.source import is_of_matrices
from gradcli.locking import one_at_a_time
from gradcli.option_words import option
from gradcli.questions.bound_function import BoundFunction, Device, Dtype, FunctionWithValues
from gradcli.questions.call_arguments import Given, PublicMethod, in_arrays
from gradcli.questions.likely_shapes import WithShapes, with_shapes
from gradcli.questions.naming import Directions, Inputs, open_names, require_valued, unnamed, with_name
from gradcli.questions.text_reading import read_whole
from gradcli.registry import DERIVATIVES, questions
from gradcli.results import Array, Result

__all__ = ["CommonOptions", "DeviceOptions", "Directions", "Inputs", "JudgedOptions", "ParsedText", "public"]


class CommonOptions(TypedDict, total=False):
    """The options of all questions at a point."""

    wrt: Sequence[str] | None
    dtype: Dtype | None


class DeviceOptions(CommonOptions, total=False):
    """The options of questions for which torch computes on any device."""

    device: Device | None


class JudgedOptions(DeviceOptions, total=False):
    """The options of questions whose numbers are compared with the reference."""

    check: bool


class ArgumentStructure(Protocol):
    """Structure that a value of a function of Python may be assumed to have."""

    def require(self, name: str, value: Array, dtype: str = "float64", *, is_moved: bool = True) -> None:
        """Refuse a value without the structure, or on its boundary where the value is differentiated by.

        Raises:
            InputError: The value has not the structure, or lies on its boundary.
        """

    def member(self, value: Array) -> Array:
        """Make a value that has it, of any numbers."""

    def nearest_of(self, value: object) -> object:
        """Return the nearest tensor that has it."""


_SHARED = {f"Unpack[{kind.__name__}]": kind.__annotations__ for kind in (CommonOptions, DeviceOptions, JudgedOptions)}


def public(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method: one question is answered at a time, errors have none of our frames, the signature all options.

    A derivative is answered in numbers, or, if it is asked for without a point, by its formula.
    """
    signature = inspect.signature(method)
    *own, last = signature.parameters.values()
    if last.annotation in _SHARED:
        shared = inspect.signature(ParsedText._asked).parameters.values()
        spelled = (one.replace(kind=last.KEYWORD_ONLY) for one in shared if one.name in _SHARED[last.annotation])
        signature = signature.replace(parameters=[*own, *spelled])
    called = PublicMethod(method, signature)

    def answer(self: Given, args: Sequence[object], options: Mapping[str, object]) -> Given:
        """Answer with arguments that are read."""
        given = {name for name, value in options.items() if name != "at" or value is not None}
        if not called.is_open and method.__name__ in DERIVATIVES and self.wants_formula(given):
            return self.closed_form(method.__name__, **{k: options[k] for k in ("shape", "wrt") if k in given})
        with one_at_a_time():
            try:
                return method(self, *args, **options)
            finally:
                self._undo_changes()

    @brief
    @wraps(method)
    def asked(self: Given, *args: object, **options: object) -> Given:
        if called.is_open:
            return answer(self, args, options)
        read = called.read(self, args, options)
        return in_arrays(answer(self, (), read.options), read.out)

    asked.answer, asked.__signature__ = answer, called.full_signature  # type: ignore[attr-defined]
    return asked


class ParsedText:
    """Text of a function, with its variables.

    Attributes:
        expression: The text as given, or the one spelling of it in this language that is meant beyond doubt.

    Raises:
        GradcliError: It is not in the language.

    >>> ParsedText("y = A@x; sum(y**2)").variables
    ('A', 'x')
    """

    _is_of_matrices = False  # as a text next to it is in the notation of matrices
    _named: tuple[str, ...] = ()  # the variables that such texts name

    OF_NUMBERS = ("at", "v", "vs", "u", "loss", "accumulate", "expect", "random", "box", "sparse")
    """Options beside which an answer has numbers."""

    def __init_subclass__(cls) -> None:
        """Let the methods of a class raise errors without our frames, and derivatives be formulas."""
        for name, method in [*vars(cls).items()]:
            if callable(method) and not name.startswith("_"):
                setattr(cls, name, public(method))

    @brief
    def __init__(self, expression: str) -> None:
        if not isinstance(expression, str):
            raise InputError(f"a function is a text, such as 'x**2', and no {type(expression).__name__}")
        with one_at_a_time():
            self._snippet = read_whole(expression)
        self.expression = self._snippet.read_as or expression

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.expression!r})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The free names in order of appearance."""
        return self._snippet.program.names

    @property
    def parameters(self) -> tuple[str, ...]:
        """All names that may have a value; for a text these are its variables."""
        return self.variables

    @property
    def needed(self) -> tuple[str, ...]:
        """The variables that a value without a name may be of: those without a value in the text, or all."""
        return open_names(self._snippet)

    @property
    def places(self) -> tuple[str, ...]:
        """The names that values by place are of, in order."""
        return self.needed

    @property
    def takes_others(self) -> bool:
        """Tell whether names that are not known yet may have a value."""
        return False

    @property
    def values_given(self) -> Sequence[object]:
        """The values that it has already."""
        return ()

    @property
    def has_values(self) -> bool:
        """Tell whether some variable has a value in the text, or there is no variable."""
        return not self.variables or any(name in self._snippet.values for name in self.variables)

    @property
    def has_passes(self) -> bool:
        """Tell whether a snippet has several backward passes that are each to have a product."""
        return self._snippet.has_each

    @property
    def has_v(self) -> bool:
        """Tell whether a snippet has a backward pass with a gradient vector of its own."""
        return self._snippet.v is not None or bool(self._snippet.vectors)

    def wants_formula(self, given: Container[str]) -> bool:
        """Tell whether a derivative is asked for without a point, so that its answer is a formula.

        Args:
            given: The options of the question.

        Raises:
            UsageError: A shape is given together with an option of numbers, or nothing gives formulas.
        """
        if "pattern" in given:  # which some values, or none, are needed for
            return False
        of_numbers = next((name for name in self.OF_NUMBERS if name in given), "")
        if of_numbers and "shape" in given:
            hint = f"leave out {option('shape')} for numbers, and the other for a formula"
            if of_numbers == "sparse":
                hint = f"give {option('pattern')} in place of {option('sparse')}: the pattern needs no values"
            other = option("in" if of_numbers == "box" else of_numbers)
            raise UsageError(f"{option('shape')} and {other} exclude each other", hint=hint)
        has_forms = hasattr(self, "closed_form")  # which a part gives
        if "shape" in given and not has_forms:
            said = f"{option('shape')} is of formulas without values, which nothing here gives"
            raise UsageError(said, hint=f"give values: {option('at', 'NAME=VALUE')}")
        return has_forms and ("shape" in given or not (of_numbers or self.has_values))

    def ask(self, command: str, given: Mapping[str, object], *, budget: float | None = None) -> Result:
        """Answer a command by its name; the shell and requests have read its options, each in its own way.

        Args:
            command: One of `gradcli.registry.questions()`, or `closed_form`.
            given: The options that were given, by the keywords of the methods; `vs` makes several products of `vjp`.
            budget: Seconds that a check may take; None for the usual budget.

        Raises:
            GradcliError: As for the method; there is no such command.

        >>> from gradcli import Function
        >>> Function("x**2").ask("grad", {"at": {"x": 3}}).grad["x"]
        array(6.)
        """
        if command not in (*questions(), "closed_form"):
            raise UsageError(f"there is no command '{command}'", hint=did_you_mean(command, questions()))
        method, options = command, {name: value for name, value in given.items() if name != "accumulate" or value}
        if command == "vjp" and not self.wants_formula(options):
            has_several = "vs" in options or "accumulate" in options
            if has_several or (self.has_passes and options.keys().isdisjoint(("v", "loss"))):
                method = "vjps"
                options |= {"vs": [options.pop("v")]} if "v" in options else {}
        with progress.budget(budget):
            found: Result = brief(getattr(type(self), method).answer)(self, (), options)
        return found

    def _argument_values(self, at: Inputs | None, bound: BoundFunction) -> Mapping[str, object]:
        """Return the arguments of the function, by name and in order."""
        return bound.arrays

    def _asked(
        self,
        at: Inputs | None,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        device: Device | None = None,
        check: bool = True,
    ) -> FunctionWithValues:
        """Ask about the function at values; each kind of function answers in its own way."""
        is_named = at is None or (isinstance(at, Mapping) and "" not in at)
        snippet = self._snippet if is_named else unnamed(self._snippet)
        values = with_name(at, open_names(self._snippet))
        has_rows = any(isinstance(one, str) and ";" in one and is_of_matrices(one) for one in values.values())
        how = {"device": device, "is_of_matrices": self._is_of_matrices or has_rows}
        found = FunctionWithValues(self.expression, snippet, values, wrt, dtype, check, **how)  # type: ignore[arg-type]
        return found.with_names((*(wrt or ()), *self._named))

    def _require_valued(self, names: Container[str]) -> None:
        """Refuse a variable with the name of a function, `plot sin`, unless it is among these names."""
        require_valued(self._snippet, names)

    def _next_to(self, claims: Mapping[str, object]) -> ParsedText:
        """Return the function as it is read next to claims: they name variables, and may be in matrices' notation."""
        found = copy.copy(self)
        found._snippet = self._snippet  # with what is told of its reading
        found._named = tuple(name for name in claims if name)
        found._is_of_matrices = any(isinstance(one, str) and is_of_matrices(one) for one in claims.values())
        return found

    def _assuming(self, assume: Mapping[str, str] | None, at: Inputs | None, wrt: Sequence[str] | None) -> ParsedText:
        """Return the function of the nearest values that have structures; the Program of a text is changed later."""
        return self

    def _starting(
        self, at: Inputs | None, box: Mapping[str, str] | None, assume: Mapping[str, str] | None
    ) -> Inputs | None:
        """Return the values of a check before points are drawn from its box; a text needs none."""
        return at

    def _undo_changes(self) -> None:
        """Undo changes that answering a question made; a text makes none."""

    def _asked_at_shapes(
        self, at: Inputs | None, shape: Mapping[str, GivenShape] | None, **options: Unpack[JudgedOptions]
    ) -> WithShapes:
        """Ask about the function where shapes stand in place of some values."""
        return with_shapes(self._asked(at, **options), shape)

    def _asked_at_rows(
        self,
        at: Inputs | None,
        wrt: Sequence[str] | None,
        dtype: Dtype | None,
        device: Device | None,
        shapes: Callable[[Sequence[str]], Mapping[str, Shape]],
    ) -> FunctionWithValues:
        """Ask about the function at many points, each a row of columns.

        Args:
            at: The values that all points have.
            wrt: The variables to differentiate by; by default those with columns.
            dtype: Of the computation.
            device: Of the computation.
            shapes: Returns of some names the shapes of those that have columns.
        """
        return self._asked(at, wrt, dtype, device)
