"""What is written as JSON is what the dataclasses say: the schema made of them, and every recorded answer."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from gradcli import Function, results
from gradcli.results.record import Record, if_empty, json_field, json_keys, json_property
from tests import command_lines, json_schema, of_parts

SCHEMA = json.loads(json_schema.GOLDEN.read_text(encoding="utf-8"))


def test_the_schema_is_that_of_the_dataclasses(require_recorded: Callable[[Path, str], None]) -> None:
    """`pytest --update-goldens` renews it."""
    require_recorded(json_schema.GOLDEN, json_schema.text())


def test_the_schema_has_every_answer() -> None:
    """And no class that is none."""
    answers = {kind for kind in vars(results).values() if isinstance(kind, type) and issubclass(kind, results.Reply)}
    inner = {results.Reply, results.Answer, results.Judged, results.Differentiation, results.Plotted, results.Products}
    inner |= {results.OnBox}
    assert set(json_schema.ANSWERS.values()) == answers - inner


def _lines() -> Iterator[tuple[str, dict[str, Any]]]:
    for one in command_lines.recorded("answers"):
        for line in one.printed.splitlines():
            if line.startswith('{"schema"') and '"error": ' not in line:
                yield one.line, json.loads(line)


LINES = list(_lines())


@pytest.mark.parametrize(("name", "answer"), LINES, ids=[name for name, _ in LINES])
def test_a_recorded_answer_is_as_the_schema_says(name: str, answer: dict[str, Any]) -> None:
    """With its keys in the order of the class."""
    Draft202012Validator(SCHEMA).validate(answer)
    orders = [list(one["properties"]) for one in SCHEMA["$defs"].values() if "properties" in one]
    orders += [list(one["properties"]) for one in SCHEMA["$defs"]["functions"]["anyOf"]]
    assert any([key for key in order if key in answer] == list(answer) for order in orders), name


@pytest.mark.parametrize("command", ["vjp", "grad", "jvp", "hessian", "hvp", "functions", *of_parts.rows("RECORDED")])
def test_answers_of_every_command_are_recorded(command: str) -> None:
    """So that the test above sees all classes."""
    assert command in {answer["command"] for _, answer in LINES}


@pytest.mark.part("plot")
def test_a_plot_says_that_it_is_one() -> None:
    """In the place of a recorded one."""
    assert json.loads(Function("x**2").plot().to_json())["command"] == "plot"


ANSWERS: dict[str, Callable[[], results.Reply]] = {
    "jacobian": lambda: Function("A@x").jacobian({"A": [[1, 2]], "x": [3, 4]}),
    "eval": lambda: Function("x > 0").eval({"x": [1, -1]}),
    "not finite": lambda: Function("log(x)").vjp({"x": [0, 1]}, "ones"),
    **of_parts.rows("VALIDATED"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_another_answer_is_as_the_schema_says(name: str) -> None:
    """Those of which none is recorded."""
    Draft202012Validator(SCHEMA).validate(ANSWERS[name]().to_dict())


@pytest.mark.parametrize(
    "change", [{"value": "x"}, {"vjp": None}, {"other": 1}, {"check": {"verdict": "good"}}, {"v": ["nan"]}, {"wrt": 1}]
)
def test_the_schema_refuses_what_is_no_answer(change: dict[str, Any]) -> None:
    """A wrong type, a key that there is not, a word that is none."""
    answer = Function("x**2").vjp({"x": [1, 2]}, [1, 1]).to_dict()
    validator = Draft202012Validator(SCHEMA)
    assert validator.is_valid(answer)
    assert not validator.is_valid(answer | change)


class _Outer(Record, kw_only=True):
    first: int
    last: str = json_field(omit=if_empty, is_last=True, default="")

    @property
    @json_property("second", before="third")
    def middle(self) -> int:
        """Twice the first."""
        return 2 * self.first


class _Inner(_Outer, kw_only=True):
    third: int = json_field(default=3)
    secret: int = json_field(None, default=4)
    fourth: int = json_field("4th", made=lambda one: one.secret, before="last", default=0)


def test_members_stand_where_their_fields_say() -> None:
    """Those of a base before those of its subclass, unless they come last; a computed one before the key it names."""
    assert [member.key for member in json_keys(_Inner)] == ["first", "second", "third", "4th", "last"]
    one = _Inner(first=1)
    assert [member.get(one) for member in json_keys(_Inner)] == [1, 2, 3, 4, ""]
