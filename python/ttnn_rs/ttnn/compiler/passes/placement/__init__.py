"""Device and layouts of tensors in the later epochs."""
