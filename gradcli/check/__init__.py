"""Where the readings meet: torch's numbers and the formulas against the enclosure of the truth.

context, survey, sample          what there is to check, what is known of it before, and which entries are checked
judge                            a verdict for every entry: raises the precision until each is decided, by
case, compare, rounding          where the truth of an entry is, whether torch's is that, and what rounding explains
sides, singular                  what there is where a value or a derivative is missing: on its sides, and around
summary                          one check of all that was decided
formulas, confirmed, opinions    formulas that the reference confirms, and all readings side by side
along, rows, second_order        Ju, Hu and the Hessian, judged as derivatives of one more Program
second_order_formulas            and their formulas
crossings                        second derivatives where branches or poles meet
many_points, stream              which of many points are judged, and one check of them all
"""
