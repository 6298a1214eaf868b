"""A tensor of a script as a function: `FILE.py::NAME` is what made it, of the leaves that it depends on.

The script is run once more, and recorded below autograd as `gradcli run` records it.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import io
import runpy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from gradcli.autodiff._torch import torch
from gradcli.errors import InputError
from gradcli.option_words import option
from gradcli.parts.running.calling import Signature
from gradcli.parts.running.python_functions import PythonFunction
from gradcli.parts.running.script_texts import is_notebook
from gradcli.parts.running.scripts import ScriptRecorder
from gradcli.parts.running.targets import Target, guarded, run_notebook
from gradcli.questions.bound_function import Device, Dtype, FunctionWithValues
from gradcli.questions.naming import Inputs


def is_tensor_with_history(found: object) -> bool:
    """Tell whether something of a script is a tensor that autograd follows back to leaves."""
    return isinstance(found, torch.Tensor) and found.grad_fn is not None


class ScriptTensor(PythonFunction):
    """A tensor of a script, as a function of its leaves, which have the values that the script gives them."""

    def __init__(self, called: str, unbound: FunctionWithValues) -> None:
        self.expression = called
        self.borrowed, self.structures, self._given, self._taken = {}, {}, {}, Signature({})
        self._dtype, self._devices, self._device = None, {}, "cpu"
        self._unbound = unbound

    @property
    def variables(self) -> tuple[str, ...]:
        """The leaves."""
        return tuple(self._unbound.wrt or ())

    @property
    def parameters(self) -> tuple[str, ...]:
        """The leaves too."""
        return self.variables

    @property
    def has_values(self) -> bool:
        """Tell that the script gives the values."""
        return True

    def wants_formula(self, given: object) -> bool:
        """Never: the script gives a point."""
        return False

    def _asked(
        self,
        at: Inputs | None,
        wrt: Sequence[str] | None = None,
        dtype: Dtype | None = None,
        device: Device | None = None,
        check: bool = True,
    ) -> FunctionWithValues:
        if isinstance(at, Mapping) and not at:
            at = None
        if at is not None or dtype is not None or device is not None:
            name = "at" if at is not None else "dtype" if dtype is not None else "device"
            message = f"{self.expression} is a tensor of a script, which gives the values, types and devices"
            raise InputError(message, hint=f"leave out {option(name)}, or write a function of the leaves")
        unknown = [name for name in wrt or () if name not in self.variables]
        if unknown:
            message = f"{option('wrt')} names '{unknown[0]}', and the leaves are {', '.join(self.variables)}"
            raise InputError(message)
        return replace(self._unbound, wrt=[*(wrt or self.variables)], check=check)


def tensor_of_script(target: Target) -> ScriptTensor:
    """Run the script of a target, and return its tensor as a function.

    Raises:
        InputError: The script fails, or its calls cannot be recorded.
    """
    called = f"{PurePath(target.file).name}::{target.name}"
    return ScriptTensor(called, _recorded(target, called))


def _recorded(target: Target, called: str) -> FunctionWithValues:
    """Run the script of a target, and make the function of its tensor, with values.

    Raises:
        InputError: The script fails, or its calls cannot be recorded.
    """
    recorder = ScriptRecorder(lambda told: None, check=False, seconds=None, wrt=())
    with guarded(f"{target.file} is run"), torch.enable_grad(), _keeping_graphs(), recorder:
        with contextlib.redirect_stdout(io.StringIO()):  # it was printed when the file was loaded
            found = _names_of(target.file)
        for word in target.name.split("."):
            found = found[word] if isinstance(found, dict) else getattr(found, word)
        if not isinstance(found, torch.Tensor):
            raise InputError(f"{called} is no tensor when the script is run once more")
        with recorder.paused():
            unbound = recorder.unbound_function_of(found, called)
    return unbound


def _names_of(path: str) -> object:
    """Run a script or a notebook, and return its names."""
    if not is_notebook(path):
        return runpy.run_path(path, run_name="gradcli_script")
    return vars(run_notebook(path, "gradcli_script"))


@contextlib.contextmanager
def _keeping_graphs() -> Iterator[None]:
    """Let backward passes of the script keep their graphs, as one more pass is made of them."""
    original = torch.Tensor.backward

    def backward(self: torch.Tensor, *given: object, **options: object) -> None:
        if len(given) < 2 and options.get("retain_graph") is None:
            options["retain_graph"] = True
        original(self, *given, **options)

    setattr(torch.Tensor, "backward", backward)  # noqa: B010 - an attribute, and no method of ours
    try:
        yield
    finally:
        setattr(torch.Tensor, "backward", original)  # noqa: B010
