"""`Function` as type checkers see it, with the methods that parts give it; at run time it finds them by its commands.

Only `gradcli`, and parts that have functions of their own, read this, behind `TYPE_CHECKING`.
"""

from __future__ import annotations

from gradcli import function
from gradcli.parts.claims import check
from gradcli.parts.closed_forms import closed_form
from gradcli.parts.code import code
from gradcli.parts.explain import explain, graph
from gradcli.parts.improve import improve
from gradcli.parts.plot import plot
from gradcli.parts.tables import methods


class TypedFunction(function.Function):
    """A function of tensors from text, with all of its methods."""

    check = check.check
    code = code.code
    explain = explain.explain
    graph = graph.graph
    improve = improve.improve
    plot = plot.plot
    closed_form = closed_form.closed_form
    stream = methods.stream
    map = methods.map_columns
    map_partitions = methods.map_partitions
