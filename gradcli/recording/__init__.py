"""Functions of Python that are run, and recorded as Programs.

targets            what names one: `model.py::loss`, `package.module:name`
loading            the file or module that it is in, run as an import runs it
calling            its parameters, and what it gives back
tensor_names       names of the tensors that it finds elsewhere
dispatch           a mode that sees every call of ATen, and may pause
recorder, values   every call of ATen while it runs, as lines of a Program
aten_lowering      calls of ATen as lines
aten_rules         those whose row has another name or other arguments
complex_rules      calls on complex numbers, as lines of their two parts
decompositions     what torch's tables do not decompose, in functions of torch
window_decompositions  convolutions and pools among them
torch_meanings     what torch makes of a call of its own: the meaning of rows that have none
decisions          what values decide while it runs
places             where in the user's code a call comes from
schemas            what the schema of an operation of ATen says
memory             values by the memory that holds them
surface            what has to be seen above autograd: backward passes, and numbers that Python takes
positions          what decides which elements are the largest, or the first
math_and_numpy     `math` and NumPy, read as torch's in a function of one's own
program_text       a recorded Program as text of the language
repeating          what a second run has in common with the first
recorded           what was recorded, replayed before it is believed, and run again for numbers
cuts               whether a gradient is that of the function, or of it with something held constant
blaming            the `autograd.Function` that gives wrong gradients, and the likeliest mistake in it
python_functions   a `Function` of all this
nonfinite          where NaN or infinity begins in a pass
script_recorder    a script, what it holds after a pass, and its tensors
scripts            a whole script, and its backward passes
plain_functions    recording, checking and derivatives as functions
versus             two implementations, held to the same truth

Nothing else in the package runs code of the user, and nothing leads here but what says so by its form.
"""
