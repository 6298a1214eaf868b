"""Records: classes that are frozen dataclasses as they are declared, and what of them is written as JSON.

A record is written as an object: its fields in order, each by its name.  Where that is not so, `json_field` says it
beside the field, and `json_property` at a property that is written too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

from gradcli.showing import Shown, ShownInALine

Omit = Callable[[Any, Any], bool]
"""Tells from a record and the value of a member whether the member is left out."""

_KEY = "written"
"""Key of the metadata of a field, and attribute of a computed property."""

Getter = TypeVar("Getter", bound=Callable[[Any], object])


class JsonRule(NamedTuple):
    """Rule for writing a member that is not written by its name and as it is.

    Attributes:
        key: Its key; "" for its name, None for a member that is not written.
        omit: When it is left out.
        before: The key that it stands before, if not the one that follows.
        is_last: Whether it comes after the members of subclasses.
        made: Makes the value that is written of the record, if not the value itself.
    """

    key: str | None = ""
    omit: Omit | None = None
    before: str = ""
    is_last: bool = False
    made: Callable[[Any], object] | None = None


class JsonKey(NamedTuple):
    """A key of a record's object.

    Attributes:
        key: The key.
        name: The field or property.
        get: Gets the value that is written.
        omit: When it is left out; None for a key that is always there.
    """

    key: str
    name: str
    get: Callable[[Any], object]
    omit: Omit | None


def if_none(record: object, value: object) -> bool:
    """Leave out None."""
    return value is None


def if_empty(record: object, value: object) -> bool:
    """Leave out None, and what has no elements or is 0."""
    return not value


def if_whole(name: str) -> Omit:
    """Leave out a count where the list of this name has as many."""
    return lambda record, value: value <= len(getattr(record, name))


def json_field(
    key: str | None = "",
    *,
    omit: Omit | None = None,
    before: str = "",
    is_last: bool = False,
    made: Callable[[Any], object] | None = None,
    default: Any = MISSING,
    default_factory: Any = MISSING,
) -> Any:
    """Declare a field with how it is written; see `JsonRule`."""
    metadata = {_KEY: JsonRule(key, omit, before, is_last, made)}
    if default_factory is not MISSING:
        return field(default_factory=default_factory, metadata=metadata)
    return field(default=default, metadata=metadata)


def json_property(
    key: str = "", *, omit: Omit | None = None, before: str = "", made: Callable[[Any], object] | None = None
) -> Callable[[Getter], Getter]:
    """Mark the function of a property that is written after the fields, or before a key; see `JsonRule`."""

    def marked(get: Getter) -> Getter:
        setattr(get, _KEY, JsonRule(key, omit, before, False, made))
        return get

    return marked


@dataclass_transform(frozen_default=True, field_specifiers=(field, json_field))
class Record:
    """A frozen dataclass, as is each of its subclasses."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Make the subclass a frozen dataclass; with `kw_only` its fields are keyword arguments."""
        super().__init_subclass__()
        is_shown = issubclass(cls, Shown)
        has_repr = issubclass(cls, Shown | ShownInALine)
        dataclass(frozen=True, eq=not is_shown, repr=not has_repr, kw_only=kw_only)(cls)


@lru_cache(maxsize=256)
def json_keys(kind: type) -> tuple[JsonKey, ...]:
    """List the keys of the object that a record is written as, in order.

    >>> class Pair(Record):
    ...     first: int
    ...     second: int | None = json_field("other", omit=if_none, default=None)
    >>> [(member.key, member.get(Pair(1, 2))) for member in json_keys(Pair)]
    [('first', 1), ('other', 2)]
    """
    found = [one for one in _declared(kind) if one[1].key is not None]
    last = [one for one in found if one[1].is_last]
    order = [one for one in found if not one[1].is_last]
    for owner in kind.__mro__:  # those of subclasses come first
        own = [one for one in last if one[0] in vars(owner).get("__annotations__", {})]
        order += own
        last = [one for one in last if one not in own]
    known = [JsonKey(how.key or name, name, how.made or _getter(name), how.omit) for name, how in order]
    inside: dict[str, list[JsonKey]] = {}
    for member, (_, how) in zip(known, order, strict=True):
        inside.setdefault(how.before, []).append(member)
    return tuple(_placed("", inside))


def _placed(before: str, inside: Mapping[str, Sequence[JsonKey]]) -> Iterator[JsonKey]:
    """List the members that stand before a key, each after those that stand before its own."""
    for member in inside.get(before, ()):
        yield from _placed(member.key, inside)
        yield member


def _declared(kind: type[Record]) -> Iterator[tuple[str, JsonRule]]:
    """List the fields, then the computed properties, each with how it is written."""
    for one in fields(kind):
        yield one.name, one.metadata.get(_KEY, JsonRule())
    seen, found = set(), dict[str, JsonRule]()
    for owner in reversed(kind.__mro__):
        for name, one in vars(owner).items():
            if isinstance(one, property) and hasattr(one.fget, _KEY) and one not in seen:  # an alias is the same one
                seen.add(one)
                found[name] = getattr(one.fget, _KEY)  # that of a subclass replaces another one
    yield from found.items()


def _getter(name: str) -> Callable[[Any], object]:
    return lambda record: getattr(record, name)
