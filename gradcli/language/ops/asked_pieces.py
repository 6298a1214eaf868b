"""Functions of torch whose calls are replaced by what they are made of, as torch says, while a text is read.

A row is three lines, as in `asked`.
"""

from __future__ import annotations

from gradcli.language.ops.asked import rows_of
from gradcli.language.ops.row import Kind

_PIECES = """
chunk|unsafe_chunk(x, chunks=, dim=0) -> ...
    so many pieces of one size along a dimension, the last one smaller if it must be
    chunk(x, 2)[1] at x=1,2,3,4,5
split|split_with_sizes|unsafe_split(x, split_size=, dim=0) -> ...
    pieces of one size along a dimension, or of the sizes that are listed
    split(x, (1, 3))[1] at x=1,2,3,4
tensor_split|array_split(x, sections=, dim=0) -> ...
    so many pieces of about one size, or those between the places that are listed
    tensor_split(x, 2)[0] at x=1,2,3,4,5
hsplit(x, sections=) -> ...
    pieces along the second dimension; of a vector, along its own
    hsplit(x, 2)[1] at x=1,2,3,4
vsplit(x, sections=) -> ...
    pieces along the first dimension of a matrix
    vsplit(x, 2)[1] at x=[[1,2],[3,4]]
dsplit(x, sections=) -> ...
    pieces along the third dimension
    dsplit(x, 2)[1] at x=[[[1,2],[3,4]]]
unbind|unstack(x, dim=0) -> ...
    the slices along a dimension, which they lack
    unbind(x)[1] at x=[[1,2],[3,4]]
"""

_JOINED = """
hstack(tensors)
    tensors next to each other: along the second dimension, vectors along their own
    hstack([x, x**2]) at x=1,2
vstack|row_stack(tensors)
    tensors below each other, vectors as rows
    vstack([x, x**2]) at x=1,2
dstack(tensors)
    tensors one after the other along the third dimension
    dstack([x, x**2]) at x=1,2
column_stack(tensors)
    vectors as the columns of a matrix; matrices next to each other
    column_stack([x, x**2]) at x=1,2
block_diag(operands)
    matrices along the diagonal of one, zeros elsewhere
    block_diag([x, x**2]) at x=[[1,2],[3,4]]
meshgrid(operands, indexing=ij) -> ...
    for vectors a tensor each, in which it is repeated along the dimensions of the others
    meshgrid([x, y])[0] at x=1,2 y=3,4,5
broadcast_tensors(operands) -> ...
    tensors expanded to their common shape
    broadcast_tensors([x, y])[0] at x=1,2 y=[[3],[4]]
cartesian_prod(operands)
    all combinations of the elements of vectors, as rows
    cartesian_prod([x, y]) at x=1,2 y=3,4,5
repeat(x, sizes=)
    each dimension repeated so many times, one whole after the other
    repeat(x, 2, 2) at x=1,2,3
tile(x, dims=)
    each dimension repeated so many times; fewer numbers are those of the last dimensions
    tile(x, 2) at x=1,2,3
repeat_interleave(x, repeats=, dim=None)
    each element repeated so many times; without dim, of the flattened tensor
    repeat_interleave(x, 2) at x=1,2,3
atleast_1d(operands)
    a number as a vector; others stay
    cat([atleast_1d(x), y]) at x=2 y=3,4
atleast_2d(operands)
    a vector as a row; matrices stay
    atleast_2d(x) at x=1,2
atleast_3d(operands)
    a matrix with a new last dimension, a vector between two new ones
    atleast_3d(x) at x=1,2
"""

_MOVED = """
movedim|moveaxis(x, source=, destination=)
    dimensions moved to other places, the rest in their order
    movedim(x, 0, 1) at x=[[1,2,3],[4,5,6]]
narrow|narrow_copy(x, dim=, start=, length=)
    so many elements of a dimension from one on
    narrow(x, 0, 1, 2) at x=1,2,3,4
select(x, dim=, index=)
    one slice of a dimension, which it lacks
    select(x, 0, 1) at x=[[1,2],[3,4]]
expand_as(x, other)
    stretched to the shape of another tensor
    expand_as(x, y)*y at x=1,2 y=[[1,2],[3,4]]
reshape_as|view_as(x, other)
    the same elements in the shape of another tensor
    reshape_as(x, y)*y at x=1,2,3,4 y=[[1,2],[3,4]]
sum_to_size(x, shape=)
    summed over the dimensions that expand would stretch
    sum_to_size(x, 1, 2) at x=[[1,2],[3,4]]
pad_with_elements(x, pad=, mode=)
    F.pad with mode='reflect', 'replicate' or 'circular': x with its own elements before and after it
    pad_with_elements(x, (1, 2), 'reflect') at x=[[1,2,3]]
fliplr(x)
    the columns in reverse
    fliplr(x) at x=[[1,2],[3,4]]
flipud(x)
    the rows in reverse
    flipud(x) at x=[[1,2],[3,4]]
rot90(x, k=1, dims=(0,1))
    turned by 90 degrees k times, from the first of two dimensions to the second
    rot90(x) at x=[[1,2],[3,4]]
diag_embed(x, offset=0, dim1=-2, dim2=-1)
    the last dimension along the diagonal of two, zeros elsewhere
    diag_embed(x) at x=1,2
diagflat(x, offset=0)
    all elements along the diagonal of a matrix
    diagflat(x) at x=1,2
unflatten(x, dim=, sizes=)
    a dimension as several of these sizes; one may be -1
    unflatten(x, 0, (2, 2)) at x=1,2,3,4
as_strided(x, shape=, strides=, storage_offset=0)
    elements of the flattened tensor at evenly spaced places, which may overlap
    as_strided(x, (2, 2), (1, 1)) at x=1,2,3
"""

_MATRICES = """
tensordot(a, b, ind=)
    sums of products over the last dims dimensions of a and the first of b
    tensordot(a, b, 1) at a=[[1,2]] b=[[3],[4]]
inner(a, b)
    sums of products over the last dimension of both: of vectors the inner product, of matrices a @ b.T
    inner(a, b) at a=1,2 b=3,4
kron(a, b)
    the Kronecker product: each element of a times b
    kron(a, b) at a=1,2 b=[[3,4]]
multi_dot(tensors)
    the product of several matrices
    multi_dot([A, A, x]) at A=[[1,2],[3,4]] x=5,6
matrix_power(A, n=)
    a square matrix multiplied by itself n times; its inverse for n below 0
    matrix_power(A, 3) at A=[[1,2],[3,4]]
vander(x, N=None, increasing=False)
    the powers of a vector as columns, falling from N - 1 to 0; torch.linalg.vander has them rising
    vander(x) at x=1,2,3
eigh(A) -> eigenvalues, eigenvectors
    the eigenvalues and the eigenvectors of a symmetric matrix
    eigh(A + A.T).eigenvectors at A=[[1,2],[0,3]]
linalg_svd(A, full_matrices=True) -> U, S, Vh
    the singular values S of a matrix, and its singular vectors: U @ diag(S) @ Vh is A
    torch.linalg.svd(A).Vh at A=[[2,1],[1,3]]
svd(A, some=True) -> U, S, V
    the singular values S of a matrix, and its singular vectors: U @ diag(S) @ V.T is A
    svd(A).V at A=[[2,1],[1,3]]
lstsq(A, b) -> solution
    the solution x of least squares of A @ x = b, of a matrix of full rank
    lstsq(A, b).solution at A=[[1,2],[0,3],[1,1]] b=[[1],[2],[4]]
slogdet(A) -> sign, logabsdet
    the sign of the determinant, and the logarithm of its absolute value
    slogdet(A).logabsdet at A=[[2,1],[1,3]]
inv_ex(A) -> inverse, info
    the inverse of a square matrix, and 0
    inv_ex(A).inverse at A=[[2,1],[1,3]]
cholesky_ex(A^) -> L, info
    the factor L of cholesky, and 0
    cholesky_ex(A).L at A=[[2,1],[1,3]]
solve_ex(A, b) -> result, info
    the solution x of A @ x = b, and 0
    solve_ex(A, b).result at A=[[2,1],[1,3]] b=1,2
tensorinv(A, ind=2)
    the inverse of a tensor as a matrix from its last dimensions to its first ind ones
    tensorinv(A, 1) at A=[[2,1],[1,3]]
tensorsolve(A, b)
    the solution x of a tensor equation, A being a matrix from its last dimensions to those of b
    tensorsolve(A, b) at A=[[2,1],[1,3]] b=1,2
householder_product(A, tau)
    the first columns of a product of reflections, as geqrf has them
    householder_product(A, t) at A=[[1,2],[3,4]] t=0.5,0.2
qr(A) -> Q, R
    the columns of A as Q @ R, Q with orthonormal columns and R upper triangular, with the signs of LAPACK
    qr(A).R at A=[[2,1],[1,3]]
matrix_norm(A, ord=fro, dim=None, keepdim=False)
    a norm of matrices, in the last two dimensions or in dim: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf
    matrix_norm(A, 1) at A=[[1,-2],[3,4]]
cond(A, p=None)
    the condition of a matrix, the ratio of its singular values, or norm(A)*norm(inv(A)) for a p of matrix_norm
    cond(A, 1) at A=[[2,1],[1,3]]
"""

_ORDER = """
sort(x, dim=-1, descending=False) -> values, indices
    the elements along a dimension in order; np.sort gives the elements alone
    sort(x).values at x=3,1,2
msort(x)
    the elements along the first dimension in order
    msort(x) at x=3,1,2
topk(x, k=, dim=-1, largest=True) -> values, indices
    the k largest elements along a dimension
    topk(x, 2).values at x=3,1,2
kthvalue(x, k=, dim=-1, keepdim=False) -> values, indices
    the k-th smallest element along a dimension
    kthvalue(x, 2).values at x=3,1,2
median(x, dim=None, keepdim=False) -> values, indices
    the middle element of all, the lower one of two; or along a dimension
    median(x) at x=3,1,2
quantile(x, q#, dim=None, keepdim=False)
    the element below which the share q lies, between two neighbours linearly
    quantile(x, 0.4) at x=3,1
aminmax(x, dim=None, keepdim=False) -> min, max
    the smallest and the largest element
    aminmax(x).max at x=1,3,2
std_mean(x, dim=None, correction=1, keepdim=False) -> ...
    the standard deviation and the mean
    std_mean(x)[0] at x=1,2,4
var_mean(x, dim=None, correction=1, keepdim=False) -> ...
    the variance and the mean
    var_mean(x)[0] at x=1,2,4
cov(x, correction=1)
    the covariances of the rows of a matrix
    cov(x) at x=[[1,2,4],[3,1,2]]
renorm(x, p=, dim=, maxnorm=)
    the slices of a dimension scaled down to a norm of maxnorm where theirs is larger
    renorm(x, 2, 0, 3.) at x=[[3,4],[1,1]]
diff(x, n=1, dim=-1)
    the differences of neighbours along a dimension, n times
    diff(x) at x=1,3,2
trapezoid|trapz(y, x?, dx=1.0, dim=-1)
    the integral of samples by trapezoids, at places x or dx apart
    trapezoid(y, x) at y=1,3,2 x=0,1,3
cumulative_trapezoid(y, x?, dx=1.0, dim=-1)
    the running integral of samples by trapezoids
    cumulative_trapezoid(y) at y=1,3,2
slopes_of|.gradient(x, spacing=1, dim=None) -> ...
    torch.gradient: the slope along each dimension of samples, by the neighbours on both sides; at the ends by one
    slopes_of(x)[0] at x=1,3,2,5
"""

_PLACED = """
index_select(x, dim=, index!)
    the slices of a dimension at some positions
    index_select(x, 0, [2, 0]) at x=1,2,3
take(x, index!)
    the elements of the flattened tensor at some positions, in the shape of these
    take(x, [[0, 2], [2, 1]]) at x=1,2,3
gather(x, dim=, index!)
    along a dimension the elements at positions, all other indices being those of the position itself
    gather(x, 1, [[2], [0]]) at x=[[1,2,3],[4,5,6]]
take_along_dim|take_along_axis(x, index!, dim=None)
    along a dimension the elements at positions, as gather; without dim, of the flattened tensor
    take_along_dim(x, [[2], [0]], 1) at x=[[1,2,3],[4,5,6]]
masked_select(x, mask&)
    the elements where a mask holds, as a vector
    masked_select(x, [True, False, True]) at x=1,2,3
index_add(x, dim=, index!, source, alpha=1)
    the slices of source added to those of x at some positions of a dimension
    index_add(x, 0, [2, 0], y) at x=1,2,3 y=4,5
index_copy(x, dim=, index!, source)
    x with the slices of source at some constant positions of a dimension
    index_copy(x, 0, [2, 0], y) at x=1,2,3 y=4,5
index_fill(x, dim=, index!, value)
    x with a number at some positions of a dimension
    index_fill(x, 0, [2, 0], 5) at x=1,2,3
scatter_add(x, dim=, index!, src)
    along a dimension the elements of src added to x at positions, all other indices being their own
    scatter_add(x, 0, [2, 0, 2], y) at x=1,2,3 y=4,5,6
scatter(x, dim=, index!, src, reduce=None)
    x with the elements of src at constant positions of a dimension
    scatter(x, 0, [2, 0], y) at x=1,2,3 y=4,5
scatter_reduce(x, dim=, index!, src, reduce=, include_self=True)
    along a dimension the elements of src at each position folded with those of x
    scatter_reduce(x, 0, [2, 0, 2], y, 'prod') at x=1,2,3 y=4,5,6
put(x, index!, source)
    x with the elements of source at constant positions of the flattened tensor
    put(x, [2, 0], y) at x=1,2,3 y=4,5
masked_scatter(x, mask&, source)
    x with the elements of source, in their order, where a mask holds
    masked_scatter(x, [True, False, True], y) at x=1,2,3 y=4,5
slice_scatter(x, src, dim=0, start=None, end=None, step=1)
    x with src in the place of a slice
    slice_scatter(x, y, 0, 1) at x=1,2,3 y=4,5
select_scatter(x, src, dim=, index=)
    x with src in the place of one slice of a dimension
    select_scatter(x, y, 0, 1) at x=[[1,2],[3,4]] y=5,6
diagonal_scatter(x, src, offset=0, dim1=0, dim2=1)
    x with src in the place of a diagonal
    diagonal_scatter(x, y) at x=[[1,2],[3,4]] y=5,6
"""

_CELLS = """
rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)
    one step of a recurrent cell, by tanh
    rnn_tanh_cell(x, h, w, u) at x=[[1,2]] h=[[0.5]] w=[[0.2,0.3]] u=[[0.4]]
rnn_relu_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)
    one step of a recurrent cell, by relu
    rnn_relu_cell(x, h, w, u) at x=[[1,2]] h=[[0.5]] w=[[0.2,0.3]] u=[[0.4]]
gru_cell(input, hx, w_ih, w_hh, b_ih?, b_hh?)
    one step of a gated recurrent unit
    gru_cell(x, h, w, u) at x=[[1,2]] h=[[0.5]] w=[[0.2,0.3],[0.1,0.4],[0.5,0.2]] u=[[0.4],[0.1],[0.3]]
"""

PIECES, JOINED, MOVED, MATRICES, ORDER, PLACED, CELLS = (
    rows_of(text, "*", Kind.INLINED) for text in (_PIECES, _JOINED, _MOVED, _MATRICES, _ORDER, _PLACED, _CELLS)
)
