"""The Program: a Wengert list of symbols and calls, each one operation deep, and what every reading asks of it.

wengert         the list: variables, lines, calls of operations; the lines that a value is made of
expansion       operations replaced by what they are defined as
meaning         primitives as SymPy expressions: of numbers, and of whole tensors in index notation
shapes          the shape of every line
named_shapes    shapes whose sizes have names, and those of variables that nobody gave
movement        where the elements of a line come from
library_calls   how torch and NumPy are asked for an operation: to compute it, or to write it down
torch_passes    torch's passes through a Program, as a Program
program_text    a Program as text of the language
numeric         a Program run by NumPy, and constant tensors, in float64
"""
