"""Integers of eight bits with a scale and a zero point."""
