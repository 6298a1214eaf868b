"""Many calls at once are all served, a few at a time; one that lasts holds up nobody."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradcli.parts.warm import server
from tests.conftest import process
from tests.terminals import LONGEST, PIPES, Program
from tests.warm import Warm

MANY = 16

TIMES = "import os, time\nstart = time.monotonic()\ntime.sleep(0.2)\nprint(os.getppid(), start, time.monotonic())"


@pytest.fixture
def slow() -> Iterator[Warm]:
    """A process that takes a tenth of a second for each fork, as one with torch does where there is much to do."""
    warm = Warm("slow")
    yield warm
    warm.end()


def test_many_calls_at_once_wait_in_turn(slow: Warm, folder: Path) -> None:
    """None gives up and starts by itself, though the last waits far longer than for a process that does not answer."""
    (folder / "script.py").write_text(TIMES)
    environment = os.environ | {"PATIENCE": "1"}
    calls = [Program([slow.program("slow"), "script.py"], **PIPES, env=environment) for _ in range(MANY)]
    rows = [call.communicate(timeout=LONGEST)[0].split() for call in calls]
    assert [call.returncode for call in calls] == [0] * MANY
    assert {int(parent) for parent, _, _ in rows} == {slow.servers[0].pid}
    spans = [(float(start), float(end)) for _, start, end in rows]
    at_once = [sum(start <= moment < end for start, end in spans) for moment, _ in spans]
    assert max(at_once) <= max(2, len(os.sched_getaffinity(0)))


def test_a_call_that_lasts_holds_up_nobody(slow: Warm, folder: Path) -> None:
    """As one whose reader, or whose next line of input, is another call."""
    (folder / "wait.py").write_text("import sys; print('here', flush=True); sys.stdin.read()")
    (folder / "pass.py").write_text("import os; print(os.getppid())")
    count = max(2, len(os.sched_getaffinity(0)))
    waiting = [Program([slow.program("slow"), "wait.py"], **PIPES) for _ in range(count)]
    for call in waiting:
        assert call.stdout.readline() == b"here\n"
    start = time.monotonic()
    run = process(slow.program("slow"), "pass.py", PATIENCE="30")
    assert int(run.out) == slow.servers[0].pid
    assert time.monotonic() - start < 10 * server.TURN
    for call in waiting:
        call.communicate(timeout=LONGEST)
        assert call.returncode == 0


def test_an_interrupt_ends_a_call_that_waits(slow: Warm, folder: Path) -> None:
    """Without a word; its turn passes to the next."""
    (folder / "script.py").write_text("print('answered')")
    path = next(Path(slow.runtime("slow")).glob("gradcli/*.socket"))
    path.unlink()
    with socket.socket(socket.AF_UNIX) as accepting:
        accepting.bind(str(path))
        accepting.listen()
        call = Program([slow.program("slow"), "script.py"], **PIPES, start_new_session=True)
        connection, _ = accepting.accept()
        connection.sendall(b"A")
        time.sleep(1)
        call.send_signal(signal.SIGINT)
        out, err = call.communicate(timeout=LONGEST)
        assert (call.returncode, out, err) == (-signal.SIGINT, b"", b"")
        connection.close()


def test_a_process_that_ends_leaves_those_who_wait_to_themselves(slow: Warm, folder: Path) -> None:
    """Nothing of theirs has been handed over yet, so they run cold."""
    (folder / "wait.py").write_text("import sys; print('here', flush=True); sys.stdin.read()")
    (folder / "pass.py").write_text("import os; print(os.getppid())")
    calls = [Program([slow.program("slow"), "pass.py"], **PIPES, env=os.environ | {"PATIENCE": "30"}) for _ in range(9)]
    time.sleep(0.6)
    slow.servers[0].kill()
    slow.servers[0].wait()
    assert [(call.communicate(timeout=LONGEST)[1], call.returncode) for call in calls] == [(b"", 0)] * 9
