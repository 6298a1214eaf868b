"""Where digits went, and how to write the function instead.

error_trace                      what torch computed on the way, beside the truth
diagnosis, faults                which operation lost digits or gave NaN, and what is wrong with it, in a sentence
advice                           the rewrites that are verified to be the same function, and better at the point
candidates                       the known forms of a function that round, overflow or poison less
exploring, measuring             a search for forms that lose fewer bits, and how many each loses
improving, magnitudes            the best form at points or over a range; points of a range by magnitude
switching                        two forms joined where neither serves everywhere
forms                            a function while it is rewritten: lines in the place of others, and the text of that
identities, matching             the table of what may be written as what, and how it is found in a Program
guards, expansions               branches that poison; series where parts vanish, or are 0/0
"""
