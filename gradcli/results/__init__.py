"""What every command answers, the same for the API and the shell.  Knows no formats; `gradcli.report` writes them.

answers                          of one function at a point: values, derivatives, their formulas
verdicts                         what was found of numbers and of claims; rows of a stream
views                            of explain, improve, graph, code and functions
record                           frozen dataclasses
"""

# Every name of these is public.
from gradcli.results.answers import *  # noqa: F403
from gradcli.results.verdicts import *  # noqa: F403
from gradcli.results.views import *  # noqa: F403
