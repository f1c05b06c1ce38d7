"""Values without device dependency.

Enumerations, shapes, tiles, core ranges, configurations, errors.
"""
