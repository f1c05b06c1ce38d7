"""The commands of `ttrt` and their classes."""
