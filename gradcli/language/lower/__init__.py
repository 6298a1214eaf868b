"""A tree to a Program: what names and calls mean, constants and loops.

programs     the statements of a text
expressions  one rule a node, and the parts that share them
lines        the lines so far, and which of their values are conditions
scope        what names stand for
names        names, with the modules before them
joined       names that are several words written together
calls        functions and methods
special      calls that have no row in the op table
arguments    arguments, bound to a signature
tensors      constructors and conversions
constants    constant arguments and indices
loops        lists, and loops that are written out
matlab       MATLAB's marks
evaluators   what evaluates constants and sizes, handed in
hooks        what may listen, and read what only a snippet has
"""
