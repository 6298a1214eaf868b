"""Losses of training: an expression of each element, and then a mean, a sum (`reduction='sum'`) or neither.

Class indices are whole numbers: the entry of class c is chosen by [target = c], 1 or 0, so that a loss of indices is
the loss of rows of the identity matrix.  Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.row import Constants, Shapes, read


def _reduced(text: str, reduction: str) -> str:
    return text if reduction == "none" else f"{reduction}({text})"


# -- classes by their indices


def _classes(name: str, shapes: Shapes) -> tuple[int, int]:
    """The dimension of the classes, and how many there are."""
    scores = shapes[0]
    axis = 1 if len(scores) > 1 else 0
    samples = (*scores[:axis], *scores[axis + 1 :])
    if not scores or shapes[1] != samples:
        both = " or class probabilities of input's shape" * (name == "cross_entropy")
        raise ShapeError(
            f"{name} takes class indices of the shape {samples}{both}, and the shapes are {scores} and {shapes[1]}",
            hint="input is (classes), or (samples, classes, ...)",
        )
    return axis, scores[axis]


def _along(axis: int, rank: int) -> str:
    """The index that lays a vector along one dimension of several."""
    return f"[{', '.join(':' if n == axis else 'None' for n in range(rank))}]" if rank > 1 else ""


def _at(axis: int) -> str:
    """The index that adds the dimension of the classes."""
    return f"[{':, ' * axis}None]"


def _chosen(axis: int, classes: int, rank: int) -> str:
    """[target = class], a one in the row of each sample."""
    return f"where(target{_at(axis)} == arange({classes}){_along(axis, rank)}, 1, 0)"


def _of_classes(scores: str, constants: Constants, shapes: Shapes, name: str) -> str:
    """The loss of logarithms of probabilities at the classes of the target, smoothed if it is to be.

    Without weights and smoothing, the cross entropy is logsumexp(input) - input[target], whose slope is in every
    textbook: softmax(input) - [target = class].
    """
    axis, classes = _classes(name, shapes)
    rank, reduction = len(shapes[0]), constants["reduction"]
    if shapes[2] not in ((), (classes,)):
        raise ShapeError(f"{name} takes a weight for each of the {classes} classes, and weight has shape {shapes[2]}")
    smoothing, ignored = constants.get("label_smoothing", 0), constants["ignore_index"]
    kept = f"where(target == {ignored}, 0, 1)"
    weight = f"weight{_along(axis, rank)}" if shapes[2] else ""
    terms = f"{weight}*{scores}" if weight else scores
    chosen = (
        f"{_chosen(axis, classes, rank)}*{kept}{_at(axis)}" if 0 <= ignored < classes else _chosen(axis, classes, rank)
    )
    loss = f"-sum({chosen}*{terms}, {axis})"
    if name == "cross_entropy" and not weight and not smoothing:
        loss = f"{kept}*logsumexp(input, {axis}) - sum({chosen}*input, {axis})"
    if smoothing:
        loss = f"(1 - {smoothing!r})*({loss}) - {smoothing!r}/{classes}*sum({terms}, {axis})*{kept}"
    if reduction != "mean":
        return _reduced(loss, reduction)
    counted = f"{weight}*{chosen}" if weight else kept
    return f"sum({loss})/sum({counted})"


def _cross_entropy(constants: Constants, shapes: Shapes) -> str:
    if not 0 <= constants["label_smoothing"] <= 1:
        raise InputError("cross_entropy takes a label_smoothing from 0 to 1")
    if not shapes:
        return _reduced("-sum(target*log_softmax(input, 1), 1)", constants["reduction"])
    scores, targets, weights = shapes
    if not scores:
        raise ShapeError("cross_entropy takes the scores of classes, and input is one number")
    axis = 1 if len(scores) > 1 else 0
    logarithms = f"log_softmax(input, {axis})"
    if scores != targets:
        return _of_classes(logarithms, constants, shapes, "cross_entropy")
    smoothing, classes = constants["label_smoothing"], scores[axis]
    target = f"((1 - {smoothing!r})*target + {smoothing!r}/{classes})" if smoothing else "target"
    weight = f"weight{_along(axis, len(scores))}*" if weights else ""
    loss = f"-sum({weight}{target}*{logarithms}, {axis})"
    return _reduced(loss, constants["reduction"])


def _nll_loss(constants: Constants, shapes: Shapes) -> str:
    return _of_classes("input", constants, shapes, "nll_loss") if shapes else ""


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
