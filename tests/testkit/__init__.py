"""Helpers shared by tests, benches and chores.

`python tests/testkit NAME` runs one that is a command.
"""
