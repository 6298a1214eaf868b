"""Whole boxes: bounds of a function and its derivatives, and what is proved of every point.

intervals                        arithmetic by ends, rounded outward
interval_functions               functions of intervals, and expressions of them
wholes                           activations and distances, whose slopes have rules of their own
scalars                          a Program of arrays as one of numbers
box_kinds, joining_choices       what a box may hold, and choices that do not jump
jets, array_jets                 values, slopes and second slopes on boxes
bounded_quantities               y, a derivative, or an expression of them, as a jet
box_sets                         grids and halves of boxes
least_values                     branch and bound for the least value
zeros                            zeros of y or of its gradient, with existence
stopping                         when a search ends early: its time, an interrupt
held_kinds                       kinks, jumps, poles and edges that a box may hold
line_boxes, moving_box           lines through a point; a question on a box
box_statements                   statements on y and its derivatives, as numbers that are to be positive
curvature_rules                  convexity by composition
proving                          proofs and counterexamples of statements
kernel_errors                    how torch's special functions err
rounded_passes                   torch's passes on boxes, with a column of errors
recordings                       parts of a box in which torch runs the same operations
box_regions                      where torch's numbers are proved, and what the rest may hold
box_signs                        the signs that an expression may have in a box
box_check, proved_lines          the check of every point of a box; stretches of one number, for a picture
lost_bits                        the bits that torch's numbers lose at most in a box
tensor_bounds, tensor_ranges     tensors whose elements each have a range: forward, or one for all
ranges, shell                    the command `range`, its help and its options
box_document, box_rows           bounds, places, proofs and regions as a document, as lines and as rows
region_words, region_maps        verdicts in words; the map of regions, on a terminal and in files
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.parts import is_listed
from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from sympy import Expr, Symbol

    from gradcli.parts.everywhere.proved_lines import ProvedLine
    from gradcli.questions.bound_function import BoundFunction, FunctionWithValues
    from gradcli.questions.naming import Directions
    from gradcli.results import Array, BoxChecking

_RANGE = Command(
    "range",
    "Look closer",
    "gradcli.parts.everywhere.shell:range_over",
    "gradcli.parts.everywhere.ranges:range_over",
    lacks=("npy", "npz"),
)


class EverywherePart(Part):
    """Bounds on boxes."""

    COMMANDS = ("range",)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return {_RANGE.name: _RANGE}[name]

    def composers(self) -> Mapping[str, str]:
        """Return what composes bounds over boxes."""
        document = "gradcli.parts.everywhere.box_document"
        return {"BoxRange": f"{document}:compose_range", "BoxChecking": f"{document}:compose_checking"}

    def renderers(self) -> tuple[Renderer, ...]:
        """Return what writes bounds, proofs and regions as lines and rows."""
        rows, own = "gradcli.parts.everywhere.box_rows", ("OnBox",)
        return (
            Renderer("plain", f"{rows}:plain", answers=own),
            Renderer("csv", f"{rows}:csv_rows", answers=own),
            Renderer("tsv", f"{rows}:csv_rows", answers=own),
            Renderer("npy", f"{rows}:no_arrays", is_format=False, answers=own),
            Renderer("npz", f"{rows}:no_arrays", is_format=False, answers=own),
            *_figures(),
        )


PART = EverywherePart()


def _figures() -> tuple[Renderer, ...]:
    """Return the kinds of files of the map of regions, where there are the parts that draw, and the command."""
    if is_listed("figures"):
        from gradcli.parts.figures import figure_kinds

        if is_listed("plot") and is_listed("claims"):
            return figure_kinds("gradcli.parts.everywhere.region_maps:write_figure", ("BoxChecking",), ("check",))
    return ()


def checked_in_box(
    unbound: FunctionWithValues,
    ranges: Mapping[str, str],
    statements: str | None,
    rtol: float | None,
    allowed: tuple[str, ...],
    along: Directions = None,
) -> BoxChecking:
    """Check every point of a box: statements if there are some, else torch's numbers.

    Raises:
        GradcliError: A range, a statement or a tolerance makes no sense, or an operation has no rule on boxes.
    """
    from gradcli.parts.everywhere import box_check

    return box_check.checked_in_box(unbound, ranges, statements, rtol, allowed, along)


def signs_in_box(expression: Expr, ends: Mapping[Symbol, tuple[float, float]]) -> frozenset[int]:
    """Return the signs, 1, -1 and 0, that an expression may have where each symbol is between two ends."""
    from gradcli.parts.everywhere import box_signs

    return box_signs.signs_in_box(expression, ends)


def failing_points(
    unbound: FunctionWithValues, ranges: Mapping[str, str], statements: Sequence[str]
) -> Sequence[Mapping[str, Array]]:
    """Find points of a box at which statements fail, one for each that bounds refute; none where nothing is known."""
    from gradcli.parts.everywhere import box_check

    return box_check.failing_points(unbound, ranges, statements)


def not_everywhere_in(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> str:
    """Say what y may do in a box besides having values, such as to jump; "" if nothing, or if nothing is known."""
    from gradcli.parts.everywhere import box_check

    return box_check.not_everywhere_in(unbound, ranges)


def proved_line(bound_function: BoundFunction, low: float, high: float) -> ProvedLine | None:
    """Find where torch's numbers are proved along a range of the one variable of a question; None if nothing is known.

    Args:
        bound_function: A function of one element, by a number.
        low: The lower end of its range.
        high: The upper end.
    """
    from gradcli.parts.everywhere import proved_lines

    return proved_lines.proved_line(bound_function, low, high)


def lost_bits_in_box(unbound: FunctionWithValues, ranges: Mapping[str, str], enough: float) -> int | None:
    """Bound the bits that y and its derivatives lose in a box; None where no bound is found, or y may have no value.

    Args:
        unbound: The function.
        ranges: The ranges of the variables that move.
        enough: Bits from which down a bound is as low as it is asked for.
    """
    from gradcli.parts.everywhere import lost_bits

    return lost_bits.lost_bits_in_box(unbound, ranges, enough)


def has_values_in_box(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> bool:
    """Tell whether y certainly has a value at every point of a box."""
    from gradcli.parts.everywhere import lost_bits

    return lost_bits.has_values_in_box(unbound, ranges)
