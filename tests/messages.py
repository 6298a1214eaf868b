"""The messages of the guide, which `python -m tests.messages` renews: each error of the source, and what it says to do.

An error is found where it is made: a call of a class of errors, or of `error` and `code` of a text.  What is known only
when it is raised is three dots.
"""

import ast
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import gradcli
from gradcli import errors
from gradcli.errors import GradcliError
from tests import generated, sources

PAGE = generated.GUIDE / "messages.md"
PACKAGE = Path(gradcli.__file__).parent

DOTS = "…"

TOPICS = {
    "Expressions": (
        "language/text",
        "language/lower",
        "language/parsing.py",
        "language/function_text.py",
        "parts/paste",
    ),
    "Shapes and operations": ("language/program", "language/ops", "language/foreign.py"),
    "Values, v and the variables": ("language/inputs.py", "language/snippet_result.py", "arrays.py", "questions"),
    "Torch, autograd and devices": ("autodiff", "adjoint", "reference", "crosscheck", "symbolic"),
    "Claims, expected numbers and assumptions": ("parts/claims",),
    "Formulas without values": ("parts/closed_forms",),
    "Your own functions and scripts": ("parts/running", "recording"),
    "Explanations, graphs and scripts that are written": ("parts/explain", "parts/code"),
    "Boxes": ("parts/everywhere",),
    "Pictures and better forms": ("parts/plot", "parts/figures", "parts/improve", "parts/pages"),
    "Files of values": ("files",),
    "Tables and many points": ("parts/tables",),
    "Sparse matrices": ("parts/sparse",),
    "Requests of batch": ("parts/batch",),
    "The command line and its output": ("cli", "report", "registry.py", "parts/warm", "parts/listing.py"),
    "Python": ("function.py", "module_functions.py", "results", "showing.py", "errors.py", "parts/part.py"),
}
"""Headings of the page, each with the rooms whose errors stand there."""

ADVICE = {
    "error": "read the message; it names the place",
    "syntax": "correct the text at the caret; [the language](language.md) says what may be typed",
    "code": "run it: `gradcli run FILE.py`, or name a function of it, `gradcli vjp FILE.py::NAME`",
    "unknown-function": "`gradcli functions WORD` searches for a function",
    "shape": "compare the shapes that are named; sizes are equal or 1, counted from the last",
    "value": "correct the value or the option that is named",
    "user-code": "the error is in your code: its line is named",
    "too-large": "[limits](limits.md) has each limit with a way out",
    "usage": "`--help` of the command has its options",
    "output": "look at the disk, the folder and its rights",
    "internal": "report it, with the command; `GRADCLI_DEBUG=1` shows the traceback",
}
"""What to do about an error of a kind, where the error itself has no hint."""

OTHERS = (
    ("… is of a column and a matrix", "write the row, as the hint does, or `.*` element by element"),
    (
        "… is code, and code is run only where you say so",
        "run it: `gradcli run FILE.py`, or write the form of the hint",
    ),
    ("no such command '…'…", "`gradcli --help` lists the commands"),
    ("no such option '…'", "`--help` of the command lists its options"),
    ("missing argument 'EXPR'", "give the expression, in quotes"),
    ("option '…' requires an argument", "write the value after it"),
    ("invalid value for '…': …", "the words after the colon say which values there are"),
    ("got unexpected extra arguments (…)", "put an expression with blanks into quotes"),
)
"""Messages of the library that reads the command line, and two whose words stand in tables."""


@dataclass(frozen=True, order=True)
class Message:
    """An error as it is written in the source.

    Attributes:
        text: The message, with dots for what varies.
        hint: The remedy; empty where it is only known when the error is raised.
        kind: The word for its kind.
        topic: The heading that it stands under.
    """

    text: str
    hint: str
    kind: str
    topic: str


def kinds() -> Mapping[str, type[GradcliError]]:
    """The first class of each kind of error, in the order of the source."""
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, GradcliError)]
    return {one.kind: one for one in reversed(classes)}


@functools.cache
def messages() -> list[Message]:
    """All messages of the source, sorted within their topics; several hints at one are joined."""
    hints: dict[Message, list[str]] = {}
    for message in (message for path in _with_errors() for message in _messages_of(path)):
        hints.setdefault(replace(message, hint=""), []).append(message.hint)
    found = [replace(one, hint="; or ".join(sorted({*filter(None, said)}))) for one, said in hints.items()]
    order = list(TOPICS)
    return sorted(found, key=lambda one: (order.index(one.topic), one.text.lower(), one))


def pattern(message: str) -> re.Pattern[str]:
    """What a message of the page looks like when it is raised."""
    return re.compile(".*".join(re.escape(part) for part in message.split(DOTS)), re.DOTALL)


def page() -> str:
    """The kinds, and a table of messages for each topic."""
    rows = "".join(
        f"| `{kind}` | {one.exit_code} | {_summary(one)} | {ADVICE[kind]} |\n" for kind, one in sorted(kinds().items())
    )
    parts = [f"## Kinds of errors\n\n| kind | exit code | is | what to do |\n| --- | --- | --- | --- |\n{rows}"]
    for topic, group in itertools.groupby(messages(), key=lambda one: one.topic):
        rows = "".join(f"| {_code(one.text)} | {_advice(one)} |\n" for one in group)
        parts.append(f"## {topic}\n\n| message | what to do |\n| --- | --- |\n{rows}")
    lines = "".join(f"| {_code(text)} | {hint} |\n" for text, hint in OTHERS)
    parts.append(f"## Other messages\n\n| message | what to do |\n| --- | --- |\n{lines}")
    return "\n".join(parts)


def _advice(message: Message) -> str:
    return _cell(message.hint) or f"see kind `{message.kind}`"


def _summary(kind: type) -> str:
    summary = (kind.__doc__ or "").partition("\n")[0].rstrip(".")
    return "an error that prevents an answer" if kind is GradcliError else f"{summary[0].lower()}{summary[1:]}"


def _cell(text: str) -> str:
    """Text that Markdown shows as it is, in a cell."""
    return re.sub(r"([\\|*_<>`\[\]~^])", r"\\\1", text)


def _code(text: str) -> str:
    """Text as code in a cell."""
    ticks = "``" if "`" in text else "`"
    return f"{ticks}{text.replace('|', chr(92) + '|')}{ticks}"


# -- errors in the source


def _messages_of(path: Path) -> Iterator[Message]:
    room = path.relative_to(PACKAGE).as_posix()
    topic = next((topic for topic, rooms in TOPICS.items() if room.startswith(rooms)), "")
    for call, known in _calls(path):
        kind, hint = _kind_of(call), _hint_of(call)
        if kind is None:
            continue
        hints = [text for text in _texts(hint, known) if _says(text)] if hint is not None else []
        behind = " is code, and code is run only where you say so" * (kind == "code")
        for text in filter(_says, _texts(call.args[0], known)):
            if not topic:
                raise LookupError(f"{room} has an error, and stands in no topic of tests.messages")
            yield Message(f"{text}{behind}", "; or ".join(dict.fromkeys(hints)), kind, topic)


def _kind_of(call: ast.Call) -> str | None:
    """The kind of the error that a call makes; None if it makes none."""
    match call:
        case ast.Call(func=ast.Attribute(attr="code"), args=[_, _, *_]):
            return "code"
        case ast.Call(func=ast.Attribute(attr="error"), args=[_, _, *_]):
            named = [one.value.id for one in call.keywords if one.arg == "kind" and isinstance(one.value, ast.Name)]
            return _classes().get("".join(named), "syntax")
        case ast.Call(func=ast.Name(id=name), args=[_, *_]):
            return _classes().get(name)
        case _:
            return None


def _hint_of(call: ast.Call) -> ast.expr | None:
    """The argument with the hint."""
    found = next((one.value for one in call.keywords if one.arg == "hint"), None)
    return call.args[2] if found is None and len(call.args) > 2 else found


@functools.cache
def _classes() -> Mapping[str, str]:
    """The kinds of all classes of errors, those of other modules by the class that they inherit from."""
    found = {one.__name__: one.kind for one in vars(errors).values() if isinstance(one, type) and hasattr(one, "kind")}
    for text in _with_errors().values():
        for name, base in re.findall(r"^class (\w+)\((\w+)", text, re.MULTILINE):
            if base in found:
                found.setdefault(name, found[base])
    return found


@functools.cache
def _with_errors() -> Mapping[Path, str]:
    """The modules that make errors, with their texts."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    return {path: text for path, text in texts.items() if _MADE.search(text)}


Known = Mapping[str, list[ast.expr]]
"""Values that a name has within a function."""

_MADE = re.compile(r"Error\(|\.(?:error|code)\(")


def _calls(path: Path) -> Iterator[tuple[ast.Call, Known]]:
    """The calls of the functions that make an error, with the values of names there, and of constants of the module."""
    tree = sources.tree(path)
    lines = [number for number, line in enumerate(_with_errors()[path].splitlines(), 1) if _MADE.search(line)]
    of_module = _assigned([one for one in tree.body if isinstance(one, ast.Assign)])
    waiting: list[tuple[ast.AST, Known]] = [(tree, of_module)]
    while waiting:
        node, known = waiting.pop()
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.Call):
                yield inner, known
            if not isinstance(inner, ast.FunctionDef):
                waiting.append((inner, known))
            elif any(inner.lineno <= line <= (inner.end_lineno or 0) for line in lines):
                waiting.append((inner, {**known, **_assigned(inner.body)}))


def _assigned(body: Iterable[ast.stmt]) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    found.setdefault(name, []).append(value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    for one, value in zip(names, values, strict=False):
                        if isinstance(one, ast.Name):
                            found.setdefault(one.id, []).append(value)
                case _:
                    pass
    return found


def _texts(node: ast.expr, known: Known, depth: int = 0) -> list[str]:
    """The texts that an expression may be, with dots for what is not known."""
    if depth > 4:
        return [DOTS]
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Constant(value=None):
            return []
        case ast.JoinedStr(values=values):
            parts = [
                _texts(value, known, depth) if isinstance(value, ast.Constant) else [_filled(value)] for value in values
            ]
            return ["".join(part[0] for part in parts)]
        case ast.IfExp(body=body, orelse=orelse):
            return [*_texts(body, known, depth), *_texts(orelse, known, depth)]
        case ast.BoolOp(values=values):
            return [text for value in values for text in _texts(value, known, depth)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            pairs = itertools.product(_texts(left, known, depth), _texts(right, known, depth))
            return ["".join(pair) for pair in pairs][:4]
        case ast.Name(id=name) if name in known:
            return [text for value in known[name] for text in _texts(value, known, depth + 1)]
        case ast.Call(func=ast.Name(id="option" | "method" | "command")):
            return [_filled(ast.FormattedValue(value=node, conversion=-1))]
        case _:
            return [DOTS]


def _filled(node: ast.expr) -> str:
    """What stands in braces: an option or a command by its name, else dots."""
    match node:
        case ast.FormattedValue(value=ast.Constant(value=str(text))):
            return text
        case ast.FormattedValue(value=ast.Call(func=ast.Name(id=kind), args=[ast.Constant(value=str(name)), *values])):
            if kind == "option":
                shown = [f" --{name}".lstrip() + f" {''.join(_texts(value, {}))}" for value in values] or [f"--{name}"]
                return " ".join(shown)
            if kind == "method":
                return name
            if kind == "command":
                return " ".join([f"gradcli {name}", *("".join(_texts(value, {})) for value in values)])
            return DOTS
        case _:
            return DOTS


def _says(text: str) -> bool:
    """Whether there are words, besides the dots."""
    return re.search(r"[a-z]{5}|[a-z]{2}.*\b[a-z]{2}", text) is not None


if __name__ == "__main__":
    generated.renew(PAGE, "messages", page())
