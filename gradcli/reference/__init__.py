"""The judge: values and derivatives as balls that are proved to contain the truth.  Imports no torch."""
