"""Tests of gradcli.symbolic."""
