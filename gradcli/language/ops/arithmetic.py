"""Arithmetic, exponentials and logarithms, and functions in terms of these.

A row without a meaning is a primitive.  Sources: the torch and SymPy references of each function.
"""

from __future__ import annotations

from gradcli.language.ops.row import Monoid, Op
from gradcli.language.ops.signature import Constant, Constants, Operand

LARGEST = 1.7976931348623157e308
"""Largest number of float64, which torch puts in the place of an infinity."""


def _rounded(constants: Constants) -> str:
    """Write a number rounded to whole multiples of a power of 10, which is exact where it is one of whole numbers."""
    places = constants["decimals"]
    if places < 0:
        return f"round(x/{10**-places})*{10**-places}"
    return f"round(x*{10**places})/{10**places}" if places else "round(x)"


def _rounded_div(constants: Constants) -> str:
    return f"{constants['rounding_mode'] or ''}(a/b)"


ARITHMETIC: tuple[Op, ...] = (
    Op("neg", ("x",), "-x", aliases=("negative",), torch="neg", coefficients=(-1,), notation=("-x",)),
    Op("add", ("a", "b"), "a + b", torch="add", monoid=Monoid.SUM, coefficients=(1, 1), adds_terms=True),
    Op("sub", ("a", "b"), "a - b", aliases=("subtract",), torch="sub", coefficients=(1, -1), adds_terms=True),
    Op("mul", ("a", "b"), "a * b", aliases=("multiply",), torch="mul", monoid=Monoid.PRODUCT),
    Op(
        "div",
        ("a", "b"),
        "a / b",
        aliases=("divide", "true_divide"),
        torch="div",
        rule_name="quotient rule",
        domain="b != 0",
    ),
    Op(
        "pow",
        ("a", "b"),
        "a ** b",
        aliases=("Pow", "power"),
        torch="pow",
        adjoints={"a": "where(b == 0, 0, grad*b*a**(b - 1))", "b": "where((a == 0) & (b >= 0), 0, grad*a**b*log(a))"},
        rule_name="power rule",
        domain="a > 0, or b >= 0 at a = 0, or an integer b at a < 0",
        edges=("where(b == round(b), 1, a)",),
    ),
)

EXPONENTIALS_AND_LOGARITHMS: tuple[Op, ...] = (
    Op("exp", ("x",), "the exponential", torch="exp"),
    Op(
        "log", ("x",), "the natural logarithm", aliases=("ln",), torch="log", domain="x > 0", notation=("log(x, base)",)
    ),
    Op("sqrt", ("x",), "the square root", torch="sqrt", rule_name="power rule", domain="x >= 0", edges=("x",)),
    Op("exp2", ("x",), "2 to the power x", meaning="2**x", torch="exp2"),
    Op("expm1", ("x",), "exp(x) - 1 without cancellation", meaning="exp(x) - 1", torch="expm1"),
    Op("log1p", ("x",), "log(1 + x) without cancellation", meaning="log(1 + x)", torch="log1p", domain="x > -1"),
    Op("log2", ("x",), "the logarithm to base 2", meaning="log(x)/log(2)", torch="log2", domain="x > 0"),
    Op("log10", ("x",), "the logarithm to base 10", meaning="log(x)/log(10)", torch="log10", domain="x > 0"),
    Op("square", ("x",), "x squared", meaning="x**2", torch="square", rule_name="power rule"),
    Op("rsqrt", ("x",), "one over the square root", meaning="1/sqrt(x)", torch="rsqrt", domain="x > 0"),
    Op("reciprocal", ("x",), "one over x", meaning="1/x", torch="reciprocal", rule_name="power rule", domain="x != 0"),
)

COMBINED_ARITHMETIC: tuple[Op, ...] = (
    Op(
        "fmax",
        ("a", "b"),
        "the larger one, or the other where one is nan",
        meaning="maximum(a, b)",
        torch_convention="where(a != a, b, where(b != b, a, maximum(a, b)))",
        torch="fmax",
        adjoints={"a": "where((a >= b) | isnan(b), grad, 0)", "b": "where((a >= b) | isnan(b), 0, grad)"},
        at={"a": "2", "b": "3"},
    ),
    Op(
        "fmin",
        ("a", "b"),
        "the smaller one, or the other where one is nan",
        meaning="minimum(a, b)",
        torch_convention="where(a != a, b, where(b != b, a, minimum(a, b)))",
        torch="fmin",
        adjoints={"a": "where((a <= b) | isnan(b), grad, 0)", "b": "where((a <= b) | isnan(b), 0, grad)"},
        at={"a": "2", "b": "3"},
    ),
    Op(
        "scaled_add",
        ("a", "b", Operand("alpha", default=1)),
        "a + alpha*b: add with alpha",
        meaning="a + alpha*b",
        at={"a": "2", "b": "3"},
    ),
    Op(
        "scaled_sub",
        ("a", "b", Operand("alpha", default=1)),
        "a - alpha*b: sub with alpha",
        meaning="a - alpha*b",
        at={"a": "2", "b": "3"},
    ),
    Op(
        "rounded_div",
        ("a", "b", Constant("rounding_mode", None)),
        "a / b rounded down or towards 0, as rounding_mode says: div with it",
        meaning="floor(a/b)",
        written=_rounded_div,
        example="rounded_div(a, b, 'floor')",
        at={"a": "7.5", "b": "2"},
    ),
    Op(
        "round_to",
        ("x", Constant("decimals", 0)),
        "rounded to so many decimals: round with them",
        aliases=("around",),
        meaning="round(x*10**decimals)/10**decimals",
        written=_rounded,
        example="round_to(x, 2)",
        at={"x": "1.237"},
    ),
    Op(
        "heaviside",
        ("input", "values"),
        "0 where input is negative, 1 where it is positive, and values where it is 0",
        meaning="where(input < 0, 0, where(input > 0, 1, values))",
        torch_convention="where(input > 0, 1, where(input == 0, values, 0))",
        example="heaviside(x, 1/2)*x",
        at={"x": "-1,2"},
    ),
    Op(
        "cbrt",
        ("x",),
        "the cube root, negative where x is",
        meaning="sign(x)*abs(x)**(1/3)",
        domain="x != 0",
        example="cbrt(x)",
        at={"x": "-8,27"},
    ),
    Op(
        "rsub",
        ("a", "b", Operand("alpha", default=1, number_only=True)),
        "b - alpha*a",
        meaning="b - alpha*a",
        torch="rsub",
        at={"a": "2", "b": "3"},
    ),
    Op(
        "addcmul",
        ("input", "tensor1", "tensor2", Operand("value", default=1, number_only=True)),
        "a product added, value times",
        meaning="input + value*tensor1*tensor2",
        torch="addcmul",
        example="addcmul(x, a, b)",
        at={"x": "-1,2", "a": "2", "b": "3"},
    ),
    Op(
        "addcdiv",
        ("input", "tensor1", "tensor2", Operand("value", default=1, number_only=True)),
        "a quotient added, value times",
        meaning="input + value*tensor1/tensor2",
        torch="addcdiv",
        domain="tensor2 != 0",
        example="addcdiv(x, a, b)",
        at={"x": "-1,2", "a": "2", "b": "3"},
    ),
    # the angle of -0 is -pi, which tells its sign
    Op(
        "copysign",
        ("a", "b"),
        "|a| with the sign of b",
        meaning="where(b < 0, -abs(a), abs(a))",
        torch_convention="where(atan2(b, -1) < 0, -abs(a), abs(a))",
        torch="copysign",
        example="copysign(a, b)",
        at={"a": "2", "b": "-1"},
    ),
    Op("ldexp", ("a", "b"), "a*2**b", meaning="a*2**b", torch="ldexp", at={"a": "2", "b": "3"}),
    Op("float_power", ("a", "b"), "a**b in float64", meaning="a**b", torch="float_power", at={"a": "2", "b": "3"}),
    Op(
        "logaddexp2",
        ("a", "b"),
        "log2(2**a + 2**b) without overflow",
        meaning="log(2**a + 2**b)/log(2)",
        in_floats="maximum(a, b) + log1p(2**(-abs(a - b)))/log(2)",
        torch="logaddexp2",
        adjoints={"a": "grad*sigmoid(log(2)*(a - b))", "b": "grad*sigmoid(log(2)*(b - a))"},
        domain="a term that is not -inf",
        at={"a": "2", "b": "3"},
    ),
    Op(
        "positive",
        ("x",),
        "x itself, as the real part and the conjugate of a real number are",
        aliases=("real", "conj", "conj_physical", "resolve_conj", "resolve_neg"),
        meaning="1*x",
        torch="positive",
        at={"x": "-1,2"},
    ),
    Op(
        "angle",
        ("x",),
        "the angle of a real number: pi where it is negative, else 0",
        meaning="where(x < 0, pi, 0)",
        torch_convention="where(x < 0, pi, where(x != x, x, 0))",
        torch="angle",
        example="angle(x)*x",
        at={"x": "-1,2"},
    ),
    Op(
        "fill",
        ("x", "value"),
        "value in every element of x's shape",
        meaning="value*ones_like(x)",
        example="fill(x, a)",
        at={"x": "-1,2", "a": "2"},
    ),
    Op(
        "nan_to_num",
        (
            "x",
            Operand("nan", default=0, number_only=True),
            Operand("posinf", default=LARGEST, number_only=True),
            Operand("neginf", default=-LARGEST, number_only=True),
        ),
        "x with numbers in the place of nan and of infinities",
        meaning="where(x != x, nan, where(x == inf, posinf, where(x == -inf, neginf, x)))",
        torch="nan_to_num",
        example="nan_to_num(x)",
        at={"x": "-1,2"},
    ),
)
