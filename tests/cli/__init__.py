"""Tests of gradcli.cli."""
