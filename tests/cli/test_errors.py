"""Every kind of wrong input: one message, the place under a caret, the fix, exit 2, and nothing on stdout."""

import json

import pytest

from gradcli.errors import GradcliError, Place, Span
from tests.command_lines import CommandLine, recorded, require, words
from tests.conftest import Command


@pytest.mark.parametrize("one", recorded("errors"), ids=lambda one: f"{one.subject} {one.line}")
def test_the_message_is_as_recorded(one: CommandLine, gradcli: Command, updates: bool) -> None:
    """As JSON, an object has the keys of the schema, and is of the kind that the file has the name of."""
    require(one, gradcli, updates=updates)
    fields = json.loads(gradcli(*words(one.line), "--json").err)
    assert (fields["schema"], fields["error"]["kind"]) == (1, one.subject)
    assert {"kind", "message"} <= set(fields["error"]) <= {"kind", "message", "position", "hint"}


@pytest.mark.parametrize("columns", [20, 30, 40, 60, 80, 200])
@pytest.mark.parametrize("before", ["", "x + ", "x + " * 30])
@pytest.mark.parametrize("after", ["", " + y", " + y" * 30])
def test_carets_are_under_their_word_in_every_width(columns: int, before: str, after: str) -> None:
    """No line of the excerpt is wider than the terminal, which would move them."""
    place = Place(f"{before}sine(x){after}", Span(len(before), len(before) + 4))
    excerpt, carets = place.render(columns).split("\n")
    assert max(len(excerpt), len(carets)) <= columns
    assert excerpt[carets.index("^") : len(carets)] == "sine"
    assert columns < 80 or place.render(columns) == place.render()


def test_carets_know_of_wide_signs_and_of_escapes() -> None:
    """A sign may take two columns, or the six of its escape where the encoding has it not."""
    error = GradcliError("no", place=Place("量*(é)", Span(3, 4)))
    assert error.render() == "error: no\n  量*(é)\n      ^"
    assert error.render(encoding="ascii") == "error: no\n  \\u91cf*(\\xe9)\n          ^^^^"


def test_an_error_fits_the_terminal_that_it_goes_to(gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of stderr, whatever stdout is."""
    monkeypatch.setenv("COLUMNS", "30")
    words = ["eval", f"{'a + ' * 20}sine(x){' + b' * 20}", "--color", "never"]

    def longest() -> int:
        return max(len(line) for line in gradcli(*words).err.splitlines() if not line.startswith("hint: "))

    assert longest() > 60
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert longest() <= 30
