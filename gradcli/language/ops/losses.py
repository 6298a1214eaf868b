"""Losses of training.

A loss is an expression of each element, and then a mean, a sum (`reduction='sum'`) or neither.  Class indices are whole
numbers: the entry of class c is chosen by [target = c], 1 or 0, so that a loss of indices is the loss of rows of the
identity matrix.  Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.errors import InputError, ShapeError
from gradcli.language.ops.row import Kind, Op
from gradcli.language.ops.signature import Constant, Constants, Operand, Shapes


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
    return _of_classes("nll_loss", "input", constants, shapes)


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


def _bounded(x: str) -> str:
    return f"where({x} > exp(-100), log({x}), -100)"


# -- the rows

LOSSES: tuple[Op, ...] = (
    Op(
        "mse_loss",
        ("input", "target", Constant("reduction", "mean")),
        "the mean squared error",
        kind=Kind.DEFINED,
        meaning="(input - target)**2",
        torch="nn.functional.mse_loss",
        example="mse_loss(x, t)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "l1_loss",
        ("input", "target", Constant("reduction", "mean")),
        "the mean absolute error",
        kind=Kind.DEFINED,
        meaning="abs(input - target)",
        torch="nn.functional.l1_loss",
        example="l1_loss(x, t)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "smooth_l1_loss",
        ("input", "target", Operand("beta", default=1, number_only=True), Constant("reduction", "mean")),
        "squared where the error is below beta, else absolute",
        kind=Kind.DEFINED,
        meaning="where(abs(input - target) < beta, (input - target)**2/(2*beta), abs(input - target) - beta/2)",
        torch="nn.functional.smooth_l1_loss",
        example="smooth_l1_loss(x, t, beta=2)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "huber_loss",
        ("input", "target", Operand("delta", default=1, number_only=True), Constant("reduction", "mean")),
        "squared where the error is up to delta, else linear",
        kind=Kind.DEFINED,
        meaning=("where(abs(input - target) <= delta, (input - target)**2/2, delta*(abs(input - target) - delta/2))"),
        torch="nn.functional.huber_loss",
        example="huber_loss(x, t, delta=2)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "binary_cross_entropy",
        ("input", "target", Constant("reduction", "mean")),
        "the cross entropy of probabilities with targets between 0 and 1",
        kind=Kind.DEFINED,
        meaning="-(target*log(input) + (1 - target)*log(1 - input))",
        torch_convention=f"-(target*{_bounded('input')} + (1 - target)*{_bounded('1 - input')})",
        torch="nn.functional.binary_cross_entropy",
        adjoints={
            "input": "grad*(input - target)/maximum(input*(1 - input), 9.999999960041972e-13)",
            "target": "grad*(log(1 - input) - log(input))",
        },
        domain="0 < input < 1",
        caveat="torch takes the logarithms no lower than -100",
        example="binary_cross_entropy(x, t)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "weighted_binary_cross_entropy",
        ("input", "target", Operand("weight", default=1), Constant("reduction", "mean")),
        "the same with each element times its weight",
        kind=Kind.DEFINED,
        meaning="weight*binary_cross_entropy(input, target, reduction='none')",
        caveat="binary_cross_entropy and nn.BCELoss with weight",
        example="binary_cross_entropy(x, t, weight=2)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "binary_cross_entropy_with_logits",
        ("input", "target", Constant("reduction", "mean")),
        "the cross entropy of sigmoid(input) with targets between 0 and 1, without overflow",
        kind=Kind.DEFINED,
        meaning="log(1 + exp(input)) - input*target",
        in_floats="softplus(input) - input*target",
        torch="nn.functional.binary_cross_entropy_with_logits",
        example="binary_cross_entropy_with_logits(x, t)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "weighted_binary_cross_entropy_with_logits",
        (
            "input",
            "target",
            Operand("pos_weight", default=1),
            Operand("weight", default=1),
            Constant("reduction", "mean"),
        ),
        "the same with pos_weight times the part of the positive targets, and each element times its weight",
        kind=Kind.DEFINED,
        meaning="weight*((1 - target)*input + (1 + (pos_weight - 1)*target)*softplus(-input))",
        caveat="binary_cross_entropy_with_logits and nn.BCEWithLogitsLoss with pos_weight or weight",
        example="weighted_binary_cross_entropy_with_logits(x, t, 2)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "cross_entropy",
        (
            "input",
            Operand("target", whole_if_fewer_dimensions=True),
            Operand("weight", default=1, tensor_or_none=True, no_derivative=True),
            Constant("ignore_index", -100),
            Constant("reduction", "mean"),
            Constant("label_smoothing", 0),
        ),
        (
            "the cross entropy of softmax(input) with class indices or class probabilities, the classes "
            "along dimension 1"
        ),
        kind=Kind.DEFINED,
        meaning="-log_softmax(input, 1) at the class of the target, or -sum(target*log_softmax(input, 1), 1)",
        written=_cross_entropy,
        torch="nn.functional.cross_entropy",
        caveat=("a target of input's shape holds probabilities, one without dimension 1 holds indices, whole numbers"),
        example="cross_entropy(a, b)",
        at={"a": "[[1,2,3],[3,2,1]]", "b": "[[0,0,1],[1,0,0]]"},
    ),
    Op(
        "nll_loss",
        (
            "input",
            Operand("target", whole_number=True),
            Operand("weight", default=1, tensor_or_none=True, no_derivative=True),
            Constant("ignore_index", -100),
            Constant("reduction", "mean"),
        ),
        ("minus the logarithm of the probability of the target's class, input being logarithms of probabilities"),
        kind=Kind.DEFINED,
        meaning="-input at the class of the target",
        written=_nll_loss,
        torch="nn.functional.nll_loss",
        example="nll_loss(log_softmax(a, 1), t)",
        at={"t": "0,1", "a": "[[1,2,3],[3,2,1]]"},
    ),
    Op(
        "gaussian_nll_loss",
        (
            "input",
            "target",
            "var",
            Constant("full", False),
            Operand("eps", default=1e-06, number_only=True),
            Constant("reduction", "mean"),
        ),
        "minus the logarithm of a normal density of mean input and variance var",
        kind=Kind.DEFINED,
        meaning="(log(maximum(var, eps)) + (input - target)**2/maximum(var, eps))/2",
        written=_gaussian,
        torch="nn.functional.gaussian_nll_loss",
        caveat="torch's derivative by var is the same below eps as above it",
        example="gaussian_nll_loss(x, t, x)",
        at={"x": "0.2,0.7", "t": "0,1"},
    ),
    Op(
        "kl_div",
        ("input", "target", Constant("reduction", "mean"), Constant("log_target", False)),
        "the Kullback-Leibler divergence of target from exp(input), which is given as logarithms",
        kind=Kind.DEFINED,
        meaning="target*log(target) - target*input",
        written=_kl_div,
        torch="nn.functional.kl_div",
        domain="target > 0",
        caveat="torch's mean is over all elements; 'batchmean' is the divergence itself, a mean over dimension 0",
        example="kl_div(log(x), x + 1, reduction='sum')",
        at={"x": "0.2,0.7"},
    ),
    Op(
        "pairwise_distance",
        ("x1", "x2", Constant("p", 2), Operand("eps", default=1e-06, number_only=True), Constant("keepdim", False)),
        "the p-norm of the differences along the last dimension",
        kind=Kind.DEFINED,
        meaning="norm(x1 - x2 + eps, p=p, dim=-1, keepdim=keepdim)",
        torch="nn.functional.pairwise_distance",
        example="pairwise_distance(a, b)",
        at={"a": "[[1,2,3],[3,2,1]]", "b": "[[0,0,1],[1,0,0]]"},
    ),
)
