"""What parameters are called, and which constants they take: numbers, words, several whole numbers.

What a function is called with may make it another row.
"""

from __future__ import annotations

from collections.abc import Mapping

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
