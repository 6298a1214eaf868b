"""The files of Python that tests look at, each parsed and walked through once for all of them."""

import ast
import functools
from pathlib import Path


@functools.cache
def tree(path: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """List the nodes of a file, the outer ones first."""
    return tuple(ast.walk(tree(path)))
