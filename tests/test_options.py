"""The table of options, and that shell, requests and Python have what it says: each command all of its own, no more."""

import inspect
from collections.abc import Mapping
from typing import Any, get_args

import pytest
import typer
from typer.core import TyperGroup, TyperOption

from gradcli import Function
from gradcli.cli.app import application
from gradcli.cli.default_command import DERIVATIVE
from gradcli.options import DERIVATIVES, OPTIONS, QUESTIONS, Option, OptionKind, keys, typed
from gradcli.parts.batch.asking import argument
from gradcli.questions.question import Dtype
from gradcli.results import Drawing, Language, OnError

KINDS: Mapping[OptionKind, tuple[set[str], Any]] = {
    OptionKind.INPUTS: ({"Inputs | None"}, {"x": 1}),
    OptionKind.VALUES: ({"Mapping[str, Value] | None"}, {"x": 1}),
    OptionKind.DIRECTIONS: ({"Directions"}, 1),
    OptionKind.VECTOR: ({"Value | None"}, [1, 2]),
    OptionKind.VECTORS: ({"Sequence[Value]"}, ["e0", 1]),
    OptionKind.TEXT: ({"str | None"}, "y"),
    OptionKind.TEXTS: ({"Mapping[str, str] | None"}, "x"),
    OptionKind.SHAPES: ({"Mapping[str, GivenShape] | None"}, {"x": "n"}),
    OptionKind.RANGES: ({"Mapping[str, str] | None"}, {"x": "0..1"}),
    OptionKind.VARIABLES: ({"Sequence[str] | None", "Sequence[str]"}, ["x"]),
    OptionKind.STATEMENTS: ({"Sequence[str]"}, "y"),
    OptionKind.VERDICTS: ({"Sequence[results.Allowed]"}, ["kink"]),
    OptionKind.SWITCH: ({"bool"}, True),
    OptionKind.NUMBER: ({"float | None"}, 0.5),
    OptionKind.WHOLE: ({"int | None", "int"}, 7),
    OptionKind.CHOICE: ({"Dtype | None", "Language", "results.OnError"}, None),
}
"""Types of Python for each kind of option, and a value in a request."""


def _parameters(*methods: str) -> dict[str, inspect.Parameter]:
    found: dict[str, inspect.Parameter] = {}
    for method in methods:
        found.update(inspect.signature(getattr(Function, method)).parameters)
    of_shell = {name: one for name, one in found.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}
    return {name: one for name, one in of_shell.items() if name not in ("self", "source", "of")}


def _require_same(options: Mapping[str, Option], parameters: Mapping[str, inspect.Parameter]) -> None:
    assert options.keys() == parameters.keys()
    for name, parameter in parameters.items():
        option = options[name]
        assert parameter.annotation in KINDS[option.kind][0], name
        assert parameter.default == option.default or (option.default is None and not parameter.default), name


@pytest.mark.parametrize("command", QUESTIONS)
def test_the_methods_of_a_function_take_what_the_table_says(command: str) -> None:
    """By its names, types and defaults; `vjps` has what several products have beside one."""
    methods = [command, *["vjps"] * (command == "vjp"), *["closed_form"] * (command in DERIVATIVES)]
    _require_same({option.name: option for option in keys(command).values()}, _parameters(*methods))


def test_a_stream_takes_what_the_table_says() -> None:
    """All but what is about files."""
    options = {option.name: option for option in keys("map").values()}
    of_files = "points points_format columns output output_format keep rows part scheduler resume"
    for name in of_files.split():
        assert options.pop(name).help
    _require_same(options, _parameters("stream"))


def test_the_shell_has_what_the_table_says() -> None:
    """Every command its options, in order, each with its default and the variable of the environment."""
    group = application()
    assert isinstance(group, TyperGroup)
    assert set(group.list_commands(typer.Context(group))) >= {name for option in OPTIONS for name in option.of}
    for name, command in group.commands.items():
        params = [one for one in command.params if isinstance(one, TyperOption) and one.name != "help"]
        options = list(typed("jacobian" if name == DERIVATIVE else name))
        assert [one.name for one in params] == [option.name for option in options], name
        for one, option in zip(params, options, strict=True):
            assert (tuple(one.opts), one.help, one.envvar) == (option.flags, option.help, option.variable)
            assert one.default == (False if option.kind is OptionKind.SWITCH else option.default)
            assert (one.multiple, one.required) == (option.is_repeated, option.is_required)
            assert tuple(getattr(one.type, "choices", ())) == option.choices


def test_a_command_has_no_two_options_of_one_name() -> None:
    """By any name that they have."""
    for command in {name for option in OPTIONS for name in option.of}:
        own = [option for option in OPTIONS if command in option.of]
        flags = [flag for option in own if option.help for flag in option.flags]
        assert len({option.name for option in own}) == len(own)
        assert len(set(flags)) == len(flags)


def test_every_option_of_a_question_is_read_from_json() -> None:
    """Of every kind."""
    for option in {option for command in QUESTIONS for option in keys(command).values()}:
        given = option.choices[0] if option.choices else KINDS[option.kind][1]
        assert argument(option, given) is not None


CHOICES = [
    ("dtype", get_args(Dtype)),
    ("to", get_args(Language)),
    ("on_error", get_args(OnError)),
    ("drawing", tuple(filter(None, get_args(Drawing)))),
]


@pytest.mark.parametrize(("name", "words"), CHOICES)
def test_the_words_of_a_choice_are_those_that_python_knows(name: str, words: tuple[str, ...]) -> None:
    """Copied, as the types there bring NumPy."""
    assert {option.choices for option in OPTIONS if option.name == name} == {words}
