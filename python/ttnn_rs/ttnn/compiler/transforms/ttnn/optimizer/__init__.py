"""Rewrites that are kept if the program's predicted time falls."""
