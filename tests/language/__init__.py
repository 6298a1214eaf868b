"""Tests of gradcli.language."""
