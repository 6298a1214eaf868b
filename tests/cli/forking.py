"""Many command lines as processes of their own at the price of one start: a process that imports all, and forks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Literal

from tests.conftest import Run

Stdout = Literal["closed", "gone", "full", "kept"]
"""No stdout at all, a pipe whose reader went away, a full disk, or what is read here."""

_SERVER = r"""
import json, os, sys, tempfile
import gradcli.autodiff._torch, gradcli.catalog, gradcli.check, gradcli.function, gradcli.report, gradcli.source.task
from gradcli.cli import main

done = []
for arguments, stdout in json.loads(sys.argv[1]):
    out, err, given = (tempfile.TemporaryFile() for _ in range(3))
    given.write(b"1\n2\n")
    given.flush()
    given.seek(0)
    child = os.fork()
    if child == 0:
        os.dup2(given.fileno(), 0)
        os.dup2(err.fileno(), 2)
        if stdout == "closed":
            os.close(1)
            sys.stdout = None
        elif stdout == "gone":
            reader, writer = os.pipe()
            os.close(reader)
            os.dup2(writer, 1)
        else:
            os.dup2(out.fileno() if stdout == "kept" else os.open("/dev/full", os.O_WRONLY), 1)
        sys.exit(main(arguments))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = [os.pread(file.fileno(), 10**6, 0).decode() for file in (out, err)]
    done.append([code, *texts, os.lseek(given.fileno(), 0, os.SEEK_CUR)])
print(json.dumps(done))
"""


def run_all(jobs: Sequence[tuple[Sequence[str], Stdout]]) -> list[tuple[Run, int]]:
    """What each command line did, and how many bytes of its standard input were read."""
    done = subprocess.run(
        [sys.executable, "-c", _SERVER, json.dumps(jobs)], capture_output=True, text=True, timeout=300, check=True
    )
    return [(Run(code, out, err), read) for code, out, err, read in json.loads(done.stdout)]
