"""Functions of torch without a meaning of their own here: torch is asked what they are made of, for shapes it is given.

A row is three lines: the heading, what it computes, and values for an example.  Sources: the torch reference of each
function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradcli.language.ops.row import ASKED, Kind, Op, row

_WINDOWED = """
conv1d(input, weight, bias?, stride=1, padding=0, dilation=1, groups=1)
    the sums of products of a kernel with windows along a line
    conv1d(x, w) at x=[[1,2,4,3]] w=[[[1,-1]]]
conv2d(input, weight, bias?, stride=1, padding=0, dilation=1, groups=1)
    the sums of products of a kernel with windows along a plane
    conv2d(x, w) at x=[[[1,2],[4,3]]] w=[[[[1,-1],[2,0]]]]
conv3d(input, weight, bias?, stride=1, padding=0, dilation=1, groups=1)
    the sums of products of a kernel with windows along space
    conv3d(x, w) at x=[[[[1,2]],[[4,3]]]] w=[[[[[1,-1]],[[2,0]]]]]
conv_transpose1d(input, weight, bias?, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    the adjoint of conv1d by its input
    conv_transpose1d(x, w) at x=[[1,2,4,3]] w=[[[1,-1]]]
conv_transpose2d(input, weight, bias?, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    the adjoint of conv2d by its input
    conv_transpose2d(x, w) at x=[[[1,2],[4,3]]] w=[[[[1,-1],[2,0]]]]
conv_transpose3d(input, weight, bias?, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    the adjoint of conv3d by its input
    conv_transpose3d(x, w) at x=[[[[1,2]],[[4,3]]]] w=[[[[[1,-1]],[[2,0]]]]]
avg_pool1d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, count_include_pad=True)
    the mean of each window along a line
    avg_pool1d(x, 2) at x=[[1,5,2,4]]
avg_pool2d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    the mean of each window along a plane
    avg_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
avg_pool3d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    the mean of each window along space
    avg_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
max_pool1d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False)
    the largest element of each window along a line
    max_pool1d(x, 2) at x=[[1,5,2,4]]
max_pool2d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False)
    the largest element of each window along a plane
    max_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
max_pool3d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False)
    the largest element of each window along space
    max_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
adaptive_avg_pool1d(input, output_size=)
    the means of as many regions of a line as are wanted
    adaptive_avg_pool1d(x, 2) at x=[[1,5,2,4]]
adaptive_avg_pool2d(input, output_size=)
    the means of as many regions of a plane as are wanted
    adaptive_avg_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
adaptive_avg_pool3d(input, output_size=)
    the means of as many regions of space as are wanted
    adaptive_avg_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
adaptive_max_pool1d(input, output_size=)
    the largest elements of as many regions of a line as are wanted
    adaptive_max_pool1d(x, 2) at x=[[1,5,2,4]]
adaptive_max_pool2d(input, output_size=)
    the largest elements of as many regions of a plane as are wanted
    adaptive_max_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
adaptive_max_pool3d(input, output_size=)
    the largest elements of as many regions of space as are wanted
    adaptive_max_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
im2col(input, kernel_size=, dilation=1, padding=0, stride=1)
    the windows of a plane as columns: F.unfold, as x.unfold(dim, size, step) is windows(x, dim, size, step)
    im2col(x, 2) at x=[[[1,2,3],[4,5,6]]]
fold|col2im(input, output_size=, kernel_size=, dilation=1, padding=0, stride=1)
    columns back where they came from in a plane, summed where windows overlap
    fold(x, (2, 3), 2) at x=[[1,2],[3,4],[5,6],[7,8]]
"""

_LAYERS = """
prelu(x, weight)
    x, and a weight times it below 0; one weight, or one a channel, along dimension 1
    prelu(x, w) at x=[[-2,3]] w=0.1,0.2
glu(x, dim=-1)
    the first half along dim times the sigmoid of the second
    glu(x) at x=1,2,3,4
group_norm(input, num_groups=, weight?:1, bias?, eps=1e-5)
    mean 0 and variance 1 over each group of channels of each sample, times weight, plus bias, by channel
    group_norm(x, 1) at x=[[1,2,4,8]]
batch_norm(input, running_mean?~%, running_var?~%:1, weight?:1, bias?, training=False, momentum=0.1, eps=1e-5)
    mean 0 and variance 1 over each channel of all samples, by running averages, or in training by its own
    batch_norm(x, m, v) at x=[[1,2],[3,5]] m=1,2 v=0.5,2
instance_norm(input, running_mean?~%, running_var?~%:1, weight?:1, bias?, use_input_stats=True, momentum=0.1, eps=1e-5)
    mean 0 and variance 1 over each channel of each sample, times weight, plus bias
    instance_norm(x) at x=[[[1,2,5],[3,6,1]]]
local_response_norm(input, size=, alpha=0.0001, beta=0.75, k=1.0)
    divided by a power of the mean square of size neighbouring channels
    local_response_norm(x, 2) at x=[[[1,2],[3,4]]]
pixel_shuffle(input, upscale_factor=)
    channels as space: each of r*r channels one element of a square of r by r
    pixel_shuffle(x, 2) at x=[[[1]],[[2]],[[3]],[[4]]]
pixel_unshuffle(input, downscale_factor=)
    space as channels: each element of a square of r by r in a channel of its own
    pixel_unshuffle(x, 2) at x=[[[1,2],[3,4]]]
channel_shuffle(input, groups=)
    the channels of groups dealt in turn
    channel_shuffle(x, 2) at x=[[[1],[2],[3],[4]]]
interpolate|upsample(input, size=None, scale_factor=None, mode=nearest, align_corners=None)
    resized along the dimensions after the first two
    interpolate(x, scale_factor=2, mode='linear') at x=[[[1,3]]]
bilinear(input1, input2, weight, bias?)
    a product of two vectors with a matrix for each feature
    bilinear(a, b, w) at a=[[1,2]] b=[[3,1]] w=[[[1,0],[2,1]]]
pdist(x, p=2)
    the p-norms of the differences of every two rows
    pdist(x) at x=[[1,2],[4,6],[0,1]]
"""

_LOSSES = """
poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-8, reduction=mean)
    minus the logarithm of a Poisson probability, without the part that no input changes unless full
    poisson_nll_loss(x, t) at x=0.5,1 t=1,3
soft_margin_loss(input, target~, reduction=mean)
    the logistic loss of targets 1 and -1
    soft_margin_loss(x, t) at x=0.5,-2 t=1,-1
hinge_embedding_loss(input, target!, margin=1.0, reduction=mean)
    a distance where the target is 1, and what it lacks of a margin where it is -1
    hinge_embedding_loss(x, t) at x=0.5,0.2 t=1,-1
margin_ranking_loss(input1, input2, target, margin=0.0, reduction=mean)
    by how much the larger of two is not larger by a margin, the first if target is 1, the second if it is -1
    margin_ranking_loss(a, b, t) at a=1,2 b=2,1.5 t=1,-1
cosine_embedding_loss(input1, input2, target!, margin=0.0, reduction=mean)
    1 - the cosine of two vectors where the target is 1, and its excess over a margin where it is -1
    cosine_embedding_loss(a, b, t) at a=[[1,2],[3,1]] b=[[2,1],[1,1]] t=1,-1
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=0.000001, swap=False, reduction=mean)
    by how much the positive is not nearer to the anchor than the negative by a margin
    triplet_margin_loss(a, p, n) at a=[[1,2]] p=[[1,1]] n=[[2,3]]
triplet_margin_with_distance_loss(anchor, positive, negative, margin=1.0, swap=False, reduction=mean)
    the same of the distance that pairwise_distance gives
    triplet_margin_with_distance_loss(a, p, n) at a=[[1,2]] p=[[1,1]] n=[[2,3]]
multilabel_soft_margin_loss(input, target, weight?:1, reduction=mean)
    the cross entropy of sigmoid(input) with targets 0 and 1, the mean over the classes
    multilabel_soft_margin_loss(x, t) at x=[[1,-2]] t=[[1,0]]
"""

_TORCH: Mapping[str, str] = {
    **{name: f"linalg.{name}" for name in "multi_dot lstsq inv_ex cholesky_ex solve_ex tensorinv tensorsolve".split()},
    **{name: f"linalg.{name}" for name in "householder_product qr matrix_norm cond eigh".split()},
    **{name: f"Tensor.{name}" for name in "expand_as reshape_as sum_to_size repeat put".split()},
    "linalg_svd": "linalg.svd",
    "slopes_of": "gradient",
    "pad_with_elements": "nn.functional.pad",
    "im2col": "nn.functional.unfold",
}
"""Paths below torch that are not a name in the room of its section."""


def rows_of(text: str, room: str, kind: Kind) -> tuple[Op, ...]:
    """The rows of a section.

    Args:
        text: Three lines for each.
        room: The path below torch of its functions.
        kind: `DEFINED` where the call stays in the Program, `INLINED` where what it is made of stands there.
    """
    return tuple(_row(*one, room, kind) for one in _threes(text))


def _threes(text: str) -> Iterator[tuple[str, str, str]]:
    words = iter(text.split("\n")[1:-1])
    return zip(words, words, words, strict=True)


def _row(heading: str, doc: str, example: str, room: str, kind: Kind) -> Op:
    named = [torch for name, torch in _TORCH.items() if heading.startswith((f"{name}(", f"{name}|"))]
    return row(heading, doc.strip(), ASKED, "".join(named) or room, kind=kind, example=example.strip())


WINDOWED, LAYERS, LOSSES = (rows_of(text, "nn.functional.*", Kind.DEFINED) for text in (_WINDOWED, _LAYERS, _LOSSES))
