"""Formulas as text: SymPy's notation for machines, readable Unicode mathematics and LaTeX for people."""

from gradcli.symbolic.printing.arranging import is_negative, product, terms
from gradcli.symbolic.printing.naming import alone, as_factor, formula, without_sure_conditions

__all__ = ["alone", "as_factor", "formula", "is_negative", "product", "terms", "without_sure_conditions"]
