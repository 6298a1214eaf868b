"""Tests of gradcli.mapping."""
