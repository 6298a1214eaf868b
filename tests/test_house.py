"""The house rules that a machine can hold: rooms import one way, nothing evaluates text, nothing is too long."""

import ast
import functools
import graphlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeGuard

import pytest

import gradcli
from gradcli.language import ops
from gradcli.parts import PARTS
from gradcli.registry import formats
from tests import of_parts, sources, warm
from tests.conftest import process

PACKAGE = Path(gradcli.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

READINGS = ("autodiff", "symbolic", "reference")
"""Rooms that know nothing of each other: they meet in `crosscheck`."""


OF_THE_CORE = ("gradcli", "part", "command", "renderer", "listing", "PARTS", "FIRST", "all_parts", "is_listed")
"""What lists the parts, and says what one is; any other module is a part, or for type checkers."""


def _room(module: Path) -> str:
    first, *others = module.relative_to(PACKAGE).parts
    is_typed = others == ["typed_function.py"]
    return f"parts.{others[0]}" if first == "parts" and (len(others) > 1 or is_typed) else first.removesuffix(".py")


def _named_room(name: str) -> str:
    """Name the room of a module by its name; the list of the parts and their protocol are of the core."""
    _, first, *others = [*name.split("."), "gradcli"][:4] if "." in name else ["", "gradcli"]
    return f"parts.{others[0]}" if first == "parts" and others[0] not in OF_THE_CORE else first


@functools.cache
def _imports(module: Path) -> tuple[tuple[str, bool], ...]:
    """Every imported module, and whether at the top level."""
    return tuple(_read(module))


def _read(module: Path) -> Iterator[tuple[str, bool]]:
    body = set(sources.tree(module).body)
    for node in sources.nodes(module):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in body) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            is_open = node.module in ("gradcli", "gradcli.parts")
            names = [f"{node.module}.{alias.name}" if is_open else node.module for alias in node.names]
            yield from ((name, node in body) for name in names)


def _levels() -> list[tuple[str, ...]]:
    """The rooms of the core as the docstring of the package draws them, from the top."""
    lines = (ast.get_docstring(sources.tree(PACKAGE / "__init__.py")) or "").splitlines()
    named = [line.partition("  ")[0] for line in lines if "  " in line.strip() and line[:1].islower()]
    return [tuple(line.split(", ")) for line in named]


def test_rooms_import_those_below_them() -> None:
    """As drawn in the docstring of the package, where rooms on one line know nothing of each other."""
    level = {room: n for n, rooms in enumerate(_levels()) for room in rooms}
    for module in MODULES:
        room = _room(module)
        others = {_named_room(name) for name, _ in _imports(module) if name.split(".")[0] == "gradcli"}
        for other in others - {room, "gradcli"}:
            if room in level and not other.startswith("parts."):
                assert level[other] > level[room], (module, other)
    assert len({level[reading] for reading in READINGS}) == 1


FOR_TYPE_CHECKERS = {
    ("__init__.py", "gradcli.parts.running.plain_functions"),  # for type checkers
    ("__init__.py", "gradcli.parts.running.script_runs"),
    ("__init__.py", "gradcli.parts.typed_function"),
}
"""Names that `gradcli` itself gives: what a part adds to the package, for type checkers."""


def test_no_room_of_the_core_imports_a_part() -> None:
    """But for the list of them, and what a part is; and a part imports of another what its `__init__` offers."""
    found = set()
    for module in MODULES:
        room = _room(module)
        for name, _ in _imports(module):
            other = _named_room(name) if name.split(".")[0] == "gradcli" else ""
            if other.startswith("parts.") and other != room and not (room.startswith("parts.") and name.count(".") < 3):
                found.add((str(module.relative_to(PACKAGE)), name))
    assert found == FOR_TYPE_CHECKERS


def _others_needed(nodes: Iterable[ast.AST], listed: Sequence[str]) -> Iterator[str]:
    """List the parts that a piece of code imports where `is_listed` has not said that they are there.

    Imports for type checkers are left out.

    Args:
        nodes: The code.
        listed: Names of parts that are there.
    """
    for node in nodes:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.If(test=ast.Call(func=ast.Name(id="is_listed"), args=[ast.Constant(value=str(part))])):
                yield from _others_needed(node.body, [*listed, part])
                yield from _others_needed(node.orelse, listed)
                continue
            case ast.ImportFrom(module=str(module)):
                names = {".".join(f"{module}.{alias.name}".split(".")[:3]) for alias in node.names}
            case ast.Import():
                names = {".".join(alias.name.split(".")[:3]) for alias in node.names}
            case _:
                names = set()
        yield from names & {*PARTS} - {f"gradcli.parts.{part}" for part in listed}
        yield from _others_needed(ast.iter_child_nodes(node), listed)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_goes_on_without_the_others(part: str) -> None:
    """What it takes of another part it has a substitute for, where that is deleted."""
    room = part.removeprefix("gradcli.")
    for module in MODULES:
        if _room(module) == room:
            assert [*_others_needed([sources.tree(module)], [room.removeprefix("parts.")])] == [], module


@pytest.mark.part("claims")
@pytest.mark.parametrize(
    ("text", "is_seen"),
    [
        ("def f():\n    from gradcli.parts.claims import proof", True),
        ("from gradcli.parts import claims", True),
        ("import gradcli.parts.claims.proof", True),
        ("try:\n    from gradcli.parts.claims import proof\nexcept ModuleNotFoundError:\n    pass", True),
        ("if is_listed('plot'):\n    from gradcli.parts.claims import proof", True),
        ("if is_listed('claims'):\n    pass\nelse:\n    from gradcli.parts.claims import proof", True),
        ("if is_listed('claims'):\n    from gradcli.parts.claims import proof", False),
        ("if TYPE_CHECKING:\n    from gradcli.parts.claims import proof", False),
    ],
)
def test_a_part_that_is_needed_is_seen(text: str, *, is_seen: bool) -> None:
    """Where nothing asks whether it is listed."""
    assert [*_others_needed([ast.parse(text)], ["explain"])] == ["gradcli.parts.claims"] * is_seen


NAMES = {".".join(module.relative_to(PACKAGE.parent).with_suffix("").parts): module for module in MODULES}


def _modules_imported(module: Path) -> set[str]:
    """The modules of the package that one imports, from their room too, and to check types."""
    found = set()
    for node in sources.nodes(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            inside |= {f"{name}.__init__" for name in inside}
            found |= inside & set(NAMES) or {node.module, f"{node.module}.__init__"} & set(NAMES)
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    """A text becomes a tree, the tree a Program, and nothing goes back; imports in functions and for types count."""
    graph = {name: _modules_imported(module) for name, module in NAMES.items()}
    graphlib.TopologicalSorter(graph).prepare()
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(graph | {"gradcli.language.ops.row": {"gradcli.language.parsing"}}).prepare()


def test_the_tree_knows_no_operation() -> None:
    """The lowering knows the meaning of the words of a text."""
    known = ("gradcli.errors", "gradcli.language.text", "gradcli.option_words")
    for name, module in NAMES.items():
        if name.startswith("gradcli.language.text."):
            assert all(n.startswith(known) for n in _modules_imported(module))


NARROW = {
    ("files", "language"): {"gradcli.language.program.wengert"},  # how large a tensor may be
    ("cli", "questions"): {"gradcli.questions.functions"},
    ("cli", "language"): {  # to complete, to hint, and for names of options as a text has them
        *("gradcli.language.ops", "gradcli.language.spellings", "gradcli.language.spelled_texts"),
        *("gradcli.language.text.greek", "gradcli.language.text.juxtaposition", "gradcli.language.text.signs"),
        "gradcli.language.units",
    },
    **of_parts.rows("NARROW"),
}
"""Doors that are open for a part of a room alone."""


@pytest.mark.parametrize(("room", "other"), NARROW)
def test_some_rooms_know_a_part_of_another_alone(room: str, other: str) -> None:
    """And nothing else of it."""
    names = {name for module in MODULES if _room(module) == room for name, _ in _imports(module)}
    found = {name for name in names if name.split(".")[:2] == ["gradcli", other]}
    assert found == NARROW[room, other]


def test_only_the_torch_reading_imports_torch() -> None:
    """And only the shell's rooms are free of SymPy."""
    free = ("cli", "files", "report", "results", "errors", "__init__", "autodiff")
    for module in MODULES:
        packages = {name.split(".")[0] for name, _ in _imports(module)}
        assert "torch" not in packages or module == PACKAGE / "autodiff/_torch.py", module
        assert "sympy" not in packages or _room(module) not in free or module.name == "run.py", module


def test_modules_explain_themselves_and_evaluate_nothing() -> None:
    """A docstring, a bounded length, no eval of any kind, no blanket except, no cache that grows with a stream."""
    for module in MODULES:
        text = module.read_text(encoding="utf-8")
        assert ast.get_docstring(sources.tree(module)), module
        assert text.count("\n") <= 500, module
        assert not any(word in text for word in ("maxsize=None", "import cache\n", "functools.cache\n")), module
        for node in sources.nodes(module):
            fault = _fault(node)
            assert not fault or (str(module.relative_to(PACKAGE)), fault) in DOORS, (module, fault)


DOORS = {
    ("autodiff/jacobians.py", "except BaseException"),
    ("autodiff/backward_passes.py", "except BaseException"),
    ("parts/batch/replying.py", "except Exception"),
    ("parts/listing.py", "except Exception"),
    ("parts/running/targets.py", "except Exception"),
    ("parts/running/script_process.py", "except BaseException"),
    ("parts/running/script_process.py", "except Exception"),
    ("parts/running/late_recording.py", "except Exception"),
    ("parts/running/scripts.py", "except Exception"),
    ("parts/warm/server.py", "except BaseException"),
}
"""Handlers of bugs, which must not end what follows, and of whatever code of the user's raises."""


def _fault(node: ast.AST) -> str:
    """Name a fault of a node of code; empty if it has none."""
    match node:
        case ast.Call(func=ast.Name(id="eval" | "compile" | "__import__" as name)):
            return name
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            evaluates = name in ("exec", "sympify", "parse_expr", "S", "lambdify", "literal_eval")
            return name if evaluates else ""
        case ast.ExceptHandler(type=None):
            return "a bare except"
        case ast.ExceptHandler(type=ast.Name(id="Exception" | "BaseException" as name)):
            return f"except {name}"
        case ast.FunctionDef(name=name, end_lineno=int(end), lineno=start):
            return name if end - start - (ast.get_docstring(node) or "").count("\n") > 60 else ""
    return ""


def test_the_rules_are_seen_to_be_broken() -> None:
    """Each of them."""
    broken = [
        "eval(x)",
        "sympy.sympify(x)",
        "S(x)",
        "try:\n    y\nexcept Exception:\n    z",
        "try:\n    y\nexcept:\n    z",
    ]
    broken.append("def f():\n" + "    pass\n" * 61)
    for text in broken:
        assert any(map(_fault, ast.walk(ast.parse(text)))), text
    for text in ("x.eval()", "x.compile()", "def f():\n" + "    pass\n" * 60):
        assert not any(map(_fault, ast.walk(ast.parse(text)))), text


MOST_ANY = 250
"""Places where the package says Any; fewer are better, and none may be added without another being named."""


def test_any_stands_in_few_places() -> None:
    """A type is named where there is one: what may be anything is an object."""
    nodes = (node for module in MODULES for node in sources.nodes(module))
    assert sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes) <= MOST_ANY


def test_no_function_has_a_name_that_cannot_be_searched_for() -> None:
    """A preposition or a participle on its own stands on every page."""
    found = [
        f"{module.name}:{node.lineno}"
        for module in MODULES
        for node in sources.nodes(module)
        if isinstance(node, ast.FunctionDef) and node.name in ("at", "made", "of", "shown", "written")
    ]
    assert found == []


def test_no_class_has_the_name_of_another() -> None:
    """So that a name can be searched for."""
    found = [node.name for module in MODULES for node in sources.tree(module).body if isinstance(node, ast.ClassDef)]
    assert sorted(found) == sorted(set(found))


def test_the_version_is_in_one_place() -> None:
    """The package's metadata reads it from there."""
    from importlib.metadata import version

    assert version("gradcli") == gradcli.__version__


ROOMS = sorted(path.parent for path in MODULES if path.name == "__init__.py" and path.parent.name != "commands")
"""All but that of the commands, whose map is `gradcli --help`."""


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE)))
def test_every_module_is_on_the_map_of_its_room(room: Path) -> None:
    """The docstring of the package: names at the left, what they are for at the right."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    mapped = [name for line in text.splitlines() if "  " in line for name in line.partition("  ")[0].split(", ")]
    inside = [path.stem for path in room.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    if room == PACKAGE / "report/render":  # in which each module is a format, and has its name
        inside = [name for name in inside if name not in formats()]
    assert sorted(name for name in mapped if name.isidentifier()) == sorted(n for n in inside if not n.startswith("_"))


PARALLEL = [
    ("cli", "questions", "questions/commands", "results", "report/compose"),  # a file a family of commands
    tuple(f"parts/{name.rpartition('.')[2]}" for name in PARTS),  # the command of each in the shell
    ("symbolic/printing", "parts/pages"),  # a file a notation
]
"""Rooms in which one name is one role."""


def test_a_name_is_one_role() -> None:
    """No two files share a name, but in rooms that are parallel."""
    rooms: dict[str, set[str]] = {}
    for module in MODULES:
        if module.name not in ("__init__.py", "__main__.py"):
            rooms.setdefault(module.name, set()).add(str(module.parent.relative_to(PACKAGE)))
    shared = {name: places for name, places in rooms.items() if len(places) > 1}
    assert {n: p for n, p in shared.items() if not any(p <= set(parallel) for parallel in PARALLEL)} == {}


RULES = {
    "language/spellings.py": "names that other tools have for functions",
    "language/program/sympy_functions.py": "what each primitive means to SymPy",
    "language/program/movement.py": "where each movement puts elements",
    "language/program/shapes.py": "the sizes of each constant tensor",
    "language/program/doubtful_losses.py": "losses that are often given what they do not take",
    "language/program/expansion.py": "meanings that depend on a constant argument",
    "language/program/certain_conditions.py": "ranges of values over all real inputs",
    "language/program/passes.py": "factors of matrices, which arrays bound as a whole",
    "language/program/wengert.py": "arithmetic of whole numbers",
    "language/program/shape_costs.py": "what divides, which is no matrix",
    "language/program/numeric.py": "numbers of constant tensors, values that torch refuses, order where nan is last",
    "language/program/program_text.py": "signs, and how tightly they bind",
    "language/program/library_calls.py": "calls of torch that are no function of the row's arguments",
    "symbolic/element.py": "constant tensors, what SymPy evaluates to its last digit",
    "symbolic/origins.py": "movements in index notation",
    "symbolic/operations.py": "signs in the place of names, and words for the adjoints of some",
    "symbolic/matrix_algebra/program_forms.py": "the algebra of whole tensors, operation by operation",
    "symbolic/matrix_algebra/sums.py": "functions that are positive",
    "symbolic/matrix_algebra/equality.py": "logarithms, and those of absolute values",
    "symbolic/matrix_algebra/known_functions.py": "functions of exponentials that have names",
    "symbolic/matrix_algebra/spelling.py": "commands of LaTeX",
    "symbolic/matrix_algebra/elementwise.py": "exponentials and logarithms of sums and products",
    "symbolic/printing/pretty.py": "names of functions in SymPy, and for people",
    "adjoint/slopes.py": "powers, whose slope at 0 SymPy does not know, and functions of an order",
    "adjoint/linear_rules.py": "the transpose of each movement",
    "adjoint/tidying.py": "what is shorter for people",
    "adjoint/matrix_rules.py": "the calculus of matrices",
    "reference/array_values.py": "factors of matrices, which are bounded as a whole",
    "reference/directional_series.py": "the calculus of series on a ray",
    "reference/series.py": "power series",
    "reference/exact_forms.py": "the algebra of linear forms",
    "reference/exact_series.py": "the calculus of series on a ray, in exact numbers",
    "reference/rounded.py": "kernels that round their argument, and the logarithm of 0 as torch has it",
    "crosscheck/jumps.py": "the cut of the angle",
    "reference/power_series.py": "power series, and the derivatives of functions in terms of others",
    "questions/local_adjoints.py": "signs in the place of names",
    "questions/functions.py": "cases of a meaning, and what is no method in torch",
    **of_parts.rows("RULES"),
}
"""The modules that may tell operations apart by name, as their mathematics differs, and in what."""

READERS = ("language/ops/", "language/lower/", "language/text/latex_words.py", "parts/paste/")
"""The table itself, and what reads the notations of libraries, in which calls have names."""

HOMONYMS = frozenset(["index", "diagonal", "dot", "ones"])
"""Operations whose names are words of other things, too."""


def _names_in(node: ast.expr) -> Iterator[str]:
    """The strings that a comparison, a pattern or a table has for names."""
    match node:
        case ast.Constant(value=str(word)):
            yield word
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _names_in(part)
        case ast.Dict(keys=keys):
            for key in keys:
                yield from _names_in(key) if key is not None else ()


def _told_apart(node: ast.AST) -> Iterator[str]:
    """List the words by which a piece of code tells operations apart."""
    match node:
        case ast.Compare(left=left, comparators=others):
            for part in (left, *others):
                yield from _names_in(part)
        case ast.MatchValue(value=value):
            yield from _names_in(value)
        case ast.Dict() | ast.Set():
            yield from _names_in(node)
        case ast.Call(func=ast.Name(id="frozenset" | "set"), args=[words]):
            yield from _names_in(words)


def test_facts_of_operations_stand_in_their_rows() -> None:
    """No other module asks for an operation by name; those with rules of their own are listed, and all of them do."""
    names = set(ops.TABLE) - HOMONYMS
    core = "language adjoint autodiff symbolic reference crosscheck questions"
    rooms = (*core.split(), "parts/improve", "parts/claims", "parts/code")
    found: dict[str, set[str]] = {}
    for module in MODULES:
        place = str(module.relative_to(PACKAGE))
        words = {word for node in sources.nodes(module) for word in _told_apart(node)}
        if place.startswith(rooms) and not place.startswith(READERS) and module.name != "shell.py" and words & names:
            found[place] = words & names
    assert {place: words for place, words in found.items() if place not in RULES} == {}
    assert set(RULES) <= set(found)


DIFFERENTIATES = {
    "adjoint/slopes.py": "the slopes of elementwise operations",
    "symbolic/derivative.py": "formulas in index notation",
    "language/program/sympy_functions.py": "how SymPy differentiates the functions of the language",
    "reference/rules.py": "by how much slopes change along a ray, for its series",
    **of_parts.rows("DIFFERENTIATES"),
}
"""The modules that differentiate expressions."""

GRADIENTS = {
    "questions/gradients.py": "scripts",
    "questions/local_adjoints.py": "explanations, and their drawings",
    "crosscheck/bounded_gradient.py": "whole arrays with bounds",
    "crosscheck/gradient_point.py": "balls, at second order",
    "crosscheck/known_slopes.py": "whole arrays with bounds, many products at one point",
    **of_parts.rows("GRADIENTS"),
}
"""The modules that ask for the gradient of a Program, and what reads it."""

FORWARD = {"reference/enclosure_pass.py": "tangents of balls, with the slopes of rules"}
"""The modules that have derivatives of their own along a Program."""


def _differentiates(node: ast.AST) -> bool:
    """Tell whether a node differentiates an expression of SymPy: `e.diff(x)`, but not `np.diff(a)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="diff", value=value)):
            return not (isinstance(value, ast.Name) and value.id in ("np", "torch"))
    return False


def _carries_derivatives(node: ast.AST) -> bool:
    """Tell whether a function brings adjoints or tangents through operations, by its name."""
    return isinstance(node, ast.FunctionDef) and node.name.strip("_") in ("adjoints", "tangents", "swept")


def test_one_room_differentiates_programs() -> None:
    """Others ask it for a gradient and evaluate that: none has rules of its own, nor lines of an adjoint."""
    expressions, programs, readers = set(), set(), set()
    for module in MODULES:
        place, room = str(module.relative_to(PACKAGE)), _room(module)
        packages = {name.split(".")[0] for name, _ in _imports(module)}
        nodes = [*sources.nodes(module)]
        if "sympy" in packages and any(map(_differentiates, nodes)):
            expressions.add(place)
        if room in ("reference", "crosscheck", "symbolic", "parts.code") and any(map(_carries_derivatives, nodes)):
            programs.add(place)
        inside = {name.removeprefix("gradcli.adjoint.") for name, _ in _imports(module)} & {
            path.stem for path in (PACKAGE / "adjoint").glob("*.py")
        }
        if room != "adjoint" and inside - {"slopes"}:
            assert inside <= {"slopes", "gradient", "row_rules", "tidying"}, module
            readers.add(place)
    assert expressions == set(DIFFERENTIATES)
    assert programs == set(FORWARD)
    assert readers == set(GRADIENTS)


@pytest.mark.parametrize("text", ["e.diff(x)", "sympy.diff(e, x)", "f(x).diff(y)"])
def test_a_derivative_of_an_expression_is_seen(text: str) -> None:
    """And that of an array is none."""
    assert any(map(_differentiates, ast.walk(ast.parse(text))))
    assert not any(map(_differentiates, ast.walk(ast.parse("np.diff(a)"))))
    assert any(map(_carries_derivatives, ast.walk(ast.parse("def _adjoints(values):\n    pass"))))


ENTERED = """
import sys, gradcli.cli
entered, lines = set(), set()
def look(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(sys.argv[1]):
        entered.add((code.co_filename, "" if code.co_name.endswith(("comp>", "expr>")) else code.co_qualname))
        last = max(line or 0 for _, _, line in code.co_lines())
        lines.update((code.co_filename, line) for line in range(code.co_firstlineno, last + 1))
for line in sys.argv[2:]:
    gradcli.cli.main(line.split())
    entered.clear()
    lines.clear()
    sys.setprofile(look)
    gradcli.cli.main(line.split())
    sys.setprofile(None)
    print(len({file for file, _ in entered}), len({one for one in entered if one[1]}), len(lines), file=sys.stderr)
"""
"""Counts for each command line the modules, the functions and their lines that its second call in a process enters."""


def test_a_short_question_enters_few_modules_and_functions(tmp_path: Path) -> None:
    """As many as a reader has to open who follows it; who is to change the main job reads at most 6,000 lines."""
    most = {"vjp x**2 --at 1,2 --v 1,1": "83 510 6000", **of_parts.rows("ENTERED")}
    (tmp_path / "entered.py").write_text(ENTERED, encoding="utf-8")
    run = process(warm.runner(), str(tmp_path / "entered.py"), str(PACKAGE), *most)
    few = " ".join(most.values()).split()
    assert all(int(found) <= int(one) for found, one in zip(run.err.split(), few, strict=True)), run.err


# -- tests say what they compared


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """All that a function has of its own, and not of functions within it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield child
            yield from _own(child)


def _silent(function: ast.FunctionDef) -> bool:
    """Whether what asserts may leave without a word, and no assertion is about a number that it counts up."""
    nodes = [*_own(function)]
    asserts = [node for node in nodes if isinstance(node, ast.Assert)]
    leaves = any(
        (isinstance(node, ast.Return) and node.value is None)
        or (isinstance(node, ast.ExceptHandler) and all(isinstance(one, _WORDLESS) for one in node.body))
        for node in nodes
    )
    if not asserts or not leaves:
        return False
    asserted = {name.id for node in asserts for name in ast.walk(node) if _is_name(name)}
    counted = {node.target.id for node in nodes if isinstance(node, ast.AugAssign) and _is_name(node.target)}
    return not asserted & counted


_WORDLESS = (ast.Pass, ast.Continue, ast.Break, ast.Return)

RENEWING = {"test_a_command_of_a_document_prints_what_is_shown": "renews the documents where it is asked to"}
"""Tests that may leave without a comparison, with the reason."""


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def test_no_test_passes_without_a_comparison() -> None:
    """What returns, or passes over an error, counts what it compared, and asserts the count."""
    for module in sorted(Path(__file__).parent.rglob("*.py")):
        functions = (node for node in sources.nodes(module) if isinstance(node, ast.FunctionDef))
        assert [one.name for one in functions if _silent(one) and one.name not in RENEWING] == [], module


@pytest.mark.parametrize(
    ("body", "is_silent"),
    [
        ("if x:\n    return\nassert x", True),
        ("try:\n    x()\nexcept ValueError:\n    pass\nassert x", True),
        ("for n in x:\n    try:\n        n()\n    except ValueError:\n        continue\n    assert n", True),
        ("for n in x:\n    try:\n        n()\n    except ValueError:\n        continue\n    k += 1\nassert k", False),
        ("try:\n    x()\nexcept ValueError:\n    found = 1\nassert found", False),
        ("def f():\n    return\nassert x", False),
    ],
)
def test_a_silent_test_is_seen(body: str, *, is_silent: bool) -> None:
    """By a return, or an error that is passed over, unless what was compared is counted."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    (function,) = ast.parse(f"def test_it(x, k=0):\n{lines}").body
    assert isinstance(function, ast.FunctionDef)
    assert _silent(function) == is_silent
