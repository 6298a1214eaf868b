"""Which `autograd.Function` gives wrong gradients, and the likeliest mistake in its `backward`.

Each is asked alone: what its `backward` gives is laid beside the derivative of its own `forward`, at the point where it
was applied and at others, each with a gradient vector of its own.  A mistake is named only if it explains all of them.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import value, vjp
from gradcli.autodiff.run import Tensor, array_of, run
from gradcli.errors import GradcliError
from gradcli.recording.calling import Signature, signature
from gradcli.recording.values import Application
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.recording.recorded import Call, Recorded

MOST_APPLICATIONS = 8
"""Applications that are asked alone, each class once before any of them twice."""

MOST_ELEMENTS = 100_000
"""Elements of what one is applied to."""

SCALES = (1.0, 1.0, 1.0, -1.0, 10.0, -10.0, 1e-3, 1e3, -1e3)
"""What the point is multiplied by, with a little noise for all but the first."""

CLOSE = {"float64": 1e-7, "float32": 1e-3}
"""Relative difference of gradients that are the same."""

HALVES = 20
"""Steps by which the place is found where a gradient begins to be wrong."""

SEED = 0


@dataclass(frozen=True)
class Fault:
    """A wrong `backward`.

    Attributes:
        called: The class, and the line of its `backward`.
        words: What is wrong.
        is_here: Whether it is wrong at the point where it was applied, and not only elsewhere.
    """

    called: str
    words: str
    is_here: bool

    def __str__(self) -> str:
        return f"{self.called} {self.words}"


@dataclass(frozen=True)
class _Look:
    """One point with one v: the arguments, what `backward` gives by each, and what is true."""

    arrays: Mapping[str, Array]
    v: Array
    found: Mapping[str, Array]
    truth: Mapping[str, Array]
    plain: Mapping[str, Array]
    """The truth with v = 1."""

    y: Array


def faults(recorded: Recorded) -> list[Fault]:
    """The custom functions of a recording whose gradients are wrong, each class once."""
    found: dict[type, Fault] = {}
    applications = recorded.recorder.places.applications
    first = {application.function: application for application in reversed(applications)}
    for application in [*first.values(), *applications][:MOST_APPLICATIONS]:
        if application.function not in found:
            fault = _fault(recorded, application)
            if fault is not None:
                found[application.function] = fault
    return list(found.values())


def _fault(recorded: Recorded, application: Application) -> Fault | None:
    try:
        call, whole = _alone(recorded, application)
    except GradcliError:
        return None
    names = [name for name in call.taken.tensors if name not in whole]
    if sum(call.given[name].size for name in names) > MOST_ELEMENTS:
        return None
    looks = list(_looks(call, names))
    for name in names:
        wrong = [not _is_close(look.found[name], look.truth[name], call.dtype) for look in looks]
        if any(wrong):
            words = _words(call, name, names, looks, wrong)
            return Fault(_called(application.function), words, wrong[0])
    return None


def _called(function: Any) -> str:
    code = getattr(function.backward, "__code__", None)
    where = f" ({PurePath(code.co_filename).name}, line {code.co_firstlineno})" if code is not None else ""
    return f"{function.__name__}.backward{where}"


def _alone(recorded: Recorded, application: Application) -> tuple[Call, frozenset[str]]:
    """The function with the arguments that it was applied to; those that are no tensors stay as they were."""
    custom: Any = application.function
    names = list(signature(custom.apply, custom.__name__).order)
    tensors: dict[str, Tensor] = {}
    fixed: dict[str, Any] = {}
    for name, given in zip(names, application.arguments, strict=False):
        if isinstance(given, torch.Tensor):
            tensors[name] = given
        else:
            fixed[name] = given

    def applied(**given: Tensor) -> Any:
        return custom.apply(*({**fixed, **given}[name] for name in names[: len(application.arguments)]))

    kind = inspect.Parameter.KEYWORD_ONLY
    applied.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in tensors])  # type: ignore[attr-defined]
    whole = frozenset(name for name, tensor in tensors.items() if not tensor.is_floating_point())
    given = {name: array_of(tensor) for name, tensor in tensors.items()}
    taken = Signature(tuple(tensors), keyword_only=frozenset(tensors), order=tuple(tensors))
    return recorded.call.of(applied, custom.__name__, taken, given, whole), whole


def _looks(call: Call, names: Sequence[str]) -> Iterator[_Look]:
    """The custom function at its point and at others, where it has values."""
    generator = np.random.default_rng(SEED)
    for n, scale in enumerate(SCALES):
        point = dict(call.given)
        for name in names if n else ():
            shape = point[name].shape
            spread = np.where(point[name] == 0, generator.uniform(-1, 1, size=shape), point[name])
            point[name] = np.asarray(spread * generator.uniform(0.7, 1.3, size=shape) * scale, point[name].dtype)
        look = _look(call, point, names, generator)
        if look is not None:
            yield look


def _look(call: Call, point: Mapping[str, Array], names: Sequence[str], generator: np.random.Generator) -> _Look | None:
    """The custom function at one point; None where it has no finite derivative."""
    try:
        made = call.at(point).recorded()
        arrays = {name: made.arrays.get(name, point[name]) for name in point}
        forward = made.forward(arrays, names)
        y = value(forward)
        v = generator.uniform(0.5, 1.5, size=y.shape).astype(y.dtype)
        own = vjp(forward, v, tuple(names))
        inside = tuple(name for name in names if name in made.program.names)
        replay = run(made.program, made.arrays, inside, call.dtype)
        truth, plain = (vjp(replay, w, inside) for w in (v, np.ones_like(v)))
    except GradcliError:
        return None
    full = {name: truth.get(name, np.zeros_like(point[name])) for name in names}
    ones = {name: plain.get(name, np.zeros_like(point[name])) for name in names}
    is_finite = all(np.isfinite(array).all() for array in full.values())
    return _Look(arrays, v, own, full, ones, y) if is_finite else None


def _is_close(a: Array, b: Array, dtype: str) -> bool:
    scale = max(float(np.max(np.abs(b), initial=0)), np.finfo(np.float64).tiny)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= CLOSE[dtype] * scale))


# -- the likeliest mistake


def _words(call: Call, name: str, names: Sequence[str], looks: Sequence[_Look], wrong: Sequence[bool]) -> str:
    """What is wrong with the gradient by one argument."""
    dtype = call.dtype
    bad = [look for look, is_wrong in zip(looks, wrong, strict=True) if is_wrong]
    of = f"for {name}" if len(names) > 1 else ""
    ratio = next(_ratios(name, bad, dtype), "")
    others = [
        other for other in names if other != name and _all(bad, name, lambda k, other=other: k.truth[other], dtype)
    ]
    if not any(look.found[name].any() for look in bad):
        said = f"gives 0 {of}"
    elif ratio:
        said = f"gives {ratio} {of}"
    elif others:
        said = f"gives for {name} the gradient of {others[0]}"
    elif _all(bad, name, lambda k: k.plain[name], dtype):
        said = f"does not use the gradient that it is given {of}"
    elif all(look.truth[name].ndim == 2 for look in bad) and _all(bad, name, lambda k: k.truth[name].T, dtype):
        said = f"gives the transpose {of}"
    else:
        said = f"is wrong {of}"
    return f"{said.strip()}{_region(call, name, names, looks)}"


def _all(looks: Sequence[_Look], name: str, of: Any, dtype: str) -> bool:
    return all(_is_close(look.found[name], of(look), dtype) for look in looks)


def _ratios(name: str, looks: Sequence[_Look], dtype: str) -> Iterator[str]:
    """By what factor it is off: a number, or an argument or the value, element by element."""
    largest = max(looks, key=lambda look: float(np.max(np.abs(look.truth[name]), initial=0)))
    truth, found = largest.truth[name].ravel(), largest.found[name].ravel()
    if truth.size and truth[np.argmax(np.abs(truth))]:
        k = int(np.argmax(np.abs(truth)))
        factor = float(f"{found[k] / truth[k]:.6g}")
        if factor and _all(looks, name, lambda look: factor * look.truth[name], dtype):
            yield "the negative of the gradient" if factor == -1 else f"{factor:g} times the gradient"
    shapes = {look.truth[name].shape for look in looks}
    others: list[tuple[str, Any]] = [(other, lambda look, other=other: look.arrays[other]) for other in looks[0].arrays]
    others += [("its own value", lambda look: look.y)]
    for (called, factor_of), power in itertools.product(others, (1, -1, 2, -2)):
        if any(factor_of(look).shape not in (shape, ()) for look in looks for shape in shapes):
            continue
        with np.errstate(all="ignore"):
            scaled = [np.nan_to_num(look.truth[name] * factor_of(look) ** float(power)) for look in looks]
        if all(_is_close(look.found[name], one, dtype) for look, one in zip(looks, scaled, strict=True)):
            shown = f"{called}{'²' if abs(power) == 2 else ''}"
            yield f"the gradient times {shown}" if power > 0 else f"the gradient without its factor {shown}"


def _region(call: Call, name: str, names: Sequence[str], looks: Sequence[_Look]) -> str:
    """Where it is wrong only, if the elements tell: `, only where x is large`."""
    pairs = [pair for look in looks for pair in _told(look, name, call.dtype)]
    right, wrong = ([x for x, is_right in pairs if is_right is wanted] for wanted in (True, False))
    if not right or not wrong:
        return ""
    for sign, what in ((1, "large"), (-1, "small")):  # right up to somewhere, and wrong from there on
        last, first = max(sign * x for x in right), min(sign * x for x in wrong)
        if last < first:
            last, first = _narrowed(call, name, names, sign, last, first)
            about = "about " * (f"{last:.4g}" != f"{first:.4g}")
            return f", only where {name} is {what}: from {about}{sign * first:.4g} on"
    return f", at {len(wrong)} of {len(pairs)} elements that were tried"


def _told(look: _Look, name: str, dtype: str) -> list[tuple[float, bool]]:
    """Elements of an argument, and whether the gradient by each is right; those whose gradient is 0 tell nothing."""
    x, truth, found = look.arrays[name], look.truth[name], look.found[name]
    is_right = np.abs(found - truth) <= 10 * CLOSE[dtype] * np.abs(truth)
    tells = (truth != 0) | (found != 0)
    return list(zip(x[tells].tolist(), is_right[tells].tolist(), strict=True))


def _narrowed(
    call: Call, name: str, names: Sequence[str], sign: int, right: float, wrong: float
) -> tuple[float, float]:
    """The ends of what is right and what is wrong, brought nearer by halves, with all elements of one value."""
    generator = np.random.default_rng(SEED)
    for _ in range(HALVES):
        middle = (right + wrong) / 2
        look = _look(call, {**call.given, name: np.full_like(call.given[name], sign * middle)}, names, generator)
        told = [] if look is None else _told(look, name, call.dtype)
        if not told:
            break
        right, wrong = (middle, wrong) if all(is_right for _, is_right in told) else (right, middle)
    return right, wrong
