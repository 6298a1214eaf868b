"""Functions of Python that are run, and recorded as Programs.

targets            what names one: `model.py::loss`, `package.module:name`
loading            the file or module that it is in, run as an import runs it
calling            its parameters, and what it gives back
tensor_names       names of the tensors that it finds elsewhere
recorder, values   every call of torch while it runs, and what becomes of its tensors
positions          what decides which elements are the largest, or the first
items              numbers that Python took from tensors, and decides by
call_kinds         what kind of call each is
memory             which tensors share memory
repeating          what a second run has in common with the first
spelling, writing  a call, and a whole recording, as text of the language
recorded           what was recorded, replayed before it is believed, and run again for numbers
branches           the conditions that Python decided by
blaming            the `autograd.Function` that gives wrong gradients, and the likeliest mistake in it
python_functions   a `Function` of all this
scripts            a whole script, and its backward passes
plain_functions    recording, checking and derivatives as functions
versus             two implementations, held to the same truth

Nothing else in the package runs code of the user, and nothing leads here but what says so by its form.
"""
