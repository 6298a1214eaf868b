"""Values, gradient vectors and ranges as people write them, read without torch."""

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.language.inputs import Outputs, fitted, read_cotangent, read_range, read_value

VALUES = [
    ("1", 1.0),
    ("1,2", [1.0, 2.0]),
    ("1,", [1.0]),
    ("[]", []),
    ("[[1,2],[3,4]]", [[1.0, 2.0], [3.0, 4.0]]),
    (" -1 , +2e3, .5", [-1.0, 2000.0, 0.5]),
    ("pi/2, E", [np.pi / 2, np.e]),
    ("0.1+0.2", 0.1 + 0.2),
    ("inf, -inf", [np.inf, -np.inf]),
    ("0/0", np.nan),
    ("linspace(-2,2,5).view(-1,1)", [[-2.0], [-1.0], [0.0], [1.0], [2.0]]),
    ("arange(6).view(3, 2)", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]),
    ("2*ones(2, 3)[:, 0]", [2.0, 2.0]),
    ("sqrt(2)**2 - clamp(5, 0, 1)", np.sqrt(2) ** 2 - 1),
    ("-2^2", -4.0),
]


@pytest.mark.parametrize(("text", "expected"), VALUES, ids=[text for text, _ in VALUES])
def test_values(text: str, expected: object) -> None:
    """Exactly these, with these shapes."""
    found = read_value(text, "--at")
    np.testing.assert_array_equal(found, np.asarray(expected, dtype=float))
    assert found.dtype == np.float64


@pytest.mark.parametrize("text", ["-0.0", "-0.0,-0.0", "[-0.0, -0.]", "(-0e0)", "[[-.0]]"])
def test_the_sign_of_zero_is_kept(text: str) -> None:
    """In brackets too, where an expression is read: 1/x has another sign there."""
    assert np.signbit(read_value(text, "--at")).all()


@pytest.mark.parametrize(
    "value", [3, 2.5, [1, 2], ((1, 2), (3, 4)), np.arange(3, dtype=np.int8), np.float32(0.5), True]
)
def test_values_from_python(value: object) -> None:
    """Numbers, nested sequences and arrays of any real type."""
    np.testing.assert_array_equal(read_value(value, "x"), np.asarray(value, dtype=float))  # type: ignore[arg-type]


SAME_DRAWS = [
    ({"Q": "randn(3,2)", "K": "randn(3,2)", "V": "randn(3,2)"}, "Q, K and V", "randn(3,2, seed=1)"),
    ({"Q": "rand(3,2)", "K": "torch.rand((3, 2))", "V": "ones(3,2)"}, "Q and K", "rand(3,2, seed=1)"),
    ({"Q": "2*randn(3,2)", "K": "randn([3,2]) + 1"}, "Q and K", "randn(3,2, seed=1)"),
    ({"Q": "randn(3,2, seed=1)", "K": "randn(3,2,seed=1)"}, "Q and K", "randn(3,2, seed=2)"),
    ({"Q": "randn(3,2, seed=0)", "K": "randn(3,2)"}, "Q and K", "randn(3,2, seed=1)"),
    ({"Q": "randn(3,2)", "K": "randn(3,2)", "V": "randn(3,2,seed=1)"}, "Q and K", "randn(3,2, seed=2)"),
    ({"Q": "randn(3,2).abs()", "K": "exp(randn(3,2))"}, "Q and K", "randn(3,2, seed=1)"),
    ({"Q": "randn(3,2)", "K": "randn(3,2, seed=1)"}, "", ""),
    ({"Q": "randn(3,2)", "K": "rand(3,2)"}, "", ""),
    ({"Q": "randn(3,2)", "K": "randn(2,3)"}, "", ""),
    ({"Q": "randn(3,2)", "K": "ones(3,2)"}, "", ""),
    ({"Q": "ones(3,2)", "K": "ones(3,2)"}, "", ""),
]
"""Values, the variables that have the same random numbers, and a call that draws others; "" where none have."""


@pytest.mark.parametrize(("values", "names", "call"), SAME_DRAWS)
def test_the_same_random_numbers_of_two_variables_are_remarked_once(
    values: dict[str, str], names: str, call: str
) -> None:
    """As the seed is 0 where none is given; what is proposed is read, and has other numbers."""
    found = [
        one for one in Function(" + ".join(f"sum({name})" for name in values)).eval(values).warnings if "random" in one
    ]
    assert found == [f"{names} have the same random numbers: write {call} for others"] * bool(names)
    first = next(iter(values.values()))
    assert not names or not np.array_equal(read_value(call, "--at"), read_value(first, "--at"))


COTANGENTS = [
    ("ones", (2, 2), [[1, 1], [1, 1]]),
    ("e0", (2,), [1, 0]),
    ("e1", (2, 3), [[0, 0, 0], [1, 1, 1]]),
    ("e0_2", (2, 3), [[0, 0, 1], [0, 0, 0]]),
    ("1,2", (2,), [1, 2]),
    ("ones", (), 1),
]


@pytest.mark.parametrize(("text", "shape", "expected"), COTANGENTS)
def test_cotangents(text: str, shape: tuple[int, ...], expected: object) -> None:
    """Ones, components at all their points, single elements, values."""
    np.testing.assert_array_equal(read_cotangent(text, Outputs("y", shape, {})), np.asarray(expected, dtype=float))


@pytest.mark.parametrize(
    ("text", "shape"), [("e2", (2,)), ("e0_0", (2,)), ("e0", ()), ("1,2", (3,)), ("1", (1,)), ("[1]", ())]
)
def test_cotangents_of_the_wrong_shape(text: str, shape: tuple[int, ...]) -> None:
    """V has y's shape, as in torch."""
    with pytest.raises(GradcliError):
        read_cotangent(text, Outputs("y", shape, {}))


EXPRESSIONS = [
    ("y", [1.0, 4.0]),
    ("2*y", [2.0, 8.0]),
    ("y - x", [0.0, 2.0]),
    ("sigmoid(x)*y", [1 / (1 + np.exp(-1)), 4 / (1 + np.exp(-2))]),
    ("y[1], x[0]", [4.0, 1.0]),
    ("where(y > 2, y, 0)", [0.0, 4.0]),
]


@pytest.mark.parametrize(("text", "v"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_v_may_name_y_and_the_variables(text: str, v: list[float]) -> None:
    """As a constant: v is not differentiated."""
    answer = Function("x**2").vjp({"x": [1, 2]}, text)
    np.testing.assert_allclose(answer.v, v, rtol=1e-15)
    np.testing.assert_allclose(answer.vjp["x"], [2 * v[0], 4 * v[1]], rtol=1e-15)


def test_the_output_is_named_as_in_the_answer() -> None:
    """By the last statement, or f where a variable is called y."""
    np.testing.assert_array_equal(Function("y = x**2; z = 3*y").vjp({"x": 2}, "z").v, 12)
    np.testing.assert_array_equal(Function("x*y").vjp({"x": 2, "y": 5}, "f + y").v, 15)
    np.testing.assert_array_equal(Function("x*y").vjp({"x": 2, "y": 5}, "y", dtype="float32").v, 5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("e2", "no component"),
        ("z", "names 'z'"),
        ("y.sum()", r"v has shape \(\), and y has shape \(2,\)"),
        ("x[:, 0]", "2 were indexed"),
        ("y +", "ends too early"),
        ("sin(q)", "names 'q'"),
    ],
)
def test_a_wrong_expression_is_refused_before_torch_runs(text: str, words: str) -> None:
    """Names and shapes are known without values."""
    with pytest.raises(GradcliError, match=words):
        read_cotangent(text, Outputs("y", (2,), {"x": (2,)}))


# -- ranges

RANGES = [
    ("0..1", 0.0, 1.0),
    (" -1 .. -0.5 ", -1.0, -0.5),
    ("-pi..pi", -np.pi, np.pi),
    ("1. .. .5*4", 1.0, 2.0),
    ("[0,0]..[1,2]", [0.0, 0.0], [1.0, 2.0]),
    ("arange(6).view(2,3)[..., 0]..5", [0.0, 3.0], [5.0, 5.0]),
]


@pytest.mark.parametrize(("text", "low", "high"), RANGES, ids=[text for text, _, _ in RANGES])
def test_ranges(text: str, low: object, high: object) -> None:
    """Two values, broadcast."""
    found = read_range(text, "--in x")
    np.testing.assert_array_equal(found[0], low)
    np.testing.assert_array_equal(found[1], high)
    assert found[0].shape == found[1].shape == np.asarray(high).shape


WRONG = [
    ("0", "has no '..'"),
    ("1...2", "may belong to the range or to a number"),
    ("0..1..2", "more than one"),
    ("..1", "lacks a bound"),
    ("0..z", "z"),
    ("1..0", "above the upper"),
    ("0..inf", "finite"),
    ("[0,0]..[1,1,1]", "do not broadcast"),
    ("zeros(100000)..ones(100000,1)", "elements"),
    ("1..2" * 20_000, "more than one"),
    ("(" * 50_000 + "..1", "has no '..'"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[text[:20] for text, _ in WRONG])
def test_what_is_no_range(text: str, words: str) -> None:
    """One clear message, at its place."""
    with pytest.raises(GradcliError) as error:
        read_range(text, "--in x")
    assert words in error.value.message
    assert error.value.place is not None
    assert error.value.place.source == "--in x"


def test_bounds_take_the_shape_of_their_variable() -> None:
    """Bounds broadcast to it, and others are refused."""
    np.testing.assert_array_equal(fitted(np.array(2.0), (2, 2), "--in x"), [[2, 2], [2, 2]])
    with pytest.raises(GradcliError, match=r"shape \(2,\), and the variable has shape \(3,\)"):
        fitted(np.zeros(2), (3,), "--in x")
