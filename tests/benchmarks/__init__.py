"""Ratios against peers, run by hand."""
