"""Where the readings meet: torch's numbers and the formulas against the enclosure of the truth.

context, survey, sample          what there is to check, what is known of it before, and which entries are checked
judge                            a verdict for every entry: raises the precision until each is decided, by
target, compare, rounding        one number, its truth, whether they agree, and whether rounding explains it
sides, singular                  what there is where a value or a derivative is missing: on its sides, and around
entry, summary                   what was decided, and one check of it all
formulas, confirmed, opinions    formulas that the reference confirms, and all readings side by side
along, rows, second_order        Ju, Hu and the Hessian, judged as derivatives of one more Program
second_order_formulas            and their formulas
crossings                        second derivatives where branches or poles meet
many_points, stream              which of many points are judged, and one check of them all
"""
