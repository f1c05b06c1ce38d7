"""Reference functions in float64, without chip formats and steps.

Every function takes numpy arrays and the operator's own options and returns float64 (or integers, for indices). Nothing
here imports the engine. The distance that an operator may keep to these functions is stated in its registry entry.
"""
