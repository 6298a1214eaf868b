"""Tests of gradcli.parts.improve."""
