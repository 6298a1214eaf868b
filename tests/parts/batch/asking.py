"""A request and its answer, in this process."""

import json
from typing import Any

from gradcli.parts.batch.asking import answer
from gradcli.parts.batch.request_lines import read


def ask(command: str, expression: str, **request: Any) -> Any:
    """Answer a line of JSON."""
    return answer(read(json.dumps({"command": command, "expression": expression, **request}).encode()))
