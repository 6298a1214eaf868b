"""Cost of a request in a stream, against the same call in Python and against a process of its own."""

import json
import subprocess
import sys

from gradcli import Function
from gradcli.report.render.json import pieces
from tests.benchmarks.conftest import ratio

REQUESTS = 1_000
GRADCLI = [sys.executable, "-m", "gradcli"]


def _lines(count: int) -> str:
    """Requests that are all different."""
    found = ({"command": "vjp", "expression": "x**2", "at": {"x": [n, 2]}, "v": [1, 1]} for n in range(count))
    return "".join(f"{json.dumps(request)}\n" for request in found)


def _batch(count: int) -> None:
    subprocess.run([*GRADCLI, "batch"], input=_lines(count), stdout=subprocess.DEVNULL, text=True, check=True)


def test_a_request_costs_what_its_call_in_python_costs() -> None:
    """A thousand of each in a process of their own, so that both pay for the imports; the call writes its JSON too."""
    script = (
        "import sys; from tests.benchmarks.test_batch import in_python; in_python(int(sys.argv[1]))"  # the same imports
    )

    def python() -> None:
        subprocess.run([sys.executable, "-c", script, str(REQUESTS)], stdout=subprocess.DEVNULL, check=True)

    found = ratio(lambda: _batch(REQUESTS), python, 3)
    print(f"\n{REQUESTS:,} requests over as many calls in Python: {found:.2f}")
    assert found <= 1.3


def in_python(count: int) -> None:
    """The same questions as calls."""
    for n in range(count):
        sys.stdout.writelines(pieces(Function("x**2").vjp({"x": [n, 2]}, [1, 1])))
