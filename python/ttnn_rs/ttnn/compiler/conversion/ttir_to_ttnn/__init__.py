"""`convert-ttir-to-ttnn`: tensor operations become calls of the library."""
