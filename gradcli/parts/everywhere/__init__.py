"""Whole boxes: bounds of a function and its derivatives, and what is proved of every point.

intervals                        arithmetic by ends, rounded outward
interval_functions               functions of intervals, and expressions of them
wholes                           activations and distances, whose slopes have rules of their own
scalars                          a Program of arrays as one of numbers
jets                             values, slopes and second slopes on boxes, and what a box may hold
"""

from __future__ import annotations

from gradcli.parts.part import Part


class EverywherePart(Part):
    """Bounds on boxes."""


PART = EverywherePart()
