"""`ttir-fusing`: several operations become one, by subject.

`registry` lists the patterns.
"""
