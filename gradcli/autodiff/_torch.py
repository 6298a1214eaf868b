"""The one place that imports torch."""

from __future__ import annotations

from gradcli import collector

with collector.paused():
    import torch

__all__ = ["torch"]
