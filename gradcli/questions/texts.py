"""Texts as the questions read them: with torch's own random numbers, for which alone torch is imported."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gradcli.language import snippets

if TYPE_CHECKING:
    from gradcli.autodiff.random_numbers import TorchGenerator


def torch_generator() -> TorchGenerator:
    """A generator of torch's, seeded with 0."""
    from gradcli.autodiff.random_numbers import TorchGenerator

    return TorchGenerator()


read = partial(snippets.read, generator=torch_generator)
"""`snippets.read`, with `torch.rand` and `torch.randn`."""

read_whole = partial(snippets.read_whole, generator=torch_generator)
"""`snippets.read_whole`, with them."""
