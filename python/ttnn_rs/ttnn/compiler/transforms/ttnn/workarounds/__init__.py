"""`ttnn-workaround`: kernel requirements on operands, and unsupported operations."""
