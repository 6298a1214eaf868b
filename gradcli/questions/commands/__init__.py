"""Commands on a function at a point, a module each: the options, the help, and the method of `Function`.

The docstring of a module is the help of the command in the shell, and ends with its options as `gradcli.options` reads
them: after `Options:` the groups that it is one of, `DERIVATIVES` and `JUDGED`, and options that other commands have
too; then its own.  The function of the module's name is the method; its docstring is the help in Python.
"""
