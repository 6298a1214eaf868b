"""Tests of gradcli.report."""
