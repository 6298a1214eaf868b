"""Tests of gradcli.parts.explain."""
