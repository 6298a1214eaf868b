"""Answers as they are printed: goldens of every format."""

import json
import re

import numpy as np
import pytest

from gradcli import Function
from gradcli.language import ops
from tests import of_parts
from tests.checks import check_of
from tests.command_lines import CommandLine, recorded, require
from tests.conftest import Command


@pytest.mark.parametrize("one", recorded("answers"), ids=lambda one: f"{one.subject} {one.line}")
def test_the_answer_is_as_recorded(one: CommandLine, gradcli: Command, updates: bool) -> None:
    """As in a pipe."""
    require(one, gradcli, updates=updates)


LISTS = ["", "--format plain", "--groups", "--groups --format plain"]
LISTS += [line for line in ["--groups --format latex"] if of_parts.can_answer(line)]


@pytest.mark.parametrize("options", LISTS)
def test_the_list_of_functions_names_each_of_them_in_order(options: str, gradcli: Command) -> None:
    """Group by group, once."""
    shown = gradcli("functions", *options.split()).out.replace("\\_", "_")
    words = re.findall(r"[a-z_0-9]+" if options else r"^│ (\w+)[(\[]", shown, re.MULTILINE)
    place = 0
    for group, rows in ops.GROUPS.items():
        assert group in shown or options == "--format plain"
        for op in rows:
            place = words.index("x" if op.name == "index" and not options else op.name, place) + 1
    assert not options or shown.count("huber_loss") == 1


def _refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is not JSON")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numbers_round_trip_through_json(dtype: str, gradcli: Command) -> None:
    """The shortest digits of their own precision; what is not finite is a string."""
    run = gradcli("eval", "[x, 1/x, log(x - 0.1)]", "--at", "0.1", "--dtype", dtype, "--json")
    x, inverse, infinite = json.loads(run.out, parse_constant=_refuse)["value"]
    kind = np.dtype(dtype).type
    assert (x, kind(inverse)) == (0.1, kind(1) / kind(0.1))
    assert infinite == "-Infinity" or dtype == "float32"


def test_json_leaves_out_what_does_not_apply(gradcli: Command) -> None:
    """`--no-check` has no check, `eval` no derivative, a large vjp says why it has no Jacobian."""
    assert "check" not in json.loads(gradcli("grad", "x**2", "--at", "1", "--no-check", "--json").out)
    assert list(json.loads(gradcli("eval", "x**2", "--at", "1", "--no-check", "--json").out)) == [
        "schema",
        "command",
        "expression",
        "dtype",
        "inputs",
        "value",
    ]
    large = json.loads(gradcli("vjp", "x**2", "--at", "linspace(0,1,200)", "--v", "ones", "--json").out)
    assert "jacobian" not in large
    assert "40,000 entries" in large["jacobian_omitted"]
    assert (large["check"]["checked"], large["check"]["entries"]) == (200, 200)


def test_a_kink_among_others_that_a_sample_found_is_not_called_proven() -> None:
    """The finding is proven, the answer as a whole is not."""
    check = check_of(Function("sum(abs(x))").grad({"x": [0.0] * 2000}))
    assert (check.verdict, check.proven, check.sampled) == ("kink", False, True)
    assert check.findings[0].proven
