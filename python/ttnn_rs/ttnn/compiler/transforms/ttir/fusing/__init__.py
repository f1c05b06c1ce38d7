"""`ttir-fusing`: several operations become one that does the same, by subject; `registry` lists the patterns."""
