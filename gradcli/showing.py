"""Display of an answer in Python: `print`, a notebook, JSON.  The functions that write formats are set from outside.

The package itself sets them, so that an answer from a pickle is shown too: the package is imported before its modules.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from gradcli.arrays import AnyArray


class Picture:
    """Picture in SVG, which notebooks show.

    Attributes:
        svg: Its text.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


_OTHER_NAMES = {
    name: path
    for path, names in {
        "passed": "ok success is_ok valid",
        "value": "y result output_value primal",
        "check.max_relative_error": "error max_error relative_error",
        "formula": "derivative_formula symbolic_gradient expr",
        "to_json()": "json",
        "to_dict()": "dict asdict",
        "jacobian": "J jac",
    }.items()
    for name in names.split()
}
"""Attributes by other names, with those of an answer."""

_DERIVATIVES = frozenset("gradient gradients derivative derivatives grads dx numpy item tolist".split())
"""Names of what an answer gives by the name of a variable."""


class Display:
    """What writes answers, and asks for more of them, which is set from outside."""

    write: ClassVar[Callable[[object, str], str]]
    """Writer of an answer in a format of the shell or of Python; see `gradcli.report.in_python`."""

    formats: ClassVar[Callable[[], tuple[str, ...]]]
    """Names of the formats of the shell; see `gradcli.registry.formats`."""

    tensor: ClassVar[Callable[[AnyArray, str], object]]
    """Maker of a tensor of an array, on a device; see `gradcli.autodiff.run.on_device`."""

    ask: ClassVar[Callable[..., object]]
    """Answers a command on a text at values, as the functions of the package do."""

    in_a_line: ClassVar[Callable[[object], str]]
    """Writer of a part of an answer in a line; see `gradcli.report.in_a_line`."""


class ShownInALine:
    """Base of what Python shows in a line, as the shell does: parts of answers, and passes of a script."""

    __slots__ = ()

    def __repr__(self) -> str:
        return Display.in_a_line(self)


_FILES = frozenset("write save savefig to_file write_text dump export to_disk".split())
"""Names of what writes a file."""

_FORMATS = frozenset("formats format to_string to_str render show".split())
"""Names of what writes a text in a format."""


class Shown:
    """Base of answers that Python shows as the shell does."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Set `__repr__` on the subclass, which may inherit one of a dataclass too."""
        super().__init_subclass__()
        cls.__repr__ = Shown.__repr__  # type: ignore[method-assign]

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        """Write what a prompt shows: a line for a number that agrees, else the compact screen."""
        return Display.write(self, "prompt").removesuffix("\n")

    def __str__(self) -> str:
        """Write the compact screen, as the shell shows it on a terminal of 100 columns."""
        return Display.write(self, "text").removesuffix("\n")

    def __format__(self, form: str) -> str:
        """Write the whole answer in a format of `--format`: `f"{answer:full}"`, `f"{answer:markdown}"`.

        Raises:
            ValueError: There is no such format.
        """
        if form and form not in (known := Display.formats()):
            raise ValueError(f"an answer has no format '{form}'; known are {', '.join(known)}")
        return Display.write(self, form).removesuffix("\n") if form else str(self)

    if not TYPE_CHECKING:  # which knows what is there

        def __getattr__(self, name: str) -> object:
            """Say where what has another name is: `answer.verdict` is `answer.check.verdict`."""
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # with the error of its own
            from difflib import get_close_matches

            own = [one for one in dir(self) if not one.startswith("_")]
            if hasattr(getattr(self, "check", None) if "check" in own else None, name):
                hint = f"it is answer.check.{name}"
            elif (path := _OTHER_NAMES.get(name, "")) and path.partition(".")[0].removesuffix("()") in own:
                hint = f"it is answer.{path}"
            elif name in _FILES | _FORMATS:
                shown = 'f"{answer:FORMAT}"'
                shown = f"pathlib.Path(FILE).write_text({shown})" if name in _FILES else shown
                hint = f"it is {shown}, with one of {', '.join(Display.formats())}"
            elif name in Display.formats():
                hint = f'it is f"{{answer:{name}}}"'
            elif name in _DERIVATIVES and "keys" in own and self.keys():
                hint = f'it is answer["{self.keys()[0]}"]'
            else:
                close = get_close_matches(name, own, 1, 0.7)
                hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(own)}"
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}': {hint}")

    def to_json(self) -> str:
        """Write JSON on one line, as `gradcli --json` does; several products are one object, as in `gradcli batch`."""
        return Display.write(self, "object").removesuffix("\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `to_json()` as a dict: arrays are lists, and `"NaN"` and `"Infinity"` are texts."""
        from json import loads

        found: dict[str, object] = loads(self.to_json())
        return found

    @property
    def latex(self) -> str:
        """The whole answer in LaTeX, as `--format latex` writes it: `f"{answer:latex}"`."""
        return format(self, "latex")

    def plot(self) -> Picture:
        """Draw the answer, for a notebook: curves, a map, a Jacobian, a Hessian, a graph or an explanation.

        Raises:
            GradcliError: Other answers have no picture; or matplotlib is not installed, which draws all but graphs.
        """
        return Picture(Display.write(self, "svg"))

    def _repr_html_(self) -> str:
        """Write the compact screen for a notebook."""
        return Display.write(self, "cell")

    def _repr_latex_(self) -> str:
        """Write the whole answer in LaTeX, where HTML is not shown."""
        return Display.write(self, "fragment")
