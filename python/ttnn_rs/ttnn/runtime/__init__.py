"""Programs of operators.

Keys of calls, resolving a call to a program, launching it, steps of the engine.
"""
