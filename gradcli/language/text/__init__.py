"""Characters to a tree: words, the grammar, and hints where a text leaves it; knows the names of few operations.

signs              signs of mathematics to those of a program; brackets, and the sides of comparisons
latex_words        words of LaTeX to signs of mathematics
greek              Greek letters as such and by their names
tokens             characters to words with their places, and how tightly signs bind
nodes              the nodes of a tree
divisors           variables that divide, which are numbers
source             a text with its words, a place in them, and the errors at a place
mathematics        notation of formulas: sums over indices, cases, bars, norms, inner products, left-hand sides
grammar            words to the tree of an expression, and to the statements of a text
juxtaposition      factors side by side, and the same with signs between them
doubtful           remarks on what is read in one way and often meant in another
python_statements   definitions, lambdas, several names at once, imports; the other statements of Python are code
hints              notations from elsewhere, and their spelling here
"""
