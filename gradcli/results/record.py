"""Records: classes that are frozen dataclasses as they are declared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """A frozen dataclass, as is each class below it."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Make it one; with `kw_only` its fields are named where it is made."""
        super().__init_subclass__()
        dataclass(frozen=True, kw_only=kw_only)(cls)
