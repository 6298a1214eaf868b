"""A stream of requests through the command: the answers are those of `--json`, and nothing stops the stream."""

import gc
import io
import json
import os
import pty
import shlex
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradcli.function
from gradcli.parts.batch import replying
from gradcli.registry import questions
from tests import warm
from tests.conftest import Command, Run, process
from tests.terminals import PIPES, Program

GOOD = {"command": "grad", "expression": "x**2", "at": {"x": 3}}
Ask = Callable[..., Run]


@pytest.fixture
def ask(gradcli: Command) -> Ask:
    """The command in this process, with these lines or objects on its standard input."""

    def run(*requests: Any) -> Run:
        written = [line if isinstance(line, str) else json.dumps(line) for line in requests]
        return gradcli("batch", given="".join(f"{line}\n" for line in written))

    return run


REQUESTS = [
    (["vjp", "x**2", "--at", "1,2", "--v", "1,1"], {"at": {"x": [1, 2]}, "v": [1, 1]}),
    (["vjp", "x**2", "--at", "1,2", "--loss", "sum(y**2)"], {"at": {"x": "1,2"}, "loss": "sum(y**2)"}),
    (["graph", "y = x**2; y*x", "--at", "3", "--show", "y"], {"at": {"x": 3}, "show": ["y"]}),
    (["jacobian", "[x*y, x]", "--at", "x=3", "--at", "y=5", "--wrt", "y"], {"at": {"x": 3, "y": 5}, "wrt": "y"}),
    (["grad", "(1-cos(x))/x**2", "--at", "1e-8"], {"at": {"x": 1e-8}}),
    (["grad", "log(x)", "--at", "0", "--no-check"], {"at": {"x": 0}, "check": False}),
    (["grad", "x**2", "--at", "0.1", "--dtype", "float32"], {"at": {"x": 0.1}, "dtype": "float32"}),
    (["jvp", "x**2", "--at", "1,2", "--u", "1,1"], {"at": {"x": [1, 2]}, "u": [1, 1]}),
    (["jvp", "x*y", "--at", "x=1", "--at", "y=2", "--u", "x=1"], {"at": {"x": 1, "y": 2}, "u": {"x": 1}}),
    (["hessian", "x**3*y", "--at", "x=2", "--at", "y=5"], {"at": {"x": 2, "y": 5}}),
    (["hvp", "sum(x**3)", "--at", "1,2", "--u", "e0"], {"at": {"x": [1, 2]}, "u": "e0"}),
    (["eval", "1/x", "--at", "0,inf"], {"at": {"x": [0, "Infinity"]}}),
    (["explain", "y = x**2; y**3", "--at", "1,2", "--v", "ones"], {"at": {"x": "1,2"}, "v": "ones"}),
    (["graph", "y = x**2; y**3", "--at", "1,2", "--v", "1,1"], {"at": {"x": "1,2"}, "v": "1,1"}),
    (["code", "x**2", "--at", "1,2", "--v", "1,1", "--to", "latex"], {"at": {"x": "1,2"}, "v": "1,1", "to": "latex"}),
    (
        ["check", "relu(x)", "--at", "0,1", "--v", "ones", "--allow", "kink", "--rtol", "1e-6", "--atol", "1e-9"],
        {"at": {"x": [0, 1]}, "v": "ones", "allow": ["kink"], "rtol": 1e-6, "atol": 1e-9},
    ),
    (
        ["check", "x**3", "--at", "2", "--claim", "3*x**2", "--expect", "13"],
        {"at": {"x": 2}, "claim": "3*x**2", "expect": "13"},
    ),
    (["improve", "1 - cos(x)", "--in", "x=1..2"], {"in": {"x": "1..2"}}),
    (["plot", "x**3", "--in", "x=1..2"], {"in": {"x": "1..2"}}),
]


@pytest.mark.parametrize(("words", "request_"), REQUESTS, ids=str)
@pytest.mark.one_in(8)
def test_an_answer_is_what_json_prints(words: list[str], request_: dict[str, Any], gradcli: Command, ask: Ask) -> None:
    """To the byte; with an id, that alone is added."""
    wanted = gradcli(*words, "--json").out
    request_ = {"command": words[0], "expression": words[1]} | request_
    run = ask(request_, request_ | {"id": "a"}, shlex.join(words), "gradcli " + shlex.join(words))
    first, second, *others = run.out.splitlines(keepends=True)
    assert (run.code, run.err, first) == (0, "", wanted)
    assert json.loads(second) == json.loads(wanted) | {"id": "a"}
    assert [json.loads(line) for line in others] == [json.loads(wanted) | {"id": n} for n in (3, 4)]


@pytest.mark.parametrize(("key", "value"), [("at", 3), ("at", "3"), ("at", [1, 2]), ("in", "0..1")], ids=str)
def test_the_only_variable_needs_no_name(key: str, value: Any, ask: Ask) -> None:
    """As on the command line; of several it must be named, and of none left out."""
    request = GOOD | {"command": "improve" if key == "in" else "eval"}
    bare, named = ask(request | {key: value}, request | {key: {"x": value}}).out.splitlines()
    assert bare == named
    for expression, said in (("x*y", "the variables x, y"), ("2", "no variables")):
        error = json.loads(ask(request | {"expression": expression, key: value}).out)["error"]
        assert error["message"].endswith(f" names no variable, and the expression has {said}")
    assert error["hint"] == f"leave out --{key}"


def test_the_help_names_each_command_that_a_request_may_have(gradcli: Command) -> None:
    """Those of parts too."""
    words = gradcli("batch", "--help").out.replace(",", " ").split()
    assert not {*questions()} - {word.rstrip(".") for word in words[words.index("Commands") :]}


WRONG_LINES = [
    ('grad "x**2 --at 3', "the request has a quote without its end"),
    ("grad x**2 --at 3 \\", "the request ends with a backslash"),
    ("grad x**2 --at 3 --format csv", "--format is nothing that a request may have"),
    ("grad x**2 --at 3 -o y.csv", "--output / -o is nothing that a request may have"),
    ("grad x**2 --at 3 --json", "--json is nothing that a request may have"),
    ("grad x**2 --at 3 --strict", "--strict is nothing that a request may have"),
    ("graph x**2 --at 3 --to dot", "--to is nothing that a request may have"),
    ("grad x**2 --at @x.npy", "--at is to be read from @x.npy, and requests read no files"),
    ("grad @- --at 3", "EXPR is to be read from @-, and requests read no files"),
    ("grad x**2 --help", "no such option: --help"),
    ("--version", "'--version' is no command that a request may have"),
    ("gradcli", "the request has no command"),
    ("batch", "'batch' is no command that a request may have"),
    ("grad x**2 --at 3 --at 4", "--at gives the only variable two values: 3 and 4"),
    ("grad $(touch hacked) --at 3", "unexpected word after the expression $(touch: hacked)"),
    ("grad own.py::f --at 3", "own.py::f is a function of Python, and a request has a formula, such as x**2"),
    ("grad pkg.mod:f --at 3", "pkg.mod:f is a function of Python, and a request has a formula, such as x**2"),
    (
        "check x*y --at 3 --claim x=own.py::f",
        "own.py::f is a function of Python, and a request has a formula, such as x**2",
    ),
    ("grad " + "1" * 2**17, "the line has more than 128 KiB, the most that is read of words"),
]


@pytest.mark.parametrize(("line", "said"), WRONG_LINES, ids=lambda given: given[:40])
def test_a_line_of_words_that_is_wrong_is_one_error(line: str, said: str, ask: Ask) -> None:
    """With its number, which is its id, and the stream goes on; nothing is executed."""
    run = ask("# by hand", line, '  grad "x**2" --at 3  # what follows is left out')
    wrong, right = map(json.loads, run.out.splitlines())
    assert (run.code, run.err, wrong["error"]["message"]) == (2, "", said)
    assert (wrong["id"], wrong["error"]["line"]) == (2, 2)
    assert (right["id"], right["grad"]) == (3, {"x": 6.0})
    assert not Path("hacked").exists()


def test_several_products_are_one_line(gradcli: Command, ask: Ask) -> None:
    """The lines that the command prints, in a list."""
    wanted = gradcli("vjp", "x**2", "--at", "1,2", "--v", "e0", "--v", "e1", "--accumulate", "--json").out
    request = {"command": "vjp", "expression": "x**2", "at": {"x": [1, 2]}, "vs": ["e0", "e1"], "accumulate": True}
    run = ask(request | {"id": 1})
    answers = [json.loads(line) for line in wanted.splitlines()]
    assert json.loads(run.out) == {"schema": 1, "id": 1, "command": "vjp", "answers": answers}
    assert run.out.count("\n") == 1


def test_the_stream_goes_on_after_mistakes(ask: Ask) -> None:
    """Each has a line in its place, and blank lines have none; the exit code tells."""
    run = ask(GOOD, "", "nonsense", "  ", {"id": 5, "command": "grad", "expression": "x**"}, GOOD | {"id": 6})
    found = [json.loads(line) for line in run.out.splitlines()]
    assert (run.code, run.err, len(found)) == (2, "", 4)
    assert found[0]["grad"] == {"x": 6.0}
    assert found[1]["error"]["line"] == 3
    assert found[2]["id"] == 5
    assert found[2]["error"] | {"message": ""} == {
        "kind": "syntax",
        "message": "",
        "hint": "gradcli guide language shows what is read",
        "position": {"in": "EXPR", "start": 3, "end": 4},
        "line": 5,
    }
    assert found[3] == found[0] | {"id": 6}


def test_nothing_to_answer_is_fine(ask: Ask) -> None:
    """No lines in, no lines out."""
    assert ask() == ask("", " ") == Run(0, "", "")


def test_an_answer_does_not_depend_on_what_came_before(ask: Ask) -> None:
    """Nothing that a request does stays: not its precision, its type, its seed, its failure."""
    probes = [
        {"command": "check", "expression": "(1-cos(x))/x**2", "at": {"x": 1e-6}},
        {"command": "vjp", "expression": "exp(x)/sum(exp(x))", "at": {"x": [1, 2, 3]}, "v": "e0"},
        {"command": "improve", "expression": "1 - cos(x)", "in": {"x": "0..1"}},
        {"command": "eval", "expression": "randn(3, seed=1)*x", "at": {"x": 1}},
    ]
    disturbances: list[Any] = [
        "[" * 100_000,
        '{"command": "grad", "expression": "x", "at": {"x": "\\ud800"}}',
        {"command": "jacobian", "expression": "cumsum(x, 0)", "at": {"x": "zeros(20000)"}},
        {"command": "grad", "expression": "exp(exp(x))/exp(exp(x))", "at": {"x": 50}},
        {"command": "grad", "expression": "x**2", "at": {"x": 1}, "dtype": "float32"},
        {"command": "improve", "expression": "1 - cos(x)", "in": {"x": "0..1"}},
        {"command": "grad", "expression": "(((", "at": {"x": 1}},
        {"command": "eval", "expression": "inv(x)", "at": {"x": [[0, 0], [0, 0]]}},
    ]
    alone = [ask(probe).out for probe in probes]
    mixed = ask(*(line for probe in probes for line in (*disturbances, probe))).out.splitlines(keepends=True)
    assert mixed[len(disturbances) :: len(disturbances) + 1] == alone


def _raising(error: BaseException, patch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any) -> Any:
        raise error

    patch.setattr(gradcli.function.Function.grad, "answer", failing)


FAILURES = [
    (MemoryError(), "too-large", 2),
    (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), "too-large", 2),
    *((error, "internal", 70) for error in (KeyError("x"), RecursionError("deep"), NotImplementedError())),
]


@pytest.mark.parametrize(("error", "kind", "code"), FAILURES)
def test_a_stream_goes_on_after_a_failure(
    error: Exception, kind: str, code: int, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line has the id, and a bug of ours makes the exit code 70 whatever else went wrong; its trace, if asked."""
    _raising(error, monkeypatch)
    fine = {"command": "eval", "expression": "x", "at": {"x": 1}}
    run = ask(GOOD | {"id": 1}, fine, "{nonsense", fine)
    first, second, third, fourth = map(json.loads, run.out.splitlines())
    assert (run.code, run.err, first["schema"], first["id"]) == (code, "", 1, 1)
    assert (first["error"]["kind"], first["error"]["line"]) == (kind, 1)
    assert kind != "internal" or type(error).__name__ in first["error"]["message"]
    assert third["error"]["kind"] == "syntax"
    assert second["value"] == fourth["value"] == 1
    monkeypatch.setenv("GRADCLI_DEBUG", "1")
    assert ("Traceback" in ask(GOOD).err) == (kind == "internal")


def test_what_ends_the_process_is_no_bug(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt within a request ends the stream."""
    _raising(KeyboardInterrupt(), monkeypatch)
    assert ask(GOOD, GOOD) == Run(130, "", "")
    _raising(SystemExit(3), monkeypatch)
    with pytest.raises(SystemExit):
        ask(GOOD, GOOD)


def test_an_answer_is_there_before_the_next_request_is_sent() -> None:
    """Through pipes, one at a time; an interrupt then ends it quietly."""
    for number, code in ((None, 0), (signal.SIGINT, 130)):
        with Program([warm.gradcli(), "batch"], **PIPES, start_new_session=True) as child:
            for place in range(3):
                child.send(json.dumps(GOOD | {"id": place}).encode() + b"\n")
                assert json.loads(child.stdout.readline())["id"] == place
            time.sleep(0.1)
            child.stdin.close() if number is None else child.send_signal(number)
            assert (child.wait(60), child.stderr.read()) == (code, b"")


def test_a_last_line_needs_no_end(tmp_path: Path, gradcli: Command) -> None:
    """And a file is read as standard input is."""
    path = tmp_path / "requests.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{json.dumps(GOOD)}", encoding="utf-8")
    run = gradcli("batch", str(path))
    assert (run.code, run.out.count("\n"), run.err) == (0, 2, "")


def test_a_terminal_is_read_only_if_asked() -> None:
    """A hint, and no waiting."""
    main, terminal = pty.openpty()
    run = process(warm.gradcli(), "batch", given=terminal)
    assert (run.code, run.out) == (2, "")
    assert "standard input is a terminal" in run.err
    os.write(main, json.dumps(GOOD).encode() + b"\n\x04")
    assert json.loads(process(warm.gradcli(), "batch", "-", given=terminal).out)["grad"] == {"x": 6.0}
    os.close(main)
    os.close(terminal)


FORMS = [
    'grad "sum(sin({0}*x)*exp({1}*x))" --at 0.3,0.7',
    'hessian "log(x**2 + {0})*{1}" --at 0.4',
    'check "x**3*{0}" --at 2 --claim "3*{0}*x**2"',
    'vjp "softmax({0}*x + v{2})" --at x=1,2 --at v{2}=3 --v 1,0',
    'explain "y = tanh({0}*x); y/({1} + x)" --at 0.5',
    'grad "sinn({0}*x)" --at 1',
]
"""Requests about a new expression each time; one is wrong."""


class Counted(io.BytesIO):
    """Requests, and how many objects there are before some of them."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step, self.line = step, 0
        self.counts: list[int] = []

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a request, after counting."""
        if self.line % self.step == 0:
            gc.collect()
            self.counts.append(len(gc.get_objects()))
        self.line += 1
        return super().readline(size)


@pytest.mark.thorough
def test_new_expressions_take_no_more_and_more_memory(gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered of them is forgotten, of our caches and of SymPy's: the objects that are there are as many."""
    step = len(FORMS)
    monkeypatch.setattr(replying, "MOST_REMEMBERED", step, raising=False)
    numbers = [(k + 0.25, k + 0.5, k) for k in range(1, 8)]
    lines = "".join(form.format(*three) + "\n" for three in numbers for form in FORMS)
    given = Counted(lines.encode(), step)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
    assert gradcli("batch").code == 2
    few, many = given.counts[3], given.counts[-1]
    assert len(given.counts) == len(numbers) + 1
    assert many - few < 40 * step


CLOSED = [("", "| true", 141), ("", ">/dev/full", 74), ("", ">&-", 74), ("<&-", "| cat", 2)]


@pytest.mark.parametrize(("before", "after", "code"), CLOSED)
def test_pipes_that_are_closed_end_it(before: str, after: str, code: int) -> None:
    """As for every command."""
    requests = f"(sleep 0.2; printf '{json.dumps(GOOD)}\\n')"
    script = f"{requests} | ({warm.gradcli()} batch {before} 2>&4; echo $? >&3) {after}"
    run = process("bash", "-c", f"exec 3>&1 4>&2; {script}")
    assert run.out.split()[-1] == str(code), run.err
    assert "Traceback" not in run.err
    assert (run.err == "") == (code == 141)
