"""Functions of torch that are no rows of the table, and those that other libraries have otherwise."""

from __future__ import annotations

from collections.abc import Mapping

CODE_FUNCTIONS = frozenset(
    "argmax argmin argsort as_strided_scatter combinations corrcoef embedding_bag finfo grid_sample index_put "
    "lstm_cell linear_cross_entropy max_unpool1d max_unpool2d max_unpool3d multi_margin_loss "
    "multilabel_margin_loss nanquantile nonzero searchsorted unique upsample_bilinear "
    "upsample_nearest".split()
)
"""Functions of torch whose result depends on the order of values, or on the numbers of positions: Python runs them."""

OTHERWISE: Mapping[str, str] = {
    "pad": "write F.pad(x, (left, right)) for the last dimension, with two more for the one before it",
    "median": "it is the mean of the two in the middle: write quantile(x, 0.5)",
    "nanmedian": "it is the mean of the two in the middle: write (nanmedian(x) - nanmedian(-x))/2",
}
"""Hints on functions of NumPy that mean another thing than those of torch."""
