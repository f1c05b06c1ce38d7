"""Operators of several chips."""
