"""Find the `autograd.Function` that gives wrong gradients, and where it does; say which points were tried.

Each is tried by itself, in variants of its application.  A function that is wrong by itself may be meant so, as one
that doubles the gradient of `x` next to `x.detach()`: where all of the code, moved a little, has torch's slope, and not
that of its recording, no part of it is blamed.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import array_of, run
from gradcli.errors import GradcliError
from gradcli.parts.running.backward_hooks import changing_hooks
from gradcli.parts.running.calling import Called, custom_of
from gradcli.parts.running.custom_functions import CustomFunction, VariantResult, alone
from gradcli.parts.running.faults import AS_GIVEN, OPPOSITE, tried, words
from gradcli.parts.running.forward_refusals import is_tried, place_of
from gradcli.parts.running.function_modes import ForwardModeOfFunction, SecondOrderOfFunction
from gradcli.parts.running.measured_slopes import SEED, slope_of_sum
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.parts.running.variants import variants
from gradcli.parts.running.vmap_of_functions import BatchedBackwardOfFunction, VmapRuleOfFunction
from gradcli.progress import budget_factor
from gradcli.recording.aten_calls import Application
from gradcli.results import Array, Mode

MOST_FUNCTIONS = 8
"""Most functions that are tried by themselves."""

TRIAL_SECONDS = 1.0
"""Seconds of processor time for the variants of all custom functions of a recording, in equal parts."""

WORDS_VARIANTS = 128
"""Most variants that are tried to find the words for a fault."""

WORDS_SECONDS = 10.0
"""Seconds of processor time in which they are tried: few functions take longer, and the words for them say less."""


@dataclass(frozen=True)
class Trial:
    """Result of trying a `backward`.

    Attributes:
        tried: The points and variants tried besides the application itself, as a sentence, with the place.
        fault: The fault, as a sentence, with the class and the line of its `backward`; empty if there is none.
        is_here: Whether it is wrong where it was applied, and not only elsewhere.
        is_measured: Whether its forward, moved a little, tells so, as its recording does not follow it.
        meant: The function whose derivative its backward may be meant to be, as a text of Python: `g` where none is
            known; empty where a mistake explains it.
    """

    tried: str
    fault: str
    is_here: bool
    is_measured: bool = False
    meant: str = ""


_TRIED: Mapping[Mode | Literal[""], tuple[type[CustomFunction], ...]] = {
    "": (CustomFunction,),
    "forward mode": (ForwardModeOfFunction,),
    "second order": (SecondOrderOfFunction,),
    "batched": (BatchedBackwardOfFunction, VmapRuleOfFunction),
}
"""What of a custom function is tried, by mode of differentiation."""


def trials(recorded: RecordedFunction, mode: Mode | Literal[""] = "") -> list[Trial]:
    """Try each custom function of a recording by itself, where it is first applied.

    Args:
        recorded: The recording.
        mode: The mode of differentiation, if not the usual one.
    """
    first = {application.function: application for application in reversed(recorded.applications)}
    few = [*itertools.islice(reversed(first.items()), MOST_FUNCTIONS)]
    asked = [(one, kind) for kind in _TRIED[mode] for function, one in few if is_tried(function, kind.method)]
    end, found = time.thread_time() + TRIAL_SECONDS * budget_factor(), []
    with (
        warnings.catch_warnings(action="ignore"),  # a variant may be of no use to the function, which may say so
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        for n, (one, kind) in enumerate(asked):
            now = time.thread_time()
            found.append(_trial(recorded, one, kind, now + (end - now) / (len(asked) - n)))
    if mode == "batched":
        without = (place_of(function, "forward") for function, _ in few if not is_tried(function, "vmap"))
        found += [
            Trial(f"{one} has no vmap rule: torch.vmap over its arguments refuses it", "", False) for one in without
        ]
    return [trial for trial in found if trial is not None]


def _trial(
    recorded: RecordedFunction, application: Application, kind: type[CustomFunction], end: float
) -> Trial | None:
    """Try the variants of one application until the time ends; None if it cannot be tried by itself."""
    results: list[VariantResult] = []
    try:
        custom = alone(recorded, application, kind)
    except GradcliError:
        return None
    with custom.call.surroundings.shared():
        for variant in variants(custom.arguments):
            if (result := custom.try_variant(variant)) is not None:
                results.append(result)
                custom.end = end  # the application itself is looked at in any case
    results = custom.believed(results)
    name = next((name for result in results for name in custom.names if name in result.wrong), "")
    called = place_of(application.function, kind.method)
    said = f"{called} was tried {tried(custom, results)}" * kind.says_tried
    if not name:
        return Trial(said, "", is_here=False)
    is_here = any(name in result.wrong for result in results[:1] if result.variant.arrays is custom.arguments.values)
    custom.end, custom.most_variants = time.thread_time() + WORDS_SECONDS * budget_factor(), WORDS_VARIANTS
    fault = f"{called} {custom.worded(words(custom, name, results))}"
    if is_here and kind is CustomFunction and _is_meant(recorded):
        whole = f"{recorded.call.called} as a whole, moved a little, has the slope that torch gives it"
        return Trial(
            f"{said}; next to its forward alone it {fault.removeprefix(f'{called} ')}, but {whole}", "", is_here=False
        )
    return Trial(said, fault, is_here, is_measured=not custom.is_fully_recorded, meant=_meant(custom, fault))


def _is_meant(recorded: RecordedFunction) -> bool:
    """Tell whether all of a function, moved by its arguments, has torch's slope, and not that of its recording."""
    call, names = recorded.call, tuple(name for name in recorded.program.names if name not in recorded.constants)
    names = tuple(name for name in names if name not in call.whole)
    if recorded.ran is not None or not names:
        return False
    arrays, v = recorded.arrays, np.random.default_rng(SEED).normal(size=recorded.value.shape)

    def values(moved: Mapping[str, Array]) -> Array:
        return array_of(recorded.forward({**arrays, **moved}, ()).output)

    try:
        forwards = recorded.forward(arrays, names), run(recorded.program, arrays, names, call.dtype)
        found = [vjp(forward, v, names) for forward in forwards]
    except GradcliError:
        return False
    here, digits = {name: arrays[name] for name in names}, float(np.finfo(call.dtype).eps)
    return slope_of_sum(values, here, recorded.value, v, found, digits).kind == "first"


def blamed(
    recorded: RecordedFunction, found: Sequence[Trial], wrt: Sequence[str], mode: Mode | Literal[""] = ""
) -> str:
    """Say which code of the user's makes a gradient wrong here: a custom function, else a hook; empty if none does."""
    before = recorded.blamed(wrt) if mode in ("second order", "batched") else ""  # which is wrong once, is so twice
    if before:
        return before
    if faults := [one.fault for one in found if one.is_here]:
        return "; ".join(faults)
    hooks = changing_hooks(recorded, wrt) if mode != "forward mode" else []
    return f"the hook{'s' * (len(hooks) > 1)} {', '.join(hooks)} changed the gradient" if hooks else ""


def _meant(custom: CustomFunction, fault: str) -> str:
    """Name the function whose derivative a backward may be meant to be, by the words on what is wrong with it."""
    _, _, mistake = fault.partition(": ")
    if len(custom.names) == 1 and mistake.removesuffix(OPPOSITE).endswith(AS_GIVEN):
        return "lambda x: -x" if mistake.endswith(OPPOSITE) else "lambda x: x"
    return "g" if not mistake or AS_GIVEN in mistake else ""


def said_if_meant(function: Called, found: Sequence[Trial]) -> list[str]:
    """Say how a backward that is meant to be that of another function is checked, where one is wrong by itself.

    Args:
        function: The function that is checked.
        found: What was found of the custom functions in it.
    """
    wrong = [one.meant for one in found if one.fault and one.meant]
    if not wrong:
        return []
    g = "g" if custom_of(function) is None else wrong[0]
    of = "another function g" if g == "g" else "the identity" if "-" not in g else "another function"
    meant = "if it is meant to be another gradient, as in a straight-through estimator"
    return [f"{meant}, compare it with that of {of}, from Python: gradcli.check(f, x, backward_of={g})"]
