"""Layers and blocks of networks, as people write them; each with its arguments."""

import math

import torch
from torch import nn

from tests.parts.running.pieces import D, F, T, U, piece


def made(module):
    """A module in double precision, with the same weights at each call."""
    generator = torch.Generator().manual_seed(3)
    module = module.double()
    for p in module.parameters():
        p.data = torch.randn(p.shape, generator=generator, dtype=D) * 0.5
    return module


@piece(T(1, 3, 4))
def attention_by_hand(x):
    q, k, v = made(nn.Linear(4, 12))(x).chunk(3, -1)
    att = (q @ k.transpose(-2, -1)) / math.sqrt(4)
    att = att.masked_fill(torch.tril(torch.ones(3, 3)) == 0, float("-inf"))
    return (F.softmax(att, dim=-1) @ v).sum()


@piece(T(1, 3, 4))
def multi_head_by_einsum(x):
    w = torch.linspace(-1, 1, 32, dtype=D).view(2, 4, 4)
    q = torch.einsum("bnd,hde->bhne", x, w)
    k = torch.einsum("bnd,hde->bhne", x, w.flip(0))
    a = torch.einsum("bhne,bhme->bhnm", q, k).softmax(-1)
    return torch.einsum("bhnm,bhme->bnhe", a, q).flatten(2).pow(2).sum()


@piece(T(1, 3, 4))
def attention_of_torch(x):
    q, k, v = (t.view(1, 3, 2, 2).transpose(1, 2) for t in (x, x.sin(), x.cos()))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).pow(2).sum()


@piece(T(2, 1, 4))
def multihead_module(x):
    out, weights = made(nn.MultiheadAttention(4, 2))(x, x, x)
    return out.sum() + weights.pow(2).sum()


@piece(T(1, 3, 4))
def linear_attention(x):
    q, k = F.elu(x) + 1, F.elu(x.flip(1)) + 1
    kv = torch.einsum("nsd,nsm->ndm", k, x)
    z = 1 / (torch.einsum("nld,nd->nl", q, k.sum(1)) + 1e-6)
    return torch.einsum("nld,ndm,nl->nlm", q, kv, z).sum()


@piece(T(1, 3, 4))
def alibi(x):
    bias = -(torch.arange(3)[None] - torch.arange(3)[:, None]).abs().to(D) * 0.5
    return ((x @ x.transpose(1, 2) + bias).softmax(-1) @ x).pow(2).mean()


@piece(T(1, 2, 3, 4))
def rotary_half(x):
    inv = 1.0 / (100 ** (torch.arange(0, 4, 2, dtype=D) / 4))
    emb = torch.outer(torch.arange(3, dtype=D), inv).repeat(1, 2)
    x1, x2 = x[..., :2], x[..., 2:]
    rotated = torch.cat((-x2, x1), dim=-1)
    return (x * emb.cos() + rotated * emb.sin()).pow(3).sum()


@piece(T(1, 3, 4))
def rotary_complex(x):
    freqs = torch.polar(
        torch.ones(3, 2, dtype=D), torch.outer(torch.arange(3, dtype=D), torch.tensor([1.0, 0.1], dtype=D))
    )
    z = torch.view_as_complex(x.reshape(1, 3, 2, 2))
    return torch.view_as_real(z * freqs).flatten(2).pow(3).sum()


@piece(T(2, 3))
def rms_norm_in_the_middle(x):
    var = x.pow(2).mean(-1, keepdim=True)
    return (torch.tensor([1.0, 2.0, 0.5], dtype=D) * (x * torch.rsqrt(var + 1e-6))).sum()


@piece(T(2, 4, 3))
def group_norm_by_hand(x):
    y = x.view(2, 2, -1)
    y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
    return y.view_as(x).pow(3).sum()


@piece(T(2, 4))
def layer_norm_block(x):
    return made(nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 2)))(x).sum()


@piece(T(1, 2, 3, 3))
def instance_norm(x):
    return F.instance_norm(x).pow(3).sum()


@piece(T(1, 4, 3, 3))
def squeeze_and_excite(x):
    s = x.mean((2, 3))
    s = torch.sigmoid(made(nn.Linear(2, 4))(F.relu(made(nn.Linear(4, 2))(s) + 5)))
    return (x * s[:, :, None, None]).sum()


@piece(T(1, 2, 4, 4))
def depthwise_separable(x):
    x = made(nn.Conv2d(2, 2, 3, groups=2, padding=1))(x)
    return made(nn.Conv2d(2, 3, 1))(F.hardswish(x)).mean()


@piece(T(1, 2, 3, 3))
def pixel_shuffle_upsample(x):
    y = F.pixel_shuffle(made(nn.Conv2d(2, 4, 1))(x), 2)
    return F.interpolate(y, scale_factor=0.5, mode="bilinear", align_corners=False).pow(2).sum()


@piece(T(1, 1, 4, 4))
def unet_of_one_level(x):
    down = F.max_pool2d(torch.tanh(made(nn.Conv2d(1, 2, 3, padding=1))(x)), 2)
    up = made(nn.ConvTranspose2d(2, 1, 2, stride=2))(down)
    return torch.cat([x, up], 1).pow(2).sum()


@piece(T(1, 2, 6))
def temporal_block(x):
    conv = made(nn.Conv1d(2, 2, 3, padding=4, dilation=2))
    y = conv(x)[:, :, :-4].contiguous()
    return F.leaky_relu(y + x).sum()


@piece(T(2, 3))
def lora(x):
    a, b = torch.linspace(-1, 1, 6, dtype=D).view(2, 3), torch.linspace(1, 2, 6, dtype=D).view(3, 2)
    return (made(nn.Linear(3, 3))(x) + (x @ a.T @ b.T) * 0.5).pow(2).sum()


@piece(T(2, 4))
def swiglu(x):
    w1, w2 = made(nn.Linear(4, 6, bias=False)), made(nn.Linear(6, 4, bias=False))
    w3 = made(nn.Linear(4, 6, bias=False))
    return w2(F.silu(w1(x)) * w3(x)).sum()


@piece(T(2, 4))
def gated_linear_unit(x):
    return F.glu(made(nn.Linear(4, 6))(x), dim=-1).pow(2).sum()


@piece(T(2, 3))
def highway(x):
    t = torch.sigmoid(made(nn.Linear(3, 3))(x) - 1)
    return (t * torch.tanh(x) + (1 - t) * x).sum()


@piece(T(4, 3), T(3, 3))
def mixture_of_all_experts(x, gate):
    probs = (x @ gate).softmax(-1)
    top, idx = probs.topk(2, dim=-1)
    top = top / top.sum(-1, keepdim=True)
    out = torch.zeros_like(x)
    for e in range(3):
        rows, which = torch.where(idx == e)
        out[rows] += top[rows, which, None] * torch.tanh(x[rows] * (e + 1))
    return out.sum()


@piece(torch.tensor([[1.0, 1.0, 0.0], [0.2, 0.1, 0.0]], dtype=D), verdict="kink")
def routing_at_a_tie(x):
    return x.softmax(-1).max(-1).values.sum()


@piece(T(4, 3))
def load_balancing(logits):
    probs = logits.softmax(-1)
    chosen = F.one_hot(probs.argmax(-1), 3).to(D)
    return 3 * (chosen.mean(0) * probs.mean(0)).sum()


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, g):
        return g


@piece(T(4), verdict="disagree")
def quantizer_by_a_function(w):
    scale = 0.25
    return (Round.apply(w / scale) * scale).pow(2).sum()


@piece(T(4), verdict="cut")
def quantizer_by_detach(w):
    q = torch.round(w * 8) / 8
    return (w + (q - w).detach()).pow(2).sum()


@piece(T(4), verdict="cut")
def binary_weights(w):
    signs = torch.sign(w)
    return (w + (signs - w).detach()).mul(torch.arange(1.0, 5.0, dtype=D)).sum()


@piece(T(4), verdict="cut")
def spikes_with_a_surrogate(v):
    soft = torch.sigmoid(4 * v)
    return ((v > 0).to(D) - soft).detach().add(soft).sum()


@piece(T(4))
def soft_argmax(x):
    return (F.softmax(2 * x, 0) * torch.arange(4, dtype=D)).sum()


@piece(T(3, 2), T(2, 2))
def vector_quantizer_loss(z, codes):
    d = (z[:, None] - codes[None]).pow(2).sum(-1)
    return (z - codes[d.argmin(1)]).pow(2).mean()


@piece(T(3, 2), T(4, 2))
def prototypes(x, support):
    labels = torch.tensor([0, 1, 0, 1])
    centers = torch.stack([support[labels == c].mean(0) for c in range(2)])
    return F.log_softmax(-(torch.cdist(x, centers) ** 2), 1)[:, 0].sum()


@piece(T(2, 3))
def gru_cell_by_hand(x):
    h = torch.zeros(2, 3, dtype=D)
    lin = made(nn.Linear(6, 6))
    cand = made(nn.Linear(6, 3))
    for _ in range(3):
        z, r = torch.sigmoid(lin(torch.cat([x, h], 1))).chunk(2, 1)
        h = (1 - z) * h + z * torch.tanh(cand(torch.cat([x, r * h], 1)))
    return h.sum()


@piece(T(3, 1, 2))
def gru_of_torch(x):
    out, h = made(nn.GRU(2, 3))(x)
    return out.sum() + h.pow(2).sum()


@piece(T(1, 4, 2))
def lstm_of_two_layers(x):
    out, (h, c) = made(nn.LSTM(2, 2, num_layers=2, batch_first=True))(x)
    return out[:, -1].sum() + (h * c).sum()


@piece(torch.randn(3, 1, 2, generator=torch.Generator().manual_seed(5)))
def lstm_in_float32(x):
    torch.manual_seed(1)
    return nn.LSTM(2, 3)(x)[0].pow(2).sum()


@piece(T(1, 4, 2))
def state_space_scan(u):
    a = torch.tensor([0.9, 0.5], dtype=D)
    h, ys = torch.zeros(1, 2, dtype=D), []
    for t in range(4):
        delta = F.softplus(u[:, t])
        h = torch.exp(-delta * a) * h + delta * u[:, t]
        ys.append((h * torch.tensor([1.0, -2.0], dtype=D)).sum(-1))
    return torch.stack(ys, 1).pow(2).sum()


@piece(T(4, 2))
def graph_convolution(x):
    adj = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], dtype=D)
    a = adj + torch.eye(4, dtype=D)
    d = a.sum(1).rsqrt()
    return torch.tanh(d[:, None] * a * d[None] @ made(nn.Linear(2, 2))(x)).sum()


@piece(T(4, 2))
def graph_attention(x):
    src, dst = torch.tensor([0, 1, 2, 3, 1]), torch.tensor([1, 0, 1, 2, 3])
    e = F.leaky_relu((x[src] * x[dst]).sum(-1), 0.2).exp()
    denom = torch.zeros(4, dtype=D).scatter_add(0, dst, e)
    out = torch.zeros_like(x).index_add(0, dst, x[src] * (e / denom[dst])[:, None])
    return out.pow(2).sum()


@piece(T(5, 3))
def segment_max_pool(x):
    index = torch.tensor([0, 0, 1, 2, 2])[:, None].expand(-1, 3)
    return torch.zeros(3, 3, dtype=D).scatter_reduce(0, index, x, "amax", include_self=False).sum()


@piece(T(2, 2), T(1, 1, 3, 3))
def sampled_grid(shift, img):
    theta = torch.eye(2, 3, dtype=D) + 0.1 * torch.cat([shift, shift[:, :1]], 1)
    grid = F.affine_grid(theta[None], [1, 1, 3, 3], align_corners=False)
    return F.grid_sample(img, grid, align_corners=False).pow(2).sum()


@piece(T(3))
def fourier_features(x):
    b = torch.tensor([[1.0, 2.0, 4.0]], dtype=D)
    proj = 2 * math.pi * x[:, None] * b
    return torch.cat([proj.sin(), proj.cos()], -1).mean(1).prod()


@piece(T(4))
def timestep_embedding(t):
    freqs = torch.exp(-math.log(100) * torch.arange(3, dtype=D) / 3)
    args = t[:, None] * freqs[None]
    return torch.cat([args.cos(), args.sin()], dim=-1).pow(3).sum()


@piece(T(2, 8))
def spectral_mixing(x):
    ft = torch.fft.rfft(x)
    w = torch.complex(torch.linspace(0, 1, 5, dtype=D), torch.linspace(1, 0, 5, dtype=D))
    return torch.fft.irfft(ft * w, n=8).pow(2).sum()


@piece(T(1, 2, 4))
def fnet(x):
    return torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real.pow(2).mean()


@piece(T(3, 4))
def stochastic_depth(x):
    keep = 0.8
    torch.manual_seed(4)
    mask = x.new_empty(3, 1).bernoulli_(keep)
    return (x.sin() * mask / keep + x).sum()


@piece(T(3, 4))
def gaussian_noise_layer(x):
    return (x + 0.1 * torch.randn_like(x)).pow(2).sum()


@piece(T(3, 4))
def dropout_module(x):
    return nn.Dropout(0.5)(x).pow(2).sum()


@piece(T(2, 3), T(3))
def prelu_and_friends(x, a):
    return F.prelu(x, a.abs()).sum() + F.celu(x).sum() + F.mish(x).sum() + F.softsign(x).sum()


@piece(T(4), U(1))
def snake_activation(x, a):
    return (x + (1 / a) * torch.sin(a * x) ** 2).sum()


@piece(torch.tensor([1.0, 0.0, -1.0], dtype=D), verdict="kink")
def relu_of_a_dead_unit(x):
    return nn.ReLU()(x).sum()


@piece(torch.tensor([3.0, 0.5, -3.0], dtype=D), verdict="kink")
def hardtanh_at_its_end(x):
    return F.hardtanh(x * 2, -6.0, 6.0).sum()


@piece(T(2, 2, 2), verdict="cut")
def running_normalizer(x):
    return made(nn.BatchNorm1d(2, momentum=None))(x).pow(3).sum() + x.mean().item() * x.sum()


@piece(T(1, 3, 2))
def transformer_layer(x):
    torch.manual_seed(0)
    return nn.TransformerEncoderLayer(2, 1, 3, dropout=0.0, batch_first=True).double()(x).pow(2).sum()


@piece(T(2, 3), T(2, 3), T(4, 3, 3))
def bilinear_of_torch(a, b, w):
    return F.bilinear(a, b, w).pow(2).sum()


@piece(T(3))
def hypernetwork(z):
    w = torch.tanh(made(nn.Linear(3, 6))(z)).view(2, 3)
    return F.linear(torch.ones(1, 3, dtype=D), w).pow(2).sum()


@piece(T(2, 3))
def cosine_router(x):
    centers = torch.eye(3, dtype=D)
    return F.cosine_similarity(x[:, None], centers[None], dim=-1).softmax(-1).max(-1).values.sum()


@piece(T(4, 4))
def patch_embedding(img):
    patches = img.unfold(0, 2, 2).unfold(1, 2, 2).reshape(4, 4)
    return made(nn.Linear(4, 2))(patches).tanh().sum()


@piece(T(4, 4))
def shifted_windows(x):
    y = torch.roll(x, shifts=(-1, -1), dims=(0, 1))
    windows = y.view(2, 2, 2, 2).permute(0, 2, 1, 3).reshape(4, 4)
    return (windows.softmax(-1) * windows).sum()


@piece(T(3, 3))
def rolled_without_dimension(x):
    return (torch.roll(x, 1) * x).sum()


# -- what is not read, or not decided


@piece(T(4, 1, 3))
def ctc_of_torch(logits):
    logp = logits.log_softmax(-1)
    return F.ctc_loss(logp, torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2]))


@piece(T(2, 3, 2))
def packed_sequences(x):
    packed = nn.utils.rnn.pack_padded_sequence(x, [3, 2], batch_first=True)
    return made(nn.GRU(2, 2, batch_first=True))(packed)[1].sum()


@piece(T(3, 3))
def spectral_radius(w):
    return torch.linalg.eigvals(w).abs().max()


@piece(T(3, 2))
def sparse_adjacency(x):
    places = torch.tensor([[0, 1, 2], [1, 0, 2]])
    adjacency = torch.sparse_coo_tensor(places, torch.ones(3, dtype=D), (3, 3))
    return torch.sparse.mm(adjacency, x).pow(2).sum()


@piece(T(3))
def tangent_of_complex(x):
    return torch.tan(torch.complex(x, x)).abs().sum()
