"""The options of commands: shell, requests and Python have what a signature says, all of it and no more."""

import inspect
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, get_args

import pytest
import typer
from typer.core import TyperOption

from gradcli import Function
from gradcli.cli.app import application
from gradcli.cli.commands import built
from gradcli.cli.options import OptionKind
from gradcli.cli.signatures import Option, all_options, every_option, request_options, shell_options
from gradcli.questions.bound_function import Dtype
from gradcli.registry import DERIVATIVES, all_commands, questions
from gradcli.results import Drawing, Language, OnError

KINDS: Mapping[OptionKind, tuple[set[str], Any]] = {
    OptionKind.INPUTS: ({"Inputs | None"}, {"x": 1}),
    OptionKind.VALUES: ({"Mapping[str, Value] | None"}, {"x": 1}),
    OptionKind.DIRECTIONS: ({"Directions"}, 1),
    OptionKind.VECTOR: ({"Value | None"}, [1, 2]),
    OptionKind.VECTORS: ({"Sequence[Value]"}, ["e0", 1]),
    OptionKind.TEXT: ({"str | None"}, "y"),
    OptionKind.TEXTS: ({"Mapping[str, str] | None", "Mapping[str, str | StatedFunction] | None"}, "x"),
    OptionKind.SHAPES: ({"Mapping[str, GivenShape] | None"}, {"x": "n"}),
    OptionKind.RANGES: ({"Mapping[str, str] | None"}, {"x": "0..1"}),
    OptionKind.VARIABLES: ({"Sequence[str] | None", "Sequence[str]"}, ["x"]),
    OptionKind.STATEMENTS: ({"Sequence[str]"}, "y"),
    OptionKind.VERDICTS: ({"Sequence[results.Allowed]"}, ["kink"]),
    OptionKind.SWITCH: ({"bool"}, True),
    OptionKind.NUMBER: ({"float | None"}, 0.5),
    OptionKind.WHOLE: ({"int | None", "int", "Literal[1, 2]"}, 7),
    OptionKind.CHOICE: ({"Dtype | None", "Device | None", "Language", "results.OnError"}, None),
}
"""Types of Python for each kind of option, and a value in a request."""


def _parameters(*methods: str) -> dict[str, inspect.Parameter]:
    found: dict[str, inspect.Parameter] = {}
    for method in methods:
        found.update(inspect.signature(getattr(Function, method)).parameters)
    of_shell = {name: one for name, one in found.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}
    return {name: one for name, one in of_shell.items() if name not in ("self", "source", "of", "numbers_of", "out")}


def _require_same(options: Mapping[str, Option], parameters: Mapping[str, inspect.Parameter]) -> None:
    assert options.keys() == parameters.keys()
    for name, parameter in parameters.items():
        option = options[name]
        assert parameter.annotation in KINDS[option.kind][0], name
        assert parameter.default == option.default or (option.default is None and not parameter.default), name


METHODS = [
    pytest.param(name, marks=pytest.mark.part("closed_forms")) if name in DERIVATIVES else name for name in questions()
]


@pytest.mark.parametrize("command", METHODS)
def test_the_methods_of_a_function_take_what_the_table_says(command: str) -> None:
    """By its names, types and defaults; `vjps` has what several products have beside one."""
    methods = [command, *["vjps"] * (command == "vjp"), *["closed_form"] * (command in DERIVATIVES)]
    _require_same({option.name: option for option in request_options(command).values()}, _parameters(*methods))


@pytest.mark.part("tables")
def test_a_stream_takes_what_the_table_says() -> None:
    """All but what is about files."""
    options = {option.name: option for option in request_options("map").values()}
    of_files = "points points_format columns output output_format keep rows part scheduler resume"
    for name in of_files.split():
        assert options.pop(name).help
    _require_same(options, _parameters("stream"))


def test_the_shell_has_what_the_table_says() -> None:
    """Every command its options, in order, each with its default and the variable of the environment."""
    group = application()
    assert set(group.list_commands(typer.Context(group))) == {*all_commands()}
    for name, command in all_commands().items():
        params = [one for one in built(command).params if isinstance(one, TyperOption) and one.name != "help"]
        options = shell_options(command)
        assert [one.name for one in params] == [option.name for option in options], name
        for one, option in zip(params, options, strict=True):
            assert (tuple(one.opts), one.help, one.envvar or "") == (option.flags, option.help, option.variable)
            is_required = option.default is inspect.Parameter.empty
            is_switch = option.kind is OptionKind.SWITCH
            assert one.default == (False if is_switch else None if is_required else option.default)
            assert (one.multiple, one.required) == (option.is_repeated, is_required)
            assert tuple(getattr(one.type, "choices", ())) == option.choices


def test_every_function_of_the_registry_is_there() -> None:
    """What Typer reads, what answers, and the method; and a command has a help."""
    for command in all_commands().values():
        assert command.loaded().__doc__, command.name
        for place in filter(None, (command.function, command.method, command.answer)):
            assert callable(resolve_name(place)), place


def test_a_command_has_no_two_options_of_one_name() -> None:
    """By any name that they have."""
    for command in all_commands().values():
        own = all_options(command)
        flags = [flag for option in own if option.help for flag in option.flags]
        assert len({option.name for option in own}) == len(own)
        assert len(set(flags)) == len(flags)


CHOICES = [
    ("dtype", get_args(Dtype)),
    pytest.param("to", get_args(Language), marks=pytest.mark.part("code")),
    pytest.param("on_error", get_args(OnError), marks=pytest.mark.part("tables")),
    pytest.param("drawing", tuple(filter(None, get_args(Drawing))), marks=pytest.mark.part("explain")),
]


@pytest.mark.parametrize(("name", "words"), CHOICES)
def test_the_words_of_a_choice_are_those_that_python_knows(name: str, words: tuple[str, ...]) -> None:
    """Copied, as the types there bring NumPy."""
    assert {option.choices for _, option in every_option() if option.name == name} == {words}
