"""What `vjp` answers to several gradient vectors: a product each, of one Jacobian."""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.results.answers import VJP, Differentiation


@dataclass(frozen=True, slots=True, kw_only=True)
class Products(Differentiation):
    """Several vector-Jacobian products of one function at one point.

    Attributes:
        answers: One for each v, in order; each is what a `vjp` with that v alone answers.
        check: Of all of them.
    """

    answers: tuple[VJP, ...]
