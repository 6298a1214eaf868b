"""Records: classes that are frozen dataclasses as they are declared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from gradcli.showing import Shown


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """A frozen dataclass, as is each of its subclasses."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Make the subclass a frozen dataclass; with `kw_only` its fields are keyword arguments."""
        super().__init_subclass__()
        dataclass(frozen=True, eq=not issubclass(cls, Shown), kw_only=kw_only)(cls)
