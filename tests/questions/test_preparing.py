"""Names of statements, and what they stand for."""

from typing import Any, Literal

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import InputError, UncalledFunctionError, UsageError
from gradcli.questions.parsed_text import ParsedText
from gradcli.questions.text_reading import read
from tests.checks import check_of


def test_a_name_of_a_function_is_a_variable_where_it_has_a_value() -> None:
    """And the function where it is called; without a value, the error says both ways to go on."""
    f = Function("mean**2 + mean(x)")
    assert f.variables == ("mean", "x")
    assert f.vjp({"mean": 3.0, "x": [1.0, 2.0]}, check=False).value == 10.5
    assert Function("y = embedding**2; y + x").vjp({"embedding": 2.0, "x": 1.0}, check=False).vjp["embedding"] == 4
    for text, at in (("mean**2 + x", {"x": 1.0}), ("sin**2", 3.0), ("y = norm**2; y*x", {"x": 1.0})):
        with pytest.raises(UncalledFunctionError, match="is a function") as caught:
            Function(text).vjp(at, check=False)
        assert caught.value.hint is not None
        assert "needs a value, at" in caught.value.hint


NAMED = [
    ("y = x**2; z = y**3", {"y": "x**2", "z": "y**3"}),
    ("y = x**2; y = y + 1; sin(y)", {"y": "y + 1"}),
    ("a = x; b = a**2; c = b; c*2", {"a": "x", "b": "a**2", "c": "a**2"}),
    # neither the tensors that a snippet defines, nor what the output does not need
    pytest.param(
        "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\nw = sin(x)\nz = y**3\nz.backward(torch.ones(2))",
        {"y": "x**2", "z": "y**3"},
        marks=pytest.mark.part("paste"),
    ),
]


@pytest.mark.parametrize(("text", "named"), NAMED)
def test_a_name_stands_for_the_line_that_made_its_last_value(text: str, named: dict[str, str]) -> None:
    program = read(text).program
    lines = {line.symbol: program.excerpt(line) for line in program.lines}
    assert {name: lines.get(atom, str(atom)) for name, atom in program.named.items()} == named


@pytest.mark.part("explain")
def test_a_variable_and_a_typo_are_no_statements() -> None:
    """Among the names of the statements one is found that is close."""
    f = Function("hidden = x**2; sum(hidden)")
    with pytest.raises(InputError, match="which is a variable"):
        f.graph({"x": 1}, show=["x"])
    with pytest.raises(InputError) as caught:
        f.graph({"x": 1}, show=["hiden"])
    assert caught.value.hint == "did you mean 'hidden'?"


@pytest.mark.part("code", "explain")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_all_readings_have_the_machine_epsilon_of_the_dtype(dtype: Literal["float64", "float32"]) -> None:
    """Torch takes it for an eps that is left out; one that is given stays."""
    function, at = Function("rms_norm(x, 3)"), [1e-4, 2e-4, 3e-4]
    eps = float(np.finfo(dtype).eps)
    explained = function.explain(at, v="ones", dtype=dtype)
    x = np.asarray(at, dtype)
    np.testing.assert_allclose(explained.value, x / np.sqrt(np.mean(x * x) + eps), rtol=1e-6)
    assert check_of(explained).verdict == "agree"
    assert repr(eps) in explained.symbolic["x"].text
    assert (repr(eps) in function.code(at, v="ones", dtype=dtype).source) == (dtype == "float32")
    assert "0.1" in Function("rms_norm(x, 3, eps=0.1)").explain(at, v="ones", dtype=dtype).symbolic["x"].text


@pytest.mark.part("claims")
@pytest.mark.parametrize("asked", [{"v": "2*max(y)*a"}, {"claim": {"x": "2*max(x)*a"}}])
def test_an_unknown_name_is_shown_where_it_stands(asked: dict[str, Any]) -> None:
    """And not where its letters are part of another name."""
    with pytest.raises(InputError) as caught:
        Function("x**2").check([1, 2], **asked)
    text, carets = str(caught.value).split("\n")[1:3]
    assert carets.index("^") == len(text) - 1


def test_a_shape_is_refused_in_words_where_nothing_gives_formulas() -> None:
    """As without the part that has them, which adds its method to `Function`."""
    with pytest.raises(UsageError, match="shape is of formulas without values") as caught:
        ParsedText("x**2").wants_formula({"shape"})
    assert "give values" in str(caught.value.hint)
