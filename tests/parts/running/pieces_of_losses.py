"""Losses and layers, as people write them; each with its arguments."""

import math

import torch
from torch import nn

from tests.parts.running.pieces import D, F, T, piece

# -- losses


@piece(T(4, 3), T(4, 3))
def info_nce(z1, z2):
    z = torch.cat([F.normalize(z1, dim=-1), F.normalize(z2, dim=-1)])
    sim = z @ z.t() / 0.5
    sim.fill_diagonal_(-1e9)
    n = z1.size(0)
    labels = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, labels)


@piece(T(4, 3))
def ctc_forward(logits):
    """Sum over alignments of the label 'ab', with blanks, in log space."""
    logp = logits.log_softmax(-1)
    ext = [0, 1, 0, 2, 0]
    alpha = [logp[0, 0], logp[0, 1]] + [torch.tensor(-1e30, dtype=logp.dtype)] * 3
    for t in range(1, logp.shape[0]):
        new = []
        for s in range(len(ext)):
            paths = [alpha[s]] + ([alpha[s - 1]] if s > 0 else [])
            if s > 1 and ext[s] != 0 and ext[s] != ext[s - 2]:
                paths.append(alpha[s - 2])
            new.append(torch.logsumexp(torch.stack(paths), 0) + logp[t, ext[s]])
        alpha = new
    return -torch.logaddexp(alpha[-1], alpha[-2])


@piece(T(2, 4), T(4, 2), T(2, 4))
def elbo(x, w, noise):
    enc = x @ w
    mu, logvar = enc, 0.1 * enc
    std = torch.exp(0.5 * logvar)
    z = mu + noise[:, :2] * std
    recon = torch.sigmoid(z @ w.t())
    bce = F.binary_cross_entropy(recon, torch.sigmoid(x), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


@piece(T(6))
def lovasz_hinge(logits):
    labels = torch.tensor([1.0, 0, 1, 1, 0, 0], dtype=logits.dtype)
    signs = 2.0 * labels - 1.0
    errors = 1.0 - logits * signs
    errors_sorted, perm = torch.sort(errors, dim=0, descending=True)
    gt_sorted = labels[perm]
    gts = gt_sorted.sum()
    jaccard = 1.0 - (gts - gt_sorted.cumsum(0)) / (gts + (1.0 - gt_sorted).cumsum(0))
    jaccard[1:] = jaccard[1:] - jaccard[:-1].clone()
    return torch.dot(F.relu(errors_sorted), jaccard)


@piece(T(4), T(4))
def policy_gradient(logits, advantage):
    dist = torch.distributions.Categorical(logits=logits)
    logp = torch.stack([dist.log_prob(torch.tensor(a)) for a in (0, 2, 3, 2)])
    return -(logp * advantage).mean() - 0.01 * dist.entropy()


@piece(torch.tensor([0.5, 0.0, -2.0], dtype=D), verdict="kink")
def l1_penalty(w):
    return ((w - 1) ** 2).sum() + 0.1 * w.abs().sum()


@piece(torch.tensor([1.0, 2.0, 2.0], dtype=D), verdict="kink")
def largest_of_a_tie(x):
    return x.max() * 2


@piece(torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=D), verdict="kink")
def group_lasso(w):
    return sum(torch.sqrt((row**2).sum()) if row.any() else row.norm() for row in w)


@piece(torch.tensor([0.3, 1.0], dtype=D), verdict="kink")
def huber_at_its_edge(x):
    return torch.where(x < 1, x, 2 * x - 1).sum()


# -- layers


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.float()).type_as(x)
        return output * self.weight


@piece(T(2, 4).float().exp())
def rms_norm(x):
    return RMSNorm(4)(x).sin().sum()


@piece(T(3, 4))
def rotary_interleaved(x):
    theta = torch.outer(torch.arange(3, dtype=D), torch.tensor([1.0, 0.01], dtype=D))
    xc = torch.view_as_complex(x.reshape(3, 2, 2))
    out = xc * torch.polar(torch.ones_like(theta), theta)
    return torch.view_as_real(out).flatten(1)


class SqueezeExcite(nn.Module):
    def __init__(self, c, r=2):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(nn.Linear(c, c // r), nn.ReLU(inplace=True), nn.Linear(c // r, c), nn.Sigmoid())

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.pool(x).view(b, c)
        y = self.fc(y).view(b, c, 1, 1)
        return x * y.expand_as(x)


@piece(T(1, 4, 3, 3).float())
def squeeze_excite(x):
    torch.manual_seed(11)
    return SqueezeExcite(4)(x).pow(2).sum()


@piece(T(3, 4), T(4, 3))
def moe_top2(x, gate):
    torch.manual_seed(12)
    experts = nn.ModuleList([nn.Linear(4, 2).double() for _ in range(3)])
    scores = F.softmax(x @ gate, dim=-1)
    weights, chosen = torch.topk(scores, 2, dim=-1)
    weights = weights / weights.sum(-1, keepdim=True)
    out = torch.zeros(3, 2, dtype=D)
    for e, expert in enumerate(experts):
        rows, slot = torch.where(chosen == e)
        out[rows] += weights[rows, slot, None] * expert(x[rows])
    return out


@piece(T(2, 3))
def weight_norm_of_torch(x):
    torch.manual_seed(14)
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2).double())
    return layer(x).pow(2).sum()


@piece(T(3, 2), verdict="cut")
def spectral_norm_of_one_step(w):
    u = torch.ones(3, dtype=D) / math.sqrt(3)
    with torch.no_grad():
        v = F.normalize(w.t() @ u, dim=0)
        u = F.normalize(w @ v, dim=0)
    return (w / (u @ w @ v)).sum()


class BatchNormByHand(nn.Module):
    def __init__(self, num_features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.zeros(num_features, dtype=D))
        self.register_buffer("running_var", torch.ones(num_features, dtype=D))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0, unbiased=False)
            with torch.no_grad():
                self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
                self.running_var.mul_(1 - self.momentum).add_(self.momentum * var)
        else:
            mean, var = self.running_mean, self.running_var
        return (x - mean) / torch.sqrt(var + self.eps)


@piece(T(4, 2), verdict="cut")  # the running mean depends on x
def batch_norm_by_hand(x):
    norm = BatchNormByHand(2)
    y = norm(x)
    norm.eval()
    return y.tanh() + norm(x.detach() * 0 + 1)


@piece(T(2, 4))
def dropout_of_torch(x):
    torch.manual_seed(16)
    return nn.Sequential(nn.Dropout(0.5), nn.Tanh(), nn.AlphaDropout(0.2).eval())(x).sum()


@piece(T(2, 3), T(2, 3))
def bilinear_film(x, cond):
    torch.manual_seed(17)
    film = nn.Linear(3, 6).double()
    gamma, beta = torch.split(film(cond), 3, dim=-1)
    mixed = nn.Bilinear(3, 3, 2).double()(x, cond)
    return torch.cat([gamma * x + beta, mixed], dim=-1)


@piece(T(5, 3))
def embedding_bag(weight):
    ids = torch.tensor([1, 4, 4, 0])
    return F.embedding_bag(ids, weight, torch.tensor([0, 2]), mode="sum")


@piece(T(1, 1, 3, 3), T(2, 3))
def spatial_transformer(img, theta):
    grid = F.affine_grid(theta.view(1, 2, 3) * 0.2, (1, 1, 3, 3), align_corners=False)
    return F.grid_sample(img, grid, align_corners=False).pow(2).sum()


# -- recurrent


@piece(T(2, 3, 2))
def bidirectional_rnn(x):
    torch.manual_seed(22)
    rnn = nn.GRU(2, 2, bidirectional=True, batch_first=True).double()
    out, hn = rnn(x)
    return out[:, -1].sum() + hn.pow(2).mean()


# -- models


@piece(T(2, 4), verdict="cut")
def vq_straight_through(z):
    book = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 1], [-1, -1, 0, 0]], dtype=D)
    idx = torch.cdist(z, book).argmin(dim=1)
    quantized = book[idx]
    commit = F.mse_loss(z, quantized.detach())
    st = z + (quantized - z).detach()
    return (st**2).sum() + commit


@piece(T(4), verdict="cut")
def gumbel_softmax_hard(logits):
    torch.manual_seed(29)
    return F.gumbel_softmax(logits, tau=0.7, hard=True) @ torch.arange(4.0, dtype=D)


@piece(T(4, 2))
def message_passing(x):
    src, dst = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
    msg = torch.tanh(x[src] - x[dst])
    agg = torch.zeros_like(x).index_add_(0, dst, msg)
    best = torch.full((4, 2), float("-inf"), dtype=D).scatter_reduce(0, dst[:, None].expand(-1, 2), msg, "amax")
    return x + agg * best
