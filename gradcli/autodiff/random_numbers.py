"""Random numbers that a text draws, by torch itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.language.program.wengert import Shape


class TorchGenerator:
    """A generator of random numbers of its own, so that torch's is left as it was.

    >>> generator = TorchGenerator()
    >>> generator.seed(3)
    >>> found = generator.draw("randn", (2,), is_double=False)
    >>> bool((found == torch.randn(2, generator=torch.Generator().manual_seed(3)).double().numpy()).all())
    True
    """

    def __init__(self) -> None:
        self._generator = torch.Generator()
        self.seed(0)

    def seed(self, number: int) -> None:
        """Begin anew, as after `torch.manual_seed(number)`."""
        self._generator.manual_seed(number)

    def draw(self, name: str, shape: Shape, *, is_double: bool) -> npt.NDArray[np.float64]:
        """Numbers of `torch.rand` or `torch.randn`, in float64.

        Args:
            name: Of the function.
            shape: Of the tensor.
            is_double: Whether it has float64, in which torch draws other numbers.
        """
        dtype = torch.float64 if is_double else torch.float32
        found = getattr(torch, name)(shape, generator=self._generator, dtype=dtype)
        return np.asarray(found.numpy(), dtype=np.float64)
