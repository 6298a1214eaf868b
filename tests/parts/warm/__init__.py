"""Tests of the warm process: it answers as a cold start does, and can be told so by nothing else."""
