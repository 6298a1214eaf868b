"""What gradcli needs of Typer that Typer does not promise: each thing is there, and does what it is needed for."""

import io
from contextlib import redirect_stdout

import pytest
import typer
from typer.core import TyperOption

from gradcli.cli import typer_internals as internals
from gradcli.cli.app import application
from gradcli.cli.commands import built
from gradcli.registry import all_commands

NEEDED = {
    "completion_init": "registers the shells: completion is silent without it",
    "get_completion_script": "writes what `gradcli completion` prints",
    "shell_complete": "answers a shell at the cursor",
    "TyperChoice": "the type of an option with words, which completion offers and an error lists",
    "click": "the click that Typer brings, whose errors and parameters the shell reads",
}


@pytest.mark.parametrize("name", NEEDED)
def test_typer_still_has_it(name: str) -> None:
    """Else this says what breaks."""
    assert hasattr(internals, name), NEEDED[name]
    assert name in internals.__all__


def test_the_click_of_typer_is_the_one_that_it_raises_and_builds() -> None:
    """An error of a command line, an option, and the context that the answer asks for."""
    with pytest.raises(internals.click.exceptions.UsageError):
        application().main(["vjp", "--nothing"], standalone_mode=False)
    for option in built(all_commands()["vjp"]).params:
        assert isinstance(option, internals.click.Parameter)
    assert isinstance(typer.Context(application()), internals.click.Context)
    assert internals.click.globals.get_current_context(silent=True) is None


def test_a_command_keeps_what_it_is_told() -> None:
    """The class, the words of a choice, bounds, names with an opposite, and the variable of the environment."""
    params = {one.name: one for one in built(all_commands()["vjp"]).params if isinstance(one, TyperOption)}
    assert isinstance(params["format"].type, internals.TyperChoice)
    assert isinstance(params["digits"].type, internals.NumberOrWord)
    assert (params["digits"].type.min, params["digits"].type.max, params["digits"].type.words) == (1, 17, ("all",))
    assert (params["check"].opts, params["check"].secondary_opts) == (["--no-check"], ["--check"])
    assert params["format"].envvar == "GRADCLI_FORMAT"


def test_a_number_or_a_word() -> None:
    """Any other word is an error of the number."""
    kind = internals.NumberOrWord(1, 17, "all")
    assert (kind.convert("all", None, None), kind.convert("5", None, None)) == ("all", 5)
    for wrong in ("18", "some"):
        with pytest.raises(internals.click.exceptions.BadParameter):
            kind.convert(wrong, None, None)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_answers_in_each_shell(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the script of the shell asks."""
    internals.completion_init()
    script = internals.get_completion_script(prog_name="gradcli", complete_var="_GRADCLI_COMPLETE", shell=shell)
    assert "_GRADCLI_COMPLETE" in script
    asked = {"COMP_WORDS": "gradcli hes", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "gradcli hes"}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    said = io.StringIO()
    with redirect_stdout(said):
        internals.shell_complete(application(), {}, "gradcli", "_GRADCLI_COMPLETE", f"complete_{shell}")
    assert "hessian" in said.getvalue()
