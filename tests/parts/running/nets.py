"""Nets as people write them, in sizes of a test's choosing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Block(nn.Module):
    """Attention and a perceptron, each behind a normalization and beside a shortcut."""

    def __init__(self, dim: int, heads: int, mlp: int, causal: bool = False) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp), nn.GELU(), nn.Linear(mlp, dim))
        self.heads, self.causal = heads, causal

    def forward(self, x: Tensor) -> Any:
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class ViT(nn.Module):
    """Vision transformer: logits of an image in patches."""

    def __init__(self, size: int = 8, patch: int = 4, dim: int = 32, depth: int = 2, heads: int = 4) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, patch)
        n = (size // patch) ** 2
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, n + 1, dim) * 0.02)
        self.blocks = nn.Sequential(*[Block(dim, heads, 4 * dim) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, 10)

    def forward(self, x: Tensor) -> Any:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])


class GPT(nn.Module):
    """Transformer that predicts the next token."""

    def __init__(self, vocab: int = 50, block: int = 16, dim: int = 64, depth: int = 4, heads: int = 4) -> None:
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(block, dim)
        self.blocks = nn.Sequential(*[Block(dim, heads, 4 * dim, True) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)

    def embedded(self, ids: Tensor) -> Any:
        """What the blocks are given."""
        return self.tok(ids) + self.pos(torch.arange(ids.shape[1]))

    def forward(self, x: Tensor) -> Any:
        return self.head(self.norm(self.blocks(x)))


class BasicBlock(nn.Module):
    """Two convolutions beside a shortcut, as ResNet-18 has them."""

    def __init__(self, a: int, b: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b)
        self.conv2, self.bn2 = nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or a != b:
            self.down = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))

    def forward(self, x: Tensor) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.down is None else self.down(x)
        return self.relu(out)


class ResNet(nn.Module):
    """Residual net, by default ResNet-18."""

    def __init__(self, widths: tuple[int, ...] = (64, 128, 256, 512), blocks: int = 2) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, widths[0], 7, 2, 3, bias=False), nn.BatchNorm2d(widths[0])
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        layers, a = [], widths[0]
        for n, b in enumerate(widths):
            for k in range(blocks):
                layers.append(BasicBlock(a, b, 2 if n and not k else 1))
                a = b
        self.layers = nn.Sequential(*layers)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(a, 10)

    def forward(self, x: Tensor) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layers(x)
        return self.fc(torch.flatten(self.avgpool(x), 1))


def double(a: int, b: int) -> nn.Sequential:
    """Two convolutions with normalization, as a U-Net has them."""
    return nn.Sequential(
        nn.Conv2d(a, b, 3, padding=1),
        nn.BatchNorm2d(b),
        nn.ReLU(True),
        nn.Conv2d(b, b, 3, padding=1),
        nn.BatchNorm2d(b),
        nn.ReLU(True),
    )


class UNet(nn.Module):
    """Convolutions that go down two scales and up again, joined at each scale."""

    def __init__(self, base: int = 8) -> None:
        super().__init__()
        self.d1, self.d2, self.mid = double(1, base), double(base, 2 * base), double(2 * base, 4 * base)
        self.pool = nn.MaxPool2d(2)
        self.u2, self.c2 = nn.ConvTranspose2d(4 * base, 2 * base, 2, 2), double(4 * base, 2 * base)
        self.u1, self.c1 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), double(3 * base, base)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x: Tensor) -> Any:
        a = self.d1(x)
        b = self.d2(self.pool(a))
        m = self.mid(self.pool(b))
        b = self.c2(torch.cat([b, self.u2(m)], 1))
        a = self.c1(torch.cat([a, self.u1(b)], 1))
        return self.out(a)
