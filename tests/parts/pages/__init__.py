"""Tests of gradcli.parts.pages."""
