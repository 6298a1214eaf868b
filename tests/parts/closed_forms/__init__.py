"""Tests of gradcli.parts.closed_forms."""
