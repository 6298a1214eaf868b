"""Where the readings meet: torch's numbers and the formulas against the enclosure of the truth.

point, sample                    what there is to check, and which entries are checked
compare                          the truth of an entry, and whether torch's number is that
judge                            a verdict for every entry, at the precision that it takes
summary                          one check of all of them
bounded                          entries that bounds on whole arrays prove, all at once
rounding                         what rounding explains
singular                         what there is where a value or a derivative is missing: on its sides, and around
boundaries                       conditions that values decided, and may decide otherwise beside the point
hessian_rows                     products of one Hessian with directions, element by element
second_derivatives               Ju, Hu and the Hessian, where branches or poles meet too
confirming, formulas             formulas held to what was enclosed; those of an answer, and every entry's opinions
many_points                      which of many points are judged, and one check of them all
"""
