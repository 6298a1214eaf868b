"""Calls of the warm process are given what a start of Python gives, and end as that does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import process
from tests.terminals import PIPES, Program
from tests.warm import Warm

SCRIPT = """
import os, random, resource, signal, sys, tempfile, time, warnings
print(sys.argv[1:], os.getcwd(), ascii(os.environ.get("GIVEN")), __name__, sys.path[0])
print([s and (s.encoding, s.errors, s.name, s.line_buffering) for s in (sys.stdin, sys.stdout, sys.stderr)])
print(sys.stdin and sys.stdin.read(), [number for number in range(3) if os.path.exists(f"/dev/fd/{number}")])
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CPU), os.nice(0))
print([number for number in range(1, 65) if signal.getsignal(number) == signal.SIG_IGN], time.tzname)
print(oct(os.umask(0)), tempfile.gettempdir(), sorted(os.sched_getaffinity(0)), sys.flags)
print([chosen[0] for chosen in warnings.filters])
"""


@pytest.fixture(scope="module")
def light() -> Iterator[Warm]:
    """A process that imports nothing; a call of it is one that was not started by itself."""
    warm = Warm("light")
    yield warm
    warm.end()


def _both(light: Warm, *words: str) -> tuple[list[str], list[str]]:
    return [sys.executable, *words], [light.program("light"), *words]


WARM = ["{}", "{} 2>&1", "umask 027; {}", "nohup {}", "trap '' USR1 INT; {}", "TZ=Asia/Tokyo TMPDIR=$PWD {}"]


@pytest.mark.parametrize("around", WARM)
def test_a_call_is_given_what_a_start_gives(around: str, light: Warm, folder: Path) -> None:
    """Arguments, folder, variables, streams, open files, limits, signals, zone, mask."""
    (folder / "script.py").write_text(SCRIPT)
    found = []
    for program in _both(light, "script.py", "a b", "$c", "\udcff"):
        done = subprocess.run(
            ["bash", "-c", around.format('"$@"'), "", *program],
            env=os.environ | {"GIVEN": "é\udcfe"},
            input=b"text",
            capture_output=True,
            timeout=60,
            check=False,
        )
        lines = [line for line in done.stderr.splitlines() if not line.startswith(b"sh: ")]  # of the script around it
        found.append((done.returncode, done.stdout, lines))
    assert found[0] == found[1]


ENDS = [
    ("pass", 0),
    ("import os; os._exit(4)", 4),
    ("1/0", 1),
    ("import atexit; atexit.register(print, 'at the end')", 0),
    ("import sys; sys.stdout.write('no end of line')", 0),
]


@pytest.mark.parametrize(("text", "code"), ENDS)
def test_a_call_ends_as_a_start_does(text: str, code: int, light: Warm, folder: Path) -> None:
    """With an exit code, and what is done at the end of a program."""
    (folder / "script.py").write_text(text)
    cold, forked = (subprocess.run(words, capture_output=True, check=False) for words in _both(light, "script.py"))
    assert cold.returncode == forked.returncode == code
    assert cold.stdout == forked.stdout
    assert (b"Error" in cold.stderr) == (b"Error" in forked.stderr)


def test_output_that_cannot_be_written_at_the_end_is_no_success(light: Warm, folder: Path) -> None:
    """Python has an exit code for it."""
    (folder / "script.py").write_text(
        "import sys; sys.stdout = open(1, 'w', closefd=False); sys.stdout.write('held back')"
    )
    codes = [process("sh", "-c", '"$0" "$@" >/dev/full', *words).code for words in _both(light, "script.py")]
    assert codes == [120, 120]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT])
def test_a_signal_reaches_the_call(number: signal.Signals, light: Warm, folder: Path) -> None:
    """And the program that was typed ends of it, after the call has."""
    (folder / "script.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(60)")
    codes = []
    for words in _both(light, "script.py"):
        with Program(words, **PIPES) as program:
            assert program.stdout.readline() == b"here\n"
            program.send_signal(number)
            codes.append(program.wait(timeout=20))
    assert codes[0] == codes[1]


def test_a_call_stops_and_goes_on(light: Warm, folder: Path) -> None:
    """As Ctrl-Z and fg have it."""
    text = "import os, time\nprint(os.getpid(), flush=True)\nfor _ in range(20): time.sleep(0.05)\nprint('end')"
    (folder / "script.py").write_text(text)
    with Program([light.program("light"), "script.py"], **PIPES) as program:
        child = int(program.stdout.readline())
        program.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(program.pid, os.WUNTRACED)
        is_stopped = os.WIFSTOPPED(status) and _becomes(child, "T")
        program.send_signal(signal.SIGCONT)
        assert is_stopped
        assert program.stdout.read() == b"end\n"
        assert program.wait(timeout=20) == 0


def _becomes(process: int, state: str) -> bool:
    """Tell whether a process is in a state, now or soon."""
    end = time.monotonic() + 10
    while _state(process) != state and time.monotonic() < end:
        time.sleep(0.01)
    return _state(process) == state


def _state(process: int) -> str:
    """Look up the state of a process; empty if there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def test_a_call_whose_client_is_killed_ends(light: Warm, folder: Path) -> None:
    """Nobody is left to run it for."""
    text = "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(2)\nopen('mark', 'w')"
    (folder / "script.py").write_text(text)
    with Program([light.program("light"), "script.py"], **PIPES) as program:
        child = int(program.stdout.readline())
        program.kill()
    assert _becomes(child, "")
    assert os.listdir() == ["script.py"]


COLD = [
    "ulimit -v 8000000; {}",
    "ulimit -n 64; {}",
    "nice -n 3 {}",
    pytest.param("taskset -c 0 {}", marks=pytest.mark.skipif(os.cpu_count() == 1, reason="it is the only one")),
    "{} <&-",
    "{} 2>&-",
    'cd "$(mktemp -d)"; rmdir "$PWD"; {}',
    "OMP_NUM_THREADS=3 {}",
    "LC_ALL=POSIX {}",
    "PYTHONIOENCODING=latin-1:replace {}",
    "PYTHONWARNINGS=error {}",
]


@pytest.mark.parametrize("around", COLD)
@pytest.mark.one_in(2)
def test_what_a_start_depends_on_runs_cold(around: str, light: Warm, folder: Path) -> None:
    """Limits, priority, processors, streams that are closed, a folder that is gone, variables that are heeded then."""
    script = folder / "script.py"
    script.write_text("import os; print(os.getppid())")
    words = (light.program("light"), str(script))
    runs = (process("sh", "-c", line.format('"$0" "$1"'), *words) for line in ("{}", around))
    assert [int(run.out) == light.servers[0].pid for run in runs] == [True, False]
