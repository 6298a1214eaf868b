"""What neural networks are made of: activations, and losses of training.

A loss is an expression of its elements and then a mean, a sum (`reduction='sum'`) or neither.  Sources: the torch
reference of each function.
"""

from __future__ import annotations

from gradcli.language.ops.row import Kind, Op, row


def _activation(signature: str, doc: str, meaning: str, **facts: object) -> Op:
    name = signature.partition("(")[0].partition("|")[0]
    return row(signature, doc, meaning, **{"torch": f"nn.functional.{name}", **facts})


def _loss(name: str, doc: str, meaning: str, example: str, *more: str, **fields: object) -> Op:
    """A row whose meaning is that of one element; the reduction follows."""
    return row(
        f"{name}({', '.join(['input', 'target', *more])}, reduction=mean)",
        doc,
        meaning,
        torch=f"nn.functional.{name}",
        kind=Kind.DEFINED,
        example=f"{name}(x, t{''.join(f', {parameter}=2' for parameter in more)}) at {example}",
        **fields,
    )


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

_STEP, _LEAST = "(input - detach(input))", "9.999999960041972e-13"
_AT = "(-(target*log(detach(input)) + (1 - target)*log(1 - detach(input))))"
_CURVED = f"{_STEP}**2*detach((input**2 - 2*input*target + target)/((input + 1e-12)*(1 - input + 1e-12))**2)/2"
"""Of the binary cross entropy: a step from the point, torch's bound of a denominator, the rest of the value, and the
second derivative by the input."""

LOSSES = (
    _loss("mse_loss", "the mean squared error", "(input - target)**2", "x=1,2 t=0,1"),
    _loss("l1_loss", "the mean absolute error", "abs(input - target)", "x=1,2 t=0,1"),
    _loss(
        "smooth_l1_loss",
        "squared where the error is below beta, else absolute",
        "where(abs(input - target) < beta, (input - target)**2/(2*beta), abs(input - target) - beta/2)",
        "x=1,5 t=0,1",
        "beta",
        defaults={"beta": 1},
        numbers=("beta",),
    ),
    _loss(
        "huber_loss",
        "squared where the error is up to delta, else linear",
        "where(abs(input - target) <= delta, (input - target)**2/2, delta*(abs(input - target) - delta/2))",
        "x=1,5 t=0,1",
        "delta",
        defaults={"delta": 1},
        numbers=("delta",),
    ),
    _loss(
        "binary_cross_entropy",
        "the cross entropy of probabilities with targets between 0 and 1",
        "-(target*log(input) + (1 - target)*log(1 - input))",
        "x=0.2,0.7 t=0,1",
        in_floats="-(target*maximum(log(input), -100) + (1 - target)*maximum(log(1 - input), -100))",
        domain="0 < input < 1",
        computed=f"{_AT} + {_STEP}*detach((input - target)/maximum((1 - input)*input, {_LEAST}))"
        f" + {_CURVED} - {_STEP}*(target - detach(target))/detach(maximum((1 - input)*input, 1e-12))",
        computed_along=f"{_AT} + {_STEP}*detach((input - target)/((input + 1e-12)*(1 - input + 1e-12)))"
        f" + {_CURVED} - {_STEP}*(target - detach(target))*detach(1/input + 1/(1 - input))",
        fault="torch divides by input*(1 - input), and by no less than 1e-12 in float32",
        caveat="torch takes the logarithms no lower than -100",
        equal_shapes=("needs a target of input's shape", ""),
    ),
    _loss(
        "binary_cross_entropy_with_logits",
        "the cross entropy of sigmoid(input) with targets between 0 and 1, without overflow",
        "log(1 + exp(input)) - input*target",
        "x=-1,2 t=0,1",
        in_floats="softplus(input) - input*target",
        equal_shapes=("needs a target of input's shape", ""),
    ),
    row(
        "cross_entropy(input, target, reduction=mean)",
        "the cross entropy of softmax(input) with class probabilities, the classes along dimension 1",
        "-sum(target*log_softmax(input, 1), 1)",
        torch="nn.functional.cross_entropy",
        kind=Kind.DEFINED,
        caveat="targets are probabilities of input's shape; for class numbers write them as rows of eye(n)",
        example="cross_entropy(x, t) at x=[[1,2,3],[3,2,1]] t=[[0,0,1],[1,0,0]]",
        equal_shapes=(
            "takes probabilities of input's shape",
            "the numbers of classes are not read; write them as rows of eye(n)",
        ),
    ),
)
