"""Functions and scripts of Python that are run, and recorded as Programs.

targets            what names one: `model.py::loss`, `package.module:name`; the file, run as an import runs it
calling            its parameters, and what it gives back
recorded           what was recorded, replayed before it is believed, and run again for numbers
cuts               whether a gradient is that of the function, or of it with something held constant
blaming            the `autograd.Function` that gives wrong gradients, and where it does
python_functions   a `Function` of all this
scripts            a whole script, what it holds after a pass, its backward passes, and where NaN begins in one
plain_functions    recording, checking and derivatives as functions
versus             two implementations, held to the same truth

Nothing else in the package runs code of the user, and nothing leads here but what says so by its form.
"""
