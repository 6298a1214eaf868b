"""Meaning of the language, and Programs that keep what was typed."""

import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from gradcli import Function
from gradcli.errors import GradcliError, TooLargeError
from gradcli.language.program.wengert import Call
from gradcli.language.text.source import MAX_DEPTH
from tests.conftest import Command
from tests.examples import examples
from tests.parsing import parse


def _calls(text: str) -> list[Call]:
    return [line.call for line in parse(text).lines]


def _value(text: str, **at: float) -> float:
    return float(Function(text).eval(at).value)


PRECEDENCE = [
    ("1 + 2*3", 7),
    ("-2**2", -4),
    ("2**-1", 0.5),
    ("2**3**2", 512),
    ("2^3", 8),
    ("8/4/2", 1),
    ("2(3+1)", 8),
    ("(1+1)(1+2)", 6),
    ("2 pi", 2 * np.pi),
    ("1/2pi", np.pi / 2),
    ("1_000 + .5 + 5. + 1e-3", 1005.501),
    ("Max(1, 5, 3) - Min(1, 5, 3)", 4),
    ("torch.special.i0(0) + np.exp(0) + math.pi - pi", 2),
    ("clamp(7, min=0, max=2)", 2),
    ("sum([[1, 2], [3, 4]], dim=0)[-1]", 6),
    ("a = 1\n\nb = a + 1; ; b*3", 6),
    ("(1 +\n 2)", 3),
    ("round(2.5) + round(3.5)", 6),
    ("1 < 2 < 3", 1),
    ("3 > 2 and not 1 > 2", 1),
    ("5 if 1 > 2 else 6 if 2 > 1 else 7", 6),
    ("Piecewise((1, 1 > 2), (4, True))", 4),
    ("sum(i*j for i in range(3) for j in range(1, 3) if i != j)", 4),
    ("[i for i in range(5) if i % 2 == 1].sum()", 4),
    ("sum([i for i in [1, 2.5]])", 3.5),
    ("np.array((1, 2)).sum() + torch.tensor([3.]).sum()", 6),
    ("max(1, 5) + min([4, 2])", 7),
    ("[[1, 5], [4, 2]].max(1, True)[0].sum()", 9),
    ("torch.max([[1, 5], [4, 2]], 0)[0][1]", 5),
    ("log(100, 10)", 2),
    ("len([1, 2, 3]) + [[1, 2]].size(1) + [[1, 2]].numel()", 7),
    ("norm([3, 4], p='fro') + vector_norm([3, 4], ord=1)", 12),
    ("x = [1, 2]; x[np.newaxis].shape[0]", 1),
]


@pytest.mark.parametrize(("text", "expected"), PRECEDENCE, ids=[text for text, _ in PRECEDENCE])
def test_precedence_and_spelling(text: str, expected: float) -> None:
    """As in Python, with ^ for powers and products by juxtaposition."""
    assert _value(text) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("text", ["x - x", "x/x", "x*0", "x**1", "x + 0", "maximum(x, x)", "--x", "x*x*x", "sin(x)/x"])
def test_nothing_is_simplified(text: str) -> None:
    """Torch must compute what was typed: every operation has its line."""
    assert len(_calls(text)) == sum(text.count(c) for c in "-/*+ms") - 2 * text.count("**") + text.count("**") - (
        text.count("maximum") * 2
    )


def test_constants_are_folded_exactly() -> None:
    """Integers and fractions only; a decimal is the float64 it reads as."""
    assert str(_calls("x**(1/3)")) == "[pow(x, 1/3)]"
    assert str(_calls("x*(2**10 - 1)")) == "[mul(x, 1023)]"
    assert float(_calls("x*0.1")[0].operands[1]) == 0.1


def test_shared_subexpressions_are_one_line() -> None:
    """A Wengert list computes sin(x) once."""
    assert [c.op.name for c in _calls("sin(x) + sin(x)*sin(x)")] == ["sin", "mul", "add"]


def test_each_line_knows_its_place() -> None:
    """The span of a line is the sub-expression as typed."""
    program = parse("y = x + 1;  exp( y )*2")
    assert [program.text[line.span.start : line.span.stop] for line in program.lines] == [
        "x + 1",
        "exp( y )",
        "exp( y )*2",
    ]
    assert program.lines[0].name == "y"


def test_unused_names_are_warned_about() -> None:
    """Once each, never for the output."""
    assert parse("a = x; b = x; c = b").warnings == ("y is c alone, and 'a' is never used; for both, end with [a, c]",)
    assert parse("a = x; x**2").warnings == ("the name 'a' is assigned but never used",)
    assert parse("a = x").warnings == ()


def test_variables_come_in_order_of_appearance() -> None:
    """And names that were assigned are none."""
    assert parse("b = z*a; b + y + z").names == ("z", "a", "y")


def test_nesting_is_bounded() -> None:
    """100 levels are read, 101 refused at their place."""
    assert parse("(" * MAX_DEPTH + "x" + ")" * MAX_DEPTH).names == ("x",)
    with pytest.raises(TooLargeError, match="nested"):
        parse("(" * (MAX_DEPTH + 1) + "x" + ")" * (MAX_DEPTH + 1))


VALUES = {"a": np.float64(1.25), "b": np.float64(2.5)}


@settings(max_examples=examples(300), deadline=None)
@given(
    st.recursive(
        st.sampled_from(["a", "b", "2", "0.5"]),
        lambda inner: st.builds("({}{}{})".format, inner, st.sampled_from(["+", "-", "*", "/", "**"]), inner),
        max_leaves=8,
    )
)
def test_arithmetic_reads_as_in_python(text: str) -> None:
    """The numbers of Python's own parser, in floating point."""
    with np.errstate(all="ignore"):
        expected = eval(re.sub(r"2|0\.5", r"np.float64(\g<0>)", text), {"np": np, **VALUES})
    assume(np.isfinite(expected) and abs(expected) <= 1e100)
    found = _value(text, **{name: value for name, value in VALUES.items() if name in text})
    assert found == pytest.approx(expected, rel=1e-12)


@settings(max_examples=examples(500), deadline=None)
@given(st.text(alphabet="xyab01.+-*/^@()[],;:= \n\t_eE'\"\\{}<>!&|~%#$\x00²×λ", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing else than a GradcliError ever comes out."""
    try:
        parse(text)
    except GradcliError as error:
        assert error.render()  # noqa: PT017


def test_a_name_of_a_function_may_be_assigned() -> None:
    """And is no function then, but behind a module."""
    assert [call.op.name for call in _calls("sum = 2*x; sum*torch.sum(x)")] == ["mul", "sum", "mul"]


@pytest.mark.parametrize(
    "text", ["(x**2\n   + 3*y)", "  a = x**2\n  a + 3*y", "\n\n x**2 + 3*y\n", "a = x**2\n\n\na + 3*y;"]
)
def test_lines_that_python_reads_are_read(text: str) -> None:
    """All alike."""
    assert _value(text, x=2, y=1) == 7


@pytest.mark.part("claims")
def test_claims_and_losses_are_of_one_expression(gradcli: Command) -> None:
    """No line of theirs is lost either."""
    for option in ("--claim", "--loss"):
        command = ["check"] if option == "--claim" else ["vjp"]
        for text, words in (
            ("2*x\n  + y", "begins with an operator"),
            ("a = 2*x; a; a", "thrown away"),
            ("x; y", "';'"),
        ):
            run = gradcli(*command, "x**2", "--at", "1", option, f"x={text}" if option == "--claim" else text)
            assert run.code == 2
            assert words in run.err


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from(["x", "2", "x*3", "(x)", "sin(x)"]), min_size=2, max_size=6), st.data())
def test_no_line_break_changes_a_value_silently(parts: list[str], data: st.DataObject) -> None:
    """A sum broken anywhere is refused, or has the same value; in brackets it always has."""
    text = data.draw(st.sampled_from([" + ", " - ", "*"])).join(parts)
    place = data.draw(st.integers(0, len(text)))
    broken = text[:place] + data.draw(st.sampled_from(["\n", "\n   ", " \n\t", ";\n"])) + text[place:]
    expected = _value(f"{text} + x", x=1.5)
    try:
        assert _value(f"({broken.replace(';', '')}) + x", x=1.5) == expected
        assert _value(f"{broken} + x", x=1.5) == expected
    except GradcliError as error:
        assert error.hint or ";" in broken  # noqa: PT017
