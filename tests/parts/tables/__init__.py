"""Tests of gradcli.parts.tables."""
