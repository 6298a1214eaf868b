"""Find the `autograd.Function` that gives wrong gradients, and where it does; say which points were tried.

Each is asked alone: the result of its `backward` is compared with the derivative of its own `forward`.  Mistakes hide
where nobody looks, so each look differs from the application in one thing: the values, the gradient vector v, or the
inputs that need a gradient.  Values that the forward refuses are passed over.  A difference is wrong only if the
enclosure of the truth says so too: at a kink the backward may follow a convention, and a forward may lose digits that
its backward keeps.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import gradients, vjp
from gradcli.autodiff.run import Tensor, array_of, derivative_of, run, tensor_of
from gradcli.crosscheck.judge import judge
from gradcli.crosscheck.point import Point, Torch
from gradcli.errors import GradcliError, TooLargeError
from gradcli.language.program.shapes import infer
from gradcli.progress import patience
from gradcli.recording.aten_calls import Application
from gradcli.recording.pass_recorder import record
from gradcli.recording.user_files import line_of_file
from gradcli.results import Array
from gradcli.running.calling import Signature, signature
from gradcli.running.cuts import is_close, largest
from gradcli.running.targets import guarded

if TYPE_CHECKING:
    from gradcli.running.recorded import FunctionCall, Recorded

MOST_FUNCTIONS = 8
"""Most functions that are asked alone."""

MOST_ELEMENTS = 100_000
"""Most elements of the arguments of one function."""

SECONDS = 1.0
"""Seconds of processor time, for the looks at all custom functions of a recording."""

SCALES = (1.0, 10.0, 1e3, 1e5, 1e8, 1e-3, 1e-6, 1e-8)
"""Factors of the values, each also with a minus, and with a little noise."""

CLOSE = {"float64": 1e-8, "float32": 1e-3}
"""Largest relative difference of gradients that count as the same."""

ROUNDINGS = 2**12
"""Largest error of a gradient relative to v and y/x, in units of the dtype, as a backward may compute from y."""

HALVES = 20
"""Steps of bisection to find the place where a gradient begins to be wrong."""

SEED = 0


@dataclass(frozen=True)
class Trial:
    """Result of trying a `backward`.

    Attributes:
        tried: The points and variants tried besides the application itself, as a sentence, with the place.
        fault: The fault, as a sentence, with the class and the line of its `backward`; empty if there is none.
        is_here: Whether it is wrong where it was applied, and not only elsewhere.
    """

    tried: str
    fault: str
    is_here: bool


def trials(recorded: Recorded) -> list[Trial]:
    """Ask the custom functions of a recording alone, each where it is first applied."""
    end = time.thread_time() + SECONDS * patience()
    first = {application.function: application for application in reversed(recorded.applications)}
    found = (_trial(recorded, one, end) for one in reversed(first.values()))
    return [trial for trial in itertools.islice(found, MOST_FUNCTIONS) if trial is not None]


def _trial(recorded: Recorded, application: Application, end: float) -> Trial | None:
    """Look at one application until the time ends; None if it cannot be asked alone, or not judged."""
    looks: list[_Look] = []
    try:
        custom = _alone(recorded, application)
        if custom.recorded(custom.call.given).doubt:
            return None
    except GradcliError:
        return None
    for variant in _variants(custom):
        if time.thread_time() > end:
            break
        if (look := custom.look(variant)) is not None:
            looks.append(look)
    name = next((name for look in looks for name in custom.names if name in look.wrong), "")
    code = getattr(application.function.backward, "__code__", None)  # type: ignore[attr-defined]
    line = f" ({line_of_file(code.co_filename, code.co_firstlineno)})" if code else ""
    called = f"{application.function.__name__}.backward{line}"
    fault = f"{called} {_words(custom, name, looks)}" if name else ""
    is_here = any(name in look.wrong for look in looks[:1] if look.variant.arrays is custom.call.given)
    return Trial(f"{called} was tried {_tried(custom, [look.variant for look in looks])}", fault, is_here)


def _tried(custom: _Custom, variants: Sequence[_Variant]) -> str:
    """Say which points and variants were tried."""
    points = [one.arrays for one in variants if one.arrays is not custom.call.given]
    sizes = np.concatenate([[], *(np.abs(point[name]).ravel() for point in points for name in custom.names)])
    ends = f" of sizes {sizes[sizes > 0].min():.0e} to {sizes.max():.0e}" if sizes.any() else ""
    tried = dict.fromkeys(one.tried for one in variants if one.tried)
    return f"at {len(points)} other points{ends}, with {', '.join(tried)}"


# -- asking


@dataclass(frozen=True)
class _Variant:
    """Variant of an application to look at: the values of the arguments, and the one thing that differs.

    `tried` names the difference in the remark, and `where` after the fault; `v` makes the gradient vector from random
    numbers, and `wrt` are the arguments that need a gradient, all if empty.
    """

    arrays: Mapping[str, Array]
    tried: str = ""
    where: str = ""
    v: Callable[[Tensor], Tensor] = torch.clone
    wrt: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Look:
    """Result of a look: the gradients by `backward`, the true ones, and the arguments by which they are wrong.

    `error` is a fault besides wrong numbers: `backward` fails, or changes v.
    """

    variant: _Variant
    found: Mapping[str, Array]
    truth: Mapping[str, Array]
    error: str
    wrong: Set[str]


@dataclass
class _Custom:
    """Application of an `autograd.Function`, asked alone; arguments that are no tensors stay as they were."""

    call: FunctionCall
    given: Mapping[str, Any]
    names: tuple[str, ...]
    """Arguments to differentiate by."""

    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))
    _made: Recorded | None = None

    def look(self, variant: _Variant) -> _Look | None:
        """Ask once; None where the function has no value or no finite derivative, or cannot be recorded."""
        names, dtype = variant.wrt or self.names, self.call.dtype
        try:
            made = self.recorded(variant.arrays)
            arrays = {**made.arrays, **variant.arrays}
            forward = made.forward(arrays, names)
            inside = tuple(name for name in self.names if name in made.program.names)
            replay = run(made.program, arrays, inside, dtype)
            y = array_of(replay.output)
            weights = variant.v(tensor_of(self.generator.normal(size=y.shape), forward.output.dtype))
            v = array_of(weights)
            truth = {name: np.zeros_like(arrays[name]) for name in self.names} | vjp(replay, v, inside)
        except GradcliError:
            return None
        is_finite = all(np.isfinite(one).all() for one in (*truth.values(), y))
        if not (is_finite and is_close(array_of(forward.output), y, _digits(y, dtype))):
            return None
        try:
            with guarded("its backward runs"):
                own = gradients(forward.output, [forward.leaves[name] for name in names], weights)
            found, error = dict(zip(names, map(derivative_of, own), strict=True)), ""
        except GradcliError as raised:
            found, error = truth, f"fails: {raised.message}"
        if not np.array_equal(array_of(weights), v):
            error = "changes the gradient vector that it is given"
        unit = ROUNDINGS * float(np.finfo(dtype).eps) * largest(v) * largest(y)
        rooms = {n: unit / max(1.0, largest(arrays[n])) + _digits(truth[n], dtype) for n in names}
        wrong = {n for n in names if error or not is_close(found[n], truth[n], rooms[n])}
        if wrong and not error:
            wrong -= {*inside} - _contradicted(made, arrays, Torch(dtype, y, None, v, found))
        return _Look(variant, found, truth, error, wrong)

    def near(self, name: str, scale: float) -> Array:
        """Draw values near a multiple of an argument's values; where these are 0, any."""
        array = self.call.given[name]
        spread = np.where(array == 0, self.generator.uniform(-1, 1, size=array.shape), array) * scale
        return np.asarray(spread * self.generator.uniform(0.7, 1.3, size=spread.shape), array.dtype)

    def recorded(self, arrays: Mapping[str, Array]) -> Recorded:
        """Record it once, or at each point if values decide the text.

        Raises:
            InputError: It cannot be.
        """
        if self._made is None or self._made.is_of_point:
            self._made = replace(self.call, function=self._applied, given=arrays).recorded()
        return self._made

    def _applied(self, **given: Tensor) -> Any:
        copies = {name: tensor.clone() for name, tensor in given.items()}  # as a forward may write to its arguments
        return self.call.function(*{**self.given, **copies}.values())


def _alone(recorded: Recorded, application: Application) -> _Custom:
    """Take a function and its arguments out of a recording.

    Raises:
        GradcliError: Its parameters cannot be known, or it was applied to too much.
    """
    function: Any = application.function
    given = dict(
        zip(signature(function.apply, "", len(application.arguments)).kinds, application.arguments, strict=False)
    )
    tensors = {name: one for name, one in given.items() if isinstance(one, torch.Tensor)}
    names = tuple(name for name, tensor in tensors.items() if tensor.is_floating_point())
    if sum(tensors[name].numel() for name in names) > MOST_ELEMENTS:
        raise TooLargeError("a custom function is applied to too much to be asked alone")
    taken = Signature(dict.fromkeys(tensors), keyword_only=frozenset(tensors))
    arrays, whole = {name: array_of(one) for name, one in tensors.items()}, frozenset(tensors) - set(names)
    call = replace(recorded.call, function=function.apply, taken=taken, given=arrays, whole=whole)
    return _Custom(call, given, names)


def _contradicted(made: Recorded, arrays: Mapping[str, Array], numbers: Torch) -> set[str | None]:
    """Name the arguments by which the enclosure of the truth says that a gradient is wrong."""
    program, names = made.program, tuple(name for name in numbers.vjp or () if name in made.program.names)
    if any(made.boundaries(names)):
        return set()
    shapes = infer(program, {symbol: arrays[str(symbol)].shape for symbol in program.variables})
    point = Point.from_inputs(program, shapes, {name: arrays[name] for name in program.names}, record)
    entries = judge(point, numbers, names).entries
    return {entry.variable for entry in entries if entry.verdict in ("disagree", "nan-trap")}


def _digits(array: Array, dtype: str) -> float:
    """Give the largest difference that counts as none, relative to the largest number."""
    return CLOSE[dtype] * max(largest(array), float(np.finfo(np.float64).tiny))


# -- variants


def _variants(custom: _Custom) -> Iterator[_Variant]:
    """Give all variants to look at, the application itself first."""
    given, names = custom.call.given, custom.names
    yield from (replace(one, arrays=given) for one in _AT_THE_POINT)
    for few in (*itertools.combinations(names, 1), *itertools.combinations(names, max(2, len(names) - 1))):
        if len(few) < len(names):
            yield _Variant(given, "some inputs alone", f"with requires_grad of {' and '.join(few)} alone", wrt=few)
    for moved in dict.fromkeys((names, *itertools.combinations(names, 1))):
        for scale, sign in itertools.product(SCALES, (1, -1)):
            yield _Variant({**given, **{name: custom.near(name, sign * scale) for name in moved}})
        for value, tried, where in _EQUAL:
            yield _Variant({**given, **{name: np.full_like(given[name], value) for name in moved}}, tried, where)


_AT_THE_POINT = (
    _Variant({}),
    _Variant({}, "v of each sign", "where v is positive", torch.abs),
    _Variant({}, "v of each sign", "where v is negative", lambda v: -v.abs()),
    _Variant({}, "large v", "where v is large", lambda v: 1e4 * v),
    _Variant({}, "v as sum() gives it", "where v is one number, stretched", lambda v: v.new_ones(()).expand_as(v)),
)
"""Variants with the values that the function was applied to."""

_EQUAL = ((0.0, "±0", ""), (-0.0, "±0", ""), (0.7, "equal elements", "where elements are equal"))
"""Values given to all elements, each with `tried` and `where` of its variant."""


# -- faults, and their places


def _words(custom: _Custom, name: str, looks: Sequence[_Look]) -> str:
    """Say what is wrong with the gradient by one argument, and where."""
    failing = [look for look in looks if name in look.wrong]
    where = failing[0].variant.where
    said = failing[0].error or "is wrong" + f" for {name}" * (len(custom.names) > 1)
    only = "only " * all(look.variant.where == where for look in failing)
    return said + (f", {only}{where}" if where else _region(custom, name, looks))


def _region(custom: _Custom, name: str, looks: Sequence[_Look]) -> str:
    """Say where it is wrong only, if the elements tell: `, only where x is large`."""
    given, dtype = custom.call.given, custom.call.dtype
    told = [_told(look, name, dtype) for look in looks if not look.variant.where]
    x, is_right = (np.concatenate(parts) for parts in zip(*told, strict=True))
    if is_right.all() or not is_right.any():
        return ""
    for words, sign, size in (("large", 1, x), ("small", -1, x), ("far from 0", 1, abs(x)), ("near 0", -1, abs(x))):
        right, wrong = float((sign * size)[is_right].max()), float((sign * size)[~is_right].min())
        for _ in range(HALVES) if right < wrong else ():  # the ends are brought nearer, with all elements of one value
            middle = (right + wrong) / 2
            look = custom.look(_Variant({**given, name: np.full_like(given[name], sign * middle)}))
            tells = np.array([]) if look is None else _told(look, name, dtype)[1]
            if not tells.size:
                break
            right, wrong = (middle, wrong) if tells.all() else (right, middle)
        if right < wrong:
            about = "about " * (f"{right:.4g}" != f"{wrong:.4g}")
            return f", only where {name} is {words}: from {about}{sign * wrong:.4g} on"
    return f", at {np.sum(~is_right)} of {x.size} elements that were tried, such as {name} = {x[~is_right][0]:.4g}"


def _told(look: _Look, name: str, dtype: str) -> tuple[Array, Array]:
    """Give elements of an argument, and whether the gradient by each is right; where it is 0 they tell nothing."""
    x, truth, found = look.variant.arrays[name], look.truth[name], look.found[name]
    is_right = (np.abs(found - truth) <= 10 * CLOSE[dtype] * np.abs(truth)) | (name not in look.wrong)
    tells = (truth != 0) | (found != 0)
    return x[tells], is_right[tells]
