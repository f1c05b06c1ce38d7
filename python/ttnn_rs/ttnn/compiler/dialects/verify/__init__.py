"""Rules of operations beyond their tables, by subject."""
