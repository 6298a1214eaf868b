"""Answers as documents: a compact one, or the same with everything unfolded.  Knows no format.

answers                          of a function at a point or at many: the inputs, the numbers, the findings
formula_tables                   formulas and the verdict on them
one_line                         of one number, in one line
functions                        the functions of the language

Parts compose the documents of their own answers; `gradcli.registry` lists their functions.
"""
