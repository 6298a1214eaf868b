"""What each family of commands asks of the readings, and how their answers are put together.

question                         one function at one point: read, refused or ready, without torch; and what torch says
parsed_text, naming              a text read once; names of variables and of statements
judging                          the one way to judge what torch says; remarks; functions that are another one elsewhere
derivatives                      eval, jacobian, jvp, hessian, hvp
products                         vjp and grad: several v, what accumulates, intermediates, the loss that v comes from
streaming                        map: which columns are which variables; the rows as they go by
check, views                     check; graph and code
improve                          the best form at points or over a range
explain                          explain; one term of an adjoint, and its rule
closed_form                      derivatives as formulas alone, where there is no point; in whole tensors, where proved
functions                        functions: the op table, and a page for one function

Everything that can be wrong with the input is found before torch is imported.  Knows no formats and no options.
"""
