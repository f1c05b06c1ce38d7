"""The dialects of the Tenstorrent compiler as tables, from which the operations of all epochs are made."""
