"""Python source from the dialect `emitpy`."""
