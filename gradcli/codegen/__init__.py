"""A question as a script: the Program, its values and v as source text that computes the same.

task                             what a script is to compute
torch_script, numpy_script       one language each, from a task to the whole text
latex_document                   the answer of vjp as a document
script, script_lines             what scripts share: names and blocks; lines that go into others, in order
self_writing                     what stands for a library and its values, and writes down what it is asked for
index_notation                   formulas in index notation as Python
literals, identifiers, layout    numbers, identifiers and lines of source

How a library is asked for an operation is not known here: the code that computes, `language.program.library_calls`, is
run on expressions that write themselves.  Nothing that the user typed is copied into code: every name is a
checked identifier, expressions come from the Program, numbers from arrays, words through `repr`.  The one comment that
repeats the command line has no line break.  Nothing is differentiated.
"""
