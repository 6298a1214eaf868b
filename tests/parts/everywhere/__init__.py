"""Bounds on boxes: soundness against mpmath, ranges, proofs, and verdicts of all points of a box."""
