"""Requests: what is read of a line, what is refused, and that nothing hostile does more than that."""

import io
import json
from typing import Any

import numpy as np
import pytest

from gradcli.cli.signatures import request_options
from gradcli.errors import GradcliError
from gradcli.parts.batch.asking import answer, argument
from gradcli.parts.batch.request_lines import LINE_BYTES, lines, read
from gradcli.registry import questions
from gradcli.results import VJP, Evaluation, Products
from tests.parts.batch.asking import ask
from tests.test_options import KINDS


def _refused(line: bytes | str) -> GradcliError:
    with pytest.raises(GradcliError) as caught:
        answer(read(line.encode() if isinstance(line, str) else line))
    return caught.value


def _refused_request(**request: Any) -> str:
    error = _refused(json.dumps(request))
    return f"{error.message}; {error.hint}"


VALUES = [
    (3, 3.0),
    (-2.5, -2.5),
    ([1, 2], [1.0, 2.0]),
    ([[1], [2]], [[1.0], [2.0]]),
    ([], []),
    ("linspace(0,1,3)", [0.0, 0.5, 1.0]),
    ("1,2", [1.0, 2.0]),
    ([1, "NaN", "-Infinity"], [1.0, np.nan, -np.inf]),
    ("Infinity", np.inf),
    (float("nan"), np.nan),
    (2**60 + 1, 2.0**60),
]


@pytest.mark.parametrize(("given", "wanted"), VALUES)
def test_values_are_numbers_lists_or_texts_of_the_language(given: Any, wanted: Any) -> None:
    """And those that are not finite are read as `--json` writes them."""
    found = ask(command="eval", expression="x", at={"x": given}, check=False)
    assert isinstance(found, Evaluation)
    np.testing.assert_array_equal(found.value, np.array(wanted))


def test_names_are_a_list_or_a_text() -> None:
    """As on the command line, or as JSON has it."""
    at = {"x": 3, "y": 5}
    for wrt in (["y", "x"], "y,x", " y , x "):
        assert list(ask(command="grad", expression="x*y", at=at, wrt=wrt).grad) == ["y", "x"]


def test_several_v_are_several_products() -> None:
    """Even where the list has one; and with `accumulate` one v is a list too."""
    assert isinstance(ask("vjp", "x**2", at={"x": [1, 2]}, v="ones"), VJP)
    more: list[dict[str, Any]] = [{"vs": [[1, 0]]}, {"vs": ["e0", [0, 1]]}, {"v": "e0", "accumulate": True}]
    for asked in more:
        found = ask("vjp", "x**2", at={"x": [1, 2]}, **asked)
        assert isinstance(found, Products)
        np.testing.assert_array_equal(found.answers[0].vjp["x"], [2, 0])


def test_null_is_a_key_left_out() -> None:
    """As programs write what they have not."""
    found = ask(command="vjp", expression="x**2", at={"x": 3}, v=None, u=None, id=None)
    assert found.vjp["x"] == 6


MISTAKES = [
    ({}, 'a request needs the key "command"'),
    ({"command": "gard"}, "did you mean 'grad'?"),
    ({"command": "functions"}, "no command that a request may have"),
    ({"command": "grad", "expression": "x", "dtpye": "float32"}, "did you mean 'dtype'?"),
    ({"command": "grad", "expression": "x", "u": 1}, "jvp and hvp take it"),
    ({"command": "grad", "expression": "x", "format": "csv"}, "always one JSON object"),
    ({"command": "grad", "expression": "x", "box": {}}, 'write "in"'),
    ({"command": "grad", "expression": "x*y", "at": [1]}, "a value alone names no variable"),
    ({"command": "grad", "expression": "x", "at": {"x": True}}, '"at.x" has true, and not a number'),
    ({"command": "grad", "expression": "x", "at": {"x": [1, [2]]}}, "lists of different lengths"),
    ({"command": "grad", "expression": "x", "at": {"x": ["pi"]}}, "the text 'pi' at [0], and not a number"),
    (
        {"command": "grad", "expression": "x", "wrt": []},
        '"wrt" must be a list of names, one or more, and is an empty list',
    ),
    ({"command": "grad", "expression": "x", "wrt": [1]}, '"wrt" must be a list of names'),
    ({"command": "grad", "expression": "x", "check": "no"}, '"check" must be true or false, and is "no"'),
    ({"command": "grad", "expression": "x", "dtype": "float16"}, '"dtype" must be "float64" or "float32"'),
    ({"command": "vjp", "expression": "x", "vs": []}, '"vs" must be a list of values, one or more'),
    ({"command": "vjp", "expression": "x", "v": 1, "vs": [1]}, '"v" and "vs" exclude each other'),
    ({"command": "check", "expression": "x", "rtol": "1e-3"}, '"rtol" must be a number, and is "1e-3"'),
    ({"command": "improve", "expression": "x*y", "in": "0..1"}, "names no variable"),
    ({"command": "improve", "expression": "x", "in": {"x": [0, 1]}}, '"in.x" must be a text, and is a list'),
    ({"command": "check", "expression": "x", "allow": ["kinks"], "at": {"x": 1}}, "kink"),
    ({"command": "eval", "expression": "x**2"}, "no value for the variable 'x'"),
    ({"command": "eval", "expression": "own.py::f"}, "own.py::f is a function of Python, and a request has a formula"),
]


@pytest.mark.parametrize(("request_", "says"), MISTAKES)
def test_a_mistake_names_its_key(request_: dict[str, Any], says: str) -> None:
    """And what may stand there."""
    assert says in _refused_request(**request_)


FILES = [
    {"command": "grad", "expression": "@/etc/passwd"},
    {"command": "grad", "expression": "x", "at": {"x": "@/etc/passwd"}},
    {"command": "vjp", "expression": "x", "v": "\t@x.npy"},
    {"command": "vjp", "expression": "x", "loss": "@loss"},
    {"command": "jvp", "expression": "x", "u": {"x": "@-"}},
    {"command": "check", "expression": "x", "expect": {"x": "@-"}},
]


@pytest.mark.parametrize("request_", FILES)
def test_a_request_opens_no_file(request_: dict[str, Any]) -> None:
    """Whatever it is given to."""
    assert "requests read no files" in _refused_request(**request_)


HOSTILE = [
    (b"{nonsense", "the request is not JSON"),
    (b"[1]", "this is a list"),
    (b"[", "this is a line of a list"),
    (b" ]", "this is a line of a list"),
    (b'"text"', "this is a text"),
    (b"\xff\xfe", "not text in UTF-8"),
    (b"[" * 100_000, "nested too deep"),
    (b'{"a":' * 100_000, "nested too deep"),
    (b'{"command": "grad", "command": "vjp"}', 'the key "command" twice'),
    (b'{"command": "grad", "expression": "x", "at": {"x": ' + b"9" * 5_000 + b"}}", "thousands of digits"),
    (b'{"command": "grad", "expression": "x", "at": {"x": 1e999}}', "beyond the range of float64"),
    (b'{"id": [1]}', '"id" must be a text or a number'),
    (b'{"id": -1e999}', '"id" must be a text or a number that float64 has'),
    (b'{"command": "eval", "expression": "x", "at": {"x": ' + b"[" * 500 + b"]" * 500 + b"}}", "dimensions"),
    (b'{"command": "eval", "expression": "\\ud800"}', "U+D800"),
    (b'{"command": "eval", "\\udfff": 1, "expression": "x"}', "no key '?'"),
]


@pytest.mark.parametrize(("line", "says"), HOSTILE, ids=lambda value: repr(value[:40]))
def test_a_hostile_line_is_one_error(line: bytes, says: str) -> None:
    """It says what is wrong, in a line."""
    error = _refused(line)
    assert says in error.message
    assert len(error.message) < 1_000


@pytest.mark.parametrize("found", [0, -1.5, "a", None, True, 10**300, "\ud800"])
def test_any_id_is_kept(found: Any) -> None:
    """Beside an answer and beside a mistake."""
    for more in ({}, {"command": "grad", "nonsense": 1}):
        assert read(json.dumps({"id": found, **more}).encode()).head == {"id": found}


def test_lines_are_cut_without_holding_more_than_their_limit() -> None:
    """A line that is too long is None, and the next is read."""
    stream = io.BytesIO(b"a\n" + b"b" * LINE_BYTES + b"\n" + b"c" * (LINE_BYTES + 1) + b"\n\nd")
    found = list(lines(stream))
    assert [line if line is None else len(line) for line in found] == [2, LINE_BYTES + 1, None, 1, 1]
    assert "32 MiB" in read(None).error.message  # type: ignore[union-attr]


def test_a_byte_order_mark_is_passed_over() -> None:
    """As of text that other systems write."""
    assert read(b'\xef\xbb\xbf{"id": 1}\r\n').head == {"id": 1}


def test_every_option_of_a_question_is_read_from_json() -> None:
    """Of every kind."""
    for option in {option for command in questions() for option in request_options(command).values()}:
        given = option.choices[0] if option.choices else KINDS[option.kind][1]
        assert argument(option, given) is not None
