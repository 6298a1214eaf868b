"""Every call of ATen while code runs, below autograd, as a line of a Program.

recorder, aten_calls  each call as it happens, the schema of its operation
call_recorder      what the parts of a recorder ask of it
modes              modes below and above autograd, which see the calls
pass_recorder, pass_decisions  torch's own passes through a Program, forward and back; the values that decide in them
aten_lowering      calls of ATen as lines
aten_rules         calls whose row has another name or other arguments, or on complex numbers
decompositions     calls that torch's tables do not decompose, in functions of torch
windows, layers    of these, convolutions and pools; recurrent and other layers, and losses
factors, selections  factors of matrices; elements chosen by their order, and folds over positions
opaque_calls       calls that are not read, one line each
repeated_calls, slope_measurement  what calls them again; their slopes, by differences
draws              random numbers, and what they are drawn by
tracking           tensors that autograd follows otherwise than the calls do, and calls of constants
torch_meanings     torch's own computation of a call: the meaning of rows that have none
memory             values by the memory that holds them
foreign_memory     memory that is written to by code which is not torch's
comparisons        comparisons in the user's code with a number that leaves torch
made_operands      names of tensors that a line of the user's makes for a call
decisions          branches, masks and positions that values decide
steps              masks and other values that change in jumps alone, which are not held constant
places, user_files  the place of a call in the user's code, and names there; the user's own files

Runs nothing by itself: `gradcli.parts.running` runs code of the user under it, and the language asks it for the
meaning of torch's own functions.
"""
