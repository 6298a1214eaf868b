"""A forked process is given what a started one is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

SCRIPT = """
import os, sys
print(sys.argv[1:], os.getcwd(), ascii(os.environ["GIVEN"]), __name__, sys.path[0])
print([stream and (stream.encoding, stream.errors) for stream in (sys.stdin, sys.stdout, sys.stderr)])
print(sys.stdin and sys.stdin.read(), [number for number in range(10) if os.path.exists(f"/dev/fd/{number}")])
print(os.read(7, 5), file=sys.stderr)
"""


@pytest.mark.parametrize("redirection", ["", "<&-", "2>&1"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1:replace"])
def test_a_forked_process_is_given_what_a_started_one_is(redirection: str, encoding: str, tmp_path: Path) -> None:
    """Arguments, folder, environment, standard streams as they are set up or closed, and other open files."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "seven").write_bytes(b"seven")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    found = []
    for python in (sys.executable, warm.python()):
        done = subprocess.run(
            ["bash", "-c", f'"$@" 7<seven {redirection}', "", python, str(script), "a b", "$c"],
            cwd=tmp_path,
            env=environment | {"GIVEN": "é", "PYTHONIOENCODING": encoding},
            input=b"text",
            capture_output=True,
            timeout=60,
            check=False,
        )
        found.append((done.returncode, done.stdout, done.stderr))
    started, forked = found
    assert started == forked
    assert b"seven" in forked[1] + forked[2]


def test_a_forked_command_ends_as_a_started_one_does() -> None:
    """With its exit code, also where it is 0 or a signal's."""
    for words, code in ((["--version"], 0), (["vjp", "x +"], 2)):
        assert subprocess.run([warm.gradcli(), *words], capture_output=True, check=False).returncode == code
