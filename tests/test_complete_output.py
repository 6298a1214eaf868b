"""What is cut short is an error, exit 74, in whatever state the output is and however Python buffers it."""

import errno
import fcntl
import io
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gradcli.complete_output import CompleteWriter, open_descriptor, text_output
from tests import warm
from tests.examples import part
from tests.terminals import LONGEST, PIPES, Program

LIMIT = 2048
"""Bytes that a file may have."""

FEW = 4096
"""Bytes that a pipe holds."""

POINTS = "x\n" + "0.5\n" * 3_000

MANY_PASSES = (
    "import torch\nfor _ in range(12):\n    x = torch.ones(90, requires_grad=True)\n    (x**2).sum().backward()"
)

WRITERS = {
    "an answer": (["eval", "x", "--at", "linspace(0,1,3000)", "--format", "plain", "--no-check"], ""),
    "a list": (["functions"], ""),
    "a page": (["guide", "verdicts"], ""),
    "a help": (["vjp", "--help"], ""),
    "rows": (["map", "sin(x)", "--points", "-"], POINTS),
    "rows as an array": (["map", "sin(x)", "--points", "-", "--output-format", "npy"], POINTS),
    "rows as columns": (["map", "sin(x)*x", "--points", "-", "--output-format", "parquet", "--keep"], POINTS),
    "rows to an open file": (["map", "x**2", "--points", "-", "-o", "/dev/stdout", "--output-format", "csv"], POINTS),
    "requests": (["batch", "-"], 'grad "sum(x**2)" --at linspace(0,1,60)\n' * 30),
    "passes": (["run", "-c", MANY_PASSES, "--format", "jsonl"], ""),
}
"""Every command that writes to standard output by a path of its own, and its standard input."""

PARTS = {"map": "tables", "batch": "batch", "run": "running"}
"""Whose these commands are."""


def _marks(words: list[str]) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.part(PARTS[words[0]]),) if words[0] in PARTS else ()


ROWS = pytest.param("rows", "", marks=pytest.mark.part("tables"))
UNBUFFERED = [pytest.param(writer, "1", marks=_marks(words)) for writer, (words, _) in WRITERS.items()]
QUICK = [
    ("a list", ""),
    ("a list", "1"),
    ("an answer", "1"),
    pytest.param("rows", "1", marks=pytest.mark.part("tables")),
    pytest.param("passes", "1", marks=[pytest.mark.part("running"), pytest.mark.thorough]),
]


COLD = {("a list", "1"), ("a list", "")}
"""Those that start the installed command; the others are forked, with the limit and the stream of such a start."""

FORKED = f"""
import io, os, resource, sys
from gradcli.cli import process
if os.environ.get("LIMITED"):
    resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}))
if os.environ.get("UNBUFFERED"):
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
sys.exit(process())
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """The command as a forked process, with a limit if the environment says so."""
    path = tmp_path / "gradcli.py"
    path.write_text(FORKED, encoding="utf-8")
    return [warm.runner(), str(path)]


def _start(command: list[str], writer: str, unbuffered: str, *, is_forked: bool = False, **settings: Any) -> Program:
    words, given = WRITERS[writer]
    own = dict(os.environ)
    if (writer, unbuffered) in COLD and not is_forked:
        command = [warm.INSTALLED]
        own |= {"PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}  # whose files a limit would cut off
    else:  # no variable of Python's, as what has another one is not forked
        own |= {"UNBUFFERED": unbuffered, "LIMITED": "1" if settings.pop("preexec_fn", None) else ""}
    program = Program([*command, *words], **(PIPES | settings), env=own)
    with program.stdin as stdin:
        stdin.write(given.encode())
    return program


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


@pytest.mark.parametrize(("writer", "unbuffered"), part([*UNBUFFERED, ROWS, ("a list", "")], 0, of=2))
@pytest.mark.one_in(2)
def test_what_is_cut_off_at_a_limit_ends_with_an_error(
    writer: str, unbuffered: str, tmp_path: Path, command: list[str]
) -> None:
    """A full disk cuts off in the same manner: a part is written, and the next write is refused."""
    path = tmp_path / "out"
    with path.open("wb") as out, _start(command, writer, unbuffered, stdout=out, preexec_fn=_limit_files) as program:
        said = program.stderr.read().decode()
    assert program.returncode == 74
    assert os.strerror(errno.EFBIG) in said
    assert path.stat().st_size == (LIMIT if writer != "rows as an array" else 0)  # whose number comes first


@pytest.mark.parametrize(("writer", "unbuffered"), QUICK)
@pytest.mark.one_in(2)
def test_a_pipe_that_does_not_block_gets_all(writer: str, unbuffered: str, command: list[str]) -> None:
    """A parent may have set the pipe so for itself, and it reads when it has time."""
    found = []
    for is_blocking in (True, False):
        read, write = os.pipe()
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, FEW)
        os.set_blocking(write, is_blocking)
        started = _start(command, writer, unbuffered, is_forked=is_blocking, stdout=write)
        with started as program, os.fdopen(read, "rb") as reader:
            os.close(write)
            found.append(reader.read())
        assert program.returncode == 0
    assert len(found[1]) == len(found[0]) > FEW


def test_a_signal_in_a_write_takes_nothing_away() -> None:
    """The system ends the write with a part, and Python calls who listens."""
    read, write = os.pipe()
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(len(heard)))
    data = bytes(range(256)) * 4_096
    got = []

    def slowly() -> None:
        with os.fdopen(read, "rb", buffering=0) as reader:
            while part := reader.read(50_000):
                got.append(part)
                time.sleep(0.01)

    reader = threading.Thread(target=slowly)
    reader.start()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        with open_descriptor(write) as stream:
            stream.write(data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        reader.join(LONGEST)
    assert heard
    assert b"".join(got) == data


def test_a_reader_that_goes_away_while_it_is_waited_for_is_an_error() -> None:
    """And no wait without an end."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    closing = threading.Timer(0.2, os.close, [read])
    closing.start()
    with CompleteWriter(write) as stream, pytest.raises(BrokenPipeError):
        stream.write(bytes(10**6))


@pytest.mark.parametrize("buffering", [0, 16])
def test_a_text_stream_is_like_another(buffering: int, tmp_path: Path) -> None:
    """Its encoding, what it does with signs that this lacks, its buffering; the descriptor outlives it."""
    path = tmp_path / "out"
    raw = open(path, "wb", buffering=buffering)  # noqa: SIM115
    like = io.TextIOWrapper(raw, "latin-1", "backslashreplace", line_buffering=True, write_through=not buffering)
    with text_output(raw.fileno(), like) as stream:
        assert (stream.encoding, stream.errors, stream.line_buffering) == ("latin-1", "backslashreplace", True)
        assert stream.write_through == (not buffering)
        assert isinstance(stream.buffer, io.RawIOBase) == (not buffering)
        stream.write("é∂")
    assert path.read_bytes() == b"\xe9\\u2202"
    raw.write(b"!")
    like.close()
    assert path.read_bytes().endswith(b"!")


def test_standard_streams_that_are_closed_stay_so() -> None:
    """Python has none of them then."""
    script = "import sys; from gradcli.complete_output import complete_standard_streams as complete; complete()"
    done = subprocess.run(["sh", "-c", '"$0" -c "$1" >&- 2>&-', sys.executable, script], check=False)
    assert done.returncode == 0
