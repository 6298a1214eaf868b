"""Questions: the answer of each family of commands, put together from the three readings.

answering                        the main job on one page: begin here
bound_function                   one function at one point: read and validated without torch; then torch's numbers
given_masks                      values that are true and false, which an index has as masks
other_keywords                   options by the names that other tools have for them
call_arguments                   arguments of a call in Python, read into those of a method
text_reading                     texts with what the parts read, and with torch to be asked
likely_shapes                    shapes of variables of which nothing is known, and random values of them
parsed_text, naming              a text read once; names of variables and of statements
matrices                         Jacobians and Hessians: dense, or by a part that computes sparse ones
operators                        the derivatives that commands ask torch for, a row each
derivative_modes                 further modes of differentiation in torch: forward mode, twice, several v at once
judging                          the one way to judge torch's numbers, with advice; branches next to the point
remarks                          traps that the numbers of an answer do not show
gradients                        the gradient as a Program, in torch's form, and its numbers
recorded_protocol                what a question needs of the function that its Program was recorded from
local_adjoints                   what one line adds to the adjoint of an operand, as text and in numbers
held_constant                    kinks, jumps and missing parts of derivatives, as values are held constant
commands                         a module a command: the method of `Function` that answers it
functions                        functions: the op table, and a page for one function

Mistakes in the input are found before torch is imported.  No module here knows a format of the shell.
"""
