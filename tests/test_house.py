"""The house rules that a machine can hold: rooms import one way, nothing evaluates text, nothing is too long."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradcli

PACKAGE = Path(gradcli.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

ALLOWED = {
    "errors": set(),
    "results": {"results"},
    "collector": set(),
    "typesetting": set(),
    "language": {"collector", "errors", "language"},
    "autodiff": {"collector", "errors", "results", "language", "autodiff"},
    "symbolic": {"errors", "results", "language", "symbolic", "typesetting"},
    "reference": {"errors", "language", "reference"},
    "rewriting": {"collector", "errors", "language", "rewriting"},
    "check": {"errors", "results", "language", "autodiff", "symbolic", "reference", "rewriting", "check"},
    "source": {"errors", "results", "language", "symbolic", "report", "source"},
    "questions": {
        "errors",
        "results",
        "language",
        "autodiff",
        "symbolic",
        "reference",
        "check",
        "source",
        "questions",
    },
    "function": {"errors", "results", "language", "questions", "function"},
    "catalog": {"errors", "results", "language", "function"},
    "report": {"errors", "results", "report", "typesetting"},
    "files": {"errors", "results", "language", "files"},
    "requests": {"errors", "results", "function", "files", "requests"},
    "cli": {"", "errors", "results", "language", "function", "catalog", "files", "report", "requests", "cli"},
    "__init__": {"errors", "results", "function"},
    "__main__": {"cli"},
}
"""What each room may import of the package; the readings never import each other."""


def _room(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(module: Path) -> Iterator[tuple[str, bool]]:
    """Every imported module, and whether at the top level."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in tree.body) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" if node.module == "gradcli" else node.module for alias in node.names]
            yield from ((name, node in tree.body) for name in names)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rooms_import_one_way(module: Path) -> None:
    """As drawn in the design: cli, report, function, check, the readings, language."""
    for name, _ in _imports(module):
        if name.split(".")[0] == "gradcli":
            room = [*name.split("."), ""][1]
            assert room in ALLOWED[_room(module)], name


def test_no_room_may_import_more_than_it_does() -> None:
    """So that the table above is the drawing of the house, and a door that nobody uses is closed."""
    used: dict[str, set[str]] = {}
    for module in MODULES:
        names = [name for name, _ in _imports(module) if name.split(".")[0] == "gradcli"]
        used.setdefault(_room(module), set()).update([*name.split("."), ""][1] for name in names)
    assert used == ALLOWED


NARROW = {
    ("files", "language"): {"gradcli.language.shapes"},  # how large a tensor may be
    ("source", "report"): {"gradcli.report"},  # a LaTeX document is an answer in LaTeX
    ("source", "symbolic"): {
        "gradcli.symbolic.derivative",
        "gradcli.symbolic.entry",
        "gradcli.symbolic.printing",
    },  # formulas as they are, never a derivative of its own
    ("cli", "language"): {"gradcli.language.ops"},  # the names of the table, to complete what is typed
    ("requests", "files"): {"gradcli.files.nested"},  # arrays in JSON, and no file
}
"""Doors that are open for a part of a room alone."""


@pytest.mark.parametrize(("room", "other"), NARROW)
def test_some_rooms_know_a_part_of_another_alone(room: str, other: str) -> None:
    """And nothing else of it."""
    names = {name for module in MODULES if _room(module) == room for name, _ in _imports(module)}
    found = {name for name in names if name.split(".")[:2] == ["gradcli", other]}
    assert found == NARROW[room, other]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_torch_reading_imports_torch(module: Path) -> None:
    """And only the shell's rooms are free of SymPy."""
    for name, _ in _imports(module):
        if name.split(".")[0] == "torch":
            assert module.relative_to(PACKAGE) == Path("autodiff/_torch.py")
        if name.split(".")[0] == "sympy":
            assert (
                _room(module) not in ("cli", "files", "report", "results", "errors", "__init__", "autodiff")
                or module.name == "run.py"
            )


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_explain_themselves_and_evaluate_nothing(module: Path) -> None:
    """A docstring, a bounded length, no eval of any kind, no blanket except, no cache that grows with a stream."""
    text = module.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    assert text.count("\n") <= 400
    assert not any(word in text for word in ("maxsize=None", "import cache\n", "functools.cache\n"))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                assert name not in ("exec", "sympify", "parse_expr", "S", "lambdify", "literal_eval")
                assert not (isinstance(node.func, ast.Name) and name in ("eval", "compile", "__import__"))
            case ast.ExceptHandler(type=None):
                pytest.fail(f"{module}: bare except")
            case ast.ExceptHandler(type=ast.Name(id=name)):
                assert name not in ("Exception", "BaseException")
            case ast.FunctionDef(name=name, end_lineno=int(end), lineno=start):
                assert end - start - (ast.get_docstring(node) or "").count("\n") <= 60, name


def test_the_version_is_in_one_place() -> None:
    """The package's metadata reads it from there."""
    from importlib.metadata import version

    assert version("gradcli") == gradcli.__version__


ROOMS = ["autodiff", "check", "function", "questions", "reference", "report", "requests", "source", "symbolic"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_is_on_the_map_of_its_room(room: str) -> None:
    """The docstring of the package: names at the left, what they are for at the right."""
    text = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    mapped = [name for line in text.splitlines() if "  " in line for name in line.partition("  ")[0].split(", ")]
    inside = [
        path.stem for path in (PACKAGE / room).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    ]
    assert sorted(name for name in mapped if name.isidentifier()) == sorted(n for n in inside if not n.startswith("_"))
