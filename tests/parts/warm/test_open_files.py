"""What is open in the calling process alone is opened by that process: its call runs cold."""

import os
from pathlib import Path

import pytest

from gradcli.parts.warm.client import is_open_here
from tests import warm
from tests.conftest import Run, process
from tests.examples import part

PATHS = [
    ("/dev/fd/63", True),
    ("/dev//./fd/63", True),
    ("/dev/shm/../fd/63", True),
    ("/proc/self/fd/9", True),
    (f"/proc/{os.getpid()}/fd/9", True),
    ("/proc/thread-self/fd/9", True),
    ("/dev/tty", True),
    ("link", True),
    ("folder/3", True),
    ("again", True),
    ("here/dev/fd/3", True),
    ("/dev/stdin", False),
    ("/dev/fd/0", False),
    ("/proc/self/fd/1", False),
    ("/dev/null", False),
    ("stdin", False),
    ("file", False),
    ("missing/../link", False),
    ("circle", False),
    ("file/dev/fd/3", False),
    ("x" * 100_000, False),
    ("", False),
]


@pytest.mark.parametrize(("path", "is_ours"), PATHS, ids=[path.replace(str(os.getpid()), "PID") for path, _ in PATHS])
def test_open_files_are_known_by_their_paths(path: str, is_ours: bool, folder: Path) -> None:
    """Through links of any kind; the standard streams go along with a call."""
    links = {"link": "/dev/fd/5", "folder": "/dev/fd", "again": "link", "here": "/", "stdin": "/dev/stdin"}
    for name, place in (links | {"circle": "circle"}).items():
        (folder / name).symlink_to(place)
    (folder / "file").write_text("1")
    assert is_open_here(path) == is_ours


CALLS = [
    ("gradcli eval x --at @<(echo 3) --format plain", "3\n"),
    pytest.param("gradcli eval x --at=x=@<(echo 3) --format=plain", "3\n", marks=pytest.mark.thorough),
    pytest.param("gradcli eval @<(echo x+1) --at 3 --format plain", "4\n", marks=pytest.mark.thorough),
    ("GRADCLI_CONFIG=<(echo 'format = \"plain\"') gradcli eval x --at 3", "3\n"),
    ("ln -s /dev/fd/5 given; gradcli eval @given --at 2 --format plain 5< formula", "3\n"),
    pytest.param(
        "ln -s /dev/fd/5 conf; GRADCLI_CONFIG=conf gradcli eval x --at 3 5< <(echo 'format = \"plain\"')",
        "3\n",
        marks=pytest.mark.thorough,
    ),
    pytest.param(
        "cd /dev; gradcli eval @fd/5 --at 2 --format plain 5< $OLDPWD/formula", "3\n", marks=pytest.mark.thorough
    ),
    ("gradcli eval x --at 3 --format plain -o >(cat); wait $!", "3\n"),
    ("cat > /dev/null; echo 3 | gradcli eval x --at @/dev/stdin --format plain", "3\n"),
]


@pytest.mark.parametrize(("line", "out"), part(CALLS, 0, of=4))
def test_what_another_process_cannot_open_is_read_and_written(line: str, out: str, folder: Path) -> None:
    """By the command itself, beside a warm process."""
    (folder / "formula").write_text("x + 1")
    path = f"{os.path.dirname(warm.gradcli())}{os.pathsep}{os.environ['PATH']}"
    assert process("bash", "-c", line, given="", PATH=path) == Run(0, out, "")
