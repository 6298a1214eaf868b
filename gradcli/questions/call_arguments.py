"""Arguments of a call in Python, read into those that a method of a function takes.

A value may be given by place or by the name of its variable; options are converted to what the annotation of the method
says, from what Python has for it: `torch.float32`, `(0, 1)` for a range, `"kink"` for a list of one word.  What cannot
be meant is an error of ours, with the nearest name.  Torch is not imported: its types are known by their names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, cast, get_args

import numpy as np

from gradcli.errors import InputError, UsageError, did_you_mean
from gradcli.language.program.wengert import CONSTANTS
from gradcli.option_words import option
from gradcli.questions.bound_function import Dtype
from gradcli.questions.other_keywords import MEANT, SAME, at_places
from gradcli.registry import DERIVATIVES
from gradcli.results import Answer, ArrayKind, Products

Given = Any
"""Argument as a user gives it, which may be of any type."""

_NAMELESS = ""
"""Name of a value, a range or a claim that is given without one: it is for the only variable."""


class ArgumentError(UsageError, TypeError):
    """A call of a public function with arguments that it does not take."""


class NamedParameters(Protocol):
    """A function as its calls are read."""

    @property
    def expression(self) -> str:
        """Its text or its name."""

    @property
    def needed(self) -> tuple[str, ...]:
        """The names that need a value, in order."""

    @property
    def places(self) -> tuple[str, ...]:
        """The names that values by place are of, in order: those that need one, and others behind them."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """All names that may have a value."""

    @property
    def takes_others(self) -> bool:
        """Tell whether other names may have a value too, which are found only where it is run."""

    @property
    def values_given(self) -> Sequence[object]:
        """The values that it has already."""


@dataclass(frozen=True)
class ReadArguments:
    """Arguments of a method, as it takes them.

    Attributes:
        options: The arguments by name.
        out: The kind of the arrays that the answer gives.
    """

    options: dict[str, Given]
    out: ArrayKind


@dataclass(frozen=True)
class PublicMethod:
    """A method of a function, whose calls are read.

    Attributes:
        function: The function that answers.
        signature: Its signature, with all options by name.
    """

    function: Callable[..., Given]
    signature: inspect.Signature

    @property
    def name(self) -> str:
        """The name that users call."""
        return self.function.__qualname__.rpartition(".")[2]

    @cached_property
    def by_place(self) -> tuple[str, ...]:
        """Name the parameters that may be given by place."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return tuple(name for name, one in self.signature.parameters.items() if one.kind is kind)[1:]

    @cached_property
    def takes_ranges(self) -> bool:
        """Tell whether a variable may have two ends in place of a value, `x=(0, 1)`."""
        return "box" in self.signature.parameters and self._takes_any(inspect.Parameter.VAR_KEYWORD)

    @cached_property
    def is_open(self) -> bool:
        """Tell whether it hands on what it is given, as a method of a subclass may, to one whose calls are read."""
        takes_names = self._takes_any(inspect.Parameter.VAR_KEYWORD) and not self.takes_ranges
        return takes_names or self._takes_any(inspect.Parameter.VAR_POSITIONAL)

    def _takes_any(self, kind: object) -> bool:
        return any(one.kind is kind for one in self.signature.parameters.values())

    @cached_property
    def known(self) -> tuple[str, ...]:
        """Name the options."""
        found = [name for name, one in self.signature.parameters.items() if one.kind is not one.VAR_KEYWORD]
        return (*found[1:], *["shape"] * (self.name in DERIVATIVES), *["out"] * self.gives_numbers)

    @cached_property
    def gives_numbers(self) -> bool:
        """Tell whether the answer has arrays by name."""
        kind = self.function.__globals__.get(str(self.signature.return_annotation).rpartition(".")[2])
        name = str(self.signature.return_annotation).rpartition(".")[2]
        kind = kind or getattr(self.function.__globals__.get("results"), name, None)
        return isinstance(kind, type) and issubclass(kind, Answer)

    @cached_property
    def full_signature(self) -> inspect.Signature:
        """Return the signature as `help` shows it: with variables as keywords, and what arrays the answer gives."""
        parameters = [*self.signature.parameters.values()]
        if "at" in self.known and not self.is_open:
            open_names = [] if not self.takes_ranges else [parameters.pop()]
            kind = inspect.Parameter.KEYWORD_ONLY
            out = inspect.Parameter("out", kind, default=None, annotation="ArrayKind | None")
            values = inspect.Parameter("values", inspect.Parameter.VAR_KEYWORD, annotation="Value")
            parameters += [*[out] * self.gives_numbers, *(open_names or [values])]
        return self.signature.replace(parameters=parameters)

    def read(self, asked: NamedParameters, args: Sequence[object], options: Mapping[str, object]) -> ReadArguments:
        """Read the arguments of a call.

        Raises:
            ArgumentError: An option is unknown, or there are too many values.
            InputError: An option is of another type than it may be.
        """
        found: dict[str, Given] = self._by_own_names(asked, options)
        placed = self._placed(asked, args)
        if both := next((name for name in placed if name in found), None):
            raise ArgumentError(f"{option(both)} of {self.name} is given twice", hint="give it once")
        found |= placed
        out = found.pop("out", None) if self.gives_numbers else None
        named = {name: found.pop(name) for name in [*found] if name not in self.known and self._is_value(name, asked)}
        ranges = {name: one for name, one in named.items() if self._is_range(one)}
        if values := {name: one for name, one in named.items() if name not in ranges}:
            found["at"] = _with_values(found.get("at"), values)
        if ranges:
            found["box"] = {**_by_variable("box", found.get("box") or {}), **ranges}
        for name in found:
            found[name] = self._converted(name, found[name])
        for name, one in self.signature.parameters.items():
            if one.default is one.empty and name in self.known and name not in found:
                first = next((f'{{"{one}": ...}}' for one in _by_variable("at", found.get("at") or {})), name)
                raise ArgumentError(f"{self.name} takes {name} first", hint=f"{self.name}({first}, ...)")
        is_of_tensors = any(map(is_tensor, (*_values(found.get("at")), *asked.values_given)))
        kinds = get_args(ArrayKind)
        if out is not None and not (isinstance(out, str) and out in kinds):
            raise InputError(f"{option('out')} is numpy or torch, and not {in_words(out)}")
        return ReadArguments(found, cast(ArrayKind, out or ("torch" if is_of_tensors else "numpy")))

    def _by_own_names(self, asked: NamedParameters, options: Mapping[str, object]) -> dict[str, Given]:
        """Return options by the names that they have here, unless a variable is called so; `argnums` are places."""
        found: dict[str, Given] = {}
        for name, value in options.items():
            own = MEANT.get(name, "") if name in SAME and name not in (*self.known, *asked.parameters) else ""
            is_free = own in self.known and own not in options and own not in found
            found[own if is_free else name] = (
                at_places(value, asked.places or asked.parameters) if is_free and own == "wrt" else value
            )
        return found

    def _is_range(self, value: object) -> bool:
        """Tell whether a value by name is a range: a text with two dots, or two ends where there is no vector."""
        is_text = isinstance(value, str) and ".." in value and "box" in self.known
        return is_text or (self.takes_ranges and isinstance(value, tuple) and len(value) == 2)

    def _placed(self, asked: NamedParameters, args: Sequence[object]) -> dict[str, object]:
        """Name the arguments that are given by place: values of the variables in order, then further ones."""
        first = args[0] if args else None
        count, rest = len(asked.needed), len(self.by_place) - 1
        is_bare = self.by_place[:1] == ("at",) and first is not None and not isinstance(first, Mapping)
        if is_bare and len(args) > 1 and (rest == 0 or count > 1):
            number = len(args) if rest == 0 else min(count, len(args))
            args = (self._in_order(asked, args[:number]), *args[number:])
        if len(args) > len(self.by_place):
            most = f"{len(self.by_place)} argument{'s' * (len(self.by_place) != 1)} by place"
            names = f": {', '.join(self.by_place)}" if self.by_place else ""
            raise ArgumentError(f"{self.name} takes at most {most}{names}, and {len(args)} are given")
        return dict(zip(self.by_place, args, strict=False))

    def _in_order(self, asked: NamedParameters, values: Sequence[object]) -> dict[str, object]:
        """Give values to the variables in their order.

        Raises:
            ArgumentError: There are more or fewer variables; or the order of a text is not that of the alphabet, so
                that another one may be meant.
        """
        names = asked.places
        known = ", ".join(names) or "none"
        if not len(asked.needed) <= len(values) <= len(names):
            message = f"{len(values)} values are given to {self.name} by place, and the variables are: {known}"
            vector = ", or a vector as a list, [1, 2]" if len(names) == 1 else ""
            raise ArgumentError(message, hint=f"give {option('at', *(f'{name}=VALUE' for name in names[:4]))}{vector}")
        if not asked.takes_others and [*names] != sorted(names):
            numbers = [in_words(one) if isinstance(one, int | float) else "VALUE" for one in values]
            pairs = ", ".join(f"{name}={one}" for name, one in zip(names, numbers, strict=False))
            message = f"the text has its variables in the order {known}, and values by place may mean another"
            raise ArgumentError(message, hint=f"name them: {pairs}")
        return dict(zip(names, values, strict=False))

    def _is_value(self, name: str, asked: NamedParameters) -> bool:
        """Tell whether a keyword that is no option is a variable.

        Raises:
            ArgumentError: It is none.
        """
        takes_values = "at" in self.known
        if takes_values and (name in asked.parameters or name in CONSTANTS):
            return True
        meant = MEANT.get(name, "")
        hint = f"write {meant}=" if meant in self.known else did_you_mean(name, self.known)
        if takes_values and asked.takes_others and hint is None:
            return True
        names = asked.parameters if takes_values else ()
        hint = hint or did_you_mean(name, names)
        others = f", and the variables are {', '.join(names)}" if names else ""
        hint = hint or f"the options are {', '.join(self.known)}{others}"
        what = (
            f", and {asked.expression} no variable of this name" if takes_values and len(asked.expression) < 60 else ""
        )
        raise ArgumentError(f"{self.name} has no option '{name}'{what}", hint=hint)

    def _converted(self, name: str, value: object) -> object:
        """Convert an argument to what its annotation says."""
        parameter = self.signature.parameters.get(name)
        if name == "shape":
            return None if value is None else _by_variable(name, value)
        if name == "box":
            return None if value is None else {one: as_range(ends) for one, ends in _by_variable(name, value).items()}
        if parameter is None or value is parameter.default:
            return value
        annotation = str(parameter.annotation)
        if (read := _READERS.get(annotation)) is not None:
            return read(name, value)
        if words := _choices(annotation, self.function.__globals__):
            return _choice(name, value, words)
        return value


def in_arrays(answer: Given, out: ArrayKind) -> Given:
    """Return an answer that gives its numbers in arrays of a kind."""
    if not isinstance(answer, Answer) or answer.out == out:
        return answer
    if isinstance(answer, Products):
        answer = replace(answer, answers=tuple(replace(one, out=out) for one in answer.answers))
    return replace(answer, out=out)


# -- values


def is_tensor(value: object) -> bool:
    """Tell whether a value is a tensor of torch, which is not imported for that."""
    return any(kind.__module__ == "torch" and kind.__name__ == "Tensor" for kind in type(value).__mro__)


def as_range(ends: object) -> str:
    """Write a range as the language has it.

    Raises:
        InputError: It is neither a text nor two ends.

    >>> as_range((0, 1)), as_range(((0, 0), [1, 2])), as_range("0..pi")
    ('0..1', '[0.0,0.0]..[1.0,2.0]', '0..pi')
    """
    if isinstance(ends, str):
        return ends
    if isinstance(ends, tuple | list) and len(ends) == 2:
        return "..".join(map(_end, ends))
    message = f"a range is a text or its two ends, and not {in_words(ends)}"
    raise InputError(message, hint=f"write {option('in', 'x=0..1')}, or (0, 1)")


def _end(end: object) -> str:
    """Write an end of a range."""
    if isinstance(end, str):
        return end
    from gradcli.language.foreign import NoNumbersError, numbers

    try:
        return str(end if _is_plain(end) else numbers(end).tolist()).replace(" ", "")
    except NoNumbersError as error:
        raise InputError(f"the end {in_words(end)} of a range is no number: {error}", hint=error.hint) from None


def _is_plain(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _values(at: object) -> Sequence[object]:
    return tuple(at.values()) if isinstance(at, Mapping) else (at,)


def _with_values(at: object, named: Mapping[str, object]) -> dict[str, object]:
    """Add values by name to those of `at`.

    Raises:
        ArgumentError: One is there already.
    """
    known: dict[Given, object] = dict(at) if isinstance(at, Mapping) else {} if at is None else {_NAMELESS: at}
    if both := next((name for name in named if name in known), None):
        raise ArgumentError(f"'{both}' is given two values", hint="give it once")
    return {**known, **named}


# -- options


def in_words(value: object) -> str:
    """Write a value in a message: a short one as it is, any other by its type."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else ""
    return text if 0 < len(text) <= 40 else f"a value of type {type(value).__name__}"


def _inputs(name: str, value: object) -> object:
    if isinstance(value, Mapping):
        return _by_variable(name, value)
    return value


def _by_variable(name: str, value: object) -> dict[str, Given]:
    """Return what is given by variable; what is given without one is for the only variable.

    Raises:
        InputError: A name is no text.
    """
    given: Mapping[Given, Given] = value if isinstance(value, Mapping) else {_NAMELESS: value}
    for key in given:
        if not isinstance(key, str):
            word = "box" if name == "box" else name
            message = f"{option('in' if word == 'box' else word)} has {in_words(key)} for the name of a variable"
            raise InputError(message, hint="names are texts")
    return dict(given)


def _texts(name: str, value: object) -> dict[str, str]:
    found = _by_variable(name, value)
    for one in found.values():
        if not isinstance(one, str):
            raise InputError(f"{option(name)} has texts, and not {in_words(one)}")
    return found


def _claims(name: str, value: object) -> dict[str, object]:
    """Read claims: texts, numbers that are constant, and functions that state derivatives."""
    found = _by_variable(name, value)
    for variable, one in found.items():
        text = str(one) if _is_plain(one) else getattr(one, "expression", one)
        if not hasattr(one, "stated"):
            if not isinstance(text, str):
                hint = f"write {option('claim', '2*x')}; numbers are compared by {option('expect')}"
                raise InputError(f"{option(name)} is a formula, and not {in_words(one)}", hint=hint)
            found[variable] = text
    return found


def _names(name: str, value: object) -> list[str] | tuple[str, ...]:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    if not isinstance(value, Sequence | set | frozenset) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{option(name)} is a list of names, and not {in_words(value)}")
    return sorted(value) if isinstance(value, set | frozenset) else list(value)


def _several(name: str, value: object) -> Sequence[object]:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise InputError(f"{option(name)} is a list of values, and not {in_words(value)}")
    return list(value)


def _switch(name: str, value: object) -> bool:
    if isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{option(name)} is True or False, and not {in_words(value)}")


def _number(name: str, value: object) -> float:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or abs(float(cast(float, value))) == float("inf"):
        raise InputError(f"{option(name)} is a number, and not {in_words(value)}")
    return float(cast(float, value))


def _whole(name: str, value: object) -> int:
    is_whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    if not is_whole or isinstance(value, bool):
        raise InputError(f"{option(name)} is a whole number, and not {in_words(value)}")
    return int(cast(int, value))


def _order(name: str, value: object) -> int:
    if (found := _whole(name, value)) not in (1, 2):
        raise InputError(f"{option(name)} is 1 or 2, and not {found}")
    return found


def _text(name: str, value: object) -> str:
    text = getattr(value, "expression", value)  # of a function of a text
    if not isinstance(text, str):
        raise InputError(f"{option(name)} is a text, and not {in_words(value)}")
    return text


def _device(name: str, value: object) -> str:
    if not isinstance(value, str) and type(value).__module__ != "torch":
        raise InputError(f"{option(name)} is a name, and not {in_words(value)}", hint=option(name, "cpu"))
    return str(value)


def _choices(annotation: str, names: Mapping[str, object]) -> tuple[str, ...]:
    """List the words of a parameter that takes one of several."""
    room, _, last = annotation.removesuffix(" | None").rpartition(".")
    kind = getattr(names.get(room), last, None) if room else names.get(last, Dtype if last == "Dtype" else None)
    words = get_args(kind)
    return words if words and all(isinstance(word, str) for word in words) else ()


def _choice(name: str, value: object, words: Sequence[str]) -> str:
    """Read one of several words; a dtype may be one of torch or NumPy too.

    Raises:
        InputError: It is none of them.
    """
    word = _dtype(value) if name == "dtype" else value if isinstance(value, str) else ""
    if word in words:
        return word
    if name == "dtype":
        raise InputError(f"unknown dtype {in_words(word or value)}", hint=f"use {' or '.join(words)}")
    hint = did_you_mean(word, words) or option(name, words[0])
    raise InputError(f"{option(name)} is one of {', '.join(words)}, and not {in_words(value)}", hint=hint)


def _dtype(value: object) -> str:
    """Name a dtype of torch, of NumPy, or of Python; "" for what is none."""
    if type(value).__module__ == "torch":
        return str(value).removeprefix("torch.")
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic | float)):
        return np.dtype(value).name
    return value if isinstance(value, str) else ""


_Reader = Callable[[str, object], object]

_READERS: Mapping[str, _Reader] = {
    "Inputs | None": _inputs,
    "Directions": _inputs,
    "Mapping[str, Value] | None": _by_variable,
    "Mapping[str, str] | None": _texts,
    "Mapping[str, str | StatedFunction] | None": _claims,
    "Sequence[Value]": _several,
    "Sequence[str] | None": _names,
    "Sequence[str]": _names,
    "Sequence[results.Allowed]": _names,
    "Device | None": _device,
    "bool": _switch,
    "float | None": _number,
    "int | None": _whole,
    "int": _whole,
    "Literal[1, 2]": _order,
    "str | None": _text,
    "str": _text,
}
"""Readers of options by the annotations of their parameters, of the name and the value."""
