"""Losses and regularizers of training loops, as people write them; each with its arguments."""

import math

import torch
from torch import nn

from tests.parts.running.pieces import D, F, T, U, piece

LABELS = torch.tensor([0, 2, 1, 2])
TRUTH = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], dtype=D)
MASK = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=torch.bool)


def at(*numbers):
    return torch.tensor(numbers, dtype=D)


# -- classification


@piece(T(4, 3))
def focal_loss(logits):
    ce = F.cross_entropy(logits, LABELS, reduction="none")
    pt = torch.exp(-ce)
    return (0.25 * (1 - pt) ** 2 * ce).mean()


@piece(T(6))
def sigmoid_focal_loss(logits):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, TRUTH, reduction="none")
    p_t = p * TRUTH + (1 - p) * (1 - TRUTH)
    alpha_t = 0.25 * TRUTH + 0.75 * (1 - TRUTH)
    return (alpha_t * (1 - p_t) ** 2.0 * ce).sum() / TRUTH.sum()


@piece(T(2, 1, 3, 3))
def dice_loss(logits):
    target = torch.zeros(2, 1, 3, 3, dtype=D)
    target[:, :, 1:] = 1
    probs = logits.sigmoid()
    dims = (1, 2, 3)
    intersection = (probs * target).sum(dims)
    union = probs.sum(dims) + target.sum(dims)
    return 1 - ((2 * intersection + 1) / (union + 1)).mean()


@piece(T(6))
def tversky_loss(logits):
    p = logits.sigmoid().view(-1)
    tp = (p * TRUTH).sum()
    fp = ((1 - TRUTH) * p).sum()
    fn = (TRUTH * (1 - p)).sum()
    return (1 - (tp + 1) / (tp + 0.3 * fp + 0.7 * fn + 1)) ** 0.75


@piece(T(6))
def soft_iou(logits):
    p = torch.sigmoid(logits)
    inter = torch.sum(p * TRUTH)
    return 1.0 - inter / (p.sum() + TRUTH.sum() - inter)


@piece(T(4, 3))
def label_smoothing_by_hand(logits):
    n = logits.size(-1)
    logp = F.log_softmax(logits, dim=-1)
    with torch.no_grad():
        target = torch.full_like(logp, 0.1 / (n - 1))
        target.scatter_(1, LABELS.unsqueeze(1), 0.9)
    return torch.mean(torch.sum(-target * logp, dim=-1))


@piece(T(4, 3))
def poly_loss(logits):
    onehot = F.one_hot(LABELS, num_classes=3).to(logits.dtype)
    pt = (onehot * F.softmax(logits, -1)).sum(-1)
    return (F.cross_entropy(logits, LABELS, reduction="none") + 2.0 * (1 - pt)).mean()


@piece(T(4, 3))
def symmetric_cross_entropy(logits):
    pred = F.softmax(logits, dim=1)
    onehot = F.one_hot(LABELS, 3).double()
    rce = -torch.sum(pred * torch.log(onehot.clamp(min=1e-4)), dim=1)
    return 0.1 * F.cross_entropy(logits, LABELS) + rce.mean()


@piece(T(4, 3), T(4, 3))
def distillation(student, teacher):
    temperature = 3.0
    soft = F.kl_div(
        F.log_softmax(student / temperature, -1), F.softmax(teacher / temperature, -1), reduction="batchmean"
    )
    return soft * temperature**2 + F.cross_entropy(student, LABELS)


@piece(T(4, 3), T(4, 3), verdict="cut")
def distillation_of_a_detached_teacher(student, teacher):
    soft = F.kl_div(student.log_softmax(-1), teacher.detach().softmax(-1), reduction="batchmean")
    return soft + F.cross_entropy(teacher, LABELS)


@piece(T(4, 3))
def mixup(logits):
    lam = 0.3
    perm = torch.tensor([2, 0, 3, 1])
    return lam * F.cross_entropy(logits, LABELS) + (1 - lam) * F.cross_entropy(logits, LABELS[perm])


@piece(T(4, 3), T(3, 3))
def arcface(features, weight):
    cosine = F.linear(F.normalize(features), F.normalize(weight))
    theta = torch.acos(torch.clamp(cosine, -1.0 + 1e-7, 1.0 - 1e-7))
    onehot = torch.zeros_like(cosine)
    onehot.scatter_(1, LABELS.view(-1, 1), 1.0)
    output = onehot * torch.cos(theta + 0.5) + (1.0 - onehot) * cosine
    return F.cross_entropy(output * 4.0, LABELS)


@piece(T(4, 3))
def entropy_regularized(logits):
    p = logits.softmax(-1)
    return F.cross_entropy(logits, LABELS) - 0.1 * -(p * p.log()).sum(-1).mean()


@piece(T(4, 3))
def class_balanced(logits):
    counts = torch.bincount(LABELS, minlength=3).to(D)
    effective = 1.0 - 0.99**counts
    weights = 0.01 / effective
    weights = weights / weights.sum() * 3
    return F.cross_entropy(logits, LABELS, weight=weights)


@piece(T(4, 3))
def ignoring_padding(logits):
    target = LABELS.clone()
    target[1] = -100
    return F.cross_entropy(logits, target, ignore_index=-100)


@piece(T(4, 3))
def nll_by_gather(logits):
    return -logits.log_softmax(1).gather(1, LABELS[:, None]).squeeze(1).mean()


@piece(T(4, 3))
def nll_by_index(logits):
    logp = logits - logits.logsumexp(1, keepdim=True)
    return -logp[range(4), LABELS].sum()


@piece(T(4, 3))
def multi_margin(logits):
    correct = logits[torch.arange(4), LABELS].unsqueeze(1)
    margins = torch.clamp(logits - correct + 1, min=0)
    margins[torch.arange(4), LABELS] = 0
    return margins.sum() / 4


@piece(T(4, 3))
def bce_of_logits_by_hand(logits):
    target = F.one_hot(LABELS, 3).double()
    top = logits.clamp(min=0)
    return (top - logits * target + (1 + (-logits.abs()).exp()).log()).mean()


@piece(at(2.0, 0.0, -1.0), verdict="kink")
def clamped_at_zero(logits):
    return torch.clamp(logits, min=0).sum()


# -- regression


@piece(at(0.3, -2.0, 1.4))
def huber_by_masks(error):
    small = (error.abs() < 1.0).to(error.dtype)
    return (small * 0.5 * error**2 + (1 - small) * (error.abs() - 0.5)).sum()


@piece(at(0.3, -2.0, 1.4))
def huber_by_where(error):
    a = error.abs()
    return torch.where(a < 1.0, 0.5 * a**2, a - 0.5).mean()


@piece(T(5))
def pinball(pred):
    target = torch.linspace(-1, 1, 5, dtype=D)
    losses = []
    for q in (0.1, 0.5, 0.9):
        errors = target - pred
        losses.append(torch.max((q - 1) * errors, q * errors).unsqueeze(1))
    return torch.mean(torch.sum(torch.cat(losses, dim=1), dim=1))


@piece(at(1.0, 0.5, 0.25), verdict="kink")
def mean_absolute_error_at_its_target(pred):
    return (pred - at(1.0, 0.0, 0.0)).abs().mean()


@piece(T(5))
def log_cosh(pred):
    x = pred - 0.3
    return (x + F.softplus(-2.0 * x) - math.log(2.0)).mean()


@piece(T(5), U(5))
def gaussian_nll(mean, var):
    target = torch.linspace(-1, 1, 5, dtype=D)
    return 0.5 * (torch.log(var) + (target - mean) ** 2 / var).mean()


@piece(T(3), T(3), T(3))
def mixture_density(logits, mu, log_sigma):
    y = torch.tensor(0.4, dtype=D)
    logp = -0.5 * ((y - mu) / log_sigma.exp()) ** 2 - log_sigma - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(F.log_softmax(logits, 0) + logp, dim=0)


@piece(U(4))
def mean_squared_log_error(pred):
    target = at(0.5, 1.0, 2.0, 3.0)
    return ((torch.log1p(pred) - torch.log1p(target)) ** 2).mean().sqrt()


@piece(T(6))
def r_squared(pred):
    y = torch.linspace(0, 1, 6, dtype=D)
    return 1 - ((y - pred) ** 2).sum() / ((y - y.mean()) ** 2).sum()


@piece(T(6))
def pearson(x):
    y = torch.linspace(0, 1, 6, dtype=D) ** 2
    vx, vy = x - x.mean(), y - y.mean()
    return 1 - (vx * vy).sum() / (vx.pow(2).sum().sqrt() * vy.pow(2).sum().sqrt())


@piece(T(4), T(4))
def concordance_index_of_pairs(risk, _unused_bias):
    time = at(1.0, 3.0, 2.0, 4.0)
    i, j = (time[:, None] < time[None, :]).nonzero(as_tuple=True)
    return -F.logsigmoid(risk[i] - risk[j]).mean()


@piece(T(4))
def cox_partial_likelihood(risk):
    event = torch.tensor([1, 0, 1, 1], dtype=D)
    order = torch.argsort(at(3.0, 1.0, 2.0, 4.0), descending=True)
    risk, event = risk[order], event[order]
    return -((risk - torch.logcumsumexp(risk, 0)) * event).sum() / event.sum()


# -- metric learning


@piece(T(2, 3), T(2, 3), T(2, 3))
def triplet(anchor, positive, negative):
    d_pos = (anchor - positive).pow(2).sum(1)
    d_neg = (anchor - negative).pow(2).sum(1)
    return F.relu(d_pos - d_neg + 5.0).mean()


@piece(T(4, 3))
def hardest_triplet(embeddings):
    labels = torch.tensor([0, 0, 1, 1])
    distance = torch.cdist(embeddings, embeddings + 0.1)
    same = labels[:, None] == labels[None, :]
    hardest_positive = (distance * same).max(dim=1)[0]
    hardest_negative = (distance + 1e3 * same).min(dim=1)[0]
    return F.softplus(hardest_positive - hardest_negative).mean()


@piece(T(3, 4), T(3, 4))
def clip_loss(image, text):
    image, text = F.normalize(image, dim=-1), F.normalize(text, dim=-1)
    logits = image @ text.t() * math.exp(0.7)
    labels = torch.arange(3)
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


@piece(T(4, 3), T(4, 3))
def nt_xent_by_mask(z1, z2):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = torch.exp(z @ z.T / 0.5)
    mask = ~torch.eye(8, dtype=torch.bool)
    positives = torch.exp((F.normalize(z1) * F.normalize(z2)).sum(-1) / 0.5).repeat(2)
    return -torch.log(positives / sim.masked_select(mask).view(8, -1).sum(-1)).mean()


@piece(T(3, 3), T(3, 3))
def barlow_twins(a, b):
    a, b = (a - a.mean(0)) / a.std(0), (b - b.mean(0)) / b.std(0)
    c = a.T @ b / 3
    on = torch.diagonal(c).add(-1).pow(2).sum()
    off = c.flatten()[:-1].view(2, 4)[:, 1:].flatten().pow(2).sum()
    return on + 5e-3 * off


@piece(T(4, 3))
def vicreg_variance(z):
    std = torch.sqrt(z.var(dim=0) + 1e-4)
    cov = (z - z.mean(0)).T @ (z - z.mean(0)) / 3
    off = cov.pow(2).sum() - cov.diagonal().pow(2).sum()
    return torch.mean(F.relu(2 - std)) + off / 3


@piece(T(2, 4), T(2, 4), verdict="cut")
def byol(online, target):
    online = F.normalize(online, dim=-1)
    target = F.normalize(target, dim=-1)
    return 2 - 2 * (online * target.detach()).sum(-1).mean()


# -- sequences and language


@piece(T(2, 4, 3))
def masked_mean_of_tokens(hidden):
    mask = MASK.unsqueeze(-1).to(hidden.dtype)
    return ((hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)).pow(2).sum()


@piece(T(5, 4))
def next_token(weight):
    ids = torch.tensor([[1, 3, 0, 2], [4, 2, 2, 1]])
    hidden = F.embedding(ids, weight)
    logits = hidden @ weight.t()
    return F.cross_entropy(logits[:, :-1].reshape(-1, 5), ids[:, 1:].reshape(-1))


@piece(T(2, 4))
def perplexity(token_logp):
    return torch.exp(-(F.logsigmoid(token_logp) * MASK).sum() / MASK.sum())


@piece(T(2, 3), T(2, 3))
def dpo(policy, reference):
    chosen = torch.tensor([0, 1])
    logratio = policy.log_softmax(-1) - reference.log_softmax(-1)
    picked = logratio[torch.arange(2), chosen] - logratio[torch.arange(2), chosen + 1]
    return -F.logsigmoid(0.1 * picked).mean()


@piece(T(4))
def bradley_terry(scores):
    wins = torch.tensor([[0, 1], [2, 1], [3, 0], [2, 3]])
    return -F.logsigmoid(scores[wins[:, 0]] - scores[wins[:, 1]]).sum() + 0.01 * scores.pow(2).sum()


@piece(T(3, 4))
def crf_forward(emissions):
    transitions = torch.arange(16, dtype=D).view(4, 4) / 10
    score = emissions[0]
    for t in range(1, 3):
        score = torch.logsumexp(score.unsqueeze(1) + transitions, 0) + emissions[t]
    gold = emissions[0, 1] + transitions[1, 2] + emissions[1, 2] + transitions[2, 0] + emissions[2, 0]
    return torch.logsumexp(score, 0) - gold


@piece(T(5, 3))
def viterbi_score(emissions):
    transitions = torch.tensor([[0.1, -0.4, 0.3], [0.7, 0.2, -0.1], [-0.6, 0.5, 0.4]], dtype=D)
    score = emissions[0]
    for t in range(1, 5):
        best, _ = (score.unsqueeze(1) + transitions).max(0)
        score = best + emissions[t]
    return score.max()


@piece(T(4, 3))
def edit_distance_relaxed(cost):
    previous = torch.zeros(4, dtype=D)
    for i in range(4):
        current = [previous[0] + 1]
        for j in range(3):
            options = torch.stack([previous[j] + cost[i, j] ** 2, previous[j + 1] + 1, current[j] + 1])
            current.append(-torch.logsumexp(-options * 2, 0) / 2)
        previous = torch.stack(current)
    return previous[-1]


@piece(T(4, 4))
def causal_mask(scores):
    mask = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
    return (scores.masked_fill(mask, float("-inf")).softmax(-1) @ torch.arange(4.0, dtype=D)).sum()


# -- reinforcement


@piece(T(3), T(3))
def ppo_clip(logp, advantage):
    old = at(-0.2, 0.5, -1.0)
    ratio = torch.exp(logp * 0.1 - old * 0.1)
    clipped = torch.clamp(ratio, 0.8, 1.2)
    return -torch.min(ratio * advantage, clipped * advantage).mean()


@piece(T(4))
def discounted_returns(rewards):
    returns, total = [], 0
    for r in rewards.flip(0):
        total = r + 0.9 * total
        returns.insert(0, total)
    returns = torch.stack(returns)
    return ((returns - returns.mean()) / (returns.std() + 1e-8)).pow(3).sum()


@piece(T(4), T(5))
def generalized_advantage(rewards, values):
    advantages = torch.zeros(4, dtype=D)
    last = 0
    for t in reversed(range(4)):
        delta = rewards[t] + 0.99 * values[t + 1] - values[t]
        advantages[t] = last = delta + 0.99 * 0.95 * last
    return (advantages**2).mean()


@piece(T(3, 2), T(3, 2), verdict="cut")
def td_error(q, q_next):
    actions = torch.tensor([0, 1, 1])
    q_sa = q.gather(1, actions.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = 1.0 + 0.9 * q_next.max(1)[0]
    return F.smooth_l1_loss(q_sa, target)


@piece(T(3), T(3), verdict="cut")
def advantage_actor_critic(logits, values):
    advantage = at(1.0, 0.2, -0.3) - values
    policy = -(logits.log_softmax(0) * advantage.detach()).sum()
    return policy + 0.5 * advantage.pow(2).mean()


@piece(T(2), T(2))
def squashed_gaussian(mu, log_std):
    noise = at(0.3, -0.8)
    u = mu + log_std.exp() * noise
    logp = torch.distributions.Normal(mu, log_std.exp()).log_prob(u).sum()
    return torch.tanh(u).sum() + logp - (2 * (math.log(2) - u - F.softplus(-2 * u))).sum()


# -- generative


@piece(T(2, 3), T(2, 3))
def kl_of_gaussians(mu, logvar):
    return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()


@piece(T(3), T(3))
def hinge_gan(real, fake):
    return F.relu(1.0 - real).mean() + F.relu(1.0 + fake).mean()


@piece(T(4, 2), T(2, 2))
def denoising_score_matching(x, w):
    sigma = 0.5
    noise = torch.linspace(-1, 1, 8, dtype=D).view(4, 2)
    score = torch.tanh((x + sigma * noise) @ w)
    return ((score + noise / sigma) ** 2).sum(-1).mean() * sigma**2


@piece(T(2, 3), T(3, 3))
def diffusion_loss(x0, w):
    betas = torch.linspace(1e-4, 0.02, 10, dtype=D)
    abar = torch.cumprod(1.0 - betas, 0)
    t = torch.tensor([3, 7])
    noise = torch.linspace(-1, 1, 6, dtype=D).view(2, 3)
    xt = abar[t].sqrt().view(-1, 1) * x0 + (1 - abar[t]).sqrt().view(-1, 1) * noise
    return F.mse_loss(torch.tanh(xt @ w), noise)


@piece(T(2, 2), T(1, 2), T(1))
def planar_flow(z, w, b):
    u = torch.tensor([[0.5, -0.3]], dtype=D)
    h = torch.tanh(z @ w.t() + b)
    psi = (1 - h**2) * w
    return torch.log(torch.abs(1 + psi @ u.t()) + 1e-6).sum() + (z + u * h).pow(2).sum()


@piece(T(2, 4), T(2, 2))
def coupling_layer(x, w):
    x1, x2 = x.chunk(2, dim=1)
    s = torch.tanh(x1 @ w)
    y2 = x2 * s.exp() + x1.sin()
    return torch.cat([x1, y2], 1).pow(2).sum() - s.sum()


@piece(T(3, 2), T(4, 2))
def mmd_rbf(x, y):
    def k(a, b):
        return torch.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / 2)

    return k(x, x).mean() + k(y, y).mean() - 2 * k(x, y).mean()


@piece(T(2, 3, 4))
def style_gram(features):
    _, c, n = features.shape
    gram = torch.bmm(features, features.transpose(1, 2)) / (c * n)
    return F.mse_loss(gram, torch.eye(3, dtype=D).expand(2, 3, 3))


@piece(T(1, 1, 4, 4))
def total_variation(img):
    dh = (img[:, :, 1:, :] - img[:, :, :-1, :]).pow(2)
    dw = (img[:, :, :, 1:] - img[:, :, :, :-1]).pow(2)
    return (dh[..., :-1] + dw[..., :-1, :] + 1e-6).sqrt().sum()


@piece(U(1, 1, 4, 4))
def ssim(x):
    y = torch.linspace(0, 1, 16, dtype=D).view(1, 1, 4, 4)
    pool = nn.AvgPool2d(3, 1)
    mx, my = pool(x), pool(y)
    sx, sy = pool(x * x) - mx**2, pool(y * y) - my**2
    sxy = pool(x * y) - mx * my
    n = (2 * mx * my + 1e-4) * (2 * sxy + 9e-4)
    return 1 - (n / ((mx**2 + my**2 + 1e-4) * (sx + sy + 9e-4))).mean()


# -- penalties and weights


@piece(T(3, 3))
def orthogonal_penalty(w):
    return torch.norm(w.t() @ w - torch.eye(3, dtype=D)) ** 2


@piece(T(3, 3))
def nuclear_norm(w):
    return torch.linalg.svdvals(w).sum()


@piece(T(2), T(2))
def homoscedastic_weighting(losses, log_vars):
    return (torch.exp(-log_vars) * losses**2 + log_vars).sum()


@piece(T(3), T(3))
def elastic_net(w, b):
    return (w**2).sum() * 0.01 + w.abs().sum() * 0.1 + F.softplus(b).sum()


@piece(T(3))
def online_hard_examples(losses):
    kept, _ = torch.topk(losses**2, 2)
    return kept.mean()


@piece(at(0.5, 0.2, 0.5), verdict="kink")
def hard_examples_of_equal_loss(losses):
    return losses.topk(1).values.sum()


@piece(at(0.3, 0.0, -0.4), verdict="kink")
def pruned_by_magnitude_at_the_threshold(w):
    mask = (w.abs() > 0.3).to(w.dtype)
    return (w * mask).sum()


@piece(T(3, 2), T(2))
def ridge_in_closed_form(x, y_weight):
    y = x @ y_weight + 0.1
    w = torch.linalg.solve(x.T @ x + 0.1 * torch.eye(2, dtype=D), x.T @ y)
    return ((x @ w - y) ** 2).sum()


@piece(T(3, 3), verdict="cut")
def gradient_norm_by_float(w):
    norm = float((w**2).sum())
    return (w / norm).pow(3).sum()


@piece(T(4), verdict="cut")
def normalized_by_numpy(x):
    return (x / x.detach().numpy().std()).pow(3).sum()


@piece(torch.tensor([0.1, 2.0, -1.0]))
def float32_loss(logits):
    return F.cross_entropy(logits[None], torch.tensor([1])) + 0.1 * logits.pow(2).mean()
