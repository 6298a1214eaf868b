"""What the names of statements stand for, and operations that are run as often as they are typed."""

from __future__ import annotations

import pytest

from gradcli import Function
from gradcli.errors import InputError, UncalledFunctionError
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Program
from gradcli.language.snippets import read
from gradcli.questions.naming import intermediates
from gradcli.questions.question import Inquiry, prepare


def _ops(program: Program) -> list[str]:
    return [line.call.op.name for line in program.lines]


def test_a_name_of_a_function_is_a_variable_where_it_has_a_value() -> None:
    """And the function where it is called; without a value, the error says both ways to go on."""
    f = Function("mean**2 + mean(x)")
    assert f.variables == ("mean", "x")
    assert f.vjp({"mean": 3.0, "x": [1.0, 2.0]}, check=False).value == 10.5
    assert Function("y = embedding**2; y + x").vjp({"embedding": 2.0, "x": 1.0}, check=False).vjp["embedding"] == 4
    for text, at in (("mean**2 + x", {"x": 1.0}), ("sin", 3.0), ("y = norm**2; y*x", {"x": 1.0})):
        with pytest.raises(UncalledFunctionError, match="is a function") as caught:
            Function(text).vjp(at, check=False)
        assert caught.value.hint is not None
        assert "needs a value, at" in caught.value.hint


def test_every_name_stands_for_its_line() -> None:
    """In the order of the statements; the last name is the output's."""
    program = parse("y = x**2; z = y**3")
    assert program.named == {"y": program.lines[0].symbol, "z": program.lines[1].symbol}
    assert intermediates(program, ["z", "y", "z"]) == {"z": program.lines[1].symbol, "y": program.lines[0].symbol}


def test_a_name_that_is_assigned_twice_stands_for_its_last_value() -> None:
    """As in Python."""
    program = parse("y = x**2; y = y + 1; sin(y)")
    assert program.named == {"y": program.lines[1].symbol}


def test_an_alias_is_the_same_tensor() -> None:
    """Of a variable, or of another name."""
    program = parse("a = x; b = a**2; c = b; c*2")
    assert program.named == {"a": program.variables[0], "b": program.lines[0].symbol, "c": program.lines[0].symbol}
    assert intermediates(program, ["a"]) == {"a": program.variables[0]}


def test_the_output_has_a_name_of_its_own() -> None:
    """And where the last statement is a condition, the name stands for the 1 or 0 that is the output."""
    program = parse("x**2")
    assert intermediates(program, ["y"]) == {"y": program.output}
    condition = parse("z = x > 0")
    assert intermediates(condition, ["z"]) == {"z": condition.output}


def test_the_names_of_loops_are_none() -> None:
    """They end with the loop."""
    assert list(parse("s = [x**i for i in range(3)]; sum(s)").named) == ["s"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["yy"], "no statement has that name"),
        (["x"], "is a variable"),
        (["c"], "the number 2"),
        ([""], "no statement has that name"),
    ],
)
def test_other_names_are_refused(names: list[str], words: str) -> None:
    """With the reason."""
    with pytest.raises(InputError, match=words):
        intermediates(parse("c = 2; y = c*x; y + 1"), names)


def test_a_typo_is_recognised() -> None:
    """Among the names of the statements."""
    with pytest.raises(InputError) as caught:
        intermediates(parse("hidden = x**2; sum(hidden)"), ["hiden"])
    assert caught.value.hint == "did you mean 'hidden'?"


def test_a_snippet_names_what_its_function_is_made_of() -> None:
    """Neither the tensors that it defines, nor what the output does not need."""
    text = "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\nw = sin(x)\nz = y**3\nz.backward(torch.ones(2))"
    program = read(text).program
    assert list(program.named) == ["y", "z"]


def test_what_is_typed_twice_is_two_lines_without_sharing() -> None:
    """As torch runs it; with sharing, which costs less, it is one."""
    text = "a = x*y; b = x*y; a + b"
    assert _ops(parse(text)) == ["mul", "add"]
    program = parse(text, shares=False)
    assert _ops(program) == ["mul", "mul", "add"]
    assert program.named["a"] != program.named["b"]


def test_without_sharing_the_text_still_takes_linear_time() -> None:
    """Every operation that is typed is one line."""
    text = "; ".join(["y = x"] + ["y = y + y"] * 1_000)
    assert len(parse(text, shares=False).lines) == 1_000


def test_a_question_can_be_prepared_without_sharing() -> None:
    """Also where a size of the text waits for the shapes."""
    for text, ops in (("x*x + x*x", ["mul", "mul", "add"]), ("x[:len(x)] + x[:len(x)]", ["index", "index", "add"])):
        question = prepare(Inquiry(text, read(text), {"x": "1,2"}), shares=False)
        assert _ops(question.program) == ops


def test_a_snippet_that_repeats_its_output_is_read_without_sharing() -> None:
    """The two passes add up."""
    text = "x = torch.tensor(2., requires_grad=True)\n(x**2).backward()\n(x**2).backward()"
    snippet = read(text)
    program = prepare(Inquiry(text, snippet, {}, None, "float64"), shares=False).program
    assert _ops(program) == ["pow"]
