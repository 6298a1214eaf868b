"""A check of a function of Python as a test suite asks for it: with tensors, and an error where it does not pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli import progress
from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import NO_NUMBERS
from gradcli.autodiff.run import dtype_name
from gradcli.errors import TooLargeError, UsageError, WrongGradientsError
from gradcli.locking import one_at_a_time
from gradcli.parts.running.calling import Called, PartnerFunction, custom_of, module_of, name_of, signature
from gradcli.parts.running.complex_parts import by_real_parts, is_complex
from gradcli.parts.running.gradcheck_arguments import GradcheckOptions, require_function, understood_of
from gradcli.parts.running.python_functions import PythonFunction, compare, stated_gradient
from gradcli.parts.running.stated_gradients import StatedGradient
from gradcli.recording.aten_calls import Argument
from gradcli.results import Array, BoxChecking, Checking, Evaluation

if TYPE_CHECKING:
    from gradcli.parts.typed_function import TypedFunction as Function
else:
    from gradcli.function import Function

SEED = 0
"""Seed of the gradient vector that stands for all rows of a Jacobian."""


@dataclass(frozen=True)
class _Gradient:
    """Function that is stated to give derivatives."""

    function: Called

    def stated(self, given: Mapping[str, Argument], variable: str, wrt: Sequence[str]) -> StatedGradient:
        """State that it gives the derivatives of another function."""
        require_function(self.function)
        return stated_gradient(self.function, name_of(self.function), given, variable, wrt)


@dataclass(frozen=True)
class PythonCheck:
    """Question whether the gradients of a function are right.

    Attributes:
        function: The function.
        tensors: Its arguments in order, none of them complex.
        wanted: Arguments by name, and what is asked for by options of gradcheck.
        given: All arguments as they were given, by name and in order.
        is_module: Whether it is a module, which is differentiated by its parameters too.
    """

    function: Called
    tensors: Sequence[Argument]
    wanted: GradcheckOptions
    given: Mapping[str, Argument]
    is_module: bool

    @classmethod
    def from_arguments(cls, function: Called, tensors: Sequence[Argument], wanted: GradcheckOptions) -> PythonCheck:
        """Make the question, with complex tensors as their parts, and with numbers as tensors if there are no others.

        Raises:
            UsageError: A tensor is sparse, or on the meta device.
        """
        named, is_module = wanted.named, isinstance(function, torch.nn.Module)
        parameters = signature(function, name_of(function), len(tensors)).kinds
        values = {**dict(zip(parameters, tensors, strict=False)), **named}
        given = {name: values[name] for name in parameters if name in values}
        for one in (*tensors, *named.values()):
            if isinstance(one, torch.Tensor) and one.is_meta:
                raise UsageError(NO_NUMBERS, hint="give tensors of numbers, such as torch.rand_like(x, device='cpu')")
            if isinstance(one, torch.Tensor) and one.layout is not torch.strided:
                hint = "give x.to_dense(), and a function of dense tensors"
                raise UsageError(f"a tensor is sparse ({one.layout}), and dense ones are read", hint=hint)
        if any(map(is_complex, (*tensors, *named.values()))):
            function, tensors, named = by_real_parts(function, tensors, named)
            wanted = wanted._replace(named=named)
        if not any(isinstance(one, torch.Tensor | np.ndarray | list | tuple) for one in (*tensors, *named.values())):
            tensors = [torch.tensor(one, dtype=torch.float64) if isinstance(one, float) else one for one in tensors]
        return cls(function, tensors, wanted, given, is_module)

    @property
    def raises(self) -> bool:
        """Tell whether a check that does not pass is an error."""
        return self.wanted.raises

    def versus(self, baseline: Called, k: float) -> Checking:
        """Compare the errors of the function with `k` times those of another implementation."""
        require_function(baseline)
        with one_at_a_time():
            return compare(self.function, baseline, self.tensors, self.wanted.named, k)

    def answer(
        self,
        budget: float | None,
        gradient: Argument,
        backward_of: Called | None,
        **options: Argument,
    ) -> Checking:
        """Answer the question.

        Raises:
            UsageError: A tensor is of low precision.
        """
        for one in (*self.tensors, *self.wanted.named.values()):
            if isinstance(one, torch.Tensor) and one.dtype in (torch.bfloat16, torch.float16):
                kind = dtype_name(one.dtype)
                hint = "compare with another implementation, versus=g, or check it in float64: x.double()"
                raise UsageError(f"a tensor is {kind}, which has fewer digits than a check asks for", hint=hint)
        asked = self._asked(self.function)
        options |= self.wanted.options
        asked_wrt = options.pop("wrt", None)
        given = dict(zip(asked.parameters, self.tensors, strict=False)) | dict(self.wanted.named)
        wrt = [name for name, one in given.items() if isinstance(one, torch.Tensor) and one.requires_grad]
        if gradient is not None:
            floating = [n for n, one in given.items() if isinstance(one, torch.Tensor) and one.is_floating_point()]
            wrt = [*gradient] if isinstance(gradient, Mapping) else wrt or floating or list(given)
            stated = gradient if isinstance(gradient, Mapping) else {"": gradient}
            options |= claims_and_numbers(stated)
        own = asked
        if backward_of is not None:
            require_function(backward_of)
            options["numbers_of"] = own
            asked = self._asked(self._partner(backward_of))
        trained: list[str] = []
        is_of_box = options.get("box") is not None and options.get("random") is None  # whose variables alone move
        if self.is_module and gradient is None and not is_of_box:
            recorded = own.recorded()
            known = recorded.trained if asked is own else asked.recorded().trained
            trained = [name for name in recorded.trained if name in known]
            asked = asked.with_recording(recorded) if asked is own else asked
            wrt = [*(wrt or recorded.arguments), *trained]
        if self.wanted.is_fast and options.get("v") is None:
            options["v"] = _random_vector(asked)
        wrt = wrt if asked_wrt is None else asked_wrt
        remarks = list(self.wanted.remarks)
        with progress.budget(budget) if budget is not None else nullcontext():
            try:
                found: Checking = asked.check(wrt=wrt or None, **options)
            except TooLargeError as error:
                if options.get("v") is not None:
                    raise
                remarks.append(f"{error.text.message}: vᵀJ was checked for one random v")
                found = asked.check(wrt=wrt or None, **{**options, "v": _random_vector(asked)})
        if trained:
            count = sum(found.inputs[name].size for name in trained)
            several = f"{len(trained)} parameters were" if len(trained) > 1 else "1 parameter was"
            remarks.append(f"{several} checked too ({count:,} numbers)")
        if backward_of is not None:
            meant = f"the backward pass was compared with the derivative of {asked.expression}"
            remarks.append(f"{meant}; {found.output if isinstance(found, Checking) else 'y'} is the function's own")
            found = replace(found, expression=own.expression)
        if isinstance(found, BoxChecking):
            return replace(found, notes=(*found.notes, *remarks))  # type: ignore[call-arg]
        return replace(found, remarks=(*found.remarks, *remarks))

    def _partner(self, function: Called) -> Called:
        """Return the function that takes the arguments of this one, called alike."""
        names = [*self.given]
        made = PartnerFunction(function, name_of(function), names).with_names(names, module_of(self.function))
        is_real = not any(map(is_complex, self.given.values()))
        return made if is_real else by_real_parts(made, [*self.given.values()], {}).function

    def _asked(self, function: Called) -> PythonFunction:
        with one_at_a_time():
            return PythonFunction(function, name_of(function), self.tensors, **self.wanted.named)

    def require_passed(self, answer: Checking, budget: float | None) -> None:
        """Raise an error with the table, unless the check passed.

        Raises:
            WrongGradientsError: It did not.
        """
        require_passed(answer, name_of(self.function), budget, is_custom=custom_of(self.function) is not None)


def require_passed(
    answer: Checking | BoxChecking, called: str, budget: float | None, *, is_custom: bool = False
) -> None:
    """Raise an error with the table of an answer, unless it passed.

    Raises:
        WrongGradientsError: It did not.
    """
    if answer.passed:
        return
    if isinstance(answer, BoxChecking):
        raise WrongGradientsError(f"not all that is asked of {called} in the box is proved\n{answer}")
    raise WrongGradientsError(f"{'; '.join(_failures(answer, called))}{_ways(answer, budget, is_custom)}\n{answer}")


def _failures(answer: Checking, called: str) -> list[str]:
    """Say what did not pass: torch's gradients, or what is stated of the derivative."""
    found, failed = list[str](), [one for one in answer.claims if not one.passes(answer.allowed)]
    if answer.failing or answer.elsewhere or not failed:
        is_open = answer.failing == ("unchecked",) or not (answer.failing or answer.elsewhere)
        found.append(f"the gradients of {called} {'could not be checked' if is_open else 'are not right'}")
    if failed:
        outcome = "refuted" if any(one.status == "refuted" for one in failed) else "neither proved nor refuted"
        found.append(f"what is stated to be the derivative of {called} is {outcome}")
        if not answer.failing and answer.check is not None and answer.check.verdict == "agree":
            found.append("torch's own numbers agree with the truth")
    return found


def _ways(answer: Checking, budget: float | None, is_custom: bool) -> str:
    """Say in parentheses by which options what failed may pass; nothing where none helps."""
    meant = [verdict for verdict in answer.failing if verdict != "disagree"]
    is_unchecked = answer.failing == ("unchecked",)
    is_short = answer.check is not None and answer.check.verdict == "unchecked" and budget is None
    ways = [f"allow={meant} lets pass what is meant"] if meant else []
    ways += ["atol= and rtol= let known errors pass"] if answer.failing and not is_unchecked else []
    if "disagree" in answer.failing and is_custom:
        ways.append("backward_of=g is for a backward pass that is meant to be that of g")
    ways += ["budget=60 gives the check a minute"] if is_unchecked and is_short else []
    return f" ({'; '.join(ways)})" if ways else ""


def claims_and_numbers(stated: Mapping[str, Argument]) -> dict[str, Argument]:
    """Sort what is stated to be derivatives into formulas and functions, and numbers."""
    claims = {name: one for name, one in stated.items() if not _is_of_numbers(one)}
    return {
        "claim": {name: one if isinstance(one, str) else _Gradient(one) for name, one in claims.items()},
        "expect": {name: one for name, one in stated.items() if name not in claims},
    }


def checked_text(
    text: str | Function,
    values: Sequence[Argument],
    budget: float | None,
    gradient: Argument,
    others: Mapping[str, object],
    options: Mapping[str, Argument],
) -> Checking:
    """Check a text as its method does, and raise an error where it does not pass.

    Args:
        text: The text, or its function.
        values: The values of its variables, and v behind them.
        budget: Seconds that the check may take.
        gradient: What is claimed to be the derivative.
        others: Options that only functions of Python have.
        options: Those of the method, and values by name.

    Raises:
        WrongGradientsError: It did not pass.
        UsageError: An option is one of functions of Python.
    """
    if given := next((name for name, one in others.items() if one is not None), ""):
        raise UsageError(f"{given}= is for functions of Python", hint="state the derivative of a text by claim=")
    asked = Function(text) if isinstance(text, str) else text
    wanted = understood_of(options, {*asked.variables, "v"})
    left = {name: one for name, one in {**wanted.named, **wanted.options}.items() if name != "v" or one is not None}
    if gradient is not None:
        left |= claims_and_numbers(gradient if isinstance(gradient, Mapping) else {"": gradient})
    with progress.budget(budget) if budget is not None else nullcontext():
        answer: Checking = asked.check(*values, **left)
    said = [*wanted.remarks, *["fast_mode=True is not used: each row of J is checked"] * wanted.is_fast]
    if said and not isinstance(answer, BoxChecking):
        answer = replace(answer, remarks=(*answer.remarks, *said))
    if wanted.raises:
        require_passed(answer, asked.expression, budget)
    return answer


def _is_of_numbers(gradient: Argument) -> bool:
    """Tell whether a gradient is stated by its numbers at the point."""
    return isinstance(gradient, torch.Tensor | np.ndarray | list | float | int)


def _random_vector(asked: PythonFunction) -> Array:
    """Draw a gradient vector for a function."""
    evaluation: Evaluation = asked.eval(check=False)
    return np.random.default_rng(SEED).standard_normal(evaluation.value.shape)
