"""Shared code of subcommands: terminal, host options, units in the last place."""
