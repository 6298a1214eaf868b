"""Answers in LaTeX: every one compiles, whatever was typed, and keeps its digits."""

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradcli import Function
from gradcli.language import ops
from gradcli.notation import Bar, Element, Named, Typed
from gradcli.notation.typesetting import name, number, text, typed
from gradcli.parts.pages.latex import matrix
from gradcli.questions import functions
from gradcli.report import Screen, rendered
from gradcli.symbolic.operations import notation_of
from tests import latex, recorded
from tests.conftest import Command
from tests.examples import part
from tests.parsing import parse


def _shown(answer: Any) -> str:
    return rendered(answer, "latex", Screen())


COMMANDS = [c for c in recorded.COMMANDS if not c.startswith("gradcli graph") or "--to" not in c]
"""Commands whose answer has --format latex."""


@pytest.mark.parametrize("command", part(COMMANDS, 2, of=6))
@pytest.mark.one_in(4)
def test_every_recorded_answer_compiles(command: str) -> None:
    """All commands, all that can be in their answers; the format is the only thing that changes."""
    shown = _shown(recorded.answer(command).answer)
    if shown.startswith("% gradcli code"):
        latex.check_document(shown)
    else:
        assert shown.startswith("% needs \\usepackage{amsmath}\n")
        assert shown.isascii()
        latex.check(shown)


def test_the_list_of_functions_compiles() -> None:
    """All of it."""
    latex.check(_shown(functions.listed()))


@given(st.text(max_size=40))
def test_any_text_compiles(words: str) -> None:
    """In a paragraph and in typewriter type."""
    latex.check(text(words))
    latex.check(typed(words))
    latex.check(rf"\texttt{{{text(words)}}}", is_math=True)


@given(st.text(min_size=1, max_size=8))
def test_any_name_compiles(word: str) -> None:
    """Identifiers of every script, and what is none; so do adjoints and elements."""
    notations = (Bar(word), Element(word, (0, 1)), Typed(word), Named(word))
    for shown in (f"{name(word)}_{{i}}^{{2}}", *(notation.latex for notation in notations)):
        latex.check(shown, is_math=True)


@pytest.mark.parametrize("character", list("\\{}#%&$~^_`'\"<>|[]-*/ "))
def test_what_is_special_to_tex_never_arrives_raw(character: str) -> None:
    """One, two, and at either end."""
    for words in (character, character * 2, f"a{character}", f"{character}b"):
        latex.check(text(words))
        latex.check(typed(words))
    latex.check(r"\begin{tabular}{l} a \\ " + text(character) + r" \end{tabular}")


def test_hostile_expressions_are_text() -> None:
    """They cannot end the document, read a file, or begin a comment."""
    expression = r"x**2 # \end{document}\input{/etc/passwd} 100% & $1"
    shown = _shown(replace(Function("x**2").eval({"x": 1.0}), expression=expression))
    latex.check(shown)
    assert r"\input" not in shown
    assert r"\textbackslash{}end\{document\}" in shown


def test_greek_and_foreign_names() -> None:
    """Of variables, in vectors, labels and formulas."""
    shown = _shown(Function("größe*λ + sum(alpha)").vjp({"größe": [1.0, 2.0], "λ": 2.0, "alpha": [1.0]}, "ones"))
    latex.check(shown)
    assert r"\lambda &= 2 \\" in shown
    assert r"\frac{\partial y_{i}}{\partial \alpha_{" in shown


@given(st.floats(width=64))
def test_numbers_keep_their_digits(value: float) -> None:
    """They read back."""
    shown = number(repr(value))
    latex.check(shown, is_math=True)
    back = shown.replace(r" \cdot 10^{", "e").replace("-10^{", "-1e").replace("10^{", "1e").replace("}", "")
    back = back.replace(r"\infty", "inf").replace(r"\mathrm{nan", "nan")
    assert repr(float(back)) == repr(value)


def test_matrices_show_their_corners() -> None:
    """Of rows and columns, with the count; one that is too wide for an environment of amsmath's is an array."""
    shown = matrix(np.arange(400.0).reshape(20, 20))
    assert shown.count(r"\cdots") == 6
    assert shown.count(r"\vdots") == 6
    assert shown.count(r"\ddots") == 1
    assert shown.endswith(r"\text{(400 elements)}")
    wide = matrix(np.arange(24.0).reshape(2, 12))
    assert wide.startswith(r"\left[\begin{array}{cccccccccccc} 0 & 1")
    for one in (shown, wide, matrix(np.zeros((0, 3))), matrix(np.array(np.nan))):
        latex.check(one, is_math=True)


def test_the_product_is_written_out_where_it_fits() -> None:
    """Row vector, Jacobian, row vector."""
    shown = _shown(Function("x**2").vjp({"x": [1.0, 2.0]}, [3.0, 4.0]))
    v, block, product = (rf"\begin{{bmatrix}} {m} \end{{bmatrix}}" for m in ("3 & 4", r"2 & 0 \\ 0 & 4", "6 & 16"))
    assert rf"v^{{T}} \frac{{\partial y}}{{\partial x}} &= {v} {block} = {product}" in shown
    long = _shown(Function("exp(x)").vjp({"x": np.linspace(0, 1, 5)}, "ones"))
    assert r"v^{T} \frac{\partial y}{\partial x} &= \begin{bmatrix} 1 & 1.28" in long


OPERATIONS = [
    ("x**2", "x^{2}"),
    ("abs(x)", r"\left|x\right|"),
    ("x >= z", r"x \ge z"),
    ("A @ x", r"A \, x"),
    ("sum(A, dim=1)", r"\texttt{sum(A, dim=1)}"),
    ("x[1:, ..., None]", r"\texttt{x{[}1:, ..., None{]}}"),
    ("einsum('ij->ji', A)", r"\texttt{einsum('ij-\textgreater{}ji', A)}"),
    ("1e-08*x", r"10^{-8} \cdot x"),
    ("größe + λ", r"\mathit{gr\mathrm{U{+}00F6}\mathrm{U{+}00DF}e} + \lambda"),
    ("x // z", r"\left\lfloor x / z \right\rfloor"),
    ("x % z", r"x \text{ \% } z"),
]


@pytest.mark.parametrize(("text", "expected"), OPERATIONS)
def test_an_operation_is_set_as_mathematics(text: str, expected: str) -> None:
    """Signs, powers, calls; keys and keywords as they are typed."""
    shown = notation_of(parse(text).lines[0].call, str).latex
    assert shown == expected
    latex.check(shown, is_math=True)


def test_every_operation_compiles() -> None:
    """Every line of each worked example."""
    for line in (line for op in ops.TABLE.values() for line in parse(op.worked_example[0]).lines):
        latex.check(notation_of(line.call, str).latex, is_math=True)


@pytest.mark.part("code")
def test_code_writes_a_document(gradcli: Command) -> None:
    """It compiles, says how it was made, and has the numbers of vjp."""
    run = gradcli("code", "x**2", "--at", "1,2", "--v", "1,1", "--to", "latex")
    assert run.out.startswith('% gradcli code "x**2" --at 1,2 --v 1,1 --to latex\n\\documentclass{article}\n')
    latex.check_document(run.out)
    assert r"= \begin{bmatrix} 2 & 4 \end{bmatrix}" in run.out


def test_a_picture_is_drawn_with_characters() -> None:
    """Its answer is not left out."""
    found = recorded.answer("gradcli jacobian x*2 --at 1,2 --picture")
    shown = rendered(found.answer, "latex", Screen())
    assert "8 is 2; . is 0 for all values" in shown
