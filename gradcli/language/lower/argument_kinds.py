"""Names of parameters, and the constants that they take: numbers, words, several whole numbers.

The arguments of a function may select another row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gradcli.language.program.wengert import MAX_DIMENSIONS, MAX_ELEMENTS

NUMBERS = frozenset("p value correction start end step fill_value label_smoothing scale dropout_p".split())
"""Parameters whose constants need not be whole; functions that torch is asked for take the constants of torch."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "equation": (),
    "reduction": ("mean", "sum", "none"),
    "kl_div.reduction": ("mean", "batchmean", "sum", "none"),
    "mode": ("constant",),
    "rounding_mode": ("floor", "trunc"),
    "approximate": ("none", "tanh"),
    "norm.p": ("fro", "nuc"),
}
"""Parameters that take a word in quotes, with the words they take; those of one operation alone after its name."""

SEVERAL = frozenset("dim dims shape sizes pad shifts normalized_shape".split())
"""Parameters that may take several numbers in parentheses."""

GATHERED = frozenset(["shape", "dims", "sizes"])
"""Parameters that take all the numbers after them: `view(2, 3)` is `view((2, 3))`."""

_MOST: Mapping[str, int | None] = {
    name: most
    for names, most in (
        ("dim dim0 dim1 dim2 dims start_dim end_dim source destination ind", MAX_DIMENSIONS),
        ("start end step diagonal offset shifts key index storage_offset strides ignore_index seed", None),
        ("polygamma.n diff.n vander.N mvlgamma.p chunks", 1_000),  # written out
        ("matrix_power.n", 64),
        ("kernel_size output_size size padding output_padding dilation pad repeats sections", 10_000),  # counted singly
        ("tile.dims", MAX_ELEMENTS),
        ("decimals", 308),
    )
    for name in names.split()
}
"""Largest whole number that a parameter takes, of one operation alone after its name; None for any."""


def excess(operation: str, parameter: str, value: object) -> str:
    """Return the hint on whole numbers that are too large for a parameter, or "" for allowed ones.

    >>> excess("sum", "dim", 10**9), excess("zeros", "shape", (2, 2**40)), excess("roll", "shifts", 10**9)
    ('it may be 16 at most', 'it may be 67,108,864 at most, with all of them together', '')
    """
    most = _MOST.get(parameter, None if parameter in NUMBERS else MAX_ELEMENTS)
    most = _MOST.get(f"{operation}.{parameter}", most)
    sizes = [abs(one) for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, int)]
    if most is None or not sizes or (max(sizes) <= most and (most < MAX_ELEMENTS or math.prod(sizes) <= most)):
        return ""
    return f"it may be {most:,} at most" + ", with all of them together" * (len(sizes) > 1)


_OTHER_WORDS = """
axis dim dims: axes dims: dims dim ind: dim dims: dimension dim: keepdims keepdim: ddof correction: unbiased correction:
alpha negative_slope: size shape: input x a A: other b: exponent b: a_min min: a_max max: num steps: stop end: ord p:
shift shifts: k diagonal offset: p ord: axis1 dim1 dim0: axis2 dim2 dim1
"""
KEYWORDS: Mapping[str, Sequence[str]] = {word: names for word, *names in map(str.split, _OTHER_WORDS.split(":"))}
"""Parameters here by their names in other libraries."""

WIDER: Mapping[tuple[str, str], str] = {
    ("add", "alpha"): "scaled_add",
    ("sub", "alpha"): "scaled_sub",
    ("div", "rounding_mode"): "rounded_div",
    ("round", "decimals"): "round_to",
    ("round", ""): "round_to",
    ("binary_cross_entropy_with_logits", "pos_weight"): "weighted_binary_cross_entropy_with_logits",
    ("binary_cross_entropy_with_logits", "weight"): "weighted_binary_cross_entropy_with_logits",
    ("binary_cross_entropy", "weight"): "weighted_binary_cross_entropy",
    **{("softplus", word): "scaled_softplus" for word in ("beta", "threshold", "")},
    **{("pad", word): "pad_with_elements" for word in ("reflect", "replicate", "circular")},
}
"""Row that a function is with a keyword, with a word in quotes, or, after an empty one, with more arguments."""

DETACHING = frozenset("item tolist numpy".split())

WITH_WORDS = frozenset("to type type_as astype".split())
"""Methods whose arguments give a type or a device; others take keywords for that."""

_OF_NUMBERS = "clone copy contiguous float double cpu requires_grad_ int long short bool half bfloat16"
CONVERSIONS = DETACHING | WITH_WORDS | frozenset(_OF_NUMBERS.split())
"""Methods that give the same numbers, or the whole parts of them."""
