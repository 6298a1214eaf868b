"""Completion in the shells: the scripts that ask, what may stand at the cursor, and the command that prints a script.

completion_command               the command that prints a script
scripts                          what a shell evaluates
protocol                         the line in the environment to the candidates at its end
suggestions                      what may be typed next

Typer says which parameter is being typed; what fits into it, beyond its choices, is in `suggestions`.  Imports neither
torch nor SymPy, as a person is waiting for every key.
"""
