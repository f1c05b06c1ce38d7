"""Helpers that tests, benches and chores share. `python tests/testkit NAME` runs one that is a command."""
