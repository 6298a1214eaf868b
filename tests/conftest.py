"""Fixtures that the tests share: the command in this process and as a real one, and the switch that renews goldens."""

import functools
import gc
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from gradcli.cli import main
from tests import of_parts, warm
from tests.examples import SEED, is_thorough, one_by_one, one_in


@dataclass(frozen=True)
class Run:
    """Exit code and output of a command line."""

    code: int
    out: str
    err: str


Command = Callable[..., Run]

settings.register_profile("thorough", max_examples=100)
settings.register_profile("anew", max_examples=10)
settings.register_profile("usual", derandomize=True, max_examples=6)

DRAWS = os.environ.get("GRADCLI_SEED", "")
"""What a run draws, if not the same as ever: `anew`, or the number that such a run printed at its end."""

for _variable in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS", "NO_COLOR", "COLORTERM", "COLUMNS"):
    os.environ.pop(_variable, None)
for _variable in [name for name in os.environ if name.startswith("GRADCLI_")]:
    del os.environ[_variable]
if hasattr(signal, "SIGHUP"):  # nohup and `&` leave these ignored, and programs that the tests start would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for _number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(_number, signal.SIG_DFL)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what the tests start would compile torch and gradcli each time
sys.dont_write_bytecode = False  # and pytest would rewrite the assertions of all modules in each process
os.environ["PAGER"] = "cat"  # nobody turns the pages of a test's terminal
os.environ["GRADCLI_CONFIG"] = ""  # and who runs the tests may have settings
os.environ["GRADCLI_WARM"] = "0"  # or a warm process
# Torch would set this once its compiler is imported, and what `tests.warm` started before would be another start.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", f"{tempfile.gettempdir()}/torchinductor")
gc.disable()  # until all tests are collected, of which next to nothing is garbage
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is a worker for each core


MODEL = Path(__file__).parent / "parts" / "running" / "model.py"
"""A file of functions, where there is code that runs them."""

QUICK = """
test_house.py cli/test_main_job.py cli/test_answers.py cli/test_errors.py crosscheck/test_verdicts.py
language/test_grammar.py language/test_values.py parts/paste/test_snippets.py parts/running/test_recording.py
report/test_screens.py
""".split()
"""Of each large room the tests that see most of it: those of `pytest -m quick`."""


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same in every run, but anew where that is asked for."""
    profile = config.getoption("--hypothesis-profile")
    if not profile:
        settings.load_profile("anew" if DRAWS or os.environ.get(SEED) else "usual")
    if (DRAWS or profile == "thorough") and not hasattr(config, "workerinput"):  # whose processes have the variable
        os.environ[SEED] = DRAWS if DRAWS.isdecimal() else str(random.SystemRandom().randrange(10**6, 10**9))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how to draw the same again."""
    if seed := os.environ.get(SEED):
        terminalreporter.write_line(
            f"random tests drew anew: GRADCLI_SEED={seed} draws the same, but for hypothesis, which prints what failed"
        )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in the docstrings of those modules alone that have a prompt: hardly any test has one."""
    found = yield
    has_prompt = file_path.suffix == ".py" and ">>> " in file_path.read_text(encoding="utf-8")
    return found if has_prompt else [one for one in found if type(one) is pytest.Module]


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Leave what `one_in` says to the thorough run, and make no tests of such cases only to deselect them."""
    marks, is_usual = metafunc.definition.own_markers, "not thorough" in metafunc.config.option.markexpr
    places = [n for n, mark in enumerate(marks) if mark.name == "parametrize" and len(mark.args) == 2]
    many = {n: [*marks[n].args[1]] for n in places}
    if shares := [mark.args[0] for mark in marks if mark.name == "one_in"]:
        longest = max(places, key=lambda n: len(many[n]))
        is_single = isinstance(names := marks[longest].args[0], str) and "," not in names
        many[longest] = one_in(one_by_one(many[longest]) if is_single else many[longest], shares[0])
    for n in places:
        kept = [k for k, case in enumerate(many[n]) if not is_usual or not is_thorough(case)] or range(len(many[n]))
        ids = marks[n].kwargs.get("ids")
        if ids is not None and not callable(ids):
            named = [*ids]
            ids = [named[k] for k in kept]
        cases, options = [many[n][k] for k in kept], {**marks[n].kwargs, "ids": ids}
        marks[n] = pytest.mark.parametrize(marks[n].args[0], cases, **options).mark


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Keep from the process that counts what nobody reads, two of the three reports of a test that passes.

    Each is packed and unpacked by Python, which takes as long as a short test; `--durations` reads all of them.
    """
    if not hasattr(item.config, "workerinput") or item.config.getoption("durations") is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick ones, and skip those of parts that are not there."""
    for item in items:
        if lacks := of_parts.missing(_needs(item)):
            item.add_marker(pytest.mark.skip(reason=f"there is no part {', '.join(lacks)}"))
        if item.path.as_posix().endswith(tuple(f"tests/{name}" for name in QUICK)):
            item.add_marker("quick")


def _needs(item: pytest.Item) -> tuple[str, ...]:
    """Name the parts that a test needs by its marks."""
    return tuple(name for mark in item.iter_markers("part") for name in mark.args)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take what is imported by now out of what the collector walks through, as it stays, and collect less often."""
    if path := session.config.getoption("--needs"):
        needs = {item.nodeid: sorted({*_needs(item)}) for item in session.items}
        Path(path).write_text(json.dumps(needs), encoding="utf-8")
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the goldens from the present output")
    parser.addoption("--needs", metavar="FILE", help="write the parts that each test needs by its marks, as JSON")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, where the commands of a test run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@functools.cache
def _arrays() -> dict[str, bytes]:
    """Files of arrays, made once."""
    single, several = io.BytesIO(), io.BytesIO()
    np.save(single, [1.0, 2.0])
    np.savez(several, x=[1.0, 2.0], v=[1.0, 10.0])
    return {"x.npy": single.getvalue(), "both.npz": several.getvalue()}


@pytest.fixture
def filled(folder: Path) -> Path:
    """The current directory, with values, formulas, code, and files of rows."""
    for name, data in _arrays().items():
        (folder / name).write_bytes(data)
    for name in ("empty", "both", "folder.csv"):
        (folder / name).mkdir()
    texts = {"table.csv": "x,v\n1,1\n2,10", "f.txt": "y = x**2\nsum(y)", "loss.txt": "sum(y**2)", "square.txt": "x**2"}
    texts |= {"rows.csv": "x\n1", "both/a.csv": "x\n1", "both/b.tsv": "x\n1", "claim.txt": "2*x", "six.txt": "6"}
    texts |= {
        "pts.csv": "x\n1\n2",
        "spaced.dat": "# v  T\n1.0 300\n2.0 310",
        "fn.py": "def loss(x):\n    return (x**2).sum()",
    }
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    (folder / "model.py").symlink_to(MODEL)
    return folder


@pytest.fixture
def gradcli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """The command line, run in this process, with what is given on its standard input, and with these variables."""
    hook = sys.excepthook

    def run(*arguments: str, given: str | bytes | None = None, **environment: str) -> Run:
        capsys.readouterr()
        with monkeypatch.context() as patch:
            if given is not None:
                data = given.encode() if isinstance(given, str) else given
                patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            for name, value in environment.items():
                patch.setenv(name, value)
            code = main(list(arguments))
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    yield run
    sys.excepthook = hook


@pytest.fixture
def updates(request: pytest.FixtureRequest) -> bool:
    """Whether what is recorded is renewed: with -n 0, as a file has several command lines."""
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture
def require_recorded(updates: bool) -> Callable[[Path, str], None]:
    """Hold a text to a golden, or renew that."""

    def require(golden: Path, shown: str) -> None:
        if updates:
            golden.write_text(shown, encoding="utf-8")
        assert shown == golden.read_text(encoding="utf-8")

    return require


@pytest.fixture
def installed() -> Command:
    """The installed command, run as a process of its own."""
    return functools.partial(process, warm.INSTALLED)


@pytest.fixture
def forked() -> Command:
    """The command as a process of its own, where its start does not matter."""
    return functools.partial(process, warm.gradcli())


def process(*words: str, given: str | int | None = None, cwd: Path | None = None, **environment: str) -> Run:
    """Run a program.

    Args:
        words: Its path and its arguments.
        given: What comes to its standard input: a text, or whatever is open by a number.
        cwd: Where it runs.
        environment: Variables beside those of this process.
    """
    stdin = {"input": given} if isinstance(given, str) else {"stdin": given}
    done = subprocess.run(
        words,
        **stdin,
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=200,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)
