"""A request and its answer, in this process."""

import json
from typing import Any

from gradcli.requests import answer, read


def ask(command: str, expression: str, **request: Any) -> Any:
    """What a line of JSON is answered with."""
    return answer(read(json.dumps({"command": command, "expression": expression, **request}).encode()))
