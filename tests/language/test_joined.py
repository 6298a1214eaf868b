"""Names that are written together: refused where nobody named them, and names like any other where somebody did."""

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from gradcli import Function
from gradcli.errors import GradcliError, LanguageError
from gradcli.language.lower.juxtaposed_names import apart
from tests.conftest import Command
from tests.examples import examples

MEANT = {
    "sinx": "sin(x)",
    "lnx": "ln(x)",
    "2sinx": "sin(x)",
    "pix": "pi*x",
    "sint": "sin(t)",
    "sin2x": "sin(2*x)",
    "expx": "exp(x)",
    "xsinx": "x*sin(x)",
    "sinxcosy": "sin(x)*cos(y)",
    "costheta": "cos(theta)",
    "sinwt": "sin(w*t)",
    "reluy": "relu(y)",
    "pir^2": "pi*r",
}

NAMES = """alpha beta theta sigma mu nu logits max_value exponent cost expected pixel piece tank arcs loss input sinks
pit pin costs signs rounded fixed section index value total weights x1 x_1 psi0 max1 norm2 logvar logstd trace1 target
secret expense mean2 info nano signal steps E0 h2o lr dt x y xx ab detA Ex""".split()
"""Names that people give variables."""


@pytest.mark.parametrize(("text", "spelling"), MEANT.items())
def test_words_written_together_are_refused_with_their_spelling(gradcli: Command, text: str, spelling: str) -> None:
    """No value names them: a bare value, or a value for another name."""
    for words in (["--at", "2"], ["--at", "s_=1"]):
        run = gradcli("grad", text, *words)
        assert run.code == 2
        assert spelling in run.err.partition("hint: write ")[2]


@pytest.mark.part("closed_forms", "improve")
@pytest.mark.parametrize(("text", "spelling"), MEANT.items())
def test_a_formula_and_a_range_are_refused_too(gradcli: Command, text: str, spelling: str) -> None:
    """No value is asked for there."""
    run = gradcli("grad", text)
    assert run.code == 2
    assert spelling in run.err.partition("hint: write ")[2]
    assert spelling in gradcli("improve", text, "--in", "0..1").err


@pytest.mark.parametrize("text", MEANT)
def test_a_value_by_that_name_makes_it_a_variable(gradcli: Command, text: str) -> None:
    """Without a word about it."""
    name = Function(text).variables[0]
    run = gradcli("grad", text, "--at", f"{name}=2", "--json")
    assert run.code == 0
    assert "warnings" not in json.loads(run.out)
    assert Function(text).grad({name: 2}).warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_names_of_variables_are_read_as_they_stand(gradcli: Command, name: str) -> None:
    """Though some of them look like a call."""
    assert gradcli("eval", f"2*{name}", "--at", "3", "--format", "plain").out == "6\n"


def test_a_known_name_beside_it_makes_it_meant() -> None:
    """`cost` is a word, and the cosine of t where t is there."""
    for text, at in (("t + cost", {"t": 1}), ("cost", {"t": 1}), ("x*logp", {"p": 1, "x": 1})):
        with pytest.raises(LanguageError, match="one name to a program"):
            Function(text).grad(at)
    with pytest.raises(GradcliError, match="no value for the variable 'cost'"):
        Function("x + cost").grad({"x": 1})


@pytest.mark.part("closed_forms")
def test_eulers_number_is_hinted_at(gradcli: Command) -> None:
    """And not a value for e, which is a variable where it has one."""
    for words in (["--at", "2"], ["--at", "x=2"]):
        run = gradcli("grad", "e^x", *words)
        assert "E^x" in run.err
        assert "e=2" not in run.err
    assert gradcli("grad", "e^x", "--at", "e=1", "--at", "x=2", "--wrt", "e", "--format", "plain").out == "2\n"
    assert "Euler's number is E" in gradcli("grad", "e**2", "--at", "3").err
    assert 'gradcli grad "E^x"' in gradcli("grad", "e^x").err
    assert gradcli("grad", "e^x", "--shape", "e=()").err == ""


@pytest.mark.part("claims", "tables")
def test_columns_and_claims_and_losses_are_asked_too(
    gradcli: Command, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A column names a variable as --at does."""
    table = tmp_path_factory.mktemp("joined") / "t.csv"
    table.write_text("x,y\n1,2\n")
    assert 'write gradcli map "sin(x)" --points' in gradcli("map", "sinx", "--points", str(table)).err
    table.write_text("sinx\n1\n")
    assert gradcli("map", "sinx", "--points", str(table)).out == "y,dy_dsinx\n1.0,1.0\n"
    assert "cos(x)" in gradcli("check", "sin(x)", "--at", "1", "--claim", "cosx").err
    assert '"exp(y)"' in gradcli("vjp", "x", "--at", "1", "--loss", "expy").err
    assert "write sin(y)" in gradcli("vjp", "x", "--at", "1", "--v", "y*siny").err
    assert '"sin(2)"' in gradcli("eval", "x", "--at", "sin2").err


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzE_2", min_size=1, max_size=40))
def test_no_name_takes_long_or_is_spelled_with_other_letters(name: str) -> None:
    """A name of any letters."""
    found = apart(name, ["x", "rate"])
    if found is not None:
        assert "".join(c for c in found if c.isalnum()) == name


REFUSED = {
    ("grad", "sinxcosy", "--at", "2"): ["sin(x)*cos(y)"],
    ("grad", "sinwt", "--at", "1,2"): ['gradcli grad "sin(w*t)" --at w=1 --at t=2'],
    ("grad", "sinx^2", "--at", "1"): ['"sin(x)^2"', '"sin(x^2)"'],
    ("grad", "sinx + 2sinx**2"): ['"sin(x) + 2sin(x)**2"', '"sin(x) + 2sin(x**2)"'],
    ("grad", "sin^-1 x", "--at", "1"): ['"asin(x)"', '"1/sin(x)"'],
    ("grad", "lg(x)", "--at", "1"): ['gradcli grad "log10(x)" --at 1', 'gradcli grad "log2(x)" --at 1'],
    ("grad", "sinn(x)", "--at", "1"): ['gradcli grad "sin(x)" --at 1'],
    ("improve", "sinxcosy", "--in", "0..1"): ["sin(x)*cos(y)"],
    ("vjp", "x", "--at", "1", "--v", "y*siny"): ["sin(y)"],
}
"""What has two readings, values in an order that nobody knows, or misspelt letters, with what each hint names."""


@pytest.mark.part("closed_forms", "improve")
@pytest.mark.parametrize(("line", "named"), REFUSED.items())
def test_what_is_not_beyond_doubt_is_refused(gradcli: Command, line: tuple[str, ...], named: list[str]) -> None:
    """With the spellings that can be read."""
    run = gradcli(*line)
    assert (run.code, run.out) == (2, "")
    assert all(one in run.err.partition("hint: write ")[2] for one in named), run.err
