"""Program: a Wengert list of symbols and calls, each one operation deep, and the facts that every reading needs.

wengert         the list: variables, lines, calls of operations; the lines that a value is made of
opaque          calls that cannot be read: lines of which slopes are measured
expansion       operations replaced by their definitions
certain_conditions  conditions that no real input decides otherwise
passes          the forms of a Program for its readers, each made once
sympy_functions  primitives as SymPy expressions: of numbers, and of whole tensors in index notation
shapes          the shape of every line
dot_products    products of vectors that are typed as dot products are
doubtful_losses  remarks on losses of other shapes, and of probabilities for logits
doubtful_norms  remarks on norms that are often meant otherwise
named_shapes    shapes whose sizes have names, and inferred ones of variables
shape_costs     how unlikely shapes are
shape_readings  the shapes with which a text makes sense, the likeliest first
movement        the sources of the elements of a line
positions       elements at positions that are values; indices with positions, as text
library_calls   calls of torch and NumPy for an operation: to compute it, or to write it down
torch_passes    torch's passes through a Program, as a Program
program_text    a Program as text of the language
constant_tensors  tensors by their numbers
numeric         a Program run by NumPy, and constant tensors, in float64
"""
