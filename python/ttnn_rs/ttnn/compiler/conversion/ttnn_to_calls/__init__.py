"""Programs of the library as calls of public `ttnn` functions."""
