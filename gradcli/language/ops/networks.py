"""Activations of neural networks.  Sources: the torch reference of each function."""

from __future__ import annotations

from gradcli.language.ops.row import Op, row


def _activation(signature: str, doc: str, meaning: str, **facts: object) -> Op:
    name = signature.partition("(")[0].partition("|")[0]
    return row(signature, doc, meaning, **{"torch": f"nn.functional.{name}", **facts})


ACTIVATIONS = (
    _activation(
        "sigmoid|expit(x)",
        "the logistic function",
        "1/(1 + exp(-x))",
        torch="sigmoid",
        slopes=("(1 - result)*result",),
        slopes_along=("result*(1 - result)",),
        from_result=True,
    ),
    _activation("relu(x)", "max(x, 0)", "maximum(x, 0)", torch="relu"),
    _activation("relu6(x)", "relu cut off at 6", "minimum(maximum(x, 0), 6)"),
    _activation(
        "softplus(x)",
        "the smooth relu",
        "log(1 + exp(x))",
        in_floats="maximum(x, 0) + log1p(exp(-abs(x)))",
        slopes=("where(x > 20, 1, exp(x)/(exp(x) + 1))",),
        slopes_along=("sigmoid(x)",),
        fault="torch takes x itself above 20",
        caveat="torch takes x itself above 20, where its second derivative is 0, which is reported",
    ),
    _activation(
        "logsigmoid(x)",
        "log(sigmoid(x))",
        "-log(1 + exp(-x))",
        in_floats="minimum(x, 0) - log1p(exp(-abs(x)))",
        slopes=("1 - sigmoid(x)",),
        slopes_along=("1 - sigmoid(x)",),
        from_result=True,
    ),
    _activation(
        "silu|swish(x)",
        "x*sigmoid(x)",
        "x/(1 + exp(-x))",
        slopes=("sigmoid(x)*(1 + x*(1 - sigmoid(x)))",),
        slopes_along=("sigmoid(x)*(1 + x*(1 - sigmoid(x)))",),
    ),
    _activation(
        "gelu(x, approximate=none)",
        "x times the normal distribution function",
        "x*(1 + erf(x/sqrt(2)))/2",
        elsewhere={"jax": {"approximate": "tanh"}},
        caveat="jax.nn.gelu is approximate='tanh' by default, as in JAX",
        example="gelu(x) at x=-1,2",
    ),
    _activation(
        "leaky_relu(x, negative_slope)",
        "x, and a fraction of it below 0",
        "where(x > 0, x, negative_slope*x)",
        defaults={"negative_slope": 0.01},
        numbers=("negative_slope",),
        elsewhere={"tensorflow": {"negative_slope": 0.2}},
        example="leaky_relu(x, 0.1) at x=-2,3",
    ),
    _activation(
        "elu(x, alpha)",
        "x, and an exponential that ends at -alpha below 0",
        "where(x > 0, x, alpha*(exp(x) - 1))",
        in_floats="where(x > 0, x, alpha*expm1(minimum(x, 0)))",
        defaults={"alpha": 1},
        numbers=("alpha",),
        from_result=True,
        example="elu(x) at x=-2,3",
    ),
    _activation(
        "selu(x)",
        "elu scaled so that mean and variance are kept",
        "1.0507009873554804934193349852946*where(x > 0, x, 1.6732632423543772848170429916717*(exp(x) - 1))",
        in_floats="1.0507009873554804934193349852946*elu(x, 1.6732632423543772848170429916717)",
        torch="selu",
        from_result=True,
    ),
    _activation(
        "hardtanh(x, min_val, max_val)",
        "x between two bounds, -1 and 1 by default",
        "minimum(maximum(x, min_val), max_val)",
        defaults={"min_val": -1, "max_val": 1},
        numbers=("min_val", "max_val"),
        example="hardtanh(x) at x=-2,0.5,3",
    ),
    _activation(
        "hardsigmoid(x)",
        "sigmoid in three straight pieces",
        "minimum(maximum(x + 3, 0), 6)/6",
        backward_once=True,
        error=2.0**-25,
        fault="torch's constant 1/6 is a float32",
        caveat="torch's derivative holds 1/6 to seven digits only, which is reported",
    ),
    _activation("hardswish(x)", "x*hardsigmoid(x)", "x*minimum(maximum(x + 3, 0), 6)/6"),
    _activation(
        "mish(x)",
        "x*tanh(softplus(x))",
        "x*tanh(log(1 + exp(x)))",
        in_floats="x*tanh(softplus(x))",
        slopes=("tanh(softplus(x)) + x*(1 - tanh(softplus(x))**2)*sigmoid(x)",),
        slopes_along=("tanh(softplus(x)) + x*(1 - tanh(softplus(x))**2)*sigmoid(x)",),
    ),
    _activation("tanhshrink(x)", "x - tanh(x)", "x - tanh(x)", slopes=("1 - (1 - tanh(x)**2)",)),
    _activation("softsign(x)", "x/(1 + |x|)", "x/(1 + abs(x))"),
)
