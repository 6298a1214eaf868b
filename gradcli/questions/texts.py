"""Texts as the questions read them: with what torch alone knows, for which it is imported where a text needs it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gradcli.language import snippets

if TYPE_CHECKING:
    from gradcli.autodiff.run import TorchGenerator
    from gradcli.language.lower.scope import Array
    from gradcli.language.program.wengert import AskedMeaning, Call, Shape


def torch_generator() -> TorchGenerator:
    """A generator of torch's, seeded with 0."""
    from gradcli.autodiff.run import TorchGenerator

    return TorchGenerator()


def ask_torch(
    call: Call, shapes: tuple[Shape, ...], fixed: Sequence[Array | None] = ()
) -> Sequence[AskedMeaning | None]:
    """Ask torch what a call of a function of its own is made of."""
    from gradcli.recording.recorder import Recorder
    from gradcli.recording.torch_meanings import ask

    return ask(Recorder, call, shapes, fixed)


read = partial(snippets.read, generator=torch_generator, ask=ask_torch)
"""`snippets.read`, with `torch.rand` and `torch.randn`, and functions that torch is asked for."""

read_whole = partial(snippets.read_whole, generator=torch_generator, ask=ask_torch)
"""`snippets.read_whole`, with them."""
