"""(stub while the rest is tried)"""


def compare_formulas(point, wrt, pattern, values, formulas, check, dtype):
    return formulas, check
