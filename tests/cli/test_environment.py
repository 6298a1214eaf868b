"""Defaults from the environment: what they change, what counts more, and what is said of a wrong one."""

import io
import re
import sys

import pytest

from gradcli import guide
from gradcli.cli import main
from gradcli.registry import all_commands
from tests.conftest import Command

COLOURS: list[tuple[dict[str, str], list[str], bool]] = [
    ({}, [], False),
    ({"NO_COLOR": "1", "GRADCLI_COLOR": "never"}, ["--color", "always"], True),
    ({"NO_COLOR": "1", "GRADCLI_COLOR": "always"}, [], True),
    ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], True),
    ({"FORCE_COLOR": "0"}, [], False),
    ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
    ({"FORCE_COLOR": "1", "GRADCLI_COLOR": "never"}, [], False),
    *(({}, ["--color", "always", "--format", form], False) for form in ("json", "csv", "plain", "latex", "markdown")),
]


@pytest.mark.parametrize(("environment", "options", "colored"), COLOURS)
def test_colours_are_as_asked(environment: dict[str, str], options: list[str], colored: bool, gradcli: Command) -> None:
    """By the option, our variable, those that many programs have; a pipe has none by default, and data never."""
    assert ("\x1b" in gradcli("eval", "x", "--at", "1", *options, **environment).out) == colored
    if "--format" not in options:
        wrong = (["a = x; 2*x", "--at", "x=1"], ["sine(x)"])
        found = "".join(gradcli("eval", *words, *options, **environment).err for words in wrong)
        marks = ("\x1b[1;38;5;130mwarning:", "\x1b[1;38;5;160merror:\x1b[0m ", "\x1b[1mhint:\x1b[0m ")
        assert [mark in found for mark in marks] == [colored] * 3


STREAMS = [
    ({"stdout", "stderr"}, {}, {"stdout", "stderr"}),
    ({"stdout"}, {}, {"stdout"}),
    ({"stderr"}, {}, {"stderr"}),
    (set(), {}, set()),
    ({"stdout", "stderr"}, {"NO_COLOR": "1"}, set()),
    ({"stdout", "stderr"}, {"TERM": "dumb"}, set()),
    ({"stdout"}, {"GRADCLI_COLOR": "never"}, set()),
    (set(), {"FORCE_COLOR": "1"}, {"stdout", "stderr"}),
]


@pytest.mark.parametrize(("terminals", "environment", "colored"), STREAMS)
def test_each_stream_has_colours_by_itself(
    terminals: set[str],
    environment: dict[str, str],
    colored: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer that is piped has none, while a warning beside it on the terminal has; and the other way round."""
    streams = {name: _Stream(is_terminal=name in terminals) for name in ("stdout", "stderr")}
    for name, value in {"TERM": "xterm", "COLUMNS": "80", **environment}.items():
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as own:
        for name, stream in streams.items():
            own.setattr(sys, name, stream)
        assert main(["eval", "a = x; 2*x", "--at", "x=1"]) == 0
    said = {name: stream.getvalue() for name, stream in streams.items()}
    assert "2" in said["stdout"]
    assert "warning:" in said["stderr"]
    assert {name for name, words in said.items() if "\x1b" in words} == colored


class _Stream(io.StringIO):
    """A stream that is a terminal, or is not."""

    encoding = "utf-8"

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """As it was told."""
        return self._is_terminal


def test_a_terminal_that_has_all_colours_gets_them(gradcli: Command) -> None:
    """One that does not say so gets the nearest of 256."""
    words = ["vjp", "x**2", "--at", "1", "--color", "always"]
    assert "\x1b[1;38;2;0;138;0m" in gradcli(*words, COLORTERM="truecolor").out
    assert "\x1b[1;38;5;28m" in gradcli(*words).out


@pytest.mark.parametrize("name", ["", *all_commands()])
def test_help_fits_narrow_terminals(name: str, gradcli: Command) -> None:
    """No line is longer, no word is broken, and an example can still be copied."""
    whole, narrow = (gradcli(*name.split(), "--help", COLUMNS=str(width)).out for width in (200, 60))
    assert max(map(len, narrow.splitlines())) <= 60
    known, found = (set(re.findall(r"[\w-]+", one)) for one in (whole, narrow))
    assert found <= known
    commands, copied = (re.findall(r"(?m)^ {4}(gradcli .*)$", one.replace("\\\n", " ")) for one in (whole, narrow))
    assert [" ".join(one.split()) for one in copied] == commands


@pytest.mark.part("claims", "closed_forms")
def test_the_values_of_a_function_never_come_from_the_environment(gradcli: Command) -> None:
    """Nor does what is differentiated."""
    own = {f"GRADCLI_{name}": "x=1" for name in ("AT", "EXPR", "EXPRESSION", "VJP_AT", "V", "WRT")}
    assert "no value for the variable 'x'" in gradcli("eval", "x**2", **own).err
    assert "∂y/∂x = 2·x " in gradcli("grad", "x**2", **own).out
    found = re.findall(r"env var: (\w+)", re.sub(r"\s+", " ", gradcli("check", "--help").out))
    assert set(found) == {f"GRADCLI_{name}" for name in ("FORMAT", "DTYPE", "DIGITS", "COLOR")}


def test_every_variable_is_documented(gradcli: Command) -> None:
    """In the help, in the guide, and nowhere one more."""
    known = {"GRADCLI_FORMAT", "GRADCLI_DTYPE", "GRADCLI_COLOR", "GRADCLI_PAGER", "GRADCLI_DEBUG"}
    known |= {"GRADCLI_DIGITS", "GRADCLI_CONFIG", "GRADCLI_WARM"}
    assert set(re.findall(r"GRADCLI_\w+", gradcli("--help").out)) == known
    assert set(re.findall(r"GRADCLI_\w+", guide.text("settings"))) == known


def test_a_page_in_a_pipe_has_no_width_of_a_terminal(gradcli: Command) -> None:
    """COLUMNS says how wide a terminal is, and a pipe is none."""
    words = ("vjp", "exp(x)*y", "--at", "x=1", "--at", "y=2")
    assert max(map(len, gradcli(*words).out.splitlines())) > 40
    assert gradcli(*words, COLUMNS="40").out == gradcli(*words).out
