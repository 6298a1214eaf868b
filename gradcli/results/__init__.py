"""Answers of every command, the same for the API and the shell.  `gradcli.report` writes them in formats.

answers                          of one function at a point: values, derivatives, their formulas
answer_numbers                   their numbers as Python reads them
derivative_formulas              derivatives as formulas alone
formula_cells                    formulas, and their texts in each notation
verdicts                         verdicts on numbers and on claims
quantities                       their arrays, each with its name, its axes and its formula
sparse_matrices                  Jacobians and Hessians by their entries that are not 0 by structure
stream_rows                      rows of a stream, their faults, and what is computed of them
pictures                         of plot: curves, maps, and the places marked on them
script_passes                    of run: the backward passes of a script
box_answers                      of range and of check in a box: bounds, places, proofs, regions
views                            of explain, improve, graph, code and functions
record                           frozen dataclasses, and what of them is written as JSON
"""

from gradcli.arrays import Array as Array

# Every name of these is public.
from gradcli.results.answer_numbers import *  # noqa: F403
from gradcli.results.answers import *  # noqa: F403
from gradcli.results.box_answers import *  # noqa: F403
from gradcli.results.derivative_formulas import *  # noqa: F403
from gradcli.results.formula_cells import *  # noqa: F403
from gradcli.results.pictures import *  # noqa: F403
from gradcli.results.quantities import *  # noqa: F403
from gradcli.results.script_passes import *  # noqa: F403
from gradcli.results.sparse_matrices import *  # noqa: F403
from gradcli.results.stream_rows import *  # noqa: F403
from gradcli.results.verdicts import *  # noqa: F403
from gradcli.results.views import *  # noqa: F403
