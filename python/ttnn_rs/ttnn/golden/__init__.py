"""Reference functions in float64, without chip formats and steps.

Every function accepts numpy arrays and the operator's own options and returns float64 (integers for indices). Nothing
here imports the engine. The distance that an operator may keep to these functions is stated in its registry entry.
"""
