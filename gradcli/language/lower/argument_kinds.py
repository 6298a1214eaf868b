"""What parameters are called, and which constants they take: numbers, words, several whole numbers.

What a function is called with may make it another row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gradcli.language.program.wengert import MAX_DIMENSIONS, MAX_ELEMENTS

NUMBERS = frozenset(
    "p value correction start end step fill_value label_smoothing scale_factor momentum scale dropout_p dx spacing "
    "maxnorm alpha base".split()
)
"""Parameters whose constants need not be whole."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "equation": (),
    "reduction": ("mean", "sum", "none"),
    "kl_div.reduction": ("mean", "batchmean", "sum", "none"),
    "mode": ("constant",),
    "pad_with_elements.mode": ("reflect", "replicate", "circular"),
    "rounding_mode": ("floor", "trunc"),
    "padding": ("valid", "same"),
    "padding_mode": ("zeros", "border", "reflection"),
    "grid_sample.mode": ("bilinear", "nearest"),
    "embedding_bag.mode": ("mean", "sum", "max"),
    "interpolate.mode": ("nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact"),
    "approximate": ("none", "tanh"),
    "indexing": ("ij", "xy"),
    "reduce": ("add", "multiply"),
    "scatter_reduce.reduce": ("sum", "prod", "mean", "amax", "amin"),
    "index_reduce.reduce": ("prod", "mean", "amax", "amin"),
    **dict.fromkeys(("norm.p", "cond.p", "ord"), ("fro", "nuc")),
}
"""Parameters that take a word in quotes, with the words they take; of one operation alone, behind its name."""

SEVERAL = frozenset(
    "dim dims shape pad shifts kernel_size stride padding dilation output_padding output_size normalized_shape size "
    "scale_factor sizes split_size sections repeats source destination strides".split()
)
"""Parameters that may take several numbers in parentheses."""

GATHERED = frozenset(["shape", "dims", "sizes"])
"""Parameters that take all the numbers that follow: `view(2, 3)` is `view((2, 3))`."""

MOST_WRITTEN = 1_000
"""Times that an operation may be written out: powers, differences, orders of derivatives."""

MOST_PLACES = 10_000
"""Places that are counted one by one, such as those of a window."""

_DIMENSIONS = "dim dim0 dim1 dim2 dims start_dim end_dim source destination ind".split()
_PLACES = "kernel_size output_size size padding output_padding dilation pad repeats sections".split()
_FREE = "start end step diagonal offset shifts key index storage_offset strides ignore_index seed".split()
_MOST: Mapping[str, int | None] = {
    **dict.fromkeys(_DIMENSIONS, MAX_DIMENSIONS),
    **dict.fromkeys(_FREE, None),
    **dict.fromkeys(
        "polygamma.n matrix_power.n diff.n combinations.r vander.N mvlgamma.p chunks".split(), MOST_WRITTEN
    ),
    **dict.fromkeys(
        "kernel_size output_size size padding output_padding dilation pad repeats sections".split(), MOST_PLACES
    ),
    "tile.dims": MAX_ELEMENTS,
    "decimals": 308,
}


def excess(operation: str, parameter: str, value: object) -> str:
    """What to do about whole numbers beyond the meaning of a parameter, a size unless it is another; or nothing.

    >>> excess("sum", "dim", 10**9), excess("zeros", "shape", (2, 2**40)), excess("roll", "shifts", 10**9)
    ('it may be 16 at most', 'it may be 67,108,864 at most, with all of them together', '')
    """
    key = f"{operation}.{parameter}"
    most = _MOST.get(key, _MOST.get(parameter, None if parameter in NUMBERS else MAX_ELEMENTS))
    sizes = [abs(one) for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, int)]
    if most is None or not sizes or (max(sizes) <= most and (most < MAX_ELEMENTS or math.prod(sizes) <= most)):
        return ""
    return f"it may be {most:,} at most" + ", with all of them together" * (len(sizes) > 1)


KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "axis": ("dim", "dims"),
    "axes": ("dims",),
    "dims": ("dim",),
    "dim": ("dims",),
    "dimension": ("dim",),
    "keepdims": ("keepdim",),
    "ddof": ("correction",),
    "unbiased": ("correction",),
    "alpha": ("negative_slope",),
    "size": ("shape",),
    "input": ("x", "a", "A"),
    "other": ("b",),
    "exponent": ("b",),
    "a_min": ("min",),
    "a_max": ("max",),
    "num": ("steps",),
    "stop": ("end",),
    "shift": ("shifts",),
    "k": ("diagonal", "offset"),
    "ord": ("p",),
    "p": ("ord",),
    "axis1": ("dim1", "dim0"),
    "axis2": ("dim2", "dim1"),
}
"""Other libraries' names of parameters."""

WIDER: Mapping[tuple[str, str], str] = {
    ("add", "alpha"): "scaled_add",
    ("sub", "alpha"): "scaled_sub",
    ("div", "rounding_mode"): "rounded_div",
    ("round", "decimals"): "round_to",
    ("round", ""): "round_to",
    ("binary_cross_entropy_with_logits", "pos_weight"): "weighted_binary_cross_entropy_with_logits",
    **{("pad", word): "pad_with_elements" for word in ("reflect", "replicate", "circular")},
}
"""The row that a function is with a keyword, with a word in quotes, or, behind an empty one, with more arguments."""
