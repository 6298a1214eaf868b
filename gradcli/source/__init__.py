"""A question as a script: the Program, its values and v as source text that computes the same.

Nothing that the user typed is copied into code: names are checked identifiers, expressions come from the Program,
numbers from arrays, words through `repr`.  The one comment that repeats the command line has no line break.
"""
