"""Tests of gradcli.files."""
