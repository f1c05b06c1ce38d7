"""Canonical forms of library operations."""
