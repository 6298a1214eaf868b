"""Whole boxes: bounds of a function and its derivatives, and what is proved of every point.

intervals                        arithmetic by ends, rounded outward
interval_functions               functions of intervals, and expressions of them
wholes                           activations and distances, whose slopes have rules of their own
scalars                          a Program of arrays as one of numbers
box_kinds, joining_choices       what a box may hold, and choices that do not jump
jets, array_jets                 values, slopes and second slopes on boxes
bounded_quantities               y, a derivative, or an expression of them, as a jet
stopping                         when a search ends early: its time, an interrupt
box_sets, halving                grids and halves of boxes; a search that halves them until none is left
least_values                     branch and bound for the least value
zeros                            zeros of y or of its gradient, with existence
held_kinds                       kinks, jumps, poles and edges that a box may hold
line_boxes, moving_box           lines through a point; a question on a box
written_derivatives              derivatives as mathematics writes them, as quotients
box_statements                   statements on y and its derivatives, as numbers that are to be positive
one_number, curvature_rules      convexity of functions of one number, and by composition
certain_signs                    signs that operations have where bounds underflow
touching                         points at which a number is exactly 0, and no less next to them
proving                          proofs and counterexamples of statements
kernel_errors                    how torch's special functions err
pass_differences                 the backward pass of a user's own code, and the derivative
rounded_passes, rounded_arrays   torch's passes on boxes, with a column of errors: of numbers, of arrays
recordings                       parts of a box in which torch runs the same operations
code_boxes                       code, whose recording has to be the function in all of a box
box_regions                      where torch's numbers are proved, and what the rest may hold
box_signs                        the signs that an expression may have in a box
witness_groups                   boxes of a region within which witnesses have the same verdict
box_check, proved_lines          the check of every point of a box; stretches of one number, for a picture
lost_bits                        the bits that torch's numbers lose at most in a box
tensor_bounds, tensor_ranges     tensors whose elements each have a range: forward, or one for all
other_forms                      another form, where bounds of the typed one are missing
ranges, shell, respelled_ranges  the command `range`, its help and options; ranges that a wrong line may mean
box_document, box_rows           bounds, places, proofs and regions as a document, as lines and as rows
region_words, region_maps        verdicts in words; the map of regions, on a terminal and in files
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.parts import is_listed
from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.parts.everywhere.box_check import (
        checked_in_box as checked_in_box,
        failing_points as failing_points,
        not_everywhere_in as not_everywhere_in,
        wrong_backward_in_box as wrong_backward_in_box,
    )
    from gradcli.parts.everywhere.box_signs import signs_in_box as signs_in_box
    from gradcli.parts.everywhere.lost_bits import (
        has_values_in_box as has_values_in_box,
        lost_bits_in_box as lost_bits_in_box,
    )
    from gradcli.parts.everywhere.moving_box import OF_RECORDING as OF_RECORDING
    from gradcli.parts.everywhere.proved_lines import proved_line as proved_line

_EXTREMES = ("min", "max", "minimum", "maximum", "minimize", "maximize", "minimise", "maximise", "extrema")
"""Commands that search for the least and the greatest value."""

_RANGE = Command(
    "range",
    "Look closer",
    "gradcli.parts.everywhere.shell:range_over",
    "gradcli.parts.everywhere.ranges:range_over",
    lacks=("npy", "npz"),
    near=(*_EXTREMES, "bounds", "interval"),
    elsewhere=tuple((name, "gradcli bounds a function in a box, and searches no further") for name in _EXTREMES),
    respelled="gradcli.parts.everywhere.respelled_ranges:respelled",
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


_OFFERED = {
    "checked_in_box": "box_check",
    "failing_points": "box_check",
    "not_everywhere_in": "box_check",
    "wrong_backward_in_box": "box_check",
    "signs_in_box": "box_signs",
    "OF_RECORDING": "moving_box",
    "proved_line": "proved_lines",
    "lost_bits_in_box": "lost_bits",
    "has_values_in_box": "lost_bits",
}
"""What other parts take of this one, with its module."""


if not TYPE_CHECKING:  # which reads the signatures where they are

    def __getattr__(name: str) -> object:
        """Import what is offered when it is first asked for."""
        if name not in _OFFERED:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_OFFERED[name]}"), name)
