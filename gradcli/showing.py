"""How Python shows an answer: `print`, a notebook, JSON.  Knows no format: who does is told to it once.

An answer that comes out of a pickle is shown too, so the package tells it, which is imported before any part of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar


class Shown:
    """Something that is shown as the shell shows it."""

    __slots__ = ()

    write: ClassVar[Callable[[Any, str], str]]
    """The text of an answer in a format of the shell's, or as Python has it; see `gradcli.report.in_python`."""

    def __init_subclass__(cls) -> None:
        """IPython asks the class that has a `__repr__` of its own, as every dataclass does."""
        super().__init_subclass__()
        cls._repr_pretty_ = Shown._repr_pretty_  # type: ignore[method-assign]

    def __str__(self) -> str:
        """The compact screen, as the shell shows it on a terminal of 100 columns."""
        return Shown.write(self, "text").removesuffix("\n")

    def __format__(self, form: str) -> str:
        """All there is to say in a format of `--format`: `f"{answer:full}"`, `f"{answer:markdown}"`.

        Raises:
            ValueError: There is no such format.
        """
        from gradcli.options import FORMATS

        if form not in ("", *FORMATS):
            raise ValueError(f"an answer has no format '{form}'; known are {', '.join(FORMATS)}")
        return Shown.write(self, form).removesuffix("\n") if form else str(self)

    def to_json(self) -> str:
        """JSON on one line, as `gradcli --json` prints it; several products are one object, as in `gradcli batch`."""
        return Shown.write(self, "object").removesuffix("\n")

    def to_dict(self) -> dict[str, Any]:
        """What is in `to_json()`, as a dict: arrays are lists, and `"NaN"` and `"Infinity"` are texts."""
        from json import loads

        found: dict[str, Any] = loads(self.to_json())
        return found

    def _repr_html_(self) -> str:
        """The compact screen in a notebook."""
        return Shown.write(self, "cell")

    def _repr_latex_(self) -> str:
        """All there is to say in LaTeX, where HTML is not shown."""
        return Shown.write(self, "fragment")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The compact screen in IPython."""
        printer.text(str(self))
