"""Snippets of PyTorch: a text with definitions, functions and backward passes, and what it asks for.

reading      a text to its function, its values and its question
assignments  the statements, and what is listened for while their expressions are lowered
definitions  what names of libraries stand for, and what the text defines
gradients    torch.autograd.grad and backward(), and which derivatives are asked for
transforms   torch.func and torch.autograd.functional
dtypes       the floating-point types that are written
"""

from gradcli.language.snippets.reading import Snippet, read

__all__ = ["Snippet", "read"]
