"""Tests of gradcli.function."""
