"""Tests of gradcli.claims."""
