"""Numbers that left a tensor by `.item()`: what Python decides by them is a condition on the tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

from gradcli.autodiff.run import Tensor


class Item(float):
    """A float that knows which tensor it is the number of, as long as that stays as it was."""

    tensor: Tensor
    version: int

    def __new__(cls, value: float, tensor: Tensor) -> Self:
        """The number of a tensor of one element."""
        self = super().__new__(cls, value)
        self.tensor, self.version = tensor, tensor._version
        return self

    def __bool__(self) -> bool:
        """Whether it is not 0, which is seen as Python sees it."""
        return bool(operator.ne(self, 0.0))

    __hash__ = float.__hash__

    @property
    def _is_known(self) -> bool:
        return bool(self.tensor._version == self.version)


def _decides(name: str) -> Callable[[Item, Any], Any]:
    """A comparison: that of the tensors is made as well, so that it is recorded, and asked, as a condition is."""
    own, of_tensors = getattr(float, name), getattr(operator, name)

    def compared(self: Item, other: Any) -> Any:
        found = own(self, other)
        if found is not NotImplemented and self._is_known:
            bool(of_tensors(self.tensor, other.tensor if isinstance(other, Item) and other._is_known else other))
        return found

    return compared


def _computes(name: str, of_numbers: str) -> Callable[..., Any]:
    """Arithmetic, whose result is the number of a tensor again.

    Args:
        name: Of the function of `operator`.
        of_numbers: Of the method of float, whose operands are the other way round where it begins with r.
    """
    own, of_tensors = getattr(float, of_numbers), getattr(operator, name)

    def computed(self: Item, *others: Any) -> Any:
        found = own(self, *others)
        if not isinstance(found, float) or not self._is_known:
            return found
        tensors = [one.tensor if isinstance(one, Item) and one._is_known else one for one in (self, *others)]
        return Item(found, of_tensors(*(tensors[::-1] if of_numbers.startswith("__r") else tensors)))

    return computed


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Item, f"__{_name}__", _decides(f"__{_name}__"))
for _name in ("neg", "abs", "add", "sub", "mul", "truediv"):
    setattr(Item, f"__{_name}__", _computes(_name, f"__{_name}__"))
for _name in ("add", "sub", "mul", "truediv"):
    setattr(Item, f"__r{_name}__", _computes(_name, f"__r{_name}__"))
Item.__name__ = "float"  # as which it is shown to the user
