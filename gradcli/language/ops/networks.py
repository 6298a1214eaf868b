"""Neural networks: activations, layers of sequences, normalization, dropout after training, and losses.

A loss is an expression of each element, and then a mean, a sum (`reduction='sum'`) or neither.  Class indices are whole
numbers: the entry of class c is chosen by [target = c], 1 or 0, so that a loss of indices is the loss of rows of the
identity matrix.  Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.row import Constants, Shapes, read


def _after_training(constants: Constants) -> str:
    if constants["training"]:
        raise InputError("rrelu in training is random, and has no derivative to check", hint="leave training out")
    return "where(x >= 0, x, x*(lower + upper)/2)"


# -- sequences


def _attended(constants: Constants) -> str:
    """Write causal attention: its weights are exp of the scores, zeros above the diagonal, divided by their sum."""
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


def _over_last(name: str, constants: Constants, shapes: Shapes) -> str:
    """Return the dimensions of a layer, which are the last ones.

    Raises:
        ShapeError: The shapes do not end in them.
    """
    given = constants["normalized_shape"]
    wanted = given if isinstance(given, tuple) else (given,)
    for n, shape in enumerate(shapes):
        is_left_out = n > 0 and not shape
        if not is_left_out and (shape[-len(wanted) :] != wanted or (n and shape != wanted)):
            raise ShapeError(f"{name} normalizes over {wanted}, and there is the shape {shape}")
    return str(tuple(range(-len(wanted), 0)))


def _layer_norm(constants: Constants, shapes: Shapes) -> str:
    over = _over_last("layer_norm", constants, shapes[:3]) + ", keepdim=True"
    return f"(input - mean(input, {over}))/sqrt(var(input, {over}, correction=0) + eps)*weight + bias"


def _rms_norm(constants: Constants, shapes: Shapes) -> str:
    over = _over_last("rms_norm", constants, shapes[:2])
    return f"input/sqrt(mean(input**2, {over}, keepdim=True) + eps)*weight"


def _kept(constants: Constants) -> str:
    """Write dropout, which changes nothing except in training, where it is random."""
    if not 0 <= constants["p"] <= 1:
        raise InputError("dropout takes a p from 0 to 1")
    if constants["training"] and constants["p"]:
        raise InputError(
            "dropout in training is random, and has no derivative to check",
            hint="write training=False, as a model has it after model.eval()",
        )
    return "input"


def _reduced(text: str, reduction: str) -> str:
    return text if reduction == "none" else f"{reduction}({text})"


# -- classes by their indices


def _of_classes(name: str, logarithms: str, constants: Constants, shapes: Shapes) -> str:
    """Write the loss of log-probabilities at the classes of the target, smoothed if that is asked for.

    Without weights and smoothing, the cross entropy is logsumexp(input) - input[target], whose slope is in every
    textbook: softmax(input) - [target = class].
    """
    scores, targets, weights = shapes
    axis, rank, is_entropy = min(1, len(scores) - 1), len(scores), name == "cross_entropy"
    samples, reduction = (*scores[:axis], *scores[axis + 1 :]), constants["reduction"]
    has_indices = targets == samples
    if not scores or not (has_indices or (is_entropy and targets == scores)):
        both = " or class probabilities of input's shape" * is_entropy
        raise ShapeError(
            f"{name} takes class indices of the shape {samples}{both}, and the shapes are {scores} and {targets}",
            hint="input is (classes), or (samples, classes, ...)",
        )
    classes = scores[axis]
    if weights not in ((), (classes,)):
        raise ShapeError(f"{name} takes a weight for each of the {classes} classes, and weight has shape {weights}")
    along = f"[{', '.join(':' if n == axis else 'None' for n in range(rank))}]" if rank > 1 else ""
    weight = f"weight{along}*" if weights else ""
    at, smoothing, ignored = f"[{':, ' * axis}None]", constants.get("label_smoothing", 0), constants["ignore_index"]
    kept, target = f"where(target == {ignored}, 0, 1)", "target"
    if has_indices:
        target = f"where(target{at} == arange({classes}){along}, 1, 0)" + f"*{kept}{at}" * (0 <= ignored < classes)
    counted = f"{weight}{target}" if weight else kept
    if smoothing:
        target = f"((1 - {smoothing!r})*{target} + {smoothing!r}/{classes}{f'*{kept}{at}' * has_indices})"
    loss = f"-sum({weight}{target}*{logarithms.format(axis)}, {axis})"
    if is_entropy and has_indices and not weight and not smoothing:
        loss = f"{kept}*logsumexp(input, {axis}) - sum({target}*input, {axis})"
    return f"sum({loss})/sum({counted})" if has_indices and reduction == "mean" else _reduced(loss, reduction)


def _cross_entropy(constants: Constants, shapes: Shapes) -> str:
    if not 0 <= constants["label_smoothing"] <= 1:
        raise InputError("cross_entropy takes a label_smoothing from 0 to 1")
    if not shapes:
        return _reduced("-sum(target*log_softmax(input, 1), 1)", constants["reduction"])
    return _of_classes("cross_entropy", "log_softmax(input, {})", constants, shapes)


def _nll_loss(constants: Constants, shapes: Shapes) -> str:
    return _of_classes("nll_loss", "input", constants, shapes) if shapes else ""


# -- distributions


def _kl_div(constants: Constants) -> str:
    text = "exp(target)*(target - input)" if constants["log_target"] else "xlogy(target, target) - target*input"
    if constants["reduction"] == "batchmean":
        return f"sum({text})/count(input, 0)"
    return _reduced(text, constants["reduction"])


def _gaussian(constants: Constants, shapes: Shapes) -> str:
    is_of_rows = bool(shapes) and shapes[2] != () and shapes[2] == shapes[0][:-1]
    var = f"maximum(var{'[..., None]' * is_of_rows}, eps)"
    text = f"(log({var}) + (input - target)**2/{var})/2{' + log(2*pi)/2' * constants['full']}"
    return _reduced(text, constants["reduction"])


# -- distances


def _bounded(x: str) -> str:
    return f"where({x} > exp(-100), log({x}), -100)"


ROWS = read(
    f"""
== activations  torch: nn.functional.*  at x=-2,0.3,4
sigmoid|expit(x)  the logistic function  = 1/(1 + exp(-x))  torch: *
    adjoints: x: grad*result*(1 - result)
relu(x)  max(x, 0)  = maximum(x, 0)  torch: *
    adjoints: x: where(x <= 0, 0, grad)
relu6(x)  relu cut off at 6  = minimum(maximum(x, 0), 6)
    adjoints: x: where((x <= 0) | (x >= 6), 0, grad)
softplus(x)  the smooth relu  = log(1 + exp(x))  in_floats: maximum(x, 0) + log1p(exp(-abs(x)))
    caveat: torch takes x itself above 20, where its second derivative is 0, which is reported
    adjoints: x: grad*sigmoid(x)
logsigmoid(x)  log(sigmoid(x))  = -log(1 + exp(-x))  in_floats: minimum(x, 0) - log1p(exp(-abs(x)))
    adjoints: x: grad*sigmoid(-x)
silu|swish(x)  x*sigmoid(x)  = x/(1 + exp(-x))
    adjoints: x: grad*(sigmoid(x) + result*(1 - sigmoid(x)))
gelu(x, approximate=none)  x times the normal distribution function  = x*(1 + erf(x/sqrt(2)))/2
leaky_relu(x, negative_slope#:0.01)  x, and a fraction of it below 0  = where(x > 0, x, negative_slope*x)
elu(x, alpha#:1)  x, and an exponential that ends at -alpha below 0  = where(x > 0, x, alpha*(exp(x) - 1))
    in_floats: where(x > 0, x, alpha*expm1(minimum(x, 0)))
    adjoints: x: where(x > 0, grad, grad*alpha*exp(x))
selu(x)  elu scaled so that mean and variance are kept
    = 1.0507009873554804934193349852946*where(x > 0, x, 1.6732632423543772848170429916717*(exp(x) - 1))
    in_floats: 1.0507009873554804934193349852946*elu(x, 1.6732632423543772848170429916717)  torch: *
hardtanh(x, min_val#:-1, max_val#:1)  x between two bounds, -1 and 1 by default  = minimum(maximum(x, min_val), max_val)
    adjoints: x: where((x <= min_val) | (x >= max_val), 0, grad)
hardsigmoid(x)  sigmoid in three straight pieces  = minimum(maximum(x + 3, 0), 6)/6
    caveat: torch's derivative holds 1/6 to seven digits only, which is reported
    adjoints: x: where((x > -3) & (x < 3), grad*0.1666666716337204, 0)
hardswish(x)  x*hardsigmoid(x)  = x*minimum(maximum(x + 3, 0), 6)/6
    adjoints: x: where(x <= -3, 0, where(x < 3, grad*(x/3 + 1/2), grad))
mish(x)  x*tanh(softplus(x))  = x*tanh(log(1 + exp(x)))  in_floats: x*tanh(softplus(x))
tanhshrink(x)  x - tanh(x)  = x - tanh(x)
softsign(x)  x/(1 + |x|)  = x/(1 + abs(x))
celu(x, alpha#:1)  elu of slope 1 at 0 from both sides  = where(x > 0, x, alpha*(exp(x/alpha) - 1))
    in_floats: where(x > 0, x, alpha*expm1(minimum(x, 0)/alpha))
    adjoints: x: where(x > 0, grad, grad*exp(x/alpha))
threshold(x, threshold#, value#)  x above a threshold, and a value elsewhere  = where(x > threshold, x, value)
    total: where(x <= threshold, value, x)  e.g. threshold(x, 1, 0)
hardshrink(x, lambd#:0.5)  0 from -lambd to lambd, and x elsewhere  = where(x >= -lambd, where(x <= lambd, 0, x), x)
softshrink(x, lambd#:0.5)  x brought nearer to 0 by lambd, and 0 from -lambd to lambd
    = where(x > lambd, x - lambd, where(x < -lambd, x + lambd, 0))
    total: where(x >= -lambd, where(x <= lambd, 0, x - lambd), x + lambd)
rrelu(x, lower#:0.125, upper#:0.3333333333333333, training=False)
    leaky_relu of the slope in the middle of two, as it is after training  = where(x >= 0, x, x*(lower + upper)/2)
    written: _after_training  kind: defined  caveat: in training the slope is random
    adjoints: x: where(x > 0, grad, grad*(lower + upper)/2)
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
== normalization  kind: defined  torch: nn.functional.*  at x=1,2,4 A=[[3,4]]
normalize(input, p=2, dim=1, eps#:1e-12)  divided by the p-norm along a dimension, or by eps where that is less
    = input/maximum(norm(input, p=p, dim=dim, keepdim=True), eps)  e.g. normalize(A)
layer_norm(input, normalized_shape=, weight?:1, bias?:0, eps#:1e-05)
    mean 0 and variance 1 over the last dimensions, times weight, plus bias
    = (input - mean(input))/sqrt(var(input, correction=0) + eps)*weight + bias  written: _layer_norm
    e.g. layer_norm(x, 3)
rms_norm(input, normalized_shape=, weight?:1, eps#:2.220446049250313e-16)
    divided by the root of the mean square over the last dimensions, times weight
    = input/sqrt(mean(input**2) + eps)*weight  written: _rms_norm
    caveat: torch's eps is the machine epsilon of the dtype where it is left out  e.g. rms_norm(x, 3)
dropout|dropout1d|dropout2d|dropout3d(input, p=0.5, training=True)
    elements or channels are zero at random in training, and the input as it is where training=False  = input
    written: _kept  caveat: in training it is random, and is not read; torch's default is training=True
    e.g. dropout(x, 0.5, training=False)
alpha_dropout|feature_alpha_dropout(input, p=0.5, training=False)
    elements or channels are at random what selu gives far below 0 in training, and else the input as it is  = input
    written: _kept  caveat: in training it is random, and is not read  e.g. alpha_dropout(x)
== losses  kind: defined  torch: nn.functional.*  at x=0.2,0.7 t=0,1 a=[[1,2,3],[3,2,1]] b=[[0,0,1],[1,0,0]]
mse_loss(input, target, reduction=mean)  the mean squared error  = (input - target)**2  e.g. mse_loss(x, t)
l1_loss(input, target, reduction=mean)  the mean absolute error  = abs(input - target)  e.g. l1_loss(x, t)
smooth_l1_loss(input, target, beta#:1, reduction=mean)  squared where the error is below beta, else absolute
    = where(abs(input - target) < beta, (input - target)**2/(2*beta), abs(input - target) - beta/2)
    e.g. smooth_l1_loss(x, t, beta=2)
huber_loss(input, target, delta#:1, reduction=mean)  squared where the error is up to delta, else linear
    = where(abs(input - target) <= delta, (input - target)**2/2, delta*(abs(input - target) - delta/2))
    e.g. huber_loss(x, t, delta=2)
binary_cross_entropy(input, target, reduction=mean)  the cross entropy of probabilities with targets between 0 and 1
    = -(target*log(input) + (1 - target)*log(1 - input))
    total: -(target*{_bounded("input")} + (1 - target)*{_bounded("1 - input")})  domain: 0 < input < 1
    caveat: torch takes the logarithms no lower than -100  e.g. binary_cross_entropy(x, t)
    adjoints: input: grad*(input - target)/maximum(input*(1 - input), 9.999999960041972e-13); target: grad*(log(1 -
        input) - log(input))
binary_cross_entropy_with_logits(input, target, reduction=mean)
    the cross entropy of sigmoid(input) with targets between 0 and 1, without overflow
    = log(1 + exp(input)) - input*target  in_floats: softplus(input) - input*target
    e.g. binary_cross_entropy_with_logits(x, t)
weighted_binary_cross_entropy_with_logits(input, target, pos_weight, reduction=mean)
    the same with pos_weight times the part of the positive targets
    = (1 - target)*input + (1 + (pos_weight - 1)*target)*softplus(-input)  torch: none
    caveat: binary_cross_entropy_with_logits and nn.BCEWithLogitsLoss with pos_weight
    e.g. weighted_binary_cross_entropy_with_logits(x, t, 2)
cross_entropy(input, target!<, weight?~:1, ignore_index=-100, reduction=mean, label_smoothing=0)
    the cross entropy of softmax(input) with class indices or class probabilities, the classes along dimension 1
    = -log_softmax(input, 1) at the class of the target, or -sum(target*log_softmax(input, 1), 1)
    written: _cross_entropy
    caveat: a target of input's shape holds probabilities, one without dimension 1 holds indices, whole numbers
    e.g. cross_entropy(a, b)
nll_loss(input, target!, weight?~:1, ignore_index=-100, reduction=mean)
    minus the logarithm of the probability of the target's class, input being logarithms of probabilities
    = -input at the class of the target  written: _nll_loss  e.g. nll_loss(log_softmax(a, 1), t)
gaussian_nll_loss(input, target, var, full=False, eps#:1e-06, reduction=mean)
    minus the logarithm of a normal density of mean input and variance var
    = (log(maximum(var, eps)) + (input - target)**2/maximum(var, eps))/2  written: _gaussian
    caveat: torch's derivative by var is the same below eps as above it  e.g. gaussian_nll_loss(x, t, x)
kl_div(input, target, reduction=mean, log_target=False)
    the Kullback-Leibler divergence of target from exp(input), which is given as logarithms
    = target*log(target) - target*input  written: _kl_div  domain: target > 0
    caveat: torch's mean is over all elements; 'batchmean' is the divergence itself, a mean over dimension 0
    e.g. kl_div(log(x), x + 1, reduction='sum')
pairwise_distance(x1, x2, p=2, eps#:1e-06, keepdim=False)  the p-norm of the differences along the last dimension
    = norm(x1 - x2 + eps, p=p, dim=-1, keepdim=keepdim)  e.g. pairwise_distance(a, b)
""",
    globals(),
)
