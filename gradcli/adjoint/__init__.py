"""Derivatives of a Program as a Program: the one place where Programs are differentiated.

gradient    the walk back through the lines, which gives vᵀJ as a Program of the same kind
writing     appends lines whose shapes are known
slopes      the partial derivatives of elementwise operations, by SymPy, and as Programs
elementwise_rules  adjoints of the operands of elementwise operations, of choices, and of conditions
linear_rules  adjoints through movements, lists and sums: their transposes
fold_rules  adjoints of products, extremes and running folds, without a division
row_rules   adjoints as torch has them, by the rows of the op table
matrix_rules  adjoints of products of matrices, inverses, determinants, factors and spectra
tidying     the same in fewer lines, for people who read them

Readers evaluate the Program like any other: on arrays with bounds, on balls, on one-sided series, in torch, in NumPy,
or in index notation.  Nothing here has numbers.
"""
