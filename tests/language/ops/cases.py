"""Texts by the row of the op table that they are about, which torch runs too.

A line is of one row: its name and, after two blanks each, texts, or a text `as` the same in the words of a library.
"""

import re


def _read(table: str) -> dict[str, list[str]]:
    """Take the texts of each row; a line that begins with blanks goes on, and one with `==` is a heading."""
    lines = re.sub(r"\n +", "  ", table.strip()).split("\n")
    return {name: texts for name, *texts in (line.split("  ") for line in lines if line and line[:2] != "==")}


CASES = _read(
    """
== where each element goes: lists, views, indices, shifts, positions, counts and constant tensors
stack  [u, w**2] as stack([u, w**2])  stack([x, k], dim=1)  torch.stack((x, k, x*k), -1)
    [[a, b], [a*b, 1], [0, a]] as stack([a, b, a*b, 0*a + 1, 0*a, a]).view(3, 2)
    [u*n for n in range(1, 4)] as stack([u, 2*u, 3*u])
cat  cat([u, v**2, u])  cat([x, row])  torch.cat((x, column*k, column), dim=1)  np.concatenate([x, k], axis=-2)
    cat([x.view(-1), v])
index  x[1]  x[-1, 0]*u  z[..., -3:-1]  z[:, None, 1]  z[0][1:]*z[1, :2]  y[1:3].sum() + y[5:].sum()
transpose  x.T  z.transpose(0, 2)  z.mT  torch.swapaxes(z, 0, 1)
permute  z.permute(2, 0, 1)  permute(z, (1, -1, 0))**2  torch.permute(x, dims=(1, 0))
reshape  x.view(3, 2)  z.view(4, -1)**2  reshape(y, (2, 1, 6))  a.view(1, 1)*x
flatten  flatten(x)  torch.flatten(z, 0, 1)*v  flatten(z, start_dim=-2, end_dim=-1)  np.ravel(y)**2
squeeze  row.squeeze()  squeeze(column, 1)*x.T  x.squeeze(0)*2  one.squeeze()*u
unsqueeze  u.unsqueeze(1)*v  unsqueeze(x, dim=-1)  torch.unsqueeze(x, -2)*y[:2, :3]  np.expand_dims(a, 0)
expand  expand(u, 2, 3) as u.expand(2, 3)  row.expand(4, -1)  one.expand(5)  a.expand(2, 3)*x
flip  flip(u, 0)*u as u.flip(0)*u  x.flip(0, 1)  torch.flip(z, dims=(-1,))  flip(z, (0, 2))**2
roll  roll(u, 1)*u  torch.roll(z, (1, -2), (0, 2))*z  roll(v, shifts=9, dims=0)  y.roll(3, dims=-1)
pad  pad(u, (1, 2))  F.pad(x, (0, 1, 2, 0))**2  pad(y, (-1, 2), value=0.5)*a
    pad(z, (1, 0), mode='constant', value=-3)  pad(z, (0, 0, 0, 0, 1, 1))
diag  diag(u)  u.diag(diagonal=-2)  torch.diag(y, 2)  np.diag(y, k=1)
diagonal  diagonal(x)  y.diagonal(-2)  torch.diagonal(z, offset=-1, dim1=-1, dim2=1)**2  diagonal(z, dim1=1, dim2=2)
tril  tril(x)  tril(y, 1)*v  z.tril(-1)
triu  triu(y)  torch.triu(x, diagonal=1)@y  z.triu(-2)**2
count  x.sum()/x.numel()  z.sum(2)/z.shape[2]  v.sum()/len(v)  y.sum(0)/y.shape[0]
linspace  linspace(-1, 2, 4)*v  y*torch.linspace(0, 1, steps=4)
arange  arange(3)*x  x@arange(1, 4) as x@arange(1., 4)  arange(6, 0, -2)*u  arange(6).view(2, 3)*x
zeros  cat([u, zeros(2)])  u + zeros(2, 3)
ones  ones(2, 2)@x  x@torch.ones(3)
full  full((2, 1), 0.5)*u  torch.full((3,), pi)@u
eye  x@eye(3)  a*eye(2, 3) + x  sum(C*torch.eye(2))
randn  randn(4, 2)@x as np.random.default_rng(0).standard_normal((4, 2)) @ x
    randn(3, seed=7)*u as np.random.default_rng(7).standard_normal(3) * u
rand  rand((2, 3), seed=3)*x as np.random.default_rng(3).random((2, 3)) * x
chunk  v.chunk(3)[1]**2  torch.chunk(z, 2, dim=-1)[0]*z[..., 2:]  sum(x.chunk(2)) as x[:1] + x[1:]  y.chunk(2)[-1]
split  split(v, 3)[1]  y.split([1, 3], dim=1)[1]**2  np.split(v, 2)[1]  parts = y.split(1); parts[0]*parts[2]
tensor_split  tensor_split(v, 3)[0]  torch.tensor_split(y, (1, 3), dim=1)[1]  np.array_split(u, 2)[1]
unbind  x.unbind()[1]*w  torch.stack(x.unbind(1))  sum(row.sum()**2 for row in x.unbind(0)) as (x.sum(1)**2).sum()
    [column.prod() for column in torch.unbind(x, dim=1)] as x.prod(0)
hsplit  hsplit(v, 2)[1]  y.hsplit((1,))[1]**2
vsplit  vsplit(y, 3)[2]
dsplit  torch.dsplit(z, 2)[0]
hstack  hstack([u, w**2])  torch.hstack((x, column))  hstack([a, u])
vstack  vstack([u, w**2, x])  torch.vstack((a, b))
dstack  dstack([u, w])  dstack([x, k**2])
column_stack  column_stack([u, w])  torch.column_stack((x.T, u))
block_diag  block_diag([x, C**2]) as block_diag(x, C**2)  torch.block_diag(u, C)
meshgrid  meshgrid([u, v])[0]*a  np.meshgrid([u, v])[1] as np.meshgrid(u, v)[1]
    torch.meshgrid(u, v, indexing='xy')[0]**2
broadcast_tensors  broadcast_tensors([u, column])[1]*x as broadcast_tensors(u, column)[1]*x
    torch.broadcast_tensors(u, column)[0]**2
cartesian_prod  cartesian_prod([u, v]) as cartesian_prod(u, v)  torch.cartesian_prod(u, w)[4].prod()
repeat  u.repeat(2, 2)  x.repeat((1, 3))
tile  tile(x, 2) as x.tile(2)  np.tile(u, (3, 1))**2  x.tile(2, 1, 1)
repeat_interleave  repeat_interleave(u, 2)  x.repeat_interleave(3, dim=0)  np.repeat(x, 2)
atleast_1d  atleast_1d(a)**2  atleast_1d(x)
atleast_2d  atleast_2d(u)  torch.atleast_2d(a)
atleast_3d  atleast_3d(u)  atleast_3d(x)*a
movedim  movedim(z, 0, 2)  torch.moveaxis(z, (0, 1), (-1, 0))**2
narrow  narrow(y, 1, 1, 2)  x.narrow(-1, -2, 2)
select  select(z, 1, 2)  x.select(0, -1)*u
expand_as  expand_as(row, x)*x as row.expand_as(x)*x  u.expand_as(x)
reshape_as  x.view_as(k.T)*k.T
sum_to_size  x.sum_to_size(1, 3)  x.sum_to_size(3)  x.sum_to_size((2, 3))
permute_axes  permute_axes(z) as np.transpose(z)  np.transpose(z, (2, 0, 1))*2
flip_axes  flip_axes(y)*y as np.flip(y)*y  np.flip(z, (0, 2))
pad_with_elements  F.pad(x, (1, 2), mode='reflect')  F.pad(z, (1, 0, 2, 1), 'replicate')
    F.pad(x, (3, 2), mode='circular')*2
fliplr  fliplr(x)*x
flipud  torch.flipud(y)
rot90  rot90(x)  torch.rot90(z, 3, [0, 2])  rot90(x, -2)
diag_embed  diag_embed(x)  torch.diag_embed(u, offset=-1)  diag_embed(x, 1, 0, 2)
diagflat  diagflat(x)  diagflat(u, 2)
unflatten  unflatten(y, 1, (2, -1))  v.unflatten(0, (2, 2))
as_strided  torch.as_strided(y, (2, 2), (4, 1), 1)  v.as_strided((2, 3), (1, 1))
index_add  index_add(x, 1, [2, 0, 2], k) as x.index_add(1, torch.tensor([2, 0, 2]), k)
    u.index_add(0, torch.tensor([1, 1]), w[:2], alpha=2)
index_copy  index_copy(x, 1, torch.tensor([2, 0]), C)
index_fill  index_fill(x, 1, torch.tensor([2, 0]), a)
scatter_add  scatter_add(u, 0, [2, 0, 2], w) as u.scatter_add(0, torch.tensor([2, 0, 2]), w)
    x.scatter_add(0, [[1, 0, 1]], k) as where(arange(2)[:, None] != eye(3)[1], x + k[0], x)
scatter  scatter(x, 0, [[1, 0, 1]], k) as where(arange(2)[:, None] != eye(3)[1], k[0], x)
put  x.put(torch.tensor([4, 0]), w[:2])
nanmedian  nanmedian(v)  torch.nanmedian(where(x > 2, nan, x))  nanmedian(where(y > 2, nan, y), 1).values
    torch.nanmedian(where(z > 0.8, nan, z), 1, keepdim=True)[0]  torch.nanmedian(y, 0).values
index_reduce  index_reduce(x, 1, [2, 0, 2], k, 'prod') as x.index_reduce(1, torch.tensor([2, 0, 2]), k, 'prod')
    torch.index_reduce(u, 0, torch.tensor([1, 1]), w[:2], 'amax', include_self=False)
    x.index_reduce(0, torch.tensor([1, 1]), k, 'mean')
scatter_reduce  scatter_reduce(u, 0, torch.tensor([2, 0, 2]), w, 'sum')
    x.scatter_reduce(0, [[1, 0, 1]], k, 'mean', include_self=False) as where(arange(2)[:, None] != eye(3)[1], k[0], x)
    torch.scatter_reduce(x, 1, torch.tensor([[1, 0, 1], [2, 2, 0]]), k, reduce='amax')
    scatter_reduce(x, 0, [[1, 0, 1]], k, 'prod', include_self=False) as where(arange(2)[:, None] != eye(3)[1], k[0], x)
masked_scatter  x.masked_scatter(torch.tensor([[True, False, True], [False, True, False]]), w)
slice_scatter  slice_scatter(y, M[:, :2], 1, 0, 4, 2)
select_scatter  select_scatter(x, w, 0, -1)
diagonal_scatter  diagonal_scatter(M, w[:2], 1)
elements_at  elements_at(x, [2, 0, 2], 1) as x[:, [2, 0, 2]]
    elements_at(u, [[0, 2], [1, 1]])**2 as u[torch.tensor([[0, 2], [1, 1]])]**2
    elements_at(z, [[0, 1, 1], [3, 2, 2]], 1, 2) as z[:, [0, 1, 1], [3, 2, 2]]
sums_at  sums_at(u, [3, 0, 3], 0, 4) as torch.zeros(4).index_add(0, torch.tensor([3, 0, 3]), u)
    sums_at(u, [[0, 0, 1], [1, 1, 0]], 0, 2, 2)**2 as stack([u[0]*0, u[0] + u[1], u[2], u[0]*0]).view(2, 2)**2
one_hot  one_hot([2, 0], 3)*x as one_hot(torch.tensor([2, 0]), 3)*x
index_select  index_select(x, 1, [2, 0]) as x[:, [2, 0]]  y.index_select(0, torch.tensor([1, 1, 2]))**2
take  take(x, [[0, 5], [3, -1]]) as x.ravel()[[0, 5, 3, -1]].view(2, 2)  x.take([4])*a as x[1, 1][None]*a
gather  gather(x, 1, [[2, 0], [1, 1]]) as stack([x[0, [2, 0]], x[1, [1, 1]]])
    x.gather(0, [[1, 0]]) as stack([x[1, 0], x[0, 1]])[None]
take_along_dim  take_along_dim(x, [[2], [0]], 1) as x[[0, 1], [2, 0]][:, None]
    take_along_dim(x, [4, 0]) as x.ravel()[[4, 0]]
    np.take_along_axis(x, [[1, 0, 1]], axis=0) as x[[1, 0, 1], [0, 1, 2]][None]
masked_select  masked_select(x, [[True, False, True], [False, False, True]]) as x[[0, 0, 1], [0, 2, 2]]
    x.masked_select([True, False, True]) as x[:, [0, 2]].ravel()
where  where(x > 0, x**2, -x)  torch.where(a < 1, u, w**2)  x**3 if a < b else exp(x)  where(column > 0, x, y[:2, :3])
gt  where(x > k, x, k**2)
ge  where(x >= 2*a, x**2, a*x)
lt  where(torch.lt(x, w), x, w**2)
le  where(column <= row, column*row, 1)
eq  where(floor(x) == 0, x**2, x**3)  where(x == x, x**2, 7)
ne  where(sign(x) != sign(k), x*k, x)
logical_and  where((x > 0) & (x < 1), x**2, x**3)
    where(-1 < x < 2 and k > 0, x*k, k) as where((x > -1) & (x < 2) & (k > 0), x*k, k)
logical_or  where((x < 0) | (x > row), x**2, row)
    where(Or(x < -1, k > 1, x > 2), x, k) as where((x < -1) | (k > 1) | (x > 2), x, k)
logical_not  where(~(x > k), x, k**2)  where(not x > 1, x**2, 0) as where(x > 1, 0, x**2)
masked_fill  masked_fill(x, x > 1, -2)  x.masked_fill(row > x, 0.5)**2  masked_fill(x, x > k, a)
lerp  lerp(x, row, column)  torch.lerp(u, w, 0.25)  x.lerp(k, a)
zeros_like  zeros_like(x)*w + x
ones_like  torch.ones_like(x)*row
detach  x*detach(x)  (x - x.max(1, keepdim=True)[0].detach()).exp()

== reductions, scans, order and statistics: every dim, keepdim, correction and p
sum  sum(x)  x.sum(0)*w  sum(x, 1, keepdim=True)*x  z.sum((1, 2), keepdim=True)  torch.sum([a, b, a*b]) as a + b + a*b
mean  mean(x**3)  x.mean(0)  mean(z, dim=(0, 2))  mean(z, (-1,), keepdim=True)
prod  prod(x)  x.prod(0)*w  prod(z, 1, keepdim=True)  prod(x + 1, dim=1)**2
amax  amax(x)  amax(x, dim=1)*x.T  x.amax(-2)  amax(z, dim=(0, 2), keepdim=True)**2
amin  amin(x**2)  amin(x, dim=0, keepdim=True)  z.amin((1, -1))
max  max(x)*a  max(x, dim=1)[0]  x.max(dim=0, keepdim=True).values  z.max(-1)[0]
min  min(x)  min(z, 1)[0]*v  x.min(dim=-1).values**2
var  var(x)  x.var(0)  var(x, 1, correction=2)  var(z, dim=(0, 2), correction=0)  np.var(x, axis=0, ddof=1)
std  std(x)  std(x, dim=1, correction=0)  z.std((0, 1), keepdim=True)  x.std(unbiased=False)*a
norm  norm(x)  norm(x, p=1)  norm(x, p=3, dim=-1)  norm(x, p=0)*x  torch.linalg.vector_norm(x, float('inf'), dim=1)
    norm(z, p=2.5, dim=(1, 2), keepdim=True)
cumsum  cumsum(u) as u.cumsum(0)  cumsum(x, dim=0)**2  cumsum(z, dim=1)  cumsum(a) as a
cumprod  cumprod(u) as u.cumprod(0)  cumprod(x, dim=0)**2  cumprod(z - 1, dim=1)  cumprod(a) as a
logsumexp  logsumexp(u) as u.logsumexp(0)  logsumexp(x, dim=1, keepdim=True)*x  z.logsumexp((0, -1))
softmax  softmax(u) as u.softmax(0)  softmax(x, dim=0)  x.softmax(-1)**2  F.softmax(z, dim=1)
log_softmax  log_softmax(u)*w as u.log_softmax(0)*w  log_softmax(x, dim=0)  F.log_softmax(z, dim=-1)
sorted  sorted(v)**2 as v.sort()[0]**2  sorted(y, 0) as y.sort(0)[0]  sorted(z, 1, True) as z.sort(1, True)[0]
sort  sort(v).values  torch.sort(y, dim=0, descending=True)[0]*y  np.sort(x, axis=0)
msort  msort(y)
topk  topk(v, 2).values  y.topk(1, dim=0, largest=False)[0]
kthvalue  kthvalue(v, 3).values  y.kthvalue(2, 0, True)[0]
median  median(v)  median(y, dim=0).values  x.median()
quantile  quantile(v, 0.4)  torch.quantile(u, torch.tensor([0.25, 0.5]))  u.quantile(1, dim=0, keepdim=True)
cummax  cummax(u).values as u.cummax(0)[0]  y.cummax(1)[0]*y
cummin  cummin(z, dim=-1) as z.cummin(-1)[0]
aminmax  aminmax(x).max - aminmax(x).min  x.aminmax(dim=1)[0]
std_mean  std_mean(x, dim=1)[0]
var_mean  var_mean(u)[0]  torch.var_mean(x, dim=0, correction=0)[1]
nansum  nansum(x**2, 1)
nanmean  nanmean(x**2)
cov  cov(x)  cov(y, correction=0)  cov(u)
logcumsumexp  logcumsumexp(u, 0)  x.logcumsumexp(1)
dist  dist(u, w)  torch.dist(x, k, 3)
cdist  cdist(x, M)  torch.cdist(x, k, p=1)
renorm  renorm(x, 2, 0, 1.5)
diff  diff(v)  torch.diff(y, n=2, dim=0)  np.diff(x)
average  np.average(x)  np.average(x, axis=1, weights=w)  np.average(x, 0)  np.average(x, axis=-1, weights=k)
ptp  np.ptp(u)  ptp(x, axis=1) as np.ptp(x, axis=1)
appended  np.append(x, u)  np.append(x, [u], axis=0)  np.append(u, 3)*2
trapezoid  trapezoid(v)  torch.trapz(u, w)  trapezoid(x, dx=0.5)
cumulative_trapezoid  cumulative_trapezoid(u, w)
slopes_of  slopes_of(v)[0] as torch.gradient(v)[0]  torch.gradient(x, spacing=2., dim=0)[0]

== products, linear equations, factors and norms of matrices, and losses
matmul  x@y  x@u  u@w  matmul(x, z)  u@z  z.mT[:, None]@z
dot  dot(u, w)  u.dot(u)*a
cosine_similarity  cosine_similarity(u, w, dim=0)  F.cosine_similarity(x, x**2)
    F.cosine_similarity([[1.], [2.]], x) as F.cosine_similarity(torch.tensor([[1.], [2.]]), x)
outer  outer(u, v)  torch.outer(v, u*u)
einsum  einsum('ij,j->i', x, u)  einsum('ji', x)  einsum('ii', M)  einsum('bij,bjk->bik', G, z)
    einsum('i,ij,j->', u, y, v)  einsum('bi,ij,bij->j', x, y, z)  einsum(' i , i -> i ', u, w)
    einsum('...i,i->...', z[..., :3], u)  einsum('...i->i', z)
linear  linear(x, y.T)  F.linear(x, y.T, v)  linear(u, x, bias=column[:, 0])  linear(z.mT, x)
trace  trace(M@M)  torch.trace(x)  (x@y[:, :2]).trace()
det  det(C)  torch.linalg.det(M)*a  G.det()  det(x@x.T)
logdet  logdet(C)  torch.logdet(M@M.T)  logdet(G)
inv  inv(C)  torch.linalg.inv(M)@u  G.inverse()  inv(x@x.T + eye(2))
solve  solve(C, column[:, 0])  torch.linalg.solve(M, y)  solve(M, u)@w
mse_loss  mse_loss(x, k)  F.mse_loss(x, k, reduction='sum')  mse_loss(x, row, reduction='none')
l1_loss  l1_loss(x, k)  l1_loss(u, w, reduction='sum')*a  l1_loss(x, k, reduction='none')
smooth_l1_loss  smooth_l1_loss(x, k)  smooth_l1_loss(x, k, reduction='sum', beta=0.5)
    F.smooth_l1_loss(x, k, beta=2.5, reduction='none')
huber_loss  huber_loss(x, k)  huber_loss(x, k, delta=0.5, reduction='sum')
    huber_loss(x, k, reduction='none', delta=2.5)
binary_cross_entropy  binary_cross_entropy(p, sigmoid(k))
    binary_cross_entropy(p, torch.tensor([[0., 1, 1], [1, 0, 0]]), reduction='sum')
    F.binary_cross_entropy(p, p**2, reduction='none')
binary_cross_entropy_with_logits  binary_cross_entropy_with_logits(x, p)
    binary_cross_entropy_with_logits(x, p, reduction='sum')  binary_cross_entropy_with_logits(x, p, reduction='none')
cross_entropy  cross_entropy(x, p)  cross_entropy(x, eye(3)[1:], reduction='none')
    F.cross_entropy(u[None], w[None], reduction='sum')  cross_entropy(z, z**2, reduction='none')
    cross_entropy(x, p, u)  cross_entropy(x, torch.tensor([2, 0]), reduction='none')
    F.cross_entropy(u, torch.tensor(1))*a
    cross_entropy(x, torch.tensor([2, 0]), label_smoothing=0.25, reduction='sum')
addmm  addmm(C, x, k.T)  torch.addmm(C, x, k.T, beta=0.5, alpha=2)
addmv  addmv(u, M, w)
addr  addr(M, u, w)  M.addr(u, w, alpha=3)
baddbmm  baddbmm(G, G, G)
addbmm  addbmm(M, G, G)
vecdot  torch.linalg.vecdot(x, k)  vecdot(x, k, dim=0)
cross  cross(u, w)  torch.linalg.cross(x, k, dim=-1)[1, 0]
array_dot  np.dot(x, y)  array_dot(u, z) as np.dot(u, z)  np.dot(u, u)*np.dot(2, u)
inner  inner(x, k)  torch.inner(u, u)*u  np.inner(y, z)
tensordot  tensordot(x, y, 1)
kron  kron(C, row)  torch.kron(u, v)
multi_dot  torch.linalg.multi_dot([x, M, u])
matrix_power  matrix_power(C, 3)  torch.linalg.matrix_power(C, -2)  matrix_power(M, -1)  C.matrix_power(0)*C
vander  vander(u) as stack([u**2, u, 1 + 0*u], 1)  torch.linalg.vander(u)  np.vander(u, 2)
cholesky  cholesky(M @ M.T)  torch.linalg.cholesky(C @ C.T + a*eye(2)*2)  torch.linalg.cholesky(M @ M.T, upper=True)
    cholesky(G @ G.mT)  torch.linalg.cholesky(G @ G.mT, upper=True)
pinv  pinv(x)  torch.linalg.pinv(x.T)
lstsq  torch.linalg.lstsq(x.T, k.T).solution  torch.linalg.lstsq(M, k.T).solution
solve_triangular  solve_triangular(M, k.T, upper=True)  torch.linalg.solve_triangular(M, x, upper=False, left=False)
    solve_triangular(M, k.T, upper=True, unitriangular=True)
triangular_solve  triangular_solve(k.T, M) as triangular_solve(k.T, M)[0]
cholesky_solve  cholesky_solve(k.T, tril(M))
cholesky_inverse  cholesky_inverse(tril(M))
slogdet  slogdet(M).logabsdet  torch.linalg.slogdet(-M)[1]
inv_ex  torch.linalg.inv_ex(C).inverse
cholesky_ex  torch.linalg.cholesky_ex(M @ M.T).L
solve_ex  torch.linalg.solve_ex(M, u).result
tensorinv  tensorinv(reshape(M[:2, :2], (2, 1, 2)), 1)
tensorsolve  tensorsolve(reshape(M, (3, 1, 3)), u)
householder_product  householder_product(M, w)  torch.linalg.householder_product(x.T, u[:2])
qr  qr(M).Q  torch.linalg.qr(M)[1]  torch.linalg.qr(x.T).R
matrix_norm  torch.linalg.matrix_norm(x)  matrix_norm(x, 2)  x.norm(p='nuc')  matrix_norm(x, -inf, keepdim=True)
eigvalsh  eigvalsh(M + M.T)  torch.linalg.eigvalsh(M @ M.T)[1]  np.linalg.eigvalsh(G + G.mT)
matrix_exp  torch.matrix_exp(M)  expm(-C) @ w[:2] as matrix_exp(-C) @ w[:2]  torch.linalg.matrix_exp(G)
svdvals  svdvals(x)  torch.linalg.svdvals(x.T)[-1]  svdvals(G)
eigenvectors  eigenvectors(M + M.T) as signed(torch.linalg.eigh(M + M.T)[1])
    eigenvectors(stack([C @ C.T, C + C.T])) as signed(torch.linalg.eigh(stack([C @ C.T, C + C.T]))[1])
with_eigenvalues  with_eigenvalues(M + M.T, w) as eigh(M + M.T)[1] @ diag(w) @ eigh(M + M.T)[1].T
    with_eigenvalues(G + G.mT, w) as eigh(G + G.mT)[1] * w @ eigh(G + G.mT)[1].mT
eigh  torch.linalg.eigh(C @ C.T).eigenvectors as signed(torch.linalg.eigh(C @ C.T)[1])
    L, V = eigh(M + M.T); V @ diag(L**2) @ V.T  np.linalg.eigh(M + M.T)[0]
right_singular_vectors  right_singular_vectors(M) as signed(svd(M).V)
left_singular_vectors  left_singular_vectors(x.T) as x.T @ signed(svd(x.T).V) / svdvals(x.T)
    left_singular_vectors(G) as G @ signed(svd(G).V) / svdvals(G)[:, None]
svd  torch.svd(x.T).V as signed(svd(x.T).V)  U, S, V = x.svd(); U @ diag(S**3) @ V.T
    svd(C, some=False)[0] as C @ signed(svd(C).V) / svdvals(C)
linalg_svd  torch.linalg.svd(C).Vh as signed(svd(C).V).T  np.linalg.svd(x, full_matrices=False)[1]
    U, S, Vh = torch.linalg.svd(x, full_matrices=False); U @ Vh
cond  torch.linalg.cond(x)  cond(M, -2)  cond(C, 'nuc')

== arithmetic as it is typed, of which nothing is simplified, and what combines it
neg  -x + x**2 - 1/w  torch.neg(x)*torch.add(x, w)
div  x/x + (x - x)*w  2**x - x/3 + 0*w  torch.sub(x, w)/torch.div(x, w)
pow  torch.pow(p, w)  sum(x**n for n in range(3)) as x**0 + x**1 + x**2
floor_divide  x // w as floor(x/w)
maximum  torch.maximum(x, w)*torch.minimum(x, w)  max(x, w)*sigmoid(x) as maximum(x, w)*sigmoid(x)
leaky_relu  leaky_relu(x, a) as where(x > 0, x, a*x)
fmax  fmax(x, k)
fmin  torch.fmin(x, k)
scaled_add  torch.add(x, k, alpha=2)  x.add(row, alpha=a)*x as (x + a*row)*x  scaled_add(x, k) as x + k
scaled_sub  torch.sub(x, k, alpha=2)  x.subtract(row, alpha=0.5)*x
rounded_div  torch.div(x, 2, rounding_mode='floor')*x  x.div(0.8, rounding_mode='trunc')*x
    torch.div(x, k, rounding_mode=None)
round_to  torch.round(x*1.234, decimals=2)*x  np.round(x*1.234, 1)*x
    round_to(123*x, -1)*x as round(123*x, decimals=-1)*x  np.around(1.1*x)*x
heaviside  heaviside(x, 1/2)*x as np.heaviside(x, 1/2)*x
cbrt  cbrt(x) as np.cbrt(x)
scaled_softplus  F.softplus(x, beta=2)  F.softplus(x*k, 0.5, 30)  F.softplus(x, threshold=25)
weighted_binary_cross_entropy
    F.binary_cross_entropy(p, 1 - p, weight=w) as (-w*((1 - p)*log(p) + p*log(1 - p))).mean()
weighted_binary_cross_entropy_with_logits
    F.binary_cross_entropy_with_logits(x, k, weight=w) as (w*(log(1 + exp(x)) - x*k)).mean()
    F.binary_cross_entropy_with_logits(x, k, pos_weight=w) as ((1 - k)*x + (1 + (w - 1)*k)*log(1 + exp(-x))).mean()
    F.binary_cross_entropy_with_logits(x, k, pos_weight=torch.tensor(3.), reduction='none')
isnan  where(isnan(x), 0, x**2)
isinf  where(x.isinf(), 0, x**2)
isfinite  where(torch.isfinite(x), x**2, 0)
rsub  rsub(x, a)  torch.rsub(x, k, alpha=2)
addcmul  addcmul(x, k, row)  x.addcmul(k, u, value=0.5)
addcdiv  torch.addcdiv(x, k, u, value=-2)
copysign  copysign(x, -k)
ldexp  ldexp(u, w)
float_power  torch.float_power(p, a)
logaddexp2  logaddexp2(x, k)
positive  torch.positive(x)*x  torch.real(x)*x.conj()
angle  angle(x)*x
fill  fill(x, a)
nan_to_num  nan_to_num(x)*x  x.nan_to_num(nan=1.0)

== functions that torch is asked for: layers, pools, norms, losses and the like
windows  v.unfold(0, 2, 1)  y.unfold(1, 2, 2)  windows(z, 2, 2, 1, 2) as z.unfold(2, 3, 1)[..., ::2]
conv1d  conv1d(z, G)  F.conv1d(z, G, b*u[:2], padding=1)
conv2d  conv2d(z, G[None, :, :2, :2])  F.conv2d(z[None], G[None], u[:1], stride=(1, 2), padding=(1, 0))
conv3d  conv3d(z[None, None], G[None, None, :, :2, :2])
conv_transpose1d  conv_transpose1d(z, G.transpose(0, 1))  conv_transpose1d(y, x.view(3, 1, 2), groups=3)
conv_transpose2d  conv_transpose2d(x[None], C[None, None])  conv_transpose2d(x[None], C[None, None], stride=2)
conv_transpose3d  conv_transpose3d(x[None, None], C[None, None, None])
avg_pool1d  avg_pool1d(y, 2)  F.avg_pool1d(z, 3, stride=1, padding=1, count_include_pad=False)
avg_pool2d  avg_pool2d(z, 2, 1)  avg_pool2d(z, 2, divisor_override=3)
avg_pool3d  avg_pool3d(z[None], 2)
max_pool1d  max_pool1d(y, 2)  F.max_pool1d(y, 3, stride=1, padding=1)
max_pool2d  max_pool2d(z, 2)  max_pool2d(z, 3, stride=2, padding=1)
max_pool3d  max_pool3d(z[None], 2)
adaptive_avg_pool1d  adaptive_avg_pool1d(y, 2)  adaptive_avg_pool1d(z, 3)
adaptive_avg_pool2d  F.adaptive_avg_pool2d(z, (2, 3))  adaptive_avg_pool2d(z, (None, 1))
adaptive_avg_pool3d  adaptive_avg_pool3d(z[None], 1)
adaptive_max_pool1d  adaptive_max_pool1d(y, 3)
adaptive_max_pool2d  adaptive_max_pool2d(z, (2, 2))
adaptive_max_pool3d  adaptive_max_pool3d(z[None], (1, 1, 2))
im2col  F.unfold(z[None], 2, padding=1)
fold  fold(C.view(4, 1), 2, 2)  F.fold(y[:, :2].reshape(2, 3), (1, 4), (1, 2))
normalize  normalize(x)  F.normalize(x, p=1, dim=0)
layer_norm  F.layer_norm(z, (3, 4), y, y**2, eps=0.5)  layer_norm(x, [3], bias=u)
rms_norm  rms_norm(x, (3,), w)  F.rms_norm(u, (3,), eps=0.1)
group_norm  group_norm(x, 1, w, u)  group_norm(z.reshape(2, 6, 2), 3)
batch_norm  batch_norm(x, None, None, training=True)  batch_norm(z, None, None, w, training=True)
instance_norm  instance_norm(z, weight=w, eps=0.01)
local_response_norm  local_response_norm(z, 2, alpha=0.5)
dropout  F.dropout(x, 0.3, training=False)*x  dropout(u, p=0)*a  dropout1d(x, training=False)**2
    F.dropout2d(z[None], training=False)**2  dropout3d(z[None], training=False)**2
alpha_dropout  alpha_dropout(x)**2  F.feature_alpha_dropout(x, 0.2)**2
celu  celu(x)  F.celu(x, 2.5)*a
threshold  threshold(x, 0.5, -2)
hardshrink  hardshrink(x)  F.hardshrink(x, lambd=1.15)
softshrink  softshrink(x)  softshrink(y, 1.2)
rrelu  rrelu(x)  F.rrelu(x, 0.1, 0.5, training=False)
prelu  prelu(x, u)  F.prelu(z, one)
glu  glu(y)  F.glu(z, dim=0)
softmin  softmin(x, 1)  F.softmin(u, dim=0)
scaled_dot_product_attention  scaled_dot_product_attention(x, k, y[:2])
    F.scaled_dot_product_attention(x, k, p, is_causal=True)
embedding  embedding(torch.tensor([2, 0, 2]), y)  F.embedding(torch.tensor([[1], torch.tensor([0])]), y)*a
rnn_tanh_cell  torch.rnn_tanh_cell(x, C, k, C.T)
rnn_relu_cell  rnn_relu_cell(x, C, k, C, w[:2])
gru_cell  gru_cell(x, column, y.T[:3], M[:, :1], u)
bilinear  bilinear(x, y[:2], G.reshape(2, 9)[:, :4].reshape(2, 1, 4)*u[:, None], v[:2])  F.bilinear(u, w, G)
pdist  pdist(x)  F.pdist(y, 1)
pixel_shuffle  pixel_shuffle(z[:, :2, :2].reshape(4, 1, 2), 2)
pixel_unshuffle  pixel_unshuffle(C[None], 2)  F.pixel_unshuffle(z[:, :2], 2)
channel_shuffle  channel_shuffle(y.T[None], 2)
interpolate  interpolate(z, scale_factor=2)  interpolate(z, 6, mode='nearest-exact')
    interpolate(x[None, None], (3, 2), mode='bilinear')  interpolate(z, 2, mode='area')
nll_loss  nll_loss(x, torch.tensor([2, 0]))  F.nll_loss(x, torch.tensor([1, 0]), ignore_index=1, reduction='sum')
kl_div  F.kl_div(x, k, reduction='none', log_target=True)  kl_div(x, p, reduction='batchmean')
poisson_nll_loss  poisson_nll_loss(x, p)  poisson_nll_loss(p, k, log_input=False, reduction='sum')
gaussian_nll_loss  gaussian_nll_loss(x, k, p)  F.gaussian_nll_loss(C, M[:2, :2], p[0, :2], full=True)
soft_margin_loss  soft_margin_loss(x, torch.tensor([[1, -1, 1], [-1, 1, -1]]))
hinge_embedding_loss  hinge_embedding_loss(p, torch.tensor([[1, -1, 1], [-1, 1, -1]]), 0.4)
    hinge_embedding_loss(u, torch.tensor([-1, 1, 1]), reduction='none')
margin_ranking_loss  margin_ranking_loss(u, w, p[0], reduction='none')
    margin_ranking_loss(x, k, torch.tensor([[1, -1, 1], [-1, 1, -1]]), margin=0.5)
cosine_embedding_loss  cosine_embedding_loss(x, k, torch.tensor([1, 1]))
    F.cosine_embedding_loss(x, p, torch.tensor([1, -1]), margin=-0.5, reduction='none')
triplet_margin_loss  triplet_margin_loss(x, k, p)  triplet_margin_loss(x, k, p, 3, reduction='none')
triplet_margin_with_distance_loss  triplet_margin_with_distance_loss(x, k, p, margin=2)
pairwise_distance  pairwise_distance(x, k)  F.pairwise_distance(x, k, p=1, keepdim=True)
multilabel_soft_margin_loss  multilabel_soft_margin_loss(x, p)
    F.multilabel_soft_margin_loss(x, p, w, reduction='none')
"""
)
