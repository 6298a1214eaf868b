"""Half-done work is undone by signals, wherever they find the process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.signals import undone
from tests.terminals import LONGEST, PIPES, Program, Terminal

BEGIN = """
import os, resource, signal, sys, time
from gradcli.signals import end_on_interrupt, undone
def say(word):
    os.write(1, word.encode())
"""


def _ended(script: str) -> tuple[int, str, str]:
    with Program([sys.executable, "-c", BEGIN + script], **PIPES, start_new_session=True) as program:
        out, err = program.communicate()
    return program.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("first", ["default_int_handler", "SIG_IGN"])
def test_an_interrupt_ends_the_process_where_exceptions_are_dropped(first: str) -> None:
    """Python prints what a finalizer raises, and goes on; a job that ignores interrupts goes on as well."""
    script = f"""
signal.signal(signal.SIGINT, signal.{first})
end_on_interrupt(130)
class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
Dropped()
say("went on")
"""
    assert _ended(script) == ((130, "", "") if first == "default_int_handler" else (0, "went on", ""))


def test_a_signal_ends_a_wait_that_it_does_not_interrupt() -> None:
    """As one that came just before it, or that the system gave to another thread."""
    script = """
import threading
from gradcli.signals import readable
signal.signal(signal.SIGINT, signal.default_int_handler)
end_on_interrupt(130)
def send():
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(60)
threading.Thread(target=send, daemon=True).start()
say(f"went on {readable(os.pipe()[0], 20)}")
"""
    assert _ended(script) == (130, "", "")


LOOP = """for word in one two; do echo $word; "$0" -c "$1"; echo after $word; done"""


@pytest.mark.parametrize("program", [[sys.executable, "-c"], ["bash", "-c", LOOP, sys.executable]])
def test_an_interrupt_that_is_typed_ends_the_loop_of_the_shell(program: list[str]) -> None:
    """A shell that got it too goes on if the command has an exit code; the command dies of it, as the shell does."""
    script = (
        BEGIN
        + """
signal.signal(signal.SIGINT, signal.default_int_handler)
end_on_interrupt(130)
say("ready")
time.sleep(5)
"""
    )
    terminal = Terminal()
    started = terminal.start_program(*program, script)
    terminal.wait_for("ready", "\x03")
    assert started.wait() == -signal.SIGINT
    assert terminal.whole().replace("^C", "").split() == ["one"] * ("bash" in program) + ["ready"]


ENDS = [
    ("SIGINT", 130),
    *((name, -getattr(signal, name)) for name in "SIGTERM SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGALRM SIGXCPU".split()),
]


@pytest.mark.parametrize(("number", "code"), ENDS)
def test_what_is_half_done_is_undone_from_the_inside_out(number: str, code: int) -> None:
    """And the rest as well, if something cannot be undone."""
    script = f"""
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which a terminal that closed may have left ignored
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
end_on_interrupt(130)
with undone(lambda: say("first")):
    with undone(lambda: say("gone")):
        pass
    with undone(lambda: 1 / 0), undone(lambda: say("second ")):
        signal.raise_signal(signal.{number})
        say("went on")
"""
    assert _ended(script) == (code, "second first", "")


@pytest.mark.thorough
def test_the_limit_of_cpu_time_leaves_nothing_half_written(tmp_path: Path) -> None:
    """The process ends, and the temporary file beside its name is gone."""
    script = f"""
from gradcli.files.atomic import replacing
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
spent = int(time.process_time())
resource.setrlimit(resource.RLIMIT_CPU, (spent + 1, spent + 10))
with replacing({str(tmp_path / "out")!r}) as output:
    output.write(b"half")
    say(str(len(os.listdir({str(tmp_path)!r}))))
    while True:
        pass
"""
    assert _ended(script) == (-signal.SIGXCPU, "1", "")
    assert os.listdir(tmp_path) == []


def test_signals_are_as_they_were_after_the_block() -> None:
    """And within, where somebody else listens."""
    listening = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with undone(lambda: None):
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, listening)


PRODUCTS = ["vjp", "sin(x)*exp(x)", "--at", "linspace(0,1,300)", *["--v", "ones"] * 250]
MAP = ["map", "sin(x)", "--points", "-", "-o", "y.csv"]


LONG = [
    (PRODUCTS, "product ", signal.SIGINT, 130),
    pytest.param(MAP, " rows, ", signal.SIGINT, 130, marks=[pytest.mark.part("tables"), pytest.mark.thorough]),
    pytest.param(
        MAP, " rows, ", signal.SIGTERM, -signal.SIGTERM, marks=[pytest.mark.part("tables"), pytest.mark.thorough]
    ),
]


@pytest.mark.parametrize(("words", "sign", "number", "code"), LONG)
def test_a_signal_leaves_a_clean_terminal(words: list[str], sign: str, number: int, code: int, folder: Path) -> None:
    """The line that says what is done is gone, and so is half a file; the one that was there stays."""
    (folder / "y.csv").write_text("before")
    terminal = Terminal()
    command = [sys.executable, "-m", "gradcli", *words]
    own = os.environ | {"TERM": "xterm"}
    with Program(command, stdin=subprocess.PIPE, stderr=terminal.there, start_new_session=True, env=own) as process:
        os.close(terminal.there)
        if words is MAP:
            process.send(b"x\n" + b"1\n" * 100_000)
        terminal.wait_for(sign)
        process.send_signal(number)
        assert process.wait(LONGEST) == code
    assert terminal.whole().endswith("\r\x1b[2K")
    assert (os.listdir(folder), (folder / "y.csv").read_text()) == (["y.csv"], "before")
