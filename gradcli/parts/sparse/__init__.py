"""Jacobians and Hessians by the entries that are not 0 by structure: a million rows in a few products.

sparse              from a question to its answer
pattern             index sets of the inputs, forward through the Program
colouring           groups of rows or columns of which no two have an entry in common
products            which products have all entries, and torch's numbers for them
judging             the verdict on all entries: bounds of the same products, and balls
formula_entries     the formula at all entries, and its own pattern
sparse_document     the screen, with a picture of the pattern
sparse_files        files: SciPy's, Matrix Market, rows of entries
spy_figure          the picture as svg, png and pdf
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.parts import is_listed
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.questions.matrices import SparseMatrices
    from gradcli.questions.question import Question
    from gradcli.results import Judged

ANSWERS = ("SparseJacobian", "SparseHessian")
COMMANDS = ("jacobian", "hessian")

_HERE = "gradcli.parts.sparse.sparse_files"


def _figures() -> tuple[Renderer, ...]:
    """Return the pictures of patterns, where there is the part that draws."""
    if not is_listed("figures"):
        return ()
    from gradcli.parts.figures import figure_kinds

    return figure_kinds("gradcli.parts.sparse.spy_figure:write_figure", ANSWERS, COMMANDS)


class _Matrices:
    """What the core asks of this part."""

    def answered(self, kind: type[Judged], question: Question, *, is_asked: bool, is_pattern: bool) -> Judged | None:
        """Answer by the entries that are not 0 by structure; None where a dense matrix is better."""
        from gradcli.parts.sparse import sparse

        if is_asked:
            sparse.require_scipy()
        elif not sparse.is_installed():
            return None
        return sparse.answered(kind, question, is_asked=is_asked, is_pattern=is_pattern)

    def lacks(self) -> str:
        """Return how to install what is missing; "" if nothing is."""
        from gradcli.parts.sparse import sparse

        return "" if sparse.is_installed() else "pip install 'gradcli[scipy]' for sparse ones"


class SparsePart(Part):
    """Sparse Jacobians and Hessians."""

    def sparse_matrices(self) -> SparseMatrices:
        """Return what answers by the entries that are not 0 by structure."""
        return _Matrices()

    def renderers(self) -> tuple[Renderer, ...]:
        """Return the formats of data, and the kinds of files."""
        formats = {"plain": "plain", "csv": "csv_rows", "tsv": "csv_rows", "json": "json_lines", "jsonl": "json_lines"}
        files = {"npy": (), "npz": (), "market": (".mtx",), "parquet": (".parquet",)}
        return (
            *(Renderer(form, f"{_HERE}:{function}", answers=ANSWERS) for form, function in formats.items()),
            *(
                Renderer(form, f"{_HERE}:{form}", suffixes, is_format=False, answers=ANSWERS, commands=commands)
                for form, suffixes in files.items()
                for commands in [COMMANDS if suffixes else ()]
            ),
            *_figures(),
        )

    def composers(self) -> Mapping[str, str]:
        """Return what composes the documents."""
        return dict.fromkeys(ANSWERS, "gradcli.parts.sparse.sparse_document:compose_sparse")


PART = SparsePart()
