"""Characters to a tree: words, the grammar, and hints where a text leaves it; knows the name of no operation.

tokens             characters to words with their places, the signs of mathematics too, and how tightly signs bind
nodes              the nodes of a tree
source             a text with its words, a place in them, and the errors at a place
mathematics        notation of printed formulas: sums over indices, cases, bars, left-hand sides
grammar            words to the tree of an expression, and to the statements of a text
python_statements   definitions, lambdas, several names at once, imports; the other statements of Python are code
hints              notations from elsewhere, and their spelling here
"""
