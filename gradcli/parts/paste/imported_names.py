"""Names that imports give, those of code, and those whose calls affect later lines."""

from __future__ import annotations

import re

from gradcli.errors import Span
from gradcli.language.lower.context import Context
from gradcli.language.text.nodes import Import
from gradcli.parts.paste.text_state import TextState

_KNOWN = "torch torch, np numpy, nn torch.nn, optim torch.optim, autograd torch.autograd, grad torch.autograd.grad"
_KNOWN += ", rand torch.rand, randn torch.randn, manual_seed torch.manual_seed"

KNOWN = dict(pair.split() for pair in _KNOWN.split(", "))
"""Whole names of words that no import explains."""

_READ = frozenset("torch numpy math scipy sympy autograd functorch".split())
"""Libraries of which the language has some functions; names imported from others are code where they are called."""

_CODE = re.compile(
    r"torch\.(?:nn\.(?:modules\.|utils\.|init\.|parallel\.)?(?!Parameter\b)[A-Z]\w*|nn\.(?:utils|init)\.\w+"
    r"|optim\.|func\.|distributions\.|utils\.|jit\.|compile\b|vmap\b|Generator\b|multiprocessing"
    r"|(?:rand|randn|randint)_like\b|randint\b|randperm\b|normal\b|bernoulli\b|multinomial\b|empty\w*\b"
    r"|autograd\.(?!grad\b|set_detect|Variable\b)\w+|no_grad\b|enable_grad\b|inference_mode\b)"
    r"|numpy\.random\.|random\.|functorch\.|autograd\.(?!grad\b|Variable\b)"
)
"""Pattern of whole names whose calls are run, not read: layers, optimizers, transforms, other random numbers."""

_ACTS = frozenset(f"torch.{name}" for name in ("autograd.grad", "rand", "randn", "manual_seed"))
"""Functions that note a question, or advance the random numbers."""


def add_import(text: TextState, context: Context, line: Import) -> None:
    """Remember the names of an import."""
    text.imported.update(line.names)
    text.foreign |= {path.partition(".")[0] for _, path in line.names} - _READ
    for name, _ in line.names:
        context.names.values.pop(name, None)


def path_at(context: Context, position: int) -> tuple[str, int]:
    """Return the whole name at a position, as `torch.autograd.grad`, and the position after it."""
    first = context.source.tokens[position]
    if first.kind != "name" or context.is_taken(first.text) or first.text not in context.libraries.imported:
        return "", position
    _, *members = context.source.dotted(position)
    return ".".join([context.libraries.imported[first.text], *members]), position + 1 + 2 * len(members)


def is_code_path(text: TextState, path: str) -> bool:
    """Tell whether a call by a whole name is code: `torch.nn.Linear` is, and `torch.nn.functional.relu` is not."""
    return path.partition(".")[0] in text.foreign or _CODE.match(path) is not None


def acts(context: Context, span: Span) -> bool:
    """Tell whether a call there affects later lines: a derivative, a draw, a change in place."""
    for n in context.source.positions(span):
        token, (path, end) = context.source.tokens[n], path_at(context, n)
        is_own = context.names.values.get(token.text) in context.findings.objects  # a function of the text
        is_act = is_own or token.text == "backward" or token.text.endswith("_") or path in _ACTS
        if is_act and context.source.tokens[max(end, n + 1)].text == "(":
            return True
    return False
