"""The Program: a Wengert list of SymPy expressions, each one operation deep, and what every reading asks of it.

wengert                          the list: variables, lines, calls of operations
expansion, meaning               operations replaced by what they are defined as; primitives as SymPy expressions
indexed_functions                functions of a whole tensor in index notation: products, extremes, determinants
shapes, movement, indexing       the shape of every line; where the elements of a line come from
constant_tensors, numeric        constant tensors in float64, and a Program run by NumPy
special_functions                what SciPy has and NumPy has not
cutting                          the lines that a value is made of
torch_calls, numpy_calls         how a library is asked for an operation: to compute it, or to write it down
"""
