"""Functions of Python that are run, and recorded as Programs.

targets    what names one: `model.py::loss`, `package.module:name`
loading    the file or module that it is in, run as an import runs it
calling    its parameters, and what it gives back
naming     names of the tensors that it finds elsewhere
recorder   every call of torch while it runs
spelling   a call as text of the language
recorded   what was recorded, replayed before it is believed, and run again for numbers
functions  a `Function` of it

Nothing else in the package runs code of the user, and nothing leads here but what says so by its form.
"""
