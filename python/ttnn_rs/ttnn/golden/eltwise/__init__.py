"""Reference functions of element-wise operators."""
