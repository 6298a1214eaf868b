"""Defaults from the environment: what they change, what counts more, and what is said of a wrong one."""

import re

import pytest

from gradcli import guide
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
        marks = ("\x1b[1;33mwarning:", "\x1b[1;31merror:\x1b[0m ", "\x1b[2mhint: ")
        assert [mark in found for mark in marks] == [colored] * 3


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
