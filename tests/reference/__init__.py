"""Tests of gradcli.reference."""
