"""Questions: the answer of each family of commands, put together from the three readings.

question                         one function at one point: read and validated without torch; then torch's numbers
parsed_text, naming              a text read once; names of variables and of statements
judging                          the one way to judge torch's numbers; remarks; branches that differ next to the point
derivatives                      eval, jacobian, jvp, hessian, hvp
products                         vjp and grad: several v, accumulated gradients, a loss whose derivative is v
streaming                        map: columns bound to variables; blocks of rows computed in order
check, views                     check; graph and code
improve                          the best form at points or over a range
explain                          explain; one term of an adjoint, and its rule
closed_form                      formulas of derivatives without a point; forms in whole tensors, where proved
functions                        functions: the op table, and a page for one function

Mistakes in the input are found before torch is imported.  No module here knows a format or an option of the shell.
"""
