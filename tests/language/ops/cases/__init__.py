"""Texts by the row of the op table that they are about, which torch runs too.

structure                        where each element goes
reductions                       reductions, scans, order and statistics
matrices                         products, equations, factors, norms, losses
arithmetic                       arithmetic as typed, and what combines it
torch_functions                  functions that torch is asked for
"""

from tests.language.ops.cases import arithmetic, matrices, reductions, structure, torch_functions

TABLES = (structure.CASES, reductions.CASES, matrices.CASES, arithmetic.CASES, torch_functions.CASES)
