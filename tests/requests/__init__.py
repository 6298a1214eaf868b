"""Tests of gradcli.requests."""
