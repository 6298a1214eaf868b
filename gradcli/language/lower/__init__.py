"""A tree to a Program: meanings of names and calls, constants and loops.

The lowering is one class in layers, each of which extends those before it: `Lines`, `ShapeInference`, `Constants`,
then `Binder`, `Indices`, `Decisions`, `Inlining` and `Libraries`, then `Calls` and `Lowering`.  The reader of
statements extends it too.

programs      one rule a node, and the statements of a text
scope         state shared by the rules: meanings of names, and the lines so far, the first layer
calls         names with the modules before them, functions and methods
libraries     the library of a name: torch, NumPy, others; variables with dots in their names
arguments     arguments, bound to a signature, and calls that have no row in the op table
argument_kinds  names of arguments, and the constants that they take
constants     constant arguments and indices, lists and loops that are written out
indices       formulas in index notation, as operations on whole tensors
inlining      calls whose lines are other operations: of functions that torch is asked for, and indices with tensors
juxtaposed_names  names that are several words written together
"""
