"""Answers as documents: a compact one, or the same with everything unfolded.  Knows no format.

answers                          of a function at a point or at many: the inputs, the numbers, the findings
views                            the readings of a check, claims, graphs, the best form of a function, passes of scripts
closed_forms                     formulas and the verdict on them; formulas alone
chain_rule                       the chain rule, a row an adjoint
functions                        the functions of the language

Parts compose the documents of their own answers; `gradcli.registry` lists their functions.
"""
