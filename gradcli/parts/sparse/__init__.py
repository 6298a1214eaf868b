"""Jacobians and Hessians by the entries that are not 0 by structure: a million rows in a few products.

sparse                           from a question to its answer
kept_memory                      memory that stays while a large matrix is computed
pattern                          index sets of the inputs, forward through the Program
input_layers                     index sets of elements that depend on few inputs each
colouring                        groups of rows or columns of which no two have an entry in common
grouped_products                 which products have all entries, and torch's numbers for them
pattern_bounds                   bounds of all entries, from the same products of the gradient Program
open_entries                     which entries that bounds leave open come through a kink, and which through a pole
pattern_judge                    the verdict on all entries: by bounds, and balls for what these leave open
formula_entries                  the formula at all entries of the pattern
formula_pattern                  the entries that a formula has by its deltas, ranges and conditions
expression_values                a formula in index notation at many entries at once
sparse_document                  the screen, with a picture of the pattern
sparse_files                     files: SciPy's, Matrix Market, rows of entries
spy_figure                       the picture as svg, png and pdf
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.parts import is_listed
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.parts.part import SparseMatrices
    from gradcli.results import Judged

ANSWERS = ("SparseJacobian", "SparseHessian")
COMMANDS = ("jacobian", "hessian")

_HERE = "gradcli.parts.sparse.sparse_files"


if is_listed("figures"):
    from gradcli.parts.figures import figure_kinds

    FIGURES = figure_kinds("gradcli.parts.sparse.spy_figure:write_figure", ANSWERS, COMMANDS)
else:
    FIGURES = ()
"""Pictures of patterns in files, where there is the part that draws."""


class _Matrices:
    """What the core asks of this part."""

    def answered(
        self, kind: type[Judged], bound: object, *, is_asked: bool, is_pattern: bool, unknown: frozenset[str]
    ) -> Judged | None:
        """Answer by the entries that are not 0 by structure; None where a dense matrix is better."""
        from gradcli.parts.sparse import sparse
        from gradcli.questions.bound_function import BoundFunction

        if is_asked:
            sparse.require_scipy()
        elif not sparse.is_installed():
            return None
        assert isinstance(bound, BoundFunction), "the core asks of one"  # noqa: S101
        return sparse.answered(kind, bound, is_asked=is_asked, is_pattern=is_pattern, unknown=unknown)

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
        return (
            *(Renderer(form, f"{_HERE}:{function}", answers=ANSWERS) for form, function in formats.items()),
            *(Renderer(form, f"{_HERE}:{form}", is_format=False, answers=ANSWERS) for form in ("npy", "npz")),
            *(
                Renderer(form, f"{_HERE}:{form}", (suffix,), False, ANSWERS, COMMANDS, asks="sparse")
                for form, suffix in (("market", ".mtx"), ("parquet", ".parquet"))
            ),
            *FIGURES,
        )

    def composers(self) -> Mapping[str, str]:
        """Return what composes the documents."""
        return dict.fromkeys(ANSWERS, "gradcli.parts.sparse.sparse_document:compose_sparse")


PART = SparsePart()
