"""Completion in the shells: the scripts that ask, what may stand at the cursor, and the command that prints a script.

Typer says which parameter is being typed; what fits into it, beyond its choices, is in `candidates`.  Imports neither
torch nor SymPy, as a person is waiting for every key.
"""
