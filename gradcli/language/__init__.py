"""Text in: tokens, grammar, the Program, the op table, shapes and values.  Imports no torch."""
