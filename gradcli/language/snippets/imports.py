"""The whole names of what a text imports, and which of them are code."""

from __future__ import annotations

import re

from gradcli.language.parsing import Reader
from gradcli.language.text.nodes import Import

KNOWN = {
    "torch": "torch",
    "autograd": "torch.autograd",
    "grad": "torch.autograd.grad",
    "nn": "torch.nn",
    "optim": "torch.optim",
    "np": "numpy",
    **{name: f"torch.{name}" for name in ("rand", "randn", "manual_seed")},
}
"""The whole names of words that no import explains."""

_READ = frozenset("torch numpy math scipy sympy autograd functorch".split())
"""The libraries some of whose functions the language has; what else is imported is code where it is called."""

_CODE = re.compile(
    r"torch\.(?:nn\.(?:modules\.|utils\.|init\.|parallel\.)?(?!Parameter\b)[A-Z]\w*|nn\.(?:utils|init)\.\w+"
    r"|optim\.|func\.|distributions\.|utils\.|jit\.|compile\b|vmap\b|Generator\b|multiprocessing"
    r"|(?:rand|randn|randint)_like\b|randint\b|randperm\b|normal\b|bernoulli\b|multinomial\b|empty\w*\b"
    r"|autograd\.(?!grad\b|set_detect|Variable\b)\w+|no_grad\b|enable_grad\b|inference_mode\b)"
    r"|numpy\.random\.|random\.|functorch\.|autograd\.(?!grad\b|Variable\b)"
)
"""What is called by these names is run, not read: layers, optimizers, transforms of functions, other random numbers."""


_ACTS = frozenset(f"torch.{name}" for name in ("autograd.grad", "rand", "randn", "manual_seed"))
"""Functions that note a question, or move on in the random numbers."""


class Imports(Reader):
    """The names that a text gives to modules and functions.

    Attributes:
        imported: The whole name of each.
        foreign: The libraries that are not read.
    """

    imported: dict[str, str]
    foreign: set[str]

    def add_import(self, line: Import) -> None:
        """Remember the names of an import."""
        self.imported |= line.names
        self.foreign |= {path.partition(".")[0] for _, path in line.names} - _READ
        for name, _ in line.names:
            self.scope.names.pop(name, None)

    def path_at(self, position: int) -> tuple[str, int]:
        """The whole name of what stands at a position, as `torch.autograd.grad`, and the position after it."""
        first, scope = self.source.tokens[position], self.scope
        is_own = first.text in scope.names or first.text in scope.variables or first.text in scope.given
        if first.kind != "name" or is_own or first.text not in self.imported:
            return "", position
        _, *members = self.source.dotted(position)
        return ".".join([self.imported[first.text], *members]), position + 1 + 2 * len(members)

    def is_code_path(self, path: str) -> bool:
        """Whether a call by a whole name is code: `torch.nn.Linear` is, and `torch.nn.functional.relu` is not."""
        return path.partition(".")[0] in self.foreign or _CODE.match(path) is not None

    def acts(self, positions: range) -> bool:
        """Whether something is called there that later lines may depend on: a derivative, a draw, a change in place."""
        for n in positions:
            token, (path, end) = self.source.tokens[n], self.path_at(n)
            is_own = self.scope.names.get(token.text) in self.scope.objects  # a function of the text
            is_act = is_own or token.text == "backward" or token.text.endswith("_") or path in _ACTS
            if is_act and self.source.tokens[max(end, n + 1)].text == "(":
                return True
        return False
