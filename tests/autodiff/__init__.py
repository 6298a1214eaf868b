"""Tests of gradcli.autodiff."""
