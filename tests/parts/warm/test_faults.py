"""Processes and sockets that are gone, stopped, or somebody else's: a call runs cold then, and says nothing."""

import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradcli
from gradcli.parts.warm import control, paths
from tests.conftest import process
from tests.terminals import PIPES, Program
from tests.warm import INSTALLED, Warm


@pytest.fixture
def light() -> Iterator[Warm]:
    """Programs whose processes are still to be started."""
    warm = Warm()
    yield warm
    warm.end()


@pytest.fixture
def script(tmp_path: Path) -> str:
    """It says by which process it was forked."""
    path = tmp_path / "script.py"
    path.write_text("import os; print(os.getppid())")
    return str(path)


def _socket_of(warm: Warm) -> Path:
    return next(Path(warm.runtime("light")).glob("gradcli/*.socket"))


def _parent(warm: Warm, script: str, patience: str) -> int:
    run = process(warm.program("light"), script, PATIENCE=patience)
    assert (run.code, run.err) == (0, "")
    return int(run.out)


def _is_warm(warm: Warm, script: str, patience: str = "30") -> bool:
    return _parent(warm, script, patience) in {server.pid for server in warm.servers}


def test_a_process_serves_until_it_is_stopped(light: Warm, script: str) -> None:
    """Its socket is left, as it may be another's by then."""
    assert not _is_warm(light, script)
    server = light.start("light")
    path = _socket_of(light)
    assert _is_warm(light, script)
    assert not path.stat().st_mode & 0o077
    server.terminate()
    assert server.wait(timeout=20) == 0
    assert path.exists()
    assert not _is_warm(light, script)


def test_a_process_ends_by_itself(light: Warm) -> None:
    """After some time without a call."""
    assert light.start("light", idle=0.5).wait(timeout=20) == 0


def test_two_that_start_at_once_leave_one(light: Warm, script: str) -> None:
    """The other ends without a word, as its lock is taken."""
    light.start("light")
    with pytest.raises(AssertionError):
        light.start("light")
    assert light.servers.pop().wait(timeout=20) == 0
    assert _is_warm(light, script)


@pytest.mark.parametrize("fault", ["killed", "stopped", "file", "nobody", "liar", "open folder", "link"])
def test_without_a_process_that_answers_a_call_runs_cold(fault: str, light: Warm, script: str) -> None:
    """Within a moment, and silently."""
    server = light.start("light")
    path = _socket_of(light)
    others: list[socket.socket] = []
    if fault == "killed":
        server.kill()
        server.wait()
    elif fault == "stopped":
        server.send_signal(signal.SIGSTOP)
        _parent(light, script, "0.5")  # the child that waits is none of the process any more
    elif fault in ("open folder", "link"):
        if fault == "link":
            path.parent.symlink_to(path.parent.rename(path.parent.with_name("elsewhere")))
        else:
            path.parent.chmod(0o755)
    else:
        path.unlink()
        if fault == "file":
            path.write_text("no socket", encoding="ascii")
        elif fault == "liar":
            others.append(socket.socket(socket.AF_UNIX))
            others[0].bind(str(path))
            others[0].listen()
            if os.fork() == 0:
                connection, _ = others[0].accept()
                connection.sendall(b"x" * 100)
                os._exit(0)
    start = time.monotonic()
    assert not _is_warm(light, script, "0.5")
    assert time.monotonic() - start < 20
    if fault == "stopped":
        server.send_signal(signal.SIGCONT)
        assert _is_warm(light, script)
    for one in others:
        one.close()


def test_a_process_that_ends_during_a_call_leaves_the_call_whole(light: Warm, folder: Path) -> None:
    """Its child goes on, and says itself how it ended; one that dies too is an error, and no half answer."""
    text = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(0.5)\nprint('end')"
    (folder / "script.py").write_text(text)
    for is_child_killed, code, words in ((False, 0, b""), (True, 70, b"the warm process ended before this call did")):
        server = light.start("light")
        with Program([light.program("light"), "script.py"], **PIPES) as program:
            child = int(program.stdout.readline())
            server.kill()
            server.wait()
            if is_child_killed:
                os.kill(child, signal.SIGKILL)
            out, err = program.communicate(timeout=20)
            assert (program.returncode, out) == (code, b"" if is_child_killed else b"end\n")
            assert words in err


@pytest.mark.thorough
def test_many_calls_leave_nothing(light: Warm, script: str) -> None:
    """No descriptor and no process, also of clients that say half a word and go, once the process has seen them."""
    server = light.start("light")

    def left() -> tuple[int, int]:
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text(encoding="ascii")
        return len(os.listdir(f"/proc/{server.pid}/fd")), len(children.split())

    assert _is_warm(light, script)
    before, _ = left()
    for _ in range(20):
        assert _is_warm(light, script)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(_socket_of(light)))
            connection.sendall(b"R")
    end = time.monotonic() + 20
    while left() != (before, 0) and time.monotonic() < end:
        time.sleep(0.01)
    assert left() == (before, 0)


def test_the_name_is_of_what_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another version, file, or torch has another socket."""
    package = tmp_path / "gradcli"
    shutil.copytree(paths.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(paths, "PACKAGE", str(package))
    names = [paths.socket_path()]
    assert paths.socket_path() == names[0]
    os.utime(package / "language" / "parsing.py", (0, 0))
    names.append(paths.socket_path())
    monkeypatch.setattr(gradcli, "__version__", "9.9")
    names.append(paths.socket_path())
    torch = tmp_path / "torch"
    torch.mkdir()
    (torch / "version.py").write_text("", encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    names.append(paths.socket_path())
    (tmp_path / "sympy-9.9.dist-info").mkdir()
    names.append(paths.socket_path())
    assert len(set(names)) == len(names)
    (tmp_path / "__pycache__").mkdir()
    assert paths.socket_path() == names[-1]


@pytest.fixture
def short() -> Iterator[Path]:
    """A temporary folder whose path leaves room for the name of a socket."""
    path = Path(tempfile.mkdtemp(dir="/tmp"))
    yield path
    shutil.rmtree(path)


def test_a_folder_that_is_not_ours_is_refused(monkeypatch: pytest.MonkeyPatch, short: Path) -> None:
    """Without a folder of the run time, one in the temporary folder counts if it is ours alone."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(short))
    assert not paths.is_safe()
    assert paths.make_folder()
    folder = Path(paths.folder())
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o770)
    assert not paths.make_folder()
    folder.rmdir()
    folder.write_text("", encoding="ascii")
    assert not paths.make_folder()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert not paths.is_safe()


def test_the_command_starts_stops_and_says(short: Path) -> None:
    """And with GRADCLI_WARM=1 the first call starts it, of which the second one is answered."""

    def said(*words: str) -> str:
        run = process(INSTALLED, *words, XDG_RUNTIME_DIR=str(short), GRADCLI_WARM="1")
        assert (run.code, run.err) == (0, "")
        return run.out

    try:
        assert "no warm process" in said("warm", "status")
        assert said("eval", "x**2", "--at", "3", "--format", "plain") == "9\n"
        end = time.monotonic() + 60
        while "no warm process" in said("warm") and time.monotonic() < end:
            time.sleep(0.1)
        assert said("eval", "x**2", "--at", "4", "--format", "plain") == "16\n"
        assert "runs already" in said("warm", "start")
        assert "stopped" in said("warm", "stop")
        assert "no warm process" in said("warm", "stop")
    finally:
        process(INSTALLED, "warm", "stop", XDG_RUNTIME_DIR=str(short))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", "it ended without a word, as where memory is short"),
        (b"Traceback\nMemoryError\n", "MemoryError"),
        (b"ready\n", "the one that started is for other calls, as files of gradcli or the environment have changed"),
        (None, "it still loads after 0 s, on a busy machine; gradcli warm status tells when it runs"),
    ],
)
def test_a_process_that_takes_no_calls_has_a_reason(
    said: bytes | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never an empty one."""
    reader, writer = os.pipe()
    monkeypatch.setattr(control, "begin", lambda idle: os.fdopen(reader, "rb"))
    monkeypatch.setattr(control, "running", lambda name="*": [])
    if said is not None:
        os.write(writer, said)
        os.close(writer)
    assert control.start(60, seconds=0.0 if said is None else 60.0).startswith(reason)
    if said is None:
        os.close(writer)


def test_a_process_is_started_with_the_options_of_this_interpreter() -> None:
    """Else it would be one for other calls than these: of `python -P`, and of `python -E`."""
    program = "from gradcli.parts.warm.control import _flags; print(*_flags())"
    run = process(sys.executable, "-P", "-s", "-O", "-X", "dev", "-c", program)
    assert run.out.split() == ["-P", "-s", "-O", "-Xdev"]
