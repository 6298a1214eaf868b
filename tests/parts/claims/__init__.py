"""Tests of gradcli.parts.claims."""
