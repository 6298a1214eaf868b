"""Snippets of PyTorch: a text with definitions, functions and backward passes, and what it asks for.

reading         a text to its function, its values and its question
assignments     definitions, assignments, displays, and what says nothing about the function
lowering_hooks  what a snippet reads while its expressions are lowered
imports         what names of libraries stand for
definitions     what the text defines, lowered again wherever it is called
signatures      the arguments of what is no operation
gradients       torch.autograd.grad, and what its results are used for
transforms      torch.func and torch.autograd.functional
passes          which backward passes are asked for
dtypes          the floating-point types that are written
"""

from gradcli.language.snippets.reading import Snippet, read

__all__ = ["Snippet", "read"]
