"""A question as a script: the Program, its values and v as source text that computes the same.

task                             what a script is to compute
torch_script, numpy_script       one language each, from a task to the whole text
latex_document                   the answer of vjp as a document
script, expressions              what scripts share: names and statements; lines that go into others, in parentheses
torch_spelling, numpy_spelling   how a language is asked for each operation
index_notation                   formulas in index notation as Python
literals, identifiers, layout    numbers, identifiers and lines of source

Nothing that the user typed is copied into code: names are checked identifiers, expressions come from the Program,
numbers from arrays, words through `repr`.  The one comment that repeats the command line has no line break.  Nothing
is run here, and nothing is differentiated.
"""
