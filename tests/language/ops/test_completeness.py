"""The facts of the rows: none is missing, and one that is forgotten is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import pytest

from gradcli.language import ops
from gradcli.language.ops import Kind

NEEDED: Mapping[Kind, tuple[str, ...]] = {
    Kind.REDUCTION: ("monoid",),
    Kind.SCAN: ("monoid",),
    Kind.LIST: ("adds_dimension",),
    Kind.MOVEMENT: ("keeps_order",),
    Kind.MATRIX: ("keeps_shape",),
    Kind.SPECTRAL: ("keeps_shape",),
}


def _missing_facts(op: ops.Op) -> tuple[str, ...]:
    """The facts that a row of its kind needs and does not have."""
    wanted = dict.fromkeys([*NEEDED.get(op.kind, ()), *_by_its_fields(op)])
    return tuple(name for name in wanted if getattr(op, name) in (None, (), ""))


def _by_its_fields(op: ops.Op) -> Iterator[str]:
    if op.conditions and not op.is_condition and op.kind is not Kind.INLINED:
        yield "branches"
    if op.is_condition and op.is_primitive:
        yield "sense"
    if op.is_step:
        yield "kinks"
    if op.is_primitive and op.kind is Kind.ELEMENTWISE and op.domain and not op.edges:
        yield "critical"


@pytest.mark.parametrize("op", ops.ROWS.values(), ids=lambda op: op.name)
def test_no_row_lacks_a_fact(op: ops.Op) -> None:
    """Every reading finds what it asks of an operation of this kind."""
    assert _missing_facts(op) == ()


@pytest.mark.parametrize(
    ("name", "forgotten", "nothing"),
    [
        ("prod", "monoid", None),
        ("cumsum", "monoid", None),
        ("stack", "adds_dimension", None),
        ("flip", "keeps_order", None),
        ("det", "keeps_shape", None),
        ("where", "branches", None),
        ("masked_fill", "branches", None),
        ("gt", "sense", ()),
        ("floor", "kinks", ()),
        ("log", "critical", ()),
    ],
)
def test_a_forgotten_fact_is_named(name: str, forgotten: str, nothing: object) -> None:
    """A row without it is told apart from a whole one."""
    row = dataclasses.replace(ops.TABLE[name], **{forgotten: nothing})  # type: ignore[arg-type]
    assert _missing_facts(row) == (forgotten,)


def test_every_kind_with_needs_has_a_row_that_proves_them() -> None:
    """No need of a kind that no operation has."""
    assert set(NEEDED) <= {op.kind for op in ops.ROWS.values()}
    assert Kind.SCAN in NEEDED


def test_the_monoids_are_operations_of_the_table() -> None:
    """Each folds two by its own operation, which leaves the identity's other operand as it is."""
    for monoid in ops.Monoid:
        assert ops.TABLE[monoid.operation].monoid is monoid
        assert ops.TABLE[monoid.operation].kind is Kind.ELEMENTWISE


def test_a_choice_names_its_own_operands() -> None:
    """The condition, what is taken, and what is not, are all of them."""
    for op in ops.TABLE.values():
        if op.branches is not None:
            assert sorted(dataclasses.astuple(op.branches)) == sorted(op.operands)
            assert op.branches.condition in op.conditions


def test_the_operand_to_guard_is_one() -> None:
    """And the operations of linear coefficients have one for each."""
    for op in ops.TABLE.values():
        assert not op.guarded or op.guarded in op.operands
        assert len(op.coefficients) in (0, len(op.operands))
