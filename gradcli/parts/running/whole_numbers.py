"""Arguments that torch takes as whole numbers only: indices, targets, sizes, of which a typed value does not tell.

A function is called with floating-point numbers first.  Where torch's error says that it asks for an index, it is
called again with whole numbers; any other error is one of the code.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from pathlib import PurePath

_ASKS = re.compile(
    r"used as indices must be|index tensor of type LongTensor|scalar types: Long"
    r"|Expected (?:dtype int|a long tensor)|dtype (?:of indices should be Long|to be Long|of long|torch\.long)"
    r"|must be (?:int\b|tuple of ints|integral)|indices should be type int64|integral Tensor"
    r"|only integer tensors|implemented on integer"
    r"|\"(?:bitwise_|bincount|gcd|lcm|lshift|rshift)\w*\" not implemented for '(?:Double|Float)'"
)
"""Phrases by which torch asks for an index, or for another argument of whole numbers."""

_ASKS_IN_LOSSES = re.compile(r"expected scalar type Long but found (?:Double|Float)")
"""Phrase by which a loss of torch's asks for classes; elsewhere it says that two dtypes meet."""


def asks_for_index(error: BaseException) -> bool:
    """Tell whether torch raised an error because it takes whole numbers where it was given others.

    >>> import torch
    >>> try:
    ...     torch.ones(3)[torch.ones(2)]
    ... except IndexError as error:
    ...     asks_for_index(error)
    True
    """
    if _ASKS.search(str(error)):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    called = [frame.name for frame in frames if PurePath(frame.filename).match("torch/nn/functional.py")]
    is_in_loss = bool(called) and called[-1].endswith(("loss", "cross_entropy"))
    return is_in_loss and _ASKS_IN_LOSSES.search(str(error)) is not None


def sets_to_try(candidates: Sequence[str]) -> Iterator[frozenset[str]]:
    """Give sets of arguments to make whole: each alone, then several; targets and indices come last in a signature.

    >>> [sorted(one) for one in sets_to_try(["ids", "target"])]
    [['target'], ['ids'], ['ids', 'target']]
    """
    likely = list(candidates)[::-1]
    yield from (frozenset([name]) for name in likely)
    yield from (frozenset(likely[:count]) for count in range(2, len(likely) + 1))
