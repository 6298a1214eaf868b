"""Formulas as text: SymPy's notation for machines, readable Unicode mathematics and LaTeX for people.

pretty     SymPy's notation, and readable Unicode
latex      LaTeX
arranging  factors, terms and branches in order, as people write them
naming     letters for indices, and the formula of each entry
"""

from gradcli.symbolic.printing.arranging import is_negative, product, terms
from gradcli.symbolic.printing.naming import alone, as_factor, formula, without_sure_conditions

__all__ = ["alone", "as_factor", "formula", "is_negative", "product", "terms", "without_sure_conditions"]
