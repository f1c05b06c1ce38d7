"""Official package of experimental modules."""
