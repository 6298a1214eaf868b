"""What the part adds to tables of the tests of the core."""

from typing import Any
from unittest import mock

import numpy as np

from gradcli import Function

ANSWERS = {"Source": lambda: Function("sin(x)/3").code({"x": [1.0, 2.0]}, "ones")}

QUESTIONS = {"code": ["sin(x)", "--at", "1,2", "--v", "1,1"]}

RULES = {
    "parts/code/self_writing.py": "rules of constant tensors",
    "parts/code/numpy_script.py": "names in scipy.special",
    "parts/code/script.py": "constant tensors in the words of torch",
}

GRADIENTS = {
    "parts/code/numpy_script.py": "scripts, as they are written",
}

NARROW = {
    ("parts.code", "report"): {"gradcli.report", "gradcli.report.document"},  # a LaTeX document is an answer in LaTeX
}

COMMAND_LINES = {
    ("parts/code/code.py", " --to "): "a command to type",
    ("parts/code/script_files.py", " and --to latex exclude each other"): "files are written by the shell alone",
}

RECORDED = dict.fromkeys(["code"])


def _script(text: str, at: dict[str, Any]) -> int:
    """Require that a NumPy script has the numbers of `vjp`."""
    from tests.parts.code import test_numpy_script

    values = {name: np.array2string(np.array(a), separator=",", floatmode="unique") for name, a in at.items()}
    formulas = mock.patch("gradcli.parts.code.code._formulas", return_value={})  # which take most of the time
    with formulas, test_numpy_script.scipy_by_torch():
        assert "torch's numbers" not in Function(text).code(values, "ones", to="numpy").source
        test_numpy_script.require_same(text, values, "ones", 1e-9)
    return 0


READERS = {"script": _script}
