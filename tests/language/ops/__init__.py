"""Tests of the op table: every row against mpmath or NumPy, never against torch."""
