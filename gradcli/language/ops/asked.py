"""Functions of torch without a meaning of their own here: torch is asked what they are made of.

The call of one of kind `defined` stays in the Program, and torch is asked for shapes it is given; that of an `inlined`
one is replaced as the text is read.  Sources: the torch reference of each function.
"""

from __future__ import annotations

from gradcli.language.ops.row import read

ROWS = read(
    """
== pieces of tensors  kind: inlined  torch: *  = what torch makes of it
chunk|unsafe_chunk(x, chunks=, dim=0) -> ...
    so many pieces of one size along a dimension, the last one smaller if it must be
    e.g. chunk(x, 2)[1] at x=1,2,3,4,5
split|split_with_sizes|unsafe_split(x, split_size=, dim=0) -> ...
    pieces of one size along a dimension, or of the sizes that are listed
    e.g. split(x, (1, 3))[1] at x=1,2,3,4
tensor_split|array_split(x, sections=, dim=0) -> ...
    so many pieces of about one size, or those between the places that are listed
    e.g. tensor_split(x, 2)[0] at x=1,2,3,4,5
hsplit(x, sections=) -> ...  pieces along the second dimension; of a vector, along its own
    e.g. hsplit(x, 2)[1] at x=1,2,3,4
vsplit(x, sections=) -> ...  pieces along the first dimension of a matrix  e.g. vsplit(x, 2)[1] at x=[[1,2],[3,4]]
dsplit(x, sections=) -> ...  pieces along the third dimension  e.g. dsplit(x, 2)[1] at x=[[[1,2],[3,4]]]
unbind|unstack(x, dim=0) -> ...  the slices along a dimension, which they lack  e.g. unbind(x)[1] at x=[[1,2],[3,4]]
== joined and repeated  kind: inlined  torch: *  = what torch makes of it
hstack(tensors)  tensors next to each other: along the second dimension, vectors along their own
    e.g. hstack([x, x**2]) at x=1,2
vstack|row_stack(tensors)  tensors below each other, vectors as rows  e.g. vstack([x, x**2]) at x=1,2
dstack(tensors)  tensors one after the other along the third dimension  e.g. dstack([x, x**2]) at x=1,2
column_stack(tensors)  vectors as the columns of a matrix; matrices next to each other
    e.g. column_stack([x, x**2]) at x=1,2
block_diag(operands)  matrices along the diagonal of one, zeros elsewhere  e.g. block_diag([x, x**2]) at x=[[1,2],[3,4]]
meshgrid(operands, indexing=ij) -> ...
    for vectors a tensor each, in which it is repeated along the dimensions of the others
    e.g. meshgrid([x, y])[0] at x=1,2 y=3,4,5
broadcast_tensors(operands) -> ...  tensors expanded to their common shape
    e.g. broadcast_tensors([x, y])[0] at x=1,2 y=[[3],[4]]
cartesian_prod(operands)  all combinations of the elements of vectors, as rows
    e.g. cartesian_prod([x, y]) at x=1,2 y=3,4,5
repeat(x, sizes=)  each dimension repeated so many times, one whole after the other  torch: Tensor.*
    e.g. repeat(x, 2, 2) at x=1,2,3
tile(x, dims=)  each dimension repeated so many times; fewer numbers are those of the last dimensions
    e.g. tile(x, 2) at x=1,2,3
repeat_interleave(x, repeats=, dim=None)  each element repeated so many times; without dim, of the flattened tensor
    e.g. repeat_interleave(x, 2) at x=1,2,3
atleast_1d(operands)  a number as a vector; others stay  e.g. cat([atleast_1d(x), y]) at x=2 y=3,4
atleast_2d(operands)  a vector as a row; matrices stay  e.g. atleast_2d(x) at x=1,2
atleast_3d(operands)  a matrix with a new last dimension, a vector between two new ones  e.g. atleast_3d(x) at x=1,2
== at positions  kind: inlined  torch: *  = what torch makes of it
index_select(x, dim=, index!)  the slices of a dimension at some positions  e.g. index_select(x, 0, [2, 0]) at x=1,2,3
take(x, index!)  the elements of the flattened tensor at some positions, in the shape of these
    e.g. take(x, [[0, 2], [2, 1]]) at x=1,2,3
gather(x, dim=, index!)
    along a dimension the elements at positions, all other indices being those of the position itself
    e.g. gather(x, 1, [[2], [0]]) at x=[[1,2,3],[4,5,6]]
take_along_dim|take_along_axis(x, index!, dim=None)
    along a dimension the elements at positions, as gather; without dim, of the flattened tensor
    e.g. take_along_dim(x, [[2], [0]], 1) at x=[[1,2,3],[4,5,6]]
masked_select(x, mask&)  the elements where a mask holds, as a vector
    e.g. masked_select(x, [True, False, True]) at x=1,2,3
index_add(x, dim=, index!, source, alpha=1)  the slices of source added to those of x at some positions of a dimension
    e.g. index_add(x, 0, [2, 0], y) at x=1,2,3 y=4,5
index_copy(x, dim=, index!, source)  x with the slices of source at some constant positions of a dimension
    e.g. index_copy(x, 0, [2, 0], y) at x=1,2,3 y=4,5
index_fill(x, dim=, index!, value)  x with a number at some positions of a dimension
    e.g. index_fill(x, 0, [2, 0], 5) at x=1,2,3
scatter_add(x, dim=, index!, src)
    along a dimension the elements of src added to x at positions, all other indices being their own
    e.g. scatter_add(x, 0, [2, 0, 2], y) at x=1,2,3 y=4,5,6
scatter(x, dim=, index!, src, reduce=None)  x with the elements of src at constant positions of a dimension
    e.g. scatter(x, 0, [2, 0], y) at x=1,2,3 y=4,5
scatter_reduce(x, dim=, index!, src, reduce=, include_self=True)
    along a dimension the elements of src at each position folded with those of x
    e.g. scatter_reduce(x, 0, [2, 0, 2], y, 'prod') at x=1,2,3 y=4,5,6
put(x, index!, source)  x with the elements of source at constant positions of the flattened tensor  torch: Tensor.*
    e.g. put(x, [2, 0], y) at x=1,2,3 y=4,5
masked_scatter(x, mask&, source)  x with the elements of source, in their order, where a mask holds
    e.g. masked_scatter(x, [True, False, True], y) at x=1,2,3 y=4,5
slice_scatter(x, src, dim=0, start=None, end=None, step=1)  x with src in the place of a slice
    e.g. slice_scatter(x, y, 0, 1) at x=1,2,3 y=4,5
select_scatter(x, src, dim=, index=)  x with src in the place of one slice of a dimension
    e.g. select_scatter(x, y, 0, 1) at x=[[1,2],[3,4]] y=5,6
diagonal_scatter(x, src, offset=0, dim1=0, dim2=1)  x with src in the place of a diagonal
    e.g. diagonal_scatter(x, y) at x=[[1,2],[3,4]] y=5,6
== order and samples  kind: inlined  torch: *  = what torch makes of it
sort(x, dim=-1, descending=False) -> values, indices
    the elements along a dimension in order; np.sort gives the elements alone
    e.g. sort(x).values at x=3,1,2
msort(x)  the elements along the first dimension in order  e.g. msort(x) at x=3,1,2
topk(x, k=, dim=-1, largest=True) -> values, indices  the k largest elements along a dimension
    e.g. topk(x, 2).values at x=3,1,2
kthvalue(x, k=, dim=-1, keepdim=False) -> values, indices  the k-th smallest element along a dimension
    e.g. kthvalue(x, 2).values at x=3,1,2
median(x, dim=None, keepdim=False) -> values, indices
    the middle element of all, the lower one of two; or along a dimension
    e.g. median(x) at x=3,1,2
quantile(x, q#, dim=None, keepdim=False)  the element below which the share q lies, between two neighbours linearly
    e.g. quantile(x, 0.4) at x=3,1
aminmax(x, dim=None, keepdim=False) -> min, max  the smallest and the largest element  e.g. aminmax(x).max at x=1,3,2
std_mean(x, dim=None, correction=1, keepdim=False) -> ...  the standard deviation and the mean
    e.g. std_mean(x)[0] at x=1,2,4
var_mean(x, dim=None, correction=1, keepdim=False) -> ...  the variance and the mean  e.g. var_mean(x)[0] at x=1,2,4
cov(x, correction=1)  the covariances of the rows of a matrix  e.g. cov(x) at x=[[1,2,4],[3,1,2]]
renorm(x, p=, dim=, maxnorm=)  the slices of a dimension scaled down to a norm of maxnorm where theirs is larger
    e.g. renorm(x, 2, 0, 3.) at x=[[3,4],[1,1]]
diff(x, n=1, dim=-1)  the differences of neighbours along a dimension, n times  e.g. diff(x) at x=1,3,2
trapezoid|trapz(y, x?, dx=1.0, dim=-1)  the integral of samples by trapezoids, at places x or dx apart
    e.g. trapezoid(y, x) at y=1,3,2 x=0,1,3
cumulative_trapezoid(y, x?, dx=1.0, dim=-1)  the running integral of samples by trapezoids
    e.g. cumulative_trapezoid(y) at y=1,3,2
slopes_of|.gradient(x, spacing=1, dim=None) -> ...
    torch.gradient: the slope along each dimension of samples, by the neighbours on both sides; at the ends by one
    torch: gradient
    e.g. slopes_of(x)[0] at x=1,3,2,5
== matrices  kind: inlined  torch: linalg.*  = what torch makes of it
tensordot(a, b, ind=)  sums of products over the last dims dimensions of a and the first of b  torch: *
    e.g. tensordot(a, b, 1) at a=[[1,2]] b=[[3],[4]]
inner(a, b)  sums of products over the last dimension of both: of vectors the inner product, of matrices a @ b.T
    torch: *
    e.g. inner(a, b) at a=1,2 b=3,4
kron(a, b)  the Kronecker product: each element of a times b  torch: *  e.g. kron(a, b) at a=1,2 b=[[3,4]]
multi_dot(tensors)  the product of several matrices  e.g. multi_dot([A, A, x]) at A=[[1,2],[3,4]] x=5,6
matrix_power(A, n=)  a square matrix multiplied by itself n times; its inverse for n below 0  torch: *
    e.g. matrix_power(A, 3) at A=[[1,2],[3,4]]
vander(x, N=None, increasing=False)
    the powers of a vector as columns, falling from N - 1 to 0; torch.linalg.vander has them rising  torch: *
    e.g. vander(x) at x=1,2,3
eigh(A) -> eigenvalues, eigenvectors  the eigenvalues and the eigenvectors of a symmetric matrix
    e.g. eigh(A + A.T).eigenvectors at A=[[1,2],[0,3]]
linalg_svd(A, full_matrices=True) -> U, S, Vh
    the singular values S of a matrix, and its singular vectors: U @ diag(S) @ Vh is A  torch: linalg.svd
    e.g. torch.linalg.svd(A).Vh at A=[[2,1],[1,3]]
svd(A, some=True) -> U, S, V  the singular values S of a matrix, and its singular vectors: U @ diag(S) @ V.T is A
    torch: *
    e.g. svd(A).V at A=[[2,1],[1,3]]
lstsq(A, b) -> solution  the solution x of least squares of A @ x = b, of a matrix of full rank
    e.g. lstsq(A, b).solution at A=[[1,2],[0,3],[1,1]] b=[[1],[2],[4]]
slogdet(A) -> sign, logabsdet  the sign of the determinant, and the logarithm of its absolute value  torch: *
    e.g. slogdet(A).logabsdet at A=[[2,1],[1,3]]
inv_ex(A) -> inverse, info  the inverse of a square matrix, and 0  e.g. inv_ex(A).inverse at A=[[2,1],[1,3]]
cholesky_ex(A^) -> L, info  the factor L of cholesky, and 0  e.g. cholesky_ex(A).L at A=[[2,1],[1,3]]
solve_ex(A, b) -> result, info  the solution x of A @ x = b, and 0  e.g. solve_ex(A, b).result at A=[[2,1],[1,3]] b=1,2
tensorinv(A, ind=2)  the inverse of a tensor as a matrix from its last dimensions to its first ind ones
    e.g. tensorinv(A, 1) at A=[[2,1],[1,3]]
tensorsolve(A, b)  the solution x of a tensor equation, A being a matrix from its last dimensions to those of b
    e.g. tensorsolve(A, b) at A=[[2,1],[1,3]] b=1,2
householder_product(A, tau)  the first columns of a product of reflections, as geqrf has them
    e.g. householder_product(A, t) at A=[[1,2],[3,4]] t=0.5,0.2
qr(A) -> Q, R  the columns of A as Q @ R, Q with orthonormal columns and R upper triangular, with the signs of LAPACK
    e.g. qr(A).R at A=[[2,1],[1,3]]
matrix_norm(A, ord=fro, dim=None, keepdim=False)
    a norm of matrices, in the last two dimensions or in dim: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf
    e.g. matrix_norm(A, 1) at A=[[1,-2],[3,4]]
cond(A, p=None)
    the condition of a matrix, the ratio of its singular values, or norm(A)*norm(inv(A)) for a p of matrix_norm
    e.g. cond(A, 1) at A=[[2,1],[1,3]]
== dimensions moved and turned  kind: inlined  torch: *  = what torch makes of it
movedim|moveaxis(x, source=, destination=)  dimensions moved to other places, the rest in their order
    e.g. movedim(x, 0, 1) at x=[[1,2,3],[4,5,6]]
narrow|narrow_copy(x, dim=, start=, length=)  so many elements of a dimension from one on
    e.g. narrow(x, 0, 1, 2) at x=1,2,3,4
select(x, dim=, index=)  one slice of a dimension, which it lacks  e.g. select(x, 0, 1) at x=[[1,2],[3,4]]
expand_as(x, other)  stretched to the shape of another tensor  torch: Tensor.*
    e.g. expand_as(x, y)*y at x=1,2 y=[[1,2],[3,4]]
reshape_as|view_as(x, other)  the same elements in the shape of another tensor  torch: Tensor.*
    e.g. reshape_as(x, y)*y at x=1,2,3,4 y=[[1,2],[3,4]]
sum_to_size(x, shape=)  summed over the dimensions that expand would stretch  torch: Tensor.*
    e.g. sum_to_size(x, 1, 2) at x=[[1,2],[3,4]]
pad_with_elements(x, pad=, mode=)
    F.pad with mode='reflect', 'replicate' or 'circular': x with its own elements before and after it
    torch: nn.functional.pad
    e.g. pad_with_elements(x, (1, 2), 'reflect') at x=[[1,2,3]]
fliplr(x)  the columns in reverse  e.g. fliplr(x) at x=[[1,2],[3,4]]
flipud(x)  the rows in reverse  e.g. flipud(x) at x=[[1,2],[3,4]]
rot90(x, k=1, dims=(0,1))  turned by 90 degrees k times, from the first of two dimensions to the second
    e.g. rot90(x) at x=[[1,2],[3,4]]
diag_embed(x, offset=0, dim1=-2, dim2=-1)  the last dimension along the diagonal of two, zeros elsewhere
    e.g. diag_embed(x) at x=1,2
diagflat(x, offset=0)  all elements along the diagonal of a matrix  e.g. diagflat(x) at x=1,2
unflatten(x, dim=, sizes=)  a dimension as several of these sizes; one may be -1
    e.g. unflatten(x, 0, (2, 2)) at x=1,2,3,4
as_strided(x, shape=, strides=, storage_offset=0)
    elements of the flattened tensor at evenly spaced places, which may overlap
    e.g. as_strided(x, (2, 2), (1, 1)) at x=1,2,3
== sequences  kind: inlined  torch: *  = what torch makes of it
rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)  one step of a recurrent cell, by tanh
    e.g. rnn_tanh_cell(x, h, w, u) at x=[[1,2]] h=[[0.5]] w=[[0.2,0.3]] u=[[0.4]]
rnn_relu_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)  one step of a recurrent cell, by relu
    e.g. rnn_relu_cell(x, h, w, u) at x=[[1,2]] h=[[0.5]] w=[[0.2,0.3]] u=[[0.4]]
gru_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)  one step of a gated recurrent unit
    e.g. gru_cell(x, h, w, u) at x=[[1,2]] h=[[0.5]] w=[[0.2,0.3],[0.1,0.4],[0.5,0.2]] u=[[0.4],[0.1],[0.3]]
== windows  kind: defined  torch: nn.functional.*  = what torch makes of it
conv1d(input, weight, bias?, stride=1, padding=0, dilation=1, groups=1)
    the sums of products of a kernel with windows along a line
    e.g. conv1d(x, w) at x=[[1,2,4,3]] w=[[[1,-1]]]
conv2d(input, weight, bias?, stride=1, padding=0, dilation=1, groups=1)
    the sums of products of a kernel with windows along a plane
    e.g. conv2d(x, w) at x=[[[1,2],[4,3]]] w=[[[[1,-1],[2,0]]]]
conv3d(input, weight, bias?, stride=1, padding=0, dilation=1, groups=1)
    the sums of products of a kernel with windows along space
    e.g. conv3d(x, w) at x=[[[[1,2]],[[4,3]]]] w=[[[[[1,-1]],[[2,0]]]]]
conv_transpose1d(input, weight, bias?, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    the adjoint of conv1d by its input
    e.g. conv_transpose1d(x, w) at x=[[1,2,4,3]] w=[[[1,-1]]]
conv_transpose2d(input, weight, bias?, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    the adjoint of conv2d by its input
    e.g. conv_transpose2d(x, w) at x=[[[1,2],[4,3]]] w=[[[[1,-1],[2,0]]]]
conv_transpose3d(input, weight, bias?, stride=1, padding=0, output_padding=0, groups=1, dilation=1)
    the adjoint of conv3d by its input
    e.g. conv_transpose3d(x, w) at x=[[[[1,2]],[[4,3]]]] w=[[[[[1,-1]],[[2,0]]]]]
avg_pool1d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, count_include_pad=True)
    the mean of each window along a line
    e.g. avg_pool1d(x, 2) at x=[[1,5,2,4]]
avg_pool2d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    the mean of each window along a plane
    e.g. avg_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
avg_pool3d(input, kernel_size=, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
    the mean of each window along space
    e.g. avg_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
max_pool1d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False)
    the largest element of each window along a line
    e.g. max_pool1d(x, 2) at x=[[1,5,2,4]]
max_pool2d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False)
    the largest element of each window along a plane
    e.g. max_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
max_pool3d(input, kernel_size=, stride=None, padding=0, dilation=1, ceil_mode=False)
    the largest element of each window along space
    e.g. max_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
adaptive_avg_pool1d(input, output_size=)  the means of as many regions of a line as are wanted
    e.g. adaptive_avg_pool1d(x, 2) at x=[[1,5,2,4]]
adaptive_avg_pool2d(input, output_size=)  the means of as many regions of a plane as are wanted
    e.g. adaptive_avg_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
adaptive_avg_pool3d(input, output_size=)  the means of as many regions of space as are wanted
    e.g. adaptive_avg_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
adaptive_max_pool1d(input, output_size=)  the largest elements of as many regions of a line as are wanted
    e.g. adaptive_max_pool1d(x, 2) at x=[[1,5,2,4]]
adaptive_max_pool2d(input, output_size=)  the largest elements of as many regions of a plane as are wanted
    e.g. adaptive_max_pool2d(x, 2) at x=[[[1,5,2],[4,3,7]]]
adaptive_max_pool3d(input, output_size=)  the largest elements of as many regions of space as are wanted
    e.g. adaptive_max_pool3d(x, 2) at x=[[[[1,5],[2,4]],[[8,3],[7,6]]]]
im2col(input, kernel_size=, dilation=1, padding=0, stride=1)
    the windows of a plane as columns: F.unfold, as x.unfold(dim, size, step) is windows(x, dim, size, step)
    torch: nn.functional.unfold
    e.g. im2col(x, 2) at x=[[[1,2,3],[4,5,6]]]
fold|col2im(input, output_size=, kernel_size=, dilation=1, padding=0, stride=1)
    columns back where they came from in a plane, summed where windows overlap
    e.g. fold(x, (2, 3), 2) at x=[[1,2],[3,4],[5,6],[7,8]]
== layers  kind: defined  torch: nn.functional.*  = what torch makes of it
prelu(x, weight)  x, and a weight times it below 0; one weight, or one a channel, along dimension 1
    e.g. prelu(x, w) at x=[[-2,3]] w=0.1,0.2
glu(x, dim=-1)  the first half along dim times the sigmoid of the second  e.g. glu(x) at x=1,2,3,4
group_norm(input, num_groups=, weight?:1, bias?, eps=1e-5)
    mean 0 and variance 1 over each group of channels of each sample, times weight, plus bias, by channel
    e.g. group_norm(x, 1) at x=[[1,2,4,8]]
batch_norm(input, running_mean?~%, running_var?~%:1, weight?:1, bias?, training=False, momentum=0.1, eps=1e-5)
    mean 0 and variance 1 over each channel of all samples, by running averages, or in training by its own
    e.g. batch_norm(x, m, v) at x=[[1,2],[3,5]] m=1,2 v=0.5,2
instance_norm(input, running_mean?~%, running_var?~%:1, weight?:1, bias?, use_input_stats=True, momentum=0.1, eps=1e-5)
    mean 0 and variance 1 over each channel of each sample, times weight, plus bias
    e.g. instance_norm(x) at x=[[[1,2,5],[3,6,1]]]
local_response_norm(input, size=, alpha=0.0001, beta=0.75, k=1.0)
    divided by a power of the mean square of size neighbouring channels
    e.g. local_response_norm(x, 2) at x=[[[1,2],[3,4]]]
pixel_shuffle(input, upscale_factor=)  channels as space: each of r*r channels one element of a square of r by r
    e.g. pixel_shuffle(x, 2) at x=[[[1]],[[2]],[[3]],[[4]]]
pixel_unshuffle(input, downscale_factor=)  space as channels: each element of a square of r by r in a channel of its own
    e.g. pixel_unshuffle(x, 2) at x=[[[1,2],[3,4]]]
channel_shuffle(input, groups=)  the channels of groups dealt in turn
    e.g. channel_shuffle(x, 2) at x=[[[1],[2],[3],[4]]]
interpolate|upsample(input, size=None, scale_factor=None, mode=nearest, align_corners=None)
    resized along the dimensions after the first two
    e.g. interpolate(x, scale_factor=2, mode='linear') at x=[[[1,3]]]
bilinear(input1, input2, weight, bias?)  a product of two vectors with a matrix for each feature
    e.g. bilinear(a, b, w) at a=[[1,2]] b=[[3,1]] w=[[[1,0],[2,1]]]
pdist(x, p=2)  the p-norms of the differences of every two rows  e.g. pdist(x) at x=[[1,2],[4,6],[0,1]]
== losses  kind: defined  torch: nn.functional.*  = what torch makes of it
poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-8, reduction=mean)
    minus the logarithm of a Poisson probability, without the part that no input changes unless full
    e.g. poisson_nll_loss(x, t) at x=0.5,1 t=1,3
soft_margin_loss(input, target~, reduction=mean)  the logistic loss of targets 1 and -1
    e.g. soft_margin_loss(x, t) at x=0.5,-2 t=1,-1
hinge_embedding_loss(input, target!, margin=1.0, reduction=mean)
    a distance where the target is 1, and what it lacks of a margin where it is -1
    e.g. hinge_embedding_loss(x, t) at x=0.5,0.2 t=1,-1
margin_ranking_loss(input1, input2, target, margin=0.0, reduction=mean)
    by how much the larger of two is not larger by a margin, the first if target is 1, the second if it is -1
    e.g. margin_ranking_loss(a, b, t) at a=1,2 b=2,1.5 t=1,-1
cosine_embedding_loss(input1, input2, target!, margin=0.0, reduction=mean)
    1 - the cosine of two vectors where the target is 1, and its excess over a margin where it is -1
    e.g. cosine_embedding_loss(a, b, t) at a=[[1,2],[3,1]] b=[[2,1],[1,1]] t=1,-1
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=0.000001, swap=False, reduction=mean)
    by how much the positive is not nearer to the anchor than the negative by a margin
    e.g. triplet_margin_loss(a, p, n) at a=[[1,2]] p=[[1,1]] n=[[2,3]]
triplet_margin_with_distance_loss(anchor, positive, negative, margin=1.0, swap=False, reduction=mean)
    the same of the distance that pairwise_distance gives
    e.g. triplet_margin_with_distance_loss(a, p, n) at a=[[1,2]] p=[[1,1]] n=[[2,3]]
multilabel_soft_margin_loss(input, target, weight?:1, reduction=mean)
    the cross entropy of sigmoid(input) with targets 0 and 1, the mean over the classes
    e.g. multilabel_soft_margin_loss(x, t) at x=[[1,-2]] t=[[1,0]]
"""
)
