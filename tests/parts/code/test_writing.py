"""The command `code`: scripts on stdout that run as they stand, from text that nobody trusts."""

import ast
import json
from pathlib import Path
from typing import Any, Literal

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, reject, settings

from gradcli import Function, GradcliError
from gradcli.parts.code import code
from tests import warm
from tests.conftest import Command, process
from tests.examples import examples
from tests.parts.code.running import run_script


def test_a_script_that_is_piped_into_a_file_runs(forked: Command, tmp_path: Path) -> None:
    """As a process of its own, and prints what `vjp` prints."""
    words = ["y = x**2; z = y**3", "--at", "1,2", "--v", "1,1"]
    run = forked("code", *words)
    assert (run.code, run.err) == (0, "")
    script = tmp_path / "script.py"
    script.write_text(run.out, encoding="utf-8")
    done = process(warm.runner(), str(script))
    assert (done.code, done.err) == (0, "")
    shown = done.out.replace("tensor(", "").replace(", dtype=torch.float64)", "")
    numbers = [float(word) for word in shown.strip("[]()\n").replace(",", " ").split()]
    assert numbers == [float(word) for word in forked("vjp", *words, "--format", "plain").out.split()]


@pytest.mark.part("closed_forms")
@pytest.mark.parametrize(
    ("text", "options", "formula"),
    [
        ("x**2", {}, "2 x"),
        ("a.T@inv(X)@b", {"wrt": "X"}, "-X^{-\\top} a (X^{-1} b)^\\top"),
        ("sum(A@x)", {"wrt": "x"}, "A"),
        ("A@x", {"wrt": "x"}, "A"),
        ("sin(x)*y", {"wrt": "y"}, "\\sin"),
        ("log(sum(exp(x)))", {}, "e^{x"),
    ],
)
def test_a_document_without_values_has_the_formulas(
    text: str, options: dict[str, Any], formula: str, gradcli: Command
) -> None:
    """As `grad --format latex` has them, in the shell and in Python; a script needs values all the same."""
    source = Function(text).code(to="latex", **options)
    assert "\\begin{document}" in source.source
    assert formula in source.source, source.source
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    assert gradcli("code", text, *words, "--to", "latex").out == source.source
    languages: tuple[Literal["torch", "numpy"], ...] = ("torch", "numpy")
    for language in languages:
        with pytest.raises(GradcliError, match="no value for the variable"):
            Function(text).code(to=language, **options)


def test_a_document_needs_a_part_that_writes_latex(gradcli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one that is an error, before anything is computed."""
    monkeypatch.setattr(code, "renderer", lambda form: None)
    run = gradcli("code", "x**2", "--to", "latex")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: --to latex needs the format latex, which no part of gradcli adds here\n"
        "hint: --to torch or --to numpy writes a script\n"
    )


def test_every_format_but_json_is_the_script_itself(gradcli: Command) -> None:
    """Without a frame; JSON has it under `source`."""
    words = ["code", "x**2", "--at", "1,2", "--v", "1,1"]
    plain = gradcli(*words, "--format", "plain").out
    assert plain == gradcli(*words).out == Function("x**2").code({"x": "1,2"}, "1,1").source
    fields = json.loads(gradcli(*words, "--json").out)
    assert fields["source"] == plain
    assert list(fields) == ["schema", "command", "expression", "dtype", "inputs", "wrt", "language", "source"]


# -- hostile text


def the_code_of(source: str) -> str:
    """A script without its comment, which must be its first line and no other."""
    comment, _, rest = source.partition("\n")
    assert comment.startswith("# gradcli code ")
    assert len(comment) <= 88
    assert comment.isprintable()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name):
                assert not name.startswith("__")
            case ast.Attribute(attr=name):
                assert not name.startswith("_")
    return rest


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(remark=st.text(max_size=30), at=st.sampled_from(["1,2", " 1 , 2 ", "[1,\n2]", '[1, 2]  # "`$(x)`\r']))
def test_comments_of_the_user_never_become_code(remark: str, at: str) -> None:
    """Line ends of any kind, quotes and backslashes in them."""
    plain = the_code_of(Function("x**2").code({"x": "1,2"}, "ones").source)
    try:
        function = Function(f"x**2  # {remark}")
    except GradcliError:
        reject()  # what follows a line end is read as a statement
    assume(len(function._snippet.program.lines) == 1)
    assert the_code_of(function.code({"x": at}, "ones").source) == plain


NAMES = [
    "torch", "F", "np", "print", "float", "i", "t1", "v", "gradient", "cotangent", "y", "f",
    "_", "match", "type", "é", "ﬁ", "ｘ", "µ", "𝐱", "exec", "grad", "dtype",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.one_in(4)
def test_any_name_of_the_language_can_be_a_variable_or_a_statement(name: str) -> None:
    """Even those that Python or the script reads as another name, and two that Python reads as one."""
    compared = 0
    for text, at in (
        (f"{name}*sum(x)*{name} + exp({name})", {name: "2,3", "x": "3,4"}),
        (f"{name} = x*sum(x); {name}**2 + {name}", {"x": "3,4"}),
    ):
        function = Function(text)
        answer = function.vjp(at, "ones", check=False)
        names, _ = run_script(function.code(at, "ones").source)
        for variable, found in zip(answer.wrt, names["printed"], strict=True):
            np.testing.assert_allclose(np.asarray(found), answer.vjp[variable], rtol=1e-14)
            compared += 1
    assert compared == 3


def test_names_that_python_reads_as_one_stay_two() -> None:
    """NFKC makes x of a full-width x, and fi of a ligature."""
    source = Function("ｘ*x**2 + ﬁ*fi").code({"ｘ": 2, "x": 3, "ﬁ": 5, "fi": 7}).source
    names, _ = run_script(source)
    assert [float(found) for found in names["printed"]] == [9, 12, 7, 5]


@pytest.mark.parametrize("word", ["'ij,j->i'", '"ij , j -> i"', "'ij,j'"])
def test_words_are_written_as_literals(word: str) -> None:
    """The only texts of the user that reach code: equations of letters."""
    source = Function(f"einsum({word}, A, x)").code({"A": [[1, 2], [3, 4]], "x": [5, 6]}, "ones").source
    texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    assert [text for text in texts if isinstance(text, str)]
    assert run_script(source)[0]["printed"][1].tolist() == [4, 6]
