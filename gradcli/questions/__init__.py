"""What each family of commands asks of the readings, and how their answers are put together.

question, preparing              one function at one point: read, refused or ready, without torch; and what torch says
judging                          the one way to judge what torch says
derivatives                      eval and jacobian
products, loss                   vjp and grad: several v, what accumulates, intermediates, the loss that v comes from
points                           the same at many points
mapping, streaming               map: which columns are which variables, and the rows as they go by
second_order                     jvp, hessian, hvp
check                            check
explain, terms                   explain: the lines, and what each adds to an adjoint
graph                            graph
code                             code
functions                        functions: the op table, and a page for one function
remarks                          traps and tricks that the numbers of an answer do not show

Everything that can be wrong with the input is found before torch is imported.  Knows no formats and no options.
"""
