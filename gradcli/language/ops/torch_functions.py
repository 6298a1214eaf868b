"""Functions of torch without a meaning of their own here: torch is asked for the operations that they consist of.

The call of one of kind `defined` stays in the Program, and torch is asked for shapes it is given; that of an `inlined`
one is replaced as the text is read.  Sources: the torch reference of each function.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.language.ops.row import read

CODE_FUNCTIONS = frozenset(
    "argmax argmin argsort as_strided_scatter combinations corrcoef embedding_bag finfo grid_sample index_put "
    "lstm_cell linear_cross_entropy max_unpool1d max_unpool2d max_unpool3d multi_margin_loss "
    "multilabel_margin_loss nanquantile nonzero searchsorted unique upsample_bilinear "
    "upsample_nearest".split()
)
"""Functions of torch whose result depends on the order of values, or on the numbers of positions: Python runs them."""

OTHERWISE: Mapping[str, str] = {
    "pad": "write F.pad(x, (left, right)) for the last dimension, with two more for the one before it",
    "median": "it is the mean of the two in the middle: write quantile(x, 0.5)",
    "nanmedian": "it is the mean of the two in the middle: write (nanmedian(x) - nanmedian(-x))/2",
}
"""Hints on functions of NumPy that mean another thing than those of torch."""

_WINDOWS = """
== windows  kind: defined  torch: nn.functional.*  = what torch makes of it  at x={x} w={w}
conv{n}d(input, weight, bias?, stride=1, padding=0, dilation=1, groups=1)
    the sums of products of a kernel with windows along {space}  e.g. conv{n}d(x, w)
conv_transpose{n}d(input, weight, bias?, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    the adjoint of conv{n}d by its input  e.g. conv_transpose{n}d(x, w)
avg_pool{n}d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, count_include_pad=True{more})
    the mean of each window along {space}  e.g. avg_pool{n}d(x, 2)
max_pool{n}d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False)
    the largest element of each window along {space}  e.g. max_pool{n}d(x, 2)
adaptive_avg_pool{n}d(input, output_size=)  the means of so many regions of {space}  e.g. adaptive_avg_pool{n}d(x, 2)
adaptive_max_pool{n}d(input, output_size=)  the largest of so many regions of {space}  e.g. adaptive_max_pool{n}d(x, 2)
"""
_SPACES = (
    {"n": 1, "space": "a line", "more": "", "x": "[[1,2,5,3]]", "w": "[[[1,-1]]]"},
    {"n": 2, "space": "a plane", "x": "[[[1,2,5],[4,3,7]]]", "w": "[[[[1,-1],[2,0]]]]"},
    {"n": 3, "space": "space", "x": "[[[[1,5],[2,4]],[[8,3],[7,6]]]]", "w": "[[[[[1,-1],[2,0]],[[0,3],[1,1]]]]]"},
)
"""Words for windows along one, two and three dimensions."""

ROWS = read(
    """
== pieces of tensors  kind: inlined  torch: *  = what torch makes of it  at x=1,2,3,4
chunk|unsafe_chunk(x, chunks=, dim=0) -> ...  so many pieces along a dimension  e.g. chunk(x, 3)[1]
split|split_with_sizes|unsafe_split(x, split_size=, dim=0) -> ...  of these sizes  e.g. split(x, (1, 3))[1]
tensor_split|array_split(x, sections=, dim=0) -> ...  so many pieces  e.g. tensor_split(x, 2)[0]
hsplit(x, sections=) -> ...  pieces along the second dimension; of a vector, along its own  e.g. hsplit(x, 2)[1]
vsplit(x, sections=) -> ...  pieces along the first dimension of a matrix  e.g. vsplit(x, 2)[1] at x=[[1,2],[3,4]]
dsplit(x, sections=) -> ...  pieces along the third dimension  e.g. dsplit(x, 2)[1] at x=[[[1,2],[3,4]]]
unbind|unstack(x, dim=0) -> ...  the slices along a dimension, which they lack  e.g. unbind(x)[1]
== joined and repeated  kind: inlined  torch: *  = what torch makes of it  at x=1,2 y=3,4,5
hstack(tensors)  tensors next to each other: along the second dimension, vectors along their own
vstack|row_stack(tensors)  tensors below each other, vectors as rows
dstack(tensors)  tensors one after the other along the third dimension
column_stack(tensors)  vectors as the columns of a matrix; matrices next to each other
block_diag(operands)  matrices along the diagonal of one, zeros elsewhere
meshgrid(operands, indexing=ij) -> ...  vectors repeated along the dimensions of the others  e.g. meshgrid([x, y])[0]
broadcast_tensors(operands) -> ...  tensors expanded to their common shape  e.g. broadcast_tensors([x[:, None], y])[0]
cartesian_prod(operands)  all combinations of the elements of vectors, as rows  e.g. cartesian_prod([x, y])
repeat(x, sizes=)  the dimensions repeated so many times  torch: Tensor.*  e.g. repeat(x, 2, 2)
tile(x, dims=)  the last dimensions repeated so many times  e.g. tile(x, 2)
repeat_interleave(x, repeats=, dim=None)  each element repeated  e.g. repeat_interleave(x, 2)
atleast_1d(operands)  a number as a vector; others stay
atleast_2d(operands)  a vector as a row; matrices stay
atleast_3d(operands)  a matrix with a new last dimension, a vector between two new ones
== at positions  kind: inlined  torch: *  = what torch makes of it  at x=1,2,3 y=4,5 A=[[1,2,3],[4,5,6]] B=[[1,2],[3,4]]
index_select(x, dim=, index!)  the slices of a dimension at some positions  e.g. index_select(x, 0, [2, 0])
take(x, index!)  the elements of the flattened tensor at some positions, in their shape  e.g. take(x, [[0, 2], [2, 1]])
gather(x, dim=, index!)  the elements at positions along a dimension  e.g. gather(A, 1, [[2], [0]])
take_along_dim|take_along_axis(x, index!, dim=None)  as gather  e.g. take_along_dim(A, [[2], [0]], 1)
masked_select(x, mask&)  the elements where a mask holds, as a vector  e.g. masked_select(x, [True, False, True])
index_add(x, dim=, index!, source, alpha=1)  slices of source added at positions  e.g. index_add(x, 0, [2, 0], y)
index_copy(x, dim=, index!, source)  x with the slices of source at constant positions  e.g. index_copy(x, 0, [2, 0], y)
index_fill(x, dim=, index!, value)  x with a number at positions of a dimension  e.g. index_fill(x, 0, [2, 0], 5)
scatter_add(x, dim=, index!, src)  elements of src added to x at positions  e.g. scatter_add(x, 0, [2, 0], y)
scatter(x, dim=, index!, src, reduce=None)  x with those of src at positions  e.g. scatter(x, 0, [2, 0], y)
scatter_reduce(x, dim=, index!, src, reduce=, include_self=True)  those of src folded with those of x at positions
    e.g. scatter_reduce(x, 0, [2, 0], y, 'prod')
index_reduce(x, dim=, index!, source, reduce=, include_self=True)  slices of source folded with those of x at positions
    e.g. index_reduce(x, 0, [2, 0], y, 'prod')
put(x, index!, source)  as index_copy of the flattened tensor  torch: Tensor.*  e.g. put(x, [2, 0], y)
masked_scatter(x, mask&, source)  x with source under a mask  e.g. masked_scatter(x, [True, False, True], y)
slice_scatter(x, src, dim=0, start=None, end=None, step=1)  x with src as a slice  e.g. slice_scatter(x, y, 0, 1)
select_scatter(x, src, dim=, index=)  x with src as one slice of a dimension  e.g. select_scatter(B, y, 0, 1)
diagonal_scatter(x, src, offset=0, dim1=0, dim2=1)  x with src as a diagonal  e.g. diagonal_scatter(B, y)
== order and samples  kind: inlined  torch: *  = what torch makes of it  at x=3,1,2
sort(x, dim=-1, descending=False) -> values, indices  in order; np.sort gives the values  e.g. sort(x).values
msort(x)  the elements along the first dimension in order
topk(x, k=, dim=-1, largest=True) -> values, indices  the k largest elements  e.g. topk(x, 2).values
kthvalue(x, k=, dim=-1, keepdim=False) -> values, indices  the k-th smallest element  e.g. kthvalue(x, 2).values
median(x, dim=None, keepdim=False) -> values, indices  the middle element, the lower one of two
quantile(x, q#, dim=None, keepdim=False)  where the share q of elements is below  e.g. quantile(x, 0.4) at x=3,1
aminmax(x, dim=None, keepdim=False) -> min, max  the smallest and the largest element  e.g. aminmax(x).max
std_mean(x, dim=None, correction=1, keepdim=False) -> ...  the deviation and the mean  e.g. std_mean(x)[0]
var_mean(x, dim=None, correction=1, keepdim=False) -> ...  the variance and the mean  e.g. var_mean(x)[0]
cov(x, correction=1)  the covariances of the rows of a matrix  at x=[[1,2,4],[3,1,2]]
renorm(x, p=, dim=, maxnorm=)  slices scaled down to a norm of maxnorm  e.g. renorm(x, 2, 0, 3.) at x=[[3,4],[1,1]]
diff(x, n=1, dim=-1)  the differences of neighbours along a dimension, n times
trapezoid|trapz(y, x?, dx=1.0, dim=-1)  the integral by trapezoids, at places x or dx apart  at y=1,3,2 x=0,1,3
cumulative_trapezoid(y, x?, dx=1.0, dim=-1)  the same up to each place  at y=1,3,2 x=0,1,3
slopes_of|.gradient(x, spacing=1, dim=None) -> ...  torch.gradient of samples  torch: gradient  e.g. slopes_of(x)[0]
== matrices  kind: inlined  torch: linalg.*  = what torch makes of it  at A=[[2,1],[1,3]] x=1,2 b=1,2
tensordot(a, b, ind=)  sums of products over ind dimensions of both  torch: *  e.g. tensordot(x, A, 1)
inner(a, b)  sums of products over the last dimension of both: of matrices a @ b.T  torch: *  at a=1,2 b=3,4
kron(a, b)  the Kronecker product: each element of a times b  torch: *  at a=1,2 b=[[3,4]]
multi_dot(tensors)  the product of several matrices  e.g. multi_dot([A, A, x])
matrix_power(A, n=)  a square matrix multiplied by itself n times  torch: *  e.g. matrix_power(A, 3)
vander(x, N=None, increasing=False)  falling powers as columns; torch.linalg.vander has them rising  torch: *
eigh(A) -> eigenvalues, eigenvectors  those of a symmetric matrix  e.g. eigh(A).eigenvectors
linalg_svd(A, full_matrices=True) -> U, S, Vh  A is U @ diag(S) @ Vh  torch: linalg.svd  e.g. torch.linalg.svd(A).Vh
svd(A, some=True) -> U, S, V  singular values and vectors: U @ diag(S) @ V.T is A  torch: *  e.g. svd(A).V
lstsq(A, b) -> solution  the x of least squares of A @ x = b, A of full rank  e.g. lstsq(A, b[:, None]).solution
slogdet(A) -> sign, logabsdet  the sign and the logarithm of the determinant  torch: *  e.g. slogdet(A).logabsdet
inv_ex(A) -> inverse, info  the inverse of a square matrix, and 0  e.g. inv_ex(A).inverse
cholesky_ex(A^) -> L, info  the factor L of cholesky, and 0  e.g. cholesky_ex(A).L
solve_ex(A, b) -> result, info  the solution x of A @ x = b, and 0  e.g. solve_ex(A, b).result
tensorinv(A, ind=2)  the inverse from its last dimensions to its first ind ones  e.g. tensorinv(A, 1)
tensorsolve(A, b)  the solution x of a tensor equation, A being a matrix from its last dimensions to those of b
householder_product(A, tau)  columns of a product of reflections, as geqrf has them  at A=[[1,2],[3,4]] tau=.5,.2
qr(A) -> Q, R  the columns of A as Q @ R, R upper triangular, with the signs of LAPACK  e.g. qr(A).R
matrix_norm(A, ord=fro, dim=None, keepdim=False)  'fro', 'nuc', 1, 2, inf and minus these  e.g. matrix_norm(A, 1)
cond(A, p=None)  the condition of a matrix: norm(A)*norm(inv(A)), p as of matrix_norm  e.g. cond(A, 1)
== dimensions moved and turned  kind: inlined  torch: *  = what torch makes of it  at x=[[1,2,3],[4,5,6]] y=1,2,3
movedim|moveaxis(x, source=, destination=)  dimensions moved to other places  e.g. movedim(x, 0, 1)
narrow|narrow_copy(x, dim=, start=, length=)  so many elements of a dimension from one on  e.g. narrow(x, 1, 0, 2)
select(x, dim=, index=)  one slice of a dimension, which it lacks  e.g. select(x, 0, 1)
expand_as(x, other)  stretched to the shape of another tensor  torch: Tensor.*  e.g. expand_as(y, x)*x
reshape_as|view_as(x, other)  the same elements in another tensor's shape  torch: Tensor.*  e.g. reshape_as(x, x.T)*x.T
sum_to_size(x, shape=)  summed over the dimensions that expand would stretch  torch: Tensor.*  e.g. sum_to_size(x, 1, 3)
pad_with_elements(x, pad=, mode=)  x with elements of it around: F.pad with 'reflect', 'replicate' or 'circular'
    torch: nn.functional.pad  e.g. pad_with_elements(x, (1, 2), 'reflect')
fliplr(x)  the columns in reverse
flipud(x)  the rows in reverse
rot90(x, k=1, dims=(0,1))  turned by 90 degrees k times, from the first of two dimensions to the second
diag_embed(x, offset=0, dim1=-2, dim2=-1)  the last dimension along the diagonal of two, zeros elsewhere
diagflat(x, offset=0)  all elements along the diagonal of a matrix
unflatten(x, dim=, sizes=)  a dimension as several of these sizes; one may be -1  e.g. unflatten(y, 0, (3, 1))
as_strided(x, shape=, strides=, storage_offset=0)  evenly spaced elements  e.g. as_strided(y, (2, 2), (1, 1))
== sequences  kind: inlined  torch: *  = what torch makes of it  at x=[[1,2]] h=[[0.5]] w=[[0.2,0.3]] u=[[0.4]]
rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)  a step of a recurrent cell  e.g. rnn_tanh_cell(x, h, w, u)
rnn_relu_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)  a step of a recurrent cell  e.g. rnn_relu_cell(x, h, w, u)
gru_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)  one step of a gated recurrent unit
    e.g. gru_cell(x, h, cat([w, 2*w, w]), cat([u, u, 2*u]))
"""
    + "".join(_WINDOWS.format(**{"more": ", divisor_override=None", **space}) for space in _SPACES)
    + """
im2col(input, kernel_size=, dilation=1, padding=0, stride=1)  the windows of a plane as columns: F.unfold
    torch: nn.functional.unfold  e.g. im2col(x, 2) at x=[[[1,2,3],[4,5,6]]]
fold|col2im(input, output_size=, kernel_size=, dilation=1, padding=0, stride=1)  the adjoint of im2col
    e.g. fold(x, (2, 3), 2) at x=[[1,2],[3,4],[5,6],[7,8]]
== layers  kind: defined  torch: nn.functional.*  = what torch makes of it  at x=[[1,2],[3,5]] y=[[[1,2,5],[3,6,1]]]
prelu(x, weight)  x, and a weight times it below 0, one for all or for each channel  at x=[[-2,3]] weight=0.1,0.2
glu(x, dim=-1)  the first half along dim times the sigmoid of the second
group_norm(input, num_groups=, weight?:1, bias?, eps=1e-5)
    mean 0 and variance 1 over groups of channels of each sample  e.g. group_norm(y, 1)
batch_norm(input, running_mean?~%, running_var?~%:1, weight?:1, bias?, training=False, momentum=0.1, eps=1e-5)
    mean 0 and variance 1 over each channel of all samples  e.g. batch_norm(x, x[0], x[1])
instance_norm(input, running_mean?~%, running_var?~%:1, weight?:1, bias?, use_input_stats=True, momentum=0.1, eps=1e-5)
    mean 0 and variance 1 over each channel of each sample, times weight, plus bias  e.g. instance_norm(y)
local_response_norm(input, size=, alpha=0.0001, beta=0.75, k=1.0)
    divided by a power of the mean square of neighbouring channels  e.g. local_response_norm(y, 2)
pixel_shuffle(input, upscale_factor=)  each of r*r channels one element of a square of r by r
    e.g. pixel_shuffle(x, 2) at x=[[[1]],[[2]],[[3]],[[4]]]
pixel_unshuffle(input, downscale_factor=)  the inverse of pixel_shuffle  e.g. pixel_unshuffle(x[None], 2)
channel_shuffle(input, groups=)  the channels of groups dealt in turn  e.g. channel_shuffle(y, 2)
interpolate|upsample(input, size=None, scale_factor=None, mode=nearest, align_corners=None)
    resized along the dimensions after the first two  e.g. interpolate(y, scale_factor=2, mode='linear')
bilinear(input1, input2, weight, bias?)  a product of two vectors with a matrix for each feature
    e.g. bilinear(a, b, w) at a=[[1,2]] b=[[3,1]] w=[[[1,0],[2,1]]]
pdist(x, p=2)  the p-norms of the differences of every two rows  at x=[[1,2],[4,6],[0,1]]
== losses  kind: defined  torch: nn.functional.*  = what torch makes of it
    at x=0.5,-2 y=[[1,2],[3,1]] z=[[2,1],[1,1]] t=1,-1
poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-8, reduction=mean)
    minus the logarithm of a Poisson probability  e.g. poisson_nll_loss(x, y[1])
soft_margin_loss(input, target~, reduction=mean)  the logistic loss of targets 1 and -1  e.g. soft_margin_loss(x, t)
hinge_embedding_loss(input, target!, margin=1.0, reduction=mean)
    a distance where the target is 1, and what it lacks of a margin where it is -1  e.g. hinge_embedding_loss(x, t)
margin_ranking_loss(input1, input2, target, margin=0.0, reduction=mean)
    what the input that should be larger lacks of a margin  e.g. margin_ranking_loss(x, y[1], t)
cosine_embedding_loss(input1, input2, target!, margin=0.0, reduction=mean)
    1 - the cosine of two vectors, or its excess over a margin  e.g. cosine_embedding_loss(y, z, t)
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=0.000001, swap=False, reduction=mean)
    what the positive lacks of being nearer by a margin  e.g. triplet_margin_loss(y, z, z + 1)
triplet_margin_with_distance_loss(anchor, positive, negative, margin=1.0, swap=False, reduction=mean)
    the same of the distance that pairwise_distance gives  e.g. triplet_margin_with_distance_loss(y, z, z + 1)
multilabel_soft_margin_loss(input, target, weight?:1, reduction=mean)
    the cross entropy of sigmoid(input), a mean over classes  e.g. multilabel_soft_margin_loss(y, z)
"""
)
