"""Tests of the gradient of a Program."""
