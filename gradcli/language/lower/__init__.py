"""A tree to a Program: a function for each kind of node, which is handed the `Context` of the node.

    source = SourceText("x**2", "EXPR")                  text and tokens
    tree = grammar.parse(source)                         nodes
    context = start(source, known, RULES)                what is known, nothing found yet
    program = lower_program(context, tree)               lower(context, node) for each node, then finish

`RULES` says which function lowers which node.  Who reads more than the language hands other `Rules` to `start`, with
nodes of their own in the tables.

programs      the rules of the language, and the meanings of the op table
statements    statements, and the Program that they make
expressions   one rule a node of an expression
names         names with the modules before them: variables, constants, functions
members       methods, members and indices after an operand
calls         calls of functions and methods
conversions   calls that have no row in the op table: constructors, conversions, `Piecewise`
arguments     arguments, bound to a signature
argument_kinds  names of arguments, and the constants that they take
libraries     the library of a name: torch, NumPy, others
inlining      calls whose lines are other operations: of functions that torch is asked for, and indices with tensors
values_at_point  conditions that values decide
indices       formulas in index notation, as operations on whole tensors
loops         elements of lists and loops, which are written out
constants     constant arguments and indices
sizes         shapes of lines
lines         lines, and values that are true or false
context       what the rules are handed: the names and the indices around a node, what is known and what is found
called_values     values and functions of a text, called in another text next to it
juxtaposed_names  names that are several words written together
no_variables  words of integrals, limits and expectations, which are no variables
matrix_notation  operators of matrices: products side by side, transposes, inverses, norms
matrix_ranks  dimensions of operands, known or likely, and vectors that were transposed
matrix_calls  functions that the notation of matrices calls otherwise: `tr`, `norm2`, `MatrixSymbol`
sizeless      constants whose size another operand tells: `I`, and vectors of ones
"""
