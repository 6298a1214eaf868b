"""Tests of gradcli.check."""
