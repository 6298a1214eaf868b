"""The op table itself: every row is whole, reachable by distinct names, and proved by some table of truths."""

from collections.abc import Mapping

import pytest

from gradcli.language import ops
from gradcli.language.ops import Kind, Meaning
from gradcli.language.program.expansion import definition
from gradcli.language.program.sympy_functions import MEANINGS
from tests.language.operation_count import REASONS, is_read, listed, reason
from tests.language.ops import test_elementwise
from tests.language.ops.cases import CASES
from tests.parsing import parse

TRUTHS: list[Mapping[str, object]] = [test_elementwise.ONE, test_elementwise.TWO, test_elementwise.MORE, CASES]


def test_every_row_has_a_truth() -> None:
    """No dead rows, and no truth of a row that is gone."""
    assert {name for table in TRUTHS for name in table} == set(ops.TABLE)


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_rows_are_whole(op: ops.Op) -> None:
    """A doc line, functions of the libraries that exist, and a meaning in primitives or a rule."""
    import torch

    assert op.doc
    for part in (op.torch,) if op.torch else ():
        found: object = torch
        for name in part.split("."):
            found = getattr(found, name)
        assert callable(found)
    assert set(op.slopes) == set(op.operands) - set(op.undifferentiated) or not op.slopes
    assert op.arb or not op.slopes
    if op.kind is Kind.ELEMENTWISE:
        assert op.is_primitive == (op.name in MEANINGS)
    is_defined = op.kind in (Kind.DEFINED, Kind.INLINED)
    assert op.is_primitive != is_defined or op.kind is Kind.ELEMENTWISE
    is_whole = not op.is_defined_by_torch and op.written is None and ops.REQUIRED not in op.statics.values()
    if not op.is_primitive and is_whole and not op.has_equation:
        statics = tuple(op.statics.values())
        assert all(line.call.op.is_primitive for line in definition(op.name, statics, len(op.operands)).lines)
    text, at = op.worked_example
    is_met = any(line.call.op is op for line in parse(text).lines)
    assert is_met or op.defined_by is Meaning.TORCH_INLINE or op.name in ("max", "min")
    assert set(parse(text).names) == set(at)


def test_names_and_aliases_are_distinct() -> None:
    """No alias hides another operation."""
    names = [name for op in ops.TABLE.values() for name in (op.name, *op.aliases)]
    assert len(names) == len(set(names))
    assert ops.find("ln") is ops.TABLE["log"]
    assert ops.find("nothing") is None


@pytest.mark.parametrize("fact", [{"domian": "x > 0"}, {"doc": "the same"}, {"torch_name": "f"}])
def test_a_fact_of_no_field_is_refused(fact: Mapping[str, str]) -> None:
    """And one that is given twice; mypy and an editor see the same."""
    with pytest.raises(TypeError, match=r"unexpected keyword|multiple values"):
        ops.Op("f", ("x",), "the value", **fact)  # type: ignore[arg-type]


def test_most_of_torch_is_read_and_the_rest_has_a_reason() -> None:
    """Of its own list of operations with derivatives."""
    names = listed()
    unread = [name for name in names if not is_read(name)]
    assert len(names) - len(unread) >= 370
    assert [name for name in unread if not reason(name)] == []


def test_no_reason_is_given_for_what_is_read() -> None:
    """Nor for what torch does not have."""
    names = set(listed())
    for given in REASONS.values():
        assert all(name in names and not is_read(name) for name in given.split()), given
