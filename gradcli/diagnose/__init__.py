"""Where digits went, and how to write the function instead.

error_trace                      what torch computed on the way, beside the truth
diagnosis, faults                which operation lost digits or gave NaN, and what is wrong with it, in a sentence
advice                           the rewrites that are verified to be the same function, and better at the point
candidates                       all that a function may be written as to round, overflow or poison less
exploring, measuring             a search for forms that lose fewer bits, and how many each loses
improving, magnitudes            the best form at points or over a range; points of a range by magnitude
switching                        two forms joined where neither serves everywhere
identities, joining, expansions  what the search may write a function as: rules, fractions as one, series near 0
simplifying                      and as SymPy simplifies roots and functions of angles
patterns, guards                 known troubles and their cures as text; branches that poison
occurrences, splicing            where everything of a Program stands in its text; pieces put into other text
"""
