"""Where the readings meet: torch's numbers and the formulas against the enclosure of the truth.

point, survey, sample            what there is to check, what is known of it before, and which entries are checked
judge                            a verdict for every entry, at the precision that it takes
case, compare, rounding          the truth of an entry, whether torch's number is that, and what rounding explains
sides, singular                  what there is where a value or a derivative is missing: on its sides, and around
summary                          one check of all that was decided
second_derivatives, tangents     Ju, Hu and the Hessian, judged as derivatives of one more Program
crossings                        second derivatives where branches or poles meet
evidence, confirming, formulas   what was enclosed, and the formulas that it confirms
pipeline                         all of it in order: numbers, formulas, one check
opinions                         every entry with what each reading says of it
many_points, stream              which of many points are judged, and one check of them all
"""
