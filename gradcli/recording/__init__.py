"""Every call of ATen while code runs, below autograd, as a line of a Program.

recorder, aten_calls  each call as it happens, what its schema says, and what is held of it
pass_recorder      torch's own passes through a Program, forward and back
modes              see every call of ATen, and what has to be seen above autograd
aten_lowering      calls of ATen as lines
aten_rules         those whose row has another name or other arguments
decompositions     what torch's tables do not decompose, in functions of torch
torch_meanings     what torch makes of a call of its own: the meaning of rows that have none
memory             values by the memory that holds them
decisions          what values decide while code runs
places, user_files  where in the user's code a call comes from, and names there; which files are the user's

Runs nothing by itself: `gradcli.running` runs code of the user under it, and the language asks it for the meaning of
torch's own functions.
"""
