"""Characters to a tree: words, the grammar, and what to say where it is left; knows the name of no operation.

tokens             characters to words with their places, the signs of mathematics too, and how tightly signs bind
nodes              what a tree is made of
source             a text with its words, a place in them, and the errors at a place
mathematics        what only formulas have, as they are printed: sums over indices, cases, bars, left-hand sides
grammar            words to the tree of an expression, and to the statements of a text
python_statements   definitions, lambdas, several names at once, imports; the other statements of Python are code
hints              what other notations write, and what to write here
"""
