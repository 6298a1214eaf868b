"""The fields of a row of the op table, as its docstrings say them, which `python -m tests.row_fields` renews."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import is_dataclass

from gradcli.language.ops import row, signature
from tests import generated

PAGE = generated.GUIDE.parent / "language" / "ops" / "README.md"


def tables() -> str:
    """A table for each class of facts that a row may hold."""
    return "\n".join(_table(facts) for facts in holders())


def holders() -> list[type]:
    """The classes of facts."""
    classes = {**vars(row), **vars(signature)}.values()
    return [facts for facts in classes if isinstance(facts, type) and is_dataclass(facts)]


def _table(facts: type) -> str:
    summary = (inspect.getdoc(facts) or "").partition("\n")[0]
    rows = "".join(f"| `{field}` | {text} |\n" for field, text in documented(facts).items())
    return f"**`{facts.__name__}`** {summary}\n\n| field | says |\n| --- | --- |\n{rows}"


def documented(facts: type) -> Mapping[str, str]:
    """Read the docstring of a class on each of its fields."""
    _, _, attributes = (inspect.getdoc(facts) or "").partition("Attributes:\n")
    said = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE)
    return {name: " ".join(text.split()).replace("|", "\\|") for name, text in said}


if __name__ == "__main__":
    generated.renew(PAGE, "row_fields", tables())
