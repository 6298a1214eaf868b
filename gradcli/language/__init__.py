"""Text in: a text becomes a tree, the tree a Program.  Imports no torch.

parsing    a text to its Program: the front door
function_text    a text to its function: an expression, or what a part reads
snippet_result   the function of a text, with the values and the backward passes that the text gives
spelled_texts  texts that cannot be read, with the spellings of them that can
spellings  notations from elsewhere, with their spelling here: a table of hints, which are read before they are shown
spelled_calls  what rows of that table write, where it takes more than a template
spelled_operators  what they write for cases in a brace, moduli and divergences
orthogonal_polynomials  those of a fixed order, written out, for hints
units      values with a unit, as numbers of the SI, for hints
text       characters to a tree; knows the name of no operation
lower      a tree to a Program: names, calls, constants, loops
inputs     values, ranges, directions and gradient vectors
drawn_values  values of several variables that have the same random numbers
foreign    numbers from elsewhere in Python: tensors, arrays of other libraries
program    the Program: lines, shapes, meanings
ops        the op table
"""
