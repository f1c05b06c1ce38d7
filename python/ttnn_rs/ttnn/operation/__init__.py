"""What every operator has: its entry, signature, dispatch, hooks, comparison mode and accuracy."""
