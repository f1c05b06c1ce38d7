"""Commands of `ttrt` as classes."""
