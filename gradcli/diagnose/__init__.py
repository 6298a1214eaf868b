"""Where digits went, and how to write the function instead.

context, error_trace             what torch computed on the way, and the same beside the truth
diagnosis, faults                which operation lost digits or gave NaN, and what is wrong with it, in a sentence
rewriting                        texts of the same function that round, overflow or poison less
sameness                         whether two texts are the same function
advice                           the rewrites that are verified to be better at the point
"""
