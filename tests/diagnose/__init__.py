"""Tests of gradcli.diagnose."""
