"""How much of torch is read: the count does not fall, and what is not read has a reason."""

from __future__ import annotations

from tests.language.operation_count import REASONS, is_read, listed, reason


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
