"""Activations of neural networks.  Sources: the torch reference of each function."""

from __future__ import annotations

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.row import Constants, Shapes, read


def _after_training(constants: Constants) -> str:
    if constants["training"]:
        raise InputError("rrelu in training is random, and has no derivative to check", hint="leave training out")
    return "where(x >= 0, x, x*(lower + upper)/2)"


# -- sequences


def _attended(constants: Constants) -> str:
    """The weights of a causal attention are exp of the scores with zeros above the diagonal, divided by their sum."""
    if constants["dropout_p"]:
        raise InputError("dropout is random, and has no derivative to check", hint="leave dropout_p out")
    scale = "/sqrt(count(query, -1))" if constants["scale"] is None else f"*{constants['scale']!r}"
    scores = f"query @ transpose(key, -2, -1){scale} + attn_mask"
    if constants["is_causal"]:
        return f"e = tril(exp({scores})); (e/sum(e, -1, keepdim=True)) @ value"
    return f"softmax({scores}, -1) @ value"


def _embedded(constants: Constants, shapes: Shapes) -> str:
    if len(shapes[1]) != 2:
        raise ShapeError(f"embedding takes a matrix of a row for each index, and weight has the shape {shapes[1]}")
    rows, padding = shapes[1][0], constants["padding_idx"]
    weight = "weight"
    if padding is not None:
        if not -rows <= padding < rows:
            raise ShapeError(f"embedding takes a padding_idx from {-rows} to {rows - 1}, and not {padding}")
        weight = f"where(arange({rows})[:, None] == {padding % rows}, detach(weight), weight)"
    return f"where(input[..., None] == arange({rows}), 1, 0) @ {weight}"


ROWS = read(
    """
== activations  torch: nn.functional.*  at x=-2,0.3,4
sigmoid|expit(x)  the logistic function  = 1/(1 + exp(-x))  torch: *
relu(x)  max(x, 0)  = maximum(x, 0)  torch: *
relu6(x)  relu cut off at 6  = minimum(maximum(x, 0), 6)
softplus(x)  the smooth relu  = log(1 + exp(x))  in_floats: maximum(x, 0) + log1p(exp(-abs(x)))
    caveat: torch takes x itself above 20, where its second derivative is 0, which is reported
logsigmoid(x)  log(sigmoid(x))  = -log(1 + exp(-x))  in_floats: minimum(x, 0) - log1p(exp(-abs(x)))
silu|swish(x)  x*sigmoid(x)  = x/(1 + exp(-x))
gelu(x, approximate=none)  x times the normal distribution function  = x*(1 + erf(x/sqrt(2)))/2
leaky_relu(x, negative_slope#:0.01)  x, and a fraction of it below 0  = where(x > 0, x, negative_slope*x)
elu(x, alpha#:1)  x, and an exponential that ends at -alpha below 0  = where(x > 0, x, alpha*(exp(x) - 1))
    in_floats: where(x > 0, x, alpha*expm1(minimum(x, 0)))
selu(x)  elu scaled so that mean and variance are kept
    = 1.0507009873554804934193349852946*where(x > 0, x, 1.6732632423543772848170429916717*(exp(x) - 1))
    in_floats: 1.0507009873554804934193349852946*elu(x, 1.6732632423543772848170429916717)  torch: *
hardtanh(x, min_val#:-1, max_val#:1)  x between two bounds, -1 and 1 by default  = minimum(maximum(x, min_val), max_val)
hardsigmoid(x)  sigmoid in three straight pieces  = minimum(maximum(x + 3, 0), 6)/6
    caveat: torch's derivative holds 1/6 to seven digits only, which is reported
hardswish(x)  x*hardsigmoid(x)  = x*minimum(maximum(x + 3, 0), 6)/6
mish(x)  x*tanh(softplus(x))  = x*tanh(log(1 + exp(x)))  in_floats: x*tanh(softplus(x))
tanhshrink(x)  x - tanh(x)  = x - tanh(x)
softsign(x)  x/(1 + |x|)  = x/(1 + abs(x))
celu(x, alpha#:1)  elu of slope 1 at 0 from both sides  = where(x > 0, x, alpha*(exp(x/alpha) - 1))
    in_floats: where(x > 0, x, alpha*expm1(minimum(x, 0)/alpha))
threshold(x, threshold#, value#)  x above a threshold, and a value elsewhere  = where(x > threshold, x, value)
    e.g. threshold(x, 1, 0)
hardshrink(x, lambd#:0.5)  0 from -lambd to lambd, and x elsewhere  = where(x >= -lambd, where(x <= lambd, 0, x), x)
softshrink(x, lambd#:0.5)  x brought nearer to 0 by lambd, and 0 from -lambd to lambd
    = where(x > lambd, x - lambd, where(x < -lambd, x + lambd, 0))
rrelu(x, lower#:0.125, upper#:0.3333333333333333, training=False)
    leaky_relu of the slope in the middle of two, as it is after training  = where(x >= 0, x, x*(lower + upper)/2)
    written: _after_training  kind: defined  caveat: in training the slope is random
softmin(x, dim=None)  softmax of -x  = softmax(-x, dim=dim)  kind: defined
== sequences  kind: defined  torch: nn.functional.*
scaled_dot_product_attention(query, key, value, attn_mask?:0, dropout_p=0, is_causal=False, scale=None)
    attention: the rows of value weighed by softmax(query @ key.T/sqrt(size))
    = softmax(query @ transpose(key, -2, -1)/sqrt(count(query, -1)) + attn_mask, -1) @ value  written: _attended
    caveat: attn_mask is added to the scores; where one of truth values is false, the score is -inf
    e.g. scaled_dot_product_attention(q, k, v) at q=[[1,2]] k=[[1,0],[0,1]] v=[[1,2],[3,4]]
embedding(input!, weight, padding_idx=None)  the rows of a matrix that whole numbers name  = weight[input]
    written: _embedded
    caveat: the row padding_idx has no derivative
    e.g. embedding(i, w) at i=1,0,1 w=[[1,2],[3,4]]
""",
    globals(),
)
