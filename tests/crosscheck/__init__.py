"""Tests of gradcli.crosscheck."""
