"""Which facts a row needs, by its kind: a reading that asks for one finds it.

The test of the table names those that a new row forgets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradcli.language.ops.row import Kind, Op

NEEDED: Mapping[Kind, tuple[str, ...]] = {
    Kind.REDUCTION: ("monoid", "along"),
    Kind.SCAN: ("monoid", "along"),
    Kind.LIST: ("adds_dimension",),
    Kind.MOVEMENT: ("keeps_order",),
    Kind.MATRIX: ("keeps_shape",),
}

_WITHOUT_DIMENSIONS = (Kind.LIST, Kind.MOVEMENT, Kind.COUNT)
"""Kinds whose `dim` says where, and not along what."""


def missing_facts(op: Op) -> tuple[str, ...]:
    """The facts that a row of its kind needs and does not have.

    >>> missing_facts(Op("cummax", ("x", "dim"), "running maxima", kind=Kind.SCAN, statics={"dim": None}))
    ('monoid', 'along')
    """
    wanted = dict.fromkeys([*NEEDED.get(op.kind, ()), *_by_its_fields(op)])
    return tuple(name for name in wanted if getattr(op, name) in (None, (), ""))


def _by_its_fields(op: Op) -> Iterator[str]:
    if "dim" in op.statics and op.kind not in _WITHOUT_DIMENSIONS:
        yield "along"
    if op.conditions and not op.is_condition:
        yield "branches"
    if op.is_condition and op.is_primitive:
        yield "sense"
    if op.is_step:
        yield "kinks"
    if op.is_primitive and op.kind is Kind.ELEMENTWISE and op.domain and not op.edges:
        yield "critical"
