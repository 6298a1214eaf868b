"""Characters to a tree: words, the grammar, and what to say where it is left; knows the name of no operation.

tokens             characters to words with their places
precedence         how tightly the signs between operands bind
nodes              what a tree is made of
cursor             a place in the words
grammar            words to the tree of an expression
statements         words to the statements of a text
python_statements  the statements that only Python has: imports, definitions, assignments to several names
source             a text with its words, and the errors at a place in it
hints              what other notations write, and what to write here
"""
