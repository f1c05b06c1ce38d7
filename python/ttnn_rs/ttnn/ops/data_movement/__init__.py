"""Operators that move elements and do no arithmetic."""
