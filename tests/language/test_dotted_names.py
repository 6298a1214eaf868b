"""Variables with dots in their names, as torch calls the parameters of modules."""

import json

import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.questions.text_reading import read
from tests.conftest import Command
from tests.parsing import parse

NAMES = [
    ("fc1.weight@x + fc1.bias", ("fc1.weight", "x", "fc1.bias")),
    ("net.0.weight@x + net.2.1.bias", ("net.0.weight", "x", "net.2.1.bias")),
    ("fc1.weight.T@x", ("fc1.weight", "x")),
    ("block.fc1.weight.shape[0]*x", ("block.fc1.weight", "x")),
    pytest.param("import torch\ny = fc.w*x\ny.sum().backward()", ("fc.w", "x"), marks=pytest.mark.part("paste")),
    pytest.param("f(x) = a.b*x; f(2)", ("a.b",), marks=pytest.mark.part("paste")),
]


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_a_dotted_name_is_a_variable(text: str, names: tuple[str, ...]) -> None:
    """Of that very name; what a tensor has behind a dot stays what it is."""
    assert read(text).program.names == names


def test_a_name_that_is_given_may_end_in_a_method() -> None:
    """Names come from elsewhere, as in a claim."""
    given = frozenset(["attn.values", "attn.norm.sum", "x"])
    assert parse("attn.values*x + attn.norm.sum", given=given).names == ("attn.values", "x", "attn.norm.sum")


VALUES = ("--at", "fc.weight=[[1,2],[3,4]]", "--at", "x=1,2")


@pytest.mark.part("claims", "code", "pages")
def test_a_dotted_name_goes_through_every_question(gradcli: Command) -> None:
    """By that name everywhere; in a script it is an identifier."""
    asked = ("sum((fc.weight@x)**2)", *VALUES)
    answer = json.loads(gradcli("vjp", *asked, "--wrt", "fc.weight", "--json").out)
    assert answer["vjp"]["fc.weight"] == [[10, 20], [22, 44]]
    script = gradcli("code", *asked).out.partition("\n")[2]
    assert "fc_weight = " in script
    assert "fc.weight" not in script
    lettered = "∂y/∂fc.weight[i,j] = 2*x[j]*(Σ[k=0..1] fc.weight[i,k]*x[k])"
    for claim in ("fc.weight=2*outer(fc.weight@x, x)", lettered, f"fc.weight={lettered}"):
        assert gradcli("check", *asked, "--claim", claim).code == 0
    assert gradcli("check", *asked, "--claim", lettered.replace("2*", "3*", 1)).code == 1
    latex = gradcli("vjp", *asked, "--format", "latex").out
    assert r"\mathit{fc.weight}" in latex


@pytest.mark.part("claims", "closed_forms")
def test_a_dotted_name_that_nothing_gives_is_no_variable() -> None:
    """In any question, of a text from anywhere; a name that ends as a file of Python is none where it is given."""
    function = Function("net.weight**2")
    for ask in (function.closed_form, lambda: function.grad(3.0), lambda: function.check([1.0, 2.0]), function.eval):
        with pytest.raises(GradcliError, match="given by that name"):
            ask()
    assert function.grad({"net.weight": 3.0}).grad["net.weight"] == 6
    assert function.closed_form(shape={"net.weight": "()"}).symbolic["net.weight"].text == "2*net.weight"
    with pytest.raises(GradcliError, match="the name of a file"):
        Function("2*fn.py")
